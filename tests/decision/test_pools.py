"""Pools: weights of most evidence, exponents of least loss, and a posterior that is one."""

import numpy as np
import pytest
from scipy.optimize import minimize

from bayeswater.decision.convex import minimise_above_zero
from bayeswater.decision.pools import CREDIT, PULL, Pool, linear_shares, log_linear_powers


def posteriors(n_rows=200, n_classes=3, n_models=4, seed=0):
    """Models of rising skill, the first of them worse than nothing."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, n_classes, n_rows)
    found = []
    for g in range(n_models):
        scores = rng.normal(size=(n_rows, n_classes)) * (1 + 0.5 * g)
        scores[np.arange(n_rows), codes] += g - 0.5
        found.append(scores - np.log(np.exp(scores).sum(axis=1, keepdims=True)))
    return found, codes


def log_linear_loss(power, log_proba, codes, weight):
    eta = sum(b * p for b, p in zip(power, log_proba, strict=True))
    log_p = eta - np.log(np.exp(eta).sum(axis=1, keepdims=True))
    loss = -(weight @ log_p[np.arange(len(codes)), codes]) / weight.sum()
    return loss + PULL / weight.sum() * ((power - 1 / len(power)) ** 2).sum()


def test_shares_are_a_fixed_point_of_the_rule_they_follow():
    log_proba, codes = posteriors()
    share = linear_shares(log_proba, codes, np.ones(200))
    own = np.exp(np.stack([p[np.arange(200), codes] for p in log_proba], axis=1)) * share
    following = ((own / own.sum(axis=1, keepdims=True)).sum(axis=0) + CREDIT) / (200 + 4 * CREDIT)
    # 80 rounds come near the fixed point, and EM is slow near the border.
    np.testing.assert_allclose(share, following, atol=1e-3)
    assert share.sum() == pytest.approx(1.0, abs=1e-12)
    assert share.argmin() == 0


@pytest.mark.parametrize("n", [1, 6])
def test_a_model_to_which_every_row_is_impossible_keeps_one_row_of_credit(n):
    with np.errstate(divide="ignore"):
        log_proba = [np.log(np.tile(p, (n, 1))) for p in ([0.3, 0.7], [1.0, 0.0])]
    share = linear_shares(log_proba, np.ones(n, dtype=int), np.ones(n))
    np.testing.assert_allclose(share, [(n + 1) / (n + 2), 1 / (n + 2)], rtol=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_exponents_have_the_least_loss_among_those_not_below_zero(seed):
    log_proba, codes = posteriors(seed=seed)
    weight = np.random.default_rng(seed).integers(1, 4, 200).astype(float)
    power = log_linear_powers(log_proba, codes, weight)
    found = minimize(
        log_linear_loss,
        np.full(4, 0.25),
        args=(log_proba, codes, weight),
        bounds=[(0, None)] * 4,
        method="L-BFGS-B",
        options={"ftol": 1e-15, "gtol": 1e-9},
    )
    assert log_linear_loss(power, log_proba, codes, weight) <= found.fun + 1e-12
    np.testing.assert_allclose(power, found.x, atol=1e-4)  # of a quasi-Newton method without the slopes
    assert (power >= 0).all()
    assert power[0] == 0  # the model that knows less than nothing has no say


def test_a_row_of_weight_two_teaches_what_two_rows_do():
    log_proba, codes = posteriors(60)
    weight = np.tile([1.0, 2.0], 30)
    twice = np.repeat(np.arange(60), weight.astype(int))
    weighted, repeated = Pool.fit(log_proba, codes, weight), Pool.fit([p[twice] for p in log_proba], codes[twice])
    np.testing.assert_allclose(weighted.share, repeated.share, rtol=1e-12)
    np.testing.assert_allclose(weighted.power, repeated.power, rtol=1e-8)


def test_the_pool_is_the_mean_of_both_and_sums_to_one():
    log_proba, codes = posteriors()
    pool = Pool.fit(log_proba, codes)
    p = np.exp(log_proba)
    linear = np.tensordot(pool.share, p, axes=1)
    product = np.prod(p ** pool.power[:, None, None], axis=0)
    product /= product.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(np.exp(pool.of(log_proba)), 0.25 * linear + 0.75 * product, rtol=1e-12)
    np.testing.assert_allclose(np.exp(pool.of(log_proba)).sum(axis=1), 1.0, rtol=1e-12)


def test_a_pool_of_one_model_is_that_model_and_one_of_no_rows_is_the_mean():
    log_proba, codes = posteriors()
    assert Pool.fit(log_proba[:1], codes).of(log_proba[:1]) is log_proba[0]
    pool = Pool.fit([p[:0] for p in log_proba], codes[:0])
    np.testing.assert_array_equal(pool.share, np.full(4, 0.25))
    np.testing.assert_array_equal(pool.power, np.full(4, 0.25))


def test_a_pool_is_better_than_each_of_its_models_where_they_err_apart():
    log_proba, codes = posteriors(2000)
    pooled = Pool.fit(log_proba, codes).of(log_proba)

    def loss(p):
        return -p[np.arange(2000), codes].mean()

    assert loss(pooled) < min(map(loss, log_proba))


def test_what_is_impossible_to_a_model_is_no_number_that_is_none():
    sure = np.array([[0.0, -np.inf], [-np.inf, 0.0], [0.0, -np.inf]])
    log_proba, codes = [sure, np.log(np.full((3, 2), 0.5))], np.array([0, 1, 1])
    pool = Pool.fit(log_proba, codes)
    assert np.isfinite(pool.share).all()
    assert np.isfinite(pool.power).all()
    assert np.isfinite(pool.of(log_proba)).all()
    all_impossible = [sure, sure]
    assert np.isfinite(Pool.fit(all_impossible, codes).share).all()


def test_a_minimum_beyond_zero_is_held_at_zero():
    def bowl(x):  # its least value lies at (-1, 2), and among what is allowed at (0, 1.5)
        hessian = np.array([[2.0, 1.0], [1.0, 2.0]])
        off = x - np.array([-1.0, 2.0])
        return float(off @ hessian @ off / 2), hessian @ off, hessian

    np.testing.assert_allclose(minimise_above_zero(bowl, np.array([3.0, 3.0])), [0.0, 1.5], atol=1e-12)


def test_rows_that_are_all_but_impossible_to_every_model_speak_by_their_ratio():
    log_proba, codes = posteriors(60)
    far = np.where(np.arange(60) % 2, -900.0, 0.0)[:, None]  # no float64 holds exp(-900)
    near, lowered = (linear_shares(found, codes, np.ones(60)) for found in (log_proba, [p + far for p in log_proba]))
    np.testing.assert_allclose(lowered, near, rtol=1e-9)
