"""Cells of family tables: what every row has in the table of a variable and its parents.

    cell = sum over the members of the family of stride * code

Codes are stored by column, (n_variables, n_rows), and all of them lie within their domains. One call handles one
family: its columns and its table stay in cache, and the loops are short enough to compile at once.
"""

from collections.abc import Sequence

import numpy as np

from bayeswater.kernels.compiling import compiled
from bayeswater.typing import Array


def strides_of(shape: Sequence[int]) -> Array:
    """Distance in a flat table between neighbours along each axis.

    >>> strides_of((3, 4, 2))
    array([8, 2, 1])
    """
    return np.cumprod([1, *shape[:0:-1]], dtype=np.int64)[::-1][: len(shape)].copy()


def cells_of(codes: Array, members: Array, strides: Array) -> Array:
    """Cell of every row: (n_rows,)."""
    cell = np.zeros(codes.shape[1], dtype=np.int64)
    for member, stride in zip(members.tolist(), strides.tolist(), strict=True):
        cell += codes[member].astype(np.int64) * stride
    return cell


def add_cells(codes: Array, members: Array, strides: Array, flat: Array, total: Array, *, use_loop: bool) -> None:
    """Add to `total` (n_rows,) what the flat table has in the cell of each row."""
    if use_loop:
        _add_cells_loop(codes, members, strides, flat, total)
    else:
        total += flat[cells_of(codes, members, strides)]


def draw_states(
    codes: Array, members: Array, strides: Array, cumulated: Array, uniform: Array, node: int, *, use_loop: bool
) -> None:
    """Draw the state of a variable for every row, given its parents, into ``codes[node]``.

    Parameters
    ----------
    codes : (n_variables, n_rows), those of the parents drawn already
    members, strides : parents, and the distances between their neighbours in the rows of `cumulated`
    cumulated : (n_parent_states, n_states), sums of the probabilities up to each state; the last is 1
    uniform : (n_rows,), numbers from 0 to 1, 1 not included
    """
    if use_loop:
        _draw_states_loop(codes, members, strides, cumulated, uniform, codes[node])
        return
    row = cells_of(codes, members, strides)
    codes[node] = 0
    for limit in cumulated.T[:-1]:
        codes[node] += uniform >= limit[row]


@compiled
def _add_cells_loop(codes, members, strides, flat, total):  # type: ignore[no-untyped-def]
    for i in range(codes.shape[1]):
        cell = 0
        for m in range(len(members)):
            cell += strides[m] * np.int64(codes[members[m], i])
        total[i] += flat[cell]


@compiled
def _draw_states_loop(codes, members, strides, cumulated, uniform, drawn):  # type: ignore[no-untyped-def]
    last = cumulated.shape[1] - 1
    for i in range(codes.shape[1]):
        row = 0
        for m in range(len(members)):
            row += strides[m] * np.int64(codes[members[m], i])
        state = 0
        while state < last and uniform[i] >= cumulated[row, state]:
            state += 1
        drawn[i] = state
