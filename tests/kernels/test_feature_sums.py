"""Summing features within classes, dense and sparse: the loops equal the NumPy reference and a plain product."""

import numpy as np
import pytest
from scipy import sparse
from tests.kernels.tables import NUMBER_CASES, labels, numbers, weights

from bayeswater.kernels.feature_sums import add_sparse_rows, class_feature_sums, rows_by_class, sparse_rows_sum

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
