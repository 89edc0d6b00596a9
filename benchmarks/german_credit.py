"""German credit: what plain predictions cost, and what decisions by their costs do.

A bad customer taken for a good one costs 5, a good one taken for a bad one 1: the cost matrix that Hofmann published
with the table. Every row is decided once in each of several ten-fold cross-validations, by models that have not seen
it. The table (credit-g.arff, 1000 rows) is no part of the project: it is looked for under BAYESWATER_DATA, and without
it the section is left out.

    python -m benchmarks.german_credit [credit-g.arff]
"""

import os
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.model_selection import StratifiedKFold

from bayeswater import BayesDecision, Loss, NaiveBayes

TABLE = Path(os.environ.get("BAYESWATER_DATA", "data")) / "tabular/credit-g.arff"
SEEDS = range(5)
N_FOLDS = 10
LOSS = Loss({"good": {"bad": 5}, "bad": {"good": 1}})  # {decided: {true: cost}}


def german_credit(path: Path = TABLE) -> Iterator[dict[str, Any]]:
    """Give the mean cost of a row for each classifier, by plain predictions and by decisions of least expected cost."""
    X, y = read(path)
    boosting = HistGradientBoostingClassifier(categorical_features="from_dtype", random_state=0)
    models: dict[str, tuple[Any, Callable[[Any, Any], Any]]] = {
        "NaiveBayes": (NaiveBayes(), lambda model, rows: model.decide(rows, loss=LOSS)),
        "NaiveBayes(calibrate=True)": (NaiveBayes(calibrate=True), lambda model, rows: model.decide(rows, loss=LOSS)),
        "HistGradientBoosting in BayesDecision": (BayesDecision(boosting, loss=LOSS), _by_predict),
        "the same, calibrate=True": (BayesDecision(boosting, loss=LOSS, calibrate=True), _by_predict),
    }
    for name, (model, decide) in models.items():
        plain, decided = np.array([_costs(model, decide, X, y, seed) for seed in SEEDS]).T
        yield {
            "classifier": name,
            "plain cost": plain.mean(),
            "cost of decisions": decided.mean(),
            "saved %": 100 * (1 - decided.mean() / plain.mean()),
            "error of the mean": decided.std(ddof=1) / np.sqrt(len(SEEDS)),
        }
    for label in ("good", "bad"):
        yield {"classifier": f"'{label}' for everyone", "plain cost": LOSS.realised([label] * len(y), y).mean()}


def read(path: Path) -> tuple[pd.DataFrame, np.ndarray]:
    """Read the table, its categories as such."""
    import pyarrow as pa

    from bayeswater.data.sources.recognising import open_source

    table = pa.concat_tables(open_source(str(path)).batches()).to_pandas()
    return table.drop(columns="class"), table["class"].astype(str).to_numpy()


def _costs(
    model: Any, decide: Callable[[Any, Any], Any], X: pd.DataFrame, y: np.ndarray, seed: int
) -> tuple[float, float]:
    plain, decided = np.empty(len(y), dtype=object), np.empty(len(y), dtype=object)
    for learn, held_out in StratifiedKFold(N_FOLDS, shuffle=True, random_state=seed).split(X, y):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a category that the folds to learn from do not have
            fitted = clone(model).fit(X.iloc[learn], y[learn])
            rows = X.iloc[held_out]
            classifier = getattr(fitted, "estimator_", fitted)
            plain[held_out], decided[held_out] = classifier.predict(rows), decide(fitted, rows)
    return LOSS.realised(plain, y).mean(), LOSS.realised(decided, y).mean()


def _by_predict(model: Any, rows: Any) -> Any:
    return model.predict(rows)


if __name__ == "__main__":
    from benchmarks.report import text_table

    where = Path(sys.argv[1]) if len(sys.argv) > 1 else TABLE
    print(text_table(list(german_credit(where))) if where.exists() else f"skipped: there is no {where.name}")
