"""`Calibrated` and `BayesDecision` around a classifier of ours, as a document and the arrays of what is inside.

The document of a wrapper holds that of its classifier, ``inside``; the arrays are the classifier's. A calibration is
written as those of other models are; costs by their labels, where they are numbers or name columns. What a user gave as
`estimator` is the fitted classifier with its fit forgotten.
"""

from collections.abc import Callable
from reprlib import repr as shortened
from typing import Any

import numpy as np
from sklearn.base import clone

from bayeswater.decision.bayes_decision import BayesDecision
from bayeswater.decision.calibrated import Calibrated, require_method
from bayeswater.decision.calibration_maps import MAPS
from bayeswater.decision.cost_table import CostTable
from bayeswater.decision.cross_fitting import require_cv
from bayeswater.decision.loss import Loss, loss_of
from bayeswater.errors import ModelFileError
from bayeswater.files.model_file import Document, require
from bayeswater.models.stored.documents import Restoring, require_fields
from bayeswater.models.stored.values import CODEC, read_report
from bayeswater.typing import Array
from bayeswater.version import __version__

CALIBRATED, DECISION = Calibrated.__name__, BayesDecision.__name__
HEAD = frozenset({"library", "kind", "inside", "parameters"})
FIELDS = {CALIBRATED: HEAD | {"calibration"}, DECISION: HEAD | {"class_prior", "loss"}}
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
    require_fields(document, FIELDS[kind])
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
    model.estimator_, model.classes_, model.calibration_ = inside, np.asarray(inside.classes_), report
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
