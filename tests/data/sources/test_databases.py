"""A database is read alone: nothing of it changes, no other file is reached, and the user's own connections go on."""

import sqlite3

import pytest

from bayeswater.data.sources.recognising import open_source
from bayeswater.errors import DataError


def read(path, **options):
    return [row for table in open_source(path, **options).batches() for row in table.to_pylist()]


@pytest.fixture
def people(tmp_path):
    path = tmp_path / "people.sqlite"
    base = sqlite3.connect(path)
    with base:
        base.execute("CREATE TABLE people (n INTEGER, name TEXT)")
        base.execute("INSERT INTO people VALUES (1, CAST(X'C3C328' AS TEXT))")
    base.close()
    return path


def test_a_query_of_sqlite_may_end_in_a_comment(people):
    assert read(people, query="SELECT n FROM people -- all of them") == [{"n": 1}]


def test_text_of_sqlite_that_is_not_utf8_is_refused_in_words(people):
    with pytest.raises(DataError, match=r"people\.sqlite: .*UTF-8.*leave such a column out by a query"):
        read(people)
    assert read(people, query="SELECT n FROM people") == [{"n": 1}]


@pytest.fixture(params=["ducks", "memory", 'it\'s a "file"'])
def ducks(tmp_path, request):
    path = tmp_path / f"{request.param}.duckdb"
    with pytest.importorskip("duckdb").connect(str(path)) as base:
        base.execute("CREATE TABLE people AS SELECT 1 AS n")
    return path


def test_the_users_own_connections_to_a_file_of_duckdb_go_on_after_it_is_read(ducks):
    import duckdb

    assert read(ducks) == [{"n": 1}]
    with duckdb.connect(str(ducks)) as own:
        own.execute("SET threads = 1")
        own.execute("INSERT INTO people VALUES (2)")
    assert read(ducks) == [{"n": 1}, {"n": 2}]


def test_two_queries_of_one_file_of_duckdb_are_read_at_the_same_time(ducks):
    first, second = (open_source(ducks, query=f"SELECT n + {k} AS n FROM people").batches() for k in (1, 2))
    assert [next(first).to_pylist(), next(second).to_pylist()] == [[{"n": 2}], [{"n": 3}]]


def test_a_file_of_duckdb_that_the_user_holds_open_is_refused_with_the_way_out(ducks):
    import duckdb

    with duckdb.connect(str(ducks)), pytest.raises(DataError, match=r"close other connections to it, or give"):
        read(ducks)


def test_a_query_of_duckdb_does_nothing_but_select(tmp_path, ducks):
    path = tmp_path / "other.csv"
    path.write_text("a\nhidden\n")
    for query in [
        "CREATE TABLE other AS SELECT 1",
        "CREATE TABLE memory.main.other AS SELECT 1",
        "SET threads = 1",
        "SELECT * FROM read_csv('{path}')",
        "SELECT * FROM glob('*')",
        "COPY people TO '{path}'",
        "ATTACH '{path}' AS other",
        "DETACH people",
    ]:
        with pytest.raises(DataError, match="a query is one SELECT over the tables of the file"):
            read(ducks, query=query.format(path=path))
    assert (path.read_text(), read(ducks)) == ("a\nhidden\n", [{"n": 1}])


def test_a_column_of_bytes_in_sqlite_is_left_out_and_said(people):
    base = sqlite3.connect(people)
    with base:
        base.execute("CREATE TABLE photos (n INTEGER, photo BLOB)")
        base.execute("INSERT INTO photos VALUES (1, X'00FF')")
    base.close()
    source = open_source(people, table="photos")
    assert [table.to_pylist() for table in source.batches()] == [[{"n": 1}]]
    assert source.notes == ["column 'photo' holds bytes, which are no cells of a table, and is left out"]
