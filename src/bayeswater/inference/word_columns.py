"""A column of words in one of three readings; a row without a text says nothing."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from bayeswater.data.labels import Labels
from bayeswater.data.matrix import SparseMatrix
from bayeswater.data.text import TextTable
from bayeswater.inference.feature_columns import BernoulliColumns, ComplementColumns, MultinomialColumns
from bayeswater.typing import Array


@dataclass(frozen=True)
class WordColumns:
    """How the words are read, and what each is weighed by (idf), if it is."""

    reading: MultinomialColumns | ComplementColumns | BernoulliColumns
    word_weight: Array | None = None  # (n_words,)

    def likelihood(self, block: TextTable, use_loop: bool) -> Array:
        """Log-likelihoods of some rows: (n_rows, n_classes)."""
        if not block.counts.n_columns:  # no text has had a word yet
            return np.zeros((block.shape[0], len(self.reading.joint.intercept)))
        scores = self.reading.likelihood(self._weighed(block.counts), use_loop)
        scores[block.missing] = 0.0
        return scores

    def terms(self, block: TextTable) -> Array:
        """Log-likelihood of each row, as that of one column: (n_rows, 1, n_classes)."""
        return self.likelihood(block, use_loop=False)[:, None, :]

    def without(self, table: TextTable, labels: Labels, removed: Array) -> Callable[[slice, bool], Array]:
        """Give a function of some rows: their log-likelihoods, each row taken out of the sums.

        The weights of the words are held fixed: they are a way to read the table, as its vocabulary is.
        """
        inner = self.reading.without(_Counts(self, table), labels, removed)

        def likelihood(rows: slice, use_loop: bool) -> Array:
            if not table.counts.n_columns:
                return self.likelihood(table.block(rows), use_loop)
            scores = inner(rows, use_loop)
            scores[table.missing[rows]] = 0.0
            return scores

        return likelihood

    def word_scores(self, counts: SparseMatrix, row: int) -> tuple[Array, Array, Array]:
        """Take the score of one row apart: the codes of its words, what each adds (n_words, n_classes), and the rest.

        In marks a word adds log P(present | class). The rest (n_classes,) is what the words add that the row does not
        have: the sum of log P(absent | class) in marks, and nothing otherwise.
        """
        codes, values = self._words_of(counts, row)
        if not isinstance(self.reading, BernoulliColumns):
            return codes, values[:, None] * self._word_weights(codes), self.reading.joint.intercept
        log_present, log_absent = self._log_marks
        joint, own = self.reading.joint, log_absent[codes]
        never_absent = np.isneginf(own)
        rest = joint.intercept - np.where(never_absent, 0.0, own).sum(axis=0)
        is_possible = joint.infinite_intercept == never_absent.sum(axis=0)  # all that is never absent is there
        return codes, log_present[codes], np.where(is_possible, rest, -np.inf)

    def word_gains(self, counts: SparseMatrix, row: int) -> tuple[Array, Array]:
        """Codes of the words of one row, and what its score would lose without each of them: (n_words, n_classes)."""
        codes, values = self._words_of(counts, row)
        if isinstance(self.reading, BernoulliColumns):
            values = np.ones(len(values))
        return codes, values[:, None] * self._word_weights(codes)

    def _words_of(self, counts: SparseMatrix, row: int) -> tuple[Array, Array]:
        cells = slice(counts.indptr[row], counts.indptr[row + 1])
        codes, values = counts.indices[cells], counts.data[cells].astype(np.float64)
        codes, values = codes[values != 0], values[values != 0]  # a sparse block may store zeros
        return codes, values if self.word_weight is None else values * self.word_weight[codes]

    def _word_weights(self, codes: Array) -> Array:
        """What each word adds to the score, once: (n_words, n_classes)."""
        joint = self.reading.joint
        if joint.infinite_weight is None:
            return joint.weight[codes]
        return np.where(joint.infinite_weight[codes] > 0, np.inf if joint.certain else -np.inf, joint.weight[codes])

    @cached_property
    def _log_marks(self) -> tuple[Array, Array]:
        """Logarithms of P(present | class) and P(absent | class): (n_words, n_classes) each."""
        assert isinstance(self.reading, BernoulliColumns)
        present, absent = self.reading.log_probability()
        return present.T, absent.T

    def generative(self) -> "WordColumns":
        """Read the same sums as a distribution of words: the scores of complement counts are none."""
        if not isinstance(self.reading, ComplementColumns):
            return self
        return replace(self, reading=MultinomialColumns(self.reading.feature_sum, self.reading.alpha))

    def _weighed(self, counts: SparseMatrix) -> SparseMatrix:
        if self.word_weight is None:
            return counts
        cells = slice(counts.indptr[0], counts.indptr[-1])
        indices = counts.indices[cells]
        data = counts.data[cells] * self.word_weight[indices]
        return SparseMatrix(counts.indptr - counts.indptr[0], indices, data, counts.n_columns)


@dataclass(frozen=True)
class _Counts:
    """The weighed counts of a text, block by block."""

    columns: WordColumns
    table: TextTable

    def block(self, rows: slice) -> Any:
        return self.columns._weighed(self.table.counts.block(rows))
