"""An .xls that is forged is refused before it is loaded: circles of sectors, lengths that are none, far cells."""

import tracemalloc
from struct import pack

import numpy as np
import pytest

import bayeswater as bw
from bayeswater.data.sources.old_spreadsheets import require_small_workbook
from bayeswater.data.sources.spreadsheets import require_small_sheets
from bayeswater.errors import DataError, ResourceLimitError

END, FREE = 0xFFFFFFFE, 0xFFFFFFFF


def record(kind, data=b""):
    return pack("<HH", kind, len(data)) + data


def number(row, column, value):
    return record(0x203, pack("<HHHd", row, column, 0, value))


def label(row, column, text):
    return record(0x204, pack("<HHHHB", row, column, 0, len(text), 0) + text.encode())


def workbook(*cells, strings=b"", n_sheets=1, at=None):
    begin = record(0x809, pack("<HHHHLL", 0x600, 5, 0, 0, 0, 0))
    names = [f"s{k}".encode() for k in range(n_sheets)]
    place = len(begin) + sum(4 + 8 + len(name) for name in names) + len(strings) + 4
    sheets = [record(0x85, pack("<LBBBB", place if at is None else at, 0, 0, len(name), 0) + name) for name in names]
    return b"".join([begin, *sheets, strings, record(0x0A), begin, *cells, record(0x0A)])


def entry(name, start, n_bytes):
    written = f"{name}\0".encode("utf-16-le")
    return written.ljust(64, b"\0") + pack("<H", len(written)) + bytes(50) + pack("<LQ", start, n_bytes)


def old_sheet(path, stream, *, chain=None, root=0, n_tables=1, n_bytes=None):
    """Write a workbook into a compound file: the table of sectors, the directory, and the stream."""
    stream = stream.ljust(4096, b"\0")
    n = -(-len(stream) // 512)
    table = [0xFFFFFFFD, END, *range(3, n + 2), END] if chain is None else chain
    head = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(16) + pack("<5H", 62, 3, 0xFFFE, 9, 6) + bytes(6)
    head += pack("<9L", 0, n_tables, 1, 0, 4096, END, 0, END, 0) + pack("<109L", 0, *[FREE] * 108)
    directory = entry("Root Entry", END, root) + entry("Workbook", 2, n_bytes or len(stream)) + bytes(256)
    table = [*table, *[FREE] * (128 - len(table))]
    path.write_bytes(head + pack("<128L", *table) + directory + stream.ljust(512 * n, b"\0"))
    return path


def test_an_old_sheet_is_read(tmp_path):
    pytest.importorskip("python_calamine")
    cells = [
        label(0, 0, "x"),
        label(0, 1, "class"),
        number(1, 0, 2.5),
        label(1, 1, "a"),
        number(2, 0, 3),
        label(2, 1, "b"),
    ]
    table, _ = bw.read_table(old_sheet(tmp_path / "t.xls", workbook(*cells)))
    assert table.to_pylist() == [{"x": 2.5, "class": "a"}, {"x": 3.0, "class": "b"}]


@pytest.mark.parametrize(
    "stream",
    [
        workbook(number(0, 255, 1), number(65535, 9, 1), n_sheets=3),
        workbook(record(0xBD, pack("<HH", 65535, 200) + bytes(6 * 50) + pack("<H", 249)), n_sheets=3),
        workbook(record(0x200, pack("<LLHHH", 0, 2**31, 0, 256, 0))),
    ],
)
def test_a_far_cell_of_an_old_sheet_is_refused(tmp_path, stream):
    path = old_sheet(tmp_path / "t.xls", stream)
    with pytest.raises(ResourceLimitError, match=r"t\.xls reaches over [\d,]+ cells, .*CSV"):
        require_small_sheets(str(path), "t.xls")


@pytest.mark.parametrize(
    ("stream", "forged", "said"),
    [
        (workbook(), {"chain": [0xFFFFFFFD, END, 3, 2]}, "run in a circle"),
        (workbook(), {"chain": [0xFFFFFFFD, END, 2**31]}, "sector 2,147,483,648, which is not there"),
        (workbook(), {"chain": [0xFFFFFFFD, 1]}, "run in a circle"),
        (workbook(), {"n_tables": 2**31}, "more of itself than there is"),
        (workbook(), {"root": 2**31}, "more of itself than there is"),
        (workbook(), {"n_bytes": 2**31}, "more of itself than there is"),
        (workbook(strings=record(0xFC, pack("<ll", 1, 2**31 - 1))), {}, "cannot hold 2,147,483,647 strings"),
        (workbook(strings=record(0xFC, pack("<ll", 1, -1))), {}, "cannot hold -1 strings"),
        (workbook(record(0x200, pack("<4HH", 9, 1, 0, 1, 0))), {}, "ends before it begins"),
        (workbook(at=10**6), {}, "behind its end"),
        (workbook(number(0, 0, 1), number(65535, 65535, 1)), {}, "column 65,536 of 256"),
        (workbook(record(0x06, pack("<HH", 65535, 65535) + bytes(20))), {}, "column 65,536 of 256"),
    ],
)
def test_an_old_sheet_whose_parts_do_not_fit_together_is_refused(tmp_path, stream, forged, said):
    path = old_sheet(tmp_path / "t.xls", stream, **forged)
    with pytest.raises(DataError, match=rf"t\.xls is damaged: .*{said}.*; save it anew"):
        require_small_sheets(str(path), "t.xls")


@pytest.mark.parametrize("strings", [record(0x18, bytes(5)), record(0xE0, bytes(1)), record(0x85, bytes(4))])
def test_a_record_that_is_too_short_is_refused_in_words(tmp_path, strings):
    pytest.importorskip("python_calamine")
    path = old_sheet(tmp_path / "t.xls", workbook(label(0, 0, "x"), number(1, 0, 2.5), strings=strings))
    with pytest.raises(DataError, match=r"t\.xls: .*; is it a whole spreadsheet\?|t\.xls is damaged"):
        bw.read_table(path)


@pytest.mark.parametrize(
    ("listed", "said"),
    [(0, "more of itself than there is"), (END, "run in a circle")],  # all places name one sector; one names itself
)
def test_a_forged_old_sheet_takes_little_memory(listed, said):
    head = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(16) + pack("<5H", 62, 3, 0xFFFE, 9, 6) + bytes(6)
    head += pack("<9L", 0, 1, 0, 0, 4096, END, 0, listed, 1) + pack("<109L", *range(20), *[FREE] * 89)
    tables = np.zeros((30, 128), "<u4")  # lists of tables, and tables
    tables[:, -1] = [*range(1, 30), END]
    tracemalloc.start()
    try:
        with pytest.raises(DataError, match=said):
            require_small_workbook(head + tables.tobytes(), "t.xls")
        assert tracemalloc.get_traced_memory()[1] < 20 * tables.nbytes
    finally:
        tracemalloc.stop()
