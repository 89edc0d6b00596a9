"""The choice of a calibration map by cross-validated log-loss, with a preference for fewer parameters.

Maps are tried in the order of their parameters. One with more of them takes the place of a simpler one only if its
log-loss on held-out rows is less by more than twice the standard error of the difference: below that the gain is
within noise. Rows whose class was called impossible have no part in it: no map changes them.
"""

from dataclasses import dataclass

import numpy as np

from bayeswater.decision.calibration_maps import MAPS, CalibrationMap
from bayeswater.decision.doubt import Doubt
from bayeswater.decision.scores import Scores
from bayeswater.typing import Array

STANDARD_ERRORS = 2.0
"""A gain of fewer standard errors is taken for noise."""

CHOICE_ROWS = 10_000
"""Rows held out for the choice and for the figures in the report, which are right to about a hundredth by then."""

Folds = list[tuple[Array, Array]]
"""Row numbers to learn from and row numbers held out, for each fold."""


@dataclass(frozen=True)
class Trial:
    """What a map makes of rows it was not fitted on: the rows as they were scored, and as they come out."""

    before: Scores
    after: Scores


def thinned(folds: Folds, n_rows: int) -> Folds:
    """Keep evenly spread rows of each fold where there are more of them than a choice needs."""
    kept = np.zeros(n_rows, dtype=bool)
    kept[np.linspace(0, n_rows - 1, min(n_rows, CHOICE_ROWS)).astype(np.int64)] = True
    pairs = [(learn[kept[learn]], held_out[kept[held_out]]) for learn, held_out in folds]
    return [(learn, held_out) for learn, held_out in pairs if len(learn) and len(held_out)]


def trial(kind: type[CalibrationMap], scores: Scores, folds: Folds, *, doubt: bool = True) -> Trial | None:
    """Fit a map on each fold's rows and apply it to those held out; None without folds."""
    if not folds:
        return None
    outcome = []
    for learn, held_out in folds:
        known, new = scores.take(learn), scores.take(held_out)
        calibrated = kind.fit(known.log_proba, known.codes, known.weight).apply(new.log_proba)
        outcome.append(Doubt.fit(known).apply(calibrated) if doubt else calibrated)
    before = scores.take(np.concatenate([held_out for _, held_out in folds]))
    return Trial(before, Scores(np.concatenate(outcome), before.codes, before.weight))


def choose(scores: Scores, folds: Folds) -> tuple[str, dict[str, float]]:
    """Name the map to use, and give the held-out log-loss of each."""
    best, best_loss, tried = next(iter(MAPS)), None, {}
    for name, kind in MAPS.items():
        found = trial(kind, scores, folds, doubt=False)
        if found is None:
            break
        rows = found.before.undecided()
        loss, weight = -found.after.own[rows], found.before.weight[rows]
        if not len(loss):
            break
        tried[name] = float(loss @ weight / weight.sum())
        if best_loss is None or _gain_is_real(best_loss - loss, weight):
            best, best_loss = name, loss
    return best, tried


def _gain_is_real(gain: Array, weight: Array) -> bool:
    """Compare the mean gain with its standard error; a row of weight w is w rows."""
    total = weight.sum()
    if total <= 1:
        return False
    mean = gain @ weight / total
    variance = weight @ (gain - mean) ** 2 / (total - 1)
    return bool(mean > STANDARD_ERRORS * np.sqrt(variance / total))
