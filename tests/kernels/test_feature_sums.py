"""Summing features within classes, dense and sparse: the loops equal the NumPy reference and a plain product.

Feature sums without the row itself: the loops equal the NumPy references, and both a sum by hand.

Rows times weights: dense stretches, the sparse loop and the sparse reference all equal a plain product.
"""

import numpy as np
import pytest
from scipy import sparse
from tests.kernels.tables import NUMBER_CASES, NUMBER_KINDS, labels, numbers, weights

from bayeswater.kernels import feature_sums
from bayeswater.kernels.feature_sums import (
    add_sparse_rows,
    class_feature_sums,
    dense_times_weights,
    other_logs_without,
    own_logs_without,
    rows_by_class,
    smoothed_sums,
    sparse_rows_sum,
    sparse_times_weights,
)

N_CLASSES = 4
SPARSE_CASES = [
    *[(kind, "int32", None) for kind in ("uint8", "int64", "float32", "float64")],
    ("float64", "int64", None),
    ("float64", "int32", "int"),
    ("float64", "int32", "float"),
    ("int64", "int32", "int"),
]


def sums_by_hand(X, y, weight, threshold):
    member = np.eye(N_CLASSES)[y].T * (1 if weight is None else weight)  # (n_classes, n_rows)
    return member @ (X.astype(float) if threshold is None else (threshold < X).astype(float))


def kind_of_sum(kind, weighted, threshold):
    is_float = weighted == "float" or (threshold is None and kind.startswith("float"))
    return np.float64 if is_float else np.int64


@pytest.mark.parametrize("use_loop", [True, False], ids=["loop", "reference"])
@pytest.mark.parametrize("threshold", [None, 4.0], ids=["summed", "marked"])
@pytest.mark.parametrize(("kind", "layout", "weighted"), NUMBER_CASES)
def test_dense_rows_are_summed_by_class(kind, layout, weighted, threshold, use_loop):
    rng = np.random.default_rng(0)
    X, y, weight = numbers(rng, 50, 11, kind, layout), labels(rng, 50, N_CLASSES), weights(rng, 50, weighted)
    target = kind_of_sum(kind, weighted, threshold)
    sums = class_feature_sums(X, y, weight, N_CLASSES, threshold, target, use_loop=use_loop)
    np.testing.assert_array_equal(sums, sums_by_hand(X, y, weight, threshold))
    assert sums.dtype == target


@pytest.mark.parametrize("use_loop", [True, False], ids=["loop", "reference"])
def test_nan_is_not_over_any_threshold(use_loop):
    X = np.array([[np.nan, 1.0], [1.0, np.nan]])
    sums = class_feature_sums(X, np.zeros(2, dtype=np.uint8), None, 1, 0.5, np.int64, use_loop=use_loop)
    assert sums.tolist() == [[1, 1]]


@pytest.mark.parametrize("use_loop", [True, False], ids=["loop", "reference"])
def test_narrow_integers_do_not_overflow(use_loop):
    X = np.full((1000, 1), 200, dtype=np.uint8)
    sums = class_feature_sums(X, np.zeros(1000, dtype=np.uint8), None, 1, None, np.int64, use_loop=use_loop)
    assert sums.tolist() == [[200_000]]


@pytest.mark.parametrize("threshold", [None, 4.0], ids=["summed", "marked"])
@pytest.mark.parametrize(("kind", "index_kind", "weighted"), SPARSE_CASES)
def test_sparse_rows_are_summed_like_dense_ones(kind, index_kind, weighted, threshold):
    rng = np.random.default_rng(0)
    dense = numbers(rng, 50, 11, kind) * (rng.random((50, 11)) < 0.4)
    X = sparse.csr_array(dense.astype(kind))
    y, weight = labels(rng, 50, N_CLASSES), weights(rng, 50, weighted)
    sums = np.zeros((N_CLASSES, 11), dtype=kind_of_sum(kind, weighted, threshold))
    in_order = sums.copy(), sums.copy()
    for use_loop in (False, True):
        add_sparse_rows(X.indptr, X.indices, X.data, y, weight, threshold, in_order[use_loop], use_loop=use_loop)
    for k, rows in enumerate(rows_by_class(y, N_CLASSES)):
        indptr, indices = X.indptr.astype(index_kind), X.indices.astype(index_kind)
        sparse_rows_sum(indptr, indices, X.data, rows, weight, threshold, sums[k])
    np.testing.assert_array_equal(sums, sums_by_hand(dense, y, weight, threshold))
    np.testing.assert_array_equal(in_order[False], sums, strict=True)
    np.testing.assert_array_equal(in_order[True], sums, strict=True)


@pytest.mark.parametrize("kind", [np.uint8, np.uint16, np.int32])
def test_rows_are_grouped_by_class_in_their_order(kind):
    groups = rows_by_class(np.array([2, 0, 2, 0, 2], dtype=kind), 4)
    assert [group.tolist() for group in groups] == [[1, 3], [], [0, 2, 4], []]


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
    found = other_logs_without(*stored(dense, index_kind), y, removed, tables, use_loop=use_loop)
    expected = by_hand(dense, y, removed, sums, tables.alpha, lambda own, k: own != k)
    np.testing.assert_allclose(found.total, expected[0], rtol=1e-13, atol=1e-13)  # a few roundings of terms near 10
    np.testing.assert_array_equal(found.infinite, expected[1])  # quarters: exact
    np.testing.assert_array_equal(found.length, expected[2])


@both_roads
@pytest.mark.parametrize(("scale", "alpha"), [(0, 1.0), (0, 0.0), (30, 0.5)])
def test_the_row_is_taken_out_of_its_own_class(scale, alpha, use_loop):
    dense, y, removed, sums = rows_and_sums(2, scale)
    tables = smoothed_sums(sums, np.full(dense.shape[1], alpha))
    found = own_logs_without(*stored(dense), y, removed, tables, use_loop=use_loop)
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
    found = logs_without(*cells, y, np.ones(1), smoothed_sums(sums, np.zeros(1)), use_loop=use_loop)
    assert found.infinite[0, -1] == 0.3
    assert found.total[0, -1] == 0.0


# Whole numbers: every product and sum is exact.
WEIGHT = np.arange(-15.0, 15.0).reshape(6, 5)
CASES = [*[(kind, "C") for kind in NUMBER_KINDS], ("float64", "F"), ("uint8", "F"), ("float64", "strided")]


def by_hand_of_linear_joint(X, threshold):
    return (X.astype(float) if threshold is None else (threshold < X).astype(float)) @ WEIGHT


@pytest.mark.parametrize("threshold", [None, 4.0], ids=["measured", "marked"])
@pytest.mark.parametrize(("kind", "layout"), CASES)
@pytest.mark.parametrize("few", [12, 0], ids=["few classes", "many"])
def test_dense_rows_are_multiplied(kind, layout, threshold, few, monkeypatch):
    monkeypatch.setattr(feature_sums, "STRETCH_CELLS", 30)  # several stretches, the last of them short
    monkeypatch.setattr(feature_sums, "FEW_CLASSES", few)
    X = numbers(np.random.default_rng(0), 17, 6, kind, layout)
    found = dense_times_weights(X, WEIGHT, threshold)
    np.testing.assert_array_equal(found, by_hand_of_linear_joint(X, threshold))


@pytest.mark.parametrize("use_loop", [True, False], ids=["loop", "reference"])
@pytest.mark.parametrize("threshold", [None, 4.0], ids=["measured", "marked"])
@pytest.mark.parametrize(
    ("kind", "index_kind"),
    [*[(kind, "int32") for kind in ("uint8", "int64", "float32", "float64")], ("float64", "int64")],
)
def test_sparse_rows_are_multiplied_like_dense_ones(kind, index_kind, threshold, use_loop):
    rng = np.random.default_rng(0)
    dense = (numbers(rng, 40, 6, kind) * (rng.random((40, 6)) < 0.4)).astype(kind)
    X = sparse.csr_array(dense)
    indptr, indices = X.indptr.astype(index_kind), X.indices.astype(index_kind)
    joint = sparse_times_weights(indptr, indices, X.data, WEIGHT, threshold, use_loop=use_loop)
    np.testing.assert_array_equal(joint, by_hand_of_linear_joint(dense, threshold))


@pytest.mark.parametrize("use_loop", [True, False], ids=["loop", "reference"])
@pytest.mark.parametrize("threshold", [None, 4.0], ids=["measured", "marked"])
def test_a_stretch_from_the_middle_of_a_sparse_matrix_is_multiplied_alone(threshold, use_loop):
    rng = np.random.default_rng(1)
    dense = numbers(rng, 20, 6, "float64") * (rng.random((20, 6)) < 0.4)
    X = sparse.csr_array(dense)
    joint = sparse_times_weights(X.indptr[5:12], X.indices, X.data, WEIGHT, threshold, use_loop=use_loop)
    np.testing.assert_array_equal(joint, by_hand_of_linear_joint(dense[5:11], threshold))
