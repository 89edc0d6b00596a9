"""Relations of DuckDB: the same rows as in memory, only the columns that are asked for, run anew each time."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from bayeswater import CategoricalNB
from bayeswater.data.sources import queries, source
from bayeswater.data.sources.local_rows import LocalRows
from bayeswater.data.sources.recognising import local_rows
from bayeswater.errors import DataError
from bayeswater.models.streaming import labelled

duckdb = pytest.importorskip("duckdb", reason="relations of DuckDB are read where duckdb is installed")

TABLE = pa.table({"x": range(1000), 'a "b"': [i / 7 for i in range(1000)], "s": [f"w{i % 7}" for i in range(1000)]})


@pytest.fixture(autouse=True)
def small_batches(monkeypatch):
    monkeypatch.setattr(source, "BATCH_ROWS", 64)
    monkeypatch.setattr(source, "BATCH_CELLS", 200)


@pytest.fixture
def database():
    with duckdb.connect() as database:
        yield database


def test_a_relation_gives_the_same_rows_in_the_same_batches_each_time(database):
    def rows_of(table: pa.Table) -> list[object]:
        return [table.to_pylist()]

    rows = local_rows(database.from_arrow(TABLE))
    assert rows.schema.names == TABLE.column_names
    expected = local_rows(TABLE).sum(rows_of, ["s", 'a "b"'])
    assert len(expected) > 5
    assert rows.head(["s"], 5)["s"].to_pylist() == TABLE["s"][:5].to_pylist()
    for _ in range(2):
        assert rows.sum(rows_of, ["s", 'a "b"']) == expected


def test_only_the_columns_that_are_asked_for_are_computed(database):
    rows = local_rows(database.sql("SELECT i AS x, error('computed') AS y FROM range(10) AS t(i)"))
    assert rows.sum(len, ["x"]) == 10
    with pytest.raises(DataError, match="computed"):
        rows.sum(len, ["y"])


def test_a_query_that_fails_is_told_with_its_name(database):
    failing = database.sql("SELECT CASE WHEN i = 500 THEN error('in the middle') ELSE i END AS x FROM range(1000) t(i)")
    with pytest.raises(DataError, match=r"the DuckDB relation: reading failed with .*in the middle"):
        local_rows(failing).sum(len, ["x"])


def test_a_relation_promises_no_order_and_cannot_be_taken_up_again(database):
    with pytest.raises(DataError, match=r"the DuckDB relation does not promise the order.*Parquet file"):
        local_rows(database.sql("SELECT 1 AS x")).fingerprint(["x"])


def test_a_relation_whose_connection_is_closed_is_refused(database):
    rows = database.sql("SELECT 1 AS x")
    database.close()
    with pytest.raises(DataError, match=r"the DuckDB relation cannot be read: .*closed; its connection must be open"):
        local_rows(rows)


def test_an_enum_declares_its_categories(database):
    rows = local_rows(database.sql("SELECT unnest(['a', 'b', 'a'])::ENUM('a', 'b', 'z') AS s"))
    (cells,) = rows.head(["s"])["s"].chunks
    assert cells.dictionary.to_pylist() == ["a", "b", "z"]
    assert cells.to_pylist() == ["a", "b", "a"]


def test_no_rows_are_refused(database):
    with pytest.raises(DataError, match="the DuckDB relation has no rows"):
        local_rows(database.sql("SELECT 1 AS x WHERE false")).sum(len, ["x"])


# ---------------------------------------------------------------------- groups that DuckDB counts


def people(n_rows: int = 3000) -> pa.Table:
    rng = np.random.default_rng(5)
    colour = np.where(rng.random(n_rows) < 0.1, None, rng.choice(["red", "blue"], n_rows).astype(object))
    label = np.where(rng.random(n_rows) < 0.02, None, rng.choice(["no", "yes"], n_rows).astype(object))
    flag, size = rng.random(n_rows) < 0.3, rng.integers(0, 4, n_rows)
    return pa.table({'a "b"': colour, "flag": flag, "size": size, "class": label})


@pytest.fixture
def few_rows_at_first(monkeypatch):
    monkeypatch.setattr(labelled, "SAMPLED", 100)


@pytest.mark.usefixtures("few_rows_at_first")
@pytest.mark.filterwarnings("ignore:.*no value in 'class'")
def test_categories_counted_by_duckdb_give_the_model_of_the_rows_bit_for_bit(database, monkeypatch):
    table = people().drop_columns("size")
    expected = CategoricalNB(missing="ignore").fit(table, target="class")
    read = CategoricalNB(missing="ignore").fit([table], target="class")
    monkeypatch.setattr(LocalRows, "sum", lambda *_, **__: pytest.fail("rows were counted one by one"))
    model = CategoricalNB(missing="ignore").fit(database.from_arrow(table), target="class")
    assert model.statistics_ == expected.statistics_ == read.statistics_


@pytest.mark.usefixtures("few_rows_at_first")
@pytest.mark.parametrize("limit", ["MOST_COLUMNS", "MOST_ENTRIES"])
def test_many_columns_and_many_pairs_are_counted_row_by_row(database, monkeypatch, limit):
    monkeypatch.setattr(queries, limit, 1)
    table = people().drop_columns("size").filter(pc.is_valid(people()["class"]))
    found = database.from_arrow(table)
    assert local_rows(found).margins(['a "b"', "flag"], "class") is None
    expected = CategoricalNB(missing="ignore").fit(table, target="class")
    assert CategoricalNB(missing="ignore").fit(found, target="class").statistics_ == expected.statistics_


def test_numbers_declared_types_and_queries_that_fail_have_no_groups(database):
    found = database.from_arrow(people())
    assert local_rows(found).margins(["size"], "class") is None
    assert local_rows(found).margins(["flag"], "size") is None
    assert local_rows(found, types={"flag": "string"}).margins(["flag"], "class") is None
    failing = database.sql("SELECT error('computed')::VARCHAR AS s, 'a' AS y FROM range(10)")
    assert local_rows(failing).margins(["s"], "y") is None


@pytest.mark.usefixtures("few_rows_at_first")
def test_texts_that_a_collation_takes_for_one_stay_apart(database):
    database.execute("CREATE TABLE rows(s VARCHAR COLLATE NOCASE, y VARCHAR COLLATE NOCASE)")
    database.execute("INSERT INTO rows SELECT 'aAbB'[1 + range % 4], 'pPq'[1 + range % 3] FROM range(240)")
    found = database.sql("FROM rows")
    assert local_rows(found).margins(["s"], "y") is not None
    expected = CategoricalNB().fit(found.to_arrow_table(), target="y")
    assert expected.classes_.tolist() == ["P", "p", "q"]
    assert CategoricalNB().fit(found, target="y").statistics_ == expected.statistics_


@pytest.mark.usefixtures("few_rows_at_first")
def test_who_asked_is_told_of_rows_that_duckdb_has_counted(database):
    told = []
    table = people().select(["flag", "class"]).filter(pc.is_valid(people()["class"]))
    CategoricalNB().fit(database.from_arrow(table), target="class", progress=told.append)
    assert [progress.n_rows for progress in told] == [table.num_rows]
