"""States struck out are impossible, states found are possible: against enumeration."""

import numpy as np
import pytest
from hypothesis import given
from tests.inference.exact.small_networks import (
    evidence_of,
    full_joint,
    random_network,
    random_rows,
    seeds,
    with_evidence,
)
from tests.inference.sampling.networks import ASIA, copies

from bayeswater.errors import ImpossibleEvidence, SamplingError
from bayeswater.inference.sampling import question as question_module
from bayeswater.inference.sampling.question import Constraints, ask, connected


@given(seed=seeds)
def test_evidence_is_refused_where_it_is_impossible_and_only_there(seed):
    rng = np.random.default_rng(seed)
    factors = random_network(rng, 7, zeros=0.5)
    row = random_rows(rng, factors, 1, 0.4)[0]
    joint = with_evidence(factors, full_joint(factors), row)
    evidence = evidence_of(factors, row)
    if joint.sum() == 0:
        with pytest.raises(ImpossibleEvidence):
            ask(factors, [0], evidence, {}, rng)
        return
    question = ask(factors, [0], evidence, {}, rng)
    for v, states in question.states.items():
        rest = tuple(u for u in range(7) if u != v)
        possible = np.flatnonzero(joint.sum(axis=rest))
        assert set(possible) <= set(states.tolist())  # what is struck out is impossible


@given(seed=seeds)
def test_states_found_together_are_possible_together(seed):
    rng = np.random.default_rng(seed)
    factors = random_network(rng, 7, zeros=0.6)
    scopes = [(*parents, v) for v, parents in enumerate(factors.parents)]
    constraints = Constraints(list(zip(scopes, factors.tables, strict=True)))
    found = constraints.find_together({v: np.ones(n, dtype=bool) for v, n in enumerate(factors.cards)}, rng)
    for scope, values in zip(scopes, factors.tables, strict=True):
        if all(v in found for v in scope):
            assert values[tuple(found[v] for v in scope)] > 0


def test_evidence_that_fixes_others_leaves_nothing_to_sample():
    either, tub, lung = 5, 1, 3
    question = ask(ASIA, [lung], {either: 0}, {}, np.random.default_rng(0))
    assert question.states[tub].tolist() == question.states[lung].tolist() == [0]
    assert question.free == ()


def test_only_what_hangs_together_with_the_targets_is_sampled():
    smoke, bronc, either = 2, 4, 5
    question = ask(ASIA, [bronc], {smoke: 1, either: 1, 7: 1}, {}, np.random.default_rng(0))
    assert question.free == (bronc,)
    assert {piece.scope for piece in question.pieces} == {(bronc,)}


def test_what_was_not_settled_is_said(monkeypatch):
    monkeypatch.setattr(question_module, "MOST_TRIES", 1)
    different = np.array([[0.0, 1.0], [1.0, 0.0]])
    three_in_a_ring = Constraints([((0, 1), different), ((1, 2), different), ((0, 2), different)])
    with pytest.raises(SamplingError, match="1 tries"):
        three_in_a_ring.find_together({v: np.ones(2, dtype=bool) for v in range(3)}, np.random.default_rng(0))


def test_a_search_that_tried_everything_finds_nothing():
    different = np.array([[0.0, 1.0], [1.0, 0.0]])
    three_in_a_ring = Constraints([((0, 1), different), ((1, 2), different), ((0, 2), different)])
    assert (
        three_in_a_ring.find_together({v: np.ones(2, dtype=bool) for v in range(3)}, np.random.default_rng(0)) is None
    )


def test_tables_that_share_a_variable_hang_together():
    parts = connected([(0, 1), (2,), (3, 4), (1, 3)])
    assert len({parts[v] for v in (0, 1, 3, 4)}) == 1
    assert parts[2] == 2


def test_likelihoods_of_zero_strike_states_out():
    question = ask(copies(), [3], {}, {1: np.array([0.0, 1.0])}, np.random.default_rng(0))
    assert question.states[0].tolist() == [1]
    with pytest.raises(ImpossibleEvidence, match="likelihoods of variable 1"):
        ask(copies(), [3], {0: 0}, {1: np.array([0.0, 1.0])}, np.random.default_rng(0))
