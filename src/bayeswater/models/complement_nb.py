"""`ComplementNB`: text classes judged by what all the other classes contain (Rennie et al. 2003)."""

from dataclasses import replace
from typing import Any

import numpy as np

from bayeswater.data.frames import write_frame
from bayeswater.errors import ParameterError
from bayeswater.families.words.features import ComplementColumns
from bayeswater.inference.linear import LinearJoint
from bayeswater.models.classifier import CountingClassifier
from bayeswater.models.feature_counter import FeatureCounter
from bayeswater.models.settings import require_flag
from bayeswater.statistics.feature_sums import FeatureSums
from bayeswater.statistics.sums import Sums
from bayeswater.typing import Array

NOT_GENERATIVE = (
    "ComplementNB is no generative model: its scores come from the other classes' counts and do not make "
    "up P(row, class), so it "
    "cannot {}; use MultinomialNB for that"
)


class ComplementNB(FeatureCounter, CountingClassifier):
    """Complement naive Bayes: score_k(x) = - sum_j x_j log P(feature j | all classes but k), the largest wins.

    Made for unbalanced classes. As in scikit-learn the class prior does not enter, but where there is a single
    class; `predict_proba` is the softmax of the scores, no posterior.

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
