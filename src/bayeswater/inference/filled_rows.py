"""Rows with missing cells, filled in with every combination of states that these can have.

A sum over the missing cells of a row is the sum over its filled rows: log sum_s exp(log P(row with s filled in)).
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from bayeswater.typing import Array

CHUNK_FILLED = 2**16
"""Filled rows that are held at a time, about."""


@dataclass(frozen=True)
class Filled:
    """Some rows (a slice of those given), filled in: states (n_filled, n_columns), and the row of each."""

    rows: slice
    row: Array
    states: Array
    first: Array  # (n_rows,) first of the filled rows of each

    def log_sum(self, log_values: Array) -> Array:
        """Logarithm of the sum over the filled rows of each row: (n_filled, ...) to (n_rows, ...)."""
        top = np.maximum.reduceat(log_values, self.first)
        top[np.isneginf(top)] = 0.0
        with np.errstate(divide="ignore"):
            return np.log(np.add.reduceat(np.exp(log_values - top[self.row - self.row[0]]), self.first)) + top


def n_filled(gaps: Array, n_states: Array) -> Array:
    """Number of combinations of each row: (n_rows,), as floats, which do not overflow."""
    return np.where(gaps, n_states, 1.0).prod(axis=1)


def filled(states: Array, gaps: Array, n_states: Array) -> Iterator[Filled]:
    """Fill the gaps (n_rows, n_columns) of rows, some rows at a time.

    >>> part = next(filled(np.array([[2, 0]]), np.array([[True, False]]), np.array([2, 3])))
    >>> part.states
    array([[0, 0],
           [1, 0]])
    """
    size = n_filled(gaps, n_states)
    last = np.cumsum(size.astype(np.int64))
    first = 0
    while first < len(states):
        before = int(last[first - 1]) if first else 0
        end = max(first + 1, int(np.searchsorted(last, before + CHUNK_FILLED, side="right")))
        times = size[first:end].astype(np.int64)
        row = np.repeat(np.arange(first, end), times)
        starts = np.concatenate([[0], np.cumsum(times)[:-1]])
        number = np.arange(len(row)) - np.repeat(starts, times)
        found = states[row]
        for j in np.flatnonzero(gaps[first:end].any(axis=0)).tolist():
            is_gap = gaps[row, j]
            found[is_gap, j] = number[is_gap] % n_states[j]
            number[is_gap] //= n_states[j]
        yield Filled(slice(first, end), row, found, starts)
        first = end
