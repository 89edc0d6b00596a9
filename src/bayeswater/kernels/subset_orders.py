"""The best order of variables by dynamic programming over all their subsets.

    best(S) = max over y in S of best(S without y) + gain of y from S without y,

where y takes the best of its sets of parents that lies within the others of S. Subsets are numbers whose bits are their
members; they are gone through in rising order, so that all parts of a subset come before it.
"""

import numpy as np

from bayeswater.kernels.compiling import compiled


@compiled
def best_last(first, sets, scores, required, best, last):  # type: ignore[no-untyped-def]
    """Fill `best` (2^n,) with the score of every subset and `last` (2^n,) with the member that stands last in it.

    Parameters
    ----------
    first : (n + 1,) where the sets of each variable begin in `sets` and `scores`, which are sorted best first
    required : (n,) for each variable, the members that must stand before it
    """
    n = len(first) - 1
    best[0] = 0.0
    for subset in range(1, 1 << n):
        top, top_last = -np.inf, -1
        for y in range(n):
            if not subset >> y & 1:
                continue
            others = subset & ~(1 << y)
            if best[others] == -np.inf or required[y] & ~others:
                continue
            for s in range(first[y], first[y + 1]):
                if not sets[s] & ~others:
                    if best[others] + scores[s] > top:
                        top, top_last = best[others] + scores[s], y
                    break
        best[subset], last[subset] = top, top_last
