"""What each column adds to the log-density of a row, where columns are not independent.

A density of all columns together is no product over columns, so the shares are a convention; they add up to
log P(row | class), up to a part that all classes share. With P the inverse of the covariance, m the mean and d columns
that are there:

- Classes that share a covariance have log-odds w.x + b: column j has w_kj (x_j - c_j) - (m_kj - c_j) w_kj / 2 with
  w_k = P (m_k - c), a line in x_j alone. Squares, in which the lines of a row far away would drown, are left out.
- Else the squared distance (x - m)' P (x - m) is a sum over j of (x_j - m_j) (P (x - m))_j, and column j has its part.
  Of the constant it has that of its own variance, and one d-th of that of the correlations; so that independent
  columns have just their own density. In a Student-t the logarithm is shared out as the squared distance is.

A row so far away that a float cannot hold its distance from a class is impossible there, as it is in a prediction.
"""

import numpy as np

from bayeswater.estimate.densities import Densities
from bayeswater.inference.gaussian import LOG_TWO_PI
from bayeswater.inference.gaussian_full import FullJoint, Marginal, log_density, patterns
from bayeswater.typing import Array


def full_terms(joint: FullJoint, block: Array) -> Array:
    """Log-likelihoods shared out over the columns: (n_rows, n_columns, n_classes), 0 for what is missing."""
    x = block.astype(np.float64, copy=False)
    terms = np.zeros((*x.shape, joint.densities.n_classes))
    for rows, there in patterns(~np.isnan(x), np.arange(len(x))):
        part = joint.marginal(there)
        if len(part.seen):
            with np.errstate(over="ignore", invalid="ignore"):
                found = _of_pattern(joint, part, x[np.ix_(rows, part.seen)])
            terms[np.ix_(rows, part.seen)] = np.where(np.isfinite(found).all(axis=1, keepdims=True), found, -np.inf)
    terms[:, :, ~joint.densities.blend.has_density] = -np.inf
    return terms


def _of_pattern(joint: FullJoint, part: Marginal, x: Array) -> Array:
    p = joint.densities
    mean, center = p.mean[:, part.seen], p.blend.yardstick.center[part.seen]
    d = part.whitening.shape[2]
    precision = part.whitening @ part.whitening.swapaxes(1, 2)  # (n_classes, n_seen, n_seen)
    terms = np.empty((*x.shape, p.n_classes))
    normal = np.isinf(p.degrees).all()
    if normal and joint.is_shared:
        away, means = x - center, mean - center
        weights = means @ precision[0]  # (n_classes, n_seen)
        return (away[:, :, None] - means.T / 2) * weights.T
    for k in np.flatnonzero(p.blend.has_density):
        away = x - mean[k]
        shares = away * (away @ precision[k])
        distance = shares.sum(axis=1, keepdims=True)
        # Precision of one column given the others is 1 / its variance where columns are independent.
        own = -0.5 * (LOG_TWO_PI - np.log(np.maximum(np.diagonal(precision[k]), np.finfo(float).tiny)))
        if np.isinf(p.degrees[k]):
            fall = -0.5 * shares
        else:
            whole = -0.5 * (p.degrees[k] + d) * np.log1p(distance / p.degrees[k])
            fall = np.divide(whole * shares, distance, out=np.zeros_like(shares), where=distance > 0)
        terms[:, :, k] = fall + own + (part.constant[k] - own.sum()) / x.shape[1]
    return terms


def independent_terms(p: Densities, block: Array) -> Array:
    """The same for independent columns, each of which has its own density."""
    columns = p.blend.yardstick.directions.columns
    x = block[:, columns].astype(np.float64, copy=False)[:, :, None]
    scale = p.blend.yardstick.scale[columns]
    variance = (np.where(p.blend.has_density[:, None], p.variance, 1.0) * scale**2).T  # (n_directions, n_classes)
    terms = np.zeros((*block.shape, p.n_classes))
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isinf(p.degrees).all() and (p.variance == p.variance[p.blend.has_density][:1])[p.blend.has_density].all():
            center = p.blend.yardstick.center[columns, None]
            means = p.mean[:, columns].T - center
            own = (x - center - means / 2) * (means / variance)
        else:
            own = log_density((x - p.mean[:, columns].T) ** 2 / variance, np.log(variance), p.degrees, 1)
        own = np.where(np.isfinite(own) | np.isnan(x), own, -np.inf)
    terms[:, columns] = np.where(np.isnan(x), 0.0, own)
    terms[:, :, ~p.blend.has_density] = -np.inf
    return terms
