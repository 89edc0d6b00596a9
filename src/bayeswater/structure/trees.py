"""The tree of columns that explains most: maximum spanning trees and forests, and the tree of TAN.

Friedman, Geiger and Goldszmidt (1997): among all trees over the columns, the one whose arcs have the largest sum of
CMI(X_i; X_j | Y) has the largest likelihood. Whichever column is made its root, the likelihood is the same; smoothed
tables differ a little, so the root is part of the definition: the column with the largest MI(X; Y).

Ties. Edges are ordered by weight, those within rounding as equal (`structure.ties`), and equal ones by the indices of
their columns, the lower one first. No two edges are then equal, so there is one best tree.

Columns of too many states to be a parent (`structure.sparse_columns`) are in no arc: they depend on the class alone.

A penalty leaves arcs out that do not pay for their parameters, and gives a forest. With N_ij rows that have both cells,
v states and K classes, an arc is kept if

    N_ij CMI - (v_i - 1)(v_j - 1) K > 0                    "aic"
    N_ij CMI - (v_i - 1)(v_j - 1) K (log N_ij) / 2 > 0     "bic"
"""

from collections import deque
from collections.abc import Sequence

import numpy as np

from bayeswater.errors import ParameterError
from bayeswater.statistics.pair_counts import PairCounts
from bayeswater.structure.mutual_information import conditional_mutual_information, mutual_information, pair_weight
from bayeswater.structure.sparse_columns import sparse_columns
from bayeswater.structure.ties import descending_order
from bayeswater.typing import Array

PENALTIES = ("aic", "bic")
"""What may have to be paid for the parameters of an arc."""


def maximum_spanning_forest(weight: Array, allowed: Array | None = None) -> list[tuple[int, int]]:
    """Give the edges (i, j), i < j, of the spanning forest of largest weight.

    Parameters
    ----------
    weight : array of shape (n_columns, n_columns), symmetric
    allowed : array of bool of that shape, optional
        Edges that may be taken; without it all, and the forest is a tree.

    Examples
    --------
    >>> maximum_spanning_forest(np.array([[0, 3, 1], [3, 0, 2], [1, 2, 0]]))
    [(0, 1), (1, 2)]
    """
    n = len(weight)
    low, high = np.triu_indices(n, 1)  # in the order of the indices
    order = descending_order(weight[low, high])
    low, high, worst = low[order], high[order], len(order)
    rank = np.full((n, n), worst)
    rank[low, high] = rank[high, low] = np.arange(worst)
    if allowed is not None:
        rank[~(allowed | allowed.T)] = worst
    edges = []
    outside = np.ones(n, dtype=bool)
    nearest, rank_to = np.zeros(n, dtype=np.int64), np.full(n, worst)  # the best edge from the trees to each column
    for _ in range(n):  # Prim's algorithm; where no edge leads on, another tree is begun
        new = int(np.where(outside, rank_to, worst + 1).argmin())
        if rank_to[new] < worst:
            edges.append((min(new, int(nearest[new])), max(new, int(nearest[new]))))
        outside[new] = False
        closer = rank[new] < rank_to
        nearest[closer], rank_to[closer] = new, rank[new, closer]
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
    is_usual = ~sparse_columns(counts)
    allowed = np.outer(is_usual, is_usual)
    if penalty is not None:
        gain = penalised_gain(counts, gain, penalty)
        allowed &= gain > 0
    return rooted(maximum_spanning_forest(gain, allowed), mutual_information(counts), root)


def penalised_gain(counts: PairCounts, information: Array, penalty: str) -> Array:
    """N CMI less the penalty of the parameters of an arc: (n_columns, n_columns)."""
    if penalty not in PENALTIES:
        raise ParameterError(f"penalty is {penalty!r}; it can be None, 'aic' or 'bic'")
    weight = pair_weight(counts)
    n_parameters = np.outer(counts.n_states - 1, counts.n_states - 1) * counts.n_classes
    price = np.log(np.maximum(weight, 1)) / 2 if penalty == "bic" else 1.0
    return weight * information - n_parameters * price
