"""What terms add to the scores, as parts of an ONNX graph: tensors (n_rows, n_classes)."""

from collections.abc import Callable
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
from bayeswater.exports.onnx.graph import Graph
from bayeswater.inference.formula import Circle, Distance, Lookup, Weights
from bayeswater.typing import Array


def _column(graph: Graph, term: ColumnTerm, cells: list[str]) -> str:
    x, f = cells[term.cell], term.formula
    if isinstance(f, Lookup):
        return graph("Gather", f.log_likelihood, x, axis=0)
    if isinstance(f, Distance):
        away = graph("Mul", graph("Sub", graph("Log", x) if f.is_log else x, f.mean[None]), f.scale[None])
        z = graph("Mul", away, away)
        z = graph("Log", graph("Add", z, np.array(1.0))) if f.is_student else z
        found = graph("Sub", f.intercept[None], graph("Mul", z, f.weight[None]))
    elif isinstance(f, Circle):
        sine = graph("Sin", graph("Sub", graph("Mul", x, np.array(np.pi / f.period)), f.mu[None] / 2))
        found = graph("Sub", f.intercept[None], graph("Mul", graph("Mul", sine, sine), 2 * f.kappa[None]))
    else:
        assert isinstance(f, Weights)
        written: dict[str, Callable[[], str]] = {
            "x": lambda: x,
            "log x": lambda: graph("Log", x),
            "log(1 - x)": lambda: graph("Log", graph("Sub", np.array(1.0), x)),
        }
        parts = [graph.constant(f.intercept[None])]
        for feature, weights in zip(f.features, f.weights, strict=True):
            value = written[feature]()
            product = graph("Mul", value, weights[None])
            if np.isinf(weights).any():
                product = graph("Where", graph("Equal", value, np.array(0.0)), np.array(0.0), product)
            parts.append(product)
        found = graph.total(parts)
    return graph("Where", graph("IsNaN", x), np.array(0.0), found)


def _features(graph: Graph, term: FeaturesTerm, cells: list[str]) -> str:
    """Scale counts by their length, as words of a text."""
    x, f = graph("Concat", *(cells[cell] for cell in term.cells), axis=1), term.formula
    if f.is_marked:
        amount = graph.cast(graph("Greater", x, np.array(0.0)), "DOUBLE")
    else:
        amount = graph("Log", graph("Add", x, np.array(1.0)))
    length = graph("Sqrt", graph.reduce("ReduceSum", graph("Mul", amount, amount), 1, keepdims=1))
    length = graph("Sqrt", length) if f.by_root else length
    is_empty = graph("Equal", length, np.array(0.0))
    scaled = graph("Div", amount, graph("Where", is_empty, np.array(1.0), length))
    found = graph("Add", graph("MatMul", scaled, f.weights), f.intercept[None])
    return graph("Where", is_empty, np.array(0.0), found)


def _weighted(graph: Graph, term: WeightedTerm, cells: list[str]) -> str:
    terms = graph("Concat", *(graph.at(_column(graph, own, cells), 1) for own in term.terms), axis=1)
    return _weighed(graph, term.weighing, terms, graph.total(graph.known))


def _weighed(graph: Graph, w: Weighing, terms: str, known: str) -> str:
    """Add terms (n_rows, n_terms, n_classes) by their weights, of which so many are known: (n_rows, 1)."""
    known = graph("Squeeze", graph.cast(known, "INT64"), np.array([1]))
    joint = graph("Add", terms, w.prior[None, None])
    top = graph.reduce("ReduceMax", joint, 2, keepdims=1)
    top = graph("Where", graph("Equal", top, np.array(-np.inf)), np.array(0.0), top)
    whole = graph.reduce("ReduceSum", graph("Exp", graph("Sub", joint, top)), 2, keepdims=1)
    whole = graph("Where", graph("Equal", whole, np.array(0.0)), np.array(1.0), whole)
    said = graph("Sub", terms, graph("Add", top, graph("Log", whole)))
    if w.doubt.any():
        doubt = graph("Mul", graph("Gather", w.bounded[:, None, None], known, axis=0), w.doubt[None, :, None])
        trusted = graph("Mul", graph("Sub", np.array(1.0), doubt), graph("Exp", said))
        doubted = graph("Log", graph("Add", trusted, doubt))
        is_doubted = graph("And", graph("Greater", said, np.array(-np.inf)), (w.doubt > 0)[None, :, None])
        said = graph("Where", is_doubted, doubted, said)
    low, high = (graph("Gather", shares[:, None, None], known, axis=0) for shares in (w.low, w.high))
    slope = graph("Mul", graph("Where", (w.slope < 0)[None], high, low), w.slope[None])
    counted = graph("Div", said, graph("Add", slope, np.array(1.0)))
    return graph("Add", graph.reduce("ReduceSum", counted, 1), graph("Gather", w.shift, known, axis=0))


def _tree(graph: Graph, term: TreeTerm, cells: list[str]) -> str:
    code = [cells[cell] for cell in term.cells]
    n_states = [table.shape[1] for table in term.tables]
    children = {p: [j for j, own in enumerate(term.parents) if own == p] for p in range(len(code))}
    there = [graph.at(graph("Less", code[j], np.array(n_states[j])), 1) for j in range(len(code))]
    heard: dict[int, str] = {}
    parts = []
    for j in term.from_leaves:
        p, table = term.parents[j], term.tables[j]
        padded = np.pad(table, ((0, int(p >= 0)), (0, 1), (0, 0)))
        place = code[j]
        if p >= 0:
            place = graph("Add", graph("Mul", code[p], np.array(n_states[j] + 1)), code[j])
        parts.append(graph("Gather", padded.reshape(-1, table.shape[2]), place, axis=0))
        if not children[j]:
            continue
        below = []
        for c in children[j]:
            given = np.pad(term.tables[c], ((0, 0), (0, 1), (0, 0)))  # (n_states_j, n_states_c + 1, n_classes)
            below.append(graph("Gather", given.swapaxes(0, 1), code[c], axis=0))
            if c in heard:
                below.append(graph("Where", graph.at(there[c], 1), np.array(0.0), heard[c]))
        said = _log_sum(graph, graph.total(below), table)
        if p < 0:
            own = graph("Squeeze", said, np.array([1]))
        else:
            heard[j] = said
            chosen = graph("Equal", graph.at(code[p], 1), np.arange(n_states[p])[None])
            own = graph.reduce("ReduceSum", graph("Where", graph.at(chosen, 2), said, np.array(0.0)), 1)
        parts.append(graph("Where", there[j], np.array(0.0), own))
    return graph.total(parts)


def _log_sum(graph: Graph, below: str, table: Array) -> str:
    """What a missing column says to the states of its parent: (n_rows, n_states of it, n_classes)."""
    top = graph.reduce("ReduceMax", below, 1, keepdims=1)
    top = graph("Where", graph("Equal", top, np.array(-np.inf)), np.array(0.0), top)
    weight = graph("Transpose", graph("Exp", graph("Sub", below, top)), perm=[2, 0, 1])
    whole = graph("MatMul", weight, np.exp(table).transpose(2, 1, 0))  # (n_classes, n_rows, n_states of the parent)
    return graph("Add", graph("Transpose", graph("Log", whole), perm=[1, 2, 0]), top)


def _graph_term(graph: Graph, term: GraphTerm, cells: list[str]) -> str:
    """Look columns up with their parents; rows are refused that lack a parent of a cell that is there."""
    n_states = [graph.form.cells[cell].n_states for cell in term.cells]
    parts = []
    for j, (parents, table) in enumerate(zip(term.parents, term.tables, strict=True)):
        place = graph.constant(np.zeros(1, dtype=np.int64))
        for i in (*parents, j):
            place = graph("Add", graph("Mul", place, np.array(n_states[i] + 1)), cells[term.cells[i]])
        parts.append(graph("Gather", table.reshape(-1, table.shape[-1]), place, axis=0))
        is_there = graph("Less", cells[term.cells[j]], np.array(n_states[j]))
        for p in parents:
            if n_states[p]:
                gone = graph("GreaterOrEqual", cells[term.cells[p]], np.array(n_states[p]))
                graph.refused.append(graph.at(graph("And", is_there, gone), 1))
    return graph.total(parts)


def _average(graph: Graph, term: AverageTerm, cells: list[str]) -> str:
    first = np.cumsum([0, *(len(own) for own in term.weights)])
    n_slots = int(first[-1])
    codes = graph("Concat", *(graph.at(cells[cell], 1) for cell in term.cells), axis=1)
    slots = graph("Add", codes, first[:-1][None])

    def pairs(slots: str) -> str:
        return graph("Add", graph("Mul", graph.at(slots, 2), np.array(n_slots)), graph.at(slots, 1))

    if term.implied is not None:
        table = np.block([list(own) for own in term.implied]).astype(np.int64).ravel()
        implied = graph.cast(graph.reduce("ReduceMax", graph("Gather", table, pairs(slots), axis=0), 1), "BOOL")
        slots = graph("Where", implied, first[1:][None] - 1, slots)
    weight = graph("Gather", np.concatenate(term.weights).astype(float), slots, axis=0)
    even = graph("Gather", np.concatenate(term.even).astype(float), slots, axis=0)
    none = graph("Equal", graph.reduce("ReduceSum", weight, 1, keepdims=1), np.array(0.0))
    weight = graph("Where", none, even, weight)
    given = np.concatenate([np.concatenate(own, axis=1) for own in term.given], axis=0)
    terms = graph("Gather", given.reshape(n_slots**2, -1), pairs(slots), axis=0)  # (n_rows, parent, column, n_classes)
    joint = graph(
        "Add", graph.reduce("ReduceSum", terms, 2), graph("Gather", np.concatenate(term.joints), slots, axis=0)
    )
    can_be = graph("Greater", weight, np.array(0.0))
    whole = graph.reduce("ReduceSum", weight, 1, keepdims=1)
    is_alone = graph("Equal", whole, np.array(0.0))
    if term.weighing is not None:
        counted = np.where(np.isfinite(term.log_prior), term.log_prior, 0.0)
        terms = graph("Where", graph.at(can_be, 2), graph("Sub", joint, counted[None, None]), np.array(0.0))
        members = graph.reduce("ReduceSum", graph.cast(can_be, "DOUBLE"), 1, keepdims=1)
        mean = graph("Add", _weighed(graph, term.weighing, terms, members), term.log_prior[None])
    else:
        joint = graph("Where", graph.at(can_be, 2), joint, np.array(-np.inf))
        top = graph.reduce("ReduceMax", joint, 1, keepdims=1)
        top = graph("Where", graph("Equal", top, np.array(-np.inf)), np.array(0.0), top)
        sums = graph.reduce("ReduceSum", graph("Mul", graph("Exp", graph("Sub", joint, top)), graph.at(weight, 2)), 1)
        safe = graph("Where", is_alone, np.array(1.0), whole)
        mean = graph("Sub", graph("Add", graph("Log", sums), graph("Squeeze", top, np.array([1]))), graph("Log", safe))
    marginal = graph.reduce("ReduceSum", graph("Gather", np.concatenate(term.marginals), slots, axis=0), 1)
    return graph("Where", is_alone, graph("Add", marginal, term.log_prior[None]), mean)


def _gaussian(graph: Graph, term: GaussianTerm, cells: list[str]) -> str:
    x = graph("Concat", *(cells[cell] for cell in term.cells), axis=1)
    graph.refused.append(graph("IsNaN", graph.reduce("ReduceSum", x, 1, keepdims=1)))
    z = graph.constant(np.zeros((1, 1, 1)))  # (n_rows, n_classes, d), in the order of the columns: parts may cancel
    for j, cell in enumerate(term.cells):
        away = graph("Sub", cells[cell], term.mean[None, :, j])
        z = graph("Add", z, graph("Mul", graph.at(away, 2), term.whitening[None, :, j]))
    if term.is_line:
        return graph("Add", graph.reduce("ReduceSum", z, 2), term.constant[None])
    distance = graph.reduce("ReduceSum", graph("Mul", z, z), 2)
    is_normal, d = np.isinf(term.degrees), term.whitening.shape[2]
    v = np.where(is_normal, 1.0, term.degrees)
    student = graph(
        "Mul", graph("Log", graph("Add", graph("Div", distance, v[None]), np.array(1.0))), (v + d)[None] / 2
    )
    away = graph("Where", is_normal[None], graph("Mul", distance, np.array(0.5)), student)
    return graph("Sub", term.constant[None], away)


TERMS: dict[type, Callable[[Graph, Any, list[str]], str]] = {
    ColumnTerm: _column,
    FeaturesTerm: _features,
    WeightedTerm: _weighted,
    TreeTerm: _tree,
    GraphTerm: _graph_term,
    AverageTerm: _average,
    GaussianTerm: _gaussian,
}
