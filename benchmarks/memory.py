"""Peak memory of a fit beyond what stood before it, each in a process of its own.

Two measures are taken, and the larger one is reported: what NumPy and Python allocate (tracemalloc), and by how
much the process grows (the high-water mark of its resident memory, where the system lets us reset it). A fit on
a few rows goes first, so that importing and compiling do not count.
"""

import json
import sys
import tracemalloc
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bayeswater.kernels.compiling import COMPILE_FROM_CELLS
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
        ours, theirs = (max(peak[name]["allocated"], peak[name]["grown"]) for name in LIBRARIES)
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


def measure(job: Job, library: str, share: float) -> dict[str, int]:
    """Fit in this process, which should have done nothing else."""
    rows = job.rows(share)
    few = rows.first(int(1.2 * COMPILE_FROM_CELLS / rows.cells_per_row) + 1)
    job.new_model(library).fit(few.X, few.y)
    model = job.new_model(library)
    tracemalloc.start()
    before = resident("VmRSS")
    can_reset = _reset_peak()
    model.fit(rows.X, rows.y)
    grown = resident("VmHWM") - before if can_reset else 0
    return {"allocated": tracemalloc.get_traced_memory()[1], "grown": grown, "x_bytes": rows.nbytes}


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
    print(json.dumps(measure(next(job for job in JOBS if job.key == key), library, float(share))))
