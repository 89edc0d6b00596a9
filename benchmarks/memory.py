"""Peak memory of a fit, and of predictions, beyond what stood before them, each in a process of its own.

Two measures are taken, and the larger one is reported: what NumPy and Python allocate (tracemalloc), and by how
much the process grows (the high-water mark of its resident memory, where the system lets us reset it). A fit on
a few rows goes first, so that importing and compiling do not count.
"""

import gc
import json
import sys
import tracemalloc
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import issparse

import bayeswater
from bayeswater.kernels.compiling import COMPILE_FROM_CELLS
from benchmarks.data import Rows, categories, marks, measurements, texts
from benchmarks.jobs import JOBS, LIBRARIES, Job
from benchmarks.processes import in_fresh_process

RESET_PEAK = "5"  # what proc(5) says to write into clear_refs


def peak_memory(jobs: Sequence[Job], share: float) -> list[dict[str, Any]]:
    """Extra peak of every fit, for both libraries, as a share of X."""
    records = []
    for job in jobs:
        if job.method != "fit":
            continue
        peak = {name: in_fresh_process("benchmarks.memory", job.key, name, str(share)) for name in LIBRARIES}
        x_bytes = peak["ours"]["x_bytes"]
        ours, theirs = (peak[name]["peak"] for name in LIBRARIES)
        records.append(
            {
                "job": job.name,
                "X MB": x_bytes / 1e6,
                "ours MB": ours / 1e6,
                "scikit-learn MB": theirs / 1e6,
                "ours % of X": 100 * ours / x_bytes,
                "scikit-learn % of X": 100 * theirs / x_bytes,
                "below %": job.memory_below and 100 * job.memory_below,
                "reached": job.memory_below and ours < job.memory_below * x_bytes,
            }
        )
    return records


@dataclass(frozen=True)
class Learner:
    """A classifier, and the rows that its memory is measured on; a linear one holds sums for each column alone."""

    name: str
    make: Callable[[int], Rows]
    n_rows: int
    is_linear: bool = False
    settings: Mapping[str, Any] = field(default_factory=dict)

    def model(self) -> Any:
        """Make an unfitted model."""
        return getattr(bayeswater, self.name)(**self.settings)


_few_columns, _mixed = partial(categories, n_columns=10, n_states=4), partial(measurements, n_columns=20)
LEARNERS = (
    Learner("GaussianNB", measurements, 1_000_000, True),
    Learner("CategoricalNB", categories, 1_000_000, True),
    Learner("MultinomialNB", texts, 200_000, True),
    Learner("ComplementNB", texts, 200_000, True),
    Learner("BernoulliNB", marks, 100_000, True),
    Learner("NaiveBayes", _mixed, 500_000, True),
    Learner("NaiveBayes", categories, 500_000, True),
    Learner("GaussianClassifier", measurements, 500_000),
    Learner("SPODE", categories, 200_000, False, {"super_parent": 0}),
    Learner("TAN", categories, 200_000),
    Learner("AODE", categories, 200_000),
    Learner("A2DE", _few_columns, 200_000),
    Learner("KDB", categories, 100_000),
    Learner("SKDB", _few_columns, 20_000),
    Learner("NetworkClassifier", _few_columns, 20_000),
    Learner("BayesEnsemble", _few_columns, 5_000),
)
"""Every classifier of the library."""

TIMES_OF_X = 2.0
"""What a linear model may take beyond what stood before it, as a multiple of its input."""

METHODS = ("fit", "predict", "predict_proba")


def every_peak(share: float) -> Iterator[dict[str, Any]]:
    """Extra peak of `fit`, `predict` and `predict_proba` of every classifier, beside the size of its input.

    Of a fit that is X and y; of a prediction X, and the answer is no part of the peak.
    """
    for place, learner in enumerate(LEARNERS):
        found = in_fresh_process("benchmarks.memory", "--learner", str(place), str(share))
        x_bytes = found["x_bytes"]
        inputs = dict.fromkeys(METHODS, x_bytes) | {"fit": x_bytes + found["y_bytes"]}
        times = {method: found[method] / inputs[method] for method in METHODS}
        yield {
            "classifier": learner.name,
            "X": found["shape"],
            "X MB": x_bytes / 1e6,
            **{f"{method} MB": found[method] / 1e6 for method in METHODS},
            **{f"{method} / input": times[method] for method in METHODS},
            "reached": max(times.values()) <= TIMES_OF_X if learner.is_linear else None,
        }


def measure_learner(learner: Learner, share: float) -> dict[str, Any]:
    """Fit and predict in this process, which should have done nothing else."""
    rows = learner.make(max(int(learner.n_rows * share), 2_000))
    few = rows.first(min(len(rows.y), int(1.2 * COMPILE_FROM_CELLS / rows.cells_per_row) + 1))
    first = learner.model().fit(few.X, few.y)
    for method in METHODS[1:]:
        getattr(first, method)(few.X)
    model = learner.model()
    shape = f"{rows.X.shape[0]:,} x {rows.X.shape[1]:,} {'CSR' if issparse(rows.X) else rows.X.dtype}"
    found: dict[str, Any] = {"x_bytes": rows.nbytes, "y_bytes": rows.y.nbytes, "shape": shape}
    found["fit"] = _peak(lambda: model.fit(rows.X, rows.y))
    for method in METHODS[1:]:
        found[method] = _peak(partial(getattr(model, method), rows.X))
    return found


def _peak(action: Callable[[], Any]) -> int:
    """Highest memory of a call beyond what stood before it; an array that it answers with is no part of it."""
    gc.collect()
    tracemalloc.start()
    before = resident("VmRSS")
    can_reset = _reset_peak()
    answer = action()
    grown = resident("VmHWM") - before if can_reset else 0
    allocated = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return max(allocated, grown) - (answer.nbytes if isinstance(answer, np.ndarray) else 0)


def measure(job: Job, library: str, share: float) -> dict[str, int]:
    """Fit in this process, which should have done nothing else."""
    rows = job.rows(share)
    few = rows.first(int(1.2 * COMPILE_FROM_CELLS / rows.cells_per_row) + 1)
    job.new_model(library).fit(few.X, few.y)
    model = job.new_model(library)
    return {"peak": _peak(lambda: model.fit(rows.X, rows.y)), "x_bytes": rows.nbytes}


def _reset_peak() -> bool:
    try:
        Path("/proc/self/clear_refs").write_text(RESET_PEAK)
    except OSError:
        return False
    return True


def resident(field: str) -> int:
    """Resident memory now (VmRSS) or at its highest (VmHWM), in bytes; 0 where the system does not tell."""
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        return 0
    return next((1024 * int(line.split()[1]) for line in lines if line.startswith(field)), 0)


if __name__ == "__main__":
    key, library, share = sys.argv[1:]
    if key == "--learner":
        print(json.dumps(measure_learner(LEARNERS[int(library)], float(share))))
        sys.exit()
    print(json.dumps(measure(next(job for job in JOBS if job.key == key), library, float(share))))
