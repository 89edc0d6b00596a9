"""What would turn a decision: for each column alone the nearest change after which the other class wins.

Changes are put in the order of how much less plausible they make the row, by its log-evidence: the first is the one
that is most easily imagined. Where a calibration shifts the classes, the decision turns at other log-odds than 0.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from bayeswater.explain.terms import Terms
from bayeswater.explain.view import Change, ColumnView, Rest
from bayeswater.inference.log_space import best_class, log_evidence
from bayeswater.typing import Array

MOST_TURNS = 3


class Turn(NamedTuple):
    """A change of one column: in words, the value it would have, and the class that would then be predicted."""

    column: str
    change: str
    value: Any
    prediction: Any


@dataclass(frozen=True)
class Decision:
    """How classes are decided between: by the largest ``slope * log_joint + shift`` (1 and 0 without a calibration)."""

    slope: float
    shift: Array  # (n_classes,)

    def turning_point(self, chosen: int, against: int) -> float:
        """Log-odds below which `against` wins; where the slope is 0 nothing in a row can turn it."""
        ahead = float(self.shift[chosen] - self.shift[against])
        return -ahead / self.slope if self.slope > 0 else -np.inf

    def winner(self, log_joint: Array) -> int:
        """Class that is predicted by log-joints (n_classes,)."""
        possible = np.isfinite(log_joint)
        scores = np.where(possible, self.slope * np.where(possible, log_joint, 0.0) + self.shift, -np.inf)
        return int(best_class(scores[None])[0])


def turns_of(
    row: int, terms: Terms, views: tuple[ColumnView, ...], decision: Decision, chosen: int, against: int, classes: Array
) -> list[Turn]:
    """Find what would turn the decision on one row, the least change first, at most three."""
    own = terms.of(slice(row, row + 1))[0]  # (n_columns, n_classes)
    log_joint = terms.joint.log_prior + own.sum(axis=0)
    if np.isneginf(log_joint[chosen]) or decision.slope == 0:
        return []
    turning_point = decision.turning_point(chosen, against)
    evidence = log_evidence(log_joint[None])[0]
    found: list[tuple[float, int, Turn]] = []
    for j, view in enumerate(views):
        rest = Rest(terms.joint.log_prior + np.delete(own, j, axis=0).sum(axis=0), chosen, against, turning_point)
        change = view.change(row, rest)
        if change is not None:
            loss = 0.0 if change.is_free else float(evidence - rest.log_evidence(change.terms[None])[0])
            winner = _winner(change, rest, decision)
            found.append((loss, j, Turn(view.column.name, change.words, change.value, _plain(classes[winner]))))
    return [turn for _, _, turn in sorted(found, key=lambda entry: entry[:2])[:MOST_TURNS]]


def _winner(change: Change, rest: Rest, decision: Decision) -> int:
    """Class that wins after a change; at a limit, where two are equal, the one that wins beyond it."""
    winner = decision.winner(rest.log_joint + change.terms)
    return rest.against if winner == rest.chosen else winner


def _plain(label: Any) -> Any:
    return label.item() if isinstance(label, np.generic) else label
