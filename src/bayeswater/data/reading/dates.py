"""Dates, times of day and durations as numbers, and the way back.

A date says three things that a classifier can learn from: how long ago it was, which day of the week and which month.
So a column of dates becomes three: days since 1970-01-01 (float64, with the time of day as a fraction), the weekday
and the month, both declared categories. A time stamp says a fourth, the time of day, to the minute. A time stamp with
a time zone is read as the clock on the wall of that zone shows it, since that is what opening hours, weekends and
seasons go by. Times of day and durations are seconds.

A tick is the unit that Arrow stores: a day, a second, a millisecond, a microsecond or a nanosecond. Ticks are split
into whole days and the rest as integers, so seconds and milliseconds come back exactly in any year from 1 to 9999 and
microseconds from 1791 to 2149; nanoseconds come back to within 0.2 microseconds from 1881 to 2059, since a float64 has
no more digits.
"""

from typing import TYPE_CHECKING, Any

import numpy as np

from bayeswater.errors import DataError
from bayeswater.phrases import LANGUAGES, Language, own_phrases
from bayeswater.typing import Array

if TYPE_CHECKING:
    import pyarrow as pa

WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")

MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)

own_phrases({day: (day, f"星期{number}") for day, number in zip(WEEKDAYS, "一二三四五六日", strict=True)})
own_phrases({month: (month, f"{number} 月") for number, month in enumerate(MONTHS, start=1)})

own_phrases({"weekday": ("weekday", "星期"), "month": ("month", "月份"), "time": ("time", "时间")})
own_phrases({"part of date": ("{name} ({part})", "{name}（{part}）")})

SECONDS_PER_DAY = 86_400

MINUTES_PER_DAY = 1440

PARTS = ("weekday", "month", "time")
"""What a date says besides its days; a time of day only where `has_times`."""


def column_title(name: str, language: Language) -> str:
    """Call a column as a language does, where it is a part of a date.

    >>> column_title("born (weekday)", LANGUAGES["zh"]), column_title("born", LANGUAGES["zh"])
    ('born（星期）', 'born')
    """
    said = LANGUAGES[language.code].say  # rooms have languages of their own, with other sentences
    for part in PARTS:
        if name.endswith(f" ({part})"):
            return said("part of date", name=name.removesuffix(f" ({part})"), part=said(part))
    return name


TICKS_PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}

WEEKDAY_OF_DAY_ZERO = WEEKDAYS.index("Thursday")  # 1970-01-01


def date_columns(name: str, column: "pa.ChunkedArray") -> "dict[str, pa.Array | pa.ChunkedArray]":
    """Spread a column of dates or time stamps over its parts: `name`, and `name (part)` of each of `PARTS`.

    The days are NaN where the date is null, the other parts are null there; all seven weekdays and all twelve months
    are in the dictionaries, in the order of the calendar.

    >>> import datetime, pyarrow
    >>> born = pyarrow.chunked_array([[datetime.datetime(1970, 1, 2, 12, 0, 59), None]])
    >>> for name, column in date_columns("born", born).items():
    ...     print(name, column.to_pylist())
    born [1.50068..., nan]
    born (weekday) ['Friday', None]
    born (month) ['January', None]
    born (time) [datetime.time(12, 0), None]
    """
    import pyarrow as pa

    if pa.types.is_null(column.type):
        column = column.cast(pa.date32())
    if not is_date(column.type):
        raise DataError(
            f"column {name!r} holds {column.type}, and is read as dates; convert it to dates or time stamps"
        )
    missing = np.asarray(column.is_null().to_numpy())
    ticks = _ticks(_on_the_wall(name, column))
    ticks_per_day = _ticks_per_day(column.type)
    day = ticks // ticks_per_day
    minute = (ticks - day * ticks_per_day) * MINUTES_PER_DAY // ticks_per_day
    month = day.astype("datetime64[D]").astype("datetime64[M]").astype(np.int64) % len(MONTHS)
    return {
        name: pa.array(np.where(missing, np.nan, _ratio(ticks, ticks_per_day))),
        f"{name} (weekday)": _declared((day + WEEKDAY_OF_DAY_ZERO) % len(WEEKDAYS), missing, WEEKDAYS),
        f"{name} (month)": _declared(month, missing, MONTHS),
        f"{name} (time)": pa.chunked_array([pa.array((60 * minute).astype(np.int32), pa.time32("s"), mask=missing)]),
    }


def has_times(name: str, column: "pa.ChunkedArray") -> bool:
    """Say whether any cell of a column of dates tells a time of day: midnight everywhere tells none."""
    import pyarrow as pa

    if not pa.types.is_timestamp(column.type):
        return False
    present = column.drop_null()
    return bool((_ticks(_on_the_wall(name, present)) % _ticks_per_day(column.type)).any())


def in_zone_of(name: str, column: "pa.ChunkedArray", fitted: "pa.DataType | None") -> "pa.ChunkedArray":
    """Give time stamps in the time zone of those that a model was fitted on: the same instants, by the clock there.

    Where one of both has no zone it is not known which instants are meant, and they are refused.

    >>> import datetime, pyarrow
    >>> instants = pyarrow.chunked_array([[datetime.datetime(2024, 1, 5, 20, tzinfo=datetime.timezone.utc)]])
    >>> in_zone_of("paid", instants, pyarrow.timestamp("s", "Asia/Shanghai")).type
    TimestampType(timestamp[us, tz=Asia/Shanghai])
    """
    import pyarrow as pa

    if fitted is None or not (is_date(fitted) and is_date(column.type)):
        return column
    here, there = getattr(column.type, "tz", None), getattr(fitted, "tz", None)
    if here == there:
        return column
    if here is None:
        raise DataError(
            f"column {name!r} holds {column.type}, without a time zone, but the model was fitted on time stamps of the "
            f"zone {there!r}; say which zone these are in, in pandas with .dt.tz_localize({there!r})"
        )
    if there is None:
        raise DataError(
            f"column {name!r} holds time stamps of the zone {here!r}, but the model was fitted on {fitted}, without a "
            "zone; take the zone off, in pandas with .dt.tz_localize(None), or fit again on time stamps with a zone"
        )
    return column.cast(pa.timestamp(column.type.unit, there))


def is_date(kind: "pa.DataType") -> bool:
    """Tell dates and time stamps from all else."""
    import pyarrow as pa

    return bool(pa.types.is_date(kind) or pa.types.is_timestamp(kind))


def date_of(days: Array, kind: "pa.DataType") -> "pa.Array":
    """Turn days since 1970-01-01 into dates or time stamps of an Arrow type, null where they are NaN.

    Days are rounded to the nearest tick of the type. An hour that the clock of the zone shows twice is the earlier
    one; an hour that it leaves out becomes the moment at which it goes on.

    >>> import pyarrow
    >>> date_of(np.array([1.25, np.nan]), pyarrow.date32()).to_pylist()
    [datetime.date(1970, 1, 2), None]
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_date(kind):
        days = np.rint(days)  # date64 counts milliseconds, but holds whole days
    dates = _of_ticks(days, _ticks_per_day(kind), pa.timestamp(kind.unit) if pa.types.is_timestamp(kind) else kind)
    if pa.types.is_date(kind) or kind.tz is None:
        return dates
    return pc.assume_timezone(dates, kind.tz, ambiguous="earliest", nonexistent="latest")


def seconds_of(column: "pa.ChunkedArray") -> Array:
    """Give times of day (since midnight) or durations in seconds, NaN where they are null.

    >>> import datetime, pyarrow
    >>> seconds_of(pyarrow.chunked_array([[datetime.time(1, 0, 0, 500_000), None]]))
    array([3600.5,    nan])
    """
    missing = np.asarray(column.is_null().to_numpy())
    return np.where(missing, np.nan, _ratio(_ticks(column), TICKS_PER_SECOND[column.type.unit]))


def time_of(seconds: Array, kind: "pa.DataType") -> "pa.Array":
    """Turn seconds into times of day or durations of an Arrow type, null where they are NaN.

    A time of day outside of 0 .. 24 hours is taken modulo a day: the hour before midnight is close to the one after.

    >>> import pyarrow
    >>> time_of(np.array([-60.0, np.nan]), pyarrow.time32("s")).to_pylist()
    [datetime.time(23, 59), None]
    """
    import pyarrow as pa

    ticks_per_second = TICKS_PER_SECOND[kind.unit]
    if pa.types.is_time(kind):
        seconds = np.rint(seconds % SECONDS_PER_DAY * ticks_per_second) / ticks_per_second % SECONDS_PER_DAY
    return _of_ticks(seconds, ticks_per_second, kind)


def _ticks_per_day(kind: "pa.DataType") -> int:
    import pyarrow as pa

    if pa.types.is_timestamp(kind):
        return SECONDS_PER_DAY * TICKS_PER_SECOND[kind.unit]
    return 1 if pa.types.is_date32(kind) else SECONDS_PER_DAY * TICKS_PER_SECOND["ms"]


def _on_the_wall(name: str, column: "pa.ChunkedArray") -> "pa.ChunkedArray":
    """Take the time zone off, keeping what the clock there shows."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not pa.types.is_timestamp(column.type) or column.type.tz is None:
        return column
    try:
        return pc.local_timestamp(column)
    except pa.ArrowInvalid as error:
        raise DataError(
            f"the time zone {column.type.tz!r} of column {name!r} is not known: {error}; convert the column to UTC, or "
            "install the time zone database (tzdata)"
        ) from None


def _ticks(column: "pa.ChunkedArray") -> Array:
    """Give what Arrow stores as int64, 0 where it is null."""
    import pyarrow as pa

    stored = pa.int32() if column.type.bit_width == 32 else pa.int64()
    return np.asarray(column.cast(stored).fill_null(0).to_numpy()).astype(np.int64)


def _ratio(ticks: Array, ticks_per_unit: int) -> Array:
    """Divide int64 ticks that a float64 may not hold, to within its rounding."""
    rest = np.fmod(ticks, ticks_per_unit)  # of the sign of the ticks: nothing cancels in the sum
    return np.asarray((ticks - rest) // ticks_per_unit + rest / ticks_per_unit)


def _of_ticks(amount: Array, ticks_per_unit: int, kind: "pa.DataType") -> "pa.Array":
    """Store amounts of a unit as ticks of `kind`."""
    import pyarrow as pa

    missing = np.isnan(amount)
    amount = np.where(missing, 0.0, amount)
    # One unit short of the end, so that rounding up to the next tick stays inside.
    limit = 2.0 ** (kind.bit_width - 1) / ticks_per_unit - 1
    beyond = np.abs(amount) > limit
    if beyond.any():
        unit = "seconds" if pa.types.is_time(kind) or pa.types.is_duration(kind) else "days since 1970-01-01"
        raise DataError(
            f"{amount[beyond][0]:g} {unit} do not fit into {kind}, which holds {-limit:.4g} to {limit:.4g}; take a "
            "type of a coarser unit"
        )
    whole = np.trunc(amount)
    ticks = whole.astype(np.int64) * ticks_per_unit + np.rint((amount - whole) * ticks_per_unit).astype(np.int64)
    stored: Any = np.int32 if kind.bit_width == 32 else np.int64
    return pa.array(ticks.astype(stored), mask=missing).cast(kind)


def _declared(codes: Array, missing: Array, labels: tuple[str, ...]) -> "pa.DictionaryArray":
    import pyarrow as pa

    return pa.DictionaryArray.from_arrays(pa.array(codes.astype(np.int8), mask=missing), pa.array(labels))
