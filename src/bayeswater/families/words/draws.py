"""Probabilities of words, and texts, drawn at random, and the log-likelihoods of texts under each draw.

Counted words share a Dirichlet. It is drawn by gamma variates, G_w / sum of all G; the words that a text does not have
matter only by the sum of theirs, which is a gamma variate too: Dirichlet shares can be put together. So a text needs as
many draws as it has words, and one more.

Marked words have a Beta each, and those that a text does not have enter by log(1 - p). Sums over all words are drawn
word by word for those that vary most. The others, if there are more than `DRAWN_WORDS`, are so many that their sum is
normal: it is drawn with its exact mean and variance, psi(b) - psi(a + b) and psi'(b) - psi'(a + b) for each word.

Texts themselves are drawn for novelty. Of a counted text only the number of words is not for the model to say, so words
are drawn one after the other, and the log-likelihoods of the first 1, 2, 3, ... of them added up: a text can be
compared with drawn ones of its own length. Beyond `DRAWN_LENGTH` words the sum of further ones is drawn as what it is
by then: normal, with the mean and covariance that words have.
"""

from functools import cached_property, lru_cache

import numpy as np
from scipy.special import polygamma, psi

from bayeswater.data.matrix import SparseMatrix
from bayeswater.data.reading.text import TextTable
from bayeswater.families.words.features import BernoulliColumns, MultinomialColumns
from bayeswater.inference.drawing import Stage, log_gamma, log_share, states_at, stream
from bayeswater.kernels.threads import row_blocks
from bayeswater.limits import require_table_bytes
from bayeswater.records import record
from bayeswater.typing import Array

DRAWN_WORDS = 1024
"""Absent words that are drawn one by one."""

DRAWN_LENGTH = 2048
"""Words of a text that are drawn one by one."""

BLOCK_CELLS = 2**22
"""Cells of marks that are drawn at a time."""

WORDS_AT_A_TIME = 64
"""Words of a text whose draws are put together."""


def words_of(counts: SparseMatrix, row: int) -> tuple[Array, Array]:
    """Codes of the words of a row, and how often each stands there."""
    cells = slice(counts.indptr[row], counts.indptr[row + 1])
    codes, values = counts.indices[cells], counts.data[cells]
    return codes[values > 0], values[values > 0].astype(np.float64)


def _log_sum(logs: Array) -> Array:
    """Logarithm of the sum of what is given by its logarithms, along the first axis."""
    top = logs.max(axis=0)
    top = np.where(np.isneginf(top), 0.0, top)
    with np.errstate(divide="ignore"):
        return top + np.log(np.exp(logs - top).sum(axis=0))


class CountedWordDraws:
    """Draws of P(word | class)."""

    def __init__(self, columns: MultinomialColumns, word_weight: Array | None, place: int, stage: Stage) -> None:
        self.columns, self.word_weight, self.place, self.stage = columns, word_weight, place, stage
        self._total = (columns.feature_sum + columns.alpha).sum(axis=1)  # (n_classes,)
        self._word = lru_cache(stage.cached_cells)(self._drawn)

    def add_to(self, total: Array, cells: TextTable) -> None:
        """Add the log-likelihoods of some texts."""
        for i in range(len(total)):
            codes, values = words_of(cells.counts, i)
            if len(codes) and not cells.missing[i]:
                total[i] += self._text(codes, values if self.word_weight is None else values * self.word_weight[codes])

    def _text(self, codes: Array, values: Array) -> Array:
        """Log-likelihood of one text: (n_draws, n_classes)."""
        shape = self.columns.feature_sum[:, codes] + self.columns.alpha[codes]
        others = np.maximum(self._total - shape.sum(axis=1), 0.0)
        rng = stream(self.stage.seed, self.place, 1, *codes.tolist())
        all_words = log_gamma(rng, others, self.stage.n_draws)
        likelihood = np.zeros_like(all_words)
        for part in row_blocks(len(codes), WORDS_AT_A_TIME):
            drawn = np.stack([self._word(code) for code in codes[part].tolist()])  # (n_words, n_draws, n_classes)
            likelihood += np.tensordot(values[part], drawn, axes=1)
            np.logaddexp(all_words, _log_sum(drawn), out=all_words)
        with np.errstate(invalid="ignore"):
            likelihood -= values.sum() * all_words
        # A class without a word and without smoothing gives all words the same probability.
        return np.where(self._total == 0, -values.sum() * np.log(len(self.columns.alpha)), likelihood)

    def _drawn(self, code: int) -> Array:
        shape = self.columns.feature_sum[:, code] + self.columns.alpha[code]
        return log_gamma(stream(self.stage.seed, self.place, 0, code), shape, self.stage.n_draws)


class MarkedWordDraws:
    """Draws of P(word present | class)."""

    def __init__(self, columns: BernoulliColumns, place: int, stage: Stage) -> None:
        self.place, self.stage = place, stage
        counts = columns.counts
        self._present = counts.present + columns.present_alpha  # (n_classes, n_words)
        self._absent = counts.absent + columns.absent_alpha
        never_absent = (self._absent == 0) & (self._present > 0)
        self._never_absent = never_absent.T.astype(np.float64)  # (n_words, n_classes)
        self._word = lru_cache(stage.cached_cells)(self._drawn)
        mean, variance = self._moments()
        order = np.argsort(-variance.max(axis=1), kind="stable")
        self._is_drawn = np.zeros(len(mean), dtype=bool)
        self._is_drawn[order[:DRAWN_WORDS]] = True
        self._mean = np.where(self._is_drawn[:, None], 0.0, mean)
        self._variance = np.where(self._is_drawn[:, None], 0.0, variance)
        self._sum_mean, self._sum_variance = self._mean.sum(axis=0), self._variance.sum(axis=0)
        size = (stage.n_draws, stage.n_classes)
        self._noise = stream(stage.seed, place, 1).standard_normal(size)
        self._all_absent = sum(
            (self._drawn(code)[1] for code in np.flatnonzero(self._is_drawn).tolist()), start=np.zeros(size)
        )

    def add_to(self, total: Array, cells: TextTable) -> None:
        """Add the log-likelihoods of some texts."""
        for i in range(len(total)):
            if not cells.missing[i]:
                total[i] += self._text(words_of(cells.counts, i)[0])

    def _text(self, codes: Array) -> Array:
        """Log-likelihood of one text: (n_draws, n_classes)."""
        spread = np.sqrt(np.maximum(self._sum_variance - self._variance[codes].sum(axis=0), 0.0))
        likelihood = self._all_absent + (self._sum_mean - self._mean[codes].sum(axis=0)) + spread * self._noise
        for code in codes.tolist():
            present, absent = self._word(code)
            likelihood += present - absent if self._is_drawn[code] else present
        impossible = self._never_absent.sum(axis=0) - self._never_absent[codes].sum(axis=0) > 0
        return np.where(impossible, -np.inf, likelihood)

    def _drawn(self, code: int) -> tuple[Array, Array]:
        """Logarithms of P(present | class) and P(absent | class), the latter 0 where it is impossible."""
        rng = stream(self.stage.seed, self.place, 0, code)
        present, absent = log_share(rng, self._present[:, code], self._absent[:, code], self.stage.n_draws)
        return present, np.where(self._never_absent[code] > 0, 0.0, absent)

    def _moments(self) -> tuple[Array, Array]:
        """Mean and variance of log P(absent | class): (n_words, n_classes) each, 0 where there is nothing to draw."""
        a, b = self._present.T, self._absent.T
        certain = (b == 0) | (a == 0)
        b, both = np.where(certain, 1.0, b), np.where(certain, 1.0, a + b)
        empty = np.where((self._present.T == 0) & (self._absent.T == 0), -np.log(2.0), 0.0)
        return psi(b) - psi(both) + empty, polygamma(1, b) - polygamma(1, both)


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


@record
class DrawnTexts:
    """Texts drawn word by word from the words of each class, given the classes `codes` (n_draws,)."""

    log_probability: Array  # of P(word | class): (n_classes, n_words)
    word_weight: Array | None  # (n_words,)
    codes: Array
    place: int
    seed: int

    @cached_property
    def score(self) -> Array:
        """What a word adds in each class: (n_classes, n_words)."""
        return self.log_probability if self.word_weight is None else self.log_probability * self.word_weight

    @cached_property
    def probability(self) -> Array:
        """P(word | class): (n_classes, n_words)."""
        return np.exp(self.log_probability)

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
            while drawn < min(length, DRAWN_LENGTH) and n_words:
                word = states_at(cumulated, self.codes, rng.random(len(self.codes)))
                total = total + self.score[:, word].T
                drawn += 1
            found[length] = total if length <= DRAWN_LENGTH else total + self._further(length - DRAWN_LENGTH)
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
