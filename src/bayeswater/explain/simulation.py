"""Rows drawn from a model, as the log-likelihoods of their cells in every class.

Every column has a stream of random numbers of its own. States are drawn by the table of their probabilities, numbers by
their density, marks one by one. Of a text only the number of words is not for the model to say, so words are drawn one
after the other, and the log-likelihoods of the first 1, 2, 3, ... of them added up: a text can be compared with drawn
ones of its own length. Beyond `DRAWN_WORDS` words the sum of further ones is drawn as what it is by then: normal, with
the mean and covariance that words have.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bayeswater.explain.random_streams import stream
from bayeswater.inference.category_columns import CategoryColumns
from bayeswater.inference.drawing import draw_poisson
from bayeswater.inference.feature_columns import BernoulliColumns, MultinomialColumns
from bayeswater.inference.normal_columns import NormalColumns
from bayeswater.inference.poisson_columns import PoissonColumns
from bayeswater.inference.word_columns import WordColumns
from bayeswater.kernels.threads import row_blocks
from bayeswater.limits import require_table_bytes
from bayeswater.typing import Array

DRAWN_WORDS = 2048
"""Words of a text that are drawn one by one."""

BLOCK_CELLS = 2**22
"""Cells of marks that are drawn at a time."""


def draw_states(columns: CategoryColumns, codes: Array, places: list[int], seed: int) -> Array:
    """Terms (n_draws, n_columns, n_classes) of drawn states, missing ones among them where missing is a state."""
    counts = columns.counts
    probability = np.exp(columns.log_probability())
    drawn = np.empty((len(codes), len(places)), dtype=np.int64)
    for j, place in enumerate(places):
        n_states = int(counts.n_states[j] + columns.empty_is_state[j])
        share = probability[counts.start[j] : counts.start[j] + n_states]  # (n_states, n_classes)
        uniform = stream(seed, place).random(len(codes))
        drawn[:, j] = _states_at(np.cumsum(share, axis=0).T, codes, uniform) if n_states else counts.n_states[j]
    return columns.terms(drawn)


def draw_normal(columns: NormalColumns, codes: Array, places: list[int], seed: int) -> Array:
    """Terms (n_draws, n_columns, n_classes) of drawn numbers."""
    p = columns.parameters
    drawn = np.empty((len(codes), len(places)))
    for j, place in enumerate(places):
        rng = stream(seed, place)
        degrees = p.degrees[codes, j]
        is_normal = np.isinf(degrees)
        normal = rng.standard_normal(len(codes))
        noise = np.where(is_normal, normal, rng.standard_t(np.where(is_normal, 1.0, degrees)))
        drawn[:, j] = p.mean[codes, j] + np.sqrt(p.variance[codes, j]) * noise
    return columns.terms(drawn)


def draw_counts(columns: PoissonColumns, codes: Array, places: list[int], seed: int) -> Array:
    """Terms (n_draws, n_columns, n_classes) of drawn counts."""
    drawn = np.empty((len(codes), len(places)))
    for j, place in enumerate(places):
        drawn[:, j] = draw_poisson(columns.rate[codes, j], stream(seed, place))
    return columns.terms(drawn)


def draw_marks(marks: BernoulliColumns, codes: Array, place: int, seed: int) -> Array:
    """Terms (n_draws, n_classes) of drawn texts, all of whose words are marked as there or not."""
    probability = np.exp(marks.log_probability()[0]).T  # (n_words, n_classes)
    rng, joint = stream(seed, place), marks.joint
    terms = np.tile(joint.intercept, (len(codes), 1))
    touched = np.tile(joint.infinite_intercept, (len(codes), 1))
    for words in row_blocks(len(probability), max(1, BLOCK_CELLS // len(codes))):
        uniform = rng.random((words.stop - words.start, len(codes)))
        there = (uniform < probability[words][:, codes]).astype(np.float64).T  # (n_draws, n_words)
        terms += there @ joint.weight[words]
        if joint.infinite_weight is not None:
            touched = touched + there @ joint.infinite_weight[words]
    return np.where(touched > 0, -np.inf, terms)


@dataclass(frozen=True)
class DrawnTexts:
    """Texts drawn word by word from the words of each class, given the classes `codes` (n_draws,)."""

    words: WordColumns
    codes: Array
    place: int
    seed: int

    @cached_property
    def score(self) -> Array:
        """What a word adds in each class: (n_classes, n_words)."""
        reading = self.words.reading
        assert isinstance(reading, MultinomialColumns)
        weight = self.words.word_weight
        return reading.log_probability if weight is None else reading.log_probability * weight

    @cached_property
    def probability(self) -> Array:
        """P(word | class): (n_classes, n_words)."""
        reading = self.words.reading
        assert isinstance(reading, MultinomialColumns)
        return np.exp(reading.log_probability)

    def terms(self, lengths: Array) -> dict[int, Array]:
        """Terms (n_draws, n_classes) of texts of each of the lengths asked for, by length."""
        n_classes, n_words = self.score.shape
        wanted = np.unique(lengths).tolist()
        require_table_bytes(
            8 * len(wanted) * len(self.codes) * n_classes,
            f"drawn texts of {len(wanted)} lengths",
            "ask for fewer draws, n_draws=..., or for fewer rows at a time",
        )
        found, total, drawn = {}, np.zeros((len(self.codes), n_classes)), 0
        rng, cumulated = stream(self.seed, self.place), np.cumsum(self.probability, axis=1)
        for length in wanted:
            while drawn < min(length, DRAWN_WORDS) and n_words:
                word = _states_at(cumulated, self.codes, rng.random(len(self.codes)))
                total = total + self.score[:, word].T
                drawn += 1
            found[length] = total if length <= DRAWN_WORDS else total + self._further(length - DRAWN_WORDS)
        return found

    def _further(self, n: int) -> Array:
        """Terms of n further words, so many that their sum is normal: (n_draws, n_classes)."""
        n_classes = len(self.score)
        noise = stream(self.seed, self.place, 1).standard_normal((len(self.codes), n_classes))
        finite = np.where(np.isneginf(self.score), 0.0, self.score)
        result = np.empty((len(self.codes), n_classes))
        for k in np.unique(self.codes):
            rows, share = self.codes == k, self.probability[k]
            mean = finite @ share
            away = (finite - mean[:, None]) * np.sqrt(share)
            variance, axes = np.linalg.eigh(away @ away.T)
            result[rows] = n * mean + noise[rows] @ (axes * np.sqrt(np.maximum(n * variance, 0.0))).T
            result[np.ix_(rows, np.isneginf(self.score)[:, share > 0].any(axis=1))] = -np.inf
        return result


def _states_at(cumulated: Array, codes: Array, uniform: Array) -> Array:
    """States that uniform numbers (n_draws,) fall on in the cumulated P(state | class), (n_classes, n_states)."""
    result = np.empty(len(codes), dtype=np.int64)
    for k in np.unique(codes):
        rows = codes == k
        # The last entry is 1 but for rounding.
        result[rows] = np.searchsorted(cumulated[k], uniform[rows] * cumulated[k, -1], side="right")
    return np.minimum(result, cumulated.shape[1] - 1)
