"""Exact leave-one-out of all rows, as a multiple of one prediction of the same rows."""

from collections.abc import Iterator
from typing import Any

from benchmarks.data import categories, marks, measurements, texts
from benchmarks.jobs import Job
from benchmarks.timing import medians_in_turns

JOBS = (
    Job("GaussianNB, 1M x 20 float64", "GaussianNB", "predict_log_proba", measurements, 1_000_000),
    Job("CategoricalNB, 1M x 40 uint8", "CategoricalNB", "predict_log_proba", categories, 1_000_000),
    Job("BernoulliNB, 100k x 300 float64", "BernoulliNB", "predict_log_proba", marks, 100_000),
    Job("MultinomialNB, CSR 200k x 50k, 20 classes", "MultinomialNB", "predict_log_proba", texts, 200_000),
    Job("ComplementNB, CSR 200k x 50k, 20 classes", "ComplementNB", "predict_log_proba", texts, 200_000),
)


def leave_one_out(repeats: int, share: float) -> Iterator[dict[str, Any]]:
    """Time loo_predict_log_proba beside predict_log_proba."""
    for job in JOBS:
        rows = job.rows(share)
        model = job.new_model("ours").fit(rows.X, rows.y)
        seconds = medians_in_turns(
            {
                "predict": lambda model=model, rows=rows: model.predict_log_proba(rows.X),
                "loo": lambda model=model, rows=rows: model.loo_predict_log_proba(rows.X, rows.y),
            },
            repeats,
        )
        yield {
            "job": job.name,
            "predict_log_proba ms": 1e3 * seconds["predict"],
            "leave-one-out ms": 1e3 * seconds["loo"],
            "multiple": seconds["loo"] / seconds["predict"],
        }
