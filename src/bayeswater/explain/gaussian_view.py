"""Columns of Gaussian classes, as an explanation looks at them.

Columns that are not independent have no terms of their own: what one of them says hangs on the others. So a change of
one cell counts by the density of the whole row.
"""

from collections.abc import Callable
from functools import cached_property

import numpy as np

from bayeswater.data.matrix import DenseTable
from bayeswater.data.reading.column_plan import Column
from bayeswater.data.reading.raw_table import RawTable
from bayeswater.explain.explanations import Explanations, Terms
from bayeswater.explain.turning import Landscape
from bayeswater.families.numbers import all_digits
from bayeswater.families.view import CellUse, ColumnView, LastBlock, NumberOptions
from bayeswater.inference.bends import Bowls
from bayeswater.inference.gaussian_full import FullJoint, full_terms, independent_terms
from bayeswater.inference.normal_joint import IndependentJoint
from bayeswater.records import record
from bayeswater.statistics.sums import SeenRanges
from bayeswater.typing import Array

FAR = 1e6
"""Squared distance in standard deviations from which on changed rows are scored anew."""


@record
class NumberRows:
    """Rows of numbers."""

    values: Array

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.values)

    def block(self, rows: slice) -> Array:
        """Give some rows."""
        return self.values[rows]


@record
class SharedTerms(Terms):
    """Log-likelihoods of rows, shared out over the columns by a stated rule."""

    share_out: Callable[[Array], Array]  # of rows (n_rows, n_columns): (n_rows, n_columns, n_classes)

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns."""
        return self.groups[""]

    def of(self, rows: slice) -> Array:
        """Terms of some rows: (n_rows, n_columns, n_classes)."""
        return self.share_out(self.table.block(rows))  # type: ignore[arg-type]


@record
class GaussianView(ColumnView):
    """A column of numbers among others."""

    spread: float  # standard deviation of all rows
    means: Array  # (n_classes,)

    def cell(self, row: int) -> CellUse:
        """Tell what became of a cell."""
        return CellUse.MISSING if np.isnan(self.cells(row)[0, self.j]) else CellUse.READ

    def options(self, row: int, chosen: int) -> None:
        """Say nothing: what a number does hangs on the others (`GaussianLandscape`)."""

    def terms_at(self, row: int, cells: Array) -> Array:
        """Refuse, for the same reason."""
        raise AssertionError("a column of Gaussian classes has no terms of its own")


@record
class GaussianLandscape(Landscape):
    """One row of numbers, and what would become of its log-joints if some of them were others.

    Precisions P of the classes (inverses of their covariances, or of the part whose cells are there) give all of it:
    moved by u in column i and by w in column j, the squared distance from a mean grows by

        2 (P (x - m))_i u + P_ii u^2 + 2 (P (x - m))_j w + P_jj w^2 + 2 P_ij u w
    """

    views: tuple[GaussianView, ...]
    terms: SharedTerms

    @cached_property
    def _x(self) -> Array:
        return self.views[0].cells(self.row)[0]

    @cached_property
    def log_joint(self) -> Array:
        """Log-joints of the row as it is, up to what all classes share: (n_classes,)."""
        return self.terms.joint.log_prior + self.terms.of(slice(self.row, self.row + 1))[0].sum(axis=0)

    @cached_property
    def _precisions(self) -> "Precisions":
        with np.errstate(over="ignore"):  # of columns that hardly vary: see `_is_far`
            return precisions(self.terms.joint, self._x)  # type: ignore[arg-type]

    @cached_property
    def options(self) -> list[NumberOptions | None]:
        """What could be in each column; nothing where the row has no number."""
        return [self._options(j, view) for j, view in enumerate(self.views)]

    def _options(self, j: int, view: GaussianView) -> NumberOptions | None:
        x, p = float(self._x[j]), self._precisions
        low, high = view.seen.within(view.column.name, view.means[np.isfinite(view.means)])
        if np.isnan(x) or not (low < high and view.spread > 0 and (p.curvature[:, j].any() or p.slope[:, j].any())):
            return None
        bends = x + self._bowls(j).bends(self.chosen, view.spread)
        bends = bends[(bends > low) & (bends < high)]

        def in_words(number: float, side: str) -> str:
            return view.language.say(side, value=all_digits(number))

        return NumberOptions(low, high, x, False, view.spread, bends, in_words=in_words)

    def _bowls(self, j: int) -> Bowls:
        p = self._precisions
        distance = p.distance if p.whitening is not None else p.distance[:, j]
        return Bowls(distance, p.slope[:, j], p.curvature[:, j], p.degrees, p.n_directions)

    def is_known(self, j: int) -> bool:
        """Whether the cell in column j is known."""
        return not np.isnan(self._x[j])

    def with_cells(self, j: int, cells: Array) -> Array:
        """Log-joints with each of some numbers in column j."""
        if self._is_far:
            return self._scored({j: cells})
        bowls = self._bowls(j)
        return self._fallen(bowls, bowls.at(cells - self._x[j]))

    def with_pairs(self, i: int, cells: Array, j: int, others: Array) -> Array:
        """Log-joints with pairs of numbers in columns i and j."""
        if self._is_far:
            return self._scored({i: cells, j: others})
        first, second, u, w = self._bowls(i), self._bowls(j), cells - self._x[i], others - self._x[j]
        whitening = self._precisions.whitening
        if whitening is None:
            return self._fallen(first, first.at(u)) + second.fall(second.at(w)) - second.fall(second.distance[None])
        between = (whitening[:, i] * whitening[:, j]).sum(axis=1)
        cross = 2 * (u * w)[:, None] * between
        return self._fallen(first, first.at(u) + second.at(w) - first.distance + cross)

    @cached_property
    def _is_far(self) -> bool:
        """Whether squares are too large: differences from them would lose digits that count, or they have none."""
        return bool((self._precisions.distance > FAR).any() or not np.isfinite(self._precisions.curvature).all())

    def _scored(self, cells: dict[int, Array]) -> Array:
        """Score the changed rows themselves."""
        rows = np.repeat(self._x[None], len(next(iter(cells.values()))), axis=0)
        for j, own in cells.items():
            rows[:, j] = own
        return self.terms.joint.of(rows, False)  # type: ignore[arg-type]

    def _fallen(self, bowls: Bowls, distance: Array) -> Array:
        fallen = bowls.fall(distance) - bowls.fall(bowls.distance[None])
        return np.where(np.isneginf(self.log_joint), -np.inf, self.log_joint + fallen)


@record
class Precisions:
    """Squared distances of a row from the means (n_classes,), their slopes and curvatures (n_classes, n_columns).

    `whitening` (n_classes, n_columns, n_directions) is a root of the precisions. Where columns are independent there is
    none, and every column has a distance of its own. So it is where classes share a covariance: what is left of the
    distances without what all have in common, in which they would drown far away, is a line in each number.
    """

    distance: Array
    slope: Array
    curvature: Array
    degrees: Array
    n_directions: int
    whitening: Array | None


def precisions(joint: FullJoint | IndependentJoint, x: Array) -> Precisions:
    """Look at the densities from a row (n_columns,)."""
    p, shape = joint.densities, (joint.densities.n_classes, len(x))
    if isinstance(joint, IndependentJoint):
        own = joint.columns.parameters
        there = own.has_factor & ~np.isnan(x) & (own.variance > 0)
        curvature = np.where(there, 1 / np.where(there, own.variance, 1.0), 0.0)
        own_of = p.blend.has_density
        if np.isinf(p.degrees).all() and (curvature[own_of] == curvature[own_of][:1]).all():
            return _lines(np.where(there, p.blend.yardstick.center - own.mean, 0.0) * curvature, p.degrees)
        away = np.where(there, x - own.mean, 0.0)
        return Precisions(away**2 * curvature, away * curvature, curvature, p.degrees, 1, None)
    part = joint.marginal(~np.isnan(x))
    whitening = np.zeros((*shape, part.whitening.shape[2]))
    whitening[:, part.seen] = part.whitening
    if np.isinf(p.degrees).all() and joint.is_shared:
        away = np.where(np.isnan(x), 0.0, p.blend.yardstick.center - p.mean)
        return _lines(away @ whitening[0] @ whitening[0].T, p.degrees)
    away = np.where(np.isnan(x), 0.0, x - p.mean)
    z = np.einsum("kc,kcd->kd", away, whitening)
    slope = np.einsum("kcd,kd->kc", whitening, z)
    return Precisions(
        (z**2).sum(axis=1), slope, (whitening**2).sum(axis=2), p.degrees, part.whitening.shape[2], whitening
    )


def _lines(slope: Array, degrees: Array) -> Precisions:
    nothing = np.zeros_like(slope)
    return Precisions(nothing, slope, nothing, degrees, 1, None)


@record(repr=False, eq=False)
class GaussianExplanations(Explanations):
    """An `Explanation` for each row, of numbers that depend on one another."""

    def _landscape(self, i: int, chosen: int) -> Landscape:
        return GaussianLandscape(i, chosen, self._views, self._terms)  # type: ignore[arg-type]


def gaussian_terms(
    joint: FullJoint | IndependentJoint, table: DenseTable, names: list[str], raw: RawTable, seen: SeenRanges
) -> tuple[SharedTerms, tuple[GaussianView, ...]]:
    """Make the log-likelihoods of some rows ready for an explanation, column by column."""
    rows = NumberRows(table.block(slice(0, table.shape[0])).astype(np.float64))
    sources = names if set(names) == set(raw.names) else raw.names
    columns = tuple(Column(name, source, "gaussian") for name, source in zip(names, sources, strict=True))

    def share_out(block: Array) -> Array:
        if isinstance(joint, FullJoint):
            return full_terms(joint, block)
        return independent_terms(joint.densities, block)

    measure, means = joint.densities.blend.yardstick, joint.densities.mean
    means = np.where(joint.densities.blend.has_density[:, None], means, np.nan)
    blocks, deviation = LastBlock(), measure.scale * np.sqrt(np.diagonal(measure.total))
    views = tuple(
        GaussianView(column, joint, rows, j, raw, seen, blocks, float(deviation[j]), means[:, j])
        for j, column in enumerate(columns)
    )
    return SharedTerms(joint, rows, {"": columns}, share_out), views  # type: ignore[arg-type]
