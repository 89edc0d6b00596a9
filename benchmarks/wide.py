"""Tables of ten thousand columns: what all pairs of them tell of each other, and the models that are made of it."""

import json
import sys
import warnings
from collections.abc import Callable, Iterator
from time import process_time
from typing import Any

import numpy as np

import bayeswater
from bayeswater.kernels.pair_information import CONDITIONAL, pair_values
from benchmarks.data import SEED, Rows
from benchmarks.memory import resident
from benchmarks.processes import in_fresh_process

N_ROWS, N_COLUMNS, MOST_STATES = 10_000, 10_000, 4
AT_MOST_SECONDS, AT_MOST_BYTES = 120.0, 2e9
"""A minute on two cores, in time of the processor, and what the process holds in all."""

TILE = 500
"""Columns whose one-hot columns are multiplied at once by BLAS."""

PEER_COLUMNS = 2_000
"""Columns of which BLAS makes all products here; all pairs of more take it as many times as long as they are more."""


def wide_rows(n_rows: int, n_columns: int) -> Rows:
    """Columns of 2 to 4 states; most lean on one of the fifty before them, some on the class."""
    rng = np.random.default_rng(SEED)
    n_states, y = rng.integers(2, MOST_STATES + 1, n_columns), rng.integers(0, 2, n_rows)
    X = np.empty((n_rows, n_columns), dtype=np.uint8, order="F")
    for j in range(n_columns):
        X[:, j] = rng.integers(0, n_states[j], n_rows)
        leans, share = (X[:, rng.integers(max(0, j - 50), j)], 0.5) if j and rng.random() < 0.7 else (y, 0.05)
        is_same = rng.random(n_rows) < share
        X[is_same, j] = leans[is_same] % n_states[j]
    return Rows(X, y)


def all_pairs(rows: Rows) -> None:
    """Information of all pairs, by sets of rows as bits."""
    codes = np.ascontiguousarray(rows.X.T)
    n_states = codes.max(axis=1).astype(np.int64) + 1
    pair_values(codes, n_states, np.zeros(len(rows.y), dtype=np.int64), 1, CONDITIONAL)


def all_pairs_by_blas(rows: Rows) -> None:
    """Counts of all pairs as products of one-hot columns, tile by tile; what they tell is not even read."""
    X, n_columns = rows.X, rows.X.shape[1]

    def one_hot(first: int) -> np.ndarray:
        tile = X[:, first : first + TILE]
        return np.concatenate([(tile == state).astype(np.float32) for state in range(MOST_STATES)], axis=1)

    for low in range(0, n_columns, TILE):
        mine = one_hot(low).T
        for high in range(low, n_columns, TILE):
            mine @ one_hot(high)


def tree(rows: Rows) -> None:
    """Learn the tree of Chow and Liu from a frame."""
    import pandas as pd

    frame = pd.DataFrame(rows.X, columns=[f"x{j}" for j in range(rows.X.shape[1])])
    bayeswater.learn_structure(frame, method="tree")


def fitted(name: str, **settings: Any) -> Callable[[Rows], Any]:
    """Give the fit of a classifier."""

    def fit(rows: Rows) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", bayeswater.BayesWarning)  # AODE says how many super-parents it takes
            getattr(bayeswater, name)(**settings).fit(rows.X, rows.y)

    return fit


JOBS: dict[str, Callable[[Rows], Any]] = {
    "all pairs": all_pairs,
    "tree": tree,
    "TAN": fitted("TAN"),
    "AODE": fitted("AODE"),
    "KDB": fitted("KDB"),
}


def wide_tables(share: float) -> Iterator[dict[str, Any]]:
    """Processor seconds and peak of each job; of all pairs beside those of BLAS, by pair."""
    n_columns = int(N_COLUMNS * share)
    for name in JOBS:
        found = in_fresh_process("benchmarks.wide", name, str(n_columns))
        record = {
            "job": f"{name}, {N_ROWS:,} x {n_columns:,} uint8",
            "ours CPU s": found["seconds"],
            "peak MB": found["peak"] / 1e6,
            "at most CPU s": AT_MOST_SECONDS,
            "at most MB": AT_MOST_BYTES / 1e6,
            "reached": found["seconds"] <= AT_MOST_SECONDS and found["peak"] <= AT_MOST_BYTES,
        }
        if name == "all pairs":
            peer = in_fresh_process("benchmarks.wide", "blas", str(min(n_columns, PEER_COLUMNS)))
            times = (n_columns / min(n_columns, PEER_COLUMNS)) ** 2
            record |= {"BLAS CPU s": times * peer["seconds"], "ratio": times * peer["seconds"] / found["seconds"]}
        yield record


def _measure(name: str, n_columns: int) -> dict[str, float]:
    job = all_pairs_by_blas if name == "blas" else JOBS[name]
    if name != "blas":
        job(wide_rows(N_ROWS, min(n_columns, 600)))  # compiles
    rows = wide_rows(N_ROWS, n_columns)
    start = process_time()
    job(rows)
    return {"seconds": process_time() - start, "peak": resident("VmHWM")}


if __name__ == "__main__":
    print(json.dumps(_measure(sys.argv[1], int(sys.argv[2]))))
