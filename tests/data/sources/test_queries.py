"""Queries of other libraries: the same rows as in memory, only the columns that are asked for, run anew each time."""

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.parquet
import pytest

from bayeswater.data.frames import STORED
from bayeswater.data.sources import source
from bayeswater.data.sources.columnar import ParquetSource
from bayeswater.data.sources.recognising import local_rows
from bayeswater.errors import DataError

TABLE = pa.table({"x": range(1000), 'a "b"': [i / 7 for i in range(1000)], "s": [f"w{i % 7}" for i in range(1000)]})


@pytest.fixture(autouse=True)
def small_batches(monkeypatch):
    monkeypatch.setattr(source, "BATCH_ROWS", 64)
    monkeypatch.setattr(source, "BATCH_CELLS", 200)


@pytest.fixture
def folder(tmp_path):
    pa.parquet.write_table(TABLE.slice(0, 300), tmp_path / "a.parquet", row_group_size=100)
    pa.parquet.write_table(TABLE.slice(300), tmp_path / "b.parquet", row_group_size=200)
    return tmp_path


SOURCES = {
    "polars LazyFrame": lambda folder: pl.scan_parquet(f"{folder}/*.parquet"),
    "dataset": lambda folder: ds.dataset(folder),
    "filtered dataset": lambda folder: ds.dataset(folder).filter(ds.field("x") >= 0),
    "dataset in memory": lambda _: ds.dataset(TABLE),
    "reader": lambda _: TABLE.to_reader(max_chunksize=90),
    "pandas": lambda _: TABLE.to_pandas(),
    "polars": lambda _: pl.from_arrow(TABLE),
    "chunks of pandas": lambda _: iter([TABLE.to_pandas()[:600], TABLE.to_pandas()[600:]]),
    "record batch": lambda _: TABLE.combine_chunks().to_batches()[0],
}


@pytest.mark.parametrize("name", SOURCES)
def test_every_source_gives_the_same_rows_in_the_same_batches(folder, name):
    def rows_of(table: pa.Table) -> list[object]:
        return [table.to_pylist()]

    rows = local_rows(SOURCES[name](folder))
    assert rows.schema.names == TABLE.column_names
    assert rows.head(["s"], 5)["s"].to_pylist() == TABLE["s"][:5].to_pylist()
    expected = local_rows(TABLE).sum(rows_of, ["s", 'a "b"'])
    assert len(expected) > 5
    assert rows.sum(rows_of, ["s", 'a "b"']) == expected
    if rows.can_be_reread:
        assert rows.sum(rows_of, ["s", 'a "b"']) == expected


def test_of_a_query_only_the_columns_that_are_asked_for_are_computed():
    def refused(_: object) -> pl.Series:
        raise AssertionError("computed")

    lazy = pl.LazyFrame({"x": range(10)}).with_columns(
        y=pl.col("x").map_batches(refused, return_dtype=pl.Int64)  # only by who asks for y
    )
    assert local_rows(lazy).sum(len, ["x"]) == 10


def test_a_lazy_frame_promises_no_order_and_cannot_be_taken_up_again(folder):
    with pytest.raises(DataError, match=r"the LazyFrame does not promise the order.*Parquet file"):
        local_rows(pl.scan_parquet(f"{folder}/*.parquet")).fingerprint(["x"])


def test_a_dataset_of_plain_parquet_files_is_read_file_by_file(folder):
    rows = local_rows(ds.dataset(folder))
    assert [type(part) for part in rows.parts] == [ParquetSource] * 2
    assert rows.n_rows == 1000
    assert rows.fingerprint(["x"]) == local_rows(folder).fingerprint(["x"])


def test_types_of_a_dataset_hold(folder):
    wide = pa.schema([("x", pa.float32()), ("s", pa.string())])
    rows = local_rows(ds.dataset(folder, schema=wide))
    assert rows.schema == wide
    assert rows.head(["x"], 2)["x"].type == pa.float32()


def test_cells_in_the_names_of_folders_are_columns(tmp_path):
    for year in (2020, 2021):
        (tmp_path / f"year={year}").mkdir()
        pa.parquet.write_table(pa.table({"x": [year % 100]}), tmp_path / f"year={year}" / "a.parquet")
    rows = local_rows(ds.dataset(tmp_path, partitioning="hive"))
    assert rows.head(["year", "x"]).to_pylist() == [{"year": 2020, "x": 20}, {"year": 2021, "x": 21}]


def test_a_filter_of_a_dataset_holds(folder):
    rows = local_rows(ds.dataset(folder).filter(pc.field("x") < 10))
    assert rows.sum(len, ["s"]) == 10
    before = rows.fingerprint(["x"])
    pa.parquet.write_table(TABLE.slice(301), folder / "b.parquet")
    assert local_rows(ds.dataset(folder).filter(pc.field("x") < 10)).fingerprint(["x"]) != before


def test_categories_are_declared_where_the_library_declares_them():
    words = ["a", "b", "a"]
    frames = {
        "string": pl.LazyFrame({"s": pl.Series(words, dtype=pl.Categorical)}),
        "Enum": pl.LazyFrame({"s": pl.Series(words, dtype=pl.Enum(["a", "b", "z"]))}),
        "category": pd.DataFrame({"s": pd.Categorical(words, ["a", "b", "z"])}),
    }
    for name, frame in frames.items():
        rows = local_rows(frame)
        head = rows.head(["s"])
        assert head["s"].to_pylist() == words
        if name == "string":  # a dictionary by storage alone
            assert rows.schema.types == [pa.string()]
            assert head.schema.field("s").metadata == STORED
        else:
            assert head["s"].chunk(0).dictionary.to_pylist() == ["a", "b", "z"], name
            assert head.schema.field("s").metadata != STORED


@pytest.mark.parametrize("kind", [pa.string_view(), pa.dictionary(pa.int8(), pa.string_view())], ids=str)
def test_views_of_strings_are_strings_wherever_rows_come_from(kind, tmp_path):
    words = ["a", None, "b", "a"]
    indices, labels = pa.array([0, None, 1, 0], pa.int8()), pa.array(["a", "b"], pa.string_view())
    views = pa.DictionaryArray.from_arrays(indices, labels) if pa.types.is_dictionary(kind) else pa.array(words, kind)
    table = pa.table({"s": views, "x": [1, 2, 3, 4]})
    with pa.ipc.new_file(tmp_path / "rows.arrow", table.schema) as file:
        file.write_table(table)
    for given in ([table], table.to_batches(), table.to_reader(), tmp_path / "rows.arrow"):
        rows = local_rows(given)
        found = rows.head(["s"])["s"]
        assert found.type == rows.schema.field("s").type
        assert getattr(found.type, "value_type", found.type) == pa.string()
        assert found.filter(pa.array([True, True, True, False])).to_pylist() == words[:3]


def test_an_old_polars_is_told_the_way_out(monkeypatch):
    lazy = pl.LazyFrame({"x": [1]})
    monkeypatch.delattr(pl.LazyFrame, "collect_batches")
    with pytest.raises(DataError, match="sink_parquet"):
        local_rows(lazy)


def test_a_stream_of_another_library_is_read_once():
    class Given:
        def __arrow_c_stream__(self, requested_schema: object = None) -> object:
            return TABLE.__arrow_c_stream__(requested_schema)

    rows = local_rows(Given())
    assert rows.sum(len, ["x"]) == 1000
    assert not rows.can_be_reread
