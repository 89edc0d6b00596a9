"""What the first call in a fresh process takes: with an empty cache of compiled code, and with a full one.

Each is measured in a process of its own: as users have it, where NumPy answers until a loop is worth loading, and with
every loop loaded by the first call. The import of numba, which only loading a loop brings, is then told apart.
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
SETTINGS = {"1": "as it is", "now": "all loops"}


def compile_times() -> list[dict[str, Any]]:
    """Seconds of a first fit with predict_proba of each model, and of a second one."""
    records = []
    for model in MODELS:
        record: dict[str, Any] = {"fit and predict_proba": model}
        for setting, named in SETTINGS.items():
            with tempfile.TemporaryDirectory() as empty:
                environment = os.environ | {"NUMBA_CACHE_DIR": empty, "BAYESWATER_COMPILE": setting}
                cold, cached = (in_fresh_process("benchmarks.compile_time", model, env=environment) for _ in range(2))
            record |= {f"{named}, nothing cached s": cold["first"], f"{named}, from cache s": cached["first"]}
        records.append(record | {"second call s": cached["second"], "import numba s": cached["import_numba"]})
    return records


def measure(model: str) -> dict[str, float]:
    """Time a first and a second fit with predict_proba, in this process."""
    job = next(job for job in JOBS if job.model == model and job.method == "fit")
    rows = job.make(int(1.2 * COMPILE_FROM_CELLS / job.make(2_000).cells_per_row) + 1)
    job.new_model("ours")  # imports our model, and scikit-learn with it
    seconds = {"import_numba": 0.0}
    if os.environ["BAYESWATER_COMPILE"] == "now":
        start = perf_counter()
        import numba  # noqa: F401

        seconds["import_numba"] = perf_counter() - start
    for which in ("first", "second"):
        start = perf_counter()
        job.new_model("ours").fit(rows.X, rows.y).predict_proba(rows.X)
        seconds[which] = perf_counter() - start
    return seconds


if __name__ == "__main__":
    print(json.dumps(measure(sys.argv[1])))
