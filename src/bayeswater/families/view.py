"""`ColumnView`: one column of a table as an explanation looks at it, row by row.

What a cell holds, what the model made of it, and which other cells could be in its place: `Options`, as rows had them,
and how far each is from the cell that is there. Distances are in units of the column's spread. That of numbers is their
standard deviation, on the scale on which they are read; that of bins is the deviation of their places; and states are
apart as their indicator columns are,

    distance = sqrt(2 / (1 - sum over states of share^2))

which for two states is one over the standard deviation of 0 and 1.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import field
from enum import IntEnum
from math import ceil, floor, isfinite, isnan, log10, nan
from typing import Any, NamedTuple

import numpy as np

from bayeswater.data.cells import is_missing, python_value
from bayeswater.data.matrix import SparseMatrix
from bayeswater.data.reading.column_plan import Column
from bayeswater.data.reading.raw_table import RawTable
from bayeswater.phrases import EN, Language
from bayeswater.records import record
from bayeswater.statistics.sums import SeenRanges
from bayeswater.typing import Array

FEW_DIGITS = (4, 6, 9, 12, 15)
"""Digits with which a number is told, the fewest with which it still turns the decision."""

MOST_STATES = 16
"""States of a column that are tried together with those of another: the most frequent."""


class CellUse(IntEnum):
    """What became of a cell: a factor of the posterior, or left out since it is missing or was never seen."""

    READ = 0
    MISSING = 1
    UNSEEN = 2


class Word(NamedTuple):
    """A word of a text, and what it adds to the log-odds, however often it stands there."""

    word: Any
    contribution: float


@record
class Options:
    """States that occur, or words that could be left out: `cells` (n,), and how far each is (n,)."""

    cells: Array
    distance: Array
    words: Callable[[Any], str]
    value: Callable[[Any], Any]

    def few(self, n_numbers: int) -> tuple[Array, Array]:
        """Give the cells to try together with those of another column, and their distances."""
        return self.cells[:MOST_STATES], self.distance[:MOST_STATES]


@record
class NumberOptions:
    """All numbers of a range, on the scale on which they are read.

    `start` is where the row is, or where it would be expected where its cell is missing; `bends` are numbers of the
    range between which the log-odds only rise or only fall.
    """

    low: float
    high: float
    start: float
    is_missing: bool
    spread: float
    bends: Array
    is_log: bool = False
    is_whole: bool = False
    written: Callable[[float], Any] = float
    in_words: Callable[[float, str], str] = lambda number, side: f"{side} {number:g}"

    def distance_of(self, cells: Array) -> Array:
        """How far numbers are; of a spread near the smallest there is, infinitely far."""
        with np.errstate(over="ignore"):
            return np.abs(cells - self.start) / self.spread

    def few(self, n_numbers: int) -> tuple[Array, Array]:
        """Give some numbers to try together with those of another column, and their distances."""
        cells = np.unique(np.concatenate([np.linspace(self.low, self.high, n_numbers), self.bends]))
        if self.is_whole:
            cells = np.unique(np.clip(np.rint(cells), ceil(self.low), floor(self.high)))
        return cells, self.distance_of(cells)

    def outward(self) -> list[list[float]]:
        """List the numbers to look at in turn, going up and going down from where the row is."""
        inside = [float(cell) for cell in np.unique([self.low, *self.bends, self.high])]
        start = [self.start] if self.low <= self.start <= self.high else []
        up = [*start, *(cell for cell in inside if cell > self.start)]
        return [up, [*start, *(cell for cell in reversed(inside) if cell < self.start)]]

    def rounded(self, cell: float, turns: Callable[[float], bool]) -> tuple[float, Any, str] | None:
        """Give a number that turns the decision with few digits, of no less effect, within the range.

        Returns the cell, its value and how it is put in words; None where no whole number does.
        """
        side = 1 if cell > self.start else -1
        number = float(np.exp(cell)) if self.is_log else cell
        low, high = (float(np.exp(end)) if self.is_log else end for end in (self.low, self.high))
        for rounded in self._rounded(number, side):
            rounded = min(max(rounded, low), high)
            place = float(np.log(rounded)) if self.is_log and rounded > 0 else rounded
            if turns(place) and (not self.is_whole or rounded == floor(rounded)):
                is_start = self.is_missing and place == self.start
                return place, self.written(rounded), self.in_words(rounded, _side(is_start, side))
        return None

    def _rounded(self, number: float, side: int) -> list[float]:
        if self.is_whole:
            return [float(ceil(number) if side > 0 else floor(number))]
        return [*(_away(number, digits, side) for digits in FEW_DIGITS), number]


class LastBlock:
    """The cells of the row that was looked at last: one column after the other looks at the same row."""

    def __init__(self) -> None:
        self._last: tuple[int, Any] = (-1, None)

    def of(self, row: int, table: Any) -> Any:
        """Give a row of a table, which is always the same."""
        known, block = self._last
        if known != row:
            block = table.block(slice(row, row + 1))
            self._last = row, block
        return block


@record
class ColumnView(ABC):
    """A column, the block that has its parameters, and the table of the block; `j` is its place in both."""

    column: Column
    block: Any
    table: Any
    j: int
    raw: RawTable
    seen: SeenRanges
    last: "LastBlock"
    language: Language = field(default=EN, kw_only=True)

    @property
    def is_score(self) -> bool:
        """Whether contributions are differences of scores rather than of log-likelihoods."""
        return False

    def value(self, row: int) -> Any:
        """Give the cell as the user gave it, None where it is missing."""
        cells = self.raw.columns[self.column.source]
        if isinstance(cells, SparseMatrix):
            return cells.data[cells.indptr[row] : cells.indptr[row + 1]].sum().item()
        value = python_value(cells[row])
        return None if is_missing(value) else value

    def own_terms(self, row: int) -> Array:
        """Terms of the cell that is there: (n_classes,)."""
        return self.block.terms(self.cells(row))[0, self.j]

    def cells(self, row: int) -> Any:
        """Give the cells of all columns of the block in a row."""
        return self.last.of(row, self.table)

    def words(self, row: int, chosen: int, against: int) -> list[Word] | None:
        """Known words of a text, those that weigh most first; None where cells are no texts."""
        return None

    def absent_words(self, row: int, chosen: int, against: int) -> float:
        """What the words add to the log-odds that a text does not have: something only where words are marked."""
        return 0.0

    @abstractmethod
    def cell(self, row: int) -> CellUse:
        """Tell what became of a cell."""

    def reading(self, row: int, chosen: int, against: int) -> str:
        """Say what the model made of the value, where that is not obvious."""
        return ""

    @abstractmethod
    def options(self, row: int, chosen: int) -> Options | NumberOptions | None:
        """List the other cells that could be there, for a row whose class is `chosen`; None if there are none."""

    @abstractmethod
    def terms_at(self, row: int, cells: Array) -> Array:
        """Terms of cells (n,) of the options, in the place of the one that is there: (n, n_classes)."""


def _side(is_start: bool, side: int) -> str:
    return "=" if is_start else "over" if side > 0 else "under"


def _away(number: float, digits: int, side: int) -> float:
    """Round a number to some digits, up or down.

    >>> _away(41.23456, 4, 1), _away(41.23456, 4, -1), _away(-41.23456, 4, 1), _away(0.0, 4, 1)
    (41.24, 41.23, -41.23, 0.0)
    """
    if number == 0 or not isfinite(number):
        return number
    n_places = digits - 1 - floor(log10(abs(number)))
    rounded = round(number, n_places)
    if (rounded - number) * side < 0:
        rounded = round(rounded + side * 10.0**-n_places, n_places) if abs(n_places) < 300 else nan
    return number if isnan(rounded) else rounded
