"""Dates with names of months and zones, times of day, and what else people write: each is read as a person reads it."""

import re
from datetime import UTC, date, datetime, time

import pyarrow as pa
import pytest

from bayeswater.data.reading.date_style import DateStyle
from bayeswater.data.reading.style_search import StyleSearch
from bayeswater.data.reading.written_dates import MONTH_NUMBERS, MONTHS, date_parts, with_time


def read(*cells: str) -> tuple[str, list[object]]:
    """Read a column, and say of which kind it is."""
    column = pa.chunked_array([list(cells)])
    search = StyleSearch()
    search.add(column)
    style = search.found().style
    return style.kind, style.read(column, "x").to_pylist()


DAYS = date(2024, 1, 1), date(2023, 8, 15), date(2022, 12, 31)


@pytest.mark.parametrize(
    "cells",
    [
        ("1. Januar 2024", "15. August 2023", "31. Dezember 2022"),
        ("1 janvier 2024", "15 août 2023", "31 déc. 2022"),
        ("1er janvier 2024", "15 AOUT 2023", "31 décembre 2022"),
        ("1 de enero de 2024", "15 de agosto de 2023", "31 de diciembre de 2022"),
        ("1 gennaio 2024", "15 agosto 2023", "31 dicembre 2022"),
        ("1 de janeiro de 2024", "15 de agosto de 2023", "31 de dezembro de 2022"),
        ("1 januari 2024", "15 augustus 2023", "31 december 2022"),
        ("Monday, January 1st, 2024", "Tuesday, August 15th, 2023", "Saturday, December 31st, 2022"),
        ("2024年1月1日", "2023年8月15日", "2022年12月31日"),
        ("01/Jan/2024", "15/Aug/2023", "31/Dec/2022"),
    ],
)
def test_a_month_has_a_name_in_many_languages(cells: tuple[str, ...]) -> None:
    assert read(*cells) == ("date", list(DAYS))


def test_every_name_of_a_month_is_the_same_month_with_and_without_accents() -> None:
    assert len(MONTHS) == 12
    for name, number in MONTH_NUMBERS.items():
        upper = name.upper() if len(name.upper()) == len(name) else name  # ΐ is three signs when it is large
        assert read(f"3 {name} 2021", f"04 {upper}. 1999")[1] == [date(2021, number, 3), date(1999, number, 4)]


@pytest.mark.parametrize("word", ["since 1 Jan 2024", "1 Foo 2024", "Version 1 May 2024"])
def test_words_that_are_no_day_and_no_month_stay_words(word: str) -> None:
    assert read(word, word.replace("1", "2"), "3 Jan 2020")[0] == "plain"


@pytest.mark.parametrize(
    "cells",
    [
        ("2024-01-01 10:30:00 UTC", "2024-01-01 12:30:00+02:00"),
        ("Mon, 01 Jan 2024 10:30:00 GMT", "Mon, 01 Jan 2024 11:30:00 +0100"),
        ("Mon Jan  1 11:30:00 CET 2024", "Mon Jan 1 05:30:00 EST 2024"),
        ("01.01.2024 10:30 GMT", "01.01.2024 12:30 UTC+2"),
        ("01.01.2024 11:30 MEZ", "01.01.2024 02:30:00 PST"),
        ("2024-01-01 10:30:00 +0000 UTC", "2024-01-01T11:30+01:00[Europe/Berlin]"),
        ("1 Jan 2024 11:30:00 GMT+0100 (Central European Standard Time)", "1 Jan 2024 10:30:00 Z"),
        ("01/Jan/2024:10:30:00 +0000", "01/Jan/2024:03:30:00 -0700"),
    ],
)
def test_a_zone_is_read_in_every_way_it_is_written(cells: tuple[str, ...]) -> None:
    assert read(*cells) == ("date", [datetime(2024, 1, 1, 10, 30, tzinfo=UTC)] * len(cells))


@pytest.mark.parametrize("clock", ["9:15", "10:15", "10:15:30", "1:15:30 pm", ""])
def test_a_clock_of_any_length_may_stand_behind_eight_digits(clock: str) -> None:
    kind, values = read(f"20231231 {clock}".strip(), f"20240105 {clock}".strip())
    days = [value.date() if isinstance(value, datetime) else value for value in values]
    assert (kind, days) == ("date", [date(2023, 12, 31), date(2024, 1, 5)])


def test_a_zone_of_two_meanings_is_not_read() -> None:
    assert read("2024-01-01 10:00 CST", "2024-01-02 10:00 CST")[0] == "plain"


@pytest.mark.parametrize(
    "cell", ["31.12.2023 14:30 Uhr", "31.12.2023 14.30", "31.12.2023, 2:30 pm", "31.12.2023 14:30"]
)
def test_a_time_of_day_behind_a_date_is_written_with_words_and_points(cell: str) -> None:
    assert read(cell, "30.12.2023 08:15:30")[1] == [datetime(2023, 12, 31, 14, 30), datetime(2023, 12, 30, 8, 15, 30)]


def test_a_time_of_day_stands_alone() -> None:
    assert read("8:15", "11:59 PM", "12:05 am", "-") == ("clock", [time(8, 15), time(23, 59), time(0, 5), None])
    assert read("8:15", "25:10")[0] == "plain"


@pytest.mark.parametrize("format", ["%d.%m.%Y", "%m/%d/%Y", "%d %b %Y"])
def test_a_year_that_stands_first_leaves_no_doubt_whatever_the_format_is(format: str) -> None:
    cells = pa.chunked_array([["2023-12-31", None]])
    assert DateStyle(format=format).read(cells, "x").to_pylist() == [date(2023, 12, 31), None]
    instants = pa.chunked_array([["2023-12-31T10:00:00", "2023-12-31 10:00"]])
    assert DateStyle(format=format, time="local").read(instants, "x").to_pylist() == [datetime(2023, 12, 31, 10)] * 2


def test_a_minus_stands_behind_a_number() -> None:
    assert read("1.234,56-", "500,00", "12,10- €") == ("number", [-1234.56, 500.0, -12.1])
    assert read("12-34-", "1-")[0] == "plain"


@pytest.mark.parametrize(
    "words", [("ja", "nein"), ("VRAI", "FAUX"), ("sí", "no"), ("Sim", "Não"), ("да", "нет"), ("真", "假")]
)
def test_true_and_false_have_words_in_many_languages(words: tuple[str, str]) -> None:
    assert read(*words, words[0]) == ("truth", [True, False, True])


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string()])
def test_parts_are_the_same_shape_by_shape_and_cell_by_cell(kind: pa.DataType) -> None:
    days = [
        "31.12.2023",
        "1.2.24",
        "32.13.2023",
        "03. März 2024",
        "Mi., 3 févr. 2024",
        "x",
        "",
        None,
        "２.1.2023",
        "2023-1-2",
    ]
    clocks = ["", " 14:05", ", 2:05 PM", " 9.30.15 Uhr", " 09:30:15.1234567", " 09:30:15,12345600", " 23:59:59 +02:00"]
    clocks += [" 23:59:59 UTC−5 (abc)", " 23:59 MESZ", " 1:2", "T12:00Z"]
    cells = [None if day is None else day + clock for day in days for clock in clocks]
    strings = pa.array(["before", *cells], kind).slice(1)
    for format in ("%d.%m.%Y", "%d.%m.%y", "%d %b %Y", "%Y-%m-%d", "%d.%m.9%y"):
        pattern = re.compile(with_time(format), re.ASCII)
        parts, missing = date_parts(strings, pattern.pattern)
        for row, cell in enumerate(cells):
            match = pattern.fullmatch(cell or "")
            assert missing[row] == (match is None), cell
            if match is not None:
                read = {name: int(match[name] or 0) for name in "dmYyHMS" if name in match.re.groupindex}
                assert read == {name: parts[name][row] for name in read}, cell
