"""Axes to draw on, and the colours of the curves on them.

One colour for each classifier, and one kind of line for each thing that is told about it, so that several displays can
share their axes. The colours are those of Okabe and Ito (2008), told apart by people of any colour vision, without the
yellow, which is too light for lines.
"""

from typing import Any

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
GREY = "#8c8c8c"
SIZE = (5.6, 4.0)
"""Width and height of a new figure in inches: legible in a column of text."""

_CURVE, _REFERENCE = "bayeswater curve", "bayeswater reference"
"""Marks of lines that are drawn by us, by which later displays know what is there."""


def new_axes(ax: Any = None) -> Any:
    """Give the axes to draw on: those given, or those of a new figure."""
    if ax is not None:
        return ax
    try:
        from matplotlib import pyplot
    except ImportError:
        raise ImportError("plots need matplotlib; install it with: pip install 'bayeswater[plot]'") from None
    _, ax = pyplot.subplots(figsize=SIZE, layout="constrained")
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(color="#e6e6e6", linewidth=0.7)
    ax.set_axisbelow(True)
    return ax


def draw_curve(ax: Any, x: Any, y: Any, **style: Any) -> Any:
    """Draw the main line of a display, in a colour that no other on these axes has, as long as there are any.

    Later ones are thinner: where two are the same, both are seen.
    """
    n_drawn = sum(line.get_gid() == _CURVE for line in ax.lines)
    style = {"color": COLOURS[n_drawn % len(COLOURS)], "linewidth": max(1.4, 3.0 - 0.8 * n_drawn)} | style
    (line,) = ax.plot(x, y, **style)
    line.set_gid(_CURVE)
    return line


def draw_beside(ax: Any, line: Any, x: Any, y: Any, label: str | None) -> Any:
    """Draw a second line that tells something else about the same classifier: dashed, in the same colour."""
    (beside,) = ax.plot(x, y, color=line.get_color(), linewidth=1.5, linestyle=(0, (4, 2)), label=label)
    return beside


def draw_reference(ax: Any, x: Any, y: Any, label: str) -> None:
    """Draw what all classifiers are compared with, once on the same axes."""
    if all(line.get_gid() != _REFERENCE for line in ax.lines):
        (line,) = ax.plot(x, y, color=GREY, linewidth=1.2, linestyle=":", label=label)
        line.set_gid(_REFERENCE)


def mark_place(ax: Any, x: float, label: str) -> None:
    """Mark a place on the x-axis by an upright line, once on the same axes."""
    if all(line.get_gid() != f"{_REFERENCE} {label}" for line in ax.lines):
        ax.axvline(x, color=GREY, linewidth=1.2, linestyle="-.", label=label).set_gid(f"{_REFERENCE} {label}")


def from_zero(ax: Any) -> None:
    """Show shares from 0 to 1 on the x-axis, and costs from 0 on; a later curve may still raise the upper limit."""
    ax.set_xlim(0, 1)
    ax.set_ylim(bottom=0, auto=None)


def finish(ax: Any, x_label: str, y_label: str) -> None:
    """Name the axes and explain the lines."""
    ax.set_xlabel(x_label)
    ax.set_ylabel(y_label)
    ax.legend(frameon=False, fontsize="small")


def named(name: str | None, what: str) -> str:
    """Label a line with the name of its classifier, where there is one.

    >>> named("GaussianNB", "as decided"), named(None, "as decided")
    ('GaussianNB: as decided', 'as decided')
    """
    return f"{name}: {what}" if name else what
