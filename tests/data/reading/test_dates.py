"""A date becomes days, weekday and month, as the calendar and the clock on the wall have it, and days become a date."""

import calendar
import datetime as dt
from fractions import Fraction
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayeswater import DataError
from bayeswater.data.frames import read_frame
from bayeswater.data.reading.dates import MONTHS, WEEKDAYS, date_columns, date_of, has_times, seconds_of, time_of

EPOCH = dt.datetime(1970, 1, 1)
LEAP_DAY = dt.date(2024, 2, 29)
NOON = dt.datetime(2024, 2, 29, 12)
UNITS = ["s", "ms", "us", "ns"]


def column(cells, kind=None):
    return pa.chunked_array([pa.array(cells, kind)])


def spread(cells, kind=None):
    return [part.to_pylist() for part in date_columns("d", column(cells, kind)).values()][:3]


# ---------------------------------------------------------------------- the parts of a date


def test_the_names_say_what_the_columns_hold():
    assert list(date_columns("born", column([LEAP_DAY]))) == ["born", "born (weekday)", "born (month)", "born (time)"]


def test_weekday_and_month_declare_their_whole_domain_in_the_order_of_the_calendar():
    _, weekday, month, _ = date_columns("d", column([LEAP_DAY, None])).values()
    assert weekday.dictionary.to_pylist() == list(WEEKDAYS) == list(calendar.day_name)
    assert month.dictionary.to_pylist() == list(MONTHS) == list(calendar.month_name)[1:]
    assert weekday.null_count == month.null_count == 1


@given(st.dates())
def test_every_day_of_the_calendar_has_its_number_its_weekday_and_its_month(day):
    expected = [[float((day - EPOCH.date()).days)], [f"{day:%A}"], [f"{day:%B}"]]
    assert spread([day], pa.date32()) == spread([day], pa.date64()) == expected


@given(st.datetimes(), st.sampled_from(UNITS[:3]))
def test_the_time_of_day_is_a_fraction_of_the_day(moment, unit):
    resolution = dt.timedelta(**{{"s": "seconds", "ms": "milliseconds", "us": "microseconds"}[unit]: 1})
    moment -= (moment - EPOCH) % resolution
    days, weekday, month = spread([moment], pa.timestamp(unit))
    exact = Fraction((moment - EPOCH) // resolution) / Fraction(dt.timedelta(1) // resolution)
    # The fraction is rounded once and the sum once; the first is the smaller error.
    assert abs(Fraction(days[0]) - exact) <= Fraction(float(np.spacing(abs(days[0]))))
    assert [weekday, month] == [[f"{moment:%A}"], [f"{moment:%B}"]]


@given(moment=st.datetimes(), unit=st.sampled_from(["s", "ms", "us"]))
def test_the_time_of_a_time_stamp_is_what_its_clock_shows_to_the_minute(moment, unit):
    shown = date_columns("born", column([moment, None]).cast(pa.timestamp(unit), safe=False))["born (time)"].to_pylist()
    assert shown == [moment.time().replace(second=0, microsecond=0), None]


def test_midnight_everywhere_tells_no_time():
    midnight = dt.datetime(2024, 2, 29)
    assert not has_times("born", column([midnight, None]))
    assert not has_times("born", column([midnight.date()]))
    assert has_times("born", column([midnight, midnight.replace(second=1)]))
    assert has_times(
        "born", column([midnight], pa.timestamp("s", "UTC")).cast(pa.timestamp("s", "Asia/Kathmandu"))
    )  # a quarter to six there


def test_nanoseconds_before_and_after_the_epoch():
    days, weekday, month = spread([-1, 0, 86_400 * 10**9 // 4], pa.timestamp("ns"))
    assert days == [-1 / 86_400e9, 0.0, 0.25]
    assert weekday == ["Wednesday", "Thursday", "Thursday"]
    assert month == ["December", "January", "January"]


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"d": pd.to_datetime(["2024-02-29 12:00", None])}),
        pd.DataFrame({"d": np.array(["2024-02-29T12", "NaT"], dtype="datetime64[ns]")}),
        pd.DataFrame({"d": np.array(["2024-02-29T12", "NaT"], dtype="datetime64[s]")}),
        pl.DataFrame({"d": [NOON, None]}),
        pl.DataFrame({"d": pl.Series([NOON, None]).cast(pl.Datetime("ms"))}),
        pa.table({"d": pa.chunked_array([pa.array([NOON]), pa.array([None], pa.timestamp("us"))])}),
    ],
    ids=["pandas us", "pandas ns", "pandas s", "polars us", "polars ms", "arrow chunks"],
)
def test_every_library_gives_the_same(frame):
    days, weekday, month, _ = (part.to_pylist() for part in date_columns("d", read_frame(frame).table["d"]).values())
    np.testing.assert_array_equal(days, [(NOON - EPOCH).total_seconds() / 86_400, np.nan])
    assert [weekday, month] == [["Thursday", None], ["February", None]]


@pytest.mark.parametrize("kind", [pa.date32(), pa.date64(), pa.timestamp("ns", tz="UTC")], ids=str)
@pytest.mark.parametrize("n_rows", [0, 2])
def test_a_column_without_a_date_has_no_days(kind, n_rows):
    for chunked in (pa.chunked_array([pa.nulls(n_rows, kind)]), pa.chunked_array([pa.nulls(n_rows, kind)] * 2)):
        days, weekday, month, _ = date_columns("d", chunked).values()
        assert np.isnan(days.to_numpy()).all()
        assert weekday.null_count == month.null_count == len(days) == len(chunked)


def test_a_column_of_no_chunks_has_no_rows():
    assert [len(part) for part in date_columns("d", pa.chunked_array([], pa.date32())).values()] == [0] * 4


# ---------------------------------------------------------------------- time zones


@pytest.mark.parametrize("zone", ["Asia/Shanghai", "America/New_York", "UTC"])
@given(moment=st.datetimes(min_value=dt.datetime(1990, 1, 1), max_value=dt.datetime(2030, 1, 1)))
def test_a_zone_is_read_as_the_clock_on_its_wall_shows_it(zone, moment):
    on_the_wall = moment.replace(tzinfo=dt.UTC).astimezone(ZoneInfo(zone)).replace(tzinfo=None)
    stamp = column([moment], pa.timestamp("us")).cast(pa.timestamp("us", tz=zone))
    zoned = [part.to_pylist() for part in date_columns("d", stamp).values()]
    assert zoned[:3] == spread([on_the_wall], pa.timestamp("us"))


def test_a_zone_that_nobody_knows_is_named_with_the_way_out():
    with pytest.raises(DataError, match=r"time zone 'Mars/Olympus' of column 'd' is not known: .*; convert the column"):
        date_columns("d", column([0], pa.timestamp("s", tz="Mars/Olympus")))


def test_an_hour_that_the_clock_shows_twice_is_the_earlier_and_one_left_out_becomes_the_next():
    kind = pa.timestamp("s", tz="Europe/Berlin")
    twice = (dt.datetime(2024, 10, 27, 2, 30) - EPOCH) / dt.timedelta(1)
    never = (dt.datetime(2024, 3, 31, 2, 30) - EPOCH) / dt.timedelta(1)
    early, after = date_of(np.array([twice, never]), kind).cast(pa.timestamp("s")).to_pylist()  # in UTC
    assert early == dt.datetime(2024, 10, 27, 0, 30)
    assert after == dt.datetime(2024, 3, 31, 1)


# ---------------------------------------------------------------------- and back


def there_and_back(cells, kind):
    days = date_columns("d", column(cells, kind))["d"].to_numpy()
    back = date_of(days, kind)
    assert back.type == kind
    return back.to_pylist()


@given(st.lists(st.none() | st.dates(), max_size=5), st.sampled_from([pa.date32(), pa.date64()]))
def test_days_become_the_date_again(days, kind):
    assert there_and_back(days, kind) == days


@given(st.lists(st.none() | st.datetimes().map(lambda moment: moment.replace(microsecond=0)), max_size=5))
def test_seconds_and_milliseconds_come_back_exactly_in_all_years(moments):
    assert there_and_back(moments, pa.timestamp("s")) == moments
    with_milliseconds = [moment and moment.replace(microsecond=789_000) for moment in moments]
    assert there_and_back(with_milliseconds, pa.timestamp("ms")) == with_milliseconds


@given(st.datetimes(min_value=dt.datetime(1791, 1, 1), max_value=dt.datetime(2149, 1, 1)))
def test_microseconds_come_back_exactly_around_our_time(moment):
    assert there_and_back([moment], pa.timestamp("us")) == [moment]


@given(st.integers(-(2**61), 2**61))  # the years 1896 to 2043
def test_nanoseconds_come_back_to_within_what_a_float_can_hold(ticks):
    kind = pa.timestamp("ns")
    back = date_of(date_columns("d", column([ticks], kind))["d"].to_numpy(), kind).cast(pa.int64())[0].as_py()
    assert abs(back - ticks) <= 200


def test_a_zone_comes_back():
    kind = pa.timestamp("us", tz="America/New_York")
    moments = [dt.datetime(2024, 7, 1, 3, 4, 5, 678, tzinfo=ZoneInfo("America/New_York")), None]
    assert there_and_back(moments, kind) == moments


def test_days_are_rounded_to_the_nearest_tick():
    days = np.array([0.4, 0.6, -0.6])
    assert [(day - EPOCH.date()).days for day in date_of(days, pa.date32()).to_pylist()] == [0, 1, -1]
    assert date_of(days, pa.date64()).cast(pa.int64()).to_pylist() == [0, 86_400_000, -86_400_000]
    assert date_of(np.array([0.4 / 86_400, 1 - 0.4 / 86_400]), pa.timestamp("s")).to_pylist() == [
        EPOCH,
        dt.datetime(1970, 1, 2),
    ]


@pytest.mark.parametrize(
    ("days", "kind"),
    [(106_752.0, pa.timestamp("ns")), (-(2.0**31), pa.date32()), (np.inf, pa.timestamp("s")), (1e300, pa.date64())],
    ids=str,
)
def test_days_that_do_not_fit_into_the_type_are_refused(days, kind):
    with pytest.raises(DataError, match=r"days since 1970-01-01 do not fit into .*; take a type of a coarser unit"):
        date_of(np.array([0.0, days]), kind)


# ---------------------------------------------------------------------- times of day and durations


@pytest.mark.parametrize("kind", [pa.time64("us"), pa.time64("ns")], ids=str)
@given(time=st.none() | st.times())
def test_a_time_of_day_is_seconds_since_midnight_and_comes_back(kind, time):
    seconds = seconds_of(column([time], kind))
    assert time_of(seconds, kind).to_pylist() == [time]
    midnight = dt.datetime.combine(EPOCH, time or dt.time(0)) - EPOCH
    np.testing.assert_array_equal(seconds, [np.nan if time is None else midnight.total_seconds()])


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("seconds", [0, 3600, -90, None])
def test_a_duration_is_seconds_and_comes_back(unit, seconds):
    kind = pa.duration(unit)
    cells = [None if seconds is None else dt.timedelta(seconds=seconds)]
    found = seconds_of(column(cells, kind))
    np.testing.assert_array_equal(found, [np.nan if seconds is None else seconds])
    assert time_of(found, kind).equals(pa.array(cells, kind))


@pytest.mark.parametrize("kind", [pa.time32("s"), pa.time32("ms")], ids=str)
def test_a_time_of_day_outside_of_the_day_runs_round_the_clock(kind):
    seconds = np.array([-1.0, 86_399.9999, 86_400.0, 90_000.0])
    expected = [dt.time(23, 59, 59), dt.time(0), dt.time(0), dt.time(1)]
    assert time_of(seconds, kind).to_pylist() == expected


def test_a_duration_that_does_not_fit_is_refused():
    with pytest.raises(DataError, match=r"1e\+12 seconds do not fit into duration\[ns\], which holds"):
        time_of(np.array([1e12]), pa.duration("ns"))
