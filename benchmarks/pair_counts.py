"""Counting all pairs of columns: its time, beside one-hot columns in BLAS, and its memory beside the forecast.

And the golden values of the car table of UCI, which is no part of the project: it is looked for under BAYESWATER_DATA,
and without it they are left out.

    python -m benchmarks.pair_counts [share of the rows]
"""

import json
import os
import sys
import tracemalloc
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from bayeswater.data.labels import Labels, encode_labels
from bayeswater.data.reading.coded_table import CodedTable, Rules, encode_categories
from bayeswater.kernels.threads import row_blocks, threads
from bayeswater.statistics.pair_counts import PairCounts, TripleCounts
from bayeswater.structure.mutual_information import conditional_mutual_information, mutual_information
from bayeswater.structure.trees import k_dependence, tree_augmented
from benchmarks.data import categories
from benchmarks.processes import in_fresh_process
from benchmarks.timing import medians_in_turns

CAR = Path(os.environ.get("BAYESWATER_DATA", "data")) / "tabular/car.arff"

N_CLASSES = 5
ONE_HOT_ROWS = 2**14
"""Rows of one-hot columns at once: 20 megabytes of float32."""

AT_MOST_SECONDS = 0.5
"""For a million rows of forty columns on two cores."""

WITHIN_FORECAST = 1.2
"""Highest memory during a count, by its forecast."""

WIDE = {"columns": 400, "states": 12, "rows": 20_000}
"""A table whose counts are larger than its rows."""


def pair_counting(repeats: int, share: float) -> Iterator[dict[str, Any]]:
    """Time the counts of all pairs, plain and weighted, on one thread and on all, beside one-hot columns in BLAS."""
    for n_rows in (100_000, 1_000_000):
        coded, labels = coded_categories(int(n_rows * share))
        weight = np.random.default_rng(0).random(coded.shape[0])
        actions: dict[str, Callable[[], Any]] = {
            "all threads": partial(PairCounts.of, coded, labels, None),
            "one thread": partial(_on_one_thread, coded, labels),
            "weighted": partial(PairCounts.of, coded, labels, weight),
            "one-hot BLAS": partial(one_hot_pairs, coded, labels),
        }
        seconds = medians_in_turns(actions, repeats)
        limit = AT_MOST_SECONDS * share if n_rows == 1_000_000 else None
        yield {
            "rows": f"{coded.shape[0]:,} x {coded.shape[1]} of 8 states, {N_CLASSES} classes",
            **{f"{name} ms": 1e3 * value for name, value in seconds.items()},
            "BLAS by ours": seconds["one-hot BLAS"] / seconds["all threads"],
            "at most ms": limit and 1e3 * limit,
            "reached": limit and seconds["all threads"] <= limit,
        }


def pair_memory() -> Iterator[dict[str, Any]]:
    """Compare the highest memory of a count of wide tables with its forecast, each in a process of its own."""
    for kind in ("PairCounts", "TripleCounts"):
        measured = in_fresh_process("benchmarks.pair_counts", "--memory", kind)
        yield {
            "counts": kind,
            "forecast MB": measured["forecast"] / 1e6,
            "peak MB": measured["peak"] / 1e6,
            "peak by forecast": measured["peak"] / measured["forecast"],
            "at most": WITHIN_FORECAST,
            "reached": measured["peak"] <= WITHIN_FORECAST * measured["forecast"],
        }


def car_goldens(path: Path = CAR) -> Iterator[dict[str, Any]]:
    """Compare information and structure on UCI car with the values that bnclassify and Weka agree on, in nats."""
    import pyarrow as pa

    from bayeswater.data.sources.recognising import open_source

    table = pa.concat_tables(open_source(str(path)).batches())
    label = table.column_names[-1]
    coded = encode_categories(table.drop_columns(label), Rules("TAN", refuse_missing=False))
    counts = PairCounts.of(coded, encode_labels(np.array(table[label].to_pylist())), None)
    single, given_class = mutual_information(counts), conditional_mutual_information(counts)
    names = list(counts.schema.names)
    for name, expected in CAR_INFORMATION.items():
        found = single[names.index(name)]
        yield {"golden": f"MI({name}; class)", "found": found, "reached": bool(abs(found - expected) < 5e-7)}
    for (a, b), expected in CAR_CONDITIONAL.items():
        found = given_class[names.index(a), names.index(b)]
        yield {"golden": f"CMI({a}; {b} | class)", "found": found, "reached": bool(abs(found - expected) < 5e-7)}
    tree = {(names[i], names[p]) for i, p in enumerate(tree_augmented(counts).tolist()) if p >= 0}
    yield {"golden": "tree of TAN", "reached": tree == CAR_TREE}
    yield {"golden": "no arc pays by BIC", "reached": bool((tree_augmented(counts, penalty="bic") == -1).all())}
    found_order = k_dependence(counts, 1)
    yield {"golden": "order of KDB", "reached": tuple(names[i] for i in found_order.order) == CAR_ORDER}
    parents = {names[i]: names[own[0]] for i, own in enumerate(found_order.parents) if own}
    yield {"golden": "parents of KDB with k=1", "reached": parents == CAR_PARENTS}


def coded_categories(n_rows: int, n_columns: int = 40, n_states: int = 8) -> tuple[CodedTable, Labels]:
    """Give codes column by column, as a frame is read."""
    rows = categories(n_rows, n_columns, n_states, N_CLASSES)
    coded = encode_categories(np.asfortranarray(rows.X), Rules("AODE", refuse_missing=False))
    return coded, encode_labels(rows.y)


def one_hot_pairs(coded: CodedTable, labels: Labels) -> np.ndarray:
    """Count all pairs as products of one-hot columns, class by class: (n_classes, n_slots, n_slots)."""
    n_states = coded.schema.n_states
    start = np.concatenate([[0], np.cumsum(n_states)])
    total = np.zeros((labels.n_classes, start[-1], start[-1]))
    for rows in row_blocks(coded.shape[0], ONE_HOT_ROWS):
        codes, y = coded.block(rows), labels.codes[rows]
        one_hot = np.zeros((len(y), start[-1]), dtype=np.float32)
        one_hot[np.arange(len(y))[:, None], start[:-1] + codes] = 1
        for k in range(labels.n_classes):
            own = one_hot[y == k]
            total[k] += own.T @ own
    return total


def _on_one_thread(coded: CodedTable, labels: Labels) -> PairCounts:
    with threads(1):
        return PairCounts.of(coded, labels, None)


def _measure(kind: str) -> dict[str, int]:
    counts = {"PairCounts": PairCounts, "TripleCounts": TripleCounts}[kind]
    n_columns = WIDE["columns"] if kind == "PairCounts" else WIDE["columns"] // 10
    coded, labels = coded_categories(WIDE["rows"], n_columns, WIDE["states"])
    few, few_labels = coded_categories(WIDE["rows"], 20, 3)
    counts.of(few, few_labels, None)  # compiles
    tracemalloc.start()
    counts.of(coded, labels, None)
    peak = tracemalloc.get_traced_memory()[1]
    return {"forecast": counts.nbytes_forecast(coded.schema.n_states, labels.n_classes), "peak": peak}


CAR_INFORMATION = {
    "buying": 0.066853,
    "maint": 0.051088,
    "doors": 0.003109,
    "persons": 0.152259,
    "lug_boot": 0.020800,
    "safety": 0.181732,
}
CAR_CONDITIONAL = {
    ("buying", "maint"): 0.0719992085,
    ("persons", "safety"): 0.031963,
    ("lug_boot", "safety"): 0.025431,
    ("buying", "safety"): 0.011647,
    ("maint", "safety"): 0.006396,
    ("buying", "persons"): 0.006191,
    ("doors", "lug_boot"): 0.005540,
    ("maint", "persons"): 0.004944,
    ("buying", "lug_boot"): 0.004326,
    ("persons", "lug_boot"): 0.003465,
    ("doors", "persons"): 0.002483,
    ("doors", "safety"): 0.001989,
    ("maint", "lug_boot"): 0.001229,
    ("buying", "doors"): 0.000378,
    ("maint", "doors"): 0.000154,
}
CAR_TREE = {
    ("maint", "buying"),
    ("persons", "safety"),
    ("lug_boot", "safety"),
    ("buying", "safety"),
    ("doors", "lug_boot"),
}
CAR_ORDER = ("safety", "persons", "buying", "maint", "lug_boot", "doors")
CAR_PARENTS = {
    "persons": "safety",
    "buying": "safety",
    "maint": "buying",
    "lug_boot": "safety",
    "doors": "lug_boot",
}


if __name__ == "__main__":
    from benchmarks.report import text_table

    if sys.argv[1:2] == ["--memory"]:
        print(json.dumps(_measure(sys.argv[2])))
    else:
        print(text_table(list(pair_counting(5, float(sys.argv[1]) if len(sys.argv) > 1 else 1.0))))
        print(text_table(list(pair_memory())))
        print(text_table(list(car_goldens())) if CAR.exists() else f"skipped: there is no {CAR.name}")
