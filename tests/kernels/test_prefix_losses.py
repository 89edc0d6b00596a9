"""Losses of growing products, against logarithms, where products pass the range of floats."""

import numpy as np
import pytest

from bayeswater.inference.log_space import log_posterior, posterior
from bayeswater.kernels.prefix_losses import log_losses, log_products, multiply, squared_errors


@pytest.mark.parametrize("use_loop", [False, True])
@pytest.mark.parametrize("scale", [1.0, 200.0])
def test_errors_are_those_of_the_sum_of_logarithms(use_loop, scale):
    rng = np.random.default_rng(0)
    n_levels, n_rows, n_classes = 3, 20, 3
    prior = rng.dirichlet(np.ones(n_classes), n_rows)
    mantissa = np.broadcast_to(prior, (n_levels, n_rows, n_classes)).copy()
    exponent = np.zeros(mantissa.shape, dtype=np.int32)
    total = np.log(mantissa)
    codes, weight = rng.integers(0, n_classes, n_rows), rng.random(n_rows)
    for column in range(30):
        log_terms = -rng.exponential(scale, (1 + column % 3, n_rows, n_classes))
        if column == 20:
            log_terms[:, 0] = -np.inf  # no class is possible from here on
            log_terms[:, 1, codes[1]] = -np.inf
        multiply(np.exp(log_terms), mantissa, exponent, use_loop=use_loop)
        with np.errstate(divide="ignore"):
            total += np.log(np.exp(log_terms))[[min(level, len(log_terms) - 1) for level in range(n_levels)]]
        found = squared_errors(mantissa, exponent, prior, codes, weight, use_loop=use_loop)
        own = np.empty((n_levels, n_rows))
        for level in range(n_levels):
            scores = total[level].copy()
            impossible = np.isneginf(scores).all(axis=1)
            scores[impossible] = np.log(prior[impossible])
            own[level] = posterior(scores)[np.arange(n_rows), codes]
        # Logarithms of some thousands have lost three digits.
        np.testing.assert_allclose(found, (1 - own) ** 2 @ weight, rtol=1e-11)
    assert (exponent < -1).any() or scale == 1.0


@pytest.mark.parametrize("use_loop", [False, True])
@pytest.mark.parametrize("scale", [1.0, 200.0])
def test_log_losses_are_those_of_the_sum_of_logarithms(use_loop, scale):
    rng = np.random.default_rng(0)
    n_rows, n_classes = 20, 3
    shape = 3, n_rows, n_classes
    mantissa, exponent, total = np.full(shape, 1 / 3), np.zeros(shape, dtype=np.int32), np.full(shape, -np.log(3))
    codes, weight = rng.integers(0, n_classes, n_rows), rng.random(n_rows)
    for _ in range(30):
        log_terms = np.maximum(-rng.exponential(scale, shape), -700.0)  # the least of them are floats still
        multiply(np.exp(log_terms), mantissa, exponent, use_loop=use_loop)
        total += log_terms
        own = np.stack([log_posterior(scores.copy())[np.arange(n_rows), codes] for scores in total])
        found = log_losses(mantissa, exponent, codes, weight, use_loop=use_loop)
        # Logarithms of some thousands have lost three digits.
        np.testing.assert_allclose(found, -own @ weight, rtol=1e-11)
        np.testing.assert_allclose(log_products(mantissa, exponent), total, rtol=1e-12)
    assert (exponent < -1).any() or scale == 1.0
