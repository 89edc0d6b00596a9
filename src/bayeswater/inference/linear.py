"""Log-joints that are linear in the row: multinomial, complement and Bernoulli.

    log P(class k, row) = intercept_k + sum_j x_j weight_jk

A log-probability of zero, -inf, may not enter a product (0 times -inf is no number). Infinite weights are
therefore kept apart: the sum runs over the finite ones, and a second sum of the same shape counts the infinite
ones that the row touches.
"""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from bayeswater.data.matrix import SparseMatrix
from bayeswater.kernels.feature_sums import dense_times_weights, sparse_times_weights
from bayeswater.typing import Array


@dataclass(frozen=True)
class LinearJoint:
    """Finite weights (n_features, n_classes) and intercepts (n_classes,); beside them the count of infinite ones."""

    log_prior: Array
    intercept: Array
    weight: Array
    threshold: float | None = None
    infinite_weight: Array | None = None
    infinite_intercept: Array = field(default_factory=lambda: np.zeros(1))
    certain: bool = False  # an infinite term makes its class certain (complement) rather than impossible
    absent_weight: Array | None = None  # (n_features, n_classes): what an absent cell adds; a missing one must not
    infinite_absent: Array | None = None

    def of(self, block: Array | SparseMatrix, use_loop: bool) -> Array:
        """Log-joints of a block of rows."""
        return self._scores(block, self._intercept_and_prior, use_loop)

    def likelihood(self, block: Array | SparseMatrix, use_loop: bool) -> Array:
        """Log-likelihoods, without the prior."""
        return self._scores(block, self.intercept, use_loop)

    @cached_property
    def _intercept_and_prior(self) -> Array:
        return self.intercept + self.log_prior

    def _scores(self, block: Array | SparseMatrix, intercept: Array, use_loop: bool) -> Array:
        joint = self._times(block, self.weight, use_loop)
        if intercept.any():  # none of complement weights
            joint += intercept
        missing = self._missing_cells(block)
        if missing is not None and self.absent_weight is not None:
            joint -= missing @ self.absent_weight
        if self.infinite_weight is None:
            return joint
        touched = self._times(block, self.infinite_weight, use_loop)
        touched += self.infinite_intercept
        if missing is not None and self.infinite_absent is not None:
            touched -= missing @ self.infinite_absent
        if self.certain:
            joint[touched < touched.max(axis=1, keepdims=True)] = -np.inf
        else:
            joint[touched > 0] = -np.inf
        return joint

    def _times(self, block: Array | SparseMatrix, weight: Array, use_loop: bool) -> Array:
        if not isinstance(block, SparseMatrix):
            return dense_times_weights(block, weight, self.threshold)
        return sparse_times_weights(block.indptr, block.indices, block.data, weight, self.threshold, use_loop=use_loop)

    def _missing_cells(self, block: Array | SparseMatrix) -> Array | None:
        if self.absent_weight is None or isinstance(block, SparseMatrix) or block.dtype.kind != "f":
            return None
        missing = np.isnan(block)
        return missing.astype(np.float64) if missing.any() else None


def multinomial_joint(log_prior: Array, log_probability: Array) -> LinearJoint:
    """Log-joint of counts under log-probabilities (n_classes, n_features)."""
    weight, infinite = _finite(log_probability)
    return LinearJoint(log_prior, np.zeros(len(log_prior)), weight, infinite_weight=infinite)


def complement_joint(log_prior: Array, weights: Array) -> LinearJoint:
    """Scores of counts under complement weights (n_classes, n_features)."""
    weight, infinite = _finite(weights)
    return LinearJoint(log_prior, np.zeros(len(log_prior)), weight, infinite_weight=infinite, certain=True)


def bernoulli_joint(
    log_prior: Array, log_present: Array, log_absent: Array, threshold: float, *, allow_missing: bool
) -> LinearJoint:
    """Log-joint of marks: the sum of all log_absent, and for what is present the difference to log_present."""
    present, no_present = _finite(log_present)
    absent, no_absent = _finite(log_absent)
    infinite = None
    if no_present is not None or no_absent is not None:
        zero = np.zeros_like(present)
        no_absent = zero if no_absent is None else no_absent
        infinite = (zero if no_present is None else no_present) - no_absent
    return LinearJoint(
        log_prior,
        absent.sum(axis=0),
        present - absent,
        threshold,
        infinite_weight=infinite,
        infinite_intercept=np.zeros(1) if infinite is None or no_absent is None else no_absent.sum(axis=0),
        absent_weight=absent if allow_missing else None,
        infinite_absent=no_absent,
    )


def _finite(terms: Array) -> tuple[Array, Array | None]:
    """Lay terms (n_classes, n_features) out feature by feature, infinite ones apart."""
    infinite = np.isinf(terms)
    if not infinite.any():
        return np.ascontiguousarray(terms.T), None
    return np.ascontiguousarray(np.where(infinite, 0.0, terms).T), np.ascontiguousarray(infinite.T, dtype=np.float64)
