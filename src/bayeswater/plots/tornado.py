"""`TornadoDisplay`: how far each entry of a network's tables moves a posterior, the farthest on top."""

from typing import Any, Self

from bayeswater.models.network.findings import Sensitivity
from bayeswater.plots.canvas import COLOURS, GREY, new_axes

LOWER, HIGHER = COLOURS[0], COLOURS[1]

WIDTH, LINE_INCHES = 8.0, 0.32
"""Width of a new figure, which has to hold the names, and the height of each entry in it."""


class TornadoDisplay:
    """A posterior where each entry is lowered and raised by a share of itself; the line is the posterior as it is.

    Parameters
    ----------
    sensitivity : Sensitivity
        What `BayesianNetwork.sensitivity` found.

    Attributes
    ----------
    ax_, figure_ : the axes and the figure it is drawn in
    """

    def __init__(self, sensitivity: Sensitivity) -> None:
        self.sensitivity = sensitivity

    def plot(self, ax: Any = None, *, most: int = 15) -> Self:
        """Draw the strongest entries on new axes, or on those given."""
        found, is_new = self.sensitivity, ax is None
        lines = range(min(most, len(found)))
        ax = new_axes(ax)
        if is_new:
            ax.figure.set_size_inches(WIDTH, 1.2 + LINE_INCHES * len(lines))
        for values, colour, sign in ((found.low, LOWER, "-"), (found.high, HIGHER, "+")):
            widths = [float(values[line]) - found.posterior for line in lines]
            label = f"{sign}{100 * found.spread:.4g} %"
            ax.barh(list(lines), widths, left=found.posterior, color=colour, height=0.7, label=label)
        ax.axvline(found.posterior, color=GREY, linewidth=0.8)
        ax.set_yticks(list(lines), [found.name_of(line) for line in lines])
        ax.set_ylim(len(lines) - 0.5, -0.7)
        ax.set_xlabel(found.question)
        ax.legend(loc="lower right", fontsize="small", frameon=False)
        self.ax_, self.figure_ = ax, ax.figure
        return self
