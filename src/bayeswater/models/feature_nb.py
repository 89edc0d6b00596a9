"""`MultinomialNB` and `ComplementNB`: counts of features, such as the words of a text, dense or sparse."""

from abc import abstractmethod
from dataclasses import replace
from typing import Any, Self

import numpy as np

from bayeswater.data.frames import write_frame
from bayeswater.data.labels import Labels
from bayeswater.data.matrix import Matrix, SparseMatrix
from bayeswater.data.reading.matrix_reading import read_matrix, require_values, with_known_columns
from bayeswater.decision.next_best import NextBest
from bayeswater.errors import ParameterError
from bayeswater.explain.explanations import Explanations
from bayeswater.explain.feature_view import FeatureTerms
from bayeswater.explain.turning import Told
from bayeswater.families.words.features import ComplementColumns, MultinomialColumns
from bayeswater.inference.linear import Line, LinearJoint, line_of_features
from bayeswater.models.calibrating import LeaveOneOut
from bayeswater.models.classifier import BayesClassifier
from bayeswater.models.explaining import explained_features
from bayeswater.models.on_sums import OnSums
from bayeswater.models.settings import checked_alpha, require_flag, warn_of_small_alpha
from bayeswater.statistics.feature_sums import FeatureSums
from bayeswater.statistics.sums import Sums
from bayeswater.typing import Array


class FeatureClassifier(OnSums, BayesClassifier):
    """A classifier of counts of features, which are summed in each class."""

    alpha: Any
    force_alpha: bool
    statistics_: Sums[FeatureSums]
    _grouped_as = "margins"

    @abstractmethod
    def _log_probability(self, feature_sum: Array) -> Array:
        """Estimate: what the model makes of the sums (n_classes, n_features)."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.poor_score = True  # on the continuous data of scikit-learn's checks
        tags.input_tags.positive_only = True
        return tags

    def _require_parameters(self, sums: Sums[Any]) -> None:
        super()._require_parameters(sums)
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

    def _line(self) -> Line:
        joint = self._columns(self.statistics_.columns.feature_sum).joint
        return line_of_features(joint, self._column_names(), type(self).__name__)

    def _count(self, table: Matrix, labels: Labels, weight: Array | None) -> FeatureSums:
        return FeatureSums.of(table, labels, weight)

    def _known_cells(self, table: Matrix) -> Array:
        """Count the different features of each row: (n_rows,)."""
        if isinstance(table, SparseMatrix):
            return np.diff(table.indptr).astype(np.int64)
        known: Array = (table.block(slice(0, table.shape[0])) != 0).sum(axis=1)
        return known

    def _reasons(self, X: Any, table: Matrix, told: Told) -> Explanations:
        joint = self._joint()
        features = FeatureTerms(self.feature_log_prob_.T, is_score=self._is_score)
        return explained_features(features, joint.log_prior, table, self._column_names(), told)

    _is_score = False
    """Whether what features say makes up no distribution."""

    def next_best(self, row: Any, loss: Any = None, costs: Any = None, *, prior: Any = None) -> NextBest:
        """Refuse: how large a count is, the model does not say, and so not what one would tell."""
        raise ParameterError(
            f"{type(self).__name__} says how the total of a row is spread over the features, and not how large a count "
            "is: no cell of it can be asked for; NaiveBayes can tell what counts of each column are worth"
        )

    @property
    def feature_count_(self) -> Array:
        """Sum of each feature over the rows of each class."""
        return self.statistics_.columns.feature_sum.astype(np.float64)

    @property
    def feature_log_prob_(self) -> Array:
        """Logarithm of P(feature | class)."""
        return self._log_probability(self.statistics_.columns.feature_sum)


class MultinomialNB(FeatureClassifier):
    """Multinomial naive Bayes: log P(k, x) = log P(k) + sum_j x_j log P(feature j | k).

    P(feature j | k) = (N_kj + alpha_j) / sum_j (N_kj + alpha_j), with N_kj the sum of feature j over the rows
    of class k.

    Parameters
    ----------
    alpha : float or array of shape (n_features,), default 1
        Pseudo-count of each feature: 1 is Laplace, less is Lidstone, 0 maximum likelihood.
    force_alpha : bool, default True
        Whether an alpha under 1e-10 is taken as it is.
    fit_prior : bool, default True
        Whether the class prior is counted; if not it is uniform.
    class_prior : array of shape (n_classes,), optional
        Class probabilities to use instead.
    class_alpha : float, default 0
        Pseudo-count of each class in the class prior.
    calibrate : bool, default False
        Whether probabilities are corrected by a temperature (and a shift of each class) learned by leave-one-out.

    Attributes
    ----------
    calibration_ : CalibrationReport
        What calibration learned and achieved, where it was asked for.
    feature_count_, feature_log_prob_ : arrays of shape (n_classes, n_features)
    class_count_, class_log_prior_, classes_ : arrays of shape (n_classes,)
    statistics_ : Sums
        The sums that everything is read from.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[2, 1, 0], [1, 2, 0], [0, 1, 3]])
    >>> model = MultinomialNB().fit(X, ["sport", "sport", "politics"])
    >>> model.predict([[0, 0, 2]])
    array(['politics'], dtype='<U8')
    """

    def __init__(
        self,
        *,
        alpha: Any = 1.0,
        force_alpha: bool = True,
        fit_prior: bool = True,
        class_prior: Any = None,
        class_alpha: float = 0.0,
        calibrate: bool = False,
    ) -> None:
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.class_alpha = class_alpha
        self.calibrate = calibrate

    def _read(self, sums: Sums[FeatureSums]) -> LinearJoint:
        return replace(self._columns(sums.columns.feature_sum).joint, log_prior=self._log_prior(sums))

    def _columns(self, feature_sum: Array) -> MultinomialColumns:
        return MultinomialColumns(feature_sum, self._alpha(feature_sum.shape[1]))

    def _log_probability(self, feature_sum: Array) -> Array:
        return self._columns(feature_sum).log_probability

    def sample(self, n: int = 1, *, length: Any = None, random_state: Any = None) -> tuple[Any, Array]:
        """Draw rows of the given length, the total of their counts, and their classes.

        The model says how a total is spread over the features, not how large it is: `length` is one number or
        one for each row.
        """
        if length is None:
            raise ParameterError(
                "MultinomialNB says nothing about how long a row is; give length=, for example length=20"
            )
        rng, codes = self._sample_classes(n, random_state)
        probability = np.exp(self.feature_log_prob_)
        probability /= probability.sum(axis=1, keepdims=True)
        totals = _checked_length(length, n)
        values = np.array([rng.multinomial(total, probability[k]) for total, k in zip(totals, codes, strict=True)])
        return self._like_fitted(values), self.classes_[codes]

    def tables(self) -> dict[str, Any]:
        """Give the class prior, and the probability of each feature in each class, as labelled frames."""
        self._require_fitted()
        probability = np.exp(self.feature_log_prob_)
        columns: dict[str, Any] = {"feature": self._column_names()}
        columns |= {f"P(feature | {label})": probability[k] for k, label in enumerate(self.classes_)}
        return {"class": self._class_table(), "features": write_frame(columns, self._library)}

    @property
    def n_parameters(self) -> int:
        """Number of free parameters: K - 1 for the classes, d - 1 for the features of each class."""
        n_classes = len(self.classes_)
        return n_classes - 1 + n_classes * (self.n_features_in_ - 1)


def _checked_length(length: Any, n: int) -> Array:
    """Lengths of n rows: whole numbers, 0 or more."""
    totals = np.asarray(length)
    if totals.dtype.kind not in "iu" or totals.shape not in ((), (n,)) or (totals < 0).any():
        raise ParameterError(f"length is {length!r}; give a whole number, 0 or more, or one for each of the {n} rows")
    return np.broadcast_to(totals, (n,))


NOT_GENERATIVE = (
    "ComplementNB is no generative model: its scores come from the other classes' counts and do not make "
    "up P(row, class), so it "
    "cannot {}; use MultinomialNB for that"
)


class ComplementNB(FeatureClassifier):
    """Complement naive Bayes: score_k(x) = - sum_j x_j log P(feature j | all classes but k), the largest wins.

    Made for unbalanced classes. As in scikit-learn the class prior does not enter, but where there is a single
    class; `predict_proba` is the softmax of the scores, no posterior, and so there is nothing to calibrate.

    Parameters
    ----------
    alpha, force_alpha, fit_prior, class_prior : as in `MultinomialNB`
    norm : bool, default False
        Whether each class's weights are divided by their sum.

    Attributes
    ----------
    feature_all_ : array of shape (n_features,)
    feature_count_, feature_log_prob_ : arrays of shape (n_classes, n_features)
        Counts, and the weights of the features.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[2, 1, 0], [1, 2, 0], [0, 1, 3]])
    >>> ComplementNB().fit(X, [0, 0, 1]).predict([[0, 0, 2]])
    array([1])
    """

    def __init__(
        self,
        *,
        alpha: Any = 1.0,
        force_alpha: bool = True,
        fit_prior: bool = True,
        class_prior: Any = None,
        norm: bool = False,
    ) -> None:
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.norm = norm

    def _require_parameters(self, sums: Sums[Any]) -> None:
        super()._require_parameters(sums)
        require_flag(self.norm, "norm")

    @property
    def _prior_is_counted(self) -> bool:
        return False

    def _read(self, sums: Sums[FeatureSums]) -> LinearJoint:
        # The prior enters for a single class only.
        log_prior = self._log_prior(sums) if sums.classes.n_states == 1 else np.zeros(sums.classes.n_states)
        return replace(self._columns(sums.columns.feature_sum).joint, log_prior=log_prior)

    _is_score = True

    def calibrate_with(self, review: LeaveOneOut) -> Self:
        """Refuse: the scores are no probabilities that could be corrected by what they say of rows."""
        raise ParameterError(NOT_GENERATIVE.format("be calibrated"))

    def _scored_prior(self) -> None:
        """Say that no prior enters the scores, so that none can be shifted."""

    def _columns(self, feature_sum: Array) -> ComplementColumns:
        return ComplementColumns(feature_sum, self._alpha(feature_sum.shape[1]), self.norm)

    def _log_probability(self, feature_sum: Array) -> Array:
        return self._columns(feature_sum).weights

    def sample(self, n: int = 1, *, random_state: Any = None) -> tuple[Any, Array]:
        """Refuse: the scores make up no distribution of rows."""
        raise ParameterError(NOT_GENERATIVE.format("draw rows"))

    def log_evidence(self, X: Any) -> Array:
        """Refuse: the scores make up no distribution of rows."""
        raise ParameterError(NOT_GENERATIVE.format("tell P(row)"))

    def tables(self) -> dict[str, Any]:
        """Give the class counts, and the weight of each feature for each class, as labelled frames."""
        self._require_fitted()
        weights = self.feature_log_prob_
        columns: dict[str, Any] = {"feature": self._column_names()}
        columns |= {f"weight({label})": weights[k] for k, label in enumerate(self.classes_)}
        counts = {"class": self.classes_, "count": self.class_count_}
        return {"class": write_frame(counts, self._library), "features": write_frame(columns, self._library)}

    @property
    def n_parameters(self) -> int:
        """Number of free parameters: d - 1 for the features of each class's complement."""
        return len(self.classes_) * (self.n_features_in_ - 1)

    @property
    def feature_all_(self) -> Array:
        """Sum of each feature over all rows."""
        return self.feature_count_.sum(axis=0)
