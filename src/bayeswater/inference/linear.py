"""Log-joints that are sums of terms looked up or weighted: of categories, of features, and as lines of both.

Of categories it is log P(class) + sum of log P(state | class), looked up in one flat table. Behind the missing slot of
each column the table for scoring has one more row, of zeros: the factor of a category that was never counted is 1, also
where missing is a state.

Of features it is linear in the row: multinomial, complement and Bernoulli.

    log P(class k, row) = intercept_k + sum_j x_j weight_jk

A log-probability of zero, -inf, may not enter a product (0 times -inf is no number). Infinite weights are
therefore kept apart: the sum runs over the finite ones, and a second sum of the same shape counts the infinite
ones that the row touches.

A `Line` has log-odds that are linear in features of some columns, and what makes the features of rows.
"""

from collections.abc import Callable, Sequence
from dataclasses import field
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse

from bayeswater.data.matrix import SparseMatrix, column_name
from bayeswater.errors import DataError, ParameterError
from bayeswater.inference.formula import Lookup
from bayeswater.kernels.category_tables import sum_of_states, sums_of_pairs
from bayeswater.kernels.class_scores import add_to_rows
from bayeswater.kernels.feature_sums import dense_times_weights, sparse_times_weights
from bayeswater.records import record
from bayeswater.typing import Array


@record
class CategoryJoint:
    """Log-probabilities of all states, (n_table_rows, n_classes), and the class prior."""

    log_prior: Array
    log_likelihood: Array
    n_states: Array
    start: Array

    @classmethod
    def from_tables(cls, log_prior: Array, log_likelihood: Array, n_states: Array, start: Array) -> Self:
        """Prepare a table that is laid out like the counts."""
        return cls(log_prior, with_unseen(log_likelihood, start), n_states + 1, start + np.arange(len(start)))

    def of(self, block: Array, use_loop: bool) -> Array:
        """Log-joints of a block of codes."""
        joint = self.likelihood(block, use_loop)
        add_to_rows(joint, self.log_prior)
        return joint

    def likelihood(self, block: Array, use_loop: bool) -> Array:
        """Log-likelihoods, without the prior."""
        pairs = self._of_pairs
        return sum_of_states(block, self.n_states, self.start, self.log_likelihood, use_loop=use_loop, of_pairs=pairs)

    def _of_pairs(self) -> Array:
        return self._pairs

    @cached_property
    def _pairs(self) -> Array:
        return sums_of_pairs(self.start, self.log_likelihood)

    def formula(self, j: int, *, missing_is_state: bool) -> Lookup:
        """Give the table of one column as plain data."""
        return Lookup(self.log_likelihood[self.start[j] : self.start[j + 1] - 1], missing_is_state)


def with_unseen(log_likelihood: Array, start: Array) -> Array:
    """Put a row of zeros, for what is unseen, behind the missing slot of each column."""
    return np.insert(log_likelihood, start[1:], 0.0, axis=0)


@record
class LinearJoint:
    """Finite weights (n_features, n_classes) and intercepts (n_classes,); beside them the count of infinite ones."""

    log_prior: Array
    intercept: Array
    weight: Array
    threshold: float | None = None
    infinite_weight: Array | None = None
    infinite_intercept: Array = field(default_factory=lambda: np.zeros(1))
    certain: bool = False  # an infinite term makes its class certain (complement) rather than impossible
    absent_weight: Array | None = None  # (n_features, n_classes): what an absent cell adds; a missing one must not
    infinite_absent: Array | None = None

    is_light: ClassVar = True

    def of(self, block: Array | SparseMatrix, use_loop: bool) -> Array:
        """Log-joints of a block of rows."""
        return self._scores(block, self._intercept_and_prior, use_loop)

    def likelihood(self, block: Array | SparseMatrix, use_loop: bool) -> Array:
        """Log-likelihoods, without the prior."""
        return self._scores(block, self.intercept, use_loop)

    @cached_property
    def _intercept_and_prior(self) -> Array:
        return self.intercept + self.log_prior

    def _scores(self, block: Array | SparseMatrix, intercept: Array, use_loop: bool) -> Array:
        joint = self._times(block, self.weight, use_loop)
        if intercept.any():  # none of complement weights
            add_to_rows(joint, intercept)
        missing = self._missing_cells(block)
        if missing is not None and self.absent_weight is not None:
            joint -= missing @ self.absent_weight
        if self.infinite_weight is None:
            return joint
        touched = self._times(block, self.infinite_weight, use_loop)
        touched += self.infinite_intercept
        if missing is not None and self.infinite_absent is not None:
            touched -= missing @ self.infinite_absent
        if self.certain:
            joint[touched < touched.max(axis=1, keepdims=True)] = -np.inf
        else:
            joint[touched > 0] = -np.inf
        return joint

    def _times(self, block: Array | SparseMatrix, weight: Array, use_loop: bool) -> Array:
        if not isinstance(block, SparseMatrix):
            return dense_times_weights(block, weight, self.threshold)
        return sparse_times_weights(block.indptr, block.indices, block.data, weight, self.threshold, use_loop=use_loop)

    def _missing_cells(self, block: Array | SparseMatrix) -> Array | None:
        if self.absent_weight is None or isinstance(block, SparseMatrix) or block.dtype.kind != "f":
            return None
        missing = np.isnan(block)
        return missing.astype(np.float64) if missing.any() else None


def multinomial_joint(log_prior: Array, log_probability: Array) -> LinearJoint:
    """Log-joint of counts under log-probabilities (n_classes, n_features)."""
    weight, infinite = _finite(log_probability)
    return LinearJoint(log_prior, np.zeros(len(log_prior)), weight, infinite_weight=infinite)


def complement_joint(log_prior: Array, weights: Array) -> LinearJoint:
    """Scores of counts under complement weights (n_classes, n_features)."""
    weight, infinite = _finite(weights)
    return LinearJoint(log_prior, np.zeros(len(log_prior)), weight, infinite_weight=infinite, certain=True)


def bernoulli_joint(
    log_prior: Array, log_present: Array, log_absent: Array, threshold: float, *, allow_missing: bool
) -> LinearJoint:
    """Log-joint of marks: the sum of all log_absent, and for what is present the difference to log_present."""
    present, no_present = _finite(log_present)
    absent, no_absent = _finite(log_absent)
    infinite = None
    if no_present is not None or no_absent is not None:
        zero = np.zeros_like(present)
        no_absent = zero if no_absent is None else no_absent
        infinite = (zero if no_present is None else no_present) - no_absent
    return LinearJoint(
        log_prior,
        absent.sum(axis=0),
        present - absent,
        threshold,
        infinite_weight=infinite,
        infinite_intercept=np.zeros(1) if infinite is None or no_absent is None else no_absent.sum(axis=0),
        absent_weight=absent if allow_missing else None,
        infinite_absent=no_absent,
    )


def _finite(terms: Array) -> tuple[Array, Array | None]:
    """Lay terms (n_classes, n_features) out feature by feature, infinite ones apart."""
    infinite = np.isinf(terms)
    if not infinite.any():
        return np.ascontiguousarray(terms.T), None
    return np.ascontiguousarray(np.where(infinite, 0.0, terms).T), np.ascontiguousarray(infinite.T, dtype=np.float64)


@record
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
            f"row {row} has a missing cell in column {column_name(names, column)!r}; {model} leaves it out, and a "
            "linear or quadratic form cannot: fill it, or drop the row"
        )
