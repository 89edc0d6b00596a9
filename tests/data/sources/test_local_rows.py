"""Rows of files and streams: sums that do not depend on how the rows are divided, one pass, what is told on the way."""

import gc
import json
import math
import os
import pickle
import signal
import sqlite3
import subprocess
import sys
import threading
import time
import weakref
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_all_start_methods, get_context
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayeswater.data.sources import arff, cutting, delimited, json_lines, source
from bayeswater.data.sources.arff import ArffSource
from bayeswater.data.sources.columnar import ArrowSource, ParquetSource
from bayeswater.data.sources.delimited import DelimitedSource
from bayeswater.data.sources.json_lines import JsonLinesSource
from bayeswater.data.sources.local_rows import LocalRows
from bayeswater.data.sources.parts import Place, Progress
from bayeswater.data.sources.recognising import local_rows, spooled
from bayeswater.data.sources.source import TypesWidened, batch_rows
from bayeswater.errors import DataError, SchemaError
from bayeswater.kernels.threads import threads

SHAPES = [".csv", ".parquet", ".arrow", ".arrows", ".jsonl", ".arff"]


@pytest.fixture(autouse=True)
def small_batches(monkeypatch):
    """Cut batches short, so that a small file has many: 12 rows of one column, 4 of three."""
    monkeypatch.setattr(delimited, "BLOCK_BYTES", 64)
    monkeypatch.setattr(json_lines, "BLOCK_BYTES", 200)  # every column has a value in it
    monkeypatch.setattr(source, "BATCH_ROWS", 4)
    monkeypatch.setattr(source, "BATCH_CELLS", 12)
    monkeypatch.setattr(arff, "ROWS", 3)


@dataclass(frozen=True)
class Total:
    """Sums of floats, whose last bits tell in which order and grouping they were added, and all rows in order."""

    x: float
    rows: tuple[tuple[object, ...], ...]

    @classmethod
    def of(cls, table: pa.Table) -> "Total":
        rows = tuple(tuple(row.values()) for row in table.to_pylist())
        return cls(sum(row[0] or 0.0 for row in rows), rows)  # the first column is x

    def __add__(self, other: "Total") -> "Total":
        return Total(self.x + other.x, self.rows + other.rows)


def table_of(n_rows: int) -> pa.Table:
    return pa.table(
        {
            "x": [None if i % 11 == 5 else math.sin(i) * 10.0 ** (i % 7) for i in range(n_rows)],
            "n": [i if i % 5 else None for i in range(n_rows)],
            "s": [f"word {i % 3}" if i % 4 else None for i in range(n_rows)],
        }
    )


TABLE = table_of(50)


def write(table: pa.Table, path: Path) -> Path:
    """Write a table in the format that the name tells, in small groups of rows."""
    rows = table.to_pylist()
    match path.suffix:
        case ".parquet":
            pa.parquet.write_table(table, path, row_group_size=7)
        case ".arrow" | ".arrows":
            with (pa.ipc.new_file if path.suffix == ".arrow" else pa.ipc.new_stream)(path, table.schema) as file:
                file.write_table(table, max_chunksize=5)
        case ".csv":
            pa.csv.write_csv(table, path)
        case ".jsonl":
            path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        case ".arff":
            head = "@relation t\n@attribute x real\n@attribute n integer\n@attribute s string\n@data\n"
            cells = (
                ["?" if v is None else f"'{v}'" if isinstance(v, str) else repr(v) for v in row.values()]
                for row in rows
            )
            path.write_text(head + "".join(",".join(row) + "\n" for row in cells))
    return path


def files(folder: Path, shape: str, cuts: list[int]) -> str:
    """Write the table in several files, and give the pattern of their names."""
    for number, (start, stop) in enumerate(zip([0, *cuts], [*cuts, TABLE.num_rows], strict=True)):
        write(TABLE.slice(start, stop - start), folder / f"part-{number}{shape}")
    return str(folder / f"part-*{shape}")


def whole() -> Total:
    return local_rows(TABLE).sum(Total.of, TABLE.column_names)


# ---------------------------------------------------------------------- sums


@pytest.mark.parametrize("cuts", [[], [20], [1, 13, 49]])
@pytest.mark.parametrize("shape", SHAPES)
def test_the_division_into_files_and_the_format_do_not_show(tmp_path, shape, cuts):
    rows = local_rows(files(tmp_path, shape, cuts))
    assert rows.schema.names == ["x", "n", "s"]
    found = rows.sum(Total.of, ["x", "n", "s"])
    assert found == whole()  # the same bits
    assert found.rows == tuple(tuple(row.values()) for row in TABLE.to_pylist())


@pytest.mark.parametrize("shape", SHAPES)
def test_rows_are_counted_also_where_no_column_is_looked_at(tmp_path, shape):
    rows = local_rows(files(tmp_path, shape, [20]))
    assert rows.sum(lambda table: Total(table.num_rows, (tuple(table.column_names),)), []).x == TABLE.num_rows
    answers = rows.map(lambda table: pa.table({"n": range(table.num_rows)}), pa.schema([("n", pa.int64())]), [])
    assert sum(answer.num_rows for answer in answers) == TABLE.num_rows


@given(st.lists(st.integers(0, TABLE.num_rows), max_size=8).map(sorted))
def test_the_division_into_batches_does_not_show(cuts):
    tables = [TABLE.slice(a, b - a) for a, b in zip([0, *cuts], [*cuts, TABLE.num_rows], strict=True)]
    expected = whole()
    for given_as in (iter(tables), lambda: iter(tables), tables, iter([b for t in tables for b in t.to_batches()])):
        rows = local_rows(given_as, types={"n": "integer"})
        assert rows.sum(Total.of, TABLE.column_names) == expected


@pytest.mark.parametrize("n_threads", [1, 2, 7])
def test_the_number_of_threads_does_not_show(tmp_path, n_threads):
    with threads(n_threads):
        assert local_rows(files(tmp_path, ".csv", [20])).sum(Total.of, TABLE.column_names) == whole()


def test_columns_come_in_the_order_they_are_asked_for(tmp_path):
    rows = local_rows(files(tmp_path, ".parquet", [20]))
    found = rows.sum(Total.of, ["n", "s"])
    assert found.rows == tuple(zip(TABLE["n"].to_pylist(), TABLE["s"].to_pylist(), strict=True))


def test_a_batch_holds_whole_blocks_or_part_of_one_and_not_too_many_cells(monkeypatch):
    monkeypatch.undo()
    assert batch_rows(1) == 2**23
    assert batch_rows(20) == 6 * 2**16  # 2**23 cells would be 6.4 blocks
    assert batch_rows(128) == 2**16
    assert batch_rows(129) == 2**15
    assert batch_rows(10**9) == 1


def test_no_rows_are_refused_by_name(tmp_path):
    empty = write(TABLE.slice(0, 0), tmp_path / "empty.parquet")
    with pytest.raises(DataError, match=r"empty\.parquet has no rows"):
        local_rows(empty).sum(Total.of, ["x"])
    assert list(local_rows(empty).map(lambda table: table, TABLE.schema, TABLE.column_names)) == []
    with pytest.raises(DataError, match="the iterator has no rows and no columns"):
        local_rows(iter([])).sum(Total.of, ["x"])


def test_an_empty_file_among_others_adds_nothing(tmp_path):
    write(TABLE.slice(0, 0), tmp_path / "part-7.parquet")
    assert local_rows(files(tmp_path, ".parquet", [20])).sum(Total.of, TABLE.column_names) == whole()


def test_a_column_that_is_not_there_is_refused_with_the_nearest(tmp_path):
    rows = local_rows(files(tmp_path, ".csv", []))
    for ask in (rows.head, lambda names: rows.sum(Total.of, names)):
        with pytest.raises(SchemaError, match=r"part-\*\.csv|part-0\.csv: there is no column 'X'; did you mean 'x'"):
            ask(["X"])


# ---------------------------------------------------------------------- head, map


@pytest.mark.parametrize("n_rows", [0, 1, 4, 21, 50, 80])
@pytest.mark.parametrize("shape", [".csv", ".parquet"])
def test_the_head_is_the_first_rows_whatever_the_files(tmp_path, shape, n_rows):
    rows = local_rows(files(tmp_path, shape, [3, 20]))
    assert rows.head(["s", "x"], n_rows).to_pylist() == TABLE.select(["s", "x"]).slice(0, n_rows).to_pylist()


@pytest.mark.parametrize("shape", SHAPES)
def test_rows_whose_head_was_read_end_when_nobody_has_them_any_more(tmp_path, shape):
    rows = local_rows(files(tmp_path, shape, [3, 20]))
    rows.head(["s", "x"], 4)
    known = weakref.ref(rows)
    gc.disable()  # it could end their threads within a thread that starts, and wait for ever
    try:
        del rows
        assert known() is None
    finally:
        gc.enable()


def test_the_head_has_all_rows_however_long_their_texts_are(monkeypatch):
    monkeypatch.setattr(cutting, "BATCH_BYTES", 10)
    monkeypatch.setattr(cutting, "GRID_ROWS", 2)
    texts = pa.table({"s": ["a long text"] * 20})
    assert local_rows(texts).head(["s"], 15).num_rows == 15
    assert local_rows(iter([texts])).head(["s"], 15).num_rows == 15


def test_the_head_of_what_comes_once_is_given_again():
    rows = local_rows(iter(TABLE.to_batches(max_chunksize=6)))
    for n_rows in (3, 20, 7, 0):
        assert rows.head(["x"], n_rows).to_pylist() == TABLE.select(["x"]).slice(0, n_rows).to_pylist()
    assert rows.sum(Total.of, TABLE.column_names) == whole()


@pytest.mark.parametrize("shape", SHAPES)
def test_what_the_head_of_a_file_has_decoded_is_not_decoded_again(tmp_path, shape, monkeypatch):
    rows, names = local_rows(files(tmp_path, shape, [20])), TABLE.column_names
    begun = []
    for kind in (ParquetSource, ArrowSource, DelimitedSource, JsonLinesSource, ArffSource):
        read = kind._read
        monkeypatch.setattr(kind, "_read", lambda self, *how, read=read: begun.append(self.name) or read(self, *how))
    assert rows.head(names, 22).num_rows == 22
    assert len(begun) == 2  # the second file has been begun
    assert rows.sum(Total.of, names) == whole()  # to the bit
    assert len(begun) == 2
    assert rows.sum(Total.of, names) == whole()
    assert len(begun) == 4


@pytest.mark.parametrize("shape", SHAPES)
def test_a_head_that_nothing_follows_leaves_no_thread(tmp_path, shape):
    with threads(2):
        rows = local_rows(files(tmp_path, shape, [20]))
        rows.head(TABLE.column_names, 22)
        del rows
        gc.collect()  # what is left to read knows the rows it is of
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("bayeswater")]


@pytest.mark.skipif("fork" not in get_all_start_methods(), reason="processes do not fork on this system")
@pytest.mark.parametrize("shape", SHAPES)
def test_a_process_that_forks_after_the_head_has_all_rows_on_both_sides(tmp_path, shape):
    """The two would read one open file, and only one of them has the threads that decode it."""

    def sum_all() -> None:
        assert rows.sum(Total.of, TABLE.column_names) == whole()

    with threads(2):
        rows = local_rows(files(tmp_path, shape, [20]))
        rows.head(TABLE.column_names, 22)
        child = get_context("fork").Process(target=sum_all)
        child.start()
        child.join(30)
        child.kill()
        assert child.exitcode == 0
        sum_all()


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("columns", [["x", "n", "s"], ["s", "n", "x"], ["s"]])
def test_whatever_head_was_looked_at_a_sum_has_all_rows(tmp_path, shape, columns):
    rows, told = local_rows(files(tmp_path, shape, [20])), []
    for n_rows in (0, 30, 3, 80):
        rows.head(columns, n_rows)
        assert rows.sum(Total.of, TABLE.column_names, after=lambda *now: told.append(now)) == whole()
    for start in told[::9]:
        rows.head(TABLE.column_names, 30)
        assert rows.sum(Total.of, TABLE.column_names, start=start) == whole()


@pytest.fixture
def _eager_threads():
    """Let threads take turns after every few steps."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.mark.usefixtures("_eager_threads")
def test_threads_that_look_at_the_head_and_sum_at_once_have_all_rows_each(tmp_path):
    rows = local_rows(write(TABLE, tmp_path / "rows.parquet"))

    def read(_: int) -> int:
        rows.head(["n"], 10)
        return rows.sum(lambda table: table.num_rows, ["n"])

    with ThreadPoolExecutor(4) as pool:
        assert set(pool.map(read, range(200))) == {TABLE.num_rows}


def test_types_declared_after_the_head_are_those_of_the_sum(tmp_path):
    rows = local_rows(write(pa.table({"n": [1, 2, 3]}), tmp_path / "n.parquet"))
    rows.head(["n"], 2)
    rows.declare({"n": pa.string()})
    assert rows.sum(lambda table: table["n"].to_pylist(), ["n"]) == ["1", "2", "3"]


def test_a_map_is_asked_for_piece_by_piece(tmp_path):
    rows = local_rows(files(tmp_path, ".jsonl", [20]))
    n_read = 0

    def doubled(table: pa.Table) -> pa.Table:
        nonlocal n_read
        n_read += table.num_rows
        return pa.table({"x": pc.multiply(table["x"], 2.0), "more": table["x"]})

    result = rows.map(doubled, pa.schema([("x", pa.float64())]), ["x"])
    assert n_read == 0
    first = next(result)
    assert n_read < TABLE.num_rows
    tables = [first, *result]
    assert pa.concat_tables(tables).equals(pa.table({"x": pc.multiply(TABLE["x"], 2.0)}))


def test_a_map_that_is_left_early_leaves_no_thread(tmp_path):
    with threads(2):
        result = local_rows(files(tmp_path, ".csv", [20])).map(lambda t: t, TABLE.schema, TABLE.column_names)
        next(result)
        result.close()
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("bayeswater")]


# ---------------------------------------------------------------------- once only, spooled


def test_what_comes_once_is_refused_the_second_time_with_the_way_out():
    rows = local_rows(iter([TABLE]))
    assert not rows.can_be_reread
    rows.sum(Total.of, ["x"])
    for ask in (
        lambda: rows.sum(Total.of, ["x"]),
        lambda: rows.head(["x"]),
        lambda: [*rows.map(len, TABLE.schema, ["x"])],
    ):
        with pytest.raises(
            DataError, match=r"the iterator can be read only once.*columns=.*bayeswater\.spooled\(source\)"
        ):
            ask()


def test_a_function_and_a_list_begin_anew():
    for given_as in (lambda: iter(TABLE.to_batches()), TABLE.to_batches(), TABLE):
        rows = local_rows(given_as)
        assert rows.can_be_reread
        assert rows.sum(Total.of, TABLE.column_names) == rows.sum(Total.of, TABLE.column_names) == whole()


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (sqlite3.connect(":memory:"), "TypeError: function takes exactly 1 argument"),
        (lambda: None, "TypeError: 'NoneType' object is not iterable"),
        (lambda: 1 / 0, "ZeroDivisionError: division by zero"),
    ],
)
def test_a_function_that_gives_no_tables_is_refused_in_words(function, said):
    with pytest.raises(DataError, match=f"the function: reading failed with {said}"):
        local_rows(function).sum(Total.of, ["n"])


def test_spooled_rows_are_read_again_and_deleted_at_the_end(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with spooled(local_rows(iter(TABLE.to_batches(max_chunksize=6)))) as rows:
        assert rows.can_be_reread
        assert len(list(tmp_path.iterdir())) == 1
        for _ in range(2):
            assert rows.sum(Total.of, TABLE.column_names) == whole()
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(KeyboardInterrupt), spooled(local_rows(iter([TABLE])), ["s"]) as rows:
        assert rows.schema.names == ["s"]
        raise KeyboardInterrupt
    assert list(tmp_path.iterdir()) == []


def test_spooling_keeps_declared_categories_and_widened_types(tmp_path, monkeypatch):
    declared = pa.DictionaryArray.from_arrays(pa.array([0, 2, 0], pa.int8()), pa.array(["a", "b", "z"]))
    with spooled(local_rows(iter([pa.table({"d": declared})]))) as rows:
        (category,) = rows.head(["d"])["d"].chunks
        assert category.dictionary.to_pylist() == ["a", "b", "z"]
    monkeypatch.setattr(delimited, "INFERRED_BYTES", 32)
    (tmp_path / "t.csv").write_text("a\n" + "1\n" * 50 + "x\n")  # beyond the stretch that tells the types
    with spooled(local_rows(tmp_path / "t.csv")) as rows:
        assert rows.schema.types == [pa.string()]
        assert rows.n_rows == 51


def test_a_full_disk_is_told_with_the_folder(tmp_path, monkeypatch):
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr(pa.parquet.ParquetWriter, "write_table", full)
    with pytest.raises(DataError, match=r"cannot store the rows of the iterator in .*No space left.*TMPDIR"):
        spooled(local_rows(iter([TABLE]))).__enter__()
    assert list(tmp_path.iterdir()) == []


# ---------------------------------------------------------------------- stopped, and taken up again


@pytest.mark.parametrize("shape", SHAPES)
def test_a_sum_that_is_taken_up_again_has_the_same_bits(tmp_path, shape):
    pattern = files(tmp_path, shape, [3, 24])
    told: list[tuple[Place, Total]] = []
    expected = local_rows(pattern).sum(Total.of, TABLE.column_names, after=lambda *now: told.append(now))
    assert expected == whole()
    assert [place.n_batches for place, _ in told] == list(range(1, len(told) + 1))
    assert told[-1][1] == expected
    assert len(told) > 10
    for place, total in told:
        written = Place(*json.loads(json.dumps(place)))
        assert local_rows(pattern).sum(Total.of, TABLE.column_names, start=(written, total)) == expected


def test_a_stream_is_taken_up_again_by_passing_over_its_first_rows():
    told: list[tuple[Place, Total]] = []
    rows = local_rows(iter(TABLE.to_batches(max_chunksize=6)))
    rows.sum(Total.of, TABLE.column_names, after=lambda *now: told.append(now))
    for place, total in told:
        again = local_rows(iter(TABLE.to_batches(max_chunksize=6)))
        assert again.sum(Total.of, TABLE.column_names, start=(place, total)) == whole()
        again = local_rows(iter(TABLE.to_batches(max_chunksize=6)))
        again.head(["x"], 10)
        assert again.sum(Total.of, TABLE.column_names, start=(place, total)) == whole()


@pytest.mark.parametrize("shape", [".csv", ".jsonl", ".parquet"])
def test_rows_before_the_place_are_not_decoded(tmp_path, shape):
    path = write(TABLE, tmp_path / f"t{shape}")
    told: list[tuple[Place, Total]] = []
    expected = local_rows(path).sum(Total.of, TABLE.column_names, after=lambda *now: told.append(now))
    place, total = told[len(told) // 2]
    rows = local_rows(path)
    assert rows.schema.names == TABLE.column_names  # read before the rows are spoilt
    content, state = bytearray(path.read_bytes()), path.stat()
    stop = (
        place.mark_byte
        if shape != ".parquet"
        else pa.parquet.read_metadata(path).row_group(1).column(0).data_page_offset
    )
    content[20:stop] = b"\xff" * (stop - 20)
    path.write_bytes(content)
    os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns))  # as if it had not been written to
    assert rows.sum(Total.of, TABLE.column_names, start=(place, total)) == expected
    with pytest.raises(DataError, match=path.name):
        rows.sum(Total.of, TABLE.column_names)


def test_other_data_have_another_fingerprint(tmp_path):
    def taken(columns: list[str] = TABLE.column_names) -> str:
        return local_rows(pattern).fingerprint(columns)

    pattern = files(tmp_path, ".csv", [20])
    seen = {taken(), taken(["x"])}
    assert taken() in seen
    with (tmp_path / "part-0.csv").open("a") as file:
        file.write("1,2,a\n")
    seen.add(taken())
    write(TABLE, tmp_path / "part-9.csv")
    seen.add(taken())
    assert len(seen) == 4
    streams = [local_rows(iter([TABLE.slice(n)])) for n in (0, 0, 1)]
    a, b, c = (stream.fingerprint(["x"]) for stream in streams)
    assert a == b != c
    assert streams[0].sum(Total.of, TABLE.column_names) == whole()  # nothing was used up


# ---------------------------------------------------------------------- progress


@pytest.mark.parametrize("shape", SHAPES)
def test_progress_goes_from_little_to_all(tmp_path, shape):
    told: list[Progress] = []
    rows = local_rows(files(tmp_path, shape, [20]), progress=told.append)
    rows.sum(Total.of, TABLE.column_names)
    assert [p.n_rows for p in told] == sorted(p.n_rows for p in told)
    assert told[-1].n_rows == TABLE.num_rows
    fractions = [p.fraction for p in told]
    assert fractions == sorted(fractions)
    assert 0 < fractions[0] < 1
    assert fractions[-1] == 1
    assert told[-1].total_bytes == sum(path.stat().st_size for path in tmp_path.iterdir())


def test_progress_of_a_stream_knows_no_total():
    told: list[Progress] = []
    local_rows(iter([TABLE]), progress=told.append).sum(Total.of, ["x"])
    assert told[-1].fraction is None
    assert told[-1].n_rows == TABLE.num_rows


# ---------------------------------------------------------------------- what goes wrong


@pytest.mark.parametrize("n_threads", [1, 2])
def test_an_error_in_the_function_names_the_file_and_the_rows(tmp_path, n_threads):
    def refused(table: pa.Table) -> Total:
        found = [i for i, x in enumerate(table["n"].to_pylist()) if x in (27, 29)]
        if found:
            raise DataError(f"row {found[0]} of column 'row 3' is wrong")
        return Total.of(table)

    rows = local_rows(files(tmp_path, ".parquet", [26]))  # 27 is the second row of the second file
    with threads(n_threads), pytest.raises(DataError) as caught:
        rows.sum(refused, TABLE.column_names)
    first, second = tmp_path / "part-0.parquet", tmp_path / "part-1.parquet"
    assert str(caught.value) == (
        f"{first}, rows 25 to 26, {second}, rows 1 to 2: row 2 of {second} of column 'row 3' is wrong"
    )
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("bayeswater")]


def test_an_error_of_another_kind_keeps_its_kind_and_is_noted(tmp_path):
    def broken(table: pa.Table) -> Total:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError) as caught:
        local_rows(files(tmp_path, ".csv", [20])).sum(broken, ["x"])
    assert caught.value.__notes__ == [f"while working on {tmp_path / 'part-0.csv'}, rows 1 to 12"]


@pytest.mark.parametrize("shape", [".csv", ".parquet"])
def test_an_interrupt_stops_at_once_and_leaves_no_thread(tmp_path, shape):
    rows = local_rows(files(tmp_path, shape, [20]))
    n_after = 0

    def after(*_: object) -> None:
        nonlocal n_after
        n_after += 1
        if n_after == 2:
            signal.raise_signal(signal.SIGINT)

    with threads(2), pytest.raises(KeyboardInterrupt):
        rows.sum(Total.of, TABLE.column_names, after=after)
    assert n_after == 2
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("bayeswater")]
    assert rows.sum(Total.of, TABLE.column_names) == whole()


def test_an_interrupt_reaches_who_waits_for_a_pipe():
    program = """
from bayeswater.data.sources.recognising import local_rows
rows = local_rows("-")
try:
    print(rows.schema.names, flush=True)
    rows.sum(len, ["x"])
except KeyboardInterrupt:
    print("interrupted")
"""
    with subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        process.stdin.write("x,y\n" + "1,2\n" * 2**19)  # more than is looked at for the types; then nothing comes
        process.stdin.flush()
        assert process.stdout.readline() == "['x', 'y']\n"
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        assert process.stdout.readline() == "interrupted\n"
        assert process.wait(timeout=60) == 0


def test_what_was_counted_before_a_row_that_cannot_be_read_is_not_lost(tmp_path, monkeypatch):
    monkeypatch.setattr(delimited, "INFERRED_BYTES", 200)
    pattern = files(tmp_path, ".csv", [20])
    path = tmp_path / "part-1.csv"
    good = path.read_text().splitlines(keepends=True)
    path.write_text("".join([*good[:16], "1,2,a,b\n", *good[16:]]))  # behind 20 and 15 rows
    told: list[tuple[Place, Total]] = []
    with pytest.raises(DataError, match=r"part-1\.csv: row 17 .*has 4 cells and not 3"):
        local_rows(pattern).sum(Total.of, TABLE.column_names, after=lambda *now: told.append(now))
    assert told[-1][0].n_rows == 32  # eight batches; the block with the row is not counted
    path.write_text("".join(good))
    assert local_rows(pattern).sum(Total.of, TABLE.column_names, start=told[-1]) == whole()


@pytest.mark.parametrize("shape", SHAPES)
def test_a_file_that_is_written_to_is_refused_before_and_after_it_is_read(tmp_path, shape):
    path = write(TABLE, tmp_path / f"t{shape}")
    rows = local_rows(path)
    n_told = 0

    def after(*_: object) -> None:
        nonlocal n_told
        n_told += 1
        if n_told == 2:
            os.utime(path, ns=(0, 0))

    for _ in range(2):
        with pytest.raises(DataError, match=rf"t\{shape} has changed since it was opened"):
            rows.sum(Total.of, TABLE.column_names, after=after)
    assert n_told > 2  # the second time nothing was read
    assert local_rows(path).sum(Total.of, TABLE.column_names) == whole()


def test_types_that_widen_far_down_are_told_and_agreed_anew(tmp_path, monkeypatch):
    monkeypatch.setattr(delimited, "INFERRED_BYTES", 32)
    (tmp_path / "a.csv").write_text("x\n" + "1\n" * 20)
    (tmp_path / "b.csv").write_text("x\n" + "1\n" * 20 + "0.5\n")
    rows = local_rows(str(tmp_path / "*.csv"))
    assert rows.schema.types == [pa.int64()]
    with pytest.raises(TypesWidened, match=r"b\.csv: row 22"):
        rows.sum(Total.of, ["x"])
    assert rows.schema.types == [pa.float64()]
    assert rows.sum(Total.of, ["x"]).x == 40.5


def test_declared_types_hold_in_every_file(tmp_path):
    (tmp_path / "a.csv").write_text("zip\n01\n")
    (tmp_path / "b.csv").write_text("zip\nA1\n")
    rows = local_rows(str(tmp_path / "*.csv"), types={"zip": "string"})
    assert rows.head(["zip"])["zip"].to_pylist() == ["01", "A1"]
    rows = local_rows(tmp_path / "a.csv")
    rows.declare({"zip": pa.string()})
    assert rows.head(["zip"])["zip"].to_pylist() == ["01"]


def test_rows_are_rows_already():
    rows = local_rows(TABLE)
    assert isinstance(rows, LocalRows)
    assert local_rows(rows) is rows


def test_rows_of_a_file_can_be_pickled_after_their_head_was_shown(tmp_path):
    pa.parquet.write_table(TABLE, tmp_path / "rows.parquet")
    rows = local_rows(tmp_path / "rows.parquet")
    first = rows.head(["x"], 2)
    again = pickle.loads(pickle.dumps(rows))
    assert again.head(["x"], 2) == first
    assert again.sum(len, ["x"]) == rows.sum(len, ["x"]) == len(TABLE)
