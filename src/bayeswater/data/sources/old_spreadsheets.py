"""How many cells an .xls asks for, looked at before it is loaded.

An .xls is a compound file: sectors, each of which names the next of its stream, and among the streams a workbook of
records. Every length and every next sector is a number that anybody can write: a chain may run in a circle, and a cell
of ten bytes may stand in row 65 536 and column 65 536. What loads it believes them all.
"""

from collections.abc import Iterator
from struct import Struct
from struct import error as StructError

import numpy as np

from bayeswater.errors import DataError
from bayeswater.limits import SHEET_CELLS, require_few_cells
from bayeswater.typing import Array

SIGNATURE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
"""How an .xls begins."""

HEADER = Struct("<30xHH6xLLL8xLLLL")
"""Sizes of sectors; then how many and where: directory, next sectors, those of short streams, and their list."""

ENTRY = Struct("<64s52xLLL")
"""Name, first sector and length (two halves) of a stream."""

RECORD = Struct("<4H")
"""Kind and length of a record, then the row and column of a cell."""

END_OF_CHAIN, NO_SECTOR = 0xFFFFFFFE, 0xFFFFFFFF
MINI_BYTES, MINI_STREAM = 64, 4096
"""Size of the sectors of short streams, and of the shortest stream that is not."""

MOST_COLUMNS = 256
"""Of a sheet, by the format."""

END, SHEET_AT, STRINGS, DIMENSIONS, NUMBERS = 0x0A, 0x85, 0xFC, 0x200, 0xBD
CELLS = {0x203, 0x204, 0x205, 0x27E, 0xFD, 0x06, NUMBERS}
"""Records with a cell: number, label, truth, compact number, shared string, formula; several numbers."""


def require_small_workbook(content: bytes, where: str) -> None:
    """Refuse an .xls that takes too much memory, or whose parts do not fit together."""
    try:
        stream, n_cells = _workbook(content) + bytes(RECORD.size), 0  # so that the last record can be looked at
        for place in _sheets(stream):
            if n_cells <= SHEET_CELLS:
                n_cells += _n_cells(stream, place)
    except (ValueError, StructError) as error:
        raise DataError(f"{where} is damaged: {error}; save it anew, or fetch it again") from None
    require_few_cells(n_cells, where)


def _workbook(content: bytes) -> bytes:
    """Give the stream of the workbook; every length and every sector has to lie within the file."""
    _require(len(content) >= 512, "it ends within its header")
    shift, mini, n_directory, n_tables, directory, short, n_short, listed, n_listed = HEADER.unpack_from(content)
    _require(shift in (9, 12) and mini == 6, "its sectors have an odd size")
    size = 1 << shift
    for n_sectors in (n_directory, n_tables, n_short, n_listed):
        _require(n_sectors * size <= len(content), "it says more of itself than there is")
    list_of_tables = [np.frombuffer(content, "<u4", 109, HEADER.size)]
    while listed not in (END_OF_CHAIN, NO_SECTOR):
        _require(len(list_of_tables) * size <= len(content), "the list of its sectors has no end")
        *more, listed = np.frombuffer(_sector(content, listed, size, size), "<u4").tolist()
        list_of_tables.append(np.array(more, "<u4"))
    places = [int(place) for place in np.concatenate(list_of_tables) if place != NO_SECTOR]
    _require(len(places) * size <= len(content), "it says more of itself than there is")
    table = np.frombuffer(b"".join(_sector(content, place, size, size) for place in places), "<u4")
    entries = _chain(content, directory, table, size, size)
    streams = [ENTRY.unpack_from(entries, at) for at in range(0, len(entries) - 127, 128)]
    _require(bool(streams), "its directory is empty")
    _, root, n_root, _ = streams[0]
    _require(n_root <= len(content), "it says more of itself than there is")
    for name in ("Workbook", "Book"):
        for written, start, n_bytes, above in streams:
            if written.decode("utf-16-le", "replace").partition("\0")[0] == name:
                _require(n_bytes <= len(content) and (size == 512 or not above), "it says more of itself than there is")
                if n_bytes >= MINI_STREAM:
                    return _chain(content, start, table, size, size)[:n_bytes]
                minis = _chain(content, root, table, size, size)
                short_table = np.frombuffer(_chain(content, short, table, size, size), "<u4")
                return _chain(minis, start, short_table, MINI_BYTES, 0)[:n_bytes]
    raise ValueError("it holds no workbook")


def _sector(content: bytes, place: int, size: int, before: int) -> bytes:
    start = before + place * size
    _require(start < len(content), f"it names sector {place:,}, which is not there")
    return content[start : start + size]


def _chain(content: bytes, place: int, table: Array, size: int, before: int) -> bytes:
    """Join the sectors of a stream, each of which says where the next one is."""
    found: list[bytes] = []
    while place != END_OF_CHAIN:
        _require(place < len(table), f"it names sector {place:,}, which is not there")
        _require(len(found) * size < len(content), "its sectors run in a circle")
        found.append(_sector(content, place, size, before))
        place = int(table[place])
    return b"".join(found)


def _records(stream: bytes, place: int) -> Iterator[tuple[int, int, int, int, int]]:
    """Give kind, length, the first two numbers and the place of the records up to the end of a part."""
    end, unpack = len(stream) - RECORD.size, RECORD.unpack_from
    _require(place < end, "a sheet lies behind its end")
    while place < end:
        kind, length, row, column = unpack(stream, place)
        yield kind, length, row, column, place + 4
        if kind == END:
            return
        place += 4 + length


def _sheets(stream: bytes) -> list[int]:
    """Say where the sheets begin; more strings than have room are refused."""
    found = []
    for kind, length, _, _, place in _records(stream, 0):
        if kind == SHEET_AT:
            found.append(int.from_bytes(stream[place : place + 4], "little"))
        elif kind == STRINGS and length >= 8:
            n_strings = int.from_bytes(stream[place + 4 : place + 8], "little", signed=True)
            _require(0 <= n_strings <= len(stream), f"it cannot hold {n_strings:,} strings")
    return found


def _n_cells(stream: bytes, place: int) -> int:
    """Say how many cells lie between the first of a sheet and its last row and column, or are set aside for it."""
    last_row = last_column = n_records = n_aside = 0
    for kind, length, row, column, at in _records(stream, place):
        n_records += 1
        if n_records > SHEET_CELLS:
            break
        if kind in CELLS:
            if kind == NUMBERS:
                column += max(length // 6 - 2, 0)
            if row > last_row:
                last_row = row
            if column > last_column:
                last_column = column
        elif kind == DIMENSIONS:
            wide = length == 14
            low, high, left, right = Struct("<LLHH" if wide else "<4H").unpack_from(stream, at)
            _require((low <= high and left <= right) or not (high and right), "its sheet ends before it begins")
            n_aside = (high - low) * (right - left) if high and right else 0
    _require(last_column < MOST_COLUMNS, f"a cell stands in column {last_column + 1:,} of {MOST_COLUMNS}")
    return max((last_row + 1) * (last_column + 1), n_records, n_aside)


def _require(holds: bool, problem: str) -> None:
    if not holds:
        raise ValueError(problem)
