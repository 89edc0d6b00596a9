"""The probability of each class before a row is looked at.

P(class k) = (N_k + class_alpha) / (N + K class_alpha)
"""

from typing import Any

import numpy as np

from bayeswater.errors import ParameterError
from bayeswater.estimate.dirichlet import log_posterior_mean
from bayeswater.typing import Array


def class_log_prior(count: Array, *, given: Array | None, fit_prior: bool, class_alpha: float) -> Array:
    """Read the log prior (n_classes,) off the class counts, unless it is given or uniform.

    >>> np.exp(class_log_prior(np.array([1, 3]), given=None, fit_prior=True, class_alpha=0.0))
    array([0.25, 0.75])
    """
    if given is not None:
        with np.errstate(divide="ignore"):
            return np.log(given)
    if not fit_prior:
        return np.full(len(count), -np.log(len(count)))
    return log_posterior_mean(count, class_alpha, axis=0)


def checked_class_prior(given: Any, n_classes: int, name: str) -> Array | None:
    """Check class probabilities that a user gives: one for each class, not negative, summing to one."""
    if given is None:
        return None
    try:
        prior = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise ParameterError(f"{name} is {given!r}; give one probability for each class") from None
    if prior.shape != (n_classes,):
        raise ParameterError(
            f"Number of priors must match number of classes: {name} has shape {prior.shape}, and there "
            f"are {n_classes} classes"
        )
    if not np.isfinite(prior).all() or (prior < 0).any():
        raise ParameterError(f"Priors must be non-negative: {name} is {prior.tolist()}")
    if not np.isclose(prior.sum(), 1.0):
        raise ParameterError(f"The sum of the priors should be 1: {name} is {prior.tolist()}, with sum {prior.sum()}")
    return prior
