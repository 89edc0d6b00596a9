"""Triangular roots of many small matrices at once.

With C = L L', the vector z = L^-1 u has the length |z|^2 = u' C^-1 u, and det C is the square of the product of L's
diagonal. Written below C as one more row, u becomes z by the very steps that make L of C. The steps go over columns and
take all matrices together: for matrices of a few dozen columns that is as fast as LAPACK, and a matrix that is not
positive says so by itself, where LAPACK's refusal would be one for all. Larger ones go to LAPACK one by one.

Of some columns of C only their part is wanted, which may be another for every matrix: the other columns are replaced by
those of the unit matrix, which add nothing to lengths and determinants.
"""

import numpy as np
from scipy.linalg import solve_triangular

from bayeswater.typing import Array

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
