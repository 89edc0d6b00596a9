"""Displays of a column in each class: `ColumnDisplay`, and `WordsDisplay` of the words that speak most for each."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from bayeswater.errors import ParameterError
from bayeswater.families.curve import ColumnCurve
from bayeswater.phrases import EN
from bayeswater.plots.canvas import MOST_LINES, AxesDisplay, colour_of, lined_axes, new_axes, plain

WIDE = 60
"""Width of the name of an axis, in letters."""


def _round_times(curve: ColumnCurve) -> Any:
    """Choose the marks of an axis of times: every third hour, or a few days."""
    from matplotlib.ticker import MaxNLocator, MultipleLocator

    return MultipleLocator(3 * 3600) if curve.axis == "clock" else MaxNLocator(5, integer=True)


def _class_legend(ax: Any) -> None:
    """Name the classes above the picture, where they cover nothing of it: three beside each other."""
    ax.legend(frameon=False, fontsize="small", ncols=3, loc="lower left", bbox_to_anchor=(0, 1), borderaxespad=0.2)


class ColumnDisplay(AxesDisplay):
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


class WordsDisplay(AxesDisplay):
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
