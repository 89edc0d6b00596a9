"""The cells of a row in SQL: what is read off its columns, which are known, and which make the model refuse it."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from bayeswater.errors import ParameterError
from bayeswater.exports.form import Cell, ColumnTerm, TextForm, WeightedTerm
from bayeswater.exports.sql.query import Query
from bayeswater.exports.sql.word_lists import add_words
from bayeswater.inference.formula import BinForm, LabelForm, NumberForm

LARGEST = 1.7976931348623157e308
"""The largest number that is not infinite."""


def read_cells(query: Query, kept: Sequence[str]) -> None:
    """Read the cells, count those that are known, and mark rows that are not refused."""
    form, dialect = query.form, query.dialect
    raw, columns, refused = {}, {}, []
    for place, name in enumerate(kept):
        raw[f"k{place}"] = f"t.{dialect.identifier(name)}"
    for place, cell in enumerate(form.cells):
        raw[f"r{place}"] = _raw(query, cell)
    query.step(raw)
    counted = []
    for place, cell in enumerate(form.cells):
        if isinstance(cell.form, TextForm):
            add_words(query, place, form.fields[cell.field].name, cell.form, _formula_of(query, place))
            counted += [f"y{place}", *(f"h{place}_{k}" for k in query.classes)]
    for place, cell in enumerate(form.cells):
        columns[f"c{place}"] = _cell(query, cell, f"r{place}")
        refused += _refused(query, cell, f"r{place}")
    if form.counts_known:
        columns["n"] = query.total([_known(query, cell, place) for place, cell in enumerate(form.cells)])
    columns["ok"] = f"CASE WHEN {' OR '.join(refused)} THEN 0 ELSE 1 END" if refused else "1"
    query.step(columns, [*(name for name in raw if name[0] == "k"), *counted])


def _raw(query: Query, cell: Cell) -> str:
    field, dialect = query.form.fields[cell.field], query.dialect
    column = f"t.{dialect.identifier(field.name)}"
    part = cell.part if cell.part is not None else "seconds" if field.kind == "seconds" else None
    if part is not None:
        if part not in dialect.parts:
            raise ParameterError(f"column {field.name!r} holds times, which {dialect.name} has no number for")
        return dialect.parts[part].format(column)
    if dialect.not_number is None:
        return column if isinstance(cell.form, LabelForm | TextForm) else dialect.as_number(column)
    if _is_number(cell):
        return dialect.as_number(column)
    return f"NULLIF({column}, '')" if isinstance(cell.form, LabelForm) and "" not in cell.form.labels else column


def _is_number(cell: Cell) -> bool:
    """Tell whether a cell holds a number, or a label that is none of text."""
    form = cell.form
    return not isinstance(form, TextForm) and not (
        isinstance(form, LabelForm) and all(isinstance(label, str) for label in form.labels)
    )


def _formula_of(query: Query, place: int) -> Any:
    """Find what the words of a cell add."""
    terms = [own for term in query.form.terms for own in (term.terms if isinstance(term, WeightedTerm) else [term])]
    return next(term.formula for term in terms if isinstance(term, ColumnTerm) and term.cell == place)


def _cell(query: Query, cell: Cell, raw: str) -> str:
    """Write the number of a cell, or its code."""
    form = cell.form
    if isinstance(form, TextForm):
        return f"CASE WHEN {raw} IS NULL THEN NULL ELSE 1 END"
    if isinstance(form, NumberForm):
        within = _within(query, form, raw)
        return f"CASE WHEN {within} THEN {raw} END" if within else raw
    if isinstance(form, BinForm):
        found = _bins(query, form, raw)
        return f"CASE WHEN {raw} IS NULL THEN {cell.missing} ELSE {found} END"
    assert isinstance(form, LabelForm)
    cases = [f"WHEN {query.dialect.is_label(raw, label)} THEN {code}" for code, label in enumerate(form.labels)]
    return f"CASE WHEN {raw} IS NULL THEN {cell.missing} {' '.join(cases)} ELSE {cell.n_states} END"


def _bins(query: Query, form: BinForm, raw: str) -> str:
    """Find the bin of a number, by halving."""

    def between(first: int, last: int) -> str:
        if first == last:
            return str(first)
        middle = (first + last) // 2
        under = "<=" if form.above else "<"
        cut = query.number(form.cuts[middle])
        return f"CASE WHEN {raw} {under} {cut} THEN {between(first, middle)} ELSE {between(middle + 1, last)} END"

    return between(0, len(form.cuts))


def _within(query: Query, form: NumberForm, raw: str) -> str:
    tests = []
    if form.low > -np.inf:
        tests.append(f"{raw} {'>=' if form.is_closed else '>'} {query.number(form.low)}")
    if form.high < np.inf:
        tests.append(f"{raw} < {query.number(form.high)}")
    if form.is_whole:
        tests.append(f"{raw} = FLOOR({raw})")
    return " AND ".join(tests)


def _refused(query: Query, cell: Cell, raw: str) -> list[str]:
    """Say when a cell makes the model refuse its row."""
    form, found = query.form, []
    if form.refuses_missing:
        found.append(f"{raw} IS NULL")
    if not isinstance(cell.form, LabelForm | TextForm) and query.dialect.has_infinity and cell.part is None:
        found.append(f"ABS({raw}) > {query.number(LARGEST)}")
    if query.dialect.not_number is not None and cell.part is None and _is_number(cell):
        found.append(query.dialect.not_number.format(raw))
    if form.refuses_unseen:
        if isinstance(cell.form, NumberForm) and _within(query, cell.form, raw):
            found.append(f"NOT ({_within(query, cell.form, raw)})")
        elif isinstance(cell.form, LabelForm):
            known = " OR ".join(query.dialect.is_label(raw, label) for label in cell.form.labels) or "1 = 0"
            found.append(f"NOT ({known})")
    return found


def _known(query: Query, cell: Cell, place: int) -> str:
    """Write how many known cells there are in one: words are counted one by one, and with weights as one."""
    if isinstance(cell.form, TextForm):
        has_weights = any(isinstance(term, WeightedTerm) for term in query.form.terms)
        return f"CASE WHEN y{place} > 0 THEN 1 ELSE 0 END" if has_weights else f"y{place}"
    value = _cell(query, cell, f"r{place}")
    if isinstance(cell.form, NumberForm):
        test = f"{value} <> 0" if query.form.counts_nonzero else f"{value} IS NOT NULL"
    else:
        test = f"{value} < {cell.n_states}"
    return f"CASE WHEN {test} THEN 1 ELSE 0 END"
