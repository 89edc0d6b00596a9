"""`BayesEnsemble` beside random forest, gradient boosting and logistic regression on public tables.

The tables and the protocol are those of `benchmarks.accuracy`, and scikit-learn's built-in tables beside them: half of
the rows to learn from, the first two folds of every table. All see the same cells: categories in their known domains,
a missing one as a category; numbers with holes. The peers get them as they like them best
(`models/comparing/peers.py`): one-hot and scaled for logistic regression and the forest, as such for boosting. A forest
has 200 trees; "temperature" is the same one with a temperature from its out-of-bag votes. Boosting comes with its
defaults, and with l2_regularization=1 and no early stopping. Logistic regression is left out for more than 5 classes
and 8000 rows. Probabilities are clipped at 1e-6; votes of a forest are smoothed, (200 p + 1/K) / 201.

A table is a draw where errors differ by no more than 0.1 points or 2 %, and log-losses by no more than 0.002 or 2 %.
Seconds are of fitting, on all cores on both sides; CPU seconds count every core.

Every fold is written down as soon as it is done, in ensemble.json, and not measured again; the table is ENSEMBLE.md.

    python -m benchmarks.ensemble [names of tables]
"""

import json
import sys
import warnings
from collections.abc import Callable
from functools import partial
from itertools import islice
from time import perf_counter, process_time
from typing import Any

import numpy as np
import pandas as pd
from sklearn import datasets
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression

from bayeswater.decision.calibration_maps import Temperature
from bayeswater.decision.scorecard import Scorecard
from bayeswater.models.comparing.peers import MOST_ITERATIONS, N_TREES, OnMixedTable, native, one_hot
from bayeswater.models.ensemble.bayes_ensemble import BayesEnsemble
from benchmarks.accuracy import LEAST_PROBABILITY, REFERENCE, as_lines, folds, read
from benchmarks.report import HERE

FOLDS, RESULT, PLOT = HERE / "ensemble.json", HERE / "ENSEMBLE.md", HERE / "ensemble.svg"

N_FOLDS = 2

BUILT_IN = {"wine": datasets.load_wine, "wdbc": datasets.load_breast_cancer, "digits": datasets.load_digits}

TABLES = (*REFERENCE, *BUILT_IN)

FOREST, CALIBRATED = "random forest", "random forest, temperature"
OURS = ("best", "balanced", "generative")
PEERS = (FOREST, CALIBRATED, "boosting", "boosting, l2=1", "logistic regression")
MODELS = (*OURS, *PEERS)

MANY_CLASSES, MANY_ROWS = 5, 8000
"""Classes and rows beyond which logistic regression takes too long."""

Fitted = Callable[[pd.DataFrame], np.ndarray]
"""Log-probabilities of rows."""


def measure(name: str, done: dict[str, Any], keep: Callable[[], None]) -> None:
    """Measure the folds of a table that are not in `done`, and `keep` each."""
    frame, y = table_of(name)
    for fold, (learn, judge) in enumerate(islice(folds(y), N_FOLDS)):
        for model in MODELS:
            key = f"{name}|{model}|{fold}"
            too_large = len(np.unique(y)) > MANY_CLASSES and len(learn) > MANY_ROWS
            if key in done or (model == "logistic regression" and too_large):
                continue
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                done[key] = _measured(model, frame, y, learn, judge)
            keep()


def table_of(name: str) -> tuple[pd.DataFrame, np.ndarray]:
    """Read a table."""
    if name not in BUILT_IN:
        return read(name)
    frame, y = BUILT_IN[name](return_X_y=True, as_frame=True)
    return frame, y.astype(str).to_numpy()


def _measured(name: str, frame: pd.DataFrame, y: np.ndarray, learn: np.ndarray, judge: np.ndarray) -> list[float]:
    rows, labels = frame.iloc[learn], y[learn]
    start, cpu = perf_counter(), process_time()
    if name in OURS:
        model: Any = BayesEnsemble(name, random_state=0, columns=_families(frame)).fit(rows, labels)
    else:
        model = _peer(name).fit(rows, labels)
    seconds, cpu_seconds = perf_counter() - start, process_time() - cpu
    proba = model.predict_proba(frame.iloc[judge])
    if name in (FOREST, CALIBRATED):
        proba = _smoothed(proba)
    if name == CALIBRATED:
        proba = np.exp(_temperature(model, labels).apply(np.log(proba)))
    known = np.isin(y[judge], model.classes_)
    codes = np.searchsorted(model.classes_, y[judge][known])
    card = Scorecard.of(np.log(np.maximum(proba[known], LEAST_PROBABILITY)), codes)
    return [round(v, 6) for v in (1 - card.accuracy, card.log_loss, card.ece, seconds, cpu_seconds)]


def _families(frame: pd.DataFrame) -> dict[str, str]:
    """Say that what is a category is one: none is left out as the name of a row."""
    return {column: "categorical" for column in frame if not pd.api.types.is_numeric_dtype(frame[column])}


def _peer(name: str) -> OnMixedTable:
    if name in (FOREST, CALIBRATED):
        forest = RandomForestClassifier(N_TREES, oob_score=name == CALIBRATED, n_jobs=-1, random_state=0)
        return OnMixedTable(partial(one_hot, forest))
    if name == "logistic regression":
        return OnMixedTable(partial(one_hot, LogisticRegression(max_iter=MOST_ITERATIONS)))
    settings = {} if name == "boosting" else {"l2_regularization": 1.0, "early_stopping": False}
    return OnMixedTable(partial(native, HistGradientBoostingClassifier(random_state=0, **settings)))


def _smoothed(votes: np.ndarray) -> np.ndarray:
    return (N_TREES * votes + 1 / votes.shape[1]) / (N_TREES + 1)


def _temperature(forest: OnMixedTable, labels: np.ndarray) -> Temperature:
    """Fit a temperature to the votes of trees that have not seen a row; as ours, not to rows alone in their class."""
    votes = forest.pipeline_.steps[-1][1].oob_decision_function_
    codes = np.searchsorted(forest.classes_, labels)
    judged = np.isfinite(votes).all(axis=1) & (np.bincount(codes)[codes] > 1)
    return Temperature.fit(np.log(_smoothed(votes[judged])), codes[judged])


def records(done: dict[str, Any]) -> dict[str, dict[str, np.ndarray]]:
    """Means over the folds of each table that our models and the forest have all folds of, by model."""
    found: dict[str, dict[str, np.ndarray]] = {}
    for name in TABLES:
        of_model = {
            model: [values for key, values in done.items() if key.rpartition("|")[0] == f"{name}|{model}"]
            for model in MODELS
        }
        if all(of_model[model] for model in MODELS[:-1]):
            found[name] = {model: np.mean(values, axis=0) for model, values in of_model.items() if values}
    return found


def markdown(found: dict[str, dict[str, np.ndarray]]) -> str:
    """Write the figures as a Markdown page."""
    lines = ["# BayesEnsemble and its peers", "", "Written by `python -m benchmarks.ensemble`."]
    lines += [*(" ".join(part.split()) + "\n" for part in __doc__.split("\n\n")[1:3]), "## Means and duels", ""]
    against = (FOREST, CALIBRATED, "boosting", "boosting, l2=1")
    duels = [f"{what} v {peer}" for peer in against for what in ("error", "log-loss")]
    lines += [f"| model | tables | error % | log-loss | ECE | fit s | CPU s | {' | '.join(duels)} |"]
    lines += ["|---" * (7 + len(duels)) + "|"]
    for model in MODELS:
        own = [values[model] for values in found.values() if model in values]
        error, log_loss, ece, seconds, cpu = np.mean(own, axis=0)
        cells = [model, len(own), f"{100 * error:.2f}", f"{log_loss:.4f}", f"{ece:.4f}", f"{seconds:.2f}", f"{cpu:.2f}"]
        cells += [_duels(found, model, peer, k) for peer in against for k in (0, 1)]
        lines.append(f"| {' | '.join(map(str, cells))} |")
    lines += ["", "Wins / draws / losses.", "", *_goals(found), "", "![](ensemble.svg)", "", "## Tables", ""]
    lines += ["Error % / log-loss.", "", f"| table | {' | '.join(MODELS)} |", "|---" * (1 + len(MODELS)) + "|"]
    for name, values in found.items():
        cells = [f"{100 * values[m][0]:.1f} / {values[m][1]:.3f}" if m in values else "" for m in MODELS]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _duels(found: dict[str, dict[str, np.ndarray]], model: str, peer: str, which: int) -> str:
    if model == peer:
        return ""
    won = drawn = lost = 0
    for values in found.values():
        if model in values and peer in values:
            off = values[model][which] - values[peer][which]
            if abs(off) <= max((0.001, 0.002)[which], 0.02 * values[peer][which]):
                drawn += 1
            else:
                won, lost = won + (off < 0), lost + (off > 0)
    return f"{won}/{drawn}/{lost}"


def _goals(found: dict[str, dict[str, np.ndarray]]) -> list[str]:
    """Say which of the goals are reached."""

    def mean(model: str, which: int) -> float:
        return float(np.mean([values[model][which] for values in found.values()]))

    below = np.mean([values["best"][1] < values[FOREST][1] for values in found.values()])
    best, balanced = (np.array([v[m][4] / v[FOREST][4] for v in found.values()]) for m in ("best", "balanced"))
    goals = {
        f"mean error of `best` {100 * mean('best', 0):.2f} %, of the forest {100 * mean(FOREST, 0):.2f} %": mean(
            "best", 0
        )
        <= mean(FOREST, 0),
        f"log-loss of `best` below the forest's on {100 * below:.0f} % of the tables (to reach: 80 %)": below >= 0.8,
        f"mean error of `generative` {100 * mean('generative', 0):.2f} %": mean("generative", 0)
        <= 1.02 * mean(FOREST, 0),
        f"log-loss of `generative` {mean('generative', 1):.4f}, of the forest with a temperature "
        f"{mean(CALIBRATED, 1):.4f}": mean("generative", 1) <= 1.02 * mean(CALIBRATED, 1),
        f"CPU time of `balanced` to that of the forest: {mean('balanced', 4) / mean(FOREST, 4):.2f} in the mean, "
        f"{np.median(balanced):.2f} in the median (to reach: 1)": mean("balanced", 4) <= mean(FOREST, 4),
        f"CPU time of `best` to that of the forest: {mean('best', 4) / mean(FOREST, 4):.2f} in the mean, "
        f"{np.median(best):.2f} in the median (to reach: 5)": mean("best", 4) <= 5 * mean(FOREST, 4),
    }
    return [f"- {what}: {'reached' if is_reached else 'not reached'}" for what, is_reached in goals.items()]


def plot(found: dict[str, dict[str, np.ndarray]]) -> None:
    """Draw error and log-loss of each table against those of the forest."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "bayeswater"
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, 2, figsize=(10, 4.6))
    for axis, which, what in zip(axes, (0, 1), ("error", "log-loss"), strict=True):
        theirs = np.array([values[FOREST][which] for values in found.values()])
        least, largest = max(theirs[theirs > 0].min(), 1e-4), theirs.max()
        for model, marker in zip(OURS, "o^s", strict=True):
            own = np.array([values[model][which] for values in found.values()])
            axis.plot(np.maximum(theirs, least), np.maximum(own, least), marker, ms=4, alpha=0.7, label=model)
        axis.plot([least, largest], [least, largest], color="grey", lw=0.8)
        axis.set(xscale="log", yscale="log", xlabel=f"{what} of a random forest", ylabel=f"{what} of BayesEnsemble")
    axes[0].legend(frameon=False)
    figure.tight_layout()
    figure.savefig(PLOT, metadata={"Date": None})
    pyplot.close(figure)


def warm_up() -> None:
    """Let loops be compiled, or read, before anything is timed."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(4000, 6))).rename(columns=str)
    frame["c"] = pd.Categorical(rng.integers(0, 5, 4000).astype(str))
    y = (frame["0"] + frame["1"] ** 2 + rng.normal(size=4000) > 1).astype(int) + (frame["c"] == "1")
    for preset in OURS:
        BayesEnsemble(preset, random_state=0).fit(frame, y).predict_proba(frame)


def main() -> None:
    """Measure what is not measured yet, and write the table."""
    done = json.loads(FOLDS.read_text()) if FOLDS.exists() else {}
    warm_up()
    for name in sys.argv[1:] or TABLES:
        try:
            measure(name, done, lambda: FOLDS.write_text(as_lines(done)))
        except FileNotFoundError:
            print(f"{name} skipped: there is no such table")
            continue
        found = records(done)
        print(name, *(f"{m} {100 * v[0]:.1f}/{v[1]:.3f}/{v[4]:.1f}s" for m, v in found.get(name, {}).items()), sep="  ")
        if found:
            RESULT.write_text(markdown(found))
            plot(found)


if __name__ == "__main__":
    main()
