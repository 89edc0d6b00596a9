"""Cells that a model drew, in the types that their columns had in the table it was fitted on.

A type is kept as text: as Arrow or NumPy names it, or pandas where that says more ("Int64" is not "int64"). Of objects
in pandas, which may be anything, Arrow's name stands behind: ``object[date32[day]]``.
"""

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeswater.data.frames import write_frame
from bayeswater.data.reading.dates import date_of, time_of
from bayeswater.typing import Array

if TYPE_CHECKING:
    import pyarrow as pa

TIMESTAMP = re.compile(r"(?:timestamp|datetime64)\[(s|ms|us|ns)(?:, (?:tz=)?(.+))?\]")
DURATION = re.compile(r"timedelta64\[(s|ms|us|ns)\]")
DECIMAL = re.compile(r"decimal(32|64|128|256)\((\d+), (-?\d+)\)")
DICTIONARY = re.compile(r"dictionary<values=(.+), indices=(\w+), ordered=([01])>")
IN_PANDAS = re.compile(r"object\[(.+)\]|(.+)\[pyarrow\]")
NO_ROOM_FOR_MISSING = re.compile(r"u?int\d+|bool")


def pandas_types(X: Any, columns: "Mapping[str, pa.ChunkedArray]") -> dict[str, str]:
    """Name the types of a frame of pandas whose columns were read as Arrow; of categories, Arrow's name says more."""
    named = zip(columns.items(), map(str, X.dtypes), strict=True)
    types = {name: _type_in_pandas(column.type, dtype) for (name, column), dtype in named}
    return {name: dtype for name, dtype in types.items() if dtype != "category"}


def _type_in_pandas(kind: "pa.DataType", dtype: str) -> str:
    """Name a type as pandas does, and a time zone that has many names there ("UTC+08:00") as Arrow does."""
    if dtype == "object":
        return f"object[{kind}]"
    zoned = TIMESTAMP.fullmatch(dtype) if dtype.startswith("datetime64") else None
    return str(kind) if zoned and zoned[2] and zoned[2] != kind.tz else dtype


def with_type(cells: Any, dtype: str | None) -> "pa.Array":
    """Give drawn cells (numbers with NaN for missing ones, labels, or Arrow's) as an Arrow array of the type named.

    >>> with_type(np.array([1.6, np.nan]), "int64").to_pylist()
    [2, None]
    """
    import pyarrow as pa

    kind = arrow_type(dtype or "")
    if not (isinstance(cells, np.ndarray) and cells.dtype.kind in "iuf"):
        return _labels_with_type(cells, kind)
    numbers = cells.astype(np.float64)
    missing = np.isnan(numbers)
    if missing.all() and kind is not None:
        return pa.nulls(len(numbers), kind)
    if kind is None or pa.types.is_dictionary(kind) or pa.types.is_null(kind):
        return pa.array(numbers, mask=missing)
    if pa.types.is_timestamp(kind) or pa.types.is_date(kind):
        return date_of(numbers, kind)
    if pa.types.is_time(kind) or pa.types.is_duration(kind):
        return time_of(numbers, kind)
    if pa.types.is_integer(kind):
        return pa.array(_whole(numbers, missing, np.iinfo(str(kind))), mask=missing).cast(kind)
    if pa.types.is_boolean(kind):
        return pa.array(numbers != 0, mask=missing)
    if pa.types.is_decimal(kind):
        largest = np.nextafter(10.0 ** (kind.precision - kind.scale) * (1 - 10.0**-kind.precision), 0)
        numbers = np.clip(numbers, -largest, largest)  # within its digits; one that is larger would become 0
    return pa.array(numbers, mask=missing).cast(kind, safe=False)


def _labels_with_type(cells: Any, kind: "pa.DataType | None") -> "pa.Array":
    import pyarrow as pa

    array = cells if isinstance(cells, pa.Array) else pa.array(cells, from_pandas=True)
    if not pa.types.is_dictionary(array.type):
        if kind is None or pa.types.is_null(kind):
            return array
        if pa.types.is_boolean(array.type) and pa.types.is_decimal(kind):  # Arrow has no such cast
            array = array.cast(pa.float64())
        return array.cast(kind)
    if kind is None or not pa.types.is_dictionary(kind):
        return _labels_with_type(array.dictionary_decode(), kind)
    states = array.dictionary.cast(kind.value_type)
    return pa.DictionaryArray.from_arrays(array.indices.cast(kind.index_type), states, ordered=kind.ordered)


def typed_frame(frame: Any, columns: "Mapping[str, pa.Array]", dtypes: Mapping[str, str | None]) -> Any:
    """Give a frame made of Arrow columns the types that Arrow has no name for: those of pandas, and Enum of polars."""
    if type(frame).__module__.startswith("pandas"):
        return _in_pandas(frame, dtypes)
    if type(frame).__module__.startswith("polars"):
        import polars

        ordered = {name: column for name, column in columns.items() if getattr(column.type, "ordered", False)}
        return frame.cast({name: polars.Enum(column.dictionary.to_pylist()) for name, column in ordered.items()})
    return frame


def _in_pandas(frame: Any, dtypes: Mapping[str, str | None]) -> Any:
    import pandas

    changed = {}
    for name in frame.columns:
        dtype = dtypes.get(name)
        if dtype is None or DICTIONARY.fullmatch(dtype):
            continue
        if dtype.startswith("timestamp[") and not dtype.endswith("[pyarrow]"):  # as Arrow has made it already
            continue
        if NO_ROOM_FOR_MISSING.fullmatch(dtype) and frame[name].isna().any():
            continue
        is_arrow, is_object = dtype.endswith("[pyarrow]"), dtype.startswith("object[")
        changed[name] = pandas.ArrowDtype(arrow_type(dtype)) if is_arrow else object if is_object else dtype
    return frame.astype(changed)


def arrow_type(dtype: str) -> "pa.DataType | None":
    """Find the Arrow type of a name; None where only its library knows it.

    >>> arrow_type("timedelta64[s]"), arrow_type("object[date32[day]]"), arrow_type("Int8")
    (DurationType(duration[s]), DataType(date32[day]), DataType(int8))
    """
    import pyarrow as pa

    inner = IN_PANDAS.fullmatch(dtype)
    if inner:
        return arrow_type(inner[1] or inner[2])
    if found := TIMESTAMP.fullmatch(dtype):
        return pa.timestamp(found[1], found[2])
    if found := DURATION.fullmatch(dtype):
        return pa.duration(found[1])
    if found := DECIMAL.fullmatch(dtype):
        make = getattr(pa, f"decimal{found[1]}", pa.decimal128)  # older Arrow has no narrow ones
        return make(int(found[2]), int(found[3]))
    if found := DICTIONARY.fullmatch(dtype):
        values, indices = arrow_type(found[1]), arrow_type(found[2])
        return None if values is None or indices is None else pa.dictionary(indices, values, found[3] == "1")
    try:
        return pa.type_for_alias(dtype.lower())
    except ValueError:
        return None


def _whole(numbers: Array, missing: Array, limits: np.iinfo[Any]) -> Array:
    """Round, and keep within the range of the type."""
    rounded = np.rint(np.where(missing, 0.0, numbers))
    low, high = rounded <= limits.min, rounded >= limits.max
    whole = np.where(low | high, 0.0, rounded).astype(limits.dtype)
    whole[low], whole[high] = limits.min, limits.max  # the largest ones are no float64
    return whole


def drawn_table(cells: Mapping[str, Any], dtypes: Mapping[str, str | None], library: str | None) -> Any:
    """Give drawn columns as a frame of the library, or as an array if that is None, each in the type that it had."""
    typed = {name: with_type(column, dtypes[name]) for name, column in cells.items()}
    if library is not None:
        return typed_frame(write_frame(typed, library), typed, dtypes)
    columns = [column.to_numpy(zero_copy_only=False) for column in typed.values()]
    of_one_kind = len({column.dtype.kind for column in columns}) == 1
    return np.stack(columns, axis=1, dtype=None if of_one_kind else object)
