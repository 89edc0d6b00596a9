"""Networks of a known graph from rows in pieces: the tables are those of all rows at once, to the bit."""

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest
from tests.models.streaming.pieces import Pieces

from bayeswater import BayesianNetwork, BayesWarning, DataError, ParameterError, ResourceLimitError, SchemaError, limits
from bayeswater.data.sources import delimited

GRAPH = "rain -> wet; sprinkler -> wet; wet -> slip; season -> rain"
N = 200


def rows(seed: int = 0) -> pa.Table:
    """Rows with missing cells; a season of the last rows alone, and a column that is empty in the first ones."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "rain": rng.choice(["no", "some", "much"], N),
            "sprinkler": rng.random(N) < 0.4,
            "wet": rng.choice(["dry", "wet"], N).astype(object),
            "slip": rng.integers(0, 3, N),
            "season": np.where(np.arange(N) < 150, rng.choice(["spring", "fall"], N), "winter").astype(object),
            "weight": rng.integers(0, 3, N),
            "note": "nothing",
        }
    )
    frame["wet"] = frame["wet"].mask(rng.random(N) < 0.2)
    frame["season"] = frame["season"].mask(np.arange(N) < 40)
    return pa.Table.from_pandas(frame, preserve_index=False)


TABLE = rows()


def pieces(table: pa.Table = TABLE, **given: Any) -> Pieces:
    return Pieces([table.slice(start, 30) for start in range(0, table.num_rows, 30)], **given)


def require_same(found: BayesianNetwork, expected: BayesianNetwork) -> None:
    for name in expected.names:
        assert found.states(name) == expected.states(name)
        np.testing.assert_array_equal(found.cpt(name).values, expected.cpt(name).values)


@pytest.mark.parametrize("settings", [{}, {"alpha": 0.5}, {"equivalent_sample_size": 3}], ids=str)
@pytest.mark.parametrize("order", [None, [3, 1, 6, 0, 2, 5, 4]])
def test_pieces_make_the_network_of_all_rows_whatever_their_order(order, settings):
    rows = pieces(order=order)
    found = BayesianNetwork.from_data(GRAPH, rows, **settings)
    require_same(found, BayesianNetwork.from_data(GRAPH, TABLE, **settings))
    assert rows.columns_read == [["rain", "wet", "sprinkler", "slip", "season"]]


SOURCES = {
    "parquet": lambda path: path,
    "pattern": lambda path: str(path.parent / "*.parquet"),
    "lazy frame": lambda path: pl.scan_parquet(path),
    "reader": lambda path: TABLE.to_reader(max_chunksize=70),
    "iterator": lambda path: iter(TABLE.to_batches(max_chunksize=70)),
}


@pytest.mark.parametrize("missing", ["available", "em"])
@pytest.mark.parametrize("source", SOURCES.values(), ids=SOURCES)
def test_every_source_makes_the_same_network(source, missing, tmp_path):
    path = tmp_path / "rows.parquet"
    pyarrow.parquet.write_table(TABLE, path, row_group_size=64)
    found = BayesianNetwork.from_data(GRAPH, source(path), missing=missing, sample_weight="weight")
    expected = BayesianNetwork.from_data(GRAPH, TABLE, missing=missing, sample_weight=np.asarray(TABLE["weight"]))
    require_same(found, expected)


def test_a_piece_without_a_row_that_counts_shows_no_states():
    weight = np.repeat([1, 0, 2], [60, 90, 50])
    table = TABLE.set_column(5, "weight", pa.array(weight))
    found = BayesianNetwork.from_data(GRAPH, pieces(table), sample_weight="weight")
    require_same(found, BayesianNetwork.from_data(GRAPH, table, sample_weight=weight))


def test_states_that_are_known_are_kept_and_tell_how_a_file_is_read(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("grade,pass\n1,no\n2,yes\n1,yes\n")  # grades are labels here, and not numbers
    graph = BayesianNetwork("grade -> pass", states={"grade": ["1", "2", "3"], "pass": ["no", "yes"]})
    found = graph.fit(path)
    assert found.states("grade") == ("1", "2", "3")
    frame = pd.read_csv(path, dtype=str)
    require_same(found, graph.fit(frame))
    require_same(graph.fit(path, missing="em"), graph.fit(frame, missing="em"))


def test_a_cell_that_does_not_fit_its_type_is_told_and_all_rows_are_counted_anew(tmp_path, monkeypatch):
    monkeypatch.setattr(delimited, "INFERRED_BYTES", 2**9)
    monkeypatch.setattr(delimited, "BLOCK_BYTES", 2**9)
    path = tmp_path / "rows.csv"
    path.write_text("grade,pass\n" + "1,no\n2,yes\n" * 200 + "A,yes\n")
    with pytest.warns(BayesWarning, match="grade.* is read again in a type that fits"):
        found = BayesianNetwork.from_data("grade -> pass", path)
    assert found.states("grade") == ("1", "2", "A")


def test_what_cannot_be_counted_is_refused(tmp_path, monkeypatch):
    with pytest.raises(SchemaError, match="no column 'wind' for that node"):
        BayesianNetwork.from_data("wind -> rain", pieces())
    with pytest.raises(ParameterError, match="sample_weight must be the name of a column of the source"):
        BayesianNetwork.from_data(GRAPH, pieces(), sample_weight=np.ones(N))
    with pytest.raises(SchemaError, match="there is no column 'wight'; did you mean 'weight'"):
        BayesianNetwork.from_data(GRAPH, pieces(), sample_weight="wight")
    empty = TABLE.set_column(0, "rain", pa.nulls(N, pa.string()))
    with pytest.raises(DataError, match="column 'rain' has no value in any row, so its states are unknown"):
        BayesianNetwork.from_data(GRAPH, pieces(empty))
    path = tmp_path / "rows.csv"
    path.write_text("a,b\nx,n\ny,p\nz,n\n")
    with pytest.raises(DataError, match=r"rows\.csv, rows 1 to 3: column 'a' holds 'z'"):
        BayesianNetwork.from_data("a -> b", path, states={"a": ["x", "y"]})
    monkeypatch.setattr(limits, "HELD_BYTES", 1000)
    with pytest.raises(ResourceLimitError, match=r"which EM needs in memory at once, .*; take missing='available'"):
        BayesianNetwork.from_data(GRAPH, pieces(), missing="em")


def test_rows_of_weight_zero_are_counted_in_the_numbers_of_rows_that_errors_name():
    weight = np.array([0, 1, 0, 1, 1, 1])
    table = pa.table({"a": [0, 1, 0, 1, 0, 1], "b": [1.0, 2.0, 1.0, 2.0, np.inf, 1.0], "weight": weight})
    with pytest.raises(DataError, match=r"the list, rows 1 to 6: .*inf in row 5, column 'b'"):
        BayesianNetwork.from_data("a -> b", [table], sample_weight="weight")
    with pytest.raises(DataError, match=r"inf in row 4, column 'b'"):  # a frame in memory counts from 0
        BayesianNetwork.from_data("a -> b", table.drop_columns("weight"), sample_weight=weight)
    negative = table.set_column(2, "weight", pa.array([0, 1, 0, 1, 1, -1]))
    with pytest.raises(DataError, match=r"sample_weight is -1 in row 6"):
        BayesianNetwork.from_data("a -> b", [negative], sample_weight="weight")


def test_an_iterator_whose_later_tables_hold_more_is_counted_in_a_type_for_all_of_it():
    tables = [pa.table({"a": [1, 2], "b": [0, 1]}), pa.table({"a": [0.5, 2.0], "b": [1, 0]})]
    found = BayesianNetwork.from_data("a -> b", iter(tables))
    require_same(found, BayesianNetwork.from_data("a -> b", pa.concat_tables(tables, promote_options="permissive")))


def test_families_that_grow_too_large_are_refused(monkeypatch):
    table = pa.table({"a": [f"a{i}" for i in range(100)], "b": [f"b{i}" for i in range(100)]})
    monkeypatch.setattr(limits, "TABLE_BYTES", 8 * 60 * 60)
    with pytest.raises(ResourceLimitError, match=r"counting 'b' with its parents would take .*; give it fewer"):
        BayesianNetwork.from_data("a -> b", pieces(table))
