"""Other class frequencies than those a classifier was made with.

If only the frequencies of the classes have changed, and not what their rows look like, then exactly

    P'(class | row)  is proportional to  P(class | row) P'(class) / P(class).

Where P' is not known, unlabelled rows tell it: the frequencies of largest likelihood, by the expectation-maximisation
of Saerens, Latinne and Decaestecker (2002), which averages the shifted posteriors until they no longer move. The
likelihood is concave, so there is one such maximum (or a flat set of equally good ones).
"""

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bayeswater.decision.probabilities import SUM_TOLERANCE, Probabilities
from bayeswater.errors import ConvergenceWarning, ImpossibleEvidenceWarning, ParameterError
from bayeswater.kernels.class_scores import log_shares
from bayeswater.markup import paragraphs
from bayeswater.records import record
from bayeswater.typing import Array


@record
class PriorEstimate:
    """Class frequencies found from unlabelled rows."""

    prior: Array  # (n_classes,)
    old_prior: Array
    classes: tuple[Any, ...]
    n_rows: int
    n_iterations: int
    converged: bool

    def __str__(self) -> str:
        pairs = zip(self.classes, self.old_prior, self.prior, strict=True)
        found = ", ".join(f"{label}: {old:.4g} -> {new:.4g}" for label, old, new in pairs)
        end = f"after {self.n_iterations} iterations" if self.converged else "not converged"
        return f"class frequencies from {self.n_rows} rows: {found} ({end})"

    def _repr_html_(self) -> str:
        return paragraphs([str(self)])


def shift_prior(log_posterior: Any, old_prior: Any, new_prior: Any) -> Array:
    """Give the log posteriors (n_rows, n_classes) that hold under other class frequencies.

    Parameters
    ----------
    log_posterior : array of shape (n_rows, n_classes)
        Logarithms of the posterior, or of anything proportional to it in each row, such as log-joints.
    old_prior, new_prior : class frequencies (n_classes,), which sum to one
        A class of old frequency 0 has posterior 0 whatever the row says: it cannot be raised.

    Warns
    -----
    ImpossibleEvidenceWarning
        Where a row is possible only in classes of new frequency 0; its posterior is the new prior.

    Examples
    --------
    >>> np.exp(shift_prior(np.log([[0.5, 0.5]]), [0.5, 0.5], [0.9, 0.1])).round(3)
    array([[0.9, 0.1]])
    """
    scores = np.array(log_posterior, dtype=np.float64, ndmin=2)
    places = range(scores.shape[1])
    old = checked_prior(old_prior, places, "old_prior")
    new = checked_prior(new_prior, places, "new_prior")
    return log_shares(shifted(scores, old, new, places), use_loop=False)


def shifted(scores: Array, old: Array, new: Array, classes: Sequence[Any]) -> Array:
    """Move log posteriors or log-joints (n_rows, n_classes) to other class frequencies; they are not normalised."""
    stuck = [label for label, before, after in zip(classes, old, new, strict=True) if before == 0 < after]
    if stuck:
        raise ParameterError(
            f"class {stuck[0]!r} has the old prior 0: its posterior is 0 in every row and cannot be raised; fit with a "
            "prior over 0 for it, or give it the new prior 0"
        )
    with np.errstate(divide="ignore"):
        log_new = np.log(new)
    moved = scores + (log_new - np.log(np.where(old > 0, old, 1.0)))
    impossible = np.isneginf(moved).all(axis=1)
    if impossible.any():
        moved[impossible] = log_new
        warnings.warn(
            f"{impossible.sum()} of {len(moved)} rows are possible only in classes of new frequency 0; their posterior "
            "is the new prior",
            ImpossibleEvidenceWarning,
            stacklevel=3,
        )
    return moved


def estimate_prior(
    log_posterior: Any,
    old_prior: Any,
    *,
    classes: Sequence[Any] | None = None,
    tolerance: float = 1e-9,
    max_iterations: int = 10_000,
) -> PriorEstimate:
    """Find the class frequencies of unlabelled rows from their log posteriors (n_rows, n_classes).

    Iterates until no frequency moves by more than `tolerance`; stopped after `max_iterations` it warns
    (ConvergenceWarning).

    Examples
    --------
    >>> estimate_prior(np.log([[0.9, 0.1]] * 3 + [[0.1, 0.9]]), [0.5, 0.5]).prior.round(4)
    array([0.8125, 0.1875])
    """
    log_posterior = np.asarray(log_posterior, dtype=np.float64)
    n_classes = log_posterior.shape[-1] if log_posterior.ndim else 0
    labels = tuple(range(n_classes) if classes is None else classes)
    old = checked_prior(old_prior, labels, "old_prior")
    (proba,) = Probabilities.of(None, log_posterior, n_classes).blocks(lambda rows, block: (block.proba,))
    new, n_iterations, step = old, 0, np.inf
    while step > tolerance and n_iterations < max_iterations:
        ratio = np.divide(new, old, out=np.zeros_like(old), where=old > 0)
        weight = 1.0 / (proba @ ratio)  # (n_rows,)
        moved = ratio * (weight @ proba) / len(proba)
        step = np.abs(moved - new).max()
        new, n_iterations = moved, n_iterations + 1
    if step > tolerance:
        warnings.warn(
            f"the class frequencies still moved by {step:.2g} after {n_iterations} iterations; raise max_iterations or "
            "tolerance",
            ConvergenceWarning,
            stacklevel=2,
        )
    return PriorEstimate(new / new.sum(), old, labels, len(proba), n_iterations, bool(step <= tolerance))


def checked_prior(prior: Any, classes: Sequence[Any], name: str = "prior") -> Array:
    """Read class frequencies, one for each class in order or by label, as an array (n_classes,)."""
    if isinstance(prior, PriorEstimate):
        prior = prior.prior
    if isinstance(prior, Mapping):
        wrong = [label for label in [*prior, *classes] if (label in prior) != (label in classes)]
        if wrong:
            raise ParameterError(f"{name} names {list(prior)}, and the classes are {list(classes)}: see {wrong}")
        prior = [prior[label] for label in classes]
    try:
        values = np.asarray(prior, dtype=np.float64)
    except (TypeError, ValueError):
        raise ParameterError(f"{name} is {prior!r}; give a frequency for each of the {len(classes)} classes") from None
    if values.shape != (len(classes),):
        raise ParameterError(
            f"{name} has shape {values.shape}; give a frequency for each of the {len(classes)} classes"
        )
    if not (values >= 0).all() or not abs(values.sum() - 1) <= SUM_TOLERANCE:
        raise ParameterError(f"{name} is {values.tolist()}; frequencies are 0 or more, and sum to one")
    return values
