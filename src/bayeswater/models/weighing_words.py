"""Rows of texts that weights of words are learned from (`decision.word_weights`).

A pass over the rows gives the words of all, of kinds of equal rows those of least hash: so the order of rows and their
division into pieces do not matter, and memory is bounded. How many different words there are is known by then.
"""

from collections.abc import Callable, Collection, Mapping
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

from bayeswater.data.labels import encode_labels
from bayeswater.data.reading.text import TextTable
from bayeswater.data.reading.words import stand_alone
from bayeswater.data.variable import Variable
from bayeswater.data.weights import CountedRows
from bayeswater.decision.word_weights import TextRows, TextWeights
from bayeswater.families.words.weighed_words import counted_words, folds_of_texts
from bayeswater.inference.leave_one_out import removed_weight
from bayeswater.kernels.threads import one_blas_thread
from bayeswater.models.calibrating import row_keys
from bayeswater.models.held_out import kinds_of
from bayeswater.records import record
from bayeswater.statistics.statistic import spread
from bayeswater.statistics.sums import ClassCounts
from bayeswater.statistics.text_sums import TextSums
from bayeswater.typing import Array

MOST_TEXTS = 100_000
"""Kinds of rows whose words are kept, at most."""


@record
class WordReview:
    """Words of kinds of rows, by text, with the class, weight and key of each kind; those of least keys are kept."""

    texts: Mapping[str, Any]  # csr arrays (n_kinds, n_words)
    vocabularies: Mapping[str, Variable]
    codes: Array  # (n_kinds,)
    weight: Array  # (n_kinds,)
    key: Array  # (n_kinds,), sorted

    @classmethod
    def of_rows(
        cls, rows: CountedRows, counts: ClassCounts, texts_of: Callable[[Any], Mapping[str, TextTable]]
    ) -> "WordReview":
        """Take the words of rows that were counted."""
        labels = encode_labels(rows.y, counts.classes, counted=True)
        removed = removed_weight(rows.weight, len(rows.y))
        weight = np.ones(len(rows.y)) if rows.weight is None else rows.weight.astype(np.float64)
        with rows.named():
            tables = texts_of(rows.X)
            key = row_keys(rows, labels, removed, 0)
        texts = {name: counted_words(table.counts) for name, table in tables.items()}
        vocabularies = {name: table.vocabulary for name, table in tables.items()}
        return cls(texts, vocabularies, labels.codes, weight, key)._by_kind()

    def _by_kind(self) -> "WordReview":
        key, first, weight = kinds_of(self.key, self.weight, MOST_TEXTS)
        texts = {name: words[first] for name, words in self.texts.items()}
        return WordReview(texts, self.vocabularies, self.codes[first], weight, key)

    def __add__(self, other: "WordReview") -> "WordReview":
        both = (self, other)
        texts = {name: sparse.vstack([review.texts[name] for review in both], format="csr") for name in self.texts}
        joined = (np.concatenate([getattr(review, name) for review in both]) for name in ("codes", "weight", "key"))
        return WordReview(texts, self.vocabularies, *joined)._by_kind()

    def result(self) -> "WordReview":
        """Give what weights are learned from."""
        return self

    def learned(
        self, sums: Mapping[str, TextSums], log_prior: Array, open_texts: Collection[str], *, is_marked: bool
    ) -> dict[str, TextWeights]:
        """Learn the weights of the words of each text; pairs of words may be left out of those that are open."""
        found = {}
        with one_blas_thread():
            for name, words in self.texts.items():
                fold = folds_of_texts(words, self.vocabularies[name])
                rows = TextRows(words, self.codes, self.weight, fold, is_marked)
                is_open = sums[name].name in open_texts and not self.vocabularies[name].is_coded
                alone = stand_alone(self.vocabularies[name].states) if is_open else None
                found[sums[name].name] = TextWeights.fit(rows, sums[name].present, log_prior, alone)
        return found


def stale_words(weights: TextWeights, old: TextSums, new: TextSums) -> TextWeights:
    """Mark weights of words as learned from other rows, and lay them out for the classes and words there are now."""
    is_known = np.array([state in old.classes.code_of for state in new.classes.states], dtype=bool)
    mine, theirs = old.vocabulary.shared_codes(new.vocabulary)

    def place_words(weight: Array) -> Array:
        found = np.zeros((len(weight), new.vocabulary.n_states), dtype=weight.dtype)
        found[:, theirs] = weight[:, mine]
        return found

    return weights.laid_out(partial(spread, old=old.classes, new=new.classes), is_known, place_words)
