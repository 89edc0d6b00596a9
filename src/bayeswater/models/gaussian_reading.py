"""How the parameters of `GaussianClassifier` are checked, and its densities read off the sums with them."""

from typing import Any, get_args

import numpy as np

from bayeswater.errors import DataError, ParameterError, SingularCovarianceWarning, warn_user
from bayeswater.estimate.covariance import FORMS, Reading, Shrinkage
from bayeswater.estimate.densities import Densities, read_densities
from bayeswater.estimate.shrinkage import Friedman
from bayeswater.estimate.wishart import NormalInverseWishart
from bayeswater.inference.gaussian_form import joint_of
from bayeswater.inference.gaussian_full import FullJoint
from bayeswater.inference.independent import IndependentJoint
from bayeswater.statistics.fourth_moments import FourthMoments
from bayeswater.statistics.scatter import Scatter
from bayeswater.statistics.sums import Sums
from bayeswater.typing import Array, is_number

NAMED = ("auto", "oas", "ledoit_wolf")


def checked_reading(model: Any, scatter: Scatter | None) -> Reading:
    """Refuse parameters that are out of range or at odds, and say how covariances are to be read."""
    if model.covariance not in FORMS:
        raise ParameterError(f"covariance is {model.covariance!r}; it can be one of {list(FORMS)}")
    if model.estimate not in ("ml", "unbiased"):
        raise ParameterError(f"estimate is {model.estimate!r}; it can be 'ml' or 'unbiased'")
    if not (is_number(model.variance_floor) and 0 < model.variance_floor < 1):
        raise ParameterError(f"variance_floor is {model.variance_floor!r}; it must be a number over 0 and under 1")
    if not isinstance(model.calibrate, bool | np.bool_):
        raise ParameterError(f"calibrate is {model.calibrate!r}; it must be True or False")
    shrinkage = _checked_shrinkage(model, scatter)
    if model.prior is not None:
        if not isinstance(model.prior, NormalInverseWishart):
            raise ParameterError(f"prior is {model.prior!r}; give NormalInverseWishart(...) or None")
        if model.shrinkage is not None or model.estimate != "ml":
            raise ParameterError(
                "a prior says how far covariances are drawn and by what they are divided; leave shrinkage and estimate "
                f"at their defaults (they are {model.shrinkage!r} and {model.estimate!r}), or take no prior"
            )
    return Reading(model.covariance, model.estimate == "unbiased", shrinkage, model.prior)


def _checked_shrinkage(model: Any, scatter: Scatter | None) -> Shrinkage:
    given, form = model.shrinkage, model.covariance
    if given is None:
        return Friedman()
    if form == "spherical":
        raise ParameterError(f"shrinkage is {given!r}, but a spherical covariance is a sphere already; take None")
    if isinstance(given, Friedman):
        return given
    if is_number(given) and not isinstance(given, bool):
        if not 0 <= given <= 1:
            raise ParameterError(f"shrinkage is {given!r}; a number must be from 0 to 1")
        return Friedman(spherical=float(given))
    if not (isinstance(given, str) and given in NAMED):
        raise ParameterError(
            f"shrinkage is {given!r}; give None, a number from 0 to 1, Friedman(...), or one of {list(NAMED)}"
        )
    if given == "auto":
        return model.__dict__.get("shrinkage_", Friedman())
    if form not in ("full", "shared"):
        raise ParameterError(
            f"shrinkage={given!r} is that of a matrix, and covariance={form!r} has none; give a number"
        )
    if given == "ledoit_wolf" and scatter is not None and not isinstance(scatter, FourthMoments):
        raise ParameterError(
            "shrinkage='ledoit_wolf' needs fourth moments, which these sums do not hold; call fit again"
        )
    assert given in get_args(get_args(Shrinkage)[1])
    return given  # type: ignore[return-value]


def require_finite(scatter: Scatter) -> None:
    """Refuse sums of squares that are no numbers any more."""
    with np.errstate(over="ignore", invalid="ignore"):
        _, center, total = scatter.pooled
        sums = np.abs(total).sum(axis=0) + np.abs(center) + np.abs(scatter.scatter).sum(axis=(0, 1))
    if not np.isfinite(sums).all():
        j = int((~np.isfinite(np.diagonal(total) + center + scatter.squares.sum(axis=0))).argmax())
        raise DataError(
            f"the squares of column {scatter.column_name(j)!r} overflow: its values are too far apart for float64; "
            "divide the column by a large number"
        )


def read_joint(
    sums: Sums[Scatter], reading: Reading, log_prior: Array, variance_floor: float
) -> FullJoint | IndependentJoint:
    """Read the densities off the sums, ready for scoring."""
    return joint_of(log_prior, read_densities(sums.columns, sums.class_count.count, reading, variance_floor))


def warn_of_lifted(read: Densities, classes: Array) -> None:
    """Say which classes have no extent in some direction, and why."""
    lifted = np.flatnonzero(read.n_lifted)
    if not len(lifted):
        return
    k, d = lifted[0], read.n_directions
    n = read.blend.count[k]
    why = (
        f"its weight of {n:g} rows spans no more" if n <= d else "its rows lie in a plane, or it has a constant column"
    )
    more = f", and {len(lifted) - 1} more class(es) are like it" if len(lifted) > 1 else ""
    warn_user(
        f"class {classes.tolist()[k]!r} has no extent in {read.n_lifted[k]} of {d} directions: {why}{more}. There its "
        f"variance is taken as {read.variance_floor:g} of that of all rows; shrinkage='auto', a prior or a shared "
        "covariance estimate it better",
        SingularCovarianceWarning,
    )
