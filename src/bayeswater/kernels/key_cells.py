"""Histogram cells of floats: bucket and class of every number of a column, in one whole number.

The bits of a float, read as sign and magnitude of a whole number (its key), have the order of the floats. Its leading
bits, those of sign, exponent and the first `MANTISSA_BITS` of the mantissa, name a bucket; both zeros are in bucket 0.
"""

import numpy as np

from bayeswater.kernels.cell_counts import NO_CELL
from bayeswater.kernels.compiling import compiled
from bayeswater.typing import Array

MANTISSA_BITS = 10
"""Bits of the mantissa that tell buckets apart: those of one sign and exponent are 1024."""

SHIFT = 52 - MANTISSA_BITS
LOWEST = -(1 << (63 - SHIFT))
N_BUCKETS = 2 << (63 - SHIFT)
"""Buckets are numbered from `LOWEST` on, and there are `N_BUCKETS` of them; bucket 0 begins with zero."""

MAGNITUDE = 2**63 - 1
"""Bits of a float but for its sign."""

INFINITE = 0x7FF << 52
"""Magnitude of infinity; that of NaN is larger."""


def buckets_of(x: Array) -> Array:
    """Bucket of each number of a float64 array.

    >>> buckets_of(np.array([-0.0, 0.0, 1.0, 1.0005, 1.001])).tolist()
    [0, 0, 1047552, 1047552, 1047553]
    """
    bits = x.view(np.int64)
    return np.where(bits < 0, -(bits & MAGNITUDE), bits) >> SHIFT


def bucket_edges(bucket: Array) -> Array:
    """Smallest number of each bucket; the numbers from there on, and below the edge of the next one, are in it.

    >>> bucket_edges(buckets_of(np.array([-3.0, 0.0, 7.0])))
    array([-3.,  0.,  7.])
    """
    magnitude = (np.abs(bucket) << SHIFT).view(np.float64)
    return np.where(bucket < 0, -magnitude, magnitude)


def key_cells(x: Array, y: Array, n_classes: int, *, use_loop: bool) -> Array:
    """Give ``(bucket - LOWEST) * n_classes + class`` of one block of a float64 column; NaN has no cell."""
    if not use_loop:
        return np.where(np.isnan(x), NO_CELL, (buckets_of(x) - LOWEST) * n_classes + y)
    cells = np.empty(len(x), dtype=np.int64)
    _key_cells_loop(x.view(np.int64), y, n_classes, cells)
    return cells


@compiled
def _key_cells_loop(bits, y, n_classes, cells):  # type: ignore[no-untyped-def]
    for i in range(bits.shape[0]):
        magnitude = bits[i] & MAGNITUDE
        key = magnitude if bits[i] >= 0 else -magnitude
        cell = ((key >> SHIFT) - LOWEST) * n_classes + np.int64(y[i])
        cells[i] = cell if magnitude <= INFINITE else NO_CELL
