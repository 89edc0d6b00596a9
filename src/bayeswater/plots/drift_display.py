"""`DriftDisplay`: how certain it is that each column changed, the most certain on top."""

from typing import Any, Self

from bayeswater.explain.drift import Drift
from bayeswater.plots.canvas import COLOURS, GREY, new_axes

CHANGED, SAME = COLOURS[1], GREY

WIDTH, LINE_INCHES = 8.0, 0.34
"""Width of a new figure, which has to hold the words, and the height of each column in it."""

MARKS = (*(-(10**k) for k in range(6, 0, -1)), -5, 0, 5, *(step * 10**k for k in range(1, 7) for step in (1, 3)))
"""Factors that are marked on the axis."""

MOST_COLUMNS = 25
"""Columns that are drawn at most."""


class DriftDisplay:
    """Log Bayes factor of two laws against one for each column and for the class frequencies.

    A dot right of the dashed line is a change; the size of it stands beside the dot, in the class where it is most
    certain. What stayed the same is grey.

    Parameters
    ----------
    drift : Drift
        What `drift` found.

    Attributes
    ----------
    ax_, figure_ : the axes and the figure it is drawn in
    """

    def __init__(self, drift: Drift) -> None:
        self.drift = drift

    def plot(self, ax: Any = None) -> Self:
        """Draw on new axes, or on those given."""
        found, is_new = self.drift, ax is None
        lines = [("class frequencies", found.classes_log_bayes_factor, found.classes_have_changed, "")]
        lines += [
            (
                f"{column.name} (missing)" if column.what == "missing" else column.name,
                column.log_bayes_factor,
                column.has_changed,
                f"{column.by_class[0].label}: {column.words}" if column.by_class else "",
            )
            for column in found.columns
        ]
        lines = sorted(lines, key=lambda line: -line[1])[:MOST_COLUMNS]
        ax = new_axes(ax)
        if is_new:
            ax.figure.set_size_inches(WIDTH, 1.2 + LINE_INCHES * len(lines))
        for place, (_, factor, has_changed, words) in enumerate(lines):
            colour = CHANGED if has_changed else SAME
            ax.plot([0, factor], [place, place], color=colour, linewidth=1.6, solid_capstyle="butt")
            ax.plot(factor, place, "o", color=colour, markersize=6)
            if has_changed and words:
                ax.annotate(
                    words if len(words) < 60 else f"{words[:57]}...",
                    (0, place),
                    xytext=(2, 5),
                    textcoords="offset points",
                    fontsize="x-small",
                    va="bottom",
                )
        ax.axvline(found.threshold, color=GREY, linewidth=0.8, linestyle=(0, (4, 2)), zorder=0)
        ax.set_xscale("symlog", linthresh=10.0)
        low, high = ax.get_xlim()
        ax.set_xticks([mark for mark in MARKS if low <= mark <= high], minor=False)
        ax.xaxis.set_major_formatter(lambda mark, _: f"{mark:,.0f}")
        ax.set_yticks(range(len(lines)), [line[0] for line in lines])
        ax.set_ylim(len(lines) - 0.5, -0.7)
        ax.set_xlabel("log Bayes factor of two laws against one")
        before, after = found.n_rows
        ax.set_title(f"{before:,.6g} rows before, {after:,.6g} after", fontsize="medium", loc="left")
        self.ax_, self.figure_ = ax, ax.figure
        return self
