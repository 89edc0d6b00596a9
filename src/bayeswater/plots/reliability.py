"""`ReliabilityDisplay`: how often what is given some probability comes true, for two classes or for many."""

from typing import Any, Self

import numpy as np

from bayeswater.decision.calibration_metrics import reliability_table
from bayeswater.plots.canvas import GREY, Display, draw_curve, draw_reference, new_axes, plain
from bayeswater.records import record
from bayeswater.typing import Array

MOST_COLOURED = 4
"""Of more classes the worst calibrated ones have a colour, and the others are grey."""


@record
class ClassReliability:
    """Bins of one class, or of the predicted class."""

    label: str
    probability: Array
    frequency: Array
    weight: Array

    @property
    def calibration_error(self) -> float:
        """Mean distance of probability and frequency."""
        return float(self.weight @ np.abs(self.frequency - self.probability) / self.weight.sum())


class ReliabilityDisplay(Display):
    """Observed frequency against stated probability, in bins; calibrated probabilities lie on the diagonal.

    Parameters
    ----------
    curves : tuple
        Bins of each class that is drawn; `from_predictions` makes them.
    name : str, optional
        Name of the classifier, for the title.

    See Also
    --------
    bayeswater.Calibrated : A classifier whose probabilities are corrected by a map learned from rows it had not seen.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from bayeswater.plots import ReliabilityDisplay
    >>> drawn = ReliabilityDisplay.from_predictions([0, 0, 1, 1], [[0.9, 0.1], [0.5, 0.5], [0.6, 0.4], [0.2, 0.8]])
    >>> drawn.ax_.get_ylabel()
    'frequency'
    """

    def __init__(self, curves: tuple[ClassReliability, ...], *, name: str | None = None) -> None:
        self.curves = curves
        self.name = name

    @classmethod
    def from_predictions(
        cls,
        y: Any,
        proba: Any,
        *,
        top_label: bool = False,
        labels: Any = None,
        sample_weight: Any = None,
        n_bins: int = 10,
        strategy: str = "weight",
        name: str | None = None,
        ax: Any = None,
        **style: Any,
    ) -> Self:
        """Draw the reliability of every class, of two classes the second, or with `top_label` of the predicted class.

        Parameters as of `reliability_table`; by default the bins have equal weight. The area of a dot is the weight
        of its bin.

        Parameters
        ----------
        y : labels of shape (n_rows,)
            True classes.
        proba : array of shape (n_rows, n_classes)
            Probabilities.
        top_label : bool, default False
            Whether to draw the predicted class alone.
        labels : labels of shape (n_classes,), optional
            Classes in the order of the columns of `proba`; default the sorted labels of y.
        sample_weight : weights of shape (n_rows,), optional
            Weight of each row; default 1.
        n_bins : int, default 10
            Number of bins.
        strategy : {"weight", "width"}, default "weight"
            Bins of equal weight, or of equal width.
        name, ax, **style : as in `plot`
            Where and how it is drawn.

        Returns
        -------
        ReliabilityDisplay
            The curves, drawn.

        See Also
        --------
        from_estimator : Draw what a fitted classifier says of the rows X of classes y.

        Examples
        --------
        >>> import matplotlib
        >>> matplotlib.use("agg")
        >>> from bayeswater.plots import ReliabilityDisplay
        >>> drawn = ReliabilityDisplay.from_predictions(
        ...     [0, 0, 1, 1], [[0.9, 0.1], [0.5, 0.5], [0.6, 0.4], [0.2, 0.8]], n_bins=2
        ... )
        >>> drawn.ax_.get_xlabel()
        'probability'
        """
        found = reliability_table(
            y, proba, labels=labels, sample_weight=sample_weight, n_bins=n_bins, strategy=strategy, top_label=top_label
        )
        columns = {column: np.asarray(found[column]) for column in ("probability", "frequency", "weight")}
        of_class = np.full(found.num_rows, "predicted class") if top_label else np.asarray(found["class"]).astype(str)
        classes = list(dict.fromkeys(of_class.tolist()))
        shown = classes[1:] if len(classes) == 2 else classes
        curves = tuple(
            ClassReliability(label, *(values[of_class == label] for values in columns.values())) for label in shown
        )
        return cls(curves, name=name).plot(ax, **style)

    def plot(self, ax: Any = None, *, name: str | None = None, **style: Any) -> Self:
        """Draw on new axes, or on those given; `style` goes to the lines that have a colour.

        ``line_`` is the line of the worst calibrated class, ``lines_`` has all.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; default new axes.
        name : str, optional
            Name of the classifier, for the title.
        **style : keywords
            They go to the lines that have a colour.

        Returns
        -------
        ReliabilityDisplay
            The object itself, drawn.

        See Also
        --------
        from_predictions : Draw the reliability of every class.

        Examples
        --------
        >>> import matplotlib
        >>> matplotlib.use("agg")
        >>> from bayeswater.plots import ReliabilityDisplay
        >>> drawn = ReliabilityDisplay.from_predictions([0, 0, 1, 1], [[0.9, 0.1], [0.5, 0.5], [0.6, 0.4], [0.2, 0.8]])
        >>> len(drawn.plot().lines_)
        1
        """
        ax, name = new_axes(ax), name or self.name
        draw_reference(ax, [0.0, 1.0], [0.0, 1.0], "calibrated")
        ranked = sorted(self.curves, key=lambda curve: -curve.calibration_error)
        n_coloured = len(ranked) if len(ranked) <= MOST_COLOURED else MOST_COLOURED - 1
        others = ranked[n_coloured:]
        self.lines_ = []
        for i, curve in enumerate(others):
            label = f"{len(others)} other classes" if i == 0 else None
            (line,) = ax.plot(curve.probability, curve.frequency, color=GREY, linewidth=0.8, alpha=0.6, label=label)
            self.lines_.append(line)
        coloured = [
            self._draw(ax, curve, name if len(self.curves) == 1 else None, style) for curve in ranked[:n_coloured]
        ]
        self.lines_ = [*coloured, *self.lines_]
        if name and len(self.curves) > 1:
            ax.set_title(name, fontsize="medium", loc="left")
        ax.set(xlim=(0, 1), ylim=(0, 1))
        return self._drawn(ax, coloured[0], "probability", "frequency")

    def _draw(self, ax: Any, curve: ClassReliability, name: str | None, style: dict[str, Any]) -> Any:
        label = f"{f'{name}: ' if name else ''}{plain(curve.label)}, off by {curve.calibration_error:.3f}"
        line = draw_curve(ax, curve.probability, curve.frequency, **({"label": label, "linewidth": 2.0} | style))
        size = 8 + 90 * curve.weight / curve.weight.max()
        ax.scatter(curve.probability, curve.frequency, s=size, color=line.get_color(), zorder=3, clip_on=False)
        if len(self.curves) == 1:
            for x, y, rows in zip(curve.probability, curve.frequency, curve.weight, strict=True):
                at = {"textcoords": "offset points", "fontsize": "x-small", "color": GREY}
                ax.annotate(f"{rows:,.4g}", (x, y), (6, -9), **at)
        return line
