"""How much columns matter: the information that each carries, and what it adds to the log-odds of rows.

The information of a column is its mutual information with the class under the model, in bits:

    I = sum over classes k of P(k) * integral of p(x | k) log2(p(x | k) / p(x))

exact for states, bins and counts, by the trapezoidal rule for densities. Of a text, whose cells are too many, it is the
mean over rows of what the text alone tells: sum over k of P(k | text) log2(P(k | text) / P(k)). It is a matter of the
model alone: what is known of a column that tells much, but seldom stands in a row, counts as much.

The mean absolute log-odds of a column is that of its contributions to the explanations of some rows, as `explain` gives
them: what it adds for or against the class that was chosen, in the rows at hand.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from bayeswater.data.display_width import display_width, on_one_line, padded
from bayeswater.data.frames import is_frame, library_of, materialised, read_frame, write_frame
from bayeswater.data.weights import evenly_spaced, n_rows_of, take_rows
from bayeswater.errors import BayesError, DataError
from bayeswater.families.curve import ColumnCurve
from bayeswater.markup import Safe, bar, html_table
from bayeswater.records import record
from bayeswater.typing import Array

TEXT_ROWS = 300
"""Rows from which the information of a text is estimated."""

MOST_ROWS = 5_000
"""Rows whose contributions are averaged."""


class ColumnImportance(NamedTuple):
    """A column, its information in bits where that is known, and its mean absolute log-odds."""

    column: str
    bits: float | None
    mean_log_odds: float


@record(repr=False)
class Importances:
    """Columns by their mean absolute log-odds, the largest first; it can be printed."""

    columns: tuple[ColumnImportance, ...]
    n_rows: int
    library: str | None = None

    def to_frame(self) -> Any:
        """Give a line for each column, in the library of the rows that were given."""
        names = ColumnImportance._fields
        return write_frame({name: [getattr(one, name) for one in self.columns] for name in names}, self.library)

    def __str__(self) -> str:
        rows = [("column", "mean |log-odds|", "bits"), *(_cells(one) for one in self.columns)]
        width = [max(display_width(row[j]) for row in rows) for j in range(3)]
        lines = (f"{padded(name, width[0])}  {mean:>{width[1]}}  {bits:>{width[2]}}" for name, mean, bits in rows)
        return "\n".join(map(str.rstrip, lines))

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return self.html(("column", "mean |log-odds|", "bits"))

    def html(self, heads: tuple[str, str, str]) -> Safe:
        """Give a table with bars under heads of one's own."""
        most = max((one.mean_log_odds for one in self.columns), default=0.0) or 1.0
        top = max((one.bits or 0.0 for one in self.columns), default=0.0) or 1.0
        rows = [
            (name, mean, bar(one.mean_log_odds / most), bits, bar((one.bits or 0.0) / top))
            for one in self.columns
            for name, mean, bits in [_cells(one)]
        ]
        told = 5 if any(one.bits is not None for one in self.columns) else 3
        return html_table((heads[0], heads[1], "", heads[2], "")[:told], (row[:told] for row in rows))


def _cells(one: ColumnImportance) -> tuple[str, str, str]:
    return on_one_line(one.column), f"{one.mean_log_odds:.3f}", "" if one.bits is None else f"{one.bits:.4f}"


def importance(model: Any, X: Any) -> Importances:
    """Say how much each column matters to a fitted classifier of Bayeswater, in some rows.

    Contributions that are infinite, of cells that are impossible in a class, are left out of the means.

    >>> import pandas as pd
    >>> from bayeswater.models.mixed.naive_bayes import NaiveBayes
    >>> rows = pd.DataFrame({"sweet": ["yes", "yes", "no", "no"], "size": ["s", "l", "s", "l"]})
    >>> print(importance(NaiveBayes(alpha=1.0).fit(rows, ["fig", "fig", "pea", "pea"]), rows))
    column  mean |log-odds|    bits
    sweet             1.099  0.1887
    size              0.000  0.0000
    """
    X = materialised(X)
    kept = evenly_spaced(n_rows_of(X), MOST_ROWS)
    some = take_rows(X, kept)
    found = model.explain(some)
    size = np.abs(found.contributions)
    finite = np.isfinite(size)
    mean = np.where(finite, size, 0.0).sum(axis=0) / np.maximum(finite.sum(axis=0), 1)
    prior, texts = _prior_or_none(model), _first_cells(some, found.columns)
    importance = []
    for name, value in zip(found.columns, mean.tolist(), strict=True):
        bits = None if prior is None else information_of(model, name, prior, texts.get(name, ()))
        importance.append(ColumnImportance(name, bits, value))
    ranked = sorted(importance, key=lambda one: -one.mean_log_odds)
    return Importances(tuple(ranked), int(kept.sum()), library_of(X))


def _prior_or_none(model: Any) -> Array | None:
    """Give the class frequencies; None where no feature may be missing, as those of `MultinomialNB`."""
    try:
        return np.asarray(model.predict_proba({}))[0]
    except DataError:
        return None


def _first_cells(X: Any, names: Sequence[str]) -> dict[str, Any]:
    if is_frame(X):
        cells: dict[str, Any] = read_frame(X).table.slice(0, TEXT_ROWS).to_pydict()
        return cells
    rows = X[:TEXT_ROWS].toarray() if hasattr(X, "toarray") else X[:TEXT_ROWS]
    return dict(zip(names, zip(*rows, strict=True), strict=False))


def curve_or_none(model: Any, name: str) -> ColumnCurve | None:
    """Give what a model has learned of a column; None where it has no law of a single column."""
    try:
        curve: ColumnCurve = model.curve(name)
    except BayesError:
        return None
    return curve


def information_of(model: Any, name: str, prior: Array, texts: Sequence[Any]) -> float | None:
    """Give the information of a column in bits; None where it is not known.

    Parameters
    ----------
    model, name : the model, and a column of it
    prior : class frequencies (n_classes,)
    texts : some cells, for a column of words
    """
    curve = curve_or_none(model, name)
    if curve is None:
        return None
    if curve.kind != "words":
        return information(curve, prior)
    given = [{name: text} for text in texts if text is not None]
    if not given:
        return None
    proba = np.asarray(model.predict_proba(given))
    return max(0.0, float(_terms(proba, prior).sum(axis=1).mean()))


def information(curve: ColumnCurve, prior: Array) -> float | None:
    """Mutual information in bits of a column of states, bins, counts or a density.

    >>> information(ColumnCurve("a", "states", ["x", "y"], np.eye(2)), np.array([0.5, 0.5]))
    1.0
    """
    mass = np.asarray(curve.values, dtype=np.float64)
    if curve.kind == "density":
        at = np.asarray(curve.at, dtype=np.float64)
        if len(at) < 2:
            return None
        mass = mass * np.gradient(at)[:, None]
    total = mass.sum(axis=0)
    mass = mass / np.where(total > 0, total, 1.0)
    return mutual_information(mass, prior)


def mutual_information(mass: Array, prior: Array) -> float:
    """Mutual information in bits of outcomes with probabilities (n_outcomes, n_classes) and the class.

    >>> mutual_information(np.eye(2), np.array([0.5, 0.5]))
    1.0
    """
    return max(0.0, float(_terms(mass, (mass @ prior)[:, None]).sum(axis=0) @ prior))


def _terms(p: Array, q: Array) -> Array:
    """P log2(p / q), 0 where p is 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(p > 0, p * np.log2(p / q), 0.0)
