"""`Look`: what some numbers of a long column tell of the others, before all of them are counted.

Nothing that is learned depends on it but the last bits of sums of floats: where a look has misled, `SpreadColumn` finds
out. It depends on the rows alone, not on the pieces they come in.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from bayeswater.kernels.key_cells import keys_of, least_shift
from bayeswater.kernels.sorted_column import ClassOrder, is_count
from bayeswater.typing import Array

NEAR = 64
"""Neighbours that are looked at together: to fetch one from memory fetches some."""

SEEN = 256
"""Rows of a class by which its middle is known well enough."""

LIKELY = 0.445
"""All numbers have probably as many buckets as a histogram may have where as many numbers have this share of them."""

INFINITY = 0x7FF << 52
"""The magnitude from which on there are no numbers: NaN has no place in a table."""

WIDEST = 50
"""Shift up to which a magnitude, that of NaN too, is rounded up to a bucket within 64 bits."""

FEW = 16
"""The sums of counts are taken of sorted ones: at most one in so many numbers may be a count."""

SMALL = 256
"""Of so many numbers the one of least magnitude has no place in the table: near 0 there are buckets without end."""

BEYOND = 8
"""The table has room for magnitudes beyond those looked at: one part of so many of its width."""

TABLE = 2**17
"""Buckets of a table at most, of both signs and all classes."""


@dataclass(frozen=True)
class LookedAt:
    """Rows that are looked at beforehand, in rising order, and the places of some of each class among them."""

    rows: Array
    of_class: tuple[Array, ...]

    @classmethod
    def of(cls, order: ClassOrder, n: int) -> "LookedAt":
        """Choose about so many rows in short stretches, evenly spaced, and of every class `SEEN` if it has them."""
        begin = np.arange(0, len(order.codes) - NEAR + 1, max(NEAR, len(order.codes) // max(1, n // NEAR)))
        rows = (begin[:, None] + np.arange(NEAR)).ravel()
        n_seen = np.bincount(order.codes[rows], minlength=len(order.size))
        rare = [_spaced(np.flatnonzero(order.codes == k), SEEN) for k in np.flatnonzero(n_seen < SEEN)]
        if rare:
            rows = np.unique(np.concatenate([rows, *rare]))
        codes = order.codes[rows]
        return cls(rows, tuple(_spaced(np.flatnonzero(codes == k), SEEN) for k in range(len(order.size))))

    def numbers(self, pieces: Sequence[Array]) -> Array:
        """Take the numbers of these rows."""
        limits = np.cumsum([0, *map(len, pieces)])
        parts = np.split(self.rows, np.searchsorted(self.rows, limits[1:-1]))
        taken = [piece[part - start] for piece, part, start in zip(pieces, parts, limits[:-1], strict=True)]
        return np.concatenate(taken, dtype=np.float64)


def _spaced(places: Array, n: int) -> Array:
    return places[:: max(1, len(places) // n)]


@dataclass(frozen=True)
class Look:
    """What some numbers of a column tell: a shift, the buckets of their magnitudes, and the middle of each class."""

    shift: int  # probably that of the histogram
    begin: int
    width: int
    center: Array  # (n_classes,); NaN where nothing was seen
    log_center: Array

    @classmethod
    def at(cls, pieces: Sequence[Array], looked_at: LookedAt, most: int) -> "Look | None":
        """Look at some numbers; None where a table is no place for such numbers."""
        x, n_classes = looked_at.numbers(pieces), len(looked_at.of_class)
        key = np.sort(keys_of(_known(x)))
        shift = least_shift(key, int(LIKELY * most))
        if not 0 < shift <= WIDEST or np.count_nonzero(is_count(x)) > len(x) // FEW:
            return None  # there may be but few different ones, to be kept apart, or many counts
        n_small, zero = len(key) // SMALL, int(np.searchsorted(key, 0))
        small = np.abs(key[max(zero - n_small - 1, 0) : zero + n_small + 1])  # those of least magnitude are among them
        begin = max(int(np.sort(small)[n_small]) >> shift, 1)  # the bucket of 0 is that of both signs
        end = (int(max(-key[0], key[-1])) >> shift) + 1
        width = min(end - begin + (end - begin) // BEYOND, (INFINITY >> shift) - begin)
        if 2 * width * n_classes > TABLE:
            return None
        own = [_known(x[places]) for places in looked_at.of_class]
        return cls(shift, begin, width, _medians(own), np.log(_medians([part[part > 0] for part in own])))

    def finer(self) -> "Look":
        """With a shift of one less, and a table that reaches as far."""
        return replace(self, shift=self.shift - 1, begin=2 * self.begin, width=2 * self.width)


def _known(x: Array) -> Array:
    return x[~np.isnan(x)]


def _medians(parts: Sequence[Array]) -> Array:
    return np.array([np.sort(part)[len(part) // 2] if len(part) else np.nan for part in parts])
