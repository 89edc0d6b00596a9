"""`NumberColumns`: columns of numbers over the same rows, each summed in the form that its numbers alone decide.

A long column of which hardly any two numbers are equal is counted as it comes (`SpreadColumn`), any other one is sorted
(`SortedColumn`). Both have the same sums: `moments`, `log_moments`, `whole_sums` and the histogram, `key_cells`.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bayeswater.kernels.column_look import Look, LookedAt
from bayeswater.kernels.sorted_column import FEW_CLASSES, ClassOrder, SortedColumn
from bayeswater.kernels.sorted_loops import LONG
from bayeswater.kernels.spread_column import SpreadColumn
from bayeswater.typing import Array


@dataclass(frozen=True)
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

    def column(self, pieces: Sequence[Array], *, with_cells: bool = True) -> SortedColumn | SpreadColumn:
        """Take numbers (n_rows,) in pieces, NaN where they are missing; `with_cells` if a histogram is wanted, too."""
        look = None if self.looked_at is None else Look.at(pieces, self.looked_at, self.most)
        if look is not None:
            return SpreadColumn.of(pieces, self.order, look, with_cells=with_cells)
        return SortedColumn.of(pieces[0] if len(pieces) == 1 else np.concatenate(pieces), self.weight, self.order)
