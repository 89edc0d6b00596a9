"""PC: the graph that perfect tests leave."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.oracles.local_scores import is_acyclic, random_parents
from tests.oracles.pc_of_bnlearn import NAMES, SIGNIFICANCE, answers, rows
from tests.structure.graphs import is_d_separated

from bayeswater.structure.dag import Dag
from bayeswater.structure.equivalence import equivalence_class, is_equivalent
from bayeswater.structure.independence import IndependenceTest
from bayeswater.structure.knowledge import Knowledge
from bayeswater.structure.pc_stable import pc_stable


class PerfectTest:
    """Says what holds in a graph."""

    is_symmetric = True

    def __init__(self, dag):
        self.dag = dag

    def rows_for_a_cell(self, x, y, given=()):
        return np.inf

    def p_value(self, x, y, given=()):
        return 1.0 if is_d_separated(self.dag, frozenset({x}), frozenset({y}), frozenset(given)) else 0.0


def sparse_dag(n, rng):
    return Dag(NAMES[:n], tuple(tuple(x for x in sorted(own) if rng.random() < 0.6) for own in random_parents(n, rng)))


def found(test, known):
    parents = pc_stable(test, known, SIGNIFICANCE)[0].extension(known)
    return Dag(known.names, tuple(tuple(sorted(own)) for own in parents))


@given(seed=st.integers(0, 2**16), n=st.integers(2, 6))
def test_perfect_tests_leave_the_class_of_the_true_graph(seed, n):
    dag = sparse_dag(n, np.random.default_rng(seed))
    assert is_equivalent(found(PerfectTest(dag), Knowledge.of(NAMES[:n])), dag)


@given(seed=st.integers(0, 2**16), n=st.integers(2, 6))
def test_perfect_tests_and_true_knowledge_leave_the_members_of_the_class_that_keep_to_it(seed, n):
    rng = np.random.default_rng(seed)
    dag = sparse_dag(n, rng)
    edges = set(dag.edges())
    required = [arc for arc in sorted(edges) if rng.random() < 0.2]
    forbidden = [arc for arc in permutations(NAMES[:n], 2) if arc not in edges and rng.random() < 0.3]
    known = Knowledge.of(NAMES[:n], required, forbidden)
    assert equivalence_class(found(PerfectTest(dag), known), known) == equivalence_class(dag, known)


def test_a_pair_that_may_not_be_joined_is_parted_by_tests_where_a_v_structure_depends_on_it():
    both_ways = Knowledge.of(("a", "b", "c"), forbidden="a -> b; b -> a")
    for text in ("a -> c; c -> b", "a -> c; b -> c", "a -> b; a -> c; c -> b"):
        dag = Dag.from_edges(Dag.parse(text).edges(), nodes=("a", "b", "c"))
        left = found(PerfectTest(dag), both_ways)
        # Where no set parts the two, nothing speaks for a v-structure.
        assert (left.parents[2] == (0, 1)) == (text == "a -> c; b -> c")


CONTRADICTED = "ac ce fc"
"""Either direction of f -- b and g -- b closes a cycle or makes a new v-structure with d -> b; bnlearn directs d -> b
alone, as d is the first column of the three, and here all three are directed so that there is no cycle."""


@pytest.mark.parametrize("table", sorted({case.table for case in answers()}))
def test_with_knowledge_the_graph_is_that_of_bnlearn(table):
    codes, n_states = rows(table)
    tests = IndependenceTest(codes, n_states)
    for case in answers():
        if case.table != table or case.required == CONTRADICTED:
            continue
        required, forbidden, arcs = (list(map(tuple, listed.split())) for listed in case[1:4])
        known = Knowledge.of(NAMES, required, forbidden)
        pattern = pc_stable(tests, known, SIGNIFICANCE)[0].frozen(NAMES)
        assert {*pattern.directed(), *pattern.undirected()} == {(a, b) for a, b in arcs if (b, a) not in arcs or a < b}


def test_a_v_structure_is_directed_as_a_whole_or_not_at_all():
    """b, d and f are parted without a; but with a -> f required, f -> a cannot be, nor b -> a <- f or d -> a <- f."""
    dag = Dag.from_edges([("a", "b"), ("a", "d"), ("c", "d"), ("b", "e"), ("f", "e")], nodes=tuple("abcdef"))
    known = Knowledge.of(dag.names, required=[("a", "f")])
    assert found(PerfectTest(dag), known).parents[0] == ()


@pytest.mark.parametrize("seed", range(40))
def test_tests_that_contradict_one_another_still_leave_a_graph_without_a_cycle(seed):
    rng = np.random.default_rng(seed)

    class RandomTest:
        is_symmetric = True

        def p_value(self, x, y, given=()):
            return rng.random() * 0.08

    known = Knowledge.of(NAMES, required=[("a", "b")], forbidden=[("c", "d"), ("d", "c"), ("e", "f")])
    graph, n_tests = pc_stable(RandomTest(), known, 0.05)
    parents = graph.extension(known)
    assert is_acyclic(parents) and n_tests > 0
    assert 0 in parents[1]
    assert 2 not in parents[3] and 3 not in parents[2] and 4 not in parents[5]
