"""Tables as nobody cleaned them: columns of every type and of every odd value, as Arrow, which others are made of."""

from collections.abc import Callable
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

Rng = np.random.Generator
LIBRARIES = ("arrow", "pandas", "pandas on arrow", "polars")
ODD_TEXTS = [
    *("", " ", "  x ", "nan", "NA", "None", "null", "-", "?", "1e5", "0x10", "inf", "True", "a\0", "a", "A", "é")
]
ODD_TEXTS += [
    "e\u0301",
    "蓝",
    "😀",
    "\ufeffa",
    "a\nb",
    "a\tb",
    "\u202eabc",
    "x" * 300,
    "'",
    '"',
    "[bold]",
    "{}",
    "%s",
    "\\",
]
ODD_NAMES = ["", " ", "class", "prediction", "P(a)", "a b", "a\nb", "名", "x" * 120, "1", "[red]", "a=b", "(counts)"]
WORDS = ["free", "money", "now", "see", "you", "at", "noon", "win", "a", "prize", "call", "me"]


def normal(rng: Rng, n: int, y: Any) -> Any:
    return pa.array(rng.normal(size=n) * 10.0 ** rng.integers(-3, 4) + y * rng.random() + rng.choice([0, 0, 100, 1e6]))


def magnitudes(rng: Rng, n: int, y: Any) -> Any:
    low, high = sorted(rng.uniform(-290, 290, 2)) if rng.random() < 0.3 else sorted(rng.uniform(-20, 20, 2))
    return pa.array(rng.choice([-1, 1], n) * 10.0 ** rng.uniform(low, high, n))


def with_infinities(rng: Rng, n: int, y: Any) -> Any:
    return pa.array(np.where(rng.random(n) < 0.1, rng.choice([np.inf, -np.inf, np.nan], n), rng.normal(size=n)))


def few_numbers(rng: Rng, n: int, y: Any) -> Any:
    return pa.array(rng.choice(rng.choice([0.0, -0.0, 1.0, 2.5, -7.0, 1e9, 1e-9], rng.integers(1, 4)), n))


def counts(rng: Rng, n: int, y: Any) -> Any:
    return pa.array(rng.poisson(rng.choice([0.3, 4.0, 200.0]) * (1 + y), n))


def integers(rng: Rng, n: int, y: Any) -> Any:
    kind = str(rng.choice(["int8", "uint8", "int16", "int32", "uint32", "int64", "uint64"]))
    limits = np.iinfo(kind)
    wide = rng.random() < 0.3
    return pa.array(rng.integers(limits.min if wide else 0, limits.max if wide else 5, n, dtype=kind, endpoint=True))


def halves(rng: Rng, n: int, y: Any) -> Any:
    return pa.array(rng.normal(size=n).astype(rng.choice(["f2", "f4"])))


def truths(rng: Rng, n: int, y: Any) -> Any:
    return pa.array(rng.random(n) < rng.random())


def few_texts(rng: Rng, n: int, y: Any) -> Any:
    some = rng.choice(["red", "green", "blue", "蓝", "12", "low"], rng.integers(1, 5), replace=False)
    kind = [pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int8(), pa.string())][rng.integers(4)]
    return pa.array(rng.choice(some, n).tolist(), pa.string()).cast(kind)


def odd_texts(rng: Rng, n: int, y: Any) -> Any:
    some = rng.choice(len(ODD_TEXTS), rng.integers(1, 6), replace=False)
    return pa.array([ODD_TEXTS[i] for i in rng.choice(some, n)], pa.string())


def identifiers(rng: Rng, n: int, y: Any) -> Any:
    return pa.array([f"id-{i}" for i in rng.permutation(n)])


def messages(rng: Rng, n: int, y: Any) -> Any:
    return pa.array([" ".join(rng.choice(WORDS, rng.integers(0, 9))) for _ in range(n)])


def dates(rng: Rng, n: int, y: Any) -> Any:
    days = rng.integers(0, 9000, n) if rng.random() < 0.7 else rng.integers(-(2**31), 2**31, n)
    return pa.array(days.astype("i4")).cast(pa.date32())


def moments(rng: Rng, n: int, y: Any) -> Any:
    unit = str(rng.choice(["s", "ms", "us", "ns"]))
    zone = [None, "UTC", "Europe/Berlin"][rng.integers(3)]
    ticks = rng.integers(0, 2**40, n) if rng.random() < 0.7 else rng.integers(-(2**62), 2**62, n)
    return pa.array(ticks).cast(pa.timestamp(unit, zone))


def times_of_day(rng: Rng, n: int, y: Any) -> Any:
    return pa.array(rng.integers(0, 86_400, n).astype("i4")).cast(pa.time32("s"))


def durations(rng: Rng, n: int, y: Any) -> Any:
    return pa.array(rng.integers(-(10**6), 10**9, n)).cast(pa.duration(str(rng.choice(["s", "us", "ns"]))))


def decimals(rng: Rng, n: int, y: Any) -> Any:
    wide = rng.random() < 0.5
    cells = [Decimal(int(cell)) / 100 for cell in rng.integers(-(10**6), 10**6, n)]
    return pa.array(cells, pa.decimal256(60, 2) if wide else pa.decimal128(30, 2))


def declared(rng: Rng, n: int, y: Any) -> Any:
    states = ["small", "large", "never", "ever"][: rng.integers(1, 5)]
    return pa.DictionaryArray.from_arrays(pa.array(rng.integers(0, len(states), n).astype("i1")), states)


def nothing(rng: Rng, n: int, y: Any) -> Any:
    return pa.nulls(n, [pa.null(), pa.float64(), pa.string(), pa.bool_()][rng.integers(4)])


def constant(rng: Rng, n: int, y: Any) -> Any:
    return pa.array([["t", 1, 0.5, True, date(2020, 2, 29), "a sentence of several words"][rng.integers(6)]] * n)


def marked(rng: Rng, n: int, y: Any) -> Any:
    return pa.array(["t" if there else None for there in rng.random(n) < 0.4], pa.string())


def nested(rng: Rng, n: int, y: Any) -> Any:
    cells: list[Any] = [[[1, 2]] * n, [{"a": 1}] * n, [b"\x00\xff"] * n]
    return pa.array(cells[rng.integers(3)])


SOUND: tuple[Callable[[Rng, int, Any], Any], ...] = (
    *(normal, few_numbers, counts, truths, few_texts, messages, dates, moments, declared, marked, integers),
)
"""Columns that every library holds alike."""
ODD = (
    *(magnitudes, with_infinities, halves, odd_texts, identifiers, times_of_day, durations, decimals, nothing),
    *(constant, nested),
)


def draw_table(rng: Rng, n: int, y: Any, *, odd: float) -> pa.Table:
    """Columns, each of them odd with a probability, many with holes, some of odd names."""
    columns = {}
    for j in range(int(rng.integers(1, 6))):
        choice = ODD if rng.random() < odd else SOUND
        column = choice[rng.integers(len(choice))](rng, n, y)
        if rng.random() < 0.4:
            column = _taken(column, [None if gone else row for row, gone in enumerate(rng.random(n) < 0.2)])
        name = ODD_NAMES[rng.integers(len(ODD_NAMES))] if rng.random() < 0.5 * odd else f"c{j}"
        columns[name] = column
    return pa.table(columns)


def in_library(table: pa.Table, library: str) -> Any:
    """The table as a frame of a library; of types that it cannot take rows of, or not hold at all, as another type."""
    for place, field in enumerate(table.schema):
        if library != "arrow" and field.type == pa.string_view():
            table = table.set_column(place, field.name, table.column(place).cast(pa.string()))
        if library == "polars" and pa.types.is_decimal256(field.type):
            table = table.set_column(place, field.name, table.column(place).cast(pa.decimal128(30, 2)))
    match library:
        case "pandas":
            return table.to_pandas()
        case "pandas on arrow":
            return table.to_pandas(types_mapper=pd.ArrowDtype)
        case "polars":
            return pl.from_arrow(table)
    return table


def is_in_all_libraries(kind: pa.DataType) -> bool:
    """Say whether a type means the same in Arrow, pandas on Arrow and polars."""
    plain = (
        pa.types.is_floating,
        pa.types.is_integer,
        pa.types.is_boolean,
        pa.types.is_string,
        pa.types.is_large_string,
    )
    return any(is_plain(kind) for is_plain in plain) and kind != pa.float16()


def odd_frame(rng: Rng, frame: pd.DataFrame) -> pd.DataFrame:
    """A frame of pandas as programs leave them behind: names and rows numbered, cells as objects, types mixed."""
    name = frame.columns[rng.integers(len(frame.columns))]
    match rng.integers(9):
        case 0:
            return frame.set_axis(range(frame.shape[1]), axis=1)
        case 1:
            return frame.set_axis(rng.integers(0, 3, len(frame)), axis=0)
        case 2:
            return frame.astype(object)
        case 3:
            return frame.set_axis([(name, 1) for name in frame.columns], axis=1)
        case 4:
            return pd.concat([frame, frame], axis=1)
        case 5:
            cells = [["a", 1, None, 2.5, True, "1"][i] for i in rng.integers(0, 6, len(frame))]
            return frame.assign(**{str(name): pd.Series(cells, dtype=object, index=frame.index)})
        case 6:
            return frame.assign(**{str(name): pd.cut(pd.Series(rng.normal(size=len(frame)), index=frame.index), 3)})
        case 7:
            return frame.assign(**{str(name): pd.Series(np.arange(len(frame)) % 3, dtype="Int8", index=frame.index)})
    return frame.assign(**{str(name): pd.array(rng.choice(["x", None], len(frame)), dtype="string")})


def rows_of(frame: Any, rows: Any) -> Any:
    """Some rows of a frame, in the order given."""
    if isinstance(frame, pd.DataFrame):
        return frame.iloc[rows]
    if isinstance(frame, pa.Table):  # which takes no rows of some types
        return pa.table({name: _taken(frame[name], rows) for name in frame.column_names})
    return frame[rows]


def _taken(column: Any, rows: Any) -> Any:
    """Cells of a column, None where the row is None; of views, too, of which Arrow takes none."""
    if column.type == pa.string_view():
        return _taken(column.cast(pa.string()), rows).cast(column.type)
    return column.take(pa.array(rows, pa.int64()))


def labels_of(y: Any, rows: Any) -> Any:
    """Labels of some rows, in the order given."""
    if isinstance(y, list):
        return [y[row] for row in rows]
    return y.take(rows) if isinstance(y, pa.Array | pd.Categorical) else y[rows]


def draw_labels(rng: Rng, n: int, codes: Any) -> Any:
    """Labels of many kinds for codes of classes; seldom some that cannot be."""
    match rng.integers(12):
        case 0 | 1 | 2:
            return np.array(["no", "yes", "perhaps", "蓝"])[codes]
        case 3:
            return codes
        case 4:
            return codes == 0
        case 5:
            return pd.Categorical.from_codes(codes, ["d", "c", "b", "a"])
        case 6:
            return pa.array(codes.astype("f8"))
        case 7:
            return [ODD_TEXTS[3 * code] for code in codes]
        case 8:
            return [datetime(2020, 1, 1) + timedelta(days=int(code)) for code in codes]
        case 9 if rng.random() < 0.3:
            return [None, "x", 1, float("nan")][:n] + ["x"] * (n - 4)
    return pl.Series("y", [["p", "q", "r", "s"][code] for code in codes])
