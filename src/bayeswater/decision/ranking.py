"""`Ranking`: how well probabilities put the rows of a class before all others: AUC, from sums over rows.

    AUC = P(p of a row of the class > p of another row) + P(they are equal) / 2

exactly over all pairs of up to a million rows. Of more, probabilities are counted in bins that are evenly spaced in
log-odds. Pairs within a bin are taken for equal ones: AUC is off by at most half of their share, which is reported.

The variance is that of DeLong, DeLong and Clarke-Pearson (1988): with v the share of other rows that a row of the class
stands before, and u the share of rows of the class that another row stands behind, it is

    var(v) / n_class + var(u) / n_others.

A row of weight w stands for w equal ones.
"""

from functools import cached_property
from typing import NamedTuple, Self

import numpy as np

from bayeswater.decision.intervals import Z
from bayeswater.records import record
from bayeswater.typing import Array

MOST_EXACT = 1_000_000
"""Rows up to which every probability is kept."""

MOST_KEPT = 2**24
"""Probabilities that are kept, of all classes together: those of more classes are counted in bins earlier."""

MOST_BINS, LEAST_BINS = 2**14, 2**8
"""Bins of a class: of many classes fewer each."""

FARTHEST = 37.0
"""Log-odds of the outer bins: beyond them a float64 no longer tells a probability from 1."""


class Area(NamedTuple):
    """AUC of a class, the interval in which it lies with 95 %, and by how much bins may have moved it."""

    value: float
    low: float
    high: float
    error: float = 0.0


@record
class Ranking:
    """Rows whose class is known, by the probability of each class.

    Parameters
    ----------
    pieces : probabilities (n, n_classes), codes (n,) and weights (n,) of rows that are kept
    bins : weights of rows by class, bin and whether they are of that class (n_classes, n_bins, 2), once they are many
    """

    pieces: tuple[tuple[Array, Array, Array], ...]
    bins: Array | None = None

    @classmethod
    def of(cls, log_proba: Array, codes: Array, weight: Array | None = None) -> Self:
        """Keep rows: log-probabilities (n_rows, n_classes), codes of true classes (n_rows,), weights (n_rows,).

        >>> Ranking.of(np.log([[0.9, 0.1], [0.4, 0.6], [0.6, 0.4], [0.2, 0.8]]), np.array([0, 0, 1, 1])).area(1).value
        0.75
        """
        own = np.ones(len(codes)) if weight is None else weight
        return cls(((np.exp(log_proba), codes, own),))._within_limits()

    def __add__(self, other: "Ranking") -> "Ranking":
        if self.bins is None and other.bins is None:
            return Ranking(self.pieces + other.pieces)._within_limits()
        return Ranking((), self._binned() + other._binned())

    def _within_limits(self) -> Self:
        n_rows, n_kept = sum(len(piece[1]) for piece in self.pieces), sum(piece[0].size for piece in self.pieces)
        return self if n_rows <= MOST_EXACT and n_kept <= MOST_KEPT else type(self)((), self._binned())

    def _binned(self) -> Array:
        if self.bins is not None:
            return self.bins
        n_classes = self.n_classes
        n_bins = max(LEAST_BINS, min(MOST_BINS, 2**21 // n_classes))
        edges = 1.0 / (1.0 + np.exp(-np.linspace(-FARTHEST, FARTHEST, n_bins - 1)))
        found = np.zeros((n_classes, n_bins, 2))
        for proba, codes, weight in self.pieces:
            for k in range(n_classes):
                place = 2 * np.searchsorted(edges, proba[:, k], side="right") + (codes == k)
                found[k] += np.bincount(place, weights=weight, minlength=2 * n_bins).reshape(n_bins, 2)
        return found

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.bins) if self.bins is not None else self.pieces[0][0].shape[1]

    def area(self, k: int) -> Area | None:
        """Give the AUC of a class against the rest; None where rows of either are missing."""
        others, own = self._counts(k).T
        n_others, n_own = others.sum(), own.sum()
        if not (n_others > 0 and n_own > 0):
            return None
        before = (np.cumsum(others) - others / 2) / n_others  # of a row of the class, for each value
        behind = 1.0 - (np.cumsum(own) - own / 2) / n_own
        of_own, of_others = own / n_own, others / n_others
        value = float(of_own @ before)
        error = 0.0 if self.bins is None else 0.5 * float(of_own @ of_others)
        variance = of_own @ (before - value) ** 2 / n_own + of_others @ (behind - value) ** 2 / n_others
        half = Z * float(np.sqrt(variance)) + error
        return Area(value, max(value - half, 0.0), min(value + half, 1.0), error)

    @cached_property
    def areas(self) -> list[Area | None]:
        """Give the AUC of every class against the rest."""
        return [self.area(k) for k in range(self.n_classes)]

    def mean_area(self) -> float | None:
        """Give the mean AUC of all classes that have one; of two classes it is that of either."""
        known = [area.value for area in self.areas if area is not None]
        return float(np.mean(known)) if known else None

    def _counts(self, k: int) -> Array:
        """Weights of rows at each probability of a class in rising order, of other classes and of its own: (n, 2)."""
        if self.bins is not None:
            return self.bins[k]
        p, is_own, weight = (
            np.concatenate(parts)
            for parts in zip(*((proba[:, k], codes == k, own) for proba, codes, own in self.pieces), strict=True)
        )
        values, place = np.unique(p, return_inverse=True)
        return np.bincount(2 * place + is_own, weights=weight, minlength=2 * len(values)).reshape(-1, 2)
