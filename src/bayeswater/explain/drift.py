"""`Drift`: which columns changed between two sets of rows, how sure that is, and how large the change.

A column is weighed as a whole: its factor is the mean of that of one change in all classes, by `TOGETHER`, and of
changes of their own: of all classes, the product of their factors, or of any single one, the mean of them. It is called
changed where

    log Bayes factor > log (m + `MORE`) - log `EXPECTED`

with m the number of things looked at. Before looking, each of them is given odds of `EXPECTED` to m + `MORE`: the more
columns there are, the more each has to say.
"""

from collections.abc import Iterable, Sequence
from dataclasses import field
from typing import Any

import numpy as np
from scipy.special import betaincinv, logsumexp

from bayeswater.data.frames import write_frame
from bayeswater.families.two_laws import ColumnFactors, Figures, shares_factor
from bayeswater.families.wording import quoted, shown
from bayeswater.markup import html_table, paragraphs
from bayeswater.records import record
from bayeswater.typing import Array

TOGETHER = 0.75
"""Weight of one change in all classes, beside changes of single ones."""

MORE, EXPECTED = 3.0, 1.5
"""Simulated, false alarms are then under 5 %, whether one column is looked at or fifty."""

COVERED = 0.95
"""Probability that a class frequency is within its interval."""

MOST_STATES = 3
"""States or words that a sentence names."""


@record
class ClassChange:
    """What became of a column in one class: log Bayes factor of two laws against one, figures, and words."""

    label: Any
    log_bayes_factor: float
    figures: Figures
    words: str


@record
class ColumnChange:
    """What became of a column, its "values" or its "missing" cells, the most certain class first."""

    name: str
    what: str
    log_bayes_factor: float
    has_changed: bool
    by_class: tuple[ClassChange, ...]

    @property
    def words(self) -> str:
        """The change of the class where it is most certain."""
        return self.by_class[0].words if self.by_class else "no class has rows on both sides"


@record
class ClassFrequency:
    """The share of a class before and after, each with the interval that holds it with a probability of 95 %."""

    label: Any
    before: float
    after: float
    before_interval: tuple[float, float]
    after_interval: tuple[float, float]


@record
class Drift:
    """What changed from one set of rows to another, the most certain change first.

    `classes_log_bayes_factor` is of the class frequencies, `threshold` what a log Bayes factor has to exceed. Of a
    class that only one side has, only its frequency is known.
    """

    columns: tuple[ColumnChange, ...]
    frequencies: tuple[ClassFrequency, ...]
    classes_log_bayes_factor: float
    threshold: float
    n_rows: tuple[float, float]
    library: str | None = field(default=None, compare=False)

    @property
    def classes_have_changed(self) -> bool:
        """Whether class frequencies are others."""
        return self.classes_log_bayes_factor > self.threshold

    @property
    def changed(self) -> tuple[ColumnChange, ...]:
        """The columns that changed."""
        return tuple(column for column in self.columns if column.has_changed)

    @property
    def has_changed(self) -> bool:
        """Whether anything changed."""
        return bool(self.changed) or self.classes_have_changed

    def _n_columns(self) -> tuple[int, int]:
        """Count the columns that changed, in their values or their missing cells, and those that did in neither."""
        changed = {column.name for column in self.changed}
        return len(changed), len({column.name for column in self.columns} - changed)

    def __str__(self) -> str:
        return "\n".join(self.lines())

    __repr__ = __str__

    def to_frame(self) -> Any:
        """Give a line for each column and class, in the library of the rows that the first model learned from."""
        pairs = [(column, own) for column in self.columns for own in column.by_class]
        columns: dict[str, Any] = {
            "column": [column.name for column, _ in pairs],
            "what": [column.what for column, _ in pairs],
            "changed": [column.has_changed for column, _ in pairs],
            "class": [shown(own.label) for _, own in pairs],
            "log_bayes_factor": [own.log_bayes_factor for _, own in pairs],
            "words": [own.words for _, own in pairs],
        }
        return write_frame(columns, self.library)

    def _repr_html_(self) -> str:
        before, after = self.n_rows
        classes = [(quoted(one.label), _with_interval(one)) for one in self.frequencies]
        rows = [
            (
                f"{column.name} (missing)" if column.what == "missing" else column.name,
                f"{column.log_bayes_factor:+.1f}",
                f"{quoted(column.by_class[0].label)}: {column.by_class[0].words}" if column.by_class else "",
            )
            for column in self.changed
        ]
        _, same = self._n_columns()
        title = f"{before:,.6g} rows before, {after:,.6g} after; log Bayes factor of the class frequencies"
        return (
            paragraphs([f"{title} {self.classes_log_bayes_factor:+.1f}"])
            + html_table(("class", "frequency"), classes)
            + html_table(("column that changed", "log Bayes factor", "most certain in"), rows)
            + paragraphs([f"{same} columns stayed as they were, as far as can be seen"])
        )

    def lines(self, most: int = 20) -> Iterable[str]:
        """Tell all of it in lines, of the columns that stayed the same only how many they are."""
        before, after = self.n_rows
        yield f"{before:,.6g} rows before, {after:,.6g} after"
        verdict = "changed" if self.classes_have_changed else "no change to be seen"
        yield f"class frequencies: {verdict} (log Bayes factor {self.classes_log_bayes_factor:+.1f})"
        for one in self.frequencies:
            yield f"  {quoted(one.label)}: {_with_interval(one)}"
        changed, same = self._n_columns()
        yield f"columns: {changed} changed (log Bayes factor over {self.threshold:.1f}), {same} not"
        for column in self.changed[:most]:
            of = "missing cells of " if column.what == "missing" else ""
            yield f"  {of}{column.name}: log Bayes factor {column.log_bayes_factor:+.1f}"
            for own in column.by_class[:MOST_STATES]:
                yield f"    {quoted(own.label)} ({own.log_bayes_factor:+.1f}): {own.words}"
        if len(self.changed) > most:
            yield f"  and {len(self.changed) - most} more"

    def to_dict(self) -> dict[str, Any]:
        """Give all of it as a document of plain values."""
        return {
            "n_rows": {"before": self.n_rows[0], "after": self.n_rows[1]},
            "threshold": self.threshold,
            "classes": {
                "log_bayes_factor": self.classes_log_bayes_factor,
                "changed": self.classes_have_changed,
                "frequencies": [
                    {
                        "class": shown(one.label),
                        "before": one.before,
                        "after": one.after,
                        "before_interval": list(one.before_interval),
                        "after_interval": list(one.after_interval),
                    }
                    for one in self.frequencies
                ],
            },
            "columns": [
                {
                    "column": column.name,
                    "what": column.what,
                    "log_bayes_factor": column.log_bayes_factor,
                    "changed": column.has_changed,
                    "classes": [
                        {
                            "class": shown(own.label),
                            "log_bayes_factor": own.log_bayes_factor,
                            "size": own.figures.size,
                            "unit": own.figures.unit,
                            "words": own.words,
                        }
                        for own in column.by_class
                    ],
                }
                for column in self.columns
            ],
        }


def drift_of(labels: Sequence[Any], rows: tuple[Array, Array], found: Iterable[ColumnFactors]) -> Drift:
    """Put the factors of columns together; classes with some labels have `rows` (n_classes,) before and after."""
    factors = list(found)
    threshold = float(np.log((len(factors) + 1 + MORE) / EXPECTED))
    both = np.flatnonzero((rows[0] > 0) & (rows[1] > 0))
    columns = []
    for one in factors:
        whole = column_factor(one.log_factor[both], one.common)
        order = both[np.argsort(-one.log_factor[both], kind="stable")].tolist()
        by_class = []
        for k in order:
            figures = one.figures(k)
            by_class.append(ClassChange(labels[k], float(one.log_factor[k]), figures, in_words(figures)))
        columns.append(ColumnChange(one.name, one.what, whole, whole > threshold, tuple(by_class)))
    columns.sort(key=lambda column: -column.log_bayes_factor)
    counts = [np.asarray(part, dtype=np.float64)[:, None] for part in rows]
    frequencies = tuple(
        ClassFrequency(label, _share(rows[0], k), _share(rows[1], k), _interval(rows[0], k), _interval(rows[1], k))
        for k, label in enumerate(labels)
    )
    of_classes = float(shares_factor(*counts)[0])
    return Drift(tuple(columns), frequencies, of_classes, threshold, (float(rows[0].sum()), float(rows[1].sum())))


def column_factor(log_factor: Array, common: float | None = None) -> float:
    """Weigh any change against none, from the factors of the classes and of one change in all of them.

    >>> column_factor(np.array([2.0])), column_factor(np.array([2.0]), 2.0)
    (2.0, 2.0)
    """
    if not len(log_factor):
        return 0.0
    one = logsumexp(log_factor) - np.log(len(log_factor))
    apart = float(logsumexp([log_factor.sum(), one]) - np.log(2.0))
    return apart if common is None else float(logsumexp([common, apart], b=[TOGETHER, 1 - TOGETHER]))


def in_words(figures: Figures) -> str:
    """Say how large a change is.

    >>> in_words(Figures({"mean": 3.0, "deviation": 2.0}, {"mean": 4.0, "deviation": 2.0}, 0.5, "deviations"))
    'mean 3 -> 4 (0.5 deviations), deviation 2 -> 2'
    """
    before, after = figures.before, figures.after
    if figures.unit != "share":
        first, *others = before
        parts = [f"{first} {before[first]:.4g} -> {after[first]:.4g} ({figures.size:.2g} {figures.unit})"]
        return ", ".join([*parts, *(f"{name} {before[name]:.4g} -> {after[name]:.4g}" for name in others)])
    order = sorted(before, key=lambda state: -abs(after[state] - before[state]))[:MOST_STATES]
    parts = [f"{shown(state)} {before[state]:.3f} -> {after[state]:.3f}" for state in order]
    for name, states in (("new", figures.new), ("gone", figures.gone)):
        if states:
            more = f" and {len(states) - MOST_STATES} more" * (len(states) > MOST_STATES)
            parts.append(f"{name}: {', '.join(map(shown, states[:MOST_STATES]))}{more}")
    return ", ".join(parts)


def _share(count: Array, k: int) -> float:
    return float(count[k] / count.sum())


def _interval(count: Array, k: int) -> tuple[float, float]:
    """Interval of a frequency under Jeffreys' prior."""
    own, rest = float(count[k]) + 0.5, float(count.sum() - count[k]) + 0.5
    tail = (1 - COVERED) / 2
    return float(betaincinv(own, rest, tail)), float(betaincinv(own, rest, 1 - tail))


def _with_interval(one: ClassFrequency) -> str:
    parts = ((one.before, one.before_interval), (one.after, one.after_interval))
    return " -> ".join(f"{share:.3f} [{low:.3f}, {high:.3f}]" for share, (low, high) in parts)
