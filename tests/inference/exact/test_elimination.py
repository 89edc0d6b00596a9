"""Single questions: textbook answers, the impossible and the too large, tiny numbers, no limit of dimensions."""

import subprocess
import sys

import numpy as np
import pytest
from tests.inference.exact.small_networks import chain, random_network, star

from bayeswater import limits
from bayeswater.errors import ImpossibleEvidence, ParameterError, ResourceLimitError
from bayeswater.inference.exact import elimination
from bayeswater.inference.exact.elimination import MOST_ASKED, forecast_query, log_evidence, query
from bayeswater.inference.exact.factors import Factors
from bayeswater.inference.exact.junction_tree import compile
from bayeswater.inference.exact.log_passes import most_probable_explanation
from bayeswater.inference.exact.marginals import marginals

ASIA, TUB, SMOKE, LUNG, BRONC, EITHER, XRAY, DYSP = range(8)
YES, NO = 0, 1


@pytest.fixture
def asia():
    """Lauritzen and Spiegelhalter's network of a chest clinic (1988)."""

    def of(*yes):
        return np.array([[p, 1 - p] for p in yes])

    return Factors(
        (2,) * 8,
        ((), (ASIA,), (), (SMOKE,), (SMOKE,), (LUNG, TUB), (EITHER,), (BRONC, EITHER)),
        (
            of(0.01)[0],
            of(0.05, 0.01),
            of(0.5)[0],
            of(0.1, 0.01),
            of(0.6, 0.3),
            of(1, 1, 1, 0).reshape(2, 2, 2),
            of(0.98, 0.05),
            of(0.9, 0.8, 0.7, 0.1).reshape(2, 2, 2),
        ),
    )


# Posteriors of "yes", to ten digits, from an independent elimination that agrees with two other programs.
CASES = [
    ({}, 1.0, {TUB: 0.0104, LUNG: 0.055, BRONC: 0.45, EITHER: 0.064828, XRAY: 0.11029004, DYSP: 0.4359706}),
    (
        {XRAY: YES, DYSP: YES},
        0.0706701044,
        {
            ASIA: 0.0139836605,
            TUB: 0.1139333254,
            SMOKE: 0.7856103861,
            LUNG: 0.6212527967,
            BRONC: 0.6818685385,
            EITHER: 0.728725093,
        },
    ),
    ({ASIA: YES, DYSP: YES}, 0.004501375, {TUB: 0.087750965, LUNG: 0.0995251451, BRONC: 0.8114020716}),
    ({ASIA: YES, DYSP: YES, SMOKE: YES}, 0.0028175, {TUB: 0.0727595386, LUNG: 0.1455190772, BRONC: 0.8672582076}),
]


@pytest.mark.parametrize(("evidence", "probability", "answers"), CASES)
def test_the_clinic_gives_the_published_posteriors(asia, evidence, probability, answers):
    row = np.array([[evidence.get(v, 2) for v in range(8)]])
    bulk = marginals(compile(asia), row)
    np.testing.assert_allclose(np.exp(log_evidence(asia, evidence)), probability, rtol=0, atol=1e-10)
    for v, yes in answers.items():
        np.testing.assert_allclose(query(asia, [v], evidence)[YES], yes, rtol=0, atol=1e-9)
        np.testing.assert_allclose(bulk.marginals[v][0, YES], yes, rtol=0, atol=1e-9)


def test_impossible_evidence_is_found_where_it_would_not_matter_to_the_target(asia):
    # Lung cancer without either: smoking depends on lung cancer alone, and two known programs answer 0.909.
    impossible = {LUNG: YES, EITHER: NO}
    for target in (SMOKE, TUB, ASIA, LUNG):
        with pytest.raises(ImpossibleEvidence, match="variable 3 = state 0, variable 5 = state 1"):
            query(asia, [target], impossible)
    assert log_evidence(asia, impossible) == -np.inf
    row = np.array([[impossible.get(v, 2) for v in range(8)]])
    assert marginals(compile(asia), row, [SMOKE]).impossible.all()
    assert most_probable_explanation(compile(asia), row).impossible.all()


def test_a_question_to_a_small_network_compiles_nothing():
    code = """
import sys
import numpy as np
from bayeswater.inference.exact import elimination
from bayeswater.inference.exact.elimination import query
from bayeswater.inference.exact.factors import Factors
from bayeswater.inference.exact.log_passes import most_probable_explanation
from bayeswater.inference.exact.junction_tree import compile
from bayeswater.inference.exact.marginals import marginals
step = np.array([[0.9, 0.1], [0.1, 0.9]])
chain = Factors((2,) * 8, ((), *((v,) for v in range(7))), (step[0], *[step] * 7))
rows = np.random.default_rng(0).integers(0, 3, size=(200, 8))
query(chain, [0], {7: 1})
marginals(compile(chain), rows)
most_probable_explanation(compile(chain), rows)
assert "numba" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_an_observed_target_is_sure_and_keeps_its_axis(asia):
    joint = query(asia, [DYSP, LUNG], {DYSP: NO})
    assert joint.shape == (2, 2)
    assert joint[YES].tolist() == [0, 0]
    np.testing.assert_allclose(joint[NO], query(asia, [LUNG], {DYSP: NO}), rtol=1e-14)


def test_a_probability_below_the_least_float_has_a_logarithm():
    n = 1000
    evidence = {v: v % 2 for v in range(n)}
    np.testing.assert_allclose(log_evidence(chain(n), evidence), np.log(0.5) + (n - 1) * np.log(0.1), rtol=1e-13)
    del evidence[500]
    # Both neighbours of the one in between are in state 1.
    np.testing.assert_allclose(query(chain(n), [500], evidence), [0.01 / 0.82, 0.81 / 0.82], rtol=1e-12)


def test_states_far_behind_are_not_lost_before_later_evidence_speaks_for_them():
    factors = star(np.array([[10 / 11, 1 / 11], [1 / 11, 10 / 11]]), 801)
    evidence = {v: 0 if v <= 400 else 1 for v in range(1, 802)}
    np.testing.assert_allclose(query(factors, [0], evidence), [1 / 11, 10 / 11], rtol=1e-10)


def test_more_variables_than_an_array_has_dimensions():
    n = 200
    factors = star(np.array([[0.9, 0.1], [0.4, 0.6]]), n)
    np.testing.assert_allclose(query(factors, [n]), [0.65, 0.35], rtol=1e-12)
    np.testing.assert_allclose(query(factors, [0], dict.fromkeys(range(1, n), 0))[0], 1.0, rtol=1e-12)


def test_parents_of_one_state_take_no_dimension():
    n = 40
    table = np.array([0.3, 0.7]).reshape([1] * n + [2])
    factors = Factors((*[1] * n, 2), (*[()] * n, tuple(range(n))), (*[np.ones(1)] * n, table))
    np.testing.assert_allclose(query(factors, [n]), [0.3, 0.7])
    np.testing.assert_allclose(query(factors, [0, n]), [[0.3, 0.7]])


def test_a_question_over_the_limit_is_refused_with_its_numbers_before_it_runs(monkeypatch):
    factors = random_network(np.random.default_rng(0), 14, most_states=4, most_parents=5)
    forecast = forecast_query(factors, [0, 1])
    monkeypatch.setattr(limits, "TABLE_BYTES", forecast.bytes - 1)
    with pytest.raises(ResourceLimitError, match=r"cells, .*bytes, .*s, over the limit .*sampling"):
        query(factors, [0, 1])
    monkeypatch.setattr(limits, "TABLE_BYTES", forecast.bytes)
    assert query(factors, [0, 1]).sum() == pytest.approx(1)


def test_evidence_makes_the_forecast_smaller(asia):
    assert forecast_query(asia, [LUNG], [EITHER, BRONC]).cells < forecast_query(asia, [LUNG, DYSP]).cells


def test_states_and_targets_that_make_no_sense_are_refused(asia):
    with pytest.raises(ParameterError, match="variable 3 the state 2, but it has states 0 to 1"):
        query(asia, [0], {LUNG: 2})
    with pytest.raises(ParameterError, match="comes twice"):
        query(asia, [0, 0])


@pytest.mark.parametrize("seed", range(30))
def test_a_question_asked_again_with_other_states_has_the_answer_of_the_first_time_to_the_bit(seed):
    rng = np.random.default_rng(seed)
    factors = random_network(rng, 8)
    for _ in range(3):
        seen = rng.choice(8, size=int(rng.integers(0, 6)), replace=False).tolist()
        targets = rng.choice(8, size=2, replace=False).tolist()
        for _ in range(6):
            evidence = {v: int(rng.integers(factors.cards[v])) for v in seen}
            fresh = Factors(factors.cards, factors.parents, factors.tables)
            assert answer_of(factors, targets, evidence) == answer_of(fresh, targets, evidence)


def answer_of(factors, targets, evidence):
    try:
        return query(factors, targets, evidence).tobytes()
    except ImpossibleEvidence as error:
        return str(error)


def test_few_questions_are_remembered():
    factors = chain(60)
    for v in range(1, 60):
        query(factors, [0], {v: 0})
    assert len(factors.asked) <= MOST_ASKED


def test_what_is_kept_of_a_question_that_comes_again_has_little_room(monkeypatch):
    factors = chain(60)
    sizes = []
    for room in (0, 30, elimination.MOST_KEPT):
        monkeypatch.setattr(elimination, "MOST_KEPT", room)
        factors.asked.clear()
        for state in (0, 1, 0):
            asked = elimination.prepare(factors, [20], {59: state})
            asked.answer()
        sizes.append(sum(table.values.size for table, _ in asked.kept.values()))
    assert sizes[0] == 0 < sizes[1] <= 30 < sizes[2]
