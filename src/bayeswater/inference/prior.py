"""`Prior`: the class prior of a model on discrete columns, as counted or as given, and without a row.

    P(y) = (N_y + a) / (N + K a)

Joints of a class and a column have the counted prior in them. Where another one is given they are moved by the
difference of the two: what the columns say of a class stays as it is.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bayeswater.estimate.class_prior import class_log_prior
from bayeswater.estimate.pseudo_counts import PseudoCounts
from bayeswater.inference.leave_one_out import log_prior_without
from bayeswater.typing import Array


@dataclass(frozen=True)
class Prior:
    """Class counts (n_classes,), the pseudo-count of each, and the logarithm of a prior that is given, or None."""

    count: Array
    alpha: float
    given: Array | None = None

    @classmethod
    def of(cls, count: Array, smoothing: PseudoCounts, given: Array | None = None) -> "Prior":
        """Smooth the classes as any distribution; `given` are probabilities (n_classes,)."""
        with np.errstate(divide="ignore"):
            return cls(count, float(smoothing.of(len(count))), None if given is None else np.log(given))

    @cached_property
    def counted(self) -> Array:
        """Log prior as counted: (n_classes,)."""
        return class_log_prior(self.count, given=None, fit_prior=True, class_alpha=self.alpha)

    @property
    def log(self) -> Array:
        """Log prior: (n_classes,)."""
        return self.counted if self.given is None else self.given

    @property
    def shift(self) -> Array | None:
        """What moves joints with the counted prior in them to the given one: (n_classes,), None if none is given."""
        return None if self.given is None else _difference(self.given, self.counted)

    def without(self, codes: Array, removed: Array) -> Array:
        """Log prior with each row taken out of the counts: (n_rows, n_classes)."""
        if self.given is not None:
            return np.broadcast_to(self.given, (len(codes), len(self.count)))
        return log_prior_without(self.count, self.alpha, codes, removed)

    def shift_without(self, codes: Array, removed: Array) -> Array | None:
        """`shift`, with each row taken out of the counts: (n_rows, n_classes)."""
        if self.given is None:
            return None
        return _difference(self.given, log_prior_without(self.count, self.alpha, codes, removed))


def _difference(given: Array, counted: Array) -> Array:
    """A class without a row, at no smoothing, stays impossible."""
    return np.where(np.isneginf(counted), -np.inf, given - np.where(np.isneginf(counted), 0.0, counted))
