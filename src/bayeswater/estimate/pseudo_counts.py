"""`PseudoCounts`: one rule of smoothing for distributions over any number of cells.

Of v cells the share of one is (n + a) / (N + v a), with a pseudo-count a for each cell:

    m-estimate    a = alpha / v    alpha rows are imagined, spread equally, however many cells there are
    laplace       a = alpha        every cell is imagined alpha times

Tables of pairs of columns have many cells and few rows in each, where the m-estimate is much the better of the two:
its weight does not grow with the number of states.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from bayeswater.errors import ParameterError
from bayeswater.statistics.statistic import remainder
from bayeswater.typing import LARGEST_COUNT, Array, is_pseudo_count

KINDS = ("m-estimate", "laplace")
"""Ways to smooth."""


@dataclass(frozen=True)
class PseudoCounts:
    """A kind of smoothing and its strength.

    >>> [float(PseudoCounts(kind, 1.0).of(4)) for kind in KINDS]
    [0.25, 1.0]
    """

    kind: str = "m-estimate"
    alpha: float = 1.0

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ParameterError(f"smoothing is {self.kind!r}; it can be one of {list(KINDS)}")
        if not is_pseudo_count(self.alpha):
            raise ParameterError(f"alpha is {self.alpha!r}; it must be a number from 0 to {LARGEST_COUNT:g}")

    def of(self, n_cells: Any) -> Any:
        """Pseudo-count of each cell of a distribution over `n_cells` of them."""
        if self.kind == "laplace":
            return np.full(np.shape(n_cells), float(self.alpha))[()]
        return self.alpha / np.maximum(n_cells, 1)


def log_share(count: Array, total: Array, cell: Any, n_cells: Any, removed: Any = 0.0) -> Array:
    """Logarithm of (count + cell) / (total + n_cells * cell), once a weight is taken out of both counts.

    Where neither a row nor a pseudo-count says anything, all cells are equal: 1 / n_cells. A share of zero is -inf.

    >>> np.exp(log_share(np.array([3, 0]), np.array([3, 3]), 0.5, 2))
    array([0.875, 0.125])
    """
    smoothed = remainder(count, removed) + cell
    whole = remainder(total, removed) + n_cells * cell
    empty = whole <= 0
    with np.errstate(divide="ignore"):
        return np.log(np.where(empty, 1.0, smoothed)) - np.log(np.where(empty, np.maximum(n_cells, 1), whole))
