"""The own-class log-density of rows, each taken out of the moments: the loop behind the NumPy rule of `NormalBlock`.

Rows of which a variance comes near its floor are only marked: the floor moves with every row, and they are rare.
"""

import numpy as np

from bayeswater.kernels.compiling import compiled
from bayeswater.typing import Array

LOG_TWO_PI = float(np.log(2 * np.pi))


def own_densities_without(
    x: Array,
    y: Array,
    removed: Array,
    n: Array,
    mean: Array,
    scatter: Array,
    highest_floor: Array,
    rounding: float,
    digits_kept: float,
) -> tuple[Array, Array, Array]:
    """Log-likelihood of each row in its own class, which rows lost digits, and which come near a floor: (n_rows,) each.

    `n`, `mean` and `scatter` are (n_classes, n_columns), `highest_floor` (n_columns,); NaN is a missing cell.
    """
    total = np.empty(len(x))
    lost, near = np.zeros(len(x), dtype=bool), np.zeros(len(x), dtype=bool)
    _loop(x, y, removed, n, mean, scatter, highest_floor, rounding, digits_kept, total, lost, near)
    return total, lost, near


@compiled
def _loop(x, y, removed, n, mean, scatter, highest_floor, rounding, digits_kept, total, lost, near):  # type: ignore[no-untyped-def]
    for i in range(x.shape[0]):
        k, r, terms = y[i], removed[i], 0.0
        for j in range(x.shape[1]):
            if np.isnan(x[i, j]):
                continue
            left = n[k, j] - r
            away = x[i, j] - mean[k, j]
            stretch = n[k, j] / left
            rest = scatter[k, j] - away * away * (r * stretch)
            if not rest > rounding * scatter[k, j]:
                rest = 0.0
            variance = rest / left
            if variance < highest_floor[j]:
                near[i] = True
                break
            if rest < digits_kept * scatter[k, j]:
                lost[i] = True
            away *= stretch
            terms += LOG_TWO_PI + np.log(variance) + away * away / variance
        total[i] = -0.5 * terms
