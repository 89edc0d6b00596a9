"""Which calibration map is taken, what is made of impossible classes, and the report of both.

A map is chosen by cross-validated log-loss, with a preference for fewer parameters. Maps are tried in the order of
their parameters. One with more of them takes the place of a simpler one only if its log-loss on held-out rows is less
by more than twice the standard error of the difference: below that the gain is within noise. A single row on which the
classifier is wrong by thousands of nats would drown every other in that error: against it, losses count up to
log(W + 2), since W rows cannot tell a probability below 1 / (W + 2) from none. Rows whose class was called impossible
have no part in it: no map changes them.

`Doubt` is for classes that a classifier calls impossible, and that happen all the same. No map of finite scores can
raise a probability of zero. The rows tell how much of it is due:

    d = weight of rows whose own class was called impossible / (weight of rows with an impossible class + 1)

The impossible classes of a row share d equally, the possible ones keep 1 - d. Without the 1 (a row more on which the
classifier is right, so that d stays below one) this is the maximum of the likelihood, whatever map is used beside it:
a tree that is certain of every row and wrong in a tenth of them is left with 9/10. Where nothing impossible has
happened d is 0, and impossible stays impossible; so does a class of which no row is known.
"""

from collections.abc import Callable
from dataclasses import field
from typing import Any, Self

import numpy as np

from bayeswater.data.frames import Framed
from bayeswater.decision.calibration_maps import MAPS
from bayeswater.decision.calibration_metrics import ece
from bayeswater.decision.scores import Scores
from bayeswater.kernels.threads import ordered_map
from bayeswater.markup import preformatted
from bayeswater.records import record
from bayeswater.typing import Array


@record
class Doubt:
    """Probability that one of the classes called impossible is true, and which classes there are rows of."""

    probability: float
    known: Array  # (n_classes,)

    @classmethod
    def fit(cls, scores: Scores) -> Self:
        """Count how often the impossible happened."""
        known = np.bincount(scores.codes[scores.weight > 0], minlength=scores.n_classes) > 0
        exposed = (np.isneginf(scores.log_proba) & known).any(axis=1)
        happened = scores.weight[np.isneginf(scores.own)].sum()
        return cls(float(happened / (scores.weight[exposed].sum() + 1)), known)

    def apply(self, log_proba: Array) -> Array:
        """Share the doubt among the impossible classes of each row of normalised log-probabilities."""
        if self.probability == 0:
            return log_proba
        raised = np.isneginf(log_proba) & self.known
        n_raised = raised.sum(axis=1, keepdims=True)
        kept = np.where(n_raised > 0, log_proba + np.log1p(-self.probability), log_proba)
        return np.where(raised, np.log(self.probability) - np.log(np.maximum(n_raised, 1)), kept)


STANDARD_ERRORS = 2.0
"""A gain of fewer standard errors is taken for noise."""

CHOICE_ROWS = 10_000
"""Rows held out for the choice and for the figures in the report, which are right to about a hundredth by then."""

TrainTest = list[tuple[Array, Array]]
"""Row numbers to learn from and row numbers held out, for each fold."""


@record
class Trial:
    """What a map makes of rows it was not fitted on: the rows as they were scored, and as they come out."""

    before: Scores
    after: Scores


def thinned(folds: TrainTest, n_rows: int) -> TrainTest:
    """Keep evenly spread rows of each fold where there are more of them than a choice needs."""
    kept = np.zeros(n_rows, dtype=bool)
    kept[np.linspace(0, n_rows - 1, min(n_rows, CHOICE_ROWS)).astype(np.int64)] = True
    pairs = [(learn[kept[learn]], held_out[kept[held_out]]) for learn, held_out in folds]
    return [(learn, held_out) for learn, held_out in pairs if len(learn) and len(held_out)]


def trial(calibrated: Callable[[Scores, Scores], Array], scores: Scores, folds: TrainTest) -> Trial | None:
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


def with_doubt(found: Trial | None, scores: Scores, folds: TrainTest) -> Trial | None:
    """Raise the impossible classes of what a map makes of rows held out, as the rows it was fitted on teach."""
    if found is None:
        return None
    ends = np.cumsum([0, *(len(held_out) for _, held_out in folds)])
    raised = [
        Doubt.fit(scores.take(learn)).apply(found.after.log_proba[first:last])
        for (learn, _), first, last in zip(folds, ends[:-1], ends[1:], strict=True)
    ]
    return Trial(found.before, Scores(np.concatenate(raised), found.before.codes, found.before.weight))


@record
class MapChoice:
    """The name of the map to use, the held-out log-loss of each that was tried, and the trial of the one to use."""

    method: str
    log_loss: dict[str, float]
    trial: Trial | None


def choose(scores: Scores, folds: TrainTest) -> MapChoice:
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
    return MapChoice(best, tried, best_trial)


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


@record
class Quality:
    """Mean log-loss, never floored, expected calibration error of the predicted class, and share of classes right."""

    log_loss: float
    ece: float
    accuracy: float

    @classmethod
    def of(cls, scores: Scores) -> "Quality":
        """Measure rows whose class is known."""
        proba = np.exp(scores.log_proba)
        labels = np.arange(scores.n_classes)
        correct = scores.log_proba.argmax(axis=1) == scores.codes
        return cls(
            float(0 - (scores.own @ scores.weight) / scores.weight.sum()),  # not -0.0, where all is certain and right
            ece(scores.codes, proba, labels=labels, sample_weight=scores.weight),
            float(correct @ scores.weight / scores.weight.sum()),
        )


@record
class CalibrationReport(Framed):
    """Result of a calibration.

    `before` and `after` are measured on the same rows, each scored by a classifier and a map that had not seen it
    (the classifier by leave-one-out or cross-fitting, the map by the folds of `cv`); None where no row could be
    held out. `candidates` has the held-out log-loss of every map that was tried for ``method="auto"``.
    """

    method: str
    map: Any  # a `CalibrationMap`, or a `LikelihoodTemperature`
    doubt: Doubt
    scored_by: str
    n_used: int
    n_left_out: int
    n_impossible: int
    before: Quality | None
    after: Quality | None
    candidates: dict[str, float] = field(default_factory=dict)
    is_stale: bool = False  # whether the classifier has learned or forgotten rows since

    @classmethod
    def of_trial(cls, found: Trial | None) -> tuple[Quality | None, Quality | None]:
        """Measure a trial before and after the map."""
        return (None, None) if found is None else (Quality.of(found.before), Quality.of(found.after))

    def corrected(self, log_proba: Array) -> Array:
        """Apply the map and the doubt to log-probabilities (n_rows, n_classes)."""
        corrected: Array = self.doubt.apply(self.map.apply(log_proba))
        return corrected

    def __str__(self) -> str:
        stale = " (stale: rows were learned or forgotten since)" if self.is_stale else ""
        lines = [f"Calibration: {self.map}{stale}", f"  learned from {_rows(self.n_used)}, scored by {self.scored_by}"]
        if self.n_left_out:
            whose = "its" if self.n_left_out == 1 else "their"
            lines.append(f"  left out: {_rows(self.n_left_out)} that would leave no row of {whose} class to learn from")
        if self.n_impossible:
            lines.append(
                f"  {_rows(self.n_impossible)} of a class called impossible: "
                f"impossible classes now share {self.doubt.probability:.3g}"
            )
        if self.before and self.after:
            lines.append("  on held-out rows    before     after")
            lines.append(f"    log-loss        {self.before.log_loss:10.4f}{self.after.log_loss:10.4f}")
            lines.append(f"    ECE             {self.before.ece:10.4f}{self.after.ece:10.4f}")
        tried = [f"{name} {loss:.4f}" for name, loss in self.candidates.items() if not np.isnan(loss)]
        if tried:  # none could be, where every row is alone in its class
            lines.append(f"  log-loss of each map: {', '.join(tried)}")
        return "\n".join(lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return preformatted(str(self))

    def _lines(self) -> dict[str, Any]:
        """Say what held-out rows measure before and after the map."""
        measures = ("log_loss", "ece", "accuracy")
        qualities = {"before": self.before, "after": self.after}
        return {"measure": measures} | {
            when: [getattr(quality, name, None) for name in measures] for when, quality in qualities.items()
        }


def _rows(n: int) -> str:
    return f"{n} row{'' if n == 1 else 's'}"
