"""The structure of KDB (Sahami 1996): columns in the order of what they tell, each with the k parents it hangs on most.

Columns are ordered by MI(X; Y), falling. The parents of a column are, among those before it, the k with the largest
CMI(X_i; X_j | Y); they are kept in that order, falling, since back-off drops the last first. Equal ones, within
rounding, go by the index of the column. Columns of too many states to be a parent (`structure.sparse_columns`) come
last, and depend on the class alone.
"""

from dataclasses import dataclass

import numpy as np

from bayeswater.errors import ParameterError
from bayeswater.statistics.pair_counts import PairCounts
from bayeswater.structure.mutual_information import conditional_mutual_information, mutual_information
from bayeswater.structure.sparse_columns import sparse_columns
from bayeswater.structure.ties import descending_order
from bayeswater.typing import Array


@dataclass(frozen=True)
class DependenceOrder:
    """The order of the columns, and for each column (by index) its parents, the strongest first."""

    order: tuple[int, ...]
    parents: tuple[tuple[int, ...], ...]


def k_dependence(
    counts: PairCounts, k: int, theta: float | None = None, rng: np.random.Generator | None = None
) -> DependenceOrder:
    """Give the order and the parents of KDB; with `theta`, a parent has a CMI of at least so much.

    With random numbers the order is drawn: of the columns that are left, each is next with a probability in proportion
    to its MI. Members of an ensemble then differ in structure, and columns that tell more still come early.
    """
    if k < 0:
        raise ParameterError(f"k is {k}; a column has 0 parents or more")
    order = telling_order(counts, rng)
    information = conditional_mutual_information(counts)
    parents: list[tuple[int, ...]] = [()] * len(order)
    n_usual = int((~sparse_columns(counts)).sum())
    for place, i in enumerate(order[:n_usual].tolist()):
        before = np.sort(order[:place])
        strongest = before[descending_order(information[i, before])[:k]]
        if theta is not None:
            strongest = strongest[information[i, strongest] >= theta]
        parents[i] = tuple(strongest.tolist())
    return DependenceOrder(tuple(order.tolist()), tuple(parents))


def telling_order(counts: PairCounts, rng: np.random.Generator | None = None) -> Array:
    """Give the columns (n_columns,) by what they tell of the class, those of too many states last."""
    told = mutual_information(counts)
    order = descending_order(told) if rng is None else _drawn_order(told, rng)
    return order[np.argsort(sparse_columns(counts)[order], kind="stable")]


def _drawn_order(told: Array, rng: np.random.Generator) -> Array:
    """Draw columns without replacement, in proportion to what they tell; those that tell nothing come last.

    The first of some waiting times of different rates is that of a column with a probability in proportion to its rate.
    """
    waiting = rng.exponential(size=len(told))
    late = np.where(told > 0, waiting / np.where(told > 0, told, 1.0), np.inf)
    return np.lexsort((waiting, late))
