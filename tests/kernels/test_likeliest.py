"""Log-likelihoods on a grid of concentrations: the loop multiplies where the reference takes logarithms."""

import numpy as np
import pytest

from bayeswater.kernels.likeliest import log_likelihoods


@pytest.mark.parametrize("weighted", [False, True])
def test_the_loop_equals_the_reference(weighted):
    rng = np.random.default_rng(0)
    n = 5000
    total = rng.integers(1, 100, n).astype(float)
    count, base = np.floor(total * rng.random(n)), rng.random(n) * 1e-6
    weight = rng.choice([0.5, 1.0, 3.0], n) if weighted else np.ones(n)
    grid = np.array([0.05, 1.0, 1e5])
    found, expected = (log_likelihoods(weight, count, total, base, grid, use_loop=loop) for loop in (True, False))
    # Five thousand factors, each rounded, and as many logarithms.
    np.testing.assert_allclose(found, expected, rtol=1e-12)
