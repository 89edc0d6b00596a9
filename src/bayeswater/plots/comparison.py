"""`ComparisonDisplay`: models side by side, by their log-loss on rows they have not seen."""

from typing import Any, Self

import numpy as np

from bayeswater.models.comparing.comparison import Comparison
from bayeswater.plots.canvas import COLOURS, GREY, new_axes

OURS, PEER = COLOURS[0], GREY

WIDTH, LINE_INCHES = 7.2, 0.34
"""Width of a new figure, which has to hold the names, and the height of each model in it."""


class ComparisonDisplay:
    """Log-loss of each model, the best one on top, with the standard error of its distance to the best one.

    Beside the name stands the share of rows that a model got wrong. Models that failed, or have an infinite log-loss,
    are named without a dot. Those of other libraries are grey.

    Parameters
    ----------
    comparison : Comparison
        What `compare` found.

    Attributes
    ----------
    ax_, figure_ : the axes and the figure it is drawn in
    """

    def __init__(self, comparison: Comparison) -> None:
        self.comparison = comparison

    def plot(self, ax: Any = None) -> Self:
        """Draw on new axes, or on those given."""
        found = self.comparison
        best, is_new = found.best, ax is None
        ax = new_axes(ax)
        if is_new:
            ax.figure.set_size_inches(WIDTH, 1.2 + LINE_INCHES * len(found.contestants))
        for place, one in enumerate(found.contestants):
            if np.isfinite(one.log_loss):
                error = np.nan_to_num(found.behind(one)[1])
                colour = PEER if one.is_peer else OURS
                ax.errorbar(one.log_loss, place, xerr=error, fmt="o", color=colour, markersize=6, linewidth=1.6)
        ax.axvline(best.log_loss, color=GREY, linewidth=0.8, linestyle=(0, (4, 2)), zorder=0)
        ax.set_yticks(range(len(found.contestants)), [_label(one) for one in found.contestants])
        ax.set_ylim(len(found.contestants) - 0.5, -0.5)
        ax.set_xlabel("log-loss, with the standard error of the distance to the best")
        for colour, who in ((OURS, "Bayeswater"), (PEER, "other libraries")):
            if any(one.is_peer == (colour == PEER) for one in found.contestants):
                ax.plot([], [], "o", color=colour, label=who)
        ax.legend(frameon=False, fontsize="small")
        ax.set_title(f"{found.n_rows:,} rows, {found.n_folds} folds", fontsize="medium", loc="left")
        self.ax_, self.figure_ = ax, ax.figure
        return self


def _label(one: Any) -> str:
    if one.card is None:
        return f"{one.name}  (failed)"
    infinite = "" if np.isfinite(one.log_loss) else ", log-loss ∞"
    return f"{one.name}  {100 * one.error:.1f} % wrong{infinite}"
