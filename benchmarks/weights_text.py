"""Learned weights on texts: `NaiveBayes`, calibrated and with weights of words, beside linear models on tf-idf.

Half of the texts are to learn from, in equal shares of each class, the other half is judged, in five draws. Peers are
scikit-learn's with their defaults, on words and pairs of words, of Chinese on characters and pairs of these; ours are
given the texts and choose words, reading and scaling themselves. A linear SVC gives no probabilities. Probabilities are
clipped at 1e-6. Seconds are of the processor, to fit and to judge, reading of the texts included; loops are loaded
before. Behind ± is the standard error over the draws. The form of the weights was chosen on the first draws of these
corpora, which flatters them a little.
"""

import tarfile
import warnings
from collections.abc import Callable
from time import process_time
from typing import Any

import numpy as np
import pandas as pd
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from bayeswater import NaiveBayes
from bayeswater.decision.scorecard import Scorecard
from benchmarks.accuracy import DATA, LEAST_PROBABILITY

FOLDER = DATA.parent / "text"
CORPORA = ("waimai", "review polarity", "SMS", "AG news")
CHINESE = ("waimai",)
DRAWS = 5
MODELS = (
    "naive Bayes, calibrated",
    "naive Bayes, weighted",
    "tf-idf + logistic regression",
    "tf-idf + linear SVC",
)
WEIGHTED, SVC = MODELS[1], MODELS[3]


def read_texts(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Read the texts and labels of a corpus."""
    if name == "review polarity":
        return _reviews()
    if name == "SMS":
        frame = pd.read_csv(FOLDER / "SMSSpamCollection.tsv", sep="\t", header=None, quoting=3)
        return frame[1].to_numpy(object), frame[0].to_numpy(str)
    if name == "AG news":
        frame = pd.read_csv(FOLDER / "ag_news_test.csv", header=None)
        return (frame[1] + " " + frame[2]).to_numpy(object), frame[0].to_numpy(str)
    frame = pd.read_csv(FOLDER / "zh_waimai_10k.csv")
    return frame["review"].astype(str).to_numpy(object), frame["label"].to_numpy(str)


def _reviews() -> tuple[np.ndarray, np.ndarray]:
    texts, labels = [], []
    with tarfile.open(FOLDER / "review_polarity.tar.gz") as archive:
        for member in sorted(archive.getmembers(), key=lambda member: member.name):
            file = archive.extractfile(member) if member.name.endswith(".txt") else None
            if file is not None and "txt_sentoken" in member.name:
                texts.append(file.read().decode("latin1"))
                labels.append(member.name.split("/")[-2])
    return np.array(texts, dtype=object), np.array(labels)


def measure(name: str, done: dict[str, Any], keep: Callable[[], None]) -> None:
    """Measure all draws of a corpus that are not in `done`, and `keep` each."""
    texts, y = read_texts(name)
    for draw in range(DRAWS):
        learn, judge = next(StratifiedShuffleSplit(1, test_size=0.5, random_state=draw).split(y, y))
        missing = [model for model in MODELS if f"{name}|{model}|{draw}" not in done]
        if missing and not draw:
            _measured(WEIGHTED, name, texts, y, learn, judge)  # loads what is compiled
        for model in missing:
            done[f"{name}|{model}|{draw}"] = _measured(model, name, texts, y, learn, judge)
            keep()


def _measured(model: str, name: str, texts: Any, y: Any, learn: Any, judge: Any) -> list[float | None]:
    start = process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted, rows = _model(model, name)
        fitted.fit(rows(texts[learn]), y[learn])
        proba = None if model == SVC else fitted.predict_proba(rows(texts[judge]))
        labels = fitted.predict(rows(texts[judge])) if proba is None else fitted.classes_[proba.argmax(axis=1)]
    seconds = process_time() - start
    log_loss = None
    if proba is not None:
        codes = np.searchsorted(fitted.classes_, y[judge])
        log_loss = round(float(Scorecard.of(np.log(np.maximum(proba, LEAST_PROBABILITY)), codes).log_loss), 6)
    return [round(float((labels == y[judge]).mean()), 6), log_loss, round(seconds, 4)]


def _model(model: str, name: str) -> tuple[Any, Callable[[Any], Any]]:
    """Give a model, and the form in which it takes texts."""
    if model.startswith("naive"):
        how = {"weights": "learned"} if model == WEIGHTED else {"calibrate": True}
        return NaiveBayes(columns={"text": "text"}, **how), lambda texts: pd.DataFrame({"text": texts})
    words = TfidfVectorizer(ngram_range=(1, 2), analyzer="char" if name in CHINESE else "word")
    return make_pipeline(words, LinearSVC() if model == SVC else LogisticRegression()), lambda texts: texts


def section(done: dict[str, Any]) -> list[str]:
    """Write the figures as a section of a Markdown page; nothing where there are none."""
    found = {name: _figures(name, done) for name in CORPORA}
    full = {name: figures for name, figures in found.items() if figures is not None}
    if not full:
        return []
    n_draws = min(len(next(iter(figures.values()))) for figures in full.values())
    protocol = " ".join(__doc__.split("\n\n")[1].split()).replace("in five draws", f"in {n_draws} draws")
    lines = ["", "## Texts", "", protocol, "", "Accuracy % / log-loss, means over the draws.", ""]
    lines += [f"| corpus | {' | '.join(MODELS)} |", "|---" * (1 + len(MODELS)) + "|"]
    for name, figures in full.items():
        lines.append(f"| {name} | {' | '.join(_cell(figures[model]) for model in MODELS)} |")
    means = {model: np.mean([figures[model].mean(axis=0) for figures in full.values()], axis=0) for model in MODELS}
    lines.append(f"| mean of {len(full)} | {' | '.join(_cell(means[model][None]) for model in MODELS)} |")
    lines += ["", "How much better the weighted words do: accuracy in points, log-loss the other's less theirs.", ""]
    lines += [f"| corpus | {' | '.join(f'than {model}' for model in MODELS if model != WEIGHTED)} |", "|---" * 4 + "|"]
    for name, figures in full.items():
        others = [_gain(figures[WEIGHTED], figures[model]) for model in MODELS if model != WEIGHTED]
        lines.append(f"| {name} | {' | '.join(others)} |")
    lines += ["", "Seconds to fit and judge, means over the draws.", ""]
    lines += [f"| corpus | {' | '.join(MODELS)} |", "|---" * (1 + len(MODELS)) + "|"]
    for name, figures in full.items():
        lines.append(f"| {name} | {' | '.join(f'{figures[model][:, 2].mean():.2f}' for model in MODELS)} |")
    return lines


def _figures(name: str, done: dict[str, Any]) -> dict[str, Any] | None:
    """Give accuracy, log-loss and seconds of each draw that all models have: (n_draws, 3) by model."""
    draws = [d for d in range(DRAWS) if all(f"{name}|{model}|{d}" in done for model in MODELS)]
    if not draws:
        return None
    return {model: np.array([done[f"{name}|{model}|{d}"] for d in draws], dtype=np.float64) for model in MODELS}


def _cell(figures: Any) -> str:
    accuracy, log_loss, _ = figures.mean(axis=0)
    return f"{100 * accuracy:.2f}" + ("" if np.isnan(log_loss) else f" / {log_loss:.3f}")


def _gain(mine: Any, other: Any) -> str:
    gains = np.column_stack([100 * (mine[:, 0] - other[:, 0]), other[:, 1] - mine[:, 1]])
    error = gains.std(axis=0, ddof=1) / np.sqrt(len(gains)) if len(gains) > 1 else [np.nan] * 2
    told = f"{gains[:, 0].mean():+.2f} ± {error[0]:.2f}"
    return told if np.isnan(gains[0, 1]) else f"{told} / {gains[:, 1].mean():+.3f} ± {error[1]:.3f}"
