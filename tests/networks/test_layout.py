"""The layout keeps its promises on any graph: parents above children, few crossings, and room between neighbours."""

from itertools import combinations, pairwise

import numpy as np
import pytest
from tests.structure.graphs import random_dag

from bayeswater.networks.layout import centres, isotonic, layered, ordered_rows
from bayeswater.structure.dag import Dag


@pytest.fixture(params=range(6))
def dag(request) -> Dag:
    rng = np.random.default_rng(request.param)
    return random_dag(25, int(rng.integers(10, 45)), rng)


def test_every_edge_goes_down_from_one_layer_to_the_next(dag):
    layers = layered(dag)
    place = {vertex: k for k, row in enumerate(layers.rows) for vertex in row}
    assert set(layers.chains) == {(p, c) for c, own in enumerate(dag.parents) for p in own}
    for (parent, child), chain in layers.chains.items():
        assert (chain[0], chain[-1]) == (parent, child)
        assert all(place[b] - place[a] == 1 for a, b in pairwise(chain))
        assert all(vertex >= len(dag) for vertex in chain[1:-1])


def test_a_node_stands_where_its_edges_are_shortest():
    layers = layered(Dag.parse("a -> b -> c -> d; e -> d; e -> f"))
    place = {vertex: k for k, row in enumerate(layers.rows) for vertex in row}
    assert place[4] == place[2]  # e beside c, not beside a


def test_a_variable_with_fifty_children_is_drawn_in_lines_of_a_dozen():
    layers = layered(Dag.from_edges([("class", f"x{j}") for j in range(50)]))
    assert max(sum(v < 51 for v in row) for row in layers.rows) <= 11


def crossings(rows, layers) -> int:
    total = 0
    for upper, lower in pairwise(rows):
        edges = [(upper.index(v), lower.index(w)) for v in upper for w in layers.below[v]]
        total += sum((a - c) * (b - d) < 0 for (a, b), (c, d) in combinations(edges, 2))
    return total


def test_ordering_loses_no_vertex_and_adds_no_crossing(dag):
    layers = layered(dag)
    rows = ordered_rows(layers)
    assert [sorted(row) for row in rows] == [sorted(row) for row in layers.rows]
    assert crossings(rows, layers) <= crossings(layers.rows, layers)


def test_a_planar_tree_is_drawn_without_a_crossing():
    dag = Dag.from_edges(
        [(f"n{(j - 1) // 2}", f"n{j}") for j in np.random.default_rng(0).permutation(range(1, 31)).tolist()]
    )
    layers = layered(dag)
    assert crossings(ordered_rows(layers), layers) == 0


def test_neighbours_in_a_layer_keep_their_distance(dag):
    layers = layered(dag)
    rows = ordered_rows(layers)
    widths = [10.0 + vertex % 7 for vertex in range(len(layers.above))]
    x = centres(layers, rows, widths, gap=5.0, bend_gap=2.0)
    for row in rows:
        for a, b in pairwise(row):
            gap = 5.0 if max(a, b) < len(dag) else 2.0
            assert x[b] - x[a] >= (widths[a] + widths[b]) / 2 + gap - 1e-9  # rounding of a hundred sums


def test_isotonic_regression_is_that_of_brute_force():
    from sklearn.isotonic import IsotonicRegression

    rng = np.random.default_rng(0)
    wanted, weight = rng.normal(size=50), rng.uniform(0.1, 2, size=50)
    expected = IsotonicRegression().fit_transform(np.arange(50), wanted, sample_weight=weight)
    assert isotonic(wanted.tolist(), weight.tolist()) == pytest.approx(expected.tolist(), abs=1e-12)
