"""Tables of columns and their parents: as labelled frames, and as a Bayesian network."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeswater.data.frames import write_frame
from bayeswater.data.number_table import bin_labels
from bayeswater.inference.forest import Forest
from bayeswater.typing import Array

if TYPE_CHECKING:
    from bayeswater.models.semi_naive.discrete_classifier import DiscreteClassifier


@dataclass(frozen=True)
class NetworkTables:
    """A Bayesian network as plain values.

    `names` are its variables, the class first; `states` the states of each; `parents` the places of the parents of
    each; `tables` P(variable | parents), with one axis for each parent in their order and the last for the variable.
    """

    names: tuple[str, ...]
    states: tuple[tuple[Any, ...], ...]
    parents: tuple[tuple[int, ...], ...]
    tables: tuple[Array, ...]


def state_labels(model: "DiscreteClassifier") -> list[list[Any]]:
    """Names of the states of each column; None is missing, where that is a state."""
    schema = model._pairs(model.statistics_).schema
    last = [None] if model.missing == "state" else []
    return [
        [*(bin_labels(column) if column.family == "binned" else variable.labels.tolist()), *last]
        for column, variable in zip(model.columns_.used, schema, strict=True)
    ]


def class_name(model: "DiscreteClassifier") -> str:
    """Name of the class beside those of the columns."""
    return "(class)" if "class" in model._pairs(model.statistics_).schema.names else "class"


def family_frame(model: "DiscreteClassifier", j: int, parent: int, share: Array) -> Any:
    """Give P(x_j | y, x_parent) (v_parent or 1, v_j, n_classes) as a labelled frame; -1 is no parent."""
    labels, names = state_labels(model), [column.name for column in model.columns_.used]
    n_above, n_states = share.shape[:2]
    frame: dict[str, Any] = {}
    if parent >= 0:
        frame[names[parent]] = [label for label in labels[parent] for _ in range(n_states)]
    frame[names[j]] = labels[j] * n_above
    for k, label in enumerate(model.classes_.tolist()):
        given = str(label) if parent < 0 else f"{label}, {names[parent]}"
        frame[f"P({names[j]} | {given})"] = share[:, :, k].ravel()
    return write_frame(frame, model._library)


def forest_tables(model: "DiscreteClassifier") -> dict[str, Any]:
    """Give the class prior, and the table of each column given its parent."""
    model._require_fitted()
    forest: Forest = model._joint()
    tables = {class_name(model): model._class_table()}
    for j, column in enumerate(model.columns_.used):
        tables[column.name] = family_frame(model, j, forest.parents[j], np.exp(forest.log_family(j)))
    return tables


def joint_tables(model: "DiscreteClassifier") -> dict[str, Any]:
    """Give the class prior, and P(class, state) of each column."""
    model._require_fitted()
    estimate = model._joint().estimate
    tables = {class_name(model): model._class_table()}
    for j, (column, labels) in enumerate(zip(model.columns_.used, state_labels(model), strict=True)):
        share = np.exp(estimate.log_joint[estimate.start[j] : estimate.start[j + 1] - 1])
        named = {f"P({label}, {column.name})": share[:, k] for k, label in enumerate(model.classes_.tolist())}
        tables[column.name] = write_frame({column.name: labels} | named, model._library)
    return tables


def network_tables(model: "DiscreteClassifier") -> NetworkTables:
    """Give a model whose columns form a forest as a Bayesian network."""
    model._require_fitted()
    forest: Forest = model._joint()
    names = (class_name(model), *(column.name for column in model.columns_.used))
    states = (tuple(model.classes_.tolist()), *(tuple(labels) for labels in state_labels(model)))
    parents: list[tuple[int, ...]] = [()]
    tables = [np.exp(forest.log_prior)]
    for j, p in enumerate(forest.parents):
        share = np.exp(forest.log_family(j)).transpose(2, 0, 1)  # (n_classes, v_parent or 1, v_j)
        parents.append((0,) if p < 0 else (0, p + 1))
        tables.append(share[:, 0] if p < 0 else share)
    return NetworkTables(names, states, tuple(parents), tuple(tables))


def forest_parameters(forest: Forest) -> int:
    """Count the free parameters of a forest."""
    k, v = forest.estimate.n_classes, forest.estimate.n_states
    above = np.array([v[p] if p >= 0 else 1 for p in forest.parents])
    return int(k - 1 + k * (above * np.maximum(v - 1, 0)).sum())
