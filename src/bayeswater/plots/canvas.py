"""What displays are drawn on and with: axes, colours and marks of classes, and the base of them all.

One colour for each classifier, and one kind of line for each thing that is told about it, so that several displays can
share their axes. The colours are those of Okabe and Ito (2008), told apart by people of any colour vision, without the
yellow, which is too light for lines.

Each class has one colour, one tint and one marker. Colours are those of all plots, and end after seven; a marker goes
with each, so that a picture printed in grey can be read as well, and further classes have the same colours with other
markers.

`Display` is the base of all: how displays come from a classifier, and where they are drawn.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, Generic, Self, TypeVar

from bayeswater.data.display_width import shortened
from bayeswater.markup import DIRECTIONS

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


LINE_INCHES = 0.34
"""Height of each line of a display of lines."""

LONGEST = 30
"""Width of a label, in letters."""


def plain(text: Any, width: int = LONGEST) -> str:
    r"""Write a text as it is, cut where it is wider: signs of dollars begin no formula, and none turns its letters.

    >>> plain("length of the petals, in cm", 18), plain("$1 to $2")
    ('length of the pet…', '\\$1 to \\$2')
    """
    return shortened(str(text).translate(DIRECTIONS), width).replace("$", r"\$")


SCRIPTS = (
    "Noto Sans CJK SC", "Noto Sans CJK JP", "Source Han Sans SC", "WenQuanYi Micro Hei", "WenQuanYi Zen Hei",
    "Microsoft YaHei", "PingFang SC", "Hiragino Sans GB", "SimHei", "Arial Unicode MS",
)  # fmt: skip
"""Fonts with the letters of Chinese, Japanese and Korean, which that of matplotlib has not."""


def legible(ax: Any) -> Any:
    """Let texts take letters that their font lacks from others that are there; give the axes."""
    from matplotlib.font_manager import fontManager
    from matplotlib.text import Text

    there = {font.name for font in fontManager.ttflist}
    found = [name for name in SCRIPTS if name in there]
    for text in ax.findobj(Text):
        if not text.get_text().isascii():
            text.set_fontfamily([*text.get_fontfamily(), *found])
    return ax


def lined_axes(ax: Any, labels: Sequence[Any], width: float = 7.2, longest: int = LONGEST) -> Any:
    """Give axes with a line for each label, the first on top; a new figure is as high as they need."""
    is_new, ax = ax is None, new_axes(ax)
    if is_new:
        ax.figure.set_size_inches(width, 1.2 + LINE_INCHES * len(labels))
    ax.set_yticks(range(len(labels)), [plain(label, longest) for label in labels])
    ax.set_ylim(len(labels) - 0.5, -0.7)
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


MARKERS = ("o", "^", "s", "D", "v", "P", "X")
TINT = 0.16
"""Share of the colour of a class in the ground of its region; the rest is white."""


def colour_of(code: int) -> str:
    """Colour of the class with this code.

    >>> colour_of(0), colour_of(7)
    ('#0072B2', '#0072B2')
    """
    return COLOURS[code % len(COLOURS)]


def marker_of(code: int) -> str:
    """Marker of the class with this code.

    >>> marker_of(0), marker_of(7)
    ('o', '^')
    """
    return MARKERS[(code + code // len(COLOURS)) % len(MARKERS)]


def tint_of(colour: str) -> tuple[float, float, float]:
    """Mix a colour with white, for a region.

    >>> [round(part, 3) for part in tint_of("#000000")]
    [0.84, 0.84, 0.84]
    """
    red, green, blue = (1 - TINT * (1 - int(colour[at : at + 2], 16) / 255) for at in (1, 3, 5))
    return red, green, blue


Curve = TypeVar("Curve")

MOST_LINES = 20
"""Columns, states or words that are drawn."""


class AxesDisplay:
    """What is drawn on axes of its own, or on those given.

    Attributes
    ----------
    ax_, figure_ : the axes and the figure they are in
    """

    ax_: Any
    figure_: Any

    def _drawn(self, ax: Any) -> Self:
        self.ax_, self.figure_ = legible(ax), ax.figure
        return self


class Display(ABC):
    """A curve and where it was drawn.

    Attributes
    ----------
    line_ : the main line
    ax_, figure_ : the axes and the figure it is in
    """

    name: str | None
    line_: Any
    ax_: Any
    figure_: Any

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, *args: Any, name: str | None = None, ax: Any = None, **options: Any
    ) -> Self:
        """Draw what a fitted classifier says of the rows X of classes y.

        Parameters
        ----------
        estimator : fitted classifier
            It has `predict_proba`.
        X : rows
            A table, as the classifier takes it.
        y : labels of shape (n_rows,)
            True classes.
        *args : as in `from_predictions`
            What is drawn.
        name : str, optional
            Name for the legend; default that of the class.
        ax : matplotlib axes, optional
            Where to draw; default new axes.
        **options : as in `from_predictions`
            How it is drawn.

        Returns
        -------
        display
            The curve, drawn.

        See Also
        --------
        from_predictions : Draw what probabilities.

        Examples
        --------
        >>> import matplotlib
        >>> matplotlib.use("agg")
        >>> from bayeswater import GaussianNB
        >>> X, y = [[0], [1], [2], [7], [8], [9]], ["low"] * 3 + ["high"] * 3
        >>> model = GaussianNB().fit(X, y)
        >>> from bayeswater.plots import ReliabilityDisplay
        >>> ReliabilityDisplay.from_estimator(model, X, y).name
        'GaussianNB'
        """
        name = type(estimator).__name__ if name is None else name
        proba, labels = estimator.predict_proba(X), estimator.classes_
        return cls.from_predictions(y, proba, *args, labels=labels, name=name, ax=ax, **options)

    @classmethod
    @abstractmethod
    def from_predictions(cls, y: Any, proba: Any, *args: Any, **options: Any) -> Self:
        """Draw what probabilities (n_rows, n_classes) of rows of classes y say."""

    @abstractmethod
    def plot(self, ax: Any = None, *, name: str | None = None, **style: Any) -> Self:
        """Draw on new axes, or on those given; `style` goes to the main line."""

    def _drawn(self, ax: Any, line: Any, x_label: str, y_label: str) -> Self:
        finish(ax, x_label, y_label)
        self.line_, self.ax_, self.figure_ = line, legible(ax), ax.figure
        return self


class CurveDisplay(Display, Generic[Curve]):
    """A display of one curve, and the name of the classifier it is of."""

    def __init__(self, curve: Curve, *, name: str | None = None) -> None:
        self.curve = curve
        self.name = name
