"""Tables of columns and their parents: as labelled frames, and as a Bayesian network."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeswater.data.frames import write_frame
from bayeswater.data.number_table import bin_labels
from bayeswater.inference.forest import Forest
from bayeswater.models.class_name import class_name
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


def column_names(model: "DiscreteClassifier") -> list[str]:
    """Names of the columns that have states."""
    return [column.name for column in model.columns_.used]


def _share_frame(model: "DiscreteClassifier", columns: Sequence[int], share: Array, title: Callable[[Any], str]) -> Any:
    """Give shares (v_1, ..., v_m, n_classes) of the states of m columns as a labelled frame; `title` is of a class."""
    labels, names = state_labels(model), column_names(model)
    places = np.indices(share.shape[:-1]).reshape(len(columns), -1)
    frame: dict[str, Any] = {
        names[j]: [labels[j][at] for at in own.tolist()] for j, own in zip(columns, places, strict=True)
    }
    for k, label in enumerate(model.classes_.tolist()):
        frame[title(label)] = share[..., k].ravel()
    return write_frame(frame, model._library)


def joint_frame(model: "DiscreteClassifier", columns: Sequence[int], share: Array) -> Any:
    """Give P(y, x_1, ..., x_m) (v_1, ..., v_m, n_classes) as a labelled frame."""
    names = column_names(model)
    together = [names[j] for j in columns]
    return _share_frame(model, columns, share, lambda label: f"P({', '.join([str(label), *together])})")


def family_frame(model: "DiscreteClassifier", j: int, parents: Sequence[int], share: Array) -> Any:
    """Give P(x_j | y, its parents) (v_1, ..., v_l, v_j, n_classes) as a labelled frame."""
    names = column_names(model)
    above = [names[p] for p in parents]
    return _share_frame(model, [*parents, j], share, lambda label: f"P({names[j]} | {', '.join([str(label), *above])})")


def forest_tables(model: "DiscreteClassifier") -> dict[str, Any]:
    """Give the class prior, and the table of each column given its parent."""
    model._require_fitted()
    forest: Forest = model._joint()
    names = column_names(model)
    tables = {class_name(names): model._class_table()}
    for j, (name, parent) in enumerate(zip(names, forest.parents, strict=True)):
        share = np.exp(forest.log_family(j))  # (v_parent or 1, v_j, n_classes)
        tables[name] = family_frame(model, j, [], share[0]) if parent < 0 else family_frame(model, j, [parent], share)
    return tables


def joint_tables(model: "DiscreteClassifier") -> dict[str, Any]:
    """Give the class prior, and P(class, state) of each column."""
    model._require_fitted()
    estimate, names = model._joint().estimate, column_names(model)
    tables = {class_name(names): model._class_table()}
    for j, name in enumerate(names):
        share = np.exp(estimate.log_joint[estimate.start[j] : estimate.start[j + 1] - 1])
        tables[name] = joint_frame(model, [j], share)
    return tables


def network_tables(model: "DiscreteClassifier") -> NetworkTables:
    """Give a model whose columns form a forest as a Bayesian network."""
    model._require_fitted()
    forest: Forest = model._joint()
    names = column_names(model)
    states = (tuple(model.classes_.tolist()), *(tuple(labels) for labels in state_labels(model)))
    parents: list[tuple[int, ...]] = [()]
    tables = [np.exp(forest.log_prior)]
    for j, p in enumerate(forest.parents):
        share = np.exp(forest.log_family(j)).transpose(2, 0, 1)  # (n_classes, v_parent or 1, v_j)
        parents.append((0,) if p < 0 else (0, p + 1))
        tables.append(share[:, 0] if p < 0 else share)
    return NetworkTables((class_name(names), *names), states, tuple(parents), tuple(tables))


def forest_parameters(forest: Forest) -> int:
    """Count the free parameters of a forest."""
    k, v = forest.estimate.n_classes, forest.estimate.n_states
    above = np.array([v[p] if p >= 0 else 1 for p in forest.parents])
    return int(k - 1 + k * (above * np.maximum(v - 1, 0)).sum())
