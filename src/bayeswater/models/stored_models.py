"""Classifiers whose document and arrays are their own: network classifiers, ensembles, and wrappers around classifiers.

**A network classifier**: how it reads a table, its graph, and its tables one after the other; the network is
made of them anew, as a fit makes it. **An ensemble**: how it reads a table, its committees, pool and report. Every
committee gives and reads its own arrays, and refuses those of none that has learned; the document says what numbers an
array had, and its shape where it is empty. **`Calibrated` and `BayesDecision`** hold the document of their classifier,
``inside``, and its arrays; costs are written by their labels, where they are numbers or name columns. What a user gave
as `estimator` is the fitted classifier with its fit forgotten.

What a file says is believed after it has gone through the checks that any network, or table, goes through.
"""

from collections.abc import Callable
from dataclasses import replace
from math import prod
from reprlib import repr as shortened
from typing import Any

import numpy as np
from sklearn.base import clone

from bayeswater.data.reading.column_plan import IGNORED, NUMBER
from bayeswater.data.variable import Schema
from bayeswater.decision.bayes_decision import BayesDecision
from bayeswater.decision.calibrated import Calibrated, require_method
from bayeswater.decision.calibration_maps import MAPS
from bayeswater.decision.cost_table import CostTable
from bayeswater.decision.cross_fitting import require_cv
from bayeswater.decision.intervals import Measured
from bayeswater.decision.loss import Loss, loss_of
from bayeswater.decision.pools import Pool
from bayeswater.errors import ModelFileError
from bayeswater.families.choosing_text import COUNTED
from bayeswater.families.registry import OF_STATES
from bayeswater.files.model_file import Document, require
from bayeswater.inference.exact.factors import Factors
from bayeswater.learning.members.presets import KINDS, PRESETS
from bayeswater.learning.members.report import CommitteeReport, EnsembleReport
from bayeswater.learning.members.stack import Stack
from bayeswater.learning.members.word_member import WordMember
from bayeswater.limits import require_table_bytes
from bayeswater.models.ensemble.bayes_ensemble import BayesEnsemble, EnsembleState, state_of, with_state
from bayeswater.models.ensemble.reading import FAMILIES, EnsembleReading
from bayeswater.models.ensemble.reading import OF_STATES as ENSEMBLE_STATES
from bayeswater.models.settings import frames_of, with_columns
from bayeswater.models.stored.codec import NUMBERS, as_held, as_was
from bayeswater.models.stored.documents import (
    TABLE_FIELDS,
    Restoring,
    TableDocument,
    described_table,
    read_parents,
    require_arrays,
    require_fields,
    with_parameters,
)
from bayeswater.models.stored.values import CODEC, read_calibration, read_report
from bayeswater.models.structures.class_networks import SHAPES
from bayeswater.models.structures.network_classifier import NetworkClassifier, learned_by, with_learned
from bayeswater.structure.dag import Dag
from bayeswater.typing import Array, is_number
from bayeswater.version import __version__

CLASSIFIER = "NetworkClassifier"
CLASSIFIER_FIELDS = TABLE_FIELDS | {"parents", "structure", "log_loss"}
"""What the document of such a model says; with a calibration, that too."""


def described_classifier(model: NetworkClassifier) -> tuple[Document, dict[str, Array]]:
    """Give the document and the arrays of a classifier."""
    schema, classes, factors, counted = learned_by(model)
    document = {
        **described_table(model, CLASSIFIER, frames_of(model), classes, model.columns_, schema),
        "parents": [list(own) for own in factors.parents],
        "structure": model.structure_,
        "log_loss": {shape: float(loss) for shape, loss in vars(model).get("cv_log_loss_", {}).items()},
    }
    if "calibration_" in vars(model):
        document["calibration"] = CODEC.encode(model.calibration_, "the calibration")
    arrays = {"tables": np.concatenate([table.ravel() for table in factors.tables])}
    if counted is not None:  # a file of an earlier version has none
        arrays["counts"] = np.concatenate([count.ravel().astype(np.float64) for count in counted.counts])
    return document, arrays


def restored_classifier(document: Document, arrays: dict[str, Array]) -> NetworkClassifier:
    """Make a classifier of what a file says."""
    require_fields(document, CLASSIFIER_FIELDS, {"calibration"})
    table = TableDocument.of(document, (*OF_STATES, IGNORED), OF_STATES)
    factors, counts = _factors(document["parents"], arrays, (table.classes.n_states, *table.schema.n_states.tolist()))
    model = with_parameters(NetworkClassifier, document["parameters"])
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
    with_columns(model, *table.columns)
    with_learned(model, table.plan, table.schema, table.classes, factors, structure, losses, counts)
    as_read = all(map(np.array_equal, model.network_.core.tables, factors.tables))
    require(as_read, "the rows of its tables do not sum to one")
    if "calibration" in document:
        report = read_calibration(document["calibration"], table.classes.n_states)
        model.calibration_ = report.in_library(frames_of(model))
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

EARLIER_MULTIPLIED = 0.5
"""What a pool had of its log-linear one before files said so."""


def described_ensemble(model: BayesEnsemble) -> tuple[Document, dict[str, Array]]:
    """Give the document and the arrays of an ensemble."""
    reading, classes, stack, report = state_of(model)
    arrays = {
        "class_count": stack.class_count,
        "temperature": stack.temperature,
        "share": stack.pool.share,
        "power": stack.pool.power,
        "multiplied": np.array([stack.pool.multiplied]),
        "figures": np.array(
            [*report.error, *report.log_loss, *report.ece, report.n_rows, report.n_validated, report.n_alone]
        ),
        "of_families": np.array(
            [[f.n_members, f.log_loss, f.n_validated, f.seconds, f.n_bytes] for f in report.families], dtype=np.float64
        ).reshape(len(report.families), 5),
    }
    for place, committee in enumerate(stack.committees):
        arrays |= {f"{place}.{name}": np.asarray(array) for name, array in committee.to_arrays().items()}
    document = {
        **described_table(model, ENSEMBLE, frames_of(model), classes, reading.plan, _domains(reading)),
        "families": [family.name for family in report.families],
        "numbers": {name: [array.dtype.name, *([] if array.size else array.shape)] for name, array in arrays.items()},
        "report": [report.preset, report.seed, report.seconds, report.forecast, report.is_stale],
        **({"left_out": [*report.left_out]} if report.left_out else {}),
        **({"multiplied": stack.multiplied} if stack.multiplied != 1 else {}),
    }
    return document, {name: as_held(array) for name, array in arrays.items() if array.size}


def restored_ensemble(document: Document, arrays: dict[str, Array]) -> BayesEnsemble:
    """Make an ensemble of what a file says."""
    require_fields(document, ENSEMBLE_FIELDS, optional=("left_out", "multiplied"))
    table = TableDocument.of(document, FAMILIES, (*ENSEMBLE_STATES, COUNTED))
    dates = (column for column in table.plan if column.part in ("days", "time"))
    wrong = [column.name for column in dates if column.family not in (NUMBER, IGNORED)]
    require(not wrong, f"its dates {shortened(wrong)} are no numbers")
    words = {column.name for column in table.plan.of_families(COUNTED)}
    reading = EnsembleReading(
        table.plan,
        Schema(tuple(variable for variable in table.schema if variable.name not in words)),
        tuple(variable for variable in table.schema if variable.name in words),
    )
    found = _as_learned(arrays, document["numbers"])
    multiplied = document.get("multiplied", 1.0)
    require(is_number(multiplied) and 0 <= multiplied <= 1, f"words are multiplied by a power of {multiplied!r:.40}")
    stack = replace(_stack(document["families"], found, reading, table.classes.n_states), multiplied=float(multiplied))
    model = with_parameters(BayesEnsemble, document["parameters"])
    with_columns(model, *table.columns)
    return with_state(model, EnsembleState(reading, table.classes, stack, _report(document, found, stack)))


def _domains(reading: EnsembleReading) -> Schema:
    """Give the domains of categories and of texts, in the order of the plan."""
    own = {variable.name: variable for variable in (*reading.schema, *reading.vocabularies)}
    return Schema(tuple(own[column.name] for column in reading.plan.used if column.name in own))


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
    require_arrays([name for name in arrays if "." not in name and name != "multiplied"], OF_STACK)
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
    words = [committee.n_words for committee in committees if isinstance(committee, WordMember)]
    require(all(n == reading.n_words for n in words), "its words are not those of the texts it reads")
    (multiplied,) = _numbers(arrays.get("multiplied", np.array([EARLIER_MULTIPLIED])), (1,), "its pool")
    require(0 <= multiplied <= 1, "its pool is no mean")
    return Stack(committees, temperature, Pool(share, power, float(multiplied)), count)


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
    left_out = document.get("left_out", [])
    are_names = isinstance(left_out, list) and all(isinstance(name, str) and name in KINDS for name in left_out)
    require(are_names, f"its families that are left out are {shortened(left_out)}")
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
            int(n_validated),
            float(own_seconds),
            int(n_bytes),
        )
        for g, (name, (members, log_loss, n_validated, own_seconds, n_bytes)) in enumerate(
            zip(names, of_families.tolist(), strict=True)
        )
    )
    error, log_loss, ece = (Measured(*figures[i : i + 3].tolist()) for i in (0, 3, 6))
    n_rows, n_validated, n_alone = figures[9:].tolist()
    require(0 <= n_alone < 2**53 and n_alone == int(n_alone), "its report has rows that are no number")
    return EnsembleReport(
        *(preset, error, log_loss, ece, n_rows, n_validated, families, seed),
        *(float(seconds), forecast, is_stale, int(n_alone), tuple(left_out)),
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


# ---------------------------------------------------------------------- wrappers

CALIBRATED, DECISION = Calibrated.__name__, BayesDecision.__name__
HEAD = frozenset({"library", "kind", "inside", "parameters"})
WRAPPER_FIELDS = {CALIBRATED: HEAD | {"calibration"}, DECISION: HEAD | {"class_prior", "loss"}}
"""What the document of each says."""

NOT_INSIDE = {CALIBRATED: (CALIBRATED, DECISION), DECISION: (DECISION,)}
"""What each is not around: no file makes a program go down without end."""

Describing = Callable[[Any], tuple[Document, dict[str, Array]]]


def described_wrapper(model: Any, described: Describing) -> tuple[Document, dict[str, Array]]:
    """Give the document and the arrays of a wrapper; `described` gives those of what is inside."""
    inside, arrays = described(model.estimator_)
    kind = type(model).__name__
    document: Document = {"library": f"bayeswater {__version__}", "kind": kind, "inside": inside}
    if isinstance(model, Calibrated):
        given = {"method": model.method, "cv": model.cv}
        document["calibration"] = CODEC.encode(model.calibration_, "the calibration")
    else:
        given = {"calibrate": model.calibrate, "prior": model.prior, "has_loss": model.loss is not None}
        document["class_prior"] = CODEC.encode(np.asarray(model.class_prior_), "the class frequencies")
        document["loss"] = _written_costs(model.loss_.table)
    document["parameters"] = {name: CODEC.encode(value, f"parameter {name!r}") for name, value in given.items()}
    return document, arrays


def restored_wrapper(document: Document, arrays: dict[str, Array], restored: Restoring) -> Any:
    """Make a wrapper of what a file says; `restored` makes what is inside."""
    kind = str(document["kind"])
    require_fields(document, WRAPPER_FIELDS[kind])
    written = document["parameters"]
    names = {"method", "cv"} if kind == CALIBRATED else {"calibrate", "prior", "has_loss"}
    require(isinstance(written, dict) and written.keys() == names, f"its parameters are not {sorted(names)}")
    given = {name: CODEC.decode(value, f"parameter {name!r}") for name, value in written.items()}
    require(isinstance(document["inside"], dict), "it holds no classifier")
    within = document["inside"].get("kind")
    require(within not in NOT_INSIDE[kind], f"a {kind} around a {within} is nothing that is saved")
    inside = restored(document["inside"], arrays)
    require(hasattr(inside, "classes_"), f"it is around a {type(inside).__name__}, which is no classifier")
    return (_calibrated if kind == CALIBRATED else _decision)(document, given, inside)


def _calibrated(document: Document, given: dict[str, Any], inside: Any) -> Calibrated:
    model = Calibrated(clone(inside), **given)
    require_method(model.method)
    require_cv(model.cv)
    report = read_report(document["calibration"], len(inside.classes_))
    known = report.method in MAPS and isinstance(report.map, MAPS[report.method])
    require(known, f"its calibration is {shortened(report.map)}")
    model.estimator_, model.classes_ = inside, np.asarray(inside.classes_)
    model.calibration_ = report.in_library(vars(inside).get("_library"))
    return model


def _decision(document: Document, given: dict[str, Any], inside: Any) -> BayesDecision:
    prior = CODEC.decode(document["class_prior"], "the class frequencies")
    are_frequencies = (
        isinstance(prior, np.ndarray)
        and prior.shape == (len(inside.classes_),)
        and prior.dtype == np.float64
        and bool((prior >= 0).all())
        and bool(np.isclose(prior.sum(), 1.0))
    )
    require(are_frequencies, f"its class frequencies are {shortened(prior)}")
    loss = _read_costs(document["loss"]).for_classes(np.asarray(inside.classes_).tolist())
    estimator = clone(inside.estimator if isinstance(inside, Calibrated) else inside)
    has_loss = given.pop("has_loss")
    require(isinstance(has_loss, bool), "it does not say whether a loss was given")
    model = BayesDecision(estimator, loss=loss if has_loss else None, **given)
    model.estimator_, model.classes_, model.class_prior_, model.loss_ = inside, inside.classes_, prior, loss
    for name in ("n_features_in_", "feature_names_in_"):
        if hasattr(inside, name):
            setattr(model, name, getattr(inside, name))
    return model


def _written_costs(table: CostTable) -> list[Any]:
    by_row = [[i, j, name] for (i, j), name in table.by_row.items()]
    if not all(isinstance(name, str) for _, _, name in by_row):
        raise ModelFileError(
            "some costs are a function or numbers of rows, which a model file cannot hold; name a column of the rows"
        )
    return [CODEC.encode(part, "a cost") for part in (table.actions, table.classes, table.cost, by_row)]


def _read_costs(written: Any) -> Loss:
    require(isinstance(written, list) and len(written) == 4, "its loss is no table of costs")
    actions, classes, cost, by_row = (CODEC.decode(part, "a cost") for part in written)
    are_labels = isinstance(actions, tuple) and isinstance(classes, tuple)
    is_table = isinstance(cost, np.ndarray) and cost.dtype == np.float64 and cost.ndim == 2
    require(are_labels and is_table and isinstance(by_row, list), "its loss is no table of costs")
    by_name: dict[tuple[int, int], Any] = {}
    for entry in by_row:
        match entry:
            case [int(i), int(j), str(name)] if 0 <= i < len(actions) and 0 <= j < len(classes):
                by_name[i, j] = name
            case _:
                raise ModelFileError(f"a cost of its loss is {shortened(entry)}")
    return loss_of(CostTable(actions, classes, cost, by_name))
