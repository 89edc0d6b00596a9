"""Tables and sums over pairs of parents: the loop gives what the reference gives."""

import numpy as np
import pytest

from bayeswater.kernels.super_pairs import Slots, TriplePlaces, add_joints, pair_table

START = np.array([0, 3, 6, 9])
"""Columns of 2, 2 and 2 states, each with a slot for what is not there; the third is the child of the other two."""


def places():
    # Triples (a, b, c) of slots, three each, the last being missing.
    first, step_a, step_b, step_c = np.zeros(3, int), np.full(3, 9), np.full(3, 3), np.ones(3, int)
    return TriplePlaces(first, step_a, step_b, step_c, np.array([False, False, True]))


@pytest.mark.parametrize("removed", [0.0, 1.0, 0.3])
@pytest.mark.parametrize("cell", [0.0, 0.5])
@pytest.mark.parametrize("missing", [-1, 2])
def test_the_table_of_a_pair_by_the_loop_equals_the_reference(removed, cell, missing):
    triples = np.random.default_rng(0).integers(0, 3, (27, 2))
    together = triples.reshape(3, 3, 3, 2).sum(axis=2)[:2, :2]
    slots = Slots(START, np.full(3, missing), np.full(3, cell))
    found, expected = (
        pair_table(triples, together, places(), slots, removed, use_loop=use_loop) for use_loop in (True, False)
    )
    np.testing.assert_allclose(found, expected, rtol=1e-14)
    assert (found[:, :6] == 0).all()


@pytest.mark.parametrize("is_left_out", [False, True])
def test_sums_over_pairs_by_the_loop_equal_the_reference(is_left_out):
    rng = np.random.default_rng(0)
    n_rows, n_states, n_slots, n_classes = 50, 4, 9, 3
    sums = []
    for use_loop in (True, False):
        rng = np.random.default_rng(0)
        top, total = np.full((n_rows, n_classes), -np.inf), np.zeros((n_rows, n_classes))
        for _ in range(4):
            pair = rng.integers(-1, n_states, n_rows)
            slots = rng.integers(0, n_slots, (n_rows, 3))
            with np.errstate(divide="ignore"):
                root, own_root = np.log(rng.integers(0, 3, (2, n_states, n_classes)))
            table, own_table = rng.normal(scale=300, size=(2, n_states, n_slots, n_classes))
            own = (rng.integers(0, n_classes, n_rows), own_root, own_table) if is_left_out else None
            add_joints(pair, slots, root, table, own, top, total, use_loop=use_loop)
        with np.errstate(divide="ignore"):
            sums.append(np.log(total) + top)
    assert np.isneginf(sums[1]).any()
    # Logarithms of some hundreds, added in another order.
    np.testing.assert_allclose(sums[0], sums[1], rtol=1e-13)
