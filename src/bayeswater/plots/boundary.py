"""Lines along which two actions are as good as each other.

An action i is scored by  s_i = -log risk(i),  with  risk(i) = sum over classes j of regret_ij P(j | x);  without a loss
by  s_i = log P(i | x).  The action of largest score is taken, and the boundary of i is where s_i equals the largest
other score. Logarithms make the scores of Gaussian classes smooth (squares in x), where probabilities would be steps
that no grid can resolve: on a coarse grid the line is still where it should be.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import logsumexp

from bayeswater.decision.loss import Loss
from bayeswater.errors import ParameterError
from bayeswater.typing import Array


@dataclass(frozen=True)
class Rule:
    """How log-probabilities of classes become scores of actions."""

    actions: tuple[Any, ...]
    log_regret: Array | None = None  # (n_actions, n_classes); None for the most probable class

    @classmethod
    def of(cls, loss: Any, classes: Array) -> "Rule":
        """Read a `Loss`, or anything that `Loss` reads; None is the most probable class."""
        if loss is None:
            return cls(tuple(classes.tolist()))
        table = (loss if isinstance(loss, Loss) else Loss(loss)).for_classes(classes.tolist()).table
        if table.by_row:
            raise ParameterError("some costs of the loss depend on the row, so there is no one boundary; fix the costs")
        with np.errstate(divide="ignore"):
            return cls(tuple(table.actions), np.log(table.regret))

    def scores(self, log_proba: Array) -> Array:
        """Score every action: (n_rows, n_actions)."""
        if self.log_regret is None:
            return log_proba
        with np.errstate(divide="ignore"):  # an action without any risk
            return -logsumexp(log_proba[:, None, :] + self.log_regret, axis=2)


def boundary_lines(x: Array, y: Array, scores: Array, scores_at: Callable[[Array], Array]) -> list[Array]:
    """Trace all boundaries between actions.

    Parameters
    ----------
    x, y : arrays of shape (n_x,) and (n_y,)
        The grid.
    scores : array of shape (n_y, n_x, n_actions)
    scores_at : function from points (n, 2) to scores (n, n_actions)
        Tells on which side of a meeting of three actions a point lies.

    Returns
    -------
    list of arrays (n, 2), none of them drawn twice
    """
    try:
        from contourpy import contour_generator  # comes with matplotlib, and traces its contours
    except ImportError:
        raise ImportError("plots need matplotlib; install it with: pip install 'bayeswater[plot]'") from None
    lines = []
    for i in range(scores.shape[2]):
        margin = scores[:, :, i] - np.delete(scores, i, axis=2).max(axis=2, initial=-np.inf)
        if not (margin > 0).any() or not (margin < 0).any():
            continue  # never taken, or always
        for line in contour_generator(x, y, margin).lines(0.0):
            line = np.asarray(line)
            others = scores_at(line)
            others[:, i] = -np.inf
            # The line between i and j is found from both sides; it belongs to the smaller of them.
            lines += _runs(line, others.argmax(axis=1) > i)
    return lines


def _runs(line: Array, keep: Array) -> list[Array]:
    """Cut a line into its stretches of points to keep, of two or more."""
    ends = np.flatnonzero(np.diff(keep)) + 1
    pieces = zip(np.split(line, ends), np.split(keep, ends), strict=True)
    return [piece for piece, kept in pieces if kept[0] and len(piece) > 1]
