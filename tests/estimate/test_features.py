"""Probabilities and weights of words: by hand and as in scikit-learn, and the same for sums merged before or after."""

import numpy as np
import pyarrow as pa
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer

from bayeswater import BernoulliNB, ComplementNB, MultinomialNB
from bayeswater.data.labels import encode_labels
from bayeswater.data.reading.text import TextAnalyser, read_text
from bayeswater.estimate.features import complement_sums, complement_weights, idf, normalised_weights
from bayeswater.statistics.text_sums import TextSums

TEXTS = ["the cat sat", "the dog sat sat", "a cat", "the the", "dogs"]
LABELS = ["x", "y", "x", "y", "x"]
VECTORIZER = TfidfVectorizer(norm=None)


def sums_of(texts, labels, weight=None):
    table = read_text(pa.chunked_array([pa.array(texts, pa.string())]), "t", TextAnalyser.from_vectorizer(VECTORIZER))
    return TextSums.of(table, encode_labels(labels), weight)


def test_weights_are_those_of_scikit_learn():
    # Both round three operations.
    np.testing.assert_allclose(idf(sums_of(TEXTS, LABELS)), VECTORIZER.fit(TEXTS).idf_, rtol=1e-15)


def test_weighed_sums_are_the_sums_of_weighed_rows():
    sums = sums_of(TEXTS, LABELS)
    rows = VECTORIZER.fit_transform(TEXTS).toarray()
    by_class = [rows[np.array(LABELS) == label].sum(axis=0) for label in sums.classes.states]
    # Sums of at most three products.
    np.testing.assert_allclose(sums.word_count * idf(sums), by_class, rtol=1e-14)


def test_weights_of_merged_sums_are_those_of_all_rows():
    merged = sums_of(TEXTS[:2], LABELS[:2]) + sums_of(TEXTS[2:], LABELS[2:])
    assert np.array_equal(idf(merged), idf(sums_of(TEXTS, LABELS)))


def test_missing_texts_do_not_count_and_weights_are_repetition():
    weight = np.array([1, 3, 1, 2, 1, 5])
    repeated = [text for text, w in zip(TEXTS, weight, strict=False) for _ in range(w)]
    labels = [label for label, w in zip(LABELS, weight, strict=False) for _ in range(w)]
    assert np.array_equal(idf(sums_of([*TEXTS, None], [*LABELS, "x"], weight)), idf(sums_of(repeated, labels)))


@pytest.mark.parametrize("texts", [[None, None], ["", ""]])
def test_no_words_have_no_weights(texts):
    assert idf(sums_of(texts, ["x", "y"])).shape == (0,)


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
