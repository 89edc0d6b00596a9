"""One colour, one tint and one marker for each class.

Colours are those of all plots, and end after seven; a marker goes with each, so that a picture printed in grey can be
read as well, and further classes have the same colours with other markers.
"""

from bayeswater.plots.canvas import COLOURS

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
