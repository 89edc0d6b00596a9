"""Scores of normal classes that share a covariance: lines, up to what all classes have in common.

Of log N(x; m_k, C) only w_k.(x - c) + b_k differs between the classes, with c the mean of all rows,

    w_k = C^-1 (m_k - c),   b_k = -1/2 (m_k - c)' C^-1 (m_k - c)

so a posterior needs one product of the rows with a narrow matrix. Taken from c, columns far from zero lose no digits;
where they are not far, c can as well be put into the intercepts, and the rows are multiplied as they are. Where a class
is far away from c, what tells its neighbours apart would drown in what tells them from c: the line from c then only
finds the class that a row is near to, and the mean of that class takes the place of c. Where columns nearly determine
each other, parts of a line cancel: they are added in the order of the columns then, as exports do.
"""

from functools import cached_property

import numpy as np

from bayeswater.estimate.densities import Densities
from bayeswater.inference.gaussian_full import FAR, STEEP, STRETCH_CELLS, FullJoint, in_order
from bayeswater.inference.scoring import Joint
from bayeswater.records import record
from bayeswater.typing import Array

NEAR = 1000.0
"""Largest sum of |c_j w_jk| at which c may be put into the intercepts: log-odds are then rounded by 1e-13 at most."""


@record
class GaussianLine:
    """Weights (n_columns, n_classes) of distances from a center (n_columns,), and intercepts (n_classes,)."""

    center: Array
    weight: Array
    intercept: Array
    is_steep: bool  # parts of a row cancel

    @cached_property
    def is_near(self) -> bool:
        """Whether the center is so near to zero that rows can be multiplied as they are."""
        return not self.is_steep and bool((np.abs(self.center) @ np.abs(self.weight)).max(initial=0.0) <= NEAR)

    def products(self, block: Array) -> Array:
        """Products of the weights with the distances of rows from the center: (n_rows, n_classes)."""
        if self.is_near and block.dtype == np.float64:
            products: Array = block @ self.weight
            products -= self.center @ self.weight
            return products
        products = np.empty((len(block), len(self.intercept)))
        rows = max(1, STRETCH_CELLS // max(block.shape[1], 1))
        away = np.empty((min(rows, len(block)), block.shape[1]))
        for start in range(0, len(block), rows):
            x = block[start : start + rows]
            np.subtract(x, self.center, out=away[: len(x)])
            multiply = in_order if self.is_steep else np.matmul
            multiply(away[: len(x)], self.weight, out=products[start : start + len(x)])
        return products


@record
class LineJoint:
    """Log-joints but for a term that all classes have in common, of rows that lack no cell; `exact` has the others."""

    log_prior: Array
    line: GaussianLine
    exact: Joint
    from_classes: tuple[GaussianLine, ...] = ()  # lines from the mean of each class, where one is far away

    def of(self, block: Array, use_loop: bool) -> Array:
        """Scores of a block of rows; their differences are log-odds."""
        with np.errstate(over="ignore", invalid="ignore"):
            scores = self.line.products(block)
            is_finite = np.isfinite(scores.sum())
            # A missing cell, and a product that is no number, show in the row.
            apart = None if is_finite else np.flatnonzero(~np.isfinite(scores.sum(axis=1)))
            scores += self.line.intercept + self.log_prior
            nearest = scores.argmax(axis=1)
            for k in np.unique(nearest) if self.from_classes else ():
                near = np.flatnonzero(nearest == k)
                scores[near] = self.from_classes[k].products(block[near])
                scores[near] += self.from_classes[k].intercept + self.log_prior
        if apart is not None and len(apart):
            scores[apart] = self.exact.of(block[apart], use_loop)
        return scores


def line_joint(log_prior: Array, read: Densities, exact: Joint) -> LineJoint | None:
    """Lay out the lines of normal classes that share a covariance; None where they do not."""
    seen = np.flatnonzero(read.blend.has_density)
    form = FullJoint(np.zeros(read.n_classes), read)
    if np.isfinite(read.degrees).any() or not len(seen) or not (form.whitening[seen] == form.whitening[seen[0]]).all():
        return None
    whitening = form.whitening[seen[0]]

    def line_from(center: Array) -> GaussianLine:
        away = np.where(read.blend.has_density[:, None], read.mean - center, 0.0)
        weight = (away @ whitening) @ whitening.T  # (n_classes, n_columns)
        intercept = form.constant - form.constant[seen[0]] - 0.5 * (weight * away).sum(axis=1)
        # Both laid out alike in every model, so that products of theirs have the same bits.
        is_steep = bool((np.abs(weight) @ read.blend.yardstick.scale > STEEP).any())
        return GaussianLine(np.ascontiguousarray(center), np.ascontiguousarray(weight.T), intercept, is_steep)

    center = read.blend.yardstick.center
    is_far = (np.abs((read.mean[seen] - center) @ whitening) > FAR).any()
    return LineJoint(log_prior, line_from(center), exact, tuple(map(line_from, read.mean)) if is_far else ())
