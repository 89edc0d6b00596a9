"""How often the states of some columns met: the joint counts of a family, a variable with its parents.

A row counts where every cell of the family is there: available cases, family by family.
"""

from collections.abc import Sequence
from math import prod

import numpy as np

from bayeswater.kernels.family_cells import cells_of, strides_of
from bayeswater.kernels.threads import ordered_map, row_blocks
from bayeswater.limits import require_table_axes, require_table_bytes
from bayeswater.typing import Array


def joint_counts(codes: Array, members: Sequence[int], cards: Sequence[int], weight: Array | None) -> Array:
    """Count the states of some columns together: (*cards), int64 or, with fractional weights, float64.

    Parameters
    ----------
    codes : (n_columns, n_rows); a code that is not under the card of its column is a missing cell
    members : columns of the family, in the order of the axes
    cards : number of states of each of these
    weight : (n_rows,) or None

    >>> joint_counts(np.array([[0, 1, 1, 2], [1, 1, 0, 1]], dtype=np.uint8), [0, 1], [2, 2], None)
    array([[0, 1],
           [1, 1]])
    """
    n_cells = prod(cards)
    what, way_out = f"counting a family of {len(members)} columns", "give the variable fewer parents"
    require_table_bytes(8 * n_cells, what, way_out)
    require_table_axes(len(members), what, way_out)
    kind = np.int64 if weight is None or weight.dtype.kind == "i" else np.float64
    strides = strides_of(cards)
    bound = np.array(cards)[:, None]

    def count(rows: slice) -> Array:
        part = codes[list(members), rows]
        present = (part < bound).all(axis=0)
        w = None if weight is None else weight[rows]
        if not present.all():
            part, w = part[:, present], None if w is None else w[present]
        return np.bincount(cells_of(part, np.arange(len(members)), strides), weights=w, minlength=n_cells)

    total = np.zeros(n_cells, dtype=np.float64 if weight is not None else np.int64)
    for block in ordered_map(count, row_blocks(codes.shape[1])):
        total += block
    return total.astype(kind).reshape(cards)
