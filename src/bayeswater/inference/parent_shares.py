"""How the log-odds of an average of joints split into those of its parts, exactly.

With A = sum of A_i and B = sum of B_i, and the logarithmic mean L(a, b) = (a - b) / (log a - log b),

    log(A / B) = sum_i omega_i log(A_i / B_i),    omega_i = L(A_i, B_i) / L(A, B),

since L(A_i, B_i) log(A_i / B_i) = A_i - B_i. Every log(A_i / B_i) is a sum over the columns of a row, so the whole is.
A part that is possible on one side alone has no finite ratio; it still adds (A_i - B_i) / L(A, B).
"""

import numpy as np

from bayeswater.typing import Array


def parent_shares(log_a: Array, log_b: Array) -> Array:
    """Shares omega of the parts (n_rows, n_parts) of two sums, from their logarithms.

    A part that is impossible in one of the two sums has the share 0: see `one_sided`.

    >>> log_a, log_b = np.log([[0.2, 0.4]]), np.log([[0.1, 0.5]])
    >>> shares = parent_shares(log_a, log_b)
    >>> bool(np.isclose((shares * (log_a - log_b)).sum(), np.log(0.6 / 0.6)))
    True
    """
    with np.errstate(invalid="ignore"):
        shares = np.exp(_log_mean(log_a, log_b) - _log_mean_of_sums(log_a, log_b))
    return np.where(np.isfinite(log_a) & np.isfinite(log_b), shares, 0.0)


def one_sided(log_a: Array, log_b: Array) -> Array:
    """What parts that are possible in one of two sums alone add to log(A / B): (n_rows, n_parts).

    Where one of the sums is zero that is infinite, and where both are it is nothing.

    >>> log_a, log_b = np.log([[0.2, 0.4]]), np.array([[-np.inf, np.log(0.3)]])
    >>> added = one_sided(log_a, log_b) + parent_shares(log_a, log_b) * np.array([[0.0, np.log(4 / 3)]])
    >>> bool(np.isclose(added.sum(), np.log(2)))
    True
    """
    whole = _log_mean_of_sums(log_a, log_b)
    in_a, in_b = np.isfinite(log_a), np.isfinite(log_b)
    with np.errstate(invalid="ignore"):
        size = np.exp(np.where(in_a, log_a, log_b) - whole)
    return np.where(in_a & ~in_b, size, np.where(in_b & ~in_a, -size, 0.0))


def _log_mean_of_sums(log_a: Array, log_b: Array) -> Array:
    """Logarithm of L(A, B): (n_rows, 1)."""
    with np.errstate(invalid="ignore"):
        return _log_mean(np.logaddexp.reduce(log_a, axis=1), np.logaddexp.reduce(log_b, axis=1))[:, None]


def _log_mean(log_a: Array, log_b: Array) -> Array:
    """Logarithm of the logarithmic mean of two numbers, from their logarithms."""
    gap = np.abs(log_a - log_b)
    small = gap < 1e-5  # the series 1 - g/2 + g^2/6 is exact to the last digit there
    with np.errstate(divide="ignore", invalid="ignore"):
        shrunk = np.where(small, 1 - gap / 2 + gap**2 / 6, -np.expm1(-gap) / np.where(small, 1.0, gap))
        return np.maximum(log_a, log_b) + np.log(shrunk)
