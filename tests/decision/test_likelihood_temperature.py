"""The map of classifiers on sums: what it makes of rows of which little is known, and that no row decides for all."""

from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import brentq
from scipy.special import log_softmax

from bayeswater.decision.likelihood_temperature import LikelihoodTemperature, _polished
from bayeswater.decision.scores import Scores

PRIOR = np.log([0.7, 0.2, 0.1])
SCORE = st.floats(-60, 60) | st.sampled_from([-np.inf, -1e308, 1e308, -1e-300, 0.0])


def drawn_from(log_proba: np.ndarray, seed: int) -> np.ndarray:
    """Labels that these probabilities are true of."""
    return (log_proba + np.random.default_rng(seed).gumbel(size=log_proba.shape)).argmax(axis=1)


def some_scores(n: int = 500, scale: float = 3.0, seed: int = 0, n_known: int = 6) -> Scores:
    """Scores that claim `scale` times what the labels bear out."""
    likelihood = 2 * np.random.default_rng(seed).normal(size=(n, 3))
    codes = drawn_from(PRIOR + likelihood, seed + 1)
    return Scores.of(PRIOR + scale * likelihood, codes, None, np.full(n, n_known))


def log_loss_by_mpmath(found: LikelihoodTemperature, scores: Scores) -> mpmath.mpf:
    """What the map minimises, written down as its formula is."""
    with mpmath.workdps(30):
        total, prior = mpmath.mpf(0), [mpmath.mpf(float(q)) for q in PRIOR]
        for row, code, m in zip(scores.log_proba, scores.codes, scores.known, strict=True):
            h = mpmath.mpf(max(int(m) - 1, 0)) / (mpmath.mpf(found.usual) - 1)
            if found.temperature < 1:
                h = min(h * int(m) * (int(m) - 2) / (mpmath.mpf(found.usual) * (mpmath.mpf(found.usual) - 2)), 1)
            s, g = 1 / (1 + (mpmath.mpf(found.temperature) - 1) * h), min(h, 1)
            power = [
                mpmath.exp(q + s * (mpmath.mpf(float(p)) - q) + g * mpmath.mpf(float(b)))
                for p, q, b in zip(row, prior, found.shift, strict=True)
            ]
            e = mpmath.mpf(found.lapse) * g
            total -= mpmath.log((1 - e) * power[code] / sum(power) + e / 3)
        lapse, log_t = mpmath.mpf(found.lapse), mpmath.log(found.temperature)
        penalty = (log_t**2 + sum(mpmath.mpf(float(b)) ** 2 for b in found.shift)) / 2
        return total + penalty - (mpmath.log(lapse) + mpmath.log(1 - lapse)) / 2


@pytest.mark.parametrize("scale", [0.4, 1.0, 5.0])
def test_the_map_has_the_least_penalised_log_loss_of_its_formula(scale: float) -> None:
    scores = some_scores(80, scale)
    scores = Scores(scores.log_proba, scores.codes, scores.weight, np.random.default_rng(3).integers(0, 9, 80))
    scores = scores.take(scores.known > 1)
    found = LikelihoodTemperature._of_least_loss(scores, scores.known, PRIOR, float(scores.known.mean()), tied=False)
    least = log_loss_by_mpmath(found, scores)
    for name, step in (("temperature", 1.01), ("temperature", 0.99), ("lapse", 1.05), ("lapse", 0.95)):
        changed = LikelihoodTemperature(found.temperature, found.shift, found.lapse, found.usual)
        object.__setattr__(changed, name, getattr(found, name) * step)
        assert log_loss_by_mpmath(changed, scores) > least
    for k in range(3):
        for step in (0.02, -0.02):
            changed = LikelihoodTemperature(
                found.temperature, found.shift + step * (np.arange(3) == k), found.lapse, found.usual
            )
            assert log_loss_by_mpmath(changed, scores) > least


def test_answers_follow_the_formula() -> None:
    scores, found = some_scores(40), LikelihoodTemperature(3.0, np.array([0.1, -0.4, 0.3]), 0.05, 6.0)
    known = np.arange(40) % 9
    h = np.maximum(known - 1, 0) / 5
    g = np.minimum(h, 1)[:, None]
    tempered = log_softmax(PRIOR + (scores.log_proba - PRIOR) / (1 + 2 * h[:, None]) + g * found.shift, axis=1)
    expected = (1 - 0.05 * g) * np.exp(tempered) + 0.05 * g / 3
    assert_allclose(np.exp(found.apply(scores.log_proba, PRIOR, known)), expected, rtol=1e-12)


def test_a_row_without_a_cell_has_the_class_frequencies_and_one_with_a_cell_its_table() -> None:
    scores = some_scores(scale=5.0)
    found = LikelihoodTemperature.fit(scores, PRIOR)
    assert found.temperature > 3
    assert_allclose(found.apply(PRIOR[None], PRIOR, np.zeros(1)), PRIOR[None], rtol=1e-14)
    one_cell = scores.log_proba[:20]
    assert_allclose(found.apply(one_cell, PRIOR, np.ones(20)), one_cell, rtol=0, atol=1e-12)


def test_columns_that_are_copies_of_one_are_taken_for_one_whatever_their_number() -> None:
    rng = np.random.default_rng(5)
    one = 2 * rng.normal(size=(4000, 3))
    known = rng.integers(1, 8, 4000)
    codes = drawn_from(PRIOR + one, 6)
    found = LikelihoodTemperature.fit(Scores.of(PRIOR + known[:, None] * one, codes, None, known), PRIOR)
    assert_allclose(found.slope(np.arange(1, 8)), 1 / np.arange(1, 8), rtol=0.1)  # by 4000 labels drawn at random


@pytest.mark.parametrize("nats", [50.0, 1e3, 1e100])
def test_a_few_hopeless_rows_do_not_decide_for_all_others(nats: float) -> None:
    scores = some_scores(1000, scale=1.0)
    hopeless = np.tile([0.0, -nats, -nats], (20, 1))
    log_proba = np.concatenate([scores.log_proba, hopeless])
    codes = np.concatenate([scores.codes, np.ones(20, dtype=int)])
    found = LikelihoodTemperature.fit(Scores.of(log_proba, codes, None, np.full(1020, 6)), PRIOR)
    assert 0.7 < found.temperature < 1.6
    assert 0.01 < found.lapse < 0.15  # 20 of 1020 and more: what a lapse takes up, the temperature need not
    assert -found.apply(hopeless, PRIOR, np.full(20, 6))[0, 1] < 6  # bounded


def test_shifts_that_would_cost_errors_leave_the_predicted_class_as_it_is() -> None:
    rng = np.random.default_rng(8)
    for seed in range(20):
        scores = some_scores(40, scale=4.0, seed=seed)
        scores = Scores(scores.log_proba, rng.permutation(scores.codes), scores.weight, scores.known)
        found = LikelihoodTemperature.fit(scores, PRIOR)
        before, after = scores.log_proba, found.apply(scores.log_proba, PRIOR, scores.known)
        wrong = [(log_proba.argmax(axis=1) != scores.codes).sum() for log_proba in (before, after)]
        assert wrong[1] <= wrong[0]


@pytest.mark.parametrize(
    ("usual", "share"),
    [
        (5.0, [0, 0, 0, 1 / 10, 4 / 10, 1, 1]),
        (3.5, [0, 0, 0, 1 / (3.5 * 2.5 * 1.5 / 6), 1, 1, 1]),
        (2.0, [0, 0, 1, 1, 1, 1, 1]),  # there is no triple, and one pair
        (1.5, [0, 0, 1, 1, 1, 1, 1]),
    ],
)
def test_a_map_that_is_asked_to_sharpen_does_so_by_the_share_of_triples(usual: float, share: list[float]) -> None:
    found = LikelihoodTemperature(0.5, np.zeros(3), 0.0, usual)
    assert_allclose(found.slope(np.arange(7)), 1 / (1 - 0.5 * np.array(share)))


def test_a_model_of_one_column_has_one_temperature() -> None:
    scores = some_scores(scale=4.0, n_known=1)
    found = LikelihoodTemperature.fit(scores, PRIOR)
    assert found.usual == 1
    assert found.temperature > 2
    assert_array_equal(found.slope(np.array([0, 1])), [1, 1 / found.temperature])


def test_weights_are_as_many_rows() -> None:
    scores, weight = some_scores(60), np.random.default_rng(4).integers(1, 5, 60)
    weighted = LikelihoodTemperature.fit(Scores.of(scores.log_proba, scores.codes, weight, scores.known), PRIOR)
    repeated = LikelihoodTemperature.fit(scores.take(np.repeat(np.arange(60), weight)), PRIOR)
    assert_allclose(weighted.temperature, repeated.temperature, rtol=1e-6)  # sums in another order
    assert_allclose(weighted.shift, repeated.shift, atol=1e-6)


def test_a_class_without_prior_stays_impossible_and_has_no_say() -> None:
    scores = some_scores(200)
    two = scores.take(scores.codes < 2)
    prior = log_softmax(PRIOR[:2])
    narrow = Scores.of(two.log_proba[:, :2], two.codes, None, two.known)
    wide = Scores.of(np.column_stack([narrow.log_proba, np.full(len(two), -np.inf)]), two.codes, None, two.known)
    of_two, of_three = LikelihoodTemperature.fit(narrow, prior), LikelihoodTemperature.fit(wide, [*prior, -np.inf])
    answers = of_three.apply(wide.log_proba, np.append(prior, -np.inf), wide.known)
    assert_allclose(answers[:, :2], of_two.apply(narrow.log_proba, prior, narrow.known), atol=1e-5)
    assert np.isneginf(answers[:, 2]).all()


@pytest.mark.parametrize("n_rows", [5, 100])
def test_rows_without_an_error_prove_no_certainty(n_rows: int) -> None:
    log_proba = [[0.0, -1e6]] * n_rows + [[-1e6, 0.0]] * n_rows
    scores = Scores.of(log_proba, np.repeat([0, 1], n_rows), None, np.full(2 * n_rows, 3))
    found = LikelihoodTemperature.fit(scores, np.log([0.5, 0.5]))
    claimed = 1 - np.exp(found.apply(scores.log_proba, np.log([0.5, 0.5]), scores.known)).max(axis=1).mean()
    # The least of -2n log(1 - e / 2) - log(e) / 2 - log(1 - e) / 2; half of the lapses do no harm.
    lapse = brentq(lambda e: 2 * n_rows / (2 - e) - 1 / (2 * e) + 1 / (2 - 2 * e), 1e-9, 0.5)
    assert claimed == pytest.approx(lapse / 2, rel=1e-5)


@pytest.mark.parametrize("log_proba", [np.empty((0, 2)), [[0.0, -np.inf]] * 3, [[-np.inf, 0.0]] * 3])
def test_without_rows_to_learn_from_nothing_changes(log_proba: Any) -> None:
    n = len(log_proba)
    found = LikelihoodTemperature.fit(
        Scores.of(log_proba, np.zeros(n, dtype=int), None, np.full(n, 2)), np.log([0.5, 0.5])
    )
    new = np.log([[0.9, 0.1]])
    assert_allclose(found.apply(new, np.log([0.5, 0.5]), np.array([2])), new, rtol=1e-14)
    assert str(found) == "temperature 1"


@settings(max_examples=50)
@given(data=st.data())
def test_any_scores_give_probabilities_and_keep_the_impossible_impossible(data: Any) -> None:
    n, n_classes = data.draw(st.integers(0, 12)), data.draw(st.integers(1, 4))
    z, new = (data.draw(arrays.arrays(float, (rows, n_classes), elements=SCORE)) for rows in (n, 5))
    z[np.isneginf(z).all(axis=1)] = new[np.isneginf(new).all(axis=1)] = 0
    codes = data.draw(arrays.arrays(np.int64, n, elements=st.integers(0, n_classes - 1)))
    weight = data.draw(arrays.arrays(float, n, elements=st.sampled_from([0.25, 1.0, 3.0, 1e-9, 1e9])))
    known, known_of_new = (data.draw(arrays.arrays(np.int64, rows, elements=st.integers(0, 50))) for rows in (n, 5))
    prior = log_softmax(np.log(2) * np.arange(n_classes))
    found = LikelihoodTemperature.fit(Scores.of(z, codes, weight, known), prior)
    answers = found.apply(new, prior, known_of_new)
    assert not np.isnan(answers).any()
    assert_allclose(np.exp(answers).sum(axis=1), 1, atol=1e-13)
    assert np.isneginf(answers[np.isneginf(new)]).all()
    assert "nan" not in str(found)


HESSIAN, LEAST = np.array([[2.0, 0.5], [0.5, 1.0]]), np.array([0.25, -3.0])


def test_steps_of_newtons_find_a_minimum_nearby_to_the_last_digits() -> None:
    for off in ([9e-2, -5e-4], [1e-9, 0.0], [0.0, 0.0]):
        found, left = _polished(LEAST + off, lambda at: HESSIAN @ (at - LEAST))
        assert_allclose(found, LEAST, rtol=1e-14)
        assert left < 1e-14
    found, left = _polished(np.array([0.02]), lambda at: at + at**2)  # a curvature that is true of the start alone
    assert abs(found[0]) < 1e-7
    assert left < 1e-7


@pytest.mark.parametrize(
    ("start", "slope"),
    [
        (LEAST + 0.11, lambda at: HESSIAN @ (at - LEAST)),  # too far for the curvature to be trusted
        (np.array([0.0, 12.0 - 1e-4]), lambda at: HESSIAN @ (at - [0.0, 12.0 + 1e-4])),  # beyond what is sought
        (LEAST + 1e-4, lambda at: np.zeros(2)),  # no curvature
        (LEAST + 1e-4, lambda at: np.full(2, 1e-9) + 1e-12 * (at - LEAST) / np.abs(at - LEAST + 1e-300)),  # no better
    ],
)
def test_a_step_of_newtons_that_is_far_beyond_or_no_better_is_not_taken(start: Any, slope: Any) -> None:
    assert_array_equal(_polished(start, slope)[0], start)


def test_many_parameters_are_left_as_they_are() -> None:
    for n, moves in ((32, True), (33, False)):
        assert (_polished(np.full(n, 1e-4), lambda at: at)[0] == 1e-4).all() != moves
