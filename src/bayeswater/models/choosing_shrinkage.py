"""Friedman's two parameters, chosen by exact leave-one-out log-loss.

Every candidate is read off the same sums, and the rows are scored against the sums without them: nothing is fitted
again. Of many rows, some thousands spread over all of them decide; each is left out of the sums of all rows.
"""

from typing import Any

import numpy as np

from bayeswater.data.frames import held
from bayeswater.data.labels import encode_labels
from bayeswater.data.weights import checked_weight, without_zero_rows
from bayeswater.estimate.covariance import Reading
from bayeswater.estimate.densities import read_densities
from bayeswater.estimate.shrinkage import CANDIDATES, Friedman
from bayeswater.inference.gaussian_form import without
from bayeswater.inference.leave_one_out import log_prior_without, removed_weight
from bayeswater.inference.log_space import log_posterior
from bayeswater.kernels.blas import one_blas_thread
from bayeswater.kernels.threads import row_blocks
from bayeswater.typing import Array

DECIDING_ROWS = 8192
"""Rows whose leave-one-out losses decide, at most."""


def best_shrinkage(model: Any, X: Any, y: Any, sample_weight: Any) -> Friedman:
    """Find the candidate of least leave-one-out log-loss over rows that the model has just counted.

    Candidates under which a class has no density are passed over, and so are rows alone in their class.
    """
    sums = model.statistics_
    flat = model._checked_labels(y)
    X, flat, weight = without_zero_rows(held(X), flat, checked_weight(sample_weight, len(flat)))
    chosen = np.zeros(len(flat), dtype=bool)
    chosen[:: max(1, -(-len(flat) // DECIDING_ROWS))] = True
    codes = encode_labels(flat[chosen], sums.classes, counted=True).codes
    removed = removed_weight(None if weight is None else weight[chosen], len(codes))
    count = sums.class_count.count
    judged = count[codes] > removed
    table = model._encode(X, sums, learning=True)
    x = np.concatenate([table.block(rows)[chosen[rows]] for rows in row_blocks(len(flat))])[judged]
    codes, removed = codes[judged], removed[judged]
    times = np.ones(len(flat))[chosen][judged] if weight is None else weight[chosen][judged]
    if model._prior_is_counted:
        prior = log_prior_without(count, model.class_alpha, codes, removed)
    else:
        prior = np.broadcast_to(model._log_prior(sums), (len(codes), len(count)))
    is_pooled = model.covariance.startswith("shared")
    losses: dict[Friedman, float] = {}
    with one_blas_thread(len(codes) * x.shape[1] ** 2 * len(CANDIDATES)):
        for candidate in CANDIDATES:
            if is_pooled and candidate.shared:
                continue
            reading = Reading(model.covariance, model.estimate == "unbiased", candidate)
            read = read_densities(sums.columns, count, reading, model.variance_floor)
            if not read.n_lifted.any():
                terms, _ = without(sums, read).likelihood(x, codes, removed)
                losses[candidate] = _log_loss(terms + prior, codes, times)
    return min(losses, key=losses.__getitem__, default=CANDIDATES[-1]) if len(codes) else Friedman()


def _log_loss(joint: Array, codes: Array, times: Array) -> float:
    possible = joint.max(axis=1) > -np.inf
    joint[~possible] = 0.0
    own = log_posterior(joint)[np.arange(len(codes)), codes]
    return float(-(times * np.where(possible, own, -np.inf)).sum() / times.sum())
