"""Growing one class tree: at every node a few random splits of a few random columns, and of these the best.

Rows are codes, (n_rows, n_columns), one row after the other: a row of up to 64 narrow codes is one line of cache. A
split sends the codes from `low` to `high` of a column to its first child, all others to the second: for ordered codes
`low` is 0, and where one state stands against the rest both limits are that state. A row of the node is drawn by
weight: its code is the state, or `high` lies half way to the next code above it in the node. The gain of a split is
that of information about the class,

    sum over both children of (sum over classes of n_y log n_y) - N log N,    less the same of the node itself

Rows of a node stay in the order of their classes, so those of one class that a split sends to the first child are
counted along a stretch of bytes, several at a time.

Nodes are numbered so that both children stand side by side and behind their parent. Each takes four numbers, a quarter
of a line of cache: `jump`, how far on its first child is (0 for a leaf), `column`, `low` and `high`.
"""

import numpy as np

from bayeswater.kernels.compiling import compiled
from bayeswater.typing import Array

MOST_PASSED = 10
"""Columns drawn in a node for each that is to be looked at: of very many columns, most have but one code in a node."""

LEAST_GAIN = 1e-9
"""Gain of a row, in nats, that is no more than rounding."""

BEYOND_CODES = 2**31 - 1
"""Larger than any code."""

TABLE_LENGTH = 2**16
"""Whole numbers whose n log n is looked up: they stay in the second-level cache."""


def n_log_n_table(total: float, *, is_whole: bool) -> Array:
    """Look-up table of n log n, n = 0, 1, ...; empty where weights are fractions."""
    n = np.arange(min(int(total) + 1, TABLE_LENGTH) if is_whole else 0, dtype=np.float64)
    return n * np.log(np.maximum(n, 1.0))


@compiled
def grow_tree(codes, y, n_classes, weight, rows, missing, n_columns, n_thresholds, most_depth, n_log_n, stream, splits):  # type: ignore[no-untyped-def]
    """Fill `splits` (at least 2 len(rows), 4), int32 zeros, with the nodes of a tree; give their number.

    Parameters
    ----------
    codes : (n_rows, n_columns), narrow unsigned codes
    y : (n_rows,) int32, classes below `n_classes`
    weight : (n_rows,) float64, or (0,) where every row counts once
    rows : (n,) int32, the rows to learn from, in the order of their classes; it is overwritten
    missing : (n_columns,) int64, code of a missing cell in a column that is cut between codes, above all others;
        `BEYOND_CODES` where none stands apart, -1 for a column of which one code is asked for against the rest
    n_columns, n_thresholds : columns looked at in a node, those of one code alone not counted, and splits of each
    most_depth : of a leaf
    n_log_n : look-up table
    stream : (1,) uint64, state of the random numbers: well mixed bits, not all 0
    """
    n, d = len(rows), codes.shape[1]
    is_weighted = len(weight) > 0
    begin, end = np.empty(len(splits), np.int32), np.empty(len(splits), np.int32)
    depth = np.empty(len(splits), np.uint8)
    value, inside = np.empty(n, codes.dtype), np.empty(n, np.uint8)
    aside = np.empty(n, np.int32)
    own_weight, reach = np.empty(len(weight)), np.empty(len(weight))
    first_of, mass, child_mass = np.empty(n_classes + 1, np.int64), np.empty(n_classes), np.empty(2 * n_classes + 2)
    order = np.empty(d, np.int64)
    for j in range(d):
        order[j] = j
    bound = np.empty(1, codes.dtype)
    z = stream[0]
    n_nodes = 1
    begin[0], end[0], depth[0] = 0, n, 0
    node = 0
    while node < n_nodes:
        start, size = begin[node], end[node] - begin[node]
        at, node = node, node + 1
        # Stretches of equal class, and what they weigh.
        n_present, total = 0, 0.0
        for i in range(size):
            r = rows[start + i]
            if i == 0 or y[r] != y[rows[start + i - 1]]:
                first_of[n_present] = i
                mass[n_present] = 0.0
                n_present += 1
            w = 1.0
            if is_weighted:
                w = weight[r]
                own_weight[i] = w
                reach[i] = total + w
            mass[n_present - 1] += w
            total += w
        if n_present < 2 or depth[at] == most_depth:
            continue
        first_of[n_present] = size
        # Sums of n log n, less N log N, are minus the information that is still missing about the class.
        known = 0.0
        for k in range(n_present + 1):
            m = mass[k] if k < n_present else total
            term = n_log_n[int(m)] if m < len(n_log_n) else m * np.log(m)
            known += term if k < n_present else -term
        best, best_column, best_low, best_high = known + LEAST_GAIN * total, -1, 0, 0
        n_looked_at = 0
        for j in range(min(d, MOST_PASSED * n_columns)):
            if n_looked_at == n_columns or best > -LEAST_GAIN * total:  # nothing is missing any more
                break
            z ^= z << np.uint64(13)
            z ^= z >> np.uint64(7)
            z ^= z << np.uint64(17)
            pick = j + int((d - j) * (np.float64(z >> np.uint64(11)) * 2.0**-53))
            c = order[pick]
            order[pick], order[j] = order[j], c
            least, greatest = codes[rows[start], c], codes[rows[start], c]
            for i in range(size):
                v = codes[rows[start + i], c]
                value[i] = v
                least, greatest = min(least, v), max(greatest, v)
            if least == greatest:
                continue
            n_looked_at += 1
            for _ in range(n_thresholds):
                z ^= z << np.uint64(13)
                z ^= z >> np.uint64(7)
                z ^= z << np.uint64(17)
                u = np.float64(z >> np.uint64(11)) * 2.0**-53
                i = int(u * size)
                if is_weighted:  # the first row whose weight reaches beyond
                    i, beyond = 0, size - 1
                    while i < beyond:
                        middle = (i + beyond) // 2
                        if reach[middle] > u * total:
                            beyond = middle
                        else:
                            i = middle + 1
                bound[0] = value[i]
                if missing[c] >= 0:
                    if value[i] == greatest:  # it has none above: all below are cut off, then
                        bound[0] -= 1
                    for i in range(size):
                        inside[i] = value[i] <= bound[0]
                else:
                    for i in range(size):
                        inside[i] = value[i] == bound[0]
                weight_left = 0.0
                for k in range(n_present):
                    m, count = 0.0, 0
                    if is_weighted:
                        for i in range(first_of[k], first_of[k + 1]):
                            m += own_weight[i] * inside[i]
                    else:
                        for i in range(first_of[k], first_of[k + 1]):
                            count += inside[i]
                        m = float(count)
                    child_mass[2 * k] = m
                    child_mass[2 * k + 1] = mass[k] - m
                    weight_left += m
                child_mass[2 * n_present] = weight_left
                child_mass[2 * n_present + 1] = total - weight_left
                found = 0.0
                for k in range(2 * n_present + 2):
                    m = child_mass[k]
                    term = n_log_n[int(m)] if m < len(n_log_n) else (m * np.log(m) if m > 0 else 0.0)
                    found += term if k < 2 * n_present else -term
                if found > best:
                    best, best_column = found, c
                    best_low, best_high = 0 if missing[c] >= 0 else int(bound[0]), int(bound[0])
        if best_column < 0:
            continue
        n_left, n_right = 0, 0
        below, above = 0, BEYOND_CODES  # codes next to the limit, on both sides
        for i in range(size):
            r = rows[start + i]
            v = codes[r, best_column]
            if best_low <= v <= best_high:
                rows[start + n_left] = r
                n_left += 1
                below = max(below, int(v))
            else:
                aside[n_right] = r
                n_right += 1
                above = min(above, int(v))
        if missing[best_column] >= 0:  # cells that are missing stand apart from all codes below theirs
            best_high = (below + above) // 2 if above != missing[best_column] else above - 1
        for i in range(n_right):
            rows[start + n_left + i] = aside[i]
        splits[at, 0], splits[at, 1] = n_nodes - at, best_column
        splits[at, 2], splits[at, 3] = best_low, best_high
        begin[n_nodes], end[n_nodes] = start, start + n_left
        begin[n_nodes + 1], end[n_nodes + 1] = start + n_left, start + size
        depth[n_nodes] = depth[n_nodes + 1] = depth[at] + 1
        n_nodes += 2
    stream[0] = z
    return n_nodes
