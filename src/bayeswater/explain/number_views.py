"""Numbers by their density or their rate, as an explanation looks at them."""

from math import ceil, floor, isnan, sqrt
from typing import Any

import numpy as np

from bayeswater.explain.bends import Bowls
from bayeswater.explain.options import NumberOptions
from bayeswater.explain.state_view import day
from bayeswater.explain.view import Cell, ColumnView
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

    def terms_at(self, row: int, cells: Array) -> Array:
        """Terms of numbers in the place of the cell: (n, n_classes)."""
        return self.terms.column_terms(np.asarray(cells, dtype=np.float64), self.j)

    @property
    def is_date(self) -> bool:
        """Whether the numbers are days."""
        return self.column.part == "days"

    def written(self, x: float) -> Any:
        """Give a number as it would stand in the column, if that can be said: days as a date."""
        return day(x) if self.is_date else x

    def in_words(self, x: float, side: str) -> str:
        """Write a number and on which side of it the decision turns, with its unit where it is one of time."""
        dtype = self.column.dtype or ""
        is_time = dtype.startswith(IN_SECONDS) and not dtype.startswith("timestamp")
        number = self.written(x) if self.is_date else told(x)
        return f"{side} {number}{' seconds' if is_time else ''}"


class NormalView(NumberView):
    """A normal or log-normal column, or with a prior a Student-t."""

    terms: NormalColumns

    def options(self, row: int, chosen: int) -> NumberOptions | None:
        """Give the range in which numbers were seen, and where the log-odds bend in it."""
        p, moments, j = self.terms.parameters, self.terms.moments, self.j
        if not p.has_factor[j]:
            return None
        is_log = bool(self.terms.is_log[j])
        counted = np.broadcast_to(moments.weight, moments.mean.shape)[:, j] > 0
        low, high = self.seen.within(self.column.name, moments.mean[counted, j], is_log=is_log)
        weight, mean, scatter = (float(own[j]) for own in moments.pooled())
        spread, x = sqrt(max(scatter, 0.0) / weight), self.number(row)
        if not (low < high and spread > 0):
            return None
        start = min(max(mean, low), high) if isnan(x) else x
        away, variance = start - p.mean[:, j], np.where(p.variance[:, j] > 0, p.variance[:, j], 1.0)
        bowls = Bowls(away**2 / variance, away / variance, 1 / variance, p.degrees[:, j], 1)
        bends = start + bowls.bends(chosen, spread)
        bends = bends[(bends > low) & (bends < high)]
        return NumberOptions(
            low, high, start, isnan(x), spread, bends, is_log, self.is_date, self.written, self.in_words
        )


class PoissonView(NumberView):
    """A column of counts: their log-odds are linear in the count."""

    terms: PoissonColumns

    def options(self, row: int, chosen: int) -> NumberOptions | None:
        """Give the range in which counts were seen; the log-odds have no bends."""
        rates, x = self.terms.rate[:, self.j], self.number(row)
        known = rates[np.isfinite(rates)]
        if not len(known):
            return None
        low, high = self.seen.within(self.column.name, known)
        low, high, spread = float(ceil(low)), float(floor(high)), sqrt(float(known.mean()))
        if not (low < high and spread > 0):
            return None
        start = min(max(float(known.mean()), low), high) if isnan(x) else x
        none = np.empty(0)
        return NumberOptions(low, high, start, isnan(x), spread, none, False, True, int, _count_in_words)


def _count_in_words(count: float, side: str) -> str:
    return f"{ {'over': 'at least', 'under': 'at most'}.get(side, side) } {int(count)}"


def told(x: float) -> str:
    """Write a number with all its digits, as few as they are.

    >>> told(52000.0), told(0.1234567), told(1e-300)
    ('52000', '0.1234567', '1e-300')
    """
    return shown(x) if float(shown(x)) == x else repr(float(x))
