"""A linear machine on sparse rows: weights of the least squared hinge loss, by coordinates of the dual.

    least over w, b of   (w.w + b^2) / 2 + sum_i cost_i max(0, 1 - sign_i (w.x_i + b))^2

Each row has one dual variable, a_i >= 0, and the weights are sum_i a_i sign_i x_i. A step moves one a_i to its best
value, which is known in closed form (Hsieh et al. 2008). Rows are taken in an order that is shuffled before each pass,
the same in every run. Steps end when no slope of a pass is large, or after some passes: what is left to gain by then
does not show in held-out rows.
"""

from functools import reduce
from itertools import pairwise

import numpy as np

from bayeswater.kernels.compiling import compiled, worth_compiling
from bayeswater.typing import Array

MOST_PASSES = 20
PLAIN_COST = 10
"""Cells that NumPy answers for while plain Python takes one, about."""

LARGEST_SLOPE = 0.05
"""Slope of the dual at which the search ends; the margin of a row is 1."""

FIRST_BITS = 88172645463325252
"""Where the generator of the order begins: any number but 0 (xorshift, Marsaglia 2003)."""


def squared_hinge_machine(
    indptr: Array, indices: Array, data: Array, sign: Array, cost: Array, n_columns: int
) -> tuple[Array, float]:
    """Find the weights (n_columns,) and the intercept.

    Parameters
    ----------
    indptr, indices, data : rows of a CSR matrix; `indptr` begins at 0
    sign : 1 for rows of the class and -1 for all others (n_rows,)
    cost : what a row costs that is on the wrong side (n_rows,), over 0

    >>> rows = np.array([0, 1, 2]), np.array([0, 1]), np.ones(2)
    >>> weight, intercept = squared_hinge_machine(*rows, np.array([1.0, -1.0]), np.full(2, 1e6), 2)
    >>> weight.round(1), round(intercept, 1)
    (array([ 1., -1.]), 0.0)
    """
    if not worth_compiling(len(data) * MOST_PASSES * PLAIN_COST):
        return _by_rows(indptr, indices, data, sign, cost, n_columns)
    weight = np.zeros(n_columns)
    intercept = _machine_loop(indptr, indices, data, sign, cost, weight, FIRST_BITS, MOST_PASSES, LARGEST_SLOPE)
    return weight, float(intercept)


def _by_rows(
    indptr: Array, indices: Array, data: Array, sign: Array, cost: Array, n_columns: int
) -> tuple[Array, float]:
    """Take the same steps in plain Python, to the bit: rows of a few words are too short for NumPy."""
    weight, intercept, dual = [0.0] * n_columns, 0.0, [0.0] * len(sign)
    columns, cells = indices.tolist(), data.tolist()
    rows = [list(zip(columns[a:b], cells[a:b], strict=True)) for a, b in pairwise(indptr.tolist())]
    signs, slack = sign.tolist(), (0.5 / cost).tolist()
    square = [reduce(lambda total, cell: total + cell[1] * cell[1], row, 1.0) for row in rows]
    order, bits = list(range(len(rows))), FIRST_BITS
    for _ in range(MOST_PASSES):
        bits, largest = _shuffled(order, bits), 0.0
        for i in order:
            row, before, score = rows[i], dual[i], intercept
            for column, x in row:
                score += weight[column] * x
            slope = signs[i] * score - 1 + slack[i] * before
            if before == 0 and slope > 0:
                continue
            largest = max(largest, abs(slope))
            dual[i] = max(before - slope / (square[i] + slack[i]), 0.0)
            step = (dual[i] - before) * signs[i]
            intercept += step
            for column, x in row:
                weight[column] += step * x
        if largest < LARGEST_SLOPE:
            break
    return np.array(weight), float(intercept)


def _shuffled(order: list[int], bits: int) -> int:
    """Shuffle in place, as the loop does, and give the generator's next state."""
    for last in range(len(order) - 1, 0, -1):
        bits ^= (bits << 13) & 0xFFFFFFFFFFFFFFFF
        bits ^= bits >> 7
        bits ^= (bits << 17) & 0xFFFFFFFFFFFFFFFF
        other = bits % (last + 1)
        order[last], order[other] = order[other], order[last]
    return bits


@compiled
def _machine_loop(indptr, indices, data, sign, cost, weight, first_bits, most_passes, largest_slope):  # type: ignore[no-untyped-def]
    n_rows = len(sign)
    intercept = 0.0
    dual, square, order = np.zeros(n_rows), np.ones(n_rows), np.arange(n_rows)
    for i in range(n_rows):
        for p in range(indptr[i], indptr[i + 1]):
            square[i] += data[p] * data[p]
    bits = np.uint64(first_bits)
    for _ in range(most_passes):
        for last in range(n_rows - 1, 0, -1):
            bits ^= bits << np.uint64(13)
            bits ^= bits >> np.uint64(7)
            bits ^= bits << np.uint64(17)
            other = np.int64(bits % np.uint64(last + 1))
            order[last], order[other] = order[other], order[last]
        largest = 0.0
        for place in range(n_rows):
            i = order[place]
            score = intercept
            for p in range(indptr[i], indptr[i + 1]):
                score += weight[indices[p]] * data[p]
            slack = 0.5 / cost[i]
            slope = sign[i] * score - 1 + slack * dual[i]
            if dual[i] == 0 and slope > 0:
                continue
            largest = max(largest, abs(slope))
            before = dual[i]
            dual[i] = max(before - slope / (square[i] + slack), 0.0)
            step = (dual[i] - before) * sign[i]
            intercept += step
            for p in range(indptr[i], indptr[i + 1]):
                weight[indices[p]] += step * data[p]
        if largest < largest_slope:
            break
    return intercept
