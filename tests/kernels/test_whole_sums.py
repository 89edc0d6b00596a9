"""Sums of whole numbers and of the logarithms of their factorials: loop and reference equal a sum by hand."""

import mpmath
import numpy as np
import pytest
from tests.kernels.tables import NUMBER_CASES, labels, numbers, weights

from bayeswater.kernels.whole_sums import class_whole_sums, log_factorial

both = pytest.mark.parametrize("use_loop", [True, False], ids=["loop", "reference"])
N_CLASSES = 4


def sums_by_hand(X, y, weight):
    sums = np.zeros((4, N_CLASSES, X.shape[1]))
    for i, j in np.ndindex(X.shape):
        w, x = 1 if weight is None else weight[i], float(X[i, j])
        if x >= 0 and x.is_integer() and x < 2**53:
            sums[[0, 2, 3], y[i], j] += w * np.array([1, x, float(mpmath.loggamma(x + 1))])
        elif x == x:
            sums[1, y[i], j] += w
    return sums


@both
@pytest.mark.parametrize(("kind", "layout", "weighted"), NUMBER_CASES)
def test_every_count_is_summed_in_its_class(kind, layout, weighted, use_loop):
    rng = np.random.default_rng(0)
    X = numbers(rng, 40, 5, kind, layout)
    y, weight = labels(rng, 40, N_CLASSES), weights(rng, 40, weighted)
    sums = class_whole_sums(X, y, weight, N_CLASSES, use_loop=use_loop)
    # Sums of whole numbers and quarters are exact, sums of 40 logarithms are not.
    np.testing.assert_array_equal(sums[:3], sums_by_hand(X, y, weight)[:3])
    np.testing.assert_allclose(sums[3], sums_by_hand(X, y, weight)[3], rtol=1e-14)


@both
def test_what_is_no_count_is_told_apart_from_what_is_missing(use_loop):
    cells = [0.0, -0.0, 3.0, 1e6, 2.0**52 + 1, 0.5, -1.0, 2.0**53, 1e300, np.nan]
    sums = class_whole_sums(np.array([cells]).T, np.zeros(10, dtype=np.uint8), None, 1, use_loop=use_loop)
    whole, other, total, factorials = (s.item() for s in sums)
    assert (whole, other) == (5, 4)
    assert total == 3 + 1e6 + 2.0**52 + 1
    np.testing.assert_allclose(factorials, float(sum(mpmath.loggamma(x + 1) for x in cells[:5])), rtol=1e-15)


def test_the_logarithm_of_a_factorial_has_every_digit():
    x = np.array([0.0, 1.0, 2.0, 20.0, 1023.0, 1024.0, 1025.0, 1e5, 1e9, 2.0**53 - 1])
    exact = [float(mpmath.loggamma(mpmath.mpf(v) + 1)) for v in x]
    np.testing.assert_allclose(log_factorial(x), exact, rtol=4e-16, atol=0)  # two roundings
