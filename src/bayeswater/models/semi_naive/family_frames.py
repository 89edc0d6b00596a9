"""Tables of columns and their parents as labelled frames."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeswater.data.frames import write_frame
from bayeswater.data.number_table import bin_labels
from bayeswater.estimate.empty_cells import empty_is_state
from bayeswater.models.class_name import class_name
from bayeswater.typing import Array

if TYPE_CHECKING:
    from bayeswater.models.semi_naive.discrete_classifier import DiscreteClassifier


def state_labels(model: "DiscreteClassifier") -> list[list[Any]]:
    """Names of the states of each column; None is missing, where that is a state."""
    pairs = model._pairs(model.statistics_)
    columns = zip(model.columns_.used, pairs.schema, empty_is_state(pairs, model.missing).tolist(), strict=True)
    return [
        [*(bin_labels(column) if column.family == "binned" else variable.labels.tolist()), *[None] * is_state]
        for column, variable, is_state in columns
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


def joint_tables(model: "DiscreteClassifier") -> dict[str, Any]:
    """Give the class prior, and P(class, state) of each column."""
    model._require_fitted()
    estimate, names = model._joint().estimate, column_names(model)
    tables = {class_name(names): model._class_table()}
    for j, name in enumerate(names):
        share = np.exp(estimate.log_joint[estimate.start[j] : estimate.start[j + 1] - 1])
        tables[name] = joint_frame(model, [j], share)
    return tables
