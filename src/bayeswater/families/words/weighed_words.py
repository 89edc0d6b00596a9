"""A text whose words count by weights that are learned (`decision.word_weights`).

    term of class k = slope * sum over words of x_j w_jk r_jk  +  what any text with a known word adds

with x_j a mark or the logarithm of a count, by the length of the row or its root. The log-ratios r are read off the
sums, as they are. A text without a known word says nothing. A row that is left out is taken out of the log-ratios, and
scored by the machine that its fold had no part in.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property, lru_cache
from itertools import compress
from typing import ClassVar

import numpy as np
from scipy.sparse import csr_array

from bayeswater.data.labels import Labels
from bayeswater.data.matrix import SparseMatrix
from bayeswater.data.reading.row_hashes import hashed, vocabulary_words
from bayeswater.data.reading.text import TextTable
from bayeswater.data.reading.words import stand_alone
from bayeswater.data.variable import Variable
from bayeswater.decision.word_weights import ALPHA, FOLDS, MARKS, TextWeights, cells_kept, log_ratios
from bayeswater.errors import ParameterError
from bayeswater.estimate.features import complement_sums
from bayeswater.families.family import ParameterDraws
from bayeswater.families.view import ColumnView
from bayeswater.families.words.words import WordBlock, WordView
from bayeswater.inference.drawing import Stage, log_gamma, stream
from bayeswater.inference.formula import ScaledWords, WordForm
from bayeswater.inference.linear import Line
from bayeswater.kernels.feature_sums import sparse_times_weights
from bayeswater.records import record
from bayeswater.typing import Array


def counted_words(counts: SparseMatrix) -> csr_array:
    """Give counts of words as a matrix of SciPy that begins at 0 and stores no zero."""
    first = counts.indptr[0]
    indices = counts.indices[first : counts.indptr[-1]]
    found = csr_array((counts.cells.astype(np.float64), indices, counts.indptr - first), shape=counts.shape)
    return found if found.data.all() else cells_kept(found, found.data != 0)


def folds_of_texts(words: csr_array, vocabulary: Variable) -> Array:
    """Divide rows into folds by which words they have: (n_rows,); equal texts are of one fold."""
    word = hashed(vocabulary_words(vocabulary))[words.indices]
    total = np.concatenate([np.zeros(1, dtype=np.uint64), np.cumsum(word, dtype=np.uint64)])
    found: Array = (hashed(total[words.indptr[1:]] - total[words.indptr[:-1]]) % np.uint64(FOLDS)).astype(np.int64)
    return found


class WeighedWordView(WordView):
    """A column of words that have weights."""

    rest_phrase = "any text"


@record
class WeighedWordBlock(WordBlock):
    """Words with weights; the plain reading beside them is that of the joint distribution."""

    learned: TextWeights | None = None

    view: ClassVar[type[ColumnView]] = WeighedWordView

    @classmethod
    def of(cls, plain: WordBlock, learned: TextWeights) -> "WeighedWordBlock":
        """Put weights on the words of a block."""
        return cls(plain.sums, plain.reading, None, learned)

    @property
    def weights(self) -> TextWeights:
        """The weights."""
        assert self.learned is not None
        return self.learned

    @cached_property
    def coefficients(self) -> Array:
        """What each word adds to each class, in a text of that word alone: (n_words, n_classes)."""
        return self.weights.coefficients(log_ratios(self.sums.present))

    @cached_property
    def used(self) -> Array | None:
        """Words that count (n_words,), where some do not."""
        return stand_alone(self.sums.vocabulary.states) if self.weights.reading.alone else None

    def _used(self, words: csr_array) -> csr_array:
        """Leave out words that do not count."""
        return words if self.used is None else cells_kept(words, self.used[words.indices])

    def scaled(self, counts: SparseMatrix) -> csr_array:
        """Give the numbers x_j of rows, of words that count."""
        return self.weights.reading.scaled(self._used(counted_words(counts)))

    def likelihood(self, cells: TextTable, use_loop: bool) -> Array:
        """What some rows say of the classes: (n_rows, n_classes)."""
        x = self.scaled(cells.counts)
        arguments = x.indptr, x.indices, x.data, self.coefficients, None
        return _silent_without_words(sparse_times_weights(*arguments, use_loop=use_loop) + self.weights.constant, x)

    def without(self, table: TextTable, labels: Labels, removed: Array) -> Callable[[slice, bool], Array]:
        """Give a function of some rows: what they say, each taken out of the log-ratios, and unknown to its machine."""
        present, others = self.sums.present, complement_sums(self.sums.present)
        totals = [sums.sum(axis=1) + ALPHA * sums.shape[1] for sums in (present, others)]
        n_classes = len(present)

        def terms(rows: slice, use_loop: bool) -> Array:
            words = counted_words(table.counts.block(rows))
            fold, own = folds_of_texts(words, table.vocabulary), labels.codes[rows]
            amount = np.ones(len(words.data)) if self.weights.is_marked else words.data
            length = np.bincount(_row_of_words(words), weights=amount, minlength=len(own))
            words = self._used(words)
            row, x = _row_of_words(words), self.weights.reading.scaled(words)
            amount = np.ones(len(row)) if self.weights.is_marked else words.data
            scores = np.zeros((len(own), n_classes))
            for k in range(n_classes):
                taken = np.where(own == k, removed[rows], 0.0), np.where(own == k, 0.0, removed[rows])
                ratio = np.zeros(len(row))
                for sign, sums, total, out in zip((1, -1), (present, others), totals, taken, strict=True):
                    left = np.maximum(sums[k][words.indices] - out[row] * amount, 0.0) + ALPHA
                    ratio += sign * (np.log(left) - np.log(np.maximum(total[k] - out * length, ALPHA))[row])
                weight = np.stack([machine.weight[k] for machine in self.weights.folds])[fold[row], words.indices]
                scores[:, k] = np.bincount(row, weights=x.data * weight * ratio, minlength=len(own))
                scores[:, k] += np.array([machine.intercept[k] for machine in self.weights.folds])[fold]
            return _silent_without_words(self.weights.class_log_ratios(scores), words)

        return terms

    def is_known(self, cells: TextTable) -> Array:
        """Mark texts with a known word: (n_rows, 1)."""
        return (np.diff(self._used(counted_words(cells.counts)).indptr) > 0)[:, None]

    def word_scores(self, counts: SparseMatrix, row: int) -> tuple[Array, Array, Array]:
        """Give the codes of the words of one row, what each adds (n_words, n_classes), and what any text adds."""
        x = self.scaled(counts.block(slice(row, row + 1)))
        n_classes = len(self.weights.shift)
        rest = self.weights.constant if len(x.indices) else np.zeros(n_classes)
        return x.indices, x.data[:, None] * self.coefficients[x.indices], rest

    def word_gains(self, counts: SparseMatrix, row: int) -> tuple[Array, Array]:
        """Codes of the words of one row, and what its term would lose without each: the others then weigh more."""
        codes, scores, rest = self.word_scores(counts, row)
        square = self.scaled(counts.block(slice(row, row + 1))).data ** 2
        total, left = scores.sum(axis=0), square.sum() - square
        power = 0.25 if self.weights.reading.by_root else 0.5
        grown = ((square.sum() / np.where(left > 0, left, np.inf)) ** power)[:, None]
        without = (total - scores) * grown + np.where((left > 0)[:, None], rest, 0.0)
        return codes, total + rest - without

    def generative(self) -> "WeighedWordBlock":
        """Give the same: draws are of what the words say."""
        return self

    def draw_parameters(self, places: Sequence[int], stage: Stage) -> ParameterDraws:
        """Draw the log-ratios of words; their weights are held fixed."""
        return WeighedWordDraws(self, places[0], stage)

    def formula(self, j: int) -> ScaledWords:  # type: ignore[override]
        """Say as plain data what words add."""
        reading, used = self.weights.reading, slice(None) if self.used is None else self.used
        return ScaledWords(
            self.coefficients[used], self.weights.constant, reading.amount == MARKS, by_root=reading.by_root
        )

    def known_form(self, form: WordForm) -> WordForm:
        """Give the words of `formula`: those that count."""
        if self.used is None or form.words is None or form.analyser is None:
            return form
        return WordForm(tuple(compress(form.words, self.used)), replace(form.analyser, pairs=False))

    def line(self, names: Sequence[str], model: str) -> Line:
        """Refuse: texts are scaled by their length."""
        raise ParameterError(_NO_LINE)


_NO_LINE = (
    "words have weights, and a text is scaled by its length: there is no such form; take set_params(weights=None) for "
    "that of the plain sum"
)


class WeighedWordDraws:
    """Draws of what texts say: of each word the probabilities in all classes are drawn, and so its log-ratios."""

    def __init__(self, block: WeighedWordBlock, place: int, stage: Stage) -> None:
        self.block, self.place, self.stage = block, place, stage
        self._word = lru_cache(stage.cached_cells)(self._drawn)

    def add_to(self, total: Array, cells: TextTable) -> None:
        """Add what some texts say."""
        for i in range(len(total)):
            codes, scores, rest = self.block.word_scores(cells.counts, i)
            total[i] += scores.sum(axis=0) + rest
            x = self.block.scaled(cells.counts.block(slice(i, i + 1))).data
            for code, amount in zip(codes.tolist(), x.tolist(), strict=True):
                total[i] += amount * self._word(code)

    def _drawn(self, code: int) -> Array:
        """How much more than usual a word adds in each draw: (n_draws, n_classes)."""
        shape = self.block.sums.present[:, code] + ALPHA
        drawn = log_gamma(stream(self.stage.seed, self.place, 0, code), shape, self.stage.n_draws)
        share = np.exp(drawn)
        with np.errstate(divide="ignore"):
            others = np.log(np.maximum(share.sum(axis=1, keepdims=True) - share, np.finfo(float).tiny))
        usual = np.log(shape) - np.log(np.maximum(shape.sum() - shape, ALPHA))
        weights = self.block.weights
        return weights.slope * weights.machine.weight[:, code] * (drawn - others - usual)


def _row_of_words(words: csr_array) -> Array:
    return np.repeat(np.arange(words.shape[0]), np.diff(words.indptr))


def _silent_without_words(terms: Array, words: csr_array) -> Array:
    """Let rows without a known word say nothing."""
    terms[np.diff(words.indptr) == 0] = 0.0
    return terms
