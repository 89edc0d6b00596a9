"""A plane through the space of the columns, on which a model with many columns can be drawn.

A point z of the plane is the row  x = origin + basis (z - start).  Along two columns, basis holds their two unit
vectors and origin the values that all others are held at. Along the discriminant axes A, with W the covariance within
classes,  basis = W A (A'WA)^-1:  then A'x moves as z does, and the rest of x is what is expected with it.

On a plane a normal density with precision matrix P is again a normal density, that of the class given all that is held:
its precision is basis' P basis. What is held at NaN is left out of the model instead: the density of the other columns.

Boundaries are lines along which two actions are as good as each other. An action i is scored by s_i = -log risk(i),
with risk(i) = sum over classes j of regret_ij P(j | x); without a loss by s_i = log P(i | x). The action of largest
score is taken, and the boundary of i is where s_i equals the largest other score. Logarithms make the scores of
Gaussian classes smooth (squares in x), where probabilities would be steps that no grid can resolve: on a coarse grid
the line is still where it should be.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from scipy.special import logsumexp

from bayeswater.data.frames import write_frame
from bayeswater.data.matrix import column_name
from bayeswater.data.reading.matrix_reading import read_dense
from bayeswater.decision.loss import Loss
from bayeswater.errors import ParameterError, SchemaError
from bayeswater.models.gaussian_classifier import GaussianClassifier
from bayeswater.records import record
from bayeswater.typing import Array

DISCRIMINANT = "discriminant"


@record
class Plane:
    """Two directions in the space of the columns, and where the plane lies."""

    origin: Array  # (n_columns,), NaN for columns that are left out
    basis: Array  # (n_columns, 2)
    start: Array  # (2,), the point that is the origin
    axis_names: tuple[str, str]
    held: tuple[str, ...]  # what the other columns are held at, in words

    def rows(self, points: Array, names: Sequence[str] | None) -> Any:
        """Give points (n, 2) of the plane as rows that a model takes: an array, or a frame with these names."""
        values = self.origin + (points - self.start) @ self.basis.T
        return values if names is None else write_frame(dict(zip(names, values.T, strict=True)), None)

    def cut(self, mean: Array, covariance: Array) -> tuple[Array, Array]:
        """Mean (2,) and covariance (2, 2) that a normal density of all columns has on this plane."""
        there = np.isfinite(self.origin)
        basis = self.basis[there]
        # Scaled columns: a precision matrix of metres beside millimetres would lose digits that the picture needs.
        scale = np.sqrt(np.diagonal(covariance)[there])
        scaled = covariance[np.ix_(there, there)] / np.outer(scale, scale)
        towards = np.linalg.solve(scaled, basis / scale[:, None])  # P basis, in scaled columns
        on_plane = np.linalg.inv((basis / scale[:, None]).T @ towards)
        away = (mean[there] - self.origin[there]) / scale
        return self.start + on_plane @ (towards.T @ away), on_plane


def plane_of(model: GaussianClassifier, axes: Any, given: Mapping[Any, float] | None) -> Plane:
    """Find the plane that `axes` and `given` ask for."""
    if axes is None:
        axes = (0, 1) if model.n_features_in_ == 2 else DISCRIMINANT
    if isinstance(axes, str):
        if axes != DISCRIMINANT:
            raise ParameterError(f"axes is {axes!r}; give two columns, or {DISCRIMINANT!r}")
        if given:
            raise ParameterError("given holds columns, and along discriminant axes none is held; give two columns")
        return _discriminant_plane(model)
    return _column_plane(model, axes, given or {})


def coordinates(model: GaussianClassifier, axes: Any, X: Any) -> Array:
    """Give rows as points (n, 2): their cells in two columns, or their place along the discriminant axes."""
    if isinstance(axes, str) or (axes is None and model.n_features_in_ != 2):
        return model.transform(X)[:, :2]
    table = read_dense(X, type(model).__name__)
    known = table.names or names_of(model)
    names = names_of(model)
    chosen = [_place(names, column) for column in (axes or (0, 1))]
    if table.shape[1] != len(names) or set(known) != set(names):
        raise SchemaError(
            f"X has the columns {list(known)[:5]}, and the model knows {names[:5]}; give the same columns"
        )
    order = [list(known).index(names[j]) for j in chosen]
    return np.asarray(table.block(slice(None)), dtype=np.float64)[:, order]


def names_of(model: GaussianClassifier) -> list[str]:
    """Names of the columns; x0, x1, ... where the model was given none."""
    names = getattr(model, "feature_names_in_", None)
    return [column_name(names, j) for j in range(model.n_features_in_)]


def seen_classes(model: GaussianClassifier) -> Array:
    """Codes of the classes that have a density."""
    return np.flatnonzero(model.class_count_ > 0)


def _column_plane(model: GaussianClassifier, axes: Any, given: Mapping[Any, float]) -> Plane:
    names = names_of(model)
    if len(axes) != 2:
        raise ParameterError(f"axes holds {len(axes)} columns; a plane has two")
    chosen = [_place(names, column) for column in axes]
    if chosen[0] == chosen[1]:
        raise ParameterError(f"axes names column {names[chosen[0]]!r} twice; give two columns")
    origin = _mean_of_all(model)
    values = {_place(names, column): value for column, value in given.items()}
    for j, value in values.items():
        if j in chosen:
            raise ParameterError(f"column {names[j]!r} is an axis, and cannot be held at {value!r} as well")
        origin[j] = value
    n_at_mean = len(names) - 2 - len(values)
    held = [f"{names[j]} = {value:.4g}" for j, value in values.items() if np.isfinite(value)]
    held += [f"{n_at_mean} columns at their mean"] if n_at_mean else []
    axis_names = names[chosen[0]], names[chosen[1]]
    return Plane(origin, np.eye(len(names))[:, chosen], origin[chosen], axis_names, tuple(held))


def _discriminant_plane(model: GaussianClassifier) -> Plane:
    axes = model.discriminant_axes_
    if axes.shape[1] < 2:
        raise ParameterError(
            f"the means of {len(seen_classes(model))} classes differ along {axes.shape[1]} discriminant axis, and a "
            "plane needs two; give two columns as axes"
        )
    first_two, origin = axes[:, :2], _mean_of_all(model)
    seen = seen_classes(model)
    within = np.average(model.covariances_[seen], axis=0, weights=model.class_count_[seen])
    basis = np.linalg.solve(first_two.T @ within @ first_two, first_two.T @ within).T
    names = None if "feature_names_in_" not in model.__dict__ else names_of(model)
    at_origin = Plane(origin, basis, np.zeros(2), ("", ""), ()).rows(np.zeros((1, 2)), names)
    start = model.transform(at_origin)[0, :2]
    held = ("the mean in all other directions",) if model.n_features_in_ > 2 else ()
    return Plane(origin, basis, start, ("first discriminant axis", "second discriminant axis"), held)


def _mean_of_all(model: GaussianClassifier) -> Array:
    """Mean of the rows of all classes: (n_columns,)."""
    seen = seen_classes(model)
    return np.average(model.means_[seen], axis=0, weights=model.class_count_[seen])


def _place(names: Sequence[str], column: Any) -> int:
    """Find a column by its name, or by its place."""
    if isinstance(column, str) and column in names:
        return list(names).index(column)
    if isinstance(column, int | np.integer) and 0 <= column < len(names):
        return int(column)
    raise ParameterError(
        f"there is no column {column!r}; columns are {list(names)[:5]}, or places 0 to {len(names) - 1}"
    )


@record
class ActionRule:
    """How log-probabilities of classes become scores of actions."""

    actions: tuple[Any, ...]
    log_regret: Array | None = None  # (n_actions, n_classes); None for the most probable class

    @classmethod
    def of(cls, loss: Any, classes: Array) -> "ActionRule":
        """Read a `Loss`, or anything that `Loss` reads; None is the most probable class."""
        if loss is None:
            return cls(tuple(classes.tolist()))
        table = (loss if isinstance(loss, Loss) else Loss(loss)).for_classes(classes.tolist()).table
        if table.by_row:
            raise ParameterError("some costs of the loss depend on the row, so there is no one boundary; fix the costs")
        with np.errstate(divide="ignore"):
            return cls(tuple(table.actions), np.log(table.regret))

    def scores(self, log_proba: Array) -> Array:
        """Score every action: (n_rows, n_actions)."""
        if self.log_regret is None:
            return log_proba
        with np.errstate(divide="ignore"):  # an action without any risk
            return -logsumexp(log_proba[:, None, :] + self.log_regret, axis=2)


def boundary_lines(x: Array, y: Array, scores: Array, scores_at: Callable[[Array], Array]) -> list[Array]:
    """Trace all boundaries between actions.

    Parameters
    ----------
    x, y : arrays of shape (n_x,) and (n_y,)
        The grid.
    scores : array of shape (n_y, n_x, n_actions)
    scores_at : function from points (n, 2) to scores (n, n_actions)
        Tells on which side of a meeting of three actions a point lies.

    Returns
    -------
    list of arrays (n, 2), none of them drawn twice
    """
    try:
        from contourpy import contour_generator  # comes with matplotlib, and traces its contours
    except ImportError:
        raise ImportError("plots need matplotlib; install it with: pip install 'bayeswater[plot]'") from None
    lines = []
    for i in range(scores.shape[2]):
        margin = scores[:, :, i] - np.delete(scores, i, axis=2).max(axis=2, initial=-np.inf)
        if not (margin > 0).any() or not (margin < 0).any():
            continue  # never taken, or always
        for line in contour_generator(x, y, margin).lines(0.0):
            line = np.asarray(line)
            others = scores_at(line)
            others[:, i] = -np.inf
            # The line between i and j is found from both sides; it belongs to the smaller of them.
            lines += _runs(line, others.argmax(axis=1) > i)
    return lines


def _runs(line: Array, keep: Array) -> list[Array]:
    """Cut a line into its stretches of points to keep, of two or more."""
    ends = np.flatnonzero(np.diff(keep)) + 1
    pieces = zip(np.split(line, ends), np.split(keep, ends), strict=True)
    return [piece for piece, kept in pieces if kept[0] and len(piece) > 1]
