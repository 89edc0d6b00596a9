"""What is made of the scores of a row, one for each class: shares that sum to one, and the best class.

NumPy's reductions over a few classes spend most of their time between rows; the loops do not. The references lay a
stretch of rows out class by class, so that an operation runs over many rows. Both give the same bits: `ordered_sum`
adds in NumPy one term after the other, as a loop does. Scores may come class by class (in Fortran's order), where that
is how they are found; shares are always handed over row by row.

Shares are made of exponentials of differences to the largest score, none over zero, and those take most of the time: a
library computes them one by one. Here exp(x) = 2^k exp(r), with k the whole number next to x / log 2 and the series of
exp(r) to its thirteenth power, |r| < 0.35: multiplications and additions alone, of which a processor does several at a
time. Four terms of the series go together, so that few of them wait for the one before. It is within one unit of the
last digit.
"""

from collections.abc import Iterator
from math import factorial
from typing import Any

import numpy as np

from bayeswater.kernels.compiling import compiled
from bayeswater.kernels.threads import row_blocks
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


def _lies_by_class(scores: Array) -> bool:
    return scores.flags.f_contiguous and not scores.flags.c_contiguous


def add_to_rows(scores: Array, terms: Array) -> None:
    """Add terms (n_classes,) to every row of scores (n_rows, n_classes), in place.

    >>> scores = np.zeros((300, 2))
    >>> add_to_rows(scores, np.array([1.0, 2.0]))
    >>> np.unique(scores, axis=0).tolist()
    [[1.0, 2.0]]
    """
    together = 0 if _lies_by_class(scores) else len(scores) - len(scores) % ROWS_TOGETHER
    if together:
        terms_of_rows = np.broadcast_to(terms, (ROWS_TOGETHER, len(terms))).ravel()
        scores[:together].reshape(-1, terms_of_rows.size)[...] += terms_of_rows
    scores[together:] += terms


STRETCH_CELLS = 32_768
"""Scores that a reference lays out class by class at a time: they stay in the second-level cache."""

MANY_CLASSES = 64
"""Classes from which on NumPy need not go over many rows at a time."""

BEST_TOGETHER = 512
"""Rows of which a loop finds the best class together, where scores lie class by class."""

FEW_CLASSES = 12
"""Classes up to which it is faster to look at them one by one than to let NumPy search for the first in each row."""


def shares(scores: Array, *, use_loop: bool, out: Array | None = None) -> Array:
    """Turn logarithms (n_rows, n_classes) into shares that sum to one in each row.

    In place if they lie row by row, and else into `out`, if it is given.
    """
    if _lies_by_class(scores):
        found, by_class = np.empty(scores.shape) if out is None else out, scores.T
        columns = np.empty(len(by_class) * max(LEAST_STRETCH, COLUMN_CELLS // len(by_class)))
    else:
        found = scores = np.ascontiguousarray(scores)
        by_class, columns = found[:0].T, found[:0, 0]
    power = np.empty(EXPONENTIALS_TOGETHER)
    lower = np.empty(EXPONENTIALS_TOGETHER)
    arguments = found, found.reshape(-1), by_class, columns, power, power.view(np.int64), lower
    if _shares_loop.serves(scores.size, *arguments, use_loop=use_loop):
        _shares_loop(*arguments)
        return found
    with np.errstate(over="ignore"):  # of scores near the largest there are
        for rows, by_class in _stretches(scores):
            by_class -= by_class.max(axis=0)
            _exponentiate(by_class.reshape(-1))
            np.multiply(by_class.T, (1.0 / ordered_sum(by_class))[:, None], out=found[rows])
    return found


EXPONENTIALS_TOGETHER = 1024
"""Exponentials that are taken in one go: what they need stays in the first-level cache."""

COLUMN_CELLS, LEAST_STRETCH = 2048, 64
"""Scores that lie class by class and are worked on together, which stay in that cache, and the least rows of them."""

LEAST_EXPONENT = -746.0
"""Where exp(x) is zero, and below."""

HALVES = float(1 / np.log(2.0))
"""What x is multiplied by to count in powers of two."""

WHOLE = 1.5 * 2.0**52
"""Added to a number, leaves the whole number next to it in the last bits."""

LOG_2_HIGH = float.fromhex("0x1.62e42fee00000p-1")
LOG_2_LOW = float.fromhex("0x1.a39ef35793c76p-33")
"""The logarithm of 2 in two parts, the first so short that its product with k is exact."""

SERIES = tuple(1.0 / factorial(power) for power in range(2, 14))
"""Coefficients of the series of exp, from the square to the thirteenth power."""

C2, C3, C4, C5, C6, C7, C8, C9, C10, C11, C12, C13 = SERIES

RAISED = 100
DOWN = 2.0**-RAISED
"""Powers of two are made larger by so many, which a last factor takes back: it rounds once where digits run out."""

BIAS = 1023 + RAISED
"""Exponent of one, as bits have it, and what is added to every other."""


def _exponentiate(x: Array) -> None:
    """Replace numbers (n,), none over zero, by their exponentials: the same bits as the loop's."""
    for start in range(0, len(x), 4 * EXPONENTIALS_TOGETHER):
        part = x[start : start + 4 * EXPONENTIALS_TOGETHER]
        np.maximum(part, LEAST_EXPONENT, out=part)
        power = part * HALVES
        power += WHOLE
        k = power - WHOLE
        part -= k * LOG_2_HIGH
        k *= LOG_2_LOW
        part -= k
        square = np.multiply(part, part, out=k)
        series = _four_terms(SERIES[8:], part, square)
        for first in (4, 0):
            series *= square * square
            series += _four_terms(SERIES[first : first + 4], part, square)
        series *= square
        part += series
        part += 1.0
        bits = power.view(np.int64)
        bits += BIAS
        bits <<= 52
        part *= power
        part *= DOWN


def _four_terms(coefficients: tuple[float, ...], x: Array, square: Array) -> Array:
    """Give a + b x + (c + d x) x^2."""
    a, b, c, d = coefficients
    low, high = x * b, x * d
    low += a
    high += c
    high *= square
    low += high
    return low


def log_shares(scores: Array, *, use_loop: bool) -> Array:
    """Normalise logarithms (n_rows, n_classes), so that what they stand for sums to one in each row.

    In place, if they lie row by row. The largest score of each row must be finite.
    """
    scores = np.ascontiguousarray(scores)
    if use_loop:
        _subtract_largest_loop(scores)
        total = np.empty(len(scores))
        _row_sums_loop(np.exp(scores), total)
        scores -= np.log(total)[:, None]
        return scores
    for rows, by_class in _stretches(scores):
        by_class -= by_class.max(axis=0)
        np.subtract(by_class.T, np.log(ordered_sum(np.exp(by_class)))[:, None], out=scores[rows])
    return scores


def first_of_largest(scores: Array, tie: float, *, use_loop: bool) -> Array:
    """Find the first class whose score is the largest of its row, or less by no more than `tie` times its size.

    Scores are logarithms: those nearer to zero than 1 round like 1, since what they stand for is near 1.
    """
    best = np.empty(len(scores), dtype=np.intp)
    are_many = scores.shape[1] > MANY_CLASSES
    arguments: tuple[Any, ...]
    loop, arguments = _first_by_class_loop, (scores.T, tie, best, np.empty((3, BEST_TOGETHER)))
    if are_many or not _lies_by_class(scores):
        scores = np.ascontiguousarray(scores)
        loop, arguments = (_first_of_many_loop if are_many else _first_of_largest_loop), (scores, tie, best)
    if loop.serves(scores.size, *arguments, use_loop=use_loop):
        loop(*arguments)
        return best
    if are_many:
        top = scores[np.arange(len(scores)), scores.argmax(axis=1)]
        least = top - tie * np.maximum(1.0, np.abs(top))
        return np.asarray((~(scores < least[:, None])).argmax(axis=1))
    for rows, by_class in _stretches(scores):
        top = by_class.max(axis=0)
        least = top - tie * np.maximum(1.0, np.abs(top))
        best[rows] = _first_as_large(by_class, least)
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


def _stretches(scores: Array) -> Iterator[tuple[slice, Array]]:
    """Give stretches of rows, each with a copy that lies class by class: (n_classes, n_rows)."""
    n_rows, n_classes = scores.shape
    for rows in row_blocks(n_rows, max(1, STRETCH_CELLS // n_classes)):
        yield rows, scores[rows].T.copy(order="C")


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
def _shares_loop(scores, flat, by_class, columns, power, bits, lower):  # type: ignore[no-untyped-def]
    # Scores are read where they lie class by class, and otherwise replaced, four rows at a time: no maximum and no sum
    # waits for the one before. Of two classes the better one is exp(0) = 1.
    n_rows, n_classes = scores.shape
    together = len(power)
    are_two = n_classes == 2
    are_by_class = by_class.size > 0
    stretch = together if are_two else max(1, together // n_classes)
    if are_by_class and not are_two:
        stretch = min(together, len(columns) // n_classes)
    for start in range(0, n_rows, stretch):
        block = scores[start : start + stretch]
        length = len(block)
        in_fours = length - length % 4
        both = flat[n_classes * start : n_classes * (start + length)]
        if are_two:
            if are_by_class:
                for i in range(length):
                    both[2 * i], both[2 * i + 1] = by_class[0, start + i], by_class[1, start + i]
            for i in range(length):
                lower[i] = -abs(both[2 * i] - both[2 * i + 1])
            exponents, begin, end = lower, 0, length
        elif are_by_class:
            for k in range(n_classes):
                column, given = columns[k * length : (k + 1) * length], by_class[k, start : start + length]
                for i in range(length):
                    column[i] = given[i]
                    lower[i] = given[i] if k == 0 or given[i] > lower[i] else lower[i]
            for k in range(n_classes):
                column = columns[k * length : (k + 1) * length]
                for i in range(length):
                    column[i] -= lower[i]
            exponents, begin, end = columns, 0, n_classes * length
        else:
            for i in range(0, in_fours, 4):
                a, b, c, d = block[i], block[i + 1], block[i + 2], block[i + 3]
                top_a, top_b, top_c, top_d = a[0], b[0], c[0], d[0]
                for k in range(1, n_classes):
                    top_a, top_b = max(top_a, a[k]), max(top_b, b[k])
                    top_c, top_d = max(top_c, c[k]), max(top_d, d[k])
                for k in range(n_classes):
                    a[k] -= top_a
                    b[k] -= top_b
                    c[k] -= top_c
                    d[k] -= top_d
            for i in range(in_fours, length):
                a = block[i]
                top_a = a[0]
                for k in range(1, n_classes):
                    top_a = max(top_a, a[k])
                for k in range(n_classes):
                    a[k] -= top_a
            exponents, begin, end = flat, start * n_classes, (start + length) * n_classes
        for first in range(begin, end, together):
            x = exponents[first : min(first + together, end)]
            n = len(x)
            for q in range(n):
                power[q] = (LEAST_EXPONENT if x[q] < LEAST_EXPONENT else x[q]) * HALVES + WHOLE
            for q in range(n):
                whole = power[q] - WHOLE
                z = LEAST_EXPONENT if x[q] < LEAST_EXPONENT else x[q]
                r = (z - whole * LOG_2_HIGH) - whole * LOG_2_LOW
                square = r * r
                fourth = square * square
                low = (C2 + C3 * r) + (C4 + C5 * r) * square
                middle = (C6 + C7 * r) + (C8 + C9 * r) * square
                high = (C10 + C11 * r) + (C12 + C13 * r) * square
                x[q] = (r + ((high * fourth + middle) * fourth + low) * square) + 1.0
            for q in range(n):
                bits[q] = (bits[q] + BIAS) << 52
            for q in range(n):
                x[q] = x[q] * power[q] * DOWN
        if are_two:
            for i in range(length):
                power[i] = 1.0 / (1.0 + lower[i])
                lower[i] *= power[i]
            for i in range(length):
                is_first = both[2 * i] >= both[2 * i + 1]
                both[2 * i] = power[i] if is_first else lower[i]
                both[2 * i + 1] = lower[i] if is_first else power[i]
            continue
        if are_by_class:
            for k in range(n_classes):
                column = columns[k * length : (k + 1) * length]
                for i in range(length):
                    lower[i] = column[i] if k == 0 else lower[i] + column[i]
            for i in range(length):
                lower[i] = 1.0 / lower[i]
            for k in range(n_classes):
                column = columns[k * length : (k + 1) * length]
                for i in range(length):
                    block[i, k] = column[i] * lower[i]
            continue
        for i in range(0, in_fours, 4):
            a, b, c, d = block[i], block[i + 1], block[i + 2], block[i + 3]
            sum_a = sum_b = sum_c = sum_d = 0.0
            for k in range(n_classes):
                sum_a += a[k]
                sum_b += b[k]
                sum_c += c[k]
                sum_d += d[k]
            sum_a, sum_b, sum_c, sum_d = 1.0 / sum_a, 1.0 / sum_b, 1.0 / sum_c, 1.0 / sum_d
            for k in range(n_classes):  # one division a row takes a third of the time of one a class
                a[k] *= sum_a
                b[k] *= sum_b
                c[k] *= sum_c
                d[k] *= sum_d
        for i in range(in_fours, length):
            a = block[i]
            sum_a = 0.0
            for k in range(n_classes):
                sum_a += a[k]
            sum_a = 1.0 / sum_a
            for k in range(n_classes):
                a[k] *= sum_a


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


@compiled
def _first_by_class_loop(by_class, tie, best, buffer):  # type: ignore[no-untyped-def]
    # As the reference: classes before the first that is large enough are counted, many rows at a time.
    n_classes, n_rows = by_class.shape
    least, n_below, below = buffer[0], buffer[1], buffer[2]
    for start in range(0, n_rows, len(least)):
        length = min(len(least), n_rows - start)
        for k in range(n_classes):
            scores = by_class[k, start : start + length]
            for i in range(length):
                least[i] = scores[i] if k == 0 or scores[i] > least[i] else least[i]
        for i in range(length):
            least[i] -= tie * max(1.0, abs(least[i]))
            n_below[i], below[i] = 0.0, 1.0
        for k in range(n_classes - 1):
            scores = by_class[k, start : start + length]
            for i in range(length):
                below[i] = below[i] if scores[i] < least[i] else 0.0
                n_below[i] += below[i]
        for i in range(length):
            best[start + i] = int(n_below[i])


@compiled
def _first_of_many_loop(scores, tie, best):  # type: ignore[no-untyped-def]
    # Of many classes the largest of every eighth is kept, and to jump out of them costs less than to count them all.
    n_rows, n_classes = scores.shape
    in_eights = n_classes - n_classes % 8
    for i in range(n_rows):
        row = scores[i]
        a = b = c = d = e = f = g = h = row[n_classes - 1]
        for k in range(0, in_eights, 8):
            a, b = row[k] if row[k] > a else a, row[k + 1] if row[k + 1] > b else b
            c, d = row[k + 2] if row[k + 2] > c else c, row[k + 3] if row[k + 3] > d else d
            e, f = row[k + 4] if row[k + 4] > e else e, row[k + 5] if row[k + 5] > f else f
            g, h = row[k + 6] if row[k + 6] > g else g, row[k + 7] if row[k + 7] > h else h
        for k in range(in_eights, n_classes):
            a = row[k] if row[k] > a else a
        top = max(max(max(a, b), max(c, d)), max(max(e, f), max(g, h)))
        least = top - tie * max(1.0, abs(top))
        k = 0
        while row[k] < least:
            k += 1
        best[i] = k
