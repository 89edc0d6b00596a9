"""Where families, evidence and what is asked for hang on a tree of cliques."""

import numpy as np
import pytest
from tests.kernels.test_cliques import networks, some_roles

from bayeswater.inference.exact.junction_tree import make_plan
from bayeswater.kernels.clique_tree import BOTH, CHILD, CONSTANT, EVIDENCE, FAMILY_LEAF, MARGINAL, N_KINDS, place


@pytest.fixture(scope="module")
def placed():
    rng = np.random.default_rng(8)
    found = []
    for factors in networks():
        roles = some_roles(rng, factors)
        tree = make_plan(factors, roles, use_loop=False).tree
        found.append((factors, roles, tree, place(tree, factors.card_array, factors.families, roles)))
    return found


def free_of(factors, roles, f):
    return {v for v in factors.scopes[f] if not roles.fixed[v]}


def test_a_family_is_in_a_clique_with_its_free_variables_and_one_of_slices_in_the_smallest(placed):
    for factors, roles, tree, places in placed:
        scopes = [set(tree.scope(c)) for c in range(len(tree.parent))]
        for f in range(factors.n_variables):
            free = free_of(factors, roles, f)
            if not roles.relevant[f] or not free:
                assert places.hosted[f] == -1
                continue
            assert free <= scopes[places.hosted[f]]
            if len(free) < len(factors.scopes[f]):
                room = [tree.n_states[c] for c, scope in enumerate(scopes) if free <= scope]
                assert tree.n_states[places.hosted[f]] == min(room)


def test_every_job_is_there_once_under_its_clique_and_kind(placed):
    for factors, roles, tree, places in placed:
        jobs = set()
        for c in range(len(tree.parent)):
            for kind in range(N_KINDS):
                k = N_KINDS * c + kind
                jobs |= {(c, kind, what) for what in places.job[places.first_job[k] : places.first_job[k + 1]].tolist()}
        assert len(jobs) == len(places.job)
        expected = {(int(tree.parent[c]), CHILD, c) for c in range(len(tree.parent)) if tree.parent[c] >= 0}
        for v in range(factors.n_variables):
            if tree.host[v] >= 0 and (roles.evidence[v] or roles.wanted[v]):
                kind = EVIDENCE if not roles.wanted[v] else BOTH if roles.evidence[v] else MARGINAL
                expected.add((int(tree.host[v]), kind, v))
            if places.hosted[v] >= 0:
                is_leaf = len(free_of(factors, roles, v)) < len(factors.scopes[v])
                expected.add((int(places.hosted[v]), FAMILY_LEAF if is_leaf else CONSTANT, v))
        assert jobs == expected


def test_messages_lie_side_by_side_and_leaves_know_where_rows_move_them(placed):
    for factors, roles, tree, places in placed:
        cells = []
        for v in range(factors.n_variables):
            free = free_of(factors, roles, v)
            if places.variable_leaf[v] >= 0:
                cells += range(places.variable_leaf[v], places.variable_leaf[v] + factors.cards[v])
            if places.leaf_of[v] >= 0:
                width = int(np.prod([factors.cards[u] for u in free]))
                cells += range(places.leaf_of[v], places.leaf_of[v] + width)
                assert (places.leaf_of[v] >= places.lonely) == (not free)
                k = places.leaf[:-1, 0].tolist().index(places.leaf_of[v])
                assert places.leaf[k + 1, 1] - places.leaf[k, 1] == width
                parts = {tuple(part) for part in places.part[places.leaf[k, 2] : places.leaf[k + 1, 2]].tolist()}
                line = slice(factors.families.start[v], factors.families.start[v + 1])
                members = zip(factors.families.variable[line], factors.families.stride[line], strict=True)
                assert parts == {(int(u), int(stride)) for u, stride in members if roles.fixed[u]}
        assert sorted(cells) == list(range(int(tree.n_own.sum()), places.n_messages))
