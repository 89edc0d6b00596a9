"""Counting triples: the loop equals the NumPy reference, and both equal a count by hand."""

from itertools import combinations

import numpy as np
import pytest
from tests.kernels.tables import labels, weights

from bayeswater.kernels.pair_counts import n_pair_cells, pair_offsets
from bayeswater.kernels.triple_counts import (
    count_triples,
    n_triple_cells,
    pair_base,
    triple_base,
    triple_rows_of_column,
)

N_STATES = np.array([2, 0, 3, 1, 5, 300])
N_CLASSES = 3


def table_by_hand(codes, y, weight):
    table = np.zeros((n_triple_cells(N_STATES), N_CLASSES))
    n_slots, first, base = N_STATES + 1, pair_offsets(N_STATES), triple_base(N_STATES)
    for r in range(codes.shape[1]):
        for k, j, i in combinations(range(len(N_STATES)), 3):
            a, b, c = (int(codes[column, r]) for column in (i, j, k))
            row = base[i] + n_slots[i] * first[j, k] + (a * n_slots[j] + b) * n_slots[k] + c
            table[row, y[r]] += 1 if weight is None else weight[r]
    return table


@pytest.mark.parametrize("use_loop", [True, False], ids=["loop", "reference"])
@pytest.mark.parametrize("weighted", [None, "int", "float"])
def test_every_triple_is_counted_in_its_states_and_class(weighted, use_loop):
    rng = np.random.default_rng(0)
    codes = np.ascontiguousarray(rng.integers(0, N_STATES + 1, size=(40, 6)).T.astype(np.uint16))
    y, weight = labels(rng, 40, N_CLASSES), weights(rng, 40, weighted)
    kind = np.float64 if weighted == "float" else np.int64
    triples = np.zeros((n_triple_cells(N_STATES), N_CLASSES), dtype=kind)
    count_triples(codes, N_STATES, y, weight, triples, use_loop=use_loop)
    np.testing.assert_array_equal(triples, table_by_hand(codes, y, weight))


def test_the_triples_of_a_column_own_rows_of_their_own():
    owned = [triple_rows_of_column(i, N_STATES) for i in range(6)]
    assert sorted(np.concatenate([rows.ravel() for rows in owned]).tolist()) == list(range(n_triple_cells(N_STATES)))
    assert [rows.shape for rows in owned] == [(N_STATES[i] + 1, n_pair_cells(N_STATES[:i])) for i in range(6)]
    assert pair_base(N_STATES)[-1] == n_pair_cells(N_STATES)
    assert triple_base(N_STATES)[-1] == n_triple_cells(N_STATES)
