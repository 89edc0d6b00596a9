"""Leave-one-out of Gaussian classes over a table: by formula, and by counting again where a formula has no digits left.

A row far away from all others of its class makes up nearly all of its scatter, and what is left when it is subtracted
is rounding. There are few such rows, at most one for each direction of a class: for them the class is summed again
without the row, where its rows are at hand.
"""

from collections.abc import Callable

import numpy as np

from bayeswater.data.matrix import DenseTable
from bayeswater.errors import PrecisionWarning, warn_user
from bayeswater.estimate.densities import Densities
from bayeswater.inference.gaussian_form import likelihood_of_sums, without
from bayeswater.kernels.scatter import class_scatter, merged
from bayeswater.kernels.threads import row_blocks
from bayeswater.statistics.scatter import Scatter
from bayeswater.statistics.statistic import remainder
from bayeswater.statistics.sums import Sums
from bayeswater.typing import Array


def likelihood_without(
    sums: Sums[Scatter], read: Densities, table: DenseTable, codes: Array, removed: Array, weight: Array | None = None
) -> Callable[[slice, bool], Array]:
    """Give a function of some rows: their log-likelihoods (n_rows, n_classes), each row taken out of the sums.

    `removed` is what leaving a row out takes away of its `weight`; where that is not known it is taken for all of it.
    """
    left_out = without(sums, read)
    count = sums.class_count.count.astype(np.float64)
    weight = removed if weight is None else weight.astype(np.float64)
    given = np.bincount(codes, weights=weight, minlength=len(count))
    is_complete = np.abs(given - count) <= 1e-9 * count  # all rows of the class are here
    warned: list[int] = []

    def counted_again(row: int) -> Array:
        k, left = int(codes[row]), count.copy()
        left[k] = remainder(count[k], removed[row])
        scatter = sums.columns.with_class(k, _class_without(sums.columns, table, codes, weight, row, removed[row]))
        return likelihood_of_sums(scatter, left, read, table.block(slice(row, row + 1)))

    def likelihood(rows: slice, use_loop: bool) -> Array:
        terms, lost = left_out.likelihood(table.block(rows), codes[rows], removed[rows])
        for i in np.flatnonzero(lost):
            if is_complete[codes[rows.start + i]]:
                terms[i] = counted_again(rows.start + int(i))
            elif not warned:  # once a call, not once a block
                warned.append(rows.start + int(i))
                warn_user(
                    f"row {warned[0]} makes up nearly all of the scatter of its class in a direction, and others may "
                    "too; without such a row few digits of the scatter are right, or none. Give all rows of the class: "
                    "then it is counted again without that row",
                    PrecisionWarning,
                )
        return terms

    return likelihood


def _class_without(sums: Scatter, table: DenseTable, codes: Array, weight: Array, row: int, removed: float) -> Scatter:
    """Sum the class of a row again, from its other rows and what is left of it."""
    weight = weight.copy()
    weight[row] -= removed
    total = None
    for block in row_blocks(table.shape[0]):
        chosen = np.flatnonzero((codes[block] == codes[row]) & (weight[block] > 0))
        if len(chosen):
            part = class_scatter(
                table.block(block)[chosen],
                np.zeros(len(chosen), dtype=np.intp),
                weight[block][chosen],
                1,
                skip_missing=sums.is_pairwise or sums.n_columns == 1,
            )
            total = part if total is None else merged(total, part)  # type: ignore[arg-type]
    if total is None:  # the row is alone in its class
        none, skip_missing = np.zeros(0, dtype=np.intp), sums.is_pairwise or sums.n_columns == 1
        total = class_scatter(table.block(slice(0, 1))[:0], none, None, 1, skip_missing=skip_missing)
    return Scatter(sums.classes, sums.names, *total)
