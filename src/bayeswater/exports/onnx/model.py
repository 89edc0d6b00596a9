"""A `ScoringForm` as an ONNX graph, from raw columns to the label and the probabilities.

Every column is an input (n_rows, 1): texts of labels are strings, "" where they are missing; all else are doubles, NaN
where they are missing, dates in seconds since 1970 as the clock on the wall shows them. Scores are (n_rows, n_classes).
A row that the model refuses has NaN for probabilities and no label: "", or the least integer.

Missing parents in a tree are summed over by messages, as in `sql/trees.py`.
"""

from typing import Any

import numpy as np

from bayeswater.errors import ParameterError
from bayeswater.exports.form import (
    CalibrationForm,
    Cell,
    ScoringForm,
    TextForm,
)
from bayeswater.exports.onnx.graph import Graph
from bayeswater.exports.onnx.terms import TERMS
from bayeswater.inference.formula import BinForm, LabelForm, NumberForm
from bayeswater.version import __version__

OPSET, ML_OPSET, IR_VERSION = 17, 3, 8
"""Versions of the operators and of the file that runtimes of the last years know."""

LARGEST = np.finfo(np.float64).max
NO_LABEL = np.iinfo(np.int64).min


def onnx_bytes(form: ScoringForm) -> bytes:
    """Write a form as a graph."""
    try:
        from onnx import TensorProto, helper
    except ImportError:
        raise ParameterError("to write ONNX takes the package onnx; pip install 'bayeswater[onnx]'") from None
    graph = Graph(form)
    cells = [_cell(graph, cell) for cell in form.cells]
    parts = [graph.constant(form.log_prior[None])]
    for term in form.terms:
        parts.append(TERMS[type(term)](graph, term, cells))
    proba = _probabilities(graph, graph.total(parts))
    outputs = _answers(graph, proba)
    taken, named = {field.name for field in form.fields}, []
    for name, made, kind, shape in outputs:
        while name in taken:
            name += "_"
        graph.nodes.append(helper.make_node("Identity", [made], [name]))
        named.append(helper.make_tensor_value_info(name, getattr(TensorProto, kind), shape))
    made = helper.make_graph(graph.nodes, form.model, graph.inputs, named, graph.held, doc_string=form.size())
    imports = [helper.make_opsetid("", OPSET), helper.make_opsetid("ai.onnx.ml", ML_OPSET)]
    model = helper.make_model(made, opset_imports=imports, ir_version=IR_VERSION)
    model.producer_name, model.producer_version = "bayeswater", __version__
    return bytes(model.SerializeToString())


# ---------------------------------------------------------------------- cells


def _cell(graph: Graph, cell: Cell) -> str:
    """Read a cell: a number (n_rows, 1), NaN where it is missing, or a code (n_rows,)."""
    from onnx import TensorProto

    field, form = graph.form.fields[cell.field], cell.form
    if isinstance(form, TextForm):
        raise ParameterError(
            f"column {field.name!r} holds words, which ONNX has no way to split; export the model as JavaScript, "
            "Python or a page, or leave the column out"
        )
    if not field.name:
        raise ParameterError("a column has the name '', which is no input of ONNX; rename the column")
    is_text = isinstance(form, LabelForm) and all(isinstance(label, str) for label in form.labels) and form.labels != ()
    if field.name not in {given.name for given in graph.inputs}:
        kind = TensorProto.STRING if is_text else TensorProto.DOUBLE
        graph.inputs.append(graph.helper.make_tensor_value_info(field.name, kind, [None, 1]))
    raw = field.name
    if is_text:
        return _text_code(graph, cell, raw)
    if cell.part is not None:
        raw = _part(graph, raw, cell.part)
    missing = graph("IsNaN", raw)
    is_gone = graph("Squeeze", missing, np.array([1]))
    if graph.form.refuses_missing:
        graph.refused.append(missing)
    graph.refused.append(graph("Greater", graph("Abs", raw), np.array(LARGEST)))
    if isinstance(form, NumberForm):
        return _number(graph, form, raw, missing)
    if isinstance(form, BinForm):
        test = graph("Greater" if form.above else "GreaterOrEqual", raw, np.array(form.cuts).reshape(1, -1))
        code = (
            graph.reduce("ReduceSum", graph.cast(test, "INT64"), 1)
            if form.cuts
            else graph("Mul", graph.cast(is_gone, "INT64"), np.array(0))
        )
    else:
        found = graph.cast(graph("Equal", raw, np.array(form.labels, dtype=np.float64).reshape(1, -1)), "INT64")
        if not form.labels:
            code = graph("Add", graph("Mul", graph.cast(is_gone, "INT64"), np.array(0)), np.array(cell.n_states))
        else:
            some = graph.cast(graph.reduce("ReduceMax", found, 1), "BOOL")
            code = graph("Where", some, graph("ArgMax", found, axis=1, keepdims=0), np.array(cell.n_states))
            if graph.form.refuses_unseen:
                graph.refused.append(
                    graph.at(graph("Not", graph("Or", some, graph("Squeeze", missing, np.array([1])))), 1)
                )
    code = graph("Where", graph("Squeeze", missing, np.array([1])), np.array(cell.missing), code)
    return _noted(graph, cell, code)


def _noted(graph: Graph, cell: Cell, code: str) -> str:
    graph.known.append(graph.at(graph.cast(graph("Less", code, np.array(cell.n_states)), "DOUBLE"), 1))
    return code


def _number(graph: Graph, form: NumberForm, raw: str, missing: str) -> str:
    tests = []
    if form.low > -np.inf:
        tests.append(graph("GreaterOrEqual" if form.is_closed else "Greater", raw, np.array(form.low)))
    if form.high < np.inf:
        tests.append(graph("Less", raw, np.array(form.high)))
    if form.is_whole:
        tests.append(graph("Equal", raw, graph("Floor", raw)))
    value = raw
    if tests:
        within = tests[0]
        for test in tests[1:]:
            within = graph("And", within, test)
        if graph.form.refuses_unseen:
            graph.refused.append(graph("Not", graph("Or", within, missing)))
        value = graph("Where", within, raw, np.array(np.nan))
    there = graph("Not", graph("IsNaN", value))
    if graph.form.counts_nonzero:
        there = graph("And", there, graph("Not", graph("Equal", value, np.array(0.0))))
    graph.known.append(graph.cast(there, "DOUBLE"))
    return value


def _text_code(graph: Graph, cell: Cell, raw: str) -> str:
    assert isinstance(cell.form, LabelForm)
    if "" in cell.form.labels and not graph.form.refuses_missing:
        raise ParameterError(
            f"column {raw!r} has the state '', which stands for a missing cell in ONNX; name the state otherwise, or "
            "export the model as another target"
        )
    keys = {"": cell.missing} | {label: code for code, label in enumerate(cell.form.labels)}
    code = graph(
        "LabelEncoder",
        raw,
        domain="ai.onnx.ml",
        keys_strings=list(keys),
        values_int64s=list(keys.values()),
        default_int64=-1,
    )
    unseen = graph("Less", code, np.array(0))
    if graph.form.refuses_unseen:
        graph.refused.append(unseen)
    if graph.form.refuses_missing and "" not in cell.form.labels:
        graph.refused.append(graph("Equal", code, np.array(cell.missing)))
    return _noted(graph, cell, graph("Squeeze", graph("Where", unseen, np.array(cell.n_states), code), np.array([1])))


def _part(graph: Graph, seconds: str, part: str) -> str:
    """Take a date apart; the calendar has eras of 400 years that begin in March."""

    def floor(value: str, by: float) -> str:
        return graph("Floor", graph("Div", value, np.array(float(by))))

    def times(value: str, by: float) -> str:
        return graph("Mul", value, np.array(float(by)))

    day = floor(seconds, 86_400)
    if part == "days":
        return graph("Div", seconds, np.array(86_400.0))
    if part == "time":
        return times(floor(graph("Sub", seconds, times(day, 86_400)), 60), 60)
    if part == "weekday":
        shifted = graph("Add", day, np.array(3.0))
        return graph("Sub", shifted, times(floor(shifted, 7), 7))
    shifted = graph("Add", day, np.array(719_468.0))
    of_era = graph("Sub", shifted, times(floor(shifted, 146_097), 146_097))
    leaps = graph("Sub", graph("Sub", floor(of_era, 36_524), floor(of_era, 1_460)), floor(of_era, 146_096))
    year = floor(graph("Add", of_era, leaps), 365)
    begun = graph("Sub", graph("Add", times(year, 365), floor(year, 4)), floor(year, 100))
    month = floor(graph("Add", times(graph("Sub", of_era, begun), 5), np.array(2.0)), 153)
    return graph("Add", month, graph("Where", graph("Less", month, np.array(10.0)), np.array(3.0), np.array(-9.0)))


# ---------------------------------------------------------------------- probabilities and decisions


def _probabilities(graph: Graph, scores: str) -> str:
    """Normalise scores, and correct them."""
    top = graph.reduce("ReduceMax", scores, 1, keepdims=1)
    scores = graph("Where", graph("Equal", top, np.array(-np.inf)), graph.form.fallback[None], scores)
    c = graph.form.calibration
    return _shares(graph, scores) if c is None else _calibrated(graph, c, scores)


def _shares(graph: Graph, scores: str) -> str:
    weight = graph("Exp", graph("Sub", scores, graph.reduce("ReduceMax", scores, 1, keepdims=1)))
    return graph("Div", weight, graph.reduce("ReduceSum", weight, 1, keepdims=1))


def _calibrated(graph: Graph, c: CalibrationForm, scores: str) -> str:
    """Temper the likelihood by how many cells are known, shift, let it lapse, doubt what is impossible."""
    share = graph.known_share(graph.total(graph.known), c.usual, c.others)
    if len(c.others) > 1:
        share = graph("Min", share, np.array(1.0))
    bounded = graph("Min", share, np.array(1.0))
    slope = graph("Div", np.array(1.0), graph("Add", graph("Mul", share, np.array(c.temperature - 1)), np.array(1.0)))
    impossible = graph("Equal", scores, np.array(-np.inf))
    away = graph("Sub", scores, graph.reduce("ReduceMax", scores, 1, keepdims=1))
    tempered = graph.total(
        [
            graph("Mul", graph("Add", away, (c.to_counted - c.prior)[None]), slope),
            graph.constant(c.prior[None]),
            graph("Mul", bounded, c.shift[None]),
        ]
    )
    proba = _shares(graph, graph("Where", impossible, np.array(-np.inf), tempered))
    lapse = graph("Mul", bounded, np.array(c.lapse))
    possible = graph.reduce("ReduceSum", graph.cast(graph("Not", impossible), "DOUBLE"), 1, keepdims=1)
    mixed = graph("Add", graph("Mul", graph("Sub", np.array(1.0), lapse), proba), graph("Div", lapse, possible))
    proba = graph("Where", impossible, np.array(0.0), mixed)
    if c.doubt > 0:
        is_raised = graph("And", impossible, c.doubted[None])
        n_raised = graph.reduce("ReduceSum", graph.cast(is_raised, "DOUBLE"), 1, keepdims=1)
        each = graph("Div", np.array(c.doubt), graph("Max", n_raised, np.array(1.0)))
        kept = graph("Where", graph("Greater", n_raised, np.array(0.0)), np.array(1 - c.doubt), np.array(1.0))
        proba = graph("Where", is_raised, each, graph("Mul", proba, kept))
    if c.is_given:
        moved = graph("Mul", proba, np.where(c.impossible, 0.0, np.exp(-c.to_counted))[None])
        proba = graph("Div", moved, graph.reduce("ReduceSum", moved, 1, keepdims=1))
    return proba


def _answers(graph: Graph, proba: str) -> list[tuple[str, str, str, list[Any]]]:
    """Decide; rows that are refused have no answer. Gives name, tensor, type and shape of each output."""
    form, refused = graph.form, None
    for test in graph.refused:
        refused = test if refused is None else graph("Or", refused, test)
    best = graph("ArgMax", proba, axis=1, keepdims=0)
    answers = [("label", best, form.classes)]
    if form.decision is not None:
        risks = graph("MatMul", proba, form.decision.regret.T)
        answers.append(("action", graph("ArgMin", risks, axis=1, keepdims=0), form.decision.actions))
    found = []
    for name, place, labels in answers:
        is_text = not all(isinstance(label, int) for label in labels)
        held = np.array([*map(str, labels), ""], dtype=object) if is_text else np.array([*map(int, labels), NO_LABEL])
        if refused is not None:
            place = graph("Where", graph("Squeeze", refused, np.array([1])), np.array(len(labels)), place)
        found.append((name, graph("Gather", held, place, axis=0), "STRING" if is_text else "INT64", [None]))
    if refused is not None:
        proba = graph("Where", refused, np.array(np.nan), proba)
    return [found[0], ("probabilities", proba, "DOUBLE", [None, form.n_classes]), *found[1:]]
