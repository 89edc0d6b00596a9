"""Enumeration, elimination, and every route of the junction tree give the same answers, also to the impossible."""

import numpy as np
import pytest
from hypothesis import example, given
from tests.inference.exact.forced_routes import ROUTES, force_route
from tests.inference.exact.small_networks import (
    evidence_of,
    full_joint,
    marginal,
    random_network,
    random_rows,
    seeds,
    shares,
    with_evidence,
)

from bayeswater.errors import ImpossibleEvidence
from bayeswater.inference.exact.elimination import log_evidence, query
from bayeswater.inference.exact.junction_tree import compile
from bayeswater.inference.exact.log_passes import most_probable_explanation
from bayeswater.inference.exact.marginals import Posteriors, marginals

# Sums of at most some thousand products of a few factors: far within 1e-12.
CLOSE = {"rtol": 0, "atol": 1e-12}


@pytest.fixture(params=ROUTES)
def route(request, monkeypatch):
    """Force one of the routes, whatever it costs."""
    force_route(monkeypatch, request.param)
    return request.param


def random_soft(rng, factors, n_rows):
    return {
        v: rng.random((n_rows, card)) * (rng.random((n_rows, card)) > 0.2)
        for v, card in enumerate(factors.cards)
        if rng.random() < 0.3
    }


def check(factors, codes, soft, answers):
    joint = full_joint(factors)
    for i, row in enumerate(codes):
        posterior = with_evidence(factors, joint, row, {v: each[i] for v, each in soft.items()})
        total = posterior.sum()
        assert answers.impossible[i] == (total == 0)
        if total == 0:
            assert answers.log_evidence[i] == -np.inf
            assert not any(values[i].any() for values in answers.marginals.values())
            continue
        np.testing.assert_allclose(answers.log_evidence[i], np.log(total), **CLOSE)
        for v, values in answers.marginals.items():
            np.testing.assert_allclose(values[i], marginal(posterior, [v]) / total, **CLOSE)


@pytest.mark.parametrize("with_soft", [False, True], ids=["hard", "soft"])
def test_marginals_of_all_variables_are_those_of_the_full_joint(route, with_soft):
    rng = np.random.default_rng(3)
    for observed in (0.0, 0.3, 0.7, 1.0):
        for _ in range(12):
            factors = random_network(rng, int(rng.integers(1, 8)))
            codes = random_rows(rng, factors, 6, observed)
            if route in ("tree of a pattern", "rows one by one"):
                codes = np.repeat(codes[:3], 2, axis=0)
                codes[1::2] = np.where(codes[1::2] < factors.cards, rng.integers(0, factors.cards), factors.cards)
            soft = random_soft(rng, factors, len(codes)) if with_soft else {}
            check(factors, codes, soft, marginals(compile(factors), codes, None, soft))


def test_rows_of_many_patterns_that_pay_only_together_are_those_of_the_full_joint():
    rng = np.random.default_rng(4)
    factors = random_network(rng, 9, most_states=3)
    codes = random_rows(rng, factors, 30_000, 0.4)
    answers = marginals(compile(factors), codes)
    some = np.arange(0, len(codes), 500)
    kept = Posteriors(
        {v: m[some] for v, m in answers.marginals.items()}, answers.log_evidence[some], answers.impossible[some]
    )
    check(factors, codes[some], {}, kept)


@given(seeds, shares)
@example(0, 0.3)
def test_small_calls_without_compiled_code_are_those_of_the_full_joint(seed, observed):
    rng = np.random.default_rng(seed)
    factors = random_network(rng, int(rng.integers(1, 8)))
    codes, soft = random_rows(rng, factors, 4, observed), random_soft(rng, factors, 4)
    targets = rng.permutation(factors.n_variables)[: rng.integers(1, factors.n_variables + 1)].tolist()
    answers = marginals(compile(factors), codes, targets, soft)
    assert list(answers.marginals) == targets
    check(factors, codes, soft, answers)


@given(seeds, shares)
def test_one_query_is_that_of_the_full_joint_or_says_that_the_evidence_is_impossible(seed, observed):
    rng = np.random.default_rng(seed)
    factors = random_network(rng, int(rng.integers(1, 8)))
    row = random_rows(rng, factors, 1, observed)[0]
    soft = {v: each[0] for v, each in random_soft(rng, factors, 1).items()}
    evidence = evidence_of(factors, row)
    targets = rng.permutation(factors.n_variables)[: rng.integers(1, 4)].tolist()
    posterior = with_evidence(factors, full_joint(factors), row, soft)
    total = posterior.sum()
    if total == 0:
        assert log_evidence(factors, evidence, soft) == -np.inf
        with pytest.raises(ImpossibleEvidence, match="probability zero"):
            query(factors, targets, evidence, soft)
    else:
        np.testing.assert_allclose(log_evidence(factors, evidence, soft), np.log(total), **CLOSE)
        answer = query(factors, targets, evidence, soft)
        np.testing.assert_allclose(answer, marginal(posterior, targets) / total, **CLOSE)


@given(seeds, shares)
def test_the_most_probable_explanation_is_the_largest_entry_of_the_joint(seed, observed):
    rng = np.random.default_rng(seed)
    factors = random_network(rng, int(rng.integers(1, 8)))
    n_rows = int(rng.choice([3, 9]))  # of few patterns, and of many
    codes, soft = random_rows(rng, factors, n_rows, observed), random_soft(rng, factors, n_rows)
    found = most_probable_explanation(compile(factors), codes, soft)
    joint = full_joint(factors)
    for i, row in enumerate(codes):
        posterior = with_evidence(factors, joint, row, {v: each[i] for v, each in soft.items()})
        assert found.impossible[i] == (posterior.max() == 0)
        if found.impossible[i]:
            assert found.log_probability[i] == -np.inf
            assert found.states[i].tolist() == row.tolist()
        else:
            # Ties within rounding may go either way: the probability is compared, not the states.
            best = np.log(posterior.max())
            np.testing.assert_allclose(found.log_probability[i], best, **CLOSE)
            np.testing.assert_allclose(np.log(posterior[tuple(found.states[i])]), best, **CLOSE)
