"""Cuts that keep what columns tell of each other (Hartemink 2001): fine bins, of which neighbours are joined.

In turn, each column that has more bins than it is to have joins the two neighbours by which the mutual information with
all other columns, as they are cut so far, falls least:

    loss of joining k and k + 1 = F(k) + F(k + 1) - F(k and k + 1),
    F(bin) = sum over the other columns o of (sum over bins j of o of n_j ln n_j) - n_o ln n_o

where n_j are the rows of the bin that are in bin j of o, and n_o those of them that have a number in o. So one table of
the rows that any two bins share is all that has to be counted. Of losses that are equal the first is taken.
"""

from itertools import combinations, pairwise

import numpy as np
from scipy.special import xlogy

from bayeswater.kernels.runs import starts_of
from bayeswater.limits import require_table_bytes
from bayeswater.typing import Array

SAME = 1e-9
"""Share of the rows within which two losses are equal: they are sums of many logarithms."""


def kept_cuts(codes: list[Array], n_first: list[int], n_bins: int, weight: Array | None) -> list[Array]:
    """Give the places of the cuts of each column that are left when neighbours are joined.

    Parameters
    ----------
    codes : (n_rows,) for each column; the number of its bins is the code of a missing cell
    n_first : bins of each column
    n_bins : bins that columns are to have at most
    weight : (n_rows,), optional

    Examples
    --------
    >>> first, second = np.array([0, 1, 2, 3]), np.array([0, 0, 1, 1])
    >>> kept_cuts([first, second], [4, 2], 2, None)  # bins 0 and 1 of the first tell the same of the second
    [array([1]), array([0])]
    """
    start = starts_of(n_first)
    n = int(start[-1])
    require_table_bytes(8 * n**2, f"the rows that {n:,} bins share", "begin with fewer bins: initial_bins=10")
    shared = np.zeros((n, n))
    for i, j in combinations(range(len(codes)), 2):
        cells = codes[i] * np.int64(n_first[j] + 1) + codes[j]
        found = np.bincount(cells, weight, minlength=(n_first[i] + 1) * (n_first[j] + 1)).reshape(n_first[i] + 1, -1)
        of_i, of_j = slice(start[i], start[i + 1]), slice(start[j], start[j + 1])
        shared[of_i, of_j], shared[of_j, of_i] = found[:-1, :-1], found[:-1, :-1].T
    tolerance = SAME * float(len(codes[0]) if weight is None else weight.sum())
    bins = [list(range(first, last)) for first, last in pairwise(start)]

    def told(rows: Array) -> Array:
        of_columns = np.add.reduceat(rows, start[:-1], axis=1)
        told: Array = xlogy(rows, rows).sum(axis=1) - xlogy(of_columns, of_columns).sum(axis=1)
        return told

    while any(len(own) > n_bins for own in bins):
        for own in bins:
            if len(own) > n_bins:
                rows = shared[own]
                each = told(rows)
                loss = each[:-1] + each[1:] - told(rows[:-1] + rows[1:])
                k = int(np.argmax(loss <= loss.min() + tolerance))
                stays, goes = own[k], own.pop(k + 1)
                for table in (shared, shared.T):
                    table[stays] += table[goes]
                    table[goes] = 0.0
    return [np.array(own[1:], dtype=np.int64) - first - 1 for own, first in zip(bins, start[:-1], strict=True)]
