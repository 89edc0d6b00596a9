"""The minimum of a smooth convex function of a few parameters, by Newton's method with halved steps.

The same start gives the same answer on every run, to nearly full precision: the last step is taken when what is left
to gain is below rounding.
"""

from collections.abc import Callable

import numpy as np

from bayeswater.typing import Array

Evaluation = tuple[float, Array, Array]
"""Value, gradient (n,) and Hessian (n, n)."""

NO_GAIN = 1e-13
"""A step that promises less than this, for values of the size of a mean log-loss, is the last one."""
MOST_STEPS = 500
"""Even scores that differ by a factor of 1e100 need fewer steps."""
RIDGE = 1e-12
"""Share of the diagonal added to it, for directions in which nothing changes."""


def minimise(evaluate: Callable[[Array], Evaluation], start: Array) -> Array:
    """Parameters of the least value, from `start` on.

    >>> minimise(lambda x: (float((x @ x - 4 * x[0])), 2 * x - [4, 0], 2 * np.eye(2)), np.array([9.0, 9.0])).round(9)
    array([2., 0.])
    """
    point = start
    value, gradient, hessian = evaluate(point)
    for _ in range(MOST_STEPS):
        step = _newton_step(gradient, hessian)
        gain = float(gradient @ step)
        if not gain > NO_GAIN * max(1.0, abs(value)):
            return point - step if gain > 0 else point
        share = 1.0
        while True:
            following = evaluate(point - share * step)
            if following[0] <= value - 1e-4 * share * gain:  # a fair part of what the slope promises (Armijo)
                break
            share /= 2
            if share < 1e-12:  # rounding hides any further descent
                return point
        point = point - share * step
        value, gradient, hessian = following
    return point


def minimise_above_zero(evaluate: Callable[[Array], Evaluation], start: Array) -> Array:
    """Parameters of the least value among those that are 0 or more, from `start` on (projected Newton).

    In every step the parameters that stand at 0 and would fall below it are held there.

    >>> minimise_above_zero(lambda x: (float((x @ x + 4 * x[0])), 2 * x + [4, 0], 2 * np.eye(2)), np.ones(2)).round(9)
    array([0., 0.])
    """
    point = start
    value, gradient, hessian = evaluate(point)
    for _ in range(MOST_STEPS):
        free = np.flatnonzero((point > 0) | (gradient < 0))
        step = np.zeros_like(point)
        if len(free):
            step[free] = _newton_step(gradient[free], hessian[np.ix_(free, free)])
        gain = float(gradient @ step)
        if not gain > NO_GAIN * max(1.0, abs(value)):
            return np.maximum(point - step, 0.0) if gain > 0 else point
        share = 1.0
        while True:
            there = np.maximum(point - share * step, 0.0)
            following = evaluate(there)
            if following[0] <= value - 1e-4 * float(gradient @ (point - there)):  # Armijo, along the bent path
                break
            share /= 2
            if share < 1e-12:  # rounding hides any further descent
                return point
        point = there
        value, gradient, hessian = following
    return point


def _newton_step(gradient: Array, hessian: Array) -> Array:
    """Solve hessian @ step = gradient with every parameter in its own unit, so that none is drowned by another."""
    curvature = np.diag(hessian)
    unit = np.sqrt(np.where(curvature > 0, curvature, 1.0))
    scaled = hessian / unit[:, None] / unit + RIDGE * np.eye(len(unit))
    return np.linalg.solve(scaled, gradient / unit) / unit
