"""Strings that look like numbers or dates are hinted at, and those that are what they seem are not.

What a column holds is told from its type and its values, alike for every library; both sides of every threshold.
"""

import datetime as dt
import re
import sys
import unicodedata
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayeswater import DataError
from bayeswater.data.frames import read_frame
from bayeswater.data.reading import column_kinds
from bayeswater.data.reading.column_kinds import BLANK, CJK, ColumnKind, hint_at, kind_of

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


@pytest.mark.parametrize("form", ["2023-W{:02}", "2023-{:02}", "Q{} 2023", "kw {}/2023", "2023Q{}"])
def test_months_weeks_and_quarters_are_hinted_at(form):
    assert hint(*map(form.format, range(1, 13))).startswith("100 % look like months, weeks or quarters")


@pytest.mark.parametrize(
    ("name", "low", "said"),
    [
        ("order_date", 44000, "days as Excel counts them, 2020-06-18 to 2020-07-15"),
        ("Buchungsdatum", 44000, "days as Excel counts them"),
        ("OrderDate", 44000.25, "days as Excel counts them, 2020-06-18 to"),
        ("日期", 44000, "days as Excel counts them"),
        ("timestamp", 1.6e9, "seconds since 1970, 2020-09-13 to 2020-09-13"),
        ("candidate", 44000, ""),
        ("date", 400, ""),
    ],
)
def test_numbers_under_the_name_of_a_date_are_hinted_at(name, low, said):
    found = kind_of(name, pa.chunked_array([[low + 3 * (k % 10) for k in range(30)]]), declared=False)
    assert said in found.hint if said else not found.hint


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


DAY = dt.date(2024, 2, 29)
NOON = dt.datetime(2024, 2, 29, 12)


def kind_in(frame):
    """Judge the column "c" of a frame, as a model does."""
    read = read_frame(frame)
    return kind_of("c", read.table.column("c"), declared="c" in read.declared)


def judge(cells, kind=None):
    return kind_of("c", pa.chunked_array([pa.array(cells, kind)]), declared=False)


# ---------------------------------------------------------------------- types

PANDAS = {
    "object strings": (pd.Series(["a", None, "b"], dtype=object), "category"),
    "str": (pd.Series(["a", None, "b"], dtype="str"), "category"),
    "string": (pd.Series(["a", pd.NA, "b"], dtype="string"), "category"),
    "category": (pd.Series(["a", None, "b"], dtype="category"), "category"),
    "category of numbers": (pd.Series([1.5, None, 2], dtype="category"), "category"),
    "bool": (pd.Series([True, False]), "flag"),
    "boolean": (pd.Series([True, pd.NA], dtype="boolean"), "flag"),
    "object booleans": (pd.Series([True, None], dtype=object), "flag"),
    "int8": (pd.Series([3, 4], dtype="int8"), "number"),
    "uint64": (pd.Series([2**64 - 1, 0], dtype="uint64"), "number"),
    "Int64": (pd.Series([1, pd.NA, 2], dtype="Int64"), "number"),
    "float32": (pd.Series([1.5, np.nan], dtype="float32"), "number"),
    "object decimals": (pd.Series([Decimal("1.5"), None], dtype=object), "number"),
    "datetime": (pd.Series(pd.to_datetime(["2024-02-29", None])), "date"),
    "datetime in ns": (pd.Series(np.array(["2024-02-29", "NaT"], dtype="datetime64[ns]")), "date"),
    "datetime with zone": (pd.Series(pd.to_datetime(["2024-02-29"])).dt.tz_localize("Asia/Tokyo"), "date"),
    "object dates": (pd.Series([DAY, None], dtype=object), "date"),
    "timedelta": (pd.Series(pd.to_timedelta(["1h", None])), "number"),
    "all missing": (pd.Series([None, None], dtype=object), "empty"),
    "all NaN": (pd.Series([np.nan, np.nan]), "empty"),
    "all NA": (pd.Series([pd.NA], dtype="boolean"), "empty"),
}

POLARS = {
    "String": (pl.Series(["a", None, "b"]), "category"),
    "Categorical": (pl.Series(["a", None, "b"]).cast(pl.Categorical), "category"),
    "Enum": (pl.Series(["a", None, "b"]).cast(pl.Enum(["a", "b", "z"])), "category"),
    "Boolean": (pl.Series([True, None]), "flag"),
    "UInt8": (pl.Series([3, None], dtype=pl.UInt8), "number"),
    "Float32": (pl.Series([0.5, None], dtype=pl.Float32), "number"),
    "Decimal": (pl.Series([Decimal("1.25"), None]), "number"),
    "Date": (pl.Series([DAY, None]), "date"),
    "Datetime": (pl.Series([NOON, None]), "date"),
    "Datetime in ms with zone": (pl.Series([NOON]).cast(pl.Datetime("ms")).dt.replace_time_zone("UTC"), "date"),
    "Time": (pl.Series([dt.time(1), None]), "number"),
    "Duration": (pl.Series([dt.timedelta(1), None]), "number"),
    "Null": (pl.Series([None, None]), "empty"),
    "all NaN": (pl.Series([np.nan, None]), "empty"),
    "Categorical without a value": (pl.Series([None], dtype=pl.Categorical), "empty"),
    "Enum without a value": (pl.Series([None], dtype=pl.Enum(["a", "b"])), "category"),
}

ARROW = {
    "string": (pa.array(["a", None]), "category"),
    "large_string": (pa.array(["a", None], pa.large_string()), "category"),
    "string_view": (pa.array(["a", None], pa.string_view()), "category"),
    "dictionary": (pa.array(["a", None]).dictionary_encode(), "category"),
    "dictionary of numbers": (pa.array([1.5, None]).dictionary_encode(), "category"),
    "dictionary of dates": (pa.array([DAY, None]).dictionary_encode(), "category"),
    "dictionary of nothing": (pa.array([None], pa.string()).dictionary_encode(), "empty"),
    "bool": (pa.array([True, None]), "flag"),
    "float16": (pa.array([1.5, None], pa.float16()), "number"),
    "decimal128": (pa.array([Decimal("1.25"), None]), "number"),
    "decimal256": (pa.array([Decimal("1.25"), None], pa.decimal256(50, 2)), "number"),
    "date32": (pa.array([DAY, None], pa.date32()), "date"),
    "date64": (pa.array([DAY, None], pa.date64()), "date"),
    "timestamp in s": (pa.array([NOON, None], pa.timestamp("s")), "date"),
    "timestamp in ns with zone": (pa.array([NOON, None], pa.timestamp("ns", tz="Europe/Berlin")), "date"),
    "time32": (pa.array([dt.time(1), None], pa.time32("s")), "number"),
    "time64": (pa.array([dt.time(1), None], pa.time64("ns")), "number"),
    "duration": (pa.array([dt.timedelta(1), None], pa.duration("ms")), "number"),
    "null": (pa.nulls(3), "empty"),
    "date without a value": (pa.nulls(3, pa.date32()), "empty"),
    "string without a value": (pa.nulls(3, pa.string()), "empty"),
    "no row": (pa.array([], pa.float64()), "empty"),
    "no row of strings": (pa.array([], pa.string()), "empty"),
}


@pytest.mark.parametrize("name", PANDAS)
def test_every_dtype_of_pandas_has_its_kind(name):
    cells, kind = PANDAS[name]
    assert kind_in(pd.DataFrame({"c": cells})).kind == kind


@pytest.mark.parametrize("name", POLARS)
def test_every_dtype_of_polars_has_its_kind(name):
    cells, kind = POLARS[name]
    assert kind_in(pl.DataFrame({"c": cells})).kind == kind


@pytest.mark.parametrize("name", ARROW)
def test_every_type_of_arrow_has_its_kind(name):
    cells, kind = ARROW[name]
    assert kind_in(pa.table({"c": cells})).kind == kind


@pytest.mark.parametrize(
    "cells",
    [
        pa.array([[1, 2]]),
        pa.array([{"a": 1}]),
        pa.array([b"bytes"]),
        pa.nulls(2, pa.list_(pa.int64())),
        pa.array([(1, 2, 3)], pa.month_day_nano_interval()),
        pa.array(pd.period_range("2024", periods=1, freq="M")),
    ],
    ids=lambda cells: str(cells.type)[:12],
)
def test_a_type_that_cannot_be_read_is_refused_with_its_name_and_the_way_out(cells):
    message = rf"column 'c' holds {re.escape(str(cells.type))}, which is neither .*; convert it to one of these"
    with pytest.raises(DataError, match=message):
        kind_of("c", pa.chunked_array([cells]), declared=False)


def test_declared_categories_stay_categories_however_long_or_distinct():
    letters = pd.Categorical([f"a letter number {i}" for i in range(100)])
    assert kind_in(pd.DataFrame({"c": letters})) == ColumnKind("category", "100 declared")
    numbers = pl.Series([f"n{i}" for i in range(100)]).cast(pl.Categorical)
    assert kind_in(pl.DataFrame({"c": numbers})) == ColumnKind("category", "categories by type")


def test_declared_categories_are_counted_over_all_chunks():
    chunks = [pa.array(["a", "b"]).dictionary_encode(), pa.array(["b", "c"]).dictionary_encode()]
    assert kind_in(pa.table({"c": pa.chunked_array(chunks)})).why == "3 declared"


# ---------------------------------------------------------------------- numbers and flags


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        ([0, 1, None], ColumnKind("flag", "only 0 and 1")),
        ([0.0, 1.0, np.nan], ColumnKind("flag", "only 0 and 1")),
        ([1, 1], ColumnKind("flag", "only 1")),
        ([Decimal("0.0"), Decimal("1.0")], ColumnKind("flag", "only 0 and 1")),
        ([0, 1, 2], ColumnKind("number", "whole numbers from 0 to 2")),
        ([-1, 0, 1], ColumnKind("number", "whole numbers from -1 to 1")),
        ([0.0, 0.5, 1.0], ColumnKind("number", "numbers from 0 to 1, not all whole")),
        ([1.0, None, 7.0], ColumnKind("number", "whole numbers from 1 to 7")),
        ([7], ColumnKind("number", "whole numbers from 7 to 7")),
        ([True, None], ColumnKind("flag", "true or false")),
        ([dt.time(0, 0, 1)], ColumnKind("number", "times of day in seconds, all whole, from 1 to 1")),
        (
            [dt.timedelta(milliseconds=1500)],
            ColumnKind("number", "durations in seconds, not all whole, from 1.5 to 1.5"),
        ),
    ],
    ids=str,
)
def test_numbers_say_whether_they_are_whole_and_flags_are_only_0_and_1(cells, expected):
    assert judge(cells) == expected


def test_a_flag_is_judged_by_every_row_of_the_column():
    cells = np.zeros(column_kinds.SAMPLED + 1, dtype=np.int64)
    assert judge(cells).kind == "flag"
    cells[-1] = 2
    assert judge(cells).kind == "number"


# ---------------------------------------------------------------------- text

SHORT_AND_LONG = [
    ("two words", "now three words"),
    ("  two   words  ", " now three words "),
    ("two\tdifferent", "with\tthree\ndifferent"),
    ("全角　空白", "全角　空白　三"),  # ideographic blanks
    ("今天天气非常好", "今天天气非常好啊"),  # 7 and 8 characters
    ("今天，天气，非常好！", "今天，天气，非常好啊！"),  # punctuation is not counted
    ("ありがとうね", "ありがとうございます"),
    ("コーヒーメー", "コーヒーメーカーです"),  # the mark of a long vowel is a character
    ("안녕하세요", "안녕하십니까여러분"),
    ("A今B天C天D气E非F常G好", "A今B天C天D气E非F常G好H啊"),  # Latin letters in between
    ("onelongwordwithoutanyblank", "one long word"),
]


@pytest.mark.parametrize(("short", "long"), SHORT_AND_LONG)
def test_text_begins_at_three_words_or_eight_cjk_characters(short, long):
    assert judge([short] * 3).kind == "category"
    assert judge([long] * 3).kind == "text"
    assert judge([short]).kind == "category"
    assert judge([long]).kind == "text"


def test_the_median_string_decides_and_missing_cells_have_no_vote():
    long, short = [f"now three words {i}" for i in range(50)], [f"two words{i}" for i in range(51)]
    assert judge(long + short[:50] + [None] * 1000).kind == "text"
    assert judge(long[:49] + short + [None] * 1000).kind == "category"


def test_answers_chosen_from_a_list_are_categories_however_long():
    answers = ["less than a year", "one to five years", "more than five years"]
    assert judge(answers * 10).kind == "category"
    assert judge(answers * 9 + answers[:2]).kind == "text"
    written = [f"my own words {i}" for i in range(6)]
    assert judge(answers * 32 + written[:5]).kind == "category"  # 5 % are written freely
    assert judge(answers * 32 + written).kind == "text"


def test_a_column_of_two_languages_is_text_though_neither_has_the_median():
    assert judge(["see you at eight", "今天晚上八点见面吧"] * 9).kind == "text"


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        (pd.Series(["now three words"] * 2, dtype=object), "text"),
        (pd.Series(["now three words"] * 2, dtype="string"), "text"),
        (pl.Series(["now three words"] * 2), "text"),
        (pa.array(["now three words"] * 2, pa.string_view()), "text"),
    ],
    ids=["object", "string", "polars", "view"],
)
def test_text_is_text_in_every_library(cells, kind):
    frame = {"c": cells}
    make = pd.DataFrame if isinstance(cells, pd.Series) else pl.DataFrame if isinstance(cells, pl.Series) else pa.table
    assert kind_in(make(frame)) == ColumnKind(kind, "100 % of 2 strings have 3 words or 8 CJK characters or more")


@given(
    st.text(alphabet=st.sampled_from("ab \t\n\r\x0b\x0c\x1c\x85\xa0\u2003\u3000\u200b你よーカ한，。々"), max_size=30)
)
def test_the_search_finds_what_counting_finds(string):
    n_words = len(string.split())
    n_cjk = sum(letter in "你よーカ한々" for letter in string)
    assert (judge([string]).kind == "text") == (n_words >= 3 or n_cjk >= 8)


def test_cjk_characters_are_the_letters_that_unicode_calls_so_and_blanks_are_those_of_split():
    everything = [chr(i) for i in range(sys.maxunicode + 1) if unicodedata.category(chr(i)) not in ("Cs", "Cn")]
    column = pa.array(everything, pa.large_string())
    called_so = re.compile(r"\b(CJK|HIRAGANA|HENTAIGANA|KATAKANA|HANGUL|BOPOMOFO|IDEOGRAPHIC)\b")
    letters = {
        character
        for character in everything
        if unicodedata.category(character) in ("Lo", "Lm", "Nl") and called_so.search(unicodedata.name(character, ""))
    }

    def found(pattern):
        return set(column.filter(pc.match_substring_regex(column, pattern=pattern)).to_pylist())

    assert found(f"[{CJK}]") == letters
    assert found(f"[{BLANK}]") == {character for character in everything if character.isspace()}


# ---------------------------------------------------------------------- identifiers


def names(n_strings, n_distinct):
    return [f"row-{min(i, n_distinct - 1)}" for i in range(n_strings)]


@pytest.mark.parametrize(
    ("n_strings", "n_distinct", "kind"),
    [
        (100, 95, "category"),
        (100, 96, "identifier"),
        (140, 133, "category"),  # 0.95 * 140 is 133 only in exact arithmetic
        (140, 134, "identifier"),
        (20, 19, "category"),
        (20, 20, "identifier"),
        (19, 19, "category"),  # too few to tell
        (1, 1, "category"),
    ],
)
def test_an_identifier_is_distinct_in_over_95_percent_of_at_least_20_rows(n_strings, n_distinct, kind):
    assert judge(names(n_strings, n_distinct)).kind == kind
    assert judge([*names(n_strings, n_distinct), *[None] * 50]).kind == kind


def test_one_blank_inside_a_string_shows_that_they_are_no_identifiers():
    assert judge([*names(99, 99), "row 99"]).kind == "category"
    assert judge([*names(99, 99), " row-99 "]).kind == "identifier"  # padding is no blank inside


def test_distinct_texts_are_text_and_no_identifiers():
    assert judge([f"今天第{i}次天气非常好" for i in range(100)]).kind == "text"


def test_distinct_numbers_are_numbers_and_no_identifiers():
    assert judge(range(1000)).kind == "number"


def test_the_reason_has_the_figures():
    assert judge(names(1000, 999)).why == "99.9 % of 1000 strings are distinct, without blanks"
    assert judge(names(40, 3)).why == "3 distinct among 40 strings"
    assert judge(["a b c", "d e f", "g"]).why == "67 % of 3 strings have 3 words or 8 CJK characters or more"


# ---------------------------------------------------------------------- the sample


def test_strings_are_judged_by_the_first_that_have_a_value(monkeypatch):
    monkeypatch.setattr(column_kinds, "SAMPLED", 30)
    first, rest = names(30, 30), [f"one and the same {i // 2}" for i in range(100)]
    assert judge(first + rest) == ColumnKind("identifier", "100 % of the first 30 strings are distinct, without blanks")
    assert judge([None] * 45 + first + rest).kind == "identifier"
    assert judge([None] * 45 + first[:29] + rest[:1]).kind == "category"
    assert judge(rest + first).kind == "text"


@pytest.mark.parametrize(
    "cells", [names(60, 60), ["red", "green", None] * 20, ["now three words"] * 60], ids=lambda c: c[0]
)
def test_chunks_do_not_matter(cells):
    chunks = [cells[:1], [], cells[1:25], cells[25:]]
    chunked = pa.chunked_array([pa.array(chunk, pa.string()) for chunk in chunks])
    assert kind_of("c", chunked, declared=False) == judge(cells)


@pytest.mark.parametrize("sampled", [30, 1000])
@pytest.mark.parametrize(
    "cells",
    [names(60, 60), ["red", "green", None] * 20, ["now three words"] * 60, [None] * 60, [f"{i},5" for i in range(60)]],
    ids=lambda c: str(c[0]),
)
def test_strings_that_are_a_dictionary_by_storage_alone_are_judged_as_strings(cells, sampled, monkeypatch):
    monkeypatch.setattr(column_kinds, "SAMPLED", sampled)
    column = pa.chunked_array([pa.array(part, pa.string()) for part in (cells[:25], cells[25:])])
    parts = [chunk.dictionary_encode() for chunk in column.chunks]  # each with a dictionary of its own
    found = kind_of("c", pa.chunked_array(parts), declared=False, stored=True)
    assert found == kind_of("c", column, declared=False) == judge(cells)


@pytest.mark.parametrize("cells", [pd.cut([1.0, 2.0, 9.0], 2), pd.Categorical(pd.period_range("2024-01", periods=3))])
def test_categories_that_only_pandas_knows_are_read_by_their_text(cells):
    frame = read_frame(pd.DataFrame({"x": cells}))
    assert kind_of("x", frame.table.column("x"), declared=True).kind == "category"
    assert frame.table.column("x").to_pylist() == [str(cell) for cell in cells]
    assert frame.table.column("x").chunk(0).dictionary.to_pylist() == [str(label) for label in cells.categories]


def test_categories_that_are_no_labels_are_refused_by_name():
    column = pa.chunked_array([pa.DictionaryArray.from_arrays([0, 1, 0], pa.array([[1, 2], [3]]))])
    with pytest.raises(DataError, match=r"column 'x' has categories of type list<item: int64>, which are no labels"):
        kind_of("x", column, declared=True)


@pytest.mark.parametrize(("n_cells", "kind"), [(30, "identifier"), (10, "category")])
def test_numbers_with_decimal_commas_are_hinted_at(n_cells, kind):
    found = kind_of("x", pa.chunked_array([[f"{i - 3},{i}5" for i in range(n_cells)]]), declared=False)
    assert found.kind == kind
    assert found.hint == "100 % look like numbers with a decimal comma: read the file with decimal=','"


@pytest.mark.parametrize("cells", [["1.5", "2.5"], ["1,5", "2", "3"], ["a,b", "c,d"], ["1,234,567", "2,345,678"]])
def test_other_strings_are_not_taken_for_numbers_with_decimal_commas(cells):
    assert "decimal comma" not in kind_of("x", pa.chunked_array([cells]), declared=False).hint


@pytest.mark.parametrize("first", [0, 1, 100])
@pytest.mark.parametrize("dtype", [np.int64, np.uint8, np.float64])
def test_numbers_of_rows_are_hinted_at(first, dtype):
    column = pa.chunked_array([np.arange(first, first + 40).astype(dtype)])
    assert "may only number the rows" in kind_of("x", column, declared=False).hint


@pytest.mark.parametrize(
    "cells",
    [
        range(19),
        [*range(30), 29],
        range(30, 0, -1),
        range(0, 60, 2),
        [*range(2000), 0],
        [None, *range(30)],
        [np.inf] * 30,
        [1e17] * 30,
    ],
)
def test_other_numbers_are_not_taken_for_numbers_of_rows(cells):
    assert kind_of("x", pa.chunked_array([list(cells)]), declared=False).hint == ""


def test_months_before_their_years_are_no_numbers():
    column = pa.chunked_array([[1 + 0.2023, 12.2023, None, 3.2024]])
    assert "months, 01.2023 to 12.2023" in kind_of("m", column, declared=False).hint
    assert not kind_of("m", pa.chunked_array([[1.2023, 12.2023, 3.21]]), declared=False).hint
