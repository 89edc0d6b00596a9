"""XML as a plain tree whose elements and words know their places, and text made fit for XML.

A document type says what elements there can be, and is stepped over. Entities and other files that it may name are
refused: they can make gigabytes of a few lines, or read what they should not. A place is a byte of the text in UTF-8,
which is how expat counts.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from bayeswater.errors import NetworkFileError
from bayeswater.files.networks.names import ESCAPED, MARK
from bayeswater.files.networks.tokens import Text, decoded
from bayeswater.records import record

DEEPEST = 32
"""Levels of elements; submodels of GeNIe are the only ones that nest at will."""

ENCODING = re.compile(rb"""<\?xml[^>]{0,200}?encoding\s*=\s*["']([A-Za-z0-9._-]{1,40})["']""")
LATIN = re.compile(r"(iso-?8859-\d{1,2}|latin-?1|windows-125\d|cp125\d)", re.IGNORECASE)
UNWRITABLE = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(eq=False)
class Element:
    """An element, with the pieces of text that stand directly in it and their places."""

    tag: str
    attributes: dict[str, str]
    place: int
    children: list["Element"] = field(default_factory=list)
    pieces: list[tuple[int, str]] = field(default_factory=list)

    @property
    def text(self) -> str:
        """All text directly in the element, without white space around it."""
        return "".join([piece for _, piece in self.pieces]).strip()

    def words(self) -> list[str]:
        """Give the words of the text."""
        return "".join([piece for _, piece in self.pieces]).split()

    def places(self) -> list[int]:
        """Find the places of the words, and of the end of the last one; with no text, the place of the element."""
        whole = "".join([piece for _, piece in self.pieces])
        offsets = [found.start() for found in re.finditer(r"\S+", whole)] + [len(whole.rstrip())]
        places, pieces = [], iter(self.pieces)
        place, piece = next(pieces, (self.place, ""))
        start, end = 0, len(piece)  # where the rest of this piece begins, and ends, in the whole
        for offset in offsets:
            while offset > end or (offset == end < offsets[-1]):
                place, piece = next(pieces)
                start, end = end, end + len(piece)
            place += len(whole[start:offset].encode())
            start = offset
            places.append(place)
        return places

    def place_of(self, k: int) -> int:
        """Find the place of a word, or of the end of the last one."""
        return self.places()[k]

    def all_within(self) -> Iterator["Element"]:
        """Go through all elements inside, at any depth."""
        for child in self.children:
            yield child
            yield from child.all_within()


@record
class XmlFile:
    """The root of a tree, the text it was made of, and what there is to note."""

    text: Text
    root: Element
    escaped: bool
    notes: list[str]

    def error(self, place: int, problem: str) -> NetworkFileError:
        """Make an error at a place."""
        return _error(self.text, place, problem)


class _OtherFile(Exception):
    """The document type is in another file."""


class _Builder:
    """Takes the calls of the parser."""

    def __init__(self) -> None:
        self.top = Element("", {}, 0)
        self.open = [self.top]
        self.expat: Any = None
        self.escaped = False

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        if len(self.open) > DEEPEST:
            raise RecursionError
        element = Element(tag.rpartition("}")[2], attributes, self.expat.CurrentByteIndex)
        self.open[-1].children.append(element)
        self.open.append(element)

    def end(self, tag: str) -> None:
        self.open.pop()

    def data(self, text: str) -> None:
        self.open[-1].pieces.append((self.expat.CurrentByteIndex, text))

    def doctype(self, name: str, system_id: str | None, public_id: str | None, has_subset: int) -> None:
        if system_id is not None or public_id is not None:
            raise _OtherFile

    def pi(self, target: str, data: str) -> None:
        self.escaped |= target == MARK and data.strip() == ESCAPED

    def close(self) -> None:
        pass


def parse_xml(content: str | bytes, path: str) -> XmlFile:
    """Parse a file, whatever encoding it declares."""
    from defusedxml.common import EntitiesForbidden
    from defusedxml.ElementTree import DefusedXMLParser, ParseError

    content, notes = _as_text(content, path)
    text = Text(path, content)
    builder = _Builder()
    parser = DefusedXMLParser(target=builder, encoding="utf-8", forbid_entities=True)
    builder.expat = parser.parser
    builder.expat.buffer_text = False  # pieces come with their own places
    builder.expat.specified_attributes = True  # one default of a document type would be copied into every element
    builder.expat.StartDoctypeDeclHandler = builder.doctype
    try:
        parser.feed(content.encode())
        parser.close()
    except UnicodeEncodeError as error:
        raise text.error(error.start, "this character is half of one, and no text") from None
    except _OtherFile:
        problem = "the document type is in another file, and none is read; delete <!DOCTYPE ...>"
        raise text.error(max(content.find("<!DOCTYPE"), 0), problem) from None
    except EntitiesForbidden as error:
        problem = f"the entity {str(error.name)[:40]!r} is not read, as entities can make much of little; write it out"
        raise text.error(max(content.find("<!ENTITY"), 0), problem) from None  # the first is refused
    except RecursionError:
        problem = f"elements are nested more than {DEEPEST} levels deep"
        raise _error(text, builder.expat.CurrentByteIndex, problem) from None
    except ParseError as error:
        problem = f"this is no well-formed XML: {str(error).partition(':')[0]}"
        raise _error(text, builder.expat.ErrorByteIndex, problem) from None
    return XmlFile(text, builder.top.children[0], builder.escaped, notes)


def _error(text: Text, place: int, problem: str) -> NetworkFileError:
    before = text.text.encode("utf-8", "surrogatepass")[: max(place, 0)]
    return text.error(len(before.decode("utf-8", "replace")), problem)


def _as_text(content: str | bytes, path: str) -> tuple[str, list[str]]:
    if isinstance(content, bytes):
        found = ENCODING.match(content)
        if found and LATIN.fullmatch(found[1].decode()):
            try:
                return content.decode(found[1].decode()), []
            except (LookupError, UnicodeDecodeError):
                pass
    return decoded(content, path)


def is_writable(text: str) -> bool:
    """Tell whether XML has all characters of a text, and white space around it is not lost."""
    return not UNWRITABLE.search(text) and text == text.strip()


def xml_text(text: str) -> str:
    r"""Write a text between tags or in quotes.

    >>> xml_text('a < b & "c"\r')
    'a &lt; b &amp; &quot;c&quot;&#13;'
    """
    for character, written in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ('"', "&quot;")):
        text = text.replace(character, written)
    return re.sub(r"[\t\n\r]", lambda found: f"&#{ord(found[0])};", text)
