"""Numbers in intervals: which one each falls into, the scores of cuts, and the range of a column.

The interval of a number is how many of the cuts, which are in rising order, lie below it. With few cuts every number is
compared with all of them: no branch depends on the numbers, so the processor compares several at once. With many, NumPy
finds the place by halving, and no loop of ours is faster.

The score of a cut tells how well it parts the classes of a stretch of sorted values. A cut with l_c rows of class c on
its left and r_c on its right, L and R in all, leaves labels that are described by

    N H = -(sum_c [F(l_c) + F(r_c)] - F(L) - F(R)) bits,      F(x) = x log2 x.

Its score is -N H, in units of a small fraction of a bit. In whole units sums are exact: whatever the order of the
rows, and whether a row is repeated or weighted, a score has the same bits. A row changes the terms of its own class
alone, so each costs the same, however many classes there are.
"""

import numpy as np

from bayeswater.kernels.compiling import compiled, compiled_plainly
from bayeswater.kernels.threads import row_blocks
from bayeswater.typing import Array

FEW_CUTS = 64
"""Up to so many cuts comparing with all of them is faster than halving."""


def interval_codes(x: Array, cuts: Array, codes: Array, *, closed_right: bool, use_loop: bool) -> None:
    """Write the interval of every number into `codes` (n_rows,); NaN has the code of no interval, len(cuts) + 1.

    A number that is a cut falls into the interval below it if intervals are closed on the right, else above.
    """
    if use_loop and len(cuts) <= FEW_CUTS:
        _interval_codes_loop(x, cuts, closed_right, codes)
        return
    codes[:] = np.searchsorted(cuts, x, side="left" if closed_right else "right")
    codes[np.isnan(x)] = len(cuts) + 1


@compiled
def _interval_codes_loop(x, cuts, closed_right, codes):  # type: ignore[no-untyped-def]
    n_cuts = len(cuts)
    codes[:] = 0
    for j in range(n_cuts):
        cut = cuts[j]
        if closed_right:
            for i in range(len(x)):
                codes[i] += x[i] > cut
        else:
            for i in range(len(x)):
                codes[i] += x[i] >= cut
    for i in range(len(x)):
        if x[i] != x[i]:
            codes[i] = n_cuts + 1


FINEST_UNIT = 28
"""A unit is at least 2**-28 bits: far below what any criterion weighs, which is whole bits."""

LARGEST = 61
"""Scores stay below 2**61, so that sums and differences of a few fit into 64 bits."""

TABLE_UP_TO = 2**24
"""Heaviest column whose F is looked up rather than computed (128 MiB)."""


def units_per_bit(weight: float) -> float:
    """Choose the unit for a column whose rows weigh so much: a power of two that depends on nothing else.

    >>> units_per_bit(1000.0) == 2.0**28, units_per_bit(1e15) < 2.0**10
    (True, True)
    """
    heaviest = 2 * weight * np.log2(weight + 2) + 2
    return float(2.0 ** min(FINEST_UNIT, LARGEST - int(np.ceil(np.log2(heaviest)))))


def in_units(x: Array, units: float) -> Array:
    """F(x) = x log2 x in whole units; 0 where x is 0 (or below it, by rounding of a difference).

    >>> in_units(np.array([0, 1, 2, 4]), 1.0)
    array([0, 0, 2, 8])
    """
    positive = np.where(x > 0, x, 1).astype(np.float64)
    return np.rint(positive * np.log2(positive) * units).astype(np.int64)


def lookup_table(weight: float, units: float) -> Array:
    """F of all whole numbers up to `weight`."""
    table = np.empty(int(weight) + 1, dtype=np.int64)
    for rows in row_blocks(len(table)):
        table[rows] = in_units(np.arange(rows.start, rows.stop), units)
    return table


def cut_scores(
    start: Array, code: Array, weight: Array, total: Array, units: float, table: Array | None, *, use_loop: bool
) -> Array:
    """Score each cut between neighbours of a stretch: (n_values - 1,) in units.

    Parameters
    ----------
    start : (n_values + 1,): first cell of each value, and the end of the last one's
    code, weight : class of each cell, and the weight of its rows
    total : (n_classes,): weight of the rows of each class in the stretch
    units : units per bit
    table : F of whole weights in units, or None where it is to be computed; the loop alone asks for it
    """
    if use_loop:
        scores = np.empty(len(start) - 2, dtype=np.int64)
        left, terms = np.zeros_like(total), np.empty(len(total), dtype=np.int64)
        _cut_scores_loop(start, code, weight, total, units, table, scores, left, terms)
        return scores
    n_values = len(start) - 1
    cells = slice(start[0], start[-1])
    place = np.repeat(np.arange(n_values), np.diff(start))
    left = np.zeros((n_values, len(total)), dtype=weight.dtype)
    left[place, code[cells]] = weight[cells]
    np.cumsum(left, axis=0, out=left)
    left = left[:-1]
    right = total - left
    sides = in_units(left.sum(axis=1), units) + in_units(right.sum(axis=1), units)
    return (in_units(left, units) + in_units(right, units)).sum(axis=1) - sides


@compiled_plainly
def _cut_scores_loop(start, code, weight, total, units, table, scores, left, terms):  # type: ignore[no-untyped-def]
    of_classes = np.int64(0)
    rows, rows_left = total[0] * 0, total[0] * 0
    for k in range(total.shape[0]):
        rows += total[k]
        if table is None:
            terms[k] = np.int64(np.rint(total[k] * np.log2(total[k]) * units)) if total[k] > 0 else 0
        else:
            terms[k] = table[total[k]]
        of_classes += terms[k]
    for value in range(scores.shape[0]):
        for cell in range(start[value], start[value + 1]):
            k = code[cell]
            left[k] += weight[cell]
            rows_left += weight[cell]
            a, b = left[k], total[k] - left[k]
            if table is None:
                new = np.int64(np.rint(a * np.log2(a) * units))
                new += np.int64(np.rint(b * np.log2(b) * units)) if b > 0 else 0
            else:
                new = table[a] + table[b]
            of_classes += new - terms[k]
            terms[k] = new
        a, b = rows_left, rows - rows_left
        if table is None:
            sides = np.int64(np.rint(a * np.log2(a) * units))
            sides += np.int64(np.rint(b * np.log2(b) * units)) if b > 0 else 0
        else:
            sides = table[a] + table[b]
        scores[value] = of_classes - sides


LANES = 64
"""Rows that the reference takes as one long row: NumPy spends little time between long rows."""


def column_range(X: Array, *, use_loop: bool) -> tuple[Array, Array]:
    """Find the range of each column of one block of rows.

    >>> column_range(np.array([[1, 5], [3, 2]]), use_loop=False)
    (array([1, 2]), array([3, 5]))
    """
    if X.dtype.kind in "iu" and X.flags.f_contiguous:
        return X.min(axis=0), X.max(axis=0)  # column by column NumPy compares many cells at a time
    low, high = X[0].copy(), X[0].copy()
    if not _column_range_loop.serves(X.size, X, low, high, use_loop=use_loop):
        return _reduced(np.minimum, X), _reduced(np.maximum, X)
    _column_range_loop(X, low, high)
    return low, high


def _reduced(larger_or_smaller: np.ufunc, X: Array) -> Array:
    """Reduce the rows to one; rows that lie one behind the other are taken as longer ones, as far as they go."""
    n_rows, n_columns = X.shape
    n_long = n_rows // LANES if X.flags.c_contiguous else 0
    long = X[: n_long * LANES].reshape(n_long, LANES * n_columns)
    if n_long > 1:
        X = np.concatenate([larger_or_smaller.reduce(long).reshape(LANES, n_columns), X[n_long * LANES :]])
    reduced: Array = larger_or_smaller.reduce(X)
    return reduced


@compiled
def _column_range_loop(X, low, high):  # type: ignore[no-untyped-def]
    n_rows, n_columns = X.shape
    for i in range(n_rows):
        for j in range(n_columns):
            low[j] = min(low[j], X[i, j])
            high[j] = max(high[j], X[i, j])
