"""Columns of counts that follow Poisson's law: log-likelihoods, terms, and each row taken out of the sums.

log P(x | k) = x log rate_k - rate_k - log x!
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import xlogy

from bayeswater.data.labels import Labels
from bayeswater.estimate.poisson import poisson_rates
from bayeswater.inference.leave_one_out import leave_out_own_class
from bayeswater.kernels.log_factorial import log_factorial
from bayeswater.statistics.count_totals import CountTotals
from bayeswater.statistics.statistic import remainder
from bayeswater.typing import Array


@dataclass(frozen=True)
class PoissonColumns:
    """Sums of counts, and the pseudo-count (n_columns,) of their rates."""

    sums: CountTotals
    pseudo_count: Array

    @cached_property
    def rate(self) -> Array:
        """Rate of each class and column; NaN for a column without a value."""
        return poisson_rates(self.sums, self.pseudo_count)

    def likelihood(self, block: Array, use_loop: bool) -> Array:
        """Log-likelihoods of some rows: (n_rows, n_classes)."""
        there = ~np.isnan(block) & ~np.isnan(self.rate[0])
        x = np.where(there, block, 0.0)
        possible = np.where(self.rate > 0, self.rate, 1.0)
        total = x @ np.log(possible).T - there @ np.where(np.isnan(self.rate), 0.0, self.rate).T
        total -= log_factorial(x).sum(axis=1, keepdims=True)
        impossible = self.rate == 0
        if impossible.any():  # where the event never happened, it cannot
            total[x @ impossible.T > 0] = -np.inf
        return total

    def terms(self, block: Array) -> Array:
        """Log-likelihood of each cell: (n_rows, n_columns, n_classes)."""
        return np.stack([self._column(block[:, j], self.rate[:, j]) for j in range(block.shape[1])], axis=1)

    def column_terms(self, x: Array, j: int) -> Array:
        """Log-likelihood of counts (n,) in one column: (n, n_classes)."""
        return self._column(x, self.rate[:, j])

    def without(self, table: Any, labels: Labels, removed: Array) -> Callable[[slice, bool], Array]:
        """Give a function of some rows: their log-likelihoods, each row taken out of the sums.

        Only the rate of the row's own class moves, unless a class has no value in a column and borrows that of all.
        """
        borrows = (self.sums.weight == 0).any(axis=0)  # (n_columns,)

        def likelihood(rows: slice, use_loop: bool) -> Array:
            block, y, r = table.block(rows), labels.codes[rows], removed[rows]
            total = self.likelihood(np.where(borrows, np.nan, block), use_loop)
            own = np.zeros(len(block))
            for j in np.flatnonzero(~borrows):
                own += self._column(block[:, j], self._rates_without(block[:, j], r, int(j), y[:, None], True))[:, 0]
            leave_out_own_class(total, own, y)
            every = np.arange(self.sums.n_classes)
            for j in np.flatnonzero(borrows):
                rates = self._rates_without(block[:, j], r, int(j), every, y[:, None] == every)
                total += self._column(block[:, j], rates)
            return total

        return likelihood

    def _rates_without(self, x: Array, removed: Array, j: int, classes: Array, own: Array | bool) -> Array:
        """Rates of one column in some classes for each row, which is taken out of its own: (n_rows, n_classes)."""
        missing = np.isnan(x)
        r, x = np.where(missing, 0.0, removed)[:, None], np.where(missing, 0.0, x)[:, None]
        weight = remainder(self.sums.weight[classes, j], np.where(own, r, 0.0))
        total = remainder(self.sums.total[classes, j], np.where(own, r * x, 0.0))
        weight_all, total_all = (part[j] for part in self.sums.pooled())
        weight_rest, total_rest = remainder(weight_all, r), remainder(total_all, r * x)
        a = self.pseudo_count[j]
        with np.errstate(divide="ignore", invalid="ignore"):
            pooled = np.where(weight_rest > 0, (total_rest + a) / weight_rest, np.nan)
            return np.where(weight > 0, (total + a) / weight, pooled)

    def _column(self, x: Array, rate: Array) -> Array:
        """Log-likelihood of one column at the rates of each class, (n_classes,) or (n_rows, n_classes)."""
        x = x[:, None]
        with np.errstate(divide="ignore"):
            term = xlogy(x, rate) - rate - log_factorial(np.where(np.isnan(x), 0.0, x))
        return np.where(np.isnan(term), 0.0, term)  # a missing cell, or a column without a value
