"""Log-likelihoods of shares that are drawn to a base, for several weights of the base.

    sum over i of weight_i log [(count_i + c base_i) / (total_i + c)]

Factors are multiplied, and a logarithm taken once in many of them.
"""

import numpy as np

from bayeswater.kernels.compiling import compiled
from bayeswater.typing import Array

SMALL = 1e-200
"""Products below this are taken to their logarithm: a factor, far above 1e-100, does not bring them to zero."""


def log_likelihoods(
    weight: Array, count: Array, total: Array, base: Array, concentrations: Array, *, use_loop: bool
) -> Array:
    """Log-likelihood for each concentration c (n_concentrations,); bases, and all but counts, are over 0.

    >>> one = np.ones(1)
    >>> log_likelihoods(one, 0 * one, one, one / 2, np.array([1.0, 3.0]), use_loop=False)
    array([-1.38629436, -0.98082925])
    """
    if use_loop:
        found = np.zeros(len(concentrations))
        _likelihoods_loop(weight, count, total, base, concentrations, found)
        return found
    return np.array([weight @ np.log((count + c * base) / (total + c)) for c in concentrations.tolist()])


@compiled
def _likelihoods_loop(weight, count, total, base, concentrations, found):  # type: ignore[no-untyped-def]
    for g in range(len(concentrations)):
        c, product, logs = concentrations[g], 1.0, 0.0
        for i in range(len(weight)):
            share = (count[i] + c * base[i]) / (total[i] + c)
            if weight[i] == 1.0:
                product *= share
                if product < SMALL:
                    logs += np.log(product)
                    product = 1.0
            else:
                logs += weight[i] * np.log(share)
        found[g] = logs + np.log(product)
