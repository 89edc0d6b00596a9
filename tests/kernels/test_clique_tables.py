"""Walks through the cells of scopes: where they lie in an array of some of the variables."""

import itertools

import numpy as np
import pytest

from bayeswater.kernels.clique_tables import Walks
from bayeswater.kernels.runs import Runs

CARDS = np.array([2, 3, 2])
MEMBERS = np.array([[0, 0], [1, 0], [2, 0], [1, 1], [0, 3], [2, 1]])  # a scope of all three, and two arrays
STRIDES = [{1: 1, 0: 3}, {2: 1}]
ORIGINS = np.array([0, 6])


def walks():
    scope, array = Runs(np.zeros(2, dtype=np.int64), np.full(2, 3)), Runs(np.array([3, 5]), np.array([5, 6]))
    return Walks.of(MEMBERS, CARDS, 12, scope, array, ORIGINS)


def places():
    cells = list(itertools.product(*map(range, CARDS)))
    return [
        [origin + sum(stride * cell[v] for v, stride in strides.items()) for cell in cells]
        for strides, origin in zip(STRIDES, ORIGINS.tolist(), strict=True)
    ]


@pytest.mark.parametrize("use_loop", [False, True], ids=["NumPy", "loop"])
def test_one_walk_multiplies_and_then_writes_the_map_of_the_same_places(use_loop):
    table, product, walk = np.arange(1.0, 9.0), np.ones(12), walks()
    walk.multiply(table, product, np.zeros(2, dtype=np.int64), use_loop=use_loop)
    first, second = places()
    assert product.tolist() == [table[a] * table[b] for a, b in zip(first, second, strict=True)]
    kept = np.array([0, 5, 11, 2])
    maps = walk.maps(kept, Runs(np.array([0, 2]), np.array([3, 4])), use_loop=use_loop)
    assert maps.dtype == np.uint32
    assert maps.tolist() == [*(first[k] for k in (0, 5, 11)), *(second[k] for k in (11, 2))]


@pytest.mark.parametrize("use_loop", [False, True], ids=["NumPy", "loop"])
def test_a_variable_that_only_the_array_of_one_walk_knows_does_not_move_the_next(use_loop):
    scope, array = Runs(np.array([0, 0]), np.array([1, 3])), Runs(np.array([3, 5]), np.array([5, 6]))
    maps = Walks.of(MEMBERS, CARDS, 12, scope, array, 0).maps(
        np.arange(12), Runs(np.array([0, 0]), np.array([2, 12])), use_loop=use_loop
    )
    assert maps.tolist() == [0, 3, *([0, 1] * 6)]
