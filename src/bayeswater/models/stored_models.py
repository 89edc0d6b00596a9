"""Models whose document and arrays are their own: networks, network classifiers and ensembles.

**A network**: all tables stand one after the other in one array of float64, all rules of deterministic variables in one
of int64. **A network classifier**: how it reads a table, its graph, and its tables one after the other; the network is
made of them anew, as a fit makes it. **An ensemble**: how it reads a table, its committees, pool and report. Every
committee gives and reads its own arrays, and refuses those of none that has learned; the document says what numbers an
array had, and its shape where it is empty.

What a file says is believed after it has gone through the checks that any network, or table, goes through.
"""

from collections.abc import Mapping
from math import prod
from reprlib import repr as shortened
from typing import Any

import numpy as np

from bayeswater.data.reading.column_plan import IGNORED, NUMBER
from bayeswater.data.variable import Variable
from bayeswater.decision.calibration_choice import CalibrationReport
from bayeswater.decision.pools import Pool
from bayeswater.decision.scorecard import Measured
from bayeswater.families.registry import OF_STATES
from bayeswater.files.model_file import Document, require
from bayeswater.inference.exact.factors import Factors
from bayeswater.learning.members.presets import KINDS, PRESETS
from bayeswater.learning.members.stack import Stack
from bayeswater.limits import require_table_bytes
from bayeswater.models.ensemble.bayes_ensemble import BayesEnsemble
from bayeswater.models.ensemble.reading import FAMILIES, EnsembleReading
from bayeswater.models.ensemble.reading import OF_STATES as ENSEMBLE_STATES
from bayeswater.models.ensemble.report import CommitteeReport, EnsembleReport
from bayeswater.models.network.bayesian_network import BayesianNetwork
from bayeswater.models.network.network_files import Remarks
from bayeswater.models.stored.codec import NUMBERS, as_held, as_was
from bayeswater.models.stored.documents import (
    TABLE_FIELDS,
    TableDocument,
    described_table,
    read_states,
    require_arrays,
    require_fields,
    with_parameters,
    written_states,
)
from bayeswater.models.stored.values import CODEC, require_fitting
from bayeswater.models.structures.network_classifier import SHAPES, NetworkClassifier
from bayeswater.networks.conditionals import Conditional, Deterministic, NoisyOr, Table, require_room, table_shape
from bayeswater.networks.network import Network
from bayeswater.structure.dag import Dag
from bayeswater.typing import Array, is_number
from bayeswater.version import __version__

NETWORK = "BayesianNetwork"
NETWORK_FIELDS = frozenset({"library", "kind", "variables", "parents", "conditionals", "title", "remarks"})
"""What the document of a network says."""

NO_NUMBERS = {"tables": np.empty(0), "rules": np.empty(0, dtype=np.int64)}


def described_network(model: BayesianNetwork) -> tuple[Document, dict[str, Array]]:
    """Give the document and the arrays of a network."""
    core = model.core
    parts: dict[str, list[Array]] = {name: [none] for name, none in NO_NUMBERS.items()}
    conditionals: list[Any] = []
    for variable, own in zip(core.variables, core.conditionals, strict=True):
        if isinstance(own, Table):
            conditionals.append("table")
            parts["tables"].append(own.values.ravel())
        elif isinstance(own, Deterministic):
            conditionals.append("rule")
            parts["rules"].append(np.asarray(own.rule).ravel())
        else:
            assert isinstance(own, NoisyOr)
            causes = {name: dict(s) if isinstance(s, Mapping) else s for name, s in own.causes.items()}
            written = (causes, own.leak, own.present)
            conditionals.append(CODEC.encode(written, f"the noisy-OR of {variable.name!r}"))
    document = {
        "library": f"bayeswater {__version__}",
        "kind": NETWORK,
        "variables": written_states(core.variables),
        "parents": [list(own) for own in core.parents],
        "conditionals": conditionals,
        "title": model.title,
        "remarks": {name: [list(pair) for pair in pairs] for name, pairs in model.remarks.items()},
    }
    arrays = {name: np.concatenate(found) for name, found in parts.items()}
    return document, {name: numbers for name, numbers in arrays.items() if numbers.size}


def restored_network(document: Document, arrays: dict[str, Array]) -> BayesianNetwork:
    """Make the network of a document and its arrays."""
    require_fields(document, NETWORK_FIELDS)
    arrays = NO_NUMBERS | arrays
    require_arrays(arrays, NO_NUMBERS)
    for name, none in NO_NUMBERS.items():
        found = arrays[name]
        require(found.ndim == 1 and found.dtype == none.dtype, f"its {name} are {found.dtype} of shape {found.shape}")
    variables = tuple(read_states(document["variables"]))
    dag = Dag(tuple(v.name for v in variables), read_parents(document["parents"]))
    written = document["conditionals"]
    require(isinstance(written, list) and len(written) == len(variables), f"its tables are {shortened(written)}")
    taken = dict.fromkeys(arrays, 0)
    conditionals = []
    for own, variable, parents in zip(written, variables, dag.parents, strict=True):
        conditionals.append(_read(own, variable, [variables[parent] for parent in parents], arrays, taken))
    all_taken = all(taken[name] == len(array) for name, array in arrays.items())
    require(all_taken, "it has more numbers than its tables need")
    title, remarks = document["title"], document["remarks"]
    require(isinstance(title, str), f"its title is {shortened(title)}")
    return BayesianNetwork._of(Network.of(variables, dag, conditionals), title, _read_remarks(remarks))


def read_parents(written: Any) -> tuple[tuple[int, ...], ...]:
    """Read the parents of every variable, by their numbers."""
    are_lists = isinstance(written, list) and all(isinstance(own, list) for own in written)
    require(are_lists and all(type(parent) is int for own in written for parent in own), "its parents are no numbers")
    return tuple(tuple(own) for own in written)


def _read(
    written: Any, variable: Variable, parents: list[Variable], arrays: dict[str, Array], taken: dict[str, int]
) -> Conditional:
    require_room(variable, parents)
    shape = table_shape(variable, parents)
    if written == "table":
        return Table(_take("tables", shape, arrays, taken))
    if written == "rule":
        return Deterministic(_take("rules", shape[:-1], arrays, taken))
    where = f"the noisy-OR of {variable.name!r}"
    parts = CODEC.decode(written, where)
    is_rule = isinstance(parts, tuple) and len(parts) == 3 and isinstance(parts[0], dict)
    require(is_rule, f"{where} is {shortened(parts)}")
    return NoisyOr(*parts)


def _take(name: str, shape: tuple[int, ...], arrays: dict[str, Array], taken: dict[str, int]) -> Array:
    """Take the next numbers from an array."""
    start, stop = taken[name], taken[name] + prod(shape)
    require(stop <= len(arrays[name]), f"its {name} end before those of all variables")
    taken[name] = stop
    return arrays[name][start:stop].reshape(shape)


def _read_remarks(written: Any) -> Remarks:
    is_dict = isinstance(written, dict) and all(isinstance(pairs, list) for pairs in written.values())
    require(is_dict, f"its remarks are {shortened(written)}")
    for pair in (pair for pairs in written.values() for pair in pairs):
        is_pair = isinstance(pair, list) and len(pair) == 2 and all(isinstance(text, str) for text in pair)
        require(is_pair, f"a remark of it is {shortened(pair)}")
    return {name: tuple((a, b) for a, b in pairs) for name, pairs in written.items()}


CLASSIFIER = "NetworkClassifier"
CLASSIFIER_FIELDS = TABLE_FIELDS | {"parents", "structure", "log_loss"}
"""What the document of such a model says; with a calibration, that too."""


def described_classifier(model: NetworkClassifier) -> tuple[Document, dict[str, Array]]:
    """Give the document and the arrays of a classifier."""
    document = {
        **described_table(model, CLASSIFIER, model._classes, model.columns_, model._schema),
        "parents": [list(own) for own in model._factors.parents],
        "structure": model.structure_,
        "log_loss": {shape: float(loss) for shape, loss in vars(model).get("cv_log_loss_", {}).items()},
    }
    if "calibration_" in vars(model):
        document["calibration"] = CODEC.encode(model.calibration_, "the calibration")
    arrays = {"tables": np.concatenate([table.ravel() for table in model._factors.tables])}
    if model._counted is not None:  # a file of an earlier version has none
        counts = [count.ravel().astype(np.float64) for count in model._counted.counts]
        arrays["counts"] = np.concatenate(counts)
    return document, arrays


def restored_classifier(document: Document, arrays: dict[str, Array]) -> NetworkClassifier:
    """Make a classifier of what a file says."""
    require_fields(document, CLASSIFIER_FIELDS, {"calibration"})
    table = TableDocument.of(document, (*OF_STATES, IGNORED), OF_STATES)
    factors, counts = _factors(document["parents"], arrays, (table.classes.n_states, *table.schema.n_states.tolist()))
    model = with_parameters(NetworkClassifier, document["parameters"])
    model._require_parameters()
    structure, losses = document["structure"], document["log_loss"]
    require(structure in SHAPES, f"its structure is {shortened(structure)}, which is none of {[*SHAPES]}")
    given_the_class = structure == "learned" or (
        not factors.parents[0] and all(0 in own for own in factors.parents[1:])
    )
    require(given_the_class, f"the class is not parent of every column, as it is where the structure is {structure!r}")
    are_losses = (
        isinstance(losses, dict) and losses.keys() in (set(), {*SHAPES}) and all(map(is_number, losses.values()))
    )
    require(are_losses, f"its log-losses are {shortened(losses)}")
    table.note_columns(model)
    model._adopt(table.plan, table.schema, table.classes, factors, structure, losses, counts)
    as_read = all(map(np.array_equal, model.network_.core.tables, factors.tables))
    require(as_read, "the rows of its tables do not sum to one")
    if "calibration" in document:
        report = CODEC.decode(document["calibration"], "the calibration")
        require(isinstance(report, CalibrationReport), f"its calibration is {shortened(report)}")
        require_fitting(report, table.classes.n_states)
        model.calibration_ = report
    return model


def _factors(
    written: Any, arrays: dict[str, Array], cards: tuple[int, ...]
) -> tuple[Factors, tuple[Array, ...] | None]:
    """Read the graph, and the tables as far as it needs them; beside them the counts, which old files do not have."""
    require_arrays(arrays, ["tables", *(["counts"] if "counts" in arrays else [])])
    flat = arrays["tables"]
    for name, found in arrays.items():
        require(found.ndim == 1 and found.dtype == np.float64, f"its {name} are {found.dtype} of shape {found.shape}")
    parents = read_parents(written)
    require(len(parents) == len(cards), f"it has {len(cards)} variables, and parents of {len(parents)}")
    Dag(tuple(map(str, range(len(cards)))), parents)  # refuses what is no graph without cycles
    shapes = [(*(cards[parent] for parent in own), card) for own, card in zip(parents, cards, strict=True)]
    sizes = [prod(shape) for shape in shapes]
    require_table_bytes(8 * sum(sizes), "the tables of a model file", "make the model with fewer parents")
    require(sum(sizes) == len(flat), f"its tables have {len(flat)} numbers, and not {sum(sizes)}")
    require(all(len(found) == len(flat) for found in arrays.values()), "its counts are not those of its tables")

    def apart(numbers: Array) -> tuple[Array, ...]:
        parts = np.split(numbers, np.cumsum(sizes)[:-1])
        return tuple(part.reshape(shape) for part, shape in zip(parts, shapes, strict=True))

    factors = Factors(cards, parents, apart(flat))
    if "counts" not in arrays:
        return factors, None
    counts = apart(arrays["counts"])
    are_counts = all(bool((count >= 0).all() and np.isfinite(count).all()) for count in counts)
    require(are_counts, "its counts are not all numbers from 0 on")
    return factors, counts


ENSEMBLE = "BayesEnsemble"
LARGEST_POWER = 1e300
"""Logarithms of probabilities times a power, or divided by a temperature, are numbers up to it."""

ENSEMBLE_FIELDS = TABLE_FIELDS | {"families", "numbers", "report"}
"""What the document of an ensemble says."""

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
    document = {
        **described_table(model, ENSEMBLE, model._classes, reading.plan, reading.schema),
        "families": [family.name for family in report.families],
        "numbers": {name: [array.dtype.name, *([] if array.size else array.shape)] for name, array in arrays.items()},
        "report": [report.preset, report.seed, report.seconds, report.forecast, report.is_stale],
    }
    return document, {name: as_held(array) for name, array in arrays.items() if array.size}


def restored_ensemble(document: Document, arrays: dict[str, Array]) -> BayesEnsemble:
    """Make an ensemble of what a file says."""
    require_fields(document, ENSEMBLE_FIELDS)
    table = TableDocument.of(document, FAMILIES, ENSEMBLE_STATES)
    wrong = [column.name for column in table.plan if column.part == "days" and column.family != NUMBER]
    require(not wrong, f"its dates {shortened(wrong)} are no numbers")
    reading = EnsembleReading(table.plan, table.schema)
    found = _as_learned(arrays, document["numbers"])
    stack = _stack(document["families"], found, reading, table.classes.n_states)
    model = with_parameters(BayesEnsemble, document["parameters"])
    model._require_parameters()
    table.note_columns(model)
    model._reading = reading
    model._classes = table.classes
    model.classes_ = table.classes.labels
    model.report_ = _report(document, found, stack)
    return model._adopt(stack)


def _stack(names: Any, arrays: dict[str, Array], reading: EnsembleReading, n_classes: int) -> Stack:
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
        require(not shape and arrays[name].dtype == NUMBERS[kind], f"its array {shortened(name)} holds other numbers")
        found[name] = as_was(arrays[name], np.dtype(kind), name)
    return found
