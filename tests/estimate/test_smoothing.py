"""Automatic smoothing: the maximum of what n refits, each without one row, would say; without a refit."""

from fractions import Fraction
from itertools import pairwise

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayeswater.estimate.smoothing import (
    LEAST,
    MOST,
    best_alpha,
    best_alphas,
    best_alphas_without,
    best_binary_alpha,
)

DIGITS = 30
GRID = [mpmath.mpf(10) ** (mpmath.mpf(i) / 20) for i in range(-60, 61)]

tables = st.integers(2, 6).flatmap(
    lambda n_states: st.lists(
        st.lists(st.sampled_from([0, 0, 1, 1, 2, 3, 8, 50]), min_size=n_states, max_size=n_states),
        min_size=1,
        max_size=3,
    )
)


def left_out(count, n_states, a):
    """Sum of log P(state | class) over all rows, each with its row taken out of the counts: n refits."""
    total = mpmath.mpf(0)
    rows = [(v, k) for v, of_state in enumerate(count) for k, n in enumerate(of_state) for _ in range(n)]
    for v, k in rows:
        rest = [Fraction(of_state[k]) for of_state in count]
        rest[v] -= 1
        if sum(rest):
            total += mpmath.log(float(rest[v]) + a) - mpmath.log(float(sum(rest)) + n_states * a)
    return total


def criterion(count, n_states, a):
    return mpmath.fsum(
        n * (mpmath.log(n - 1 + a) - mpmath.log(sum(column) - 1 + n_states * a))
        for column in zip(*count, strict=True)
        for n in column
        if n and sum(column) > 1
    )


def evidence(count, n_states, a):
    S = n_states * a
    return mpmath.fsum(
        mpmath.loggamma(S)
        - mpmath.loggamma(sum(column) + S)
        + mpmath.fsum(mpmath.loggamma(n + a) - mpmath.loggamma(a) for n in column)
        for column in zip(*count, strict=True)
        if sum(column)
    )


def highest(objective):
    """Find the maximum by brute force: a fine grid, then golden section with thirty digits."""
    with mpmath.workdps(DIGITS):
        values = [objective(a) for a in GRID]
        i = max(range(len(GRID)), key=lambda i: values[i])
        low, high = mpmath.log(GRID[max(i - 1, 0)]), mpmath.log(GRID[min(i + 1, len(GRID) - 1)])
        shrink = (mpmath.sqrt(5) - 1) / 2
        while high - low > 1e-9:
            a, b = high - shrink * (high - low), low + shrink * (high - low)
            low, high = (low, b) if objective(mpmath.exp(a)) >= objective(mpmath.exp(b)) else (a, high)
        return float(mpmath.exp((low + high) / 2)), float(max(values) - min(values))


def assert_highest(alpha, objective):
    expected, spread = highest(objective)
    if spread < 1e-12:
        assert alpha == 1  # the criterion is the same for every alpha
    else:
        np.testing.assert_allclose(alpha, expected, rtol=1e-6)


@pytest.mark.parametrize("a", [0.001, 0.7, 40.0])
@pytest.mark.parametrize("count", [[[3, 0], [1, 1], [0, 5]], [[2], [2], [0]], [[1, 9, 0], [0, 4, 2]]])
def test_the_criterion_is_the_sum_of_log_probabilities_of_as_many_refits_as_rows(count, a):
    with mpmath.workdps(DIGITS):
        assert abs(criterion(count, len(count), a) - left_out(count, len(count), a)) < 1e-25


@given(tables)
def test_alpha_is_the_maximum_of_the_criterion(columns):
    count = np.array(columns).T  # (n_states, n_classes)
    alpha = best_alpha(count)
    if (count.sum(axis=0) <= 1).all():
        assert alpha == 1
    else:
        assert_highest(alpha, lambda a: criterion(count.tolist(), len(count), a))


@settings(max_examples=15)  # loggamma with thirty digits is slow
@given(tables)
def test_fractional_counts_are_smoothed_by_their_evidence(columns):
    count = np.array(columns).T * 0.7
    alpha = best_alpha(count)
    if not count.any():
        assert alpha == 1
    elif not (count == np.floor(count)).all():
        assert_highest(alpha, lambda a: evidence(count.tolist(), len(count), a))


def test_of_two_peaks_the_higher_one_is_taken():
    count = [[1, 3, 50], [2, 0, 50]]
    with mpmath.workdps(DIGITS):
        values = [criterion(count, 2, a) for a in (0.9, 1.07, 1.2, 1000)]
    assert values[1] > values[0]
    assert values[1] > values[2]
    assert values[3] > values[1]
    assert best_alpha(np.array(count)) == MOST


@pytest.mark.parametrize(
    ("count", "alpha"),
    [
        ([[5, 0], [0, 5]], LEAST),  # the class decides the state
        ([[50, 50], [50, 50]], MOST),  # every state is as frequent as the others
        ([[0, 0], [0, 0]], 1.0),  # no row
        ([[1, 0], [0, 1]], 1.0),  # each row alone in its class
        ([[7, 3]], 1.0),  # one state
        ([[2], [2], [0]], 1.0),  # (2 - 1 + a) / (4 - 1 + 3 a) = 1/3 for every a
        (np.zeros((0, 2), dtype=int), 1.0),  # no state
    ],
)
def test_where_the_optimum_is_at_an_end_or_nowhere(count, alpha):
    assert best_alpha(np.array(count)) == alpha
    assert best_alpha(np.array(count, dtype=np.float64)) == alpha


def test_rows_alone_in_their_class_say_nothing():
    count = np.array([[8, 1], [1, 1], [0, 6]])
    alone = np.array([[1, 0], [0, 1], [0, 0]])
    assert best_alpha(np.hstack([count, alone])) == best_alpha(count)


@given(st.permutations(range(4)), st.permutations(range(3)), st.booleans())
def test_the_order_of_states_and_classes_does_not_show(states, classes, fractional):
    count = np.array([[9, 1, 0], [2, 2, 3], [0, 1, 40], [1, 0, 6]]) * (0.25 if fractional else 1)
    assert best_alpha(count[states][:, classes]) == best_alpha(count)


def test_whole_numbers_are_whole_in_any_dtype():
    count = np.array([[8, 1], [1, 1], [0, 6]])
    assert best_alpha(count.astype(np.float64)) == best_alpha(count)


@pytest.mark.parametrize("missing_is_state", [False, True])
def test_many_columns_have_the_alpha_that_each_has_alone(missing_is_state):
    rng = np.random.default_rng(0)
    widths = rng.integers(1, 12, size=40)  # the slot of missing cells is one of them: some columns have no other state
    start = np.concatenate([[0], np.cumsum(widths)])
    table = rng.poisson(rng.gamma(0.3, 5, size=(start[-1], 3))).astype(np.float64)
    table[start[5] : start[6]] *= 0.3  # one of them fractional
    table[start[7] : start[8]] = 0
    alone = [best_alpha(table[a : b if missing_is_state else b - 1]) for a, b in pairwise(start)]
    found = best_alphas(table, start, missing_is_state=missing_is_state)
    # The search ends for all columns together: a few steps more for one of them change its last digits.
    np.testing.assert_allclose(found, alone, rtol=1e-9)
    assert found[7] == 1
    assert len(np.unique(found)) > 20


def test_marks_share_one_alpha_that_maximises_the_sum_over_their_features():
    present = np.array([[3, 0, 1, 7], [0, 0, 5, 1]])
    observed = np.array([[8], [6]])

    def summed(a):
        pairs = [[[p], [n - p]] for of_class, (n,) in zip(present, observed, strict=True) for p in of_class]
        return mpmath.fsum(criterion(pair, 2, a) for pair in pairs)

    assert_highest(best_binary_alpha(present, observed), summed)
    wide = np.repeat(observed, 4, axis=1)
    assert best_binary_alpha(present, wide) == best_binary_alpha(present, observed)


def test_fractional_marks_are_smoothed_by_their_evidence():
    present, observed = np.array([[0.5, 0.0], [0.25, 2.5]]), np.array([[2.5, 2.0], [1.75, 2.5]])

    def summed(a):
        return mpmath.fsum(
            evidence([[p], [n - p]], 2, a) for p, n in zip(present.ravel(), observed.ravel(), strict=True)
        )

    assert_highest(best_binary_alpha(present, observed), summed)


def test_marks_of_rows_that_are_alone_keep_one():
    assert best_binary_alpha(np.array([[1, 0]]), np.array([[1]])) == 1


@given(st.lists(tables, min_size=1, max_size=3), st.booleans())
def test_smoothing_without_a_row_is_that_of_the_counts_without_it(columns, missing_is_state):
    n_classes = min(len(column) for column in columns)
    table = np.concatenate([np.array(column[:n_classes]).T for column in columns])
    start = np.cumsum([0, *(len(column[0]) for column in columns)])
    found = best_alphas_without(table, start, missing_is_state=missing_is_state)
    of_all = np.repeat(best_alphas(table, start, missing_is_state=missing_is_state), np.diff(start))
    slots = np.zeros(len(table), dtype=bool)
    slots[start[1:] - 1] = not missing_is_state
    for row, code in np.ndindex(*table.shape):
        column = int(np.searchsorted(start, row, side="right")) - 1
        rest = table.copy()
        rest[row, code] -= 1
        own = rest[start[column] : start[column + 1] - (not missing_is_state), code]
        if slots[row] or table[row, code] == 0 or own.sum() == 0:  # no row, or one alone in its class
            assert found[row, code] == of_all[row]
        else:
            expected = best_alphas(rest, start, missing_is_state=missing_is_state)[column]
            # Counts are added up in another order, and the maximum is found to a billionth.
            np.testing.assert_allclose(found[row, code], expected, rtol=1e-6)
