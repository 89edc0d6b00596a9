"""`ScoringClassifier`: what every classifier that gives log P(class, row) has in common.

A model says how it reads rows (`_table`) and what their log-joints are (`_joint`); posterior, prediction and decisions
follow from these. X may be a source of rows that do not fit into memory: the answers come in pieces then
(`models.streaming.answering`).
"""

from abc import abstractmethod
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.metadata_routing import UNUSED
from sklearn.utils.validation import check_is_fitted, validate_data

from bayeswater.data.frames import given_names, held, is_frame
from bayeswater.decision.deciding import Evidence
from bayeswater.decision.prior_shift import PriorEstimate
from bayeswater.decision.probabilities import Probabilities
from bayeswater.errors import SchemaError
from bayeswater.inference.log_space import best_class, log_evidence, log_posterior, posterior
from bayeswater.inference.scoring import Joint, score
from bayeswater.models.streaming.answering import over_rows
from bayeswater.models.streaming.scoring import score_source
from bayeswater.typing import Array


class ScoringClassifier(ClassifierMixin, BaseEstimator):
    """A classifier by the joint probability of class and row."""

    @abstractmethod
    def _joint(self) -> Joint:
        """Give the parameters, ready for scoring."""

    @abstractmethod
    def _table(self, X: Any) -> Any:
        """Read rows to predict."""

    @over_rows
    def predict(self, X: Any) -> Array:
        """Class of largest posterior probability; the first one among equals."""
        codes = self._score(X, best_class)
        return self.classes_[codes]

    @over_rows
    def predict_proba(self, X: Any) -> Array:
        """Posterior probability of each class: (n_rows, n_classes)."""
        return self._score(X, posterior)

    @over_rows
    def predict_log_proba(self, X: Any) -> Array:
        """Logarithm of the posterior probabilities, never floored: (n_rows, n_classes)."""
        return self._score(X, log_posterior)

    @over_rows
    def predict_joint_log_proba(self, X: Any) -> Array:
        """Logarithm of P(row, class): (n_rows, n_classes)."""
        return self._score(X, None)

    @over_rows
    def log_evidence(self, X: Any) -> Array:
        """Logarithm of P(row), the sum over all classes: (n_rows,)."""
        return log_evidence(self.predict_joint_log_proba(X))

    @over_rows
    def decide(self, X: Any, *, loss: Any = None, prior: Any = None, return_risk: bool = False) -> Any:
        """Action of least expected cost in every row: (n_rows,).

        Parameters
        ----------
        X : rows
        loss : Loss, or anything that `Loss` reads; default 0-1 loss, which decides as `predict`
        prior : class frequencies in order of `classes_` or by label, or "estimate"; default those of the model
            Frequencies that hold where X comes from: the same as this model with its class prior set to them.
            "estimate" finds them from X itself; `estimate_class_prior` tells what they are.
        return_risk : bool, default False
            Whether to give a pair: the actions, and the risks (n_rows, n_actions) of all of them. Its attribute
            `prior` is the report of the frequencies that were estimated.
        """
        return self._evidence(X).decide(loss, prior, return_risk=return_risk)

    @over_rows
    def expected_loss(self, X: Any, *, loss: Any = None, prior: Any = None) -> Array:
        """Expected cost of the best action, with `loss` and `prior` as in `decide`: (n_rows,)."""
        return self._evidence(X).expected_loss(loss, prior)

    __metadata_request__score = dict.fromkeys(("target",), UNUSED)  # no data of rows

    def score(self, X: Any, y: Any = None, sample_weight: Any = None, *, target: str | None = None) -> float:
        """Share of the rows whose class is predicted; a stream is held in memory, beside its labels.

        With `target`, the name of the column of labels, X may be a source of rows as in `fit`.
        """
        if target is not None:
            return score_source(self, X, y, sample_weight, target)
        share: float = super().score(held(X), y, sample_weight)
        return share

    def estimate_class_prior(self, X: Any) -> PriorEstimate:
        """Find the class frequencies where unlabelled rows come from, of largest likelihood; see `PriorEstimate`."""
        return self._evidence(X).estimate_prior()

    def _evidence(self, X: Any) -> Evidence:
        X = held(X)
        joint = self._score(X, lambda joint, use_loop: joint)
        return Evidence(Probabilities(joint, "log_joint"), self.classes_, self._scored_prior(), X)

    def _scored_prior(self) -> Array | None:
        """Give the class prior that is part of the scores, if one is."""
        return np.exp(self._joint().log_prior)

    def _score(self, X: Any, finish: Any) -> Array:
        """Walk the second half of the road: data, then inference."""
        self._require_fitted()
        return self._score_table(self._table(X), finish)

    def _score_table(self, table: Any, finish: Any) -> Array:
        """Inference: score the rows of a table."""
        return score(self._joint(), table, finish)

    def _note_columns(self, X: Any) -> None:
        """Remember number and names of the columns, as scikit-learn does, which takes its time to look for them."""
        names = list(given_names(X)) if is_frame(X) else []
        if names and all(isinstance(name, str) for name in names):
            self.n_features_in_, self.feature_names_in_ = len(names), np.array(names, dtype=object)
        elif not names and getattr(X, "ndim", 1) == 2:
            self.n_features_in_ = X.shape[1]
            self.__dict__.pop("feature_names_in_", None)
        else:
            validate_data(self, X, skip_check_array=True)

    def _require_names(self, X: Any) -> None:
        known = self.__dict__.get("feature_names_in_")
        if is_frame(X) or (known is not None and getattr(X, "ndim", 1) == 2):
            if known is not None and is_frame(X) and list(given_names(X)) == known.tolist():
                return  # as almost always; all else has its words in scikit-learn
            try:
                validate_data(self, X, reset=False, skip_check_array=True)
            except ValueError as error:
                raise SchemaError(str(error)) from None

    def _require_fitted(self) -> None:
        check_is_fitted(self)
