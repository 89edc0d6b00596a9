"""A `NetworkClassifier` in the document and the arrays of a model file: how it reads a table, its graph and its tables.

Tables stand one after the other in one array. The network is made of them anew, as a fit makes it, and goes through the
checks that any network goes through.
"""

from math import prod
from reprlib import repr as shortened
from typing import Any

import numpy as np

from bayeswater.data.reading.column_plan import IGNORED
from bayeswater.data.variable import Variable
from bayeswater.decision.calibration_choice import CalibrationReport
from bayeswater.files.model_file import Document, require
from bayeswater.inference.exact.factors import Factors
from bayeswater.limits import require_table_bytes
from bayeswater.models.semi_naive.discrete_planning import OF_STATES
from bayeswater.models.stored.calibration import require_fitting
from bayeswater.models.stored.domains import read_names, read_states, require_arrays, written_states
from bayeswater.models.stored.groups import read_plan, require_source_names
from bayeswater.models.stored.network import read_parents
from bayeswater.models.stored.parameters import described_parameters, with_parameters
from bayeswater.models.stored.values import CODEC
from bayeswater.models.structures.network_classifier import SHAPES, NetworkClassifier
from bayeswater.structure.dag import Dag
from bayeswater.typing import Array, is_number
from bayeswater.version import __version__

KIND = "NetworkClassifier"
FIELDS = frozenset(
    {
        *("library", "kind", "parameters", "classes", "columns", "states", "n_features", "feature_names", "frame"),
        *("parents", "structure", "log_loss"),
    }
)
"""What the document of such a model says; with a calibration, that too."""


def described_classifier(model: NetworkClassifier) -> tuple[Document, dict[str, Array]]:
    """Give the document and the arrays of a classifier."""
    names = getattr(model, "feature_names_in_", None)
    document = {
        "library": f"bayeswater {__version__}",
        "kind": KIND,
        "parameters": described_parameters(model),
        "classes": CODEC.encode(model._classes, "a class"),
        "columns": [CODEC.encode(column, f"the reading of column {column.name!r}") for column in model.columns_],
        "states": written_states(model._schema),
        "n_features": int(model.n_features_in_),
        "feature_names": None if names is None else names.tolist(),
        "frame": model._library,
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
    fields = document.keys() - {"calibration"}
    require(fields == FIELDS, f"its document holds {sorted(document)}, and not {sorted(FIELDS)}")
    require(document["frame"] in (None, "pandas", "polars", "pyarrow"), "its frame is of an unknown library")
    classes = CODEC.decode(document["classes"], "a class")
    require(isinstance(classes, Variable) and not classes.is_coded and classes.n_states > 0, "it has no classes")
    plan = read_plan(document["columns"], (*OF_STATES, IGNORED))
    schema = read_states(document["states"])
    names = [column.name for column in plan.used]
    require(list(schema.names) == names, f"it has states of {shortened(schema.names)}, and not of {shortened(names)}")
    factors, counts = _factors(document["parents"], arrays, (classes.n_states, *schema.n_states.tolist()))
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
    n_features = document["n_features"]
    require(
        type(n_features) is int and n_features == len(plan.sources),
        f"it was fitted on {shortened(n_features)} columns, and not on {len(plan.sources)}",
    )
    model.n_features_in_ = n_features
    feature_names = read_names(document["feature_names"], n_features)
    if feature_names is not None:
        require_source_names(feature_names, plan)
        model.feature_names_in_ = np.array(feature_names, dtype=object)
    model._library = document["frame"]
    model._adopt(plan, schema, classes, factors, structure, losses, counts)
    as_read = all(map(np.array_equal, model.network_.core.tables, factors.tables))
    require(as_read, "the rows of its tables do not sum to one")
    if "calibration" in document:
        report = CODEC.decode(document["calibration"], "the calibration")
        require(isinstance(report, CalibrationReport), f"its calibration is {shortened(report)}")
        require_fitting(report, classes.n_states)
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
