"""ENSEMBLE.md: the figures of ensemble.json as a page for readers."""

from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from importlib import import_module
from typing import Any

import numpy as np

from benchmarks import ensemble_intervals, ensemble_peers
from benchmarks.ensemble_peers import ABSENT, ALL_PEERS, CATBOOST, COOLED, FOREST, INSTALLED_AS
from benchmarks.ensemble_tables import TABLES
from benchmarks.machine import machine
from benchmarks.report import HERE

FOLDS, RESULT, PLOT = HERE / "ensemble.json", HERE / "ENSEMBLE.md", HERE / "ensemble.svg"

OURS = ("best", "balanced", "generative")
TUNED = "CatBoost, tuned"
MODELS = (*OURS, *(name + suffix for name in ALL_PEERS for suffix in ("", COOLED)))

BANDS: dict[str, Callable[[int], bool]] = {
    "all": lambda n_rows: True,
    "under 1000 rows": lambda n_rows: n_rows < 1000,
    "1000 to 5000 rows": lambda n_rows: 1000 <= n_rows <= 5000,
    "above 5000 rows": lambda n_rows: n_rows > 5000,
}

ERROR, LOG_LOSS, ECE, FIT, PREDICT = range(5)

Figures = dict[str, dict[str, np.ndarray]]
"""Error, log-loss, ECE, seconds to fit and to predict, by table and model: means over the folds of `best`."""

MOST_PREDICT = {"best": 1.5, "balanced": 0.7}
"""Times a forest's time to predict, at most."""


def figures(done: dict[str, Any]) -> Figures:
    """Give the means of each table that `best` and the forest have."""
    found: Figures = {}
    for name in TABLES:
        folds = [fold for fold in "01" if all(f"{name}|{model}|{fold}" in done for model in ("best", FOREST))]
        own = {model: [done[f"{name}|{model}|{fold}"] for fold in folds] for model in OURS if folds}
        for model in MODELS[len(OURS) :] if folds else ():
            keys = [f"{name}|{model}|{fold}" for fold in folds]
            if all(key in done for key in keys):
                own[model] = [done[key] for key in keys]
        if own:
            found[name] = {model: np.mean(values, axis=0) for model, values in own.items()}
    return found


def line(name: str, done: dict[str, Any]) -> str:
    """Tell of a table in one line."""
    own = figures(done).get(name, {})
    return "  ".join(f"{m} {100 * v[ERROR]:.1f}/{v[LOG_LOSS]:.3f}/{v[FIT]:.1f}s" for m, v in own.items())


def write(done: dict[str, Any]) -> None:
    """Write the page and its picture, where there is anything to tell."""
    if found := figures(done):
        RESULT.write_text(markdown(found, done))
        plot(found)


def markdown(found: Figures, done: dict[str, Any]) -> str:
    """Write the figures as a Markdown page."""
    told = [model for model in MODELS if any(model in own for own in found.values())]
    lines = ["# BayesEnsemble and its peers", "", *_introduction(found, done), "## What it shows", ""]
    lines += [*_verdicts(found, done, told), "", "## Means over the tables", ""]
    lines += [
        "Each line is over the tables that the model has been measured on, so lines of different numbers of tables "
        "are not to be compared. The last three columns set `best` beside it on the same tables: means of `best`, then "
        "on how many tables `best` wins, draws and loses. A draw is a difference of at most 0.1 points or 2 % in "
        "error, of at most 0.002 or 2 % in log-loss. A temperature changes no error.",
        "",
        "| model | tables | error % | log-loss | ECE | fit s | predict s | `best` there | error | log-loss |",
        "|---" * 10 + "|",
    ]
    lines += [_means(found, model) for model in told]
    lines += ["", "## By the number of rows", "", "Error % / log-loss, and those of `best` on the same tables.", ""]
    lines += _bands(found, done, told)
    lines += ["", "## Time beside a random forest", "", *_times(found, done), "", "![](ensemble.svg)", ""]
    lines += [*_tuned(done), *ensemble_intervals.section(done), "## Tables", "", *_tables(found, done, told)]
    return "\n".join(lines) + "\n"


def _introduction(found: Figures, done: dict[str, Any]) -> list[str]:
    facts = machine()
    libraries = [f"{name} {facts[name]}" for name in ("Python", "bayeswater", "scikit-learn", "numpy")]
    libraries += [
        f"{name} {import_module(INSTALLED_AS[name]).__version__}" for name in INSTALLED_AS if name not in ABSENT
    ]
    unknown = [name for name in ALL_PEERS if not any(name in own for own in found.values())]
    absent = [f"{name} (not installed)" if name in ABSENT else name for name in unknown]
    absent += [] if any(TUNED in key for key in done) else ["a tuned CatBoost"]
    lacking = [name for name in TABLES if name not in found]
    n_folds = sum(f"{name}|best|1" in done for name in found)
    protocol = [" ".join(part.split()) for part in ensemble_peers.__doc__.split("\n\n")[3:]]  # type: ignore[union-attr]
    return [
        "How good are the presets of `BayesEnsemble` beside the usual classifiers, all with their defaults? Half of "
        "the rows of a table are learned from, and the other half is predicted. All models get the same cells, on the "
        "same halves: categories as categories, a missing one as a category of its own, numbers with holes. Lower is "
        "better for every figure: error, log-loss, ECE (how far probabilities are from the shares that come true), "
        "and seconds. Probabilities are clipped at 1e-6.",
        "",
        "Forest: 200 trees, votes smoothed to (200 p + 1/K) / 201. Forest and logistic regression get categories "
        "one-hot; all others get them as such. `boosting` is scikit-learn's HistGradientBoostingClassifier; since its "
        "defaults fail on classes of few rows, it is shown with l2_regularization=1 and no early stopping, too. EBM is "
        f"the explainable boosting machine of InterpretML. {protocol[0]} So calibration alone does not flatter us.",
        "",
        "Every model runs on one thread; seconds are of the processor, and predicting is the quickest of up to five "
        f"turns. The machine has {facts['cores']} cores; when this page was written, {facts['load before']} processes "
        "wanted them. A figure is measured once and kept: those of two models may be of different hours, and what "
        "else runs makes seconds longer.",
        "",
        f"Measured until {datetime.now(UTC):%Y-%m-%d} with {', '.join(libraries)}: {len(found)} tables, {n_folds} of "
        "them with both halves in turn, the others with one half to learn from. Four tables are made by the benchmark: "
        "linear, rules, signs, and insurance, drawn from the network of that name. The others are public."
        + (f" Tables not measured yet: {', '.join(lacking)}." if lacking else "")
        + (f" Models not measured yet: {', '.join(absent)}." if absent else "")
        + " `make accuracy` measures what is lacking, and writes this page.",
        "",
    ]


def _both(found: Figures, model: str, names: Iterable[str]) -> tuple[np.ndarray, np.ndarray]:
    """Figures of `best` and of a model on tables that have both: (n_tables, 5) each."""
    shared = [found[name] for name in names if model in found[name]]
    return tuple(np.array([own[m] for own in shared]).reshape(-1, 5) for m in ("best", model))  # type: ignore[return-value]


def _in_band(found: Figures, done: dict[str, Any], band: str) -> list[str]:
    return [name for name in found if BANDS[band](done[f"{name}|rows"][0])]


def _verdicts(found: Figures, done: dict[str, Any], told: list[str]) -> list[str]:
    """Say what holds and what does not."""
    lines = []
    peers = [model for model in told if model not in OURS]
    for band in BANDS:
        names = _in_band(found, done, band)
        behind = []
        for model in peers:
            best, theirs = _both(found, model, names)
            on = f", on {len(best)} of them" if len(best) < len(names) else ""
            what = [
                title
                for title, k in (("error", ERROR), ("log-loss", LOG_LOSS))
                if best[:, k].sum() > theirs[:, k].sum()
            ]
            behind += [f"{model} ({' and '.join(what)}{on})"] if what else []
        ahead = "ahead of every peer measured" if not behind else f"behind {'; '.join(behind)}; ahead of all others"
        lines.append(f"- `best`, {band}, {len(names)} tables: {ahead} in mean error and log-loss.")
    lacking = [
        f"{model} ({n} of {len(found)})"
        for model in peers
        if (n := sum(model in own for own in found.values())) < len(found)
    ]
    if lacking:
        lines.append(f"- Not measured on all tables, and ahead or behind on those alone: {', '.join(lacking)}.")
    short = []
    for model in peers:
        for title, k in (("error", ERROR), ("log-loss", LOG_LOSS)):
            won, _, lost = duels(*_both(found, model, found), k)
            if won < 2 * lost:
                short.append(f"{model} in {title} ({won} to {lost})")
    lines += _beside_catboost(found, done)
    lines.append(
        "- Wins of `best` over its losses are at least 2 to 1 in each duel"
        + (f", but not against {'; '.join(short)}." if short else ".")
    )
    for preset, most in MOST_PREDICT.items():
        ratio = _ratios(found, preset, PREDICT)
        mean = np.mean([own[preset] for own in found.values()], axis=0) / np.mean(
            [own[FOREST] for own in found.values()], axis=0
        )
        lines.append(
            f"- `{preset}` predicts all tables in {mean[PREDICT]:.2f} times a forest's time, and in "
            f"{np.median(ratio):.2f} times in the median of the tables; the goal is {most} times. It is met on "
            f"{(ratio <= most).sum()} of {len(ratio)} tables; the largest ratio is {ratio.max():.1f}."
        )
    return lines


def _beside_catboost(found: Figures, done: dict[str, Any]) -> list[str]:
    names = [name for name in _in_band(found, done, "above 5000 rows") if CATBOOST in found[name]]
    if not names:
        return []
    best, theirs = _both(found, CATBOOST, names)
    share = best[:, FIT].sum() / theirs[:, FIT].sum()
    return [
        f"- Above 5000 rows, `best` learns in {share:.2f} times the processor time of CatBoost, on the {len(names)} "
        f"tables that it was measured on ({', '.join(names)}); the goal is half of it."
    ]


def _ratios(found: Figures, model: str, which: int) -> np.ndarray:
    return np.array([own[model][which] / own[FOREST][which] for own in found.values()])


def duels(best: np.ndarray, theirs: np.ndarray, which: int) -> tuple[int, int, int]:
    """Count wins, draws and losses of `best`."""
    off = best[:, which] - theirs[:, which]
    is_draw = np.abs(off) <= np.maximum((0.001, 0.002)[which], 0.02 * theirs[:, which])
    return int((~is_draw & (off < 0)).sum()), int(is_draw.sum()), int((~is_draw & (off > 0)).sum())


def _means(found: Figures, model: str) -> str:
    best, own = _both(found, model, found)
    error, log_loss, ece, fit, predict = own.mean(axis=0)
    cells = [model, str(len(own)), f"{100 * error:.2f}", f"{log_loss:.4f}", f"{ece:.4f}", f"{fit:.2f}"]
    cells += [f"{predict:.3f}"]
    if model == "best":
        cells += ["", "", ""]
    else:
        cells += [f"{100 * best[:, ERROR].mean():.2f} / {best[:, LOG_LOSS].mean():.4f}"]
        cells += ["/".join(map(str, duels(best, own, k))) for k in (ERROR, LOG_LOSS)]
    return f"| {' | '.join(cells)} |"


def _bands(found: Figures, done: dict[str, Any], told: list[str]) -> list[str]:
    names = {band: _in_band(found, done, band) for band in list(BANDS)[1:]}
    lines = [f"| model | {' | '.join(f'{band} ({len(of)})' for band, of in names.items())} |"]
    lines += ["|---" * (1 + len(names)) + "|"]
    for model in told:
        cells = []
        for of in names.values():
            best, own = (
                f"{100 * v[:, ERROR].mean():.2f} / {v[:, LOG_LOSS].mean():.4f}" if len(v) else ""
                for v in _both(found, model, of)
            )
            n_own = sum(model in found[name] for name in of)
            on = f" on {n_own}" if n_own < len(of) else ""
            cells.append(own if model == "best" or not own else f"{own} (`best` {best}{on})")
        lines.append(f"| {model} | {' | '.join(cells)} |")
    return lines


def _times(found: Figures, done: dict[str, Any]) -> list[str]:
    lines = ["Medians over the tables of the time of a model as a multiple of a forest's; in brackets the largest.", ""]
    lines += ["| model, step | " + " | ".join(BANDS) + " |", "|---" * (1 + len(BANDS)) + "|"]
    for model in (*OURS, *(name for name in ALL_PEERS if name != FOREST)):
        for step, which in (("fit", FIT), ("predict", PREDICT)):
            cells = []
            for band in BANDS:
                of = {n: found[n] for n in _in_band(found, done, band) if model in found[n]}
                ratios = _ratios(of, model, which)
                cells.append(f"{np.median(ratios):.2f} ({ratios.max():.1f})" if len(ratios) else "")
            if any(cells):
                lines.append(f"| {model}, {step} | {' | '.join(cells)} |")
    return lines


def _tuned(done: dict[str, Any]) -> list[str]:
    names = [name for name in TABLES if f"{name}|{TUNED}|0" in done and f"{name}|best|0" in done]
    if not names:
        return []
    lines = ["## A tuned CatBoost", ""]
    lines += [
        "The best of 20 random settings of CatBoost (100 to 800 trees, depth 3 to 8, step, strength of shrinkage and "
        "randomness), each judged by three folds of the rows to learn from; first half of each table. Error % / "
        f"log-loss, and seconds to fit. Measured on {len(names)} tables of up to 10 000 rows.",
        "",
        "| table | best | s | tuned CatBoost | s |",
        "|---|---|---|---|---|",
    ]
    pairs = np.array([[done[f"{name}|{model}|0"] for model in ("best", TUNED)] for name in names])
    for name, values in zip([*names, f"mean of {len(names)}"], [*pairs, pairs.mean(axis=0)], strict=True):
        told = " | ".join(f"{100 * v[ERROR]:.2f} / {v[LOG_LOSS]:.3f} | {v[FIT]:.1f}" for v in values)
        lines.append(f"| {name} | {told} |")
    won = ["/".join(map(str, duels(pairs[:, 0], pairs[:, 1], k))) for k in (ERROR, LOG_LOSS)]
    return [*lines, "", f"Wins, draws and losses of `best`: {won[0]} in error, {won[1]} in log-loss.", ""]


def _tables(found: Figures, done: dict[str, Any], told: list[str]) -> list[str]:
    shown = [model for model in told if not model.endswith(COOLED)]
    lines = ["Error % / log-loss, and the log-loss with a temperature.", ""]
    lines += [f"| table | rows | classes | folds | {' | '.join(shown)} |", "|---" * (4 + len(shown)) + "|"]
    for name, own in found.items():
        n_rows, n_classes = done[f"{name}|rows"]
        folds = sum(f"{name}|best|{fold}" in done for fold in "01")
        cells = [name, n_rows, n_classes, folds, *(_cell(own, model) for model in shown)]
        lines.append(f"| {' | '.join(map(str, cells))} |")
    return lines


def _cell(own: dict[str, np.ndarray], model: str) -> str:
    if model not in own:
        return ""
    cooled = own.get(model + COOLED)
    told = f"{100 * own[model][ERROR]:.1f} / {own[model][LOG_LOSS]:.3f}"
    return told if cooled is None else f"{told} / {cooled[LOG_LOSS]:.3f}"


def plot(found: Figures) -> None:
    """Draw error and log-loss of each table against those of the forest."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "bayeswater"
    from matplotlib import pyplot

    drawn, axes = pyplot.subplots(1, 2, figsize=(10, 4.6))
    for axis, which, what in zip(axes, (ERROR, LOG_LOSS), ("error", "log-loss"), strict=True):
        theirs = np.array([values[FOREST][which] for values in found.values()])
        least, largest = max(theirs[theirs > 0].min(), 1e-4), theirs.max()
        for model, marker in zip(OURS, "o^s", strict=True):
            own = np.array([values[model][which] for values in found.values()])
            axis.plot(np.maximum(theirs, least), np.maximum(own, least), marker, ms=4, alpha=0.7, label=model)
        axis.plot([least, largest], [least, largest], color="grey", lw=0.8)
        axis.set(xscale="log", yscale="log", xlabel=f"{what} of a random forest", ylabel=f"{what} of BayesEnsemble")
    axes[0].legend(frameon=False)
    drawn.tight_layout()
    drawn.savefig(PLOT, metadata={"Date": None})
    pyplot.close(drawn)
