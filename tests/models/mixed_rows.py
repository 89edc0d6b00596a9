"""A small table with a column of every kind, in every library, for tests of `NaiveBayes`."""

from datetime import date, datetime, time, timedelta
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from scipy import sparse

N_ROWS = 60
MESSAGES = (
    *("free money now, click here", "win a prize today!", "claim your free entry now"),
    *("see you at noon then", "call me later today", "the report is on my desk"),
    *("恭喜您中奖了请点击领取", "我们明天再谈这件事情吧", "会议改到下午三点钟开始", "免费领取红包快来点击吧"),
)
COLOURS = ("red", "green", "蓝")
SIZES = ("small", "large", "never")
MORNING = datetime(2026, 1, 31, 8, 30)


def some_missing(rng: Any, cells: list[Any]) -> list[Any]:
    """Leave out about one cell in eight."""
    return [None if gone else cell for cell, gone in zip(cells, rng.random(len(cells)) < 0.125, strict=True)]


@cache
def mixed_cells(n_rows: int = N_ROWS, seed: int = 0) -> dict[str, list[Any]]:
    """Cells of every kind by the name of their column."""
    rng = np.random.default_rng(seed)
    cells = {
        "colour": rng.choice(COLOURS, n_rows).tolist(),
        "level": rng.integers(1, 4, n_rows).tolist(),
        "truth": rng.choice([True, False], n_rows).tolist(),
        "mark": rng.integers(0, 2, n_rows).tolist(),
        "height": rng.normal(170, 10, n_rows).tolist(),
        "income": np.exp(rng.normal(8, 2, n_rows)).tolist(),
        "visits": rng.poisson(3, n_rows).tolist(),
        "share": (rng.random(n_rows) ** 6).tolist(),
        "born": [date(1990, 1, 1) + timedelta(days=int(day)) for day in rng.integers(0, 9999, n_rows)],
        "moment": [MORNING + timedelta(hours=int(hour)) for hour in rng.integers(0, 9999, n_rows)],
        "clock": [time(int(hour), int(minute)) for hour, minute in rng.integers(0, 24, (n_rows, 2))],
        "note": rng.choice(MESSAGES, n_rows).tolist(),
        "reply": rng.choice(MESSAGES, n_rows).tolist(),
    }
    some = {name: some_missing(rng, column) for name, column in cells.items()}
    return some | {"person": [f"{seed}-{row}" for row in range(n_rows)], "nothing": [None] * n_rows}


def mixed_labels(n_rows: int = N_ROWS, seed: int = 0) -> Any:
    """Labels that have something to do with the rows."""
    cells = mixed_cells(n_rows, seed)
    rng = np.random.default_rng(seed + 1)
    spam = np.array([("click" in (note or "")) or ("点击" in (note or "")) for note in cells["note"]])
    return np.where(rng.random(n_rows) < 0.15, "eggs", np.where(spam ^ (rng.random(n_rows) < 0.1), "spam", "ham"))


def mixed_frame(library: str, n_rows: int = N_ROWS, seed: int = 0) -> Any:
    """The table as a frame of pandas, polars or pyarrow; its column `size` declares what it can be."""
    cells = mixed_cells(n_rows, seed)
    sizes = np.random.default_rng(seed).choice(SIZES[:2], n_rows).tolist()
    if library == "polars":
        return pl.DataFrame(cells).with_columns(pl.Series("size", sizes, dtype=pl.Enum(SIZES)))
    if library == "pandas":
        frame = pd.DataFrame(cells).assign(size=pd.Categorical(sizes, categories=SIZES))
        return frame.astype({"colour": "category", "level": "Int64", "visits": "float64", "born": "datetime64[s]"})
    codes = pa.array([SIZES.index(size) for size in sizes])
    return pa.table(cells).append_column("size", pa.DictionaryArray.from_arrays(codes, SIZES))


def number_rows(n_rows: int = N_ROWS, seed: int = 0) -> Any:
    """An array of numbers, some of them missing."""
    cells = mixed_cells(n_rows, seed)
    names = ("height", "income", "visits", "share", "mark")
    return np.array([cells[name] for name in names], dtype=np.float64).T


def word_counts(n_rows: int = N_ROWS, seed: int = 0, scale: float = 1) -> Any:
    """A sparse matrix of counts, or of numbers."""
    rng = np.random.default_rng(seed)
    counts = rng.poisson(0.4, (n_rows, 12))
    return sparse.csr_array(counts if scale == 1 else counts * scale)


def sparse_frame(n_rows: int = N_ROWS, seed: int = 0) -> Any:
    """A frame of pandas with sparse columns beside others."""
    counts = pd.DataFrame.sparse.from_spmatrix(sparse.csr_matrix(word_counts(n_rows, seed)))
    counts.columns = [f"word {j}" for j in range(counts.shape[1])]
    numbers = pd.DataFrame(number_rows(n_rows, seed)[:, :2], columns=["height", "income"])
    return pd.concat([numbers, counts], axis=1)
