"""Grow trees and the walks down them, against growing and shrinking done anew for every variable and order."""

import numpy as np
import pytest
from tests.oracles.chained_rows import chained_rows

from bayeswater.structure.knowledge import Knowledge
from bayeswater.structure.local_scores import LocalScores
from bayeswater.structure.order_search import GrowTrees, OrderSearch, Standing
from bayeswater.structure.scores import Score

N = 7
LETTERS = tuple("abcdefg")


def local_scores(seed):
    return LocalScores(*chained_rows(300, [2, 3, 2, 2, 3, 2, 2], seed), Score("bic"))


def knowledge(which):
    known = {"required": "g -> a; a -> b", "forbidden": "c -> d; e <- *", "max_parents": 2} if which else {}
    return Knowledge.of(LETTERS, **known)


def grown(scored, known, y, before):
    """Parents of y that grow from those it must have, and shrink again."""
    own = frozenset(np.flatnonzero(known.required[:, y]).tolist())
    while len(own) < known.max_parents:
        now = scored.of(y, own)
        gains = {x: scored.of(y, own | {x}) - now for x in before if x not in own and known.allowed[x, y]}
        best = max(gains, key=lambda x: (gains[x], -x), default=None)
        if best is None or gains[best] <= 1e-9:
            break
        own |= {best}
    while True:
        now = scored.of(y, own)
        gains = {x: scored.of(y, own - {x}) - now for x in own if not known.required[x, y]}
        best = max(gains, key=lambda x: (gains[x], -x), default=None)
        if best is None or gains[best] <= 1e-9:
            return own
        own -= {best}


def score_of(scored, known, order):
    return sum(scored.of(y, grown(scored, known, y, order[:at])) for at, y in enumerate(order))


def random_order(known, rng):
    """An order in which what is required stands before what it is required for."""
    while True:
        order = rng.permutation(N).tolist()
        place = {v: at for at, v in enumerate(order)}
        if all(place[x] < place[y] for x, y in np.argwhere(known.required).tolist()):
            return order


@pytest.mark.parametrize("which", [0, 1])
@pytest.mark.parametrize("seed", range(3))
def test_the_graph_of_an_order_is_grown_and_shrunk_from_what_stands_before(which, seed):
    scored, known, rng = local_scores(seed), knowledge(which), np.random.default_rng(seed)
    trees = GrowTrees(scored, known)
    for _ in range(10):
        order = random_order(known, rng)
        parents, score = trees.graph(Standing.of(order))
        expected = {y: grown(scored, known, y, order[:at]) for at, y in enumerate(order)}
        assert dict(enumerate(parents)) == expected
        assert score == pytest.approx(scored.total(parents), abs=1e-9)


@pytest.mark.parametrize("which", [0, 1])
@pytest.mark.parametrize("seed", range(3))
def test_in_a_settled_order_no_variable_gains_by_moving(which, seed):
    scored, known = local_scores(seed), knowledge(which)
    search = OrderSearch(scored, known, seed=seed)
    standing = search._settled(random_order(known, np.random.default_rng(seed)))
    order = standing.order.tolist()
    score = search.trees.score(standing)
    assert score == pytest.approx(score_of(scored, known, order), abs=1e-9)
    for x in range(N):
        others = [v for v in order if v != x]
        for place in range(N):
            moved = [*others[:place], x, *others[place:]]
            after = {v: at for at, v in enumerate(moved)}
            if all(after[a] < after[b] for a, b in np.argwhere(known.required).tolist()):
                assert score_of(scored, known, moved) <= score + 1e-9


@pytest.mark.parametrize("seed", range(3))
def test_walks_that_a_move_did_not_touch_are_as_good_as_new(seed):
    scored, known = local_scores(seed), knowledge(0)
    trees, rng = GrowTrees(scored, known), np.random.default_rng(seed)
    standing = Standing.of(rng.permutation(N), rng.permutation(N).tolist())
    while not trees.settle(standing):
        trees.make_wanted()
    assert trees.graph(standing) == trees.graph(Standing.of(standing.order))
