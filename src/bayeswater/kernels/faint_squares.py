"""Squares too small for floats: a scatter that is rounding, or zero although values differ.

The square of 1e-160 is 1e-320, which has four digits, and that of 1e-170 is zero. A scatter of zero must say that all
values are equal, so where they are not it is kept as the least number there is: merged with others it is nothing, and
alone it shows whoever reads the sums that its squares are gone.
"""

from collections.abc import Callable, Sequence

import numpy as np

from bayeswater.typing import Array

FAINT = 1e-305
"""Scatter below this has lost digits: its terms are numbers of fewer than sixteen."""

LEAST = 5e-324
"""The least number over zero."""

NEAR_ZERO = 1e-135
"""Floats further from zero than this differ by so much, if at all, that their squares are no fainter than that."""


def squared(apart: Array, weight: Array) -> Array:
    """Weighted squares of distances: over zero wherever both are."""
    square: Array = apart**2 * weight
    return np.where((square == 0) & (apart != 0) & (weight > 0), LEAST, square)


def gone_squares(mean: Array, scatter: Array, pieces_of: Callable[[int], Sequence[Array]]) -> list[int]:
    """Find columns whose values differ, but by so little that no square tells: of scatter zero in every class.

    Mean and scatter are (n_classes, n_columns). Only columns near zero are looked at again: `pieces_of` gives the
    arrays that one is made of.
    """
    if scatter.all():
        return []
    near = np.flatnonzero(((scatter == 0) & (np.abs(mean) < NEAR_ZERO)).all(axis=0)).tolist()
    return [j for j in near if 0 < _width(pieces_of(j)) < np.sqrt(FAINT)]


def _width(pieces: Sequence[Array]) -> float:
    """Distance between the least and the largest number in some arrays."""
    known = [piece[piece == piece] for piece in pieces if piece.dtype == np.float64]  # others have no faint squares
    limits = [(piece.min(), piece.max()) for piece in known if len(piece)]
    return max(high for _, high in limits) - min(low for low, _ in limits) if limits else 0.0
