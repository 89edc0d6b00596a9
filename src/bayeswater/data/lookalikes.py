"""Strings that look like numbers or dates: what is likely wrong with a column of them, and how to put it right.

A program that exports a table may write numbers with a decimal comma, a currency or groups of three digits, dates as
its country has them, or a word for what is missing among the numbers. All these arrive as strings, and would be taken
for categories: nothing fails, and all that the numbers could tell is lost. So they are hinted at, and never guessed.

Strings that are plain numbers without exception are no accident: somebody has made codes of them.
"""

from typing import TYPE_CHECKING

import numpy as np

from bayeswater.typing import Array

if TYPE_CHECKING:
    import pyarrow as pa

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
    r"^(?:\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.](?:\d{4}|\d{2})|\d{4}年\d{1,2}月\d{1,2}日?)"
    r"(?:[T ,]*\d{1,2}:\d{2}.*)?$"
)
"""A date, with or without a time of day, in the order of any country."""

MOST_EXCEPTIONS = 5
"""Different strings beside the numbers of a column that may stand for missing cells; with more they are codes."""

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
    n_strings = int(times.sum())
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
    return ""


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


def matching(strings: "pa.Array", pattern: str) -> Array:
    """Say which strings match (n_strings,)."""
    import pyarrow.compute as pc

    found: Array = pc.match_substring_regex(strings, pattern=pattern).to_numpy(zero_copy_only=False)
    return found


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
