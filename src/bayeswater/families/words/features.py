"""Features, such as the words of a text, in three readings: counted, counted in all other classes, or marked.

Each gives the log-likelihoods (or scores) of rows, and those with each row taken out of the sums.
"""

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from bayeswater.data.labels import Labels
from bayeswater.data.matrix import SparseMatrix
from bayeswater.estimate.features import (
    bernoulli_log_probability,
    complement_sums,
    complement_weights,
    multinomial_log_probability,
)
from bayeswater.inference.leave_one_out import (
    bernoulli_own_without,
    complement_without,
    leave_out_own_class,
    multinomial_own_without,
    normalised_complement_without,
)
from bayeswater.inference.linear import LinearJoint, bernoulli_joint, complement_joint, multinomial_joint
from bayeswater.kernels.feature_sums import smoothed_sums
from bayeswater.records import record
from bayeswater.statistics.feature_sums import BinaryCounts
from bayeswater.typing import Array

Block = Array | SparseMatrix


@record
class MultinomialColumns:
    """Sums of features (n_classes, n_features) and the pseudo-count of each (n_features,)."""

    feature_sum: Array
    alpha: Array

    @cached_property
    def log_probability(self) -> Array:
        """Logarithm of P(feature | class): (n_classes, n_features)."""
        return multinomial_log_probability(self.feature_sum, self.alpha)

    @cached_property
    def joint(self) -> LinearJoint:
        """The weights of the features, with a class prior of one."""
        return multinomial_joint(np.zeros(len(self.feature_sum)), self.log_probability)

    def likelihood(self, block: Block, use_loop: bool) -> Array:
        """Log-likelihoods of some rows: (n_rows, n_classes)."""
        return self.joint.likelihood(block, use_loop)

    def without(self, table: Any, labels: Labels, removed: Array) -> Callable[[slice, bool], Array]:
        """Give a function of some rows: their log-likelihoods, each row taken out of the sums."""
        totals = self.feature_sum.sum(axis=1, dtype=np.float64)  # of all features: it may pass 2**63
        tables = smoothed_sums(self.feature_sum, self.alpha)

        def likelihood(rows: slice, use_loop: bool) -> Array:
            block, y = table.block(rows), labels.codes[rows]
            own = multinomial_own_without(block, y, removed[rows], tables, totals, use_loop)
            return leave_out_own_class(self.likelihood(block, use_loop), own, y)

        return likelihood


@record
class ComplementColumns:
    """Sums of features (n_classes, n_features), of which each class is scored by those of all others."""

    feature_sum: Array
    alpha: Array
    norm: bool = False

    @cached_property
    def weights(self) -> Array:
        """Weight of each feature for each class: (n_classes, n_features)."""
        return complement_weights(self.feature_sum, self.alpha, norm=self.norm)

    @cached_property
    def joint(self) -> LinearJoint:
        """The weights, laid out for scoring, with a class prior of one."""
        return complement_joint(np.zeros(len(self.feature_sum)), self.weights)

    def likelihood(self, block: Block, use_loop: bool) -> Array:
        """Scores of some rows: (n_rows, n_classes)."""
        return self.joint.likelihood(block, use_loop)

    def without(self, table: Any, labels: Labels, removed: Array) -> Callable[[slice, bool], Array]:
        """Give a function of some rows: their scores, each row taken out of the sums."""
        complement = complement_sums(self.feature_sum)
        totals = complement.sum(axis=1, dtype=np.float64)  # of all features: it may pass 2**63
        tables = smoothed_sums(complement, self.alpha)

        def scores(rows: slice, use_loop: bool) -> Array:
            taken_out = (table.block(rows), labels.codes[rows], removed[rows], tables, totals)
            if self.norm:
                return normalised_complement_without(*taken_out)
            return complement_without(*taken_out, use_loop)

        return scores


@record
class BernoulliColumns:
    """Counts of marks with the pseudo-counts of presence and absence; a mark is a value over `threshold`."""

    counts: BinaryCounts
    present_alpha: Array  # (n_features,)
    absent_alpha: Array  # (n_features,)
    threshold: float
    allow_missing: bool = False

    def log_probability(self, removed: float = 0.0) -> tuple[Array, Array]:
        """Logarithms of P(present | class) and P(absent | class): (n_classes, n_features) each."""
        return bernoulli_log_probability(self.counts, self.present_alpha, self.absent_alpha, removed)

    @cached_property
    def joint(self) -> LinearJoint:
        """The weights of marks, with a class prior of one."""
        return self._joint(0.0)

    def _joint(self, removed: float) -> LinearJoint:
        none = np.zeros(self.counts.n_classes)
        log_probability = self.log_probability(removed)
        return bernoulli_joint(none, *log_probability, self.threshold, allow_missing=self.allow_missing)

    def likelihood(self, block: Block, use_loop: bool) -> Array:
        """Log-likelihoods of some rows: (n_rows, n_classes)."""
        return self.joint.likelihood(block, use_loop)

    def without(self, table: Any, labels: Labels, removed: Array) -> Callable[[slice, bool], Array]:
        """Give a function of some rows: their log-likelihoods, each row taken out of the counts."""
        one_weight = (removed == removed[0]).all()  # rows of one weight share their parameters
        own_joint = self._joint(float(removed[0])) if one_weight else None
        pseudo_counts = self.present_alpha, self.absent_alpha

        def likelihood(rows: slice, use_loop: bool) -> Array:
            block, y = table.block(rows), labels.codes[rows]
            if own_joint is not None:
                own = own_joint.likelihood(block, use_loop)[np.arange(len(y)), y]
            else:
                own = bernoulli_own_without(block, y, removed[rows], self.counts, *pseudo_counts, self.threshold)
            return leave_out_own_class(self.likelihood(block, use_loop), own, y)

        return likelihood
