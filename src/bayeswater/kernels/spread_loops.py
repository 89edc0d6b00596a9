"""Loops over a block of a long column of numbers of which hardly any two are equal; `SortedColumn` is their reference.

Each reads the block once. Sums of floats run in four lanes, the lane of a number being told by its place in the block:
an addition seldom waits for the one before, and rounding does not pile up.
"""

import numpy as np

from bayeswater.kernels.compiling import compiled
from bayeswater.kernels.key_cells import LARGEST


@compiled
def class_sums(x, codes, center, lanes, sums, positive, positive_codes):  # type: ignore[no-untyped-def]
    """Sum the distances of numbers from the center of their class and the squares of these; copy what is over 0.

    A center that is NaN becomes the first number of its class. Gives how many numbers are over 0; `sums` (n_classes, 3)
    has totals, squares and the number of missing numbers.
    """
    lanes[:] = 0.0
    n_positive = 0
    for i in range(len(x)):
        k, value = codes[i], x[i]
        away = value - center[k]
        if away != away:
            if value != value:
                sums[k, 2] += 1.0
                continue
            center[k], away = value, 0.0
        lane = i & 3
        lanes[k, lane, 0] += away
        lanes[k, lane, 1] += away * away
        positive[n_positive], positive_codes[n_positive] = value, k
        n_positive += value > 0.0
    for k in range(len(sums)):
        for part in range(2):
            sums[k, part] += (lanes[k, 0, part] + lanes[k, 1, part]) + (lanes[k, 2, part] + lanes[k, 3, part])
    return n_positive


@compiled
def distance_lanes(x, codes, center, lanes, sums):  # type: ignore[no-untyped-def]
    """Sum the distances of numbers from the center of their class and the squares of these, and count them.

    A center that is NaN becomes the first number of its class. `sums` (n_classes, 3) has totals, squares and numbers.
    """
    lanes[:] = 0.0
    for i in range(len(x)):
        k = codes[i]
        away = x[i] - center[k]
        if away != away:
            center[k], away = x[i], 0.0
        lane = i & 3
        lanes[k, lane, 0] += away
        lanes[k, lane, 1] += away * away
        lanes[k, lane, 2] += 1.0
    for k in range(len(sums)):
        for part in range(3):
            sums[k, part] += (lanes[k, 0, part] + lanes[k, 1, part]) + (lanes[k, 2, part] + lanes[k, 3, part])


@compiled
def count_near(bits, codes, shift, begin, width, table, far, far_codes):  # type: ignore[no-untyped-def]
    """Count numbers into a table of buckets; copy those that lie beyond it, and say how many they are.

    The bucket of a magnitude m is the whole part of m / 2**shift, of a negative number the next whole number: so it is
    that of its key (`key_cells`). The table has `width` buckets from `begin` on of each sign and class, in the order of
    class and key; a bucket knows how many numbers it has, and the largest of LARGEST - m and of m.
    """
    last_bits = (1 << shift) - 1
    n_far = 0
    for i in range(len(bits)):
        sign = bits[i] >> 63
        magnitude = bits[i] & LARGEST
        place = ((magnitude + (sign & last_bits)) >> shift) - begin
        if 0 <= place < width:
            cell = np.uint64((2 * np.int64(codes[i]) + 1) * width + (place ^ sign))
            table[cell, 0] += 1
            table[cell, 1] = max(table[cell, 1], LARGEST - magnitude)
            table[cell, 2] = max(table[cell, 2], magnitude)
        else:
            far[n_far], far_codes[n_far] = bits[i], codes[i]
            n_far += 1
    return n_far


@compiled
def merged_cells(table, width, far_low, far_high, far_code, far_weight, low, high, code, weight):  # type: ignore[no-untyped-def]
    """Make cells of the buckets of a table that have numbers, and put those of other buckets between them."""
    n = j = k = least = largest = 0
    for i in range(len(table) + 1):
        is_end = i == len(table)
        if not is_end:
            if not table[i, 0]:
                continue
            k, least, largest = i // (2 * width), LARGEST - table[i, 1], table[i, 2]
            if i // width % 2 == 0:  # these are negative
                least, largest = -largest, -least
        while j < len(far_low) and (is_end or far_code[j] < k or (far_code[j] == k and far_low[j] < least)):
            low[n], high[n], code[n], weight[n] = far_low[j], far_high[j], far_code[j], far_weight[j]
            n, j = n + 1, j + 1
        if not is_end:
            low[n], high[n], code[n], weight[n] = least, largest, k, table[i, 0]
            n += 1
