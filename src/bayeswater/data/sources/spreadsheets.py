"""Spreadsheets (.xlsx, .xls, .ods): a sheet is a table; its header is found as that of delimited text is.

A spreadsheet is held in memory, and so is every empty cell between two that are filled. How large its files unpack to
and which cell is the last are looked at before anything is loaded: a few bytes can ask for 16 384 columns of a million
rows.
"""

import lzma
import re
import zipfile
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.parsers import expat

from bayeswater.data.sources.layout import sheet_layout
from bayeswater.data.sources.odd_rows import is_total
from bayeswater.data.sources.whole_files import HeldSource, column_of_cells, library
from bayeswater.errors import DataError, ResourceLimitError, nearest_names
from bayeswater.limits import SHEET_BYTES, SHEET_CELLS, bytes_in_words, require_unpacked

if TYPE_CHECKING:
    import pyarrow as pa

PIECE_BYTES = 2**20

PAGE_BYTES = 64
"""By which a file is known that is no archive."""

OLD_SHEET = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
"""How an .xls begins."""

CELL = re.compile("([A-Z]{1,7})([0-9]{1,10})", re.I)
"""Where a cell of an .xlsx sheet stands."""

FAR = 2**40
"""A row or column that no number of few digits says."""

NAMES_OF_CELLS = (b"sheetData", b"table:table-")
"""What a part with cells holds, be it well-formed or not; images and drawings do not."""


class SpreadsheetSource(HeldSource):
    """Rows of a sheet."""

    types_strings = True

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
        filled: list[str] = []
        kept: list[list[Any]] = []
        for name in names:
            if rows := book.get_sheet_by_name(name).to_python():
                filled.append(name)
                kept = kept or rows
        if len(filled) > 1:
            listed = ", ".join(map(repr, filled))
            raise DataError(
                f"{self.name} has {len(filled)} sheets: {listed}; name one with "
                "bayeswater.local_rows(source, sheet=...)"
            )
        return kept


def require_small_sheets(path: str, where: str) -> None:
    """Refuse a spreadsheet that takes too much memory, before it is loaded."""
    if not zipfile.is_zipfile(path):
        with Path(path).open("rb") as file:
            begin = file.read(PAGE_BYTES)
        if begin.startswith(OLD_SHEET):
            return  # an .xls is no archive: it has no more than 65 536 rows of 256 cells
        if begin.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<"):
            raise DataError(f"{where} is a page of HTML or XML, named as a spreadsheet; open it and save it as .xlsx")
        raise DataError(f"{where} is no spreadsheet; if it is text, say format='csv', and else: is it a whole file?")
    try:
        with zipfile.ZipFile(path) as archive:
            _require_small_parts(archive, where)
    except (zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, OSError) as error:
        raise DataError(f"{where} is damaged: {error}; save it anew, or fetch it again") from None
    except RuntimeError as error:  # a password, a method of packing
        raise DataError(f"{where}: {error}; save it without a password, as .xlsx or .ods") from None


def _require_small_parts(archive: zipfile.ZipFile, where: str) -> None:
    infos = archive.infolist()
    if any(info.filename.lower().endswith("workbook.bin") for info in infos):
        raise DataError(f"{where} is a binary workbook (.xlsb), which is not read; save it as .xlsx")
    n_bytes = sum(info.file_size for info in infos)
    if n_bytes > SHEET_BYTES:
        raise ResourceLimitError(
            f"{where} unpacks to {bytes_in_words(n_bytes)}, over the limit of {bytes_in_words(SHEET_BYTES)}; write "
            "its sheet to a CSV file"
        )
    left, n_cells = SHEET_BYTES, 0
    for info in infos:  # all of them: what the workbook calls a sheet may have any name
        require_unpacked(info.file_size, info.compress_size, where)
        extent = _Extent(f"{where}: {info.filename}")
        with archive.open(info) as file:
            for piece in iter(lambda: file.read(PIECE_BYTES), b""):
                left -= len(piece)  # what the archive says of itself need not be true
                if left < 0:
                    raise ResourceLimitError(f"{where} unpacks to more than it says of itself; it is no spreadsheet")
                extent.add(piece)
        n_cells += extent.n_cells
        if n_cells > SHEET_CELLS:
            raise ResourceLimitError(
                f"{where}: {info.filename} reaches over {n_cells:,} cells, most of them empty, over the limit of "
                f"{SHEET_CELLS:,}; take out the cells at its far end, or write the sheet to a CSV file"
            )


class _Extent:
    """How many cells lie between the first of a sheet and its last row and column, for all sheets of a part.

    What reads the cells is more lenient than XML is; so a part with cells that is no XML is refused, as is one with a
    document type, for the sake of its entities.
    """

    def __init__(self, where: str) -> None:
        self._where, self._problem, self._tail, self._has_cells = where, "", b"", False
        self._n_before = 0  # cells of the sheets that have ended
        self._row = self._column = self._last_row = self._last_column = 0
        self._row_times = self._n_tables = self._n_rows = 0  # of .ods: rows that one stands for, and what is open
        self._parser = expat.ParserCreate()
        self._parser.StartElementHandler = self._begin
        self._parser.StartDoctypeDeclHandler = self._refuse_document_type

    @property
    def n_cells(self) -> int:
        return self._n_before + self._last_row * self._last_column

    def add(self, piece: bytes) -> None:
        """Look at a piece of the part."""
        if not self._problem:
            try:
                self._parser.Parse(piece)
            except (expat.ExpatError, ValueError) as error:
                self._problem = str(error)
        text = self._tail + piece.replace(b"\0", b"")  # UTF-16, too
        self._has_cells = self._has_cells or any(name in text for name in NAMES_OF_CELLS)
        self._tail = text[-20:]
        if self._problem and self._has_cells:
            raise DataError(f"{self._where} is no sound XML: {self._problem}; open the file and save it anew")

    def _refuse_document_type(self, *_: object) -> None:
        raise ValueError("it has a document type")

    def _begin(self, tag: str, told: dict[str, str]) -> None:
        name = tag.partition(":")[2] or tag
        if name == "c":
            self._add_cell(told.get("r"))
        elif name == "row":
            self._row, self._column = _number(told.get("r"), self._row + 1), 0
        elif tag == "table:table":
            if self._n_tables:
                raise ValueError("it has a table within a table")
            self._n_tables, self._parser.EndElementHandler = 1, self._end
        elif tag == "table:table-row":
            if self._n_rows:
                raise ValueError("it has a row within a row")
            self._n_rows, self._column, self._row_times = 1, 0, _number(told.get("table:number-rows-repeated"), 1)
        elif tag in ("table:table-cell", "table:covered-table-cell"):
            self._column += _number(told.get("table:number-columns-repeated"), 1)
            if any(key.startswith("office:") or key == "table:formula" for key in told):
                self._reach(self._row + self._row_times, self._column)

    def _end(self, tag: str) -> None:
        if tag == "table:table-row":
            self._n_rows, self._row = 0, self._row + self._row_times
        elif tag == "table:table":
            self._n_before = self.n_cells
            self._n_tables = self._row = self._last_row = self._last_column = 0

    def _add_cell(self, place: str | None) -> None:
        if place is None:
            self._column += 1
        elif found := CELL.fullmatch(place):
            self._row, self._column = int(found[2]), 0
            for letter in found[1].upper():
                self._column = 26 * self._column + ord(letter) - 64
        else:
            self._row = self._column = FAR
        self._reach(self._row, self._column)

    def _reach(self, row: int, column: int) -> None:
        self._last_row, self._last_column = max(self._last_row, row), max(self._last_column, column)


def _number(told: str | None, otherwise: int) -> int:
    if told is None:
        return otherwise
    return int(told) if told.isdecimal() and len(told) < 12 else FAR
