"""The evidence of one numeric column under each family, from its sums alone.

Normal values; normal logarithms, less the sum of the logarithms, which turns their density into one of the values;
Poisson counts; and bins, whose shares are divided by their widths, which turns them into a density. The priors are
weak and carry the unit of the column, so another unit shifts all densities alike: the variance of a class is expected
to be that within classes, its mean to be as far from the mean of all as the values are, and its rate to be that of all.

A density can be raised without limit where values repeat: a class of nothing but zeros would make the narrowest normal
curve the best of all families. But values on a grid, whole numbers for one, are known no better than to half the way to
their neighbours. So normal values are taken as spread evenly over their cell, which adds to the scatter the variance
that the spacing hides (`Occupied.hidden_variance`; for whole numbers 1/12, as in Sheppard's correction).

Bins are made from the values, which has its price. Cuts through the gaps between a handful of values would fit the
gaps, so a bin needs rows; of several numbers of bins each is as probable as the others before looking; and that no
value lies outside of the bins is known because two of the D different ones were taken for their ends, out of
D (D - 1) / 2 pairs.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bayeswater.data.weights import EXACT
from bayeswater.estimate.evidence import dirichlet_log_evidence, normal_log_evidence, poisson_log_evidence
from bayeswater.estimate.gaussian import NormalInverseGamma
from bayeswater.estimate.quantile_bins import quantile_cuts
from bayeswater.kernels.faint_squares import FAINT
from bayeswater.statistics.key_counts import ColumnHistogram
from bayeswater.statistics.moments import Moments
from bayeswater.statistics.number_profile import NumberProfile
from bayeswater.statistics.occupied import Occupied
from bayeswater.typing import Array

BIN_COUNTS = (4, 8, 16, 32, 64)
"""Numbers of bins that are tried; a column of fewer different values has a bin for each."""

ROWS_PER_BIN = 5
"""Rows that bins have at least, on the average."""

VARIANCE_SHAPE = 1.0
"""Half the rows that the variance within classes is worth as an expectation of the variance of a class."""

RATE_SHAPE = 1.0
"""Events that the rate over all classes is worth as an expectation of the rate of a class."""

BIN_PSEUDO_COUNT = 0.5
"""Rows imagined in every bin: Jeffreys' prior."""


@dataclass(frozen=True)
class ColumnEvidence:
    """Sums of one column, (n_classes,) each, and where its values are."""

    values: "NormalEvidence"
    logs: "NormalEvidence"
    whole: Array
    total: Array
    log_factorials: Array
    histogram: ColumnHistogram
    occupied: Occupied

    @classmethod
    def of(cls, profile: NumberProfile, j: int) -> "ColumnEvidence":
        """Take the sums of column j."""
        wholes = profile.wholes
        return cls(
            NormalEvidence.of(profile.moments, j),
            NormalEvidence.of(profile.logs, j),
            wholes.whole[:, j],
            wholes.total[:, j],
            wholes.log_factorials[:, j],
            profile.keys.of_column(j),
            profile.occupied(j),
        )

    @property
    def n(self) -> Array:
        """Weight of the values of each class."""
        return self.values.n

    @property
    def nothing_to_learn(self) -> str | None:
        """Say why no family is better than another, if none is."""
        if not self.n.any():
            return "no values"
        if len(self.occupied.first) == 1 and self.occupied.are_values:
            return f"one value only, {self.occupied.first[0]:.6g}"
        return None

    @property
    def bin_counts(self) -> tuple[int, ...]:
        """Numbers of bins to try: as many as the rows allow."""
        different = len(self.occupied.first)
        most = float(self.n.sum()) / ROWS_PER_BIN
        return tuple(sorted({min(b, different) for b in BIN_COUNTS if min(b, different) <= most}))

    def why_not(self, family: str) -> str | None:
        """Say why the values cannot have a family, if they cannot."""
        is_negative = bool((self.occupied.first < 0).any())
        if family == "poisson" and not self.occupied.is_whole:
            is_large = bool((self.occupied.last >= EXACT).any())  # no count that could be added exactly
            return "negative numbers" if is_negative else "large numbers" if is_large else "fractions"
        if family == "lognormal" and (self.occupied.first <= 0).any():
            return "negative numbers" if is_negative else "zeros"
        return None

    def log_evidence(self, family: str) -> float:
        """Log-evidence of a family without cuts; of what float64 cannot hold it is -inf."""
        with np.errstate(over="ignore", invalid="ignore"):
            if family == "gaussian":
                return self.values.log_evidence(self.histogram.class_sums(self.occupied.hidden_variance))
            if family == "lognormal":
                hidden = self.histogram.class_sums(self.occupied.logarithms().hidden_variance)
                return self.logs.log_evidence(hidden) - float(self.logs.n @ self.logs.mean)
        rate = RATE_SHAPE * self.whole.sum() / self.total.sum()
        return float(poisson_log_evidence(RATE_SHAPE, rate, self.whole, self.total, self.log_factorials).sum())

    def binned(self, bin_counts: Sequence[int]) -> tuple[float, tuple[float, ...]]:
        """Log-evidence of the best of some numbers of bins, less the price of the choice; and its cuts."""
        tried = [self._in_bins(n_bins) for n_bins in bin_counts]
        evidence, cuts = max(tried, key=lambda found: found[0])
        different = len(self.occupied.first)
        price = np.log(len(tried)) + np.log(max(1, different * (different - 1) // 2))
        return evidence - float(price), cuts

    def _in_bins(self, n_bins: int) -> tuple[float, tuple[float, ...]]:
        cuts = quantile_cuts(self.occupied, n_bins)
        count = self.histogram.between(np.searchsorted(self.occupied.first, cuts))  # (n_bins, n_classes)
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):  # between neighbours there is no float
            width = np.diff([self.occupied.limits[0], *cuts, self.occupied.limits[-1]])
            evidence = dirichlet_log_evidence(BIN_PSEUDO_COUNT, count).sum() - count.sum(axis=1) @ np.log(width)
        return _or_impossible(evidence), cuts


@dataclass(frozen=True)
class NormalEvidence:
    """Moments of one column: (n_classes,) each, and those over all classes."""

    n: Array
    mean: Array
    scatter: Array
    pooled_mean: float
    pooled_scatter: float

    @classmethod
    def of(cls, moments: Moments, j: int) -> "NormalEvidence":
        """Take the moments of column j."""
        n = np.broadcast_to(moments.weight, moments.mean.shape)[:, j]
        _, mean, scatter = moments.pooled()
        return cls(n, moments.mean[:, j], moments.scatter[:, j], float(mean[j]), float(scatter[j]))

    def log_evidence(self, hidden: Array) -> float:
        """Log-evidence of normal values, with the scatter (n_classes,) that their spacing hides."""
        scatter, n = self.scatter + hidden, float(self.n.sum())
        total, within = float(self.pooled_scatter + hidden.sum()) / n, float(scatter.sum()) / n
        if not (FAINT <= n * total < np.inf and within / total > 0):  # beyond, squares are no numbers
            return -np.inf
        # Of the mean of a class the prior variance is within / strength: that of all values.
        prior = NormalInverseGamma(self.pooled_mean, within / total, VARIANCE_SHAPE, VARIANCE_SHAPE * within)
        return _or_impossible(normal_log_evidence(prior, self.n, self.mean, scatter).sum())


def _or_impossible(evidence: float) -> float:
    return float(evidence) if np.isfinite(evidence) else -np.inf
