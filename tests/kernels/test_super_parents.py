"""Joints under every parent: the loop equals the NumPy reference, and both the sum by hand."""

import numpy as np
import pytest

from bayeswater.kernels import super_parents
from bayeswater.kernels.super_parents import sum_under_own_class, sum_under_parents

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
    found = sum_under_parents(slots, root, table, use_loop=use_loop)
    np.testing.assert_array_equal(found, np.array(expected))


@roads
def test_the_own_class_alone_is_summed_when_asked_for(use_loop):
    slots, _, table, codes = case(3)
    by_class = np.ascontiguousarray(np.moveaxis(table, 2, 0))
    expected = [
        [sum(table[row[i], row[j], k] for j in range(7)) for row, k in zip(slots, codes, strict=True)] for i in range(7)
    ]
    found = sum_under_own_class(slots, codes, by_class, use_loop=use_loop)
    np.testing.assert_array_equal(found, np.array(expected))


@roads
def test_an_impossible_term_makes_the_joint_minus_infinity(use_loop):
    slots, root, table, _ = case(2)
    table[slots[0, 1], slots[0, 2], 0] = -np.inf
    found = sum_under_parents(slots, root, table, use_loop=use_loop)
    assert np.isneginf(found[1, 0, 0])
    assert np.isfinite(found[:, :, 1]).all()
