"""Strings that look like numbers or dates are hinted at, and those that are what they seem are not."""

import numpy as np
import pyarrow as pa
import pytest

from bayeswater.data.lookalikes import hint_at

NUMBERS = [f"{k}.5" for k in range(30)]


def hint(*cells):
    counted = pa.array(cells).value_counts()
    return hint_at(counted.field("values"), np.array(counted.field("counts")))


@pytest.mark.parametrize(
    "form",
    [
        *(
            "2023-{m:02}-{d:02}",
            "2023/{m:02}/{d:02}",
            "2023.{m}.{d}",
            "{d:02}.{m:02}.2023",
            "{m}/{d}/23",
            "{d}-{m}-2023",
        ),
        *("2023年{m}月{d}日", "{m}/{d}/2023 4:05 PM", "2023-{m:02}-{d:02}T10:00:00Z", "{d:02}.{m:02}.2023, 10:00"),
    ],
)
def test_dates_of_every_country_are_hinted_at(form):
    assert hint(*(form.format(m=m, d=m + 9) for m in range(1, 13))).startswith("100 % look like dates: write all")


@pytest.mark.parametrize("marker", ["-", "unknown", "n.a.", "?", "#DIV/0!", "无", "3\x00"])
def test_a_word_for_missing_cells_among_numbers_is_named(marker):
    found = hint(*NUMBERS, marker, marker)
    assert found.startswith(f"94 % are numbers, all but {marker!r} (2 x): correct these cells, or name what stands")
    assert found.endswith(f"bayeswater.local_rows(source, missing=[{marker!r}])")


def test_the_most_frequent_word_among_numbers_is_named_first():
    assert "all but 'b' (3 x), 'a' (1 x), 'c' (1 x):" in hint(*NUMBERS, "a", "b", "b", "b", "c")


@pytest.mark.parametrize(
    "form",
    ["${k},000.00", "{k} %", "{k}.5%", "€{k}", "-{k} EUR", "{k}'000", "1.234.{k}00,50", "({k},250.00)", "{k}00元"],
)
def test_numbers_with_signs_and_groups_are_hinted_at(form):
    assert hint(*(form.format(k=k) for k in range(1, 10))).startswith("100 % look like numbers with a currency, a")


def test_a_comma_before_three_digits_throughout_is_not_taken_for_that_of_decimals():
    assert "groups of digits" in hint("1,234", "12,345", "123,456")
    assert "decimal comma" in hint("1,234", "12,345", "0,456")
    assert "decimal comma" in hint("1,234", "12,345", "123,45")


@pytest.mark.parametrize(
    "cells",
    [
        pytest.param(NUMBERS, id="numbers that were made strings"),
        pytest.param([f"0{k}" for k in range(1000, 1030)], id="codes with zeros before them"),
        pytest.param([*NUMBERS, *(f"A{k}" for k in range(6))], id="codes of digits and letters"),
        pytest.param(["1", "2", "3", "none"] * 9, id="names of few things"),
        pytest.param([f"{k}-{k + 9}" for k in range(0, 90, 10)], id="intervals"),
        pytest.param([f"192.168.{k}.1" for k in range(30)], id="addresses"),
        pytest.param([f"{k}:30" for k in range(24)], id="times of day"),
        pytest.param([f"{k}th" for k in range(4, 20)], id="ordinals"),
        pytest.param([f"+49 221 {k}" for k in range(4000, 4020)], id="telephones"),
        pytest.param(["red", "green", "7"], id="words"),
    ],
)
def test_strings_that_are_what_they_seem_are_not_hinted_at(cells):
    assert hint(*cells) == ""
