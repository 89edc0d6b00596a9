"""What a model has learned: its columns by the information they carry, each with its picture by class; the nomogram.

The information of a column is its mutual information with the class under the model, in bits:

    I = sum over classes k of P(k) * integral of p(x | k) log2(p(x | k) / p(x))

exact for states, bins and counts, by the trapezoidal rule for densities. Of a text, whose cells are too many, it is the
mean over the rows of what the text alone tells: sum over k of P(k | text) log2(P(k | text) / P(k)).
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from bayeswater.data.reading.column_plan import IGNORED
from bayeswater.families.curve import ColumnCurve
from bayeswater.models.categorical_nb import CategoricalNB
from bayeswater.models.feature_nb import BernoulliNB
from bayeswater.models.gaussian_nb import GaussianNB
from bayeswater.models.mixed.naive_bayes import NaiveBayes
from bayeswater.models.streaming.partial_rows import cell_names
from bayeswater.typing import Array
from bayeswater.web.fields import Field, curve_of
from bayeswater.web.plain import QuestionError, text_of, written
from bayeswater.web.subjects import ClassifierSubject

MOST_POINTS = 160
"""Places of a picture that are sent: more cannot be seen."""

TEXT_ROWS = 300
"""Rows by which the information of a text is told."""

MOST_WORDS = 20
"""Words of each class that are named as its strongest."""

INDEPENDENT = (NaiveBayes, GaussianNB, CategoricalNB, BernoulliNB)
"""Models whose log-odds are sums over columns, each by itself."""

MOST_STOPS = 14
"""Places of a scale that are marked."""

MOST_NOMOGRAM = 30
"""Columns of a nomogram: those that carry most, as many as a page holds."""


def _columns(subject: ClassifierSubject) -> list[tuple[str, str, str]]:
    """Name the columns as the model sees them, with family and reason."""
    plan = getattr(subject.model, "columns_", None)
    if plan is None:
        return [(str(name), "", "") for name in cell_names(subject.model)]
    return [(column.name, column.family, column.why) for column in plan]


def columns(subject: ClassifierSubject, asked: Mapping[str, Any]) -> dict[str, Any]:
    """Give all columns, those that carry most first, with pictures."""
    prior, left_out = subject.frequencies, []
    told: list[dict[str, Any]] = []
    for name, family, why in _columns(subject):
        if family == IGNORED:
            left_out.append({"name": name, "why": why})
            continue
        curve = curve_of(subject.model, name)
        bits = _bits(curve, prior, subject, name)
        told.append({"name": name, "family": family, "why": why, "bits": bits, "picture": _picture(curve, MOST_POINTS)})
    told.sort(key=lambda one: -(one["bits"] if one["bits"] is not None else -1.0))
    return {"columns": told, "left_out": left_out}


def _bits(curve: ColumnCurve | None, prior: Array, subject: ClassifierSubject, name: str) -> float | None:
    """Give the information of a column; None where it cannot be told."""
    if curve is None:
        return None
    if curve.kind == "words":
        return _bits_of_text(subject, name)
    mass = np.asarray(curve.values, dtype=np.float64)
    if curve.kind == "density":
        at = np.asarray(curve.at, dtype=np.float64)
        if len(at) < 2:
            return None
        mass = mass * np.gradient(at)[:, None]
    total = mass.sum(axis=0)
    mass = mass / np.where(total > 0, total, 1.0)
    return information(mass, prior)


def information(mass: Array, prior: Array) -> float:
    """Mutual information in bits of outcomes with probabilities (n_outcomes, n_classes).

    >>> information(np.eye(2), np.array([0.5, 0.5]))
    1.0
    """
    shared = mass @ prior
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(mass > 0, mass * np.log2(mass / shared[:, None]), 0.0)
    return max(0.0, float(terms.sum(axis=0) @ prior))


def _bits_of_text(subject: ClassifierSubject, name: str) -> float | None:
    if subject.rows is None or name not in subject.rows.column_names:
        return None
    texts = subject.rows.column(name).slice(0, TEXT_ROWS).to_pylist()
    proba = np.asarray(subject.model.predict_proba([{name: text} for text in texts if text is not None] or [{}]))
    prior = subject.frequencies
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(proba > 0, proba * np.log2(proba / prior), 0.0)
    return max(0.0, float(terms.sum(axis=1).mean()))


def _picture(curve: ColumnCurve | None, most: int) -> dict[str, Any] | None:
    """Give a curve as plain values, of at most so many places."""
    if curve is None:
        return None
    n = len(curve.at)
    step = max(1, -(-n // most)) if curve.kind in ("density", "counts") else 1
    some = slice(None, None, step) if step > 1 else slice(None, most if curve.kind != "words" else None)
    at = list(curve.at)[some]
    is_number = curve.kind in ("density", "counts")
    counts = None if curve.counts is None else np.asarray(curve.counts)[some]
    return {
        "kind": curve.kind,
        "at": [float(place) for place in at] if is_number else [written(place) for place in at],
        "values": np.asarray(curve.values)[some].T,
        "counts": None if counts is None else counts.T,
        "totals": None if counts is None else counts.sum(axis=1),
        "best": _best_words(curve) if curve.kind == "words" else None,
        "edges": curve.edges,
        "is_log": curve.is_log,
        "n_left_out": 0 if is_number else n - len(at),
    }


def _best_words(curve: ColumnCurve) -> list[list[dict[str, Any]]]:
    """Give the strongest words of each class, by the log of how much likelier they are there than in the others."""
    values = np.asarray(curve.values, dtype=np.float64)  # (n_words, n_classes)
    others = (values.sum(axis=1, keepdims=True) - values) / max(1, values.shape[1] - 1)
    weight = np.log(np.maximum(values, 1e-300)) - np.log(np.maximum(others, 1e-300))
    count = np.zeros_like(values) if curve.counts is None else np.asarray(curve.counts)
    told = []
    for k in range(values.shape[1]):
        best = np.lexsort((-count[:, k], -weight[:, k]))[:MOST_WORDS]
        told.append(
            [
                {"word": written(curve.at[i]), "weight": weight[i, k], "count": count[i, k]}
                for i in best
                if weight[i, k] > 0
            ]
        )
    return told


def nomogram(subject: ClassifierSubject, asked: Mapping[str, Any]) -> dict[str, Any]:
    """Give the points that each cell adds to the log-odds of a class against another, for every column.

    For two classes these are log-odds of the one against the other. Of more, those of the class that is asked for
    against the one that is named beside it.
    """
    classes = [written(label) for label in subject.labels]
    chosen, against = text_of(asked, "chosen", classes[-1]), text_of(asked, "against", classes[0])
    if chosen not in classes or against not in classes or chosen == against:
        raise QuestionError("a nomogram compares two classes")
    k, other = classes.index(chosen), classes.index(against)
    scales = []
    for own in columns(subject, {})["columns"]:
        curve = curve_of(subject.model, own["name"])
        if curve is None:
            continue
        scale = _scale(curve, k, other, subject.fields.get(own["name"]))
        if scale is not None:
            scales.append({"name": own["name"], "bits": own["bits"], **scale})
    prior = subject.frequencies
    shown = scales[:MOST_NOMOGRAM]
    with np.errstate(divide="ignore"):
        intercept = float(np.log(prior[k]) - np.log(prior[other]))
    return {
        "chosen": chosen,
        "against": against,
        "intercept": intercept,
        "scales": shown,
        "n_left_out": len(scales) - len(shown),
        "is_sum": isinstance(subject.model, INDEPENDENT),
    }


def _scale(curve: ColumnCurve, k: int, other: int, own: Field | None) -> dict[str, Any] | None:
    """Give places and their log-odds, where both classes can have them: numbers of the range that was seen."""
    values = np.asarray(curve.values, dtype=np.float64)
    possible = (values[:, k] > 0) & (values[:, other] > 0)
    is_number = curve.kind in ("density", "counts")
    if is_number and own is not None and isinstance(own.low, float) and isinstance(own.high, float):
        at = np.asarray(curve.at, dtype=np.float64)
        possible &= (at >= own.low) & (at <= own.high)
    chosen = np.flatnonzero(possible)
    if not len(chosen):
        return None
    odds = np.log(values[chosen, k]) - np.log(values[chosen, other])
    if is_number:
        some = np.unique(np.linspace(0, len(chosen) - 1, min(len(chosen), MOST_STOPS)).round().astype(int))
        return {"kind": curve.kind, "at": [float(curve.at[chosen[i]]) for i in some], "odds": odds[some]}
    order = np.argsort(odds, kind="stable")
    if len(order) > MOST_STOPS:  # those that speak most, of either class
        order = np.concatenate([order[: MOST_STOPS // 2], order[-(MOST_STOPS // 2) :]])
    return {"kind": curve.kind, "at": [written(curve.at[chosen[i]]) for i in order], "odds": odds[order]}


ANSWERS = {"columns": columns, "nomogram": nomogram}
