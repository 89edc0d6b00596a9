"""Tables of probabilities: what is kept, what is normalised, what is refused, and how it is told."""

import numpy as np
import pytest

from bayeswater.data.variable import Variable
from bayeswater.errors import ParameterError, ResourceLimitError
from bayeswater.networks.cpt import checked_table, require_room

SMOKE, CITY = Variable("smoke", ("yes", "no")), Variable("city", ("big", "small", "none"))
CANCER = Variable("cancer", ("yes", "no"))


def test_a_row_that_sums_to_one_but_for_rounding_is_kept_bit_for_bit():
    values = np.array([[0.1, 0.9], [1 / 3, 2 / 3 + 5e-13]])
    checked = checked_table(values, CANCER, [SMOKE])
    assert np.array_equal(checked.table, values)
    assert checked.drift == 0


def test_a_row_that_has_drifted_is_divided_by_its_sum_and_no_other_is_touched():
    values = np.array([[0.1, 0.9], [0.3333333, 0.6666666]])
    checked = checked_table(values, CANCER, [SMOKE])
    assert np.array_equal(checked.table[0], values[0])
    assert np.array_equal(checked.table[1], values[1] / (values[1, 0] + values[1, 1]))
    assert checked.drift == pytest.approx(1e-7)


def test_dividing_by_the_sum_is_done_once():
    once = checked_table([[0.1, 0.9], [0.3333333, 0.6666666]], CANCER, [SMOKE]).table
    again = checked_table(once, CANCER, [SMOKE])
    assert np.array_equal(again.table, once)
    assert again.drift == 0


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([[0.1, 0.9], [0.2, 0.81]], r"P\(cancer \| smoke='no'\) sums to 1.01, and not to 1"),
        ([[0.1, 0.9], [-0.2, 1.2]], r"P\(cancer='yes' \| smoke='no'\) is -0.2; probabilities are finite"),
        ([[0.1, np.nan], [0.2, 0.8]], r"P\(cancer='no' \| smoke='yes'\) is nan"),
        ([[0.1, np.inf], [0.2, 0.8]], r"P\(cancer='no' \| smoke='yes'\) is inf"),
        ([[np.inf, -np.inf], [0.2, 0.8]], r"P\(cancer='yes' \| smoke='yes'\) is inf"),
        ([[1e308, 1e308], [0.2, 0.8]], r"P\(cancer \| smoke='yes'\) sums to inf"),
        ([0.1, 0.9], r"has shape \(2,\), and should have \(2, 2\) for the parents \['smoke'\]"),
        ([[0.1, 0.9, 0.0], [0.2, 0.8, 0.0]], r"has shape \(2, 3\), and should have \(2, 2\)"),
        ("half", "is no array of numbers"),
        ([[0.1, 0.9], [1.0]], "is no array of numbers"),
    ],
)
def test_a_table_that_is_wrong_is_refused_with_its_place(values, message):
    with pytest.raises(ParameterError, match=message):
        checked_table(values, CANCER, [SMOKE])


def test_the_states_of_all_parents_are_named():
    table = np.full((2, 3, 2), 0.5)
    table[1, 2] = 0.4
    with pytest.raises(ParameterError, match=r"P\(cancer \| smoke='no', city='none'\) sums to 0.8"):
        checked_table(table, CANCER, [SMOKE, CITY])


def test_a_root_has_one_row():
    with pytest.raises(ParameterError, match=r"P\(cancer\) sums to 0.9, and not to 1; the states are \['yes', 'no'\]"):
        checked_table([0.1, 0.8], CANCER, [])
    with pytest.raises(ParameterError, match=r"and should have \(2,\) \(it has no parents\)"):
        checked_table([[0.1, 0.9]], CANCER, [])


def test_a_table_cannot_be_written_to_and_is_a_copy():
    values = np.array([0.5, 0.5])
    table = checked_table(values, CANCER, []).table
    values[0] = 1.0
    assert table.tolist() == [0.5, 0.5]
    with pytest.raises(ValueError, match="read-only"):
        table[0] = 1.0


def test_there_is_one_zero():
    assert np.signbit(checked_table([-0.0, 1.0], CANCER, []).table).tolist() == [False, False]


def test_a_table_that_no_memory_holds_is_refused_before_it_is_made():
    with pytest.raises(ResourceLimitError, match="table of 'cancer' given its 40 parents would take"):
        require_room(CANCER, [SMOKE] * 40)


def test_thirds_of_six_digits_are_a_millionth_off_and_no_more():
    variable = Variable("a", ("x", "y", "z"))
    assert checked_table([0.333333] * 3, variable, []).table.tolist() == [1 / 3] * 3
    with pytest.raises(ParameterError, match=r"sums to 0\.9999989"):
        checked_table([0.333333, 0.333333, 0.3333329], variable, [])
