"""Friedman's two parameters, chosen by exact leave-one-out log-loss.

Every candidate is read off the same sums, and all rows are scored against the sums without them: nothing is fitted
again. The rows are read once more, a block at a time, and each block is scored by all candidates; that costs as much as
one leave-one-out for each of them. Neither the order of the rows nor the number of threads matters to the choice.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from bayeswater.data.labels import encode_labels
from bayeswater.data.matrix import DenseTable
from bayeswater.estimate.covariance import Reading
from bayeswater.estimate.densities import read_densities
from bayeswater.estimate.shrinkage import CANDIDATES, Friedman
from bayeswater.inference.leave_one_out import removed_weight
from bayeswater.inference.log_space import log_posterior
from bayeswater.inference.scoring import SCORING_ROWS
from bayeswater.kernels.blas import one_blas_thread
from bayeswater.kernels.threads import ordered_map, row_blocks
from bayeswater.models.gaussian.leaving_out import likelihood_without
from bayeswater.models.streaming.examples import Piece
from bayeswater.typing import Array

Judge = Callable[[slice, bool], Array]

SAME_LOSS = 1e-12
"""Losses that differ by no more than this share of their size are equal."""


@dataclass(frozen=True)
class Losses:
    """A function of a piece of rows that a model has counted: the leave-one-out log-loss of each candidate.

    Candidates under which a class has no density are passed over, and so are rows alone in their class.
    """

    model: Any

    def __call__(self, piece: Piece) -> "LossSums":
        """Sum the losses of some rows."""
        model, sums = self.model, self.model.statistics_
        X, flat, weight = model._rows_that_count(*piece[:3]).triple
        table = model._encode(X, sums, learning=True)
        codes = encode_labels(flat, sums.classes, counted=True).codes
        rows = Judged(model, table, codes, removed_weight(weight, len(codes)), weight)
        with one_blas_thread(max(len(codes), table.shape[1]) * table.shape[1] ** 2 * len(CANDIDATES)):
            candidates = {c: judge for c in CANDIDATES if (judge := rows.judge(c)) is not None}
            blocks = ordered_map(lambda block: rows.losses(block, candidates), row_blocks(len(codes), SCORING_ROWS))
            loss = sum(blocks, np.zeros(len(candidates)))
        return LossSums(tuple(candidates), loss, bool(rows.is_judged.any()))


@dataclass(frozen=True)
class LossSums:
    """Losses of candidates over some rows, and whether any row could judge."""

    candidates: tuple[Friedman, ...]
    loss: Array
    is_judged: bool

    def __add__(self, other: "LossSums") -> "LossSums":
        return LossSums(self.candidates, self.loss + other.loss, self.is_judged or other.is_judged)

    def best(self) -> Friedman:
        """Find the candidate of least loss; of those whose losses are equal within rounding, the first one."""
        if not self.is_judged:
            return Friedman()
        best = np.flatnonzero(self.loss <= self.loss.min(initial=np.inf) * (1 + SAME_LOSS))
        return self.candidates[int(best[0])] if len(best) else CANDIDATES[-1]


@dataclass(frozen=True)
class Judged:
    """Rows that decide, with the weight that leaving them out takes away, and their own."""

    model: Any
    table: DenseTable
    codes: Array
    removed: Array
    weight: Array | None

    @cached_property
    def is_judged(self) -> Array:
        """Rows that are not alone in their class: (n_rows,)."""
        return self.model.statistics_.class_count.count[self.codes] > self.removed

    def judge(self, candidate: Friedman) -> Judge | None:
        """Give what scores rows by a candidate without themselves; None where it is not to be considered."""
        model, sums = self.model, self.model.statistics_
        if model.covariance.startswith("shared") and candidate.shared:
            return None
        reading = Reading(model.covariance, model.estimate == "unbiased", candidate)
        read = read_densities(sums.columns, sums.class_count.count, reading, model.variance_floor)
        if read.n_lifted.any():
            return None
        return likelihood_without(sums, read, self.table, self.codes, self.removed, self.weight)

    def losses(self, block: slice, candidates: Mapping[Friedman, Judge]) -> Array:
        """Sum of the log-losses of some rows by each candidate."""
        model, judged = self.model, self.is_judged[block]
        codes, removed = self.codes[block][judged], self.removed[block][judged]
        times = np.ones(len(codes)) if self.weight is None else self.weight[block][judged]
        prior = model._log_prior_without(model.class_log_prior_, codes, removed)
        terms = (judge(block, False)[judged] for judge in candidates.values())
        return np.array([_log_loss(likelihood + prior, codes, times) for likelihood in terms])


def _log_loss(joint: Array, codes: Array, times: Array) -> float:
    possible = joint.max(axis=1) > -np.inf
    joint[~possible] = 0.0
    own = log_posterior(joint)[np.arange(len(codes)), codes]
    return float(-(times * np.where(possible, own, -np.inf)).sum())
