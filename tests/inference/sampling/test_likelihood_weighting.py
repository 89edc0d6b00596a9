"""Likelihood weighting: weights that average to the probability of the evidence, errors, and when there are none."""

import numpy as np
import pytest
from hypothesis import given
from tests.inference.exact.small_networks import evidence_of, random_network, random_rows, seeds
from tests.inference.sampling.networks import ASIA, DYSP, LUNG, XRAY, exact

from bayeswater.errors import ImpossibleEvidence, SamplingError
from bayeswater.inference.exact.elimination import log_evidence
from bayeswater.inference.exact.factors import Factors
from bayeswater.inference.sampling.answering import approximate_query
from bayeswater.inference.sampling.likelihood_weighting import BATCH_ROWS, WeightedRows, WeightSums
from bayeswater.inference.sampling.question import ask
from bayeswater.kernels.threads import threads

GIVEN = {XRAY: 1, DYSP: 1}


def test_asia_is_right_within_its_error_bar():
    found = approximate_query(ASIA, [LUNG], GIVEN, method="likelihood_weighting", standard_error=0.003)
    assert found.verdict == "reliable"
    assert found.r_hat is None
    assert abs(found.probability[1] - 0.6212528) < 4 * found.standard_error[1]


@given(seed=seeds)
def test_the_mean_weight_is_the_probability_of_the_evidence(seed):
    rng = np.random.default_rng(seed)
    factors = random_network(rng, 6, zeros=0.2)
    evidence = evidence_of(factors, random_rows(rng, factors, 1, 0.4)[0])
    soft = {v: rng.random(factors.cards[v]) for v in range(2) if v not in evidence}
    targets = [v for v in range(6) if v not in evidence]
    try:
        question = ask(factors, targets, evidence, soft, rng)
    except ImpossibleEvidence:
        return
    _, log_weight = WeightedRows(question, 0).draw(0, use_loop=False)
    weight = np.exp(log_weight)
    fixed = [v for v in range(6) if question.n_states(v) == 1]
    # The factors of variables that evidence fixes together are no part of the weights; they are those of one state.
    constant = 1.0
    for v in range(6):
        scope = (*factors.parents[v], v)
        if all(u in fixed for u in scope):
            constant *= factors.tables[v][tuple(int(question.states[u][0]) for u in scope)]
    for v, likelihood in soft.items():
        if v in fixed:
            constant *= likelihood[question.states[v][0]]
    error = weight.std() / np.sqrt(len(weight))
    # Five standard errors, and roundings.
    assert abs(constant * weight.mean() - np.exp(log_evidence(factors, evidence, soft))) <= constant * 5 * error + 1e-12


def test_sums_of_weights_do_not_depend_on_how_rows_are_put_together():
    rng = np.random.default_rng(0)
    parts = [WeightSums(1, scale, rng.random(3), rng.random(3), rng.random()) for scale in (-800.0, 3.0, -np.inf, 5.0)]
    one, other = (parts[0] + parts[1]) + (parts[2] + parts[3]), parts[3] + (parts[2] + (parts[1] + parts[0]))
    assert one.n_rows == other.n_rows == 4
    assert one.log_scale == other.log_scale == 5.0
    np.testing.assert_allclose(one.cell, other.cell, rtol=1e-15)
    np.testing.assert_allclose(one.cell_square, other.cell_square, rtol=1e-15)


def test_error_and_effective_draws_are_those_of_the_weights():
    rows = WeightedRows(ask(ASIA, [LUNG], GIVEN, {}, np.random.default_rng(0)), 5)
    codes, log_weight = rows.draw(0, use_loop=False)
    found, weight = rows.estimate(rows.sums(0, 1)), np.exp(log_weight)
    hit = codes[rows.targets[0]] == 1
    p = (weight * hit).sum() / weight.sum()
    assert found.probability[1] == pytest.approx(p, rel=1e-12)
    assert found.standard_error[1] == pytest.approx(
        np.sqrt((weight**2 * (hit - p) ** 2).sum()) / weight.sum(), rel=1e-10
    )
    assert rows.sums(0, 1).effective_draws == pytest.approx(weight.sum() ** 2 / (weight**2).sum(), rel=1e-12)
    assert rows.sums(0, 1).largest_share == pytest.approx(weight.max() / weight.sum(), rel=1e-12)
    assert found.n_draws == BATCH_ROWS


def test_evidence_of_probability_1e_300_is_weighted_in_logarithms():
    rare = np.array([[1 - 1e-60, 1e-60], [1 - 3e-60, 3e-60]])
    star = Factors((2,) * 6, ((), *[(0,)] * 5), (np.array([0.9, 0.1]), *[rare] * 5))
    found = approximate_query(
        star, [0], dict.fromkeys(range(1, 6), 1), method="likelihood_weighting", standard_error=0.01
    )
    expected = 0.1 * 3**5 / (0.9 + 0.1 * 3**5)
    assert abs(found.probability[1] - expected) < 4 * found.standard_error[1]


def test_the_answer_is_the_same_for_any_number_of_threads():
    answers = []
    for n in (1, 3):
        with threads(n):
            answers.append(
                approximate_query(ASIA, [LUNG], GIVEN, method="likelihood_weighting", standard_error=0.003, seed=9)
            )
    np.testing.assert_array_equal(answers[0].probability, answers[1].probability)
    np.testing.assert_array_equal(answers[0].standard_error, answers[1].standard_error)


def rare_cause(p):
    """0 is rarely there, and 2 hardly ever without it, whatever 1 is; P(0 | 2) is almost 1."""
    effect = np.array([[[1 - 1e-12, 1e-12], [1 - 2e-12, 2e-12]], [[0.1, 0.9], [0.2, 0.8]]])
    return Factors((2, 2, 2), ((), (), (0, 1)), (np.array([1 - p, p]), np.array([0.5, 0.5]), effect))


def test_a_few_rows_that_carry_all_weight_give_no_number():
    with pytest.raises(SamplingError, match=r"cannot answer: the weights of 8192 rows.*method='gibbs' or 'exact'"):
        approximate_query(rare_cause(1e-3), [0], {2: 1}, method="likelihood_weighting", time_limit=1e-6)


def test_weights_that_are_all_alike_are_not_vouched_for_where_better_rows_were_never_drawn(clock):
    assert exact(rare_cause(1e-8), [0], {2: 1})[1] > 0.999
    found = approximate_query(
        rare_cause(1e-8), [0], {2: 1}, method="likelihood_weighting", time_limit=5, standard_error=0.01
    )
    assert found.probability[1] < 0.01  # wrong, with weights that look fine
    assert found.effective_size.min() > 1000
    assert not found.is_reliable
    assert "evidence is unlikely" in found.verdict


def test_a_state_never_drawn_has_an_error_by_the_rule_of_succession():
    rare = Factors((2, 2), ((), (0,)), (np.array([1.0 - 1e-12, 1e-12]), np.array([[0.5, 0.5], [0.5, 0.5]])))
    found = approximate_query(rare, [0], {1: 0}, method="likelihood_weighting", standard_error=0.001)
    assert found.probability[1] == 0
    n = found.n_draws
    assert found.standard_error[1] == pytest.approx(np.sqrt((n + 1) / (n + 2) ** 2 / (n + 2)), rel=1e-9)
    assert found.effective_size[1] == n


def test_a_state_that_a_few_light_rows_had_does_not_look_surer_than_one_that_none_had():
    rows = WeightedRows(ask(ASIA, [LUNG], GIVEN, {}, np.random.default_rng(0)), 0)
    n, light = 10_000, 1e-6
    drawn = WeightSums(n, 0.0, np.array([n - 3.0, 3 * light]), np.array([n - 3.0, 3 * light**2]), 1.0)
    found = rows.estimate(drawn)
    assert found.probability[1] < 1e-9
    assert found.standard_error[1] == pytest.approx(1 / n, rel=0.01)


def test_exact_answers_are_within_the_errors_of_random_networks():
    misses = 0
    for seed in range(30):
        rng = np.random.default_rng(seed)
        factors = random_network(rng, 8, zeros=0.2)
        row = random_rows(rng, factors, 1, 0.3)[0]
        evidence = {v: code for v, code in evidence_of(factors, row).items() if v != 0}
        try:
            found = approximate_query(factors, [0], evidence, method="likelihood_weighting", standard_error=0.02)
        except ImpossibleEvidence:
            continue
        misses += (abs(found.probability - exact(factors, [0], evidence)) > 3 * found.standard_error + 1e-12).any()
    # Of three in a thousand each, two or more of at most thirty come once in three hundred sets of seeds.
    assert misses <= 1
