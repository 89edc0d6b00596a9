"""ARFF files: a header that declares the columns, and rows of cells with commas between them.

    @relation weather
    @attribute outlook {sunny, 'partly cloudy', rainy}
    @attribute temperature numeric
    @data

Words stand bare or in quotes of either kind, with a backslash before a quote inside. A bare ``?`` is a missing cell,
``'?'`` a question mark; what follows a bare ``%`` is a comment. A row in braces is sparse: ``{1 yes, 3 2.5}`` gives the
cells at these places, counted from 0; the others are 0, or the first label of their column.

Labels that are declared are the domain of their column, though no row may have them.
"""

import codecs
import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from functools import cached_property
from typing import TYPE_CHECKING

from bayeswater.data.column_types import cast_columns, first_misfit, spoken
from bayeswater.data.sources.encodings import UTF_8, found_encoding, is_utf_8, marked_encoding
from bayeswater.data.sources.origin import Origin
from bayeswater.data.sources.parts import DecodedPiece, Mark
from bayeswater.data.sources.source import BLOCK_BYTES, Source, batch_rows
from bayeswater.errors import DataError
from bayeswater.records import record

if TYPE_CHECKING:
    import pyarrow as pa

WORD = r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\""""
CELL = re.compile(rf"\s*({WORD}|[^,'\"%][^,%]*?|)\s*(?:(,)|(?:%.*)?$)", re.S)
ATTRIBUTE = re.compile(rf"@attribute\s+({WORD}|[^\s{{}}]+)\s*(.*)", re.I | re.S)
SPARSE_CELL = re.compile(rf"\s*(\d+)\s+({WORD}|[^\s,'\"%{{}}]+)\s*(?:,|(?=}}))")
SPARSE_END = re.compile(r"\s*}\s*(?:,\s*({.*}))?\s*(?:%.*)?$", re.S)
NUMBERS = ("numeric", "real", "integer")
ESCAPED = {"n": "\n", "t": "\t", "r": "\r"}

JAVA_DATES = {"yyyy": "%Y", "yy": "%y", "MM": "%m", "dd": "%d", "HH": "%H", "mm": "%M", "ss": "%S"}
DATE_PART = re.compile(r"'([^']*)'|([A-Za-z])\2*|.", re.S)
ISO_8601 = "yyyy-MM-dd'T'HH:mm:ss"


@record
class Attribute:
    """A column: its name, its Arrow type, the labels of a nominal one, the format of a date."""

    name: str
    kind: "pa.DataType"
    labels: tuple[str, ...] = ()
    date_format: str = ""
    code_of: dict[str, int] = field(init=False, repr=False, compare=False)

    @property
    def left_out(self) -> str | None:
        """What a sparse row leaves out: 0, as Weka has it; of texts and dates nothing is known."""
        import pyarrow as pa

        if self.labels:
            return self.labels[0]
        return "0" if pa.types.is_integer(self.kind) or pa.types.is_floating(self.kind) else None

    def __post_init__(self) -> None:
        object.__setattr__(self, "code_of", {label: code for code, label in enumerate(self.labels)})


@record
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


def sparse_cells(line: str, left_out: Sequence[str | None]) -> list[str | None] | None:
    """Take a row in braces apart, with what stands in the cells that it leaves out; None if it is not written so.

    >>> sparse_cells("{0 1.5, 2 'no, yes', 3 ?} % note", ["0", "0", "no", "0"])
    ['1.5', '0', 'no, yes', None]
    """
    cells, place, last = list(left_out), 1, -1
    while not (end := SPARSE_END.match(line, place)):
        found = SPARSE_CELL.match(line, place)
        if not found or not last < int(found[1]) < len(cells):
            return None
        last, place = int(found[1]), found.end()
        cells[last] = None if found[2] == "?" else unquoted(found[2])
    return cells if end[1] is None else [*cells, end[1]]


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


ROWS = 2**13
"""Rows of a batch, at most: their cells are Python strings for a moment."""

LONGEST_HEADER = 64 * 2**20
"""Bytes in which ``@data`` has to come."""

Cells = list[str | None]


class ArffSource(Source):
    """Rows of an ARFF file."""

    def __init__(
        self, origin: Origin, types: "Mapping[str, pa.DataType] | None" = None, *, encoding: str | None = None
    ) -> None:
        super().__init__(origin, types)
        self._named_encoding = encoding

    @cached_property
    def _encoding(self) -> str:
        """The encoding that was named, or that the beginning of the file looks like."""
        name = self._named_encoding
        if name is None:
            head = self.origin.head(BLOCK_BYTES)
            name = marked_encoding(head) or (
                UTF_8 if is_utf_8(head) else found_encoding(head, self.name, self.expected, self.likely)
            )
            if name != UTF_8:
                self.note(f"the text is read as {name}")
        return "utf-8-sig" if name == UTF_8 else name

    def _read_schema(self) -> "pa.Schema":
        import pyarrow as pa

        return pa.schema([(a.name, self.types.get(a.name, a.kind)) for a in self._header.attributes])

    @cached_property
    def _header(self) -> Header:
        n_bytes = BLOCK_BYTES
        while True:
            head = self.origin.head(n_bytes)
            is_whole = len(head) < n_bytes
            try:
                text = codecs.getincrementaldecoder(self._encoding)().decode(head)
            except UnicodeError as error:  # without a place where a mark of UTF-16 is missing
                n_lines = head.count(b"\n", 0, error.start) if isinstance(error, UnicodeDecodeError) else 0
                raise self._not_in_encoding(n_lines) from None
            lines = text if is_whole else text[: text.rfind("\n") + 1]
            header = read_header(io.StringIO(lines), self.name)
            if header is not None:
                return header
            if is_whole or n_bytes >= LONGEST_HEADER:
                raise DataError(f"{self.name}: there is no @data; is it an ARFF file?")
            n_bytes *= 4

    def _read(self, names: list[str], start: Mark) -> Iterator[DecodedPiece]:
        n_rows = start.row
        n_at_once = min(ROWS, batch_rows(len(self._header.attributes)))
        rows: list[Cells] = []
        lines: list[int] = []
        for number, cells in self._rows(start.line):
            rows.append(cells)
            lines.append(number)
            if len(rows) == n_at_once:
                yield DecodedPiece(self._table(rows, lines, names, n_rows), Mark(n_rows, line=lines[0] - 1))
                n_rows += len(rows)
                rows, lines = [], []
        if rows:
            yield DecodedPiece(self._table(rows, lines, names, n_rows), Mark(n_rows, line=lines[0] - 1))

    def _rows(self, n_passed: int) -> Iterator[tuple[int, Cells]]:
        """Read the cells of each row behind so many lines, and the number of its line."""
        n_cells = len(self._header.attributes)
        number, n_passed = 0, max(n_passed, self._header.n_lines)
        with self.origin.open() as file, io.TextIOWrapper(file, encoding=self._encoding) as text:
            try:
                for number, line in enumerate(text, start=1):
                    if number <= n_passed or not line.strip() or line.lstrip().startswith("%"):
                        continue
                    yield number, self._cells(line, number, n_cells)
            except UnicodeError:
                raise self._not_in_encoding(number) from None

    def _cells(self, line: str, number: int, n_cells: int) -> Cells:
        where = f"{self.name}:{number}"
        cells: Cells | None
        if line.lstrip().startswith("{"):
            cells = sparse_cells(line.strip(), self._left_out)
            if cells is None:
                raise DataError(
                    f"{where}: {line.strip()[:60]!r} is no sparse row; write {{place value, place value}} with places "
                    f"from 0 to {n_cells - 1} in their order, and quote values that hold a blank or a comma"
                )
        elif any(sign in line for sign in "'\"%\\"):
            cells = cells_of(line.strip())
            if cells is None:
                raise DataError(f"{where}: a quote is opened and not closed: {line.strip()[:60]!r}")
        else:
            words = line.split(",") if "," in line or n_cells == 1 else line.split()
            cells = [None if word == "?" else word for word in map(str.strip, words)]
        if len(cells) == n_cells + 1 and (cells[-1] or "").startswith("{"):
            raise DataError(f"{where}: weights of rows, as {cells[-1]!r}, are not read; repeat the row instead")
        if len(cells) != n_cells:
            raise DataError(
                f"{where}: {len(cells)} cell(s), and {n_cells} attributes are declared; write ? for a missing cell, "
                "and quote cells that hold a comma"
            )
        return cells

    @cached_property
    def _left_out(self) -> Cells:
        """What a sparse row leaves out."""
        return [attribute.left_out for attribute in self._header.attributes]

    def _table(self, rows: list[Cells], lines: list[int], names: list[str], n_rows: int) -> "pa.Table":
        import pyarrow as pa

        of_name = dict(zip(self.schema.names, zip(*rows, strict=True), strict=True))
        attributes = {attribute.name: attribute for attribute in self._header.attributes}
        columns = [self._column(attributes[name], list(of_name[name]), lines) for name in names]
        return cast_columns(pa.table(columns, names=names), self.types, self.name, n_rows)

    def _column(self, attribute: Attribute, cells: Cells, lines: list[int]) -> "pa.Array":
        import pyarrow as pa
        import pyarrow.compute as pc

        kind = attribute.kind
        if pa.types.is_dictionary(kind):
            codes = [None if cell is None else attribute.code_of.get(cell, -1) for cell in cells]
            if -1 in codes:
                row = codes.index(-1)
                raise self._misfit(
                    attribute, cells[row], lines[row], f"none of the labels {list(attribute.labels)[:10]}"
                )
            return pa.DictionaryArray.from_arrays(pa.array(codes, pa.int32()), pa.array(attribute.labels, pa.string()))
        text = pa.array(cells, pa.string())
        if pa.types.is_string(kind):
            return text
        try:
            if attribute.date_format:
                return pc.strptime(text, format=attribute.date_format, unit="s")
            return text.cast(kind)
        except pa.ArrowInvalid:
            if attribute.date_format:
                parsed = pc.strptime(text, format=attribute.date_format, unit="s", error_is_null=True)
                row = pc.and_(parsed.is_null(), text.is_valid()).index(True).as_py()
            else:
                row = first_misfit(text, kind)
            raise self._misfit(
                attribute, cells[row], lines[row], f"no {'date' if attribute.date_format else spoken(kind)}"
            ) from None

    def _not_in_encoding(self, n_lines: int) -> DataError:
        return DataError(
            f"{self.name}: after line {n_lines}: not text in {self._encoding.removesuffix('-sig')}; name the encoding "
            "of the file, for example with bayeswater.local_rows(source, encoding='latin-1')"
        )

    def _misfit(self, attribute: Attribute, cell: str | None, line: int, what: str) -> DataError:
        return DataError(
            f"{self.name}:{line}: attribute {attribute.name!r} holds {cell!r}, which is {what}; correct the cell or "
            "the attribute, or write ? for a missing cell"
        )
