"""What the first call costs over the second one: with an empty cache of compiled code, and with a full one.

Each is measured in a process of its own. Importing numba, which happens once and only when a table is large enough, is told apart.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter

from bayeswater.kernels.compiling import COMPILE_FROM_CELLS
from benchmarks.jobs import JOBS, Job

MODELS = ("GaussianNB", "CategoricalNB", "MultinomialNB", "BernoulliNB")  # ComplementNB has MultinomialNB's kernels


def cold_and_cached(model: str) -> dict[str, float]:
    """Seconds that compiling adds to a first fit and predict_proba."""
    root = Path(__file__).parent.parent
    with tempfile.TemporaryDirectory() as empty:
        command = [sys.executable, "-m", "benchmarks.compile_time", model]
        runs = [
            json.loads(
                subprocess.run(
                    command,
                    cwd=root,
                    env=os.environ | {"NUMBA_CACHE_DIR": empty},
                    check=True,
                    capture_output=True,
                    text=True,
                ).stdout
            )
            for _ in range(2)
        ]
    cold, cached = runs
    return {"cold": cold["first"] - cold["second"], "cached": cached["first"] - cached["second"]} | {
        "import_numba": cached["import_numba"]
    }


def measure(model: str) -> dict[str, float]:
    """Time a first and a second fit with predict_proba, in this process."""
    job = next(job for job in JOBS if job.model == model and job.method == "fit")
    rows = job.make(int(1.2 * COMPILE_FROM_CELLS / job.make(2_000).cells_per_row) + 1)
    start = perf_counter()
    import numba  # noqa: F401

    times = [perf_counter() - start]
    for _ in range(2):
        start = perf_counter()
        _fit_and_predict(job, rows)
        times.append(perf_counter() - start)
    return dict(zip(("import_numba", "first", "second"), times, strict=True))


def _fit_and_predict(job: Job, rows) -> None:
    job.new_model("ours").fit(rows.X, rows.y).predict_proba(rows.X)


if __name__ == "__main__":
    print(json.dumps(measure(sys.argv[1])))
