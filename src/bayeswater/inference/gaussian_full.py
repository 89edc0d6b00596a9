"""Normal and Student-t densities of all columns together: log-joints, what each column adds, and rows drawn.

    log N(x; m, C) = -1/2 (d log 2 pi + log det C + |z|^2),   z = (x - m) W,   W W' = C^-1

W is made once for each class; the rows of a block then cost one matrix product. A row with missing cells has the
density of the cells that are there: their part of mean and covariance. Rows are gathered by which cells they have, so
that each such pattern is factored once. With C = R R' the part of C that belongs to some columns is that of their rows
of R, and their triangular root is read off R by QR: the squares, in which small variances drown, are never summed.
Patterns of few rows are factored together, a stretch of rows at a time (`kernels/scatter.py`).

**What each column adds.** A density of all columns together is no product over columns, so the shares are a convention;
they add up to log P(row | class), up to a part that all classes share. With P the inverse of the covariance, m the mean
and d columns that are there:

- Classes that share a covariance have log-odds w.x + b: column j has w_kj (x_j - c_j) - (m_kj - c_j) w_kj / 2 with
  w_k = P (m_k - c), a line in x_j alone. Squares, in which the lines of a row far away would drown, are left out.
- Else the squared distance (x - m)' P (x - m) is a sum over j of (x_j - m_j) (P (x - m))_j, and column j has its part.
  Of the constant it has that of its own variance, and one d-th of that of the correlations; so that independent
  columns have just their own density. In a Student-t the logarithm is shared out as the squared distance is.

A row so far away that a float cannot hold its distance from a class is impossible there, as it is in a prediction.

**Rows drawn.** With noise z, the row mean + scale * step (z * deviation) back has the covariance of its class. A
Student-t is a normal density divided by the root of chi-square over its degrees of freedom: one for a row, or for
independent columns one for each of them.
"""

from collections.abc import Iterator
from functools import cached_property

import numpy as np
from scipy.linalg import solve_triangular
from scipy.special import gammaln

from bayeswater.estimate.densities import Densities
from bayeswater.estimate.yardstick import Yardstick, directions
from bayeswater.inference.normal_joint import LOG_TWO_PI
from bayeswater.kernels.scatter import lengths_by_roots, lengths_by_rows, part_of
from bayeswater.records import record
from bayeswater.statistics.scatter import RANK_SHARE
from bayeswater.typing import Array

STRETCH_CELLS = 2**16
"""Cells of the rows that are multiplied at a time, so that distances stay in cache until they are summed."""

FAR = 1000.0
"""Standard deviations from one place up to which distances between rows and means may be taken by way of it.

They are then rounded by 1e-13; further away every class is measured from its own mean.
"""

STEEP = 1000.0
"""How much larger the parts of a coordinate may be than a standard deviation, for a product in any order.

Beyond it columns nearly determine each other, parts cancel, and sums of another order differ by more than 1e-13.
"""

FEW_ROWS = 32
"""Rows with the same cells, below which they are not worth a factorisation of their own."""


@record
class FullJoint:
    """Densities laid out for scoring."""

    log_prior: Array
    densities: Densities

    @cached_property
    def whitening(self) -> Array:
        """W of each class: (n_classes, n_columns, n_directions)."""
        p = self.densities
        root = np.sqrt(np.where(p.blend.has_density[:, None], p.variance, 1.0))
        return np.stack([p.projection(k) / root[k] for k in range(p.n_classes)])

    @cached_property
    def constant(self) -> Array:
        """Log-density at the mean of each class, -inf without a density: (n_classes,)."""
        p = self.densities
        at_mean = log_density(0.0, p.log_determinant, p.degrees, p.n_directions)
        return np.where(p.blend.has_density, at_mean - p.blend.yardstick.log_volume, -np.inf)

    @property
    def parameters(self) -> Densities:
        """The densities."""
        return self.densities

    def of(self, block: Array, use_loop: bool) -> Array:
        """Log-joints of a block of rows."""
        return self.likelihood(block) + self.log_prior

    def likelihood(self, block: Array) -> Array:
        """Log-likelihoods, without the prior: (n_rows, n_classes)."""
        p = self.densities
        if block.dtype.kind == "f" and np.isnan(np.min(block, initial=0.0)):
            return self._by_pattern(block)
        result = np.empty((len(block), p.n_classes))
        with np.errstate(over="ignore", invalid="ignore"):
            self._distances(block, result)
            _no_number_is_infinite(result)
            return after_distance(result, self.constant, p.degrees, p.n_directions)

    def _distances(self, block: Array, result: Array) -> None:
        """Squared distances from the means, in standard deviations; a whitening that classes share is applied once."""
        p = self.densities
        n_columns, n_directions = self.whitening.shape[1:]
        rows = max(1, STRETCH_CELLS // max(n_columns, 1))
        away, z = np.empty((rows, n_columns)), np.empty((2, rows, n_directions))
        for start in range(0, len(block), rows):
            x = block[start : start + rows]
            n = len(x)
            if self.is_shared:
                np.subtract(x, p.blend.yardstick.center, out=away[:n])
                np.matmul(away[:n], self.whitening[0], out=z[1, :n])
            for k in range(p.n_classes):
                if self.is_shared:
                    np.subtract(z[1, :n], self.places[k], out=z[0, :n])
                else:
                    np.subtract(x, p.mean[k], out=away[:n])
                    (in_order if self.is_steep else np.matmul)(away[:n], self.whitening[k], out=z[0, :n])
                np.einsum("ij,ij->i", z[0, :n], z[0, :n], out=result[start : start + n, k])

    @cached_property
    def is_shared(self) -> bool:
        """Whether all classes have the same covariance, and lie near enough to be measured from one place."""
        is_near = not self.is_steep and (np.abs(self.places) <= FAR).all()
        return bool(is_near and (self.whitening == self.whitening[0]).all())

    @cached_property
    def is_steep(self) -> bool:
        """Whether parts of a coordinate cancel: they are added in the order of the columns then, as exports do."""
        spread = self.densities.blend.yardstick.scale
        return bool((np.abs(self.whitening).swapaxes(1, 2) @ spread > STEEP).any())

    @cached_property
    def places(self) -> Array:
        """Means of the classes where distances are standard deviations: (n_classes, n_directions)."""
        return (self.densities.mean - self.densities.blend.yardstick.center) @ self.whitening[0]

    def _by_pattern(self, block: Array) -> Array:
        """Log-likelihoods of rows of which some lack cells: those of a frequent pattern together, then all others."""
        result = np.empty((len(block), self.densities.n_classes))
        there = ~np.isnan(block)
        is_rare = np.zeros(len(block), dtype=bool)
        for rows, of_pattern in patterns(there, np.arange(len(block))):
            if of_pattern.all():
                result[rows] = self.likelihood(block[rows])
            elif len(rows) < FEW_ROWS:
                is_rare[rows] = True
            else:
                result[rows] = self._partial(block[rows], of_pattern)
        cells = seen_cells(self.densities.blend.yardstick, there[is_rare])
        rare, bound = np.flatnonzero(is_rare)[~cells.are_bound], np.flatnonzero(is_rare)[cells.are_bound]
        stretch = max(1, STRETCH_CELLS // block.shape[1] ** 2)
        for start in range(0, len(rare), stretch):
            part = rare[start : start + stretch]
            result[part] = self._of_rare(block[part])
        for rows, of_pattern in patterns(there, bound):
            result[rows] = self._partial(block[rows], of_pattern)
        return result

    def _of_rare(self, block: Array) -> Array:
        """Log-likelihoods of rows that lack cells each in its own way."""
        p, cells = self.densities, seen_cells(self.densities.blend.yardstick, ~np.isnan(block))
        result = np.full((len(block), p.n_classes), -np.inf)
        with np.errstate(over="ignore", invalid="ignore"):
            for k in np.flatnonzero(p.blend.has_density):
                u = np.where(cells.seen, (block - p.mean[k]) / p.blend.yardstick.scale, 0.0)[:, None]
                root = self._scaled_roots[k]
                if p.blend.yardstick.directions.is_plain and not p.is_skew[k]:
                    distance, log_determinant = lengths_by_roots(part_of((root @ root.T)[None], cells.seen), u)
                else:
                    distance, log_determinant = lengths_by_rows(root[None], u, cells.seen)
                _no_number_is_infinite(distance)
                result[:, k] = log_density(distance[:, 0], log_determinant, p.degrees[k], cells.n_directions)
        return result - cells.log_volume[:, None]

    def _partial(self, block: Array, there: Array) -> Array:
        p, part = self.densities, self.marginal(there)
        result = np.empty((len(block), p.n_classes))
        with np.errstate(over="ignore", invalid="ignore"):
            for k, whitening in enumerate(part.whitening):
                z = (block[:, part.seen] - p.mean[k, part.seen]) @ whitening
                result[:, k] = np.einsum("ij,ij->i", z, z)
            _no_number_is_infinite(result)
            return after_distance(result, part.constant, p.degrees, part.whitening.shape[2])

    def marginal(self, there: Array) -> "Marginal":
        """Densities of the cells that are `there` (n_columns,): their part of means and covariances."""
        p, measure = self.densities, self.densities.blend.yardstick
        if there.all():
            return Marginal(np.arange(len(there)), self.whitening, self.constant)
        seen, basis, log_volume = seen_directions(measure, there)
        d = basis.shape[1]
        whitening, constant = np.zeros((p.n_classes, len(seen), d)), np.full(p.n_classes, -np.inf)
        for k in np.flatnonzero(p.blend.has_density):
            upper = np.linalg.qr((basis.T @ self._scaled_roots[k][seen]).T, mode="r")
            inverse = solve_triangular(upper, np.eye(d), check_finite=False)
            whitening[k] = (basis / measure.scale[seen, None]) @ inverse
            log_determinant = 2 * np.log(np.abs(np.diagonal(upper))).sum()
            constant[k] = log_density(0.0, log_determinant, p.degrees[k], d) - log_volume
        return Marginal(seen, whitening, constant)

    @cached_property
    def _scaled_roots(self) -> list[Array]:
        return [self.densities.scaled_root(k) for k in range(self.densities.n_classes)]


def in_order(rows: Array, matrix: Array, out: Array) -> None:
    """Multiply rows by a matrix, one column after the other: the same digits in every language."""
    out[:] = 0.0
    for j, row in enumerate(matrix):
        out += rows[:, j, None] * row


@record
class Marginal:
    """Densities of some columns: W of each class (n_classes, n_seen, n_directions), and log-density at its mean."""

    seen: Array
    whitening: Array
    constant: Array


def seen_directions(measure: Yardstick, there: Array) -> tuple[Array, Array, float]:
    """Columns that are `there` and have a factor, the directions (n_seen, d) they differ in, and the log-volume."""
    if measure.directions.is_plain:
        seen = measure.directions.columns[there[measure.directions.columns]]
        return seen, np.eye(len(seen)), float(np.log(measure.scale[seen]).sum())
    seen = np.flatnonzero(there)
    # Of the directions of all columns: what they leave out no density has any extent in.
    ground = measure.directions.outward(measure.directions.inward(measure.ground))
    found = directions(ground[np.ix_(seen, seen)], only_columns=False)
    return seen, found.basis, found.log_volume


@record
class SeenCells:
    """Cells of rows that lack some: those that have a factor, and what they make of a density."""

    seen: Array  # (n_rows, n_columns)
    n_directions: Array  # (n_rows,)
    log_volume: Array  # (n_rows,)
    are_bound: Array  # (n_rows,): the columns seen are bound to one another, and have fewer directions than columns


def seen_cells(measure: Yardstick, there: Array) -> SeenCells:
    """See which cells of rows count, of those that are `there` (n_rows, n_columns)."""
    if measure.directions.is_plain:
        has_factor = np.isin(np.arange(there.shape[1]), measure.directions.columns)
        seen = there & has_factor
        log_scale = np.where(has_factor, np.log(measure.scale), 0.0)
        return SeenCells(seen, seen.sum(axis=1), seen @ log_scale, np.zeros(len(there), dtype=bool))
    ground = measure.directions.outward(measure.directions.inward(measure.ground))
    unit = np.sqrt(np.maximum(np.diagonal(ground), 0.0))
    seen = there & (unit > 0)
    unit = np.where(unit > 0, unit, 1.0)
    extents = np.linalg.eigvalsh(part_of((ground / unit / unit[:, None])[None], seen))
    are_bound = extents[:, 0] <= RANK_SHARE * extents[:, -1]
    return SeenCells(seen, seen.sum(axis=1), np.zeros(len(there)), are_bound)


def patterns(there: Array, rows: Array) -> Iterator[tuple[Array, Array]]:
    """Gather some rows by the cells that are `there` (n_rows, n_columns): places of the rows, and their cells."""
    if not len(rows):
        return
    bits = np.packbits(there[rows], axis=1)
    _, first, group = np.unique(bits, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(group.ravel(), kind="stable")
    ends = np.cumsum(np.bincount(group.ravel()))
    for start, stop, row in zip(np.r_[0, ends[:-1]], ends, first, strict=True):
        yield rows[order[start:stop]], there[rows[row]]


def log_density(distance: Array | float, log_determinant: Array, degrees: Array, d: Array | int) -> Array:
    """Logarithm of the density at a squared distance: normal, or Student's t where degrees are finite."""
    student = np.isfinite(degrees)
    v = np.where(student, degrees, 1.0)
    t = gammaln((v + d) / 2) - gammaln(v / 2) - 0.5 * (d * np.log(np.pi * v) + (v + d) * np.log1p(distance / v))
    normal = -0.5 * (d * LOG_TWO_PI + distance)
    return np.where(student, t, normal) - 0.5 * log_determinant


def after_distance(distance: Array, constant: Array, degrees: Array, d: int) -> Array:
    """Log-densities from squared distances (n_rows, n_classes), which are overwritten, and those at the means."""
    if np.isfinite(degrees).any():
        distance /= degrees
        np.log1p(distance, out=distance)
        distance *= degrees + d
    distance *= -0.5
    distance += constant
    return distance


def _no_number_is_infinite(distance: Array) -> None:
    """Put infinity where the square of a distance is no number any more."""
    if not np.isfinite(distance.sum()):
        distance[np.isnan(distance)] = np.inf


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


def draw_rows(read: Densities, codes: Array, rng: np.random.Generator) -> Array:
    """Draw a row of each given class: (n_rows, n_columns)."""
    measure, reading = read.blend.yardstick, read.blend.reading
    values = np.empty((len(codes), read.mean.shape[1]))
    for k in np.unique(codes):
        rows = np.flatnonzero(codes == k)
        noise = rng.standard_normal((len(rows), read.n_directions))
        if np.isfinite(read.degrees[k]):
            is_per_column = reading.is_diagonal and reading.form != "spherical"
            shape = noise.shape if is_per_column else (len(rows), 1)
            noise /= np.sqrt(rng.chisquare(read.degrees[k], size=shape) / read.degrees[k])
        back = np.linalg.inv(read.class_axes(k)) if read.is_skew[k] else read.class_axes(k).T
        away = (noise * np.sqrt(read.variance[k])) @ back @ measure.directions.step.T
        values[rows] = read.mean[k] + away * measure.scale
    return values
