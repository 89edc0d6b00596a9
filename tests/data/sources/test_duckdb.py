"""Relations of DuckDB: the same rows as in memory, only the columns that are asked for, run anew each time."""

import pyarrow as pa
import pytest

from bayeswater.data.sources import source
from bayeswater.data.sources.recognising import local_rows
from bayeswater.errors import DataError

duckdb = pytest.importorskip("duckdb", reason="relations of DuckDB are read where duckdb is installed")

TABLE = pa.table({"x": range(1000), 'a "b"': [i / 7 for i in range(1000)], "s": [f"w{i % 7}" for i in range(1000)]})


@pytest.fixture(autouse=True)
def small_batches(monkeypatch):
    monkeypatch.setattr(source, "BATCH_ROWS", 64)
    monkeypatch.setattr(source, "BATCH_CELLS", 200)


def relation(query: str):
    return duckdb.connect().sql(query)


def test_a_relation_gives_the_same_rows_in_the_same_batches_each_time():
    def rows_of(table: pa.Table) -> list[object]:
        return [table.to_pylist()]

    rows = local_rows(duckdb.connect().from_arrow(TABLE))
    assert rows.schema.names == TABLE.column_names
    expected = local_rows(TABLE).sum(rows_of, ["s", 'a "b"'])
    assert len(expected) > 5
    assert rows.head(["s"], 5)["s"].to_pylist() == TABLE["s"][:5].to_pylist()
    for _ in range(2):
        assert rows.sum(rows_of, ["s", 'a "b"']) == expected


def test_only_the_columns_that_are_asked_for_are_computed():
    rows = local_rows(relation("SELECT i AS x, error('computed') AS y FROM range(10) AS t(i)"))
    assert rows.sum(len, ["x"]) == 10
    with pytest.raises(DataError, match="computed"):
        rows.sum(len, ["y"])


def test_a_query_that_fails_is_told_with_its_name():
    failing = relation("SELECT CASE WHEN i = 500 THEN error('in the middle') ELSE i END AS x FROM range(1000) t(i)")
    with pytest.raises(DataError, match=r"the DuckDB relation: reading failed with .*in the middle"):
        local_rows(failing).sum(len, ["x"])


def test_a_relation_promises_no_order_and_cannot_be_taken_up_again():
    with pytest.raises(DataError, match=r"the DuckDB relation does not promise the order.*Parquet file"):
        local_rows(relation("SELECT 1 AS x")).fingerprint(["x"])


def test_an_enum_declares_its_categories():
    rows = local_rows(relation("SELECT unnest(['a', 'b', 'a'])::ENUM('a', 'b', 'z') AS s"))
    (cells,) = rows.head(["s"])["s"].chunks
    assert cells.dictionary.to_pylist() == ["a", "b", "z"]
    assert cells.to_pylist() == ["a", "b", "a"]


def test_no_rows_are_refused():
    with pytest.raises(DataError, match="the DuckDB relation has no rows"):
        local_rows(relation("SELECT 1 AS x WHERE false")).sum(len, ["x"])
