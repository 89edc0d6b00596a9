"""Trees of columns that explain most: maximum spanning trees and forests, the tree of TAN, the structure of KDB.

Friedman, Geiger and Goldszmidt (1997): among all trees over the columns, the one whose arcs have the largest sum of
CMI(X_i; X_j | Y) has the largest likelihood. Whichever column is made its root, the likelihood is the same; smoothed
tables differ a little, so the root is part of the definition: the column with the largest MI(X; Y).

Ties. Edges are ordered by weight, those within rounding as equal (`structure.mutual_information`), and equal ones by
the indices of their columns, the lower one first. No two edges are then equal, so there is one best tree.

Columns of too many states to be a parent (`structure.mutual_information`) are in no arc: they depend on the class
alone.

A penalty leaves arcs out that do not pay for their parameters, and gives a forest. With N_ij rows that have both cells,
v states and K classes, an arc is kept if

    N_ij CMI - (v_i - 1)(v_j - 1) K > 0                    "aic"
    N_ij CMI - (v_i - 1)(v_j - 1) K (log N_ij) / 2 > 0     "bic"

The structure of KDB (Sahami 1996) has columns in the order of what they tell, each with the k parents it hangs on most.
Columns are ordered by MI(X; Y), falling. The parents of a column are, among those before it, the k with the largest
CMI(X_i; X_j | Y); they are kept in that order, falling, since back-off drops the last first. Equal ones, within
rounding, go by the index of the column. Columns of too many states to be a parent (`structure.mutual_information`) come
last, and depend on the class alone.
"""

from collections import deque
from collections.abc import Callable, Sequence

import numpy as np

from bayeswater.errors import ParameterError
from bayeswater.kernels.pair_information import BIC, CONDITIONAL, PairValues
from bayeswater.kernels.remainders import ROUNDING
from bayeswater.records import record
from bayeswater.statistics.category_counts import CategoryCounts
from bayeswater.statistics.pair_counts import PairCounts
from bayeswater.structure.mutual_information import (
    conditional_mutual_information,
    descending_order,
    mutual_information,
    pair_weight,
    sparse_columns,
)
from bayeswater.typing import Array

PENALTIES = ("aic", "bic")
"""What may have to be paid for the parameters of an arc."""


def maximum_spanning_forest(weight: Array | PairValues, is_free: Array | None = None) -> list[tuple[int, int]]:
    """Give the edges (i, j), i < j, of the spanning forest of largest weight, by Prim's algorithm.

    Parameters
    ----------
    weight : array of shape (n_columns, n_columns), symmetric, or the same as `PairValues`
        An edge of weight -inf is never taken.
    is_free : array of bool of shape (n_columns,), optional
        Columns that may be in an edge; without it all.

    Examples
    --------
    >>> maximum_spanning_forest(np.array([[0, 3, 1], [3, 0, 2], [1, 2, 0]]))
    [(0, 1), (1, 2)]
    """
    n = len(weight)
    numbers = weight.packed if isinstance(weight, PairValues) else weight
    same = ROUNDING * float(max(numbers.max(initial=0.0), -numbers.min(initial=0.0, where=numbers > -np.inf)))
    edges = []
    outside, columns = np.ones(n, dtype=bool), np.arange(n)
    best, nearest = np.full(n, -np.inf), np.zeros(n, dtype=np.int64)  # the best edge from the trees to each column
    for _ in range(n):  # where no edge leads on, another tree is begun
        top = np.where(outside, best, -np.inf).max()
        if np.isneginf(top):
            new = int(outside.argmax())
        else:
            equal = np.flatnonzero(outside & (best >= top - same))
            low, high = np.minimum(equal, nearest[equal]), np.maximum(equal, nearest[equal])
            first = int(np.lexsort((high, low))[0])
            new = int(equal[first])
            edges.append((int(low[first]), int(high[first])))
        outside[new] = False
        if is_free is not None and not is_free[new]:
            continue
        row = weight[new] if is_free is None else np.where(is_free, weight[new], -np.inf)
        # Of equal edges to a column the one whose other end comes first, as the lower end decides, then the higher.
        closer = (row > best + same) | ((row >= best - same) & (row > -np.inf) & (new < nearest))
        closer &= outside & (columns != new)
        best[closer], nearest[closer] = row[closer], new
    return sorted(edges)


def rooted(edges: Sequence[tuple[int, int]], preference: Array, root: int | None = None) -> Array:
    """Point the edges of a forest away from its roots: the parent of each column (n_columns,), or -1.

    The root of a tree is `root`, if it is in it, or else its column of largest `preference` (n_columns,).

    >>> rooted([(0, 1), (1, 2)], np.array([0.1, 0.2, 0.3]))
    array([ 1,  2, -1])
    """
    n = len(preference)
    neighbours: list[list[int]] = [[] for _ in range(n)]
    for i, j in edges:
        neighbours[i].append(j)
        neighbours[j].append(i)
    order = descending_order(preference).tolist()
    parent = np.full(n, -1, dtype=np.int64)
    reached = np.zeros(n, dtype=bool)
    for start in order if root is None else [root, *order]:
        waiting = deque([] if reached[start] else [start])
        reached[start] = True
        while waiting:
            i = waiting.popleft()
            for j in neighbours[i]:
                if not reached[j]:
                    reached[j], parent[j] = True, i
                    waiting.append(j)
    return parent


def tree_augmented(counts: PairCounts, root: int | None = None, penalty: str | None = None) -> Array:
    """Give the parent of each column (n_columns,), or -1 for a root, in the tree or forest of TAN."""
    gain = conditional_mutual_information(counts)
    if penalty is not None:
        gain = penalised_gain(counts, gain, penalty)
        gain[gain <= 0] = -np.inf
    return rooted(maximum_spanning_forest(gain, ~sparse_columns(counts)), mutual_information(counts), root)


def tree_of_rows(
    counts: CategoryCounts | PairCounts, worth: Callable[[float], PairValues], penalty: str | None = None
) -> list[tuple[int, int]]:
    """Give the edges of the same tree, where counts of all pairs are not held.

    Parameters
    ----------
    counts : of the single columns
    worth : gives what every pair is worth by the price of a parameter (`kernels.pair_information`)
    penalty : as of `tree_augmented`
    """
    gain = worth({None: CONDITIONAL, "aic": 1.0, "bic": BIC}[penalty])
    if penalty is not None:
        gain.packed[gain.packed <= 0] = -np.inf
    return maximum_spanning_forest(gain, ~sparse_columns(counts))


def penalised_gain(counts: PairCounts, information: Array, penalty: str) -> Array:
    """N CMI less the penalty of the parameters of an arc: (n_columns, n_columns)."""
    if penalty not in PENALTIES:
        raise ParameterError(f"penalty is {penalty!r}; it can be None, 'aic' or 'bic'")
    weight = pair_weight(counts)
    n_parameters = np.outer(counts.n_states - 1, counts.n_states - 1) * counts.n_classes
    price = np.log(np.maximum(weight, 1)) / 2 if penalty == "bic" else 1.0
    return weight * information - n_parameters * price


@record
class DependenceOrder:
    """The order of the columns, and for each column (by index) its parents, the strongest first."""

    order: tuple[int, ...]
    parents: tuple[tuple[int, ...], ...]


def k_dependence(
    counts: PairCounts | CategoryCounts,
    k: int,
    theta: float | None = None,
    rng: np.random.Generator | None = None,
    information: PairValues | None = None,
) -> DependenceOrder:
    """Give the order and the parents of KDB; with `theta`, a parent has a CMI of at least so much.

    Of single columns alone there are counts where the `information` of all pairs is told.

    With random numbers the order is drawn: of the columns that are left, each is next with a probability in proportion
    to its MI. Members of an ensemble then differ in structure, and columns that tell more still come early.
    """
    if k < 0:
        raise ParameterError(f"k is {k}; a column has 0 parents or more")
    order = telling_order(counts, rng)
    told: Array | PairValues
    if information is not None:
        told = information
    else:
        assert isinstance(counts, PairCounts)
        told = conditional_mutual_information(counts)
    parents: list[tuple[int, ...]] = [()] * len(order)
    n_usual = int((~sparse_columns(counts)).sum())
    for place, i in enumerate(order[:n_usual].tolist()):
        before = np.sort(order[:place])
        own = told[i]
        strongest = before[descending_order(own[before])[:k]]
        if theta is not None:
            strongest = strongest[own[strongest] >= theta]
        parents[i] = tuple(strongest.tolist())
    return DependenceOrder(tuple(order.tolist()), tuple(parents))


def telling_order(counts: PairCounts | CategoryCounts, rng: np.random.Generator | None = None) -> Array:
    """Give the columns (n_columns,) by what they tell of the class, those of too many states last."""
    information = mutual_information(counts)
    order = descending_order(information) if rng is None else _drawn_order(information, rng)
    return order[np.argsort(sparse_columns(counts)[order], kind="stable")]


def _drawn_order(information: Array, rng: np.random.Generator) -> Array:
    """Draw columns without replacement, in proportion to what they tell; those that tell nothing come last.

    The first of some waiting times of different rates is that of a column with a probability in proportion to its rate.
    """
    waiting = rng.exponential(size=len(information))
    late = np.where(information > 0, waiting / np.where(information > 0, information, 1.0), np.inf)
    return np.lexsort((waiting, late))
