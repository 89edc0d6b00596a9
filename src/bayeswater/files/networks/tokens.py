"""Text of network files: its encoding, and its words with their places.

Bytes are UTF-8 with or without its mark, UTF-16 with it, and Latin-1 where they are no UTF-8, which is noted.

Text is cut into words by one regular expression, and a word is traced to its place when something is wrong with it. A
place is the index of a word. ``re.findall`` gives the words alone, several times faster than matches with positions
would come; the position of a word is searched again when an error needs it. Tables of numbers stay slices of the list
of words until they are made floats all at once.

What cannot end (an open quote, an open comment) is taken as one word up to the end of the text, so that the search
stays linear in whatever text it is given.
"""

import codecs
import re
from itertools import islice

from bayeswater.errors import NetworkFileError
from bayeswater.records import record


def decoded(content: str | bytes, path: str) -> tuple[str, list[str]]:
    r"""Give the text, and what there is to note about it.

    >>> decoded("\ufeffnet {}".encode(), "a.net")
    ('net {}', [])
    >>> decoded(b"Gr\xf6\xdfe", "a.net")
    ('Größe', ['a.net is not in UTF-8 and was read as Latin-1'])
    """
    if isinstance(content, str):
        return content.removeprefix("\ufeff"), []
    try:
        if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            return content.decode("utf-16"), []
        return content.decode("utf-8-sig"), []
    except UnicodeDecodeError:
        return content.decode("latin-1"), [f"{path} is not in UTF-8 and was read as Latin-1"]


STRING = r'"(?:[^"\\]|\\.)*+"'
WHOLE_STRING = re.compile(STRING, re.DOTALL)
ESCAPED_SIGN = re.compile(r'\\(["\\])')
OPEN = r'"[\s\S]*|/\*[\s\S]*'
SLASH_COMMENTS = r"//[^\r\n]*|/\*(?:[^*]|\*(?!/))*+\*/"
SIGNS = frozenset("{}()[];|=:,")
"""Words that are no names, in any of the languages."""

SHOWN = 100
"""Characters of a line that an error shows at most."""


def word_pattern(blanks: str, comments: str, words: str) -> re.Pattern[str]:
    """Make the expression of a language: the characters and the comments between words, and the words themselves."""
    return re.compile(rf"[{blanks}]*+(?:(?:{comments})[{blanks}]*+)*+({words}|{OPEN}|\S|\Z)", re.DOTALL)


@record
class Text:
    """A text and the name of its file, for errors."""

    path: str
    text: str

    def error(self, offset: int, problem: str) -> NetworkFileError:
        r"""Make an error that names line and column, and shows them.

        >>> print(Text("a.net", "net\n{ ? }").error(6, "what is '?'"))
        a.net:2:3: what is '?'
        { ? }
          ^
        """
        before = re.split(r"\r\n|\r|\n", self.text[:offset])
        column = len(before[-1])
        line = before[-1] + re.split(r"[\r\n]", self.text[offset:], maxsplit=1)[0]
        start = max(0, column - SHOWN // 2)
        shown = "".join(c if c.isprintable() else " " for c in line[start : start + SHOWN])
        caret = " " * (column - start) + "^"
        return NetworkFileError(f"{self.path}:{len(before)}:{column + 1}: {problem}\n{shown}\n{caret}")


class Tokens:
    """The words of a text and how far they are read; the last one is ''."""

    def __init__(self, text: Text, pattern: re.Pattern[str]) -> None:
        self.text, self.pattern = text, pattern
        self.words: list[str] = pattern.findall(text.text)
        self.at = 0

    def error(self, place: int, problem: str) -> NetworkFileError:
        """Make an error at the word with an index."""
        found = next(islice(self.pattern.finditer(self.text.text), place, None), None)
        offset = len(self.text.text) if found is None else found.start(1)
        word = self.words[min(place, len(self.words) - 1)]
        if word.startswith('"') and not is_string(word):
            problem = "this quote does not close"
        elif word.startswith("/*"):
            problem = "this comment does not close"
        return self.text.error(offset, problem)

    def expected(self, what: str) -> NetworkFileError:
        """Make an error at the next word: it is not what has to stand there."""
        return self.error(self.at, f"expected {what}, found {shown_word(self.words[self.at])}")

    @property
    def word(self) -> str:
        """The next word, '' at the end."""
        return self.words[self.at]

    def take(self, word: str) -> bool:
        """Step over the next word if it is this one."""
        found = self.words[self.at] == word
        self.at += found
        return found

    def expect(self, *words: str) -> int:
        """Step over words that have to follow; give the place of the first."""
        start = self.at
        for word in words:
            if self.words[self.at] != word:
                raise self.expected(repr(word))
            self.at += 1
        return start

    def name(self, what: str) -> str:
        """Step over a name, bare or in quotes."""
        word = self.words[self.at]
        if not is_name(word):
            raise self.expected(what)
        self.at += 1
        return unquoted(word)

    def names(self, start: int, stop: int, what: str) -> tuple[str, ...]:
        """Give the names that stand from one place to before another."""
        for at, word in enumerate(self.words[start:stop], start):
            if not is_name(word):
                self.at = at
                raise self.expected(what)
        return tuple(map(unquoted, self.words[start:stop]))

    def find(self, word: str, start: int, stop: int | None = None) -> int:
        """Give the place of the next such word, which has to come before the place `stop`, if that is told."""
        try:
            return self.words.index(word, start, len(self.words) if stop is None else stop)
        except ValueError:
            if stop is None:
                raise self.error(start, f"there is no {word!r} after this") from None
            self.at = stop
            raise self.expected(repr(word)) from None


def is_string(word: str) -> bool:
    """Tell whether a word stands in quotes that close."""
    return WHOLE_STRING.fullmatch(word) is not None


def is_name(word: str) -> bool:
    """Tell names and numbers, bare or in quotes, from signs and from what does not close."""
    if word[:1] == '"':
        return is_string(word)
    # of bare words only a whole property of BIF has white space in it, behind its keyword of eight letters
    return bool(word) and word not in SIGNS and word[:2] != "/*" and not word[8:9].isspace()


def unquoted(word: str) -> str:
    r"""Take the quotes off a word.

    >>> unquoted("yes"), unquoted(r'"say \"no\""')
    ('yes', 'say "no"')
    """
    if word[:1] != '"':
        return word
    return ESCAPED_SIGN.sub(r"\1", word[1:-1]) if "\\" in word else word[1:-1]


def quoted(text: str) -> str:
    r"""Put quotes around a text.

    >>> quoted('say "no"')
    '"say \\"no\\""'
    """
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def shown_word(word: str) -> str:
    """Show a word in an error."""
    return repr(word[:40]) if word else "the end of the file"
