"""`ThresholdDisplay`: cost against the threshold."""

from typing import Any, Self

from bayeswater.decision.curves import ThresholdCurve, threshold_curve
from bayeswater.plots.canvas import draw_beside, draw_curve, from_zero, mark_place, named, new_axes
from bayeswater.plots.display import CurveDisplay


class ThresholdDisplay(CurveDisplay[ThresholdCurve]):
    """Mean cost against the threshold of the second class: solid by the true classes, dashed as promised.

    Parameters
    ----------
    curve : ThresholdCurve
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
        """Draw the curve of a loss of two actions; parameters as of `threshold_curve`."""
        curve = threshold_curve(y, proba, loss, labels=labels, sample_weight=sample_weight)
        return cls(curve, name=name).plot(ax, **style)

    def plot(self, ax: Any = None, *, name: str | None = None, **style: Any) -> Self:
        """Draw on new axes, or on those given; `style` goes to the main line."""
        ax, name, curve = new_axes(ax), name or self.name, self.curve
        style = {"label": named(name, "realised"), "drawstyle": "steps-post"} | style
        line = draw_curve(ax, curve.threshold, curve.realised, **style)
        draw_beside(ax, line, curve.threshold, curve.expected, named(name, "expected"))
        mark_place(ax, curve.stated, f"threshold of the costs, {curve.stated:.3g}")
        from_zero(ax)
        return self._drawn(ax, line, f"decide '{curve.positive}' where its probability is over", "mean cost of a row")
