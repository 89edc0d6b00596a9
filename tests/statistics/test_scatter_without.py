"""Sums without a row are those of the other rows, counted anew: for every row, with and without missing cells."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from bayeswater.data.labels import encode_labels
from bayeswater.data.matrix import DenseMatrix
from bayeswater.data.variable import Variable
from bayeswater.statistics.scatter import Scatter
from bayeswater.statistics.scatter_without import scatter_without, squares_without

N, D = 14, 3
RNG = np.random.default_rng(2)
Y = np.array([0, 1] * 6 + [2, 1])  # the class 2 has one row


def table(has_holes):
    X = RNG.normal(size=(N, D)) @ RNG.normal(size=(D, D)) + [5.0, 0.0, -50.0]
    if has_holes:
        X[[0, 3, 6, 13], [0, 1, 2, 0]] = np.nan
        X[[2, 4, 6, 8, 10], 1] = np.nan  # of the class 0, one row has a value there
    return X


def summed(X, weight, keep):
    """Sums of some rows, laid out for all classes, and the weight of each of these."""
    sums = Scatter.of(DenseMatrix(X[keep]), encode_labels(Y[keep]), weight[keep], skip_missing=True)
    return sums.onto(Variable("class", (0, 1, 2))), np.bincount(Y[keep], weights=weight[keep], minlength=3)


@pytest.mark.parametrize("has_holes", [False, True], ids=["complete", "with holes"])
@pytest.mark.parametrize("weighted", [False, True], ids=["rows", "weights"])
def test_the_sums_without_a_row_are_those_of_the_others(has_holes, weighted):
    X = table(has_holes)
    weight = RNG.uniform(0.5, 2.0, N) if weighted else np.ones(N)
    whole, count = summed(X, weight, np.ones(N, dtype=bool))
    full = scatter_without(whole, count, X, Y, weight)
    single = squares_without(whole, count, X, Y, weight)
    for i in range(N):
        rest, n = summed(X, weight, np.arange(N) != i)
        n_all, mean_all, scatter_all = rest.pooled
        _, mean, scatter = rest.complete(n)
        k = Y[i]
        for found in (full, single):
            assert found.count[i] == pytest.approx(n[k], abs=1e-12)
            assert_allclose(found.mean_all[i], mean_all, rtol=1e-11)
            assert_allclose(found.variance_all[i], np.diagonal(scatter_all) / n_all, rtol=1e-10)
            if n[k] > 0:
                assert_allclose(found.mean[i], mean[k], rtol=1e-11)
        if n[k] > 0:
            size = np.abs(scatter[k]).max()
            assert_allclose(full.scatter[i], scatter[k], rtol=1e-9, atol=1e-10 * size)
            assert_allclose(single.scatter[i], np.diagonal(scatter[k]), rtol=1e-9, atol=1e-10 * size)
        else:
            assert not full.scatter[i].any() and not single.scatter[i].any()


def test_a_column_that_has_a_cell_in_no_other_row_varies_in_none_without_it():
    X = table(has_holes=False)
    X[1:, 2] = np.nan
    whole, count = summed(X, np.ones(N), np.ones(N, dtype=bool))
    with np.errstate(all="raise"):
        for found in (f(whole, count, X, Y, np.ones(N)) for f in (scatter_without, squares_without)):
            assert found.variance_all[0, 2] == 0.0
            assert (found.variance_all[:, :2] > 0).all()
