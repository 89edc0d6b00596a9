"""Names of bins and the way back to their cuts.

Cuts as intervals to read, and the interval of every number, of whatever kind.
"""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.data.reading.discretising.one_column import find_cuts

from bayeswater.data.reading.discretising.cuts import Cuts, apply_cuts, closed_left, cuts_named
from bayeswater.data.reading.discretising.finding_cuts import METHODS
from bayeswater.data.reading.known_labels import write_known_codes
from bayeswater.data.reading.number_table import interval_labels
from bayeswater.data.variable import Variable

NAMES = ("under -1.5", "-1.5 to 4", "from 4 on")


@given(st.sets(st.integers(-(10**6) + 1, 10**6 - 1), max_size=6))
def test_cuts_of_six_digits_come_back_as_they_were(points):
    cuts = tuple(sorted(point / 1000 for point in points))
    assert cuts_named(interval_labels(cuts)) == cuts


@pytest.mark.parametrize(
    "names",
    [
        (),
        ("all", "some"),
        ("under 1.5", "from 2 on"),
        ("under 4", "4 to 1", "from 1 on"),
        ("1.5 to 4", "from 4 on"),
        ("under nan", "from nan on"),
        ("under 2024-01-01", "from 2024-01-01 on"),
        ("from 4 on", "under 4"),
        (0, 1),
    ],
)
def test_other_names_are_no_bins(names):
    assert cuts_named(names) is None


@pytest.mark.parametrize("kind", [pa.float64(), pa.float32(), pa.int64(), pa.int8(), pa.decimal128(23, 2)])
def test_numbers_of_every_kind_find_the_bin_that_names_them(kind):
    column = pa.chunked_array([pa.array([-2, -1, None]).cast(kind), pa.array([3, 4, 99]).cast(kind)])
    codes = np.empty(6, dtype=np.uint8)
    assert write_known_codes(column, Variable("x", NAMES), codes)
    assert codes.tolist() == [0, 1, 3, 1, 2, 2]


def test_numbers_are_no_states_of_other_names():
    assert not write_known_codes(pa.chunked_array([[1.0]]), Variable("x", ("high", "low")), np.empty(1, dtype=np.uint8))


def test_what_is_no_number_is_left_to_others():
    for column in (pa.array(["1.0"]), pa.array([True])):
        assert not write_known_codes(pa.chunked_array([column]), Variable("x", NAMES), np.empty(1, dtype=np.uint8))


def test_intervals_are_closed_on_the_right_and_reach_to_infinity():
    cuts = Cuts("x", (2.45, 4.75))
    assert cuts.intervals == ("(-inf, 2.45]", "(2.45, 4.75]", "(4.75, inf)")
    assert cuts.codes(np.array([-1e300, 2.45, 2.4500001, 4.75, 4.8, 1e300, np.nan])).tolist() == [0, 0, 1, 1, 2, 2, 3]
    assert cuts.n_bins == 3
    assert list(cuts) == [2.45, 4.75]


def test_a_column_without_cuts_is_one_interval():
    assert Cuts("x", ()).intervals == ("(-inf, inf)",)
    assert Cuts("x", ()).codes(np.array([1.0, np.nan])).tolist() == [0, 1]


def test_intervals_have_as_many_digits_as_tell_them_apart():
    assert Cuts("x", (1.0, 1.00000001)).intervals[1] == "(1, 1.00000001]"
    assert Cuts("x", (0.1, 0.1 + 2**-56)).intervals[1] == "(0.1, 0.10000000000000002]"
    assert Cuts("x", (1 / 3,)).intervals == ("(-inf, 0.333333]", "(0.333333, inf)")


@pytest.mark.parametrize(("n_cuts", "kind"), [(254, np.uint8), (255, np.uint16), (70_000, np.int32)])
def test_codes_are_the_narrowest_that_hold_the_missing_one_too(n_cuts, kind):
    codes = apply_cuts(np.array([np.nan, n_cuts + 1.0]), np.arange(float(n_cuts)))
    assert codes.dtype == kind
    assert codes.tolist() == [n_cuts + 1, n_cuts]


@pytest.mark.parametrize("kind", [bool, np.uint8, np.int16, np.int64, np.float32, np.float64])
@pytest.mark.parametrize("n_rows", [7, 600_000])  # NumPy, and the loop over blocks of rows
def test_numbers_of_every_kind_are_compared_as_they_are(kind, n_rows):
    table = np.random.default_rng(0).integers(0, 2 if kind is bool else 100, size=(n_rows, 2)).astype(kind)
    column = table[:, 1]  # not contiguous
    for cuts in (np.array([0.5, 30.0, 60.25]), np.arange(0, 100, 2.0)):
        np.testing.assert_array_equal(
            apply_cuts(column, cuts), np.searchsorted(cuts, column.astype(float), side="left")
        )


def test_a_float32_is_not_rounded_to_the_cut():
    value = np.float32(0.1)  # a little over 0.1
    assert apply_cuts(np.array([value]), np.array([0.1])).tolist() == [1]
    assert apply_cuts(np.array([value]), np.array([float(value)])).tolist() == [0]


# ---------------------------------------------------------------------- closed on the other side

FLOATS = st.floats(allow_nan=False, allow_infinity=False)
NEIGHBOURS = st.integers(0, 6).map(lambda steps: 1.0 + steps * np.finfo(np.float64).eps)


@given(st.lists(FLOATS | NEIGHBOURS, min_size=1, max_size=30), st.lists(FLOATS | NEIGHBOURS, max_size=10, unique=True))
def test_bins_closed_on_the_left_hold_the_same_values_as_those_closed_on_the_right(values, cuts):
    x, right = np.array(values), np.sort(np.array(cuts, dtype=np.float64))
    left = closed_left(right, x)
    assert (np.diff(left) > 0).all()
    groups = set(zip(apply_cuts(x, right).tolist(), apply_cuts(x, left, closed="left").tolist(), strict=True))
    assert len({below for below, _ in groups}) == len({above for _, above in groups}) == len(groups)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", [np.float64, np.float32, np.int64])
def test_every_method_of_cutting_means_the_same_bins_on_either_side(method, kind):
    rng = np.random.default_rng(5)
    y = rng.integers(0, 2, 300)
    x = (rng.integers(0, 60, 300) / 4 + 4 * y).astype(kind)
    cuts = find_cuts(x, y, 2, method=method)
    assert apply_cuts(x, closed_left(cuts, x), closed="left").tolist() == apply_cuts(x, cuts).tolist()


def test_a_cut_that_is_no_value_stays_what_it_is():
    assert closed_left(np.array([1.5, 3.0]), np.array([1.0, 2.0, np.nan, 4.0])).tolist() == [1.5, 3.0]
    assert closed_left(np.array([2.0]), np.array([2.0])).tolist() == [np.nextafter(2.0, 3.0)]
    assert closed_left(np.zeros(0), np.array([1.0])).tolist() == []
