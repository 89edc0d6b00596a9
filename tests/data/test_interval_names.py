"""Names of bins and the way back to their cuts."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayeswater.data.interval_names import cuts_named
from bayeswater.data.known_codes import known_codes
from bayeswater.data.number_table import interval_labels
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
    assert known_codes(column, Variable("x", NAMES), codes)
    assert codes.tolist() == [0, 1, 3, 1, 2, 2]


def test_numbers_are_no_states_of_other_names():
    assert not known_codes(pa.chunked_array([[1.0]]), Variable("x", ("high", "low")), np.empty(1, dtype=np.uint8))


def test_what_is_no_number_is_left_to_others():
    for column in (pa.array(["1.0"]), pa.array([True])):
        assert not known_codes(pa.chunked_array([column]), Variable("x", NAMES), np.empty(1, dtype=np.uint8))
