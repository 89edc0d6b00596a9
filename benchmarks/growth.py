"""Cost for each row at a hundred thousand, a million and ten million rows: flat means linear."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from benchmarks.data import Rows, categories, marks, measurements, texts
from benchmarks.jobs import Job
from benchmarks.timing import medians_in_turns

SIZES = (100_000, 1_000_000, 10_000_000)

TABLES: dict[str, tuple[str, Callable[[int], Rows]]] = {
    "GaussianNB, 20 float64": ("GaussianNB", measurements),
    "CategoricalNB, 40 uint8": ("CategoricalNB", categories),
    "BernoulliNB, 40 uint8": ("BernoulliNB", partial(marks, n_features=40, dtype=np.uint8)),
    "MultinomialNB, CSR 10 a row of 5k": ("MultinomialNB", partial(texts, n_features=5_000, n_words=10)),
}


def growth(repeats: int, sizes: Sequence[int] = SIZES) -> Iterator[dict[str, Any]]:
    """Nanoseconds a row, for fit and predict_proba of our models."""
    for title, (model, make) in TABLES.items():
        cost: dict[str, list[float]] = {"fit": [], "predict_proba": []}
        for n_rows in sizes:
            rows = make(n_rows)
            actions = {method: Job(title, model, method, make, n_rows).action("ours", rows) for method in cost}
            for method, seconds in medians_in_turns(actions, repeats).items():
                cost[method].append(1e9 * seconds / n_rows)
        for method, nanoseconds in cost.items():
            columns = {f"at {n_rows:,} rows": ns for n_rows, ns in zip(sizes, nanoseconds, strict=True)}
            yield {"model": title, "method": method, **columns}
