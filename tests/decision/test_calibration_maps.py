"""Calibration maps: what leaves probabilities alone, what they recover, and that no input makes them NaN."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy.special import log_softmax
from sklearn.linear_model import LogisticRegression

from bayeswater.decision.calibration_choice import Doubt
from bayeswater.decision.calibration_maps import (
    LEAST_LOG_ODDS,
    MAPS,
    BetaCalibration,
    IsotonicCalibration,
    Temperature,
    VectorScaling,
    best_slope,
)
from bayeswater.decision.convex import minimise
from bayeswater.decision.scores import Scores, log_complement, normalised
from bayeswater.errors import DataError

SLOPE = st.floats(-60, 60) | st.sampled_from([-np.inf, -1e308, 1e308, -1e-300, 0.0])


def drawn_from(log_proba: np.ndarray, seed: int = 0) -> np.ndarray:
    """Labels that these probabilities are true of."""
    return (log_proba + np.random.default_rng(seed).gumbel(size=log_proba.shape)).argmax(axis=1)


def some_scores(n: int, n_classes: int, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    z = log_softmax(2 * np.random.default_rng(seed).normal(size=(n, n_classes)), axis=1)
    return z, drawn_from(z)


@st.composite
def any_scores(draw: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Scores with -inf and numbers at the ends of float64, codes and weights; each row has a possible class."""
    n, n_classes = draw(st.integers(0, 12)), draw(st.integers(1, 4))
    z = draw(arrays.arrays(float, (n, n_classes), elements=SLOPE))
    z[np.isneginf(z).all(axis=1)] = 0
    codes = draw(arrays.arrays(np.int64, n, elements=st.integers(0, n_classes - 1)))
    weight = draw(arrays.arrays(float, n, elements=st.sampled_from([0.25, 1.0, 3.0, 1e-9, 1e9])))
    return z, codes, weight


def require_probabilities(log_proba: np.ndarray, shape: tuple[int, int]) -> None:
    assert log_proba.shape == shape
    assert not np.isnan(log_proba).any()
    np.testing.assert_allclose(np.exp(log_proba).sum(axis=1), 1, rtol=0, atol=1e-14)  # a few units of rounding


@pytest.mark.parametrize("way", MAPS)
@settings(max_examples=30)
@given(learned=any_scores(), data=st.data())
def test_maps_give_probabilities_for_any_scores_and_keep_the_impossible_impossible(way, learned, data):
    z, codes, weight = learned
    new = data.draw(arrays.arrays(float, (5, z.shape[1]), elements=SLOPE))
    new[np.isneginf(new).all(axis=1)] = 0
    found = MAPS[way].fit(z, codes, weight)
    require_probabilities(found.apply(new), new.shape)
    assert np.isneginf(found.apply(new)[np.isneginf(new)]).all()
    assert "nan" not in str(found)


def test_temperature_one_leaves_everything():
    z, _ = some_scores(50, 4)
    z[::3, 1] = -np.inf
    z = normalised(z)
    np.testing.assert_allclose(Temperature(1.0).apply(z), z, rtol=0, atol=1e-15)  # one more normalisation
    np.testing.assert_array_equal(np.isneginf(Temperature(1.0).apply(z)), np.isneginf(z))


@pytest.mark.parametrize("way", MAPS)
def test_a_map_fitted_on_no_rows_changes_nothing(way):
    z, _ = some_scores(20, 3)
    found = MAPS[way].fit(np.empty((0, 3)), np.empty(0, dtype=int), None)
    np.testing.assert_allclose(found.apply(z), z, rtol=0, atol=1e-14)


@pytest.mark.parametrize("scale", [0.01, 0.5, 4.0, 1000.0, 2.0**200])
def test_temperature_of_scaled_scores_is_the_scale_times_as_high(scale):
    z, codes = some_scores(400, 3)
    base = Temperature.fit(z, codes)
    scaled = Temperature.fit(scale * z, codes)
    # Both are the minimum of the same function, found until what is left to gain is 1e-13: T is off by its root.
    assert scaled.temperature == pytest.approx(scale * base.temperature, rel=1e-6)
    np.testing.assert_allclose(scaled.apply(scale * z), base.apply(z), atol=1e-5)


def test_temperature_is_recovered_from_labels_that_obey_it():
    z, codes = some_scores(40_000, 4)
    # The standard error of T is about 1 / sqrt(n) here: 4 of them.
    assert Temperature.fit(3.5 * z, codes).temperature == pytest.approx(3.5, rel=0.02)


def test_no_temperature_beside_the_one_found_has_less_loss():
    z, codes = some_scores(300, 3)
    z[5, :] = [-np.inf, -3.0, -0.05]
    codes[5] = 1
    best = Temperature.fit(2 * z, codes).temperature

    def loss(temperature):
        return -Temperature(temperature).apply(2 * z)[np.arange(len(z)), codes].mean()

    assert all(loss(best) < loss(best * factor) for factor in (0.9, 0.999, 1.001, 1.1))


@pytest.mark.parametrize("margin", [0.1, 5.0, 5000.0])
@pytest.mark.parametrize("n", [1, 20, 500])
def test_a_faultless_record_leaves_one_error_in_n_plus_two(margin, n):
    z = np.tile([0.0, -margin], (n, 1))
    found = Temperature.fit(z, np.zeros(n, dtype=int)).apply(z)
    assert np.exp(found[0, 1]) == pytest.approx(1 / (n + 2), rel=1e-9)  # the precision of the root that is sought


@pytest.mark.parametrize("n_classes", [2, 4])
def test_scores_that_point_the_wrong_way_are_damped_as_far_as_goes_but_neither_turned_round_nor_forgotten(n_classes):
    z, _ = some_scores(200, n_classes)
    wrong = np.argmin(z, axis=1)
    found = Temperature.fit(z, wrong).apply(z)
    np.testing.assert_array_equal(found.argmax(axis=1), z.argmax(axis=1))
    assert np.ptp(found, axis=1).max() == pytest.approx(LEAST_LOG_ODDS, rel=1e-9)  # a few roundings


@pytest.mark.parametrize("n_rows", [5, 9, 45])
def test_few_rows_of_chance_do_not_erase_what_a_model_says(n_rows):
    for seed in range(20):
        rng = np.random.default_rng(seed)
        z = np.log(rng.dirichlet([0.1, 0.1], n_rows).clip(1e-9))
        found = Temperature.fit(z, rng.integers(0, 2, n_rows))
        np.testing.assert_array_equal(found.apply(z).argmax(axis=1), z.argmax(axis=1))
        assert np.isfinite(found.temperature)


def test_scores_that_say_nothing_keep_temperature_one():
    assert Temperature.fit(np.zeros((5, 3)), [0, 1, 2, 0, 1]).temperature == 1


@pytest.mark.parametrize("kind", MAPS.values(), ids=MAPS)
@pytest.mark.parametrize("n_classes", [2, 4])
def test_weights_equal_repetition(kind, n_classes):
    z, codes = some_scores(60, n_classes)
    z[::7, 0] = -np.inf
    weight = np.random.default_rng(3).integers(1, 4, 60)
    by_weight = kind.fit(3 * z, codes, weight).apply(z)
    by_rows = kind.fit(np.repeat(3 * z, weight, axis=0), np.repeat(codes, weight)).apply(z)
    # Newton's last step is taken where the loss is flat to 1e-13; its root is what the parameters may be off by.
    np.testing.assert_allclose(by_weight, by_rows, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("kind", MAPS.values(), ids=MAPS)
def test_rows_of_weight_zero_have_no_influence(kind):
    z, codes = some_scores(60, 3)
    weight = np.ones(60)
    weight[40:] = 0
    np.testing.assert_array_equal(kind.fit(z, codes, weight).apply(z), kind.fit(z[:40], codes[:40]).apply(z))


def test_vector_scaling_of_two_classes_is_platt_scaling():
    z, codes = some_scores(5000, 2)
    z = normalised(3 * z + [0.0, 2.0])
    found = VectorScaling.fit(z, codes)
    log_odds = (z[:, 1] - z[:, 0])[:, None]
    platt = LogisticRegression(C=np.inf, tol=1e-10).fit(log_odds, codes)
    assert found.slope[0] == found.slope[1]
    # The prior, worth about one row of 5000, is what they differ by.
    np.testing.assert_allclose(np.exp(found.apply(z)), platt.predict_proba(log_odds), atol=2e-3)


def test_vector_scaling_finds_slopes_and_shifts_that_were_applied():
    rng = np.random.default_rng(5)
    z = log_softmax(2 * rng.normal(size=(40_000, 3)), axis=1)
    slope, shift = np.array([0.5, 1.0, 2.0]), np.array([1.0, -1.5, 0.5])
    found = VectorScaling.fit(z, drawn_from(slope * z + shift))
    np.testing.assert_allclose(found.slope, slope, atol=0.08)  # four standard errors at 40 000 rows
    np.testing.assert_allclose(found.shift, shift, atol=0.12)


def scores_with_impossible_classes(n=60, n_classes=3):
    """Scores, codes and weights; a class that is not that of its row may be impossible."""
    rng = np.random.default_rng(8)
    z, codes = some_scores(n, n_classes, seed=4)
    z[(rng.random(z.shape) < 0.25) & (np.arange(n_classes) != codes[:, None])] = -np.inf
    z = normalised(z)
    keep = np.isfinite(z).sum(axis=1) > 1  # what is certain teaches nothing
    return z[keep], codes[keep], rng.uniform(0.5, 2.0, n)[keep]


def require_least(loss, found, size=1e-3):
    """No neighbour has less of a convex loss, so nothing has; the loss is right to about 1e-15."""
    least = loss(found)
    for step in np.random.default_rng(0).normal(size=(40, *np.shape(found))) * size:
        assert loss(found + step) > least - 1e-14


@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_no_slopes_and_shifts_beside_those_found_have_less_penalised_loss(n_classes):
    z, codes, weight = scores_with_impossible_classes(n_classes=n_classes)
    centre, unit = best_slope(Scores.of(z, codes, weight))
    finite, rows, total = np.where(np.isneginf(z), 0.0, z), np.arange(len(z)), weight.sum()

    def loss(parameters):
        slope, shift = parameters
        slope = np.full(n_classes, slope.mean()) if n_classes == 2 else slope
        eta = np.where(np.isneginf(z), -np.inf, slope * finite + shift)
        log_p = log_softmax(eta, axis=1)
        own = ((slope[: 1 if n_classes == 2 else None] - centre) / unit) ** 2
        return -(weight @ log_p[rows, codes]) / total + (own.sum() + (shift**2).sum()) / (2 * total)

    found = VectorScaling.fit(z, codes, weight)
    require_least(loss, np.stack([found.slope, found.shift]))
    assert abs(found.shift.sum()) < 1e-12


def test_no_temperature_has_less_loss_where_classes_are_impossible():
    z, codes, weight = scores_with_impossible_classes()

    def loss(inverse):
        log_p = log_softmax(np.where(np.isneginf(z), -np.inf, inverse * np.where(np.isneginf(z), 0.0, z)), axis=1)
        return -(weight @ log_p[np.arange(len(z)), codes]) / weight.sum()

    require_least(loss, 1 / Temperature.fit(z, codes, weight).temperature)


def test_no_rising_curve_beside_the_one_found_has_less_penalised_loss_in_any_class():
    z, codes, weight = scores_with_impossible_classes(90)
    slope, unit = best_slope(Scores.of(z, codes, weight))
    log_rest = log_complement(z)
    for k, found in enumerate(BetaCalibration.fit(z, codes, weight).coefficients):
        rows = np.isfinite(z[:, k])
        x = np.column_stack([z[rows, k], -log_rest[rows, k], np.ones(rows.sum())])
        member, w = codes[rows] == k, weight[rows]

        def loss(coefficients, x=x, member=member, w=w):
            eta = x @ coefficients
            off = (coefficients - [slope, slope, 0.0]) / [unit, unit, 1.0]
            rises = np.inf if (coefficients[:2] < 0).any() else 0.0
            return w @ (np.logaddexp(0, eta) - member * eta) / w.sum() + off @ off / (2 * w.sum()) + rises

        require_least(loss, found)


def test_beta_calibration_finds_the_curve_that_was_applied():
    rng = np.random.default_rng(6)
    p = rng.uniform(0.01, 0.99, 40_000)
    log_odds = 2.0 * np.log(p) - 0.5 * np.log1p(-p) + 1.0
    codes = (rng.random(len(p)) < 1 / (1 + np.exp(-log_odds))).astype(int)
    found = BetaCalibration.fit(np.log(np.column_stack([1 - p, p])), codes)
    np.testing.assert_allclose(found.coefficients[1], [2.0, 0.5, 1.0], atol=0.15)  # four standard errors
    np.testing.assert_allclose(found.coefficients[0], [0.5, 2.0, -1.0], atol=0.15)  # the same curve, seen from below


@settings(max_examples=20)
@given(any_scores())
def test_beta_calibration_never_falls(learned):
    assert (BetaCalibration.fit(*learned).coefficients[:, :2] >= 0).all()


def test_isotonic_calibration_is_the_frequency_of_each_score_where_frequencies_rise():
    p = np.repeat([0.1, 0.5, 0.9], [100, 50, 100])
    codes = np.concatenate([np.arange(100) < 20, np.arange(50) < 20, np.arange(100) < 70]).astype(int)
    z = np.log(np.column_stack([1 - p, p]))
    found = np.exp(IsotonicCalibration.fit(z, codes).apply(z[[0, 120, 200]]))[:, 1]
    low, high = 1 / (140 + 2), (110 + 1) / (110 + 2)  # Platt's labels for 140 rows of one class and 110 of the other
    np.testing.assert_allclose(found, low + (high - low) * np.array([0.2, 0.4, 0.7]), rtol=1e-12)


def test_log_complement_is_right_where_one_minus_p_is_lost():
    z = normalised([[0.0, -1000.0, -1001.0], [0.0, 0.0, -np.inf]])
    expected = [[np.logaddexp(-1000, -1001), 0.0, 0.0], [np.log(0.5), np.log(0.5), 0.0]]
    np.testing.assert_allclose(log_complement(z), expected, rtol=1e-15, atol=1e-300)


# ---------------------------------------------------------------------- the impossible that happens


def test_doubt_is_the_share_of_rows_on_which_a_certain_classifier_was_wrong():
    z = np.tile([0.0, -np.inf, -np.inf], (100, 1))
    codes = np.repeat([0, 1, 2], [90, 7, 3])
    doubt = Doubt.fit(Scores.of(z, codes))
    assert doubt.probability == 10 / 101
    np.testing.assert_allclose(np.exp(doubt.apply(z[:1])), [[91 / 101, 5 / 101, 5 / 101]], rtol=1e-15)


def test_the_impossible_stays_so_where_it_never_happened_and_for_classes_without_rows():
    z = np.array([[0.0, -np.inf, -np.inf], [-1.0, -0.5, -np.inf]])
    assert Doubt.fit(Scores.of(z, [0, 1])).probability == 0
    raised = Doubt.fit(Scores.of(np.tile(z[:1], (4, 1)), [0, 0, 0, 1])).apply(z)
    np.testing.assert_array_equal(np.isneginf(raised), [[False, False, True], [False, False, True]])
    np.testing.assert_array_equal(raised[1], z[1])  # its only impossible class has no rows


@settings(max_examples=30)
@given(any_scores(), st.sampled_from(list(MAPS.values())))
def test_map_and_doubt_together_give_probabilities(learned, kind):
    scores = Scores.of(*learned)
    mapped = kind.fit(*learned).apply(scores.log_proba)
    require_probabilities(Doubt.fit(scores).apply(mapped), scores.log_proba.shape)


# ---------------------------------------------------------------------- what is refused


@pytest.mark.parametrize(
    ("z", "codes", "message"),
    [
        ([[0.0, np.nan]], [0], "row 0, class 1 is nan"),
        ([[0.0, np.inf]], [0], "row 0, class 1 is inf"),
        ([[0.0, 0.0], [-np.inf, -np.inf]], [0, 1], "row 1 has no possible class"),
        ([[0.0, 0.0]], [2], "from 0 to 1"),
        ([[0.0, 0.0]], [0.5], "whole numbers"),
        ([[0.0, 0.0]], [0, 1], "one class code for each row"),
        ([[[0.0]]], [0], "3 dimensions"),
    ],
)
def test_scores_that_are_none_are_refused_by_place(z, codes, message):
    with pytest.raises(DataError, match=message):
        Temperature.fit(z, codes)


def test_the_minimum_is_found_where_units_differ_by_a_factor_of_1e20():
    unit = np.array([1e-10, 1e10])

    def bowl(x):
        off = x / unit - [3.0, -2.0]
        return float(off @ off), 2 * off / unit, np.diag(2 / unit**2)

    np.testing.assert_allclose(minimise(bowl, np.zeros(2)) / unit, [3.0, -2.0], rtol=1e-10)
