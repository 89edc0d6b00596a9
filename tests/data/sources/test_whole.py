"""A source in memory: all of its rows in their order, or a refusal before they are read."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest
from tests.models.streaming.pieces import Pieces

from bayeswater import BayesWarning, DataError, ResourceLimitError, limits
from bayeswater.data.sources import delimited
from bayeswater.data.sources import local_rows as local
from bayeswater.data.sources.recognising import local_rows
from bayeswater.data.sources.rows import Rows
from bayeswater.data.sources.whole import whole_table

N, BATCH = 1000, 100
TABLE = pa.table({"number": pa.array(range(N)), "word": [f"word {i % 7}" for i in range(N)]})
NAMES = TABLE.column_names


@pytest.fixture(autouse=True)
def many_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local, "batch_rows", lambda n_columns: BATCH)
    monkeypatch.setattr(delimited, "INFERRED_BYTES", 2**9)
    monkeypatch.setattr(delimited, "BLOCK_BYTES", 2**9)


def parquet(folder: Path) -> Path:
    path = folder / "rows.parquet"
    pyarrow.parquet.write_table(TABLE, path, row_group_size=170)
    return path


def csv(folder: Path) -> Path:
    path = folder / "rows.csv"
    pyarrow.csv.write_csv(TABLE, path)
    return path


def read(rows: Rows) -> pa.Table:
    return whole_table(rows, NAMES, "a forest", "take fewer rows")


SOURCES = {
    "parquet": lambda folder: local_rows(parquet(folder)),
    "csv": lambda folder: local_rows(csv(folder)),
    "iterator": lambda folder: local_rows(iter(TABLE.to_batches(max_chunksize=90))),
    "engine": lambda folder: Pieces([TABLE.slice(start, 130) for start in range(0, N, 130)]),
}


@pytest.mark.parametrize("source", SOURCES.values(), ids=SOURCES)
def test_all_rows_are_there_in_their_order(source, tmp_path):
    assert read(source(tmp_path)).to_pylist() == TABLE.to_pylist()


def test_files_that_store_a_column_in_different_ways_are_one_table(tmp_path):
    files = [tmp_path / "a.parquet", tmp_path / "b.parquet"]
    for file, start, is_dictionary in zip(files, (0, 450), (True, False), strict=True):
        pyarrow.parquet.write_table(TABLE.slice(start, 450), file, use_dictionary=is_dictionary)
    assert read(local_rows(files)).to_pylist() == TABLE.slice(0, 900).to_pylist()


def test_a_cell_that_does_not_fit_its_type_is_told_and_all_rows_are_read_again(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("number,word\n" + "".join(f"{i},a\n" for i in range(500)) + "many,a\n")
    with pytest.warns(BayesWarning, match="number.* is read again in a type that fits"):
        found = read(local_rows(path))
    assert found["number"].to_pylist() == [*map(str, range(500)), "many"]


@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_what_will_not_fit_is_refused_after_a_few_rows_with_its_size(kind, tmp_path, monkeypatch):
    rows, told = SOURCES[kind](tmp_path), []
    rows.progress = told.append
    monkeypatch.setattr(limits, "HELD_BYTES", TABLE.nbytes // 3)
    with pytest.raises(
        ResourceLimitError,
        match=r"the rows of .*rows\.\w+, which a forest needs in memory at once, would take [\d.]+ KiB, over the limit "
        r"of [\d.]+ KiB; take fewer rows",
    ):
        read(rows)
    assert len(told) < 3
    assert rows.progress == told.append


@pytest.mark.parametrize("kind", ["iterator", "engine"])
def test_where_nobody_knows_how_much_will_come_it_is_refused_as_soon_as_it_is_too_much(kind, tmp_path, monkeypatch):
    monkeypatch.setattr(limits, "HELD_BYTES", TABLE.nbytes // 3)
    with pytest.raises(ResourceLimitError, match=r"the rows read so far of the .*, which a forest needs in memory"):
        read(SOURCES[kind](tmp_path))


@pytest.mark.parametrize("rows", [Pieces([TABLE]), local_rows(iter([TABLE.slice(0, BATCH)]))], ids=["engine", "batch"])
def test_a_single_piece_that_is_too_large_is_refused(rows, monkeypatch):
    monkeypatch.setattr(limits, "HELD_BYTES", TABLE.slice(0, BATCH).nbytes - 1)
    with pytest.raises(ResourceLimitError, match=r"the rows of the \w+, which a forest needs in memory at once, would"):
        read(rows)


def test_who_asked_is_told_how_far_reading_has_come(tmp_path):
    rows, told = local_rows(parquet(tmp_path)), []
    rows.progress = lambda progress: told.append(progress.n_rows)
    read(rows)
    assert told == list(range(BATCH, N + 1, BATCH))


def test_a_source_without_rows_is_refused():
    empty: Any = local_rows([TABLE.slice(0, 0)])
    with pytest.raises(DataError, match="has no rows"):
        read(empty)
