"""What is made of the scores of a row, one for each class: shares that sum to one, and the best class.

NumPy's reductions over a few classes spend most of their time between rows; the loops do not. The references lay a
stretch of rows out class by class, so that an operation runs over many rows. Both give the same bits: `ordered_sum`
adds in NumPy one term after the other, as a loop does. Exponentials are left to NumPy, which takes several at a time.
"""

from collections.abc import Iterator

import numpy as np

from bayeswater.kernels.compiling import compiled
from bayeswater.typing import Array


def ordered_sum(terms: Array) -> Array:
    """Sum over the first axis of an array in C order.

    NumPy adds whole rows one after the other, but the cells of a single column in pairs of pairs.

    >>> ordered_sum(np.array([[1e16], [1.0], [1.0]])).tolist()
    [1e+16]
    """
    in_order: Array = terms.cumsum(axis=0)[-1] if terms.size == len(terms) > 0 else np.add.reduce(terms, axis=0)
    return in_order


ROWS_TOGETHER = 256
"""Rows to which terms are added at once: NumPy adds many numbers faster than a few to row after row."""


def add_to_rows(scores: Array, terms: Array) -> None:
    """Add terms (n_classes,) to every row of scores (n_rows, n_classes) in C order, in place.

    >>> scores = np.zeros((300, 2))
    >>> add_to_rows(scores, np.array([1.0, 2.0]))
    >>> np.unique(scores, axis=0).tolist()
    [[1.0, 2.0]]
    """
    together = len(scores) - len(scores) % ROWS_TOGETHER
    if together:
        terms_of_rows = np.broadcast_to(terms, (ROWS_TOGETHER, len(terms))).ravel()
        scores[:together].reshape(-1, terms_of_rows.size)[...] += terms_of_rows
    scores[together:] += terms


STRETCH_CELLS = 32_768
"""Scores that a reference lays out class by class at a time: they stay in the second-level cache."""

FEW_CLASSES = 12
"""Classes up to which it is faster to look at them one by one than to let NumPy search for the first in each row."""


def shares(scores: Array, *, use_loop: bool) -> Array:
    """Turn logarithms (n_rows, n_classes), in place, into shares that sum to one in each row."""
    loops = _subtract_largest_loop, _divide_by_sum_loop
    if all(loop.serves(scores.size, scores, use_loop=use_loop) for loop in loops):
        _subtract_largest_loop(scores)
        np.exp(scores, out=scores)
        _divide_by_sum_loop(scores)
        return scores
    with np.errstate(over="ignore"):  # of scores near the largest there are
        for block, by_class in _stretches(scores):
            by_class -= by_class.max(axis=0)
            np.exp(by_class, out=by_class)
            np.multiply(by_class.T, (1.0 / ordered_sum(by_class))[:, None], out=block)
    return scores


def log_shares(scores: Array, *, use_loop: bool) -> Array:
    """Normalise logarithms (n_rows, n_classes), in place, so that what they stand for sums to one in each row.

    The largest score of each row must be finite.
    """
    if use_loop:
        _subtract_largest_loop(scores)
        total = np.empty(len(scores))
        _row_sums_loop(np.exp(scores), total)
        scores -= np.log(total)[:, None]
        return scores
    for block, by_class in _stretches(scores):
        by_class -= by_class.max(axis=0)
        np.subtract(by_class.T, np.log(ordered_sum(np.exp(by_class)))[:, None], out=block)
    return scores


def first_of_largest(scores: Array, tie: float, *, use_loop: bool) -> Array:
    """Find the first class whose score is the largest of its row, or less by no more than `tie` times its size.

    Scores are logarithms: those nearer to zero than 1 round like 1, since what they stand for is near 1.
    """
    best = np.empty(len(scores), dtype=np.intp)
    if _first_of_largest_loop.serves(scores.size, scores, tie, best, use_loop=use_loop):
        _first_of_largest_loop(scores, tie, best)
        return best
    start = 0
    for block, by_class in _stretches(scores):
        top = by_class.max(axis=0)
        least = top - tie * np.maximum(1.0, np.abs(top))
        best[start : start + len(block)] = _first_as_large(by_class, least)
        start += len(block)
    return best


def _first_as_large(by_class: Array, least: Array) -> Array:
    """Find the first class (n_rows,) whose score (n_classes, n_rows) is not below `least`; the last is, if no other."""
    if len(by_class) > FEW_CLASSES:
        return (by_class >= least).argmax(axis=0)
    below = np.ones(len(least), dtype=bool)
    n_below = np.zeros(len(least), dtype=np.intp)
    for scores in by_class[:-1]:
        below &= scores < least
        n_below += below
    return n_below


def _stretches(scores: Array) -> Iterator[tuple[Array, Array]]:
    """Give stretches of rows, each with a copy that lies class by class: (n_classes, n_rows)."""
    n_rows, n_classes = scores.shape
    stretch = max(1, STRETCH_CELLS // n_classes)
    for start in range(0, n_rows, stretch):
        block = scores[start : start + stretch]
        yield block, block.T.copy(order="C")


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
        total[i] = 0.0
        for k in range(n_classes):
            total[i] += scores[i, k]


@compiled
def _divide_by_sum_loop(scores):  # type: ignore[no-untyped-def]
    n_rows, n_classes = scores.shape
    for i in range(n_rows):
        total = 0.0
        for k in range(n_classes):
            total += scores[i, k]
        share = 1.0 / total  # one division a row takes a third of the time of one a class
        for k in range(n_classes):
            scores[i, k] *= share


@compiled
def _first_of_largest_loop(scores, tie, best):  # type: ignore[no-untyped-def]
    # The largest of every fourth class is kept: none of four waits for the one before.
    n_rows, n_classes = scores.shape
    in_fours = n_classes - n_classes % 4
    for i in range(n_rows):
        a = b = c = d = scores[i, n_classes - 1]
        for k in range(0, in_fours, 4):
            a, b = max(a, scores[i, k]), max(b, scores[i, k + 1])
            c, d = max(c, scores[i, k + 2]), max(d, scores[i, k + 3])
        for k in range(in_fours, n_classes):
            a = max(a, scores[i, k])
        top = max(max(a, b), max(c, d))
        least = top - tie * max(1.0, abs(top))
        n_below, below = 0, 1  # classes before the first that is large enough, counted without a jump
        for k in range(n_classes - 1):
            below &= scores[i, k] < least
            n_below += below
        best[i] = n_below
