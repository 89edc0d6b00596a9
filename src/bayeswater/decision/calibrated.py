"""`Calibrated`: any classifier, with probabilities that can be taken at their word.

Its map is learned from scores that no row had a part in: by exact leave-one-out where the classifier has it (one fit
and about one prediction), by cross-fitting otherwise (a clone for each fold).
"""

import warnings
from typing import Any, Self

import numpy as np
from sklearn import get_config
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.frozen import FrozenEstimator
from sklearn.utils import get_tags, indexable
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from bayeswater.data.frames import library_of, materialised
from bayeswater.data.labels import one_dimensional
from bayeswater.data.row_places import original_rows
from bayeswater.data.weights import n_rows_of, without_zero_rows
from bayeswater.decision.calibration_choice import (
    CalibrationReport,
    Doubt,
    MapChoice,
    TrainTest,
    by_map,
    choose,
    thinned,
    trial,
    with_doubt,
)
from bayeswater.decision.calibration_maps import MAPS
from bayeswater.decision.cross_fitting import cross_fitted, folds_of, log_scores, require_cv, rows_of, scores_method
from bayeswater.decision.probabilities import ROUNDING
from bayeswater.decision.scores import Scores, class_codes, row_weight
from bayeswater.errors import BayesWarning, DataError, ParameterError
from bayeswater.kernels.class_scores import first_of_largest
from bayeswater.kernels.threads import one_blas_thread
from bayeswater.typing import Array


class Calibrated(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    """A classifier whose probabilities are corrected by a map learned from rows it had not seen.

    Parameters
    ----------
    estimator : classifier with predict_log_proba, predict_proba or decision_function
        Fitted once on all rows. Scores for the map come from its ``loo_predict_log_proba(X, y)`` where it has one,
        else from cross-fitting. A ``FrozenEstimator`` is not fitted again: all rows given to `fit` are new to it.
    method : {"auto", "temperature", "vector", "beta", "isotonic"}, default "auto"
        The map; the page "Decisions" has the formulas. "auto" takes the one of least cross-validated log-loss,
        and of those that differ within noise (two standard errors) the one of fewest parameters.
    cv : int, splitter or list of splits, default 5
        Folds of cross-fitting, of the choice of the map and of the figures in the report. A number deals the rows at
        random, stratified; rows that depend on one another want a splitter, as ``GroupKFold``.

    Attributes
    ----------
    calibration_ : CalibrationReport
        The map, the rows it was learned from, and log-loss and ECE before and after; it can be printed.
    estimator_ : the classifier, fitted on all rows
    classes_ : array of shape (n_classes,)
    n_features_in_, feature_names_in_ : those of the classifier

    See Also
    --------
    BayesDecision : A classifier whose `predict` takes the action of least expected cost.
    NaiveBayes : Naive Bayes of a mixed table.

    Notes
    -----
    `fit` fits the classifier once, and `cv` times more where it cannot leave rows out; the map adds O(n K) time for
    each step of its search, with n rows and K classes. `predict` adds O(n K).

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from bayeswater import Calibrated, GaussianNB
    >>> model = Calibrated(GaussianNB()).fit(*load_breast_cancer(return_X_y=True))
    >>> print(model.calibration_)
    Calibration: temperature 7.401
      learned from 569 rows, scored by leave-one-out
      on held-out rows    before     after
        log-loss            0.6173    0.1495
        ECE                 0.0577    0.0219
      log-loss of each map: temperature 0.1495, vector 0.1524, beta 0.1436, isotonic 0.1590
    """

    def __init__(self, estimator: Any, method: str = "auto", cv: Any = 5) -> None:
        self.estimator = estimator
        self.method = method
        self.cv = cv

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, **params: Any) -> Self:
        """Fit the classifier, score its rows without themselves, and learn the map from these scores.

        Parameters
        ----------
        X : table of shape (n_rows, n_columns)
            Of any kind that the classifier takes.
        y : labels of shape (n_rows,)
            The class of each row.
        sample_weight : weights of shape (n_rows,), optional
            For the map, and for the classifier if it takes weights. Rows of weight 0 are left out.
        **params : keywords
            They are passed to the `fit` of the classifier or, with metadata routing, to those who request them.

        Returns
        -------
        self
            The object itself, fitted.

        See Also
        --------
        predict_proba : Give the calibrated probabilities.

        Examples
        --------
        >>> from bayeswater import Calibrated, GaussianNB
        >>> X, y = [[value] for value in range(12)], ["a"] * 5 + ["b", "a"] + ["b"] * 5
        >>> Calibrated(GaussianNB(), "temperature", cv=2).fit(X, y).classes_
        array(['a', 'b'], dtype='<U1')
        """
        require_method(self.method)
        require_cv(self.cv)
        if y is None:
            raise DataError(
                "This Calibrated estimator requires y to be passed, but the target y is None. It scores rows that are "
                "in memory; our own classifiers calibrate themselves by those of a file or another source: "
                "NaiveBayes(calibrate=True).fit(source, target=...)"
            )
        y = one_dimensional(y)
        weight = row_weight(sample_weight, len(y))
        fit_params, split_params = self._routed(None if sample_weight is None else weight, params)
        keep = weight > 0
        X = materialised(X)
        n_rows_of(X)  # refuses what is no table
        (X,) = indexable(X)
        if not keep.all():
            X, y, _ = without_zero_rows(X, y, weight)
            weight, fit_params, split_params = weight[keep], rows_of(fit_params, keep), rows_of(split_params, keep)

        with original_rows(keep):
            model = clone(self.estimator).fit(X, y, **fit_params)
        scores_method(model)
        classes = np.asarray(model.classes_)
        codes = class_codes(y, classes)
        folds = folds_of(self.cv, X, codes, keep, split_params)
        if hasattr(model, "loo_predict_log_proba") and not isinstance(model, FrozenEstimator):
            scored_by = "leave-one-out"
            log_proba, scored = _left_out(model, X, y, codes, fit_params.get("sample_weight"))
        else:
            scored_by = f"cross-fitting in {len(folds)} folds"
            log_proba, scored = cross_fitted(self.estimator, X, y, classes, folds, fit_params)
        used = Scores.of(log_proba[scored], codes[scored], weight[scored])
        report = self._calibrate(used, _among(scored, folds), scored_by, n_left_out=int((~scored).sum()))
        self.estimator_, self.classes_, self.calibration_ = model, classes, report.in_library(library_of(X))
        return self

    def predict_log_proba(self, X: Any) -> Array:
        """Give the logarithm of the calibrated probabilities: (n_rows, n_classes).

        Parameters
        ----------
        X : rows
            A table, as the classifier takes it.

        Returns
        -------
        array of shape (n_rows, n_classes)
            Logarithms of probabilities.

        See Also
        --------
        predict_proba : Give the calibrated probabilities.

        Examples
        --------
        >>> from bayeswater import Calibrated, GaussianNB
        >>> X, y = [[value] for value in range(12)], ["a"] * 5 + ["b", "a"] + ["b"] * 5
        >>> model = Calibrated(GaussianNB(), "temperature", cv=2).fit(X, y)
        >>> bool((model.predict_log_proba(X) <= 0).all())
        True
        """
        check_is_fitted(self)
        return self.calibration_.corrected(log_scores(self.estimator_, materialised(X), self.classes_))

    def predict_proba(self, X: Any) -> Array:
        """Give the calibrated probabilities: (n_rows, n_classes).

        Parameters
        ----------
        X : rows
            A table, as the classifier takes it.

        Returns
        -------
        array of shape (n_rows, n_classes)
            Probabilities.

        See Also
        --------
        predict : Give the class of largest calibrated probability.
        predict_log_proba : Give the logarithm of the calibrated probabilities.

        Examples
        --------
        >>> from bayeswater import Calibrated, GaussianNB
        >>> X, y = [[value] for value in range(12)], ["a"] * 5 + ["b", "a"] + ["b"] * 5
        >>> model = Calibrated(GaussianNB(), "temperature", cv=2).fit(X, y)
        >>> model.predict_proba([[5.5]]).round(2)
        array([[0.5, 0.5]])
        """
        return np.exp(self.predict_log_proba(X))

    def predict(self, X: Any) -> Array:
        """Give the class of largest calibrated probability; the first one among equals.

        Parameters
        ----------
        X : rows
            A table, as the classifier takes it.

        Returns
        -------
        array of shape (n_rows,)
            Labels.

        See Also
        --------
        predict_proba : Give the calibrated probabilities.

        Examples
        --------
        >>> from bayeswater import Calibrated, GaussianNB
        >>> X, y = [[value] for value in range(12)], ["a"] * 5 + ["b", "a"] + ["b"] * 5
        >>> Calibrated(GaussianNB(), "temperature", cv=2).fit(X, y).predict([[0], [11]])
        array(['a', 'b'], dtype='<U1')
        """
        best = first_of_largest(self.predict_log_proba(X), ROUNDING, use_loop=False)
        return self.classes_[best]

    def _calibrate(self, scores: Scores, folds: TrainTest, scored_by: str, n_left_out: int) -> CalibrationReport:
        if not len(scores):
            warnings.warn(
                "no row can be scored without itself, since every row is alone in its class: "
                "the probabilities stay as they are",
                BayesWarning,
                stacklevel=3,
            )
        folds = thinned(folds, len(scores))
        with one_blas_thread():  # products of a few columns, in hundreds of steps
            if self.method == "auto":
                chosen = choose(scores, folds)
            else:
                chosen = MapChoice(self.method, {}, trial(by_map(self.method), scores, folds))
            before, after = CalibrationReport.of_trial(with_doubt(chosen.trial, scores, folds))
            fitted = MAPS[chosen.method].fit(scores.log_proba, scores.codes, scores.weight)
        return CalibrationReport(
            method=chosen.method,
            map=fitted,
            doubt=Doubt.fit(scores),
            scored_by=scored_by,
            n_used=len(scores),
            n_left_out=n_left_out,
            n_impossible=int(np.isneginf(scores.own).sum()),
            before=before,
            after=after,
            candidates=chosen.log_loss,
        )

    # ------------------------------------------------------------------ scikit-learn's contract

    def _routed(self, weight: Array | None, params: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        """Tell what goes to the classifier's fit and what to the splitter."""
        if get_config()["enable_metadata_routing"]:
            routed = process_routing(self, "fit", sample_weight=weight, **params)
            return {**routed.estimator.fit}, {**routed.splitter.split}
        if weight is not None and has_fit_parameter(self.estimator, "sample_weight"):
            return {**params, "sample_weight": weight}, {}
        if weight is not None:
            warnings.warn(
                f"{type(self.estimator).__name__}.fit takes no sample_weight: the weights are used for calibration "
                "alone; for a pipeline, route them (sklearn.set_config(enable_metadata_routing=True))",
                BayesWarning,
                stacklevel=3,
            )
        return dict(params), {}

    def get_metadata_routing(self) -> MetadataRouter:
        """Say who takes the metadata of `fit`: weights are used here, and passed to the classifier if it requests them.

        Returns
        -------
        MetadataRouter
            The routing, as scikit-learn asks for it.

        See Also
        --------
        fit : Fit the classifier, score its rows without themselves, and learn the map from these scores.

        Examples
        --------
        >>> from bayeswater import Calibrated, GaussianNB
        >>> [name for name, _ in Calibrated(GaussianNB()).get_metadata_routing()]
        ['$self_request', 'estimator', 'splitter']
        """
        to_fit = MethodMapping().add(caller="fit", callee="fit")
        to_split = MethodMapping().add(caller="fit", callee="split")
        router = MetadataRouter(owner=type(self).__name__).add_self_request(self)
        router.add(estimator=self.estimator, method_mapping=to_fit)
        return router.add(splitter=self.cv, method_mapping=to_split)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags = get_tags(self.estimator).input_tags
        return tags

    @property
    def n_features_in_(self) -> int:
        """Number of columns."""
        return self.estimator_.n_features_in_

    @property
    def feature_names_in_(self) -> Array:
        """Names of the columns, where the classifier was given any."""
        return self.estimator_.feature_names_in_


def _left_out(model: Any, X: Any, y: Array, codes: Array, weight: Array | None) -> tuple[Array, Array]:
    """Leave-one-out log-probabilities, and marks of the rows that leave others of their class behind."""
    weighted = {} if weight is None else {"sample_weight": weight}
    alone = np.bincount(codes)[codes] == 1
    alone = alone if weight is None else alone & (weight <= 1)
    return model.loo_predict_log_proba(X, y, **weighted), ~alone


def _among(scored: Array, folds: TrainTest) -> TrainTest:
    """Number the rows of the folds among those that were scored."""
    place = np.cumsum(scored) - 1
    return [(place[a[scored[a]]], place[b[scored[b]]]) for a, b in folds]


def require_method(method: Any) -> None:
    """Refuse a way of calibrating that there is not."""
    if method not in ("auto", *MAPS):
        raise ParameterError(f"method is {method!r}; it must be one of {['auto', *MAPS]}")
