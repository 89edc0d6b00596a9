"""Fayyad and Irani's cuts by brute force: all cuts, compared without rounding.

A cut leaves the least entropy if prod_c l_c^l_c r_c^r_c / (L^L R^R) is largest, a fraction of whole numbers. Whether
the cut is worth its cost is decided in 50 digits.
"""

from collections import Counter
from fractions import Fraction

from mpmath import mp, mpf


def brute_force_cuts(values, labels):
    """Cuts of a column without missing values, in rising order."""
    rows = sorted(zip(values, labels, strict=True))
    return sorted(_cuts(rows))


def _cuts(rows):
    best, at = None, None
    for i in range(1, len(rows)):
        if rows[i - 1][0] < rows[i][0]:
            quality = remaining(rows[:i]) * remaining(rows[i:])
            if best is None or quality > best:  # the first of equals
                best, at = quality, i
    if at is None or best <= remaining(rows) or not _is_worth_its_cost(rows, rows[:at], rows[at:]):
        return []
    cut = Fraction(rows[at - 1][0]) / 2 + Fraction(rows[at][0]) / 2
    return [*_cuts(rows[:at]), float(cut), *_cuts(rows[at:])]


def remaining(rows):
    """2 ** -(N H) of some rows, without rounding: the larger, the less entropy."""
    result = Fraction(1, len(rows) ** len(rows))
    for n in _counts(rows):
        result *= n**n
    return result


def _counts(rows):
    return Counter(label for _, label in rows).values()


def _entropy(rows):
    shares = [mpf(n) / len(rows) for n in _counts(rows)]
    return -sum(p * mp.log(p, 2) for p in shares)


def _is_worth_its_cost(rows, left, right):
    with mp.workdps(50):
        n = mpf(len(rows))
        gain = _entropy(rows) - len(left) / n * _entropy(left) - len(right) / n * _entropy(right)
        delta = mp.log(3 ** len(_counts(rows)) - 2, 2) - sum(
            sign * len(_counts(part)) * _entropy(part) for sign, part in ((1, rows), (-1, left), (-1, right))
        )
        return gain > (mp.log(n - 1, 2) + delta) / n
