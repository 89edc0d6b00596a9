"""Gaussian classes beside scikit-learn's discriminant analyses, and beside the matrix products that they need.

A fit has to multiply the rows of each class with themselves, n d (d + 1) additions and multiplications for the lower
half of the scatter matrices; a prediction has to multiply every row with a matrix for each class, 2 n K d^2. BLAS is
asked for the same products, and both are given in GFLOP/s. scikit-learn's default solvers are those to beat; the other
ones stand beside them. Where classes share a covariance, a prediction is one product with a matrix of K columns, for
both libraries.

``python -m benchmarks.gaussian`` runs these sections alone.
"""

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis

from bayeswater import GaussianClassifier
from benchmarks.data import SEED, Rows, measurements
from benchmarks.jobs import Job
from benchmarks.machine import machine
from benchmarks.memory import measure
from benchmarks.processes import in_fresh_process
from benchmarks.report import text_table
from benchmarks.timing import medians_in_turns

N_ROWS, N_COLUMNS, N_CLASSES = 1_000_000, 50, 5
SIZES = (30_000, 100_000, 300_000, 1_000_000)
GROWTH_AT_MOST = 8
"""Bytes that the extra memory of a fit may grow by with a row of 400: those of a label, which has to be coded."""

LEAST_SHARE = 0.4
"""Share of the rows below which buffers, one for each thread, are still being filled: no growth shows there."""


@lru_cache(maxsize=1)
def correlated(n_rows: int) -> Rows:
    """Normal rows in which columns are correlated, with means of their own in each class."""
    rows = measurements.__wrapped__(n_rows, N_COLUMNS, N_CLASSES)  # past its cache: one such table is enough
    mixing = np.eye(N_COLUMNS) + np.random.default_rng(SEED).standard_normal((N_COLUMNS, N_COLUMNS)) / 10
    for start in range(0, n_rows, 10_000):
        rows.X[start : start + 10_000] = rows.X[start : start + 10_000] @ mixing
    return rows


@dataclass(frozen=True)
class CovarianceJob(Job):
    """A job of `GaussianClassifier` with one form of covariance, and the class of scikit-learn that does the same."""

    covariance: str = "full"
    peer: Callable[[], Any] = QuadraticDiscriminantAnalysis
    beside: str = ""

    def new_model(self, library: str) -> Any:
        """Make an unfitted model of either library."""
        return GaussianClassifier(covariance=self.covariance) if library == "ours" else self.peer()


def _job(method: str, covariance: str, solver: str, at_least: float | None = None) -> CovarianceJob:
    kind = QuadraticDiscriminantAnalysis if covariance == "full" else LinearDiscriminantAnalysis
    beside = f"{'QDA' if covariance == 'full' else 'LDA'}, {solver}"
    name = f"{covariance} {method} beside {beside}"

    def peer() -> Any:
        return kind(solver=solver)

    return CovarianceJob(
        name, "", method, correlated, N_ROWS, at_least, covariance=covariance, peer=peer, beside=beside
    )


JOBS = (
    _job("fit", "full", "svd", at_least=5),
    _job("fit", "full", "eigen"),
    _job("predict", "full", "svd", at_least=2),
    _job("fit", "shared", "svd", at_least=5),
    _job("fit", "shared", "lsqr"),
    _job("predict", "shared", "svd", at_least=1),
    _job("predict_proba", "shared", "svd", at_least=1),
)


def gaussian_speed(repeats: int, share: float) -> Iterator[dict[str, Any]]:
    """Time every job on both libraries, and the products by BLAS in the same turns."""
    for job in JOBS:
        print(job.name, file=sys.stderr, flush=True)
        rows = job.rows(share)
        actions = {library: job.action(library, rows) for library in ("ours", "beside")}
        product, operations = _product(job, rows)
        seconds = medians_in_turns({**actions, "product": product}, repeats)
        ratio = seconds["beside"] / seconds["ours"]
        yield {
            "job": f"{job.covariance}, {job.method}, {len(rows.y):,} x {N_COLUMNS}, {N_CLASSES} classes",
            "ours ms": 1e3 * seconds["ours"],
            "beside": job.beside,
            "beside ms": 1e3 * seconds["beside"],
            "ratio": ratio,
            "at least": job.at_least,
            "reached": job.at_least and ratio >= job.at_least,
            "ours GFLOP/s": operations / seconds["ours"] / 1e9,
            "BLAS GFLOP/s": operations / seconds["product"] / 1e9,
        }


def _product(job: CovarianceJob, rows: Rows) -> tuple[Callable[[], Any], float]:
    """Give the products that a job cannot do without, by BLAS alone, and how many operations they take."""
    n, d = rows.X.shape
    if job.method == "fit":
        return lambda: rows.X.T @ rows.X, n * d * (d + 1)  # NumPy sees that both are X, and takes the half (syrk)
    if job.covariance == "shared":
        weights, scores = np.ones((d, N_CLASSES)), np.empty((n, N_CLASSES))
        return lambda: np.matmul(rows.X, weights, out=scores), 2 * n * d * N_CLASSES
    whitening, whitened = np.ones((d, d)), np.empty((n, d))

    def for_each_class() -> None:
        for _ in range(N_CLASSES):
            np.matmul(rows.X, whitening, out=whitened)

    return for_each_class, 2 * n * d * d * N_CLASSES


def gaussian_memory(share: float) -> Iterator[dict[str, Any]]:
    """Extra peak memory of a fit at two sizes, each in a fresh process, and what it grows by with a row."""
    for job in JOBS:
        if job.method != "fit" or job.at_least is None:
            continue
        most_rows = max(share, LEAST_SHARE)
        sizes = [most_rows / 2, most_rows]
        n_rows = [int(N_ROWS * size) for size in sizes]
        extra = {
            library: [_extra(in_fresh_process("benchmarks.gaussian", job.key, library, str(size))) for size in sizes]
            for library in ("ours", "beside")
        }
        grown = {name: (most - less) / (n_rows[1] - n_rows[0]) for name, (less, most) in extra.items()}
        yield {
            "job": f"{job.covariance}, fit, {n_rows[0]:,} and {n_rows[1]:,} x {N_COLUMNS}",
            "ours MB": " and ".join(f"{peak / 1e6:.1f}" for peak in extra["ours"]),
            "beside": job.beside,
            "beside MB": " and ".join(f"{peak / 1e6:.1f}" for peak in extra["beside"]),
            "bytes of a row": 8 * N_COLUMNS,
            "ours grows by": grown["ours"],
            "beside grows by": grown["beside"],
            "at most": GROWTH_AT_MOST,
            "reached": grown["ours"] <= GROWTH_AT_MOST,
        }


def _extra(peak: dict[str, int]) -> int:
    return max(peak["allocated"], peak["grown"])


def gaussian_growth(repeats: int, share: float, sizes: Sequence[int] = SIZES) -> Iterator[dict[str, Any]]:
    """Nanoseconds a row, for fit and predict of both forms."""
    cost: dict[tuple[str, str], dict[str, float]] = {}
    for n_rows in (int(size * share) for size in sizes):
        rows = correlated(n_rows)
        actions = {job.name: job.action("ours", rows) for job in JOBS if job.peer().solver == "svd"}
        seconds = medians_in_turns(actions, repeats)
        for job in JOBS:
            if job.name in seconds:
                nanoseconds = 1e9 * seconds[job.name] / n_rows
                cost.setdefault((job.covariance, job.method), {})[f"at {n_rows:,} rows"] = nanoseconds
    for (covariance, method), columns in cost.items():
        yield {"covariance": covariance, "method": method, **columns}


def gaussian_leave_one_out(repeats: int, share: float) -> Iterator[dict[str, Any]]:
    """Leave-one-out, and the choice of shrinkage by it, of whole rows and of rows that lack cells."""
    n_rows, n_columns = int(4_000 * share), 20
    rows = measurements(n_rows, n_columns, 3)
    one, many = rows.X.copy(), rows.X.copy()
    one[3, 4] = np.nan
    many[np.random.default_rng(SEED).random(many.shape) < 0.1] = np.nan
    tables = {"whole rows": rows.X, "one cell missing": one, "a tenth missing": many}
    for covariance, shrinkage in (("full", None), ("shared", None), ("full", "auto")):
        actions = {name: _leaving_out(covariance, shrinkage, X, rows.y) for name, X in tables.items()}
        seconds = medians_in_turns(actions, repeats)
        what = "leave-one-out" if shrinkage is None else "fit with shrinkage='auto'"
        yield {
            "job": f"{covariance}, {what}, {n_rows:,} x {n_columns}, 3 classes",
            **{f"{name} ms": 1e3 * value for name, value in seconds.items()},
        }


def _leaving_out(covariance: str, shrinkage: str | None, X: Any, y: Any) -> Callable[[], Any]:
    model = GaussianClassifier(covariance=covariance, shrinkage=shrinkage)
    if shrinkage is not None:
        return lambda: model.fit(X, y)
    model.fit(X, y)
    return lambda: model.loo_predict_log_proba(X, y)


def main(repeats: int = 3) -> None:
    """Show all sections on Gaussian classes."""
    print(", ".join(f"{name}: {value}" for name, value in machine().items()))
    for section in (
        gaussian_speed(repeats, 1.0),
        gaussian_memory(1.0),
        gaussian_growth(repeats, 1.0),
        gaussian_leave_one_out(repeats, 1.0),
    ):
        print(f"\n{text_table(list(section))}", flush=True)


if __name__ == "__main__" and len(sys.argv) == 1:
    main()
elif __name__ == "__main__":
    key, library, share = sys.argv[1:]
    print(json.dumps(measure(next(job for job in JOBS if job.key == key), library, float(share))))
