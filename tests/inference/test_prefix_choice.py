"""The pass of SKDB over rows with missing parents, of which not all can be looked at."""

import numpy as np
import pytest

from bayeswater import SKDB
from bayeswater.inference import prefix_choice
from bayeswater.inference.prefix_choice import Choice, best_of_prefixes, prefix_losses

N_ROWS, N_EQUAL = 60, 50


def losses_of(rows):
    """Losses of some rows of a table in which 50 rows are equal, and lack two cells that others depend on."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, (N_ROWS + N_EQUAL, 4)).astype(float)
    y = (X[:, 0] + X[:, 1] + rng.integers(0, 2, len(X))) % 2
    X[N_ROWS:], y[N_ROWS:] = [np.nan, np.nan, 1, 2], 1
    model = SKDB(2, parents={2: [0, 1], 3: [1]}).fit(X, y)
    joint = model._dependence(model.statistics_, 2, (0, 1, 2, 3))
    table, codes = model._table(X), (y == 1).astype(int)
    block, ones = table.block(slice(0, len(X))), np.ones(len(X))
    return prefix_losses(joint, [0, 1, 2, 3], block[rows], codes[rows], ones[rows], ones[rows], use_loop=False)


def test_one_of_equal_rows_judges_in_the_place_of_all(monkeypatch):
    expected = losses_of(slice(None))
    monkeypatch.setattr(prefix_choice, "FILLED_JUDGING", 1)
    np.testing.assert_allclose(losses_of(slice(None)), expected, rtol=1e-12)


def test_rows_with_too_many_combinations_judge_nothing(monkeypatch):
    monkeypatch.setattr(prefix_choice, "MOST_JUDGING", 8)  # two cells of three states have nine
    np.testing.assert_array_equal(losses_of(slice(None)), losses_of(slice(0, N_ROWS)))


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
