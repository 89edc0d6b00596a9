"""The main table: our time beside scikit-learn's, and beside the time of one reading of X."""

import sys
from collections.abc import Iterator, Sequence
from typing import Any

from benchmarks.jobs import LIBRARIES, Job
from benchmarks.timing import CALLS_OF_ONE_ROW, medians_in_turns


def speed(jobs: Sequence[Job], repeats: int, share: float) -> Iterator[dict[str, Any]]:
    """Time every job on both libraries, and ``X.sum()`` in the same turns."""
    for job in jobs:
        print(job.name, file=sys.stderr, flush=True)
        rows = job.rows(share)
        actions = {library: job.action(library, rows) for library in LIBRARIES}
        if not job.single_row:
            actions["X.sum()"] = rows.X.sum
        seconds = medians_in_turns(actions, repeats, CALLS_OF_ONE_ROW if job.single_row else 1)
        ratio = seconds["scikit-learn"] / seconds["ours"]
        record = {
            "job": job.name,
            "ours ms": 1e3 * seconds["ours"],
            "scikit-learn ms": 1e3 * seconds["scikit-learn"],
            "ratio": ratio,
            "at least": job.at_least,
            "reached": job.at_least and ratio >= job.at_least,
        }
        if not job.single_row:
            record |= {
                "X.sum() ms": 1e3 * seconds["X.sum()"],
                "ours GB/s": rows.nbytes / seconds["ours"] / 1e9,
                "X.sum() GB/s": rows.nbytes / seconds["X.sum()"] / 1e9,
            }
        yield record
