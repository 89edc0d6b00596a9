"""Cells of a variable together with its parents: their places, configurations and likelihoods.

Every row has one cell in the table of a variable and its parents:

    cell = sum over the members of the family of stride * code

Codes are stored by column, (n_variables, n_rows), and all of them lie within their domains. One call handles one
family: its columns and its table stay in cache, and the loops are short enough to compile at once.

Configurations of several columns are the combinations of slots that occur, numbered in the order of their slots. A
combination is read as the digits of one number, the first column the leading one. Where the product of the domains
passes what an integer holds, the combinations of the columns so far are first replaced by their own numbers: there are
no more of them than rows, so columns of any number and size can follow.

Log-likelihoods are of shares that are drawn to a base, for several weights c of the base:

    sum over i of weight_i log [(count_i + c base_i) / (total_i + c)]

Factors are multiplied, and a logarithm taken once in many of them.
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


LARGEST_KEY = 2**62
"""Keys stay below this, and so within int64."""

SPARSE_FROM = 2**14
"""A list of all possible combinations is made up to this length, or that of the rows; of more, only those that occur
are sorted."""


def number_configurations(slots: Array, n_slots: Array) -> tuple[Array, Array]:
    """Give the number of every row's combination (n_rows,), and for each number one row that has it.

    Parameters
    ----------
    slots : array of shape (n_columns, n_rows)
    n_slots : array of shape (n_columns,)
        Slots of each column.

    Examples
    --------
    >>> number, row = number_configurations(np.array([[1, 0, 1], [2, 5, 2]]), np.array([2, 6]))
    >>> number, row
    (array([1, 0, 1]), array([1, 2]))
    """
    n_rows = slots.shape[1]
    key, size = np.zeros(n_rows, dtype=np.int64), 1
    for column, n in zip(slots, n_slots.tolist(), strict=True):
        if size * n > LARGEST_KEY:
            distinct, key = np.unique(key, return_inverse=True)
            size = len(distinct)
        key = key * n + column
        size *= n
    if size > max(n_rows, SPARSE_FROM):
        _, row, number = np.unique(key, return_index=True, return_inverse=True)
        return number, row
    row_of = np.full(size, -1)
    row_of[key] = np.arange(n_rows)
    occurring = np.flatnonzero(row_of >= 0)
    number_of = np.empty(size, dtype=np.int64)
    number_of[occurring] = np.arange(len(occurring))
    return number_of[key], row_of[occurring]


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
