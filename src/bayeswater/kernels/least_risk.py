"""The sum of a row of probabilities, to be checked, and the action of least risk."""

import numpy as np

from bayeswater.kernels.compiling import compiled
from bayeswater.typing import Array


def row_totals(proba: Array, *, use_loop: bool) -> Array:
    """Sum each row of probabilities (n_rows, n_classes); NaN where one is negative or NaN itself."""
    if use_loop:
        total = np.empty(len(proba))
        _row_totals_loop(proba, total)
        return total
    total = proba.sum(axis=1)
    total[(proba < 0).any(axis=1)] = np.nan
    return total


def first_of_least(risk: Array, tie: Array, *, use_loop: bool) -> Array:
    """Find the first action whose risk (n_rows, n_actions) is the least of its row, or more by a share `tie` of it.

    Risks are not negative; `tie` (n_rows,) says how far rounding may have moved those of a row.
    """
    if use_loop:
        best = np.empty(len(risk), dtype=np.intp)
        _first_of_least_loop(risk, tie, best)
        return best
    return (risk <= risk.min(axis=1, keepdims=True) * (1 + tie[:, None])).argmax(axis=1)


@compiled
def _row_totals_loop(proba, total):  # type: ignore[no-untyped-def]
    n_rows, n_classes = proba.shape
    for i in range(n_rows):
        total[i] = 0.0
        least = 0.0
        for k in range(n_classes):
            total[i] += proba[i, k]
            least = min(least, proba[i, k])
        if least < 0:
            total[i] = np.nan


@compiled
def _first_of_least_loop(risk, tie, best):  # type: ignore[no-untyped-def]
    n_rows, n_actions = risk.shape
    for i in range(n_rows):
        least = risk[i, 0]
        for a in range(1, n_actions):
            least = min(least, risk[i, a])
        most = least * (1 + tie[i])
        a = 0
        while risk[i, a] > most:
            a += 1
        best[i] = a
