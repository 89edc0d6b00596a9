"""Displays of cost: against the threshold, a class frequency, all ratios of costs, and the share refused.

- `ThresholdDisplay`: cost against the threshold;
- `PriorDisplay`: cost against the frequency of a class;
- `CostCurveDisplay`: cost under every ratio of costs and frequencies;
- `ErrorRejectDisplay`: error of the rows that are decided against the share of those that are refused.
"""

from collections.abc import Callable
from typing import Any, ClassVar, Self, TypeVar

from bayeswater.decision.curves import (
    CostCurve,
    PriorCurve,
    RejectCurve,
    ThresholdCurve,
    cost_curve,
    error_reject_curve,
    prior_curve,
    threshold_curve,
)
from bayeswater.plots.canvas import (
    CurveDisplay,
    draw_beside,
    draw_curve,
    draw_reference,
    from_zero,
    mark_place,
    named,
    new_axes,
)
from bayeswater.typing import Array

Curve = TypeVar("Curve", ThresholdCurve, RejectCurve)


class PromiseDisplay(CurveDisplay[Curve]):
    """Mean cost under a loss: solid by the true classes, dashed as the probabilities promise."""

    curve_of: ClassVar[Callable[..., Any]]
    """What makes the curve of labels, probabilities and a loss."""

    @classmethod
    def from_predictions(
        cls,
        y: Any,
        proba: Any,
        loss: Any = None,
        *,
        labels: Any = None,
        sample_weight: Any = None,
        name: str | None = None,
        ax: Any = None,
        **style: Any,
    ) -> Self:
        """Draw the curve of mean costs.

        Parameters
        ----------
        y : labels of shape (n_rows,)
            True classes.
        proba : array of shape (n_rows, n_classes)
            Probabilities.
        loss : Loss, or anything that `Loss` reads
            Costs of the actions; default 0-1 loss.
        labels : labels of shape (n_classes,), optional
            Classes in the order of the columns of `proba`; default the sorted labels of y.
        sample_weight : weights of shape (n_rows,), optional
            Weight of each row; default 1.
        name, ax, **style : as in `plot`
            Where and how it is drawn.

        Returns
        -------
        display
            The curve, drawn.

        See Also
        --------
        from_estimator : Draw what a fitted classifier says of the rows X of classes y.

        Examples
        --------
        >>> import matplotlib
        >>> matplotlib.use("agg")
        >>> from bayeswater.plots import ThresholdDisplay
        >>> drawn = ThresholdDisplay.from_predictions([0, 0, 1, 1], [[0.9, 0.1], [0.5, 0.5], [0.6, 0.4], [0.2, 0.8]])
        >>> drawn.ax_.get_ylabel()
        'mean cost of a row'
        """
        return cls(cls.curve_of(y, proba, loss, labels=labels, sample_weight=sample_weight), name=name).plot(
            ax, **style
        )

    def _promised(self, ax: Any, name: str | None, x: Array, realised: Array, expected: Array, **style: Any) -> Any:
        line = draw_curve(ax, x, realised, **({"label": named(name, "realised"), "drawstyle": "steps-post"} | style))
        draw_beside(ax, line, x, expected, named(name, "expected"))
        from_zero(ax)
        return line


class ThresholdDisplay(PromiseDisplay[ThresholdCurve]):
    """Mean cost against the threshold of the second class: solid observed, dashed as the model expects.

    Parameters
    ----------
    curve : ThresholdCurve
        The figures; `from_predictions` makes them.
    name : str, optional
        Name of the classifier, for the legend.

    See Also
    --------
    CostCurveDisplay : The cost curve of Drummond and Holte.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from bayeswater.plots import ThresholdDisplay
    >>> drawn = ThresholdDisplay.from_predictions([0, 0, 1, 1], [[0.9, 0.1], [0.5, 0.5], [0.6, 0.4], [0.2, 0.8]])
    >>> drawn.ax_.get_ylabel()
    'mean cost of a row'
    """

    curve_of = staticmethod(threshold_curve)

    def plot(self, ax: Any = None, *, name: str | None = None, **style: Any) -> Self:
        """Draw on new axes, or on those given; `style` goes to the main line.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; default new axes.
        name : str, optional
            Name of the classifier, for the legend.
        **style : keywords
            They go to the main line.

        Returns
        -------
        ThresholdDisplay
            The object itself, drawn.

        See Also
        --------
        from_predictions : Draw the curve of mean costs.

        Examples
        --------
        >>> import matplotlib
        >>> matplotlib.use("agg")
        >>> from bayeswater.plots import ThresholdDisplay
        >>> drawn = ThresholdDisplay.from_predictions([0, 0, 1, 1], [[0.9, 0.1], [0.5, 0.5], [0.6, 0.4], [0.2, 0.8]])
        >>> drawn.plot(name="naive Bayes").ax_.get_ylabel()
        'mean cost of a row'
        """
        ax, curve = new_axes(ax), self.curve
        line = self._promised(ax, name or self.name, curve.threshold, curve.realised, curve.expected, **style)
        mark_place(ax, curve.stated, f"threshold of the costs, {curve.stated:.3g}")
        return self._drawn(ax, line, f"decide '{curve.positive}' where its probability is over", "mean cost of a row")


class PriorDisplay(CurveDisplay[PriorCurve]):
    """Mean cost against the frequency of a class: solid if decisions are made for it, dashed if they stay as they are.

    Parameters
    ----------
    curve : PriorCurve
        The figures; `from_predictions` makes them.
    name : str, optional
        Name of the classifier, for the legend.

    See Also
    --------
    ThresholdDisplay : Mean cost against the threshold of the second class.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from bayeswater.plots import PriorDisplay
    >>> drawn = PriorDisplay.from_predictions([0, 0, 1, 1], [[0.9, 0.1], [0.5, 0.5], [0.6, 0.4], [0.2, 0.8]])
    >>> drawn.ax_.get_ylabel()
    'mean cost of a row'
    """

    @classmethod
    def from_predictions(
        cls,
        y: Any,
        proba: Any,
        loss: Any = None,
        *,
        positive: Any = None,
        prior: Any = None,
        labels: Any = None,
        sample_weight: Any = None,
        name: str | None = None,
        ax: Any = None,
        **style: Any,
    ) -> Self:
        """Draw the curve of one class.

        Parameters
        ----------
        y : labels of shape (n_rows,)
            True classes.
        proba : array of shape (n_rows, n_classes)
            Probabilities.
        loss : Loss, or anything that `Loss` reads
            Costs of the actions; default 0-1 loss.
        positive : label, optional
            The class; of two classes the default is the second.
        prior : array or dict, optional
            Class frequencies so far; default those of y.
        labels : labels of shape (n_classes,), optional
            Classes in the order of the columns of `proba`; default the sorted labels of y.
        sample_weight : weights of shape (n_rows,), optional
            Weight of each row; default 1.
        name, ax, **style : as in `plot`
            Where and how it is drawn.

        Returns
        -------
        PriorDisplay
            The curve, drawn.

        See Also
        --------
        from_estimator : Draw what a fitted classifier says of the rows X of classes y.

        Examples
        --------
        >>> import matplotlib
        >>> matplotlib.use("agg")
        >>> from bayeswater.plots import PriorDisplay
        >>> drawn = PriorDisplay.from_predictions([0, 0, 1, 1], [[0.9, 0.1], [0.5, 0.5], [0.6, 0.4], [0.2, 0.8]])
        >>> drawn.ax_.get_ylabel()
        'mean cost of a row'
        """
        curve = prior_curve(y, proba, loss, positive=positive, prior=prior, labels=labels, sample_weight=sample_weight)
        return cls(curve, name=name).plot(ax, **style)

    def plot(self, ax: Any = None, *, name: str | None = None, **style: Any) -> Self:
        """Draw on new axes, or on those given; `style` goes to the main line.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; default new axes.
        name : str, optional
            Name of the classifier, for the legend.
        **style : keywords
            They go to the main line.

        Returns
        -------
        PriorDisplay
            The object itself, drawn.

        See Also
        --------
        from_predictions : Draw the curve of one class.

        Examples
        --------
        >>> import matplotlib
        >>> matplotlib.use("agg")
        >>> from bayeswater.plots import PriorDisplay
        >>> drawn = PriorDisplay.from_predictions([0, 0, 1, 1], [[0.9, 0.1], [0.5, 0.5], [0.6, 0.4], [0.2, 0.8]])
        >>> drawn.plot(name="naive Bayes").ax_.get_ylabel()
        'mean cost of a row'
        """
        ax, name, curve = new_axes(ax), name or self.name, self.curve
        style = {"label": named(name, "decided for this frequency")} | style
        line = draw_curve(ax, curve.frequency, curve.adapted, **style)
        draw_beside(ax, line, curve.frequency, curve.fixed, named(name, "decided as before"))
        mark_place(ax, curve.known, f"frequency so far, {curve.known:.3g}")
        from_zero(ax)
        return self._drawn(ax, line, f"frequency of '{curve.positive}'", "mean cost of a row")


class CostCurveDisplay(CurveDisplay[CostCurve]):
    """The cost curve of Drummond and Holte: solid the best threshold, dashed what the classifier decides itself.

    Parameters
    ----------
    curve : CostCurve
        The figures; `from_predictions` makes them.
    name : str, optional
        Name of the classifier, for the legend.

    See Also
    --------
    ThresholdDisplay : Mean cost against the threshold of the second class.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from bayeswater.plots import CostCurveDisplay
    >>> drawn = CostCurveDisplay.from_predictions([0, 0, 1, 1], [[0.9, 0.1], [0.5, 0.5], [0.6, 0.4], [0.2, 0.8]])
    >>> drawn.ax_.get_ylabel()
    'normalised expected cost'
    """

    @classmethod
    def from_predictions(
        cls,
        y: Any,
        proba: Any,
        *,
        positive: Any = None,
        labels: Any = None,
        sample_weight: Any = None,
        name: str | None = None,
        ax: Any = None,
        **style: Any,
    ) -> Self:
        """Draw the curve of one class against the rest.

        Parameters
        ----------
        y : labels of shape (n_rows,)
            True classes.
        proba : array of shape (n_rows, n_classes)
            Probabilities.
        positive : label, optional
            The class that is set against the rest; of two classes the default is the second.
        labels : labels of shape (n_classes,), optional
            Classes in the order of the columns of `proba`; default the sorted labels of y.
        sample_weight : weights of shape (n_rows,), optional
            Weight of each row; default 1.
        name, ax, **style : as in `plot`
            Where and how it is drawn.

        Returns
        -------
        CostCurveDisplay
            The curve, drawn.

        See Also
        --------
        from_estimator : Draw what a fitted classifier says of the rows X of classes y.

        Examples
        --------
        >>> import matplotlib
        >>> matplotlib.use("agg")
        >>> from bayeswater.plots import CostCurveDisplay
        >>> drawn = CostCurveDisplay.from_predictions([0, 0, 1, 1], [[0.9, 0.1], [0.5, 0.5], [0.6, 0.4], [0.2, 0.8]])
        >>> drawn.ax_.get_ylabel()
        'normalised expected cost'
        """
        curve = cost_curve(y, proba, positive=positive, labels=labels, sample_weight=sample_weight)
        return cls(curve, name=name).plot(ax, **style)

    def plot(self, ax: Any = None, *, name: str | None = None, **style: Any) -> Self:
        """Draw on new axes, or on those given; `style` goes to the main line.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; default new axes.
        name : str, optional
            Name of the classifier, for the legend.
        **style : keywords
            They go to the main line.

        Returns
        -------
        CostCurveDisplay
            The object itself, drawn.

        See Also
        --------
        from_predictions : Draw the curve of one class against the rest.

        Examples
        --------
        >>> import matplotlib
        >>> matplotlib.use("agg")
        >>> from bayeswater.plots import CostCurveDisplay
        >>> drawn = CostCurveDisplay.from_predictions([0, 0, 1, 1], [[0.9, 0.1], [0.5, 0.5], [0.6, 0.4], [0.2, 0.8]])
        >>> drawn.plot(name="naive Bayes").ax_.get_ylabel()
        'normalised expected cost'
        """
        ax, name, curve = new_axes(ax), name or self.name, self.curve
        style = {"label": named(name, "best threshold")} | style
        draw_reference(ax, [0.0, 0.5, 1.0], [0.0, 0.5, 0.0], "one class for all rows")
        line = draw_curve(ax, curve.probability_cost, curve.normalised_cost, **style)
        draw_beside(ax, line, curve.decided_at, curve.decided_cost, named(name, "as it decides"))
        from_zero(ax)
        return self._drawn(ax, line, f"probability-cost of '{curve.positive}'", "normalised expected cost")


class ErrorRejectDisplay(PromiseDisplay[RejectCurve]):
    """Mean cost of decided rows against the share refused: solid observed, dashed as the model expects.

    Parameters
    ----------
    curve : RejectCurve
        The figures; `from_predictions` makes them.
    name : str, optional
        Name of the classifier, for the legend.

    See Also
    --------
    ThresholdDisplay : Mean cost against the threshold of the second class.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from bayeswater.plots import ErrorRejectDisplay
    >>> drawn = ErrorRejectDisplay.from_predictions([0, 0, 1, 1], [[0.9, 0.1], [0.5, 0.5], [0.6, 0.4], [0.2, 0.8]])
    >>> drawn.ax_.get_ylabel()
    'mean cost of a decided row'
    """

    curve_of = staticmethod(error_reject_curve)

    def plot(self, ax: Any = None, *, name: str | None = None, **style: Any) -> Self:
        """Draw on new axes, or on those given; `style` goes to the main line.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; default new axes.
        name : str, optional
            Name of the classifier, for the legend.
        **style : keywords
            They go to the main line.

        Returns
        -------
        ErrorRejectDisplay
            The object itself, drawn.

        See Also
        --------
        from_predictions : Draw the curve of mean costs.

        Examples
        --------
        >>> import matplotlib
        >>> matplotlib.use("agg")
        >>> from bayeswater.plots import ErrorRejectDisplay
        >>> drawn = ErrorRejectDisplay.from_predictions([0, 0, 1, 1], [[0.9, 0.1], [0.5, 0.5], [0.6, 0.4], [0.2, 0.8]])
        >>> drawn.plot(name="naive Bayes").ax_.get_ylabel()
        'mean cost of a decided row'
        """
        ax, curve = new_axes(ax), self.curve
        line = self._promised(ax, name or self.name, curve.rejected, curve.error, curve.expected_error, **style)
        return self._drawn(ax, line, "share of rows refused, the riskiest first", "mean cost of a decided row")
