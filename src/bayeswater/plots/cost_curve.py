"""`CostCurveDisplay`: cost under every ratio of costs and frequencies."""

from typing import Any, Self

from bayeswater.decision.cost_curves import CostCurve, cost_curve
from bayeswater.plots.canvas import draw_beside, draw_curve, draw_reference, from_zero, named, new_axes
from bayeswater.plots.display import CurveDisplay


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
