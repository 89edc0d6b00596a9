"""`Line`: log-odds that are linear in features of some columns, and what makes the features of rows."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from bayeswater.data.matrix import SparseMatrix, column_name
from bayeswater.errors import DataError, ParameterError
from bayeswater.inference.categories import CategoryJoint
from bayeswater.inference.linear import LinearJoint
from bayeswater.typing import Array


@dataclass(frozen=True)
class Line:
    """Features of some columns: names, weights (n_features, n_classes), intercepts (n_classes,), how to make them.

    With a `center`, weights are those of distances from it.
    """

    names: list[str]
    weights: Array
    intercepts: Array
    design: Callable[[Any], Any]  # of the table that the model reads
    center: Array | None = None  # (n_features,)


def line_of_features(joint: LinearJoint, names: list[str], model: str) -> Line:
    """Features that are counted or marked, by the weights that they have already."""
    weights = joint.weight
    if joint.infinite_weight is not None:
        weights = np.where(joint.infinite_weight != 0, np.inf, weights)

    def design(table: Any) -> Any:
        return feature_values(table.block(slice(0, table.shape[0])), table.names, joint.threshold, model)

    return Line(names, weights, joint.intercept, design)


def feature_values(cells: Any, names: tuple[str, ...] | None, threshold: float | None, model: str) -> Any:
    """Give counts, or marks over a threshold, as a matrix of numbers."""
    if isinstance(cells, SparseMatrix):
        first = cells.indptr[0]
        values = cells.cells if threshold is None else (cells.cells > threshold).astype(np.float64)
        indices = cells.indices[first : cells.indptr[-1]]
        matrix = sparse.csr_array((values, indices, cells.indptr - first), shape=cells.shape)
        if threshold is not None and threshold < 0:
            raise ParameterError(f"binarize is {threshold}: cells that are not stored are marks; give a dense matrix")
        return matrix
    require_whole(cells, names, model)
    return cells.astype(np.float64) if threshold is None else (cells > threshold).astype(np.float64)


def line_of_states(joint: CategoryJoint, columns: Sequence[tuple[str, list[Any]]]) -> Line:
    """One feature for each state; a missing or unseen one has none, and adds nothing."""
    names: list[str] = []
    slots: list[int] = []
    for j, (name, states) in enumerate(columns):
        start, n_states = int(joint.start[j]), len(states)
        missing_is_state = bool(joint.log_likelihood[start + n_states].any())
        names += [f"{name}={state}" for state in states] + ([f"{name}=missing"] if missing_is_state else [])
        slots += range(start, start + n_states + missing_is_state)
    kept = np.array(slots, dtype=np.intp)

    def design(table: Any) -> Any:
        codes = table.block(slice(0, table.shape[0]))
        return _one_hot(joint.start[:-1] + np.minimum(codes, joint.n_states), len(joint.log_likelihood))[:, kept]

    return Line(names, joint.log_likelihood[kept], np.zeros(len(joint.log_prior)), design)


def _one_hot(slots: Array, n_slots: int) -> Any:
    n_rows, n_columns = slots.shape
    ends = np.arange(0, n_rows * n_columns + 1, n_columns)
    return sparse.csr_array((np.ones(slots.size), slots.ravel().astype(np.int64), ends), shape=(n_rows, n_slots))


def line_of_numbers(names: Sequence[str], weights: Array, intercepts: Array, model: str) -> Line:
    """Numbers as they are, none of them missing."""

    def design(table: Any) -> Array:
        numbers: Array = table.block(slice(0, table.shape[0])).astype(np.float64)
        require_whole(numbers, names, model)
        return numbers

    return Line(list(names), weights, intercepts, design)


def require_whole(cells: Array, names: Sequence[str] | None, model: str) -> None:
    """Refuse a missing cell, for which a line has no place."""
    if cells.dtype.kind == "f" and np.isnan(np.min(cells, initial=0.0)):
        row, column = (int(index) for index in np.argwhere(np.isnan(cells))[0])
        raise DataError(
            f"row {row} has a missing cell in column {column_name(names, column)!r}; {model} leaves it out, which no "
            "line or square can: fill it, or drop the row"
        )
