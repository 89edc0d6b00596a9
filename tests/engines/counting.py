"""A table that is awkward to divide, what is counted of it, and functions that a worker can import."""

import os
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from bayeswater.data.labels import encode_labels
from bayeswater.data.reading.coded_table import Rules, encode_categories
from bayeswater.statistics.pair_counts import PairCounts

N_ROWS = 2000
COLUMNS = ["colour", "size", "grade", "rare", "class"]
ANSWER = pa.schema([("class", pa.string()), ("length", pa.float64())])


def people(n_rows: int = N_ROWS) -> pd.DataFrame:
    """Strings, codes, declared categories (one of which no row has), missing cells, and a category in one row alone."""
    rng = np.random.default_rng(7)
    grade = pd.Categorical(rng.choice(["b", "a", "d"], n_rows), categories=["d", "c", "b", "a"])
    rare = np.where(np.arange(n_rows) == n_rows // 2, "once", "often")
    colour = pd.Series(rng.choice(["red", "green", "blue"], n_rows)).where(rng.random(n_rows) > 0.05)
    return pd.DataFrame(
        {
            "colour": colour,
            "size": rng.integers(0, 4, n_rows),
            "grade": grade,
            "rare": rare,
            "class": rng.choice(["no", "yes"], n_rows),
        }
    )


def count_pairs(table: pa.Table) -> PairCounts:
    """Count all pairs of the columns within each class."""
    features = encode_categories(table.drop_columns(["class"]), Rules("a model", refuse_missing=False))
    return PairCounts.of(features, encode_labels(table["class"]), None)


def counted_here(frame: pd.DataFrame) -> PairCounts:
    """Count the rows of a frame at once, in this process."""
    return count_pairs(pa.Table.from_pandas(frame[COLUMNS], preserve_index=False))


def answers(table: pa.Table) -> pa.Table:
    """Give something of every row; refuse a table without rows, as a model does."""
    if not table.num_rows:
        raise ValueError("a model is never asked for no rows")
    length = [None if colour is None else float(len(colour)) for colour in table["colour"].to_pylist()]
    return pa.table({"class": table["class"].cast(pa.string()), "length": pa.array(length, pa.float64())})


def fails_for_once(table: pa.Table) -> Any:
    """Fail in the one partition that has the rare category."""
    if "once" in table["rare"].to_pylist():
        raise ZeroDivisionError("something in the rows")
    return table.num_rows


def answers_except_for_once(table: pa.Table) -> pa.Table:
    """Give answers, and fail in the one partition that has the rare category."""
    fails_for_once(table)
    return answers(table)


def renamed(table: pa.Table) -> pa.Table:
    """Call a column of numbers and one of strings n and label."""
    return table.rename_columns(["n", "label"])


def as_seconds(table: pa.Table) -> pa.Table:
    """Give instants as seconds since 1970."""
    return pa.table({"s": table["t"].cast(pa.timestamp("s", "UTC")).cast(pa.int64())})


def kill_once(part: pd.DataFrame, marker: str) -> pd.DataFrame:
    """Kill the process that computes the middle of the table, the first time."""
    if "once" in part["rare"].to_list() and not Path(marker).exists():
        Path(marker).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return part


def without_class_later(part: pd.DataFrame) -> pd.DataFrame:
    """Drop the target where the rare category is."""
    return part.drop(columns="class") if "once" in part["rare"].to_list() else part
