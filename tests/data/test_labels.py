"""Class labels of any type: coded, narrow, refused by row where they cannot be used."""

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.exceptions import DataConversionWarning

from bayeswater import DataError, GaussianNB, ParameterError
from bayeswater.data.labels import declared_classes, encode_labels, narrow_codes
from bayeswater.data.variable import Variable

NAMES = ["b", "a", "b", "c"]
WHOLE = [3, 1, 3, 7]


def in_order(labels):
    """Codes of labels in the order of the sorted ones."""
    return [sorted(set(labels)).index(label) for label in labels]


# ---------------------------------------------------------------------- any type

OF_NAMES = {
    "list": NAMES,
    "tuple": tuple(NAMES),
    "numpy strings": np.array(NAMES),
    "numpy objects": np.array(NAMES, dtype=object),
    "pandas": pd.Series(NAMES, index=[9, 8, 7, 6]),
    "pandas objects": pd.Series(NAMES, dtype=object),
    "pandas string": pd.Series(NAMES, dtype="string"),
    "pandas categorical": pd.Series(pd.Categorical(NAMES, categories=["z", "c", "b", "a"], ordered=True)),
    "a bare categorical": pd.Categorical(NAMES),
    "pandas index": pd.Index(NAMES),
    "polars": pl.Series(NAMES),
    "polars categorical": pl.Series(NAMES, dtype=pl.Categorical),
    "polars enum": pl.Series(NAMES, dtype=pl.Enum(["z", "c", "b", "a"])),
    "pyarrow": pa.array(NAMES),
    "pyarrow large": pa.array(NAMES, type=pa.large_string()),
    "pyarrow dictionary": pa.array(NAMES).dictionary_encode(),
    "pyarrow chunks": pa.chunked_array([NAMES[:1], NAMES[1:]]),
    "pyarrow dictionary chunks": pa.chunked_array(
        [pa.array(NAMES[:1]).dictionary_encode(), pa.array(NAMES[1:]).dictionary_encode()]
    ),
}


@pytest.mark.parametrize("form", OF_NAMES)
def test_names_of_any_library_are_sorted_and_coded(form):
    labels = encode_labels(OF_NAMES[form])
    assert labels.variable.states == ("a", "b", "c")
    assert labels.codes.tolist() == in_order(NAMES)
    assert labels.n_classes == 3


INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", ">i2", ">u8"]
OF_NUMBERS = {
    "list": WHOLE,
    **{kind: np.array(WHOLE, dtype=kind) for kind in [*INTEGERS, "float16", "float32", "float64", "longdouble"]},
    "objects": np.array(WHOLE, dtype=object),
    "objects of several kinds of numbers": np.array([3, np.int8(1), 3.0, np.float32(7)], dtype=object),
    "pandas": pd.Series(WHOLE),
    "pandas nullable": pd.Series(WHOLE, dtype="Int64"),
    "pandas objects": pd.Series(WHOLE, dtype=object),
    "pandas categorical": pd.Series(WHOLE, dtype="category"),
    "polars": pl.Series(WHOLE),
    "pyarrow": pa.array(WHOLE),
    "pyarrow chunks": pa.chunked_array([WHOLE[:3], WHOLE[3:]]),
}


@pytest.mark.parametrize("form", OF_NUMBERS)
def test_whole_numbers_of_any_kind_are_sorted_and_coded(form):
    labels = encode_labels(OF_NUMBERS[form])
    assert labels.variable.states == (1, 3, 7)
    assert labels.codes.tolist() == in_order(WHOLE)


@pytest.mark.parametrize(
    "y",
    [
        [True, False, True],
        np.array([True, False, True]),
        np.array([True, False, True], dtype=object),
        pd.Series([True, False, True], dtype="boolean"),
        pl.Series([True, False, True]),
        pa.array([True, False, True]),
    ],
    ids=["list", "numpy", "objects", "pandas", "polars", "pyarrow"],
)
def test_truth_values_are_labels(y):
    labels = encode_labels(y)
    assert labels.variable.states == (False, True)
    assert labels.codes.tolist() == [1, 0, 1]
    assert labels.variable.labels.dtype == bool


@pytest.mark.parametrize("unit", ["D", "s", "us", "ns"])
def test_times_are_labels_and_come_back_as_they_were(unit):
    y = np.array(["2020-01-02", "2020-01-01", "2020-01-02"], dtype=f"M8[{unit}]")
    model = GaussianNB().fit([[1.0], [2.0], [1.5]], y)
    assert model.classes_.dtype == y.dtype
    assert model.predict([[2.0]]) == y[1]


@pytest.mark.parametrize("kind", INTEGERS)
def test_the_extremes_of_an_integer_kind_are_told_apart(kind):
    limits = np.iinfo(kind)
    for y in ([limits.max, limits.max - 1, limits.max], [limits.min, limits.min + 1, limits.max]):
        labels = encode_labels(np.array(y, dtype=kind))
        assert labels.variable.states == tuple(sorted(set(y)))
        assert labels.codes.tolist() == in_order(y)
        assert labels.variable.labels.tolist() == sorted(set(y))
        assert labels.variable.labels.dtype == np.dtype(kind)


@pytest.mark.parametrize("y", [[0, 1, 2, 1], [0, 2**20, 5, 5], [-3, 4, 4, -3], [7, 7, 7, 7]])
def test_rows_of_each_class_are_counted(y):
    labels = encode_labels(np.array(y))
    assert labels.count.tolist() == [y.count(state) for state in labels.variable.states]


def test_a_label_of_eight_bits_cannot_overflow_a_count():
    y = np.repeat(np.array([1, -1], dtype=np.int8), [1000, 500])
    assert GaussianNB().fit(np.ones((1500, 1)), y).class_count_.tolist() == [500, 1000]


def test_a_label_of_a_numpy_string_kind_is_a_name():
    y = np.array(["b", "a"], dtype=np.dtypes.StringDType())
    assert encode_labels(y).variable.states == ("a", "b")


IN_ORDER = {
    "dates": [datetime.date(2020, 1, 1), datetime.date(2021, 1, 1)],
    "tuples": [(1, "a"), (1, "b")],
    "times of a zone": list(pd.to_datetime(["2020-01-01", "2021-01-01"]).tz_localize("Europe/Rome")),
    "intervals": list(pd.interval_range(0, 2)),
}


@pytest.mark.parametrize("form", IN_ORDER)
def test_whatever_has_an_order_is_a_label_and_comes_back_as_it_was(form):
    low, high = IN_ORDER[form]
    model = GaussianNB().fit([[2.0], [1.0], [2.5]], pd.Series([high, low, high]))
    assert model.classes_.dtype == object
    assert model.classes_.tolist() == [low, high]
    assert model.predict([[1.0], [2.2]]).tolist() == [low, high]
    assert len(model.tables()) > 0


def test_a_class_of_which_every_row_has_weight_zero_is_left_out_of_names():
    model = GaussianNB().fit([[2.0], [1.0], [2.5]], np.array(["b", "a", "c"], dtype=object), [1, 0, 1])
    assert model.classes_.tolist() == ["b", "c"]


# ---------------------------------------------------------------------- codes


@pytest.mark.parametrize(
    ("n_states", "kind"), [(255, np.uint8), (256, np.uint16), (2**16 - 1, np.uint16), (2**16, np.int32)]
)
def test_codes_and_the_code_of_missing_cells_fit_in_the_narrowest_kind(n_states, kind):
    codes = narrow_codes(np.array([0, n_states]), n_states)
    assert codes.dtype == kind
    assert codes.tolist() == [0, n_states]


def test_three_hundred_classes_take_two_bytes_each():
    assert encode_labels(np.arange(300)).codes.dtype == np.uint16


def test_labels_are_coded_in_a_domain_that_is_known():
    known = Variable("class", ("a", "b", "c"))
    labels = encode_labels(["c", "a"], known)
    assert labels.variable is known
    assert labels.codes.tolist() == [2, 0]
    assert labels.count.tolist() == [1, 0, 1]


def test_a_label_outside_of_the_known_domain_is_named():
    with pytest.raises(DataError, match=r"label\(s\) \['d'\] in y do not exist in the initial classes \['a', 'b'\]"):
        encode_labels(["a", "d"], Variable("class", ("a", "b")))


def test_labels_of_another_number_kind_meet_the_known_ones():
    known = encode_labels(np.array([1, 2], dtype=np.int8)).variable
    assert encode_labels(np.array([2.0, 1.0]), known).codes.tolist() == [1, 0]


# ---------------------------------------------------------------------- refused


@pytest.mark.parametrize(
    "y",
    [
        np.array([1.0, np.nan, 2.0]),
        np.array(["a", None, "b"], dtype=object),
        np.array(["a", np.nan, "b"], dtype=object),
        ["a", None, "b"],
        [1, None, 2],
        pd.Series([1, None, 2], dtype="Int64"),
        pd.Series(["a", pd.NA, "b"], dtype="string"),
        pd.Series(["a", None, "b"], dtype="category"),
        pd.Series([True, None, False], dtype="boolean"),
        pl.Series([1, None, 2]),
        pl.Series(["a", None, "b"]),
        pa.array(["a", None, "b"]),
        pa.array([1, None, 2]),
        np.ma.masked_array([1, 5, 2], mask=[False, True, False]),
        np.ma.masked_array(["a", "x", "b"], mask=[False, True, False]),
        np.array(["2020-01-01", "NaT", "2021-01-01"], dtype="M8[D]"),
    ],
    ids=lambda y: f"{type(y).__module__.split('.')[0]}-{getattr(y, 'dtype', getattr(y, 'type', ''))}",
)
def test_a_missing_label_is_refused_with_its_row(y):
    with pytest.raises(
        DataError, match=r"y contains NaN: the label of row 1 is missing .*1 missing in all.*; leave these rows out"
    ):
        encode_labels(y)


@pytest.mark.parametrize(
    ("y", "kinds"),
    [
        (["a", 1, "b"], r"\['int', 'str'\]"),
        (np.array(["a", 1.5], dtype=object), r"\['float', 'str'\]"),
        (np.array([1, True], dtype=object), r"\['bool', 'int'\]"),
        (pd.Series(["a", True]), r"\['bool', 'str'\]"),
    ],
)
def test_labels_of_several_types_are_refused_and_the_types_named(y, kinds):
    with pytest.raises(DataError, match=rf"y mixes labels of types {kinds}; give all labels one type"):
        encode_labels(y)


@pytest.mark.parametrize("y", [[1.0, 2.5], np.array([1, 2.5], dtype=np.float32), np.array([1, 2.5], dtype=object)])
def test_continuous_labels_are_refused_with_row_and_value(y):
    with pytest.raises(DataError, match=r"Unknown label type: continuous.*label of row 1 is 2.5"):
        encode_labels(y)


def test_an_infinite_label_is_refused_with_its_row():
    with pytest.raises(DataError, match=r"y contains infinity: the label of row 2"):
        encode_labels([0.0, 1.0, np.inf])


@pytest.mark.parametrize("label", [[[1], [2]], [frozenset({1}), frozenset({2})], [object(), object()]])
def test_labels_without_a_hash_or_an_order_are_refused(label):
    y = np.fromiter(label, dtype=object, count=2)
    with pytest.raises(DataError, match="Unknown label type: "):
        encode_labels(y)


@pytest.mark.parametrize("y", [3, {1: 2}, np.zeros((2, 2)), pd.DataFrame({"a": [1], "b": [2]}), [[1, 2], [3, 4]]])
def test_a_y_that_is_no_column_is_refused(y):
    with pytest.raises(DataError, match="y should be a 1d array"):
        encode_labels(y)


def test_complex_labels_are_refused():
    with pytest.raises(DataError, match="Complex data not supported"):
        encode_labels([1j, 2.0])


def test_no_labels_are_refused():
    with pytest.raises(DataError, match="y has 0 labels"):
        encode_labels([])


@pytest.mark.parametrize("y", [sparse.csr_array([[1], [0]]), np.matrix([[1], [0]])], ids=["sparse", "matrix"])
def test_what_scikit_learn_refuses_as_the_wrong_type_stays_a_type_error(y):
    with pytest.raises(TypeError, match=r"[Ss]parse data|np.matrix"):
        encode_labels(y)


@pytest.mark.parametrize(
    "y",
    [
        np.array([[1], [0]]),
        pd.DataFrame({"y": [1, 0]}),
        pl.DataFrame({"y": [1, 0]}),
        pa.table({"y": [1, 0]}),
        [[1], [0]],
    ],
    ids=["numpy", "pandas", "polars", "pyarrow", "lists"],
)
def test_a_single_column_works_with_a_warning(y):
    with pytest.warns(DataConversionWarning, match="column-vector y was passed"):
        assert encode_labels(y).codes.tolist() == [1, 0]


# ---------------------------------------------------------------------- declared classes


@pytest.mark.parametrize(
    "classes",
    [
        [1, 0, 2],
        (2, 1, 0),
        np.array([0, 1, 2], dtype=np.int8),
        range(3),
        pd.Index([0, 1, 2]),
        pl.Series([2, 0, 1]),
        [0, 0, 1, 2],
    ],
    ids=["list", "tuple", "int8", "range", "pandas", "polars", "twice"],
)
def test_declared_classes_are_sorted_and_stay_though_no_row_has_them(classes):
    variable = declared_classes(classes)
    assert variable.states == (0, 1, 2)
    assert variable.declared == {0, 1, 2}


@pytest.mark.parametrize("classes", [5, "abc", [], [[0, 1]], [None, 0], [0.5, 1.5], ["a", 0], {0, 1}, [0, np.nan]])
def test_classes_that_are_no_list_of_labels_are_refused(classes):
    with pytest.raises(ParameterError, match=r"classes is .*; give all labels there will be, in one list"):
        declared_classes(classes)


def test_a_declared_class_wider_than_the_labels_does_not_wrap():
    y = np.array([0, 0, 1, 1], dtype=np.int8)
    model = GaussianNB().partial_fit(np.ones((4, 1)), y, classes=[0, 1, 256])
    assert model.classes_.tolist() == [0, 1, 256]
    assert model.class_count_.tolist() == [2, 2, 0]
