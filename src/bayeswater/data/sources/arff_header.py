r"""The header of an ARFF file: attributes, their types, and the words that both header and rows are made of.

    @relation weather
    @attribute outlook {sunny, 'partly cloudy', rainy}
    @attribute temperature numeric
    @data

Words stand bare or in quotes of either kind, with a backslash before a quote inside. A bare ``?`` is a missing cell,
``'?'`` a question mark; what follows a bare ``%`` is a comment.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from bayeswater.errors import DataError

if TYPE_CHECKING:
    import pyarrow as pa

WORD = r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\""""
CELL = re.compile(rf"\s*({WORD}|[^,'\"%][^,%]*?|)\s*(?:(,)|(?:%.*)?$)", re.S)
ATTRIBUTE = re.compile(rf"@attribute\s+({WORD}|[^\s{{}}]+)\s*(.*)", re.I | re.S)
NUMBERS = ("numeric", "real", "integer")
ESCAPED = {"n": "\n", "t": "\t", "r": "\r"}

JAVA_DATES = {"yyyy": "%Y", "yy": "%y", "MM": "%m", "dd": "%d", "HH": "%H", "mm": "%M", "ss": "%S"}
DATE_PART = re.compile(r"'([^']*)'|([A-Za-z])\2*|.", re.S)
ISO_8601 = "yyyy-MM-dd'T'HH:mm:ss"


@dataclass(frozen=True)
class Attribute:
    """A column: its name, its Arrow type, the labels of a nominal one, the format of a date."""

    name: str
    kind: "pa.DataType"
    labels: tuple[str, ...] = ()
    date_format: str = ""
    code_of: dict[str, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "code_of", {label: code for code, label in enumerate(self.labels)})


@dataclass(frozen=True)
class Header:
    """Attributes in the order of the cells, and the number of the line with ``@data``."""

    attributes: tuple[Attribute, ...]
    n_lines: int


def read_header(lines: Iterable[str], where: str) -> Header | None:
    """Read lines up to ``@data``; None if it does not come."""
    attributes: list[Attribute] = []
    for number, line in enumerate(lines, start=1):
        text = line.strip()
        keyword = text.split(None, 1)[0].lower() if text else ""
        if keyword == "@data":
            if not attributes:
                raise DataError(f"{where}:{number}: there is no @attribute before @data; declare the columns")
            return Header(tuple(attributes), number)
        if keyword == "@attribute":
            attributes.append(_attribute(text, f"{where}:{number}"))
        elif text and not text.startswith("%") and keyword != "@relation":
            raise DataError(
                f"{where}:{number}: expected @relation, @attribute or @data, and found {text[:40]!r}; is it an "
                "ARFF file?"
            )
    return None


def cells_of(line: str) -> list[str | None] | None:
    r"""Take a row or a list of labels apart; None if its quotes do not close.

    >>> cells_of(r"1.5, 'it\'s, no?', ?, '?' % note")
    ['1.5', "it's, no?", None, '?']
    """
    cells: list[str | None] = []
    place = 0
    while True:
        found = CELL.match(line, place)
        if not found:
            return None
        cells.append(None if found[1] == "?" else unquoted(found[1]))
        if not found[2]:
            return cells
        place = found.end()


def unquoted(word: str) -> str:
    r"""Take the quotes off a word.

    >>> unquoted("sunny"), unquoted(r"'it\'s'")
    ('sunny', "it's")
    """
    if word[:1] not in "'\"" or not word:
        return word
    return re.sub(r"\\(.)", lambda found: ESCAPED.get(found[1], found[1]), word[1:-1], flags=re.S)


def _attribute(text: str, where: str) -> Attribute:
    import pyarrow as pa

    found = ATTRIBUTE.match(text)
    if not found:
        raise DataError(f"{where}: cannot read {text[:60]!r}; write @attribute name type")
    name, rest = unquoted(found[1]), found[2].strip()
    if rest.startswith("{"):
        return _nominal(name, rest, where)
    kind, _, more = rest.partition(" ")
    match kind.split("%")[0].lower():
        case "integer":
            return Attribute(name, pa.int64())
        case "numeric" | "real":
            return Attribute(name, pa.float64())
        case "string":
            return Attribute(name, pa.string())
        case "date":
            return Attribute(name, pa.timestamp("s"), date_format=_date_format(unquoted(more.strip()), where))
        case other:
            raise DataError(
                f"{where}: attribute {name!r} is of type {other!r}, which is not read; give it one of numeric, "
                "integer, string, date or {label, label, ...}"
            )


def _nominal(name: str, rest: str, where: str) -> Attribute:
    import pyarrow as pa

    inside, closed, _ = rest[1:].rpartition("}")
    labels = cells_of(inside) if closed else None
    if labels is None:
        raise DataError(f"{where}: the labels of attribute {name!r} do not close; write {{label, label, ...}}")
    known = tuple("?" if label is None else label for label in labels if label != "")
    twice = [label for label in known if known.count(label) > 1]
    if twice:
        raise DataError(f"{where}: attribute {name!r} declares the label {twice[0]!r} twice; leave one out")
    return Attribute(name, pa.dictionary(pa.int32(), pa.string()), labels=known)


def _date_format(java: str, where: str) -> str:
    """Turn a date format of Java into one of C."""
    result = []
    for found in DATE_PART.finditer(java or ISO_8601):
        part = found[0]
        if found[2] and part not in JAVA_DATES:
            raise DataError(f"{where}: {part!r} in the date format {java!r} is not read; write it with {[*JAVA_DATES]}")
        literal = found[1] if found[1] is not None else part
        result.append(JAVA_DATES[part] if found[2] else literal.replace("%", "%%"))
    return "".join(result)
