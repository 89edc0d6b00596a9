"""The sum of a row of probabilities, to be checked, and the action of least risk.

Risks lie action by action, (n_actions, n_rows): whatever is compared runs along the rows.
"""

import numpy as np

from bayeswater.kernels.compiling import compiled
from bayeswater.typing import Array

TILE_ROWS = 128
"""Rows whose probabilities and risks are held in the first-level cache together, for a dozen classes or so."""


def row_totals(proba: Array, *, use_loop: bool) -> Array:
    """Sum each row of probabilities (n_rows, n_classes); NaN where one is negative or NaN itself."""
    if use_loop:
        total = np.empty(len(proba))
        _row_totals_loop(proba, total)
        return total
    total = proba.sum(axis=1)
    total[(proba < 0).any(axis=1)] = np.nan
    return total


def first_of_least(risk: Array, tie: Array | float, *, use_loop: bool) -> Array:
    """Find the first action whose risk (n_actions, n_rows) is the least of its row, or more by a share `tie` of it.

    Risks are not negative; `tie`, one for all rows or (n_rows,), says how far rounding may have moved those of a row.
    """
    most = np.minimum.reduce(risk, axis=0)
    most *= 1 + tie
    if not use_loop:
        return (risk <= most).argmax(axis=0)
    best = np.empty(len(most), dtype=np.intp)
    _first_at_most_loop(risk, most, best)
    return best


def first_of_least_product(
    proba: Array, cost: Array, tie: float, tolerance: float, *, use_loop: bool
) -> tuple[Array, int]:
    """Find the first action of least risk for the risks ``cost @ proba.T`` of costs (n_actions, n_classes).

    Gives also the first row whose total is not 1 within the tolerance, -1 if there is none: the probabilities are read
    but once.
    """
    if use_loop:
        best = np.empty(len(proba), dtype=np.uint16)
        wrong = _first_of_least_product_loop(proba, cost, tie, tolerance, TILE_ROWS, best)
        return best, int(wrong)
    with np.errstate(invalid="ignore"):
        risk = cost @ proba.T
        right = np.abs(row_totals(proba, use_loop=False) - 1) <= tolerance
    return first_of_least(risk, tie, use_loop=False).astype(np.uint16), -1 if right.all() else int(right.argmin())


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
def _first_at_most_loop(risk, most, best):  # type: ignore[no-untyped-def]
    for i in range(risk.shape[1]):
        a = 0
        while risk[a, i] > most[i]:
            a += 1
        best[i] = a


@compiled
def _first_of_least_product_loop(proba, cost, tie, tolerance, tile_rows, best):  # type: ignore[no-untyped-def]
    # A tile of rows is turned, so that every inner loop runs along rows, several at a time; none has a branch in it.
    n_rows, n_classes = proba.shape
    n_actions, odd = len(cost), n_classes % 2
    turned, risk = np.empty((n_classes, tile_rows)), np.empty((n_actions, tile_rows))
    most, lowest, total = np.empty(tile_rows), np.empty(tile_rows), np.empty(tile_rows)
    is_above, n_above = np.empty(tile_rows), np.empty(tile_rows)
    for start in range(0, n_rows, tile_rows):
        n = min(tile_rows, n_rows - start)
        for i in range(n):
            for k in range(n_classes):
                turned[k, i] = proba[start + i, k]
        for i in range(n):
            most[i], lowest[i], total[i] = np.inf, 0.0, 0.0
        for k in range(n_classes):
            for i in range(n):
                total[i] += turned[k, i]
                lowest[i] = min(lowest[i], turned[k, i])
        for i in range(n):
            if lowest[i] < 0 or not abs(total[i] - 1) <= tolerance:  # NaN is not
                return start + i
        for a in range(n_actions):
            for i in range(n):
                risk[a, i] = cost[a, 0] * turned[0, i] if odd else 0.0
            for k in range(odd, n_classes, 2):  # two classes go together: a sum is stored once for both
                for i in range(n):
                    risk[a, i] += cost[a, k] * turned[k, i] + cost[a, k + 1] * turned[k + 1, i]
            for i in range(n):
                most[i] = min(most[i], risk[a, i])
        for i in range(n):
            most[i], is_above[i], n_above[i] = most[i] * (1 + tie), 1.0, 0.0
        for a in range(n_actions - 1):  # as many as are above the least come before the first that is not
            for i in range(n):
                is_above[i] = is_above[i] if risk[a, i] > most[i] else 0.0
                n_above[i] += is_above[i]
        for i in range(n):
            best[start + i] = int(n_above[i])
    return -1
