"""Rows by which a structure is chosen: one of each kind, whatever the order of the rows and their repetition."""

import numpy as np

from bayeswater import KDB
from bayeswater.inference.judging_rows import judging_rows, row_hash


def kinds(X, y, weight, most, removed=None):
    """Judges as {(cells, class): weight}."""
    table = KDB(columns=dict.fromkeys(range(X.shape[1]), "categorical")).fit(X, y)._table(X)
    removed = np.minimum(weight, 1.0) if removed is None else removed
    judges = judging_rows(table, y, removed, weight, most)
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
