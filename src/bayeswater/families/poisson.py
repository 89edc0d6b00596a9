"""Counts that follow Poisson's law: log P(x | k) = x log rate_k - rate_k - log x!,  rate_k = (total_k + a) / weight_k.

a = 1/2 is Jeffreys' prior, under which a class that never had the event can still have it; a = 0 is maximum likelihood.
A class without a value in a column takes the rate of all classes; a column without any value has no factor.

The evidence of a column left open expects the rate of a class to be that of all: a gamma prior worth one event.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from math import ceil, sqrt
from typing import Any, ClassVar, Self

import numpy as np
from scipy.special import gammaln, xlogy

from bayeswater.data.labels import Labels
from bayeswater.data.reading.column_plan import Column
from bayeswater.data.weights import EXACT
from bayeswater.decision.facts import NOTHING, Fact, Outcomes
from bayeswater.families.curve import ColumnCurve, whole_numbers
from bayeswater.families.family import Settings, require_sums
from bayeswater.families.numbers import CountView, NumberBlock, NumberFamily
from bayeswater.families.open_numbers import Candidate, OpenColumn, Weighed
from bayeswater.families.two_laws import ColumnFactors, common_weights, mean_figures, mixed_over_strengths, two_laws
from bayeswater.families.view import ColumnView
from bayeswater.inference.drawing import draw_counts, log_gamma
from bayeswater.inference.formula import NumberForm, Weights
from bayeswater.inference.leave_one_out import leave_out_own_class
from bayeswater.inference.linear import Line, line_of_numbers
from bayeswater.kernels.class_scores import log_shares
from bayeswater.kernels.remainders import remainder
from bayeswater.kernels.sorted_column import log_factorial
from bayeswater.phrases import Phrase, own_phrases, own_reasons
from bayeswater.records import record
from bayeswater.statistics.count_totals import CountTotals
from bayeswater.statistics.statistic import Statistic
from bayeswater.typing import Array

own_phrases(
    {
        "too many counts": ("its counts, {n}, are too many to go through", "它的计数（{n}）太多，无法逐一计算"),
    }
)
own_reasons(
    {
        "poisson": "泊松",
        "Poisson": "泊松",
        "large numbers": "数太大",
        "fractions": "有小数",
    }
)

JEFFREYS, PSEUDO_COUNT = 0.5, "the pseudo-count of its rate"
"""Pseudo-count of a rate when none is given, and how it is called."""

RATE_SHAPE = 1.0
"""Events that the rate over all classes is worth as an expectation of the rate of a class."""

TAIL = 45.0
"""Counts are left out whose log-probability is this much below the largest of their class."""

TAIL_MASS = 1e-12
"""More than all counts that are left out can have: exp(-TAIL) is 3e-20, and they fall off like a geometric series."""

DRAWN_SPREADS = 8.0
"""Standard deviations above the mean up to which a picture shows counts, which may fall off slowly."""

MOST_RATE = 1e8
"""Rates up to which counts are gone through one by one: some hundred thousand of them."""


class PoissonView(CountView):
    """A column of counts."""

    block: "PoissonBlock"

    def means(self) -> Array:
        """Rate in each class."""
        return self.block.rate[:, self.j]


@record
class PoissonBlock(NumberBlock):
    """Sums of counts, and the pseudo-count (n_columns,) of their rates."""

    sums: CountTotals
    pseudo_count: Array

    view: ClassVar[type[ColumnView]] = PoissonView

    @cached_property
    def rate(self) -> Array:
        """Rate of each class and column; NaN for a column without a value."""
        return poisson_rates(self.sums, self.pseudo_count)

    def likelihood(self, cells: Array, use_loop: bool) -> Array:
        """Log-likelihoods of some rows: (n_rows, n_classes)."""
        there = ~np.isnan(cells) & ~np.isnan(self.rate[0])
        x = np.where(there, cells, 0.0)
        possible = np.where(self.rate > 0, self.rate, 1.0)
        total = x @ np.log(possible).T - there @ np.where(np.isnan(self.rate), 0.0, self.rate).T
        total -= log_factorial(x).sum(axis=1, keepdims=True)
        impossible = self.rate == 0
        if impossible.any():  # where the event never happened, it cannot
            total[x @ impossible.T > 0] = -np.inf
        return total

    def column_terms(self, x: Array, j: int) -> Array:
        """Log-likelihood of counts (n,) in one column: (n, n_classes)."""
        return self.law(x, self.rate[:, j], j)

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
                rates = self._rates_without(block[:, j], r, int(j), y[:, None], True)
                own += self.law(block[:, j], rates, int(j))[:, 0]
            leave_out_own_class(total, own, y)
            every = np.arange(self.sums.n_classes)
            for j in np.flatnonzero(borrows):
                rates = self._rates_without(block[:, j], r, int(j), every, y[:, None] == every)
                total += self.law(block[:, j], rates, int(j))
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

    def law(self, x: Array, rate: Array, j: int) -> Array:
        """Log-likelihood of counts in column j at the rates of each class, (n_classes,) or (n_rows, n_classes)."""
        x = x[:, None]
        with np.errstate(divide="ignore"):
            term = xlogy(x, rate) - rate - log_factorial(np.where(np.isnan(x), 0.0, x))
        return np.where(np.isnan(term), 0.0, term)  # a missing cell, or a column without a value

    def variance(self, j: int) -> Array:
        """Variance of column j in each class: (n_classes,)."""
        return self.rate[:, j]

    def places(self, j: int) -> Array:
        """Counts that are not too far from what is expected in some class."""
        rate = self.rate[:, j]
        if np.isnan(rate).any():
            return np.empty(0)
        spread = np.sqrt(self.variance(j))
        return whole_numbers(max(0.0, ceil((rate - 4 * spread).min())), ceil((rate + DRAWN_SPREADS * spread).max()) + 1)

    def curve(self, column: Column, j: int) -> ColumnCurve:
        """Give the probability of counts in each class."""
        return replace(super().curve(column, j), kind="counts")

    def formula(self, j: int) -> Weights:
        """Give the line in the count; log x! is the same of all classes."""
        return self._line_in_count(np.where(np.isnan(self.rate[:, j]), 1.0, self.rate[:, j]), j)

    def _line_in_count(self, rate: Array, j: int) -> Weights:
        with np.errstate(divide="ignore"):  # where the event never happened, it cannot
            return Weights(("x",), np.log(rate)[None], -rate)

    def fact(self, j: int, *, is_unknown: bool) -> Fact | str:
        """Tell the counts that are not too improbable; a column without a value tells nothing."""
        rate = self.rate[:, j]
        if np.isnan(rate).any():
            return NOTHING
        if rate.max() <= MOST_RATE:
            return CountFact(rate)
        return Phrase("too many counts", n=f"{rate.max():.2g}")

    def drawn_parameters(self, j: int, rng: np.random.Generator, n_draws: int) -> tuple[Array]:
        """Draw the logarithms of rates: gamma(total + a) / weight."""
        weight, total = self.events(j)
        drawn = log_gamma(rng, total + self.pseudo_count[j], n_draws)
        with np.errstate(divide="ignore", invalid="ignore"):
            return (np.where(weight > 0, drawn - np.log(weight), np.nan),)

    def drawn_terms(self, x: Array, j: int, drawn: tuple[Array, ...]) -> Array:
        """Log-likelihood of counts by logarithms of rates, but for constants that all classes share."""
        (log_rate,) = drawn
        with np.errstate(invalid="ignore", over="ignore"):
            term = np.where(x == 0, 0.0, x * log_rate) - np.exp(log_rate)
        return np.where(np.isnan(term), 0.0, term)  # a missing cell, or a column without a value

    def events(self, j: int) -> tuple[Array, Array]:
        """Weight and sum of column j in each class, those of all where a class has no value: (n_classes,) each."""
        weight_all, total_all = (part[j] for part in self.sums.pooled())
        has_value = self.sums.weight[:, j] > 0
        weight = np.where(has_value, self.sums.weight[:, j], weight_all).astype(np.float64)
        return weight, np.where(has_value, self.sums.total[:, j], total_all)

    def draw_column(self, codes: Array, j: int, rng: np.random.Generator) -> Array:
        """Draw counts."""
        return draw_counts(self.rate[codes, j], rng)

    def line(self, names: Sequence[str], model: str) -> Line:
        """The log-odds are linear in the counts: their weights are the logarithms of the rates."""
        rate = np.where(np.isnan(self.rate), 1.0, self.rate)  # a column without a value has no factor
        with np.errstate(divide="ignore"):
            return line_of_numbers(names, np.log(rate).T, -rate.sum(axis=1), model)


@record
class CountFact:
    """A column of counts by Poisson's law, of a rate (n_classes,) in each class."""

    rate: Array
    strength: float = 1.0

    def weakened(self, strength: float) -> Self:
        """Take a power of the probabilities."""
        return replace(self, strength=self.strength * strength)

    def outcomes(self, belief: Array, regret: Array) -> Outcomes:
        """Every count that is not too improbable is an outcome."""
        shares = log_shares((self.strength * self.log_probability(self.counts())).T, use_loop=False)
        return Outcomes(np.exp(shares).T, TAIL_MASS * float(belief @ regret.max(axis=0)))

    def counts(self) -> Array:
        """Give the counts that are not too improbable."""
        return np.unique(np.concatenate([self._likely_counts(rate) for rate in self.rate]))

    def log_probability(self, count: Array) -> Array:
        """Log-probability of counts (n,) in every class: (n, n_classes)."""
        return xlogy(count[:, None], self.rate) - self.rate - gammaln(count + 1)[:, None]

    def _likely_counts(self, rate: float) -> Array:
        """Counts around a rate, until the log-probability has fallen by the tail, divided by the strength."""
        depth = TAIL / self.strength
        # -log P falls by d^2 / (2 (rate + d / 3)) at least at a distance d (Bernstein).
        reach = ceil(depth / 3 + sqrt(depth**2 / 9 + 2 * rate * depth)) + 1
        middle = int(rate)
        return np.arange(max(0, middle - reach), middle + reach + 1)


class PoissonCandidate(Candidate):
    """Counts; their sums are those of the whole numbers, which all laws share."""

    family = "poisson"
    title = "Poisson"

    def why_not(self, column: OpenColumn, *, alone: bool) -> str | None:
        """Say which numbers are no counts."""
        occupied = column.occupied
        if occupied.is_whole:
            return None
        is_large = bool((occupied.last >= EXACT).any())  # no count that could be added exactly
        return "negative numbers" if (occupied.first < 0).any() else "large numbers" if is_large else "fractions"

    def weighed(self, column: OpenColumn) -> Weighed:
        """Log-evidence of the counts."""
        whole, total, log_factorials = (
            sums[:, column.j]
            for sums in (column.profile.wholes.whole, column.profile.wholes.total, column.profile.wholes.log_factorials)
        )
        rate = RATE_SHAPE * whole.sum() / total.sum()
        return Weighed(float(poisson_log_evidence(RATE_SHAPE, rate, whole, total, log_factorials).sum()))

    def settled(self, column: OpenColumn, cuts: tuple[float, ...] | None, class_count: Array) -> CountTotals:
        """Take weights and sums of the whole numbers."""
        wholes = column.profile.wholes.take([column.j])
        return CountTotals(wholes.classes, (column.name,), np.array(wholes.whole), np.array(wholes.total))


class Poisson(NumberFamily):
    """Counts that follow Poisson's law."""

    key: ClassVar = "poisson"
    families: ClassVar = ("poisson",)
    statistic: ClassVar[type[Statistic]] = CountTotals
    takes: ClassVar = {"poisson": "counts, whole, from 0 on and below 2**53"}
    candidates: ClassVar = (PoissonCandidate(),)

    def impossible(self, column: Column, values: Array) -> Array:
        """Mark what is no count: negative numbers, fractions, and what could not be added exactly."""
        return (values < 0) | (values >= EXACT) | (values != np.floor(values)) & ~np.isnan(values)

    def cell_form(self, sums: Any, j: int) -> NumberForm:
        """Cells are counts."""
        return NumberForm(low=0.0, high=float(EXACT), is_closed=True, is_whole=True)

    def read(self, sums: Any, settings: Settings) -> PoissonBlock:
        """Read the rates."""
        return PoissonBlock(sums, self.pseudo_counts(settings, JEFFREYS, PSEUDO_COUNT))

    def tables(self, sums: CountTotals, settings: Settings, classes: Sequence[Any]) -> dict[str, dict[str, Any]]:
        """Give the rate in each class."""
        rate = self.read(sums, settings).rate
        return {
            column.name: {"class": list(classes), f"rate({column.name})": rate[:, j]}
            for j, column in enumerate(self.columns)
        }

    def n_parameters(self, sums: CountTotals) -> int:
        """A rate for each class and column."""
        return sums.n_classes * len(self.columns)

    def sample(self, sums: CountTotals, settings: Settings, codes: Array, rng: np.random.Generator) -> dict[str, Any]:
        """Draw counts."""
        rate = self.read(sums, settings).rate[codes]
        return dict(zip(self.names, draw_counts(rate, rng).T, strict=True))

    @classmethod
    def require_range(cls, column: Column, low: float | None, high: float | None) -> None:
        """Refuse a range that is none of counts."""
        require_sums(
            (low or 0.0) >= 0 and (high or 0.0) < EXACT, f"the range of column {column.name!r} is none of counts"
        )


def poisson_rates(sums: CountTotals, pseudo_count: Array) -> Array:
    """Rate of each class and column, NaN for a column without a value: (n_classes, n_columns)."""
    weight_all, total_all = sums.pooled()
    with np.errstate(divide="ignore", invalid="ignore"):
        pooled = np.where(weight_all > 0, (total_all + pseudo_count) / weight_all, np.nan)
        return np.where(sums.weight > 0, (sums.total + pseudo_count) / sums.weight, pooled)


def poisson_log_evidence(
    shape: Array | float, rate: float, n: Array, total: Array, log_factorials: Array | float
) -> Array:
    """Logarithm of the evidence of Poisson counts whose mean has a Gamma(shape, rate) prior, elementwise.

        rate^shape / (rate + n)^(shape + total) Gamma(shape + total) / Gamma(shape) / (x_1! .. x_n!)

    >>> float(np.exp(poisson_log_evidence(1.0, 1.0, np.array(1), np.array(0.0), np.array(0.0))))
    0.5
    """
    return (
        gammaln(shape + total) - gammaln(shape) - shape * np.log1p(n / rate) - total * np.log(rate + n) - log_factorials
    )


Rates = tuple[Array, Array]
"""Weights and totals of counts, (n_classes, n_columns) each."""


def _rates_of_all_classes(a: Rates, b: Rates) -> tuple[Rates, Rates]:
    """Put all classes together as one more class: events fall into the two sets as the rows do, class by class."""
    n, total = a[0] + b[0], a[1] + b[1]
    f = a[0] / np.where(n > 0, n, 1.0)
    count, chance = common_weights(total, f)
    events = (total * count).sum(axis=0)
    first = np.clip(chance * events + (a[1] - total * f).sum(axis=0), 0.0, events)
    rate = (total * count * total / np.where(n > 0, n, 1.0)).sum(axis=0) / np.where(events > 0, events, 1.0)
    rows = events / np.where(rate > 0, rate, 1.0)
    joint = ((chance * rows, first), ((1 - chance) * rows, events - first))
    found = [
        tuple(np.concatenate([x, y[None]]) for x, y in zip(own, more, strict=True))
        for own, more in zip((a, b), joint, strict=True)
    ]
    return found[0], found[1]  # type: ignore[return-value]


def count_factors(a: CountTotals, b: CountTotals, evidence: Callable[..., Array]) -> Iterator[ColumnFactors]:
    """Weigh two means of counts against one; `evidence` is that of some rows and events under a rate of some rows."""
    before, after = _rates_of_all_classes(*((part.weight * 1.0, part.total * 1.0) for part in (a, b)))
    n, total = before[0] + after[0], before[1] + after[1]
    rate = np.where(total > 0, total, 1.0) / np.where(n > 0, n, 1.0)

    def factor(strength: float) -> Array:
        found: Array = sum(evidence(strength, rate, *own) for own in (before, after)) - evidence(
            strength, rate, n, total
        )
        return found

    *factors, common = np.where(total > 0, mixed_over_strengths(factor), 0.0)
    for j in range(a.n_columns):
        means = [part.total[:, j] / np.maximum(part.weight[:, j], 1) for part in (a, b)]
        own = np.array([of_class[j] for of_class in factors])
        yield ColumnFactors(a.column_name(j), "values", own, mean_figures(*means), float(common[j]))


@two_laws.register
def _(a: CountTotals, b: CountTotals, columns: dict[str, Column]) -> Iterator[ColumnFactors]:
    def evidence(strength: float, rate: Array, n: Array, total: Array) -> Array:
        return poisson_log_evidence(strength * rate, strength, n, total, 0.0)

    return count_factors(a, b, evidence)
