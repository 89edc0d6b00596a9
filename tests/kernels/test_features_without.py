"""Feature sums without the row itself: the loops equal the NumPy references, and both a sum by hand."""

import numpy as np
import pytest
from scipy import sparse

from bayeswater.kernels.features_without import other_logs_without, own_logs_without, smoothed_sums

ROUNDING = 1e-12
both_roads = pytest.mark.parametrize("use_loop", [True, False], ids=["loop", "reference"])


def rows_and_sums(seed, scale, n_rows=25, n_features=9, n_classes=4):
    """Rows in CSR, their classes and weights, and sums (n_classes, n_features) that hold every row and `scale` more."""
    rng = np.random.default_rng(seed)
    dense = rng.integers(0, 4, (n_rows, n_features)) * (rng.random((n_rows, n_features)) < 0.6) * 0.5
    dense[7] = 0.0  # a row of no features
    y = rng.integers(0, n_classes, n_rows).astype(np.uint8)
    removed = np.where(rng.random(n_rows) < 0.5, 1.0, 0.25)
    sums = np.array([dense[y == k].sum(axis=0) for k in range(n_classes)])
    return dense, y, removed, sums + scale * rng.integers(0, 2, sums.shape)


def by_hand(dense, y, removed, sums, alpha, takes_out):
    """Total, infinite and length; `takes_out(own, k)` says whether a row of class `own` is taken out of class k."""
    n_classes = len(sums)
    total, infinite = np.zeros((len(dense), n_classes)), np.zeros((len(dense), n_classes))
    for i, row in enumerate(dense):
        for k in range(n_classes):
            for j in np.flatnonzero(row):
                left = sums[k, j] - (removed[i] * row[j] if takes_out(y[i], k) else 0.0) + alpha[j]
                if left == 0:
                    infinite[i, k] += row[j]
                else:
                    total[i, k] += row[j] * np.log(left)
    return total, infinite, dense.sum(axis=1)


def stored(dense, index_kind="int32"):
    X = sparse.csr_array(dense)
    return X.indptr.astype(index_kind), X.indices.astype(index_kind), X.data


# Large sums take the series of the logarithm, small ones logarithms; without smoothing some become zero.
@both_roads
@pytest.mark.parametrize("index_kind", ["int32", "int64"])
@pytest.mark.parametrize(("scale", "alpha"), [(0, 1.0), (0, 0.0), (30, 0.5), (10_000, 0.0)])
def test_the_row_is_taken_out_of_every_class_but_its_own(scale, alpha, index_kind, use_loop):
    dense, y, removed, sums = rows_and_sums(1, scale)
    sums = sums.sum(axis=0) - sums  # complements: every class holds the rows of all others
    tables = smoothed_sums(sums, np.full(dense.shape[1], alpha))
    found = other_logs_without(*stored(dense, index_kind), y, removed, tables, ROUNDING, use_loop=use_loop)
    expected = by_hand(dense, y, removed, sums, tables.alpha, lambda own, k: own != k)
    np.testing.assert_allclose(found.total, expected[0], rtol=1e-13, atol=1e-13)  # a few roundings of terms near 10
    np.testing.assert_array_equal(found.infinite, expected[1])  # quarters: exact
    np.testing.assert_array_equal(found.length, expected[2])


@both_roads
@pytest.mark.parametrize(("scale", "alpha"), [(0, 1.0), (0, 0.0), (30, 0.5)])
def test_the_row_is_taken_out_of_its_own_class(scale, alpha, use_loop):
    dense, y, removed, sums = rows_and_sums(2, scale)
    tables = smoothed_sums(sums, np.full(dense.shape[1], alpha))
    found = own_logs_without(*stored(dense), y, removed, tables, ROUNDING, use_loop=use_loop)
    total, infinite, length = by_hand(dense, y, removed, sums, tables.alpha, lambda own, k: own == k)
    own = np.arange(len(y)), y
    np.testing.assert_allclose(found.total[:, 0], total[own], rtol=1e-13, atol=1e-13)
    np.testing.assert_array_equal(found.infinite[:, 0], infinite[own])
    np.testing.assert_array_equal(found.length, length)


@both_roads
@pytest.mark.parametrize("logs_without", [own_logs_without, other_logs_without])
def test_what_is_left_by_rounding_counts_as_zero(logs_without, use_loop):
    y = np.array([0], dtype=np.uint8)
    sums = np.array([[0.3], [0.1 + 0.2]])  # the second is 0.3 and one rounding more
    cells = np.array([0, 1]), np.array([0]), np.array([0.3])
    found = logs_without(*cells, y, np.ones(1), smoothed_sums(sums, np.zeros(1)), ROUNDING, use_loop=use_loop)
    assert found.infinite[0, -1] == 0.3
    assert found.total[0, -1] == 0.0
