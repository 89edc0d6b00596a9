"""The pass of SKDB over rows with missing parents, of which not all can be looked at."""

import numpy as np
import pytest

from bayeswater import SKDB
from bayeswater.inference import prefix_choice
from bayeswater.inference.prefix_choice import Choice, best_of_prefixes, weight_of_judges
from bayeswater.models.semi_naive import skdb


def table_with_gaps(seed=0, n_rows=300):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 5, (n_rows, 5)).astype(float)
    y = ((X[:, 0] + X[:, 1] + X[:, 2]) // 3 + (rng.random(n_rows) < 0.3)) % 3
    X[rng.random(X.shape) < 0.2] = np.nan
    return X, y


@pytest.mark.parametrize(("n_filled", "n_rows"), [(200, 2**18), (2**16, 2**18), (2**16, 50)])
def test_neither_order_nor_repetition_of_rows_with_gaps_changes_the_losses(monkeypatch, n_filled, n_rows):
    monkeypatch.setattr(prefix_choice, "FILLED_JUDGING", n_filled)
    monkeypatch.setattr(skdb, "CHOOSING_ROWS", n_rows)
    losses = []
    monkeypatch.setattr(skdb, "best_of_prefixes", lambda found: losses.append(found) or best_of_prefixes(found))
    X, y = table_with_gaps()
    times = np.random.default_rng(1).integers(1, 4, len(y))
    repeated = np.repeat(np.arange(len(y)), times)
    mixed = np.random.default_rng(2).permutation(repeated)
    columns = dict.fromkeys(range(5), "categorical")
    SKDB(columns=columns).fit(X, y, sample_weight=times)
    for rows in (repeated, mixed):
        SKDB(columns=columns).fit(X[rows], y[rows])
        np.testing.assert_array_equal(losses[-1], losses[0])


def test_rows_judge_in_the_place_of_those_that_are_too_many(monkeypatch):
    monkeypatch.setattr(prefix_choice, "FILLED_JUDGING", 10)
    monkeypatch.setattr(prefix_choice, "MOST_JUDGING", 8)
    n_combinations = np.array([1.0, 6.0, 9.0, 4.0, 2.0, 1.0])
    times = weight_of_judges(n_combinations, np.array([1.0, 1.0, 2.0, 3.0, 2.0, 7.0]))
    np.testing.assert_array_equal(times, [1, 2, 0, 6, 0, 7])  # two of four in weight judge for eight


def test_rows_with_too_many_combinations_judge_nothing_where_all_have():
    np.testing.assert_array_equal(weight_of_judges(np.array([1.0, 2.0**11]), np.ones(2)), [1, 0])


@pytest.mark.parametrize(
    ("losses", "choice"),
    [
        ([[3.0, 2.0, 1.0], [3.0, 1.0, 2.0]], Choice(0, 2)),  # of equal ones the fewest parents
        ([[3.0, 1.0, 1.0 - 1e-15], [3.0, 2.0, 2.0]], Choice(0, 1)),  # and, but for rounding, the fewest columns
        ([[1.0, 2.0], [1.0, 0.5]], Choice(1, 1)),
    ],
)
def test_the_fewer_are_chosen_of_equal_ones(losses, choice):
    assert best_of_prefixes(np.array(losses)) == choice
