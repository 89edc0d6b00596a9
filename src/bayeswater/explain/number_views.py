"""Numbers by their density or their rate, as an explanation looks at them."""

from math import ceil, floor, isfinite
from typing import Any

import numpy as np

from bayeswater.explain.crossings import Crossing, Density, normal_crossings, student_crossings
from bayeswater.explain.state_view import day
from bayeswater.explain.view import Cell, Change, ColumnView, Rest
from bayeswater.explain.wording import shown
from bayeswater.inference.normal_columns import NormalColumns
from bayeswater.inference.poisson_columns import PoissonColumns
from bayeswater.typing import Array

IN_SECONDS = ("time", "duration")
"""Beginnings of the types of columns that are read as seconds (timestamps are days)."""


class NumberView(ColumnView):
    """What all columns of numbers share."""

    def number(self, row: int) -> float:
        """The number that is read, NaN where there is none."""
        return float(self._block(row)[0, self.j])

    def cell(self, row: int) -> Cell:
        """Tell what became of a cell; a number that has no logarithm was given, but not read."""
        if not np.isnan(self.number(row)):
            return Cell.READ
        return Cell.MISSING if self.value(row) is None else Cell.UNSEEN

    def reading(self, row: int, chosen: int, against: int) -> str:
        """Say nothing: a number is a number."""
        return ""

    def terms_at(self, x: float) -> Array:
        """Terms of a number in the place of the cell: (n_classes,)."""
        block = np.full((1, self.table.shape[1]), np.nan)
        block[0, self.j] = x
        return self.terms.terms(block)[0, self.j]

    def written(self, x: float) -> Any:
        """Give a number as it would stand in the column, if that can be said: days as a date."""
        return day(x) if self.column.part == "days" else x

    def in_words(self, x: float) -> str:
        """Write a number with its unit, where it is one of time."""
        dtype = self.column.dtype or ""
        is_time = dtype.startswith(IN_SECONDS) and not dtype.startswith("timestamp")
        return f"{shown(self.written(x))}{' seconds' if is_time else ''}"


class NormalView(NumberView):
    """A normal or log-normal column, or with a prior a Student-t."""

    terms: NormalColumns

    def density(self, k: int) -> Density:
        """Density in one class."""
        p = self.terms.parameters
        return Density(float(p.mean[k, self.j]), float(p.variance[k, self.j]), float(p.degrees[k, self.j]))

    def change(self, row: int, rest: Rest) -> Change | None:
        """Find the nearest number at which the log-odds cross zero, all else being equal."""
        if not self.terms.parameters.has_factor[self.j] or not isfinite(rest.own_log_odds):
            return None
        a, b = self.density(rest.chosen), self.density(rest.against)
        if not isfinite(a.degrees):
            crossings = normal_crossings(a, b, rest.own_log_odds)
        else:
            # What the densities leave out, read off the terms at one place.
            here = self.terms_at(a.mean)
            constant = float(here[rest.chosen] - here[rest.against]) - (a.log_at(a.mean) - b.log_at(a.mean))
            crossings = student_crossings(a, b, rest.own_log_odds + constant)
        is_log = bool(self.terms.is_log[self.j])
        with np.errstate(over="ignore"):
            found = [c for c in crossings if isfinite(np.exp(c.at) if is_log else c.at)]
        if not found:
            return None
        nearest = self._nearest(found, self.number(row), rest)
        value = float(np.exp(nearest.at)) if is_log else nearest.at
        words = f"{'over' if nearest.is_above else 'under'} {self.in_words(value)}"
        return Change(words, self.written(value), self.terms_at(nearest.at))

    def _nearest(self, crossings: list[Crossing], x: float, rest: Rest) -> Crossing:
        """Of several crossings, the one nearest to the number, or if that is missing the most plausible one."""
        if np.isnan(x):
            return max(crossings, key=lambda c: float(rest.log_evidence(self.terms_at(c.at)[None])[0]))
        return min(crossings, key=lambda c: abs(c.at - x))


class PoissonView(NumberView):
    """A column of counts: their log-odds are linear in the count."""

    terms: PoissonColumns

    def change(self, row: int, rest: Rest) -> Change | None:
        """Find the nearest count that turns the decision."""
        rates = self.terms.rate[:, self.j]
        a, b = float(rates[rest.chosen]), float(rates[rest.against])
        odds_of_none = rest.own_log_odds - (a - b)  # log-odds of a count of 0
        if np.isnan(odds_of_none) or a == b:
            return None
        falls = a < b  # with every count that is added
        if a == 0 or b == 0:
            count = 1 if falls else 0  # the first count is impossible in one of the classes
        else:
            limit = -odds_of_none / float(np.log(a) - np.log(b))
            if not isfinite(limit):
                return None
            count = floor(limit) + 1 if falls else ceil(limit) - 1
            count = max(count, 0) if falls else count
        if count < 0 or not rest.turns(self.terms_at(count)[None])[0]:
            return None
        return Change(f"{'at least' if falls else 'at most'} {self.in_words(count)}", count, self.terms_at(count))
