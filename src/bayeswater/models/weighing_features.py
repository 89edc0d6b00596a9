"""``weights="learned"`` of a model of features, such as the words of texts that are counted elsewhere.

Features are read as the words of one text (`families.words.weighed_words`): each has a weight for each class, rows are
scaled to length 1, and log-ratios are those of the sums of features.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from bayeswater.data.labels import Labels
from bayeswater.data.matrix import SparseMatrix
from bayeswater.data.reading.text import TextTable
from bayeswater.data.variable import Variable
from bayeswater.decision.word_weights import scaled_rows
from bayeswater.explain.feature_view import FeatureTerms
from bayeswater.families.family import MixedJoint
from bayeswater.families.weighted_terms import OneColumn, WeightedJoint
from bayeswater.families.words.weighed_words import WeighedWordBlock, counted_words
from bayeswater.families.words.words import WordBlock
from bayeswater.inference.scoring import Joint
from bayeswater.models.weighing import WeighsTerms
from bayeswater.models.weighing_words import WordReview
from bayeswater.statistics.sums import Sums
from bayeswater.statistics.text_sums import TextSums
from bayeswater.typing import Array

FEATURES = "features"
"""Name of all features together."""


def as_text(cells: Any) -> TextTable:
    """Read some rows of features, dense or sparse, as texts of as many words."""
    if not isinstance(cells, SparseMatrix):
        rows = csr_array(cells)
        cells = SparseMatrix(rows.indptr, rows.indices, rows.data, rows.shape[1])
    return TextTable(_words(cells.n_columns), cells, np.zeros(cells.shape[0], dtype=bool))


def _words(n_columns: int) -> Variable:
    return Variable.of_codes(FEATURES, n_columns, frozenset({n_columns - 1}))


@dataclass(frozen=True)
class WeighedFeatureJoint:
    """Log-scores of rows of features, by the weights of words."""

    weighted: WeightedJoint

    @property
    def log_prior(self) -> Array:
        """Log class prior (n_classes,)."""
        return self.weighted.log_prior

    def of(self, block: Any, use_loop: bool) -> Array:
        """Log-scores of some rows: (n_rows, n_classes)."""
        return self.weighted.of({FEATURES: as_text(block)}, use_loop)


@dataclass(frozen=True)
class WeighedFeatureTerms(FeatureTerms):
    """What features add to each class in rows of length 1; what any row adds is shared by x_j^2, whose sum is 1."""

    block: WeighedWordBlock | None = None

    def terms(self, cells: Array | SparseMatrix) -> Array:
        """What each cell of some rows adds to each class: (n_rows, n_features, n_classes)."""
        assert self.block is not None
        learned = self.block.weights
        x = scaled_rows(counted_words(as_text(cells).counts), learned.reading).toarray()[:, :, None]
        found: Array = x * self.weight + x**2 * learned.constant
        return found


class WeighsFeatures(WeighsTerms):
    """Mixin, before `FeatureClassifier`: features may have weights that are learned."""

    _marks_words = False

    def _text_sums_of(self, sums: Sums[Any]) -> Mapping[str, TextSums]:
        feature_sum = sums.columns.feature_sum
        words = _words(feature_sum.shape[1])
        return {FEATURES: TextSums(sums.classes, words, feature_sum, feature_sum, sums.class_count.count)}

    def _word_review_of(self, X: Any, y: Any, sample_weight: Any = None) -> WordReview:
        table = self._table(X)
        cells = as_text(table.block(slice(0, table.shape[0]))).counts
        return super()._word_review_of(counted_words(cells), y, sample_weight)  # dense or sparse, rows hash alike

    def _texts_of(self, X: Any) -> Mapping[str, TextTable]:
        table = self._table(X)
        return {FEATURES: as_text(table.block(slice(0, table.shape[0])))}

    def _mixed_joint(self) -> MixedJoint:
        sums = self._text_sums()[FEATURES]
        return MixedJoint(self._joint().log_prior, {FEATURES: WordBlock(sums, self._block(self.statistics_.columns))})

    def _columns_alone(self) -> Sequence[OneColumn]:
        return [OneColumn(FEATURES, 0, self._term_joint().groups[FEATURES])]

    @property
    def _term_places(self) -> Mapping[str, Sequence[int]]:
        return {FEATURES: [0]}

    @property
    def _term_names(self) -> tuple[str, ...]:
        return (FEATURES,)

    def _left_out_terms(self, table: Any, labels: Labels, removed: Array) -> Any:
        whole = as_text(table.block(slice(0, table.shape[0])))
        block = self._columns_alone()[0].block
        terms = block.without(whole, labels, removed)
        return (
            lambda rows: terms(rows, False)[:, None, :],
            lambda rows: block.is_known(whole.block(rows)).sum(axis=1),
        )

    def _deciding_joint(self) -> Joint:
        return WeighedFeatureJoint(self._weighted_joint()) if self._is_weighed else self._joint()

    def _weighed_terms(self) -> FeatureTerms:
        """Give what each feature says of the classes, by its weights."""
        block: Any = self._term_joint().groups[FEATURES]
        return WeighedFeatureTerms(block.coefficients, is_score=True, is_scaled=True, block=block)
