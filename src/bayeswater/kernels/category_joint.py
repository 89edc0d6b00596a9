"""Sum of the log-likelihoods of a row's states, for every class, by look-up in one flat table.

``joint[i, k] = sum_j log_likelihood[start_j + min(code_ij, n_states_j), k]``. A column has n_states_j + 1 rows in the
table; a code beyond them means the last.
"""

import numpy as np

from bayeswater.kernels.compiling import compiled
from bayeswater.typing import Array

STRETCH_CELLS = 65_536
"""Entries that the reference fetches at a time, of all classes and columns: they stay in the second-level cache."""


def sum_of_states(codes: Array, n_states: Array, start: Array, log_likelihood: Array, *, use_loop: bool) -> Array:
    """Sum one block of rows: (n_rows, n_classes)."""
    n_rows, n_columns = codes.shape
    joint = np.zeros((n_rows, log_likelihood.shape[1]))
    if use_loop:
        _sum_of_states_loop(codes, n_states.astype(np.uint64), start.astype(np.uint64), log_likelihood, joint)
        return joint
    stretch = max(1, STRETCH_CELLS // (n_columns * joint.shape[1]))
    for first in range(0, n_rows, stretch):
        rows = slice(first, first + stretch)
        entry = start[:-1] + np.minimum(codes[rows], n_states)  # (n_rows, n_columns)
        np.add.reduce(log_likelihood[entry], axis=1, out=joint[rows])
    return joint


def sum_of_own_states(
    codes: Array, n_states: Array, start: Array, y: Array, log_likelihood: Array, *, use_loop: bool
) -> Array:
    """Sum, for each row, only the entries of its own class: (n_rows,)."""
    if use_loop:
        joint = np.zeros(len(codes))
        _sum_of_own_states_loop(codes, n_states.astype(np.uint64), start.astype(np.uint64), y, log_likelihood, joint)
        return joint
    rows = start[:-1] + np.minimum(codes, n_states)
    return log_likelihood[rows, y[:, None]].sum(axis=1)


@compiled
def _sum_of_states_loop(codes, n_states, start, log_likelihood, joint):  # type: ignore[no-untyped-def]
    # Indices are unsigned: they never count from the end, and the compiled loop need not ask. Four columns go
    # together, so that a sum is fetched and stored once for the four.
    n_rows, n_columns = codes.shape
    n_classes = joint.shape[1]
    in_fours = n_columns - n_columns % 4
    for i in range(n_rows):
        for j in range(0, in_fours, 4):
            a = start[j] + min(np.uint64(codes[i, j]), n_states[j])
            b = start[j + 1] + min(np.uint64(codes[i, j + 1]), n_states[j + 1])
            c = start[j + 2] + min(np.uint64(codes[i, j + 2]), n_states[j + 2])
            d = start[j + 3] + min(np.uint64(codes[i, j + 3]), n_states[j + 3])
            for k in range(n_classes):
                joint[i, k] += (log_likelihood[a, k] + log_likelihood[b, k]) + (
                    log_likelihood[c, k] + log_likelihood[d, k]
                )
        for j in range(in_fours, n_columns):
            a = start[j] + min(np.uint64(codes[i, j]), n_states[j])
            for k in range(n_classes):
                joint[i, k] += log_likelihood[a, k]


@compiled
def _sum_of_own_states_loop(codes, n_states, start, y, log_likelihood, joint):  # type: ignore[no-untyped-def]
    n_rows, n_columns = codes.shape
    for i in range(n_rows):
        k = np.uint64(y[i])
        for j in range(n_columns):
            joint[i] += log_likelihood[start[j] + min(np.uint64(codes[i, j]), n_states[j]), k]
