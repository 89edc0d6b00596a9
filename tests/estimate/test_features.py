"""Weights of words: those of scikit-learn, and the same whether sums are merged before or after they are weighed."""

import numpy as np
import pyarrow as pa
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer

from bayeswater.data.labels import encode_labels
from bayeswater.data.reading.text import TextAnalyser, read_text
from bayeswater.estimate.features import idf
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
