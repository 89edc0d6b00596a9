"""Rows of mixed columns for the members of an ensemble: numbers and states with holes, and equal rows."""

from dataclasses import replace

import numpy as np

from bayeswater.data.reading.row_hashes import number_words, row_words
from bayeswater.learning.members.member_table import EnsembleTable


def table_of(numbers, states, n_states, codes, n_classes, weight=None):
    """Make a table; equal rows have equal hashes."""
    words = [*map(number_words, numbers.T), *(column.astype(np.uint64) for column in states.T)]
    n_states = np.asarray(n_states, dtype=np.int64)
    hashes = row_words(words, len(codes))
    return EnsembleTable(numbers, states.astype(np.int32), n_states, codes, n_classes, weight, hashes)


def mixed_rows(n_rows, missing=0.1, seed=0, n_classes=3):
    """Three numbers (one of few values) and two columns of states that tell the classes; some rows are equal."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, n_classes, n_rows)
    numbers = np.column_stack([codes + rng.normal(size=n_rows), rng.integers(0, 4, n_rows), rng.normal(size=n_rows)])
    numbers[:, 2] += 0.5 * numbers[:, 0] * (codes == 1)
    states = np.column_stack([(codes + rng.integers(0, 3, n_rows)) % 5, rng.integers(0, 2, n_rows)])
    numbers[rng.random(numbers.shape) < missing] = np.nan
    states[rng.random(states.shape) < missing] = -1
    numbers[-6:], states[-6:] = numbers[:6], states[:6]
    codes[-3:] = codes[3:6]
    return table_of(numbers, states, [5, 2], codes, n_classes)


def repeated(table, times):
    """Every row so many times, without weights."""
    rows = np.repeat(np.arange(len(table)), times)
    return replace(table, weight=None).take(rows)
