"""Weight, mean and scatter matrix of every class, and triangular roots of many small matrices.

Scatter = sum of w (x - mean)(x - mean)', in one reading of the rows and never as a difference of squares. The rows of a
block are taken by class, in stretches that stay in cache; each stretch is centred at its own mean and multiplied with
itself by BLAS, and joins the sums so far by the formula of Chan, Golub and LeVeque (1979):

    scatter = scatter_a + scatter_b + (mean_b - mean_a)(mean_b - mean_a)' weight_a weight_b / weight

Values are taken relative to the first row of their class, so that a column far from zero loses no digits.

Where cells are missing, every pair of columns has sums of its own, over the rows that have both cells: `mean[i, j]` is
then the mean of column i over the rows in which column j is there too, and the formula holds entry by entry, with
(mean_b - mean_a)[i, j] (mean_b - mean_a)[j, i] for the product.

The triangular roots of many small matrices are found at once. With C = L L', the vector z = L^-1 u has the length |z|^2
= u' C^-1 u, and det C is the square of the product of L's diagonal. Written below C as one more row, u becomes z by the
very steps that make L of C. The steps go over columns and take all matrices together: for matrices of a few dozen
columns that is as fast as LAPACK, and a matrix that is not positive says so by itself, where LAPACK's refusal would be
one for all. Larger ones go to LAPACK one by one.

Of some columns of C only their part is wanted, which may be another for every matrix: the other columns are replaced by
those of the unit matrix, which add nothing to lengths and determinants.
"""

import numpy as np
from scipy.linalg import solve_triangular

from bayeswater.kernels.moments import LEAST
from bayeswater.typing import Array

STRETCH_CELLS = 65_536
"""Cells of the rows that are multiplied at a time: half a megabyte of float64, which a second-level cache holds."""

ClassSums = tuple[Array, Array, Array]
"""Weight (1, 1) or (n_columns, n_columns), mean (n_columns, 1) or (n_columns, n_columns), and scatter."""


def class_scatter(
    X: Array, y: Array, weight: Array | None, n_classes: int, *, skip_missing: bool, higher: bool = False
) -> tuple[Array, ...]:
    """Sum one block of rows.

    Returns weights (n_classes, 1, 1), means (n_classes, n_columns, 1) and scatters (n_classes, n_columns, n_columns),
    the first two of the shape of the third when missing cells are skipped. With `higher`, which takes no missing cells,
    sums of y_i^2 y_j and of y_i^2 y_j^2 follow, y being the distance from the mean. A cell that is not finite shows up
    in the sums of its column.
    """
    n_columns = X.shape[1]
    ones = np.ones((n_classes, n_columns if skip_missing else 1, n_columns if skip_missing else 1))
    count, mean = np.zeros_like(ones), np.zeros((n_classes, n_columns, ones.shape[2]))
    scatter = np.zeros((n_classes, n_columns, n_columns))
    extra = np.zeros((2, *scatter.shape)) if higher else np.zeros((2, n_classes, 0, 0))
    order = np.argsort(y, kind="stable")
    stop = np.cumsum(np.bincount(y, minlength=n_classes))
    if not X.flags.c_contiguous:
        X = np.ascontiguousarray(X)
    buffer = np.empty((max(1, STRETCH_CELLS // n_columns), n_columns))
    with np.errstate(over="ignore", invalid="ignore"):
        for k in np.flatnonzero(np.diff(stop, prepend=0)):
            rows = order[stop[k - 1] if k else 0 : stop[k]]
            origin = _first_values(X, rows) if skip_missing else X[rows[0]].astype(np.float64)
            sums: tuple[Array, ...] = (count[k], mean[k], scatter[k], *extra[:, k])
            for start in range(0, len(rows), len(buffer)):
                part = rows[start : start + len(buffer)]
                z = _gathered(X, part, buffer)
                z -= origin
                w = None if weight is None else weight[part].astype(np.float64)
                new = _available(z, w) if skip_missing else _complete(z, w)
                sums = _joined_higher(sums, _with_higher(new, z, w)) if higher else merged(sums[:3], new)  # type: ignore[arg-type]
            count[k], scatter[k] = sums[0], sums[2]
            mean[k] = np.where(sums[0] > 0, sums[1] + origin[:, None], 0.0)
            if higher:
                extra[:, k] = sums[3:]
    return (count, mean, scatter, *extra) if higher else (count, mean, scatter)


def merged(a: ClassSums, b: ClassSums) -> ClassSums:
    """Join the sums of two sets of rows; works on one class, and on all of them along leading axes."""
    weight = a[0] + b[0]
    share = b[0] / np.where(weight > 0, weight, 1)
    apart = np.where((a[0] > 0) & (b[0] > 0), b[1] - a[1], 0.0)
    mean = np.where(a[0] > 0, a[1] + apart * share, b[1])
    scatter = a[2] + b[2] + apart * apart.swapaxes(-1, -2) * (a[0] * share)
    own = np.einsum("...ii->...i", scatter)  # a view
    if not own.all():
        differ = np.diagonal(np.broadcast_to(apart, scatter.shape), axis1=-2, axis2=-1) != 0
        own[(own == 0) & differ] = LEAST
    return weight, mean, scatter


def shifted_higher(n: Array, scatter: Array, third: Array, fourth: Array, away: Array) -> tuple[Array, Array]:
    """Sums of y_i^2 y_j and y_i^2 y_j^2 when every y has become y + away, (..., n_columns, 1)."""
    a, b = away, away.swapaxes(-1, -2)
    own = np.diagonal(scatter, axis1=-2, axis2=-1)
    s_i, s_j = own[..., :, None], own[..., None, :]
    third_ji = third.swapaxes(-1, -2)
    new_third = third + 2 * a * scatter + b * s_i + n * a * a * b
    new_fourth = fourth + 2 * b * third + 2 * a * third_ji + b * b * s_i + a * a * s_j
    return new_third, new_fourth + 4 * a * b * scatter + n * (a * b) ** 2


def _gathered(X: Array, rows: Array, buffer: Array) -> Array:
    z = buffer[: len(rows)]
    if X.dtype == np.float64:
        np.take(X, rows, axis=0, out=z, mode="clip")  # "clip" lets NumPy write into `z` itself
    else:
        z[...] = X[rows]
    return z


def _first_values(X: Array, rows: Array) -> Array:
    """First value of each column in some rows, zero where it has none: (n_columns,)."""
    first = np.zeros(X.shape[1])
    open_columns = np.arange(X.shape[1])
    for start in range(0, len(rows), 256):
        x = X[rows[start : start + 256]][:, open_columns].astype(np.float64)
        seen = ~np.isnan(x)
        found = seen.any(axis=0)
        first[open_columns[found]] = x[seen.argmax(axis=0)[found], np.flatnonzero(found)]
        open_columns = open_columns[~found]
        if not len(open_columns):
            break
    return first


def _complete(z: Array, w: Array | None) -> ClassSums:
    """Sums of rows without missing cells; z is left centred."""
    n = float(len(z)) if w is None else float(w.sum())
    mean = (np.ones(len(z)) if w is None else w) @ z / n  # BLAS sums columns faster than NumPy does
    z -= mean
    if w is None:
        return np.full((1, 1), n), mean[:, None], z.T @ z
    root = z * np.sqrt(w)[:, None]
    return np.full((1, 1), n), mean[:, None], root.T @ root


def _available(z: Array, w: Array | None) -> ClassSums:
    """Sums of each pair of columns, over the rows that have both."""
    seen = ~np.isnan(z)
    there = seen.astype(np.float64)
    if w is not None:
        there *= np.sqrt(w)[:, None]
    n = there.T @ there  # whole weights give whole numbers but for the rounding of their roots
    n = np.rint(n) if w is None or (w == np.floor(w)).all() else n
    z[~seen] = 0.0
    if w is not None:
        z *= np.sqrt(w)[:, None]
    own = np.diagonal(n)
    center = (z * there).sum(axis=0) / np.where(own > 0, own, 1.0)
    z -= center * there
    total = z.T @ there  # (i, j): of column i, over the rows that have j
    mean = total / np.where(n > 0, n, 1.0)
    scatter = z.T @ z - total * total.T / np.where(n > 0, n, 1.0)
    return n, np.where(n > 0, center[:, None] + mean, 0.0), scatter


def _with_higher(sums: ClassSums, z: Array, w: Array | None) -> tuple[Array, ...]:
    square = z * z
    weighted = square if w is None else square * w[:, None]
    return (*sums, weighted.T @ z, weighted.T @ square)


def _joined_higher(a: tuple[Array, ...], b: tuple[Array, ...]) -> tuple[Array, ...]:
    weight, mean, scatter = merged(a[:3], b[:3])  # type: ignore[arg-type]
    return (weight, mean, scatter, *merged_higher(a, b, mean))


def merged_higher(a: tuple[Array, ...], b: tuple[Array, ...], mean: Array) -> tuple[Array, Array]:
    """Join the third and fourth sums of two sets of rows whose common mean is given."""
    third = fourth = np.zeros(1)
    for n, center, scatter, r, q in (a, b):
        away = np.where(n > 0, center - mean, 0.0)
        moved = shifted_higher(n, scatter, r, q, away)
        third, fourth = third + moved[0], fourth + moved[1]
    return third, fourth


FEW_COLUMNS = 64
"""Columns up to which matrices are worked on together."""


def lengths_by_roots(matrices: Array, vectors: Array) -> tuple[Array, Array]:
    """Squared lengths u' C^-1 u and log-determinants of C.

    Parameters
    ----------
    matrices : symmetric, of shape (n, d, d)
    vectors : of shape (n, m, d): any number of u for each C

    Returns
    -------
    lengths (n, m) and log-determinants (n,); both NaN where C is not positive in every direction

    Examples
    --------
    >>> lengths_by_roots(np.array([[[4.0]], [[-1.0]]]), np.array([[[2.0]], [[2.0]]]))[0]
    array([[ 1.],
           [nan]])
    """
    n, d = matrices.shape[:2]
    if d > FEW_COLUMNS:
        return _one_by_one(matrices, vectors)
    work = np.empty((d + vectors.shape[1], d, n))  # matrices last: every step runs along memory
    work[:d] = matrices.transpose(1, 2, 0)
    work[d:] = vectors.transpose(1, 2, 0)
    log_determinant = np.zeros(n)
    with np.errstate(invalid="ignore", divide="ignore"):
        for j in range(d):
            column = work[j:, j]
            if j:
                column -= np.einsum("imn,mn->in", work[j:, :j], work[j, :j])
            pivot = np.where(column[0] > 0, column[0], np.nan)
            log_determinant += np.log(pivot)
            column /= np.sqrt(pivot)
        z = work[d:]
        return np.einsum("mjn,mjn->nm", z, z) + 0 * log_determinant[:, None], log_determinant


def _one_by_one(matrices: Array, vectors: Array) -> tuple[Array, Array]:
    """Do the same by LAPACK, matrix by matrix."""
    lengths, log_determinant = np.full(vectors.shape[:2], np.nan), np.full(len(matrices), np.nan)
    for i, matrix in enumerate(matrices):
        try:
            lower = np.linalg.cholesky(matrix)
        except np.linalg.LinAlgError:
            continue
        z = solve_triangular(lower, vectors[i].T, lower=True, check_finite=False)
        lengths[i], log_determinant[i] = (z * z).sum(axis=0), 2 * np.log(np.diagonal(lower)).sum()
    return lengths, log_determinant


def part_of(matrices: Array, seen: Array) -> Array:
    """Put unit columns in the place of those that are not `seen` (n, d): of lengths and determinants, nothing is left.

    >>> part_of(np.array([[[4.0, 1.0], [1.0, 9.0]]]), np.array([[True, False]]))
    array([[[4., 0.],
            [0., 1.]]])
    """
    return np.where(seen[:, :, None] & seen[:, None, :], matrices, np.eye(matrices.shape[-1]))


def lengths_by_rows(roots: Array, vectors: Array, seen: Array) -> tuple[Array, Array]:
    """Do as `lengths_by_roots` does of the part of C = R R' that is `seen`, without ever forming C.

    Its squares would drown what is small. The part of C belongs to some rows of R, whose triangular root QR finds.

    Parameters
    ----------
    roots : R, of shape (n or 1, d, any number of columns)
    vectors : of shape (n, m, d), zero where nothing is seen
    seen : of shape (n, d)
    """
    n, d = seen.shape
    if d == 0:
        return np.zeros(vectors.shape[:2]), np.zeros(n)
    rows = np.zeros((n, roots.shape[2] + d, d))
    rows[:, :-d] = (roots * seen[:, :, None]).swapaxes(1, 2)
    rows[:, -d:] = np.where(seen[:, None, :], 0.0, np.eye(d))
    upper: Array = np.linalg.qr(rows, mode="r")  # type: ignore[assignment]
    z = vectors.copy()
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):  # no extent in a direction: infinitely far
        for j in range(d):
            z[:, :, j] -= np.einsum("nmi,ni->nm", z[:, :, :j], upper[:, :j, j])
            z[:, :, j] /= upper[:, j, j, None]
        log_determinant = 2 * np.log(np.abs(np.diagonal(upper, axis1=1, axis2=2))).sum(axis=1)
        return np.einsum("nmj,nmj->nm", z, z), log_determinant
