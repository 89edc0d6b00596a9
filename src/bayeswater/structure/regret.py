"""The regret of normalised maximum likelihood: by how much, in nats, r free shares can outdo any one model of n rows.

    C(n, 1) = 1
    C(n, 2) = sum over k >= 0 of n! / ((n - k)! n^k)                (Mononen and Myllymaki 2008)
    C(n, r) = C(n, r - 1) + n / (r - 2) C(n, r - 2)                 (Kontkanen and Myllymaki 2007)

The terms of the first sum fall as exp(-k^2 / 2n): a few square roots of n are enough for all digits.
"""

from math import log

import numpy as np

from bayeswater.typing import Array

TERMS_PER_ROOT = 10
"""Terms of C(n, 2), in square roots of n: the last is under exp(-50) of the first."""

SUMMED_ROWS = 5_000
"""Rows up to which C(n, 2) is summed; beyond, the terms that Ramanujan's series leaves out are under 1e-13 of it."""


def log_regrets(n: int, most: int) -> Array:
    """Logarithms of C(n, 0), C(n, 1), ..., C(n, most), the first of them of no meaning: (most + 1,).

    >>> np.exp(log_regrets(2, 3)).round(12).tolist()
    [1.0, 1.0, 2.5, 4.5]
    """
    log_regret = np.zeros(max(most, 2) + 1)
    if n == 0:
        return log_regret[: most + 1]
    k = np.arange(1, min(n, int(TERMS_PER_ROOT * np.sqrt(n)) + 10))
    log_regret[2] = np.log(2.0 + np.exp(np.cumsum(np.log1p(-k / n))).sum())
    # In the recurrence only the ratio to the regret before is kept, which cannot overflow.
    ratio, total = float(np.exp(log_regret[2])), float(log_regret[2])
    for r in range(3, most + 1):
        ratio = 1.0 + n / ((r - 2) * ratio)
        total += log(ratio)
        log_regret[r] = total
    return log_regret[: most + 1]


def log_regret_of_rows(n_rows: int, r: int) -> Array:
    """Logarithms of C(n, r) for every n up to `n_rows`: (n_rows + 1,).

    >>> np.exp(log_regret_of_rows(2, 3)).round(12).tolist()
    [1.0, 3.0, 4.5]
    """
    if r < 2:
        return np.zeros(n_rows + 1)
    n = np.arange(n_rows + 1)
    ratio = _regrets_of_two(n_rows)
    total = np.log(ratio)
    for k in range(3, r + 1):
        ratio = 1.0 + n / ((k - 2) * ratio)
        total = total + np.log(ratio)
    return total


def _regrets_of_two(n_rows: int) -> Array:
    """C(n, 2) for every n up to `n_rows`: summed up to `SUMMED_ROWS`, by Ramanujan's series beyond."""
    summed = min(n_rows, SUMMED_ROWS)
    n = np.arange(summed + 1)
    rows = np.maximum(n, 1)
    regret, term = np.where(n > 0, 2.0, 1.0), np.ones(summed + 1)
    for k in range(1, min(summed, int(TERMS_PER_ROOT * np.sqrt(summed)) + 10)):
        term *= np.maximum(1.0 - k / rows, 0.0)
        regret += term
    m = np.arange(summed + 1, n_rows + 1, dtype=np.float64)
    root = np.sqrt(np.pi / (2.0 * m))
    series = root * (m + 1 / 12 + 1 / (288 * m) - 139 / (51_840 * m**2)) + 2 / 3 - 4 / (135 * m) + 8 / (2_835 * m**2)
    return np.concatenate([regret, series])
