"""`Query`: the steps of a query, each a SELECT from the one before it, and the cells that the first ones read."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from bayeswater.errors import ParameterError, ResourceLimitError
from bayeswater.exports.form import Cell, ScoringForm, TextForm
from bayeswater.exports.sql.dialects import IMPOSSIBLE, Dialect
from bayeswater.inference.formula import BinForm, LabelForm, NumberForm
from bayeswater.typing import Array

FEW = 8
"""Numbers that are looked up by halving, even where there are lists."""

LARGEST = 1.7976931348623157e308
"""The largest number that is not infinite."""


class Query:
    """Steps of a query: columns of each by their name, and the expression that gives them."""

    def __init__(self, form: ScoringForm, dialect: Dialect) -> None:
        self.form, self.dialect, self.classes = form, dialect, range(form.n_classes)
        self.steps: list[dict[str, str]] = []
        self.codes = [f"c{place}" for place in range(len(form.cells))]

    def step(self, columns: dict[str, str], keeping: Iterable[str] | None = None) -> None:
        """Add columns in a step that keeps all columns before it, or only some."""
        kept = self.steps[-1] if self.steps and keeping is None else keeping or ()
        own = {name: name for name in kept} | columns
        if len(own) > self.dialect.most_columns:
            raise ResourceLimitError(
                f"a model of {self.form.size()} takes {len(own):,} columns in a step of the query, over the "
                f"{self.dialect.most_columns:,} of {self.dialect.name}; export it as C or ONNX, or bin its columns"
            )
        self.steps.append(own)

    def number(self, value: Any) -> str:
        """Write a number."""
        return self.dialect.literal(value)

    def total(self, parts: Sequence[str]) -> str:
        """Write a sum, of many parts as one of sums: databases bound how deep an expression is."""
        if not parts:
            return self.number(0)
        if len(parts) <= 50:
            return parts[0] if len(parts) == 1 else f"({' + '.join(parts)})"
        size = -(-len(parts) // 50)
        return self.total([self.total(parts[at : at + size]) for at in range(0, len(parts), size)])

    def lookup(self, code: str, values: Array) -> str:
        """Look a code up among numbers (n_codes,), in a list or by halving."""
        if len(values) > FEW and (found := self.dialect.taken(values.tolist(), code)) is not None:
            return found

        def between(first: int, last: int) -> str:
            if (values[first:last] == values[first]).all():
                return self.number(values[first])
            middle = (first + last) // 2
            return f"CASE WHEN {code} < {middle} THEN {between(first, middle)} ELSE {between(middle, last)} END"

        return between(0, len(values)) if len(values) else self.number(0)

    def known_share(self, known: str, usual: float, others: Sequence[int]) -> str:
        """Write how much a row with so many known cells has of what holds for a usual one."""
        parts = [
            f"(CASE WHEN {known} > {o} THEN {known} - {o} ELSE 0 END) * {self.number(1 / (usual - o))}" for o in others
        ]
        return " * ".join(parts) or f"CASE WHEN {known} > 0 THEN {self.number(1)} ELSE {self.number(0)} END"

    def log_of_sum(self, top: str, parts: Sequence[str]) -> str:
        """Write top + log(sum), impossible where the sum is 0."""
        whole = self.total(parts)
        return f"CASE WHEN {whole} > 0 THEN {top} + LN({whole}) ELSE {self.number(IMPOSSIBLE)} END"

    def text(self, names: Sequence[tuple[str, str]], table: str) -> str:
        """Write the query; `names` are the columns of its answer and what they are called."""
        lines, source = [], f"{self.dialect.identifier(table)} AS t"
        for number, columns in enumerate(self.steps):
            own = ",\n    ".join(name if name == value else f"{value} AS {name}" for name, value in columns.items())
            step = self.dialect.step.format(f"\n  SELECT\n    {own}\n  FROM {source}\n")
            lines.append(f"s{number} {step}")
            source = f"s{number}"
        answer = ",\n  ".join(f"{name} AS {self.dialect.identifier(called)}" for name, called in names)
        return f"WITH {', '.join(lines)}\nSELECT\n  {answer}\nFROM {source}"


def read_cells(query: Query, kept: Sequence[str]) -> None:
    """Read the cells, count those that are known, and mark rows that are not refused."""
    form, dialect = query.form, query.dialect
    raw, columns, refused = {}, {}, []
    for place, name in enumerate(kept):
        raw[f"k{place}"] = f"t.{dialect.identifier(name)}"
    for place, cell in enumerate(form.cells):
        raw[f"r{place}"] = _raw(query, cell)
    query.step(raw)
    for place, cell in enumerate(form.cells):
        columns[f"c{place}"] = _cell(query, cell, f"r{place}")
        refused += _refused(query, cell, f"r{place}")
    if form.counts_known:
        columns["n"] = query.total([_is_known(query, cell, f"r{place}") for place, cell in enumerate(form.cells)])
    columns["ok"] = f"CASE WHEN {' OR '.join(refused)} THEN 0 ELSE 1 END" if refused else "1"
    query.step(columns, [name for name in raw if name[0] == "k"])


def _raw(query: Query, cell: Cell) -> str:
    field, dialect = query.form.fields[cell.field], query.dialect
    column = f"t.{dialect.identifier(field.name)}"
    if isinstance(cell.form, TextForm):
        raise ParameterError(
            f"column {field.name!r} holds words, which this query cannot split; export the model as JavaScript, Python "
            "or a page, or leave the column out"
        )
    part = cell.part if cell.part is not None else "seconds" if field.kind == "seconds" else None
    if part is not None:
        if part not in dialect.parts:
            raise ParameterError(f"column {field.name!r} holds times, which {dialect.name} has no number for")
        return dialect.parts[part].format(column)
    return column if isinstance(cell.form, LabelForm) else dialect.as_number(column)


def _cell(query: Query, cell: Cell, raw: str) -> str:
    """Write the number of a cell, or its code."""
    form = cell.form
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
    if not isinstance(cell.form, LabelForm) and query.dialect.has_infinity and cell.part is None:
        found.append(f"ABS({raw}) > {query.number(LARGEST)}")
    if form.refuses_unseen:
        if isinstance(cell.form, NumberForm) and _within(query, cell.form, raw):
            found.append(f"NOT ({_within(query, cell.form, raw)})")
        elif isinstance(cell.form, LabelForm):
            known = " OR ".join(query.dialect.is_label(raw, label) for label in cell.form.labels) or "1 = 0"
            found.append(f"NOT ({known})")
    return found


def _is_known(query: Query, cell: Cell, raw: str) -> str:
    value = _cell(query, cell, raw)
    if isinstance(cell.form, NumberForm):
        test = f"{value} <> 0" if query.form.counts_nonzero else f"{value} IS NOT NULL"
    else:
        test = f"{value} < {cell.n_states}"
    return f"CASE WHEN {test} THEN 1 ELSE 0 END"
