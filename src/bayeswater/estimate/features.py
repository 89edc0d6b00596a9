"""Probabilities of features within each class, multinomial, complement and Bernoulli, and weights of rare words.

The tf-idf of a row is its word counts times one weight for each word. The weight depends on all rows, but is the same
in each: so it can be taken out of the sum over the rows of a class, sum_i idf_j n_ij = idf_j N_kj. The sums are kept as
counts, which are merged and subtracted exactly, and weighed when they are read. This does not hold for rows that are
divided by their length.
"""

from collections.abc import Mapping

import numpy as np

from bayeswater.estimate.dirichlet import Beta, log_posterior_mean
from bayeswater.kernels.remainders import remainder
from bayeswater.statistics.feature_sums import BinaryCounts
from bayeswater.statistics.text_sums import TextSums
from bayeswater.typing import Array


def multinomial_log_probability(feature_sum: Array, alpha: Array) -> Array:
    """Logarithm of P(feature | class) = (n_kj + a_j) / sum_j (n_kj + a_j): (n_classes, n_features)."""
    return log_posterior_mean(feature_sum, alpha, axis=1)


def complement_weights(feature_sum: Array, alpha: Array, *, norm: bool) -> Array:
    """Weights of Rennie et al. (2003), Table 4, from the counts of all *other* classes: (n_classes, n_features).

    A word that no other class has gets the weight +inf when nothing is smoothed.
    """
    logged = log_posterior_mean(complement_sums(feature_sum), alpha, axis=1)
    return -logged if not norm else normalised_weights(logged)


def complement_sums(feature_sum: Array) -> Array:
    """Sum every feature over all *other* classes: (n_classes, n_features).

    Added up from both ends of the list of classes: taking a large class away from the total would cancel the digits
    of a small one.

    >>> complement_sums(np.array([[1], [20], [300]])).ravel()
    array([320, 301,  21])
    """
    if feature_sum.sum(axis=0, dtype=np.float64).max(initial=0.0) >= 2**63:
        feature_sum = feature_sum.astype(np.float64)
    others = np.zeros_like(feature_sum)
    for order in (range(len(feature_sum)), reversed(range(len(feature_sum)))):
        passed = np.zeros_like(feature_sum[0])
        for k in order:
            others[k] += passed
            passed += feature_sum[k]
    return others


def normalised_weights(logged: Array) -> Array:
    """Divide each class's weights by their sum; infinite ones, the limit of no smoothing, share it equally."""
    infinite = np.isneginf(logged)
    if infinite.any():
        some = infinite.any(axis=1, keepdims=True)
        logged = np.where(some, -infinite.astype(np.float64), logged)
    total = logged.sum(axis=1, keepdims=True)
    return logged / np.where(total == 0, 1.0, total)  # one feature of probability 1 weighs nothing


def bernoulli_pseudo_counts(alpha: Array, priors: Mapping[int, Beta]) -> tuple[Array, Array]:
    """Pseudo-counts of presence and of absence of each feature: (n_features,) each."""
    present, absent = alpha.copy(), alpha.copy()
    for j, prior in priors.items():
        present[j], absent[j] = prior.present, prior.absent
    return present, absent


def bernoulli_log_probability(
    counts: BinaryCounts, present_alpha: Array, absent_alpha: Array, removed: float = 0.0
) -> tuple[Array, Array]:
    """Logarithms of P(present | class) and P(absent | class), each from its own count: (n_classes, n_features).

    With `removed`, each is for a row of that class and state that has itself been taken out with that weight.
    """
    present = remainder(counts.present, removed) + present_alpha
    absent = remainder(counts.absent, removed) + absent_alpha
    total = remainder(counts.observed, removed) + present_alpha + absent_alpha
    empty = total == 0
    with np.errstate(divide="ignore"):
        log_total = np.log(np.where(empty, 2.0, total))
        return np.log(np.where(empty, 1.0, present)) - log_total, np.log(np.where(empty, 1.0, absent)) - log_total


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
