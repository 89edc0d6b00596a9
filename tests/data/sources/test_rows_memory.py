"""Memory does not grow with the number of rows: what Arrow holds at most, and which batches are alive."""

import threading
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

from bayeswater.data.sources import columnar, cutting, delimited, source
from bayeswater.data.sources.local_rows import LocalRows
from bayeswater.data.sources.recognising import local_rows, spooled
from bayeswater.kernels.threads import threads

PIECE = pa.table({"x": [i / 7 for i in range(2**14)], "s": [f"some words {i % 1000}" for i in range(2**14)]})


@pytest.fixture(autouse=True)
def small_batches(monkeypatch):
    monkeypatch.setattr(source, "BATCH_ROWS", 2**14)
    monkeypatch.setattr(source, "BATCH_CELLS", 2**15)
    monkeypatch.setattr(delimited, "BLOCK_BYTES", 2**18)  # 40 blocks in the shorter file: its pipeline is full


def written(folder: Path, shape: str, n_pieces: int) -> Path:
    path = folder / f"{n_pieces}{shape}"
    if shape == ".parquet":  # all rows in one group
        pa.parquet.write_table(pa.concat_tables([PIECE] * n_pieces), path, use_dictionary=False)
    elif shape == ".csv":
        pa.csv.write_csv(pa.concat_tables([PIECE] * n_pieces), path)
    else:
        with pa.ipc.new_stream(path, PIECE.schema, options=pa.ipc.IpcWriteOptions(compression="zstd")) as file:
            for _ in range(n_pieces):
                file.write_table(PIECE)
    return path


def peak(work: Callable[[], object]) -> int:
    """Bytes that Arrow held at most while something was done."""
    pool = pa.proxy_memory_pool(pa.default_memory_pool())
    before = pa.default_memory_pool()
    pa.set_memory_pool(pool)
    try:
        work()
        return pool.max_memory()
    finally:
        pa.set_memory_pool(before)


@pytest.mark.parametrize("shape", [".parquet", ".csv", ".arrows"])
def test_a_sum_takes_as_much_memory_for_many_rows_as_for_some(tmp_path, shape):
    few, many = (local_rows(written(tmp_path, shape, n)) for n in (16, 64))
    assert (few.sum(len, ["x", "s"]), many.sum(len, ["x", "s"])) == (16 * 2**14, 64 * 2**14)
    # threads meet differently each time: a batch or two more or less may be alive
    assert peak(lambda: many.sum(len, ["x", "s"])) < peak(lambda: few.sum(len, ["x", "s"])) + 2 * PIECE.nbytes


def test_spooling_takes_no_more_memory_for_many_rows(tmp_path):
    def spool(n_pieces: int) -> None:
        with spooled(local_rows(PIECE for _ in range(n_pieces))) as rows:
            assert rows.n_rows == n_pieces * 2**14

    assert peak(lambda: spool(64)) < peak(lambda: spool(16)) + 2 * PIECE.nbytes


@pytest.mark.parametrize("n_threads", [1, 2])
def test_no_more_than_three_batches_are_alive(n_threads):
    alive: list[weakref.ref[pa.Table]] = []
    most = 0
    lock = threading.Lock()

    def items() -> Iterator[pa.Table]:
        nonlocal most
        for _ in range(30):
            table = pa.table({"x": pa.array(range(2**14))})
            with lock:
                alive.append(weakref.ref(table.column(0).chunk(0).buffers()[1]))
                most = max(most, sum(ref() is not None for ref in alive))
            yield table
            del table

    with threads(n_threads):
        rows = LocalRows(local_rows(items()).parts, "rows")
        rows.sum(len, ["x"])
        assert most <= 3


def test_long_texts_make_batches_and_pieces_shorter(tmp_path, monkeypatch):
    monkeypatch.setattr(cutting, "BATCH_BYTES", 2**20)
    monkeypatch.setattr(columnar, "PIECE_BYTES", 2**20)
    monkeypatch.setattr(source, "BATCH_ROWS", 2**16)
    # stored once in the file, and 5,000 bytes a row in memory: 2**14 rows are 80 MB
    texts = pa.table({"s": pa.DictionaryArray.from_arrays(pa.array([0, 1] * 2**13), ["a" * 5000, "b" * 5000])})
    path = tmp_path / "t.parquet"
    pa.parquet.write_table(texts.cast(pa.schema([("s", pa.string())])), path)
    rows = local_rows(path)
    rows.parts[0].keeps_dictionaries = False
    sizes: list[int] = []
    found = peak(lambda: rows.sum(lambda table: sizes.append(table.num_rows) or table.num_rows, ["s"]))
    assert sum(sizes) == 2**14
    assert set(sizes) == {2**10}  # the first line of the grid, 5 MB
    assert found < 40e6
