"""`ErrorRejectDisplay`: error of the rows that are decided against the share of those that are refused."""

from typing import Any, Self

from bayeswater.decision.curves import RejectCurve, error_reject_curve
from bayeswater.plots.canvas import draw_beside, draw_curve, from_zero, named, new_axes
from bayeswater.plots.display import CurveDisplay


class ErrorRejectDisplay(CurveDisplay[RejectCurve]):
    """Mean cost of decided rows against the share refused: solid by the true classes, dashed as promised.

    Parameters
    ----------
    curve : RejectCurve
    name : name of the classifier, for the legend
    """

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
        """Draw the curve; parameters as of `error_reject_curve`."""
        curve = error_reject_curve(y, proba, loss, labels=labels, sample_weight=sample_weight)
        return cls(curve, name=name).plot(ax, **style)

    def plot(self, ax: Any = None, *, name: str | None = None, **style: Any) -> Self:
        """Draw on new axes, or on those given; `style` goes to the main line."""
        ax, name, curve = new_axes(ax), name or self.name, self.curve
        style = {"label": named(name, "realised"), "drawstyle": "steps-post"} | style
        line = draw_curve(ax, curve.rejected, curve.error, **style)
        draw_beside(ax, line, curve.rejected, curve.expected_error, named(name, "expected"))
        from_zero(ax)
        return self._drawn(ax, line, "share of rows refused, the riskiest first", "mean cost of a decided row")
