"""Weights of words by their rarity, read off the sums of a text column.

The tf-idf of a row is its word counts times one weight for each word. The weight depends on all rows, but is the same
in each: so it can be taken out of the sum over the rows of a class, sum_i idf_j n_ij = idf_j N_kj. The sums are kept as
counts, which are merged and subtracted exactly, and weighed when they are read. This does not hold for rows that are
divided by their length.
"""

import numpy as np

from bayeswater.statistics.text_sums import TextSums
from bayeswater.typing import Array


def idf(sums: TextSums) -> Array:
    """Inverse document frequency ``log((1 + n) / (1 + n_j)) + 1`` of each word: (n_words,).

    n is the number of texts and n_j of those that have word j, both of one more text that has every word, as in
    scikit-learn (`smooth_idf`): no word weighs infinitely much, and none nothing.

    >>> import pyarrow
    >>> from bayeswater.data.labels import encode_labels
    >>> from bayeswater.data.reading.text import read_text
    >>> table = read_text(pyarrow.chunked_array([["to be", "to do", "to see"]]), "line")
    >>> sums = TextSums.of(table, encode_labels(["a", "a", "b"]), None)
    >>> dict(zip(sums.vocabulary.states, idf(sums).round(3).tolist()))
    {'be': 1.693, 'do': 1.693, 'see': 1.693, 'to': 1.0}
    """
    n_texts = sums.observed.sum(dtype=np.float64)
    n_with_word = sums.present.sum(axis=0, dtype=np.float64)
    return np.log((1 + n_texts) / (1 + n_with_word)) + 1
