"""Logarithms of factorials."""

import mpmath
import numpy as np

from bayeswater.kernels.log_factorial import log_factorial


def test_the_logarithm_of_a_factorial_has_every_digit():
    x = np.array([0.0, 1.0, 2.0, 20.0, 1023.0, 1024.0, 1025.0, 1e5, 1e9, 2.0**53 - 1])
    exact = [float(mpmath.loggamma(mpmath.mpf(v) + 1)) for v in x]
    np.testing.assert_allclose(log_factorial(x), exact, rtol=4e-16, atol=0)  # two roundings
