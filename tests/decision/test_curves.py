"""Cost curves, cost against threshold and frequency, error against refusals: against brute force over the rows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from bayeswater import DataError, Loss, ParameterError
from bayeswater.decision import cost_curve, error_reject_curve, prior_curve, shift_prior, threshold_curve

LOSS = Loss([[0, 5], [1, 0]])


@st.composite
def two_class_rows(draw):
    """Labels of both classes, probabilities in sixteenths (with ties), and whole weights."""
    n = draw(st.integers(2, 12))
    y = np.array([0, 1, *draw(st.lists(st.integers(0, 1), min_size=n - 2, max_size=n - 2))])
    p = np.array(draw(st.lists(st.integers(0, 16), min_size=n, max_size=n))) / 16
    weight = np.array(draw(st.lists(st.integers(1, 3), min_size=n, max_size=n)), dtype=float)
    return y, np.column_stack([1 - p, p]), weight


def rates(y, decided, weight):
    """False positive and false negative rate of decisions for the second class."""
    return weight[(y == 0) & decided].sum() / weight[y == 0].sum(), weight[(y == 1) & ~decided].sum() / weight[
        y == 1
    ].sum()


@given(two_class_rows())
def test_the_envelope_is_the_least_cost_of_any_threshold_at_every_operating_point(rows):
    y, proba, weight = rows
    curve = cost_curve(y, proba, sample_weight=weight)
    lines = [rates(y, proba[:, 1] > t, weight) for t in (-1, *np.unique(proba[:, 1]))]
    x = np.linspace(0, 1, 33)
    least = np.min([fpr * (1 - x) + fnr * x for fpr, fnr in lines], axis=0)
    assert_allclose(curve.at(x), least, atol=1e-15)
    assert (np.diff(curve.probability_cost) >= 0).all()
    assert len(curve.threshold) == len(curve.probability_cost) - 1
    middle = (curve.probability_cost[1:] + curve.probability_cost[:-1]) / 2
    for at, threshold in zip(middle, curve.threshold, strict=True):  # the threshold of each stretch costs what it says
        fpr, fnr = rates(y, proba[:, 1] > threshold, weight)
        assert_allclose(fpr * (1 - at) + fnr * at, curve.at(at), atol=1e-15)
    fine = np.linspace(0, 1, 100_001)
    assert_allclose(curve.area, curve.at(fine).mean(), atol=1e-4)


@given(two_class_rows())
def test_the_decided_cost_is_that_of_the_bayes_decisions_for_such_costs(rows):
    y, proba, weight = rows
    curve = cost_curve(y, proba, sample_weight=weight)
    frequency = weight[y == 1].sum() / weight.sum()
    assert curve.frequency == frequency
    for x, cost in list(zip(curve.decided_at, curve.decided_cost, strict=True))[1:-1:9]:
        loss = Loss([[0, x / frequency], [(1 - x) / (1 - frequency), 0]])  # costs that lead to this operating point
        if np.abs(proba[:, 1] - loss.binary_threshold()).min() > 1e-9:  # at a threshold rounding may decide
            fpr, fnr = rates(y, loss.best_action(proba) == 1, weight)
            assert_allclose(cost, fpr * (1 - x) + fnr * x, atol=1e-14)
    assert (curve.decided_cost >= curve.at(curve.decided_at) - 1e-15).all()
    assert curve.decided_cost[0] == 0  # missing a row costs nothing: none is decided for
    assert_allclose(curve.decided_cost[-1], rates(y, proba[:, 1] > 0, weight)[1], atol=1e-15)


def test_one_class_of_several_is_set_against_the_rest():
    rng = np.random.default_rng(0)
    y, proba = rng.choice(list("abc"), 80), rng.dirichlet(np.ones(3), 80)
    of_b = cost_curve(y, proba, positive="b")
    pair = np.column_stack([1 - proba[:, 1], proba[:, 1]])
    assert_allclose(of_b.at(np.linspace(0, 1, 9)), cost_curve(y == "b", pair).at(np.linspace(0, 1, 9)), atol=1e-15)
    assert of_b.positive == "b"
    with pytest.raises(ParameterError, match=r"there are 3 classes, .* name one of them"):
        cost_curve(y, proba)
    with pytest.raises(ParameterError, match="positive is 'z', which is none of the classes"):
        cost_curve(y, proba, positive="z")
    with pytest.raises(DataError, match="a rate needs both"):
        cost_curve(["a", "a"], [[0.5, 0.5], [0.1, 0.9]], labels=["a", "b"])


@given(two_class_rows())
def test_the_cost_of_each_threshold_is_that_of_its_decisions(rows):
    y, proba, weight = rows
    curve = threshold_curve(y, proba, LOSS, sample_weight=weight)
    for t, realised, expected in zip(curve.threshold, curve.realised, curve.expected, strict=True):
        action = (proba[:, 1] > t).astype(int)
        assert_allclose(realised, np.average(LOSS.realised(action, y), weights=weight), atol=1e-14)
        assert_allclose(expected, np.average(LOSS.expected_loss(proba, action), weights=weight), atol=1e-14)
    assert curve.stated == LOSS.binary_threshold()
    at_stated = curve.expected[np.searchsorted(curve.threshold, curve.stated, side="right") - 1]
    assert_allclose(
        at_stated, curve.expected.min(), atol=1e-14
    )  # by its own probabilities no other threshold is better
    assert curve.realised[curve.threshold == curve.best] == curve.realised.min()


def test_cost_against_frequency_is_that_of_rows_drawn_anew_in_those_frequencies():
    rng = np.random.default_rng(1)
    y = np.repeat(["a", "b", "c"], [30, 50, 20])
    proba = rng.dirichlet(np.ones(3), 100) * 0.6 + 0.4 * (y[:, None] == np.array(list("abc")))
    loss = Loss(rng.uniform(1, 5, (4, 3)), classes=list("abc"), actions=["a", "b", "c", "ask"])
    curve = prior_curve(y, proba, loss, positive="b")
    assert curve.known == 0.5
    actions = loss.best_action(proba)
    for place in (3, 77, 150):
        share = curve.frequency[place]
        new = np.array([0.6, 0, 0.4]) * (1 - share) + np.array([0, share, 0])
        weight = new[np.searchsorted(list("abc"), y)] / np.array([30, 50, 20])[np.searchsorted(list("abc"), y)]
        moved = np.exp(shift_prior(np.log(proba), [0.3, 0.5, 0.2], new))
        assert_allclose(curve.adapted[place], weight @ loss.realised(loss.best_action(moved), y), rtol=1e-12)
        assert_allclose(curve.fixed[place], weight @ loss.realised(actions, y), rtol=1e-12)
    unchanged = np.abs(curve.frequency - 0.5).argmin()
    assert_allclose(curve.frequency[unchanged], 0.5, atol=1e-12)
    assert_allclose(curve.adapted[unchanged], curve.fixed[unchanged], rtol=1e-12)


def test_the_probabilities_may_hold_for_other_frequencies_than_those_of_the_rows():
    y, proba = [0, 1, 1, 1], [[0.9, 0.1], [0.6, 0.4], [0.3, 0.7], [0.2, 0.8]]
    assert prior_curve(y, proba).known == 0.75
    assert prior_curve(y, proba, prior=[0.5, 0.5]).known == 0.5
    with pytest.raises(ParameterError, match="no frequency to share"):
        prior_curve(y, proba, prior=[0.0, 1.0])
    with pytest.raises(ParameterError, match="no row of class 2"):
        prior_curve([0, 1], [[0.5, 0.3, 0.2], [0.1, 0.8, 0.1]], labels=[0, 1, 2], positive=1)


@given(two_class_rows())
def test_refusing_the_riskiest_rows_first_leaves_the_error_of_the_others(rows):
    y, proba, weight = rows
    curve = error_reject_curve(y, proba, LOSS, sample_weight=weight)
    least, action = LOSS.expected_loss(proba), LOSS.best_action(proba)
    cost = LOSS.realised(action, y)
    assert curve.rejected[0] == 0
    assert len(curve.rejected) == len(np.unique(least))
    for rejected, error, expected, limit in zip(
        curve.rejected, curve.error, curve.expected_error, curve.reject_cost, strict=True
    ):
        kept = least <= limit
        assert_allclose(rejected, weight[~kept].sum() / weight.sum(), atol=1e-14)
        assert_allclose(error, np.average(cost[kept], weights=weight[kept]), atol=1e-14)
        assert_allclose(expected, np.average(least[kept], weights=weight[kept]), atol=1e-14)
        # A refusal at that cost, or a little more, is what a loss with a reject action takes.
        refused = LOSS.with_reject(limit + 1e-9).best_action(proba) == "reject" if limit > 0 else ~kept
        assert_array_equal(refused, ~kept)
    assert_allclose(curve.area, np.diff([*curve.rejected, 1.0]) @ curve.error, rtol=1e-15)


def test_curves_need_fixed_costs_and_thresholds_two_of_everything():
    y, proba = [0, 1], [[0.6, 0.4], [0.3, 0.7]]
    by_row = Loss.from_costs({(0, 1): np.array([1.0, 2.0]), (1, 0): 1})
    for curve in (threshold_curve, prior_curve, error_reject_curve):
        with pytest.raises(ParameterError, match="depend on the row"):
            curve(y, proba, by_row)
    with pytest.raises(ParameterError, match="2 actions and 2 classes"):
        threshold_curve(y, proba, Loss.zero_one([0, 1]).with_reject(0.2))


def test_thresholds_begin_at_zero_and_are_the_probabilities_that_occur():
    proba = np.array([[0.25, 0.75], [0.5, 0.5], [0.25, 0.75]])
    curve = threshold_curve([0, 1, 1], proba, LOSS)
    assert (curve.threshold.tolist(), curve.positive) == ([0.0, 0.5, 0.75], 1)
