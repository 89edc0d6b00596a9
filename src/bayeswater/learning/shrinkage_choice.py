"""Shrinkage of Gaussian classes, chosen by leaving every row out under each of Friedman's candidates.

Every candidate is read off the same sums, and nothing is fitted again, so that it costs as much as one leave-one-out
for each. Neither the order of the rows nor the number of threads matters to the choice.
"""

from collections.abc import Callable

import numpy as np

from bayeswater.data.matrix import DenseTable
from bayeswater.estimate.covariance import CovarianceReading
from bayeswater.estimate.covariance_priors import CANDIDATES, Friedman
from bayeswater.estimate.densities import read_densities
from bayeswater.inference.gaussian_without import likelihood_without
from bayeswater.inference.log_space import log_posterior
from bayeswater.inference.scoring import SCORING_ROWS
from bayeswater.kernels.threads import one_blas_thread, ordered_map, row_blocks
from bayeswater.records import record
from bayeswater.statistics.scatter import Scatter
from bayeswater.statistics.sums import Sums
from bayeswater.typing import Array

Scorer = Callable[[slice, bool], Array]

SAME_LOSS = 1e-12
"""Losses that differ by no more than this share of their size are equal."""


@record
class LossSums:
    """Losses of candidates over some rows, and whether any row could be scored."""

    candidates: tuple[Friedman, ...]
    loss: Array
    is_scored: bool

    def __add__(self, other: "LossSums") -> "LossSums":
        return LossSums(self.candidates, self.loss + other.loss, self.is_scored or other.is_scored)

    def best(self) -> Friedman:
        """Find the candidate of least loss; of those whose losses are equal within rounding, the first one."""
        if not self.is_scored:
            return Friedman()
        best = np.flatnonzero(self.loss <= self.loss.min(initial=np.inf) * (1 + SAME_LOSS))
        return self.candidates[int(best[0])] if len(best) else CANDIDATES[-1]


@record
class LeftOutRows:
    """Counted rows, the weight that leaving each out takes away, their own, and the log class prior without each."""

    sums: Sums[Scatter]
    table: DenseTable
    codes: Array
    removed: Array
    weight: Array | None
    log_prior: Array  # (n_rows, n_classes)

    def losses(self, reading: CovarianceReading, variance_floor: float) -> LossSums:
        """Sum the log-loss of each candidate of shrinkage; rows alone in their class are passed over."""
        count, n_rows = self.sums.class_count.count, len(self.codes)
        is_scored = count[self.codes] > self.removed
        times = np.ones(n_rows) if self.weight is None else self.weight
        with one_blas_thread(max(n_rows, self.table.shape[1]) * self.table.shape[1] ** 2 * len(CANDIDATES)):
            candidates = {c: s for c in CANDIDATES if (s := self._scorer(c, reading, variance_floor)) is not None}

            def losses_of(block: slice) -> Array:
                """Sum of the log-losses of some rows by each candidate."""
                some = is_scored[block]
                prior, codes, own = self.log_prior[block][some], self.codes[block][some], times[block][some]
                terms = (scorer(block, False)[some] for scorer in candidates.values())
                return np.array([_log_loss(likelihood + prior, codes, own) for likelihood in terms])

            blocks = ordered_map(losses_of, row_blocks(n_rows, SCORING_ROWS))
            loss = sum(blocks, np.zeros(len(candidates)))
        return LossSums(tuple(candidates), loss, bool(is_scored.any()))

    def _scorer(self, candidate: Friedman, reading: CovarianceReading, variance_floor: float) -> Scorer | None:
        """Give what scores rows by a candidate without themselves; None where a class would have no density."""
        if reading.form.startswith("shared") and candidate.shared:
            return None
        by = CovarianceReading(reading.form, reading.unbiased, candidate)
        read = read_densities(self.sums.columns, self.sums.class_count.count, by, variance_floor)
        if read.n_lifted.any():
            return None
        return likelihood_without(self.sums, read, self.table, self.codes, self.removed, self.weight)


def _log_loss(joint: Array, codes: Array, times: Array) -> float:
    possible = joint.max(axis=1) > -np.inf
    joint[~possible] = 0.0
    own = log_posterior(joint)[np.arange(len(codes)), codes]
    return float(-(times * np.where(possible, own, -np.inf)).sum())
