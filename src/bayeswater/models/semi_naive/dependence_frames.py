"""Tables of columns with several parents each: as labelled frames, and as a Bayesian network."""

from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeswater.data.frames import write_frame
from bayeswater.inference.dependence import Dependence
from bayeswater.models.semi_naive.family_frames import NetworkTables, class_name, state_labels

if TYPE_CHECKING:
    from bayeswater.models.semi_naive.discrete_classifier import DiscreteClassifier


def dependence_tables(model: "DiscreteClassifier") -> dict[str, Any]:
    """Give the class prior, and the table of each column that is used, given its parents."""
    model._require_fitted()
    joint: Dependence = model._joint()
    labels, names = state_labels(model), [column.name for column in model.columns_.used]
    tables = {class_name(model): model._class_table()}
    for j in sorted(joint.used):
        members = [*joint.parents[j], j]
        share = np.exp(joint.log_family(j))
        places = np.indices(share.shape[:-1]).reshape(len(members), -1)
        frame: dict[str, Any] = {
            names[member]: [labels[member][at] for at in own.tolist()]
            for member, own in zip(members, places, strict=True)
        }
        for k, label in enumerate(model.classes_.tolist()):
            given = ", ".join([str(label), *(names[p] for p in joint.parents[j])])
            frame[f"P({names[j]} | {given})"] = share[..., k].ravel()
        tables[names[j]] = write_frame(frame, model._library)
    return tables


def dependence_network(model: "DiscreteClassifier") -> NetworkTables:
    """Give the columns that are used, with their parents, as a Bayesian network."""
    model._require_fitted()
    joint: Dependence = model._joint()
    labels, columns = state_labels(model), model.columns_.used
    used = sorted(joint.used)
    place = {j: at for at, j in enumerate(used, start=1)}
    shares = [np.moveaxis(np.exp(joint.log_family(j)), -1, 0) for j in used]  # (n_classes, v_1, ..., v_l, v_j)
    return NetworkTables(
        (class_name(model), *(columns[j].name for j in used)),
        (tuple(model.classes_.tolist()), *(tuple(labels[j]) for j in used)),
        ((), *((0, *(place[p] for p in joint.parents[j])) for j in used)),
        (np.exp(joint.log_prior), *shares),
    )


def dependence_parameters(joint: Dependence) -> int:
    """Count the free parameters of the columns that are used."""
    k, v = joint.estimate.n_classes, joint.n_states.tolist()
    return k - 1 + k * sum(prod(v[p] for p in joint.parents[j]) * max(v[j] - 1, 0) for j in joint.used)
