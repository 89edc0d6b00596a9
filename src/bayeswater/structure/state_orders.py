"""Orders of states by their classes: places that replace codes, so that a tree can cut a column of states in two.

Of two classes, the best cut of the states in two is one between neighbours in the order of their rate of one class
(Breiman and others, 1984). Of more classes, a random half takes the place of the one. Rates are smoothed,

    (n_half + share) / (n + 1),    share: that of the half among all rows

so a state that no row has stands in the middle.
"""

import numpy as np

from bayeswater.data.mixing import mixed
from bayeswater.structure.sorted_rows import SortedRows
from bayeswater.typing import Array


def class_ranks(rows: SortedRows, own: Array, choice: Array) -> Array:
    """Places of all states in the order of their smoothed rate of a random half of the classes: (n_slots,) uint32.

    `own` are the rows whose classes are looked at, `choice` the random word that chooses the half.
    """
    shuffled = np.argsort(mixed(choice + np.arange(rows.n_classes, dtype=np.uint64)))
    in_half = np.zeros(rows.n_classes)
    in_half[shuffled[: max(1, rows.n_classes // 2)]] = 1
    weight = rows.weights[own]
    of_half = weight * in_half[rows.y[own]]
    share = of_half.sum() / weight.sum() if len(own) else 0.0
    places = []
    for j, n in enumerate(rows.n_codes[rows.n_numbers :].tolist(), start=rows.n_numbers):
        state = rows.codes[own, j]
        met = np.bincount(state, weights=weight, minlength=n)
        rate = (np.bincount(state, weights=of_half, minlength=n) + share) / (met + 1)
        place = np.empty(n, dtype=np.uint32)
        place[np.argsort(rate, kind="stable")] = np.arange(n)
        places.append(place)
    return np.concatenate(places)


def first_slots(n_codes: Array, n_numbers: int) -> Array:
    """Where the codes of every column of states begin, one column after the other; -1 for numbers: (n_columns,).

    >>> first_slots(np.array([101, 3, 5]), 1)
    array([-1,  0,  3])
    """
    of_states = n_codes[n_numbers:]
    return np.concatenate([np.full(n_numbers, -1), np.cumsum(of_states) - of_states])


def ranked(codes: Array, rank: Array, slot: Array) -> Array:
    """Replace the codes of states by their places in an order."""
    replaced = codes.copy()
    is_state = slot >= 0
    replaced[:, is_state] = rank[codes[:, is_state] + slot[is_state]]
    return replaced
