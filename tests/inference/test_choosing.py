"""The pass of SKDB over rows with missing parents, of which not all can be looked at."""

import numpy as np
import pytest

from bayeswater import KDB, SKDB
from bayeswater.inference import choosing
from bayeswater.inference.choosing import first_of_least, row_hash, validation_rows, validation_weight
from bayeswater.models.semi_naive import kdb


def table_with_gaps(seed=0, n_rows=300):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 5, (n_rows, 5)).astype(float)
    y = ((X[:, 0] + X[:, 1] + X[:, 2]) // 3 + (rng.random(n_rows) < 0.3)) % 3
    X[rng.random(X.shape) < 0.2] = np.nan
    return X, y


@pytest.mark.parametrize(("n_filled", "n_rows"), [(200, 2**18), (2**16, 2**18), (2**16, 50)])
def test_neither_order_nor_repetition_of_rows_with_gaps_changes_the_losses(monkeypatch, n_filled, n_rows):
    monkeypatch.setattr(choosing, "FILLED_JUDGING", n_filled)
    monkeypatch.setattr(kdb, "CHOOSING_ROWS", n_rows)
    losses = []
    monkeypatch.setattr(kdb, "first_of_least", lambda found: losses.append(found) or first_of_least(found))
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
    monkeypatch.setattr(choosing, "FILLED_JUDGING", 10)
    monkeypatch.setattr(choosing, "MOST_JUDGING", 8)
    n_combinations = np.array([1.0, 6.0, 9.0, 4.0, 2.0, 1.0])
    times = validation_weight(n_combinations, np.array([1.0, 1.0, 2.0, 3.0, 2.0, 7.0]))
    np.testing.assert_array_equal(times, [1, 2, 0, 6, 0, 7])  # two of four in weight judge for eight


def test_rows_with_too_many_combinations_judge_nothing_where_all_have():
    np.testing.assert_array_equal(validation_weight(np.array([1.0, 2.0**11]), np.ones(2)), [1, 0])


@pytest.mark.parametrize(
    ("losses", "choice"),
    [
        ([[3.0, 2.0, 1.0], [3.0, 1.0, 2.0]], (0, 2)),  # of equal ones the fewest parents
        ([[3.0, 1.0, 1.0 - 1e-15], [3.0, 2.0, 2.0]], (0, 1)),  # and, but for rounding, the fewest columns
        ([[1.0, 2.0], [1.0, 0.5]], (1, 1)),
    ],
)
def test_the_fewer_are_chosen_of_equal_ones(losses, choice):
    assert first_of_least(np.array(losses)) == choice


def kinds(X, y, weight, most, removed=None):
    """Judges as {(cells, class): weight}."""
    table = KDB(columns=dict.fromkeys(range(X.shape[1]), "categorical")).fit(X, y)._table(X)
    removed = np.minimum(weight, 1.0) if removed is None else removed
    judges = validation_rows(table, y, removed, weight, most)
    cells = [(*X[i].tolist(), int(y[i])) for i in judges.rows]
    return list(zip(cells, judges.weight.tolist(), strict=True))


def rows(n_rows=400):
    rng = np.random.default_rng(0)
    return rng.integers(0, 3, (n_rows, 4)), rng.integers(0, 2, n_rows), rng.integers(1, 4, n_rows).astype(float)


def test_one_row_of_each_kind_judges_with_the_weight_of_all():
    X, y, weight = rows()
    found = kinds(X, y, weight, most=1000)
    expected = {}
    for cells, label, w in zip(X.tolist(), y.tolist(), weight.tolist(), strict=True):
        expected[*cells, label] = expected.get((*cells, label), 0) + w
    assert dict(found) == expected
    assert len(found) == len(expected)


def test_neither_order_nor_repetition_changes_which_rows_judge():
    X, y, weight = rows()
    found = kinds(X, y, weight, most=20)
    assert len(found) == 20
    repeated = np.random.default_rng(1).permutation(np.repeat(np.arange(len(y)), weight.astype(int)))
    assert kinds(X[repeated], y[repeated], np.ones(len(repeated)), most=20) == found


def test_rows_of_no_weight_do_not_judge_and_those_of_which_less_is_removed_do_so_on_their_own():
    X, y = np.zeros((4, 2), dtype=np.int64), np.zeros(4, dtype=np.int64)
    X[3], weight = 1, np.array([0.5, 2.0, 3.0, 0.0])
    assert sorted(w for _, w in kinds(X, y, weight, most=10)) == [0.5, 5.0]


def test_hashes_of_all_small_rows_differ():
    cells = np.stack([axis.ravel() for axis in np.indices((4, 4, 4, 4, 4, 4))], axis=1)
    ones = np.ones(len(cells))
    both = [row_hash(cells, np.full(len(cells), y), ones) for y in (0, 1)]
    assert len(np.unique(np.concatenate(both))) == 2 * len(cells)
