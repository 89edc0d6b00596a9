"""Naive Bayes read off counts of pairs: what models with parents among the columns fall back to, equally smoothed."""

from dataclasses import dataclass

import numpy as np

from bayeswater.estimate.pairs import PairEstimate
from bayeswater.estimate.pseudo_counts import log_share
from bayeswater.inference.prior import Prior
from bayeswater.typing import Array


@dataclass(frozen=True)
class NaiveScores:
    """log P(y) + sum of log P(x_j | y) over the columns that are marked as `used` (n_columns,)."""

    prior: Prior
    estimate: PairEstimate
    used: Array

    def terms(self, slots: Array) -> Array:
        """Log P(x_j | y) of each cell: (n_rows, n_columns, n_classes)."""
        return np.where(self.used[:, None], self.estimate.log_marginal[slots], 0.0)

    def terms_without(self, slots: Array, codes: Array, removed: Array) -> Array:
        """The same, each row taken out of the counts."""
        estimate = self.estimate
        own = log_share(
            estimate.single[slots, codes[:, None]],
            estimate.observed.T[codes],
            estimate.cell,
            estimate.n_states,
            removed[:, None],
        )
        terms = self.terms(slots)
        terms[np.arange(len(slots)), :, codes] = np.where(estimate.is_state[slots] & self.used, own, 0.0)
        return terms

    def of(self, slots: Array) -> Array:
        """Log-joints of some rows: (n_rows, n_classes)."""
        return self.prior.log + self.terms(slots).sum(axis=1)

    def without(self, slots: Array, codes: Array, removed: Array) -> Array:
        """Log-joints, each row taken out of the counts: (n_rows, n_classes)."""
        return self.prior.without(codes, removed) + self.terms_without(slots, codes, removed).sum(axis=1)
