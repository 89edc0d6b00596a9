"""Codes that stand for missing among numbers and dates: -999, 9999.9, 99 beside answers from 1 to 5, 9999-12-31.

A code is one of those that people use, at an end of the values, there more than once, and either further from all other
values than these lie from each other, or the only one below zero. It may still be a value: it is said, and never taken
out by itself.
"""

from typing import TYPE_CHECKING

import numpy as np

from bayeswater.phrases import own_reasons
from bayeswater.typing import Array

if TYPE_CHECKING:
    import pyarrow as pa

own_reasons(
    {
        "{codes} may stand for missing: if so, leave these cells empty, or say missing={fix} of a file": (
            "{codes} 可能代表缺失：如果是，请把这些单元格留空，或在读文件时设定 missing={fix}"
        ),
    }
)

NUMBERS = np.array(
    [
        *(sign * digit * repeated for sign in (-1, 1) for digit in (7, 8, 9) for repeated in (11, 111, 1111, 11111)),
        *(98, 998, 9998, -98, -998, 99.9, 999.9, 9999.9, 99.99, 999.99, -99.9, -999.9, -9999.9, -99.99, -999.99),
        *(999999, -999999, -1, -2, -7, -8, -9),
    ],
    dtype=np.float64,
)
"""Numbers that stand for missing in surveys, weather, laboratories and ledgers."""

DAYS = np.array(["0001-01-01", "1753-01-01", "1900-01-01", "1970-01-01", "9999-12-31"], dtype="M8[D]")
"""Days that databases and spreadsheets write for none."""

MORE_THAN_ONCE = 2

LEAST_SPREAD = 2
"""Between the other numbers, where a code is only known by being negative: -1, 0, 1 is a scale."""


def codes_in(column: "pa.ChunkedArray") -> dict[str, int]:
    """Give the codes of a column, and how often each occurs.

    >>> import pyarrow
    >>> codes_in(pyarrow.chunked_array([[-999.0, 12.5, 14.1, -999.0, 9.8, None]]))
    {'-999': 2}
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    types, kind = pa.types, column.type
    if types.is_date(kind) or types.is_timestamp(kind):
        return _found(column.drop_null().cast(pa.date32(), safe=False).to_numpy().astype("M8[D]"), DAYS)
    if types.is_float16(kind) or not (types.is_integer(kind) or types.is_floating(kind)):
        return {}
    low, high = pc.min_max(column).as_py().values()
    if low is None or not np.isin([low, high], NUMBERS).any():  # most columns: what is far away is at an end
        return {}
    return _found(column.drop_null().to_numpy().astype(np.float64), NUMBERS)


def hint_of_codes(column: "pa.ChunkedArray") -> str:
    """Say that a column has such codes, and the way out; "" where it has none."""
    found = codes_in(column)
    codes = ", ".join(f"{code} ({times:,} x)" for code, times in found.items())
    way_out = f"if so, leave these cells empty, or say missing={[*found]} of a file"
    return f"{codes} may stand for missing: {way_out}" if found else ""


def _found(values: Array, codes: Array) -> dict[str, int]:
    is_code = np.isin(values, codes)
    others = values[~is_code & (values == values)]
    if not is_code.any() or not len(others) or others.min() == others.max():
        return {}
    low, high = others.min(), others.max()
    own, times = np.unique(values[is_code], return_counts=True)
    is_far = (low - own > high - low) | (own - high > high - low)
    if codes is NUMBERS:
        is_far |= (own < 0) & (low >= 0) & (high - low > LEAST_SPREAD)
    found = zip(own[is_far], times[is_far], strict=True)
    return {_written(code): int(n) for code, n in found if n >= MORE_THAN_ONCE}


def _written(code: np.generic) -> str:
    return f"{code:g}" if isinstance(code, np.floating) else str(code)
