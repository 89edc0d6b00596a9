"""`MultinomialNB`, `ComplementNB` and `BernoulliNB`: features, such as the words of a text, dense or sparse."""

from dataclasses import replace
from typing import Any, Self

import numpy as np

from bayeswater.data.frames import write_frame
from bayeswater.data.labels import Labels
from bayeswater.data.matrix import Matrix, SparseMatrix
from bayeswater.data.reading.matrix_reading import first_cell
from bayeswater.decision.facts import StateFact
from bayeswater.errors import DataError, ParameterError, StatisticsError
from bayeswater.estimate.class_weights import ClassWeights
from bayeswater.estimate.dirichlet import Beta, Prior
from bayeswater.estimate.features import bernoulli_pseudo_counts
from bayeswater.explain.asking import Facts
from bayeswater.explain.feature_view import FeatureTerms
from bayeswater.families.words.features import BernoulliColumns, ComplementColumns, MultinomialColumns
from bayeswater.inference.drawing import draw_classes
from bayeswater.inference.linear import Line, LinearJoint
from bayeswater.models.calibrating import LeaveOneOut
from bayeswater.models.classifier import BayesClassifier
from bayeswater.models.feature_classifier import FeatureClassifier, WeighsFeatures
from bayeswater.models.settings import (
    column_priors,
    documented_as_in,
    require_flag,
    require_missing_rule,
)
from bayeswater.models.weighing import require_no_weights
from bayeswater.statistics.feature_sums import BinaryCounts, FeatureSums
from bayeswater.statistics.sums import Sums
from bayeswater.typing import Array, is_number


class MultinomialNB(WeighsFeatures, FeatureClassifier):
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
    class_weight : None, "balanced" or dict {label: weight}, default None
        Weight of each class in the class prior; "balanced" makes all classes with rows equally probable. A label that a
        dict does not name has weight 1. P(row | class) does not change.
    class_alpha : float, default 0
        Pseudo-count of each class in the class prior.
    calibrate : bool, default False
        Whether probabilities are corrected by a temperature (and a shift of each class) learned by leave-one-out. It
        has no effect with learned weights, which need no further calibration.
    weights : None or "learned", default None
        "learned" gives each feature a weight in each class, and divides rows by their length or its root, whichever
        tells held-out rows better.

    Attributes
    ----------
    calibration_ : CalibrationReport
        What calibration learned and achieved, where it was asked for.
    word_weights_ : dict {"features": TextWeights}, the weights where they were asked for
    feature_count_, feature_log_prob_ : arrays of shape (n_classes, n_features)
    class_count_, class_log_prior_, classes_ : arrays of shape (n_classes,)
    statistics_ : Sums
        The sums that everything is read from.

    See Also
    --------
    ComplementNB : Naive Bayes of counts, for unbalanced classes.
    BernoulliNB : Naive Bayes of marks that are present or absent.
    NaiveBayes : Naive Bayes of a mixed table.

    Notes
    -----
    With c cells that are not zero, d columns and K classes, `fit` takes O(c) time and the counts O(K d) memory;
    `predict` takes O(c K).

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
        class_weight: Any = None,
        class_alpha: float = 0.0,
        calibrate: bool = False,
        weights: str | None = None,
    ) -> None:
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.class_weight = class_weight
        self.class_alpha = class_alpha
        self.calibrate = calibrate
        self.weights = weights

    def _line(self) -> Line:
        require_no_weights(self)
        return super()._line()

    def _weights(self) -> FeatureTerms:
        return self._weighed_terms() if self._is_weighed else super()._weights()

    def _block(self, columns: FeatureSums) -> MultinomialColumns:
        return MultinomialColumns(columns.feature_sum, self._alpha(columns.feature_sum.shape[1]))

    def sample(self, n: int = 1, *, length: Any = None, random_state: Any = None) -> tuple[Any, Array]:
        """Draw rows of the given length, the total of their counts, and their classes.

        The model says how a total is spread over the features, not how large it is: `length` is one number or
        one for each row.

        Parameters
        ----------
        n : int, default 1
            Number of rows.
        length : int or array of shape (n,)
            Total of the counts of a row.
        random_state : int, RandomState or None, default None
            Seed.

        Returns
        -------
        X : table of shape (n, n_columns)
            Rows, in the form `fit` was given.
        y : array of shape (n,)
            Their classes.

        See Also
        --------
        tables : Give the class prior, and what each feature has in each class, as labelled frames.

        Examples
        --------
        >>> from bayeswater import MultinomialNB
        >>> X, y = MultinomialNB().fit([[2, 0], [1, 1], [0, 3]], ["a", "a", "b"]).sample(2, length=5, random_state=0)
        >>> X.sum(axis=1)
        array([5, 5])
        """
        if length is None:
            raise ParameterError(
                "MultinomialNB says nothing about how long a row is; give length=, for example length=20"
            )
        rng, codes = draw_classes(self._joint().log_prior, n, random_state)
        probability = np.exp(self.feature_log_prob_)
        probability /= probability.sum(axis=1, keepdims=True)
        totals = _checked_length(length, n)
        values = np.array([rng.multinomial(total, probability[k]) for total, k in zip(totals, codes, strict=True)])
        return self._like_fitted(values), self.classes_[codes]

    @property
    def n_parameters(self) -> int:
        """Number of free parameters: K - 1 for the classes, d - 1 for the features of each, and learned weights."""
        return len(self.classes_) * self.n_features_in_ - 1 + self._n_weights


def _checked_length(length: Any, n: int) -> Array:
    """Lengths of n rows: whole numbers, 0 or more."""
    totals = np.asarray(length)
    if totals.dtype.kind not in "iu" or totals.shape not in ((), (n,)) or (totals < 0).any():
        raise ParameterError(f"length is {length!r}; give a whole number, 0 or more, or one for each of the {n} rows")
    return np.broadcast_to(totals, (n,))


NOT_GENERATIVE = (
    "ComplementNB is no generative model: its scores come from the other classes' counts and do not make up "
    "P(row, class), so it cannot {}; use MultinomialNB for that"
)


@documented_as_in(MultinomialNB)
class ComplementNB(FeatureClassifier):
    """Complement naive Bayes: score_k(x) = - sum_j x_j log P(feature j | all classes but k), the largest wins.

    Made for unbalanced classes. As in scikit-learn the class prior does not enter, but where there is a single
    class; `predict_proba` is the softmax of the scores, no posterior, and so there is nothing to calibrate.

    Parameters
    ----------
    alpha, force_alpha, fit_prior, class_prior : as in `MultinomialNB`
    class_weight : None, "balanced" or dict {label: weight}, default None
        How much the rows of each class count in the complements of the others, as if each were so many.
    norm : bool, default False
        Whether each class's weights are divided by their sum.

    Attributes
    ----------
    feature_all_ : array of shape (n_features,)
    feature_count_, feature_log_prob_ : arrays of shape (n_classes, n_features)
        Counts, and the weights of the features.

    See Also
    --------
    MultinomialNB : Naive Bayes of counts.
    NaiveBayes : Naive Bayes of a mixed table.

    Notes
    -----
    Time and memory are those of `MultinomialNB`.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[2, 1, 0], [1, 2, 0], [0, 1, 3]])
    >>> ComplementNB().fit(X, [0, 0, 1]).predict([[0, 0, 2]])
    array([1])
    """

    _title = "weight({})"
    _is_score = True

    def __init__(
        self,
        *,
        alpha: Any = 1.0,
        force_alpha: bool = True,
        fit_prior: bool = True,
        class_prior: Any = None,
        class_weight: Any = None,
        norm: bool = False,
    ) -> None:
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.class_weight = class_weight
        self.norm = norm

    def _require_parameters(self, sums: Sums[Any]) -> None:
        super()._require_parameters(sums)
        require_flag(self.norm, "norm")
        self._weight_of_rows(sums)  # refuses what is none

    @property
    def class_log_prior_(self) -> Array:
        """Logarithm of P(class), which enters the scores of a single class only."""
        return super()._prior(self.statistics_).log

    def _prior(self, sums: Sums[FeatureSums]) -> Prior:
        prior = super()._prior(sums)
        return prior if len(prior.count) == 1 else replace(prior, given=np.zeros(len(prior.count)))

    def _prior_weights(self, sums: Sums[FeatureSums]) -> None:
        """Say that the prior has none: weights are those of rows in complements."""

    def _read(self, sums: Sums[FeatureSums]) -> LinearJoint:
        return replace(self._complements(sums).joint, log_prior=self._log_prior(sums))

    def _complements(self, sums: Sums[FeatureSums]) -> ComplementColumns:
        """Read the sums of all classes but each, every row by the weight of its class."""
        block = self._block(sums.columns)
        if self.class_weight is None:
            return block
        return replace(block, feature_sum=block.feature_sum * self._weight_of_rows(sums)[:, None])

    def _weight_of_rows(self, sums: Sums[FeatureSums]) -> Array:
        """Give the weight of a row of each class: (n_classes,)."""
        weights, count = ClassWeights.of(self.class_weight, sums.classes), sums.class_count.count
        return np.ones(len(count)) if weights is None else weights.of_counts(count)

    def _likelihood_without(self, table: Matrix, labels: Labels, removed: Array) -> Any:
        weight = self._weight_of_rows(self.statistics_)[labels.codes]  # held fixed, as all rows balance them
        return self._complements(self.statistics_).without(table, labels, removed * weight)

    def calibrate_with(self, review: LeaveOneOut) -> Self:
        """Refuse: the scores are no probabilities, and nothing corrects them.

        Parameters
        ----------
        review : LeaveOneOut
            Not used.

        Returns
        -------
        self
            Never: it raises `ParameterError`.

        See Also
        --------
        Calibrated : A classifier whose probabilities are corrected by a map learned from rows it had not seen.

        Examples
        --------
        >>> from bayeswater import ComplementNB
        >>> ComplementNB().calibrate_with(None)
        Traceback (most recent call last):
            ...
        bayeswater.errors.ParameterError: ...
        """
        raise ParameterError(NOT_GENERATIVE.format("be calibrated"))

    def _scored_prior(self) -> None:
        """Say that no prior enters the scores, so that none can be shifted."""

    def _block(self, columns: FeatureSums) -> ComplementColumns:
        return ComplementColumns(columns.feature_sum, self._alpha(columns.feature_sum.shape[1]), self.norm)

    def sample(self, n: int = 1, *, random_state: Any = None) -> tuple[Any, Array]:
        """Refuse: the scores are no distribution of rows.

        Parameters
        ----------
        n : int, default 1
            Not used.
        random_state : None
            Not used.

        Returns
        -------
        tuple
            Never: it raises `ParameterError`.

        See Also
        --------
        MultinomialNB.sample : Draw rows of the given length, the total of their counts, and their classes.

        Examples
        --------
        >>> from bayeswater import ComplementNB
        >>> ComplementNB().sample()
        Traceback (most recent call last):
            ...
        bayeswater.errors.ParameterError: ...
        """
        raise ParameterError(NOT_GENERATIVE.format("draw rows"))

    def log_evidence(self, X: Any) -> Array:
        """Refuse: the scores are no distribution of rows.

        Parameters
        ----------
        X : rows
            Not used.

        Returns
        -------
        array
            Never: it raises `ParameterError`.

        See Also
        --------
        MultinomialNB.log_evidence : Give the logarithm of P(row), the sum over all classes.

        Examples
        --------
        >>> from bayeswater import ComplementNB
        >>> ComplementNB().log_evidence([[1]])
        Traceback (most recent call last):
            ...
        bayeswater.errors.ParameterError: ...
        """
        raise ParameterError(NOT_GENERATIVE.format("tell P(row)"))

    def _feature_shares(self) -> Array:
        sums = self.feature_count_
        return MultinomialColumns(sums, self._alpha(sums.shape[1])).log_probability

    def _class_table(self) -> Any:
        return write_frame({"class": self.classes_, "count": self.class_count_}, self._library)

    @property
    def n_parameters(self) -> int:
        """Number of free parameters: d - 1 for the features of each class's complement."""
        return len(self.classes_) * (self.n_features_in_ - 1)

    @property
    def feature_log_prob_(self) -> Array:
        """Weight of each feature for each class."""
        return self._complements(self.statistics_).weights

    @property
    def feature_all_(self) -> Array:
        """Sum of each feature over all rows."""
        return self.feature_count_.sum(axis=0)


@documented_as_in(MultinomialNB)
class BernoulliNB(FeatureClassifier):
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
    fit_prior, class_prior, class_weight, class_alpha : as in `MultinomialNB`
    missing : {"error", "ignore"}, default "error"
        What to do with NaN: refuse it, or leave the cell out of the counts and of the product.
    columns : dict, optional
        ``{column: {"prior": Beta(present, absent)}}``: features with pseudo-counts of their own.
    calibrate : as in `MultinomialNB`

    Attributes
    ----------
    calibration_ : as in `MultinomialNB`
    feature_count_, feature_log_prob_ : arrays of shape (n_classes, n_features)
    threshold_ : float
        Value over which a cell was counted as present.
    class_count_, class_log_prior_, classes_ : arrays of shape (n_classes,)

    See Also
    --------
    MultinomialNB : Naive Bayes of counts.
    CategoricalNB : Naive Bayes of categories.

    Notes
    -----
    Time and memory are those of `MultinomialNB`.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[1, 0], [1, 1], [0, 1]])
    >>> BernoulliNB().fit(X, [0, 0, 1]).predict_proba([[1, 0]]).round(3)
    array([[0.871, 0.129]])
    """

    _tags = ("sparse", "poor_score")
    count_of_absent = None
    _title = "P(present | {})"

    def __init__(
        self,
        *,
        alpha: Any = 1.0,
        force_alpha: bool = True,
        binarize: float | None = 0.0,
        fit_prior: bool = True,
        class_prior: Any = None,
        class_weight: Any = None,
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
        self.class_weight = class_weight
        self.class_alpha = class_alpha
        self.missing = missing
        self.columns = columns
        self.calibrate = calibrate

    @property
    def _threshold(self) -> float:
        threshold = 0.5 if self.binarize is None else self.binarize
        if not (is_number(threshold) and threshold >= 0):
            raise ParameterError(f"binarize is {self.binarize!r}; it must be None or a finite number, 0 or more")
        return float(threshold)

    def _encode(self, X: Any, known: Sums[Any] | None, *, learning: bool) -> Matrix:
        require_missing_rule(self.missing, ("error", "ignore"))
        matrix = super()._encode(X, known, learning=learning)
        if self.binarize is None:
            other = first_cell(matrix, lambda cells: (cells != 0) & (cells != 1) & (cells == cells))
            if other is not None:
                raise DataError(
                    f"X holds {other.where}, but binarize=None says that it holds 0 and 1 alone; give a threshold, for "
                    "example binarize=0"
                )
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
        return super()._read(sums)

    def _block(self, columns: BinaryCounts) -> BernoulliColumns:
        priors = column_priors(self.columns, columns.names, columns.n_columns, Beta)
        pseudo_counts = bernoulli_pseudo_counts(self._alpha(columns.n_columns), priors)
        return BernoulliColumns(columns, *pseudo_counts, self._threshold, self.missing == "ignore")

    def _sums_read_alike(self, other: Self) -> tuple[Sums[Any], Sums[Any]]:
        if self.threshold_ != other.threshold_:
            raise StatisticsError(
                f"cannot combine models with binarize={self.binarize} and binarize={other.binarize}: they "
                "mark different cells"
            )
        return super()._sums_read_alike(other)

    def _facts(self, X: Any) -> Facts:
        block = self._table(X).block(slice(0, 1))
        missing = np.isnan(block[0]) if isinstance(block, np.ndarray) else []  # a sparse row has every cell
        both = np.stack(self._block(self.statistics_.columns).log_probability())  # (2, n_classes, n_features)
        names = self._column_names()
        return {names[j]: [StateFact(both[:, :, j])] for j in np.flatnonzero(missing).tolist()}

    def _known_cells(self, table: Matrix) -> Array:
        return np.full(*table.shape) if isinstance(table, SparseMatrix) else table.known_cells()

    def _weights(self) -> FeatureTerms:
        counts = self.statistics_.columns
        present, absent = self._block(counts).log_probability()
        share = counts.present.sum(axis=0) / np.maximum((counts.present + counts.absent).sum(axis=0), 1)
        with np.errstate(divide="ignore"):
            distance = 1 / np.sqrt(share * (1 - share))  # one over the standard deviation of 0 and 1
        return FeatureTerms(present.T, absent.T, self._threshold, distance)

    next_best = BayesClassifier.next_best

    def _draw(self, codes: Array, rng: np.random.Generator) -> Any:
        probability = np.exp(self.feature_log_prob_)[codes]
        values = (rng.random(probability.shape) < probability).astype(np.int64)
        return self._like_fitted(values)

    @property
    def n_parameters(self) -> int:
        """Number of free parameters: K - 1 for the classes, one for each class and feature."""
        return len(self.classes_) * (self.n_features_in_ + 1) - 1

    @property
    def feature_count_(self) -> Array:
        """In how many rows of each class each feature was present."""
        return self.statistics_.columns.present.astype(np.float64)

    @property
    def feature_log_prob_(self) -> Array:
        """Logarithm of P(feature present | class)."""
        return self._block(self.statistics_.columns).log_probability()[0]
