"""Probabilities from cells in the order of the parents, against the reference of `level_terms` and plain counting."""

import numpy as np
import pytest

from bayeswater.estimate import count_trees
from bayeswater.estimate.count_trees import cell_tree, level_tree
from bayeswater.kernels.cell_terms import LevelRule, cell_terms, find_nodes, own_counts
from bayeswater.kernels.level_terms import BackOffRule, Taken, level_terms
from bayeswater.statistics.parent_counts import ParentCells, class_cells

N_SLOTS = np.array([4, 3, 5, 4])
"""Three parents and the column itself; the last slot of each is that of cells that are not there."""

N_ROWS, N_CLASSES = 300, 3


def rows_of(n_parents, seed=0):
    rng = np.random.default_rng(seed)
    n_slots = np.array([*N_SLOTS[:n_parents], N_SLOTS[-1]])
    slots = np.stack([np.minimum(rng.geometric(0.4, N_ROWS) - 1, n - 1) for n in n_slots]).astype(np.uint8)
    return n_slots, slots, rng.integers(0, N_CLASSES, N_ROWS)


def sparse(n_slots, slots, y, weight):
    return class_cells(np.concatenate([slots, y[None].astype(np.uint8)]), np.append(n_slots, N_CLASSES), weight)


@pytest.mark.parametrize("n_parents", [0, 1, 3])
@pytest.mark.parametrize("long", [0, 5, 10**6])
@pytest.mark.parametrize("weights", [None, "fractions"])
def test_terms_are_those_of_the_tree_of_the_family(n_parents, long, weights, monkeypatch):
    """Whatever is in the trunk: everything, the longer stretches, or the root alone."""
    monkeypatch.setattr(count_trees, "LONG", long)
    monkeypatch.setattr(count_trees, "SHARE_OF_TABLE", 0.0)
    rng = np.random.default_rng(1)
    n_slots, slots, y = rows_of(n_parents)
    weight = None if weights is None else rng.choice([0.1, 0.7, 1.3], N_ROWS)
    dense = level_tree(ParentCells.of(slots, n_slots, y, weight, N_CLASSES), n_parents, missing_is_state=False)
    tree = cell_tree(sparse(n_slots, slots, y, weight))
    c, f = rng.exponential(size=n_parents + 1), rng.exponential(size=n_parents + 1)
    nodes = find_nodes(np.ascontiguousarray(slots[:-1].T), tree, n_slots[:-1] - 1)
    removed = np.ones(N_ROWS) if weight is None else np.minimum(weight, 1.0)
    there = slots[[-1, *range(n_parents)]] < n_slots[[-1, *range(n_parents)], None] - 1
    n_levels = np.cumprod(there, axis=0).sum(axis=0)
    for class_free in (0.0, 0.3, 1.0):
        for codes, out in ((np.full(N_ROWS, -1), np.zeros(N_ROWS)), (y, removed)):
            taken = None if codes is not y else Taken(y, removed, n_levels)
            for every_level in (True, False):
                n_terms = n_parents + 1 if every_level else 1
                expected = level_terms(
                    slots.T.astype(np.int64),
                    dense,
                    BackOffRule(c, f, class_free, False),
                    taken,
                    n_terms,
                    use_loop=False,
                )
                found = cell_terms(
                    nodes, slots[-1], tree, LevelRule(c, f, class_free), codes, out, every_level=every_level
                )
                # A product and a sum for each level, of counts that fractions add up to in another order.
                np.testing.assert_allclose(found, expected, rtol=1e-11)


@pytest.mark.parametrize("long", [0, 10**6])
def test_counts_of_nodes_are_those_of_the_rows_in_them(long, monkeypatch):
    monkeypatch.setattr(count_trees, "LONG", long)
    n_slots, slots, y = rows_of(3)
    tree = cell_tree(sparse(n_slots, slots, y, None))
    nodes = find_nodes(np.ascontiguousarray(slots[:-1].T), tree, n_slots[:-1] - 1)
    found = own_counts(nodes, slots[-1], y, np.ones(N_ROWS), tree)
    has_own = slots[-1] < n_slots[-1] - 1
    for i in range(N_ROWS):
        for level in range(4):
            inside = has_own & (slots[:level] == slots[:level, i, None]).all(axis=0)
            if not has_own[i] or (slots[:level, i] == n_slots[:level] - 1).any():
                inside[:] = False
            same_x, same_y = slots[-1] == slots[-1, i], y == y[i]
            expected = [
                (inside & same_x & same_y).sum(),
                (inside & same_y).sum(),
                (inside & same_x).sum(),
                inside.sum(),
            ]
            assert found[:, level, i].tolist() == [max(count - 1, 0) for count in expected]  # without the row


def test_a_node_that_only_the_row_itself_has_is_none():
    """Its term is that of the level before, whatever lambda: the row predicts nothing of itself."""
    slots = np.array([[0, 0, 1], [0, 1, 1]], dtype=np.uint8)  # the last row is alone under its parent
    tree = cell_tree(sparse(np.array([3, 3]), slots, np.array([0, 1, 1]), None))
    nodes = find_nodes(np.ascontiguousarray(slots[:-1].T), tree, np.array([2]))
    rule = LevelRule(np.array([0.5, 2.0]), np.array([1.0, 3.0]), 0.3)
    root, last = cell_terms(nodes, slots[1], tree, rule, np.array([0, 1, 1]), np.ones(3), every_level=True)[:, 2]
    np.testing.assert_array_equal(root, last)


def test_a_slot_that_no_row_had_ends_the_way_down():
    n_slots, slots, y = rows_of(2)
    tree = cell_tree(sparse(n_slots, slots, y, None))
    strange = np.array([[3, 0], [0, 2], [0, 0]], dtype=np.uint8)
    nodes = find_nodes(strange, tree, n_slots[:-1] - 1)
    assert (nodes[:, :, 1] > nodes[:, :, 0]).tolist() == [[True, False, False], [True, True, False], [True, True, True]]
