"""What is measured: each job is a model, a method, the rows, and how many times faster than scikit-learn it has to be.

To add one, add a `Job` to `JOBS`. The first argument of the function that makes its rows is their number.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
import sklearn.naive_bayes

import bayeswater
from benchmarks.data import Rows, categories, marks, measurements, texts

LIBRARIES = {"ours": bayeswater, "scikit-learn": sklearn.naive_bayes}


@dataclass(frozen=True)
class Job:
    """One line of the main table."""

    name: str
    model: str
    method: str
    make: Callable[[int], Rows]
    n_rows: int
    at_least: float | None = None
    """Ratio to reach; None where none is set."""
    memory_below: float | None = None
    """Bound of the extra peak memory of a fit, as a share of X."""
    single_row: bool = False
    """Fit on all rows, then ask for one at a time."""

    def rows(self, share: float = 1.0) -> Rows:
        """Make the rows, or for a quick look only a share of them."""
        return self.make(max(int(self.n_rows * share), 2_000))

    def new_model(self, library: str) -> Any:
        """Make an unfitted model of either library."""
        return getattr(LIBRARIES[library], self.model)()

    def action(self, library: str, rows: Rows) -> Callable[[], Any]:
        """Give the call that is timed."""
        if self.method == "fit":
            return lambda: self.new_model(library).fit(rows.X, rows.y)
        model = self.new_model(library).fit(rows.X, rows.y)
        return partial(getattr(model, self.method), rows.X[:1] if self.single_row else rows.X)

    @cached_property
    def key(self) -> str:
        """Short name, for the command line."""
        return self.name.lower().replace(",", "").replace(" ", "-")


whole_texts = partial(texts, dtype=np.int64)
many_classes = partial(texts, n_features=5_000, n_classes=500)

# Text rows are float64, as TfidfVectorizer makes them; the jobs in int64, as CountVectorizer does, stand beside.
JOBS = (
    Job("GaussianNB fit, 1M x 20 float64, 5 classes", "GaussianNB", "fit", measurements, 1_000_000, 20, 0.1),
    Job("GaussianNB predict_proba, same", "GaussianNB", "predict_proba", measurements, 1_000_000, 8),
    Job(
        "CategoricalNB fit, 1M x 40 uint8, 8 values, 5 classes", "CategoricalNB", "fit", categories, 1_000_000, 60, 0.1
    ),
    Job("CategoricalNB predict_proba, same", "CategoricalNB", "predict_proba", categories, 1_000_000, 15),
    Job("MultinomialNB fit, CSR 200k x 50k, 100 a row, 20 classes", "MultinomialNB", "fit", texts, 200_000, 3),
    Job("MultinomialNB predict, same", "MultinomialNB", "predict", texts, 200_000, 1.5),
    Job("MultinomialNB fit, same in int64", "MultinomialNB", "fit", whole_texts, 200_000),
    Job("MultinomialNB predict, same in int64", "MultinomialNB", "predict", whole_texts, 200_000),
    Job(
        "MultinomialNB fit, CSR 20k x 5k, 100 a row, 500 classes", "MultinomialNB", "fit", many_classes, 20_000, 20, 1.0
    ),
    Job("BernoulliNB fit, 100k x 300 float64, 5 classes", "BernoulliNB", "fit", marks, 100_000, 5, 0.1),
    Job("BernoulliNB predict, same", "BernoulliNB", "predict", marks, 100_000, 5),
    Job("GaussianNB one row of 20", "GaussianNB", "predict_proba", measurements, 10_000, 3, single_row=True),
    Job("CategoricalNB one row of 40", "CategoricalNB", "predict_proba", categories, 10_000, 3, single_row=True),
    Job("BernoulliNB one row of 300", "BernoulliNB", "predict_proba", marks, 10_000, 3, single_row=True),
    Job("MultinomialNB one row of 300", "MultinomialNB", "predict_proba", marks, 10_000, 3, single_row=True),
    Job("ComplementNB one row of 300", "ComplementNB", "predict_proba", marks, 10_000, 2, single_row=True),
    Job("MultinomialNB one row, CSR of 50k", "MultinomialNB", "predict_proba", texts, 10_000, single_row=True),
)


def named(key: str | None) -> list[Job]:
    """The jobs whose short name contains `key`."""
    return [job for job in JOBS if key is None or key.lower() in job.key]
