"""Drawn cells in the types that their columns had, by the names that Arrow, NumPy and pandas give them."""

import datetime
import decimal
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from bayeswater.data.reading.original_types import arrow_type, pandas_types, with_type

TYPES = [
    *(pa.int8(), pa.uint64(), pa.float32(), pa.float64(), pa.bool_(), pa.string(), pa.large_string(), pa.string_view()),
    *(pa.date32(), pa.date64(), pa.time32("s"), pa.time64("ns"), pa.duration("ms"), pa.null(), pa.decimal128(12, 3)),
    pa.decimal256(60, 2),
    *(pa.timestamp("us"), pa.timestamp("ns", "Europe/Berlin"), pa.timestamp("s", "+01:00")),
    *(pa.dictionary(pa.int8(), pa.string()), pa.dictionary(pa.uint32(), pa.large_string(), ordered=True)),
    pa.dictionary(pa.int8(), pa.timestamp("s", "UTC")),
]


@pytest.mark.parametrize("kind", TYPES, ids=str)
def test_arrow_types_are_found_by_their_own_name(kind: Any) -> None:
    assert arrow_type(str(kind)) == kind
    assert arrow_type(f"object[{kind}]") == kind
    assert arrow_type(f"{kind}[pyarrow]") == kind


PANDAS = {
    "Int64": pa.int64(),
    "UInt8": pa.uint8(),
    "Float32": pa.float32(),
    "boolean": pa.bool_(),
    "str": pa.string(),
    "datetime64[ns]": pa.timestamp("ns"),
    "datetime64[us, UTC]": pa.timestamp("us", "UTC"),
    "timedelta64[ms]": pa.duration("ms"),
    "period[M]": None,
    "": None,
}


@pytest.mark.parametrize(("name", "kind"), PANDAS.items(), ids=PANDAS)
def test_types_of_pandas_are_found_where_arrow_has_them(name: str, kind: Any) -> None:
    assert arrow_type(name) == kind


def test_pandas_names_its_types_but_for_categories_and_tells_what_objects_are() -> None:
    frame = pd.DataFrame(
        {
            "n": pd.array([1], dtype="Int64"),
            "c": pd.Categorical(["a"]),
            "d": pd.Series([datetime.date(2024, 1, 1)], dtype=object),
        }
    )
    table = pa.Table.from_pandas(frame)
    columns = dict(zip(table.column_names, table.columns, strict=True))
    assert pandas_types(frame, columns) == {"n": "Int64", "d": "object[date32[day]]"}


DRAWN = [
    ([1.6, np.nan, -2.4], "int64", [2, None, -2]),
    ([300.0, -1.0, 7.0], "uint8", [255, 0, 7]),
    ([1e30, -1e30, 0.4], "int64", [2**63 - 1, -(2**63), 0]),
    ([1e30, -5.0, 0.6], "uint64", [2**64 - 1, 0, 1]),
    ([1.0, 0.0, np.nan], "bool", [True, False, None]),
    ([0.1, np.nan, 0.0], "float32", [float(np.float32(0.1)), None, 0.0]),
    ([1.254, np.nan, -3.0], "decimal128(5, 2)", [decimal.Decimal("1.25"), None, decimal.Decimal("-3.00")]),
    ([19723.4, np.nan, 0.0], "date32[day]", [datetime.date(2024, 1, 1), None, datetime.date(1970, 1, 1)]),
    ([0.5, np.nan, 1.0], "datetime64[s]", [datetime.datetime(1970, 1, 1, 12), None, datetime.datetime(1970, 1, 2)]),
    ([61.0, np.nan, 0.0], "timedelta64[s]", [datetime.timedelta(seconds=61), None, datetime.timedelta(0)]),
    ([61.0, np.nan, 0.0], "object[time64[us]]", [datetime.time(0, 1, 1), None, datetime.time(0)]),
    ([1.5, np.nan, 0.0], None, [1.5, None, 0.0]),
]


@pytest.mark.parametrize(("cells", "dtype", "expected"), DRAWN, ids=[str(row[1]) for row in DRAWN])
def test_numbers_are_rounded_to_what_the_type_can_hold(cells: Any, dtype: Any, expected: Any) -> None:
    assert with_type(np.array(cells), dtype).to_pylist() == expected


@pytest.mark.parametrize("kind", TYPES, ids=str)
def test_nothing_but_missing_cells_has_any_type(kind: Any) -> None:
    cells = with_type(np.full(2, np.nan), str(kind))
    assert (cells.type, cells.to_pylist()) == (kind, [None, None])


def test_labels_keep_their_domain_in_a_type_of_categories_and_lose_it_in_others() -> None:
    drawn = pa.DictionaryArray.from_arrays(pa.array([1, 0, 1]), pa.array(["u", "v", "never"]))
    kept = with_type(drawn, "dictionary<values=large_string, indices=uint8, ordered=1>")
    assert kept.dictionary.to_pylist() == ["u", "v", "never"]
    assert kept.type == pa.dictionary(pa.uint8(), pa.large_string(), ordered=True)
    plain = with_type(drawn, "large_string")
    assert (plain.type, plain.to_pylist()) == (pa.large_string(), ["v", "u", "v"])
    flags = pa.DictionaryArray.from_arrays(pa.array([1, 0]), pa.array([False, True]))
    assert with_type(flags, "int64").to_pylist() == [1, 0]
    assert with_type(flags, "boolean").to_pylist() == [True, False]
    assert with_type(["a b", ""], "str").to_pylist() == ["a b", ""]


@pytest.mark.parametrize("kind", ["decimal128(5, 2)", "decimal128(17, 2)", "decimal256(60, 2)", "decimal256(76, 76)"])
def test_a_decimal_that_is_drawn_keeps_within_its_digits(kind: str) -> None:
    """A number beyond them would come out as 0."""
    lowest, none, highest = with_type(np.array([-1e300, np.nan, 1e300]), kind)
    largest = decimal.Decimal(10) ** (lowest.type.precision - lowest.type.scale)
    assert none.as_py() is None
    assert highest.as_py() + lowest.as_py() == 0 and highest.as_py() > largest * decimal.Decimal("0.9998")
