"""Columns of Gaussian classes, as an explanation looks at them.

Columns that are not independent have no terms of their own: what one of them says hangs on the others. So a change of
one cell is judged by the density of the whole row.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import isfinite
from typing import Any

import numpy as np

from bayeswater.data.column_plan import Column
from bayeswater.data.matrix import DenseTable
from bayeswater.data.raw_table import RawTable
from bayeswater.explain.terms import Terms
from bayeswater.explain.view import Cell, Change, ColumnView, Rest
from bayeswater.explain.wording import shown
from bayeswater.inference.gaussian_full import FullJoint
from bayeswater.inference.gaussian_terms import full_terms, independent_terms
from bayeswater.inference.independent import IndependentJoint
from bayeswater.typing import Array

SEARCHED_DEVIATIONS = 30.0
STEPS = 600
"""How far from the mean of all rows, in standard deviations, and at how many places a change is searched for."""


@dataclass(frozen=True)
class Rows:
    """Rows of numbers."""

    values: Array

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.values)

    def block(self, rows: slice) -> Array:
        """Give some rows."""
        return self.values[rows]


@dataclass(frozen=True)
class GaussianTerms(Terms):
    """Log-likelihoods of rows, shared out over the columns by a stated rule."""

    share_out: Callable[[Array], Array]  # of rows (n_rows, n_columns): (n_rows, n_columns, n_classes)

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns."""
        return self.groups[""]

    def of(self, rows: slice) -> Array:
        """Terms of some rows: (n_rows, n_columns, n_classes)."""
        return self.share_out(self.table.block(rows))  # type: ignore[arg-type]


@dataclass(frozen=True)
class GaussianView(ColumnView):
    """A column of numbers among others; `terms` gives log-joints of whole rows."""

    spread: tuple[float, float]  # mean and standard deviation of all rows

    def cell(self, row: int) -> Cell:
        """Tell what became of a cell."""
        return Cell.MISSING if np.isnan(self._block(row)[0, self.j]) else Cell.READ

    def reading(self, row: int, chosen: int, against: int) -> str:
        """Say nothing: a number is a number."""
        return ""

    def change(self, row: int, rest: Rest) -> Change | None:
        """Find the nearest number at which the other class overtakes, all other cells being as they are."""
        center, deviation = self.spread
        x = float(self._block(row)[0, self.j])
        if np.isnan(x) or not (deviation > 0 and isfinite(rest.turning_point)):
            return None
        places = np.linspace(-SEARCHED_DEVIATIONS, SEARCHED_DEVIATIONS, STEPS + 1) * deviation + center
        places = np.unique(np.append(places, x))
        turned = self._log_odds(row, places, rest) < 0
        crossings = np.flatnonzero(turned[1:] != turned[:-1])
        if not len(crossings):
            return None
        found = [self._crossing(row, rest, places[i], places[i + 1]) for i in crossings]
        at = min(found, key=lambda place: abs(place - x))
        joint = self._joints(row, np.array([at]))[0]
        return Change(f"{'over' if at > x else 'under'} {shown(at)}", at, joint - rest.log_joint)

    def _crossing(self, row: int, rest: Rest, low: float, high: float) -> float:
        """Halve an interval in which the decision turns until nothing is left of it."""
        low_turned = bool(self._log_odds(row, np.array([low]), rest)[0] < 0)
        while low < (middle := (low + high) / 2) < high:
            if bool(self._log_odds(row, np.array([middle]), rest)[0] < 0) == low_turned:
                low = middle
            else:
                high = middle
        return float(low if low_turned else high)

    def _log_odds(self, row: int, places: Array, rest: Rest) -> Array:
        joint = self._joints(row, places)
        return joint[:, rest.chosen] - joint[:, rest.against] - rest.turning_point

    def _joints(self, row: int, places: Array) -> Array:
        rows: Any = np.repeat(self._block(row).astype(np.float64), len(places), axis=0)
        rows[:, self.j] = places
        return self.terms.of(rows, False)


def gaussian_terms(
    joint: FullJoint | IndependentJoint, table: DenseTable, names: list[str], raw: RawTable
) -> tuple[GaussianTerms, tuple[GaussianView, ...]]:
    """Make the log-likelihoods of some rows ready for an explanation, column by column."""
    rows = Rows(table.block(slice(0, table.shape[0])).astype(np.float64))
    sources = names if set(names) == set(raw.names) else raw.names
    columns = tuple(Column(name, source, "gaussian") for name, source in zip(names, sources, strict=True))

    def share_out(block: Array) -> Array:
        if isinstance(joint, FullJoint):
            return full_terms(joint, block)
        return independent_terms(joint.densities, block)

    measure = joint.densities.blend.yardstick
    deviation = measure.scale * np.sqrt(np.diagonal(measure.total))
    views = tuple(
        GaussianView(column, joint, rows, j, raw, (float(measure.center[j]), float(deviation[j])))
        for j, column in enumerate(columns)
    )
    return GaussianTerms(joint, rows, {"": columns}, share_out), views  # type: ignore[arg-type]
