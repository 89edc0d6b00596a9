"""`CountedPrior`: the class prior of a classifier on sums, given or read off its class counts.

    P(k) = (N_k + class_alpha) / (N + K class_alpha)

with N_k the weight of the rows of class k, unless probabilities are given or ``fit_prior`` is false, which makes all K
classes equal. Leaving a row out takes it out of N_k too; given probabilities stay.
"""

from typing import Any

import numpy as np

from bayeswater.errors import ParameterError
from bayeswater.estimate.class_prior import checked_class_prior, class_log_prior
from bayeswater.inference.leave_one_out import log_prior_without
from bayeswater.models.settings import require_flag
from bayeswater.statistics.sums import Sums
from bayeswater.typing import LARGEST_COUNT, Array, is_pseudo_count


class CountedPrior:
    """What a classifier on sums says of its classes before it looks at a row."""

    statistics_: Sums[Any]

    _prior_name = "class_prior"
    """Parameter that gives the probabilities."""

    @property
    def _given_prior(self) -> Any:
        return getattr(self, self._prior_name)

    @property
    def _class_alpha(self) -> Any:
        return getattr(self, "class_alpha", 0.0)  # not every model has the parameter

    @property
    def _fit_prior(self) -> Any:
        return getattr(self, "fit_prior", True)  # nor this one

    @property
    def _prior_is_counted(self) -> bool:
        return self._given_prior is None and bool(self._fit_prior)

    def _require_prior(self, n_classes: int) -> None:
        """Refuse probabilities and pseudo-counts that are none."""
        checked_class_prior(self._given_prior, n_classes, self._prior_name)
        if not is_pseudo_count(self._class_alpha):
            raise ParameterError(
                f"class_alpha is {self._class_alpha!r}; it must be a number from 0 to {LARGEST_COUNT:g}"
            )
        require_flag(self._fit_prior, "fit_prior")

    def _log_prior(self, sums: Sums[Any]) -> Array:
        count = sums.class_count.count
        given = checked_class_prior(self._given_prior, len(count), self._prior_name)
        return class_log_prior(count, given=given, fit_prior=self._fit_prior, class_alpha=self._class_alpha)

    def _log_prior_without(self, log_prior: Array, codes: Array, removed: Array) -> Array:
        """Log class prior for each row, the row taken out of the counts if it is counted: (n_rows, n_classes)."""
        if self._prior_is_counted:
            return log_prior_without(self.statistics_.class_count.count, self._class_alpha, codes, removed)
        return np.broadcast_to(log_prior, (len(codes), len(log_prior)))

    @property
    def class_log_prior_(self) -> Array:
        """Logarithm of P(class)."""
        return self._log_prior(self.statistics_)

    @property
    def class_count_(self) -> Array:
        """Weight of the rows of each class."""
        return self.statistics_.class_count.count.astype(np.float64)
