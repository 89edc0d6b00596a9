"""What a column holds, from its type and its values: a category, a flag, numbers, text, dates, an identifier, nothing.

The rules, in the order in which they are asked:

==========  ==========================================================================================================
empty       no cell has a value
category    categories by type: pandas Categorical, polars Categorical and Enum, any Arrow dictionary
flag        booleans, and numbers that are only 0 and 1
number      integers, floats, decimals; times of day and durations, in seconds
date        dates and time stamps
text        strings, at least half of which have 3 words or 8 CJK characters or more: the median string is that long;
            not where nearly all occur 10 times or more, as answers do that are chosen from a list
identifier  strings of one word each, over 95 % of which are distinct: a name of the row, from which nothing is learned
category    all other strings
==========  ==========================================================================================================

"3 words or 8 characters" is asked of each string, so that a column of English and Chinese messages is text although
neither half has the median. The kind of strings is told from the first `SAMPLED` cells that have a value, numbers by
all.

Some strings only look like categories. A program that exports a table may write numbers with a decimal comma, a
currency or groups of three digits, dates as its country has them, or a word for what is missing among the numbers. All
these arrive as strings, and would be taken for categories: nothing fails, and all that the numbers could tell is lost.
Where every cell is written so, they are read (`style_search`) before they come here; the rest is hinted at.
Strings that are plain numbers without exception are no accident: somebody has made codes of them.
"""

import re
from dataclasses import field, replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from bayeswater.data.cells import is_missing, label_values
from bayeswater.data.frames import as_numpy
from bayeswater.data.reading.cell_style import CellStyle, bytes_in, matching
from bayeswater.data.reading.dates import seconds_of
from bayeswater.data.reading.missing_codes import hint_of_codes
from bayeswater.errors import DataError
from bayeswater.phrases import own_reasons
from bayeswater.records import record
from bayeswater.typing import Array

if TYPE_CHECKING:
    import pyarrow as pa

own_reasons(
    {
        "number": "数值",
        "no cell has a value": "没有单元格有值",
        "true or false": "真或假",
        "{n} declared": "声明了 {n} 个",
        "categories by type": "类型为类别",
        "only 0 and 1": "只有 0 和 1",
        "only {n}": "只有 {n}",
        "whole numbers from {n} to {high}": "{n} 到 {high} 的整数",
        "numbers from {n} to {high}": "{n} 到 {high} 的数",
        "numbers from {n} to {high}, not all whole": "{n} 到 {high} 的数，不全是整数",
        "{what} in seconds, all whole, from {n} to {high}": "{what}（秒），全为整数，{n} 到 {high}",
        "{what} in seconds, not all whole, from {n} to {high}": "{what}（秒），不全是整数，{n} 到 {high}",
        "times of day": "一天中的时间",
        "durations": "时长",
        "{n} strings": "{n} 个字符串",
        "the first {n} strings": "前 {n} 个字符串",
        "{share} of {what} have {words} words or {letters} CJK characters or more": (
            "{what}中 {share} 至少有 {words} 个词或 {letters} 个汉字"
        ),
        "{share} of {what} are distinct, without blanks": "{what}中 {share} 互不相同且无空格",
        "{distinct} distinct among {what}": "{what}中有 {distinct} 个不同的",
        "values of type {kind}": "类型为 {kind} 的值",
        "{share} look like numbers with a decimal comma: read the file with decimal=','": (
            "{share} 像是以逗号为小数点的数：读文件时请用 decimal=','"
        ),
        "{share} look like dates: write all of them as {example}, or make dates of the column, as {function} does": (
            "{share} 像是日期：请都写作 {example}，或像 {function} 那样把该列变为日期"
        ),
        "{share} look like numbers with a currency, a percent sign or groups of digits: {fix}": (
            "{share} 像是带货币、百分号或数字分组的数：请写作普通的数"
        ),
        "they are numbers with a unit, {listed}, and read as words: write the numbers alone": (
            "它们是带单位的数（{listed}），却被当作文字：请只写数"
        ),
        "they are numbers of mixed units, {listed}, and read as words: {fix}": (
            "它们是单位不一的数（{listed}），却被当作文字：请换算成同一单位，只写数"
        ),
        "{share} look like months, weeks or quarters, whose order is lost: write the first day of each, as {example}": (
            "{share} 像是年月、周或季度，其先后会丢失：请写作各自的第一天，如 {example}"
        ),
        "they may be days as Excel counts them, {n} to {high}: write them as dates": (
            "它们可能是 Excel 所数的日子，{n} 到 {high}：请写作日期"
        ),
        "they may be months, {n} to {high}, whose order is lost: write the first day of each": (
            "它们可能是月份，{n} 到 {high}，其先后会丢失：请写作各自的第一天"
        ),
        "they may be milliseconds since 1970, {n} to {high}: write them as dates": (
            "它们可能是自 1970 年起的毫秒数，{n} 到 {high}：请写作日期"
        ),
        "they may be seconds since 1970, {n} to {high}: write them as dates": (
            "它们可能是自 1970 年起的秒数，{n} 到 {high}：请写作日期"
        ),
        "each is the one before and 1, so they may only number the rows: {fix}, columns={how}": (
            "每个都比前一个大 1，可能只是行号：除非次序有意义，否则请不要读取该列，columns={how}"
        ),
    }
)

BEGINS_AS_NUMBER = r"^[-+(]?\s?[$€£¥₹]?\s?[.,]?\d"
"""How all that is hinted at begins; most columns are passed over by a look at this alone."""

DECIMAL_COMMA = r"^[-+]?\d+,\d+$"
"""A number as most of Europe writes it."""

ONE_GROUP = r"^[-+]?[1-9]\d{0,2},\d{3}$"
"""A number that may as well have a group of three digits; where all are so, none can be told to have decimals."""

PLAIN_NUMBER = r"^[-+]?(?:(?:0|[1-9]\d*)(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?$"
"""A number without zeros before it: 0815 is a code."""

DRESSED_NUMBER = (
    r"^[-+(]?\s?[$€£¥₹]?\s?[-+]?\d+(?:[.,'’ \x{a0}\x{202f}]\d{3})*(?:[.,]\d+)?"
    r"\s?(?:[%‰$€£¥₹元円]|EUR|USD|GBP|CHF|CNY)?\)?$"
)
"""A number with a currency, a percent sign or groups of three digits, or without all these."""

DIGITS = r"^[-+]?\d+(?:\.\d+)?$"
"""A number without them, be it a code or not."""

DATE = (
    r"^(?:\d{3,4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.](?:\d{4}|\d{2})|\d{4}年\d{1,2}月\d{1,2}日?)"
    r"(?:[T ,]*\d{1,2}:\d{2}.*)?$"
)
"""A date, with or without a time of day, in the order of any country."""

WITH_UNIT = r"^[-+]?\d[\d.,]*\s*(?:\pL{1,10}[23²³]?|[%‰°]\pL?|\"|')$"
"""A number and the unit behind it."""

WITH_MORE = r"^[-+]?\d[\d.,]*\s*[^\d.,\s]"
"""A number and anything behind it: all letters of the world, ten times over, take ten milliseconds to look for."""

ORDINALS = {"st", "nd", "rd", "th"}

OF_NUMBER = r"^[-+]?\d[\d.,]*\s*"

PERIOD = (
    r"(?i)^(?:\d{4}[-/. ]?(?:[WQH]|KW|CW)\d{1,2}|\d{4}[-/.](?:0[1-9]|1[0-2])"
    r"|(?:jan|feb|m[aä]r|apr|may|mai|jun|jul|aug|sep|o[ck]t|nov|de[cz])[a-z\x{80}-\x{10ffff}]*"
    r"[-/. ]{1,2}(?:\d{4}|'?\d\d)"
    r"|(?:[WQH]|KW|CW) ?\d{1,2}[-/ ]?(?:\d{4}|'\d\d))$"
)
"""A month, a week, a quarter or a half of some year."""

OF_DATES = re.compile(
    r"(?<![A-Za-z])(?i:date|fecha|timestamp|time|ts|day)(?![a-z])|(?<=[a-z])Date\b|[Dd]atum\b|日期|时间|日付"
)
"""Names that columns of dates have."""

SERIAL_DAYS, FIRST_SERIAL = (20_000, 60_000), -25_569  # 1899-12-30
"""Days from 1954 to 2064 as Excel counts them, and the day before the first."""

SERIAL_SECONDS = (5e8, 4e9)
"""Seconds from 1985 to 2096, counted from 1970; programs count milliseconds, too."""

MOST_EXCEPTIONS = 5
"""Different strings beside the numbers of a column that may stand for missing cells; with more they are codes."""

LEAST_AMOUNTS = 5
"""Different numbers with a unit that a column must have; with fewer they are the names of a few sizes."""

LEAST_NUMBERS = 10
"""Different numbers that a column must have to be one of numbers; with fewer they are the names of a few things."""


def hint_at(strings: "pa.Array", times: Array) -> str:
    """Say what different strings look like, which occur so many `times`; nothing where they are what they seem.

    >>> import pyarrow
    >>> hint_at(pyarrow.array(["1,5", "2,25"]), np.array([1, 1]))
    "100 % look like numbers with a decimal comma: read the file with decimal=','"
    >>> hint_at(pyarrow.array(["red", "4711"]), np.array([1, 1]))
    ''
    """
    if not re.search(rb"\d", bytes_in(strings)):
        return ""
    n_strings = int(times.sum())
    n_periods = n_matching(strings, times, PERIOD)
    if 2 * n_periods > n_strings and len(strings) > 2:
        return (
            f"{percent(n_periods, n_strings)} look like months, weeks or quarters, whose order is lost: write the "
            "first day of each, as 2024-01-01"
        )
    if 2 * n_matching(strings, times, BEGINS_AS_NUMBER) <= n_strings:
        return ""
    n_commas = n_matching(strings, times, DECIMAL_COMMA)
    if 2 * n_commas > n_strings and n_matching(strings, times, ONE_GROUP) < n_commas:
        return f"{percent(n_commas, n_strings)} look like numbers with a decimal comma: read the file with decimal=','"
    n_dates = n_matching(strings, times, DATE)
    if 2 * n_dates > n_strings:
        return (
            f"{percent(n_dates, n_strings)} look like dates: write all of them as 2023-12-31, or make dates of the "
            "column, as pandas.to_datetime does"
        )
    plain = matching(strings, PLAIN_NUMBER)
    if plain.all():
        return ""
    if 2 * int(times[plain].sum()) > n_strings:
        return _exceptions(strings, times, plain)
    dressed = matching(strings, DRESSED_NUMBER) & ~matching(strings, DIGITS)
    n_dressed = int(times[dressed].sum())
    if 2 * n_dressed > n_strings:
        return (
            f"{percent(n_dressed, n_strings)} look like numbers with a currency, a percent sign or groups of digits: "
            "write them as plain numbers"
        )
    return _units(strings, times)


def _units(strings: "pa.Array", times: Array) -> str:
    """Name the units behind numbers, where most cells are numbers with one."""
    import pyarrow.compute as pc

    if 5 * n_matching(strings, times, WITH_MORE) < 4 * int(times.sum()):
        return ""
    amounts = matching(strings, WITH_UNIT)
    if 5 * int(times[amounts].sum()) < 4 * int(times.sum()) or amounts.sum() < LEAST_AMOUNTS:
        return ""
    units = pc.replace_substring_regex(strings.filter(amounts), pattern=OF_NUMBER, replacement="").dictionary_encode()
    n = np.bincount(units.indices, times[amounts])
    if len(n) > MOST_EXCEPTIONS or ORDINALS.issuperset(units.dictionary.to_pylist()):  # codes, such as seats in a train
        return ""
    listed = ", ".join(f"{units.dictionary[int(k)]} ({n[k]:,.0f} x)" for k in np.argsort(-n, kind="stable"))
    if len(n) == 1:
        return f"they are numbers with a unit, {listed}, and read as words: write the numbers alone"
    return (
        f"they are numbers of mixed units, {listed}, and read as words: bring them to one unit, and write the numbers "
        "alone"
    )


def _exceptions(strings: "pa.Array", times: Array, plain: Array) -> str:
    """Name what is no number among numbers."""
    others = np.flatnonzero(~plain)
    if len(others) > MOST_EXCEPTIONS or plain.sum() < LEAST_NUMBERS:
        return ""
    often = others[np.argsort(-times[others], kind="stable")]
    listed = ", ".join(f"{strings[int(k)].as_py()!r} ({times[k]} x)" for k in often)
    share = percent(int(times[plain].sum()), int(times.sum()))
    return (
        f"{share} are numbers, all but {listed}: correct these cells, or name what stands for missing with "
        f"bayeswater.local_rows(source, missing=[{strings[int(often[0])].as_py()!r}])"
    )


def n_matching(strings: "pa.Array", times: Array, pattern: str) -> int:
    """Count the strings that match."""
    return int(times[matching(strings, pattern)].sum())


def percent(part: int, whole: int) -> str:
    """Write a share, never as 100 % unless it is all.

    >>> percent(999, 1000), percent(2, 3)
    ('99.9 %', '67 %')
    """
    share = 100 * part / whole
    return f"{share:.0f} %" if part == whole or share < 99 else f"{np.floor(10 * share) / 10:.1f} %"


Kind = Literal["category", "flag", "number", "text", "date", "identifier", "empty"]

NO_VALUE = "no cell has a value"
"""Why a column is left out that may still be read when a value arrives."""

BOOLEAN = "true or false"
"""Why a column holds flags that can never be other numbers."""

SAMPLED = 100_000
"""Strings of a column that are looked at, the first ones: more would take longer and hardly move a share."""

SHOWN = 1024
"""Numbers that are looked at first: where there are fractions, one is hardly ever far."""

TEXT_WORDS = 3
"""Words from which a string is text: names of things and places have one or two."""

TEXT_CJK = 8
"""Characters from which a string of Chinese, Japanese or Korean is text: about as much as three words say."""

DISTINCT = 95
"""Percent of distinct strings over which they name the row."""

CHOSEN, CHOSEN_SHARE = 10, 95
"""Times that a string occurs where it is chosen from a list and not written, and percent of strings that do so."""

IDENTIFIED = 20
"""Strings that there must be before they are called identifiers: in a table of a few rows, categories differ too."""

BLANK = r"\t-\r\x{1c}-\x{1f}\x{85}\p{Z}"
"""Blanks, in the syntax of RE2: all that `str.split` splits at, the ideographic blank too."""

CJK = (
    r"\x{3005}-\x{3007}\x{303b}"  # iteration marks, closing mark, ideographic zero
    r"\x{3041}-\x{3096}\x{309d}-\x{309f}"  # hiragana
    r"\x{30a1}-\x{30fa}\x{30fc}-\x{30ff}\x{31f0}-\x{31ff}"  # katakana, with the mark of a long vowel
    r"\x{ff66}-\x{ffdc}\x{1aff0}-\x{1b167}"  # kana and hangul of half width, old kana
    r"\x{3105}-\x{312f}\x{31a0}-\x{31bf}"  # bopomofo
    r"\x{1100}-\x{11ff}\x{3131}-\x{318e}\x{a960}-\x{a97c}\x{ac00}-\x{d7fb}"  # hangul
    r"\x{3400}-\x{4dbf}\x{4e00}-\x{9fff}\x{f900}-\x{faff}\x{20000}-\x{3fffd}"  # ideographs
)
"""Letters and signs of Chinese, Japanese and Korean; punctuation is not counted."""

SEVERAL_WORDS = rf"[^{BLANK}][{BLANK}]+[^{BLANK}]"

LONG = (
    rf"[^{BLANK}](?:[{BLANK}]+[^{BLANK}]+){{{TEXT_WORDS - 2}}}[{BLANK}]+[^{BLANK}]"
    rf"|(?:[{CJK}][^{CJK}]*){{{TEXT_CJK - 1}}}[{CJK}]"
)
"""A string that is long enough for text. Looked for rather than counted: the search ends where it has found them."""

OF_TEXT = re.compile(rb"[^!-~]")
"""A byte that text has, and a word of ASCII has not."""


@record
class ColumnKind:
    """What a column holds, the reason in a few words, and what may be wrong with it."""

    kind: Kind
    why: str
    hint: str = field(default="", repr=False)
    style: CellStyle | None = field(default=None, repr=False)


def kind_of(name: str, column: "pa.ChunkedArray", *, declared: bool, stored: bool = False) -> ColumnKind:
    """Tell what a column holds.

    Parameters
    ----------
    name : name of the column, for messages
    column : its cells
    declared : whether its type declares the categories; then they are a domain even where no cell has a value
    stored : whether it holds strings that are a dictionary by storage alone

    Raises
    ------
    DataError
        If cells of this type cannot be read: lists, structures, bytes and the like.

    Examples
    --------
    >>> import pyarrow
    >>> kind_of("legs", pyarrow.chunked_array([[4, 2, None]]), declared=False)
    ColumnKind(kind='number', why='whole numbers from 2 to 4')
    >>> kind_of("note", pyarrow.chunked_array([["back by noon", "我们明天再谈这件事"]]), declared=False)
    ColumnKind(kind='text', why='100 % of 2 strings have 3 words or 8 CJK characters or more')
    """
    import pyarrow as pa

    types, kind = pa.types, column.type
    if types.is_dictionary(kind) and not stored:
        require_labels(name, kind.value_type)
        return _of_categories(name, column, declared)
    readable = {
        "flag": types.is_boolean(kind),
        "number": types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind),
        "seconds": types.is_time(kind) or types.is_duration(kind),
        "date": types.is_date(kind) or types.is_timestamp(kind),
        "string": stored or types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind),
    }
    if not any(readable.values()) and not types.is_null(kind):
        raise DataError(
            f"column {name!r} holds {kind}, which is neither a number, a category, a text nor a date; convert it to "
            f"one of these, or leave it out, columns={{{name!r}: 'ignored'}}"
        )
    if column.null_count == len(column):
        return ColumnKind("empty", NO_VALUE)
    if readable["string"]:
        return _of_strings(column)
    if readable["date"]:
        return ColumnKind("date", f"values of type {kind}", hint_of_codes(column))
    if readable["flag"]:
        return ColumnKind("flag", BOOLEAN)
    if readable["seconds"]:
        return _of_numbers(seconds_of(column), f"{'times of day' if types.is_time(kind) else 'durations'} in seconds")
    numbers = as_numpy(column.cast(pa.float64()) if types.is_decimal(kind) else column)
    found = _of_numbers(numbers)
    if found.kind != "number":
        return found
    hint = _numbers_of_rows(name) if _number_rows(numbers) else _moments(name, numbers) or hint_of_codes(column)
    return replace(found, hint=hint)


def require_labels(name: str, kind: "pa.DataType") -> None:
    """Refuse categories that are no labels: lists, structures and types that only one library knows."""
    import pyarrow as pa

    if pa.types.is_nested(kind) or isinstance(kind, pa.BaseExtensionType):
        raise DataError(
            f"column {name!r} has categories of type {kind}, which are no labels; make text of them, in pandas with "
            ".cat.rename_categories(str)"
        )


def _of_categories(name: str, column: "pa.ChunkedArray", declared: bool) -> ColumnKind:
    states = {
        label for chunk in column.chunks for label in label_values(chunk.dictionary, name) if not is_missing(label)
    }
    if column.null_count == len(column) and not (declared and states):
        return ColumnKind("empty", NO_VALUE)
    return ColumnKind("category", f"{len(states)} declared" if declared else "categories by type")


def _of_numbers(numbers: Array, unit: str | None = None) -> ColumnKind:
    """Judge numbers (n_rows,), NaN where they are missing; those of a `unit` are never flags."""
    if not len(numbers) or np.isnan(numbers.max()):
        numbers = numbers[~np.isnan(numbers)]
        if not len(numbers):
            return ColumnKind("empty", NO_VALUE)
    low, high = numbers.min(), numbers.max()
    whole = _are_whole(numbers[:SHOWN]) and _are_whole(numbers)
    if whole and low >= 0 and high <= 1 and unit is None:
        return ColumnKind("flag", "only 0 and 1" if low < high else f"only {low:.0f}")
    what = f"{unit}, {'all' if whole else 'not all'} whole," if unit else "whole numbers" if whole else "numbers"
    return ColumnKind("number", f"{what} from {low:.6g} to {high:.6g}{'' if whole or unit else ', not all whole'}")


def _number_rows(numbers: Array) -> bool:
    """Say whether each number is the one before and one: the index that a frame wrote beside its rows."""
    if len(numbers) < IDENTIFIED or not numbers[0] < numbers[-1]:  # infinity is the one before and one, too
        return False
    return all(bool((some[1:] == some[:-1] + 1).all()) for some in (numbers[:SHOWN], numbers))


def _numbers_of_rows(name: str) -> str:
    return (
        "each is the one before and 1, so they may only number the rows: leave the column out unless their order means "
        f"something, columns={{{name!r}: 'ignored'}}"
    )


def _moments(name: str, numbers: Array) -> str:
    """Say whether numbers are months, or under the name of a date days or seconds as programs count them."""
    low, high = float(np.nanmin(numbers)), float(np.nanmax(numbers))
    if _is_month(low) and _is_month(high) and all(map(_is_month, numbers[numbers == numbers][:SHOWN])):
        return f"they may be months, {low:07.4f} to {high:07.4f}, whose order is lost: write the first day of each"
    if not OF_DATES.search(name):
        return ""
    if SERIAL_DAYS[0] <= low and high <= SERIAL_DAYS[1]:
        first, last = (np.datetime64(FIRST_SERIAL + int(day), "D") for day in (low, high))
        return f"they may be days as Excel counts them, {first} to {last}: write them as dates"
    for times, unit in ((1, "seconds"), (1000, "milliseconds")):
        if SERIAL_SECONDS[0] * times <= low and high <= SERIAL_SECONDS[1] * times:
            first, last = (np.datetime64(int(second / times), "s").astype("M8[D]") for second in (low, high))
            return f"they may be {unit} since 1970, {first} to {last}: write them as dates"
    return ""


def _is_month(number: float) -> bool:
    """Say whether a number is a month and its year, as 01.2023."""
    month, year = divmod(round(1e4 * number), 10_000) if abs(number) < 100 else (0, 0)
    return 1 <= month <= 12 and 1900 <= year < 2100 and abs(number - month - year / 1e4) < 1e-9


def _are_whole(numbers: Array) -> bool:
    return numbers.dtype.kind != "f" or bool((numbers == np.floor(numbers)).all())


def _of_strings(column: "pa.ChunkedArray") -> ColumnKind:
    """Judge strings; each different one is looked at once."""
    strings, times = _counted(column)
    n_strings, n_values = int(times.sum()), len(strings)
    them = f"{'the first ' if n_strings == SAMPLED else ''}{n_strings} strings"
    n_long = n_matching(strings, times, LONG) if OF_TEXT.search(bytes_in(strings)) else 0
    are_chosen = 100 * int(times[times >= CHOSEN].sum()) >= CHOSEN_SHARE * n_strings
    if 2 * n_long >= n_strings and not are_chosen:
        share = percent(n_long, n_strings)
        return ColumnKind("text", f"{share} of {them} have {TEXT_WORDS} words or {TEXT_CJK} CJK characters or more")
    hint = hint_at(strings, times)
    name_rows = n_strings >= IDENTIFIED and 100 * n_values > DISTINCT * n_strings
    if name_rows and n_matching(strings, times, SEVERAL_WORDS) == 0:
        return ColumnKind("identifier", f"{percent(n_values, n_strings)} of {them} are distinct, without blanks", hint)
    return ColumnKind("category", f"{n_values} distinct among {them}", hint)


def _counted(column: "pa.ChunkedArray") -> "tuple[pa.Array, Array]":
    """Give the different ones among the first `SAMPLED` strings that are not null, and how often each occurs."""
    import pyarrow as pa

    found: list[pa.Array] = []
    for start in range(0, len(column), SAMPLED):
        block = column.slice(start, SAMPLED)
        if not pa.types.is_dictionary(column.type):
            block = block.cast(pa.large_string()).dictionary_encode()  # views have no kernels of their own
        found.extend(block.drop_null().chunks)
        if sum(map(len, found)) >= SAMPLED:
            break
    chunks = pa.chunked_array(found).slice(0, SAMPLED).unify_dictionaries().chunks
    strings = chunks[0].dictionary
    times = np.bincount(np.concatenate([chunk.indices for chunk in chunks]), minlength=len(strings))
    return strings.filter(pa.array(times > 0)), times[times > 0]
