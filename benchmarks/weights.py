"""Learned weights on public tables: plain, calibrated and weighted, naive Bayes and AODE, on the same rows.

Naive Bayes adds one term for each column, and columns that repeat each other count twice. `calibrate=True` takes the
whole sum back by one temperature; ``weights="learned"`` gives each column a weight, for each class. AODE averages
estimators with one column each as the parent of the others; with weights their logarithms are added up. Half of the
rows are to learn from, the other half is judged, on the two folds (one for over 10 000 rows) that begin those of
`benchmarks.accuracy`. `NaiveBayes` chooses the families of numbers itself; AODE bins them. Probabilities are clipped at
1e-6. Seconds are of the processor, of one fit and of judging the other half. The form of the weights was chosen on
these tables, which flatters them a little.

The explainable boosting machine of InterpretML (EBM), with its defaults, is measured by `benchmarks.ensemble`, on the
same halves: the first fold of each table. The last means set all beside it on that fold alone, of the tables that it
was measured on.

Texts, whose words have weights, are measured by `benchmarks.weights_text`.

The tables are no part of the project: they are looked for under BAYESWATER_DATA. Every fold is written down as soon as
it is done, in weights.json, and not measured again; the table is WEIGHTS.md.

    python -m benchmarks.weights [names of tables or corpora]
"""

import json
import sys
import warnings
from collections.abc import Callable
from itertools import islice
from time import process_time
from typing import Any

import numpy as np
import pandas as pd

from bayeswater import AODE, NaiveBayes
from bayeswater.decision.scorecard import Scorecard
from benchmarks import weights_text
from benchmarks.accuracy import LEAST_PROBABILITY, REFERENCE, as_lines, folds, read
from benchmarks.report import HERE

FOLDS, RESULT = HERE / "weights.json", HERE / "WEIGHTS.md"
BESIDE = HERE / "ensemble.json"
MOST_FOLDS = 2
EBM = "EBM"

MODELS: dict[str, Callable[..., Any]] = {
    "naive Bayes": NaiveBayes,
    "calibrated": lambda **rules: NaiveBayes(calibrate=True, **rules),
    "weighted": lambda **rules: NaiveBayes(weights="learned", **rules),
    "AODE, calibrated": lambda **rules: AODE(calibrate=True, **rules),
    "AODE, weighted": lambda **rules: AODE(weights="learned", **rules),
}


def measure(name: str, done: dict[str, Any], keep: Callable[[], None]) -> None:
    """Measure all folds of a table that are not in `done`, and `keep` each."""
    frame, y = read(name)
    for fold, (learn, judge) in enumerate(islice(folds(y), MOST_FOLDS)):
        for model in MODELS:
            key = f"{name}|{model}|{fold}"
            if key not in done:
                done[key] = _measured(model, frame, y, learn, judge)
                keep()


def _measured(name: str, frame: pd.DataFrame, y: np.ndarray, learn: np.ndarray, judge: np.ndarray) -> list[float]:
    start = process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = _model(name, frame).fit(frame.iloc[learn], y[learn])
        fitted = process_time()
        proba = np.maximum(model.predict_proba(frame.iloc[judge]), LEAST_PROBABILITY)
    judged = process_time()
    known = np.isin(y[judge], model.classes_)
    codes = np.searchsorted(model.classes_, y[judge][known])
    card = Scorecard.of(np.log(proba[known]), codes)
    figures = (1 - card.accuracy, card.log_loss, fitted - start, judged - fitted)
    return [round(float(figure), 6) for figure in figures]


def _model(name: str, frame: pd.DataFrame) -> Any:
    numbers = [column for column in frame if pd.api.types.is_numeric_dtype(frame[column])]
    columns = {column: "categorical" for column in frame if column not in numbers}
    if "AODE" in name:
        columns |= dict.fromkeys(numbers, "binned")
    missing = "state" if frame[numbers].isna().any(axis=None) else "ignore"
    return MODELS[name](columns=columns, missing=missing)


def markdown(done: dict[str, Any]) -> str:
    """Write the figures as a Markdown page."""
    found = {name: _means(name, done) for name in REFERENCE}
    full = {name: means for name, means in found.items() if all(model in means for model in MODELS)}
    ebm = _of_ebm()
    beside = [name for name in full if name in ebm]
    lines = ["# Learned weights", "", "Written by `python -m benchmarks.weights`. " + _protocol(bool(beside)), ""]
    lines += ["Error % / log-loss, means over the folds.", ""]
    shown = [*MODELS, *([EBM] if beside else [])]
    lines += [f"| table | {' | '.join(shown)} |", "|---" * (1 + len(shown)) + "|"]
    for name, means in full.items():
        lines.append(f"| {name} | {' | '.join(_cell((means | {EBM: ebm.get(name)})[model]) for model in shown)} |")
    mean = {model: np.mean([means[model] for means in full.values()], axis=0) for model in MODELS}
    lines.append(f"| mean of {len(full)} | {' | '.join(_cell(mean.get(model)) for model in shown)} |")
    if beside:
        own = {model: np.mean([done[f"{name}|{model}|0"] for name in beside], axis=0) for model in MODELS}
        own[EBM] = np.mean([ebm[name] for name in beside], axis=0)
        lines.append(
            f"| first fold of the {len(beside)} with EBM | {' | '.join(_cell(own[model]) for model in shown)} |"
        )
        lines += ["", "Seconds to fit, mean of the first folds with EBM: " + _seconds(own)]
    lines += ["", "Seconds to fit, mean of all tables: " + _seconds(mean), *weights_text.section(done)]
    return "\n".join(lines) + "\n"


def _means(name: str, done: dict[str, Any]) -> dict[str, Any]:
    found = {model: [v for key, v in done.items() if key.rpartition("|")[0] == f"{name}|{model}"] for model in MODELS}
    return {model: np.mean(values, axis=0) for model, values in found.items() if values}


def _of_ebm() -> dict[str, list[float]]:
    """Give error, log-loss and seconds of EBM on the first fold of each table that it was measured on."""
    measured = json.loads(BESIDE.read_text()) if BESIDE.exists() else {}
    found = {name: measured.get(f"{name}|{EBM}|0") for name in REFERENCE}
    return {name: [*figures[:2], *figures[3:]] for name, figures in found.items() if figures}


def _cell(figures: Any) -> str:
    return "" if figures is None else f"{100 * figures[0]:.2f} / {figures[1]:.3f}"


def _seconds(means: dict[str, Any]) -> str:
    return ", ".join(f"{model} {figures[2]:.1f}" for model, figures in means.items()) + "."


def _protocol(with_ebm: bool) -> str:
    """Say how it is measured: the second paragraph of this file, and the third where it is about something shown."""
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in __doc__.split("\n\n")[1 : 3 if with_ebm else 2])


def main() -> None:
    """Measure what is not measured yet, and write the table."""
    done = json.loads(FOLDS.read_text()) if FOLDS.exists() else {}
    for name in sys.argv[1:] or [*REFERENCE, *weights_text.CORPORA]:
        measured = weights_text.measure if name in weights_text.CORPORA else measure
        try:
            measured(name, done, lambda: FOLDS.write_text(as_lines(done)))
        except FileNotFoundError:
            print(f"{name} skipped: there is no such table")
            continue
        print(name, *(f"{model}: {_cell(own)}" for model, own in _means(name, done).items()), sep="  ")
        RESULT.write_text(markdown(done))


if __name__ == "__main__":
    main()
