"""Loops over a long column of numbers: dealt to their classes, summed, looked at, parted into buckets.

Each reads the numbers once where NumPy reads and writes them several times; `SortedColumn` has the references. Sums of
floats run in lanes and short stretches: neither is one addition a long wait for the one before, nor do errors of
rounding pile up.
"""

import numpy as np

from bayeswater.kernels.compiling import compiled
from bayeswater.kernels.key_cells import LARGEST

LONG = 2**17
"""Numbers of a column from which on it goes through loops."""

STRETCH = 1024
"""Numbers that are summed in four lanes before the lanes are put together."""

LEAST = -(2**63)
"""Below every bucket."""

BEYOND_COUNTS = 2.0**53
"""From here on every float is whole, and being so says nothing."""


@compiled
def deal(x, codes, place, dealt):  # type: ignore[no-untyped-def]
    """Put the numbers of each class one behind the other, from its place on, in the order of the rows."""
    for i in range(len(x)):
        here = place[codes[i]]
        dealt[here] = x[i]
        place[codes[i]] = here + 1


@compiled
def distance_sums(x, center):  # type: ignore[no-untyped-def]
    """Sum the distances of numbers from a center, and the squares of the distances."""
    total, square = 0.0, 0.0
    for start in range(0, len(x), STRETCH):
        stop = min(start + STRETCH, len(x))
        total_a = total_b = total_c = total_d = 0.0
        square_a = square_b = square_c = square_d = 0.0
        in_lanes = stop - (stop - start) % 4
        for i in range(start, in_lanes, 4):
            a, b, c, d = x[i] - center, x[i + 1] - center, x[i + 2] - center, x[i + 3] - center
            total_a, square_a = total_a + a, square_a + a * a
            total_b, square_b = total_b + b, square_b + b * b
            total_c, square_c = total_c + c, square_c + c * c
            total_d, square_d = total_d + d, square_d + d * d
        for i in range(in_lanes, stop):
            a = x[i] - center
            total_a, square_a = total_a + a, square_a + a * a
        total += (total_a + total_b) + (total_c + total_d)
        square += (square_a + square_b) + (square_c + square_d)
    return total, square


@compiled
def number_of_counts(x):  # type: ignore[no-untyped-def]
    """Tell how many numbers are whole, from 0 on and below 2**53."""
    n = 0
    for i in range(len(x)):
        n += (np.floor(x[i]) == x[i]) & (x[i] >= 0.0) & (x[i] < BEYOND_COUNTS)  # no branch: several at once
    return n


@compiled
def bucket_runs(bits, limits, shift, first, low, high):  # type: ignore[no-untyped-def]
    """Note where in each class, between its limits, another bucket begins, and its least and its largest key.

    Gives the number of them; those for which there is no room are not noted. `key_cells` tells what a key is.
    """
    n, room = 0, len(first)
    for k in range(len(limits) - 1):
        bucket = key = LEAST
        for i in range(limits[k], limits[k + 1]):
            last_bucket, last_key = bucket, key
            sign = bits[i] >> 63
            key = (bits[i] ^ (sign & LARGEST)) - sign
            bucket = key >> shift
            if bucket != last_bucket:
                if i > limits[k] and n <= room:
                    high[n - 1] = last_key
                if n < room:
                    first[n] = i
                    low[n] = key
                n += 1
        if limits[k] < limits[k + 1] and n <= room:
            high[n - 1] = key
    return n
