"""Trees: the best of all trees there are, the same for any order of rows, rooted and penalised as documented.

The structure of KDB: order and parents as Sahami defines them, ties by index.
"""

from itertools import combinations

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracles.counting import complete, conditional_information, count
from tests.structure.counted_pairs import counts_of, table

from bayeswater import ParameterError
from bayeswater.structure.mutual_information import (
    conditional_mutual_information,
    descending_order,
    descending_ranks,
    mutual_information,
)
from bayeswater.structure.trees import k_dependence, maximum_spanning_forest, penalised_gain, rooted, tree_augmented


def is_forest(edges, n):
    """Say whether no edge closes a circle."""
    tree = list(range(n))
    for i, j in edges:
        if tree[i] == tree[j]:
            return False
        tree = [tree[i] if t == tree[j] else t for t in tree]
    return True


def all_trees(n):
    """All trees over n columns: n ** (n - 2) of them, by Cayley's formula."""
    edges = list(combinations(range(n), 2))
    return [tree for tree in combinations(edges, n - 1) if is_forest(tree, n)]


def as_edges(parent):
    return sorted((min(i, p), max(i, p)) for i, p in enumerate(parent.tolist()) if p >= 0)


@pytest.mark.parametrize("n_columns", [2, 3, 4, 5, 6])
def test_the_tree_is_the_best_of_all_trees(n_columns):
    trees = all_trees(n_columns)
    assert len(trees) == n_columns ** (n_columns - 2)
    X, y = table(n_columns, 40, n_columns)
    exact = {
        (i, j): conditional_information(complete(count(X.tolist(), y.tolist(), None, [i, j])), [0], [1], [2])
        for i, j in combinations(range(n_columns), 2)
    }
    best = max(trees, key=lambda tree: mpmath.fsum(exact[edge] for edge in tree))
    assert as_edges(tree_augmented(counts_of(X, y))) == sorted(best)


@settings(max_examples=30)
@given(st.data())
def test_of_equal_edges_those_of_lower_columns_are_taken(data):
    """With whole weights and many ties, the tree is that of Kruskal, edges ordered by weight and then by index."""
    n = data.draw(st.integers(1, 7))
    weight = np.zeros((n, n))
    for i, j in combinations(range(n), 2):
        weight[i, j] = weight[j, i] = data.draw(st.integers(0, 3))
    allowed = weight >= data.draw(st.integers(0, 3))
    taken = []
    for edge in sorted(combinations(range(n), 2), key=lambda edge: (-weight[edge], edge)):
        if allowed[edge] and is_forest([*taken, edge], n):
            taken.append(edge)
    assert maximum_spanning_forest(np.where(allowed, weight, -np.inf)) == sorted(taken)
    # A last bit more or less changes nothing.
    noise = 1 + np.random.default_rng(n).uniform(-1, 1, (n, n)) * 1e-15
    assert maximum_spanning_forest(np.where(allowed, weight * noise * noise.T, -np.inf)) == sorted(taken)


def test_the_order_of_rows_and_their_weights_in_parts_do_not_show():
    X, y = table(7, 60, 5)
    weight = np.random.default_rng(0).random(60)
    order = np.random.default_rng(1).permutation(60)
    whole = tree_augmented(counts_of(X, y, weight))
    np.testing.assert_array_equal(tree_augmented(counts_of(X[order], y[order], weight[order])), whole)
    parts = counts_of(X[:30], y[:30], weight[:30]) + counts_of(X[30:], y[30:], weight[30:])
    np.testing.assert_array_equal(tree_augmented(parts), whole)


def test_two_columns_of_the_same_cells_hang_on_the_first_of_them():
    X, y = table(8, 40, 3)
    twins = np.concatenate([X, X], axis=1)  # columns 3, 4, 5 are 0, 1, 2 again
    parent = tree_augmented(counts_of(twins, y))
    assert {(0, 3), (1, 4), (2, 5)} <= set(as_edges(parent))
    assert all((min(edge) < 3 and max(edge) - min(edge) == 3) or max(edge) < 3 for edge in as_edges(parent))


def test_the_root_is_the_column_that_tells_most_of_the_class():
    X, y = table(9, 40, 5)
    X[:, 3] = np.where(y == "yes", "c", "a")
    counts = counts_of(X, y)
    assert mutual_information(counts).argmax() == 3
    parent = tree_augmented(counts)
    assert parent[3] == -1
    assert (parent == -1).sum() == 1
    assert as_edges(tree_augmented(counts, root=0)) == as_edges(parent)
    assert tree_augmented(counts, root=0)[0] == -1


def test_equal_columns_let_the_first_be_root():
    X, y = table(10, 40, 2)
    X = X[:, [0, 0, 0]]
    assert tree_augmented(counts_of(X, y)).tolist() == [-1, 0, 0]


def test_every_tree_of_a_forest_has_a_root():
    preference = np.array([0.1, 0.5, 0.5, 0.2, 0.9])
    edges = [(0, 1), (0, 2)]
    assert rooted(edges, preference).tolist() == [1, -1, 0, -1, -1]
    assert rooted(edges, preference, root=2).tolist() == [2, 0, -1, -1, -1]
    assert rooted(edges, preference, root=3).tolist() == [1, -1, 0, -1, -1]


@pytest.mark.parametrize(("penalty", "price"), [("aic", lambda n: 1.0), ("bic", lambda n: np.log(n) / 2)])
def test_a_penalty_keeps_the_arcs_that_pay_for_their_parameters(penalty, price):
    rng = np.random.default_rng(11)
    X = rng.choice(np.array(["a", "b", "c"], dtype=object), size=(80, 4))
    X[:60, 1] = X[:60, 0]  # one arc that pays
    X[rng.random(X.shape) < 0.1] = None
    y = rng.choice(np.array(["no", "yes"]), 80)
    counts = counts_of(X, y)
    gain = penalised_gain(counts, conditional_mutual_information(counts), penalty)
    for i, j in combinations(range(4), 2):
        both = complete(count(X.tolist(), y.tolist(), None, [i, j]))
        n = float(sum(both.values()))
        expected = n * float(conditional_information(both, [0], [1], [2])) - 2 * 2 * 2 * price(n)
        assert gain[i, j] == pytest.approx(expected, rel=1e-12)
    forest = tree_augmented(counts, penalty=penalty)
    assert as_edges(forest) == [(0, 1)]
    assert (forest == -1).sum() == 3


def test_a_penalty_by_another_name_is_refused():
    with pytest.raises(ParameterError, match=r"penalty is 'mdl'; it can be None, 'aic' or 'bic'"):
        tree_augmented(counts_of(*table(12, 40, 5)), penalty="mdl")


def test_one_column_is_a_tree():
    X, y = table(13, 40, 1)
    assert tree_augmented(counts_of(X, y)).tolist() == [-1]
    assert tree_augmented(counts_of(X, y), penalty="bic").tolist() == [-1]


def test_numbers_within_rounding_share_a_rank():
    values = np.array([1.0, 1.0 - 1e-14, 0.5, 0.5 + 1e-13, 0.0, 1.0 - 1e-9])
    assert descending_ranks(values).tolist() == [0, 0, 2, 2, 3, 1]
    assert descending_order(values).tolist() == [0, 1, 5, 2, 3, 4]
    assert descending_order(np.zeros(0)).tolist() == []


def information(X, y, i, j):
    return conditional_information(complete(count(X.tolist(), y.tolist(), None, [i, j])), [0], [1], [2])


@pytest.mark.parametrize("k", [0, 1, 2, 5, 9])
def test_order_and_parents_follow_their_definition(k):
    X, y = table(0, 60, 6)
    single = [
        conditional_information(complete(count(X.tolist(), y.tolist(), None, [i])), [0], [1], []) for i in range(6)
    ]
    order = sorted(range(6), key=lambda i: (-single[i], i))
    found = k_dependence(counts_of(X, y), k)
    assert found.order == tuple(order)
    for place, i in enumerate(order):
        strongest = sorted(order[:place], key=lambda j: (-information(X, y, i, j), j))
        assert found.parents[i] == tuple(strongest[:k])


def test_weak_parents_are_left_out():
    X, y = table(1, 60, 6)
    everything = k_dependence(counts_of(X, y), 5)
    all_weights = sorted(information(X, y, i, j) for i, parents in enumerate(everything.parents) for j in parents)
    theta = float((all_weights[6] + all_weights[7]) / 2)
    found = k_dependence(counts_of(X, y), 5, theta)
    for i, parents in enumerate(everything.parents):
        assert found.parents[i] == tuple(j for j in parents if information(X, y, i, j) >= theta)
    assert sum(map(len, found.parents)) == 15 - 7


def test_equal_columns_go_by_their_index():
    X, y = table(2, 60, 1)
    found = k_dependence(counts_of(X[:, [0, 0, 0, 0]], y), 2)
    assert found.order == (0, 1, 2, 3)
    assert found.parents == ((), (0,), (0, 1), (0, 1))


def test_fewer_parents_than_none_are_refused():
    with pytest.raises(ParameterError, match="k is -1; a column has 0 parents or more"):
        k_dependence(counts_of(*table(3, 60, 6)), -1)


def test_a_drawn_order_begins_with_a_column_in_proportion_to_what_it_tells():
    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, 400)
    X = np.stack([np.where(rng.random(400) < noise, rng.integers(0, 2, 400), y) for noise in (0.3, 0.6, 0.8)], axis=1)
    X = np.column_stack([X, np.zeros(400, dtype=int)])
    counts = counts_of(X.astype(str), y)
    told = mutual_information(counts)
    assert told[3] == 0
    draws = np.random.default_rng(0)
    orders = [k_dependence(counts, 2, rng=draws).order for _ in range(2000)]
    assert all(order[3] == 3 for order in orders)  # what tells nothing comes last
    first = np.bincount([order[0] for order in orders], minlength=4) / 2000
    # A share of 2000 draws is off by 3.5 of its standard deviations, of at most 0.0112, once in 2000 seeds.
    np.testing.assert_allclose(first, told / told.sum(), atol=0.04)
    found = k_dependence(counts, 2, rng=np.random.default_rng(1))
    assert all(set(found.parents[x]) <= set(found.order[:place]) for place, x in enumerate(found.order))
    assert [len(found.parents[x]) for x in found.order] == [0, 1, 2, 2]
