"""Spreadsheets (.xlsx, .xls, .ods): a sheet is a table; its header is found as that of delimited text is.

A spreadsheet is held in memory, and so is every empty cell between two that are filled. How large its files unpack to
and which cell is the last are looked at before anything is loaded: a few bytes can ask for 16 384 columns of a million
rows.
"""

import re
import zipfile
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from bayeswater.data.sources.layout import sheet_layout
from bayeswater.data.sources.odd_rows import is_total
from bayeswater.data.sources.origin import Origin
from bayeswater.data.sources.reading_options import Reading
from bayeswater.data.sources.whole_files import HeldSource, column_of_cells, library
from bayeswater.errors import DataError, ResourceLimitError, nearest_names
from bayeswater.limits import SHEET_BYTES, SHEET_CELLS, bytes_in_words, require_unpacked

if TYPE_CHECKING:
    import pyarrow as pa

PIECE_BYTES = 2**20

CELL = re.compile(rb'<(?:\w+:)?c [^>]{0,200}?r="([A-Z]{1,3})([0-9]{1,7})"')
"""A cell of an .xlsx sheet, and where it stands."""

REPEATED = re.compile(
    rb"<table:(table-row|table-cell|covered-table-cell)\b([^>]{0,2000}?)(/?)>|<(/)table:(table-row|table)>"
)
"""A row or a cell of an .ods sheet, of which one may stand for many."""

LONGEST_TAG = 2**12
"""Bytes that are kept where a piece ends within a tag."""


class SpreadsheetSource(HeldSource):
    """Rows of a sheet."""

    def __init__(
        self, origin: Origin, types: "Mapping[str, pa.DataType] | None" = None, reading: Reading | None = None
    ) -> None:
        super().__init__(origin, types)
        self.reading = Reading() if reading is None else reading

    def _loaded(self) -> "pa.Table":
        import pyarrow as pa

        path = self.origin.whole_file("a spreadsheet")
        calamine = library("python_calamine", "excel", f"{self.name}: a spreadsheet")
        require_small_sheets(path, self.name)
        try:
            with calamine.CalamineWorkbook.from_path(path) as book:
                rows = self._rows(book)
        except calamine.CalamineError as error:
            raise DataError(f"{self.name}: {error}; is it a whole spreadsheet?") from None
        if not rows:
            raise DataError(
                f"{self.name}: the sheet is empty; name another with bayeswater.local_rows(source, sheet=...)"
            )
        width = max(map(len, rows))
        rows = [[None if cell == "" else cell for cell in row] + [None] * (width - len(row)) for row in rows]
        found = sheet_layout(rows, self.reading, self.name)
        for said in found.notes:
            self.note(said)
        body = [row for row in rows[found.n_rows_above :] if any(cell is not None for cell in row)]
        if body and is_total(["" if cell is None else str(cell) for cell in body[-1]]):
            self.note(f"the last row, {body[-1][0]!r}, looks like totals; take it out if it is no row of the table")
        names = found.names[: len(found.names) - found.n_unnamed]
        columns = [column_of_cells([row[place] for row in body]) for place in range(len(names))]
        return pa.table(columns, names=list(names))

    def _rows(self, book: Any) -> list[list[Any]]:
        """Give the cells of the sheet that was named, or of the only one that has some."""
        names, sheet = book.sheet_names, self.reading.sheet
        if sheet is not None:
            by_number = {str(place + 1): name for place, name in enumerate(names)}
            name = sheet if sheet in names else by_number.get(str(sheet))
            if name is None:
                raise DataError(f"{self.name}: there is no sheet {sheet!r}; {nearest_names(str(sheet), names)}")
            return book.get_sheet_by_name(name).to_python()
        filled = {name: rows for name in names if (rows := book.get_sheet_by_name(name).to_python())}
        if len(filled) > 1:
            listed = ", ".join(map(repr, filled))
            raise DataError(
                f"{self.name} has {len(filled)} sheets: {listed}; name one with "
                "bayeswater.local_rows(source, sheet=...)"
            )
        return next(iter(filled.values()), [])


def require_small_sheets(path: str, where: str) -> None:
    """Refuse a spreadsheet that takes too much memory, before it is loaded."""
    if not zipfile.is_zipfile(path):
        return  # an .xls is no archive: it has no more than 65 536 rows of 256 cells
    with zipfile.ZipFile(path) as archive:
        infos = archive.infolist()
        n_bytes = sum(info.file_size for info in infos)
        if n_bytes > SHEET_BYTES:
            raise ResourceLimitError(
                f"{where} unpacks to {bytes_in_words(n_bytes)}, over the limit of {bytes_in_words(SHEET_BYTES)}; write "
                "its sheet to a CSV file"
            )
        left = SHEET_BYTES
        for info in infos:
            require_unpacked(info.file_size, info.compress_size, where)
            is_sheet = info.filename.startswith("xl/worksheets/") or info.filename == "content.xml"
            extent = _Extent(is_ods=info.filename == "content.xml")
            with archive.open(info) as file:
                for piece in iter(lambda: file.read(PIECE_BYTES), b""):
                    left -= len(piece)  # what the archive says of itself need not be true
                    if left < 0:
                        raise ResourceLimitError(
                            f"{where} unpacks to more than it says of itself; it is no spreadsheet"
                        )
                    if is_sheet:
                        extent.add(piece)
            if extent.n_cells > SHEET_CELLS:
                raise ResourceLimitError(
                    f"{where}: {info.filename} reaches over {extent.n_cells:,} cells, most of them empty, over the "
                    f"limit of {SHEET_CELLS:,}; take out the cells at its far end, or write the sheet to a CSV file"
                )


class _Extent:
    """How many cells lie between the first of a sheet and its last row and column."""

    def __init__(self, *, is_ods: bool) -> None:
        self._is_ods, self._rest = is_ods, b""
        self._row = self._column = self._row_times = 0  # of .ods: rows before, cells of this row, rows it stands for
        self._last_row = self._last_column = 0

    @property
    def n_cells(self) -> int:
        return self._last_row * self._last_column

    def add(self, piece: bytes) -> None:
        """Look at a piece of the file."""
        text = self._rest + piece
        cut = text.rfind(b"<", max(len(text) - LONGEST_TAG, 0))
        cut = len(text) if cut < 0 or b">" in text[cut:] else cut
        text, self._rest = text[:cut], text[cut:]
        if self._is_ods:
            for found in REPEATED.finditer(text):
                self._add_tag(found)
            return
        for letters, row in set(CELL.findall(text)):
            column = 0
            for letter in letters:
                column = 26 * column + letter - 64
            self._last_row, self._last_column = max(self._last_row, int(row)), max(self._last_column, column)

    def _add_tag(self, found: re.Match[bytes]) -> None:
        if found[4]:
            if found[5] == b"table-row":
                self._row += self._row_times
            else:
                self._row = 0
            return
        tag, told = found[1], found[2]
        if tag == b"table-row":
            self._column, self._row_times = 0, _times(told, b"rows")
            if found[3]:
                self._row += self._row_times
            return
        self._column += _times(told, b"columns")
        if b"office:value-type" in told:
            self._last_row = max(self._last_row, self._row + self._row_times)
            self._last_column = max(self._last_column, self._column)


def _times(told: bytes, what: bytes) -> int:
    found = re.search(rb'number-%b-repeated="(\d{1,9})"' % what, told)
    return int(found[1]) if found else 1
