"""An ensemble in the document and the arrays of a model file: how it reads a table, its families, pool and report.

Every family gives and reads its own arrays, and refuses those of no family that has learned. A file holds int64,
float64 and bytes, none of them empty; so the document says what numbers an array had, and its shape where it is empty.
"""

from collections.abc import Mapping
from reprlib import repr as shortened
from typing import Any

import numpy as np

from bayeswater.data.reading.column_plan import NUMBER
from bayeswater.data.variable import Variable
from bayeswater.decision.pools import Pool
from bayeswater.decision.scorecard import Measured
from bayeswater.files.model_file import Document, require
from bayeswater.learning.members.presets import KINDS, PRESETS
from bayeswater.learning.members.stack import Stack
from bayeswater.models.ensemble.bayes_ensemble import BayesEnsemble
from bayeswater.models.ensemble.reading import FAMILIES, OF_STATES, Reading
from bayeswater.models.ensemble.report import CommitteeReport, EnsembleReport
from bayeswater.models.stored.domains import read_names, read_states, require_arrays, written_states
from bayeswater.models.stored.groups import read_plan, require_source_names
from bayeswater.models.stored.values import CODEC
from bayeswater.typing import Array, is_number
from bayeswater.version import __version__

KIND = "BayesEnsemble"
LARGEST_POWER = 1e300
"""Logarithms of probabilities times a power, or divided by a temperature, are numbers up to it."""

FIELDS = frozenset(
    {
        *("library", "kind", "parameters", "classes", "columns", "states", "n_features", "feature_names", "frame"),
        *("families", "numbers", "report"),
    }
)
"""What the document of an ensemble says."""

NUMBERS: Mapping[str, type] = {
    **dict.fromkeys(("int8", "int16", "int32", "int64", "uint16", "uint32", "uint64"), np.int64),
    **dict.fromkeys(("float32", "float64"), np.float64),
    **dict.fromkeys(("bool", "uint8"), np.uint8),
}
"""Numbers that an array may have, and those by which a file holds them without loss."""

OF_STACK = ("class_count", "temperature", "share", "power", "figures", "of_families")
"""Arrays beside those of the families."""


def described_ensemble(model: BayesEnsemble) -> tuple[Document, dict[str, Array]]:
    """Give the document and the arrays of an ensemble."""
    stack, reading, report = model._stack, model._reading, model.report_
    arrays = {
        "class_count": stack.class_count,
        "temperature": stack.temperature,
        "share": stack.pool.share,
        "power": stack.pool.power,
        "figures": np.array(
            [*report.error, *report.log_loss, *report.ece, report.n_rows, report.n_judged, report.n_alone]
        ),
        "of_families": np.array(
            [[f.n_members, f.log_loss, f.n_judged, f.seconds, f.n_bytes] for f in report.families], dtype=np.float64
        ).reshape(len(report.families), 5),
    }
    for place, committee in enumerate(stack.committees):
        arrays |= {f"{place}.{name}": np.asarray(array) for name, array in committee.to_arrays().items()}
    names = getattr(model, "feature_names_in_", None)
    document = {
        "library": f"bayeswater {__version__}",
        "kind": KIND,
        "parameters": {
            name: CODEC.encode(value, f"parameter {name!r}") for name, value in model.get_params(deep=False).items()
        },
        "classes": CODEC.encode(model._classes, "a class"),
        "columns": [CODEC.encode(column, f"the reading of column {column.name!r}") for column in reading.plan],
        "states": written_states(reading.schema),
        "n_features": int(model.n_features_in_),
        "feature_names": None if names is None else names.tolist(),
        "frame": model._library,
        "families": [family.name for family in report.families],
        "numbers": {name: [array.dtype.name, *([] if array.size else array.shape)] for name, array in arrays.items()},
        "report": [report.preset, report.seed, report.seconds, report.forecast, report.is_stale],
    }
    return document, {name: _as_held(array) for name, array in arrays.items() if array.size}


def restored_ensemble(document: Document, arrays: dict[str, Array]) -> BayesEnsemble:
    """Make an ensemble of what a file says."""
    require(document.keys() == FIELDS, f"its document holds {sorted(document)}, and not {sorted(FIELDS)}")
    require(document["frame"] in (None, "pandas", "polars", "pyarrow"), "its frame is of an unknown library")
    classes = CODEC.decode(document["classes"], "a class")
    require(isinstance(classes, Variable) and not classes.is_coded and classes.n_states > 0, "it has no classes")
    reading = _reading(document)
    found = _as_learned(arrays, document["numbers"])
    stack = _stack(document["families"], found, reading, classes.n_states)
    parameters = document["parameters"]
    known = BayesEnsemble().get_params(deep=False)
    require(
        isinstance(parameters, dict) and parameters.keys() <= known.keys(), "its parameters are none of an ensemble"
    )
    model = BayesEnsemble(**{name: CODEC.decode(value, f"parameter {name!r}") for name, value in parameters.items()})
    model._require_parameters()
    n_features = document["n_features"]
    require(
        type(n_features) is int and n_features == len(reading.plan.sources),
        f"it was fitted on {shortened(n_features)} columns, and not on {len(reading.plan.sources)}",
    )
    model.n_features_in_ = n_features
    names = read_names(document["feature_names"], n_features)
    if names is not None:
        require_source_names(names, reading.plan)
        model.feature_names_in_ = np.array(names, dtype=object)
    model._library = document["frame"]
    model._reading = reading
    model._classes = classes
    model.classes_ = classes.labels
    model.report_ = _report(document, found, stack)
    return model._adopt(stack)


def _reading(document: Document) -> Reading:
    plan = read_plan(document["columns"], FAMILIES)
    wrong = [column.name for column in plan if column.part == "days" and column.family != NUMBER]
    require(not wrong, f"its dates {shortened(wrong)} are no numbers")
    schema = read_states(document["states"])
    names = [column.name for column in plan.of_families(*OF_STATES)]
    require(list(schema.names) == names, f"it has states of {shortened(schema.names)}, and not of {shortened(names)}")
    return Reading(plan, schema)


def _stack(names: Any, arrays: dict[str, Array], reading: Reading, n_classes: int) -> Stack:
    require(
        isinstance(names, list) and all(isinstance(name, str) and name in KINDS for name in names),
        f"its families {shortened(names)} are none of {[*KINDS]}",
    )
    own: dict[str, dict[str, Array]] = {str(place): {} for place in range(len(names))}
    for name, array in arrays.items():
        place, dot, rest = name.partition(".")
        if dot:
            require(place in own, f"its array {shortened(name)} is of no family")
            own[place][rest] = array
    require_arrays([name for name in arrays if "." not in name], OF_STACK)
    count = _numbers(arrays["class_count"], (n_classes,), "class counts")
    require(bool((count >= 0).all()), "its class counts are below 0")
    temperature, share, power = (
        _numbers(arrays[name], (len(names),), name) for name in ("temperature", "share", "power")
    )
    require(bool((temperature >= 1 / LARGEST_POWER).all()), "a temperature is not over 0, or of no use")
    require(bool((share >= 0).all() and (power >= 0).all()), "a weight of its pool is below 0")
    require(bool((power <= LARGEST_POWER).all()), f"a power of its pool is over {LARGEST_POWER:g}")
    require(not names or abs(float(share.sum()) - 1) < 1e-6, "the shares of its pool do not sum to 1")
    require(bool(names) or n_classes == 1, "it has no family")
    committees = tuple(
        KINDS[name].from_arrays(own[str(place)], len(reading.numbers), reading.schema.n_states, n_classes)
        for place, name in enumerate(names)
    )
    return Stack(committees, temperature, Pool(share, power), count)


def _report(document: Document, arrays: dict[str, Array], stack: Stack) -> EnsembleReport:
    written, names = document["report"], document["families"]
    require(isinstance(written, list) and len(written) == 5, "its report is not complete")
    preset, seed, seconds, forecast, is_stale = written
    require(
        preset in PRESETS
        and type(seed) is int
        and 0 <= seed < 2**64
        and is_number(seconds)
        and (forecast is None or is_number(forecast))
        and type(is_stale) is bool,
        f"its report says {shortened(written)}",
    )
    figures = arrays["figures"]
    of_families = arrays["of_families"]
    require(figures.shape == (12,) and figures.dtype == np.float64, "its report has other figures")
    require(of_families.shape == (len(names), 5) and of_families.dtype == np.float64, "its report is of other families")
    require(bool(np.isfinite(of_families[:, [0, 2, 3, 4]]).all()), "its report has figures that are none")
    families = tuple(
        CommitteeReport(
            name,
            int(members),
            float(stack.pool.share[g]),
            float(stack.pool.power[g]),
            float(stack.temperature[g]),
            float(log_loss),
            int(n_judged),
            float(own_seconds),
            int(n_bytes),
        )
        for g, (name, (members, log_loss, n_judged, own_seconds, n_bytes)) in enumerate(
            zip(names, of_families.tolist(), strict=True)
        )
    )
    error, log_loss, ece = (Measured(*figures[i : i + 3].tolist()) for i in (0, 3, 6))
    n_rows, n_judged, n_alone = figures[9:].tolist()
    require(0 <= n_alone < 2**53 and n_alone == int(n_alone), "its report has rows that are no number")
    return EnsembleReport(
        preset, error, log_loss, ece, n_rows, n_judged, families, seed, float(seconds), forecast, is_stale, int(n_alone)
    )


def _numbers(array: Array, shape: tuple[int, ...], what: str) -> Array:
    require(array.shape == shape and array.dtype == np.float64, f"its {what} are no {shape} numbers")
    require(bool(np.isfinite(array).all()), f"its {what} are not finite")
    return array


def _as_held(array: Array) -> Array:
    """Give an array the kind of numbers that a file holds."""
    require(array.dtype.name in NUMBERS, f"arrays of {array.dtype.name} cannot be held by a model file")
    require(array.ndim > 0, "a number that is no array cannot be held by a model file")
    return array.view(np.int64) if array.dtype.name == "uint64" else array.astype(NUMBERS[array.dtype.name])


def _as_learned(arrays: dict[str, Array], written: Any) -> dict[str, Array]:
    """Give arrays the numbers they had, and empty ones their shape."""
    require(isinstance(written, dict) and arrays.keys() <= written.keys(), "it does not say what its arrays hold")
    found = {}
    for name, entry in written.items():
        require(
            isinstance(entry, list) and bool(entry) and entry[0] in NUMBERS,
            f"its array {shortened(name)} holds nothing",
        )
        kind, *shape = entry
        if name not in arrays:
            is_empty = bool(shape) and all(type(n) is int and 0 <= n < 2**31 for n in shape) and 0 in shape
            require(is_empty and len(shape) <= 4, f"its array {shortened(name)} is not there")
            found[name] = np.empty(shape, dtype=kind)
            continue
        array = arrays[name]
        require(not shape and array.dtype == NUMBERS[kind], f"its array {shortened(name)} holds other numbers")
        if kind == "uint64":
            found[name] = array.view(np.uint64)
            continue
        with np.errstate(over="ignore", invalid="ignore"):
            found[name] = array.astype(kind)
            same = np.array_equal(found[name].astype(array.dtype), array, equal_nan=array.dtype.kind == "f")
        require(same, f"its array {shortened(name)} holds numbers that are no {kind}")
    return found
