"""Bayes' rule in log space: normalised without NaN, impossible rows fall back, ties go to the first class."""

import numpy as np
import pytest

from bayeswater.inference.log_space import TIE, best_class, fall_back, log_evidence, log_posterior, posterior

both_roads = pytest.mark.parametrize("use_loop", [False, True], ids=["reference", "loop"])


@both_roads
@pytest.mark.parametrize("shift", [0.0, -1e6, 700.0, -1e300])
def test_a_posterior_does_not_depend_on_a_common_factor(shift, use_loop):
    joint = np.log([[0.2, 0.6], [0.5, 0.5]])
    if abs(shift) > 1e10:
        joint = np.zeros((2, 2))  # beside so large a number nothing else counts
    expected = np.exp(joint) / np.exp(joint).sum(axis=1, keepdims=True)
    # A factor of exp(1e6) costs the joint seven of its sixteen digits.
    np.testing.assert_allclose(posterior(joint + shift, use_loop), expected, rtol=1e-9)
    np.testing.assert_allclose(np.exp(log_posterior(joint + shift, use_loop)), expected, rtol=1e-9)


@both_roads
def test_a_log_posterior_is_never_floored(use_loop):
    assert log_posterior(np.array([[0.0, -1e6]]), use_loop).tolist() == [[0.0, -1e6]]
    assert posterior(np.array([[0.0, -1e6]]), use_loop).tolist() == [[1.0, 0.0]]


@both_roads
def test_an_impossible_class_among_possible_ones_is_impossible_and_no_nan(use_loop):
    joint = np.array([[-np.inf, 0.0], [-5.0, -np.inf]])
    assert posterior(joint.copy(), use_loop).tolist() == [[0.0, 1.0], [1.0, 0.0]]
    assert log_posterior(joint.copy(), use_loop).tolist() == [[-np.inf, 0.0], [0.0, -np.inf]]
    assert best_class(joint, use_loop).tolist() == [1, 0]


@both_roads
def test_a_single_class_is_certain(use_loop):
    assert posterior(np.array([[-3.0]]), use_loop).tolist() == [[1.0]]
    assert log_posterior(np.array([[-3.0]]), use_loop).tolist() == [[0.0]]


# ---------------------------------------------------------------------- ties


@both_roads
def test_equal_scores_go_to_the_first_class(use_loop):
    assert best_class(np.array([[1.0, 1.0, 1.0], [0.0, 2.0, 2.0]]), use_loop).tolist() == [0, 1]


@both_roads
@pytest.mark.parametrize("size", [1e-3, 1.0, 1e6])
@pytest.mark.parametrize("sign", [1, -1])
def test_scores_equal_within_rounding_go_to_the_first_class(size, sign, use_loop):
    top = sign * size
    rounding = TIE * max(1.0, size)  # a logarithm near zero stands for a number near one, and rounds like it
    near, apart = top - 0.5 * rounding, top - 4 * rounding
    assert best_class(np.array([[near, top], [apart, top], [top, near]]), use_loop).tolist() == [0, 1, 0]


# ---------------------------------------------------------------------- impossible rows


def test_rows_that_no_class_allows_fall_back_to_the_prior_and_are_counted():
    prior = np.log([0.25, 0.75])
    joint = np.array([[-np.inf, -np.inf], [-1.0, -2.0], [-np.inf, -2.0], [-np.inf, -np.inf]])
    assert fall_back(joint, prior) == 2
    np.testing.assert_array_equal(joint[[0, 3]], [prior, prior])
    np.testing.assert_array_equal(joint[1:3], [[-1.0, -2.0], [-np.inf, -2.0]])


def test_each_row_may_have_a_prior_of_its_own():
    joint = np.array([[-np.inf, -np.inf], [0.0, 0.0], [-np.inf, -np.inf]])
    prior = np.log([[0.1, 0.9], [0.2, 0.8], [0.3, 0.7]])
    assert fall_back(joint, prior) == 2
    np.testing.assert_array_equal(joint[[0, 2]], prior[[0, 2]])


def test_where_every_row_is_possible_nothing_falls_back():
    joint = np.array([[0.0, -np.inf], [-np.inf, 1.0]])
    before = joint.copy()
    assert fall_back(joint, np.zeros(2)) == 0
    np.testing.assert_array_equal(joint, before)


# ---------------------------------------------------------------------- evidence


def test_the_evidence_is_the_sum_over_classes():
    np.testing.assert_allclose(np.exp(log_evidence(np.log([[0.1, 0.2], [0.3, 0.3]]))), [0.3, 0.6], rtol=1e-15)


def test_evidence_far_below_the_smallest_number_keeps_its_digits():
    np.testing.assert_allclose(log_evidence(np.array([[-1e5, -1e5]])), -1e5 + np.log(2), rtol=1e-15)


def test_an_impossible_row_has_evidence_zero():
    assert log_evidence(np.array([[-np.inf, -np.inf], [-np.inf, 0.0]])).tolist() == [-np.inf, 0.0]
