"""Where two densities cross: every crossing is one, and none is left out."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from bayeswater.explain.crossings import Density, normal_crossings, student_crossings

means = st.floats(-100, 100)
variances = st.floats(1e-3, 1e3)
odds = st.floats(-20, 20)


def signs_on_a_grid(log_odds_at, low, high):
    """Count the changes of sign on a grid that is fine where the densities are narrow."""
    x = np.linspace(low, high, 20_001)
    signs = np.sign(log_odds_at(x))
    return int((np.diff(signs[signs != 0]) != 0).sum())


@settings(max_examples=60)
@given(means, means, variances, variances, odds)
def test_log_odds_of_normal_densities_change_their_sign_at_each_crossing(mean_a, mean_b, var_a, var_b, log_odds):
    a, b = Density(mean_a, var_a), Density(mean_b, var_b)

    def at(x):
        return log_odds + stats.norm.logpdf(x, mean_a, var_a**0.5) - stats.norm.logpdf(x, mean_b, var_b**0.5)

    crossings = normal_crossings(a, b, log_odds)
    # Terms of the size of `scale` are subtracted, so the root is known to the rounding of these.
    for crossing in crossings:
        scale = 1 + abs(stats.norm.logpdf(crossing.at, mean_a, var_a**0.5)) + abs(log_odds)
        assert at(crossing.at) == pytest.approx(0.0, abs=1e-9 * scale)
    distances = np.diff([crossing.at for crossing in crossings])
    step = 1e-3 * min([1.0, *distances]) * min(var_a, var_b) ** 0.5
    for crossing in crossings:
        beyond = at(np.array([crossing.at - step, crossing.at + step]))
        if np.abs(beyond).min() > 1e-7 * (1 + abs(log_odds)):  # otherwise too flat to tell from rounding
            assert (beyond[1] < 0) == crossing.is_above
            assert (beyond[0] < 0) != crossing.is_above


@settings(max_examples=60)
@given(means, means, variances, variances, odds)
def test_no_crossing_of_normal_densities_is_left_out(mean_a, mean_b, var_a, var_b, log_odds):
    def at(x):
        return log_odds + stats.norm.logpdf(x, mean_a, var_a**0.5) - stats.norm.logpdf(x, mean_b, var_b**0.5)

    found = normal_crossings(Density(mean_a, var_a), Density(mean_b, var_b), log_odds)
    low, high = -300.0, 300.0
    inside = [crossing for crossing in found if low < crossing.at < high]
    assert len(inside) >= signs_on_a_grid(at, low, high)


@settings(max_examples=60)
@given(means, means, variances, variances, odds, st.floats(1, 50), st.floats(1, 50))
def test_crossings_of_student_densities_are_those_that_a_grid_shows(
    mean_a, mean_b, var_a, var_b, log_odds, degrees_a, degrees_b
):
    a, b = Density(mean_a, var_a, degrees_a), Density(mean_b, var_b, degrees_b)

    def at(x):
        log_a = -0.5 * (np.log(var_a) + (degrees_a + 1) * np.log1p((x - mean_a) ** 2 / var_a / degrees_a))
        log_b = -0.5 * (np.log(var_b) + (degrees_b + 1) * np.log1p((x - mean_b) ** 2 / var_b / degrees_b))
        return log_odds + log_a - log_b

    found = student_crossings(a, b, log_odds)
    for crossing in found:
        step = 1e-6 * max(1.0, abs(crossing.at))
        beyond = at(np.array([crossing.at - step, crossing.at + step]))
        assert at(crossing.at) == pytest.approx(0.0, abs=1e-6)  # bisection stops at 1e-14 of the wider scale
        if np.abs(beyond).min() > 1e-6:
            assert (beyond[1] < 0) == crossing.is_above
    inside = [crossing for crossing in found if -300 < crossing.at < 300]
    assert len(inside) >= signs_on_a_grid(at, -300.0, 300.0)


def test_equal_densities_do_not_cross():
    assert normal_crossings(Density(1.0, 2.0), Density(1.0, 2.0), 0.5) == []
    assert student_crossings(Density(1.0, 2.0, 4.0), Density(1.0, 2.0, 4.0), 0.5) == []


def test_a_narrow_density_within_a_wide_one_is_left_on_both_sides():
    crossings = normal_crossings(Density(0.0, 1.0), Density(0.0, 4.0), 0.0)
    expected = np.sqrt(8 / 3 * np.log(2.0))
    assert [c.at for c in crossings] == pytest.approx([-expected, expected], rel=1e-15)
    assert [c.is_above for c in crossings] == [False, True]
