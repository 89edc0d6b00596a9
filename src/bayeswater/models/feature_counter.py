"""`FeatureCounter`: what the multinomial and the complement model share, the counting of features."""

from abc import abstractmethod
from typing import Any

import numpy as np

from bayeswater.data.labels import Labels
from bayeswater.data.matrix import Matrix
from bayeswater.data.matrix_checks import require_values, with_known_columns
from bayeswater.data.matrix_reading import read_matrix
from bayeswater.families.words.features import ComplementColumns, MultinomialColumns
from bayeswater.models.settings import checked_alpha, warn_of_small_alpha
from bayeswater.statistics.feature_sums import FeatureSums
from bayeswater.statistics.sums import Sums
from bayeswater.typing import Array


class FeatureCounter:
    """Mixin: reads counts of features, dense or sparse, and sums them in each class."""

    alpha: Any
    force_alpha: bool
    statistics_: Sums[FeatureSums]
    _grouped_as: str | None = "margins"

    @abstractmethod
    def _log_probability(self, feature_sum: Array) -> Array:
        """Estimate: what the model makes of the sums (n_classes, n_features)."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.sparse = True
        tags.classifier_tags.poor_score = True  # on the continuous data of scikit-learn's checks
        tags.input_tags.positive_only = True
        return tags

    def _require_parameters(self, sums: Sums[Any]) -> None:
        super()._require_parameters(sums)  # type: ignore[misc]
        self._alpha(sums.columns.feature_sum.shape[1])

    def _warn_of_parameters(self) -> None:
        warn_of_small_alpha(self.alpha, force_alpha=self.force_alpha)

    def _alpha(self, n_features: int) -> Array:
        return checked_alpha(self.alpha, n_features, force_alpha=self.force_alpha)

    def _encode(self, X: Any, known: Sums[Any] | None, *, learning: bool) -> Matrix:
        matrix = read_matrix(X, type(self).__name__)
        if known is not None:
            matrix = with_known_columns(matrix, known.columns.names, known.columns.n_columns, type(self).__name__)
        require_values(matrix, type(self).__name__, missing=None, allow_negative=False)
        return matrix

    @abstractmethod
    def _columns(self, feature_sum: Array) -> MultinomialColumns | ComplementColumns:
        """Inference: the sums as the model reads them."""

    def _likelihood_without(self, table: Matrix, labels: Labels, removed: Array) -> Any:
        return self._columns(self.statistics_.columns.feature_sum).without(table, labels, removed)

    def _count(self, table: Matrix, labels: Labels, weight: Array | None) -> FeatureSums:
        return FeatureSums.of(table, labels, weight)

    @property
    def feature_count_(self) -> Array:
        """Sum of each feature over the rows of each class."""
        return self.statistics_.columns.feature_sum.astype(np.float64)

    @property
    def feature_log_prob_(self) -> Array:
        """Logarithm of P(feature | class)."""
        return self._log_probability(self.statistics_.columns.feature_sum)
