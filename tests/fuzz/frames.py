"""Hostile frames through fit, predict, explain, sample, save and load of every classifier, and the laws of sums."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
from sklearn.base import clone
from tests.fuzz.judging import asked, noted, ours
from tests.fuzz.soundness import require_sound
from tests.fuzz.tables import (
    LIBRARIES,
    draw_labels,
    draw_table,
    in_library,
    is_in_all_libraries,
    labels_of,
    odd_frame,
    rows_of,
)

from bayeswater import (
    A2DE,
    AODE,
    KDB,
    SKDB,
    SPODE,
    TAN,
    BayesEnsemble,
    GaussianClassifier,
    NaiveBayes,
    NetworkClassifier,
)

CLOSE = 1e-6
"""How far the posteriors of two models may be apart that have added the same numbers in another order."""


@dataclass(frozen=True)
class Rows:
    """Rows of a frame, their labels and weights."""

    frame: Any
    y: Any
    weight: Any

    def __len__(self) -> int:
        return len(self.frame)

    @property
    def weights_differ_much(self) -> bool:
        """Whether what a row adds may be lost in the rounding of a sum, and with it what the order of rows decides."""
        there = [] if self.weight is None else self.weight[self.weight > 0]
        return len(there) > 0 and there.max() > 1e6 * there.min()

    def take(self, rows: Any) -> "Rows":
        weight = None if self.weight is None else self.weight[rows]
        return Rows(rows_of(self.frame, rows), labels_of(self.y, rows), weight)

    def learned_by(self, model: Any) -> Any:
        """A new model of these rows, or None if they are refused."""
        return asked(lambda: clone(model).fit(self.frame, self.y, self.weight))


def case(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.choice([1, 2, 3, 8, 30, 90], p=[0.05, 0.05, 0.1, 0.2, 0.4, 0.2]))
    codes = rng.integers(0, rng.integers(1, 5), n)
    table = draw_table(rng, n, codes, odd=float(rng.choice([0.0, 0.3, 0.9])))
    y, weight = draw_labels(rng, n, codes), draw_weights(rng, n)
    library, model = str(rng.choice(LIBRARIES)), draw_model(rng)
    try:
        rows = Rows(in_library(table, library), y, weight)
        if library == "pandas" and rng.random() < 0.3:
            rows = Rows(odd_frame(rng, rows.frame), y, weight)
    except (Exception, pl.exceptions.PanicException):  # a library need not know every type
        return
    with noted(f"{model}, {library}, y {type(y).__name__}, weight {weight}\n{table.schema}"):
        fitted = rows.learned_by(model)
        if fitted is not None:
            counted = rows if rows.weight is None else rows.take(np.flatnonzero(rows.weight > 0))
            require_sound(rng, fitted, counted.frame)
            require_answers_to_others(rng, fitted, table)
            if not rows.weights_differ_much:
                LAWS[rng.integers(len(LAWS))](rng, model, fitted, counted)


def draw_model(rng: np.random.Generator) -> Any:
    missing = str(rng.choice(["ignore", "ignore", "state"]))
    kind = rng.integers(16)
    if kind < 5:
        alpha = ["auto", 1.0, 0.1, 1e-6][rng.integers(4)]
        family = str(rng.choice(["auto", "auto", "gaussian", "binned", "categorical", "lognormal"]))
        return NaiveBayes(alpha=alpha, missing=missing, family=family)
    if kind < 8:
        forms = ["full", "shared", "diagonal", "spherical", "shared_diagonal"]
        return GaussianClassifier(covariance=str(rng.choice(forms)), shrinkage=[None, "auto", 0.2][rng.integers(3)])
    if kind == 15:
        return NetworkClassifier(missing="ignore") if rng.random() < 0.8 else BayesEnsemble(random_state=0)
    make = (SPODE, TAN, AODE, A2DE, KDB, SKDB, AODE)[kind - 8]
    return make(missing=missing, discretize=str(rng.choice(["mdl", "equal_frequency", "equal_width"])))


def draw_weights(rng: np.random.Generator, n: int) -> Any:
    match rng.integers(8):
        case 0:
            return rng.integers(0, 4, n)
        case 1:
            return 10.0 ** rng.uniform(-12, 12, n)
        case 2:
            return 10.0 ** rng.uniform(-300, 290, n)
        case 3:
            return rng.random(n) - 0.01
    return None


def require_answers_to_others(rng: np.random.Generator, model: Any, table: Any) -> None:
    """Rows of other values, and of other types under the same names, are answered or refused."""
    n = 6
    other = draw_table(rng, n, np.zeros(n), odd=0.5)
    for columns in ({name: table[name] for name in table.column_names}, {}):
        for name, column in zip(table.column_names, other.columns, strict=False):
            columns[name] = column
        shown = type(table).from_pydict({name: column.slice(0, min(n, len(table))) for name, column in columns.items()})
        for call in (model.predict_proba, model.predict_log_proba):
            shares = asked(lambda call=call, shown=shown: call(shown))
            assert shares is None or not np.isnan(shares).any(), "NaN for rows of other values"
        explanations = asked(lambda shown=shown: model.explain(shown)) if hasattr(model, "explain") else None
        for one in explanations or ():
            with ours():
                assert str(one)
                assert one.to_dict()


# ---------------------------------------------------------------------- laws


def order_of_rows(rng: np.random.Generator, model: Any, fitted: Any, rows: Rows) -> None:
    other = rows.take(rng.permutation(len(rows))).learned_by(model)
    assert other is not None, "rows in another order are refused"
    require_same_posteriors(fitted, other, rows, "rows in another order")


def merging(rng: np.random.Generator, model: Any, fitted: Any, rows: Rows) -> None:
    """But for members of an ensemble, a network, and what SKDB leaves out, which every fit chooses by its own rows."""
    if len(rows) < 2 or not hasattr(fitted, "__add__") or isinstance(fitted, BayesEnsemble | SKDB | NetworkClassifier):
        return
    same = planned(model, fitted)
    cut = int(rng.integers(1, len(rows)))
    first, second = (rows.take(part).learned_by(same) for part in (np.arange(cut), np.arange(cut, len(rows))))
    if first is not None and second is not None:
        with ours():
            both = first + second
        require_same_posteriors(rows.learned_by(same), both, rows, "two parts added")


def forgetting(rng: np.random.Generator, model: Any, fitted: Any, rows: Rows) -> None:
    if len(rows) < 3 or not hasattr(fitted, "forget") or isinstance(fitted, BayesEnsemble | SKDB):
        return
    same = planned(model, fitted)
    gone = np.zeros(len(rows), dtype=bool)
    gone[rng.integers(0, len(rows), 1 + len(rows) // 5)] = True
    some, rest = rows.take(np.flatnonzero(gone)), rows.take(np.flatnonzero(~gone))
    whole, never = rows.learned_by(same), rest.learned_by(same)
    if whole is not None and never is not None:
        less = asked(lambda: whole.forget(some.frame, some.y, some.weight))
        if less is not None:
            require_same_posteriors(never, less, rest, "rows forgotten")


def batches(rng: np.random.Generator, model: Any, fitted: Any, rows: Rows) -> None:
    if (
        len(rows) < 2
        or not hasattr(fitted, "partial_fit")
        or isinstance(fitted, BayesEnsemble | SKDB | NetworkClassifier)
    ):
        return
    same = planned(model, fitted)
    parts = [rows.take(part) for part in np.array_split(rng.permutation(len(rows)), rng.integers(2, 4)) if len(part)]
    if any(part.weight is not None and not part.weight.any() for part in parts):
        return  # refused by itself: of a batch at least one row counts
    with ours():
        for part in parts:
            same.partial_fit(part.frame, part.y, sample_weight=part.weight)
    require_same_posteriors(rows.learned_by(planned(model, fitted)), same, rows, "rows in batches")


def libraries(rng: np.random.Generator, model: Any, fitted: Any, rows: Rows) -> None:
    """The same table of Arrow in another library, where that has all of its types."""
    if not isinstance(rows.frame, pa.Table) or not all(map(is_in_all_libraries, rows.frame.schema.types)):
        return
    frame = in_library(rows.frame, str(rng.choice(["pandas on arrow", "polars"])))
    if list(frame.columns) != rows.frame.column_names:  # polars knows no column without a name
        return
    other = Rows(frame, rows.y, rows.weight).learned_by(model)
    assert other is not None, f"refused as {type(frame)}"
    require_same_posteriors(fitted, other, rows, f"as {type(frame)}")


LAWS = (order_of_rows, merging, forgetting, batches, libraries)


def planned(model: Any, fitted: Any) -> Any:
    """A model with all that another has chosen by its rows, so that the sums of both can be added."""
    params = {name: getattr(fitted, f"{name}_", None) for name in ("columns", "parents", "super_parent", "shrinkage")}
    known = {name: value for name, value in params.items() if name in model.get_params() and value is not None}
    return clone(model).set_params(**known)


def require_same_posteriors(first: Any, second: Any, rows: Rows, why: str) -> None:
    assert first.classes_.tolist() == second.classes_.tolist(), why
    with ours():
        one, other = first.predict_proba(rows.frame), second.predict_proba(rows.frame)
    gap = np.abs(one - other).max()
    assert gap <= CLOSE, f"{why}: posteriors differ by {gap:.3g}"
