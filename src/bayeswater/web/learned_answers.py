"""What a model has learned: its columns by the information they carry, each with its picture by class; the nomogram."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from bayeswater.data.reading.column_plan import IGNORED, Column
from bayeswater.explain.importance import TEXT_ROWS, curve_or_none, importance, information_of
from bayeswater.explain.nomogram import scale_of
from bayeswater.families.curve import ColumnCurve
from bayeswater.models.streaming.answering import cell_names
from bayeswater.phrases import Language, translated
from bayeswater.reports.independent import INDEPENDENT
from bayeswater.web.classifier_subject import ClassifierSubject
from bayeswater.web.fields import Field, places_of
from bayeswater.web.plain import QuestionError, language_of, text_of, written
from bayeswater.web.row_answers import facts_of

MOST_POINTS = 160
"""Places of a picture that are sent: more cannot be seen."""

MOST_WORDS = 20
"""Words of each class that are named as its strongest."""

MOST_NOMOGRAM = 30
"""Columns of a nomogram: those that carry most, as many as a page holds."""


def _columns(subject: ClassifierSubject) -> list[Column]:
    """Give the columns as the model sees them, with family and reason."""
    plan = getattr(subject.model, "columns_", None)
    if plan is None:
        return [Column(str(name), str(name), "") for name in cell_names(subject.model)]
    return list(plan)


def columns(subject: ClassifierSubject, asked: Mapping[str, Any]) -> dict[str, Any]:
    """Give all columns, those that carry most first, with pictures."""
    prior, left_out, language = subject.frequencies, [], language_of(asked)
    told: list[dict[str, Any]] = []
    for column in _columns(subject):
        facts: dict[str, Any] = {"name": column.name, "why": translated(column.why, language)}
        if column.family == IGNORED:
            left_out.append(facts)
            continue
        facts["family"] = translated(column.family, language)
        facts["bits"] = information_of(subject.model, column.name, prior, _texts(subject, column.name))
        told.append(facts | {"picture": _picture(_curve(subject, column, language), MOST_POINTS)})
    if subject.rows is not None and all(one["picture"] is None for one in told):
        found = importance(subject.model, subject.rows.slice(0, TEXT_ROWS)).columns
        mean = {one.column: one.mean_log_odds for one in found}
        told = [one | {"mean_log_odds": mean.get(one["name"])} for one in told]
    told.sort(key=lambda one: -(one["bits"] or one.get("mean_log_odds") or 0.0))
    return {"columns": told, "left_out": left_out}


def marks(subject: ClassifierSubject, asked: Mapping[str, Any]) -> dict[str, Any]:
    """Give where a row stands in the picture of each column that is known, and how that is written."""
    language, found = language_of(asked), {}
    planned = {column.name: column for column in _columns(subject)}
    for name, place in places_of(subject.model, facts_of(subject, asked)).items():
        curve = _curve(subject, planned[name], language)
        if curve is None or curve.kind == "words":
            continue
        if isinstance(place, int | float) and not isinstance(place, bool) and curve.kind != "states":
            found[name] = {"at": float(place), "text": curve.written(float(place))}
        else:
            text = written(language.say(place) if planned[name].part in ("weekday", "month") else place)
            found[name] = {"at": text, "text": text}
    return found


def _curve(subject: ClassifierSubject, column: Column, language: Language) -> ColumnCurve | None:
    found = curve_or_none(subject.model, column.name)
    return None if found is None else found.in_language(language, column)


def _texts(subject: ClassifierSubject, name: str) -> list[Any]:
    """Give some cells of a column, by which the information of a text is told."""
    if subject.rows is None or name not in subject.rows.column_names:
        return []
    return list(subject.rows.column(name).slice(0, TEXT_ROWS).to_pylist())


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
        "ends": [curve.written(at[0]), curve.written(at[-1])] if is_number and at and curve.axis != "number" else None,
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
    planned = {column.name: column for column in _columns(subject)}
    for own in columns(subject, asked)["columns"]:
        curve = _curve(subject, planned[own["name"]], language_of(asked))
        scale = None if curve is None else _scale(curve, k, other, subject.fields.get(own["name"]))
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
    """Give places and their log-odds, numbers of the range that was seen."""
    ends = [end for end in (own.low, own.high) if isinstance(end, float)] if own is not None else []
    found = scale_of(curve, k, other, *(ends if len(ends) == 2 else ()))
    if found is None:
        return None
    at = [place if isinstance(place, float) else written(place) for place in found.at]
    return {"kind": found.kind, "at": at, "odds": found.odds}


ANSWERS = {"columns": columns, "marks": marks, "nomogram": nomogram}
