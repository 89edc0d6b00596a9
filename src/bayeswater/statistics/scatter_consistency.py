"""What the scatter matrices of any rows fulfil: those that came from elsewhere are held against it."""

import numpy as np

from bayeswater.errors import StatisticsError
from bayeswater.statistics.fourth_moments import FourthMoments
from bayeswater.statistics.scatter import Scatter
from bayeswater.typing import Array

SLACK = 1e-9
"""Directions of columns of unit length may be negative by so much: sums that were merged and subtracted are rounded."""

NARROWEST = 1e-40
"""Share of the square of the distance between two floats, times the weight, below which rounding leaves no square."""

SIGNED = ("mean", "scatter", "third")
"""Sums that may be negative."""


def require_scatter(columns: Scatter, count: Array, slack: float) -> None:
    """Refuse matrices that no rows can have."""
    n_classes, d = len(count), columns.scatter.shape[-1]
    whole, pairs = (n_classes, 1, 1), (n_classes, d, d)
    shapes = {"weight": [whole, pairs], "mean": [(n_classes, d, 1), pairs]}
    for name, array in columns.to_arrays().items():
        _require(array.shape in shapes.get(name, [pairs]), f"{name} has shape {array.shape} for {d} columns")
    _require(columns.names is None or len(columns.names) == d, f"there are sums of {d} columns, and other names")
    is_pairwise = columns.weight.shape == pairs
    _require(is_pairwise == (columns.mean.shape == pairs) or d == 1, "weight and mean are not both of pairs of columns")
    _require(not (is_pairwise and d > 1 and isinstance(columns, FourthMoments)), "fourth is of whole rows alone")
    _require(columns.weight.dtype == count.dtype, f"weight is of {columns.weight.dtype}, class_count of {count.dtype}")
    _require(bool((columns.weight <= count[:, None, None] + slack).all()), "weight counts more rows than class_count")
    if not is_pairwise and d > 1:
        same = np.abs(columns.weight[:, 0, 0] - count) <= slack
        _require(bool(same.all()), "weight is not that of the classes, though no cell is missing")
    for name, array in columns.to_arrays().items():
        if name in ("weight", "scatter", "fourth"):
            size = SLACK * np.abs(array).max(initial=0.0)
            _require(bool((np.abs(array - array.swapaxes(1, 2)) <= size).all()), f"{name} is not symmetric")
    squares = columns.squares
    _require(bool((squares >= 0).all()), "scatter has a negative square")
    _require_possible_squares(columns)
    if not is_pairwise:
        length = np.where(squares > 0, np.sqrt(squares), 1.0)
        least = np.linalg.eigvalsh(columns.scatter / length[:, :, None] / length[:, None, :]).min(initial=0.0)
        _require(bool(least >= -SLACK * d), "scatter is negative in a direction")


def _require_possible_squares(columns: Scatter) -> None:
    """Refuse squares that are too small: rows that differ do so by the distance of two floats."""
    with np.errstate(over="ignore", invalid="ignore"):
        least = NARROWEST * np.spacing(np.abs(columns.means)) ** 2 * columns.cells
    for k, j in np.argwhere((columns.squares > 0) & (columns.squares < least))[:1].tolist():
        problem = f"scatter of column {columns.column_name(j)!r} is {columns.squares[k, j]:g} in a class, but "
        raise StatisticsError(problem + f"floats near its mean of {columns.means[k, j]:g} differ by more")


def _require(condition: bool, problem: str) -> None:
    if not condition:
        raise StatisticsError(problem)
