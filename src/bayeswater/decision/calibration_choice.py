"""The choice of a calibration map by cross-validated log-loss, with a preference for fewer parameters.

Maps are tried in the order of their parameters. One with more of them takes the place of a simpler one only if its
log-loss on held-out rows is less by more than twice the standard error of the difference: below that the gain is
within noise. A single row on which the classifier is wrong by thousands of nats would drown every other in that error:
against it, losses count up to log(W + 2), since W rows cannot tell a probability below 1 / (W + 2) from none.
Rows whose class was called impossible have no part in it: no map changes them.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from bayeswater.decision.calibration_maps import MAPS
from bayeswater.decision.doubt import Doubt
from bayeswater.decision.scores import Scores
from bayeswater.kernels.threads import ordered_map
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


def trial(calibrated: Callable[[Scores, Scores], Array], scores: Scores, folds: Folds) -> Trial | None:
    """Let a map learn from each fold's rows what it makes of those held out; None without folds."""
    if not folds:
        return None
    outcome = list(ordered_map(lambda fold: calibrated(scores.take(fold[0]), scores.take(fold[1])), folds))
    before = scores.take(np.concatenate([held_out for _, held_out in folds]))
    return Trial(before, Scores(np.concatenate(outcome), before.codes, before.weight))


def by_map(name: str) -> Callable[[Scores, Scores], Array]:
    """Give what one of the maps, learned from some rows, makes of others."""

    def calibrated(learned_from: Scores, held_out: Scores) -> Array:
        fitted = MAPS[name].fit(learned_from.log_proba, learned_from.codes, learned_from.weight)
        return fitted.apply(held_out.log_proba)

    return calibrated


def with_doubt(found: Trial | None, scores: Scores, folds: Folds) -> Trial | None:
    """Raise the impossible classes of what a map makes of rows held out, as the rows it was fitted on teach."""
    if found is None:
        return None
    ends = np.cumsum([0, *(len(held_out) for _, held_out in folds)])
    raised = [
        Doubt.fit(scores.take(learn)).apply(found.after.log_proba[first:last])
        for (learn, _), first, last in zip(folds, ends[:-1], ends[1:], strict=True)
    ]
    return Trial(found.before, Scores(np.concatenate(raised), found.before.codes, found.before.weight))


@dataclass(frozen=True)
class Choice:
    """The name of the map to use, the held-out log-loss of each that was tried, and the trial of the one to use."""

    method: str
    log_loss: dict[str, float]
    trial: Trial | None


def choose(scores: Scores, folds: Folds) -> Choice:
    """Try every map on rows held out."""
    best, best_loss, best_trial, tried = next(iter(MAPS)), None, None, {}
    for name in MAPS:
        found = trial(by_map(name), scores, folds)
        if found is None:
            break
        rows = found.before.undecided()
        loss, weight = -found.after.own[rows], found.before.weight[rows]
        if best_trial is None:
            best_trial = found
        if not len(loss):
            break
        tried[name] = float(loss @ weight / weight.sum())
        if best_loss is None or _is_better(loss, best_loss, weight):
            best, best_loss, best_trial = name, loss, found
    return Choice(best, tried, best_trial)


def _is_better(loss: Array, other: Array, weight: Array) -> bool:
    """Tell whether one map has the smaller loss, and so surely that it is no noise among losses that rows can tell."""
    most = np.log(weight.sum() + 2)
    return bool((other - loss) @ weight > 0) and _gain_is_real(np.minimum(other, most) - np.minimum(loss, most), weight)


def _gain_is_real(gain: Array, weight: Array) -> bool:
    """Compare the mean gain with its standard error; a row of weight w is w rows."""
    total = weight.sum()
    if total <= 1:
        return False
    mean = gain @ weight / total
    variance = weight @ (gain - mean) ** 2 / (total - 1)
    return bool(mean > STANDARD_ERRORS * np.sqrt(variance / total))
