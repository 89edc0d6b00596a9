"""`WholeSums`: what Poisson's law needs of every column: how many cells are counts, their sum, and that of log x!."""

from dataclasses import dataclass

from bayeswater.statistics.statistic import ColumnStatistic
from bayeswater.typing import Array


@dataclass(frozen=True, eq=False)
class WholeSums(ColumnStatistic):
    """Weights of the cells that are counts and of those that are not, sum of the counts and of log x!.

    A count is a whole number from 0 on, below 2**53. All sums are (n_classes, n_columns); the weights are int64 where
    those of the rows are whole, and `total` is float64, exact as long as it is whole and under 2**53.
    """

    whole: Array
    other: Array
    total: Array
    log_factorials: Array
