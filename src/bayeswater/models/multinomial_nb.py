"""`MultinomialNB`: counts of features, such as the words of a text, drawn from one distribution for each class."""

from dataclasses import replace
from typing import Any

import numpy as np

from bayeswater.data.frames import write_frame
from bayeswater.errors import ParameterError
from bayeswater.families.words.features import MultinomialColumns
from bayeswater.inference.linear import LinearJoint
from bayeswater.models.classifier import CountingClassifier
from bayeswater.models.feature_counter import FeatureCounter
from bayeswater.statistics.feature_sums import FeatureSums
from bayeswater.statistics.sums import Sums
from bayeswater.typing import Array


class MultinomialNB(FeatureCounter, CountingClassifier):
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

    Attributes
    ----------
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
    ) -> None:
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.class_alpha = class_alpha

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
