"""Searches by blankets, MMHC and ARACNE: beside R's bnlearn, and the graph that perfect tests leave."""

from functools import cache
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.oracles.learners_of_bnlearn import answers
from tests.oracles.local_scores import is_acyclic
from tests.oracles.pc_of_bnlearn import NAMES, rows
from tests.structure.test_pc_stable import PerfectTest, sparse_dag

from bayeswater.errors import ParameterError
from bayeswater.structure.blankets import BLANKETS, NEAR, by_blankets, nearby
from bayeswater.structure.blankets import TestAnswers as Answers
from bayeswater.structure.dag import Dag, skeleton
from bayeswater.structure.equivalence import equivalence_class
from bayeswater.structure.knowledge import Knowledge
from bayeswater.structure.local_scores import LocalScores
from bayeswater.structure.pc_stable import pc_stable
from bayeswater.structure.scores import Score
from bayeswater.structure.search import BY_TESTS, search

BOTH_DIRECTED = ("mmpc", 3, "ac ce fc", "cg ge fe")
"""Tests that contradict one another: either way b -- g makes a cycle or a v-structure, and bnlearn leaves it so."""


@cache
def scores_of(table):
    """Count a table once for all methods."""
    return LocalScores(*rows(table), Score("bic"))


def graph(parents, names=NAMES):
    return Dag(names, tuple(tuple(sorted(own)) for own in parents))


@pytest.mark.parametrize("method", sorted({case.method for case in answers()}))
def test_the_graph_is_that_of_bnlearn(method):
    for case in answers():
        if case.method != method:
            continue
        required, forbidden, arcs = (list(map(tuple, listed.split())) for listed in case[2:5])
        known = Knowledge.of(NAMES, required, forbidden)
        left = search(scores_of(case.table), known, method)
        if method in ("mmhc", "h2pc", "rsmax2"):
            assert set(graph(left.parents).edges()) == set(arcs), case
            continue
        ours = {*left.pattern.directed(), *left.pattern.undirected()}
        if method == "aracne" or case[:4] == BOTH_DIRECTED:  # ARACNE of bnlearn is without directions
            assert {frozenset(arc) for arc in ours} == {frozenset(arc) for arc in arcs}, case
        else:
            assert ours == {(a, b) for a, b in arcs if (b, a) not in arcs or a < b}, case


@pytest.mark.parametrize("method", NEAR)
@given(seed=st.integers(0, 2**16), n=st.integers(2, 6))
def test_perfect_tests_and_true_knowledge_leave_the_members_of_the_class_that_keep_to_it(method, seed, n):
    rng = np.random.default_rng(seed)
    dag = sparse_dag(n, rng)
    edges = set(dag.edges())
    required = [arc for arc in sorted(edges) if rng.random() < 0.2]
    forbidden = [arc for arc in permutations(NAMES[:n], 2) if arc not in edges and rng.random() < 0.2]
    known = Knowledge.of(NAMES[:n], required, forbidden)
    parents = by_blankets(Answers(PerfectTest(dag), 0.05), known, method)[0].extension(known)
    assert equivalence_class(graph(parents, dag.names), known) == equivalence_class(dag, known)


@given(seed=st.integers(0, 2**16), n=st.integers(2, 6))
def test_perfect_tests_leave_mmhc_the_arcs_of_the_true_graph_either_way(seed, n):
    dag = sparse_dag(n, np.random.default_rng(seed))
    near, _ = nearby(Answers(PerfectTest(dag), 0.05), Knowledge.of(NAMES[:n]))
    assert [frozenset(np.flatnonzero(own).tolist()) for own in near] == list(skeleton(dag).neighbours)


@pytest.mark.parametrize("method", NEAR)
@pytest.mark.parametrize("seed", range(10))
def test_tests_that_contradict_one_another_still_leave_a_graph_without_a_cycle(method, seed):
    rng = np.random.default_rng(seed)

    class RandomTest:
        is_symmetric = True

        def p_value(self, x, y, given=()):
            return rng.random() * 0.08

        def rows_for_a_cell(self, x, y, given=()):
            return np.inf

    known = Knowledge.of(NAMES, required=[("a", "b")], forbidden=[("c", "d"), ("d", "c"), ("e", "f")])
    left, n_tests = by_blankets(Answers(RandomTest(), 0.05), known, method)
    parents = left.extension(known)
    assert is_acyclic(parents) and n_tests > 0
    assert 0 in parents[1]
    assert 2 not in parents[3] and 3 not in parents[2] and 4 not in parents[5]


class OneWayTest:
    """A test in which the order of two variables shows: those listed depend, as (x, y, given)."""

    is_symmetric = False

    def __init__(self, *depend):
        self.depend = depend

    def p_value(self, x, y, given=()):
        return 0.01 if (x, y, *given) in self.depend else 0.9

    def rows_for_a_cell(self, x, y, given=()):
        return np.inf


def test_nobody_leaves_the_blanket_of_fast_iamb_where_nobody_joined():
    # 3 leaves after 1 was tested; given 2 alone, 1 would leave, too
    ask = Answers(OneWayTest((1, 0), (2, 0), (3, 0), (0, 1, 2, 3), (0, 2, 1, 3)), 0.05)
    assert BLANKETS["fast_iamb"](ask, 0, [1, 2, 3], set()) == {1, 2}


@pytest.mark.parametrize("method", ["iamb", "inter_iamb"])
def test_the_last_that_joins_a_blanket_stays_in_it(method):
    ask = Answers(OneWayTest((1, 0), (2, 0, 1)), 0.05)
    assert BLANKETS[method](ask, 0, [1, 2], set()) == {2}


def test_where_tests_lead_iamb_fdr_round_in_a_circle_the_last_that_moved_stays_where_it_was():
    # 1 joins, then 2; given each other 1 leaves, and 2 would: nobody would be left, as in the beginning
    ask = Answers(OneWayTest((0, 1), (0, 2, 1)), 0.05)
    assert BLANKETS["iamb_fdr"](ask, 0, [1, 2], set()) == {2}


@pytest.mark.parametrize("method", ["mmpc", "si_hiton_pc"])
def test_who_may_not_be_joined_is_no_candidate_for_parents_and_children(method):
    # 1 would part 2 from 0, and 0 from 2
    test = OneWayTest((0, 1), (1, 0), (0, 2), (2, 0), (1, 2), (2, 1))
    known = Knowledge.of("abc", forbidden=[tuple(arc) for arc in ("ab", "ba", "bc", "cb")])
    near, _ = nearby(Answers(test, 0.05), known, method)
    assert list(zip(*np.nonzero(near), strict=True)) == [(0, 2), (2, 0)]


def test_the_only_member_of_a_blanket_is_a_neighbour_without_a_further_test():
    test = OneWayTest((0, 1, 2), (0, 2), (0, 2, 1), (1, 0))
    near, _ = nearby(Answers(test, 0.05), Knowledge.of("abc"), "grow_shrink")
    assert list(zip(*np.nonzero(near), strict=True)) == [(0, 1), (1, 0)]


def test_no_test_is_given_more_than_so_many():
    asked = []

    class Test:
        is_symmetric = True

        def p_value(self, x, y, given=()):
            asked.append(len(given))
            return 0.01

        def rows_for_a_cell(self, x, y, given=()):
            return np.inf

    for most in range(3):
        for method in NEAR:
            asked.clear()
            by_blankets(Answers(Test(), 0.05, max_given=most), Knowledge.of(NAMES), method)
            assert max(asked) <= most + 1, method  # one more: what a blanket grows by, or a child that is given always
        asked.clear()
        pc_stable(Test(), Knowledge.of(NAMES), 0.05, max_given=most)
        assert max(asked) == most


@pytest.mark.parametrize("restrict", BY_TESTS)
def test_a_climb_stays_among_the_arcs_of_any_search_by_tests(restrict):
    known = Knowledge.of(NAMES)
    near = search(scores_of(0), known, restrict).pattern
    joined = {frozenset(arc) for arc in (*near.directed(), *near.undirected())}
    for maximize in ("hill_climb", "tabu"):
        found = graph(search(scores_of(0), known, "rsmax2", restrict=restrict, maximize=maximize).parents)
        assert {frozenset(arc) for arc in found.edges()} <= joined


def test_aracne_joins_no_pair_without_information():
    codes = np.array([[0, 0, 1, 1] * 9, [0, 1, 0, 1] * 9, [0, 0, 1, 1] * 9, [0] * 36])
    scores = LocalScores(codes, np.array([2, 2, 2, 1]), Score("bic"))
    assert search(scores, Knowledge.of("abcd"), "aracne").parents == (set(), set(), {0}, set())


def test_what_only_tests_takes_no_most_parents_and_ends_with_its_time():
    scores = LocalScores(*rows(0), Score("bic"))
    with pytest.raises(ParameterError, match="'iamb' takes no max_parents"):
        search(scores, Knowledge.of(NAMES, max_parents=1), "iamb")
    assert max(map(len, search(scores, Knowledge.of(NAMES, max_parents=1), "mmhc").parents)) == 1
    assert search(scores, Knowledge.of(NAMES), "grow_shrink", time_limit=1e-9).parents == (frozenset(),) * len(NAMES)
