"""Displays of what a model has learned, and of why a row gets its class.

`ImportanceDisplay` draws how much columns matter, `WaterfallDisplay` the sum of an explanation, and `NomogramDisplay`
the whole model as scales to add up.
"""

from collections.abc import Sequence
from itertools import accumulate
from typing import Any, Self

import numpy as np

from bayeswater.errors import ParameterError
from bayeswater.explain.explanation import RowExplanation
from bayeswater.explain.importance import Importances, curve_or_none, importance, information
from bayeswater.explain.nomogram import Scale, scale_of
from bayeswater.families.wording import shown
from bayeswater.phrases import EN
from bayeswater.plots.canvas import (
    COLOURS,
    GREY,
    MOST_LINES,
    AxesDisplay,
    lined_axes,
    plain,
)
from bayeswater.plots.plane import names_of

END = 24
"""Width of the label of an end, in letters."""


class ImportanceDisplay(AxesDisplay):
    """Columns by their mean absolute log-odds, with the information of each in bits beside it.

    Parameters
    ----------
    found : Importances
        The figures; `from_estimator` makes them.

    See Also
    --------
    ColumnDisplay : A column in each class: its density, or the probabilities of its states, bins, counts or words.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> import pandas as pd
    >>> from bayeswater import GaussianNB
    >>> X = pd.DataFrame({"age": [0.0, 1, 2, 7, 8, 9]})
    >>> model = GaussianNB().fit(X, ["low"] * 3 + ["high"] * 3)
    >>> from bayeswater.plots import ImportanceDisplay
    >>> ImportanceDisplay.from_estimator(model, X).ax_.get_xlabel()
    'mean |log-odds|, 6 rows'
    """

    def __init__(self, found: Importances) -> None:
        self.importances = found

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, *, ax: Any = None) -> Self:
        """Draw how much the columns of a fitted classifier matter in some rows.

        Parameters
        ----------
        estimator : fitted classifier
            The model.
        X : rows
            A table, as the classifier takes it.
        ax : matplotlib axes, optional
            Where to draw; default new axes.

        Returns
        -------
        ImportanceDisplay
            The columns, drawn.

        See Also
        --------
        plot : Draw on new axes, or on those given.

        Examples
        --------
        >>> import matplotlib
        >>> matplotlib.use("agg")
        >>> import pandas as pd
        >>> from bayeswater import GaussianNB
        >>> X = pd.DataFrame({"age": [0.0, 1, 2, 7, 8, 9]})
        >>> model = GaussianNB().fit(X, ["low"] * 3 + ["high"] * 3)
        >>> from bayeswater.plots import ImportanceDisplay
        >>> ImportanceDisplay.from_estimator(model, X).importances.n_rows
        6
        """
        return cls(importance(estimator, X)).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw on new axes, or on those given.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; default new axes.

        Returns
        -------
        ImportanceDisplay
            The object itself, drawn.

        See Also
        --------
        from_estimator : Draw how much the columns of a fitted classifier matter in some rows.

        Examples
        --------
        >>> import matplotlib
        >>> matplotlib.use("agg")
        >>> import pandas as pd
        >>> from bayeswater import GaussianNB
        >>> X = pd.DataFrame({"age": [0.0, 1, 2, 7, 8, 9]})
        >>> model = GaussianNB().fit(X, ["low"] * 3 + ["high"] * 3)
        >>> from bayeswater.plots import ImportanceDisplay
        >>> len(ImportanceDisplay.from_estimator(model, X).plot().ax_.patches)
        1
        """
        shown = self.importances.columns[:MOST_LINES]
        ax = lined_axes(ax, [one.column for one in shown])
        ax.barh(range(len(shown)), [one.mean_log_odds for one in shown], 0.7, color=COLOURS[0])
        for place, one in enumerate(shown):
            if one.bits is not None:
                ax.annotate(
                    f"{one.bits:.3g} bits", (one.mean_log_odds, place), (4, 0), textcoords="offset points", va="center"
                )
        ax.set_xlim(0, 1.2 * max((one.mean_log_odds for one in shown), default=0.0) or 1.0)
        ax.set_xlabel(f"mean |log-odds|, {self.importances.n_rows:,} rows")
        return self._drawn(ax)


class WaterfallDisplay(AxesDisplay):
    """The sum of an explanation: each bar begins where the one before it ended, and the last is the whole.

    Parameters
    ----------
    explanation : RowExplanation
        One row of what `explain` gives.

    See Also
    --------
    NomogramDisplay : A scale for each column with the log-odds that its cells add to one class against another.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from bayeswater import GaussianNB
    >>> X, y = [[0], [1], [2], [7], [8], [9]], ["low"] * 3 + ["high"] * 3
    >>> model = GaussianNB().fit(X, y)
    >>> from bayeswater.plots import WaterfallDisplay
    >>> WaterfallDisplay(model.explain(X)[0]).plot().ax_.get_xlabel()
    'log-odds of low against high'
    """

    def __init__(self, explanation: RowExplanation) -> None:
        self.explanation = explanation

    def plot(self, ax: Any = None) -> Self:
        """Draw on new axes, or on those given; an infinite step goes beyond all others.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; default new axes.

        Returns
        -------
        WaterfallDisplay
            The object itself, drawn.

        See Also
        --------
        NomogramDisplay : A scale for each column with the log-odds that its cells add to one class against another.

        Examples
        --------
        >>> import matplotlib
        >>> matplotlib.use("agg")
        >>> from bayeswater import GaussianNB
        >>> X, y = [[0], [1], [2], [7], [8], [9]], ["low"] * 3 + ["high"] * 3
        >>> model = GaussianNB().fit(X, y)
        >>> from bayeswater.plots import WaterfallDisplay
        >>> len(WaterfallDisplay(model.explain(X)[0]).plot().ax_.patches)
        3
        """
        lines = self.explanation.lines()
        ends = [*accumulate(number for _, number, _ in lines[:-1]), self.explanation.log_odds]
        finite = [0.0, *(end for end in ends if np.isfinite(end))]
        low, high = min(finite) - 1.0, max(finite) + 1.0
        ends = [low if np.isnan(end) else float(np.clip(end, low, high)) for end in ends]
        starts = [0.0, *ends[:-2], 0.0]
        ax = lined_axes(ax, [what for what, _, _ in lines])
        for place, ((_, number, _), start, end) in enumerate(zip(lines, starts, ends, strict=True)):
            colour = GREY if place == len(lines) - 1 else COLOURS[0] if number >= 0 else COLOURS[1]
            ax.barh(place, end - start, 0.7, left=start, color=colour)
            ax.annotate(f"{number:+.2f}", (max(start, end), place), (3, 0), textcoords="offset points", va="center")
        ax.axvline(0, color=GREY, linewidth=0.8)
        ax.set_xlim(min(0.0, *ends) - 0.12 * (high - low), max(0.0, *ends) + 0.12 * (high - low))
        one = self.explanation
        ax.set_xlabel(f"log-odds of {plain(one.prediction)} against {plain(one.against)}")
        return self._drawn(ax)


class NomogramDisplay(AxesDisplay):
    """A scale for each column with the log-odds that its cells add to one class against another; add them up.

    Parameters
    ----------
    scales : sequence of Scale
        A scale for each column; `from_estimator` makes them.
    intercept : float
        Log-odds before any column.
    positive, against : label, label
        The two classes.

    See Also
    --------
    WaterfallDisplay : The sum of an explanation.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from bayeswater import GaussianNB
    >>> X, y = [[0], [1], [2], [7], [8], [9]], ["low"] * 3 + ["high"] * 3
    >>> model = GaussianNB().fit(X, y)
    >>> from bayeswater.plots import NomogramDisplay
    >>> NomogramDisplay.from_estimator(model).positive
    'low'
    """

    def __init__(self, scales: Sequence[Scale], intercept: float, positive: Any, against: Any) -> None:
        self.scales, self.intercept = list(scales), intercept
        self.positive, self.against = positive, against

    @classmethod
    def from_estimator(cls, estimator: Any, *, positive: Any = None, against: Any = None, ax: Any = None) -> Self:
        """Draw the columns of most information; by default the last class is set against the first.

        Parameters
        ----------
        estimator : fitted classifier
            The model.
        positive, against : label, label
            The two classes.
        ax : matplotlib axes, optional
            Where to draw; default new axes.

        Returns
        -------
        NomogramDisplay
            The scales, drawn.

        See Also
        --------
        plot : Draw on new axes, or on those given.

        Examples
        --------
        >>> import matplotlib
        >>> matplotlib.use("agg")
        >>> from bayeswater import GaussianNB
        >>> X, y = [[0], [1], [2], [7], [8], [9]], ["low"] * 3 + ["high"] * 3
        >>> model = GaussianNB().fit(X, y)
        >>> from bayeswater.plots import NomogramDisplay
        >>> [scale.column for scale in NomogramDisplay.from_estimator(model, positive="high").scales]
        ['x0']
        """
        labels = np.asarray(estimator.classes_).tolist()
        chosen = labels[-1] if positive is None else positive
        rival = next(label for label in labels if label != chosen) if against is None else against
        if chosen not in labels or rival not in labels or chosen == rival:
            raise ParameterError(
                f"a nomogram compares two of the classes {labels[:10]}; {chosen!r} and {rival!r} are given"
            )
        k, other = labels.index(chosen), labels.index(rival)
        prior = np.asarray(estimator.predict_proba({}))[0]
        plan = getattr(estimator, "columns_", None)
        names = names_of(estimator) if plan is None else [column.name for column in plan]
        found = ((name, curve_or_none(estimator, name)) for name in names)
        curves = [
            curve.in_language(EN, None if plan is None else plan[name])
            for name, curve in found
            if curve is not None and curve.kind != "words"
        ]
        curves.sort(key=lambda curve: -(information(curve, prior) or 0.0))
        scales = [scale for curve in curves[:MOST_LINES] if (scale := scale_of(curve, k, other)) is not None]
        return cls(scales, float(np.log(prior[k] / prior[other])), chosen, rival).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw on new axes, or on those given.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; default new axes.

        Returns
        -------
        NomogramDisplay
            The object itself, drawn.

        See Also
        --------
        from_estimator : Draw the columns of most information.

        Examples
        --------
        >>> import matplotlib
        >>> matplotlib.use("agg")
        >>> from bayeswater import GaussianNB
        >>> X, y = [[0], [1], [2], [7], [8], [9]], ["low"] * 3 + ["high"] * 3
        >>> model = GaussianNB().fit(X, y)
        >>> from bayeswater.plots import NomogramDisplay
        >>> len(NomogramDisplay.from_estimator(model).plot().scales)
        1
        """
        ax = lined_axes(ax, ["(class frequencies)", *(scale.column for scale in self.scales)])
        ax.plot([self.intercept], [0], "o", color=COLOURS[0])
        for line, scale in enumerate(self.scales, start=1):
            odds = np.asarray(scale.odds)
            ax.plot([odds.min(), odds.max()], [line, line], color=COLOURS[0], linewidth=1.2)
            ax.plot(odds, np.full(len(odds), line), "|", color=COLOURS[0], markersize=8)
            ends = {int(odds.argmin()): ("right", -5), int(odds.argmax()): ("left", 5)}  # one, where all are equal
            for i, (side, shift) in ends.items():
                own = "(empty)" if scale.at[i] is None else scale.at[i]
                text = shown(float(f"{own:.3g}")) if isinstance(own, float) else plain(own, END)
                ax.annotate(
                    text,
                    (odds[i], line),
                    (shift, 0),
                    textcoords="offset points",
                    ha=side,
                    va="center",
                    fontsize="x-small",
                )
        ax.axvline(0, color=GREY, linewidth=0.8, zorder=0)
        ax.margins(x=0.3)  # room for the labels of the ends
        ax.set_xlabel(f"log-odds of {plain(self.positive)} against {plain(self.against)}")
        return self._drawn(ax)
