"""Class priors, and probabilities of features and categories, against fractions and limits by hand."""

import numpy as np
import pytest

from bayeswater import BernoulliNB, CategoricalNB, ComplementNB, MultinomialNB, ParameterError
from bayeswater.estimate.dirichlet import checked_class_prior, class_log_prior
from bayeswater.estimate.features import complement_sums, complement_weights, normalised_weights

# ---------------------------------------------------------------------- class prior


def test_the_counted_prior_is_smoothed_by_class_alpha():
    prior = np.exp(class_log_prior(np.array([1, 3, 0]), given=None, fit_prior=True, class_alpha=2.0))
    np.testing.assert_allclose(prior, [3 / 10, 5 / 10, 2 / 10], rtol=1e-15)


def test_a_class_without_rows_has_prior_zero_unless_it_is_smoothed():
    assert class_log_prior(np.array([1, 0]), given=None, fit_prior=True, class_alpha=0.0).tolist() == [0.0, -np.inf]


def test_a_prior_that_is_not_counted_is_uniform():
    prior = class_log_prior(np.array([1, 3, 0]), given=None, fit_prior=False, class_alpha=5.0)
    np.testing.assert_allclose(prior, -np.log(3), rtol=1e-15)


def test_a_given_prior_stands_and_may_be_zero():
    given = np.array([0.0, 1.0])
    assert class_log_prior(np.array([9, 1]), given=given, fit_prior=True, class_alpha=1.0).tolist() == [-np.inf, 0.0]


@pytest.mark.parametrize("given", [[0.3, 0.7], (0.3, 0.7), np.array([0.3, 0.7], dtype=np.float32), [0.3, 0.7 + 1e-9]])
def test_probabilities_that_sum_to_one_are_accepted(given):
    np.testing.assert_allclose(checked_class_prior(given, 2, "priors"), [0.3, 0.7], rtol=1e-6)  # single precision
    assert checked_class_prior(None, 2, "priors") is None


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([1.0], r"Number of priors must match number of classes: priors has shape \(1,\), and there are 2 classes"),
        ([[0.5, 0.5]], r"priors has shape \(1, 2\)"),
        (0.5, r"priors has shape \(\)"),
        ([0.5, 0.6], r"The sum of the priors should be 1: priors is \[0.5, 0.6\], with sum 1.1"),
        ([1.5, -0.5], r"Priors must be non-negative: priors is \[1.5, -0.5\]"),
        ([np.nan, 1.0], r"Priors must be non-negative: priors is \[nan, 1.0\]"),
        ([np.inf, 0.0], "Priors must be non-negative"),
        (["a", "b"], r"priors is \['a', 'b'\]; give one probability for each class"),
        ([None, {}], "give one probability for each class"),
    ],
)
def test_what_is_no_distribution_is_refused(given, message):
    with pytest.raises(ParameterError, match=message):
        checked_class_prior(given, 2, "priors")


# ---------------------------------------------------------------------- features


def test_features_of_a_class_share_its_total():
    model = MultinomialNB(alpha=[1.0, 0.0, 2.0]).fit([[2, 1, 0], [0, 0, 5]], [0, 1])
    np.testing.assert_allclose(np.exp(model.feature_log_prob_), [[3 / 6, 1 / 6, 2 / 6], [1 / 8, 0, 7 / 8]], rtol=1e-15)


def test_complement_sums_are_those_of_all_other_classes():
    sums = np.array([[1, 2], [10, 20], [100, 200]])
    assert complement_sums(sums).tolist() == [[110, 220], [101, 202], [11, 22]]
    assert complement_sums(sums[:1]).tolist() == [[0, 0]]


def test_complement_sums_keep_the_digits_of_a_small_class_beside_a_large_one():
    assert complement_sums(np.array([[1e20], [1.0], [2.0]])).tolist() == [[3.0], [1e20], [1e20]]


def test_complement_sums_do_not_wrap():
    assert complement_sums(np.full((4, 1), 2**62)).tolist() == [[3.0 * 2**62]] * 4


def test_a_word_that_no_other_class_has_weighs_without_end_when_nothing_is_smoothed():
    weights = complement_weights(np.array([[3, 1], [0, 2]]), np.zeros(2), norm=False)
    np.testing.assert_allclose(weights, [[np.inf, 0.0], [-np.log(3 / 4), -np.log(1 / 4)]], rtol=1e-15)


def test_normalised_weights_sum_to_one():
    logged = np.log(np.array([[0.2, 0.8], [0.5, 0.5]]))
    np.testing.assert_allclose(normalised_weights(logged).sum(axis=1), 1.0, rtol=1e-15)


def test_infinite_weights_share_the_sum_equally():
    logged = np.array([[-np.inf, -1.0, -np.inf], [-1.0, -2.0, -1.0]])
    assert normalised_weights(logged).tolist() == [[0.5, 0.0, 0.5], [0.25, 0.5, 0.25]]


def test_one_feature_of_probability_one_weighs_nothing():
    assert normalised_weights(np.array([[0.0]])).tolist() == [[0.0]]
    assert ComplementNB(norm=True).fit([[1], [2]], [0, 1]).predict_proba([[1]]).tolist() == [[0.5, 0.5]]


def test_presence_and_absence_are_read_from_counts_of_their_own():
    model = BernoulliNB(alpha=1e-10).fit(np.ones((1_000_000, 1), dtype=np.uint8), np.zeros(1_000_000, dtype=int))
    absent = model.predict_joint_log_proba([[0]])
    # log(1e-10 / (1e6 + 2e-10)); 1 - exp(log p) would be zero.
    np.testing.assert_allclose(absent, np.log(1e-10) - np.log(1e6), rtol=1e-15)


def test_a_feature_of_which_nothing_is_known_is_as_likely_as_not():
    model = BernoulliNB(alpha=0, missing="ignore").fit([[1.0, np.nan], [0.0, np.nan]], [0, 0])
    np.testing.assert_allclose(np.exp(model.feature_log_prob_), [[0.5, 0.5]], rtol=1e-15)


# ---------------------------------------------------------------------- categories


def test_states_of_a_column_share_its_rows():
    model = CategoricalNB(alpha=[1.0, 0.0]).fit([[0, 0], [2, 1], [0, 1]], [0, 0, 1])
    first, second = (np.exp(part) for part in model.feature_log_prob_)
    np.testing.assert_allclose(first, [[2 / 5, 1 / 5, 2 / 5], [2 / 4, 1 / 4, 1 / 4]], rtol=1e-15)
    np.testing.assert_allclose(second, [[1 / 2, 1 / 2], [0, 1]], rtol=1e-15)


def test_missing_cells_take_no_share_unless_they_are_a_state():
    cells, y = [["a"], [None], [None]], [0, 0, 0]
    ignored = CategoricalNB(missing="ignore").fit(cells, y)
    assert np.exp(ignored.feature_log_prob_[0]).tolist() == [[1.0]]
    stated = CategoricalNB(missing="state").fit(cells, y)
    np.testing.assert_allclose(np.exp(stated.feature_log_prob_[0]), [[2 / 5, 3 / 5]], rtol=1e-15)


def test_a_column_that_no_row_of_a_class_has_is_uniform_when_nothing_is_smoothed():
    model = CategoricalNB(alpha=0, missing="ignore").fit([["a"], ["b"], [None]], [0, 0, 1])
    np.testing.assert_allclose(np.exp(model.feature_log_prob_[0]), [[0.5, 0.5], [0.5, 0.5]], rtol=1e-15)


@pytest.mark.parametrize("rule", ["ignore", "state"])
def test_a_column_of_missing_cells_alone_says_nothing(rule):
    model = CategoricalNB(missing=rule).fit([["a", None], ["b", None]], [0, 1])
    alone = CategoricalNB().fit([["a"], ["b"]], [0, 1])
    np.testing.assert_allclose(
        model.predict_log_proba([["a", None], ["b", None]]), alone.predict_log_proba([["a"], ["b"]]), rtol=1e-15
    )
