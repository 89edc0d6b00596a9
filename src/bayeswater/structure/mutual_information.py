"""Mutual information read from counts, in nats and unsmoothed.

    MI(X_i; Y)        = sum of N(x, y)/N log [N(x, y) N / (N(x) N(y))]
    CMI(X_i; X_j | Y) = sum of N(x, z, y)/N log [N(x, z, y) N(y) / (N(x, y) N(z, y))]

Available cases: N and all its marginals count the rows in which every column of the formula has a cell. Cells without
a row add nothing (0 log 0 = 0). Neither is ever negative: what rounding leaves below zero is zero.

An order of such numbers must not hang on rounding: those within rounding are equal, and the first of them goes first.
The same counts, added in another order or with weights, may give a mutual information that differs in its last digits.
A structure that hung on them would change with the order of the rows.

Columns that have too many states for their rows are the parent of no other one (`sparse_columns`). What a column of v_i
states tells of another one is more than nothing by chance alone: CMI(X_i; X_j | Y) is about K (v_i - 1)(v_j - 1) / 2N
nats where the two are independent, and all that there is to tell where nearly every row has a state of its own. So the
number of a ticket would be the best parent of every column, and of the next passenger tell nothing. A column of a few
states is never meant: in a small table, too, they are what there is to learn from.
"""

import numpy as np
from scipy.special import rel_entr

from bayeswater.kernels.pair_counts import rows_of_column
from bayeswater.kernels.remainders import ROUNDING
from bayeswater.statistics.category_counts import CategoryCounts
from bayeswater.statistics.pair_counts import PairCounts
from bayeswater.typing import Array

PRODUCTS_HOLD = 400
"""Powers of two up to which float64 holds the products of counts, and down to which those of their reciprocals."""


def mutual_information(counts: CategoryCounts | PairCounts) -> Array:
    """MI(X_i; Y) of every column with the class: (n_columns,).

    >>> from bayeswater.data.variable import Schema
    >>> from bayeswater.data.variable import Variable
    >>> schema = Schema((Variable("sure", range(2)), Variable("blind", range(2))))
    >>> table = np.array([[4, 0], [0, 4], [0, 0], [2, 2], [2, 2], [0, 0]])
    >>> mutual_information(CategoryCounts(Variable("class", ("no", "yes")), schema, table)) / np.log(2)
    array([1., 0.])
    """
    return np.array([_information(counts.of_column(j)) for j in range(len(counts.schema))])


def conditional_mutual_information(counts: PairCounts) -> Array:
    """CMI(X_i; X_j | Y) of every pair of columns: (n_columns, n_columns), symmetric; 0 on the diagonal."""
    n_columns = len(counts.schema)
    result = np.zeros((n_columns, n_columns))
    for i in range(1, n_columns):  # all pairs of a column with those before it at once
        cells, start = _cells_of_column(counts, i)
        cells = _of_usual_size(cells)
        of_other = cells.sum(axis=0)  # (n_slots of the columns before, n_classes)
        of_own = np.add.reduceat(cells, start, axis=1)  # (S_i, n_before, n_classes)
        of_class = np.add.reduceat(of_other, start)  # (n_before, n_classes)
        column = np.repeat(np.arange(i), np.diff(start, append=len(of_other)))
        # The product comes first: whole numbers are exact in it, and independent columns have exactly no information.
        expected = _shared(of_own[:, column] * of_other, of_class[column])
        information = np.add.reduceat(_terms(cells, expected).sum(axis=(0, 2)), start)
        result[i, :i] = result[:i, i] = np.maximum(_shared(information, of_class.sum(axis=1)), 0)
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


def _cells_of_column(counts: PairCounts, i: int) -> tuple[Array, Array]:
    """Cells (S_i, n_slots of the columns before, n_classes) in float64, and the first slot of each of these columns."""
    start, end = counts.start[:i], counts.start[1 : i + 1]
    cells = counts.pairs[rows_of_column(i, counts.n_states)[:-1]].astype(np.float64)
    cells[:, end - 1] = 0  # the slots of missing cells
    return cells, start


def _information(table: Array) -> float:
    """Mutual information of rows and columns of a table of counts."""
    cells = _of_usual_size(table.astype(np.float64))
    total = cells.sum()
    if total == 0:
        return 0.0
    expected = cells.sum(axis=1, keepdims=True) * cells.sum(axis=0) / total
    return max(0.0, float(_terms(cells, expected).sum() / total))


def _terms(cells: Array, expected: Array) -> Array:
    """Give n log(n / e) of each cell; where e is below all floats, its rows weigh nothing beside the others."""
    return np.where(expected > 0, rel_entr(cells, expected), 0.0)


def _of_usual_size(cells: Array) -> Array:
    """Scale very large or small counts, whose products no float holds; by a power of two, so that no digit changes.

    Information is a mean over the rows: it does not depend on what each of them weighs.
    """
    exponent = int(np.frexp(cells.sum())[1])
    return cells if abs(exponent) < PRODUCTS_HOLD else np.ldexp(cells, -exponent)


def _shared(product: Array, whole: Array) -> Array:
    """Divide; what has no rows at all has none to share."""
    return np.divide(product, whole, out=np.zeros_like(product), where=whole > 0)


def descending_ranks(values: Array) -> Array:
    """Rank numbers (n,) from the largest, 0, on; neighbours within `ROUNDING` of the largest size share a rank.

    >>> descending_ranks(np.array([0.5, 2.0, 0.5 + 1e-14, 0.0]))
    array([1, 0, 1, 2])
    """
    order = np.argsort(-values, kind="stable")
    falling = -np.diff(values[order])
    is_new = falling > ROUNDING * np.abs(values).max(initial=0)
    ranks = np.empty(len(values), dtype=np.int64)
    ranks[order] = np.concatenate([np.zeros(min(1, len(values)), dtype=np.int64), np.cumsum(is_new)])
    return ranks


def descending_order(values: Array) -> Array:
    """Places of the numbers (n,) from the largest to the least; of equal ones the first goes first.

    >>> descending_order(np.array([0.5, 2.0, 0.5 + 1e-14, 0.0]))
    array([1, 0, 2, 3])
    """
    return np.argsort(descending_ranks(values), kind="stable")


FEW_STATES = 12
"""States that a column may have in any table: months, grades, tenths."""

ROWS_A_STATE = 10
"""Rows that more states than these have at least, on the average."""


def sparse_columns(counts: PairCounts | CategoryCounts) -> Array:
    """Mark the columns (n_columns,) that have more states than a few, and too few rows for them.

    >>> from bayeswater.data.variable import Schema
    >>> from bayeswater.data.variable import Variable
    >>> from bayeswater.kernels.pair_counts import n_pair_cells
    >>> schema = Schema((Variable("month", range(12)), Variable("ticket", range(13))))
    >>> table = np.repeat([[9], [0], [9], [0]], [12, 1, 13, 1], axis=0)
    >>> pairs = np.zeros((n_pair_cells(schema.n_states), 1), dtype=int)
    >>> sparse_columns(PairCounts(Variable("class", ("yes",)), schema, table, pairs))
    array([False,  True])
    """
    n_rows = np.array([counts.of_column(j).sum() for j in range(len(counts.schema))])
    return (counts.n_states > FEW_STATES) & (n_rows < ROWS_A_STATE * counts.n_states)
