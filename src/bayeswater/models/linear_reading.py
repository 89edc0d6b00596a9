"""How the log-odds of each model are written as a line, if they are one.

A `Piece` is the line of some columns; those of a mixed table are put side by side.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from bayeswater.data.matrix import SparseMatrix, column_name
from bayeswater.errors import DataError, ParameterError
from bayeswater.inference.categories import CategoryJoint
from bayeswater.inference.category_columns import CategoryColumns
from bayeswater.inference.gaussian_full import FullJoint
from bayeswater.inference.gaussian_line import line_joint
from bayeswater.inference.independent import IndependentJoint
from bayeswater.inference.linear import LinearJoint
from bayeswater.inference.mixed import MixedJoint
from bayeswater.inference.poisson_columns import PoissonColumns
from bayeswater.inference.word_columns import WordColumns
from bayeswater.models.linear_form import LinearForm, QuadraticForm
from bayeswater.typing import Array


@dataclass(frozen=True)
class Piece:
    """Features of some columns: names, weights (n_features, n_classes), intercepts (n_classes,), how to make them.

    With a `center`, weights are those of distances from it.
    """

    names: list[str]
    weights: Array
    intercepts: Array
    design: Callable[[Any], Any]  # of the table that the model reads
    center: Array | None = None  # (n_features,)


def linear_form(model: Any) -> LinearForm:
    """Write a fitted model as softmax(W x + b), or say why it is none."""
    _require_uncalibrated(model, "a line")
    joint = model._joint()
    piece = _piece(model, joint)
    infinite = ~np.isfinite(piece.weights)
    if infinite.any():
        feature, k = (int(index) for index in np.argwhere(infinite)[0])
        raise ParameterError(
            f"feature {piece.names[feature]!r} is impossible in class {model.classes_.tolist()[k]!r}, and no weight is "
            "infinite; smooth it: alpha over 0"
        )
    weights, at_center = piece.weights.T, piece.intercepts + joint.log_prior
    return LinearForm(
        model.classes_.copy(),
        tuple(piece.names),
        weights,
        at_center if piece.center is None else at_center - weights @ piece.center,
        lambda X: piece.design(model._table(X)),
        piece.center,
        at_center,
    )


def quadratic_form(model: Any) -> QuadraticForm:
    """Write normal classes as a square in x."""
    joint = model._joint()
    if not isinstance(joint, FullJoint | IndependentJoint):
        raise ParameterError(f"to_quadratic is for normal classes; {type(model).__name__} has none")
    read = joint.densities
    if np.isfinite(read.degrees).any():
        raise ParameterError(
            "with a prior, rows are predicted by a Student-t, which is no square in x; take prior=None"
        )
    _require_uncalibrated(model, "a square in x")
    center = read.blend.yardstick.center
    whitening = FullJoint(joint.log_prior, read)
    precision = np.stack([w @ w.T for w in whitening.whitening])
    away = read.mean - center
    weights = np.einsum("kij,kj->ki", precision, away)
    intercepts = joint.log_prior + whitening.constant - 0.5 * np.einsum("kj,kj->k", weights, away)
    return QuadraticForm(
        *(model.classes_.copy(), center.copy(), -0.5 * precision, weights, intercepts),
        design=lambda X: _whole_numbers(model._table(X), type(model).__name__),
    )


def _require_uncalibrated(model: Any, form: str) -> None:
    if getattr(model, "_is_calibrated", False):
        raise ParameterError(
            f"the probabilities are calibrated, and {form} has neither lapses nor cells that are not known; take "
            "calibrate=False"
        )


def _piece(model: Any, joint: Any) -> Piece:
    name = type(model).__name__
    if isinstance(joint, LinearJoint):
        return _features(joint, model._column_names(), name)
    if isinstance(joint, CategoryJoint):
        schema = model.statistics_.columns.schema
        return _states(joint, [(variable.name, variable.labels.tolist()) for variable in schema])
    if isinstance(joint, MixedJoint):
        return _side_by_side(model, joint)
    if isinstance(joint, FullJoint | IndependentJoint):
        return _shared_normal(joint, model._column_names(), name)
    raise ParameterError(
        f"the log-odds of {name} are no line: variances differ between classes. "
        "GaussianClassifier(covariance='shared_diagonal') has one"
    )


def _features(joint: LinearJoint, names: list[str], model: str) -> Piece:
    weights = joint.weight
    if joint.infinite_weight is not None:
        weights = np.where(joint.infinite_weight != 0, np.inf, weights)

    def design(table: Any) -> Any:
        return _values(table.block(slice(0, table.shape[0])), table.names, joint.threshold, model)

    return Piece(names, weights, joint.intercept, design)


def _values(block: Any, names: tuple[str, ...] | None, threshold: float | None, model: str) -> Any:
    if isinstance(block, SparseMatrix):
        first = block.indptr[0]
        cells = block.cells if threshold is None else (block.cells > threshold).astype(np.float64)
        indices = block.indices[first : block.indptr[-1]]
        matrix = sparse.csr_array((cells, indices, block.indptr - first), shape=block.shape)
        if threshold is not None and threshold < 0:
            raise ParameterError(f"binarize is {threshold}: cells that are not stored are marks; give a dense matrix")
        return matrix
    _require_whole(block, names, model)
    return block.astype(np.float64) if threshold is None else (block > threshold).astype(np.float64)


def _states(joint: CategoryJoint, columns: list[tuple[str, list[Any]]]) -> Piece:
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

    return Piece(names, joint.log_likelihood[kept], np.zeros(len(joint.log_prior)), design)


def _one_hot(slots: Array, n_slots: int) -> Any:
    n_rows, n_columns = slots.shape
    ends = np.arange(0, n_rows * n_columns + 1, n_columns)
    return sparse.csr_array((np.ones(slots.size), slots.ravel().astype(np.int64), ends), shape=(n_rows, n_slots))


def _shared_normal(joint: FullJoint | IndependentJoint, names: list[str], model: str) -> Piece:
    read = joint.densities
    if np.isfinite(read.degrees).any():
        raise ParameterError(
            "with a prior, rows are predicted by a Student-t, whose log-odds are no line; take prior=None"
        )
    lines = line_joint(joint.log_prior, read, joint)
    if lines is None:
        raise ParameterError(
            f"classes have covariances of their own ({read.blend.reading.form!r}), so log-odds are squares in x: "
            "to_quadratic() gives them, and covariance='shared' has a line"
        )
    line = lines.line
    return Piece(names, line.weight, line.intercept, lambda table: _whole_numbers(table, model), line.center)


def _whole_numbers(table: Any, model: str) -> Array:
    block = table.block(slice(0, table.shape[0]))
    _require_whole(block, table.names, model)
    numbers: Array = block.astype(np.float64)
    return numbers


def _side_by_side(model: Any, joint: MixedJoint) -> Piece:
    """Pieces of the groups of a mixed table."""
    groups = model._columns_of_groups()
    pieces: dict[str, Piece] = {}
    for key, terms in joint.groups.items():
        names = [column.name for column in groups[key]]
        if isinstance(terms, CategoryColumns):
            states = [
                (name, v.labels.tolist()) for name, v in zip(names, terms.counts.schema, strict=True)
            ]  # fmt: skip
            pieces[key] = _states(terms.joint, states)
        elif isinstance(terms, PoissonColumns):
            pieces[key] = _rates(terms, names, type(model).__name__)
        elif isinstance(terms, WordColumns):
            pieces[key] = _words(terms, names[0], model.statistics_.columns.groups[key], type(model).__name__)
        else:
            raise ParameterError(
                f"column {names[0]!r} is {groups[key][0].family}: its variance differs between classes, so log-odds "
                "are no line; read it as 'binned' or 'poisson', or take GaussianClassifier(covariance='shared')"
            )
    keys = list(pieces)

    def design(table: Any) -> Any:
        parts = [pieces[key].design(table.groups[key]) for key in keys]
        return sparse.hstack([sparse.csr_array(part) for part in parts], format="csr")

    return Piece(
        [name for key in keys for name in pieces[key].names],
        np.concatenate([pieces[key].weights for key in keys]),
        np.sum([pieces[key].intercepts for key in keys], axis=0),
        design,
    )


def _rates(terms: PoissonColumns, names: list[str], model: str) -> Piece:
    rate = np.where(np.isnan(terms.rate), 1.0, terms.rate)  # a column without a value has no factor
    with np.errstate(divide="ignore"):
        weights = np.log(rate).T

    def design(table: Any) -> Array:
        block = table.block(slice(0, table.shape[0]))
        _require_whole(block, names, model)
        return block.astype(np.float64)

    return Piece(names, weights, -rate.sum(axis=1), design)


def _words(terms: WordColumns, name: str, sums: Any, model: str) -> Piece:
    joint = terms.reading.joint
    words = sums.vocabulary.states
    piece = _features(joint, [f"{name}: {word}" for word in words], model)

    def design(table: Any) -> Any:
        if joint.threshold is not None and table.missing.any():
            raise DataError(
                f"row {int(table.missing.argmax())} has no text; a line has no place for that, drop the row"
            )
        return _values(terms._weighed(table.counts), None, joint.threshold, model)

    return Piece(piece.names, piece.weights, piece.intercepts, design)


def _require_whole(block: Array, names: Sequence[str] | None, model: str) -> None:
    if block.dtype.kind == "f" and np.isnan(np.min(block, initial=0.0)):
        row, column = (int(index) for index in np.argwhere(np.isnan(block))[0])
        raise DataError(
            f"row {row} has a missing cell in column {column_name(names, column)!r}; {model} leaves it out, which no "
            "line or square can: fill it, or drop the row"
        )
