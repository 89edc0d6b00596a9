"""`FeatureClassifier`: what the models of features, such as the words of texts that are counted elsewhere, share.

With ``weights="learned"`` features are read as the words of one text (`families.words.weighed_words`): each has a
weight for each class, rows are divided by their length or its root, and log-ratios are those of the sums of features.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from bayeswater.data.frames import write_frame
from bayeswater.data.labels import Labels
from bayeswater.data.matrix import Matrix, SparseMatrix
from bayeswater.data.reading.matrix_reading import looks_good, read_matrix, require_values, with_known_columns
from bayeswater.data.reading.text import TextTable
from bayeswater.data.variable import Variable
from bayeswater.decision.next_best import NextBest
from bayeswater.errors import ParameterError
from bayeswater.explain.explaining import explained_features
from bayeswater.explain.explanations import Explanations
from bayeswater.explain.feature_view import FeatureTerms
from bayeswater.explain.turning import ExplainedRows
from bayeswater.families.curve import ColumnCurve, word_curve
from bayeswater.families.family import MixedJoint
from bayeswater.families.weighted_terms import OneColumn, WeightedJoint
from bayeswater.families.words.weighed_words import WeighedWordBlock, counted_words
from bayeswater.families.words.words import WordBlock
from bayeswater.inference.linear import Line, line_of_features
from bayeswater.inference.scoring import Joint, LookingJoint, score
from bayeswater.models.classifier import BayesClassifier
from bayeswater.models.on_sums import OnSums
from bayeswater.models.settings import (
    checked_alpha,
)
from bayeswater.models.weighing import WeighsTerms
from bayeswater.models.weighing_words import WordReview
from bayeswater.records import record
from bayeswater.statistics.feature_sums import FeatureSums
from bayeswater.statistics.statistic import Statistic
from bayeswater.statistics.sums import Sums
from bayeswater.statistics.text_sums import TextSums
from bayeswater.typing import Array


class FeatureClassifier(OnSums, BayesClassifier):
    """A classifier of features, which are counted in each class; `BernoulliNB` only marks them."""

    alpha: Any
    force_alpha: bool
    _grouped_as = "margins"
    _fixes_classes = True
    _tags: tuple[str, ...] = ("sparse", "positive_only", "poor_score")
    _title = "P(feature | {})"
    """What the parameters of a class are called in `tables`."""
    _is_score = False
    """Whether these are weights, and no probabilities."""
    count_of_absent: int | None = 0
    """Count of a feature that a partial row does not name, which adds nothing; None where features may be missing."""

    def _require_parameters(self, sums: Sums[Any]) -> None:
        super()._require_parameters(sums)
        self._block(sums.columns)  # refuses pseudo-counts that are none

    def _alpha(self, n_features: int) -> Array:
        return checked_alpha(self.alpha, n_features, force_alpha=self.force_alpha)

    def _encode(self, X: Any, known: Sums[Any] | None, *, learning: bool) -> Matrix:
        matrix = read_matrix(X, type(self).__name__)
        if known is not None:
            matrix = with_known_columns(matrix, known.columns.names, known.columns.n_columns, type(self).__name__)
        if learning:
            self._require_values(matrix)
        return matrix

    def _require_values(self, matrix: Matrix) -> None:
        missing = vars(self).get("missing")
        require_values(matrix, type(self).__name__, missing=missing, allow_negative=self._takes_any_number)

    @property
    def _takes_any_number(self) -> bool:
        """Whether cells may be negative, as those that `BernoulliNB` only marks."""
        return "binarize" in vars(self)

    def _table(self, X: Any) -> Matrix:
        table: Matrix = super()._table(X)
        self._require_values(table)
        return table

    def _score(self, X: Any, finish: Any) -> Array:
        """Score rows; dense ones are looked at block by block, while they are at hand."""
        self._require_fitted()
        table = super()._table(X)
        are_looked_at = False

        def look(block: Array) -> Array:
            nonlocal are_looked_at
            has_gaps = not block.flags.c_contiguous and block.strides[0] != block.itemsize
            kind = block.dtype if self._takes_any_number else np.float64  # that in which it is multiplied
            cells = block.astype(kind, order="C") if has_gaps else block
            if not (are_looked_at or looks_good(cells, allow_negative=self._takes_any_number)):
                self._require_values(table)  # which names the cell, or finds all in order
                are_looked_at = True
            return cells

        if isinstance(table, SparseMatrix):
            self._require_values(table)
            return self._score_table(table, finish)
        joint = self._joint() if finish is None else self._deciding_joint()
        return score(LookingJoint(joint, look), table, finish)

    def _count(self, table: Matrix, labels: Labels, weight: Array | None) -> Statistic:
        return FeatureSums.of(table, labels, weight)

    def _line(self) -> Line:
        joint = replace(self._joint(), log_prior=np.zeros(len(self.classes_)))
        return line_of_features(joint, self._column_names(), type(self).__name__)

    def _known_cells(self, table: Matrix) -> Array:
        """Count the different features of each row: (n_rows,)."""
        if isinstance(table, SparseMatrix):
            return np.diff(table.indptr).astype(np.int64)
        known: Array = (table.block(slice(0, table.shape[0])) != 0).sum(axis=1)
        return known

    def _reasons(self, X: Any, table: Matrix, about: ExplainedRows) -> Explanations:
        return explained_features(self._weights(), self._joint().log_prior, table, self._column_names(), about)

    def curve(self, column: str | None = None) -> ColumnCurve:
        """Give what was learned of a feature, or of those that tell a class best, as plain data for a picture.

        Parameters
        ----------
        column : str, optional
            Name of a feature; default the features that tell a class from the others best.

        Returns
        -------
        ColumnCurve
            P(feature | class), or of `BernoulliNB` that it is present, in the order of `classes_`, and how often it was
            counted. `ComplementNB`, whose weights are no probabilities, gives the shares that they are made of.

        See Also
        --------
        tables : Give the class prior, and what each feature has in each class, as labelled frames.

        Examples
        --------
        >>> from bayeswater import MultinomialNB
        >>> model = MultinomialNB().fit([[2, 0], [1, 1], [0, 3]], ["a", "a", "b"])
        >>> model.curve("x0").column
        'x0'
        """
        self._require_fitted()
        names, share, counts = self._column_names(), np.exp(self._feature_shares()), self.feature_count_
        if column is None:
            return replace(word_curve("features", names, share, counts), library=self._library)
        j = self._place_of(column)
        return ColumnCurve(column, "words", [column], share[:, [j]].T, counts[:, [j]].T, library=self._library)

    def _feature_shares(self) -> Array:
        """Give the logarithm of P(feature | class): (n_classes, n_features)."""
        return self.feature_log_prob_

    def _weights(self) -> FeatureTerms:
        """Give what each feature says of the classes."""
        return FeatureTerms(self.feature_log_prob_.T, is_score=self._is_score)

    def next_best(
        self, row: Any, loss: Any = None, costs: Any = None, *, prior: Any = None, lang: str = "en"
    ) -> NextBest:
        """Refuse: the model has no distribution of how large a count is.

        Parameters
        ----------
        row, loss, costs, prior, lang : as in other models
            Not used.

        See Also
        --------
        explain : Say for each row why it gets its class rather than another.

        Examples
        --------
        >>> from bayeswater import MultinomialNB
        >>> MultinomialNB().fit([[2, 0], [0, 3]], ["a", "b"]).next_best({})
        Traceback (most recent call last):
            ...
        bayeswater.errors.ParameterError: ...
        """
        raise ParameterError(
            f"{type(self).__name__} models how the total of a row is divided among the features, not how large a count "
            "is, so it cannot say what a missing count is worth; use NaiveBayes"
        )

    def tables(self) -> dict[str, Any]:
        """Give the class prior, and what each feature has in each class, as labelled frames.

        Returns
        -------
        dict {"class": frame, "features": frame}, of the library whose frames `fit` was given
            Of each class the probability of a feature, or that it is present; of `ComplementNB` the weight.

        See Also
        --------
        curve : Give what was learned of a feature, or of those that tell a class best.

        Examples
        --------
        >>> from bayeswater import MultinomialNB
        >>> list(MultinomialNB().fit([[2, 0], [1, 1], [0, 3]], ["a", "a", "b"]).tables())
        ['class', 'features']
        """
        self._require_fitted()
        values = self.feature_log_prob_ if self._is_score else np.exp(self.feature_log_prob_)
        columns: dict[str, Any] = {"feature": self._column_names()}
        columns |= {self._title.format(label): values[k] for k, label in enumerate(self.classes_)}
        return {"class": self._class_table(), "features": write_frame(columns, self._library)}

    @property
    def feature_count_(self) -> Array:
        """Sum of each feature over the rows of each class."""
        return self.statistics_.columns.feature_sum.astype(np.float64)

    @property
    def feature_log_prob_(self) -> Array:
        """Logarithm of P(feature | class)."""
        return self._block(self.statistics_.columns).log_probability


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


@record
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


@record
class WeighedFeatureTerms(FeatureTerms):
    """What features add to each class in rows by their length; what any row adds is shared by x_j^2."""

    block: WeighedWordBlock | None = None

    def terms(self, cells: Array | SparseMatrix) -> Array:
        """What each cell of some rows adds to each class: (n_rows, n_features, n_classes)."""
        assert self.block is not None
        x = self.block.scaled(as_text(cells).counts).toarray()[:, :, None]
        square = x**2
        share = square / np.maximum(square.sum(axis=1, keepdims=True), np.finfo(float).tiny)
        found: Array = x * self.weight + share * self.block.weights.constant
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
