"""Orders of variables: the best one of all is that of brute force, and moves end alike with and without a compiler."""

from itertools import permutations

import numpy as np
import pytest
from tests.oracles.chained_rows import chained_rows

from bayeswater.kernels.variable_orders import best_last, settle
from bayeswater.structure.knowledge import Knowledge
from bayeswater.structure.local_scores import LocalScores
from bayeswater.structure.scores import Score
from bayeswater.structure.search import search

N = 5


def sets_of(rng):
    """Some sets of parents for each variable, as bits, with whole scores, the best first; the last one is empty."""
    first, sets, scores = [0], [], []
    for y in range(N):
        own = np.append(np.unique(rng.integers(1, 2**N, 6) & ~(1 << y)), 0)
        sets.extend(own.tolist())
        scores.extend(np.sort(rng.integers(-50, 0, len(own)))[::-1].tolist())
        first.append(len(sets))
    return np.array(first), np.array(sets), np.array(scores, dtype=float)


def score_of(order, first, sets, scores, required):
    """The score of an order, in which every variable takes the best set that stands before it; -inf if one may not."""
    total, before = 0.0, 0
    for y in order:
        if required[y] & ~before:
            return -np.inf
        total += next(scores[s] for s in range(first[y], first[y + 1]) if not sets[s] & ~before)
        before |= 1 << y
    return total


@pytest.mark.parametrize("required", [[0] * N, [0b00010, 0, 0b10000, 0, 0], [0b00010, 0b00001, 0, 0, 0]])
@pytest.mark.parametrize("seed", range(3))
def test_the_best_of_every_subset_is_that_of_all_its_orders(seed, required):
    first, sets, scores = sets_of(np.random.default_rng(seed))
    best, last = np.empty(2**N), np.empty(2**N, dtype=np.int8)
    best_last(first, sets, scores, np.array(required), best, last)
    for subset in range(1, 2**N):
        members = [y for y in range(N) if subset >> y & 1]
        of_orders = {order: score_of(order, first, sets, scores, required) for order in permutations(members)}
        assert best[subset] == max(of_orders.values())
        ends = {order[-1] for order, score in of_orders.items() if score == best[subset] > -np.inf}
        assert int(last[subset]) in (ends or {-1})


@pytest.mark.parametrize("seed", range(3))
def test_moves_end_where_they_end_as_plain_python(seed, monkeypatch):
    scored = LocalScores(*chained_rows(120, [2, 3, 2, 2, 3, 2], seed), Score("bic"))
    found = search(scored, Knowledge.of("abcdef", required="d -> a"), "order", seed=seed)
    monkeypatch.setattr("bayeswater.structure.order_search.settle", settle.loop)
    again = search(scored, Knowledge.of("abcdef", required="d -> a"), "order", seed=seed)
    assert (found.parents, found.score) == (again.parents, again.score)
