"""`SpreadColumn`: the sums of a long column of numbers of which hardly any two are equal, without sorting it.

Some of its numbers were looked at first (`column_look`). They tell the shift that its histogram probably has
(`key_cells`), the magnitudes between which nearly all numbers lie, and about where the middle of each class is. Then
each block of rows is read once, while it is in the cache: numbers are counted into a table of buckets, and the few that
lie beyond it are sorted. The cells are those of `SortedColumn`, bit by bit: a shift is the smallest if with one less
there would be too many buckets, which the least and the largest key of each cell tell. Sums of floats are taken in the
order of the rows, in blocks of a fixed number of them, wherever the pieces end.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from bayeswater.kernels.column_look import Look
from bayeswater.kernels.key_cells import Cells, cell_starts, coarsened, keys_of, last_of, n_buckets
from bayeswater.kernels.sorted_column import ClassOrder, SortedColumn, is_count
from bayeswater.kernels.sorted_loops import number_of_counts
from bayeswater.kernels.spread_loops import class_sums, count_near, distance_lanes, merged_cells
from bayeswater.kernels.threads import row_blocks
from bayeswater.typing import Array

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


@dataclass(frozen=True)
class SpreadColumn:
    """Numbers (n_rows,) in pieces, the classes of their rows, and what was found in reading them once."""

    pieces: Sequence[Array]
    order: ClassOrder
    size: Array  # (n_classes,): numbers that are not missing
    values: _Distances
    logs: _Distances
    n_counts: int
    table: "_Table"

    @classmethod
    def of(cls, pieces: Sequence[Array], order: ClassOrder, look: Look, *, with_cells: bool) -> "SpreadColumn":
        """Read all blocks once; `with_cells` counts them into a table, too."""
        values, logs, table, n_counts = _Distances(look.center), _Distances(look.log_center), _Table(look, order), 0
        positive, positive_codes = np.empty(BLOCK), np.empty(BLOCK, dtype=order.codes.dtype)
        with np.errstate(over="ignore", invalid="ignore"):  # the model looks at the sums and names the column
            for x, codes in _blocks(pieces, order.codes):
                n_over_0 = class_sums(x, codes, values.center, values.lanes, values.sums, positive, positive_codes)
                log = np.log(positive[:n_over_0], out=positive[:n_over_0])
                distance_lanes(log, positive_codes[:n_over_0], logs.center, logs.lanes, logs.sums)
                n_counts += number_of_counts(x)
                if with_cells:
                    table.add_block(x, codes)
        return cls(pieces, order, order.size - values.sums[:, 2].astype(np.int64), values, logs, n_counts, table)

    def moments(self) -> tuple[Array, Array, Array]:
        """Weight, mean and scatter of every class."""
        return self.values.moments(self.size)

    def log_moments(self) -> tuple[Array, Array, Array]:
        """Weight, mean and scatter of the logarithms of the numbers over 0 in every class; others have none."""
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

    def key_cells(self, *, most: int, probed: int) -> Cells:
        """Histogram of at most `most` buckets; where the look has misled, of sorted numbers, some of them `probed`."""
        cells, is_finest = self.table.cells(most)
        if not is_finest:
            finer = _Table(self.table.look.finer(), self.order)
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


class _Table:
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

    def cells(self, most: int) -> tuple[Cells, bool]:
        """Histogram of all numbers, and whether no smaller shift would do."""
        far = self._far_cells()
        n = np.count_nonzero(self.counts[:, 0]) + len(far.low)
        low, high, weight = np.empty((3, n), dtype=np.int64)
        code = np.empty(n, dtype=np.min_scalar_type(self.n_classes))
        merged_cells(self.counts, self.look.width, *far[1:], low, high, code, weight)
        found = Cells(self.look.shift, low, high, code, weight)
        n_here, n_finer = n_buckets(found)
        if n_here > most:
            return coarsened(found, most), True
        return found, n_finer > most or not found.shift

    def _far_cells(self) -> Cells:
        """Cells of the numbers beyond the table."""
        far, code = map(np.concatenate, self._kept)
        known = ~np.isnan(far)
        key, code = keys_of(far[known]), code[known]
        order = np.lexsort((key, code))
        key, code = key[order], code[order]
        first = cell_starts(key >> self.look.shift, code)
        last = last_of(first, len(key))
        return Cells(self.look.shift, key[first], key[last], code[first], last - first + 1)
