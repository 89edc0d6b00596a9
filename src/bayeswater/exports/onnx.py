"""A `ScoringForm` as an ONNX graph, from raw columns to the label and the probabilities.

Every column is an input (n_rows, 1): texts of labels are strings, "" where they are missing; all else are doubles, NaN
where they are missing, dates in seconds since 1970 as the clock on the wall shows them. Scores are (n_rows, n_classes).
A row that the model refuses has NaN for probabilities and no label: "", or the least integer.

Missing parents in a tree are summed over by messages, as in `sql/terms.py`.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from bayeswater.errors import ParameterError
from bayeswater.exports.form import (
    AverageTerm,
    CalibrationForm,
    Cell,
    ColumnTerm,
    FeaturesTerm,
    GaussianTerm,
    GraphTerm,
    ScoringForm,
    TextForm,
    TreeTerm,
    Weighing,
    WeightedTerm,
)
from bayeswater.inference.formula import BinForm, Circle, Distance, LabelForm, Lookup, NumberForm, Weights
from bayeswater.typing import Array
from bayeswater.version import __version__

OPSET, ML_OPSET, IR_VERSION = 17, 3, 8
"""Versions of the operators and of the file that runtimes of the last years know."""

LARGEST = np.finfo(np.float64).max
NO_LABEL = np.iinfo(np.int64).min


class Graph:
    """Nodes and constants; every operation gives the name of what it makes."""

    def __init__(self, form: ScoringForm) -> None:
        from onnx import helper, numpy_helper

        self.form, self.helper, self.of_array = form, helper, numpy_helper.from_array
        self.nodes: list[Any] = []
        self.held: list[Any] = []
        self.inputs: list[Any] = []
        self.refused: list[str] = []
        self.known: list[str] = []

    def constant(self, values: Any) -> str:
        """Hold an array; whole numbers are int64, others double."""
        array = np.asarray(values)
        if array.dtype.kind == "f":
            array = array.astype(np.float64)
        elif array.dtype.kind in "iu":
            array = array.astype(np.int64)
        name = f"bayeswater/held {len(self.held)}"
        self.held.append(self.of_array(array, name))
        return name

    def __call__(self, operator: str, *inputs: Any, domain: str = "", **attributes: Any) -> str:
        """Apply an operator to names of tensors and to constants."""
        names = [value if isinstance(value, str) else self.constant(value) for value in inputs]
        output = f"bayeswater/{len(self.nodes)}"
        self.nodes.append(self.helper.make_node(operator, names, [output], domain=domain, **attributes))
        return output

    def cast(self, value: str, kind: str) -> str:
        """Turn numbers into "DOUBLE" or "INT64"."""
        from onnx import TensorProto

        return self("Cast", value, to=getattr(TensorProto, kind))

    def reduce(self, operator: str, value: str, axis: int, keepdims: int = 0) -> str:
        """Reduce along an axis; sums take it as an input, and others as an attribute."""
        if operator == "ReduceSum":
            return self(operator, value, np.array([axis]), keepdims=keepdims)
        return self(operator, value, axes=[axis], keepdims=keepdims)

    def total(self, values: list[str]) -> str:
        """Add tensors."""
        return values[0] if len(values) == 1 else self("Sum", *values)

    def at(self, value: str, axis: int) -> str:
        """Put in an axis."""
        return self("Unsqueeze", value, np.array([axis]))


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


# ---------------------------------------------------------------------- terms


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
    """Scale counts to length 1, as words of a text."""
    x, f = graph("Concat", *(cells[cell] for cell in term.cells), axis=1), term.formula
    if f.is_marked:
        amount = graph.cast(graph("Greater", x, np.array(0.0)), "DOUBLE")
    else:
        amount = graph("Log", graph("Add", x, np.array(1.0)))
    length = graph("Sqrt", graph.reduce("ReduceSum", graph("Mul", amount, amount), 1, keepdims=1))
    is_empty = graph("Equal", length, np.array(0.0))
    scaled = graph("Div", amount, graph("Where", is_empty, np.array(1.0), length))
    found = graph("Add", graph("MatMul", scaled, f.weights), f.intercept[None])
    return graph("Where", is_empty, np.array(0.0), found)


def _weighted(graph: Graph, term: WeightedTerm, cells: list[str]) -> str:
    terms = graph("Concat", *(graph.at(_column(graph, own, cells), 1) for own in term.terms), axis=1)
    return _weighed(graph, term.weighing, terms, graph.total(graph.known))


def _weighed(graph: Graph, w: Weighing, terms: str, known: str) -> str:
    """Add terms (n_rows, n_terms, n_classes) by their weights, of which so many are known: (n_rows, 1)."""
    low = _known_share(graph, known, w.usual, w.singles)
    high = graph("Min", _known_share(graph, known, w.usual, w.pairs), np.array(1.0))
    joint = graph("Add", terms, w.prior[None, None])
    top = graph.reduce("ReduceMax", joint, 2, keepdims=1)
    top = graph("Where", graph("Equal", top, np.array(-np.inf)), np.array(0.0), top)
    whole = graph.reduce("ReduceSum", graph("Exp", graph("Sub", joint, top)), 2, keepdims=1)
    whole = graph("Where", graph("Equal", whole, np.array(0.0)), np.array(1.0), whole)
    said = graph("Sub", graph("Sub", terms, top), graph("Log", whole))
    share = graph("Where", (w.weight > 1)[None], graph.at(high, 2), graph.at(low, 2))
    spread = graph("Add", graph("Mul", share, (1 - w.weight)[None]), w.weight[None])
    is_none = graph("Equal", spread, np.array(0.0))  # of no weight, in a row of one cell
    weight = graph("Div", w.weight[None], graph("Where", is_none, np.array(1.0), spread))
    weight = graph("Where", is_none, np.array(1.0), weight)
    is_impossible = graph("Equal", terms, np.array(-np.inf))
    said = graph("Where", is_impossible, np.array(0.0), said)
    counted = graph("Where", is_impossible, np.array(-np.inf), graph("Mul", said, weight))
    shift = graph("Mul", graph("Min", low, np.array(1.0)), w.shift[None])
    return graph("Add", graph.reduce("ReduceSum", counted, 1), shift)


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
    z = graph("MatMul", graph("Sub", graph.at(x, 0), term.mean[:, None]), term.whitening)  # (n_classes, n_rows, d)
    distance = graph("Transpose", graph.reduce("ReduceSum", graph("Mul", z, z), 2), perm=[1, 0])
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


def _known_share(graph: Graph, known: str, usual: float, others: tuple[int, ...]) -> str:
    """Say how much a row with so many known cells has of what holds for a usual one."""
    share = graph.cast(graph("Greater", known, np.array(0.0)), "DOUBLE")
    for o in others:
        part = graph("Div", graph("Max", graph("Sub", known, np.array(float(o))), np.array(0.0)), np.array(usual - o))
        share = graph("Mul", share, part)
    return share


def _calibrated(graph: Graph, c: CalibrationForm, scores: str) -> str:
    """Temper the likelihood by how many cells are known, shift, let it lapse, doubt what is impossible."""
    share = _known_share(graph, graph.total(graph.known), c.usual, c.others)
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
