"""Sum of the log-likelihoods of a row's states, for every class, by look-up in one flat table.

``joint[i, k] = sum_j log_likelihood[offset_j + code_ij, k]``. The row of the table that belongs to a missing cell is
zero: its factor is 1.
"""

import numpy as np

from bayeswater.kernels.compiling import compiled
from bayeswater.typing import Array


def sum_of_states(codes: Array, n_states: Array, start: Array, log_likelihood: Array, *, use_loop: bool) -> Array:
    """Sum one block of rows: (n_rows, n_classes)."""
    joint = np.zeros((len(codes), log_likelihood.shape[1]))
    if use_loop:
        _sum_of_states_loop(codes, n_states, start, log_likelihood, joint)
        return joint
    rows = start[:-1] + np.minimum(codes, n_states)  # (n_rows, n_columns)
    for j in range(codes.shape[1]):
        joint += log_likelihood[rows[:, j]]
    return joint


@compiled
def _sum_of_states_loop(codes, n_states, start, log_likelihood, joint):  # type: ignore[no-untyped-def]
    n_rows, n_columns = codes.shape
    n_classes = joint.shape[1]
    for i in range(n_rows):
        for j in range(n_columns):
            row = start[j] + min(np.int64(codes[i, j]), n_states[j])
            for k in range(n_classes):
                joint[i, k] += log_likelihood[row, k]


def sum_of_own_states(
    codes: Array, n_states: Array, start: Array, y: Array, log_likelihood: Array, *, use_loop: bool
) -> Array:
    """Sum, for each row, only the entries of its own class: (n_rows,)."""
    if use_loop:
        joint = np.zeros(len(codes))
        _sum_of_own_states_loop(codes, n_states, start, y, log_likelihood, joint)
        return joint
    rows = start[:-1] + np.minimum(codes, n_states)
    return log_likelihood[rows, y[:, None]].sum(axis=1)


@compiled
def _sum_of_own_states_loop(codes, n_states, start, y, log_likelihood, joint):  # type: ignore[no-untyped-def]
    n_rows, n_columns = codes.shape
    for i in range(n_rows):
        k = y[i]
        for j in range(n_columns):
            joint[i] += log_likelihood[start[j] + min(np.int64(codes[i, j]), n_states[j]), k]
