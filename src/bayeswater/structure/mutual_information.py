"""Mutual information read from counts, in nats and unsmoothed.

    MI(X_i; Y)        = sum of N(x, y)/N log [N(x, y) N / (N(x) N(y))]
    CMI(X_i; X_j | Y) = sum of N(x, z, y)/N log [N(x, z, y) N(y) / (N(x, y) N(z, y))]

Available cases: N and all its marginals count the rows in which every column of the formula has a cell. Cells without
a row add nothing (0 log 0 = 0). Neither is ever negative: what rounding leaves below zero is zero.
"""

from collections.abc import Callable

import numpy as np
from scipy.special import rel_entr

from bayeswater.kernels.pair_counts import rows_of_column
from bayeswater.statistics.category_counts import CategoryCounts
from bayeswater.statistics.pair_counts import PairCounts
from bayeswater.typing import Array

ColumnMeasure = Callable[[Array, Array], Array]


def mutual_information(counts: CategoryCounts | PairCounts) -> Array:
    """MI(X_i; Y) of every column with the class: (n_columns,).

    >>> from bayeswater.data.schema import Schema
    >>> from bayeswater.data.variable import Variable
    >>> schema = Schema((Variable("sure", range(2)), Variable("blind", range(2))))
    >>> table = np.array([[4, 0], [0, 4], [0, 0], [2, 2], [2, 2], [0, 0]])
    >>> mutual_information(CategoryCounts(Variable("class", ("no", "yes")), schema, table)) / np.log(2)
    array([1., 0.])
    """
    return np.array([_information(counts.of_column(j)) for j in range(len(counts.schema))])


def conditional_mutual_information(counts: PairCounts) -> Array:
    """CMI(X_i; X_j | Y) of every pair of columns: (n_columns, n_columns), symmetric; 0 on the diagonal."""

    def measure(cells: Array, start: Array) -> Array:
        of_other = cells.sum(axis=0)  # (n_slots of the columns before, n_classes)
        of_own = np.add.reduceat(cells, start, axis=1)  # (S_i, n_before, n_classes)
        of_class = np.add.reduceat(of_other, start)  # (n_before, n_classes)
        column = np.repeat(np.arange(len(start)), np.diff(start, append=len(of_other)))
        # The product comes first: whole numbers are exact in it, and independent columns have exactly no information.
        expected = _shared(of_own[:, column] * of_other, of_class[column])
        return np.add.reduceat(rel_entr(cells, expected).sum(axis=(0, 2)), start)

    return _by_pair(counts, measure)


def pair_mutual_information(counts: PairCounts) -> Array:
    """MI((X_i, X_j); Y) of every pair of columns with the class: (n_columns, n_columns), symmetric.

    On the diagonal it is MI(X_i; Y).
    """

    def measure(cells: Array, start: Array) -> Array:
        of_states = cells.sum(axis=2)  # (S_i, n_slots of the columns before)
        of_class = np.add.reduceat(cells.sum(axis=0), start)  # (n_before, n_classes)
        column = np.repeat(np.arange(len(start)), np.diff(start, append=cells.shape[1]))
        weight = of_class.sum(axis=1, keepdims=True)
        expected = _shared(of_states[:, :, None] * of_class[column], weight[column])
        return np.add.reduceat(rel_entr(cells, expected).sum(axis=(0, 2)), start)

    result = _by_pair(counts, measure)
    np.fill_diagonal(result, mutual_information(counts))
    return result


def pair_weight(counts: PairCounts) -> Array:
    """Weight of the rows that have both cells of a pair of columns: (n_columns, n_columns), symmetric.

    On the diagonal it is the weight of the rows that have the cell of the column.
    """
    n_columns = len(counts.schema)
    weight = np.empty((n_columns, n_columns))
    for i in range(n_columns):
        cells, start = _cells_of_column(counts, i)
        if i:
            weight[i, :i] = weight[:i, i] = np.add.reduceat(cells.sum(axis=(0, 2)), start)
        weight[i, i] = counts.of_column(i).sum()
    return weight


def _by_pair(counts: PairCounts, measure: ColumnMeasure) -> Array:
    """Measure every pair by its cells, and divide by their weight; all pairs of a column with those before it at once.

    `measure` is given the cells (S_i, n_slots of the columns before, n_classes), in which missing cells count nothing,
    and the first slot of each column.
    """
    n_columns = len(counts.schema)
    result = np.zeros((n_columns, n_columns))
    for i in range(1, n_columns):
        cells, start = _cells_of_column(counts, i)
        weight = np.add.reduceat(cells.sum(axis=(0, 2)), start)
        value = np.divide(measure(cells, start), weight, out=np.zeros(i), where=weight > 0)
        result[i, :i] = result[:i, i] = np.maximum(value, 0)
    return result


def _cells_of_column(counts: PairCounts, i: int) -> tuple[Array, Array]:
    """Cells (S_i, n_slots of the columns before, n_classes) in float64, and the first slot of each of these columns."""
    start, end = counts.start[:i], counts.start[1 : i + 1]
    cells = counts.pairs[rows_of_column(i, counts.n_states)[:-1]].astype(np.float64)
    cells[:, end - 1] = 0  # the slots of missing cells
    return cells, start


def _information(table: Array) -> float:
    """Mutual information of rows and columns of a table of counts."""
    cells = table.astype(np.float64)
    total = cells.sum()
    if total == 0:
        return 0.0
    expected = cells.sum(axis=1, keepdims=True) * cells.sum(axis=0) / total
    return max(0.0, float(rel_entr(cells, expected).sum() / total))


def _shared(product: Array, whole: Array) -> Array:
    """Divide; what has no rows at all has none to share."""
    return np.divide(product, whole, out=np.zeros_like(product), where=whole > 0)
