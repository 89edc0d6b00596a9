"""`ColumnCurve`: the law of a column in each class as plain data, of which rooms above make pictures.

Numbers have a density at places that are close together where any class has its mass, counts a probability each, states
and bins a probability and how often they were counted. Of words there are too many: those are given that tell a class
from all rows best, by their part of its Kullback-Leibler divergence, P(w | k) log(P(w | k) / P(w)).
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from bayeswater.data.frames import write_frame
from bayeswater.data.reading.column_plan import Column
from bayeswater.data.reading.number_table import bin_labels, bin_words, clock, day, is_time_of_day
from bayeswater.markup import html_table, paragraphs
from bayeswater.phrases import Language
from bayeswater.records import record
from bayeswater.typing import Array

MOST_POINTS = 400
"""Places at which a density is given, of all classes together, and counts whose probability is."""

LEAST_POINTS = 9
"""Places around each class, however many classes there are."""

TAIL = 1e-3
"""Share of a class beyond the outer places, on either side."""

SHOWN_PLACES = 12
"""Places that a notebook shows of very many."""

MOST_WORDS = 60
"""Words that are given, of all classes together."""


@record(eq=False, repr=False)
class ColumnCurve:
    """What a model has learned of a column, for each class.

    Attributes
    ----------
    column : its name
    kind : "density", "counts", "states", "bins" or "words"
    at : places (n,): numbers in rising order, or labels of states, bins or words; None is an empty cell, where that is
        a state
    values : at each place and in each class (n, n_classes): the density, or the probability
    counts : rows (of words, how often they stand there) that were counted: (n, n_classes); None where the sums do not
        tell
    edges : of bins, their limits (n_bins + 1,), the outer ones as far as values were or, of bins that were given, as
        they can be taken to have been
    is_log : whether places are spread evenly on a logarithmic scale
    period : after which the numbers begin anew, if they do
    axis : what numbers are: "number", "clock" for seconds since midnight, "day" for days since 1970-01-01
    library : of frames, that of the rows which were learned from
    """

    column: str
    kind: str
    at: Any
    values: Array
    counts: Array | None = None
    edges: Array | None = None
    is_log: bool = False
    period: float | None = None
    axis: str = "number"
    library: str | None = None

    def __repr__(self) -> str:
        return f"ColumnCurve of {self.column!r}: {self.kind} at {len(self.at)} places in {self.values.shape[1]} classes"

    def _repr_html_(self) -> str:
        rows = [(str(at), *(f"{own:.4g}" for own in values)) for at, values in zip(self.at, self.values, strict=True)]
        heads = (self.kind, *self._class_names)
        return paragraphs([repr(self)]) + html_table(heads, rows[:: max(1, len(rows) // SHOWN_PLACES)])

    def to_frame(self, library: str | None = None) -> Any:
        """Give a frame of one line for each place: the place, and the density or probability in each class."""
        return write_frame(
            {"at": self.at} | dict(zip(self._class_names, self.values.T, strict=True)), library or self.library
        )

    @property
    def _class_names(self) -> list[str]:
        return [f"class {k}" for k in range(self.values.shape[1])]

    def in_language(self, language: Language, column: Column | None) -> "ColumnCurve":
        """Call bins, weekdays and months as a language does, and say what axis numbers have.

        `column` is how the model reads it.
        """
        if column is None:
            return self
        if column.cuts is not None and self.kind == "bins":
            names = dict(zip(bin_labels(column), bin_words(column, language), strict=True))
        elif column.part in ("weekday", "month"):
            names = {label: language.say(label) for label in self.at if label is not None}
        else:
            axis = "clock" if is_time_of_day(column) else "day" if column.part == "days" else "number"
            return replace(self, axis=axis)
        return replace(self, at=[names.get(label, label) for label in self.at])

    def written(self, place: float) -> str:
        """Write a number of the axis: seconds as a time of day, days as a date, others with four digits."""
        known: dict[str, Callable[[float], str]] = {"clock": clock, "day": day}
        return known[self.axis](place) if self.axis in known else f"{place:.4g}"


def class_shares(n_classes: int) -> Array:
    """Shares of a class up to each of its places, as many as all classes together can have: (n_places, 1).

    >>> len(class_shares(2)), len(class_shares(1000)), float(class_shares(3)[0, 0])
    (200, 9, 0.001)
    """
    return np.linspace(TAIL, 1 - TAIL, max(LEAST_POINTS, MOST_POINTS // n_classes))[:, None]


def grid_over(of_classes: Array) -> Array:
    """Put the places of all classes together (n_places, n_classes), and as many again spread evenly between them."""
    known = of_classes[np.isfinite(of_classes)]
    if not len(known):
        return np.empty(0)
    return np.unique(np.concatenate([known, np.linspace(known.min(), known.max(), MOST_POINTS // 2)]))


def whole_numbers(low: float, high: float) -> Array:
    """Whole numbers from one to another, all or, of very many, some that are spread evenly.

    >>> whole_numbers(2, 5).tolist(), len(whole_numbers(0, 1e6))
    ([2.0, 3.0, 4.0, 5.0], 400)
    """
    return np.unique(np.rint(np.linspace(low, high, int(min(high - low + 1, MOST_POINTS)))))


def word_curve(column: str, names: Sequence[Any], probability: Array, counts: Array) -> ColumnCurve:
    """Give the words that tell a class best, with their probabilities and counts (n_classes, n_words) in each class."""
    shared = np.average(probability, axis=0, weights=np.maximum(counts.sum(axis=1), 1))
    with np.errstate(divide="ignore", invalid="ignore"):
        information = np.where(probability > 0, probability * np.log(probability / shared), 0.0)  # (n_classes, n_words)
    each = max(1, MOST_WORDS // len(information))
    best = np.argsort(-information, axis=1, kind="stable")[:, :each]
    chosen = np.unique(best)
    chosen = chosen[np.argsort(-information[:, chosen].max(axis=0), kind="stable")]
    labels = [names[int(word)] for word in chosen]
    return ColumnCurve(column, "words", labels, probability[:, chosen].T, counts[:, chosen].T)


def state_curve(column: Column, labels: Sequence[Any], share: Array, counts: Array | None) -> ColumnCurve:
    """Give states or bins with their shares and counts (n_states, n_classes) in each class."""
    kind = "states" if column.cuts is None else "bins"
    return ColumnCurve(column.name, kind, [*labels], share, counts, bin_edges(column))


def bin_edges(column: Column) -> Array | None:
    """Limits of all bins of a column (n_bins + 1,), the outer ones as far as its values were; None without bins.

    Of bins that were given this is unknown: an outer one is then as wide as that beside it.

    >>> bin_edges(Column("x", "x", "binned", cuts=(1.0, 2.0, 4.0))).tolist()
    [0.0, 1.0, 2.0, 4.0, 6.0]
    """
    if not column.cuts:
        return None
    cuts = np.asarray(column.cuts)
    if column.spans is not None:
        ends = np.array([column.spans[0][0], column.spans[-1][1]])
    else:
        inner = np.diff(cuts) if len(cuts) > 1 else np.array([max(abs(cuts[0]), 1.0)])
        ends = np.array([cuts[0] - inner[0], cuts[-1] + inner[-1]])
    return np.concatenate([ends[:1], cuts, ends[1:]])
