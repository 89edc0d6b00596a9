"""`Comparison`: how models do on the same held-out rows; it can be printed.

A model is behind the best one by the mean of its loss minus the other's over the rows, -log P(truth) each. The standard
error is that of the mean of these differences: where it is as large as the difference, the rows cannot tell which of
the two is better.
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import replace
from html import escape
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from bayeswater.data.display_width import display_width, on_one_line, padded
from bayeswater.data.frames import write_frame
from bayeswater.decision.scorecard import Scorecard
from bayeswater.errors import DataError
from bayeswater.markup import Safe, html_table
from bayeswater.models.streaming.fitting import whole_source
from bayeswater.phrases import EN, Language, own_reasons, translated
from bayeswater.records import record
from bayeswater.typing import Array

own_reasons(
    {
        "{n} rows left out: no other row of the class to learn from": "{n} 行未计入：该类没有其他行可学",
        "1 row left out: no other row of the class to learn from": "1 行未计入：该类没有其他行可学",
        "{model}: gave probability 0 to what was true in {n} rows": "{model}：有 {n} 行的真实情况被赋予概率 0",
        "{model}: gave probability 0 to what was true in 1 row": "{model}：有 1 行的真实情况被赋予概率 0",
        "failed: {clause}": "失败，原因如下：{clause}",
        "no column is left to learn from": "没有可供学习的列",
        "all": "所有模型",
        "{n} models": "{n} 个模型",
    }
)

TITLES = ("model", "error %", "log-loss", "behind the best", "ECE", "fit s", "predict s", "parameters", "kB")
"""Heads of the columns of the printed table."""

FEW = 4
"""Models that a remark names one by one."""


@record
class Contestant:
    """A model and how it did; where it failed, there is no card but a reason.

    Parameters
    ----------
    name : its name in the table
    model : the model as it was given, without what it learned
    is_peer : whether it is another library's
    card : sums over all held-out rows, from which error, log-loss and ECE are read
    losses : -log P(truth) of each held-out row (n_rows,)
    fit_seconds, predict_seconds : medians over the folds; a fit includes its calibration
    n_parameters, n_bytes : free parameters and size of the sums after the last fold, where the model tells
    failure : why there are no figures
    warnings : what its fits warned of
    """

    name: str
    model: Any
    is_peer: bool = False
    card: Scorecard | None = None
    losses: Array | None = None
    fit_seconds: float = float("nan")
    predict_seconds: float = float("nan")
    n_parameters: int | None = None
    n_bytes: int | None = None
    failure: str | None = None
    warnings: tuple[str, ...] = ()

    @property
    def error(self) -> float:
        """Share of rows whose class is not predicted; NaN where the model failed."""
        return float("nan") if self.card is None else 1.0 - self.card.accuracy

    @property
    def log_loss(self) -> float:
        """Mean of -log P(truth), never floored; NaN where the model failed."""
        return float("nan") if self.card is None else self.card.log_loss

    @property
    def ece(self) -> float:
        """Expected calibration error of the predicted class; NaN where the model failed."""
        return float("nan") if self.card is None else self.card.ece

    @property
    def brier(self) -> float:
        """Brier score, 0 to 2; NaN where the model failed."""
        return float("nan") if self.card is None else self.card.brier

    @property
    def n_impossible(self) -> int:
        """Number of rows whose true class was given probability 0."""
        return 0 if self.losses is None else int(np.isposinf(self.losses).sum())


@record(repr=False)
class Comparison:
    """Models on the same folds, the one of least log-loss first; those that failed last.

    Parameters
    ----------
    contestants : the models and how they did
    n_rows, n_classes, n_folds : of the comparison
    n_left_out : rows that could not be scored, since no other row of their class was there to learn from
    weight : weights of the held-out rows, in the order of their losses; None where all count once
    notes : what else is to be known
    library : library of the frame that was given
    """

    contestants: tuple[Contestant, ...]
    n_rows: int
    n_classes: int
    n_folds: int
    n_left_out: int = 0
    weight: Array | None = None
    notes: tuple[str, ...] = ()
    library: str | None = None

    def __post_init__(self) -> None:
        # NaN, of those that failed, has no order of its own; equal losses keep the order of the ladder.
        ranked = sorted(self.contestants, key=lambda one: (one.card is None, one.log_loss if one.card else 0.0))
        object.__setattr__(self, "contestants", tuple(ranked))

    def __getitem__(self, name: str) -> Contestant:
        for contestant in self.contestants:
            if contestant.name == name:
                return contestant
        raise KeyError(f"{name!r} was not compared; there are {[one.name for one in self.contestants]}")

    @property
    def best(self) -> Contestant:
        """The model of least log-loss."""
        if not self.contestants or self.contestants[0].card is None:
            reasons = "; ".join(f"{one.name}: {one.failure}" for one in self.contestants)
            raise DataError(f"no model could be fitted, so there is no best one: {reasons}")
        return self.contestants[0]

    @property
    def ours(self) -> "Comparison":
        """The comparison without other libraries' models."""
        return replace(self, contestants=tuple(one for one in self.contestants if not one.is_peer))

    def fit_best(self, X: Any, y: Any = None, sample_weight: Any = None, *, target: str | None = None) -> Any:
        """Fit the best model on all rows, and give it; X may be a source, of which the column `target` holds labels."""
        model = clone(self.best.model)
        if target is not None:
            if has_fit_parameter(model, "target"):
                return model.fit(X, y, sample_weight, target=target)
            X, y, sample_weight, *_ = whole_source(X, y, sample_weight, target, self.best.name)
        weight = {} if sample_weight is None else {"sample_weight": sample_weight}
        return model.fit(X, y, **weight)

    def behind(self, contestant: Contestant) -> tuple[float, float]:
        """Log-loss beyond that of the best model, and its standard error; NaN where there is none."""
        best = self.best
        if contestant.losses is None or best.losses is None or contestant is best:
            return (0.0, 0.0) if contestant is best else (float("nan"), float("nan"))
        if not (np.isfinite(contestant.losses).all() and np.isfinite(best.losses).all()):
            return contestant.log_loss - best.log_loss if np.isfinite(best.log_loss) else float("nan"), float("nan")
        difference = contestant.losses - best.losses
        weight = np.ones(len(difference)) if self.weight is None else self.weight
        mean = float(weight @ difference / weight.sum())
        return mean, float(np.sqrt(weight**2 @ (difference - mean) ** 2) / weight.sum())

    def to_frame(self) -> Any:
        """Give the figures as a frame, in the library of the frame that was compared on."""
        columns: dict[str, Any] = {name: [getattr(one, name) for one in self.contestants] for name in FIGURES}
        failed = all(one.card is None for one in self.contestants)
        behind = [(float("nan"), float("nan")) if failed else self.behind(one) for one in self.contestants]
        columns |= {"behind": [mean for mean, _ in behind], "standard_error": [error for _, error in behind]}
        return write_frame(columns | {"failure": [one.failure for one in self.contestants]}, self.library)

    def cells(self) -> list[list[str]]:
        """Give the printed figures of each model that has any, under `TITLES`."""
        return [self._cells_of(one) for one in self.contestants if one.card is not None]

    def failures(self, language: Language = EN) -> list[tuple[str, str]]:
        """Give the models that have no figures, and why: where a list of reasons follows, what they come to."""
        why = {one.name: str(one.failure).partition(":\n")[0] for one in self.contestants if one.card is None}
        return [(name, translated(f"failed: {on_one_line(reason)}", language)) for name, reason in why.items()]

    def alike_failures(self, language: Language = EN) -> list[tuple[str, str]]:
        """Give the reasons, and before each the models that failed for it."""
        names: dict[str, list[str]] = {}
        for name, why in self.failures(language):
            names.setdefault(why, []).append(name)
        return [(", ".join(own), why) for why, own in names.items()]

    def remarks(self, language: Language = EN) -> list[str]:
        """Say what the figures do not: what was warned of, which rows were left out."""
        n = self.n_left_out
        lines = [f"{n} row{'s' * (n > 1)} left out: no other row of the class to learn from"] if n else []
        lines += [
            f"{one.name}: gave probability 0 to what was true in {one.n_impossible} row{'s' * (one.n_impossible > 1)}"
            for one in self.contestants
            if one.n_impossible
        ]
        said = [translated(line, language) for line in (*self.notes, *lines)]
        return [on_one_line(line) for line in (*said, *self._warned(language))]

    def _warned(self, language: Language) -> list[str]:
        """Warnings, each once: folds and models differ in a number or in the name of the model."""
        alike: dict[str, tuple[str, dict[str, None]]] = {}
        for one in self.contestants:
            for message in one.warnings:
                key = re.sub(r"\d+", "#", message.replace(type(one.model).__name__, ""))
                alike.setdefault(key, (message, {}))[1][one.name] = None
        say = Language.of(language.code).say  # rooms have languages of their own
        return [
            say("named", name=translated(self._who(names), language), what=translated(message, language))
            for message, names in alike.values()
        ]

    def _who(self, names: Collection[str]) -> str:
        if len(names) == len(self.contestants) > 1:
            return "all"
        return ", ".join(names) if len(names) <= FEW else f"{len(names)} models"

    @property
    def title(self) -> str:
        """What was compared on."""
        return f"{self.n_rows:,} rows, {self.n_classes} classes, {self.n_folds} folds, the same for all models"

    def __str__(self) -> str:
        rows = [list(TITLES), *self.cells()]
        width = [max(display_width(row[j]) for row in rows) for j in range(len(TITLES))]
        lines = [_line(row, width) for row in rows]
        lines += [f"{padded(names, width[0])}  {why}" for names, why in self.alike_failures()]
        return "\n".join([self.title, *lines, *(f"  {remark}" for remark in self.remarks())])

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return self.html(self.title, TITLES, "remarks")

    def html(self, title: str, heads: Sequence[str], remarks: str, language: Language = EN) -> Safe:
        """Give the figures as a table under a title and heads of one's own."""
        figures = html_table(heads, self.cells())
        items = "".join(
            f"<li>{escape(line)}</li>"
            for line in (*map(": ".join, self.alike_failures(language)), *self.remarks(language))
        )
        more = f"<details><summary>{escape(remarks)}</summary><ul>{items}</ul></details>" if items else ""
        return Safe(f"<p>{escape(title)}</p>{figures}{more}")

    def _cells_of(self, one: Contestant) -> list[str]:
        mean, error = self.behind(one)
        behind = "" if one is self.best or np.isnan(mean) else f"{mean:+.4f}"
        return [
            one.name,
            f"{100 * one.error:.2f}",
            f"{one.log_loss:.4f}",
            behind if np.isnan(error) or not behind else f"{behind} ± {error:.4f}",
            f"{one.ece:.4f}",
            f"{one.fit_seconds:.3f}",
            f"{one.predict_seconds:.3f}",
            "" if one.n_parameters is None else f"{one.n_parameters:,}",
            "" if one.n_bytes is None else f"{one.n_bytes / 1e3:,.1f}",
        ]


FIGURES = (
    *("name", "is_peer", "error", "log_loss", "brier", "ece"),
    *("fit_seconds", "predict_seconds", "n_parameters", "n_bytes"),
)
"""Attributes of a contestant that are columns of the frame."""


def _line(row: Sequence[str], width: Sequence[int]) -> str:
    first, *rest = zip(row, width, strict=True)
    return "  ".join([padded(*first), *(cell.rjust(w) for cell, w in rest)]).rstrip()
