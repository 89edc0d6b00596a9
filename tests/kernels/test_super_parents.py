"""Joints under every parent: the loop equals the NumPy reference, and both the sum by hand.

Tables and sums over pairs of parents: the loop gives what the reference gives.
"""

import numpy as np
import pytest

from bayeswater.kernels import super_parents
from bayeswater.kernels.super_parents import (
    Slots,
    TriplePlaces,
    add_joints,
    pair_table,
    sum_under_own_class,
    sum_under_parents,
)

roads = pytest.mark.parametrize("use_loop", [True, False], ids=["loop", "reference"])


@pytest.fixture(autouse=True)
def several_stretches(monkeypatch):
    monkeypatch.setattr(super_parents, "STRETCH_TERMS", 64)


def case(n_classes, n_columns=7, n_rows=11, n_slots=20):
    rng = np.random.default_rng(n_classes)
    slots = rng.integers(0, n_slots, (n_rows, n_columns)).astype(np.int32)
    # Whole numbers: their sums are exact in any order.
    root = -rng.integers(0, 100, (n_slots, n_classes)).astype(float)
    table = -rng.integers(0, 100, (n_slots, n_slots, n_classes)).astype(float)
    return slots, root, table, rng.integers(0, n_classes, n_rows)


@roads
@pytest.mark.parametrize("n_classes", [1, 2, 3, 4, 5, 8, 9])  # whole fours, and what is left of them
def test_every_parent_adds_the_terms_of_all_columns_to_its_own(n_classes, use_loop):
    slots, root, table, _ = case(n_classes)
    expected = [[root[row[i]] + sum(table[row[i], row[j]] for j in range(7)) for row in slots] for i in range(7)]
    found = sum_under_parents(slots, slots, root, table, use_loop=use_loop)
    np.testing.assert_array_equal(found, np.array(expected))


@roads
def test_of_few_parents_the_table_has_their_slots_alone(use_loop):
    slots, root, table, codes = case(5)
    kept, heads = np.array([3, 4, 5, 11]), [6, 2]
    parents = np.random.default_rng(0).integers(0, len(kept), (len(slots), len(heads)))
    moved = slots.copy()
    moved[:, heads] = kept[parents]
    whole = sum_under_parents(moved, moved, root, table, use_loop=use_loop)
    few = sum_under_parents(moved, parents, root[kept], table[kept], use_loop=use_loop)
    np.testing.assert_array_equal(few, whole[heads])
    by_class = np.ascontiguousarray(np.moveaxis(table, 2, 0))
    whole = sum_under_own_class(moved, moved, codes, by_class, use_loop=use_loop)
    few = sum_under_own_class(moved, parents, codes, np.ascontiguousarray(by_class[:, kept]), use_loop=use_loop)
    np.testing.assert_array_equal(few, whole[heads])


@roads
def test_the_own_class_alone_is_summed_when_asked_for(use_loop):
    slots, _, table, codes = case(3)
    by_class = np.ascontiguousarray(np.moveaxis(table, 2, 0))
    expected = [
        [sum(table[row[i], row[j], k] for j in range(7)) for row, k in zip(slots, codes, strict=True)] for i in range(7)
    ]
    found = sum_under_own_class(slots, slots, codes, by_class, use_loop=use_loop)
    np.testing.assert_array_equal(found, np.array(expected))


@roads
def test_an_impossible_term_makes_the_joint_minus_infinity(use_loop):
    slots, root, table, _ = case(2)
    table[slots[0, 1], slots[0, 2], 0] = -np.inf
    found = sum_under_parents(slots, slots, root, table, use_loop=use_loop)
    assert np.isneginf(found[1, 0, 0])
    assert np.isfinite(found[:, :, 1]).all()


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
