"""How near a job is to what the machine allows: the bytes it must move and the sums it must do, beside both limits.

    limit = max(bytes / bandwidth, flops / peak)

Bytes are those of X, of the labels that a fit reads, and of what a prediction writes, each once. Flops are those of the
formula, done once for each cell, and for a prediction for each class; a sum counts like a product and a sum in one
instruction. So the limit is one that nobody reaches: tables fit into no cache for nothing, and a look-up is no sum.
Bandwidth is that of adding up an array that no cache holds, the peak that of a product of two matrices, both by NumPy.
All are on one thread, in turns, and in time of the processor: what others do on the machine is hardly part of it.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from statistics import median
from time import process_time
from typing import Any

import numpy as np

from benchmarks.data import Rows
from benchmarks.jobs import LIBRARIES, Job
from benchmarks.processes import ROOT
from benchmarks.timing import medians_in_turns, one_thread

PICTURE = ROOT / "docs/images/roofline.svg"

STREAMED_BYTES, MATRIX = 2**28, 1536

FLOPS_OF_A_CELL = {"GaussianNB": 4, "CategoricalNB": 1, "MultinomialNB": 1, "ComplementNB": 1, "BernoulliNB": 1}
"""Of a fit: the sums of x and of its square, each a product and a sum; a count."""

FLOPS_OF_A_TERM = {"GaussianNB": 4, "CategoricalNB": 1, "MultinomialNB": 2, "ComplementNB": 2, "BernoulliNB": 2}
"""Of a prediction, for each cell and class: a square and a product; a look-up; a product."""

FLOPS_OF_A_SCORE = 20
"""An exponential, for each row and class, where probabilities are asked for."""


@one_thread()
def limits(jobs: Sequence[Job], repeats: int, share: float) -> Iterator[dict[str, Any]]:
    """Time every job on both libraries, beside what the machine allows in the same turns; in time of the processor."""
    stream, a = np.ones(STREAMED_BYTES // 8), np.ones((MATRIX, MATRIX))
    product = np.empty_like(a)
    for job in jobs:
        if job.single_row:
            continue
        rows = job.rows(share)
        actions = {library: job.action(library, rows) for library in LIBRARIES}
        actions |= {"stream": stream.sum, "product": partial(np.matmul, a, a, out=product)}
        seconds = medians_in_turns(actions, repeats, clock=process_time)
        bandwidth, peak = stream.nbytes / seconds["stream"], 2 * MATRIX**3 / seconds["product"]
        n_bytes, flops = work_of(job, rows)
        limit = max(n_bytes / bandwidth, flops / peak)
        yield {
            "job": job.name,
            "ours ms": 1e3 * seconds["ours"],
            "scikit-learn ms": 1e3 * seconds["scikit-learn"],
            "ratio": seconds["scikit-learn"] / seconds["ours"],
            "limit ms": 1e3 * limit,
            "limited by": "bytes" if n_bytes / bandwidth >= flops / peak else "flops",
            "ours / limit": seconds["ours"] / limit,
            "MB": n_bytes / 1e6,
            "MFLOP": flops / 1e6,
            "GB/s there are": bandwidth / 1e9,
            "GFLOP/s there are": peak / 1e9,
        }


def work_of(job: Job, rows: Rows) -> tuple[int, int]:
    """Bytes that a job has to move, and flops that it has to do."""
    n_rows, n_classes = len(rows.y), int(rows.y.max()) + 1
    n_cells = round(rows.cells_per_row * n_rows)
    if job.method == "fit":
        return rows.nbytes + rows.y.nbytes, FLOPS_OF_A_CELL[job.model] * n_cells
    flops = FLOPS_OF_A_TERM[job.model] * n_cells * n_classes
    if job.method == "predict":
        return rows.nbytes + 8 * n_rows, flops
    return rows.nbytes + 8 * n_rows * n_classes, flops + FLOPS_OF_A_SCORE * n_rows * n_classes


def draw(records: Sequence[dict[str, Any]], path: Path = PICTURE) -> None:
    """Draw the roof of the machine and, below it, every job of the speed section: ours, and scikit-learn."""
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot as plt

    bandwidth, peak = (median(record[f"{unit} there are"] for record in records) for unit in ("GB/s", "GFLOP/s"))
    with plt.rc_context({"svg.hashsalt": "roofline", "font.size": 9}):
        figure, axes = plt.subplots(figsize=(7, 6.5), layout="constrained")
        intensity = np.geomspace(0.03, 30, 200)
        roof = np.minimum(intensity * bandwidth, peak)
        axes.loglog(intensity, roof, color="0.3")
        axes.text(0.1, 0.13 * bandwidth, f"{bandwidth:.0f} GB/s", ha="right")
        axes.text(30, 1.1 * peak, f"{peak:.0f} GFLOP/s", ha="right")
        labels: dict[tuple[float, float], list[str]] = {}
        for number, record in enumerate(records, start=1):
            x = record["MFLOP"] / record["MB"]
            ours, theirs = (record["MFLOP"] / 1e3 / (record[f"{who} ms"] / 1e3) for who in ("ours", "scikit-learn"))
            axes.plot([x, x], [theirs, ours], color="0.8", linewidth=1, zorder=0)
            axes.plot(x, theirs, "o", color="tab:orange", markersize=5, label="scikit-learn" if number == 1 else None)
            axes.plot(x, ours, "o", color="tab:blue", markersize=6, label="Bayeswater" if number == 1 else None)
            labels.setdefault((round(np.log10(x), 1), round(np.log10(ours), 1)), []).append(str(number))
        for (x, y), numbers in labels.items():
            axes.annotate(", ".join(numbers), (10**x, 10**y), xytext=(6, 3), textcoords="offset points")
        axes.set_xlabel("flops of the formula for each byte that is moved")
        axes.set_ylabel("GFLOP/s of the formula")
        lines = [f"{number}  {record['job']}" for number, record in enumerate(records, start=1)]
        half = -(-len(lines) // 2)
        for place, some in ((0.0, lines[:half]), (0.55, lines[half:])):
            axes.text(place, -0.12, "\n".join(some), transform=axes.transAxes, va="top", fontsize=7)
        axes.legend(loc="lower right", frameon=False)
        axes.spines[["top", "right"]].set_visible(False)
        figure.savefig(path, metadata={"Date": None})
        plt.close(figure)
