"""`BayesEnsemble` beside random forest, logistic regression and boosted trees on public tables: error, log-loss, time.

Half of the rows of a table are to learn from, and the other half is judged: two folds, those that begin the ones of
`benchmarks.accuracy`, and one for over 10 000 rows. All see the same cells: categories in their known domains, a
missing one as a category; numbers with holes. `benchmarks.ensemble_tables` has the tables,
`benchmarks.ensemble_peers` the peers, and `benchmarks.ensemble_page` writes ENSEMBLE.md.

All models run on one thread, by turns in one process, and seconds are of the processor. A prediction is timed up to
five times, and the quickest counts. Seconds of a model with a temperature are those of the model and of its folds.

A CatBoost that is tuned for each table: 20 random settings, of 100 to 800 trees, each judged by three folds of the rows
to learn from; tables of up to 10 000 rows, first fold.

Every figure is written down as soon as it is there, in ensemble.json, and not measured again. Small tables and quick
models come first, and first folds before second ones: a run that was stopped tells of these.

    python -m benchmarks.ensemble [--tuned] [names of tables]
"""

import json
import sys
import warnings
from collections.abc import Callable
from time import process_time
from typing import Any

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

from bayeswater import BayesEnsemble, threads
from bayeswater.decision.scorecard import Scorecard
from benchmarks import ensemble_page as page
from benchmarks.accuracy import as_lines, folds
from benchmarks.ensemble_peers import CATBOOST, COOLED, EBM, LOGISTIC, PEERS, log_proba, peer, temperature, tuned
from benchmarks.ensemble_tables import TABLES, table_of

N_FOLDS, MOST_TURNS, ENOUGH_SECONDS = 2, 5, 0.5
SLOW = (CATBOOST, EBM)

TOO_LARGE = {LOGISTIC: 48_000, EBM: 60_000}
"""Rows to learn from times classes beyond which a model takes too long."""

MOST_TUNED_ROWS = 10_000


def measure(name: str, models: tuple[str, ...], fold: int, done: dict[str, Any], keep: Callable[[], None]) -> None:
    """Measure a fold of a table as far as it is not in `done`, and `keep` each figure."""
    frame, y = table_of(name)
    halves = _halves(y, fold)
    if halves is None:
        return
    learn, judge = halves
    n_classes = len(np.unique(y))
    done[f"{name}|rows"] = [len(y), n_classes]
    for model in models:
        last = model if model in page.OURS else model + COOLED
        if f"{name}|{last}|{fold}" in done or len(learn) * n_classes > TOO_LARGE.get(model, np.inf):
            continue
        for suffix, figures in zip(("", COOLED), _measured(model, frame, y, learn, judge), strict=False):
            done[f"{name}|{model}{suffix}|{fold}"] = figures
        keep()


def measure_tuned(name: str, done: dict[str, Any], keep: Callable[[], None]) -> None:
    """Measure a tuned CatBoost on the first fold."""
    frame, y = table_of(name)
    if f"{name}|{page.TUNED}|0" in done or len(y) > MOST_TUNED_ROWS:
        return
    learn, judge = _halves(y, 0) or ((), ())
    start = process_time()
    model = tuned(frame.iloc[learn], y[learn])
    fitted = process_time() - start
    proba, seconds = _timed(model, frame.iloc[judge])
    done[f"{name}|{page.TUNED}|0"] = _figures(log_proba(CATBOOST, proba), model.classes_, y[judge], fitted, seconds)
    keep()


def _halves(y: np.ndarray, fold: int) -> tuple[np.ndarray, np.ndarray] | None:
    return next((halves for i, halves in enumerate(folds(y)) if i == fold), None)


def _measured(name: str, frame: pd.DataFrame, y: np.ndarray, learn: Any, judge: Any) -> list[list[float]]:
    """Give the figures of a model, and those of a peer with a temperature."""
    rows, labels = frame.iloc[learn], y[learn]
    start = process_time()
    if name in page.OURS:
        model: Any = BayesEnsemble(name, random_state=0, columns=_families(frame)).fit(rows, labels)
    else:
        model = peer(name).fit(rows, labels)
    fitted = process_time() - start
    proba, seconds = _timed(model, frame.iloc[judge])
    scores = log_proba(name, proba)
    found = [_figures(scores, model.classes_, y[judge], fitted, seconds)]
    if name not in page.OURS:
        start = process_time()
        cooled = temperature(name, model.classes_, rows, labels)
        fitted += process_time() - start
        found.append(_figures(cooled.apply(scores), model.classes_, y[judge], fitted, seconds))
    return found


def _timed(model: Any, rows: pd.DataFrame) -> tuple[np.ndarray, float]:
    """Give probabilities, and the seconds of the quickest of some turns."""
    seconds: list[float] = []
    while len(seconds) < MOST_TURNS and sum(seconds) < ENOUGH_SECONDS:
        start = process_time()
        proba = model.predict_proba(rows)
        seconds.append(process_time() - start)
    return proba, min(seconds)


def _figures(scores: np.ndarray, classes: np.ndarray, labels: np.ndarray, *seconds: float) -> list[float]:
    known = np.isin(labels, classes)
    card = Scorecard.of(scores[known], np.searchsorted(classes, labels[known]))
    return [round(float(v), 6) for v in (1 - card.accuracy, card.log_loss, card.ece, *seconds)]


def _families(frame: pd.DataFrame) -> dict[str, str]:
    """Say that what is a category is one: none is left out as the name of a row."""
    return {column: "categorical" for column in frame if not pd.api.types.is_numeric_dtype(frame[column])}


def warm_up() -> None:
    """Let loops be compiled, or read, before anything is timed."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(4000, 6))).rename(columns=str)
    frame["c"] = pd.Categorical(rng.integers(0, 5, 4000).astype(str))
    y = (frame["0"] + frame["1"] ** 2 + rng.normal(size=4000) > 1).astype(int) + (frame["c"] == "1")
    for preset in page.OURS:
        BayesEnsemble(preset, random_state=0).fit(frame, y).predict_proba(frame)


def turns() -> list[tuple[tuple[str, ...], int]]:
    """Give models and a fold of each turn: the slow ones come later, one by one."""
    quick = (*page.OURS, *(name for name in PEERS if name not in SLOW))
    slow = [(name,) for name in SLOW if name in PEERS]
    return [(models, fold) for fold in range(N_FOLDS) for models in (quick, *slow)]


def by_size(names: list[str]) -> list[str]:
    """Give tables that are there, those with few rows and classes first."""
    sizes = {}
    for name in names:
        try:
            y = table_of(name)[1]
        except FileNotFoundError:
            print(f"{name} skipped: there is no such table")
            continue
        sizes[name] = len(y) * len(np.unique(y))
    return sorted(sizes, key=lambda name: sizes[name])


def main() -> None:
    """Measure what is not measured yet, and write the page."""
    with_tuned = "--tuned" in sys.argv
    done = json.loads(page.FOLDS.read_text()) if page.FOLDS.exists() else {}

    def keep() -> None:
        page.FOLDS.write_text(as_lines(done))
        page.write(done)

    names = by_size([name for name in sys.argv[1:] if name != "--tuned"] or list(TABLES))
    with warnings.catch_warnings(), threads(1), threadpool_limits(1):
        warnings.simplefilter("ignore")
        warm_up()
        for models, fold in turns():
            for name in names:
                measure(name, models, fold, done, keep)
                print(fold, name, page.line(name, done), flush=True)
        for name in names if with_tuned and CATBOOST in PEERS else ():
            measure_tuned(name, done, keep)
            print("tuned", name, done.get(f"{name}|{page.TUNED}|0"), flush=True)


if __name__ == "__main__":
    main()
