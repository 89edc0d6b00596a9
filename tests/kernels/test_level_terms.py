"""Probabilities along the tree of a family: the loop gives what the reference gives, for rows of every kind."""

import numpy as np
import pytest

from bayeswater.estimate.count_trees import level_tree
from bayeswater.kernels.level_terms import BackOffRule, Taken, level_terms
from bayeswater.statistics.parent_counts import ParentCells

N_SLOTS = np.array([4, 3, 5, 4])
"""Three parents and the column itself; the last slot of each is that of missing cells."""

N_ROWS = 300


def counted(weight=None):
    rng = np.random.default_rng(0)
    slots = np.stack([rng.integers(0, n, N_ROWS) for n in N_SLOTS])
    return slots, ParentCells.of(slots, N_SLOTS, rng.integers(0, 3, N_ROWS), weight, 3)


@pytest.mark.parametrize("n_parents", [0, 1, 2, 3])
@pytest.mark.parametrize("missing_is_state", [False, True])
@pytest.mark.parametrize("is_flat", [False, True])
@pytest.mark.parametrize("weights", [None, "fractions"])
def test_the_loop_equals_the_reference(n_parents, missing_is_state, is_flat, weights):
    rng = np.random.default_rng(1)
    weight = None if weights is None else rng.choice([0.1, 0.7, 1.3], N_ROWS)
    _, family = counted(weight)
    tree = level_tree(family, n_parents, missing_is_state=missing_is_state)
    n_levels = n_parents + 1
    rule = BackOffRule(rng.exponential(size=n_levels), rng.exponential(size=n_levels), 0.0 if is_flat else 0.3, is_flat)
    n_slots = [*N_SLOTS[:n_parents], N_SLOTS[-1]]
    slots = np.stack([rng.integers(0, n + 1, N_ROWS) for n in n_slots], axis=1)  # unseen states among them
    out = Taken(rng.integers(0, 3, N_ROWS), rng.choice([0.1, 0.7, 1.0], N_ROWS), rng.integers(0, n_levels + 1, N_ROWS))
    for taken in (None, out):
        for n_terms in {1, n_levels}:
            found, expected = (
                level_terms(slots, tree, rule, taken, n_terms, use_loop=use_loop) for use_loop in (True, False)
            )
            # A product and a sum for each level, in another order.
            np.testing.assert_allclose(found, expected, rtol=1e-13)
            assert (found[:, slots[:, -1] >= tree.n_states] == 1).all()


def test_every_level_is_a_distribution():
    slots, family = counted()
    tree = level_tree(family, 3, missing_is_state=False)
    rule = BackOffRule(np.array([0.5, 2.0, 0.1, 7.0]), np.array([1.0, 0.3, 4.0, 0.7]), 0.3, False)
    each = np.repeat(slots.T, 3, axis=0)
    each[:, -1] = np.tile(np.arange(3), N_ROWS)
    terms = level_terms(each, tree, rule, None, 4, use_loop=False)
    # Of three shares, each rounded.
    np.testing.assert_allclose(terms.reshape(4, N_ROWS, 3, 3).sum(axis=2), 1.0, rtol=1e-14)


def test_nodes_keep_the_rows_that_have_the_column_and_its_first_parents():
    slots, family = counted()
    tree = level_tree(family, 2, missing_is_state=False)
    there = slots < N_SLOTS[:, None] - 1
    expected = [there[-1].sum()]
    for a in range(3):
        expected.append((there[-1] & (slots[0] == a)).sum())
    for a in range(3):
        for b in range(2):
            expected.append((there[-1] & (slots[0] == a) & (slots[1] == b)).sum())
    np.testing.assert_array_equal(tree.node_total, expected)
