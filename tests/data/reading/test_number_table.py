"""Columns of numbers side by side, and numbers in bins: which bin a number falls into, and how that is called."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from bayeswater.data.reading.column_plan import Column
from bayeswater.data.reading.number_table import NumberTable, bin_labels, bin_schema, binned, interval_labels


def test_blocks_are_float64_and_logarithms_where_marked() -> None:
    columns = (np.array([1, 4, 0], dtype=np.int8), np.array([1.0, np.e, -2.0]), np.array([np.nan, 0.0, 1.0]))
    table = NumberTable(columns, ("n", "x", "y"), (False, True, True))
    assert table.dtype == np.float64
    assert table.shape == (3, 3)
    assert_array_equal(table.block(slice(0, 3)), [[1, 0, np.nan], [4, 1, np.nan], [0, np.nan, 0]])
    assert_array_equal(table.block(slice(1, 2)), [[4, 1, np.nan]])


def test_a_bin_begins_with_its_cut_and_ends_before_the_next() -> None:
    x = np.array([-np.inf, 0.9999, 1.0, 1.5, 2.0, 1e300, np.nan])
    table = binned([x], [(1.0, 2.0)], ["x"])
    assert_array_equal(table.block(slice(0, 7))[:, 0], [0, 0, 1, 1, 2, 2, 3])
    assert table.schema[0].states == range(3)
    assert table.schema == bin_schema([(1.0, 2.0)], ["x"])


def test_without_cuts_there_is_one_bin() -> None:
    assert_array_equal(binned([np.array([5, -5])], [()], ["x"]).block(slice(0, 2)), [[0], [0]])
    assert interval_labels(()) == ["all"]


@pytest.mark.parametrize("n_cuts", [254, 255, 300])
def test_codes_are_as_wide_as_the_bins_need(n_cuts: int) -> None:
    cuts = tuple(float(i) for i in range(n_cuts))
    codes = binned([np.array([-1.0, n_cuts, np.nan])], [cuts], ["x"]).block(slice(0, 3))
    assert_array_equal(codes[:, 0], [0, n_cuts, n_cuts + 1])


def test_bins_of_all_columns_are_declared() -> None:
    schema = bin_schema([(0.0,), (1.0, 2.0, 3.0)], ["a", "b"])
    assert [variable.n_states for variable in schema] == [2, 4]
    assert all(variable.n_states - 1 in variable.declared for variable in schema)


def test_bins_are_called_by_their_limits() -> None:
    assert interval_labels((0.5,)) == ["under 0.5", "from 0.5 on"]
    assert interval_labels((1, 2, 3.25)) == ["under 1", "1 to 2", "2 to 3.25", "from 3.25 on"]
    assert interval_labels((1, 2), ways=["{:.1f} m".format]) == ["under 1.0 m", "1.0 m to 2.0 m", "from 2.0 m on"]


def test_bins_of_numbers_that_agree_in_many_digits_have_names_of_their_own() -> None:
    assert interval_labels((1_000_000, 1_000_001)) == ["under 1000000", "1000000 to 1000001", "from 1000001 on"]
    neighbours = (0.1, float(np.nextafter(0.1, 1)), float(np.nextafter(np.nextafter(0.1, 1), 1)))
    assert len(set(interval_labels(neighbours))) == 4


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        ((0, 60), ["under 2024-01-01", "2024-01-01 to 2024-01-01 00:01", "from 2024-01-01 00:01 on"]),
        ((60, 90), ["under 2024-01-01 00:01:00", "2024-01-01 00:01:00 to 2024-01-01 00:01:30"]),
        ((1, 1.25), ["under 2024-01-01 00:00:01.000", "2024-01-01 00:00:01.000 to 2024-01-01 00:00:01.250"]),
        ((86399.9, 86399.95), ["under 2024-01-01 23:59:59.900", "2024-01-01 23:59:59.900 to 2024-01-01 23:59:59.950"]),
    ],
)
def test_bins_of_dates_show_as_much_of_the_time_as_tells_them_apart(seconds, expected) -> None:
    cuts = tuple(19723 + second / 86400 for second in seconds)  # days since 1970-01-01
    labels = bin_labels(Column("signed", "signed", "binned", part="days", cuts=cuts))
    assert labels[: len(expected)] == expected
    assert len(set(labels)) == 3


def test_moments_next_to_each_other_have_names_of_their_own() -> None:
    cuts = [19723.1]
    while len(cuts) < 50:
        cuts.append(float(np.nextafter(cuts[-1], np.inf)))
    assert len(set(bin_labels(Column("signed", "signed", "binned", part="days", cuts=tuple(cuts))))) == 51
