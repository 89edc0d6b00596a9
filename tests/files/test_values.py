"""Values as JSON: what goes in comes out equal and of the same type, or is refused by its place."""

import json
from datetime import UTC, date, datetime, time, timedelta, timezone
from enum import IntEnum, StrEnum
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayeswater import ModelFileError
from bayeswater.files.values import FORMS, NUMBERS, Codec

CODEC = Codec(FORMS)


class Colour(StrEnum):
    RED = "red"


class Size(IntEnum):
    SMALL = 1


def there_and_back(value):
    return CODEC.decode(json.loads(json.dumps(CODEC.encode(value, "here"), allow_nan=False)), "here")


def unfolded(clock):
    return clock.replace(fold=0)  # the fold has no part in what is equal


offsets = st.integers(-1439, 1439).map(lambda minutes: timezone(timedelta(minutes=minutes)))
labels = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters())  # surrogates too
    | st.binary()
    | st.dates()
    | st.times().map(unfolded)
    | st.timedeltas()
    | st.datetimes(timezones=st.none() | offsets).map(unfolded)
)
values = st.recursive(
    labels,
    lambda inside: st.lists(inside) | st.lists(inside).map(tuple) | st.dictionaries(labels, inside),
    max_leaves=20,
)


@given(values)
def test_values_come_back_equal_and_of_the_same_types(value):
    assert repr(there_and_back(value)) == repr(value)


@given(st.sampled_from(NUMBERS), st.lists(st.integers(0, 1), min_size=1))
def test_numbers_of_numpy_come_back_in_their_dtype(dtype, cells):
    array = np.array(cells, dtype=dtype) * np.array(0.1 if "float" in dtype else 1, dtype=dtype)
    found = there_and_back(array)
    assert (found.dtype, found.tobytes()) == (array.dtype, array.tobytes())
    scalar = there_and_back(array[0])
    assert (type(scalar), scalar) == (type(array[0]), array[0])


@pytest.mark.parametrize(
    "dtype", ["O", "U5", "S3", "?", ">i2", "u1", "f4", "M8[D]", "M8[ns]", "m8[25s]", "datetime64[us]"]
)
def test_dtypes_of_labels_come_back(dtype):
    assert there_and_back(np.dtype(dtype)) == np.dtype(dtype)


@pytest.mark.parametrize(
    "heir",
    [
        np.str_("red"),
        np.bytes_(b"red"),
        Colour.RED,
        Size.SMALL,
        pd.Timestamp("2026-01-31T12:00"),
        pd.Timestamp("2026-07-31T12:00", tz="Europe/Berlin"),
        pd.Timedelta("3 days"),
    ],
)
def test_an_heir_comes_back_as_an_equal_value_of_its_plain_type(heir):
    found = there_and_back(heir)
    assert found == heir
    assert hash(found) == hash(heir)
    assert type(found) in (str, bytes, int, datetime, timedelta)


@pytest.mark.parametrize(
    "value",
    [
        float("nan"),
        float("inf"),
        -np.inf,
        len,
        object(),
        GeneratorExit,
        {1, 2},
        1j,
        Fraction(1, 3),
        np.longdouble(1),
        np.array(["a"]),
        np.array([None]),
        np.datetime64("2026-01-31"),
        pd.Timestamp("2026-01-31T12:00:00.000000001"),
        pd.Series([1.0]),
        [1, (2, {"x": len})],
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_cannot_be_read_back_is_refused_by_its_place(value):
    with pytest.raises(ModelFileError, match=r"parameter 'alpha' is .*, which a model file cannot hold"):
        CODEC.encode(value, "parameter 'alpha'")


def test_a_day_is_no_moment():
    assert there_and_back((date(2026, 1, 31), datetime(2026, 1, 31, tzinfo=UTC), time(12))) == (
        date(2026, 1, 31),
        datetime(2026, 1, 31, tzinfo=UTC),
        time(12),
    )
