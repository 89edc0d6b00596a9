"""How the densities of `GaussianClassifier` are read off its sums, and where that is refused or doubtful."""

import numpy as np

from bayeswater.errors import DataError, SingularCovarianceWarning, warn_user
from bayeswater.estimate.covariance import Reading
from bayeswater.estimate.densities import FEW_DIGITS, Densities, read_densities
from bayeswater.estimate.wishart import NormalInverseWishart
from bayeswater.estimate.yardstick import NARROWEST
from bayeswater.inference.gaussian_form import joint_of
from bayeswater.inference.gaussian_full import FullJoint
from bayeswater.inference.independent import IndependentJoint
from bayeswater.kernels.faint_squares import FAINT
from bayeswater.statistics.class_counts import ClassCounts
from bayeswater.statistics.fourth_moments import FourthMoments
from bayeswater.statistics.scatter import Scatter
from bayeswater.statistics.sums import Sums
from bayeswater.typing import Array


def require_finite(scatter: Scatter, reading: Reading) -> None:
    """Refuse sums of squares, and of fourth powers, that are no numbers any more, or have lost their digits."""
    with np.errstate(over="ignore", invalid="ignore"):
        _, center, total = scatter.pooled
        spread = np.diagonal(total)
        powers = spread + center + scatter.squares.sum(axis=0)
        is_finite = np.isfinite(powers.sum() + np.abs(total).sum() + np.abs(scatter.scatter).sum())
        fourth = np.diagonal(scatter.fourth.sum(axis=0)) if isinstance(scatter, FourthMoments) else spread
    if not (is_finite and np.isfinite(fourth).all()):
        _refuse(
            scatter, ~(np.isfinite(powers) & np.isfinite(fourth)), "overflow: its values are too far apart", "divide"
        )
    within = scatter.squares.sum(axis=0)  # without any, fourth powers within classes are zero and have lost nothing
    faint = ((spread > 0) & (spread < FAINT)) | ((within > 0) & (fourth < FAINT))
    if reading.form == "spherical":
        faint &= spread.max() < FAINT  # one variance for all columns is as large as any
    if faint.any() and (reading.prior is None or reading.prior.covariance is None):
        _refuse(scatter, faint, "underflow: its values are too near to one another", "multiply")
    if reading.prior is not None:
        n = scatter.cells.sum(axis=0).max()
        narrow = (spread > 0) & (spread < n * NARROWEST * _expected_squares(reading.prior, center))
        if narrow.any():
            _refuse(scatter, narrow, "underflow beside what the prior expects: it is too narrow", "multiply")


def _expected_squares(prior: NormalInverseWishart, center: Array) -> Array:
    """Squares of what a prior says of the columns: their variance, and how far off their mean is; 0 if nothing."""
    with np.errstate(over="ignore"):
        variance = np.diagonal(prior.covariance_for(np.ones_like(center))) if prior.covariance is not None else 0.0
        return variance + (center - prior.mean_for(center)) ** 2


def _refuse(scatter: Scatter, columns: Array, what: str, remedy: str) -> None:
    raise DataError(
        f"the squares of column {scatter.column_name(int(columns.argmax()))!r} {what} for float64; {remedy} the column "
        "by a large number"
    )


def read_joint(
    sums: Sums[Scatter], reading: Reading, log_prior: Array, variance_floor: float
) -> FullJoint | IndependentJoint:
    """Read the densities off the sums, ready for scoring."""
    return joint_of(log_prior, read_densities(sums.columns, sums.class_count.count, reading, variance_floor))


def warn_of_singular(read: Densities, sums: Sums[Scatter]) -> None:
    """Say where covariances have no extent that sums of squares can tell: in all classes, or in some of them."""
    _warn_of_bound(read, sums.columns)
    _warn_of_lifted(read, sums.class_count)


def _warn_of_bound(read: Densities, scatter: Scatter) -> None:
    """Name columns that are bound to one another, or so nearly that few digits are left of how they differ."""
    measure, reading = read.blend.yardstick, read.blend.reading
    share, faintest = measure.directions.least_share, np.abs(measure.directions.faintest)
    if read.n_directions and not (reading.is_diagonal or reading.is_drawn_to_sphere or reading.prior):
        unlifted = read.variance[read.is_skew & (read.n_lifted == 0)]  # of columns of unit length
        share = min([share, *(unlifted.min(axis=1) / unlifted.max(axis=1)).tolist()])
    if share >= FEW_DIGITS:
        return
    columns = np.argsort(-faintest, kind="stable")[: (faintest > 0.1).sum()]
    names = ", ".join(repr(scatter.column_name(int(j))) for j in columns[:3]) + ", ..." * (len(columns) > 3)
    n_empty = int((np.diagonal(measure.ground) > 0).sum()) - read.n_directions
    what = f"{n_empty} of their directions tell nothing" if n_empty else "few digits of their differences are right"
    warn_user(
        f"columns {names} are bound to one another, or nearly so: a covariance has a condition number of "
        f"{1 / max(share, 1e-16):.0e} or more, so that {what}. Leave columns out that others tell already, or take "
        "shrinkage='auto'",
        SingularCovarianceWarning,
    )


def _warn_of_lifted(read: Densities, class_count: ClassCounts) -> None:
    """Say which classes have no extent in some direction, and why.

    Only of whole weights is it known that there are no more rows than their sum.
    """
    lifted = np.flatnonzero(read.n_lifted)
    if not len(lifted):
        return
    k, d = lifted[0], read.n_directions
    n = class_count.count[k]
    is_small = n <= d and class_count.count.dtype.kind == "i"
    why = f"its {n} row(s) span no more" if is_small else "its rows lie in a plane, or it has a constant column"
    more = f", and {len(lifted) - 1} more class(es) are like it" if len(lifted) > 1 else ""
    warn_user(
        f"class {class_count.classes.states[k]!r} has no extent in {read.n_lifted[k]} of {d} directions: {why}{more}. "
        f"There its variance is taken as {read.variance_floor:g} of what is usual; shrinkage='auto', a prior or a "
        "shared covariance estimate it better",
        SingularCovarianceWarning,
    )
