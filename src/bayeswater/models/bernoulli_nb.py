"""`BernoulliNB`: features that are present or absent; absence speaks too."""

from dataclasses import replace
from typing import Any, Self

import numpy as np

from bayeswater.data.frames import write_frame
from bayeswater.data.labels import Labels
from bayeswater.data.matrix import Matrix, SparseMatrix
from bayeswater.data.reading.matrix_reading import first_cell, read_matrix, require_values, with_known_columns
from bayeswater.decision.facts import StateFact
from bayeswater.errors import DataError, ParameterError, StatisticsError
from bayeswater.estimate.dirichlet import Beta
from bayeswater.estimate.features import bernoulli_pseudo_counts
from bayeswater.explain.explanations import Explanations
from bayeswater.explain.feature_view import FeatureTerms
from bayeswater.explain.turning import Told
from bayeswater.families.words.features import BernoulliColumns
from bayeswater.inference.linear import Line, LinearJoint, line_of_features
from bayeswater.models.asking import Facts
from bayeswater.models.classifier import BayesClassifier
from bayeswater.models.explaining import explained_features
from bayeswater.models.on_sums import OnSums
from bayeswater.models.settings import checked_alpha, column_priors, require_missing_rule, warn_of_small_alpha
from bayeswater.statistics.feature_sums import BinaryCounts
from bayeswater.statistics.sums import Sums
from bayeswater.typing import Array, is_number


class BernoulliNB(OnSums, BayesClassifier):
    """Bernoulli naive Bayes: log P(k, x) = log P(k) + sum_j [x_j] log p_kj + [not x_j] log (1 - p_kj).

    p_kj = (N_kj + alpha_j) / (N_k + 2 alpha_j), and 1 - p_kj from its own count, so that no digit cancels.

    Parameters
    ----------
    alpha : float or array of shape (n_features,), default 1
        Pseudo-count of presence and of absence of each feature.
    force_alpha : bool, default True
        Whether an alpha under 1e-10 is taken as it is.
    binarize : float or None, default 0
        A feature is present where its value is over this threshold; None says that X holds 0 and 1 alone.
    fit_prior, class_prior, class_alpha : as in `MultinomialNB`
    missing : {"error", "ignore"}, default "error"
        What to do with NaN: refuse it, or leave the cell out of the counts and of the product.
    columns : dict, optional
        ``{column: {"prior": Beta(present, absent)}}``: features with pseudo-counts of their own.
    calibrate : bool, default False
        Whether probabilities are corrected by a temperature (and a shift of each class) learned by leave-one-out.

    Attributes
    ----------
    calibration_ : CalibrationReport
        What calibration learned and achieved, where it was asked for.
    feature_count_, feature_log_prob_ : arrays of shape (n_classes, n_features)
    threshold_ : float
        Value over which a cell was counted as present.
    class_count_, class_log_prior_, classes_ : arrays of shape (n_classes,)

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[1, 0], [1, 1], [0, 1]])
    >>> BernoulliNB().fit(X, [0, 0, 1]).predict_proba([[1, 0]]).round(3)
    array([[0.871, 0.129]])
    """

    _grouped_as = "margins"

    def __init__(
        self,
        *,
        alpha: Any = 1.0,
        force_alpha: bool = True,
        binarize: float | None = 0.0,
        fit_prior: bool = True,
        class_prior: Any = None,
        class_alpha: float = 0.0,
        missing: str = "error",
        columns: Any = None,
        calibrate: bool = False,
    ) -> None:
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.binarize = binarize
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.class_alpha = class_alpha
        self.missing = missing
        self.columns = columns
        self.calibrate = calibrate

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.poor_score = True  # on the continuous data of scikit-learn's checks
        tags.input_tags.allow_nan = self.missing == "ignore"
        return tags

    def _require_parameters(self, sums: Sums[Any]) -> None:
        super()._require_parameters(sums)
        self._pseudo_counts(sums.columns)

    def _warn_of_parameters(self) -> None:
        warn_of_small_alpha(self.alpha, force_alpha=self.force_alpha)

    def _pseudo_counts(self, counts: BinaryCounts) -> tuple[Array, Array]:
        alpha = checked_alpha(self.alpha, counts.n_columns, force_alpha=self.force_alpha)
        return bernoulli_pseudo_counts(alpha, column_priors(self.columns, counts.names, counts.n_columns, Beta))

    @property
    def _threshold(self) -> float:
        threshold = 0.5 if self.binarize is None else self.binarize
        if not (is_number(threshold) and threshold >= 0):
            raise ParameterError(f"binarize is {self.binarize!r}; it must be None or a finite number, 0 or more")
        return float(threshold)

    def _encode(self, X: Any, known: Sums[Any] | None, *, learning: bool) -> Matrix:
        require_missing_rule(self.missing, ("error", "ignore"))
        matrix = read_matrix(X, type(self).__name__)
        if known is not None:
            matrix = with_known_columns(matrix, known.columns.names, known.columns.n_columns, type(self).__name__)
        require_values(matrix, type(self).__name__, missing=self.missing, allow_negative=True)
        if self.binarize is None:
            _require_marks(matrix)
        if known is not None:
            self._require_same_marks()
        return matrix

    def _adopt(self, sums: Sums[Any]) -> Self:
        self.threshold_ = self._threshold
        return super()._adopt(sums)

    def _require_same_marks(self) -> None:
        """Refuse a threshold other than the one that the rows were counted with."""
        if self._threshold != self.threshold_:
            raise ParameterError(
                f"binarize is {self.binarize!r}, but the rows were counted as present over {self.threshold_}; "
                "set it back, or fit again"
            )

    def _count(self, table: Matrix, labels: Labels, weight: Array | None) -> BinaryCounts:
        return BinaryCounts.of(table, labels, weight, self._threshold, skip_missing=self.missing == "ignore")

    def _read(self, sums: Sums[BinaryCounts]) -> LinearJoint:
        self._require_same_marks()
        return replace(self._columns(sums.columns).joint, log_prior=self._log_prior(sums))

    def _columns(self, counts: BinaryCounts) -> BernoulliColumns:
        return BernoulliColumns(counts, *self._pseudo_counts(counts), self._threshold, self.missing == "ignore")

    def _likelihood_without(self, table: Matrix, labels: Labels, removed: Array) -> Any:
        return self._columns(self.statistics_.columns).without(table, labels, removed)

    def _line(self) -> Line:
        joint = self._columns(self.statistics_.columns).joint
        return line_of_features(joint, self._column_names(), type(self).__name__)

    def _require_same_reading(self, other: Self) -> None:
        if self.threshold_ != other.threshold_:
            raise StatisticsError(
                f"cannot combine models with binarize={self.binarize} and binarize={other.binarize}: they "
                "mark different cells"
            )

    def _facts(self, X: Any) -> Facts:
        block = self._table(X).block(slice(0, 1))
        missing = np.isnan(block[0]) if isinstance(block, np.ndarray) else []  # a sparse row has every cell
        both = np.stack(self._columns(self.statistics_.columns).log_probability())  # (2, n_classes, n_features)
        names = self._column_names()
        return {names[j]: [StateFact(both[:, :, j])] for j in np.flatnonzero(missing).tolist()}

    def _known_cells(self, table: Matrix) -> Array:
        return np.full(*table.shape) if isinstance(table, SparseMatrix) else table.known_cells()

    def _reasons(self, X: Any, table: Matrix, told: Told) -> Explanations:
        counts = self.statistics_.columns
        present, absent = self._columns(counts).log_probability()
        share = counts.present.sum(axis=0) / np.maximum((counts.present + counts.absent).sum(axis=0), 1)
        with np.errstate(divide="ignore"):
            distance = 1 / np.sqrt(share * (1 - share))  # one over the standard deviation of 0 and 1
        features = FeatureTerms(present.T, absent.T, self._threshold, distance)
        return explained_features(features, self._joint().log_prior, table, self._column_names(), told)

    def sample(self, n: int = 1, *, random_state: Any = None) -> tuple[Any, Array]:
        """Draw rows of 0 and 1, in the form `fit` was given, and their classes (n,)."""
        rng, codes = self._sample_classes(n, random_state)
        probability = np.exp(self.feature_log_prob_)[codes]
        values = (rng.random(probability.shape) < probability).astype(np.int64)
        return self._like_fitted(values), self.classes_[codes]

    def tables(self) -> dict[str, Any]:
        """Give the class prior, and the probability that each feature is present in each class, as labelled frames."""
        self._require_fitted()
        probability = np.exp(self.feature_log_prob_)
        columns: dict[str, Any] = {"feature": self._column_names()}
        columns |= {f"P(present | {label})": probability[k] for k, label in enumerate(self.classes_)}
        return {"class": self._class_table(), "features": write_frame(columns, self._library)}

    @property
    def n_parameters(self) -> int:
        """Number of free parameters: K - 1 for the classes, one for each class and feature."""
        n_classes = len(self.classes_)
        return n_classes - 1 + n_classes * self.n_features_in_

    @property
    def feature_count_(self) -> Array:
        """In how many rows of each class each feature was present."""
        return self.statistics_.columns.present.astype(np.float64)

    @property
    def feature_log_prob_(self) -> Array:
        """Logarithm of P(feature present | class)."""
        return self._columns(self.statistics_.columns).log_probability()[0]


def _require_marks(matrix: Matrix) -> None:
    other = first_cell(matrix, lambda cells: (cells != 0) & (cells != 1) & (cells == cells))
    if other is not None:
        raise DataError(
            f"X holds {other.where}, but binarize=None says that it holds 0 and 1 alone; give a threshold, for example "
            "binarize=0"
        )
