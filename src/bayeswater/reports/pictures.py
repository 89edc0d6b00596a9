"""Pictures of a report as SVG: lines, dots and a nomogram, drawn in the colours of the page; every label is text.

A picture has no script, and of style only classes, so that it is read on light and on dark ground and on paper.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from bayeswater.data.display_width import display_width, shortened
from bayeswater.explain.nomogram import Scale
from bayeswater.markup import Safe, markup
from bayeswater.typing import Array

WIDTH, HEIGHT, LEFT, BOTTOM, TOP = 300.0, 250.0, 40.0, 36.0, 10.0
"""Size of a plot, and the room for the labels of its axes."""

MOST_POINTS = 300
"""Places of a line: more cannot be seen."""


def plot(lines: Sequence[tuple[Any, Any, str]], x_label: str, y_label: str, title: str, *, top: float = 1.0) -> Safe:
    """Draw lines (x, y, class of the style) over the unit interval, up to `top`.

    The style "dots" draws dots, and "diagonal" a line from corner to corner.
    """
    parts = [_axes(x_label, y_label, top)]
    for x, y, style in lines:
        places = np.unique(np.linspace(0, max(len(x) - 1, 0), min(len(x), MOST_POINTS)).round().astype(int))
        points = [(_x(float(x[i])), _y(float(y[i]), top)) for i in places]
        if style == "dots":
            parts += [f'<circle class="dot" cx="{a:.1f}" cy="{b:.1f}" r="3.5"/>' for a, b in points]
        else:
            parts.append(f'<polyline class="{style}" points="{" ".join(f"{a:.1f},{b:.1f}" for a, b in points)}"/>')
    return _svg(WIDTH, HEIGHT, "".join(parts), title)


def _svg(width: float, height: float, inside: str, title: str) -> Safe:
    return Safe(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" role="img" '
        f'style="max-width:{1.25 * width:g}px"><title>{markup(title)}</title>{inside}</svg>'
    )


def _x(share: float) -> float:
    return LEFT + (WIDTH - LEFT - 10) * share


def _y(value: float, top: float) -> float:
    return HEIGHT - BOTTOM - (HEIGHT - BOTTOM - TOP) * min(value, top) / top


def round_top(value: float) -> float:
    """Give a number from `value` on, by which an axis has round quarters.

    >>> round_top(0.214), round_top(1.0), round_top(0.04)
    (0.24, 1.0, 0.04)
    """
    quarter = max(value, 1e-9) / 4
    power = 10.0 ** np.floor(np.log10(quarter))
    times = next(times for times in (1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10) if times * power >= quarter * (1 - 1e-9))
    return float(f"{4 * times * power:.6g}")


def _axes(x_label: str, y_label: str, top: float) -> str:
    parts = []
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        across, up = _x(share), _y(share * top, top)
        parts.append(_line("grid", across, across, _y(0, top), TOP))
        parts.append(_line("grid", LEFT, WIDTH - 10, up, up))
        parts.append(_text(across, HEIGHT - BOTTOM + 12, f"{share:g}", "middle"))
        parts.append(_text(LEFT - 4, up + 3, f"{share * top:.3g}", "end"))
    middle = (HEIGHT - BOTTOM + TOP) / 2
    parts.append(_text(_x(0.5), HEIGHT - 6, x_label, "middle"))
    parts.append(f'<g transform="translate(9 {middle:g}) rotate(-90)">{_text(0, 0, y_label, "middle")}</g>')
    return "".join(parts)


def _text(x: float, y: float, text: str, anchor: str = "start", style: str = "label") -> str:
    return f'<text class="{style}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{markup(text)}</text>'


def _line(style: str, x1: float, x2: float, y1: float, y2: float) -> str:
    return f'<line class="{style}" x1="{x1:.1f}" x2="{x2:.1f}" y1="{y1:.1f}" y2="{y2:.1f}"/>'


NAMES, ROW, PAGE = 160.0, 34.0, 730.0
"""Room for names, height of a scale and width of a nomogram: 22 letters of a wide font take 7 each."""

HALF_LETTER = 3.0
"""Half the width of a letter of a label: wide fonts have figures of 0.64 of the size, which is 9."""

LONGEST_LABEL = 36
"""Width of a label, in letters: two days with their hours."""


def nomogram_picture(
    scales: Sequence[Scale], intercept: float, start: str, axis: str, title: str
) -> tuple[Safe, list[Scale]]:
    """Draw the scales of all columns below each other, over one axis of log-odds; class frequencies come first.

    Give the scales of states and bins, too, of which not all have room for their name.
    """
    ends = [intercept, 0.0, *(float(odds) for scale in scales for odds in scale.odds)]
    low, high = min(ends), max(ends)
    room = (high - low) or 1.0

    def place(odds: float) -> float:
        return NAMES + 12 + (PAGE - NAMES - 40) * (odds - low) / room

    parts, crowded, y = [], [], 20.0
    for scale in (Scale(start, "density", [f"{intercept:+.2f}"], np.array([intercept])), *scales):
        odds = scale.odds
        parts.append(_text(NAMES, y + 3, shortened(scale.column, 22), "end", "name"))
        first, last = place(float(odds.min())), place(float(odds.max()))
        parts.append(
            f'<line class="scale" x1="{first:.1f}" x2="{max(last, first + 1):.1f}" y1="{y:.1f}" y2="{y:.1f}"/>'
        )
        stops, n_named = _stops(scale.at, [place(float(own)) for own in odds], y)
        parts += stops
        if n_named < len(scale.at) and scale.kind in ("states", "bins"):
            crowded.append(scale)
        y += ROW
    parts.append(_line("grid", place(0), place(0), 8, y))
    for tick in _ticks(low, high):
        parts.append(
            f'<line class="scale" x1="{place(tick):.1f}" x2="{place(tick):.1f}" y1="{y:.1f}" y2="{y + 4:.1f}"/>'
        )
        parts.append(_text(place(tick), y + 15, f"{tick:+g}" if tick else "0", "middle"))
    parts.append(_text(NAMES, y + 6, axis, "end", "name"))
    return _svg(PAGE, y + 24, "".join(parts), title), crowded


def _stops(at: Sequence[Any], places: Sequence[float], y: float) -> tuple[list[str], int]:
    """Mark the places of a scale, and label those that have room, above and below the line; count the whole labels."""
    parts, ends, written, n_whole = [], [-np.inf, -np.inf], {""}, 0
    for x, own in sorted(zip(places, at, strict=True), key=lambda one: one[0]):
        text = f"{float(f'{own:.4g}'):,.10g}" if isinstance(own, float) else "–" if own is None else str(own)
        label = shortened(text, LONGEST_LABEL)
        parts.append(_line("stop", x, x, y - 4, y + 4))
        half = HALF_LETTER * display_width(label) + 2
        middle = min(max(x, NAMES + half), PAGE - half)
        side = 0 if middle - half > ends[0] else 1
        if label not in written and middle - half > ends[side]:
            ends[side] = middle + half
            written.add(label)
            n_whole += label == text
            parts.append(_text(middle, y - 7 if side == 0 else y + 14, label, "middle"))
    return parts, n_whole


def _ticks(low: float, high: float) -> Array:
    """Round numbers between two, at most ten.

    >>> _ticks(-2.2, 3.1).tolist()
    [-2.0, -1.0, 0.0, 1.0, 2.0, 3.0]
    """
    room = max(high - low, 1e-9)
    step = 10.0 ** np.floor(np.log10(room / 2))
    step *= next(times for times in (1, 2, 5, 10) if room / (step * times) <= 10)
    return np.arange(np.ceil(low / step), np.floor(high / step) + 1) * step
