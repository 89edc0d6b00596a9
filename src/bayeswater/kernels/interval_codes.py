"""In which interval each number falls: how many of the cuts, which are in rising order, lie below it.

With few cuts every number is compared with all of them: no branch depends on the numbers, so the processor compares
several at once. With many, NumPy finds the place by halving, and no loop of ours is faster.
"""

import numpy as np

from bayeswater.kernels.compiling import compiled
from bayeswater.typing import Array

FEW_CUTS = 64
"""Up to so many cuts comparing with all of them is faster than halving."""


def interval_codes(x: Array, cuts: Array, codes: Array, *, closed_right: bool, use_loop: bool) -> None:
    """Write the interval of every number into `codes` (n_rows,); NaN has the code of no interval, len(cuts) + 1.

    A number that is a cut falls into the interval below it if intervals are closed on the right, else above.
    """
    if use_loop and len(cuts) <= FEW_CUTS:
        _interval_codes_loop(x, cuts, closed_right, codes)
        return
    codes[:] = np.searchsorted(cuts, x, side="left" if closed_right else "right")
    codes[np.isnan(x)] = len(cuts) + 1


@compiled
def _interval_codes_loop(x, cuts, closed_right, codes):  # type: ignore[no-untyped-def]
    n_cuts = len(cuts)
    codes[:] = 0
    for j in range(n_cuts):
        cut = cuts[j]
        if closed_right:
            for i in range(len(x)):
                codes[i] += x[i] > cut
        else:
            for i in range(len(x)):
                codes[i] += x[i] >= cut
    for i in range(len(x)):
        if x[i] != x[i]:
            codes[i] = n_cuts + 1
