"""Tables of any kind as columns by name: arrays where they are, frames as Arrow, sparse columns as one block."""

import datetime
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

from bayeswater.data.matrix import SparseMatrix
from bayeswater.data.reading.column_plan import COUNTS, Column, ColumnPlan
from bayeswater.data.reading.raw_table import RawTable, read_raw
from bayeswater.errors import DataError, SchemaError


def read(X: Any) -> RawTable:
    return read_raw(X, "Model")


FRAME = pd.DataFrame({"x": [1.5, None], "k": ["a", None], "n": [1, 2]})


def test_an_array_is_read_where_it_is() -> None:
    X = np.arange(6.0).reshape(3, 2)
    raw = read(X)
    assert raw.names == ("x0", "x1")
    assert not raw.named
    assert np.shares_memory(raw.columns["x1"], X)
    assert raw.dtype("x0") == "float64"
    assert raw.n_rows == 3


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_frames_of_all_libraries_have_the_same_columns(library: str) -> None:
    frame: Any = FRAME
    if library != "pandas":
        frame = pl.from_pandas(FRAME) if library == "polars" else pa.Table.from_pandas(FRAME, preserve_index=False)
    raw = read(frame)
    assert raw.named
    assert raw.names == ("x", "k", "n")
    assert_array_equal(raw.numbers("x"), [1.5, np.nan])
    assert_array_equal(raw.numbers("n"), [1, 2])
    assert raw.arrow("k").to_pylist() == ["a", None]
    assert raw.arrow("k", head=1).to_pylist() == ["a"]


def test_lists_of_rows_are_numbers_or_objects() -> None:
    assert read([[1, 2.5], [3, None]]).columns["x1"].tolist()[:1] == [2.5]
    raw = read([[1, "a"], [None, "b"]])
    assert raw.arrow("x0").to_pylist() == [1, None]
    assert raw.arrow("x1").to_pylist() == ["a", "b"]
    with pytest.raises(DataError, match=r"X is ragged: row 1 has 1 cell\(s\), and row 0 has 2"):
        read([[1, "a"], [2]])


@pytest.mark.parametrize("row", [list, tuple, np.array, pd.Series])
def test_rows_of_objects_may_come_as_any_sequence(row: Any) -> None:
    assert read([row(["a", "u"]), row(["b", "v"])]).arrow("x1").to_pylist() == ["u", "v"]
    day = datetime.datetime(2020, 1, 1)
    assert read([row([day]), row([day])]).arrow("x0").to_pylist() == [day, day]


def test_masked_cells_of_any_kind_are_missing() -> None:
    hidden = [[True], [False]]
    assert read(np.ma.masked_array([[1], [2]], hidden)).arrow("x0").to_pylist() == [None, 2.0]
    assert read(np.ma.masked_array([["a"], ["b"]], hidden)).arrow("x0").to_pylist() == [None, "b"]
    assert_array_equal(read([*np.ma.masked_array([[1], [2]], hidden)]).numbers("x0"), [np.nan, 2.0])
    assert read([*np.ma.masked_array([["a"], ["b"]], hidden)]).arrow("x0").to_pylist() == [None, "b"]
    days = np.ma.masked_array(np.array([["2020-01-01"], ["2020-01-02"]], dtype="M8[D]"), hidden)
    assert read(days).arrow("x0").to_pylist() == [None, datetime.date(2020, 1, 2)]


def test_a_text_where_numbers_were_learned_is_refused_without_a_word_of_other_models() -> None:
    with pytest.raises(DataError, match=r"column 'x0' holds string, not numbers; the column is read as numbers"):
        read([["a"], ["b"]]).numbers("x0")


def test_columns_that_are_numbered_are_called_by_their_place_with_all_that_is_known_of_them() -> None:
    raw = read(pd.DataFrame({5: [1.5, 2.5], 2: pd.Categorical(["a", "b"], categories=["a", "b", "c"])}))
    assert raw.names == ("x0", "x1")
    assert raw.declared == {"x1"}
    assert not raw.named


def test_sparse_columns_are_one_block() -> None:
    X = sparse.csr_array([[0, 2], [1, 0]])
    raw = read(X)
    assert raw.names == (COUNTS,)
    assert isinstance(raw.columns[COUNTS], SparseMatrix)
    block = pd.DataFrame.sparse.from_spmatrix(sparse.csr_matrix(X), columns=["p", "q"])
    frame = read(block)
    assert frame.named
    assert frame.columns[COUNTS].names == ("p", "q")
    mixed = read(pd.concat([block, FRAME], axis=1))
    assert mixed.names == ("x", "k", "n", COUNTS)
    assert_array_equal(mixed.columns[COUNTS].to_dense(), X.toarray())
    with pytest.raises(SchemaError, match=r"so they need names; set X\.columns"):
        read(pd.concat([block, FRAME], axis=1).set_axis(range(5), axis=1))


def test_categories_under_names_that_are_tuples_are_declared() -> None:
    frame = pd.DataFrame({"k": pd.Categorical(["a", "b"]), "n": [1, 2]}).set_axis([("k", 1), ("n", 1)], axis=1)
    raw = read(frame)
    assert (raw.named, raw.declared) == (False, {"x0"})


def test_a_column_with_the_name_of_the_sparse_block_is_refused() -> None:
    with pytest.raises(SchemaError, match=r"column '\(counts\)' has the name that sparse columns take together"):
        read(pd.DataFrame({COUNTS: [1.0, 2.0]}))


def test_columns_are_found_by_name_and_those_not_known_are_left_out() -> None:
    raw = read(FRAME).require_columns(("n", "x"), "Model")
    assert raw.names == ("n", "x")
    with pytest.raises(
        SchemaError, match=r"column 'z', which Model was fitted with, is missing; X has \['x', 'k', 'n'\]"
    ):
        read(FRAME).require_columns(("x", "z"), "Model")
    with pytest.raises(SchemaError, match=r"column 'z', .* is missing \(and 1 more\)"):
        read(FRAME).require_columns(("z", "y"), "Model")


def test_columns_without_names_are_found_by_their_place() -> None:
    array = read(np.arange(6).reshape(3, 2))
    assert array.require_columns(("p", "q"), "Model").names == ("p", "q")
    with pytest.raises(SchemaError, match="X has 2 features, but Model is expecting 3 features as input"):
        array.require_columns(("p", "q", "r"), "Model")
    by_place = read(FRAME).require_columns(("x0", "x1", "x2"), "Model")  # the model was fitted on an array
    assert_array_equal(by_place.numbers("x2"), [1, 2])
    swapped = read(pd.DataFrame({"x1": [1], "x0": [2]})).require_columns(("x0", "x1"), "Model")
    assert_array_equal(swapped.numbers("x0"), [2])  # names are names, though they look like places


def test_a_block_is_taken_apart_and_put_together_as_the_model_knows_it() -> None:
    counts = np.array([[0, 2, 1], [1, 0, 0]])
    csr, names = sparse.csr_array(counts), ("x0", "x1", "x2")
    assert_array_equal(read(csr).require_columns(names, "Model").numbers("x1"), [2, 0])
    assert_array_equal(read(counts).require_columns((COUNTS,), "Model").columns[COUNTS].to_dense(), counts)
    frame = pd.DataFrame(counts, columns=["p", "q", "r"]).assign(k=["a", "b"])
    mixed = read(frame).require_columns(("k", COUNTS), "Model")
    assert_array_equal(mixed.columns[COUNTS].to_dense(), counts)
    block = pd.DataFrame.sparse.from_spmatrix(sparse.csr_matrix(counts), columns=["p", "q", "r"])
    assert_array_equal(read(block).require_columns(("r", "p"), "Model").numbers("r"), [1, 0])
    with pytest.raises(SchemaError, match=r"the sparse columns that Model was fitted with are missing; X has \['k'\]"):
        read(frame[["k"]]).require_columns(("k", COUNTS), "Model")


@pytest.mark.parametrize("cells", [pa.nulls(2), pa.nulls(2, pa.string()), pa.nulls(2, pa.float64())], ids=str)
def test_a_column_without_a_value_has_no_type(cells: Any) -> None:
    raw = read(pa.table({"x": cells}))
    assert_array_equal(raw.numbers("x"), [np.nan, np.nan])
    assert raw.cells("x").type == pa.null()
    plan = ColumnPlan(
        tuple(Column(f"x{part}", "x", "", "", p) for part, p in (("", "days"), (" (weekday)", "weekday")))
    )
    days = raw.with_dates(plan)
    assert_array_equal(days.numbers("x"), [np.nan, np.nan])
    assert days.labels(["x (weekday)"]).table["x (weekday)"].null_count == 2


def test_numbers_of_every_type() -> None:
    table = pa.table(
        {
            "bool": [True, None],
            "decimal": pa.array([1.25, None]).cast(pa.decimal128(5, 2)),
            "time": [datetime.time(1), None],
            "duration": [datetime.timedelta(seconds=1.5), None],
            "int8": pa.array([1, None], pa.int8()),
        }
    )
    raw = read(table)
    for name, value in {"bool": 1, "decimal": 1.25, "time": 3600, "duration": 1.5, "int8": 1}.items():
        assert_array_equal(raw.numbers(name), [value, np.nan])
    with pytest.raises(DataError, match=r"column 'k' holds .*string, not numbers"):
        read(FRAME).numbers("k")
    with pytest.raises(DataError, match="Input X contains infinity: -inf in row 1, column 'x'; replace it"):
        read(pa.table({"x": [1.0, -np.inf]})).numbers("x")


def test_numbers_are_labels_and_flags_are_true_and_false() -> None:
    raw = read(pd.DataFrame({"n": [7.0, None, 7.5], "bit": [0.0, None, 1.0], "k": ["a", "b", None]}))
    frame = raw.labels(["n", "bit", "k"], flags=["bit"])
    assert frame.table["n"].to_pylist() == [7.0, None, 7.5]
    assert frame.table["bit"].to_pylist() == [False, None, True]
    assert frame.declared == {"bit"}
    two = read(pd.DataFrame({"bit": [0, 2]}))
    with pytest.raises(
        DataError, match=r"column 'bit' holds flags, 0 and 1, but 2 in row 1 is none; fit again with col"
    ):
        two.labels(["bit"], flags=["bit"], learning=True)
    assert two.labels(["bit"], flags=["bit"]).table["bit"].to_pylist() == [0, 2]


def test_dates_are_spread_over_the_columns_of_the_plan() -> None:
    raw = read(pa.table({"d": [datetime.date(1970, 1, 2), None], "x": [1.0, 2.0]}))
    plan = ColumnPlan(
        (
            Column("d", "d", "gaussian", part="days"),
            Column("d (weekday)", "d", "categorical", part="weekday"),
            Column("d (month)", "d", "ignored", part="month"),
            Column("x", "x", "gaussian"),
        )
    )
    spread = raw.with_dates(plan)
    assert_array_equal(spread.numbers("d"), [1.0, np.nan])
    assert spread.labels(["d (weekday)"]).table["d (weekday)"].to_pylist() == ["Friday", None]
    assert spread.declared == {"d (weekday)", "d (month)"}
    assert raw.with_dates(ColumnPlan(plan.columns[3:])) is raw
    with pytest.raises(DataError, match="column 'd' holds double, and is read as dates"):
        read(pa.table({"d": [1.0, 2.0], "x": [1.0, 2.0]})).with_dates(plan)


def test_a_table_without_rows_is_refused() -> None:
    for empty in (FRAME[:0], np.zeros((0, 2)), FRAME[[]], np.array([], dtype=object).reshape(0, 2)):
        with pytest.raises(DataError, match="while a minimum of 1 is required by Model"):
            read(empty)


def test_numbers_in_pieces_are_not_copied_and_those_that_cannot_be_are_in_one() -> None:
    chunks = [np.array([1.0, 2.0]), np.array([]), np.array([3.0])]
    raw = read(pa.table({"x": pa.chunked_array(chunks), "n": pa.chunked_array([[1, 2], [3]])}))
    pieces = raw.number_pieces("x")
    assert [piece.tolist() for piece in pieces] == [[1.0, 2.0], [], [3.0]]
    assert np.shares_memory(pieces[0], raw.columns["x"].chunk(0).to_numpy())
    assert [piece.tolist() for piece in raw.number_pieces("n")] == [[1, 2, 3]]
    holes = read(pa.table({"x": pa.chunked_array([[1.0, None], [3.0]])}))
    assert_array_equal(holes.number_pieces("x"), [[1.0, np.nan, 3.0]])
    (whole,) = read(np.array([[1.0], [2.0]])).number_pieces("x0")
    assert whole.tolist() == [1.0, 2.0]


def test_an_infinite_number_in_a_later_piece_is_named_by_its_row() -> None:
    raw = read(pa.table({"x": pa.chunked_array([[1.0, 2.0, np.nan], [3.0, -np.inf]])}))
    with pytest.raises(DataError, match=r"-inf in row 4, column 'x'"):
        raw.number_pieces("x")


def test_numbers_whose_sum_is_infinite_are_finite_themselves() -> None:
    largest = np.finfo(np.float64).max
    raw = read(np.array([[largest], [largest]]))
    assert raw.numbers("x0").tolist() == [largest, largest]
