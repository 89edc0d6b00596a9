"""`NumberColumns`: columns of numbers over the same rows, each summed in the form that its numbers alone decide.

A long column of which hardly any two numbers are equal is counted as it comes (`SpreadColumn`), any other one is sorted
(`SortedColumn`). Both have the same sums: `moments`, `log_moments`, `whole_sums`, `share_sums` and the histogram,
`key_cells`.

A `Look` is what some numbers of a long column tell of the others, before all of them are counted. Nothing that is
learned depends on it but the last bits of sums of floats: where a look has misled, `SpreadColumn` finds out. It depends
on the rows alone, not on the pieces they come in.

The loops over a block of a `SpreadColumn` read it once; `SortedColumn` is their reference. Sums of floats run in four
lanes, the lane of a number being told by its place in the block: an addition seldom waits for the one before, and
rounding does not pile up.

A `SpreadColumn` is not sorted. Some of its numbers were looked at first. They tell the shift that its histogram
probably has (`key_cells`), the magnitudes between which nearly all numbers lie, and about where the middle of each
class is. Then each block of rows is read once, while it is in the cache: numbers are counted into a table of buckets,
and the few that lie beyond it are sorted. The cells are those of `SortedColumn`, bit by bit: a shift is the smallest if
with one less there would be too many buckets, which the least and the largest key of each cell tell. Sums of floats are
taken in the order of the rows, in blocks of a fixed number of them, wherever the pieces end.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from bayeswater.kernels.compiling import compiled
from bayeswater.kernels.key_cells import (
    LARGEST,
    KeyCells,
    cell_starts,
    coarsened,
    keys_of,
    last_of,
    least_shift,
    n_buckets,
)
from bayeswater.kernels.sorted_column import (
    FEW_CLASSES,
    INFINITY,
    LONG,
    SMALL_REST,
    ClassOrder,
    SortedColumn,
    is_count,
    number_of_counts,
)
from bayeswater.kernels.threads import row_blocks
from bayeswater.records import record
from bayeswater.typing import Array

NEAR = 64
"""Neighbours that are looked at together: to fetch one from memory fetches some."""

SEEN = 256
"""Rows of a class by which its middle is known well enough."""

LIKELY = 0.445
"""All numbers have probably as many buckets as a histogram may have where as many numbers have this share of them."""

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

TINY_PRODUCT = 1e-250
"""A product of shares that is less is not multiplied further."""


@record
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


@record
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


@compiled
def add_share_logs(x, codes, inside, near, far):  # type: ignore[no-untyped-def]
    """Count the numbers over 0 and under 1 of every class, and add -log x and -log(1 - x): of products, or of small x.

    A product is no less than TINY_PRODUCT before it takes a factor, which is at least 2**-53.
    """
    products = np.ones((len(inside), 2))
    for i in range(len(x)):
        share = x[i]
        if not 0.0 < share < 1.0:
            continue
        k = codes[i]
        inside[k] += 1
        if share < SMALL_REST:  # 1 - x would have no digits of it
            near[k] -= np.log(share)
            far[k] -= np.log1p(-share)
            continue
        products[k, 0] *= share
        products[k, 1] *= 1.0 - share
        if products[k, 0] < TINY_PRODUCT or products[k, 1] < TINY_PRODUCT:
            near[k] -= np.log(products[k, 0])
            far[k] -= np.log(products[k, 1])
            products[k] = 1.0
    for k in range(len(inside)):
        near[k] -= np.log(products[k, 0])
        far[k] -= np.log(products[k, 1])


BLOCK = 2**15
"""Numbers that are worked on at once: they stay in a second-level cache, beside the buckets that most of them have."""


class _Distances:
    """Sums over the blocks of a column: distances of numbers from a center of their class, and squares of these."""

    def __init__(self, center: Array) -> None:
        self.center = center.copy()
        self.lanes = np.empty((len(center), 4, 3))  # sums of one block
        self.sums = np.zeros((len(center), 3))  # total, square, and a number

    def moments(self, weight: Array) -> tuple[Array, Array, Array]:
        """Weight, mean and scatter of every class."""
        total, square = self.sums[:, 0], self.sums[:, 1]
        with np.errstate(over="ignore", invalid="ignore"):  # the model looks at the sums and names the column
            shift = total / np.where(weight > 0, weight, 1)
            return weight, np.where(weight > 0, self.center + shift, 0.0), square - shift * total


@record
class SpreadColumn:
    """Numbers (n_rows,) in pieces, the classes of their rows, and what was found in reading them once."""

    pieces: Sequence[Array]
    order: ClassOrder
    size: Array  # (n_classes,): numbers that are not missing
    values: _Distances
    logs: _Distances
    n_counts: int
    table: "_Buckets"

    @classmethod
    def of(
        cls, pieces: Sequence[Array], order: ClassOrder, look: Look, *, with_cells: bool, with_logs: bool
    ) -> "SpreadColumn":
        """Read all blocks once; `with_cells` counts them into a table, too."""
        values, logs, table, n_counts = _Distances(look.center), _Distances(look.log_center), _Buckets(look, order), 0
        positive, positive_codes = np.empty(BLOCK), np.empty(BLOCK, dtype=order.codes.dtype)
        with np.errstate(over="ignore", invalid="ignore"):  # the model looks at the sums and names the column
            for x, codes in _blocks(pieces, order.codes):
                n_over_0 = class_sums(x, codes, values.center, values.lanes, values.sums, positive, positive_codes)
                with_logs = with_logs and (n_over_0 == len(x) or not (x <= 0).any())
                if with_logs:
                    log = np.log(positive[:n_over_0], out=positive[:n_over_0])
                    distance_lanes(log, positive_codes[:n_over_0], logs.center, logs.lanes, logs.sums)
                if with_cells:
                    n_counts += number_of_counts(x)
                    table.add_block(x, codes)
        return cls(pieces, order, order.size - values.sums[:, 2].astype(np.int64), values, logs, n_counts, table)

    def moments(self) -> tuple[Array, Array, Array]:
        """Weight, mean and scatter of every class."""
        return self.values.moments(self.size)

    def log_moments(self) -> tuple[Array, Array, Array]:
        """Weight, mean and scatter of the logarithms of every class, of columns in which all numbers are over 0."""
        return self.logs.moments(self.logs.sums[:, 2].astype(np.int64))

    def whole_sums(self) -> tuple[Array, Array, Array, Array]:
        """Weights of counts and of other numbers, sums of x and log x! of the counts: (n_classes,) each."""
        if not self.n_counts:
            none = np.zeros(len(self.size))
            return np.zeros_like(self.size), self.size, none, none
        blocks = _blocks(self.pieces, self.order.codes)
        counts = [(x[chosen], codes[chosen]) for x, codes in blocks if (chosen := is_count(x)).any()]
        x, codes = (np.concatenate(arrays) for arrays in zip(*counts, strict=True))
        own = SortedColumn.of(x, None, ClassOrder.of(codes, len(self.size)))
        whole, _, total, log_factorials = own.whole_sums()
        return whole, self.size - whole, total, log_factorials

    def share_sums(self) -> tuple[Array, Array, Array]:
        """Weight, and sums of -log x and -log(1 - x), of every class, of columns in which all numbers are shares."""
        inside, near, far = np.zeros_like(self.size), np.zeros(len(self.size)), np.zeros(len(self.size))
        for x, codes in _blocks(self.pieces, self.order.codes):
            if ((x <= 0) | (x >= 1)).any():
                break
            add_share_logs(x, codes, inside, near, far)
        return inside, near, far

    def key_cells(self, *, most: int, probed: int) -> KeyCells:
        """Histogram of at most `most` buckets; where the look has misled, of sorted numbers, some of them `probed`."""
        cells, is_finest = self.table.cells(most)
        if not is_finest:
            finer = _Buckets(self.table.look.finer(), self.order)
            for x, codes in _blocks(self.pieces, self.order.codes):
                finer.add_block(x, codes)
            cells, is_finest = finer.cells(most)
        if is_finest:
            return cells
        return SortedColumn.of(np.concatenate(self.pieces), None, self.order).key_cells(most=most, probed=probed)


def _blocks(pieces: Sequence[Array], codes: Array) -> Iterator[tuple[Array, Array]]:
    """Give numbers and classes block by block, wherever the pieces end."""
    limits = np.cumsum([0, *map(len, pieces)]).tolist()
    for rows in row_blocks(len(codes), BLOCK):
        parts = [
            piece[max(rows.start - start, 0) : rows.stop - start]
            for piece, start in zip(pieces, limits, strict=False)
            if start < rows.stop and rows.start < start + len(piece)
        ]
        x = np.ascontiguousarray(parts[0] if len(parts) == 1 else np.concatenate(parts), dtype=np.float64).view()
        x.flags.writeable = False  # some pieces are not, and a loop is compiled but once
        yield x, codes[rows]


class _Buckets:
    """Buckets in which numbers are counted, and the numbers that lie beyond them."""

    def __init__(self, look: Look, order: ClassOrder) -> None:
        self.look, self.n_classes = look, len(order.size)
        self.counts = np.zeros((2 * look.width * self.n_classes, 3), dtype=np.int64)
        self._far, self._far_codes = np.empty(BLOCK), np.empty(BLOCK, dtype=order.codes.dtype)
        self._kept: tuple[list[Array], list[Array]] = [self._far[:0]], [self._far_codes[:0]]

    def add_block(self, x: Array, codes: Array) -> None:
        """Count the numbers of a block."""
        look = self.look
        far = self._far.view(np.int64), self._far_codes
        n = count_near(x.view(np.int64), codes, look.shift, look.begin, look.width, self.counts, *far)
        self._kept[0].append(self._far[:n].copy())
        self._kept[1].append(self._far_codes[:n].copy())

    def cells(self, most: int) -> tuple[KeyCells, bool]:
        """Histogram of all numbers, and whether no smaller shift would do."""
        far = self._far_cells()
        n = np.count_nonzero(self.counts[:, 0]) + len(far.low)
        low, high, weight = np.empty((3, n), dtype=np.int64)
        code = np.empty(n, dtype=np.min_scalar_type(self.n_classes))
        merged_cells(self.counts, self.look.width, *far[1:], low, high, code, weight)
        found = KeyCells(self.look.shift, low, high, code, weight)
        n_here, n_finer = n_buckets(found)
        if n_here > most:
            return coarsened(found, most), True
        return found, n_finer > most or not found.shift

    def _far_cells(self) -> KeyCells:
        """Cells of the numbers beyond the table."""
        far, code = map(np.concatenate, self._kept)
        known = ~np.isnan(far)
        key, code = keys_of(far[known]), code[known]
        order = np.lexsort((key, code))
        key, code = key[order], code[order]
        first = cell_starts(key >> self.look.shift, code)
        last = last_of(first, len(key))
        return KeyCells(self.look.shift, key[first], key[last], code[first], last - first + 1)


@record
class NumberColumns:
    """The rows of some columns, and which of them are looked at beforehand."""

    order: ClassOrder
    weight: Array | None
    most: int  # buckets of a histogram
    looked_at: LookedAt | None

    @classmethod
    def of(cls, codes: Array, n_classes: int, weight: Array | None, *, most: int) -> "NumberColumns":
        """Prepare the rows of classes (n_rows,)."""
        order = ClassOrder.of(codes, n_classes)
        can_spread = weight is None and len(codes) >= LONG and n_classes <= FEW_CLASSES
        return cls(order, weight, most, LookedAt.of(order, most) if can_spread else None)

    def column(
        self, pieces: Sequence[Array], *, with_cells: bool = True, with_logs: bool = True
    ) -> SortedColumn | SpreadColumn:
        """Take numbers (n_rows,) in pieces, NaN where they are missing; a histogram and logarithms where wanted."""
        look = None if self.looked_at is None else Look.at(pieces, self.looked_at, self.most)
        if look is not None:
            return SpreadColumn.of(pieces, self.order, look, with_cells=with_cells, with_logs=with_logs)
        return SortedColumn.of(pieces[0] if len(pieces) == 1 else np.concatenate(pieces), self.weight, self.order)
