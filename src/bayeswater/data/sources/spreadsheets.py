"""Spreadsheets (.xlsx, .xls, .ods): a sheet is a table; its header is found as that of delimited text is.

A spreadsheet is held in memory, and so is every empty cell between two that are filled. How large its files unpack to
and which cell is the last are looked at before anything is loaded: a few bytes can ask for 16 384 columns of a million
rows.
"""

import lzma
import re
import zipfile
import zlib
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.parsers import expat

import numpy as np

from bayeswater.data.sources.layout import sheet_layout
from bayeswater.data.sources.odd_rows import LAST_ROWS, said_of_rows
from bayeswater.data.sources.old_spreadsheets import SIGNATURE, require_small_workbook
from bayeswater.data.sources.whole_files import HeldSource, cell_text, column_of_cells, library, said_of_kinds
from bayeswater.errors import DataError, ResourceLimitError, nearest_names
from bayeswater.limits import SHEET_BYTES, bytes_in_words, require_few_cells, require_unpacked

if TYPE_CHECKING:
    import pyarrow as pa

PIECE_BYTES = 2**20

PAGE_BYTES = 64
"""By which a file is known that is no archive."""

CELL = re.compile("([A-Z]{1,7})([0-9]{1,10})", re.I)
"""Where a cell of an .xlsx sheet stands."""

FAR = 2**40
"""A row or column that no number of few digits says."""

FAR_FROM_USUAL = (
    re.compile(rb'<c(?! r="[A-Z]{1,3}+[0-9]{1,7}+"(?: [a-qs-z]++="[^"<>&]*+")*+ ?/?>|[a-zA-Z])'),
    *map(re.compile, (rb":c(?![a-zA-Z])", b"table:table", b"\0")),
)
"""Tags of cells in another form than all programs write, with a prefix, of .ods, and in UTF-16."""

BARE_FORMULA = re.compile(rb"(?:</f>|<f [^>]*/>)(?:<v ?/>|<v></v>)?</c>")

NO_VALUES = (
    "some formulas have no values, and their cells are missing: open the file in a spreadsheet program, and save it"
)

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
                rows, merged = self._rows(book)
        except BaseException as error:  # a panic of the library is none of Python's exceptions
            if isinstance(error, calamine.CalamineError) or type(error).__name__ == "PanicException":
                raise DataError(f"{self.name}: {error}; is it a whole spreadsheet?") from None
            raise
        if not rows:
            raise DataError(
                f"{self.name}: the sheet is empty; name another with bayeswater.local_rows(source, sheet=...)"
            )
        width = max(map(len, rows))
        rows = [[None if cell == "" else cell for cell in row] + [None] * (width - len(row)) for row in rows]
        found = sheet_layout(([*map(cell_text, row)] for row in rows), self.reading, self.name, self.expected)
        for said in found.notes:
            self.note(said)
        names, marks = {place: name for name, place in found.used.items()}, self.reading.written.marks
        merged = [one for one in merged if one[0] >= found.n_rows_above and one[2] in names]
        ends: dict[int, int] = {}
        for begin, end, place in sorted(merged):
            if begin > ends.get(place, -1):  # those of a forged file may lie over one another
                ends[place] = end
                for row in rows[begin + 1 : end + 1]:
                    row[place] = rows[begin][place]
        if merged:
            listed = ", ".join(repr(names[place]) for place in sorted({place for _, _, place in merged}))
            self.note(f"cells that are merged downwards stand in each of their rows: column {listed}")
        body = [row for row in rows[found.n_rows_above :] if any(cell is not None for cell in row)]
        last = [[*map(cell_text, row)] for row in body[-LAST_ROWS:]]
        if odd := said_of_rows(last, [next(filter(None, row)) for row in last]):
            self.note(odd)
        columns = {name: [row[place] for row in body] for name, place in found.used.items()}
        table = pa.table({name: column_of_cells(cells, marks) for name, cells in columns.items()})
        if any(column.null_count for column in table.columns) and _has_bare_formulas(path, self.name):
            self.note(NO_VALUES)
        for said in said_of_kinds(columns, table):
            self.note(said)
        return table

    def _rows(self, book: Any) -> tuple[list[list[Any]], list[tuple[int, int, int]]]:
        """Give the cells of the sheet that was named, or of the only one that has some, and those that are merged."""
        names, sheet = book.sheet_names, self.reading.sheet
        if sheet is not None:
            by_number = {str(place + 1): name for place, name in enumerate(names)}
            name = sheet if sheet in names else by_number.get(str(sheet))
            if name is None:
                raise DataError(f"{self.name}: there is no sheet {sheet!r}; {nearest_names(str(sheet), names)}")
            chosen = book.get_sheet_by_name(name)
            return chosen.to_python(), _merged_downwards(chosen)
        filled: list[str] = []
        hidden = {one.name for one in book.sheets_metadata if one.visible != type(one.visible).Visible}
        kept: tuple[list[list[Any]], list[tuple[int, int, int]]] = [], []
        for name in sorted(names, key=hidden.__contains__):
            if rows := (own := book.get_sheet_by_name(name)).to_python():
                filled.append(name)
                kept = kept if len(filled) > 1 else (rows, _merged_downwards(own))
        if len(filled) > 1 and hidden.issuperset(filled[1:]) and filled[0] not in hidden:
            self.note(f"the sheet {filled[0]!r} is read; hidden: {', '.join(map(repr, filled[1:]))}")
        elif len(filled) > 1:
            listed = ", ".join(map(repr, sorted(filled, key=names.index)))
            raise DataError(
                f"{self.name} has {len(filled)} sheets: {listed}; name one with "
                "bayeswater.local_rows(source, sheet=...)"
            )
        return kept


def _merged_downwards(sheet: Any) -> list[tuple[int, int, int]]:
    """Give the first and the last row and the column of cells that are merged with those below them."""
    if sheet.start is None:
        return []
    top, left = sheet.start
    ranges = sheet.merged_cell_ranges or []  # None where the format does not tell
    return [(first - top, last - top, a - left) for (first, a), (last, b) in ranges if a == b and first < last]


def require_small_sheets(path: str, where: str) -> None:
    """Refuse a spreadsheet that takes too much memory, before it is loaded."""
    if not zipfile.is_zipfile(path):
        with Path(path).open("rb") as file:
            begin = file.read(PAGE_BYTES)
        if begin.startswith(SIGNATURE):
            _require_bytes(Path(path).stat().st_size, where)
            require_small_workbook(Path(path).read_bytes(), where)
            return
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


def _has_bare_formulas(path: str, where: str) -> bool:
    """Say whether a cell of an .xlsx has a formula and no value, as programs write them that do not work them out."""
    if not zipfile.is_zipfile(path):
        return False
    with zipfile.ZipFile(path) as archive:
        sheets = [info for info in archive.infolist() if "worksheets/" in info.filename]
        return any(BARE_FORMULA.search(piece) for info in sheets for piece in _pieces(archive, info, where))


def _require_small_parts(archive: zipfile.ZipFile, where: str) -> None:
    infos = archive.infolist()
    if any(info.filename.lower().endswith("workbook.bin") for info in infos):
        raise DataError(f"{where} is a binary workbook (.xlsb), which is not read; save it as .xlsx")
    _require_bytes(sum(info.file_size for info in infos), where)
    n_cells = 0
    for info in infos:  # all of them: what the workbook calls a sheet may have any name
        require_unpacked(info.file_size, info.compress_size, where)
        n_own = _usual_cells(_pieces(archive, info, where))
        if n_own is None:
            extent = _Extent(f"{where}: {info.filename}")
            for piece in _pieces(archive, info, where):
                extent.add(piece)
            n_own = extent.n_cells
        n_cells += n_own
        require_few_cells(n_cells, f"{where}: {info.filename}")


def _require_bytes(n_bytes: int, where: str) -> None:
    if n_bytes > SHEET_BYTES:
        raise ResourceLimitError(
            f"{where} takes {bytes_in_words(n_bytes)}, over the limit of {bytes_in_words(SHEET_BYTES)}; write its "
            "sheet to a CSV file"
        )


def _pieces(archive: zipfile.ZipFile, info: zipfile.ZipInfo, where: str) -> Iterator[bytes]:
    """Unpack a part; what the archive says of itself need not be true."""
    left = info.file_size
    with archive.open(info) as file:
        for piece in iter(lambda: file.read(PIECE_BYTES), b""):
            left -= len(piece)
            if left < 0:
                raise ResourceLimitError(f"{where} unpacks to more than it says of itself; it is no spreadsheet")
            yield piece


def _usual_cells(pieces: Iterator[bytes]) -> int | None:
    """Count as `_Extent` does, in a tenth of its time; None where a tag is not written as all programs write it."""
    last_row = last_column = 0
    rest = b""
    for piece in chain(pieces, (b"<",)):
        begun = rest + piece
        end = begun.rfind(b"<")
        whole, rest = begun[:end], begun[end:]
        if end < 0 or any(pattern.search(whole) for pattern in FAR_FROM_USUAL):
            return None
        letters = np.frombuffer(whole, np.uint8)
        at = np.flatnonzero(letters[:-1] == ord("<"))
        at = at[letters[at + 1] == ord("c")]
        at = at[letters[at + 2] == ord(" ")] + 6  # behind <c r="
        if len(at):
            column, row = np.zeros(len(at), np.int32), np.zeros(len(at), np.int32)
            for _ in range(3):
                is_letter = letters[at] >= ord("A")
                column, at = np.where(is_letter, 26 * column + letters[at] - 64, column), at + is_letter
            for _ in range(7):
                is_digit = letters[at] >= ord("0")
                row, at = np.where(is_digit, 10 * row + letters[at] - 48, row), at + is_digit
            last_row, last_column = max(last_row, int(row.max())), max(last_column, int(column.max()))
    return last_row * last_column


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
            raise DataError(f"{self._where} is not valid XML: {self._problem}; open the file and save it anew")

    def _refuse_document_type(self, *_: object) -> None:
        raise ValueError("it has a document type")

    def _begin(self, tag: str, attributes: dict[str, str]) -> None:
        name = tag.partition(":")[2] or tag
        if name == "c":
            self._add_cell(attributes.get("r"))
        elif name == "row":
            self._row, self._column = _number(attributes.get("r"), self._row + 1), 0
        elif tag == "table:table":
            if self._n_tables:
                raise ValueError("it has a table within a table")
            self._n_tables, self._parser.EndElementHandler = 1, self._end
        elif tag == "table:table-row":
            if self._n_rows:
                raise ValueError("it has a row within a row")
            self._n_rows, self._column, self._row_times = 1, 0, _number(attributes.get("table:number-rows-repeated"), 1)
        elif tag in ("table:table-cell", "table:covered-table-cell"):
            self._column += _number(attributes.get("table:number-columns-repeated"), 1)
            if any(key.startswith("office:") or key == "table:formula" for key in attributes):
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


def _number(written: str | None, otherwise: int) -> int:
    if written is None:
        return otherwise
    return int(written) if written.isdecimal() and len(written) < 12 else FAR
