"""How the log-odds of each model are written as a line, if they are one.

A `Line` is the line of some columns; those of a mixed table are put side by side.
"""

from typing import Any

import numpy as np
from scipy import sparse

from bayeswater.errors import ParameterError
from bayeswater.families.family import MixedJoint
from bayeswater.inference.gaussian_full import FullJoint
from bayeswater.inference.gaussian_line import line_joint
from bayeswater.inference.independent import IndependentJoint
from bayeswater.inference.linear import (
    CategoryJoint,
    Line,
    LinearJoint,
    line_of_features,
    line_of_states,
    require_whole,
)
from bayeswater.models.linear_form import LinearForm, QuadraticForm
from bayeswater.typing import Array


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


def _piece(model: Any, joint: Any) -> Line:
    name = type(model).__name__
    if isinstance(joint, LinearJoint):
        return line_of_features(joint, model._column_names(), name)
    if isinstance(joint, CategoryJoint):
        schema = model.statistics_.columns.schema
        return line_of_states(joint, [(variable.name, variable.labels.tolist()) for variable in schema])
    if isinstance(joint, MixedJoint):
        return _side_by_side(model, joint)
    if isinstance(joint, FullJoint | IndependentJoint):
        return _shared_normal(joint, model._column_names(), name)
    raise ParameterError(
        f"the log-odds of {name} are no line: variances differ between classes. "
        "GaussianClassifier(covariance='shared_diagonal') has one"
    )


def _shared_normal(joint: FullJoint | IndependentJoint, names: list[str], model: str) -> Line:
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
    return Line(names, line.weight, line.intercept, lambda table: _whole_numbers(table, model), line.center)


def _whole_numbers(table: Any, model: str) -> Array:
    block = table.block(slice(0, table.shape[0]))
    require_whole(block, table.names, model)
    numbers: Array = block.astype(np.float64)
    return numbers


def _side_by_side(model: Any, joint: MixedJoint) -> Line:
    """Pieces of the groups of a mixed table."""
    groups = model._columns_of_groups()
    pieces: dict[str, Line] = {}
    for key, block in joint.groups.items():
        line = block.line([column.name for column in groups[key]], type(model).__name__)
        if line is None:
            column = groups[key][0]
            raise ParameterError(
                f"column {column.name!r} is {column.family}, and its log-odds are no line in its numbers; read it as "
                "'binned', or take GaussianClassifier(covariance='shared')"
            )
        pieces[key] = line
    keys = list(pieces)

    def design(table: Any) -> Any:
        parts = [pieces[key].design(table.groups[key]) for key in keys]
        return sparse.hstack([sparse.csr_array(part) for part in parts], format="csr")

    return Line(
        [name for key in keys for name in pieces[key].names],
        np.concatenate([pieces[key].weights for key in keys]),
        np.sum([pieces[key].intercepts for key in keys], axis=0),
        design,
    )
