"""`BayesDecision`: decisions of least expected cost from any classifier that gives probabilities."""

from collections.abc import Iterator
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.utils import Bunch, get_tags
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, _routing_enabled, process_routing
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from bayeswater.data.frames import materialised
from bayeswater.data.labels import one_dimensional
from bayeswater.decision.calibrated import Calibrated
from bayeswater.decision.deciding import ClassEvidence, Decisions
from bayeswater.decision.loss import as_loss
from bayeswater.decision.prior_shift import PriorEstimate
from bayeswater.decision.probabilities import Probabilities
from bayeswater.decision.scores import class_codes, row_weight
from bayeswater.errors import DataError, ParameterError
from bayeswater.typing import Array


def _gives_probabilities(decision: "BayesDecision") -> bool:
    fitted = getattr(decision, "estimator_", decision.estimator)
    return hasattr(fitted, "predict_proba") or bool(decision.calibrate)


class BayesDecision(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    """A classifier whose `predict` takes the action of least expected cost.

    Parameters
    ----------
    estimator : classifier
        It has `predict_proba`.
    loss : Loss, or anything that `Loss` reads
        Costs of the decisions; default 0-1 loss.
    calibrate : bool or name of a method of `Calibrated`, default False
        Whether the probabilities are calibrated, on rows held out, before they are used.
    prior : class frequencies in order of `classes_` or by label, or "estimate"; default None
        The frequencies that decisions are made for; "estimate" finds them anew from each X, all rows together. The
        probabilities are taken to hold for the (weighted) frequencies of the labels seen in `fit`.

    Attributes
    ----------
    estimator_ : the fitted classifier
    classes_ : labels of the classes
    class_prior_ : their frequencies in `fit`
    loss_ : the loss, with its classes in this order

    See Also
    --------
    Loss : The cost of every action under every true class.
    Calibrated : A classifier whose probabilities are corrected by a map learned from rows it had not seen.

    Notes
    -----
    `fit` takes what the classifier takes. `predict` adds O(n K A) time, with n rows, K classes and A actions.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.linear_model import LogisticRegression
    >>> from bayeswater import Loss
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> loss = Loss.from_costs({(1, 0): 20, (0, 1): 1}).with_reject(0.5)  # 20 for a tumour (0) that is missed
    >>> model = BayesDecision(LogisticRegression(max_iter=10_000), loss=loss).fit(X[:300], y[:300])
    >>> model.predict(X[310:313]).tolist()
    [1, 'reject', 1]
    """

    def __init__(self, estimator: Any, *, loss: Any = None, calibrate: bool | str = False, prior: Any = None) -> None:
        self.estimator = estimator
        self.loss = loss
        self.calibrate = calibrate
        self.prior = prior

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, **params: Any) -> Self:
        """Fit the classifier, and match the labels of the loss.

        Parameters
        ----------
        X, y : rows and labels
            As the classifier takes them.
        sample_weight : weights of shape (n_rows,), optional
            Weight of each row; default 1.
        **params : keywords
            They are passed on to the `fit` of the classifier.

        Returns
        -------
        self
            The object itself, fitted.

        See Also
        --------
        predict : Take the action of least expected cost.
        score : Give minus the mean cost of the decisions, so that more is better.

        Examples
        --------
        >>> from bayeswater import BayesDecision, GaussianNB
        >>> BayesDecision(GaussianNB(), loss=[[0, 9], [1, 0]]).fit([[0], [1], [4], [5]], [0, 0, 1, 1]).class_prior_
        array([0.5, 0.5])
        """
        if y is None:
            raise DataError(
                "This BayesDecision estimator requires y to be passed, but the target y is None. It takes rows that "
                "are in memory; our own classifiers decide by themselves, also for rows of a file or another source: "
                "NaiveBayes().fit(source, target=...).decide(source, loss=...)"
            )
        fitted = self._unfitted().fit(X, y, **self._routed(sample_weight, params))
        self.class_prior_ = _frequencies(y, sample_weight, fitted.classes_)
        self.loss_ = as_loss(self.loss, fitted.classes_)
        self.estimator_ = fitted
        self.classes_ = fitted.classes_
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(fitted, name):
                setattr(self, name, getattr(fitted, name))
        return self

    def predict(self, X: Any) -> Array:
        """Take the action of least expected cost: (n_rows,).

        Parameters
        ----------
        X : rows
            A table, as the classifier takes it.

        Returns
        -------
        array of shape (n_rows,)
            Actions.

        See Also
        --------
        decide : Take the action of least expected cost, under another loss or other frequencies if given.
        expected_loss : Give the expected cost of the best action.

        Examples
        --------
        >>> from bayeswater import BayesDecision, GaussianNB
        >>> model = BayesDecision(GaussianNB(), loss=[[0, 9], [1, 0]]).fit([[0], [2], [3], [5]], [0, 0, 1, 1])
        >>> model.predict([[2.4]])
        array([1])
        """
        return self._evidence(X).decide(self.loss_, self.prior)

    def decide(self, X: Any, *, loss: Any = None, prior: Any = None, return_risk: bool = False) -> Array | Decisions:
        """Take the action of least expected cost, under another loss or other frequencies if given.

        With `return_risk`, a pair of actions (n_rows,) and risks (n_rows, n_actions); its attribute `prior` holds
        the class frequencies where they were estimated.

        Parameters
        ----------
        X : rows
            A table, as the classifier takes it.
        loss : Loss, dict or array, optional
            Costs in the place of those of the object.
        prior : array, dict or "estimate", optional
            Class frequencies in the place of those of the object.
        return_risk : bool, default False
            Whether to give the expected costs of all actions, too.

        Returns
        -------
        array of shape (n_rows,), or Decisions
            Actions, or the pair of actions and risks.

        See Also
        --------
        predict : Take the action of least expected cost.
        expected_loss : Give the expected cost of the best action.

        Examples
        --------
        >>> from bayeswater import BayesDecision, GaussianNB
        >>> model = BayesDecision(GaussianNB()).fit([[0], [2], [3], [5]], [0, 0, 1, 1])
        >>> model.decide([[2.4]], loss=[[0, 9], [1, 0]])
        array([1])
        """
        loss = self.loss_ if loss is None else loss
        return self._evidence(X).decide(loss, self.prior if prior is None else prior, return_risk=return_risk)

    def expected_loss(self, X: Any, *, loss: Any = None, prior: Any = None) -> Array:
        """Give the expected cost of the best action: (n_rows,).

        Parameters
        ----------
        X : rows
            A table, as the classifier takes it.
        loss : Loss, dict or array, optional
            Costs in the place of those of the object.
        prior : array, dict or "estimate", optional
            Class frequencies in the place of those of the object.

        Returns
        -------
        array of shape (n_rows,)
            Expected costs.

        See Also
        --------
        decide : Take the action of least expected cost, under another loss or other frequencies if given.

        Examples
        --------
        >>> from bayeswater import BayesDecision, GaussianNB
        >>> model = BayesDecision(GaussianNB()).fit([[0], [2], [3], [5]], [0, 0, 1, 1])
        >>> model.expected_loss([[2.5]])
        array([0.5])
        """
        loss = self.loss_ if loss is None else loss
        return self._evidence(X).expected_loss(loss, self.prior if prior is None else prior)

    def estimate_class_prior(self, X: Any) -> PriorEstimate:
        """Find the class frequencies of unlabelled rows.

        Parameters
        ----------
        X : rows
            A table, as the classifier takes it.

        Returns
        -------
        PriorEstimate
            The frequencies, and how they were found.

        See Also
        --------
        decide : Take the action of least expected cost, under another loss or other frequencies if given.

        Examples
        --------
        >>> from bayeswater import BayesDecision, GaussianNB
        >>> model = BayesDecision(GaussianNB()).fit([[0], [1], [8], [9]], ["a", "a", "b", "b"])
        >>> model.estimate_class_prior([[0.5], [8], [8.5], [9]]).prior.round(2)
        array([0.25, 0.75])
        """
        return self._evidence(X).estimate_prior()

    @available_if(_gives_probabilities)
    def predict_proba(self, X: Any) -> Array:
        """Probability of each class under `prior`: (n_rows, n_classes).

        Parameters
        ----------
        X : rows
            A table, as the classifier takes it.

        Returns
        -------
        array of shape (n_rows, n_classes)
            Probabilities.
        """
        return self._evidence(X).proba(self.prior)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Give minus the mean cost of the decisions, so that more is better; under 0-1 loss, accuracy - 1.

        Parameters
        ----------
        X : rows
            A table, as the classifier takes it.
        y : labels of shape (n_rows,)
            The true classes.
        sample_weight : weights of shape (n_rows,), optional
            How much each row counts.

        Returns
        -------
        float
            Minus the mean cost.

        See Also
        --------
        predict : Take the action of least expected cost.

        Examples
        --------
        >>> from bayeswater import BayesDecision, GaussianNB
        >>> model = BayesDecision(GaussianNB()).fit([[0], [1], [8], [9]], ["a", "a", "b", "b"])
        >>> model.score([[0], [7]], ["a", "a"])
        -0.5
        """
        cost = self.loss_.realised(self.predict(X), y, X=X)
        return -float(np.average(cost, weights=sample_weight))

    def _unfitted(self) -> Any:
        if not self.calibrate:
            return clone(self.estimator)
        method = "auto" if self.calibrate is True else self.calibrate
        return Calibrated(clone(self.estimator), method=method)

    def _evidence(self, X: Any) -> ClassEvidence:
        check_is_fitted(self)
        if not _gives_probabilities(self):
            raise ParameterError(
                f"{type(self.estimator).__name__} has no predict_proba; set calibrate=True, or its own switch"
            )
        X = (
            materialised(X) if isinstance(X, Iterator) else X
        )  # a stream of Arrow, of which costs may need the columns again
        proba = Probabilities.of(self.estimator_.predict_proba(X), None, len(self.classes_))
        return ClassEvidence(proba, self.classes_, self.class_prior_, X)

    # ------------------------------------------------------------------ scikit-learn's protocols

    def _routed(self, sample_weight: Any, params: dict[str, Any]) -> dict[str, Any]:
        if _routing_enabled():
            routed: Bunch = process_routing(self, "fit", sample_weight=sample_weight, **params)
            return routed.estimator.fit
        if sample_weight is None:
            return params
        if not has_fit_parameter(self.estimator, "sample_weight"):
            raise ParameterError(f"{type(self.estimator).__name__}.fit takes no sample_weight")
        return {**params, "sample_weight": sample_weight}

    def get_metadata_routing(self) -> MetadataRouter:
        """Say who takes the metadata of `fit`: this object and its classifier.

        Returns
        -------
        MetadataRouter
            The routing, as scikit-learn asks for it.

        See Also
        --------
        fit : Fit the classifier, and match the labels of the loss.

        Examples
        --------
        >>> from bayeswater import BayesDecision, GaussianNB
        >>> [name for name, _ in BayesDecision(GaussianNB()).get_metadata_routing()]
        ['$self_request', 'estimator']
        """
        to_fit = MethodMapping().add(caller="fit", callee="fit")
        return MetadataRouter(owner=self).add_self_request(self).add(estimator=self.estimator, method_mapping=to_fit)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator)
        tags.input_tags = inner.input_tags
        tags.classifier_tags = inner.classifier_tags
        tags.non_deterministic = inner.non_deterministic
        return tags


def _frequencies(y: Any, sample_weight: Any, classes: Any) -> Array:
    """Weighted frequency of each class among the labels."""
    labels = one_dimensional(y)
    weight = row_weight(sample_weight, len(labels))
    counts = weight > 0  # a class of rows that do not need not be known
    total = np.bincount(class_codes(labels[counts], classes), weight[counts], minlength=len(classes))
    return total / total.sum()
