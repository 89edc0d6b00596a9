"""Pools: the posteriors of several models made into one, by weights learned from rows that no model has seen.

    linear pool       p = sum over models g of w_g p_g,                        w_g >= 0, sum w = 1
    log-linear pool   p is proportional to product over models g of p_g^beta_g,    beta_g >= 0

A linear pool is as sure as its models agree; a log-linear one adds up what they know, and its exponents also say how
far it can be trusted. Neither is better everywhere: `Pool` takes a mean of both, three quarters of the second. The
weights of the linear pool come from EM for the mixture, each model with one row of credit; the exponents are those of
least

    mean log-loss + (5 / n) |beta - 1/G|^2,

which is convex: Newton's method finds them, held at 0 from below. Both are drawn towards equal shares by what counts
little beside many rows, so a pool of few rows is near their mean.
"""

from collections.abc import Sequence
from typing import Self

import numpy as np

from bayeswater.decision.convex import Evaluation, minimise_above_zero
from bayeswater.kernels.class_scores import log_shares
from bayeswater.records import record
from bayeswater.typing import Array

EM_ROUNDS = 80
"""Rounds of EM: after them, weights move in the third digit at most."""

CREDIT = 1.0
"""Rows that speak for every model of a linear pool beforehand."""

PULL = 5.0
"""Rows' worth of log-loss that draws the exponents of a log-linear pool towards equal shares."""

LEAST_LOG = float(np.log(np.finfo(np.float64).tiny))
"""What a logarithm is at least, in a product of powers: that of a probability that has just not underflowed to 0."""


MULTIPLIED = 0.75
"""What the log-linear pool has of the mean of both."""


@record
class Pool:
    """A mean of a linear and a log-linear pool of G models.

    >>> pool = Pool.equal(2)
    >>> np.exp(pool.of([np.log([[0.9, 0.1]]), np.log([[0.5, 0.5]])])).round(2)
    array([[0.74, 0.26]])
    """

    share: Array  # (n_models,), weights of the linear pool
    power: Array  # (n_models,), exponents of the log-linear pool
    multiplied: float = MULTIPLIED  # what the second one has of the mean

    @classmethod
    def equal(cls, n_models: int) -> Self:
        """Let all models have the same say."""
        same = np.full(n_models, 1 / n_models)
        return cls(same, same)

    @classmethod
    def fit(cls, log_proba: Sequence[Array], codes: Array, weight: Array | None = None) -> Self:
        """Learn from log-posteriors (n_rows, n_classes) of each model, the codes of true classes and weights."""
        if not len(codes) or len(log_proba) == 1:
            return cls.equal(len(log_proba))
        weight = np.ones(len(codes)) if weight is None else weight
        return cls(linear_shares(log_proba, codes, weight), log_linear_powers(log_proba, codes, weight))

    def of(self, log_proba: Sequence[Array]) -> Array:
        """Pool log-posteriors (n_rows, n_classes), one for each model."""
        if len(log_proba) == 1:
            return log_proba[0]
        linear = np.zeros_like(log_proba[0])
        for share, own in zip(self.share, log_proba, strict=True):
            linear += share * np.exp(own)
        product = np.exp(log_shares(_product(self.power, log_proba), use_loop=False))
        with np.errstate(divide="ignore"):
            return np.log((1 - self.multiplied) * linear + self.multiplied * product)


def linear_shares(log_proba: Sequence[Array], codes: Array, weight: Array) -> Array:
    """Weights of a linear pool by EM: w_g <- (sum_i r_ig + 1) / (n + G), r_ig proportional to w_g p_g(y_i)."""
    rows = np.arange(len(codes))
    own = np.stack([log_p[rows, codes] for log_p in log_proba], axis=1)  # (n_rows, n_models)
    top = own.max(axis=1, keepdims=True)
    likelihood = np.exp(own - np.where(np.isneginf(top), 0.0, top))
    likelihood[np.isneginf(top[:, 0])] = 1.0  # a row that is impossible to all tells nothing
    n_models = own.shape[1]
    share = np.full(n_models, 1 / n_models)
    for _ in range(EM_ROUNDS):
        joint = likelihood * share
        responsible = weight @ (joint / joint.sum(axis=1, keepdims=True))
        share = (responsible + CREDIT) / (weight.sum() + n_models * CREDIT)
    return share


def log_linear_powers(log_proba: Sequence[Array], codes: Array, weight: Array) -> Array:
    """Exponents of a log-linear pool of least log-loss, drawn towards equal shares."""
    z = np.stack([np.maximum(log_p, LEAST_LOG) for log_p in log_proba])  # (n_models, n_rows, n_classes)
    n_models, n_rows, n_classes = z.shape
    total = weight.sum()
    share, equal = weight / total, np.full(n_models, 1 / n_models)
    own = z[:, np.arange(n_rows), codes] @ share  # (n_models,)

    def evaluate(power: Array) -> Evaluation:
        eta = np.tensordot(power, z, axes=1)
        top = eta.max(axis=1, keepdims=True)
        p = np.exp(eta - top)
        normaliser = p.sum(axis=1, keepdims=True)
        p /= normaliser
        log_sum = (top + np.log(normaliser))[:, 0]
        mean = np.einsum("gik,ik->gi", z, p)
        spread = (z - mean[:, :, None]) * np.sqrt(share[:, None] * p)
        spread = spread.reshape(n_models, n_rows * n_classes)
        off = power - equal
        value = share @ log_sum - power @ own + PULL / total * (off @ off)
        gradient = mean @ share - own + 2 * PULL / total * off
        return float(value), gradient, spread @ spread.T + 2 * PULL / total * np.eye(n_models)

    return minimise_above_zero(evaluate, equal)


def _product(power: Array, log_proba: Sequence[Array]) -> Array:
    eta = np.zeros_like(log_proba[0])
    for exponent, own in zip(power, log_proba, strict=True):
        eta += exponent * np.maximum(own, LEAST_LOG)
    return eta
