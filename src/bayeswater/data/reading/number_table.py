"""Columns of numbers side by side, some of them by their logarithm; and numbers put into bins."""

from collections.abc import Sequence
from fractions import Fraction
from functools import partial

import numpy as np

from bayeswater.data.matrix import ColumnMatrix
from bayeswater.data.reading.coded_table import CodedTable
from bayeswater.data.reading.column_plan import Column
from bayeswater.data.reading.discretising.cuts import DIGITS, Way, apply_cuts, interval_names, told_apart
from bayeswater.data.variable import Schema, Variable
from bayeswater.phrases import EN, Language
from bayeswater.records import record
from bayeswater.typing import Array

MINUTES_PER_DAY = 24 * 60

MOST_DAYS = 1e12
"""Days up to which the calendar of NumPy reaches, and somewhat beyond all uses of it."""


@record
class NumberTable(ColumnMatrix):
    """Columns of numbers in float64, NaN where a cell is missing; the marked ones are read as logarithms.

    What has no logarithm, zero and below, is read as missing: whoever makes the table decides whether that may be.
    """

    is_log: tuple[bool, ...] = ()

    @property
    def dtype(self) -> np.dtype[np.float64]:
        """Kind of the numbers."""
        return np.dtype(np.float64)

    def block(self, rows: slice) -> Array:
        """Put some rows of all columns side by side."""
        values = np.empty((len(self.columns[0][rows]), len(self.columns)))
        for j, (column, is_log) in enumerate(zip(self.columns, self.is_log, strict=True)):
            values[:, j] = column[rows]
            if is_log:
                with np.errstate(divide="ignore", invalid="ignore"):
                    values[:, j] = np.where(values[:, j] > 0, np.log(values[:, j]), np.nan)
        return values

    def known_cells(self) -> Array:
        """Count the cells of each row that are not missing, and have a logarithm where one is taken: (n_rows,)."""
        known = np.zeros(self.shape[0], dtype=np.int64)
        for column, is_log in zip(self.columns, self.is_log, strict=True):
            known += column > 0 if is_log else ~np.isnan(column)
        return known


def binned(columns: Sequence[Array], cuts: Sequence[tuple[float, ...]], names: Sequence[str]) -> CodedTable:
    """Put numbers into bins: bin i holds cuts[i - 1] <= x < cuts[i], and all that is beyond the outer cuts.

    >>> binned([np.array([0.5, 1.0, np.nan])], [(1.0,)], ["x"]).block(slice(0, 3)).ravel()
    array([0, 1, 2], dtype=uint8)
    """
    codes = tuple(apply_cuts(x, np.asarray(limits), closed="left") for x, limits in zip(columns, cuts, strict=True))
    return CodedTable(bin_schema(cuts, names), ColumnMatrix(codes))


def bin_schema(cuts: Sequence[tuple[float, ...]], names: Sequence[str]) -> Schema:
    """Give columns of bins as codes, all of them declared."""
    return Schema(
        tuple(
            Variable.of_codes(name, len(limits) + 1, frozenset({len(limits)}))
            for name, limits in zip(names, cuts, strict=True)
        )
    )


def interval_labels(cuts: tuple[float, ...], ways: Sequence[Way] = DIGITS, language: Language = EN) -> list[str]:
    """Name the bins by their limits, written in the first of some ways that tells all of them apart.

    >>> interval_labels((1.5, 4.0))
    ['under 1.5', '1.5 to 4', 'from 4 on']
    """
    return interval_names(told_apart(cuts, ways), language)


def bin_labels(column: Column, language: Language = EN) -> list[str]:
    """Name the bins of a column; those of dates by dates.

    >>> bin_labels(Column("signed", "signed", "binned", part="days", cuts=(19723.0, 19850.5)))
    ['under 2024-01-01', '2024-01-01 to 2024-05-07 12:00', 'from 2024-05-07 12:00 on']
    """
    cuts = column.cuts or ()
    return interval_labels(cuts, MOMENTS if column.part == "days" else DIGITS, language)


def bin_words(column: Column, language: Language = EN) -> list[str]:
    """Name the bins of a column for people: as its labels do, but those of times of day by the clock.

    >>> bin_words(Column("at", "at", "binned", part="time", cuts=(21_600.0, 64_830.0)))
    ['under 06:00', '06:00 to 18:00', 'from 18:00 on']
    """
    limits = [clock(cut) for cut in column.cuts or ()]
    told_apart_by_minutes = is_time_of_day(column) and len(set(limits)) == len(limits)
    return interval_names(limits, language) if told_apart_by_minutes else bin_labels(column, language)


def is_time_of_day(column: Column) -> bool:
    """Say whether the numbers of a column are seconds since midnight."""
    return column.part == "time" or (column.dtype or "").startswith(("time32", "time64"))


def moment(days: float, decimals: int | None = None) -> str:
    """Write days since 1970-01-01 as a date, with the time of day where it is not midnight.

    Parameters
    ----------
    days : with the time of day as a fraction
    decimals : of the seconds; without any, the time is given to the minute

    >>> moment(19723.0), moment(19850.5), moment(19850.5, decimals=3)
    ('2024-01-01', '2024-05-07 12:00', '2024-05-07 12:00:00.000')
    """
    per_minute = 1 if decimals is None else 60 * 10**decimals
    # Exact: of the digits of a number of days, those of the nanoseconds are the last.
    day, tick = divmod(round(Fraction(days) * MINUTES_PER_DAY * per_minute), MINUTES_PER_DAY * per_minute)
    if tick == 0:
        return f"{np.datetime64(day, 'D')}"
    minute, rest = divmod(tick, per_minute)
    seconds = ""
    if decimals is not None:
        second, fraction = divmod(rest, 10**decimals)
        seconds = f":{second:02d}" + (f".{fraction:0{decimals}d}" if decimals else "")
    return f"{np.datetime64(day, 'D')} {minute // 60:02d}:{minute % 60:02d}{seconds}"


MOMENTS: tuple[Way, ...] = (moment, *(partial(moment, decimals=decimals) for decimals in (0, 3, 6, 9)))
"""Ways to write moments: to the minute, or with seconds and as much of them as tells moments apart."""


def clock(seconds: float) -> str:
    """Write seconds since midnight as a time of day, to the minute.

    >>> clock(16_990.0)
    '04:43'
    """
    minutes = int(seconds // 60) % (24 * 60)
    return f"{minutes // 60:02}:{minutes % 60:02}"


def day(days: float) -> str:
    """Write days since 1970-01-01 as a date.

    >>> day(19723.5), day(1e300)
    ('2024-01-01', '1e+300 days after 1970-01-01')
    """
    if abs(days) > MOST_DAYS:
        return f"{days:.6g} days after 1970-01-01"
    return str(np.datetime64(int(np.floor(days)), "D"))
