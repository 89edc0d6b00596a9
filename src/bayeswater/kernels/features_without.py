"""Logarithms of smoothed feature sums with the row itself taken out of them: the loops behind exact leave-one-out.

A cell x of a row taken out with weight r leaves s - r x of a sum s; a remainder within `rounding` of s counts as zero,
and then comes the smoothing. Rows are those of a CSR matrix whose `indptr` begins at 0.
"""

from typing import NamedTuple

import numpy as np

from bayeswater.kernels.compiling import compiled
from bayeswater.typing import Array


class SmoothedSums(NamedTuple):
    """Sums (n_features, n_classes), the smoothing of each feature, and tables of the smoothed sums."""

    sums: Array
    alpha: Array  # (n_features,)
    table: Array  # (n_features, 2 n_classes): the logarithms of the smoothed sums, then these themselves
    smallest: Array  # (n_features,): the smallest smoothed sum of any class

    @property
    def logs(self) -> Array:
        """Logarithms of the smoothed sums: (n_features, n_classes)."""
        return self.table[:, : self.sums.shape[1]]


class LogSums(NamedTuple):
    """Sums over the cells x of each row: x log(s), finite ones alone; x where s is zero; x itself."""

    total: Array  # (n_rows, n_classes)
    infinite: Array  # (n_rows, n_classes)
    length: Array  # (n_rows,)


def smoothed_sums(sums: Array, alpha: Array) -> SmoothedSums:
    """Prepare the tables for sums of any kind, (n_classes, n_features)."""
    by_feature = np.ascontiguousarray(sums.T, dtype=np.float64)
    smoothed = by_feature + alpha[:, None]
    with np.errstate(divide="ignore"):
        table = np.hstack([np.log(smoothed), smoothed])
    return SmoothedSums(by_feature, np.array(alpha), table, smoothed.min(axis=1))


def own_logs_without(
    indptr: Array,
    indices: Array,
    data: Array,
    y: Array,
    removed: Array,
    tables: SmoothedSums,
    rounding: float,
    *,
    use_loop: bool,
) -> LogSums:
    """Sum over the row's own class alone, without the row: n_classes is 1."""
    if use_loop:
        without = np.empty(len(data))
        _own_sums_without_loop(indptr, indices, data, y, removed, tables.sums, tables.alpha, rounding, without)
        with np.errstate(divide="ignore"):
            np.log(without, out=without)  # NumPy takes several logarithms at a time
        result = _nothing(len(y), 1)
        _sum_of_logs_loop(indptr, data, without, *result)
        return result
    row = _row_of_cell(indptr)
    without = _remainder(tables.sums[indices, y[row]], removed[row] * data, rounding)
    return _log_sums(row, data, (without + tables.alpha[indices])[:, None], len(y))


def other_logs_without(
    indptr: Array,
    indices: Array,
    data: Array,
    y: Array,
    removed: Array,
    tables: SmoothedSums,
    rounding: float,
    *,
    use_loop: bool,
) -> LogSums:
    """Sum over every class, without the row in all classes but its own."""
    n_classes = tables.sums.shape[1]
    if use_loop:
        result = _nothing(len(y), n_classes)
        _other_logs_without_loop(indptr, indices, data, y, removed, *tables, rounding, *result)
        return result
    row = _row_of_cell(indptr)
    is_own = y[row, None] == np.arange(n_classes)
    part = np.where(is_own, 0.0, (removed[row] * data)[:, None])
    without = _remainder(tables.sums[indices], part, rounding)
    return _log_sums(row, data, without + tables.alpha[indices, None], len(y))


def _nothing(n_rows: int, n_classes: int) -> LogSums:
    return LogSums(np.zeros((n_rows, n_classes)), np.zeros((n_rows, n_classes)), np.zeros(n_rows))


def _log_sums(row: Array, data: Array, without: Array, n_rows: int) -> LogSums:
    result = _nothing(n_rows, without.shape[1])
    zero = without == 0
    np.add.at(result.total, row, data[:, None] * np.log(np.where(zero, 1.0, without)))
    np.add.at(result.infinite, row, data[:, None] * zero)
    np.add.at(result.length, row, data)
    return result


def _row_of_cell(indptr: Array) -> Array:
    return np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))


def _remainder(total: Array, part: Array, rounding: float) -> Array:
    rest = total - part
    return np.where(rest <= rounding * total, 0.0, rest)


@compiled
def _own_sums_without_loop(indptr, indices, data, y, removed, sums, alpha, rounding, without):  # type: ignore[no-untyped-def]
    for i in range(len(y)):
        k = np.uint64(y[i])
        for p in range(indptr[i], indptr[i + 1]):
            j = np.uint64(indices[p])
            rest = sums[j, k] - removed[i] * data[p]
            without[p] = (rest if rest > rounding * sums[j, k] else 0.0) + alpha[j]


@compiled
def _sum_of_logs_loop(indptr, data, logs, total, infinite, length):  # type: ignore[no-untyped-def]
    for i in range(len(length)):
        for p in range(indptr[i], indptr[i + 1]):
            length[i] += data[p]
            if logs[p] == -np.inf:
                infinite[i, 0] += data[p]
            else:
                total[i, 0] += data[p] * logs[p]


@compiled
def _other_logs_without_loop(  # type: ignore[no-untyped-def]
    indptr, indices, data, y, removed, sums, alpha, table, smallest, rounding, total, infinite, length
):
    # With w = r x / (2 s - r x), log(s - r x) = log s - 2 (w + w^3 / 3 + w^5 / 5 + ...). While r x is less than s / 8,
    # the terms up to w^13 are right to the last bit, and all classes go through them together; what takes a larger
    # share of a sum, of a rare feature, takes a logarithm for each class.
    n_rows, n_classes = total.shape
    ahead = np.empty((16, table.shape[1]))  # rows of the table, spread over memory, are fetched so many at a time
    for i in range(n_rows):
        own = np.uint64(y[i])
        own_total = 0.0
        own_infinite = 0.0
        for first in range(indptr[i], indptr[i + 1], 16):
            n_ahead = min(16, indptr[i + 1] - first)
            for a in range(n_ahead):
                j = np.uint64(indices[first + a])
                for column in range(table.shape[1]):
                    ahead[a, column] = table[j, column]
            for a in range(n_ahead):
                j = np.uint64(indices[first + a])
                x = data[first + a]
                part = removed[i] * x
                logs, smoothed = ahead[a, :n_classes], ahead[a, n_classes:]
                length[i] += x
                if logs[own] == -np.inf:
                    own_infinite += x
                else:
                    own_total += x * logs[own]
                if 8.0 * part < smallest[j]:
                    for k in range(n_classes):
                        w = part / (2.0 * smoothed[k] - part)
                        v = w * w
                        series = 1 / 3 + v * (1 / 5 + v * (1 / 7 + v * (1 / 9 + v * (1 / 11 + v * (1 / 13)))))
                        total[i, k] += x * (logs[k] - 2.0 * w * (1.0 + v * series))
                else:
                    for k in range(n_classes):
                        rest = sums[j, k] - part
                        left = (rest if rest > rounding * sums[j, k] else 0.0) + alpha[j]
                        if left > 0.0:
                            total[i, k] += x * np.log(left)
                        else:
                            infinite[i, k] += x
        total[i, own] = own_total
        infinite[i, own] = own_infinite
