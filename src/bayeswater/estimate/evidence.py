"""Evidence: the probability of all values of a class, averaged over the prior of the parameters.

    p(x_1 .. x_n) = integral of p(x_1 | parameters) .. p(x_n | parameters) p(parameters)

For conjugate priors the integral is closed, and a function of the sums. It equals the product of the predictions of
each value from those before it, in any order, so it rewards what predicts and needs no penalty for parameters. Weights
may be fractions: a value of weight w counts as w values.
"""

import numpy as np
from scipy.special import gammaln

from bayeswater.estimate.normal_parameters import NormalInverseGamma
from bayeswater.typing import Array


def normal_log_evidence(prior: NormalInverseGamma, n: Array, mean: Array, scatter: Array) -> Array:
    """Logarithm of the evidence of normal values under a Normal-inverse-gamma prior, elementwise.

        (2 pi)^(-n/2) sqrt(strength / strength') Gamma(shape') / Gamma(shape) scale^shape / scale'^shape'

    >>> bool(np.exp(normal_log_evidence(NormalInverseGamma(), np.array(0), np.array(0.0), np.array(0.0))) == 1)
    True
    """
    strength, shape = prior.strength + n, prior.shape + n / 2
    away = (mean - prior.mean) ** 2 * (prior.strength * n / strength)
    # scale'^shape' is taken apart, so that a large n does not cancel what the prior says.
    grown = np.log1p((scatter + away) / (2 * prior.scale))
    return (
        gammaln(shape)
        - gammaln(prior.shape)
        + 0.5 * np.log(prior.strength / strength)
        - shape * grown
        - n / 2 * np.log(2 * np.pi * prior.scale)
    )


def dirichlet_log_evidence(pseudo_count: float, count: Array) -> Array:
    """Logarithm of the evidence of states under a symmetric Dirichlet prior, from counts (n_states, ...).

        Gamma(S a) / Gamma(S a + N) prod_v Gamma(n_v + a) / Gamma(a)

    >>> float(np.exp(dirichlet_log_evidence(1.0, np.array([1, 0]))).round(12))
    0.5
    """
    a = pseudo_count
    total, whole = a * len(count), count.sum(axis=0)
    return gammaln(total) - gammaln(total + whole) + (gammaln(count + a) - gammaln(a)).sum(axis=0)


def or_impossible(evidence: float) -> float:
    """Take an evidence that a float64 cannot hold as that of what is impossible."""
    return float(evidence) if np.isfinite(evidence) else -np.inf
