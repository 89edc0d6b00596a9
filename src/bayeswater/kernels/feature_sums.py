"""Features: sums within the classes, the linear log-joint, and both with each row taken out.

Every feature is summed within every class: ``sums[k, j] = sum over rows of class k of w x_j``. With a threshold, of
``w [x_j > threshold]``: the feature is marked, not measured. Dense rows are taken in order; sparse rows too where the
sums of all classes stay in some cache, and else class by class, so that the one row of sums being written does, and is
written by one thread alone.

Exact leave-one-out takes logarithms of smoothed sums with the row itself taken out of them. A cell x of a row taken out
with weight r leaves s - r x of a sum s; a remainder within rounding of s counts as zero, and then comes the
smoothing. Rows are those of a CSR matrix whose `indptr` begins at 0.

The log-joint is rows times weights, for every class: ``joint[i, k] = sum_j x_ij weight[j, k]``. Weights lie feature by
feature, so that one non-zero cell fetches the vector over classes. With a threshold x is marked (0 or 1).
"""

from functools import cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from bayeswater.kernels.class_scores import ordered_sum
from bayeswater.kernels.compiling import compiled
from bayeswater.kernels.remainders import ROUNDING, remainder
from bayeswater.typing import Array


def class_feature_sums(
    X: Array, y: Array, weight: Array | None, n_classes: int, threshold: float | None, kind: type, *, use_loop: bool
) -> Array:
    """Sum one block of dense rows into (n_classes, n_features) of dtype `kind`."""
    sums: Array = np.zeros((n_classes, X.shape[1]), dtype=kind)
    arguments = X, y, weight, threshold, sums
    if _class_feature_sums_loop.serves(X.size, *arguments, use_loop=use_loop):
        _class_feature_sums_loop(*arguments)
        return sums
    for k, rows in enumerate(rows_by_class(y, n_classes)):
        x = X.take(rows, axis=0) if threshold is None else X.take(rows, axis=0) > threshold
        sums[k] = ordered_sum(x.astype(kind) if weight is None else weight[rows, None] * x)
    return sums


def add_sparse_rows(
    indptr: Array,
    indices: Array,
    data: Array,
    y: Array,
    weight: Array | None,
    threshold: float | None,
    sums: Array,
    *,
    use_loop: bool,
) -> None:
    """Add the rows of a CSR matrix, in their order, into the sums (n_classes, n_features) of their classes."""
    arguments = indptr, indices, data, y, weight, threshold, sums
    if _add_sparse_rows_loop.serves(int(indptr[-1] - indptr[0]), *arguments, use_loop=use_loop):
        _add_sparse_rows_loop(*arguments)
        return
    stored, n_cells = slice(indptr[0], indptr[-1]), np.diff(indptr)
    x = data[stored] if threshold is None else data[stored] > threshold
    if weight is not None:
        x = np.repeat(weight, n_cells) * x
    place = np.repeat(y.astype(np.intp) * sums.shape[1], n_cells)
    place += indices[stored]
    np.add.at(sums.reshape(-1), place, x.astype(sums.dtype, copy=False))


def sparse_rows_sum(
    indptr: Array, indices: Array, data: Array, rows: Array, weight: Array | None, threshold: float | None, sums: Array
) -> None:
    """Add the given rows of a CSR matrix into one row of `sums` (n_features,)."""
    _sparse_rows_sum_loop(indptr, indices, data, rows, weight, threshold, sums)


def rows_by_class(y: Array, n_classes: int) -> list[Array]:
    """List the rows of each class, in their order.

    >>> rows_by_class(np.array([1, 0, 1]), 3)
    [array([1]), array([0, 2]), array([], dtype=int64)]
    """
    order = np.argsort(y, kind="stable")  # a radix sort for narrow codes
    last = np.cumsum(np.bincount(y, minlength=n_classes)).tolist()
    return [order[first:stop] for first, stop in pairwise([0, *last])]


@compiled
def _class_feature_sums_loop(X, y, weight, threshold, sums):  # type: ignore[no-untyped-def]
    n_rows, n_features = X.shape
    for i in range(n_rows):
        k = y[i]
        for j in range(n_features):
            x = X[i, j] if threshold is None else X[i, j] > threshold
            sums[k, j] += x if weight is None else weight[i] * x


@compiled
def _add_sparse_rows_loop(indptr, indices, data, y, weight, threshold, sums):  # type: ignore[no-untyped-def]
    # Indices are unsigned: they never count from the end, and the compiled loop need not ask.
    for i in range(len(y)):
        k = np.uint64(y[i])
        for p in range(np.uint64(indptr[i]), np.uint64(indptr[i + 1])):
            x = data[p] if threshold is None else data[p] > threshold
            sums[k, np.uint64(indices[p])] += x if weight is None else weight[i] * x


@compiled
def _sparse_rows_sum_loop(indptr, indices, data, rows, weight, threshold, sums):  # type: ignore[no-untyped-def]
    # Indices are unsigned, as above.
    for row in rows:
        for p in range(np.uint64(indptr[row]), np.uint64(indptr[row + 1])):
            x = data[p] if threshold is None else data[p] > threshold
            sums[np.uint64(indices[p])] += x if weight is None else weight[row] * x


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
    indptr: Array, indices: Array, data: Array, y: Array, removed: Array, tables: SmoothedSums, *, use_loop: bool
) -> LogSums:
    """Sum over the row's own class alone, without the row: n_classes is 1."""
    if use_loop:
        without = np.empty(len(data))
        _own_sums_without_loop(indptr, indices, data, y, removed, tables.sums, tables.alpha, without)
        with np.errstate(divide="ignore"):
            np.log(without, out=without)  # NumPy takes several logarithms at a time
        result = _nothing(len(y), 1)
        _sum_of_logs_loop(indptr, data, without, *result)
        return result
    row = _row_of_cell(indptr)
    without = remainder(tables.sums[indices, y[row]], removed[row] * data)
    return _log_sums(row, data, (without + tables.alpha[indices])[:, None], len(y))


def other_logs_without(
    indptr: Array, indices: Array, data: Array, y: Array, removed: Array, tables: SmoothedSums, *, use_loop: bool
) -> LogSums:
    """Sum over every class, without the row in all classes but its own."""
    n_classes = tables.sums.shape[1]
    if use_loop:
        result = _nothing(len(y), n_classes)
        _other_logs_without_loop(indptr, indices, data, y, removed, *tables, *result)
        return result
    row = _row_of_cell(indptr)
    is_own = y[row, None] == np.arange(n_classes)
    part = np.where(is_own, 0.0, (removed[row] * data)[:, None])
    without = remainder(tables.sums[indices], part)
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


@compiled
def _own_sums_without_loop(indptr, indices, data, y, removed, sums, alpha, without):  # type: ignore[no-untyped-def]
    for i in range(len(y)):
        k = np.uint64(y[i])
        for p in range(indptr[i], indptr[i + 1]):
            j = np.uint64(indices[p])
            rest = sums[j, k] - removed[i] * data[p]
            without[p] = (rest if rest > ROUNDING * sums[j, k] else 0.0) + alpha[j]


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
    indptr, indices, data, y, removed, sums, alpha, table, smallest, total, infinite, length
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
                        left = (rest if rest > ROUNDING * sums[j, k] else 0.0) + alpha[j]
                        if left > 0.0:
                            total[i, k] += x * np.log(left)
                        else:
                            infinite[i, k] += x
        total[i, own] = own_total
        infinite[i, own] = own_infinite


STRETCH_CELLS = 65_536
"""Cells multiplied at a time: they stay in the second-level cache, and are too few for BLAS to start own threads."""

SMALL_PRODUCT = 1_000_000
"""Multiplications up to which OpenBLAS multiplies matrices where they are: it takes two thirds of the time."""

ROWS_OF_PRODUCT = 64
"""Rows that such a product has at least, or else fetching the weights is most of the work."""

FEW_CLASSES = 12
"""Classes up to which a table that lies by column is multiplied from the left: BLAS need not turn it."""


def dense_times_weights(X: Array, weight: Array, threshold: float | None) -> Array:
    """Multiply one block of dense rows: (n_rows, n_classes), on stretches of float64.

    What lies by column gives, for few classes, scores that lie class by class.
    """
    n_rows, n_classes = len(X), weight.shape[1]
    stretch, small = max(1, STRETCH_CELLS // X.shape[1]), SMALL_PRODUCT // weight.size
    if small >= ROWS_OF_PRODUCT:
        stretch = min(stretch, small)
    from_left = n_classes <= FEW_CLASSES and X.strides[0] < X.strides[1]
    joint = np.empty((n_classes, n_rows)).T if from_left else np.empty((n_rows, n_classes))
    by_class = np.ascontiguousarray(weight.T) if from_left else weight.T
    for start in range(0, n_rows, stretch):
        rows = slice(start, start + stretch)
        x = X[rows] if threshold is None else X[rows] > threshold
        x = x.astype(np.float64, copy=False)
        if from_left:
            np.matmul(by_class, x.T, out=joint.T[:, rows])
        else:
            np.matmul(x, weight, out=joint[rows])
    return joint


MANY_CLASSES = 12
"""Classes from which on it is faster to take all of a cell together than to read the row again for every four."""


def sparse_times_weights(
    indptr: Array, indices: Array, data: Array, weight: Array, threshold: float | None, *, use_loop: bool
) -> Array:
    """Multiply rows of a CSR matrix, given by their stretch of `indptr`: (n_rows, n_classes)."""
    stored = slice(indptr[0], indptr[-1])
    indptr, indices, data = indptr - indptr[0], indices[stored], data[stored]
    if threshold is not None:
        data = (data > threshold).view(np.uint8)
    joint = np.empty((len(indptr) - 1, weight.shape[1]))
    arguments = indptr, indices, data, weight, joint
    loop = _sparse_times_few_weights_loop if weight.shape[1] < MANY_CLASSES else _sparse_times_weights_loop
    if use_loop or (_scipy_rounds_products() and loop.serves(len(data), *arguments, use_loop=False)):
        loop(*arguments)
        return joint
    X = csr_array((data.astype(np.float64, copy=False), indices, indptr), shape=(len(joint), len(weight)))
    return X @ weight


@cache
def _scipy_rounds_products() -> bool:
    """Whether SciPy rounds a product before it is added, as the loop does; compiled for some machines it does not."""
    x = 1 + 2.0**-30  # of its square, 2**-60 does not fit beside 1
    return float((csr_array([[-1.0, x]]) @ np.array([[x * x], [x]]))[0, 0]) == 0.0


@compiled
def _sparse_times_few_weights_loop(indptr, indices, data, weight, joint):  # type: ignore[no-untyped-def]
    # Sums of four classes are kept at hand while the row is read, and stored once. Indices are unsigned, as below.
    n_rows, n_classes = joint.shape
    in_fours = n_classes - n_classes % 4
    for i in range(n_rows):
        cells = range(np.uint64(indptr[i]), np.uint64(indptr[i + 1]))
        for k in range(0, in_fours, 4):
            a = b = c = d = 0.0
            for p in cells:
                j, x = np.uint64(indices[p]), data[p]
                a += x * weight[j, k]
                b += x * weight[j, k + 1]
                c += x * weight[j, k + 2]
                d += x * weight[j, k + 3]
            joint[i, k], joint[i, k + 1], joint[i, k + 2], joint[i, k + 3] = a, b, c, d
        for k in range(in_fours, n_classes):
            a = 0.0
            for p in cells:
                a += data[p] * weight[np.uint64(indices[p]), k]
            joint[i, k] = a


@compiled
def _sparse_times_weights_loop(indptr, indices, data, weight, joint):  # type: ignore[no-untyped-def]
    # Four cells go together: their rows of weights, spread over memory, are fetched at the same time, and a sum is
    # stored once for the four. Indices are unsigned: they never count from the end, and the compiled loop need not ask.
    n_rows, n_classes = joint.shape
    for i in range(n_rows):
        for k in range(n_classes):
            joint[i, k] = 0.0
        first, last = indptr[i], indptr[i + 1]
        in_fours = last - (last - first) % 4
        for p in range(first, in_fours, 4):
            a, b = np.uint64(indices[p]), np.uint64(indices[p + 1])
            c, d = np.uint64(indices[p + 2]), np.uint64(indices[p + 3])
            x_a, x_b, x_c, x_d = data[p], data[p + 1], data[p + 2], data[p + 3]
            for k in range(n_classes):  # one after the other, as SciPy adds them
                total = joint[i, k] + x_a * weight[a, k]
                total += x_b * weight[b, k]
                total += x_c * weight[c, k]
                joint[i, k] = total + x_d * weight[d, k]
        for p in range(in_fours, last):
            a = np.uint64(indices[p])
            x_a = data[p]
            for k in range(n_classes):
                joint[i, k] += x_a * weight[a, k]
