"""What is left of a scatter matrix when rows are taken away, and whether its digits can be trusted.

With L the scatter before, and R what remains, no direction v of L may keep less than v'Rv / v'Lv = 1e-8 of itself:
there only eight of sixteen digits are right. The shares are the eigenvalues of R seen in the directions of L, each
brought to unit length. Of n rows that remain, the scatter has rank n - 1 at most: directions beyond that are empty for
certain, and are cleared.
"""

import numpy as np

from bayeswater.statistics.moments import DIGITS_KEPT
from bayeswater.typing import Array

RANK_SHARE = 1e-11
"""Eigenvalues of a matrix of columns of unit length below this share of the largest one are rounding."""


def lost_direction(before: Array, remaining: Array, size: Array, n_left: int | None) -> tuple[Array, int | None]:
    """Clear the empty directions of what remains, and name the column with most part in one that lost digits.

    `size` (n_columns,) is what the squares of each column are rounded like; `n_left` the number of rows that remain,
    where it is known to be whole.
    """
    varies = np.diagonal(before) > 0
    lost = varies & (np.diagonal(remaining) < DIGITS_KEPT * size)
    length = np.where(varies, np.sqrt(np.diagonal(before)), 1.0)
    values, vectors = np.linalg.eigh(before / length / length[:, None])
    used = values > RANK_SHARE * values[-1]
    root = np.sqrt(values[used])
    directions = vectors[:, used]  # of the columns at unit length
    inward = (directions / root) / length[:, None]
    shares, turned = np.linalg.eigh(inward.T @ remaining @ inward)  # in ascending order
    n_empty = 0 if n_left is None else max(0, len(shares) - max(n_left - 1, 0))
    if n_empty:
        kept = (directions * root) @ turned[:, n_empty:] * length[:, None]
        remaining = (kept * shares[n_empty:]) @ kept.T
        lost = np.zeros_like(lost)
    left = shares[n_empty:]
    if lost.any():
        return remaining, int(lost.argmax())
    if len(left) and left[0] < DIGITS_KEPT:
        direction = np.abs((directions * root) @ turned[:, n_empty])
        return remaining, int(direction.argmax())
    return remaining, None
