"""Shares between 0 and 1: a beta law, log P(x | k) = (a_k - 1) log x + (b_k - 1) log(1 - x) - log B(a_k, b_k).

All that the law needs of a class are its weight and the sums of log x and log(1 - x). Its parameters are the most
probable ones under a prior that is worth `alpha` rows spread evenly from 0 to 1, one if nothing is said:

    psi(a) - psi(a + b) = (sum of log x - alpha) / (weight + alpha),    and the same for b with log(1 - x)

A class without a value is spread evenly. Leaving a row out solves these equations anew, without it.

The evidence of a column left open has a prior of its own, which knows where the column is: log a and log b of a class
are normal around those of all rows, with a standard deviation of 1. The integral is that of the normal density that
touches the integrand at its peak (Laplace), whose error falls as one over the rows.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from scipy.special import betainc, betaincinv, betaln, ndtr, polygamma, psi

from bayeswater.data.labels import Labels
from bayeswater.data.matrix import ColumnPieces, DenseTable
from bayeswater.data.reading.column_plan import Column
from bayeswater.data.variable import Variable
from bayeswater.decision.facts import GRID, MOST_POINTS, Fact, RegionFact
from bayeswater.estimate.normal_parameters import or_impossible
from bayeswater.families.cell_sums import CONVERGED, EVEN_ROWS, STEPS, CellSumBlock, CellSums
from bayeswater.families.curve import class_shares, grid_over
from bayeswater.families.family import Settings
from bayeswater.families.numbers import NumberFamily, NumberView
from bayeswater.families.open_numbers import Candidate, OpenColumn, Weighed
from bayeswater.families.two_laws import ColumnFactors, mean_figures, two_laws
from bayeswater.families.view import ColumnView, NumberOptions
from bayeswater.inference.formula import NumberForm, Weights
from bayeswater.inference.linear import Line, require_whole
from bayeswater.phrases import own_reasons
from bayeswater.records import record
from bayeswater.typing import Array

own_reasons(
    {
        "beta": "贝塔",
        "numbers that are not between 0 and 1": "有不在 0 与 1 之间的数",
    }
)

LEAST_ROWS = 1e-6
"""Rows spread evenly of which there is a trace in any case: without it a single value would be infinitely probable."""

PRIOR_DEVIATION = 1.0
"""Standard deviation, in a column left open, of the logarithms of the parameters of a class."""


@record(eq=False)
class ShareSums(CellSums):
    """Weight of the cells, and sums of -log x and -log(1 - x): (n_classes, n_columns) each, none of them negative."""

    from_zero: Array
    from_one: Array

    @classmethod
    def of(cls, matrix: DenseTable, labels: Labels, weight: Array | None) -> Self:
        """Sum some rows, over the cells that are there."""
        return cls.over_cells(matrix, labels, weight, BetaBlock.functions)


def beta_parameters(mean_log: Array, mean_log_rest: Array) -> tuple[Array, Array]:
    """Solve psi(a) - psi(a + b) = mean of log x, and the same for b with the mean of log(1 - x), elementwise.

    >>> a, b = beta_parameters(np.array(psi(2.0) - psi(7.0)), np.array(psi(5.0) - psi(7.0)))
    >>> float(a.round(10)), float(b.round(10))
    (2.0, 5.0)
    """
    near, far = np.exp(mean_log), np.exp(mean_log_rest)
    rest = np.maximum(2 * (1 - near - far), np.finfo(np.float64).tiny)  # over 0 but for rounding (Jensen)
    a, b = 0.5 + near / rest, 0.5 + far / rest
    for _ in range(STEPS):
        both, slope = psi(a + b), polygamma(1, a + b)
        of_a, of_b = psi(a) - both - mean_log, psi(b) - both - mean_log_rest
        slope_a, slope_b = polygamma(1, a), polygamma(1, b)
        det = slope_a * slope_b - slope * (slope_a + slope_b)
        new_a = a - ((slope_b - slope) * of_a + slope * of_b) / det
        new_b = b - ((slope_a - slope) * of_b + slope * of_a) / det
        new_a, new_b = np.clip(new_a, a / 4, 4 * a), np.clip(new_b, b / 4, 4 * b)
        moved = np.max(np.abs(new_a - a) / a, initial=0.0), np.max(np.abs(new_b - b) / b, initial=0.0)
        a, b = new_a, new_b
        if max(moved) <= CONVERGED:
            break
    return a, b


class BetaView(NumberView):
    """A column of shares."""

    block: "BetaBlock"

    def options(self, row: int, chosen: int) -> NumberOptions | None:
        """Give the range in which shares were seen, and where the log-odds bend in it."""
        a, b = self.block.a[:, self.j], self.block.b[:, self.j]
        mean = a / (a + b)
        low, high = self.seen.within(self.column.name, mean)
        weight = np.maximum(self.block.sums.weight[:, self.j], LEAST_ROWS)
        middle = float(np.average(mean, weights=weight))
        spread = float(np.sqrt(np.average(mean * (1 - mean) / (a + b + 1) + (mean - middle) ** 2, weights=weight)))
        if not (low < high and spread > 0):
            return None
        start, is_missing = self.expected(row, middle, low, high)
        with np.errstate(divide="ignore", invalid="ignore"):
            bends = (a - a[chosen]) / (a - a[chosen] + b - b[chosen])
        bends = bends[(bends > low) & (bends < high)]
        return NumberOptions(low, high, start, is_missing, spread, bends, False, False, self.written, self.in_words)


@record
class BetaBlock(CellSumBlock):
    """Sums of shares, and how many rows (n_columns,) spread evenly every class is taken to have had."""

    sums: ShareSums
    even_rows: Array

    view: ClassVar[type[ColumnView]] = BetaView

    @property
    def a(self) -> Array:
        """Parameter of log x: (n_classes, n_columns)."""
        return self.parameters[0]

    @property
    def b(self) -> Array:
        """Parameter of log(1 - x): (n_classes, n_columns)."""
        return self.parameters[1]

    @staticmethod
    def functions(x: Array, *options: Any) -> tuple[Array, Array]:
        """Give -log x and -log(1 - x)."""
        return -np.log(x), -np.log1p(-x)

    @staticmethod
    def read(even_rows: Array, weight: Array, *sums: Array) -> tuple[Array, Array]:
        """Solve for both parameters."""
        even = np.maximum(even_rows, LEAST_ROWS)
        near, far = (-(own + even) / (weight + even) for own in sums)
        return beta_parameters(near, far)

    @staticmethod
    def log_density(x: Array, *parameters: Any) -> Array:
        """Logarithm of the density of shares; 0 for NaN."""
        missing, (a, b) = np.isnan(x), parameters
        near, far = BetaBlock.functions(np.where(missing, 0.5, x))
        return np.where(missing, 0.0, (1 - a) * near + (1 - b) * far - betaln(a, b))

    def likelihood(self, cells: Array, use_loop: bool) -> Array:
        """Log-likelihoods of some rows: (n_rows, n_classes)."""
        missing = np.isnan(cells)
        near, far = (np.where(missing, 0.0, part) for part in self.functions(np.where(missing, 0.5, cells)))
        found: Array = near @ (1 - self.a).T + far @ (1 - self.b).T - ~missing @ betaln(self.a, self.b).T
        return found

    def places(self, j: int) -> Array:
        """Quantiles of all classes."""
        found = grid_over(betaincinv(self.a[:, j], self.b[:, j], class_shares(len(self.a))))
        return found[(found > 0) & (found < 1)]

    def formula(self, j: int) -> Weights:
        """Give the line in log x and log(1 - x)."""
        a, b = self.a[:, j], self.b[:, j]
        return Weights(("log x", "log(1 - x)"), np.stack([a - 1, b - 1]), -betaln(a, b))

    def fact(self, j: int, *, is_unknown: bool) -> Fact | str:
        """Tell the regions of a share."""
        return BetaFact(self.a[:, j], self.b[:, j])

    def drawn_parameters(self, j: int, rng: np.random.Generator, n_draws: int) -> tuple[Array, Array]:
        """Draw log a and log b from the normal density that touches their posterior at its peak."""
        a, b = self.a[:, j], self.b[:, j]
        n = self.sums.weight[:, j] + max(float(self.even_rows[j]), LEAST_ROWS)
        precision = n * _curvature(a, b)  # (2, 2, n_classes)
        root = np.linalg.cholesky(np.linalg.inv(np.moveaxis(precision, 2, 0)))  # (n_classes, 2, 2)
        moved = np.einsum("kij,dkj->dki", root, rng.standard_normal((n_draws, len(a), 2)))
        return a * np.exp(moved[:, :, 0]), b * np.exp(moved[:, :, 1])

    def draw_column(self, codes: Array, j: int, rng: np.random.Generator) -> Array:
        """Draw shares."""
        return draw_shares(self.a[codes, j], self.b[codes, j], rng)

    def line(self, names: Sequence[str], model: str) -> Line:
        """The log-odds are linear in log x and log(1 - x)."""
        features = [*(f"log {name}" for name in names), *(f"log(1 - {name})" for name in names)]
        weights = np.concatenate([self.a.T - 1, self.b.T - 1])

        def design(table: Any) -> Array:
            cells = table.block(slice(0, table.shape[0]))
            require_whole(cells, names, model)
            return -np.hstack(self.functions(cells))

        return Line(features, weights, -betaln(self.a, self.b).sum(axis=1), design)


def _curvature(a: Array, b: Array) -> Array:
    """Second derivatives of -log density by log a and log b, on the average of rows: (2, 2, ...)."""
    both = polygamma(1, a + b)
    cross = -a * b * both
    return np.array([[a**2 * (polygamma(1, a) - both), cross], [cross, b**2 * (polygamma(1, b) - both)]])


@record
class BetaFact(RegionFact):
    """Beta densities: (n_classes,) each."""

    a: Array
    b: Array

    def weakened(self, strength: float) -> "BetaFact | None":
        """Take a power of the densities: a beta density, too, unless it has no finite area."""
        a, b = 1 + strength * (self.a - 1), 1 + strength * (self.b - 1)
        return BetaFact(a, b) if (np.minimum(a, b) > 0).all() else None

    def of_classes(self, which: Array) -> Self:
        """Give the densities of some classes."""
        return replace(self, a=self.a[which], b=self.b[which])

    def grid(self) -> Array:
        """Quantiles of all classes."""
        places = GRID[:: max(1, len(GRID) * len(self.a) // MOST_POINTS)]
        low, high = places[places <= 0, None], places[places > 0, None]
        left, right = betaincinv(self.a, self.b, ndtr(low)), 1 - betaincinv(self.b, self.a, ndtr(-high))
        found = np.unique(np.concatenate([left.ravel(), right.ravel()]))
        return found[(found > 0) & (found < 1)]

    def log_density(self, x: Array) -> Array:
        """Logarithms of the densities: (n_points, n_classes)."""
        return BetaBlock.log_density(x, self.a, self.b)

    def masses(self, switches: Array) -> Array:
        """Mass of every class between neighbouring points, and beyond the outer ones: (n_switches + 1, n_classes)."""
        x = np.concatenate([[0.0], switches, [1.0]])[:, None]
        left, right = betainc(self.a, self.b, x), betainc(self.b, self.a, 1 - x)
        # On the right of the middle, from the right: a difference of two numbers next to 1 has lost its digits.
        return np.where(left[:-1] > 0.5, right[:-1] - right[1:], left[1:] - left[:-1])


class BetaCandidate(Candidate):
    """Shares."""

    family = "beta"
    title = "beta"
    is_density = True

    def sums(self, column: Any) -> tuple[Array, ...]:
        """Weight and sums of the logarithms of the numbers between 0 and 1."""
        found: tuple[Array, ...] = column.share_sums()
        return found

    def gathered(
        self, classes: Variable, names: tuple[str, ...] | None, sums: Sequence[Array], matrix: DenseTable | ColumnPieces
    ) -> ShareSums:
        """Make the statistic of them."""
        return ShareSums(classes, names, *sums)

    def why_not(self, column: OpenColumn, *, alone: bool) -> str | None:
        """Say that numbers are none between 0 and 1."""
        inside = (column.occupied.first > 0) & (column.occupied.last < 1)
        return None if inside.all() else "numbers that are not between 0 and 1" if alone else ""

    def weighed(self, column: OpenColumn) -> Weighed:
        """Log-evidence of the shares."""
        sums: ShareSums = column.own(self.family)
        parts = (sums.weight[:, 0].astype(np.float64), sums.from_zero[:, 0], sums.from_one[:, 0])
        return Weighed(or_impossible(beta_log_evidence(*parts).sum()))


def beta_log_evidence(n: Array, from_zero: Array, from_one: Array) -> Array:
    """Log-evidence of the shares of each class by Laplace's method: (n_classes,).

    log a and log b are normal around those of all classes together.
    """
    n_all = n.sum()
    center = np.log(beta_parameters(-np.array(from_zero.sum() / n_all), -np.array(from_one.sum() / n_all)))
    at = np.repeat(center[:, None], len(n), axis=1)  # log a and log b of each class: (2, n_classes)
    sums, precision = np.stack([from_zero, from_one]), PRIOR_DEVIATION**-2
    for _ in range(STEPS):
        a, b = np.exp(at)
        both = psi(a + b)
        slope = np.exp(at) * (n * (both - np.stack([psi(a), psi(b)])) - sums) - precision * (at - center[:, None])
        # The expected curvature, which is never negative, takes every step uphill; both agree at the peak but for
        # a term of the slope itself, which is taken into account below.
        matrix = np.moveaxis(n * _curvature(a, b) + precision * np.eye(2)[:, :, None], 2, 0)
        step = np.clip(np.linalg.solve(matrix, slope.T[:, :, None])[:, :, 0].T, -1.0, 1.0)
        at = at + step
        if np.abs(step).max(initial=0.0) <= CONVERGED:
            break
    a, b = np.exp(at)
    exact = n * _curvature(a, b) + precision * np.eye(2)[:, :, None]
    first = np.exp(at) * (n * (psi(a + b) - np.stack([psi(a), psi(b)])) - sums)
    exact[0, 0], exact[1, 1] = exact[0, 0] - first[0], exact[1, 1] - first[1]
    peak = (1 - a) * from_zero + (1 - b) * from_one - n * betaln(a, b)
    prior = -0.5 * precision * ((at - center[:, None]) ** 2).sum(axis=0) + np.log(precision)
    _, log_det = np.linalg.slogdet(np.moveaxis(exact, 2, 0))
    return peak + prior - 0.5 * log_det


class BetaShares(NumberFamily):
    """Shares between 0 and 1."""

    key: ClassVar = "beta"
    families: ClassVar = ("beta",)
    statistic: ClassVar = ShareSums
    takes: ClassVar = {"beta": "shares over 0 and under 1"}
    candidates: ClassVar = (BetaCandidate(),)

    def impossible(self, column: Column, values: Array) -> Array:
        """Mark what is no share."""
        return (values <= 0) | (values >= 1)

    def cell_form(self, sums: Any, j: int) -> NumberForm:
        """Cells are shares."""
        return NumberForm(low=0.0, high=1.0)

    def read(self, sums: ShareSums, settings: Settings) -> BetaBlock:
        """Read the parameters."""
        what = "the rows spread evenly that every class is taken to have had"
        return BetaBlock(sums, self.pseudo_counts(settings, EVEN_ROWS, what))

    def tables(self, sums: ShareSums, settings: Settings, classes: Sequence[Any]) -> dict[str, dict[str, Any]]:
        """Give both parameters in each class, and the mean."""
        block = self.read(sums, settings)
        return {
            name: {
                "class": list(classes),
                f"mean({name})": block.a[:, j] / (block.a[:, j] + block.b[:, j]),
                f"a({name})": block.a[:, j],
                f"b({name})": block.b[:, j],
            }
            for j, name in enumerate(self.names)
        }

    def n_parameters(self, sums: ShareSums) -> int:
        """Two for each class and column."""
        return 2 * sums.n_classes * len(self.columns)

    def sample(self, sums: ShareSums, settings: Settings, codes: Array, rng: np.random.Generator) -> dict[str, Any]:
        """Draw shares."""
        block = self.read(sums, settings)
        return dict(zip(self.names, draw_shares(block.a[codes], block.b[codes], rng).T, strict=True))


def draw_shares(a: Array, b: Array, rng: np.random.Generator) -> Array:
    """Draw shares over 0 and under 1, also where a float64 would be either."""
    return np.clip(rng.beta(a, b), np.finfo(np.float64).tiny, 1 - np.finfo(np.float64).epsneg)


@two_laws.register
def _(a: ShareSums, b: ShareSums, columns: dict[str, Column]) -> Iterator[ColumnFactors]:
    for j in range(a.n_columns):
        parts = [np.stack([p.weight[:, j], p.from_zero[:, j], p.from_one[:, j]]).astype(float) for p in (a, b)]
        factor = np.zeros(a.n_classes)
        means = np.zeros((2, a.n_classes))
        for k in range(a.n_classes):
            own = np.stack([part[:, k] for part in parts], axis=1)  # (3, 2): both sets of rows
            if (own[0] > 0).all():
                factor[k] = beta_log_evidence(*own).sum() - beta_log_evidence(*own.sum(axis=1, keepdims=True)).sum()
                shapes = [beta_parameters(np.array(-z / n), np.array(-o / n)) for n, z, o in own.T]
                means[:, k] = [float(p / (p + q)) for p, q in shapes]
        yield ColumnFactors(a.column_name(j), "values", factor, mean_figures(*means))
