"""Whether the cells of a column follow one law in two sets of rows, or two: read off the sums of both.

For each class, with E the evidence of sums, what their law gives them averaged over its parameters,

    log Bayes factor = log E(a) + log E(b) - log E(a + b)

is over 0 where two laws explain the rows better than one does. Parameters are spread around those of all rows together
with a width that is one of three, worth `STRENGTHS` rows: the factor is the mean of the three, so that small changes of
many rows are found as well as large ones of few. Of states, the rows of both sets together are given, and what is
weighed is how they fall into the two (`shares_factor`): so many rare states are not taken for a change.

A change may be the same in all classes. Then their rows say it together, and pay once for its being sought: what each
class has more of than is expected of it is added up, as if of one more class (`with_all_classes`). Rows of a class
count by how evenly they fall into the two sets, so that other frequencies of the classes are no change of a column.

Of a text every word is looked at, and the factor is the mean of all: any one of them may have changed. The rules of
sums that only one law has are in its file, and registered with `two_laws`.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import field
from functools import singledispatch
from typing import Any

import numpy as np
from scipy.special import betaln, logsumexp, xlogy

from bayeswater.data.reading.column_plan import Column
from bayeswater.data.reading.number_table import bin_labels
from bayeswater.estimate.normal_parameters import NormalInverseGamma, normal_log_evidence
from bayeswater.records import record
from bayeswater.statistics.category_counts import CategoryCounts
from bayeswater.statistics.feature_sums import BinaryCounts, FeatureSums
from bayeswater.statistics.moments import Moments
from bayeswater.statistics.scatter import Scatter
from bayeswater.statistics.statistic import ColumnStatistic, Statistic
from bayeswater.statistics.text_sums import TextSums
from bayeswater.typing import Array

STRENGTHS = (4.0, 40.0, 400.0)
"""Rows that the law of all rows is worth to each of the two: means are then some 1/2, 1/6 or 1/20 deviation off it."""

RAREST = 0.3
"""Odds of a state, in those of equally frequent ones, below which it is not expected to change by a larger factor."""

LOOKED_UP = 0.5
"""Taken off the factor of numbers, whose mean and deviation the prior takes from the same rows: one half for a number
and class keeps false alarms under 5 %, also in many classes of few rows."""


@record
class Figures:
    """What is told of a class: numbers `before` and `after` by their names, and how far the largest change goes.

    `unit` says what `size` is measured in: "deviations", "share", "times" or "of the circle"; `new` and `gone` are
    states.
    """

    before: dict[Any, float]
    after: dict[Any, float]
    size: float
    unit: str
    new: tuple[Any, ...] = ()
    gone: tuple[Any, ...] = ()


@record
class ColumnFactors:
    """One thing about a column, its "values" or "missing" cells: the log Bayes factor and figures of each class.

    `common` is the factor of one change in all classes; None where a law has no such sums.
    """

    name: str
    what: str
    log_factor: Array  # (n_classes,)
    figures: Callable[[int], Figures] = field(repr=False)
    common: float | None = None


def column_factors(a: Any, b: Any, rows: tuple[Array, Array], columns: Sequence[Column]) -> Iterator[ColumnFactors]:
    """Weigh every column of two sums of a kind and its missing cells; classes have some rows (n_classes,) each."""
    a, b = a.aligned(b)
    by_name = {column.name: column for column in columns}
    yield from two_laws(a, b, by_name)
    for name, cells in known_cells(a, b):
        there = [np.broadcast_to(part, all_rows.shape) for part, all_rows in zip(cells, rows, strict=True)]
        absent = [np.maximum(all_rows - part, 0) for part, all_rows in zip(there, rows, strict=True)]
        if any(part.any() for part in absent):
            counts = [np.stack(parts).astype(np.float64) for parts in zip(absent, there, strict=True)]
            yield _of_shares(name, "missing", ("missing",), *counts)


def known_cells(a: Statistic, b: Statistic) -> Iterator[tuple[str, tuple[Array, Array]]]:
    """Name each column that may lack cells, and the weight of those that it has in each class."""
    if isinstance(a, CategoryCounts) and isinstance(b, CategoryCounts):
        for j, variable in enumerate(a.schema):
            yield variable.name, (a.of_column(j).sum(axis=0), b.of_column(j).sum(axis=0))
    elif isinstance(a, TextSums) and isinstance(b, TextSums):
        yield a.name, (a.observed, b.observed)
    elif isinstance(a, ColumnStatistic) and isinstance(b, ColumnStatistic) and a.cells is not None:
        here, there = (
            np.broadcast_to(part.cells if part.cells is not None else 0, (a.n_classes, a.n_columns)) for part in (a, b)
        )
        for j in range(a.n_columns):
            yield a.column_name(j), (here[:, j], there[:, j])


# ---------------------------------------------------------------------- the factors


def common_weights(n: Array, f: Array) -> tuple[Array, Array]:
    """How much the n rows of each class (n_classes, ...) count where all tell of one change, and their chance f of all.

    Where a row is in the first set with a chance f, it tells by its variance f (1 - f).
    """
    variance = f * (1 - f)
    whole = (n * variance).sum(axis=0)
    varies = whole > 0
    chance = np.where(varies, (n * variance * f).sum(axis=0) / np.where(varies, whole, 1.0), 0.5)
    return variance / (chance * (1 - chance)), chance


def with_all_classes(a: Array, b: Array) -> tuple[Array, Array]:
    """Put all classes together as one more class, behind those of counts (n_states, n_classes, ...).

    >>> a, b = np.array([[6.0, 50.0], [4.0, 50.0]]), np.array([[40.0, 3.0], [60.0, 7.0]])
    >>> [counts[:, 2].round(1).tolist() for counts in with_all_classes(a, b)]
    [[20.0, 16.4], [12.7, 23.6]]
    """
    both = a + b
    n = both.sum(axis=0)
    f = a.sum(axis=0) / np.where(n > 0, n, 1.0)
    count, chance = common_weights(n, f)
    whole = (both * count).sum(axis=1)
    first = np.clip(chance * whole + (a - both * f).sum(axis=1), 0.0, whole)
    return np.concatenate([a, first[:, None]], axis=1), np.concatenate([b, (whole - first)[:, None]], axis=1)


Numbers = tuple[Array, Array, Array]
"""Weights, means and scatters, (n_classes, n_columns) each."""


def _numbers_of_all_classes(a: Numbers, b: Numbers) -> tuple[Numbers, Numbers]:
    """Put all classes together as one more class, in deviations of each: means are apart as theirs are on average."""
    n, apart = a[0] + b[0], b[1] - a[1]
    f = a[0] / np.where(n > 0, n, 1.0)
    variance = (a[2] + b[2] + apart**2 * n * f * (1 - f)) / np.where(n > 0, n, 1.0)
    scale = np.where(variance > 0, variance, 1.0)
    count, chance = common_weights(np.where(variance > 0, n, 0.0), f)
    rows = np.where(variance > 0, n * count, 0.0)
    whole = rows.sum(axis=0)
    mean = (rows * apart / np.sqrt(scale)).sum(axis=0) / np.where(whole > 0, whole, 1.0)
    found = []
    for own, share, at in ((a, chance, (chance - 1) * mean), (b, 1 - chance, chance * mean)):
        scatter = (rows * own[2] / np.where(own[0] > 0, own[0], 1.0) / scale).sum(axis=0)
        together = (share * whole, at, share * scatter)
        found.append(tuple(np.concatenate([x, y[None]]) for x, y in zip(own, together, strict=True)))
    return found[0], found[1]  # type: ignore[return-value]


def mixed_over_strengths(factor: Callable[[float], Array]) -> Array:
    """Give the logarithm of the mean of Bayes factors over all `STRENGTHS`."""
    mean: Array = logsumexp([factor(strength) for strength in STRENGTHS], axis=0) - np.log(len(STRENGTHS))
    return mean


def shares_factor(a: Array, b: Array) -> Array:
    """Weigh two laws of states against one, from counts (n_states, n_classes) each: (n_classes,).

    With the rows of each state given, which of the two sets each is in is drawn with one chance f under one law,

        a_v ~ Binomial(n_v, f)  against  a_v ~ Beta-binomial(n_v, m_v f, m_v (1 - f)),  with sum a_v given

    The share of a state can then be known from all rows without being counted twice, however rare it is. That the sums
    are given is taken into account by normal laws of them.

    >>> counts = np.array([[50.0], [50.0]])
    >>> shares_factor(counts, counts)[0] < 0 < shares_factor(counts, counts[:, [0]] * [[0.2], [1.8]])[0]
    np.True_
    """
    both = a + b  # (n_states, n_classes)
    n = both.sum(axis=0)
    f = np.where(n > 0, a.sum(axis=0) / np.where(n > 0, n, 1.0), 0.5)
    is_weighed = (f > 0) & (f < 1) & ((both > 0).sum(axis=0) > 1)
    f = np.where(is_weighed, f, 0.5)
    center = both / np.where(n > 0, n, 1.0)
    free = np.maximum((both > 0).sum(axis=0) - 1, 1)

    def factor(strength: float) -> Array:
        counted = (both > 0) & is_weighed
        odds = np.where(counted, center, 0.5) / np.where(counted, 1 - center, 0.5)
        # As wide as shares of laws that are worth so many rows; but no ten rows of a rare state are all on one side.
        m = strength * np.maximum(free * odds, RAREST) / (2 * f * (1 - f))
        spread = betaln(a + m * f, b + m * (1 - f)) - betaln(m * f, m * (1 - f)) - xlogy(a, f) - xlogy(b, 1 - f)
        wider = (both * (m + both) / (m + 1)).sum(axis=0) / np.where(n > 0, n, 1.0)  # variance of the sum, in times
        return np.where(counted, spread, 0.0).sum(axis=0) + 0.5 * np.log(np.where(is_weighed, wider, 1.0))

    return np.where(is_weighed, mixed_over_strengths(factor), 0.0)


def normal_factor(a: Numbers, b: Numbers) -> Array:
    """Weigh two normal laws against one, from weights, means and scatters, elementwise."""
    n = a[0] + b[0]
    safe = np.where(n > 0, n, 1.0)
    mean = a[1] + (b[1] - a[1]) * (b[0] / safe)
    scatter = a[2] + b[2] + (b[1] - a[1]) ** 2 * (a[0] * b[0] / safe)
    deviation = np.sqrt(scatter / safe)
    spread = np.where(deviation > 0, deviation, 1.0)

    def factor(strength: float) -> Array:
        prior = NormalInverseGamma(0.0, strength, strength / 2, strength / 2)

        def evidence(weight: Array, own_mean: Array, own_scatter: Array) -> Array:
            return normal_log_evidence(prior, weight, (own_mean - mean) / spread, own_scatter / spread**2)

        return evidence(*a) + evidence(*b) - evidence(n, mean, scatter)

    return np.where(deviation > 0, mixed_over_strengths(factor) - LOOKED_UP, 0.0)


# ---------------------------------------------------------------------- by the kind of sums


def _of_shares(name: str, what: str, states: Sequence[Any], a: Array, b: Array) -> ColumnFactors:
    """Weigh two laws of states, from counts (n_states, n_classes)."""
    *factor, common = shares_factor(*with_all_classes(a, b))
    return ColumnFactors(name, what, np.array(factor), _share_figures(states, a, b), float(common))


@singledispatch
def two_laws(a: Any, b: Any, columns: dict[str, Column]) -> Iterator[ColumnFactors]:
    """Weigh two laws against one for each column of two sums; a law with sums of its own has its rule there."""
    raise TypeError(f"sums of the kind {type(a).__name__} have no rule here")


@two_laws.register
def _(a: CategoryCounts, b: CategoryCounts, columns: dict[str, Column]) -> Iterator[ColumnFactors]:
    for j, variable in enumerate(a.schema):
        column = columns.get(variable.name)
        states = tuple(variable.states) if column is None or column.cuts is None else tuple(bin_labels(column))
        counts = [part.of_column(j).astype(np.float64) for part in (a, b)]
        yield _of_shares(variable.name, "values", states, *counts)


@two_laws.register
def _(a: Moments, b: Moments, columns: dict[str, Column]) -> Iterator[ColumnFactors]:
    yield from _normal(a, columns, *((part.weight, part.mean, part.scatter) for part in (a, b)))


@two_laws.register
def _(a: Scatter, b: Scatter, columns: dict[str, Column]) -> Iterator[ColumnFactors]:
    yield from _normal(a, columns, *((part.cells, part.means, part.squares) for part in (a, b)))


def _normal(
    of: ColumnStatistic, columns: dict[str, Column], a: tuple[Array, ...], b: tuple[Array, ...]
) -> Iterator[ColumnFactors]:
    shape = (of.n_classes, of.n_columns)
    here, there = (tuple(np.broadcast_to(x, shape).astype(np.float64) for x in part) for part in (a, b))
    *factor, common = normal_factor(*_numbers_of_all_classes(here, there))  # type: ignore[arg-type]
    of_class = np.array(factor).reshape(shape)
    for j in range(of.n_columns):
        name = of.column_name(j)
        is_log = name in columns and columns[name].family == "lognormal"
        own = [tuple(x[:, j] for x in part) for part in (here, there)]
        figures_of = _number_figures(own[0], own[1], is_log=is_log)
        yield ColumnFactors(name, "values", of_class[:, j], figures_of, float(common[j]))


@two_laws.register
def _(a: BinaryCounts, b: BinaryCounts, columns: dict[str, Column]) -> Iterator[ColumnFactors]:
    for j in range(a.n_columns):
        counts = [np.stack([p.present[:, j], p.absent[:, j]]).astype(np.float64) for p in (a, b)]
        yield _of_shares(a.column_name(j), "values", ("present",), *counts)


@two_laws.register
def _(a: FeatureSums, b: FeatureSums, columns: dict[str, Column]) -> Iterator[ColumnFactors]:
    for j in range(a.n_columns):
        own = [(p.feature_sum[:, j], p.feature_sum.sum(axis=1)) for p in (a, b)]
        counts = [np.stack([x, np.maximum(whole - x, 0)]).astype(np.float64) for x, whole in own]
        yield _of_shares(a.column_name(j), "values", ("share of all",), *counts)


@two_laws.register
def _(a: TextSums, b: TextSums, columns: dict[str, Column]) -> Iterator[ColumnFactors]:
    used = np.flatnonzero((a.present + b.present).any(axis=0))
    if not len(used):
        return
    counts = []
    for part in (a, b):
        present = part.present[:, used].astype(np.float64)
        absent = np.maximum(part.observed[:, None] - present, 0)
        counts.append(np.stack([present, absent]))  # (present or not, n_classes, n_words)
    factor = shares_factor(*with_all_classes(*counts))
    words = [a.vocabulary.states[j] for j in used.tolist()]
    before, after = (count[0] / np.maximum(count.sum(axis=0), 1) for count in counts)

    def figures_of(k: int) -> Figures:
        best = np.argsort(-factor[k], kind="stable")[:3]
        largest = float(np.abs(after[k, best] - before[k, best]).max(initial=0.0))
        first, second = ({words[i]: float(part[k, i]) for i in best.tolist()} for part in (before, after))
        return Figures(first, second, largest, "share")

    *of_class, common = logsumexp(factor, axis=1) - np.log(len(used))
    yield ColumnFactors(a.name, "values", np.array(of_class), figures_of, float(common))


# ---------------------------------------------------------------------- what is told


def _share_figures(states: Sequence[Any], a: Array, b: Array) -> Callable[[int], Figures]:
    """Tell the shares of states from counts (n_states or more, n_classes)."""

    def figures_of(k: int) -> Figures:
        shares = [(part[:, k] / max(part[:, k].sum(), 1e-300))[: len(states)] for part in (a, b)]
        before, after = (dict(zip(states, part.tolist(), strict=True)) for part in shares)
        new = tuple(s for s in states if after[s] > 0 and not before[s] > 0) if len(states) > 1 else ()
        gone = tuple(s for s in states if before[s] > 0 and not after[s] > 0) if len(states) > 1 else ()
        size = float(np.abs(shares[1] - shares[0]).max(initial=0.0))
        return Figures(before, after, size, "share", new, gone)

    return figures_of


def _number_figures(a: tuple[Array, ...], b: tuple[Array, ...], *, is_log: bool) -> Callable[[int], Figures]:
    """Tell mean and deviation, of logarithms the median in the place of the mean."""

    def figures_of(k: int) -> Figures:
        (n, mean, scatter), (m, new_mean, new_scatter) = ([float(x[k]) for x in part] for part in (a, b))
        deviations = [float(np.sqrt(s / max(w, 1.0))) for w, s in ((n, scatter), (m, new_scatter))]
        pooled = float(np.sqrt((scatter + new_scatter) / max(n + m, 1.0)))
        center = ("median", np.exp) if is_log else ("mean", float)
        spread = "deviation of the logarithm" if is_log else "deviation"
        before, after = (
            {center[0]: float(center[1](x)), spread: d} for x, d in zip((mean, new_mean), deviations, strict=True)
        )
        size = abs(new_mean - mean) / pooled if pooled > 0 else 0.0 if mean == new_mean else float("inf")
        return Figures(before, after, size, "deviations")

    return figures_of


def mean_figures(before: Array, after: Array) -> Callable[[int], Figures]:
    """Tell means, and how many times the smaller the larger is."""

    def figures_of(k: int) -> Figures:
        low, high = sorted((float(before[k]), float(after[k])))
        times = high / low if low > 0 else 1.0 if high == low else float("inf")
        return Figures({"mean": float(before[k])}, {"mean": float(after[k])}, times, "times")

    return figures_of
