"""`GaussianNB`: a normal density for each class and column."""

from collections.abc import Callable
from functools import cache, partial
from math import isfinite
from typing import Any

import numpy as np

from bayeswater.data.frames import write_frame
from bayeswater.data.labels import Labels
from bayeswater.data.matrix import DenseTable
from bayeswater.data.reading.column_plan import Column
from bayeswater.data.reading.matrix_reading import read_dense, require_values, with_known_columns
from bayeswater.data.reading.raw_table import read_raw
from bayeswater.errors import ParameterError
from bayeswater.estimate.normal_parameters import (
    GaussianParameters,
    NormalInverseGamma,
    gaussian_parameters,
    pooled_variance,
    require_finite_moments,
    require_near_priors,
)
from bayeswater.explain.asking import Facts, counted_facts
from bayeswater.explain.explaining import explained_block
from bayeswater.explain.explanations import Explanations
from bayeswater.explain.turning import ExplainedRows
from bayeswater.families.curve import ColumnCurve
from bayeswater.families.gaussian import NormalBlock, draw_normals, normal_fact
from bayeswater.inference.drawing import require_density
from bayeswater.inference.normal_joint import GaussianJoint, WatchedJoint, gaussian_joint
from bayeswater.inference.normals_without import EpsilonWithout
from bayeswater.inference.scoring import score
from bayeswater.models.classifier import BayesClassifier
from bayeswater.models.on_sums import OnSums
from bayeswater.models.settings import column_priors, require_missing_rule
from bayeswater.models.weighing import WeighsOneLaw
from bayeswater.records import record
from bayeswater.statistics.moments import Moments
from bayeswater.statistics.sums import Sums
from bayeswater.typing import Array, is_number


class GaussianNB(WeighsOneLaw, OnSums, BayesClassifier):
    """Gaussian naive Bayes: log P(k, x) = log P(k) + sum_j log Normal(x_j; theta_kj, var_kj).

    Parameters
    ----------
    priors : array of shape (n_classes,), optional
        Class probabilities; counted from the rows if not given.
    class_weight : None, "balanced" or dict {label: weight}, default None
        Weight of each class in the class prior; "balanced" makes all classes with rows equally probable. A label that a
        dict does not name has weight 1. P(row | class) does not change.
    var_smoothing : float, default 1e-9
        Share of the largest variance of a column, over all rows counted so far, that is added to every variance.
    missing : {"error", "ignore"}, default "error"
        What to do with NaN: refuse it, or leave the cell out of the sums and of the product.
    class_alpha : float, default 0
        Pseudo-count of each class in the class prior.
    columns : dict, optional
        ``{column: {"prior": NormalInverseGamma(...)}}``: columns estimated with a prior, and predicted by Student's t.
    calibrate : bool, default False
        Whether probabilities are corrected by a temperature (and a shift of each class) learned by leave-one-out. It
        has no effect with learned weights, which need no further calibration.
    weights : None or "learned", default None
        "learned" gives each column a weight in each class, learned by leave-one-out, so that columns that repeat each
        other count once.

    Attributes
    ----------
    calibration_ : CalibrationReport
        What calibration learned and achieved, where it was asked for.
    theta_, var_ : arrays of shape (n_classes, n_columns)
        Means and smoothed variances (location and squared scale of Student's t for a column with a prior).
    epsilon_ : float
        What smoothing added to the variances.
    class_prior_, class_count_, classes_ : arrays of shape (n_classes,)
    statistics_ : Sums
        The sums that everything is read from.

    See Also
    --------
    NaiveBayes : Naive Bayes of a mixed table.
    GaussianClassifier : Gaussian classes, with any form of covariance.

    Notes
    -----
    With n rows, d columns and K classes, `fit` takes O(n d) time and the sums O(K d) memory; `predict` takes O(n d K).

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[-1, -1], [-2, -1], [-3, -2], [1, 1], [2, 1], [3, 2]])
    >>> y = np.array(["left", "left", "left", "right", "right", "right"])
    >>> model = GaussianNB().fit(X, y)
    >>> model.predict([[-0.8, -1]])
    array(['left'], dtype='<U5')
    >>> halves = GaussianNB().fit(X[::2], y[::2]) + GaussianNB().fit(X[1::2], y[1::2])
    >>> bool(np.allclose(halves.theta_, model.theta_, rtol=1e-12))
    True
    """

    _prior_name = "priors"
    _fixes_classes = True
    _grouped_as = "spreads"

    def __init__(
        self,
        *,
        priors: Any = None,
        class_weight: Any = None,
        var_smoothing: float = 1e-9,
        missing: str = "error",
        class_alpha: float = 0.0,
        columns: Any = None,
        calibrate: bool = False,
        weights: str | None = None,
    ) -> None:
        self.priors = priors
        self.class_weight = class_weight
        self.var_smoothing = var_smoothing
        self.missing = missing
        self.class_alpha = class_alpha
        self.columns = columns
        self.calibrate = calibrate
        self.weights = weights

    def _require_parameters(self, sums: Sums[Any]) -> None:
        super()._require_parameters(sums)
        if not (is_number(self.var_smoothing) and self.var_smoothing >= 0):
            raise ParameterError(f"var_smoothing is {self.var_smoothing!r}; it must be a finite number, 0 or more")
        priors = self._column_priors(sums.columns)
        epsilon = _finite_smoothing(sums.columns, self.var_smoothing)
        require_finite_moments(sums.columns, epsilon, priors)
        require_near_priors(sums.columns, priors)

    def _column_priors(self, moments: Moments) -> dict[int, NormalInverseGamma]:
        if self.columns is None:
            return {}
        return column_priors(self.columns, moments.names, moments.n_columns, NormalInverseGamma)

    def _encode(self, X: Any, known: Sums[Any] | None, *, learning: bool) -> DenseTable:
        ignore = require_missing_rule(self.missing, ("error", "ignore"))
        matrix = read_dense(X, type(self).__name__)
        if known is not None:
            matrix = with_known_columns(matrix, known.columns.names, known.columns.n_columns, type(self).__name__)
        if learning and ignore:  # else the sums themselves show a cell that is not finite
            self._require_values(matrix)
        return matrix

    def _table(self, X: Any) -> DenseTable:
        table: DenseTable = super()._table(X)
        self._require_values(table)
        return table

    def _score(self, X: Any, finish: Any) -> Array:
        """Score rows, of which most are read but once: scores show a cell that is not finite."""
        joint = self._joint()
        if self._is_weighed or self.missing != "error" or not joint.sees_all_cells:
            return super()._score(X, finish)
        table = super()._table(X)
        return score(WatchedJoint(joint, cache(partial(self._require_values, table))), table, finish)

    def _require_values(self, matrix: DenseTable) -> None:
        require_values(matrix, type(self).__name__, missing=self.missing, allow_negative=True)

    def _count(self, table: DenseTable, labels: Labels, weight: Array | None) -> Moments:
        moments = Moments.of(table, labels, weight, skip_missing=self.missing == "ignore")
        if not (np.isfinite(moments.mean).all() and np.isfinite(moments.scatter).all()):
            self._require_values(table)
            require_finite_moments(moments)
        return moments

    def _read(self, sums: Sums[Moments]) -> GaussianJoint:
        moments, log_prior = sums.columns, self._log_prior(sums)
        priors, count = self._column_priors(moments), sums.class_count.count
        return gaussian_joint(log_prior, gaussian_parameters(moments, count, self.var_smoothing, priors))

    def _likelihood_without(self, table: DenseTable, labels: Labels, removed: Array) -> Any:
        return self._law().without(table, labels, removed)

    def _facts(self, X: Any) -> Facts:
        missing, names = np.isnan(self._table(X).block(slice(0, 1))[0]), self._column_names()
        facts = {names[j]: normal_fact(self._parameters, j) for j in np.flatnonzero(missing).tolist()}
        return counted_facts(facts, self._weights_if_asked(self._table(X)))

    def _law(self) -> "SmoothedBlock":
        moments = self.statistics_.columns
        return self._smoothed(moments, self._column_priors(moments), self.var_smoothing, self._parameters)

    def _law_of_column(self, j: int) -> "SmoothedBlock":
        moments = self.statistics_.columns
        own, priors = moments.take([j]), self._column_priors(moments)
        priors = {0: priors[j]} if j in priors else {}
        variance = float(pooled_variance(own)[0])
        share = self.epsilon_ / variance if variance > 0 else self.var_smoothing  # the same epsilon, of this column
        return self._smoothed(own, priors, share, gaussian_parameters(own, self._class_counts.count, share, priors))

    def _smoothed(
        self, moments: Moments, priors: dict[int, NormalInverseGamma], share: float, parameters: GaussianParameters
    ) -> "SmoothedBlock":
        is_log, count = np.zeros(moments.n_columns, dtype=bool), self._class_counts.count
        smoothing = EpsilonWithout(moments, priors, count, share, self._joint().log_prior)
        return SmoothedBlock(moments, 0.0, priors, is_log, parameters, smoothing)

    def _curve(self, name: str) -> ColumnCurve:
        return self._law().curve(Column(name, name, "gaussian"), self._place_of(name))

    def _reasons(self, X: Any, table: DenseTable, about: ExplainedRows) -> Explanations:
        block, log_prior = self._law(), self._joint().log_prior
        raw, names = read_raw(X, type(self).__name__), self._column_names()
        return explained_block(block, "gaussian", log_prior, table, names, raw, about, self._row_weights)

    def _draw(self, codes: Array, rng: np.random.Generator) -> Any:
        p = self._parameters
        require_density(p.seen, codes, self.classes_)
        return self._like_fitted(draw_normals(p, codes, rng))

    def tables(self) -> dict[str, Any]:
        """Give the class prior, and mean and standard deviation of each column in each class, as labelled frames.

        Returns
        -------
        dict {name: frame}
            Frames of the library that `fit` was given.

        See Also
        --------
        theta_ : Mean of each class and column.
        var_ : Smoothed variance of each class and column.

        Examples
        --------
        >>> from bayeswater import GaussianNB
        >>> list(GaussianNB().fit([[0], [1], [8], [9]], ["a", "a", "b", "b"]).tables())
        ['class', 'columns']
        """
        p, names = self._parameters, self._column_names()
        columns: dict[str, Any] = {"column": names}
        for k, label in enumerate(self.classes_):
            columns[f"mean({label})"] = p.mean[k]
            columns[f"std({label})"] = np.sqrt(p.variance[k])
        return {"class": self._class_table(), "columns": write_frame(columns, self._library)}

    @property
    def n_parameters(self) -> int:
        """Number of free parameters: K - 1 for the classes, 2 for each class and column, and learned weights."""
        n_classes = len(self.classes_)
        return n_classes - 1 + 2 * n_classes * self.n_features_in_ + self._n_weights

    @property
    def _parameters(self) -> GaussianParameters:
        joint = self._joint()
        assert isinstance(joint, GaussianJoint)
        return joint.parameters

    @property
    def theta_(self) -> Array:
        """Mean of each class and column."""
        return _read_only(self._parameters.mean)

    @property
    def var_(self) -> Array:
        """Smoothed variance of each class and column."""
        return _read_only(self._parameters.variance)

    @property
    def epsilon_(self) -> float:
        """What smoothing added to every variance."""
        return self._parameters.epsilon

    @property
    def class_prior_(self) -> Array:
        """Probability of each class."""
        return np.exp(self._joint().log_prior)


@record
class SmoothedBlock(NormalBlock):
    """Normal columns to whose variances one share of the largest is added."""

    smoothed: GaussianParameters
    smoothing: EpsilonWithout

    @property
    def parameters(self) -> GaussianParameters:
        """The densities."""
        return self.smoothed

    def without(self, table: Any, labels: Labels, removed: Array) -> Callable[[slice, bool], Array]:
        """Give a function of some rows: their log-likelihoods, each row taken out of the moments."""
        return self.smoothing.over(table, labels, removed)


def _finite_smoothing(moments: Moments, var_smoothing: float) -> float:
    """Give a share of the largest variance; refuse one that is no number any more."""
    largest = float(pooled_variance(moments).max())
    if isfinite(largest) and not isfinite(largest * var_smoothing):
        raise ParameterError(
            f"var_smoothing is {var_smoothing!r}; times {largest:.3g}, the largest variance of a column, it overflows: "
            "take a smaller one"
        )
    return largest * var_smoothing


def _read_only(parameters: Array) -> Array:
    """Show parameters that are remembered for scoring: to change them, change the sums or the settings."""
    view = parameters.view()
    view.flags.writeable = False
    return view
