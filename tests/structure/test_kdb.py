"""The structure of KDB: order and parents as Sahami defines them, ties by index."""

import numpy as np
import pytest
from tests.oracles.counting import complete, conditional_information, count
from tests.structure.counted_pairs import counts_of, table

from bayeswater import ParameterError
from bayeswater.structure.kdb import k_dependence
from bayeswater.structure.mutual_information import mutual_information


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
