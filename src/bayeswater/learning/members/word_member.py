"""`WordMember`: the words of all texts of a row, weighed by linear machines on log-ratios that are counted.

    log P(k | texts) ~ log P(k) + what the texts say of k   (`families.words.weighed_words`)

All texts are one: the words of each have codes of their own, so that what two texts tell alike does not count twice.
Machines are what is learned of structure. Those of the folds let every row validate, with itself taken out of the
counts and by a machine that it had no part in. Log-ratios follow the counts.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import ClassVar, Self

import numpy as np

from bayeswater.data.matrix import SparseMatrix
from bayeswater.data.reading.text import TextTable
from bayeswater.data.variable import Variable
from bayeswater.decision.word_weights import COUNTS, FOLDS, MARKS, Machine, TextRows, TextWeights, WordReading
from bayeswater.errors import StatisticsError
from bayeswater.estimate.dirichlet import Prior
from bayeswater.families.words.features import MultinomialColumns
from bayeswater.families.words.weighed_words import WeighedWordBlock, counted_words, folds_of_texts
from bayeswater.inference.class_trees import KeptFields
from bayeswater.inference.log_space import log_posterior
from bayeswater.kernels.compiling import worth_compiling
from bayeswater.kernels.threads import one_blas_thread
from bayeswater.learning.members.committee import SMOOTHING, Committee
from bayeswater.learning.members.member_table import EnsembleTable, declared_codes, labels_of, weight_of
from bayeswater.records import record
from bayeswater.statistics.consistency import require_consistent
from bayeswater.statistics.sums import ClassCounts, Sums
from bayeswater.statistics.text_sums import TextSums
from bayeswater.typing import Array

MOST_TEXTS = 100_000
"""Different rows that machines are learned from, at most."""

TEXT_SUMS = ("word_count", "present", "observed")


def beside(texts: Sequence[TextTable]) -> TextTable | None:
    """Make one text of several, in which the words of each have codes of their own, those of the first the lowest."""
    if not texts:
        return None
    start = np.cumsum([0, *(text.counts.n_columns for text in texts)])
    counts = [text.counts for text in texts]
    row = np.concatenate([np.repeat(np.arange(len(own.indptr) - 1), np.diff(own.indptr)) for own in counts])
    order = np.argsort(row, kind="stable") if len(texts) > 1 else slice(None)
    indices = np.concatenate([own.indices + first for own, first in zip(counts, start.tolist(), strict=False)])
    indptr = np.sum([own.indptr for own in counts], axis=0, dtype=counts[0].indptr.dtype)
    data = np.concatenate([own.cells for own in counts])
    joined = SparseMatrix(indptr, indices[order].astype(np.int32), data[order], int(start[-1]))
    return TextTable(vocabulary_of(int(start[-1])), joined, np.all([text.missing for text in texts], axis=0))


def vocabulary_of(n_words: int) -> Variable:
    """Give words by their codes; the last one is declared, so that the domain keeps its length."""
    return Variable.of_codes("words", n_words, frozenset({n_words - 1} if n_words else ()))


@record
class WordMember(KeptFields, Committee):
    """Counts of words, and their weights."""

    kind: ClassVar[str] = "words"
    is_beside: ClassVar[bool] = True

    n_members: int = 1
    counts: Sums[TextSums] | None = None
    weights: TextWeights | None = None

    def learn(self, table: EnsembleTable, seed: int) -> Self:
        """Count all rows, and learn the machines."""
        counts = _counted(table)
        some = table.take(slice(0, MOST_TEXTS))
        words = counted_words(_texts(some).counts)
        fold = folds_of_texts(words, counts.columns.vocabulary)
        rows = TextRows(words, some.labels, some.weights, fold, is_marked=True)
        prior = Prior.of(counts.class_count.count, SMOOTHING).log
        with one_blas_thread():
            return replace(self, counts=counts, weights=TextWeights.fit(rows, counts.columns.present, prior))

    @property
    def sums(self) -> Sums[TextSums]:
        """Counts of the words."""
        assert self.counts is not None  # rows were learned
        return self.counts

    @property
    def n_words(self) -> int:
        """Number of words of all texts."""
        return self.sums.columns.vocabulary.n_states

    @cached_property
    def _block(self) -> WeighedWordBlock:
        plain = MultinomialColumns(self.sums.columns.word_count, np.ones(self.n_words))
        return WeighedWordBlock(self.sums.columns, plain, None, self.weights)

    def plus(self, table: EnsembleTable) -> Self:
        """Count further rows; the machines stay."""
        return replace(self, counts=self.sums + _counted(table))

    def minus(self, table: EnsembleTable) -> Self:
        """Take rows out of the counts; the machines stay."""
        return replace(self, counts=self.sums - _counted(table))

    def log_posterior(self, table: EnsembleTable) -> Array:
        """Log posterior of rows: (n_rows, n_classes)."""
        texts = _texts(table)
        said = self._block.likelihood(texts, worth_compiling(texts.n_cells))
        return log_posterior(Prior.of(self.sums.class_count.count, SMOOTHING).log + said)

    def honest_log_posterior(self, table: EnsembleTable) -> tuple[Array, Array]:
        """Log posterior of counted rows, each taken out of the counts, and by a machine that has not seen it."""
        texts = _texts(table)
        without = self._block.without(texts, labels_of(table), table.removed)
        prior = Prior.of(self.sums.class_count.count, SMOOTHING).without(table.labels, table.removed)
        said = without(slice(0, len(table)), worth_compiling(texts.n_cells))
        return log_posterior(prior + said), np.ones(len(table), dtype=np.int64)

    def to_arrays(self) -> dict[str, Array]:
        """Give counts and weights as arrays."""
        assert self.weights is not None
        machines = (self.weights.machine, *self.weights.folds)
        return {
            "class_count": self.sums.class_count.count,
            **self.sums.columns.to_arrays(),
            "is_counted": np.array([self.weights.reading.amount == COUNTS], dtype=np.uint8),
            "by_root": np.array([self.weights.reading.by_root], dtype=np.uint8),
            "weight": np.stack([machine.weight for machine in machines]),
            "intercept": np.stack([machine.intercept for machine in machines]),
            "slope": np.array([self.weights.slope]),
            "shift": self.weights.shift,
            "log_prior": self.weights.log_prior,
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Array], n_numbers: int, n_states: Array, n_classes: int) -> Self:
        """Make the member of arrays that may come from anywhere."""
        try:
            classes = declared_codes("class", n_classes)
            own = {name: np.array(arrays[name]) for name in TEXT_SUMS}
            n_words = own["present"].shape[1]
            sums = Sums(
                ClassCounts(classes, np.array(arrays["class_count"])), TextSums(classes, vocabulary_of(n_words), **own)
            )
            require_consistent(sums)
            return cls(1, sums, _weights(arrays, (n_classes, n_words)))
        except (KeyError, IndexError, ValueError, TypeError, OverflowError) as error:
            raise StatisticsError(f"the arrays of a family {cls.kind!r} are not complete: {error}") from None


def _weights(arrays: Mapping[str, Array], shape: tuple[int, int]) -> TextWeights:
    """Read weights back; refuse what no fit gives."""
    arrays = {"by_root": np.zeros(1, dtype=np.uint8), **arrays}  # earlier files have none
    names = ("weight", "intercept", "slope", "shift", "log_prior", "is_counted", "by_root")
    weight, intercept, slope, shift, log_prior, is_counted, by_root = (np.asarray(arrays[name]) for name in names)
    is_shaped = (
        weight.shape == (1 + FOLDS, *shape)
        and intercept.shape == (1 + FOLDS, shape[0])
        and shift.shape == log_prior.shape == shape[:1]
        and slope.shape == is_counted.shape == by_root.shape == (1,)
    )
    if not is_shaped or weight.dtype != np.float32:
        raise StatisticsError("the weights of a family 'words' are not one for each word and class")
    numbers = (weight, intercept, slope, shift, log_prior)
    if not all(np.isfinite(each).all() for each in numbers) or slope[0] < 0 or (log_prior > 0).any():
        raise StatisticsError("the weights of a family 'words' are no numbers, or none that rows teach")
    first, *folds = (Machine(own, b) for own, b in zip(weight, intercept, strict=True))
    reading = WordReading(COUNTS if is_counted[0] else MARKS, bool(by_root[0]))
    return TextWeights(reading, first, tuple(folds), float(slope[0]), shift, log_prior)


def _counted(table: EnsembleTable) -> Sums[TextSums]:
    labels, weight = labels_of(table), weight_of(table)
    return Sums(ClassCounts.of(labels, weight), TextSums.of(_texts(table), labels, weight))


def _texts(table: EnsembleTable) -> TextTable:
    assert table.words is not None  # a table without texts has no such member
    return table.words
