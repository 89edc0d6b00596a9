"""Data frames of any library: recognised by what they can do, read as Arrow columns, given back in their library."""

import sys
from decimal import Decimal
from itertools import permutations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from tests.data.streams import OnlyAStream

from bayeswater import DataError, GaussianNB, SchemaError
from bayeswater.data.frames import as_arrow, is_frame, library_of, materialised, numeric_column, read_frame, write_frame
from bayeswater.data.labels import checked_labels

FRAMES = {
    "pandas": pd.DataFrame({"a": [1, 2]}),
    "polars": pl.DataFrame({"a": [1, 2]}),
    "pyarrow": pa.table({"a": [1, 2]}),
}


@pytest.mark.parametrize("library", FRAMES)
def test_a_frame_is_known_by_its_library(library):
    assert is_frame(FRAMES[library])
    assert library_of(FRAMES[library]) == library
    frame = read_frame(FRAMES[library])
    assert (frame.library, frame.names) == (library, ("a",))


@pytest.mark.parametrize("X", [np.ones((2, 2)), [[1, 2]], None, 3])
def test_what_is_no_frame_has_no_library(X):
    assert not is_frame(X)
    assert library_of(X) is None
    assert materialised(X) is X


def test_without_pandas_loaded_nothing_is_a_pandas_frame(monkeypatch):
    monkeypatch.delitem(sys.modules, "pandas")
    assert library_of(np.ones((1, 1))) is None
    assert library_of(FRAMES["polars"]) == "polars"


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_frame_that_can_be_read_twice_is_left_as_it_is(library):
    assert materialised(FRAMES[library]) is FRAMES[library]


@pytest.mark.parametrize(
    "stream",
    [FRAMES["pyarrow"].to_reader(), OnlyAStream(FRAMES["pyarrow"]), FRAMES["pyarrow"].to_batches()[0]],
    ids=["reader", "stream", "batch"],
)
def test_a_stream_is_held_in_a_table(stream):
    assert materialised(stream).equals(FRAMES["pyarrow"])


@pytest.mark.parametrize("X", [pd.Series([1.0, 2.0]), pl.Series([1.0, 2.0]), pa.chunked_array([[1.0, 2.0]])])
@pytest.mark.parametrize("call", ["fit", "predict"])
def test_one_column_without_a_table_around_it_is_refused(X, call):
    model = GaussianNB().fit([[1.0], [2.0]], [0, 1])
    arguments = (X, [0, 1]) if call == "fit" else (X,)
    with pytest.raises(DataError, match=r"Expected 2D array, got 1D array instead: X is a .*; give a frame"):
        getattr(model, call)(*arguments)


# ---------------------------------------------------------------------- declared categories


def test_pandas_categories_are_declared_and_strings_are_not():
    frame = read_frame(pd.DataFrame({"a": pd.Categorical(["x"]), "b": ["x"], 3: pd.Categorical(["y"])}))
    assert frame.declared == {"a", "3"}


def test_a_polars_enum_is_declared_and_a_categorical_is_not():
    values = pl.Series("a", ["x"])
    frame = pl.DataFrame({"a": values.cast(pl.Enum(["x", "y"])), "b": values.cast(pl.Categorical), "c": values})
    assert read_frame(frame).declared == {"a"}


def test_an_arrow_dictionary_is_declared():
    assert read_frame(pa.table({"a": pa.array(["x"]).dictionary_encode(), "b": ["x"]})).declared == {"a"}


# ---------------------------------------------------------------------- refused


@pytest.mark.parametrize("X", [pd.DataFrame([[1, "x"]], columns=["a", "a"]), pa.table([[1], [2]], names=["a", "a"])])
def test_two_columns_of_one_name_are_refused(X):
    with pytest.raises(SchemaError, match="column name 'a' occurs more than once; give every column its own name"):
        read_frame(X)


def test_names_that_read_alike_are_refused():
    with pytest.raises(SchemaError, match="column name '1' occurs more than once"):
        read_frame(pd.DataFrame([[1, "x"]], columns=[1, "1"]))


@pytest.mark.parametrize(
    ("cells", "kinds"),
    [
        (["x", 1], r"\['int', 'str'\]"),
        (["x", 1, None, np.nan, pd.NA], r"\['int', 'str'\]"),
        ([1.5, "x", [1]], r"\['float', 'list', 'str'\]"),
        (["x", np.array([1, 2])], r"\['ndarray', 'str'\]"),
    ],
)
def test_a_column_of_several_types_is_named_with_its_types(cells, kinds):
    X = pd.DataFrame({"fine": range(len(cells)), "mixed": pd.Series(cells, dtype=object)})
    with pytest.raises(DataError, match=rf"column 'mixed' mixes values of types {kinds}; give it one type"):
        read_frame(X)


@pytest.mark.parametrize("cells", [*permutations([True, 1, 2.5])])
@pytest.mark.parametrize("truth", [bool, np.bool_])
def test_truths_among_numbers_are_0_and_1_whatever_comes_first(cells, truth):
    cells = [truth(cell) if cell is True else cell for cell in cells]
    expected = [float(cell) for cell in cells]
    X = pd.DataFrame({"whole": [*cells[:2], None], "mixed": pd.Series(cells, dtype=object)})
    assert read_frame(X).table["mixed"].to_pylist() == expected
    assert read_frame(X).table["whole"].to_pylist() == [*expected[:2], None]
    assert as_arrow(X["mixed"].to_numpy(), "mixed").to_pylist() == expected


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        ([True, 2**53 + 1, 2.5], r"'n' mixes values of types \['float', 'int'\].*9007199254740993"),
        ([True, 2**63], r"'n' holds 9223372036854775808, a whole number too large"),
        ([np.datetime64("2020-01-01")], r"'n' holds values of types \['datetime64'\]; give it one type"),
    ],
)
def test_cells_that_arrow_cannot_read_are_named_with_their_column(cells, said):
    with pytest.raises(DataError, match=said):
        as_arrow(np.array(cells, dtype=object), "n")
    if cells[0] is True:  # pandas makes times of the others
        with pytest.raises(DataError, match=said):
            read_frame(pd.DataFrame({"n": pd.Series(cells, dtype=object)}))


BIG = 2**53 + 1


@pytest.mark.parametrize(
    "cells",
    [
        [True, 2.5, None],
        [np.True_, 2, np.nan],
        [pd.NA, True, 2],
        [BIG, 1],
        [BIG, None],
        [BIG, True],
        [BIG, 2.5],
        [BIG, True, 0.5],
        [-BIG, 0.5],
        [2**63, True],
        [2**63, 0.5],
        [np.uint64(2**63), 1],
        [Decimal("1.5"), 2],
        [Decimal("1.5"), 2.5],
        ["a", True],
        [b"a", "b"],
        [1j, 2],
    ],
    ids=str,
)
def test_objects_are_read_alike_in_a_frame_and_in_an_array(cells):
    def found(read):
        try:
            return read().to_pylist(), str(read().type)
        except DataError as error:
            return str(error)

    column = pd.Series(cells, dtype=object)
    in_frame = found(lambda: read_frame(pd.DataFrame({"fine": range(len(cells)), "n": column})).table["n"])
    assert in_frame == found(lambda: as_arrow(column.to_numpy(), "n"))


@pytest.mark.parametrize("column", [pd.Series([1j]), pd.Series(pd.Categorical([1, "a"])[:1])], ids=["complex", "mixed"])
def test_a_column_that_arrow_cannot_read_is_named_and_says_why(column):
    with pytest.raises(
        DataError, match=r"column 'a' holds (complex128|category), which cannot be read: .*; convert it"
    ):
        read_frame(pd.DataFrame({"fine": [1], "a": column}))


def test_objects_that_arrow_cannot_read_are_named_by_their_type():
    with pytest.raises(DataError, match=r"column 'a' holds values of types \['object'\]; give it one type"):
        read_frame(pd.DataFrame({"a": pd.Series([object()], dtype=object)}))


@pytest.mark.parametrize("cells", [[2**70, 1], [1, -(2**64), None], [2**63, -1]])
def test_whole_numbers_too_large_for_64_bits_are_told_by_column_and_value(cells):
    message = rf"column 'long' holds {max(cells[:2], key=abs)}, a whole number too large for 64 bits; convert"
    column = pd.Series(cells, dtype=object)
    with pytest.raises(DataError, match=message):
        read_frame(pd.DataFrame({"fine": range(len(cells)), "long": column}))
    with pytest.raises(DataError, match=message):
        as_arrow(column.to_numpy(), "long")


def test_intervals_and_periods_are_read_by_their_text():
    periods = pd.Series([*pd.period_range("2020-01", periods=2, freq="M"), pd.NaT], dtype="period[M]")
    intervals = pd.Series([*pd.arrays.IntervalArray.from_breaks([0, 1, 2]), None], dtype="interval[float64]")
    frame = read_frame(pd.DataFrame({"month": periods, "width": intervals}))
    assert frame.table.column("month").to_pylist() == ["2020-01", "2020-02", None]
    assert frame.table.column("width").to_pylist() == ["(0.0, 1.0]", "(1.0, 2.0]", None]
    assert not frame.declared


# ---------------------------------------------------------------------- numbers in and frames out


@pytest.mark.parametrize(
    ("column", "values"),
    [
        (pa.array([1, 2]), [1, 2]),
        (pa.array([1, None]), [1, np.nan]),
        (pa.array([1.5, None]), [1.5, np.nan]),
        (pa.array([True, False]), [1, 0]),
        (pa.array([True, None]), [1, np.nan]),
        (pa.nulls(2), [np.nan, np.nan]),
        (pa.array([1, 2], pa.float16()), [1, 2]),
        (pa.array([1, None]).cast(pa.decimal128(20, 1)), [1, np.nan]),
        (pa.array([2**64 - 1, 0], pa.uint64()), [2**64 - 1, 0]),
    ],
    ids=lambda value: str(getattr(value, "type", "")),
)
def test_a_column_of_numbers_has_nan_where_it_is_null(column, values):
    np.testing.assert_array_equal(numeric_column(read_frame(pa.table({"a": column})), "a"), values)


@pytest.mark.parametrize("library", FRAMES)
def test_a_frame_is_written_in_the_library_asked_for(library):
    frame = write_frame({"a": np.array([1, 2]), "b": np.array(["x", "y"])}, library)
    assert library_of(frame) == library
    assert pa.table(frame).to_pydict() == {"a": [1, 2], "b": ["x", "y"]}


def test_without_a_library_a_pyarrow_table_is_written():
    assert isinstance(write_frame({"a": [1]}, None), pa.Table)


def test_a_name_with_which_polars_ends_the_process_is_refused():
    with pytest.raises(SchemaError, match=r"the name 'a\\x00' holds a NUL character; rename it"):
        read_frame(pl.DataFrame({"a\0": [1]}))
    with pytest.raises(SchemaError, match="holds a NUL character"):
        checked_labels(pl.Series("\0", ["x"]))
