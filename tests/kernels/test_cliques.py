"""Orders, trees and tables of cliques: the loops give what the references give, and the trees are junction trees."""

import itertools

import numpy as np
import pytest
from tests.inference.exact.small_networks import chain, random_network, random_rows, star
from tests.oracles.clique_tables import tables_cell_by_cell

from bayeswater.inference.exact.evidence_rows import read_rows
from bayeswater.inference.exact.factors import Factors
from bayeswater.inference.exact.junction_tree import Plan, make_plan, roles_of
from bayeswater.inference.exact.log_passes import log_marginals
from bayeswater.kernels.clique_passes import IMPOSSIBLE, TINY, TOO_SMALL, Answers, Scaling, pass_messages
from bayeswater.kernels.clique_tables import fill_tables
from bayeswater.kernels.clique_tree import build_tree
from bayeswater.kernels.elimination_order import MIN_FILL, MIN_WEIGHT, eliminate_greedily
from bayeswater.kernels.elimination_steps import Workspace, eliminate_in_rows, steps_of

RULES = [MIN_FILL, MIN_WEIGHT]


def networks():
    rng = np.random.default_rng(0)
    yield from (random_network(rng, n, most_parents=k) for n in (1, 2, 5, 9, 14) for k in (1, 2, 4))
    yield chain(12)
    yield star(np.full((3, 2), 0.5), 7)


def some_roles(rng, factors, evidence=0.5):
    fixed, soft, wanted = (rng.random(factors.n_variables) < share for share in (0.3, evidence, 0.8))
    return roles_of(factors, fixed, soft, wanted)


def elimination_of(factors, roles, rule, use_loop):
    families = factors.families
    return eliminate_greedily(
        families.start, families.variable, roles.relevant, roles.fixed, factors.card_array, rule, use_loop=use_loop
    )


@pytest.mark.parametrize("rule", RULES, ids=["min-fill", "min-weight"])
def test_the_loop_eliminates_in_the_order_of_the_reference(rule):
    rng = np.random.default_rng(1)
    for factors in networks():
        roles = some_roles(rng, factors)
        reference, loop = (elimination_of(factors, roles, rule, use_loop) for use_loop in (False, True))
        assert reference.order.tolist() == loop.order.tolist()
        assert [reference.step(i) for i in range(len(reference.order))] == [
            loop.step(i) for i in range(len(loop.order))
        ]


@pytest.mark.parametrize("rule", RULES, ids=["min-fill", "min-weight"])
def test_every_step_is_greedy_and_joins_the_neighbours(rule):
    rng = np.random.default_rng(2)
    for factors in networks():
        roles = some_roles(rng, factors)
        graph: dict[int, set[int]] = {}
        for f in np.flatnonzero(roles.relevant):
            free = [v for v in (*factors.parents[f], f) if not roles.fixed[v]]
            for v in free:
                graph.setdefault(v, set()).update(u for u in free if u != v)

        def rank(v, graph=graph, factors=factors):
            fill = sum(b not in graph[a] for a, b in itertools.combinations(graph[v], 2))
            weight = np.prod([factors.cards[u] for u in (v, *graph[v])])
            return (fill, weight, v) if rule == MIN_FILL else (weight, fill, v)

        elimination = elimination_of(factors, roles, rule, use_loop=True)
        for i, v in enumerate(elimination.order.tolist()):
            assert v == min(graph, key=rank)
            assert elimination.step(i) == [v, *sorted(graph[v])]
            for u in graph.pop(v):
                graph[u] |= set(elimination.step(i)) - {u, v}
                graph[u] -= {u, v}
        assert not graph


@pytest.mark.parametrize("use_loop", [False, True], ids=["plain", "compiled"])
def test_a_tree_holds_every_family_and_each_variable_in_one_connected_part(use_loop):
    rng = np.random.default_rng(3)
    for factors in networks():
        roles = some_roles(rng, factors)
        tree = build_tree([elimination_of(factors, roles, MIN_FILL, use_loop)], factors.card_array)
        scopes = [set(tree.scope(c)) for c in range(len(tree.parent))]
        for c, parent in enumerate(tree.parent):
            assert parent < c
            shared = scopes[c] & scopes[parent] if parent >= 0 else set()
            assert set(tree.scope(c)[: tree.n_shared[c]]) == shared
            assert tree.n_own[c] == np.prod([factors.cards[v] for v in shared])
            assert tree.n_states[c] == np.prod([factors.cards[v] for v in scopes[c]])
            assert not any(scopes[c] <= other for d, other in enumerate(scopes) if d != c)
        for v in set().union(*scopes):
            tops = [c for c, scope in enumerate(scopes) if v in scope and v not in tree.scope(c)[: tree.n_shared[c]]]
            assert len(tops) == 1
            assert tree.n_states[tree.host[v]] == min(tree.n_states[c] for c, scope in enumerate(scopes) if v in scope)
        for f in np.flatnonzero(roles.relevant):
            free = {v for v in (*factors.parents[f], f) if not roles.fixed[v]}
            assert not free or free <= scopes[tree.home[min(free, key=tree.turn.__getitem__)]]


@pytest.mark.parametrize("use_loop", [False, True], ids=["NumPy", "loop"])
def test_tables_are_filled_as_cell_by_cell(use_loop):
    rng = np.random.default_rng(4)
    for factors in networks():
        roles = some_roles(rng, factors)
        tree = make_plan(factors, roles, use_loop=False).tree
        tables = fill_tables(tree, factors.card_array, factors.families, roles, use_loop=use_loop)
        for name, expected in tables_cell_by_cell(tree, factors, roles).items():
            assert getattr(tables, name).tolist() == expected, name


def test_zeros_of_the_base_are_left_out():
    sure = Factors((4, 4), ((), (0,)), (np.full(4, 0.25), np.eye(4)))
    nothing, everything = np.zeros(2, dtype=bool), np.ones(2, dtype=bool)
    plan = make_plan(sure, roles_of(sure, nothing, nothing, everything), use_loop=False)
    assert len(plan.tables.base) == 4
    assert plan.tree.n_cells == 16


@pytest.mark.parametrize("width", [1, 3, 64])
@pytest.mark.parametrize("scale", [0, 2], ids=["unscaled", "scaled"])
def test_the_passes_agree_with_those_in_logarithms(width, scale):
    rng = np.random.default_rng(5)
    for factors in networks():
        codes = random_rows(rng, factors, 7, 0.5)
        missing = codes >= factors.cards
        fixed = ~missing.any(axis=0)
        soft = {v: rng.random((7, card)) for v, card in enumerate(factors.cards) if rng.random() < 0.3}
        rows = read_rows(factors, codes, soft)
        roles = roles_of(factors, fixed, ~fixed, np.ones(factors.n_variables, dtype=bool))
        plan: Plan = make_plan(factors, roles, use_loop=False)
        expected, log_evidence = log_marginals(plan, rows.evidence, np.arange(7))
        cards = factors.card_array
        answers = Answers(
            (np.cumsum(cards) - cards) * 7, np.empty(7 * cards.sum()), np.empty(7), np.empty(7, dtype=np.uint8)
        )
        scaling = plan.scaling
        scaling = scaling._replace(scale=np.full_like(scaling.scale, scale))
        pass_messages(plan.tables, factors.families, cards, rows.evidence, np.arange(7), scaling, width, answers)
        np.testing.assert_array_equal(answers.state == IMPOSSIBLE, np.isneginf(log_evidence))
        np.testing.assert_allclose(answers.log_evidence, log_evidence, rtol=0, atol=1e-12)
        for v, values in expected.items():
            free = missing[:, v] & (answers.state == 0)
            np.testing.assert_allclose(answers.of_variable(v, cards[v])[free], values[free], rtol=0, atol=1e-12)


def test_rows_one_by_one_agree_with_the_passes_in_logarithms():
    rng = np.random.default_rng(6)
    for factors in networks():
        cards, families = factors.card_array, factors.families
        row = random_rows(rng, factors, 1, 0.4)
        seen = (row < cards)[0]
        codes = np.where(seen, rng.integers(0, cards, size=(3, len(cards))), cards)
        soft = {v: rng.random((3, card)) for v, card in enumerate(factors.cards) if rng.random() < 0.3}
        rows = read_rows(factors, codes, soft)
        roles = roles_of(factors, seen, rows.evidence.soft >= 0, np.ones(factors.n_variables, dtype=bool))
        expected, log_evidence = log_marginals(make_plan(factors, roles, use_loop=False), rows.evidence, np.arange(3))
        answers = Answers(
            3 * (np.cumsum(cards) - cards), np.zeros(3 * cards.sum()), np.empty(3), np.empty(3, dtype=np.uint8)
        )
        steps = steps_of(elimination_of(factors, roles, MIN_WEIGHT, False), cards, families, roles)
        floor = steps.least_products(factors.log_least, rows.log_least)
        eliminate_in_rows(steps, families, cards, rows.evidence, np.arange(3), floor, answers)
        np.testing.assert_array_equal(answers.state == IMPOSSIBLE, np.isneginf(log_evidence))
        np.testing.assert_allclose(answers.log_evidence, log_evidence, rtol=0, atol=1e-12)
        for v, values in expected.items():
            possible = answers.state != IMPOSSIBLE
            np.testing.assert_allclose(answers.of_variable(v, cards[v])[possible], values[possible], rtol=0, atol=1e-12)


def test_a_variable_of_many_states_is_eliminated_without_room_for_each_pair_of_them():
    class CountedRoom(Workspace):
        def take(self, n_floats):
            self.n_taken = n_floats
            return super().take(n_floats)

    factors = Factors((100,), ((),), (np.full(100, 0.01),))
    rows, nothing, room = read_rows(factors, np.array([[100]])), np.zeros(1, dtype=bool), CountedRoom()
    roles = roles_of(factors, nothing, nothing, ~nothing)
    steps = steps_of(elimination_of(factors, roles, MIN_WEIGHT, False), factors.card_array, factors.families, roles)
    answers = Answers(np.zeros(1, dtype=np.int64), np.zeros(100), np.empty(1), np.empty(1, dtype=np.uint8))
    floor = steps.least_products(factors.log_least, rows.log_least)
    eliminate_in_rows(steps, factors.families, factors.card_array, rows.evidence, np.arange(1), floor, answers, room)
    np.testing.assert_allclose(answers.marginal, 0.01, rtol=1e-14)
    assert room.n_taken == 100 + 2 + 100  # a table, a message up and down, and the cells of the step
    assert len(factors.log_table) == 100


def test_a_row_whose_products_may_be_too_small_is_given_back():
    factors = chain(3)
    nothing, everything = np.zeros(3, dtype=bool), np.ones(3, dtype=bool)
    roles = roles_of(factors, nothing, nothing, everything)
    plan = make_plan(factors, roles, use_loop=False)
    rows = read_rows(factors, np.full((1, 3), 2))
    for floor, state in ((2 * TINY, 0), (TINY / 2, TOO_SMALL)):
        answers = Answers(np.arange(3) * 2, np.empty(6), np.empty(1), np.empty(1, dtype=np.uint8))
        scaling = Scaling(np.array([floor, 1.0]), np.full(2, 2, dtype=np.uint8))  # the root may be so small
        pass_messages(
            plan.tables, factors.families, factors.card_array, rows.evidence, np.arange(1), scaling, 4, answers
        )
        assert answers.state[0] == state
