"""Columns of categories with each row taken out of the counts and of the choice of their smoothing.

Leaving a row out of the counts is not enough where the pseudo-count of a column was chosen by all rows: of few rows and
many columns, those that tell the classes apart by chance get little smoothing, and each row finds itself in that
choice. Without a row of class k and state v, the counts of a column depend on nothing but (k, v): so the pseudo-count
is chosen once for each of them (`best_alphas_without`), and a row of class k is scored by the table

    log P(v | c) = log((N_cv - [c = k] + a_kv) / (N_c - [c = k] + S a_kv))
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from bayeswater.data.labels import Labels
from bayeswater.estimate.categories import column_totals
from bayeswater.estimate.smoothing import best_alphas_without
from bayeswater.inference.categories import CategoryJoint
from bayeswater.inference.category_columns import CategoryColumns
from bayeswater.typing import Array

MOST_ROWS = 2**15
"""Rows of a table up to which one of them is missed: of more, hardly any choice would be another without it."""

MOST_TERMS = 2**21
"""Terms of all choices together, and entries of all tables, at most: they take seconds, and some ten megabytes."""


@dataclass(frozen=True)
class SmoothingWithout(CategoryColumns):
    """Columns whose pseudo-counts are chosen again without each row, where they are `automatic` (n_columns,)."""

    automatic: tuple[bool, ...] = ()

    def without(self, table: Any, labels: Labels, removed: Array) -> Callable[[slice, bool], Array]:
        """Give a function of some rows: their log-likelihoods, each row taken out of counts and smoothing."""
        if not self._is_missed(removed):
            return super().without(table, labels, removed)
        joints = self._joints

        def likelihood(rows: slice, use_loop: bool) -> Array:
            block, y = table.block(rows), labels.codes[rows]
            found = np.empty((len(y), len(joints)))
            for k in np.unique(y).tolist():
                found[y == k] = joints[k].likelihood(block[y == k], use_loop)
            return found

        return likelihood

    def _is_missed(self, removed: Array) -> bool:
        """Tell whether a row can be taken out of the choice, and whether that may change it at a price worth paying."""
        counts, start = self.counts.table, self.counts.start
        automatic = np.array(self.automatic)
        if not (automatic.any() and (removed == 1).all() and (counts == np.floor(counts)).all()):
            return False
        n_rows = np.add.reduceat(counts.sum(axis=1), start[:-1]).max()
        choices = np.add.reduceat((counts > 0).sum(axis=1), start[:-1])[automatic]  # one for each cell at most
        n_terms = (choices * np.minimum(choices, np.sqrt(2 * n_rows))).sum()  # different counts sum to n_rows at most
        return bool(n_rows <= MOST_ROWS and max(n_terms, counts.size * self.counts.n_classes) <= MOST_TERMS)

    @cached_property
    def _joints(self) -> list[CategoryJoint]:
        """Log-likelihoods by which rows of each class are scored, with a class prior of one."""
        counts, start, n_classes = self.counts.table, self.counts.start, self.counts.n_classes
        width = np.diff(start)
        n_states, pseudo_count, total = (
            np.repeat(part, width, axis=0)
            for part in column_totals(counts, start, self.concentration, missing_is_state=self.missing_is_state)
        )
        alpha = best_alphas_without(counts, start, missing_is_state=self.missing_is_state)  # (n_table_rows, n_classes)
        automatic = np.repeat(np.array(self.automatic), width)[:, None]
        concentration = np.where(automatic, alpha, self.concentration)
        pseudo_count = np.where(automatic, n_states * alpha, pseudo_count)
        is_state = np.ones((len(counts), 1), dtype=bool)
        is_state[start[1:] - 1, 0] = self.missing_is_state
        joints = []
        for k in range(n_classes):
            own = (np.arange(n_classes) == k) & (counts[:, [k]] > 0) & is_state  # where a row is to be taken out
            smoothed, all_of_class = counts - own + concentration[:, [k]], total - own + pseudo_count[:, [k]]
            empty = all_of_class == 0
            with np.errstate(divide="ignore"):
                log_likelihood = np.log(np.where(empty, 1.0, smoothed))
            log_likelihood -= np.log(np.where(empty, n_states, all_of_class))
            log_likelihood[~is_state[:, 0]] = 0.0
            joints.append(CategoryJoint.from_tables(np.zeros(n_classes), log_likelihood, self.counts.n_states, start))
        return joints
