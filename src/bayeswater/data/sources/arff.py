"""ARFF: a header that declares the columns, and rows of cells with commas between them.

Labels that are declared are the domain of their column, though no row may have them.
"""

import codecs
import io
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING

from bayeswater.data.sources.arff_header import Attribute, Header, cells_of, read_header
from bayeswater.data.sources.column_types import cast_columns, first_misfit
from bayeswater.data.sources.delimited import known_encoding
from bayeswater.data.sources.origin import Origin
from bayeswater.data.sources.places import Mark, Piece
from bayeswater.data.sources.source import BLOCK_BYTES, Source
from bayeswater.errors import DataError

if TYPE_CHECKING:
    import pyarrow as pa

ROWS = 2**13
"""Rows of a batch: their cells are Python strings for a moment."""

LONGEST_HEADER = 64 * 2**20
"""Bytes in which ``@data`` has to come."""

Cells = list[str | None]


class ArffSource(Source):
    """Rows of an ARFF file."""

    def __init__(
        self, origin: Origin, types: "Mapping[str, pa.DataType] | None" = None, *, encoding: str = "utf-8"
    ) -> None:
        super().__init__(origin, types)
        name = known_encoding(encoding)
        self._encoding = "utf-8-sig" if name == "utf-8" else name

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

    def _read(self, names: list[str], start: Mark) -> Iterator[Piece]:
        n_rows = start.row
        rows: list[Cells] = []
        lines: list[int] = []
        for number, cells in self._rows(start.line):
            rows.append(cells)
            lines.append(number)
            if len(rows) == ROWS:
                yield Piece(self._table(rows, lines, names, n_rows), Mark(n_rows, line=lines[0] - 1))
                n_rows += len(rows)
                rows, lines = [], []
        if rows:
            yield Piece(self._table(rows, lines, names, n_rows), Mark(n_rows, line=lines[0] - 1))

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
        if line.lstrip().startswith("{"):
            raise DataError(f"{where}: rows in braces (sparse ARFF) are not read; write every cell of the row")
        cells: Cells | None
        if any(sign in line for sign in "'\"%\\"):
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
                attribute, cells[row], lines[row], f"no {'date' if attribute.date_format else kind}"
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
