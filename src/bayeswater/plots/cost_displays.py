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
        """Draw the curve; parameters as of `threshold_curve`, of a loss of two actions, or `error_reject_curve`."""
        return cls(cls.curve_of(y, proba, loss, labels=labels, sample_weight=sample_weight), name=name).plot(
            ax, **style
        )

    def _promised(self, ax: Any, name: str | None, x: Array, realised: Array, expected: Array, **style: Any) -> Any:
        line = draw_curve(ax, x, realised, **({"label": named(name, "realised"), "drawstyle": "steps-post"} | style))
        draw_beside(ax, line, x, expected, named(name, "expected"))
        from_zero(ax)
        return line


class ThresholdDisplay(PromiseDisplay[ThresholdCurve]):
    """Mean cost against the threshold of the second class: solid by the true classes, dashed as promised.

    Parameters
    ----------
    curve : ThresholdCurve
    name : name of the classifier, for the legend
    """

    curve_of = staticmethod(threshold_curve)

    def plot(self, ax: Any = None, *, name: str | None = None, **style: Any) -> Self:
        """Draw on new axes, or on those given; `style` goes to the main line."""
        ax, curve = new_axes(ax), self.curve
        line = self._promised(ax, name or self.name, curve.threshold, curve.realised, curve.expected, **style)
        mark_place(ax, curve.stated, f"threshold of the costs, {curve.stated:.3g}")
        return self._drawn(ax, line, f"decide '{curve.positive}' where its probability is over", "mean cost of a row")


class PriorDisplay(CurveDisplay[PriorCurve]):
    """Mean cost against the frequency of a class: solid if decisions are made for it, dashed if they stay as they are.

    Parameters
    ----------
    curve : PriorCurve
    name : name of the classifier, for the legend
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
        """Draw the curve of one class; parameters as of `prior_curve`."""
        curve = prior_curve(y, proba, loss, positive=positive, prior=prior, labels=labels, sample_weight=sample_weight)
        return cls(curve, name=name).plot(ax, **style)

    def plot(self, ax: Any = None, *, name: str | None = None, **style: Any) -> Self:
        """Draw on new axes, or on those given; `style` goes to the main line."""
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
    name : name of the classifier, for the legend
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
        """Draw the curve of one class against the rest; parameters as of `cost_curve`."""
        curve = cost_curve(y, proba, positive=positive, labels=labels, sample_weight=sample_weight)
        return cls(curve, name=name).plot(ax, **style)

    def plot(self, ax: Any = None, *, name: str | None = None, **style: Any) -> Self:
        """Draw on new axes, or on those given; `style` goes to the main line."""
        ax, name, curve = new_axes(ax), name or self.name, self.curve
        style = {"label": named(name, "best threshold")} | style
        draw_reference(ax, [0.0, 0.5, 1.0], [0.0, 0.5, 0.0], "one class for all rows")
        line = draw_curve(ax, curve.probability_cost, curve.normalised_cost, **style)
        draw_beside(ax, line, curve.decided_at, curve.decided_cost, named(name, "as it decides"))
        from_zero(ax)
        return self._drawn(ax, line, f"probability-cost of '{curve.positive}'", "normalised expected cost")


class ErrorRejectDisplay(PromiseDisplay[RejectCurve]):
    """Mean cost of decided rows against the share refused: solid by the true classes, dashed as promised.

    Parameters
    ----------
    curve : RejectCurve
    name : name of the classifier, for the legend
    """

    curve_of = staticmethod(error_reject_curve)

    def plot(self, ax: Any = None, *, name: str | None = None, **style: Any) -> Self:
        """Draw on new axes, or on those given; `style` goes to the main line."""
        ax, curve = new_axes(ax), self.curve
        line = self._promised(ax, name or self.name, curve.rejected, curve.error, curve.expected_error, **style)
        return self._drawn(ax, line, "share of rows refused, the riskiest first", "mean cost of a decided row")
