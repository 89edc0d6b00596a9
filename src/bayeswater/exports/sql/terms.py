"""What terms add to the scores, as expressions of a query; those that need steps of their own add them."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from bayeswater.exports.form import (
    AverageTerm,
    ColumnTerm,
    FeaturesTerm,
    GaussianTerm,
    GraphTerm,
    TreeTerm,
    Weighing,
    WeightedTerm,
)
from bayeswater.exports.sql.dialects import IMPOSSIBLE
from bayeswater.exports.sql.query import Query
from bayeswater.exports.sql.trees import tree_term
from bayeswater.exports.sql.word_lists import length_of
from bayeswater.inference.formula import Circle, Distance, Lookup, ScaledWords, Weights, WordWeights
from bayeswater.typing import Array


def refuse_gaps(query: Query, term: GraphTerm | GaussianTerm) -> None:
    """Mark rows as refused that lack a cell others depend on: to sum over these no query is made for."""
    if isinstance(term, GaussianTerm):
        tests = [f"c{cell} IS NULL" for cell in term.cells]
    else:
        n_states = [query.form.cells[cell].n_states for cell in term.cells]
        tests = [
            f"(c{term.cells[j]} < {n_states[j]} AND c{term.cells[p]} >= {n_states[p]})"
            for j, parents in enumerate(term.parents)
            for p in parents
            if n_states[p]
        ]
    if tests:
        kept = [name for name in query.steps[-1] if name != "ok"]
        query.step({"ok": f"CASE WHEN {' OR '.join(tests)} THEN 0 ELSE ok END"}, kept)


def _column_term(query: Query, term: ColumnTerm) -> list[str]:
    code, formula = query.codes[term.cell], term.formula
    if isinstance(formula, Lookup):
        return [query.lookup(code, formula.log_likelihood[:, k]) for k in query.classes]
    if isinstance(formula, WordWeights | ScaledWords):
        return [_words(query, formula, term.cell, k) for k in query.classes]
    found = [_formula(query, formula, code, k) for k in query.classes]
    if query.form.refuses_missing:
        return found
    return [f"COALESCE({part}, {query.number(0)})" for part in found]


def _words(query: Query, f: WordWeights | ScaledWords, cell: int, k: int) -> str:
    """Add what any text says to what known words do; texts that are scaled say nothing without one."""
    number = query.number
    told = f"COALESCE(h{cell}_{k}, {number(0)}) + {number(f.intercept[k])}"
    is_told = f"y{cell} > 0" if isinstance(f, ScaledWords) else f"c{cell} IS NOT NULL"
    return f"CASE WHEN {is_told} THEN {told} ELSE {number(0)} END"


def _formula(query: Query, f: Any, x: str, k: int) -> str:
    number = query.number
    if isinstance(f, Distance):
        x = f"LN({x})" if f.is_log else x
        away = f"({x} - {number(f.mean[k])})"
        if f.is_student:
            z = f"{away} * {away} * {number(f.scale[k] ** 2)}"
            return f"({number(f.intercept[k])} - {number(f.weight[k])} * LN({number(1)} + {z}))"
        return f"({number(f.intercept[k])} - {away} * {away} * {number(f.weight[k] * f.scale[k] ** 2)})"
    if isinstance(f, Circle):
        half = f"SIN({x} * {number(np.pi / f.period)} - {number(f.mu[k] / 2)})"
        return f"({number(f.intercept[k])} - {half} * {half} * {number(2 * f.kappa[k])})"
    assert isinstance(f, Weights)
    written = {"x": x, "log x": f"LN({x})", "log(1 - x)": f"LN({number(1)} - {x})"}
    parts = [number(f.intercept[k])] if f.intercept.any() else []
    for feature, weights in zip(f.features, f.weights, strict=True):
        value = written[feature]
        if weights[k] == -np.inf:
            parts.append(f"CASE WHEN {value} = 0 THEN {number(0)} ELSE {number(IMPOSSIBLE)} END")
        else:
            parts.append(f"{value} * {number(weights[k])}")
    return query.total(parts)


def _features_term(query: Query, term: FeaturesTerm) -> list[str]:
    """Scale counts by their length, as words of a text."""
    f, number = term.formula, query.number
    amount = number(1) if f.is_marked else f"LN({number(1)} + {{0}})"
    written = f"CASE WHEN {{0}} > 0 THEN {amount} ELSE {number(0)} END"
    amounts = {f"f{j}": written.format(query.codes[cell]) for j, cell in enumerate(term.cells)}
    query.step(amounts)
    query.step({"length": length_of(query.total([f"{name} * {name}" for name in amounts]), f)})
    found = []
    for k in query.classes:
        whole = query.total([f"f{j} * {number(weight)}" for j, weight in enumerate(f.weights[:, k])])
        found.append(f"CASE WHEN length > 0 THEN {whole} / length + {number(f.intercept[k])} ELSE {number(0)} END")
    return found


def _weighted_term(query: Query, term: WeightedTerm) -> list[str]:
    """Add what each column says of the class, by its weights in a row that has so many known cells."""
    terms = {f"w{i}_{k}": part for i, own in enumerate(term.terms) for k, part in enumerate(_column_term(query, own))}
    query.step(terms)
    return _weighed(query, term.weighing, len(term.terms), "w", "n")


def _weighed(query: Query, w: Weighing, n_terms: int, letter: str, known: str) -> list[str]:
    """Add terms, columns with a letter, the place and the class in their name, of which so many are known."""
    number, dialect, limit = query.number, query.dialect, query.number(IMPOSSIBLE / 10)

    def joint(i: int, k: int) -> str:
        return f"({letter}{i}_{k} + {number(w.prior[k])})"

    shares = {
        name: query.lookup(known, getattr(w, name)) for name in ("low", "high", *(["bounded"] if w.doubt.any() else []))
    }
    query.step(shares | {f"top{i}": dialect.largest([joint(i, k) for k in query.classes]) for i in range(n_terms)})
    said = {}
    for i in range(n_terms):
        common = query.total([dialect.exp(f"({joint(i, k)} - top{i})") for k in query.classes])
        said[f"said{i}"] = f"top{i} + LN({common})"
    query.step(said)
    found = []
    for k in query.classes:
        parts = [query.lookup(known, w.shift[:, k])]
        for i in range(n_terms):
            name, slope = f"{letter}{i}_{k}", w.slope[i, k]
            own = f"({name} - said{i})"
            if w.doubt[i]:
                doubt = f"{number(w.doubt[i])} * bounded"
                own = f"LN(({number(1)} - {doubt}) * {dialect.exp(own)} + {doubt})"
            spread = f"({number(1)} + {number(slope)} * {'high' if slope < 0 else 'low'})"
            parts.append(f"CASE WHEN {name} < {limit} THEN {number(IMPOSSIBLE)} ELSE {own} / {spread} END")
        found.append(query.total(parts))
    return found


def _flat(query: Query, cells: Sequence[int], table: Array, k: int) -> str:
    """Look the codes of several cells up in a table with an axis for each, the first ones first."""
    if len(cells) == 1:
        return query.lookup(query.codes[cells[0]], table[..., k])
    code = query.codes[cells[0]]
    if query.dialect.listed is not None:
        place = code
        for cell, size in zip(cells[1:], table.shape[1:-1], strict=True):
            place = f"({place} * {size} + {query.codes[cell]})"
        return query.lookup(place, table[..., k].ravel())

    def between(first: int, last: int) -> str:
        if last - first == 1:
            return _flat(query, cells[1:], table[first], k)
        middle = (first + last) // 2
        return f"CASE WHEN {code} < {middle} THEN {between(first, middle)} ELSE {between(middle, last)} END"

    return between(0, len(table))


def _graph_term(query: Query, term: GraphTerm) -> list[str]:
    return [
        query.total(
            [
                _flat(query, [term.cells[i] for i in (*parents, j)], table, k)
                for j, (parents, table) in enumerate(zip(term.parents, term.tables, strict=True))
            ]
        )
        for k in query.classes
    ]


def _average_term(query: Query, term: AverageTerm) -> list[str]:
    """Average the joints of all parents; naive Bayes where no column can be one."""
    every, number = range(len(term.cells)), query.number
    if term.implied is not None:
        _leave_out_implied(query, term)
    code = [query.codes[cell] for cell in term.cells]
    weights = {f"w{i}": query.lookup(code[i], term.weights[i]) for i in every}
    query.step(weights)
    if any((own != even).any() for own, even in zip(term.weights, term.even, strict=True)):
        none = " AND ".join(f"w{i} = 0" for i in every)
        kept = [name for name in query.steps[-1] if name not in weights]
        even = {f"w{i}": f"CASE WHEN {none} THEN {query.lookup(code[i], term.even[i])} ELSE w{i} END" for i in every}
        query.step(even, kept)
    less = np.zeros(len(term.log_prior))  # of members with weights, the prior is added once
    if term.weighing is not None:
        less = np.where(np.isfinite(term.log_prior), term.log_prior, 0.0)
    otherwise = number(IMPOSSIBLE if term.weighing is None else 0)
    joints = {}
    for i in every:
        beside = [(term.cells[j], term.given[i][j]) for j in every if j != i]
        for k in query.classes:
            own = query.lookup(code[i], term.joints[i][:, k] - less[k])
            whole = query.total([own, *(_flat(query, [term.cells[i], cell], table, k) for cell, table in beside)])
            joints[f"j{i}_{k}"] = f"CASE WHEN w{i} > 0 THEN {whole} ELSE {otherwise} END"
    query.step(joints | {"w": query.total([f"w{i}" for i in every])})
    if term.weighing is None:
        query.step({f"u{k}": query.dialect.largest([f"j{i}_{k}" for i in every]) for k in query.classes})
        sums = [
            query.total([f"w{i} * {query.dialect.exp(f'(j{i}_{k} - u{k})')}" for i in every]) for k in query.classes
        ]
        averaged = [f"u{k} + LN({one}) - LN(w)" for k, one in enumerate(sums)]
    else:
        members = query.total([f"CASE WHEN w{i} > 0 THEN 1 ELSE 0 END" for i in every])
        query.step({"members": members})
        averaged = [
            query.total([number(term.log_prior[k]), part])
            for k, part in enumerate(_weighed(query, term.weighing, len(every), "j", "members"))
        ]
    found = {}
    for k in query.classes:
        naive = query.total(
            [number(term.log_prior[k]), *(query.lookup(code[j], term.marginals[j][:, k]) for j in every)]
        )
        found[f"a{k}"] = f"CASE WHEN w > 0 THEN {averaged[k]} ELSE {naive} END"
    query.step(found, [name for name in query.steps[-1] if name[0] not in "jw"])
    return [f"a{k}" for k in query.classes]


def _leave_out_implied(query: Query, term: AverageTerm) -> None:
    """Give cells that others imply the code of what is not there."""
    assert term.implied is not None
    columns, codes = {}, list(query.codes)
    for j, cell in enumerate(term.cells):
        tests = [
            f"(c{term.cells[i]} = {a} AND c{cell} = {b})"
            for i in range(len(term.cells))
            for a, b in zip(*np.nonzero(term.implied[i][j]), strict=True)
        ]
        if tests:
            columns[f"x{cell}"] = (
                f"CASE WHEN {' OR '.join(tests)} THEN {query.form.cells[cell].n_states} ELSE c{cell} END"
            )
            codes[cell] = f"x{cell}"
    query.step(columns)
    query.codes = codes


def _gaussian_term(query: Query, term: GaussianTerm) -> list[str]:
    n_directions = term.whitening.shape[2]
    z = {
        f"z{k}_{d}": query.total(
            [
                f"(c{cell} - {query.number(term.mean[k, j])}) * {query.number(term.whitening[k, j, d])}"
                for j, cell in enumerate(term.cells)
            ]
        )
        for k in query.classes
        for d in range(n_directions)
    }
    query.step(z)
    found = []
    for k in query.classes:
        distance = query.total([f"z{k}_{d} * z{k}_{d}" for d in range(n_directions)])
        v, constant = term.degrees[k], query.number(term.constant[k])
        if term.is_line:
            found.append(f"({constant} + z{k}_0)")
        elif np.isinf(v):
            found.append(f"({constant} - {distance} * {query.number(0.5)})")
        else:
            power = query.number((v + n_directions) / 2)
            found.append(f"({constant} - {power} * LN({query.number(1)} + {distance} * {query.number(1 / v)}))")
    return found


TERMS: dict[type, Callable[[Query, Any], list[str]]] = {
    ColumnTerm: _column_term,
    FeaturesTerm: _features_term,
    WeightedTerm: _weighted_term,
    TreeTerm: tree_term,
    GraphTerm: _graph_term,
    AverageTerm: _average_term,
    GaussianTerm: _gaussian_term,
}
