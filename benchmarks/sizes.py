"""Tables of ordinary size: our speed beside scikit-learn's from one row on, after a few calls in a new process."""

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.data import Rows, categories, marks, measurements, texts
from benchmarks.jobs import LIBRARIES
from benchmarks.processes import in_process_of_its_own
from benchmarks.timing import one_thread, warm_ratio

SIZES = (1, 10, 100, 1_000, 5_000, 10_000, 20_000, 50_000, 200_000)
METHODS = ("fit", "partial_fit", "predict", "predict_proba")
LEARNING_ROWS = 1_000
"""Rows that a model has learned from before it is asked for any number of them."""

WARM_CALLS, CALLS = 3, 9
"""Calls that make a process warm, and those after them that are timed."""

FASTER, SIZES_OF_FASTER = 3.0, (1_000, 50_000)
"""How many times as fast fit and predict_proba have to be, and from how many rows to how many."""


@dataclass(frozen=True)
class Form:
    """A model, and the rows it is measured on, in one of the forms that tables come in."""

    name: str
    model: str
    make: Callable[[int], Rows]

    def actions(self, method: str, n_rows: int) -> list[Callable[[], Any]]:
        """Give the calls that are timed, ours and that of scikit-learn."""
        learned, rows = self.make(LEARNING_ROWS), self.make(n_rows)
        return [self._action(getattr(library, self.model), method, learned, rows) for library in LIBRARIES.values()]

    def _action(self, new_model: Callable[[], Any], method: str, learned: Rows, rows: Rows) -> Callable[[], Any]:
        if method == "fit":
            return lambda: new_model().fit(rows.X, rows.y)
        if method == "partial_fit":
            classes = np.unique(learned.y)
            return lambda: new_model().partial_fit(rows.X, rows.y, classes)
        return partial(getattr(new_model().fit(learned.X, learned.y), method), rows.X)

    def ratios(self, n_rows: int, calls: int = CALLS) -> dict[str, float]:
        """Time of scikit-learn by ours of each method, in a process of their own."""
        return in_process_of_its_own(_ratios, self, n_rows, calls)


@one_thread()
def _ratios(form: Form, n_rows: int, calls: int) -> dict[str, float]:
    os.environ["BAYESWATER_COMPILE"] = "1"  # as users have it
    return {method: warm_ratio(*form.actions(method, n_rows), WARM_CALLS, calls) for method in METHODS}


def _made(make: Callable[..., Rows], change: Callable[[Any], Any], **shape: Any) -> Callable[[int], Rows]:
    return partial(_changed, make, change, **shape)


def _changed(make: Callable[..., Rows], change: Callable[[Any], Any], n_rows: int, **shape: Any) -> Rows:
    rows = make(n_rows, **shape)
    return Rows(change(rows.X), rows.y)


def _frame(X: Any) -> pd.DataFrame:
    return pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])])


def _frame_of_polars(X: Any) -> Any:
    import polars as pl

    return pl.DataFrame({f"x{j}": np.ascontiguousarray(X[:, j]) for j in range(X.shape[1])})


_codes, _marks = partial(categories, n_columns=20), partial(marks, n_features=20)
_texts = partial(texts, n_features=5_000, n_words=20, n_classes=5)

FORMS = (
    Form("GaussianNB, float64", "GaussianNB", measurements),
    Form("GaussianNB, float32", "GaussianNB", _made(measurements, np.float32)),
    Form("GaussianNB, float64 by column", "GaussianNB", _made(measurements, np.asfortranarray)),
    Form("GaussianNB, float32 by column", "GaussianNB", _made(measurements, partial(np.asfortranarray, dtype="f4"))),
    Form("GaussianNB, pandas", "GaussianNB", _made(measurements, _frame)),
    Form("CategoricalNB, uint8", "CategoricalNB", _codes),
    Form("CategoricalNB, int64", "CategoricalNB", _made(_codes, np.int64)),
    Form("CategoricalNB, pandas", "CategoricalNB", _made(_codes, _frame)),
    Form("MultinomialNB, float64", "MultinomialNB", _marks),
    Form("MultinomialNB, int64", "MultinomialNB", partial(_marks, dtype=np.int64)),
    Form("MultinomialNB, int64 of polars", "MultinomialNB", _made(partial(_marks, dtype=np.int64), _frame_of_polars)),
    Form("MultinomialNB, CSR of 5k", "MultinomialNB", _texts),
    Form("ComplementNB, float64", "ComplementNB", _marks),
    Form("ComplementNB, CSR of 5k", "ComplementNB", _texts),
    Form("BernoulliNB, float64", "BernoulliNB", _marks),
    Form("BernoulliNB, uint8", "BernoulliNB", partial(_marks, dtype=np.uint8)),
    Form("BernoulliNB, CSR of 5k", "BernoulliNB", _texts),
)


def sizes(n_rows: Sequence[int] = SIZES) -> Iterator[dict[str, Any]]:
    """Ratios of all forms at every size: 20 columns (or words a row) and 5 classes."""
    for form in FORMS:
        found = {n: form.ratios(n) for n in n_rows}
        for method in METHODS:
            ratios = {n: found[n][method] for n in n_rows}
            yield {
                "table": form.name,
                "method": method,
                **{f"{n:,} rows": ratio for n, ratio in ratios.items()},
                "reached": all(ratio >= _at_least(method, n) for n, ratio in ratios.items()),
            }


def _at_least(method: str, n_rows: int) -> float:
    first, last = SIZES_OF_FASTER
    return FASTER if method in ("fit", "predict_proba") and first <= n_rows <= last else 1.0


OTHER_SHAPES = tuple((n_columns, n_classes) for n_columns in (5, 20, 200) for n_classes in (2, 5, 50))
OTHER_SIZES = (1, 100, 1_000, 5_000, 20_000)
OF_SHAPE: dict[str, Callable[[int, int], Callable[[int], Rows]]] = {
    "GaussianNB": lambda columns, classes: partial(measurements, n_columns=columns, n_classes=classes),
    "CategoricalNB": lambda columns, classes: partial(categories, n_columns=columns, n_classes=classes),
    "MultinomialNB": lambda columns, classes: partial(marks, n_features=columns, n_classes=classes),
    "ComplementNB": lambda columns, classes: partial(marks, n_features=columns, n_classes=classes),
    "BernoulliNB": lambda columns, classes: partial(marks, n_features=columns, n_classes=classes),
}


def shapes(n_rows: Sequence[int] = OTHER_SIZES) -> Iterator[dict[str, Any]]:
    """The least ratio of each method at every size, over all numbers of columns and classes, and where it is."""
    for model, make in OF_SHAPE.items():
        found = {(n, *shape): Form(model, model, make(*shape)).ratios(n) for n in n_rows for shape in OTHER_SHAPES}
        for method in METHODS:
            record: dict[str, Any] = {"model": model, "method": method}
            least = {n: min((found[n, *shape][method], shape) for shape in OTHER_SHAPES) for n in n_rows}
            for n, (ratio, (columns, classes)) in least.items():
                record[f"{n:,} rows"] = f"{ratio:.3g} ({columns} x {classes})"
            yield record | {"reached": all(ratio >= 1.0 for ratio, _ in least.values())}
