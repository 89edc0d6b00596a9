"""What all laws of numbers share: how cells are read, drawn and scored, and how an explanation looks at them."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from math import isnan
from typing import Any, ClassVar

import numpy as np

from bayeswater.data.cells import require_no_missing
from bayeswater.data.labels import Labels
from bayeswater.data.reading.column_plan import AUTO, Column
from bayeswater.data.reading.number_table import NumberTable, clock, day, is_time_of_day
from bayeswater.data.reading.raw_table import RawTable
from bayeswater.errors import DataError, ParameterError, UnseenCategoryWarning, warn_user
from bayeswater.families.curve import ColumnCurve
from bayeswater.families.family import ABSENT, Block, Family, Settings
from bayeswater.families.view import CellUse, ColumnView, NumberOptions
from bayeswater.families.wording import shown
from bayeswater.inference.drawing import Stage, stream
from bayeswater.inference.formula import CellForm, NumberForm
from bayeswater.phrases import own_reasons
from bayeswater.records import record
from bayeswater.statistics.statistic import ColumnStatistic, Statistic
from bayeswater.typing import Array

own_reasons(
    {
        "column {name} is {title}, for {all}, but row {n} has {value}: such cells are left out ({k} of {rows} rows)": (
            "列 {name} 为{title}，但第 {n} 行为 {value}：此类单元格未计入（{rows} 行中的 {k} 行）"
        ),
    }
)

IN_SECONDS = ("time", "duration")
"""Beginnings of the types of columns that are read as seconds (timestamps are days)."""


class NumberFamily(Family):
    """What all columns of numbers share: how they are read."""

    kinds: ClassVar = ("number", "flag")
    is_ranged: ClassVar = True
    takes: ClassVar[Mapping[str, str]] = {}
    """Which numbers can be cells of a family, in words; those that are not named take any."""

    def numbers(self, raw: RawTable, settings: Settings) -> tuple[Array, ...]:
        """The columns as arrays, NaN where a cell is missing."""
        columns = tuple(raw.numbers(name) for name in self.names)
        if settings.missing == "error":
            for name, column in zip(self.names, columns, strict=True):
                if column.dtype.kind == "f":
                    require_no_missing(np.isnan(column), name)
        return columns

    @property
    def is_log(self) -> tuple[bool, ...]:
        """Which columns are read by their logarithm."""
        return (False,) * len(self.columns)

    def encode(self, raw: RawTable, known: Any, settings: Settings, *, learning: bool) -> Any:
        """Read the numbers; what the law cannot have is refused in learning, and left out in predicting."""
        columns = []
        for column, values in zip(self.columns, self.numbers(raw, settings), strict=True):
            wrong = self.impossible(column, values) if column.family in self.takes else None
            if wrong is not None and wrong.any():
                self._report_impossible(column, values, wrong, settings, learning)
                values = np.where(wrong, np.nan, values)
            columns.append(values)
        return NumberTable(tuple(columns), self.names, self.is_log)

    def count(self, table: Any, labels: Labels, weight: Array | None, settings: Settings) -> Statistic:
        """Sum the numbers in the statistic of the law."""
        statistic: Any = self.statistic
        found: Statistic = statistic.of(table, labels, weight)
        return found

    def impossible(self, column: Column, values: Array) -> Array:
        """Mark the numbers that a column cannot have, where it does not take any: (n_rows,)."""
        raise AssertionError("this law takes any number")

    def _report_impossible(
        self, column: Column, values: Array, wrong: Array, settings: Settings, learning: bool
    ) -> None:
        """Tell that values are none that the law can have: in learning refuse them, in predicting warn."""
        row, possible = int(wrong.argmax()), self.takes[column.family]
        what = f"column {column.name!r} is {column.family}, for {possible}, but row {row} has {values[row]}"
        if learning:
            raise DataError(f"{what}; correct it, or fit again with columns={{{column.name!r}: 'gaussian'}}")
        if settings.unseen == "error":
            raise DataError(f"{what}; correct it, or use unseen='ignore' to leave it out")
        warn_user(f"{what}: such cells are left out ({int(wrong.sum())} of {len(wrong)} rows)", UnseenCategoryWarning)

    def cell_form(self, sums: Any, j: int) -> CellForm:
        """Cells are numbers, of any size unless the law says otherwise."""
        return NumberForm()

    def pseudo_counts(self, settings: Settings, usual: float, what: str) -> Array:
        """Give the `alpha` of each column (n_columns,), `usual` where it is open; `what` says what it stands for."""
        for column in self.columns:
            if settings.of(column).prior is not None:
                raise ParameterError(
                    f"the prior of column {column.name!r} is {settings.of(column).prior!r}, but a {column.family} "
                    f"column takes none; give alpha, {what}"
                )
        alphas = [settings.alpha_of(column) for column in self.columns]
        return np.array([usual if alpha == AUTO else float(alpha) for alpha in alphas])


class NumberBlock(Block):
    """Columns of numbers by their densities or probabilities, NaN where a cell is missing."""

    sums: ColumnStatistic

    @abstractmethod
    def column_terms(self, x: Array, j: int) -> Array:
        """Log-likelihood of numbers (n,) in one column: (n, n_classes)."""

    @abstractmethod
    def places(self, j: int) -> Array:
        """Numbers of column j, as they are read, at which a picture of the law looks; none where it has no factor."""

    @abstractmethod
    def draw_column(self, codes: Array, j: int, rng: np.random.Generator) -> Array:
        """Draw numbers of column j for rows of classes (n,), as they are read."""

    @abstractmethod
    def drawn_parameters(self, j: int, rng: np.random.Generator, n_draws: int) -> tuple[Array, ...] | None:
        """Draw the parameters of column j from their posterior; None where it has no factor."""

    @abstractmethod
    def drawn_terms(self, x: Array, j: int, drawn: tuple[Array, ...]) -> Array:
        """Log-likelihood of numbers (n, 1, 1) by parameters that were drawn: (n, n_draws, n_classes).

        What all classes share may be left out.
        """

    def likelihood(self, cells: Array, use_loop: bool) -> Array:
        """Log-likelihoods of some rows: (n_rows, n_classes)."""
        return self.terms(cells).sum(axis=1)

    def terms(self, cells: Array) -> Array:
        """Log-likelihood of each cell: (n_rows, n_columns, n_classes)."""
        return np.stack([self.column_terms(cells[:, j], j) for j in range(cells.shape[1])], axis=1)

    def curve(self, column: Column, j: int) -> ColumnCurve:
        """Give the density in each class."""
        at = self.places(j)
        return ColumnCurve(column.name, "density", at, np.exp(self.column_terms(at, j)))

    def draw_parameters(self, places: Sequence[int], stage: Stage) -> "NumberDraws":
        """Draw the parameters of all columns, one after the other."""
        drawn = [self.drawn_parameters(j, stream(stage.seed, place), stage.n_draws) for j, place in enumerate(places)]
        return NumberDraws(self, drawn)

    def draw_terms(self, codes: Array, places: Sequence[int], seed: int, lengths: Array) -> list[dict[int, Array]]:
        """Draw numbers, and give their terms."""
        drawn = np.empty((len(codes), len(places)))
        for j, place in enumerate(places):
            drawn[:, j] = self.draw_column(codes, j, stream(seed, place))
        terms = self.terms(drawn)
        return [{0: terms[:, j]} for j in range(len(places))]

    def patterns(self, cells: Array) -> Array:
        """Which cells some rows have: (n_rows, n_columns)."""
        return np.where(np.isnan(cells), ABSENT, 0)

    def support(self, cells: Array, chosen: Array) -> Array:
        """Rows of the class that have a value, in the column of which they are fewest."""
        assert self.sums.cells is not None
        there = np.broadcast_to(self.sums.cells, (self.sums.n_classes, cells.shape[1]))[chosen]
        return np.where(np.isnan(cells), np.inf, there).min(axis=1, initial=np.inf)


@record
class NumberDraws:
    """Draws of the parameters of each column of a block."""

    block: NumberBlock
    drawn: Sequence[tuple[Array, ...] | None]

    def add_to(self, total: Array, cells: Array) -> None:
        """Add the log-likelihoods of rows of numbers."""
        for j, drawn in enumerate(self.drawn):
            if drawn is not None:
                total += self.block.drawn_terms(cells[:, j, None, None], j, drawn)


class NumberView(ColumnView):
    """What all columns of numbers share."""

    def number(self, row: int) -> float:
        """The number that is read, NaN where there is none."""
        return float(self.cells(row)[0, self.j])

    def cell(self, row: int) -> CellUse:
        """Tell what became of a cell; a number that the law cannot have was given, but not read."""
        if not np.isnan(self.number(row)):
            return CellUse.READ
        return CellUse.MISSING if self.value(row) is None else CellUse.UNSEEN

    def terms_at(self, row: int, cells: Array) -> Array:
        """Terms of numbers in the place of the cell: (n, n_classes)."""
        found: Array = self.block.column_terms(np.asarray(cells, dtype=np.float64), self.j)
        return found

    def value(self, row: int) -> Any:
        """Give the cell as the user gave it; of a date, its time of day."""
        x = self.number(row)
        return clock(x) if self.column.part == "time" and not isnan(x) else super().value(row)

    @property
    def is_date(self) -> bool:
        """Whether the numbers are parts of a date."""
        return self.column.part is not None

    def written(self, x: float) -> Any:
        """Give a number as it would stand in the column, if that can be said: days as a date, seconds as a time."""
        return {"days": day, "time": clock}.get(self.column.part or "", lambda number: number)(x)

    def in_words(self, x: float, side: str) -> str:
        """Write a number and on which side of it the decision turns, with its unit where it is one of time."""
        dtype = self.column.dtype or ""
        if self.is_date:
            return self.language.say(side, value=self.written(x))
        if is_time_of_day(self.column):
            seconds = "" if x % 60 == 0 else f":{x % 60:06.3f}".rstrip("0").rstrip(".")
            return self.language.say(side, value=clock(x) + seconds)
        is_time = dtype.startswith(IN_SECONDS) and not dtype.startswith("timestamp")
        number = self.language.say("seconds", value=all_digits(x)) if is_time else all_digits(x)
        return self.language.say(side, value=number)

    def expected(self, row: int, mean: float, low: float, high: float) -> tuple[float, bool]:
        """Give the number of a row, or where it would be expected, and whether it is missing."""
        x = self.number(row)
        return (min(max(mean, low), high) if isnan(x) else x), isnan(x)


class CountView(NumberView):
    """A column of counts whose log-odds are linear in the count: they have no bends."""

    @abstractmethod
    def means(self) -> Array:
        """Mean count in each class: (n_classes,), NaN where it is not known."""

    def options(self, row: int, chosen: int) -> NumberOptions | None:
        """Give the range in which counts were seen."""
        means = self.means()
        known = means[np.isfinite(means)]
        if not len(known):
            return None
        low, high = self.seen.within(self.column.name, known)
        low, high, spread = float(np.ceil(low)), float(np.floor(high)), float(np.sqrt(known.mean()))
        if not (low < high and spread > 0):
            return None
        start, is_missing = self.expected(row, float(known.mean()), low, high)
        none = np.empty(0)
        return NumberOptions(low, high, start, is_missing, spread, none, False, True, int, self._count_in_words)

    def _count_in_words(self, count: float, side: str) -> str:
        return self.language.say({"over": "at least", "under": "at most"}.get(side, side), value=int(count))


def all_digits(x: float) -> str:
    """Write a number with all its digits, as few as they are.

    >>> all_digits(52000.0), all_digits(0.1234567), all_digits(1e-300)
    ('52000', '0.1234567', '1e-300')
    """
    return shown(x) if float(shown(x)) == x else repr(float(x))
