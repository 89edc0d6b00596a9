"""What the first call costs over the second one: with an empty cache of compiled code, and with a full one.

Each is measured in a process of its own. Importing numba, which happens once and only when a table is large
enough, is told apart.
"""

import json
import os
import sys
import tempfile
from time import perf_counter
from typing import Any

from bayeswater.kernels.compiling import COMPILE_FROM_CELLS
from benchmarks.jobs import JOBS
from benchmarks.processes import in_fresh_process

MODELS = ("GaussianNB", "CategoricalNB", "MultinomialNB", "BernoulliNB")  # ComplementNB has MultinomialNB's kernels


def compile_times() -> list[dict[str, Any]]:
    """Seconds that compiling adds to a first fit and predict_proba of each model."""
    records = []
    for model in MODELS:
        with tempfile.TemporaryDirectory() as empty:
            environment = os.environ | {"NUMBA_CACHE_DIR": empty}
            cold, cached = (in_fresh_process("benchmarks.compile_time", model, env=environment) for _ in range(2))
        records.append(
            {
                "fit and predict_proba": model,
                "cold s": cold["first"] - cold["second"],
                "from cache s": cached["first"] - cached["second"],
                "import numba s": cached["import_numba"],
            }
        )
    return records


def measure(model: str) -> dict[str, float]:
    """Time a first and a second fit with predict_proba, in this process."""
    job = next(job for job in JOBS if job.model == model and job.method == "fit")
    rows = job.make(int(1.2 * COMPILE_FROM_CELLS / job.make(2_000).cells_per_row) + 1)
    job.new_model("ours")  # imports our model, and scikit-learn with it
    start = perf_counter()
    import numba  # noqa: F401

    seconds = {"import_numba": perf_counter() - start}
    for which in ("first", "second"):
        start = perf_counter()
        job.new_model("ours").fit(rows.X, rows.y).predict_proba(rows.X)
        seconds[which] = perf_counter() - start
    return seconds


if __name__ == "__main__":
    print(json.dumps(measure(sys.argv[1])))
