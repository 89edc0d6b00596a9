"""What is made of the scores of a row, one for each class: shares that sum to one, and the best class.

NumPy's reductions over a few classes spend most of their time between rows; the loops do not. Exponentials are
left to NumPy, which takes several at a time.
"""

import numpy as np

from bayeswater.kernels.compiling import compiled
from bayeswater.typing import Array


def subtract_largest(scores: Array, *, use_loop: bool) -> None:
    """Take the largest score of each row (n_rows, n_classes) off the row, in place; it must be finite."""
    if use_loop:
        _subtract_largest_loop(scores)
    else:
        scores -= scores.max(axis=1, keepdims=True)


def row_sums(scores: Array, *, use_loop: bool) -> Array:
    """Sum each row: (n_rows, 1)."""
    if not use_loop:
        return scores.sum(axis=1, keepdims=True)
    total = np.empty((len(scores), 1))
    _row_sums_loop(scores, total)
    return total


def log_shares(scores: Array, *, use_loop: bool) -> Array:
    """Normalise logarithms (n_rows, n_classes), in place, so that what they stand for sums to one in each row."""
    subtract_largest(scores, use_loop=use_loop)
    scores -= np.log(row_sums(np.exp(scores), use_loop=use_loop))
    return scores


def first_of_largest(scores: Array, tie: float, *, use_loop: bool) -> Array:
    """Find the first class whose score is the largest of its row, or less by no more than `tie` times its size.

    Scores are logarithms: those nearer to zero than 1 round like 1, since what they stand for is near 1.
    """
    if use_loop:
        best = np.empty(len(scores), dtype=np.intp)
        _first_of_largest_loop(scores, tie, best)
        return best
    top = scores.max(axis=1, keepdims=True)
    return (scores >= top - tie * np.maximum(1.0, np.abs(top))).argmax(axis=1)


@compiled
def _subtract_largest_loop(scores):  # type: ignore[no-untyped-def]
    n_rows, n_classes = scores.shape
    for i in range(n_rows):
        top = scores[i, 0]
        for k in range(1, n_classes):
            top = max(top, scores[i, k])
        for k in range(n_classes):
            scores[i, k] -= top


@compiled
def _row_sums_loop(scores, total):  # type: ignore[no-untyped-def]
    n_rows, n_classes = scores.shape
    for i in range(n_rows):
        total[i, 0] = 0.0
        for k in range(n_classes):
            total[i, 0] += scores[i, k]


@compiled
def _first_of_largest_loop(scores, tie, best):  # type: ignore[no-untyped-def]
    n_rows, n_classes = scores.shape
    for i in range(n_rows):
        top = scores[i, 0]
        for k in range(1, n_classes):
            top = max(top, scores[i, k])
        least = top - tie * max(1.0, abs(top))
        k = 0
        while scores[i, k] < least:
            k += 1
        best[i] = k
