"""Numbers on a circle, such as hours of the day, months and angles: a von Mises law.

    log P(x | k) = kappa_k (cos(t - mu_k) - 1) - log(period e^-kappa_k I_0(kappa_k)),    t = 2 pi x / period

A column says its period, ``{"period": 24}``; 23 is then as near to 1 as 3 is. All that the law needs of a class are its
weight and the sums of cos t and sin t, which are kept as sums of 1 + cos t and 1 + sin t. Parameters are the most
probable ones under a prior that is worth `alpha` rows spread evenly over the circle, one if nothing is said: mu is the
direction of the sums, and kappa solves

    I_1(kappa) / I_0(kappa) = length of the sums / (weight + alpha)

A class without a value is spread evenly. Leaving a row out solves this anew, without it.

Where the period of a column left open is known, that of times of day for one, its evidence is weighed with those of
other laws. It is an integral over kappa alone, since over all directions it is closed:

    P(x_1 .. x_n | k) = period^-n  mean over log kappa of I_0(kappa length) / I_0(kappa)^n

All kappa from 0.01 to 10 000 are equally probable on a logarithmic scale; those are left out whose densities are
narrower than the spacing of the values.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from scipy.special import i0e, i1e, logsumexp, ndtri

from bayeswater.data.labels import Labels
from bayeswater.data.matrix import DenseTable
from bayeswater.data.reading.column_plan import Column
from bayeswater.data.reading.number_table import NumberTable
from bayeswater.data.reading.raw_table import RawTable
from bayeswater.decision.facts import GRID, MOST_POINTS, Fact, RegionFact
from bayeswater.estimate.normal_parameters import or_impossible
from bayeswater.families.cell_sums import CONVERGED, EVEN_ROWS, STEPS, CellSumBlock, CellSums
from bayeswater.families.curve import ColumnCurve, class_shares, grid_over
from bayeswater.families.family import Settings
from bayeswater.families.numbers import NumberFamily, NumberView
from bayeswater.families.open_numbers import Candidate, OpenColumn, Weighed
from bayeswater.families.two_laws import ColumnFactors, Figures, two_laws
from bayeswater.families.view import ColumnView, NumberOptions
from bayeswater.inference.formula import Circle
from bayeswater.inference.linear import Line, require_whole
from bayeswater.phrases import own_reasons
from bayeswater.records import record
from bayeswater.typing import Array

own_reasons(
    {
        "von_mises": "冯·米塞斯（圆周）",
        "von Mises": "冯·米塞斯（圆周）",
        "no period": "没有周期",
        "too many different numbers": "不同的数太多",
    }
)

MOST_KAPPA = 1e8
"""Of values that are all equal: a standard deviation of a ten thousandth of a radian."""

LARGE_KAPPA = 1e4
"""Where the slope of the ratio, 1 - ratio / kappa - ratio^2, has lost its digits, it is 1 / (2 kappa^2)."""

KAPPAS = np.geomspace(0.01, 1e4, 241)
"""Concentrations that are equally probable before looking."""

NODES = 12
"""Places at which a density is looked at to integrate it from one point of a fine grid to the next."""

CIRCLE = np.linspace(-np.pi, np.pi, 181)
"""Places that are looked at wherever the classes are."""


@record(eq=False)
class CircleSums(CellSums):
    """Weight of the cells, and sums of 1 + cos t and 1 + sin t: (n_classes, n_columns) each, none of them negative."""

    cosines: Array
    sines: Array

    @classmethod
    def of(cls, matrix: DenseTable, labels: Labels, weight: Array | None, period: Array) -> Self:
        """Sum some rows of numbers with periods (n_columns,), over the cells that are there."""
        return cls.over_cells(matrix, labels, weight, lambda block: VonMisesBlock.functions(block, period))


def concentration(length: Array) -> Array:
    """Solve I_1(kappa) / I_0(kappa) = length, elementwise, for lengths from 0 to 1.

    >>> concentration(np.array([0.0, i1e(2.0) / i0e(2.0), 1.0])).round(10).tolist()
    [0.0, 2.0, 100000000.0]
    """
    inside = np.minimum(np.where(length > 0, length, 0.5), 1 - 0.5 / MOST_KAPPA)
    kappa = inside * (2 - inside**2) / (1 - inside**2)
    for _ in range(STEPS):
        ratio, is_large = i1e(kappa) / i0e(kappa), kappa > LARGE_KAPPA
        slope = np.where(is_large, 0.5 / np.where(is_large, kappa, 1.0) ** 2, 1 - ratio / kappa - ratio**2)
        new = np.clip(kappa - (ratio - inside) / slope, kappa / 4, 4 * kappa)
        moved = np.max(np.abs(new - kappa) / kappa, initial=0.0)
        kappa = new
        if moved <= CONVERGED:
            break
    return np.where(length > 0, np.minimum(kappa, MOST_KAPPA), 0.0)


class VonMisesCandidate(Candidate):
    """Numbers on a circle, where its period is known; the histogram has each of them, and the sums over them."""

    family = "von_mises"
    title = "von Mises"
    is_density = True

    def why_not(self, column: OpenColumn, *, alone: bool) -> str | None:
        """Say that no period is known, or that there are more different numbers than a histogram keeps apart."""
        if not column.options:
            return "no period" if alone else ""
        return None if column.occupied.are_values else "too many different numbers"

    def weighed(self, column: OpenColumn) -> Weighed:
        """Log-evidence of the numbers."""
        sums, period = self._sums(column), dict(column.options)["period"]
        hidden = float(np.average(column.occupied.hidden_variance, weights=column.occupied.weight))
        with np.errstate(divide="ignore"):
            most = 1 / (hidden * (2 * np.pi / period) ** 2)
        length = np.hypot(sums.cosines - sums.weight, sums.sines - sums.weight)[:, 0]
        return Weighed(or_impossible(circle_log_evidence(sums.weight[:, 0], length, period, most).sum()))

    def settled(self, column: OpenColumn, cuts: tuple[float, ...] | None, class_count: Array) -> CircleSums:
        """Take the sums of the numbers in the histogram."""
        return self._sums(column)

    def _sums(self, column: OpenColumn) -> CircleSums:
        angle = 2 * np.pi * column.histogram.first / dict(column.options)["period"]
        sums = (column.histogram.class_sums(1 + part)[:, None] for part in (np.cos(angle), np.sin(angle)))
        return CircleSums(column.profile.classes, (column.name,), column.n[:, None], *sums)


def circle_log_evidence(n: Array, length: Array, period: float, most: float = np.inf) -> Array:
    """Log-evidence of numbers on a circle, of classes of n rows whose sums have a length: (n_classes,).

    >>> float(np.exp(circle_log_evidence(np.array([1]), np.array([1.0]), 24.0))[0].round(12)) == round(1 / 24, 12)
    True
    """
    fits = KAPPAS[:, None] <= most
    log_bessel = np.log(i0e(KAPPAS)) + KAPPAS
    far = KAPPAS[:, None] * length
    law = np.log(i0e(far)) + far - n * log_bessel[:, None]
    found: Array = logsumexp(np.where(fits, law, -np.inf), axis=0) - np.log(len(KAPPAS)) - n * np.log(period)
    return found


class CircleView(NumberView):
    """A column of numbers on a circle."""

    block: "VonMisesBlock"

    def options(self, row: int, chosen: int) -> NumberOptions:
        """Give the whole circle; the log-odds of two classes are a cosine, which bends twice."""
        mu, kappa, period = self.block.mu[:, self.j], self.block.kappa[:, self.j], float(self.block.period[self.j])
        pull = kappa * np.exp(1j * mu)
        turn = np.angle(pull[chosen] - np.delete(pull, chosen))
        start, is_missing = self.expected(row, period / 2, 0.0, period)
        low, high = start - period / 2, start + period / 2  # half a turn each way, over the end of the circle too
        bends = low + (np.concatenate([turn, turn + np.pi]) * period / (2 * np.pi) - low) % period
        return NumberOptions(
            *(low, high, start, is_missing, period / 4, bends),
            written=lambda number: self.written(_on_circle(number, period)),
            in_words=lambda number, side: self.in_words(_on_circle(number, period), side),
        )


def _on_circle(number: float, period: float) -> float:
    """Give a number beyond the end of a circle its place on it, without the digits that the subtraction brings."""
    return float(f"{number % period:.12g}")


@record
class VonMisesBlock(CellSumBlock):
    """Sums of cosines and sines, the periods, and how many rows spread evenly every class has: (n_columns,) each."""

    sums: CircleSums
    period: Array
    even_rows: Array

    view: ClassVar[type[ColumnView]] = CircleView

    @property
    def mu(self) -> Array:
        """Direction of each class and column, in radians: (n_classes, n_columns)."""
        return self.parameters[0]

    @property
    def kappa(self) -> Array:
        """Concentration of each class and column: (n_classes, n_columns)."""
        return self.parameters[1]

    def options(self, j: int) -> tuple[float]:
        """Give the period."""
        return (self.period[j],)

    @staticmethod
    def functions(x: Array, *options: Any) -> tuple[Array, Array]:
        """Give 1 + cos t and 1 + sin t."""
        angle = 2 * np.pi * x / options[0]
        return 1 + np.cos(angle), 1 + np.sin(angle)

    @staticmethod
    def read(even_rows: Array, weight: Array, *sums: Array) -> tuple[Array, Array]:
        """Read the direction, and solve for the concentration."""
        (x, y), n = (own - weight for own in sums), weight + even_rows
        length = np.hypot(x, y) / np.where(n > 0, n, 1.0)
        return np.arctan2(y, x), concentration(np.where(length > np.finfo(np.float64).eps, length, 0.0))

    @staticmethod
    def log_density(x: Array, *parameters: Any) -> Array:
        """Logarithm of the density of numbers by direction, concentration and period; 0 for NaN."""
        missing, (mu, kappa, period) = np.isnan(x), parameters
        half = np.pi * np.where(missing, 0.0, x) / period - mu / 2  # cos t - 1 = -2 sin(t / 2)^2 keeps its digits
        return np.where(missing, 0.0, -2 * kappa * np.sin(half) ** 2 - np.log(period * i0e(kappa)))

    def places(self, j: int) -> Array:
        """Numbers around the directions of all classes, and all around."""
        period = self.period[j]
        near = self.mu[:, j] + ndtri(class_shares(len(self.mu))) / np.sqrt(np.maximum(self.kappa[:, j], 1.0))
        ends = np.broadcast_to([[0.0], [period]], (2, near.shape[1]))
        return grid_over(np.concatenate([near % (2 * np.pi) * period / (2 * np.pi), ends]))

    def curve(self, column: Column, j: int) -> ColumnCurve:
        """Give the density in each class, over one turn."""
        return replace(super().curve(column, j), period=float(self.period[j]))

    def formula(self, j: int) -> Circle:
        """Give the densities."""
        kappa = self.kappa[:, j]
        return Circle(float(self.period[j]), self.mu[:, j], kappa, -np.log(i0e(kappa)))

    def fact(self, j: int, *, is_unknown: bool) -> Fact | str:
        """Tell the regions of a number on the circle."""
        return CircleFact(self.mu[:, j], self.kappa[:, j])

    def drawn_parameters(self, j: int, rng: np.random.Generator, n_draws: int) -> tuple[Array, Array]:
        """Draw the sums of cosines and sines from the normal density that their posterior comes to with many rows.

        The mean of cos and sin along and across the direction of a class has variances 1 - A / kappa - A^2 and
        A / kappa of one row, with A = I_1 / I_0.
        """
        mu, kappa = self.mu[:, j], self.kappa[:, j]
        n = np.maximum(self.sums.weight[:, j] + self.even_rows[j], 1.0)
        ratio = i1e(kappa) / i0e(kappa)
        across = np.where(kappa > 0, ratio / np.where(kappa > 0, kappa, 1.0), 0.5)
        along = np.maximum(1 - across - ratio**2, 0.0)
        noise = rng.standard_normal((2, n_draws, len(mu)))
        x, y = ratio + noise[0] * np.sqrt(along / n), noise[1] * np.sqrt(across / n)
        return mu + np.arctan2(y, x), concentration(np.minimum(np.hypot(x, y), 1.0))

    def draw_column(self, codes: Array, j: int, rng: np.random.Generator) -> Array:
        """Draw numbers."""
        return draw_on_circle(self.mu[codes, j], self.kappa[codes, j], self.period[j], rng)

    def line(self, names: Sequence[str], model: str) -> Line:
        """The log-odds are linear in the cosine and the sine."""
        features = [*(f"cos {name}" for name in names), *(f"sin {name}" for name in names)]
        weights = np.concatenate([(self.kappa * np.cos(self.mu)).T, (self.kappa * np.sin(self.mu)).T])
        intercepts = -(self.kappa + np.log(self.period * i0e(self.kappa))).sum(axis=1)

        def design(table: Any) -> Array:
            cells = table.block(slice(0, table.shape[0]))
            require_whole(cells, names, model)
            angle = 2 * np.pi * cells / self.period
            return np.hstack([np.cos(angle), np.sin(angle)])

        return Line(features, weights, intercepts, design)


@record
class CircleFact(RegionFact):
    """Von Mises densities of angles from -pi to pi: (n_classes,) each."""

    mu: Array
    kappa: Array

    def weakened(self, strength: float) -> "CircleFact":
        """Take a power of the densities."""
        return replace(self, kappa=strength * self.kappa)

    def of_classes(self, which: Array) -> Self:
        """Give the densities of some classes."""
        return replace(self, mu=self.mu[which], kappa=self.kappa[which])

    def grid(self) -> Array:
        """Angles around the directions of all classes, and all around."""
        places = GRID[:: max(1, len(GRID) * len(self.mu) // MOST_POINTS), None]
        near = self.mu + places / np.sqrt(np.maximum(self.kappa, 1.0))
        return np.unique(np.concatenate([CIRCLE, np.angle(np.exp(1j * near)).ravel()]))

    def log_density(self, x: Array) -> Array:
        """Logarithms of the densities: (n_points, n_classes)."""
        return -2 * self.kappa * np.sin((x - self.mu) / 2) ** 2 - np.log(2 * np.pi * i0e(self.kappa))

    def masses(self, switches: Array) -> Array:
        """Mass of every class between neighbouring points, and beyond the outer ones: (n_switches + 1, n_classes)."""
        points = np.unique(np.concatenate([self.grid(), switches]))
        half = np.diff(points)[:, None] / 2
        nodes, weights = np.polynomial.legendre.leggauss(NODES)
        inner = (points[:-1, None] + half + half * nodes).ravel()[:, None]
        density = np.exp(self.log_density(inner)).reshape(len(half), NODES, -1)
        pieces = half * np.einsum("pqk,q->pk", density, weights)
        region = np.searchsorted(switches, points[:-1], side="right")
        mass = np.zeros((len(switches) + 1, len(self.mu)))
        np.add.at(mass, region, pieces)
        return mass / mass.sum(axis=0)


class VonMises(NumberFamily):
    """Numbers on a circle."""

    key: ClassVar = "von_mises"
    families: ClassVar = ("von_mises",)
    statistic: ClassVar = CircleSums
    candidates: ClassVar = (VonMisesCandidate(),)
    options: ClassVar = {"period": "after how much its numbers begin anew, 24 for hours"}
    is_ranged: ClassVar = False  # the whole circle can be

    @property
    def period(self) -> Array:
        """Periods of the columns: (n_columns,)."""
        return np.array([dict(column.options)["period"] for column in self.columns])

    def encode(self, raw: RawTable, known: Any, settings: Settings, *, learning: bool) -> NumberTable:
        """Read the numbers, each brought to the first turn."""
        halves = np.float16  # may not reach a period, such as the seconds of a day
        read = self.numbers(raw, settings)
        numbers = [values.astype(np.float32) if values.dtype == halves else values for values in read]
        columns = tuple(np.mod(values, period) for values, period in zip(numbers, self.period.tolist(), strict=True))
        return NumberTable(columns, self.names, (False,) * len(columns))

    def count(self, table: NumberTable, labels: Labels, weight: Array | None, settings: Settings) -> CircleSums:
        """Sum weights, cosines and sines."""
        return CircleSums.of(table, labels, weight, self.period)

    def read(self, sums: CircleSums, settings: Settings) -> VonMisesBlock:
        """Read directions and concentrations."""
        what = "the rows spread evenly that every class is taken to have had"
        return VonMisesBlock(sums, self.period, self.pseudo_counts(settings, EVEN_ROWS, what))

    def tables(self, sums: CircleSums, settings: Settings, classes: Sequence[Any]) -> dict[str, dict[str, Any]]:
        """Give the direction, in the unit of the column, and the concentration in each class."""
        block = self.read(sums, settings)
        return {
            name: {
                "class": list(classes),
                f"direction({name})": block.mu[:, j] % (2 * np.pi) * block.period[j] / (2 * np.pi),
                f"concentration({name})": block.kappa[:, j],
            }
            for j, name in enumerate(self.names)
        }

    def n_parameters(self, sums: CircleSums) -> int:
        """Two for each class and column."""
        return 2 * sums.n_classes * len(self.columns)

    def sample(self, sums: CircleSums, settings: Settings, codes: Array, rng: np.random.Generator) -> dict[str, Any]:
        """Draw numbers of the first turn."""
        block = self.read(sums, settings)
        return dict(
            zip(self.names, draw_on_circle(block.mu[codes], block.kappa[codes], block.period, rng).T, strict=True)
        )


def draw_on_circle(mu: Array, kappa: Array, period: Array | float, rng: np.random.Generator) -> Array:
    """Draw a number from 0 to the period for each direction and concentration, of any shape."""
    return rng.vonmises(mu, kappa) % (2 * np.pi) * period / (2 * np.pi)


@two_laws.register
def _(a: CircleSums, b: CircleSums, columns: dict[str, Column]) -> Iterator[ColumnFactors]:
    for j in range(a.n_columns):
        at = [(p.cosines[:, j] - p.weight[:, j]) + 1j * (p.sines[:, j] - p.weight[:, j]) for p in (a, b)]
        n = [p.weight[:, j].astype(np.float64) for p in (a, b)]
        both = circle_log_evidence(n[0] + n[1], np.abs(at[0] + at[1]), 1.0)
        factor = sum(circle_log_evidence(w, np.abs(z), 1.0) for w, z in zip(n, at, strict=True)) - both
        period = dict(columns[a.column_name(j)].options).get("period", 1.0) if a.column_name(j) in columns else 1.0
        turns = [np.angle(z) / (2 * np.pi) % 1.0 for z in at]
        yield ColumnFactors(a.column_name(j), "values", np.asarray(factor), _angle_figures(period, *turns))


def _angle_figures(period: float, before: Array, after: Array) -> Callable[[int], Figures]:
    """Tell mean directions, and which part of the circle lies between them."""

    def figures_of(k: int) -> Figures:
        apart = abs(float(after[k] - before[k]))
        first, second = ({"mean": float(turn[k]) * period} for turn in (before, after))
        return Figures(first, second, min(apart, 1 - apart), "of the circle")

    return figures_of
