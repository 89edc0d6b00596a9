"""Calibration on public tables: log-loss and ECE of `NaiveBayes`, plain and with ``calibrate=True``.

Five folds of every table (as many as its rarest class has rows, where that is fewer, and at least two), stratified by
class; families of columns are chosen in each fold by the plain model, and the calibrated one has the same. Figures are
of all held-out rows of a table together: ECE of the top label in 15 bins of equal width, log-loss with no row above 30,
since a class may be missing among the rows to learn from. "half" is of the same rows with half of their cells hidden,
at random and the same for both models.

The tables are no part of the project: they are looked for under BAYESWATER_DATA, and without them the section is left
out.

    python -m benchmarks.calibration [names of tables]
"""

import sys
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from sklearn.model_selection import StratifiedKFold

from bayeswater import NaiveBayes
from bayeswater.data.sources.recognising import open_source
from bayeswater.decision.scorecard import Scorecard
from benchmarks.accuracy import DATA, NAMES_OF_ROWS

MOST_FOLDS = 5
LEAST_LOG_PROBABILITY = -30.0

POORLY_CALIBRATED = 0.05
"""ECE of the plain model above which a table is one of those that calibration is for."""


def calibration(names: Sequence[str] = ()) -> Iterator[dict[str, Any]]:
    """Give the figures of each table, and then what calibration does to those whose plain ECE is large."""
    records = [_measured(name) for name in names or sorted(path.stem for path in DATA.glob("*.arff"))]
    yield from records
    poor = [record for record in records if record["ECE"] > POORLY_CALIBRATED]
    if not poor:
        return
    mean = {title: float(np.mean([record[title] for record in poor])) for title in TITLES}
    yield {
        "table": f"mean of the {len(poor)} with ECE over {POORLY_CALIBRATED}",
        **mean,
        "ECE cut by %": 100 * (1 - mean["ECE, calibrated"] / mean["ECE"]),
    }
    rise = max(records, key=_rise)
    yield {"table": f"largest rise of the log-loss: {rise['table']}", **{title: rise[title] for title in TITLES[2:4]}}


TITLES = (
    *("error %", "error %, calibrated", "log-loss", "log-loss, calibrated", "ECE", "ECE, calibrated"),
    *("ECE of half", "ECE of half, calibrated"),
)


def _rise(record: dict[str, Any]) -> float:
    return float(record["log-loss, calibrated"] - record["log-loss"])


def _measured(name: str) -> dict[str, Any]:
    X, y = _read(DATA / f"{name}.arff")
    classes, codes = np.unique(y, return_inverse=True)
    n_folds = max(2, min(MOST_FOLDS, int(np.bincount(codes).min())))
    scores = np.full((2, 2, len(y), len(classes)), LEAST_LOG_PROBABILITY)  # plain and calibrated; whole rows and half
    half = _half_hidden(X)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a class of one row; a category that the folds to learn from do not have
        for learn, judge in StratifiedKFold(n_folds, shuffle=True, random_state=0).split(codes, codes):
            model = NaiveBayes().fit(X.take(learn), y[learn])
            other = NaiveBayes(columns=model.columns_, calibrate=True).fit(X.take(learn), y[learn])
            known = np.flatnonzero(np.isin(classes, model.classes_))
            for i, fitted in enumerate((model, other)):
                for j, rows in enumerate((X, half)):
                    scores[i, j][np.ix_(judge, known)] = fitted.predict_log_proba(rows.take(judge))
    scores = np.maximum(scores, LEAST_LOG_PROBABILITY)
    cards, of_half = ([Scorecard.of(scores[i, j], codes) for i in range(2)] for j in range(2))
    figures = [
        *(100 * (1 - card.accuracy) for card in cards),
        *(card.log_loss for card in cards),
        *(card.ece for card in cards),
        *(card.ece for card in of_half),
    ]
    return {
        "table": name,
        "rows": len(y),
        "classes": len(classes),
        "folds": n_folds,
        **dict(zip(TITLES, figures, strict=True)),
    }


def _half_hidden(X: pa.Table) -> pa.Table:
    """Hide each cell with probability one half."""
    hidden = np.random.default_rng(0).random((X.num_columns, len(X))) < 0.5
    columns = [pc.if_else(pa.array(mask), None, column) for mask, column in zip(hidden, X.columns, strict=True)]
    return pa.table(dict(zip(X.column_names, columns, strict=True)))


def _read(path: Path) -> tuple[pa.Table, np.ndarray]:
    table = pa.concat_tables(open_source(str(path)).batches()).combine_chunks()
    target = table.column_names[-1]
    y = np.array(table[target].to_pylist(), dtype=str)
    return table.drop_columns([target, *NAMES_OF_ROWS.get(path.stem, [])]), y


if __name__ == "__main__":
    from benchmarks.report import text_table

    print(text_table(list(calibration(sys.argv[1:]))))
