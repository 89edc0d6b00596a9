"""Rows as a table: prediction, probability, risk and novelty of each, sorted, filtered, opened, and as a CSV file."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from bayeswater.inference.log_space import best_class
from bayeswater.typing import Array
from bayeswater.web.classifier_subject import ClassifierSubject
from bayeswater.web.costs import loss_of, prior_of, under_prior
from bayeswater.web.plain import Download, QuestionError, csv_text, number_of, text_of, written

MOST_SHOWN = 200
"""Rows of one answer."""

FIGURES = ("row", "prediction", "probability", "action", "risk", "novelty", "truth", "surprise")


class RowFigures:
    """What is told of each row under costs and class frequencies."""

    def __init__(self, subject: ClassifierSubject, asked: Mapping[str, Any]) -> None:
        if subject.rows is None:
            raise QuestionError("there are no rows")
        self.subject, self.loss = subject, loss_of(subject, asked)
        self.log_proba = under_prior(subject, prior_of(subject, asked))
        self.predicted = best_class(self.log_proba)
        self.n_rows = len(self.log_proba)

    def values(self) -> dict[str, Array]:
        """Numbers to sort by: (n_rows,) each; what is not known is NaN."""
        rows = np.arange(self.n_rows)
        truth = self.subject.truth
        known = np.full(self.n_rows, -1) if truth is None else truth
        surprise = np.where(known >= 0, -self.log_proba[rows, np.maximum(known, 0)], np.nan)
        return {
            "row": rows.astype(np.float64),
            "prediction": self.predicted.astype(np.float64),
            "probability": np.exp(self.log_proba[rows, self.predicted]),
            "action": self.loss.best_action(log_proba=self.log_proba, return_index=True).astype(np.float64),
            "risk": self.loss.expected_loss(log_proba=self.log_proba),
            "novelty": self.subject.novelty,
            "truth": np.where(known >= 0, known.astype(np.float64), np.nan),
            "surprise": surprise,
        }


def table(subject: ClassifierSubject, asked: Mapping[str, Any]) -> dict[str, Any]:
    """Give some rows, in the order and of the kind that is asked for, with their figures and cells."""
    figures = RowFigures(subject, asked)
    values = figures.values()
    chosen = _chosen(subject, values, asked)
    first = int(number_of(asked, "first", 0, 0, 1e9))
    shown = chosen[first : first + int(number_of(asked, "count", 50, 1, MOST_SHOWN))]
    return {
        "n_all": figures.n_rows,
        "n_found": len(chosen),
        "actions": [written(action) for action in figures.loss.table.actions],
        "figures": [{name: own[i] for name, own in values.items()} for i in shown],
        "cells": [cells_of(subject, int(i)) for i in shown],
        "has_novelty": bool(np.isfinite(values["novelty"]).any()),
    }


def _chosen(subject: ClassifierSubject, values: Mapping[str, Array], asked: Mapping[str, Any]) -> Array:
    """Filter and sort the rows."""
    keep = np.ones(len(values["row"]), dtype=bool)
    for name in ("prediction", "truth", "action"):
        code = asked.get(name)
        if code is not None:
            keep &= values[name] == number_of(asked, name, 0, 0, 1e6)
    if asked.get("only_wrong"):
        keep &= np.isfinite(values["truth"]) & (values["truth"] != values["prediction"])
    keep &= _holding(subject, text_of(asked, "search")[:200])
    by = text_of(asked, "by", "row")
    if by not in FIGURES and by not in subject.fields:
        raise QuestionError(f"rows are not sorted by {by!r}")
    key = values[by] if by in FIGURES else _ranks(subject, by)
    falling = bool(asked.get("falling"))
    order = np.argsort(np.where(np.isnan(key), np.inf, -key if falling else key), kind="stable")
    return order[keep[order]]


def _holding(subject: ClassifierSubject, text: str) -> Array:
    """Tell which rows have a text in any of their cells."""
    assert subject.rows is not None
    found = np.zeros(subject.rows.num_rows, dtype=bool)
    if not text:
        return ~found
    import pyarrow.compute as pc

    for column in subject.rows.columns:
        as_text = column.cast("string", safe=False)
        has = pc.match_substring(as_text, text, ignore_case=True).fill_null(False)
        found |= has.to_numpy(zero_copy_only=False) if hasattr(has, "to_numpy") else np.asarray(has)
    return found


def _ranks(subject: ClassifierSubject, column: str) -> Array:
    """Give the places of the cells of a column in their order; NaN for empty ones."""
    assert subject.rows is not None
    import pyarrow as pa
    import pyarrow.compute as pc

    cells = subject.rows.column(column).combine_chunks()
    if pa.types.is_dictionary(cells.type) or pa.types.is_nested(cells.type):
        cells = cells.cast("string")
    rank = pc.rank(cells, tiebreaker="min").to_numpy().astype(np.float64)
    rank[cells.is_null().to_numpy(zero_copy_only=False)] = np.nan
    return rank


def cells_of(subject: ClassifierSubject, row: int) -> dict[str, Any]:
    """Give the cells of a row as facts; empty ones are not among them, unless empty is a state."""
    assert subject.rows is not None
    cells = subject.rows.slice(row, 1).to_pylist()[0]
    fields = subject.fields
    return {
        name: None if cell is None else fields[name].fact(cell)
        for name, cell in cells.items()
        if name in fields and (cell is not None or fields[name].empty_is_state)
    }


def one(subject: ClassifierSubject, asked: Mapping[str, Any]) -> dict[str, Any]:
    """Give one row as facts, and its true class."""
    if subject.rows is None:
        raise QuestionError("there are no rows")
    row = int(number_of(asked, "row", 0, 0, subject.rows.num_rows - 1))
    read = {name: fact for name, fact in cells_of(subject, row).items() if subject.fields[name].kind != "not read"}
    return {"facts": read, "truth": None if subject.truth is None else int(subject.truth[row])}


def as_csv(subject: ClassifierSubject, asked: Mapping[str, Any]) -> Download:
    """Give all rows that are asked for as a file, with their figures in front."""
    figures = RowFigures(subject, asked)
    values = figures.values()
    assert subject.rows is not None
    chosen = _chosen(subject, values, asked)
    labels, actions = subject.labels, list(figures.loss.table.actions)
    named = {"prediction": labels, "truth": labels, "action": actions}
    told = [name for name in FIGURES if np.isfinite(values[name]).any()]

    def figure(name: str, i: int) -> Any:
        value = values[name][i]
        if name in named:
            return written(named[name][int(value)]) if np.isfinite(value) else None
        return int(value) + 1 if name == "row" else float(value)

    cells = subject.rows.take(chosen).to_pydict()
    rows = (
        [*(figure(name, int(i)) for name in told), *(own[place] for own in cells.values())]
        for place, i in enumerate(chosen)
    )
    return Download(csv_text([*told, *cells], rows), "text/csv")


ANSWERS = {"table": table, "one": one, "csv": as_csv}
