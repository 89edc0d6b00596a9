"""Counts that spread more than Poisson's: a negative binomial law, Poisson's with rates that vary from row to row.

    log P(x | k) = sum over i < x of log(1 + i / r) - log x! + x log m_k - (x + r) log(1 + m_k / r)

The mean of a class is m_k = (total_k + a) / weight_k, as a Poisson rate is, its variance m_k + m_k^2 / r. The
dispersion r is one for all classes of a column, so that log-odds are a line in the count. It is that of `DISPERSIONS`
under which the counts are most probable: for each of them the statistic holds the first sum over the rows, so it is
read anew from whatever rows are added or taken away. Leaving a row out holds it fixed.

Given r the evidence is exact: m_k / (m_k + r) has a Beta(1, 1 + r / m) prior, under which m_k is expected to be the
mean m of all, and as r grows this is the gamma prior of Poisson's law. All dispersions are equally probable before
looking.
"""

from collections.abc import Iterator, Sequence
from dataclasses import field
from functools import cached_property, reduce
from typing import Any, ClassVar, Self

import numpy as np
from scipy.special import betaln, gammaln, logsumexp, xlogy

from bayeswater.data.labels import Labels
from bayeswater.data.matrix import DenseTable
from bayeswater.data.reading.column_plan import Column
from bayeswater.decision.facts import NOTHING, Fact
from bayeswater.families.family import Settings
from bayeswater.families.numbers import NumberBlock
from bayeswater.families.open_numbers import OpenColumn, Weighed
from bayeswater.families.poisson import (
    JEFFREYS,
    PSEUDO_COUNT,
    TAIL,
    CountFact,
    Poisson,
    PoissonBlock,
    PoissonCandidate,
    count_factors,
)
from bayeswater.families.two_laws import ColumnFactors, two_laws
from bayeswater.inference.drawing import draw_counts, log_gamma
from bayeswater.inference.formula import Weights
from bayeswater.inference.linear import Line, line_of_numbers
from bayeswater.kernels.sorted_column import log_factorial
from bayeswater.kernels.threads import ordered_map, row_blocks
from bayeswater.phrases import Phrase, own_reasons
from bayeswater.records import record
from bayeswater.statistics.count_totals import CountTotals
from bayeswater.statistics.key_counts import Occupied
from bayeswater.typing import Array

own_reasons(
    {
        "negative_binomial": "负二项",
        "negative binomial": "负二项",
        "too many different counts": "不同的计数太多",
        "a value that stands apart": "有一个孤立的值",
    }
)

DISPERSIONS = 2.0 ** np.arange(-3, 7)
"""From 1/8, where most counts are 0 and some are very large, to 64, which is next to Poisson's law."""

PRIOR_EVENTS = 1.0
"""Events that the mean over all classes is worth as an expectation of that of a class."""

PEAK = 0.05
"""Share of the rows from which on a count is a peak."""

MOST_COUNTS = 2**20
"""Counts that are gone through one by one."""


def log_rise(x: Array, dispersion: float) -> Array:
    """Sum over i < x of log(1 + i / r), which is log Gamma(x + r) - log Gamma(r) - x log r, and never negative.

    >>> np.exp(log_rise(np.array([0.0, 1.0, 2.0, 3.0]), 0.5)).round(12)
    array([ 1.,  1.,  3., 15.])
    """
    rise = gammaln(x + dispersion) - gammaln(dispersion) - x * np.log(dispersion)
    return np.where(x <= 1, 0.0, np.maximum(rise, 0.0))


@record(eq=False)
class DispersedTotals(CountTotals):
    """Weight and sum of the cells, and for each of `DISPERSIONS` the sum of `log_rise`: (n_classes, n_columns) each."""

    rise_0: Array
    rise_1: Array
    rise_2: Array
    rise_3: Array
    rise_4: Array
    rise_5: Array
    rise_6: Array
    rise_7: Array
    rise_8: Array
    rise_9: Array

    @classmethod
    def of(cls, matrix: DenseTable, labels: Labels, weight: Array | None) -> Self:
        """Sum some rows, over the cells that are there."""
        totals = CountTotals.of(matrix, labels, weight)

        def block_sums(rows: slice) -> Array:
            block, codes = matrix.block(rows), labels.codes[rows]
            w = np.ones(len(block)) if weight is None else weight[rows]
            found = np.zeros((len(DISPERSIONS), labels.n_classes, block.shape[1]))
            for j in range(block.shape[1]):
                there = ~np.isnan(block[:, j])
                counts, place = np.unique(block[there, j], return_inverse=True)
                cell = place * labels.n_classes + codes[there]
                often = np.bincount(cell, weights=w[there], minlength=len(counts) * labels.n_classes)
                rises = np.stack([log_rise(counts, r) for r in DISPERSIONS])
                found[:, :, j] = rises @ often.reshape(len(counts), labels.n_classes)
            return found

        rises = reduce(np.add, ordered_map(block_sums, row_blocks(matrix.shape[0])))
        return cls(totals.classes, totals.names, totals.weight, totals.total, *rises)

    @property
    def rises(self) -> Array:
        """The sums of all dispersions: (n_dispersions, n_classes, n_columns)."""
        return np.stack([getattr(self, f"rise_{i}") for i in range(len(DISPERSIONS))])

    def log_evidences(self) -> Array:
        """Log-evidence of the counts under each dispersion, but for their log x!: (n_dispersions, n_columns)."""
        weight, total = self.pooled()
        with np.errstate(divide="ignore", invalid="ignore"):
            mean = np.where(total > 0, total / np.where(weight > 0, weight, 1), 1.0)
        r = DISPERSIONS[:, None, None]
        a = PRIOR_EVENTS + PRIOR_EVENTS * r / mean
        rise = self.rises + self.total * np.log(r)
        found = rise + betaln(PRIOR_EVENTS + self.total, a + r * self.weight) - betaln(PRIOR_EVENTS, a)
        summed: Array = found.sum(axis=1)
        return summed


@record
class NegativeBinomialBlock(PoissonBlock):
    """Sums of counts, the pseudo-count (n_columns,) of their means, and the dispersion (n_columns,)."""

    dispersion: Array

    def likelihood(self, cells: Array, use_loop: bool) -> Array:
        """Log-likelihoods of some rows: (n_rows, n_classes)."""
        return NumberBlock.likelihood(self, cells, use_loop)  # a rate of 0 is one of the terms here

    def law(self, x: Array, rate: Array, j: int) -> Array:
        """Log-likelihood of counts in column j at the means of each class, (n_classes,) or (n_rows, n_classes)."""
        x, r = x[:, None], self.dispersion[j]
        counts = np.where(np.isnan(x), 0.0, x)
        with np.errstate(divide="ignore", invalid="ignore"):
            shared = log_rise(counts, r) + x * np.log(r) - log_factorial(counts)
            # x log(rate) - x log(1 + rate / r) = x log(r) - x log(1 + r / rate): of large counts no digit is lost.
            own = np.where(x == 0, 0.0, x * np.log1p(r / rate)) + r * np.log1p(rate / r)
            term = shared - own
        return np.where(np.isnan(term), 0.0, term)  # a missing cell, or a column without a value

    def variance(self, j: int) -> Array:
        """Variance of column j in each class: (n_classes,)."""
        mean = self.rate[:, j]
        return mean + mean**2 / self.dispersion[j]

    def _line_in_count(self, rate: Array, j: int) -> Weights:
        r = self.dispersion[j]
        with np.errstate(divide="ignore"):
            # Without x log(r), which all classes have.
            return Weights(("x",), -np.log1p(r / rate)[None], -r * np.log1p(rate / r))

    def fact(self, j: int, *, is_unknown: bool) -> Fact | str:
        """Tell the counts that are not too improbable; a column without a value tells nothing."""
        mean = self.rate[:, j]
        if np.isnan(mean).any():
            return NOTHING
        fact = DispersedFact(mean, dispersion=float(self.dispersion[j]))
        return fact if fact.reach <= MOST_COUNTS else Phrase("too many counts", n=f"{mean.max():.2g}")

    def drawn_parameters(self, j: int, rng: np.random.Generator, n_draws: int) -> tuple[Array]:
        """Draw the logarithms of means, with the dispersion as it is: r gamma(total + a) / gamma(r weight)."""
        (weight, total), r = self.events(j), self.dispersion[j]
        if not weight.all():
            return (np.full((n_draws, self.sums.n_classes), np.nan),)
        events = log_gamma(rng, total + self.pseudo_count[j], n_draws)
        return (np.log(r) + events - log_gamma(rng, r * weight, n_draws),)

    def drawn_terms(self, x: Array, j: int, drawn: tuple[Array, ...]) -> Array:
        """Log-likelihood of counts by logarithms of means, but for constants that all classes share."""
        (log_mean,), r = drawn, self.dispersion[j]
        with np.errstate(invalid="ignore"):
            term = np.where(x == 0, 0.0, x * log_mean) - (x + r) * np.logaddexp(0.0, log_mean - np.log(r))
        return np.where(np.isnan(term), 0.0, term)  # a missing cell, or a column without a value

    def draw_column(self, codes: Array, j: int, rng: np.random.Generator) -> Array:
        """Draw counts: Poisson's, of rates that are gamma variates."""
        return draw_dispersed(self.rate[codes, j], self.dispersion[j], rng)

    def line(self, names: Sequence[str], model: str) -> Line:
        """The log-odds are linear in the counts, since all classes have one dispersion."""
        mean = np.where(np.isnan(self.rate), 1.0, self.rate)  # a column without a value has no factor
        grown = np.log1p(mean / self.dispersion)
        with np.errstate(divide="ignore"):
            return line_of_numbers(names, (np.log(mean) - grown).T, -(grown @ self.dispersion), model)


@record
class DispersedFact(CountFact):
    """A column of counts, of a mean `rate` (n_classes,) in each class and one dispersion."""

    dispersion: float = field(kw_only=True)

    @cached_property
    def reach(self) -> float:
        """A count from which on the log-probability in every class is `TAIL` below its largest, or more."""
        m, r = self.rate, self.dispersion
        peak = self.log_probability(np.floor(np.maximum(r - 1, 0) / r * m)).diagonal()
        far = np.ceil(m.max()) + 1
        while (self.strength * (self.log_probability(np.array([far]))[0] - peak) > -TAIL).any() and far < np.inf:
            far *= 2
        return float(far)

    def counts(self) -> Array:
        """Give the counts that are not too improbable."""
        return np.arange(min(self.reach, 2.0 * MOST_COUNTS) + 1)

    def log_probability(self, count: Array) -> Array:
        """Log-probability of counts (n,) in every class: (n, n_classes)."""
        r = self.dispersion
        shared = (log_rise(count, r) - log_factorial(count))[:, None]
        return shared + xlogy(count[:, None], self.rate) - (count[:, None] + r) * np.log1p(self.rate / r)


class NegativeBinomialCandidate(PoissonCandidate):
    """Counts that spread; the histogram has each of them, and the sums over them."""

    family = "negative_binomial"
    title = "negative binomial"

    def why_not(self, column: OpenColumn, *, alone: bool) -> str | None:
        """Say which numbers are no counts, are too many to keep apart, or have a gap beside their peak."""
        reason = super().why_not(column, alone=alone)
        if reason is not None:
            return reason if alone else ""
        if not column.occupied.are_values:
            return "too many different counts"
        return "a value that stands apart" if not alone and _stands_apart(column.occupied) else None

    def weighed(self, column: OpenColumn) -> Weighed:
        """Log-evidence of the counts, averaged over the dispersions."""
        evidence = logsumexp(self._sums(column).log_evidences()[:, 0]) - np.log(len(DISPERSIONS))
        return Weighed(float(evidence - column.profile.wholes.log_factorials[:, column.j].sum()))

    def settled(self, column: OpenColumn, cuts: tuple[float, ...] | None, class_count: Array) -> DispersedTotals:
        """Take the sums of the counts in the histogram."""
        return self._sums(column)

    def _sums(self, column: OpenColumn) -> DispersedTotals:
        totals = super().settled(column, None, np.empty(0))
        rises = (column.histogram.class_sums(log_rise(column.histogram.first, r))[:, None] for r in DISPERSIONS)
        return DispersedTotals(totals.classes, totals.names, totals.weight, totals.total, *rises)


def _stands_apart(occupied: Occupied) -> bool:
    """Say whether the most frequent count has no neighbour: no law of counts leaves a gap beside its peak.

    Bins pay for a gap by their widths, and counts would not.
    """
    if not len(occupied.first) or occupied.weight.max() <= PEAK * occupied.weight.sum():
        return False
    peak = occupied.first[occupied.weight.argmax()]
    return not bool(np.isin([peak - 1, peak + 1], occupied.first).any())


class NegativeBinomial(Poisson):
    """Counts that spread more than Poisson's."""

    key: ClassVar = "negative_binomial"
    families: ClassVar = ("negative_binomial",)
    statistic: ClassVar = DispersedTotals
    takes: ClassVar = {"negative_binomial": "counts, whole, from 0 on and below 2**53"}
    candidates: ClassVar = (NegativeBinomialCandidate(),)

    def read(self, sums: DispersedTotals, settings: Settings) -> NegativeBinomialBlock:
        """Read the means, and the dispersion under which the counts are most probable."""
        best = sums.log_evidences().argmax(axis=0)
        return NegativeBinomialBlock(sums, self.pseudo_counts(settings, JEFFREYS, PSEUDO_COUNT), DISPERSIONS[best])

    def tables(self, sums: Any, settings: Settings, classes: Sequence[Any]) -> dict[str, dict[str, Any]]:
        """Give the mean in each class, and the dispersion."""
        block, named = self.read(sums, settings), enumerate(self.names)
        return {
            name: {
                "class": list(classes),
                f"mean({name})": block.rate[:, j],
                f"dispersion({name})": np.full(len(classes), block.dispersion[j]),
            }
            for j, name in named
        }

    def n_parameters(self, sums: Any) -> int:
        """A mean for each class and column, and a dispersion for each column."""
        return (sums.n_classes + 1) * len(self.columns)

    def sample(self, sums: Any, settings: Settings, codes: Array, rng: np.random.Generator) -> dict[str, Any]:
        """Draw counts."""
        block = self.read(sums, settings)
        return dict(zip(self.names, draw_dispersed(block.rate[codes], block.dispersion, rng).T, strict=True))


def draw_dispersed(mean: Array, dispersion: Array | float, rng: np.random.Generator) -> Array:
    """Draw a count for each mean, of any shape; NaN where it is NaN."""
    return draw_counts(mean * rng.standard_gamma(np.broadcast_to(dispersion, mean.shape)) / dispersion, rng)


@two_laws.register
def _(a: DispersedTotals, b: DispersedTotals, columns: dict[str, Column]) -> Iterator[ColumnFactors]:
    # The dispersion is that of all rows.
    r = DISPERSIONS[(a + b).log_evidences().argmax(axis=0)]

    def evidence(strength: float, rate: Array, n: Array, total: Array) -> Array:
        found: Array = betaln(strength * rate + total, (strength + n) * r) - betaln(strength * rate, strength * r)
        return found

    return count_factors(a, b, evidence)
