"""Displays of what a model has learned, and of why a row gets its class.

`ColumnDisplay` draws a column in each class, `WordsDisplay` the words that speak most for each class of a text,
`ImportanceDisplay` how much columns matter, `WaterfallDisplay` the sum of an explanation, and `NomogramDisplay` the
whole model as scales to add up.
"""

from collections.abc import Sequence
from itertools import accumulate
from typing import Any, Self

import numpy as np

from bayeswater.errors import ParameterError
from bayeswater.explain.explanation import RowExplanation
from bayeswater.explain.importance import Importances, curve_or_none, importance, information
from bayeswater.explain.nomogram import Scale, scale_of
from bayeswater.families.curve import ColumnCurve
from bayeswater.families.wording import shown
from bayeswater.phrases import EN
from bayeswater.plots.canvas import COLOURS, GREY, colour_of, legible, lined_axes, new_axes, plain
from bayeswater.plots.plane import names_of

MOST_LINES = 20
"""Columns, states or words that are drawn."""

WIDE, END = 60, 24
"""Width of the name of an axis, and of the label of an end, in letters."""


class ModelDisplay:
    """What is drawn on axes of its own, or on those given."""

    ax_: Any
    figure_: Any

    def _drawn(self, ax: Any) -> Self:
        self.ax_, self.figure_ = legible(ax), ax.figure
        return self


def _round_times(curve: ColumnCurve) -> Any:
    """Choose the marks of an axis of times: every third hour, or a few days."""
    from matplotlib.ticker import MaxNLocator, MultipleLocator

    return MultipleLocator(3 * 3600) if curve.axis == "clock" else MaxNLocator(5, integer=True)


def _class_legend(ax: Any) -> None:
    """Name the classes above the picture, where they cover nothing of it: three beside each other."""
    ax.legend(frameon=False, fontsize="small", ncols=3, loc="lower left", bbox_to_anchor=(0, 1), borderaxespad=0.2)


class ColumnDisplay(ModelDisplay):
    """A column in each class: its density, or the probabilities of its states, bins, counts or words.

    Parameters
    ----------
    curve : ColumnCurve
        What `curve` of a model gives.
    classes : labels
        Labels, in their order.

    See Also
    --------
    WordsDisplay : The words that speak most for each class.
    ImportanceDisplay : Columns by their mean absolute log-odds, with the information of each in bits beside it.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from bayeswater import GaussianNB
    >>> X, y = [[0], [1], [2], [7], [8], [9]], ["low"] * 3 + ["high"] * 3
    >>> model = GaussianNB().fit(X, y)
    >>> from bayeswater.plots import ColumnDisplay
    >>> ColumnDisplay(model.curve("x0"), model.classes_).plot().ax_.get_ylabel()
    'density'
    """

    def __init__(self, curve: ColumnCurve, classes: Sequence[Any]) -> None:
        self.curve, self.classes = curve, list(classes)

    @classmethod
    def from_estimator(cls, estimator: Any, column: str, *, ax: Any = None) -> Self:
        """Draw a column of a fitted classifier.

        Parameters
        ----------
        estimator : fitted classifier
            The model.
        column : str
            Name of the column.
        ax : matplotlib axes, optional
            Where to draw; default new axes.

        Returns
        -------
        ColumnDisplay
            The column, drawn.

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
        >>> from bayeswater.plots import ColumnDisplay
        >>> ColumnDisplay.from_estimator(model, "x0").ax_.get_xlabel()
        'x0'
        """
        plan = getattr(estimator, "columns_", None)
        curve = estimator.curve(column).in_language(EN, None if plan is None else plan[column])
        return cls(curve, np.asarray(estimator.classes_).tolist()).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw on new axes, or on those given.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; default new axes.

        Returns
        -------
        ColumnDisplay
            The object itself, drawn.

        See Also
        --------
        from_estimator : Draw a column of a fitted classifier.

        Examples
        --------
        >>> import matplotlib
        >>> matplotlib.use("agg")
        >>> from bayeswater import GaussianNB
        >>> X, y = [[0], [1], [2], [7], [8], [9]], ["low"] * 3 + ["high"] * 3
        >>> model = GaussianNB().fit(X, y)
        >>> from bayeswater.plots import ColumnDisplay
        >>> len(ColumnDisplay.from_estimator(model, "x0").plot().ax_.lines)
        2
        """
        curve, values = self.curve, np.asarray(self.curve.values, dtype=np.float64)
        if curve.kind in ("density", "counts"):
            ax = new_axes(ax)
            for k, label in enumerate(self.classes):
                marker = "o" if curve.kind == "counts" else None
                ax.plot(curve.at, values[:, k], color=colour_of(k), label=plain(label), marker=marker, linewidth=2)
            if curve.is_log:
                ax.set_xscale("log")
            if curve.axis != "number":
                ax.xaxis.set_major_locator(_round_times(curve))
                ax.xaxis.set_major_formatter(lambda place, _: curve.written(place))
            ax.set(xlabel=plain(curve.column, WIDE), ylabel="density" if curve.kind == "density" else "probability")
            ax.set_ylim(bottom=0)
            ax.yaxis.set_major_formatter("{x:.4g}")  # no power of ten above the axis, where the classes are named
        else:
            labels = ["(empty)" if place is None else place for place in list(curve.at)[:MOST_LINES]]
            ax, n = lined_axes(ax, labels), len(self.classes)
            for k, label in enumerate(self.classes):
                places = np.arange(len(labels)) + (k - (n - 1) / 2) * 0.8 / n
                ax.barh(places, values[: len(labels), k], 0.8 / n, color=colour_of(k), label=plain(label))
            ax.set(xlabel="probability", ylabel=plain(curve.column))
        _class_legend(ax)
        return self._drawn(ax)


class WordsDisplay(ModelDisplay):
    """The words that speak most for each class: the log of how much likelier they are there than in the others.

    Parameters
    ----------
    curve : ColumnCurve
        What `curve` of a model gives for words.
    classes : labels
        Labels, in their order.
    n_words : int, default 8
        Most words of a class.

    See Also
    --------
    ColumnDisplay : A column in each class: its density, or the probabilities of its states, bins, counts or words.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from bayeswater import NaiveBayes
    >>> from bayeswater.plots import WordsDisplay
    >>> model = NaiveBayes(columns={"x0": "text"}).fit([["good day"], ["bad night"]], ["a", "b"])
    >>> WordsDisplay(model.curve("x0"), model.classes_).plot().words[0][0]
    'day'
    """

    def __init__(self, curve: ColumnCurve, classes: Sequence[Any], n_words: int = 8) -> None:
        if curve.kind != "words":
            raise ParameterError(f"column {curve.column!r} has no words but {curve.kind}; draw it with ColumnDisplay")
        values = np.asarray(curve.values, dtype=np.float64)  # (n_words, n_classes)
        others = (values.sum(axis=1, keepdims=True) - values) / max(1, values.shape[1] - 1)
        weight = np.log(np.maximum(values, 1e-300)) - np.log(np.maximum(others, 1e-300))
        best = np.argsort(-weight, axis=0, kind="stable")[:n_words]
        self.classes = list(classes)
        self.words = [
            (str(curve.at[i]), k, float(weight[i, k]))
            for k in range(weight.shape[1])
            for i in best[:, k]
            if weight[i, k] > 0
        ]

    @classmethod
    def from_estimator(cls, estimator: Any, column: str, *, n_words: int = 8, ax: Any = None) -> Self:
        """Draw the words of a column of a fitted classifier.

        Parameters
        ----------
        estimator : fitted classifier
            The model.
        column : str
            Name of the column of text.
        n_words : int, default 8
            Most words of a class.
        ax : matplotlib axes, optional
            Where to draw; default new axes.

        Returns
        -------
        WordsDisplay
            The words, drawn.

        See Also
        --------
        plot : Draw on new axes, or on those given.

        Examples
        --------
        >>> import matplotlib
        >>> matplotlib.use("agg")
        >>> from bayeswater import NaiveBayes
        >>> from bayeswater.plots import WordsDisplay
        >>> model = NaiveBayes(columns={"x0": "text"}).fit([["good day"], ["bad night"]], ["a", "b"])
        >>> WordsDisplay.from_estimator(model, "x0", n_words=1).classes
        ['a', 'b']
        """
        return cls(estimator.curve(column), np.asarray(estimator.classes_).tolist(), n_words).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw on new axes, or on those given.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; default new axes.

        Returns
        -------
        WordsDisplay
            The object itself, drawn.

        See Also
        --------
        from_estimator : Draw the words of a column of a fitted classifier.

        Examples
        --------
        >>> import matplotlib
        >>> matplotlib.use("agg")
        >>> from bayeswater import NaiveBayes
        >>> from bayeswater.plots import WordsDisplay
        >>> model = NaiveBayes(columns={"x0": "text"}).fit([["good day"], ["bad night"]], ["a", "b"])
        >>> len(WordsDisplay(model.curve("x0"), model.classes_, n_words=1).plot().ax_.patches)
        2
        """
        ax = lined_axes(ax, [word for word, _, _ in self.words])
        for k, label in enumerate(self.classes):
            own = [(i, weight) for i, (_, code, weight) in enumerate(self.words) if code == k]
            ax.barh([i for i, _ in own], [weight for _, weight in own], 0.7, color=colour_of(k), label=plain(label))
        ax.set_xlabel("log of times as likely as in the other classes")
        _class_legend(ax)
        return self._drawn(ax)


class ImportanceDisplay(ModelDisplay):
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


class WaterfallDisplay(ModelDisplay):
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


class NomogramDisplay(ModelDisplay):
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
