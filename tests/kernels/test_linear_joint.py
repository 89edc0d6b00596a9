"""Rows times weights: dense stretches, the sparse loop and the sparse reference all equal a plain product."""

import numpy as np
import pytest
from scipy import sparse
from tests.kernels.tables import NUMBER_KINDS, numbers

from bayeswater.kernels import linear_joint
from bayeswater.kernels.linear_joint import dense_times_weights, sparse_times_weights

# Whole numbers: every product and sum is exact.
WEIGHT = np.arange(-9.0, 9.0).reshape(6, 3)
CASES = [*[(kind, "C") for kind in NUMBER_KINDS], ("float64", "F"), ("uint8", "F"), ("float64", "strided")]


def by_hand(X, threshold):
    return (X.astype(float) if threshold is None else (threshold < X).astype(float)) @ WEIGHT


@pytest.mark.parametrize("threshold", [None, 4.0], ids=["measured", "marked"])
@pytest.mark.parametrize(("kind", "layout"), CASES)
def test_dense_rows_are_multiplied(kind, layout, threshold, monkeypatch):
    monkeypatch.setattr(linear_joint, "STRETCH_CELLS", 30)  # several stretches, the last of them short
    X = numbers(np.random.default_rng(0), 17, 6, kind, layout)
    np.testing.assert_array_equal(dense_times_weights(X, WEIGHT, threshold), by_hand(X, threshold))


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
    np.testing.assert_array_equal(joint, by_hand(dense, threshold))


@pytest.mark.parametrize("use_loop", [True, False], ids=["loop", "reference"])
@pytest.mark.parametrize("threshold", [None, 4.0], ids=["measured", "marked"])
def test_a_stretch_from_the_middle_of_a_sparse_matrix_is_multiplied_alone(threshold, use_loop):
    rng = np.random.default_rng(1)
    dense = numbers(rng, 20, 6, "float64") * (rng.random((20, 6)) < 0.4)
    X = sparse.csr_array(dense)
    joint = sparse_times_weights(X.indptr[5:12], X.indices, X.data, WEIGHT, threshold, use_loop=use_loop)
    np.testing.assert_array_equal(joint, by_hand(dense[5:11], threshold))
