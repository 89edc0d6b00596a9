"""What structures are learned, and how sure their arcs are, does not depend on the order of the columns."""

import numpy as np
import pandas as pd
import pytest
from tests.oracles.pc_of_bnlearn import NAMES, rows

from bayeswater import bootstrap_structure, learn_structure
from bayeswater.structure.search import METHODS

KNOWN = {"required": [("a", "b")], "forbidden": [("c", "d")], "tiers": [["a", "c"], ["e"]]}


def frame(table, n_rows):
    """Columns of which one is another under a second name, so that there are ties."""
    data = pd.DataFrame(rows(table)[0][:, :n_rows].T.astype(str), columns=list(NAMES))
    return data.assign(h=data["b"])


def orders(data):
    rng = np.random.default_rng(len(data))
    return [data, data.iloc[:, ::-1], data.iloc[:, rng.permutation(data.shape[1])]]


@pytest.mark.parametrize(
    ("method", "known"), [*((method, {}) for method in METHODS), ("hill_climb", KNOWN), ("exact", KNOWN), ("pc", KNOWN)]
)
def test_how_sure_arcs_are_does_not_depend_on_the_order_of_the_columns(method, known):
    found = [bootstrap_structure(data, n=4, method=method, **known) for data in orders(frame(3, 200))]
    for other in found[1:]:
        place = [other.table.names.index(name) for name in found[0].table.names]
        np.testing.assert_array_equal(other.strength[np.ix_(place, place)], found[0].strength)
        np.testing.assert_array_equal(other.direction[np.ix_(place, place)], found[0].direction)
        assert other.threshold == found[0].threshold
        assert set(other.graph().edges()) == set(found[0].graph().edges())
        assert other.to_frame().equals(found[0].to_frame())


@pytest.mark.parametrize("table", range(4))
def test_the_best_graph_and_the_best_tree_score_the_same_in_any_order_of_the_columns(table):
    for method in ("exact", "tree"):
        found = [learn_structure(data, method=method).score for data in orders(frame(table, 300))]
        assert found == pytest.approx([found[0]] * 3, rel=1e-12)


@pytest.mark.parametrize("known", [{}, KNOWN], ids=["free", "known"])
def test_without_ties_the_best_graphs_are_the_same_class_in_any_order_of_the_columns(known):
    for table in range(4):
        data = frame(table, 300).drop(columns="h")
        found = [learn_structure(data, method="exact", **known).equivalence_class() for data in orders(data)]
        for other in found[1:]:
            assert set(other.directed()) == set(found[0].directed())
            assert set(map(frozenset, other.undirected())) == set(map(frozenset, found[0].undirected()))


@pytest.mark.parametrize("table", range(6))
@pytest.mark.parametrize("known", [{}, KNOWN], ids=["free", "known"])
def test_tests_join_the_same_pairs_in_any_order_of_the_columns(table, known):
    found = [learn_structure(data, method="pc", **known).graph for data in orders(frame(table, 2000))]
    pairs = [{frozenset(pair) for pair in graph.edges()} for graph in found]
    assert pairs[1:] == pairs[:1] * 2
