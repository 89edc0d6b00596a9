"""`TextSums`: how often every word stands in the rows of every class, and in how many rows.

Both come from one reading, so that the same text can be counted (multinomial, complement), or its words marked as there
or not (Bernoulli), or weighed by their rarity (tf-idf) after the fit. Each batch has a vocabulary of its own; sums are
aligned by word before they are added, so that the words of one batch need not be known in another.
"""

from dataclasses import replace
from typing import Self

import numpy as np

from bayeswater.data.labels import Labels
from bayeswater.data.reading.text import TextTable
from bayeswater.data.reading.words import joined
from bayeswater.data.variable import Variable
from bayeswater.errors import StatisticsError
from bayeswater.kernels.remainders import ROUNDING
from bayeswater.limits import require_table_bytes
from bayeswater.records import record
from bayeswater.statistics.feature_sums import sum_features
from bayeswater.statistics.statistic import Statistic, spread
from bayeswater.statistics.sums import ClassCounts
from bayeswater.typing import Array


@record(eq=False)
class TextSums(Statistic):
    """Sums of a column of text: int64 for whole weights, else float64."""

    vocabulary: Variable
    word_count: Array  # (n_classes, n_words): how often the word stands in rows of the class
    present: Array  # (n_classes, n_words): rows of the class that have the word
    observed: Array  # (n_classes,): rows of the class that have a text

    @classmethod
    def of(cls, table: TextTable, labels: Labels, weight: Array | None) -> Self:
        """Count some rows."""
        _require_room(table.vocabulary, labels.n_classes)
        word_count = sum_features(table.counts, labels, weight, None)
        present = sum_features(table.counts, labels, weight, 0.0)
        return cls(labels.variable, table.vocabulary, word_count, present, _observed(table.missing, labels, weight))

    @property
    def name(self) -> str:
        """Name of the column."""
        return self.vocabulary.name

    @property
    def shape(self) -> tuple[int, ...]:
        """Classes and words."""
        return self.n_classes, self.vocabulary.n_states

    def require_cells_within(self, rows: Array, slack: Array) -> None:
        """Refuse sums with more texts than their class has rows."""
        more = np.flatnonzero(self.observed > rows + slack)
        if len(more):
            k = int(more[0])
            raise StatisticsError(
                f"cannot take away rows that were never counted: class {self.classes.states[k]!r} would have {rows[k]} "
                f"rows, with {self.observed[k]} texts in column {self.name!r}"
            )

    def onto(self, classes: Variable) -> Self:
        """Lay the sums out for other classes."""
        arrays = {name: spread(array, self.classes, classes) for name, array in self.to_arrays().items()}
        return self.with_arrays(arrays, classes=classes)

    def pruned(self) -> Self:
        """Drop words that are neither declared nor in any row, as if none had ever had them."""
        vocabulary = self.vocabulary.keeping(np.asarray(self.present.any(axis=0)))
        if vocabulary == self.vocabulary:
            return self
        kept, _ = self.vocabulary.shared_codes(vocabulary)
        word_count, present = self.word_count[:, kept], self.present[:, kept]
        return replace(self, vocabulary=vocabulary, word_count=word_count, present=present)

    def _onto_words(self, vocabulary: Variable, place: Array) -> Self:
        """Lay the sums out for other words: mine have the codes `place` there, the others get zeros."""
        if vocabulary == self.vocabulary:
            return self
        _require_room(vocabulary, self.n_classes)

        def spread_words(sums: Array) -> Array:
            result = np.zeros((self.n_classes, vocabulary.n_states), dtype=sums.dtype)
            result[:, place] = sums
            return result

        word_count, present = spread_words(self.word_count), spread_words(self.present)
        return replace(self, vocabulary=vocabulary, word_count=word_count, present=present)

    def _aligned(self, other: Self) -> tuple[Self, Self]:
        mine, theirs = self.vocabulary, other.vocabulary
        if mine.name != theirs.name:
            raise StatisticsError(f"column {mine.name!r} here stands where the other has {theirs.name!r}")
        if mine.is_coded and theirs.is_coded and mine.n_states != theirs.n_states:
            raise StatisticsError(
                f"column {self.name!r} has {mine.n_states} codes of words here, {theirs.n_states} there: they cannot "
                "be combined; count both with the same n_hash, or blocks of the same width"
            )
        classes = self.classes.union(other.classes)
        vocabulary, *codes = joined(mine, theirs)
        a, b = (
            sums.onto(classes)._onto_words(vocabulary, place) for sums, place in zip((self, other), codes, strict=True)
        )
        return a, b

    def _minus(self, other: Self, rest: Self | None) -> Self:
        left = super()._minus(other, rest)
        absent = left.observed[:, None] - left.present
        self._refuse(
            absent < -ROUNDING * self.observed[:, None], "the number of rows without {} would become {}", absent
        )
        if left.word_count.dtype.kind == "i":  # cells of a sparse block may be fractions
            # A row that has a word has it at least once, and only such rows have it.
            more = left.word_count - left.present
            self._refuse(more < 0, "{} would be counted less often than rows have it (difference {})", more)
            self._refuse((more > 0) & (left.present == 0), "no row would have {}, and yet its count would be {}", more)
        return left

    def _refuse(self, wrong: Array, message: str, values: Array) -> None:
        """Refuse what is left of a subtraction where it is wrong; the message names the first word and its value."""
        if wrong.any():
            k, j = (int(index) for index in np.argwhere(wrong)[0])
            what = message.format(self._word(k, j), values[k, j])
            raise StatisticsError(f"cannot take away rows that were never counted: {what}")

    def _place(self, name: str, place: tuple[int, ...]) -> str:
        if len(place) == 1:
            return f"the number of texts of column {self.name!r} in class {self.classes.states[place[0]]!r}"
        what = "the count of" if name == "word_count" else "the number of rows that have"
        return f"{what} {self._word(*place)}"

    def _word(self, k: int, j: int) -> str:
        return f"{self.vocabulary.states[j]!r} of column {self.name!r} in class {self.classes.states[k]!r}"


def _observed(missing: Array, labels: Labels, weight: Array | None) -> Array:
    """Weight of the rows of each class that have a text: (n_classes,)."""
    if not missing.any():
        return ClassCounts.of(labels, weight).count
    there = None if weight is None else weight[~missing]
    count = np.bincount(labels.codes[~missing], weights=there, minlength=labels.n_classes)
    return count.astype(np.int64 if weight is None else weight.dtype)


def _require_room(vocabulary: Variable, n_classes: int) -> None:
    require_table_bytes(
        2 * 8 * n_classes * vocabulary.n_states,
        f"counting the {vocabulary.n_states} words of column {vocabulary.name!r} in {n_classes} classes",
        "hash the words to fewer codes (n_hash)",
    )
