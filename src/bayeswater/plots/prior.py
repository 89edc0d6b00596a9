"""`PriorDisplay`: cost against the frequency of a class."""

from typing import Any, Self

from bayeswater.decision.curves import PriorCurve, prior_curve
from bayeswater.plots.canvas import draw_beside, draw_curve, from_zero, mark_place, named, new_axes
from bayeswater.plots.display import CurveDisplay


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
