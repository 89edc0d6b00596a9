"""A `ScoringForm` as one SELECT over a table: P(class), the prediction and, with a loss, the action.

The query is a chain of steps, each a SELECT from the one before it: cells, scores of the classes, probabilities,
decision. A table of a model is a list, where a dialect has lists: code that grows with it takes a database long to
plan. Elsewhere it is a CASE that halves the codes until one is left, in as many comparisons as its logarithm to base
two. A cell that is missing is NULL, and a term of it 0. A row that the model refuses has NULL for all answers.
"""

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from bayeswater.errors import ResourceLimitError
from bayeswater.exports.form import CalibrationForm, GaussianTerm, GraphTerm, ScoringForm
from bayeswater.exports.sql.cells import read_cells
from bayeswater.exports.sql.dialects import DIALECTS, IMPOSSIBLE
from bayeswater.exports.sql.query import Query
from bayeswater.exports.sql.terms import TERMS, refuse_gaps

MOST_NUMBERS = 2**19
"""Numbers of all tables together, at most: some ten megabytes of SQL."""


def sql_text(form: ScoringForm, dialect: str = "duckdb", table: str = "rows", keep: Sequence[str] | None = None) -> str:
    """Write a form as a query; `keep` are columns of the table that it gives back, by default those of the model."""
    if form.n_numbers > MOST_NUMBERS:
        raise ResourceLimitError(
            f"a model of {form.size()} is too large for a query, which holds {MOST_NUMBERS:,} numbers at most; export "
            "it as C, JavaScript or Python"
        )
    query = Query(form, DIALECTS[dialect])
    kept = [field.name for field in form.fields] if keep is None else list(keep)
    read_cells(query, kept)
    for term in form.terms:
        if isinstance(term, GraphTerm | GaussianTerm):
            refuse_gaps(query, term)
    scores = {f"p{k}": query.number(form.log_prior[k]) for k in query.classes}
    parts: list[list[str]] = [[score] for score in scores.values()]
    for term in form.terms:
        for k, part in enumerate(TERMS[type(term)](query, term)):
            parts[k].append(part)
    used = [name for name in query.steps[-1] if name[0] in "kn" or name == "ok"]
    query.step({f"s{k}": query.total(parts[k]) for k in query.classes}, used)
    _probabilities(query)
    names = [(f"k{place}", name) for place, name in enumerate(kept)]
    return f"{_head(form)}{query.text([*names, *_answers(query)], table)};\n"


def _head(form: ScoringForm) -> str:
    return f"-- A {form.model}: {form.size()}. NULL where the model refuses a row.\n"


def _probabilities(query: Query) -> None:
    """Normalise the scores s, and correct them: q are the probabilities."""
    form, number = query.form, query.number
    query.step({"top": query.dialect.largest([f"s{k}" for k in query.classes])})
    limit = number(IMPOSSIBLE / 10)
    fallen = {f"f{k}": f"CASE WHEN top < {limit} THEN {number(form.fallback[k])} ELSE s{k} END" for k in query.classes}
    kept = [name for name in query.steps[-1] if name[0] in "kn" or name == "ok"]
    query.step(fallen, kept)
    if form.calibration is not None:
        _calibrate(query, form.calibration)
        return
    _shares(query, "f")


def _shares(query: Query, letter: str) -> None:
    """Make probabilities q of logarithms."""
    query.step({"high": query.dialect.largest([f"{letter}{k}" for k in query.classes])})
    weights = {f"g{k}": query.dialect.exp(f"({letter}{k} - high)") for k in query.classes}
    query.step(weights)
    query.step({"whole": query.total(list(weights))})
    query.step({f"q{k}": f"g{k} / whole" for k in query.classes}, _rest(query))


def _rest(query: Query) -> list[str]:
    return [name for name in query.steps[-1] if name[0] in "knfv" or name in ("ok", "bounded")]


def _calibrate(query: Query, c: CalibrationForm) -> None:
    """Temper the likelihood by how many cells are known, shift, let it lapse, doubt what is impossible."""
    number, limit = query.number, query.number(IMPOSSIBLE / 10)
    share = query.known_share("n", c.usual, c.others)
    if len(c.others) > 1:
        share = query.dialect.smallest([share, number(1)])
    query.step({"share": share, "high": query.dialect.largest([f"f{k}" for k in query.classes])})
    query.step(
        {
            "bounded": query.dialect.smallest(["share", number(1)]),
            "slope": f"{number(1)} / ({number(1)} + {number(c.temperature - 1)} * share)",
        }
    )
    tempered = {
        f"v{k}": f"CASE WHEN f{k} < {limit} THEN {number(IMPOSSIBLE)} ELSE {number(c.prior[k])} + slope * (f{k} - high "
        f"+ {number(c.to_counted[k] - c.prior[k])}) + bounded * {number(c.shift[k])} END"
        for k in query.classes
    }
    query.step(tempered, [*(n for n in query.steps[-1] if n[0] in "kn" or n in ("ok", "bounded"))])
    _shares(query, "v")
    possible = query.total([f"CASE WHEN v{k} < {limit} THEN 0 ELSE 1 END" for k in query.classes])
    query.step({"n_possible": possible, "lapse": f"bounded * {number(c.lapse)}"})
    mixed = {
        f"q{k}": f"CASE WHEN v{k} < {limit} THEN {number(0)} ELSE ({number(1)} - lapse) * q{k} + lapse / n_possible END"
        for k in query.classes
    }
    query.step(mixed, [n for n in query.steps[-1] if n[0] in "kv" or n in ("ok", "n_possible")])
    if c.doubt > 0:
        raised = query.total([f"CASE WHEN v{k} < {limit} THEN {int(c.doubted[k])} ELSE 0 END" for k in query.classes])
        query.step({"n_raised": raised})
        doubted = {
            f"q{k}": f"CASE WHEN n_raised > 0 AND v{k} < {limit} AND {int(c.doubted[k])} = 1 THEN {number(c.doubt)} / "
            f"n_raised WHEN n_raised > 0 THEN q{k} * {number(1 - c.doubt)} ELSE q{k} END"
            for k in query.classes
        }
        query.step(doubted, [n for n in query.steps[-1] if n[0] == "k" or n == "ok"])
    if c.is_given:
        moved = {
            f"y{k}": number(0) if c.impossible[k] else f"q{k} * {number(np.exp(-c.to_counted[k]))}"
            for k in query.classes
        }
        query.step(moved)
        query.step({"whole": query.total(list(moved))})
        query.step(
            {f"q{k}": f"y{k} / whole" for k in query.classes}, [n for n in query.steps[-1] if n[0] == "k" or n == "ok"]
        )


def _answers(query: Query) -> list[tuple[str, str]]:
    """Decide, and name the columns of the answer."""
    form, dialect = query.form, query.dialect
    best = {"best": dialect.largest([f"q{k}" for k in query.classes])}
    if form.decision is not None:
        risks = {
            f"risk{i}": query.total([f"q{k} * {query.number(own[k])}" for k in query.classes])
            for i, own in enumerate(form.decision.regret)
        }
        query.step(best | risks)
        best = {"least": dialect.smallest(list(risks))}
    query.step(best)
    answer = {f"a{k}": f"CASE WHEN ok = 1 THEN q{k} END" for k in query.classes}
    answer["prediction"] = _first(query, [(f"q{k} >= best", label) for k, label in enumerate(form.classes)])
    names = [(f"a{k}", f"P({label})") for k, label in enumerate(form.classes)] + [("prediction", "prediction")]
    if form.decision is not None:
        tests = [(f"risk{i} <= least", label) for i, label in enumerate(form.decision.actions)]
        answer["chosen"] = _first(query, tests)
        names.append(("chosen", "action"))
    query.step(answer, [name for name in query.steps[-1] if name[0] == "k"])
    if not dialect.plain_names:
        return names
    return [(name, re.sub(r"\W", "_", called, flags=re.ASCII)) for name, called in names]


def _first(query: Query, tests: Sequence[tuple[str, Any]]) -> str:
    cases = " ".join(f"WHEN {test} THEN {query.dialect.label(label)}" for test, label in tests)
    return f"CASE WHEN ok <> 1 THEN NULL {cases} END"
