"""Categories as codes: domains declared or found, codes in place, labels that are new or missing."""

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from bayeswater import CategoricalNB, DataError, ResourceLimitError, SchemaError, UnseenCategoryWarning
from bayeswater.data.frames import STORED, read_frame
from bayeswater.data.reading.coded_table import Rules, encode_categories, encode_frame
from bayeswater.data.variable import Schema, Variable


def encode(X, known=None, *, grow=True, refuse_missing=False):
    schema = None if known is None else Schema(tuple(known))
    return encode_categories(X, Rules("Model", refuse_missing, schema, grow=grow))


def codes(table):
    return np.asarray(table.block(slice(0, table.shape[0]))).tolist()


def states(table):
    return [variable.states for variable in table.schema]


# ---------------------------------------------------------------------- codes


@pytest.mark.parametrize(
    ("kind", "read"),
    [
        ("int8", "uint8"),
        ("uint8", "uint8"),
        ("int16", "uint16"),
        ("uint16", "uint16"),
        ("int32", "int32"),
        ("uint32", "int32"),
        ("int64", "int64"),
        ("uint64", "int64"),
    ],
)
def test_integers_are_taken_as_codes_in_place(kind, read):
    X = np.array([[0, 2], [1, 0]], dtype=kind)
    table = encode(X)
    assert states(table) == [range(2), range(3)]
    assert codes(table) == X.tolist()
    assert table.codes.dtype == np.dtype(read)
    assert np.shares_memory(table.codes.values, X)


@pytest.mark.parametrize("kind", ["bool", "uint8", "int64", "float32", "float64"])
def test_a_frame_of_one_plain_kind_is_read_as_its_array(kind):
    X = pd.DataFrame({"a": [0, 1, 0], "b": [1, 1, 0]}, dtype=kind)
    table, of_array = encode(X), encode(X.to_numpy())
    assert table.schema.names == ("a", "b")
    assert (states(table), codes(table)) == (states(of_array), codes(of_array))


@pytest.mark.parametrize("kind", ["float32", "float64"])
@pytest.mark.parametrize(("largest", "read"), [(255, "uint8"), (256, "uint16"), (2**16, "int32")])
def test_floats_that_are_codes_become_integers_no_wider_than_they_need_to_be(kind, largest, read):
    X = np.zeros((40_000, 3), dtype=kind)
    X[-1] = [1, 2, largest]
    table = encode(X)
    assert table.codes.dtype == np.dtype(read)
    assert states(table) == [range(2), range(3), range(largest + 1)]
    assert codes(table)[-1] == [1, 2, largest]


@pytest.mark.parametrize("cell", [1.5, np.nan])
def test_a_cell_that_is_no_code_leaves_the_others_as_they_are(cell):
    X = np.array([[0.0, 2.0], [cell, 1.0]])
    found = [range(1)] if np.isnan(cell) else [(0, 1.5)]
    assert states(encode(X)) == [*found, range(3)]


@pytest.mark.parametrize("rest", [2.0, 2.5])
def test_an_unseen_whole_number_is_told_as_one_whatever_stands_beside(rest):
    X = np.array([[0.0, 9.0], [rest, 1.0]])
    known = [Variable.of_codes("a", 3), Variable.of_codes("b", 2)]
    label = next(u.label for u in encode(X, known, grow=False).unseen if u.column == "b")
    assert (label, type(label)) == (9, int)


@pytest.mark.parametrize("X", [np.array([[0.0], [2.0]]), [[0], [2]], np.array([[0], [2]], dtype=object)])
def test_whole_numbers_in_any_form_are_codes(X):
    table = encode(X)
    assert states(table) == [range(3)]
    assert codes(table) == [[0], [2]]


def test_truth_values_of_an_array_are_the_codes_zero_and_one():
    assert states(encode(np.array([[True], [False]]))) == [range(2)]


def test_columns_take_the_names_that_are_known():
    assert encode(np.array([[0]]), [Variable("colour", range(2))]).schema.names == ("colour",)
    assert encode(np.array([[0, 1]])).schema.names == ("x0", "x1")


@pytest.mark.parametrize("kind", ["uint32", "uint64", "float64"])
def test_a_code_that_no_loop_could_hold_is_unseen_and_reaches_no_other_column(kind):
    largest = np.iinfo(kind).max if kind.startswith("u") else 1e300
    X = np.array([[0, largest], [1, 1]], dtype=kind)
    table = encode(X, [Variable("a", range(2)), Variable("b", range(2))], grow=False)
    assert [(u.column, u.label, u.n_rows) for u in table.unseen] == [("b", largest, 1)]
    assert codes(table)[0][1] == 3  # beyond the domain and the slot of missing cells
    assert codes(table)[1] == [1, 1]


@pytest.mark.parametrize("X", [np.array([[2_000_000_000]]), np.array([[2**63]], dtype=np.uint64), np.array([[1e300]])])
def test_a_code_too_large_to_count_is_refused(X):
    with pytest.raises(ResourceLimitError, match="column 'x0' would take"):
        encode(X)


@pytest.mark.parametrize("kind", ["int8", "int64", "float64", "object"])
def test_a_negative_code_is_refused_with_row_and_column(kind):
    X = np.array([[0, 1], [1, 2], [0, -4]], dtype=kind)
    with pytest.raises(DataError, match=r"Negative values in data passed to Model .*-4(.0)? in row 2, column 'x1'"):
        encode(X)


@pytest.mark.parametrize("column", [pd.Series([1, -2]), pd.Series([1.5, -2.0]), pd.Series([1, -2, None])])
def test_a_negative_code_in_a_frame_is_refused(column):
    with pytest.raises(DataError, match=r"-2(.0)? in row 1, column 'v'"):
        encode(pd.DataFrame({"v": column}))


@pytest.mark.parametrize("grow", [True, False])
def test_a_fraction_among_codes_is_refused_in_learning_and_unseen_in_predicting(grow):
    X, known = np.array([[0.0], [0.5]]), [Variable("v", range(2))]
    if grow:
        with pytest.raises(DataError, match=r"column 'v' holds integer codes, but 0.5 is none; round or encode it"):
            encode(X, known)
    else:
        assert [(u.label, u.n_rows) for u in encode(X, known, grow=False).unseen] == [(0.5, 1)]


def test_an_infinite_category_is_refused():
    with pytest.raises(DataError, match="Input X contains infinity: column 'x0'"):
        encode(np.array([[np.inf], [1.0]]))


def test_missing_codes_take_the_slot_after_the_last_state():
    table = encode(np.array([[0.0, np.nan], [np.nan, 3.0]]))
    assert states(table) == [range(1), range(4)]
    assert codes(table) == [[0, 4], [1, 3]]


def test_a_column_of_missing_cells_alone_has_no_state():
    table = encode(pd.DataFrame({"a": [np.nan, np.nan], "b": [None, None]}))
    assert [variable.n_states for variable in table.schema] == [0, 0]
    assert codes(table) == [[0, 0], [0, 0]]


# ---------------------------------------------------------------------- labels


def test_labels_found_are_sorted():
    table = encode([["red", 1], ["blue", 0]])
    assert states(table) == [("blue", "red"), range(2)]
    assert codes(table) == [[1, 1], [0, 0]]


@pytest.mark.parametrize("missing", [False, True])
def test_labels_as_found_are_in_the_order_of_their_dictionary(missing):
    cells = ["red", "blue", *([None] if missing else []), "red", "green"]
    chunks = [pa.array(part).dictionary_encode() for part in (cells, ["green", "grey", "red"])]
    frame = read_frame(pa.table([pa.chunked_array(chunks)], schema=pa.schema([stored("v", chunks[0].type)])))
    table = encode_frame(frame, Rules("Model", refuse_missing=False, as_found=True))
    expected = ("red", "blue", "green", "grey")
    assert states(table) == [expected]
    all_cells = [*cells, "green", "grey", "red"]
    assert codes(table) == [[4 if cell is None else expected.index(cell)] for cell in all_cells]


def stored(name, kind):
    """A column of strings that a file keeps as a dictionary."""
    return pa.field(name, kind, metadata=STORED)


def test_fractions_are_labels():
    table = encode(np.array([[0.5], [2.0], [0.5]]))
    assert states(table) == [(0.5, 2)]
    assert codes(table) == [[0], [1], [0]]


@pytest.mark.parametrize(
    "column",
    [
        pd.Series([True, False]),
        pd.Series([True, False], dtype="boolean"),
        pd.Series([True, False], dtype=object),
        pl.Series([True, False]),
        pa.array([True, False]),
    ],
    ids=["pandas", "nullable", "objects", "polars", "pyarrow"],
)
def test_truth_values_of_a_frame_are_the_codes_1_and_0_as_in_an_array(column):
    table = encode(pa.table({"v": column}) if isinstance(column, pa.Array) else column.to_frame("v"))
    assert states(table) == [range(2)]
    assert codes(table) == [[1], [0]]


@pytest.mark.parametrize("unit", ["D", "ns"])
def test_times_are_labels(unit):
    X = np.array([["2020-01-02"], ["2020-01-01"]], dtype=f"M8[{unit}]")
    table = encode(X)
    assert codes(table) == [[1], [0]]
    assert [pd.Timestamp(state) for state in states(table)[0]] == [
        pd.Timestamp("2020-01-01"),
        pd.Timestamp("2020-01-02"),
    ]


def test_days_of_a_frame_are_labels():
    days = [datetime.date(2020, 1, 2), datetime.date(2020, 1, 1)]
    assert states(encode(pl.DataFrame({"d": days}))) == [(days[1], days[0])]


def test_bytes_are_labels():
    assert states(encode(np.array([[b"b"], [b"a"]]))) == [(b"a", b"b")]


@pytest.mark.parametrize("column", [[[1], [2]], [{"a": 1}, {"a": 2}]])
def test_lists_and_records_are_no_labels(column):
    with pytest.raises(DataError, match=r"column 'v' holds (list|struct)<.*>; a category must be a label or a number"):
        encode(pa.table({"v": column}))


@pytest.mark.parametrize(
    ("column", "message"),
    [
        (
            ["x", 1, None],
            r"column 'x0' mixes values of types \['int', 'str'\]; give it one type, for example with str\(\)",
        ),
        ([True, "x"], r"column 'x0' mixes values of types \['bool', 'str'\]"),
        ([object(), object()], r"column 'x0' holds values of types \['object'\]"),
        ([2**70, 1], r"column 'x0' holds 1180591620717411303424, a whole number too large for 64 bits; convert"),
    ],
)
def test_a_column_of_objects_that_make_no_category_is_named(column, message):
    X = np.empty((len(column), 1), dtype=object)
    X[:, 0] = column
    with pytest.raises(DataError, match=message):
        encode(X)


# ---------------------------------------------------------------------- declared domains

DECLARED = {
    "pandas": lambda cells: pd.DataFrame({"v": pd.Categorical(cells, categories=["low", "middle", "high"])}),
    "pandas ordered": lambda cells: pd.DataFrame(
        {"v": pd.Categorical(cells, categories=["low", "middle", "high"], ordered=True)}
    ),
    "polars": lambda cells: pl.DataFrame({"v": pl.Series(cells, dtype=pl.Enum(["low", "middle", "high"]))}),
    "pyarrow": lambda cells: pa.table(
        {
            "v": pa.DictionaryArray.from_arrays(
                pa.array([{"low": 0, "middle": 1, "high": 2}.get(cell) for cell in cells], pa.int8()),
                pa.array(["low", "middle", "high"]),
            )
        }
    ),
}


@pytest.mark.parametrize("form", DECLARED)
def test_declared_states_are_the_domain_in_their_order_even_if_unseen(form):
    table = encode(DECLARED[form](["high", "low", None]))
    assert states(table) == [("low", "middle", "high")]
    assert table.schema[0].declared == {"low", "middle", "high"}
    assert codes(table) == [[2], [0], [3]]


@pytest.mark.parametrize("form", DECLARED)
def test_a_declared_state_has_its_share_of_the_smoothing(form):
    model = CategoricalNB().fit(DECLARED[form](["high", "low", "low"]), [0, 0, 0])
    np.testing.assert_allclose(np.exp(model.feature_log_prob_[0]), [[3 / 6, 1 / 6, 2 / 6]], rtol=1e-15)


@pytest.mark.parametrize("form", DECLARED)
def test_a_declared_domain_stays_when_its_last_row_is_forgotten(form):
    X = DECLARED[form](["high", "low", "low"])
    first = DECLARED[form](["high"])
    model = CategoricalNB().fit(X, [0, 0, 0]).forget(first, [0])
    assert model.categories_[0].tolist() == ["low", "middle", "high"]
    assert model.category_count_[0].tolist() == [[2, 0, 0]]


def test_chunks_with_dictionaries_of_their_own_are_joined_by_label():
    chunks = [
        pa.DictionaryArray.from_arrays(pa.array([0, 1], pa.int8()), pa.array(["b", "a"])),
        pa.DictionaryArray.from_arrays(pa.array([0, 1, None], pa.int8()), pa.array(["a", "c"])),
        pa.DictionaryArray.from_arrays(pa.array([1, 0], pa.int8()), pa.array(["b", None])),
        pa.DictionaryArray.from_arrays(pa.array([0, 1], pa.int8()), pa.array(["c", "c"])),
    ]
    table = encode(pa.table({"v": pa.chunked_array(chunks)}))
    assert states(table) == [("a", "b", "c")], "lists that differ have no order of their own"
    assert codes(table) == [[1], [0], [0], [2], [3], [3], [1], [2], [2]]
    same = [pa.DictionaryArray.from_arrays(pa.array([code], pa.int8()), pa.array(["b", "a"])) for code in (1, 0)]
    assert states(encode(pa.table({"v": pa.chunked_array(same)}))) == [("b", "a")]


def test_a_dictionary_that_fills_its_index_kind_leaves_room_for_missing_cells():
    labels = [f"{i:03}" for i in range(128)]
    column = pa.DictionaryArray.from_arrays(pa.array([127, None], pa.int8()), pa.array(labels))
    assert codes(encode(pa.table({"v": column}))) == [[127], [128]]


def test_a_polars_categorical_knows_only_the_labels_of_its_rows():
    everything = pl.Series(["a", "b", "c"], dtype=pl.Categorical)
    assert states(encode(pl.DataFrame({"v": everything.head(2)}))) == [("a", "b")]


def test_a_sliced_pandas_categorical_still_declares_its_states():
    X = pd.DataFrame({"v": pd.Categorical(["a", "b", "c"])})
    assert states(encode(X[:1])) == [("a", "b", "c")]


def test_categories_of_numbers_are_labels():
    table = encode(pd.DataFrame({"v": pd.Categorical([30, 10], categories=[10, 20, 30])}))
    assert states(table) == [(10, 20, 30)]
    assert codes(table) == [[2], [0]]


# ---------------------------------------------------------------------- known domains


def test_labels_are_coded_as_known_and_others_are_unseen():
    known = [Variable("v", ("b", "a"))]
    table = encode(pd.DataFrame({"v": ["a", "x", "b", "x", None]}), known, grow=False)
    assert codes(table) == [[1], [3], [0], [3], [2]]
    assert [(u.column, u.label, u.n_rows) for u in table.unseen] == [("v", "x", 2)]


def test_a_declared_label_that_no_row_has_is_not_reported():
    X = pd.DataFrame({"v": pd.Categorical(["a"], categories=["a", "z"])})
    assert encode(X, [Variable("v", ("a",))], grow=False).unseen == ()


def test_in_learning_new_labels_make_a_domain_of_their_own():
    table = encode(pd.DataFrame({"v": ["x"]}), [Variable("v", ("a",))])
    assert states(table) == [("x",)]


def test_whole_numbers_meet_known_labels():
    table = encode(np.array([[2], [7]]), [Variable("v", (0.5, 2))], grow=False)
    assert codes(table) == [[1], [3]]
    assert [(u.label, u.n_rows) for u in table.unseen] == [(7, 1)]


def test_codes_and_labels_do_not_mix_in_learning():
    model = CategoricalNB().fit([[0], [1]], [0, 1])
    with pytest.raises(SchemaError, match="'x0' holds integer codes in one table and labels in the other"):
        model.partial_fit([["a"], ["b"]], [0, 1])


def test_five_unseen_labels_are_shown_and_the_rest_counted():
    model = CategoricalNB().fit(pd.DataFrame({"v": ["a", "b"]}), [0, 1])
    with pytest.warns(UnseenCategoryWarning) as caught:
        model.predict(pd.DataFrame({"v": [*"cdefghi", "c", "a"]}))
    assert len(caught) == 1
    assert str(caught[0].message).startswith(
        "categories that were never counted are left out: column 'v' = 'c' in 2 of 9 rows;"
    )
    assert str(caught[0].message).endswith("and 2 more")


@pytest.mark.parametrize("X", [pd.DataFrame({"v": []}), pa.table({"v": pa.array([], pa.string())})])
def test_a_frame_without_rows_is_refused(X):
    with pytest.raises(DataError, match=r"0 sample\(s\) \(shape=\(0, 1\)\) while a minimum of 1 is required by Model"):
        encode(X)


def test_a_frame_without_columns_is_refused():
    with pytest.raises(DataError, match=r"0 feature\(s\)"):
        encode(pd.DataFrame(index=range(3)))
