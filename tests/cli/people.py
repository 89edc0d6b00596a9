"""A small mixed table with holes in it, and the command run in this process."""

import io
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from bayeswater.cli.main import main

COLUMNS = ["age", "hours", "job", "member", "born"]
TARGET = "income"


def people(n_rows: int = 300, seed: int = 0) -> pa.Table:
    """Draw people whose income depends on all that is known of them."""
    rng = np.random.default_rng(seed)
    rich = rng.random(n_rows) < 0.4
    age = np.round(np.where(rich, rng.normal(50, 8, n_rows), rng.normal(35, 10, n_rows)), 1)
    hours = np.where(rich, rng.poisson(45, n_rows), rng.poisson(36, n_rows))
    jobs = np.array(["clerk", "engineer", "farmer, own land", "教师"])
    job = np.where(rich, rng.choice(jobs, n_rows, p=[0.2, 0.5, 0.1, 0.2]), rng.choice(jobs, n_rows))
    born = np.datetime64("1980-01-01") + rng.integers(0, 5000, n_rows)
    return pa.table(
        {
            "age": pa.array(age, mask=rng.random(n_rows) < 0.1),
            "hours": pa.array(hours),
            "job": pa.array(job.tolist(), mask=rng.random(n_rows) < 0.1),
            "member": pa.array(rng.random(n_rows) < np.where(rich, 0.7, 0.3)),
            "born": pa.array(born),
            TARGET: pa.array(np.where(rich, "high", "low").tolist()),
        }
    )


def write_csv(table: pa.Table, path: Path) -> Path:
    pyarrow.csv.write_csv(table, path)
    return path


@dataclass(frozen=True)
class Answer:
    """What a command left behind."""

    code: int
    out: str
    err: str


def command(capsys: Any, *arguments: object, stdin: bytes | None = None) -> Answer:
    """Run the command in this process."""
    before = sys.stdin
    if stdin is not None:
        sys.stdin = io.TextIOWrapper(io.BytesIO(stdin))
    capsys.readouterr()
    try:
        code = main([str(argument) for argument in arguments])
    finally:
        sys.stdin = before
    captured = capsys.readouterr()
    return Answer(code, captured.out, captured.err)
