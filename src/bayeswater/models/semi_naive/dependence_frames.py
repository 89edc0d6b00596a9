"""Tables of columns with several parents each: as labelled frames, and as a Bayesian network."""

from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeswater.inference.dependence import Dependence
from bayeswater.models.class_name import class_name
from bayeswater.models.network.as_network import NetworkTables
from bayeswater.models.semi_naive.family_frames import column_names, family_frame, state_labels

if TYPE_CHECKING:
    from bayeswater.models.semi_naive.discrete_classifier import DiscreteClassifier


def dependence_tables(model: "DiscreteClassifier") -> dict[str, Any]:
    """Give the class prior, and the table of each column that is used, given its parents."""
    model._require_fitted()
    joint: Dependence = model._joint()
    names = column_names(model)
    tables = {class_name(names): model._class_table()}
    for j in sorted(joint.used):
        tables[names[j]] = family_frame(model, j, joint.parents[j], np.exp(joint.log_family(j)))
    return tables


def dependence_network(model: "DiscreteClassifier") -> NetworkTables:
    """Give the columns that are used, with their parents, as a Bayesian network."""
    model._require_fitted()
    joint: Dependence = model._joint()
    labels, names = state_labels(model), column_names(model)
    used = sorted(joint.used)
    place = {j: at for at, j in enumerate(used, start=1)}
    shares = [np.moveaxis(np.exp(joint.log_family(j)), -1, 0) for j in used]  # (n_classes, v_1, ..., v_l, v_j)
    return NetworkTables(
        (class_name(names), *(names[j] for j in used)),
        (tuple(model.classes_.tolist()), *(tuple(labels[j]) for j in used)),
        ((), *((0, *(place[p] for p in joint.parents[j])) for j in used)),
        (np.exp(joint.log_prior), *shares),
    )


def dependence_parameters(joint: Dependence) -> int:
    """Count the free parameters of the columns that are used."""
    k, v = joint.estimate.n_classes, joint.n_states.tolist()
    return k - 1 + k * sum(prod(v[p] for p in joint.parents[j]) * max(v[j] - 1, 0) for j in joint.used)
