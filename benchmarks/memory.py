"""Peak memory of a fit beyond what stood before it, each in a process of its own.

Two measures are taken, and the larger one is reported: what NumPy and Python allocate (tracemalloc), and by how much the process
grows (the kernel's high-water mark of resident memory, where it can be reset). A fit on a few rows goes first, so that
compiling and importing do not count.
"""

import json
import subprocess
import sys
import tracemalloc
from pathlib import Path

from bayeswater.kernels.compiling import COMPILE_FROM_CELLS
from benchmarks.jobs import JOBS, Job

PEAK_RESET = "5"  # see proc(5), clear_refs


def extra_peak(job: Job, library: str, share: float) -> dict[str, float]:
    """Extra peak bytes of a fit, and the bytes of X, from a fresh process."""
    command = [sys.executable, "-m", "benchmarks.memory", job.key, library, str(share)]
    root = Path(__file__).parent.parent
    return json.loads(subprocess.run(command, cwd=root, check=True, capture_output=True, text=True).stdout)


def measure(job: Job, library: str, share: float) -> dict[str, float]:
    """Fit in this process, which should have done nothing else."""
    rows = job.rows(share)
    few = rows.first(int(1.2 * COMPILE_FROM_CELLS / rows.cells_per_row) + 1)
    job.new_model(library).fit(few.X, few.y)
    model = job.new_model(library)
    tracemalloc.start()
    resident_before = _resident("VmRSS")
    can_reset = _reset_peak()
    model.fit(rows.X, rows.y)
    grown = _resident("VmHWM") - resident_before if can_reset else 0
    allocated = tracemalloc.get_traced_memory()[1]
    return {"extra_bytes": max(allocated, grown), "allocated": allocated, "grown": grown, "x_bytes": rows.nbytes}


def _reset_peak() -> bool:
    try:
        Path("/proc/self/clear_refs").write_text(PEAK_RESET)
    except OSError:
        return False
    return True


def _resident(field: str) -> int:
    """Resident memory now (VmRSS) or at its highest (VmHWM), in bytes; 0 where the system does not tell."""
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith(field)), 0)


if __name__ == "__main__":
    key, library, share = sys.argv[1:]
    print(json.dumps(measure(next(job for job in JOBS if job.key == key), library, float(share))))
