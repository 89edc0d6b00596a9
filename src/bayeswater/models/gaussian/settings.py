"""How the parameters of `GaussianClassifier` are checked, and what they say of how covariances are read."""

from typing import Any, get_args

import numpy as np

from bayeswater.errors import ParameterError, StatisticsError
from bayeswater.estimate.covariance import FORMS, Reading, Shrinkage
from bayeswater.estimate.shrinkage import Friedman
from bayeswater.estimate.wishart import NormalInverseWishart
from bayeswater.models.settings import require_flag
from bayeswater.statistics.fourth_moments import FourthMoments
from bayeswater.statistics.scatter import Scatter
from bayeswater.typing import is_number

AUTO, OAS, LEDOIT_WOLF = "auto", "oas", "ledoit_wolf"
NAMED = (AUTO, OAS, LEDOIT_WOLF)
"""Words for shrinkage whose intensity is not given."""


def is_named(shrinkage: Any, name: str) -> bool:
    """Tell whether the parameter `shrinkage` is a certain word; it may be an array, which compares cell by cell."""
    return isinstance(shrinkage, str) and shrinkage == name


def refuse_em(missing: str, why: str) -> None:
    """Refuse what only sums over rows allow, where missing cells were expected from all rows together."""
    if missing == "em":
        raise StatisticsError(
            "with missing='em' the cells that are missing are expected from all rows and all parameters together, so "
            f"the sums are no sums over rows: {why}"
        )


def checked_reading(model: Any, scatter: Scatter | None) -> Reading:
    """Refuse parameters that are out of range or at odds, and say how covariances are to be read."""
    if model.covariance not in FORMS:
        raise ParameterError(f"covariance is {model.covariance!r}; it can be one of {list(FORMS)}")
    if model.estimate not in ("ml", "unbiased"):
        raise ParameterError(f"estimate is {model.estimate!r}; it can be 'ml' or 'unbiased'")
    if not (is_number(model.variance_floor) and 0 < model.variance_floor < 1):
        raise ParameterError(f"variance_floor is {model.variance_floor!r}; it must be a number over 0 and under 1")
    require_flag(model.calibrate, "calibrate")
    shrinkage = _checked_shrinkage(model, scatter)
    if model.prior is not None:
        if not isinstance(model.prior, NormalInverseWishart):
            raise ParameterError(f"prior is {model.prior!r}; give NormalInverseWishart(...) or None")
        if model.shrinkage is not None or model.estimate != "ml":
            raise ParameterError(
                "a prior says how far covariances are drawn and by what they are divided; leave shrinkage and estimate "
                f"at their defaults (they are {model.shrinkage!r} and {model.estimate!r}), or take no prior"
            )
        if scatter is not None:
            _require_fitting(model.prior, scatter.n_columns)
    return Reading(model.covariance, model.estimate == "unbiased", shrinkage, model.prior)


def _require_fitting(prior: NormalInverseWishart, n_columns: int) -> None:
    """Refuse a prior of other columns."""
    prior.degrees_for(n_columns)
    prior.mean_for(np.zeros(n_columns))
    prior.covariance_for(np.ones(n_columns))


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
    if given == AUTO:
        return model.__dict__.get("shrinkage_", Friedman())
    if form not in ("full", "shared"):
        raise ParameterError(
            f"shrinkage={given!r} is that of a matrix, and covariance={form!r} has none; give a number"
        )
    if given == LEDOIT_WOLF and scatter is not None and not isinstance(scatter, FourthMoments):
        raise ParameterError(
            "shrinkage='ledoit_wolf' needs fourth moments, which these sums do not hold; call fit again"
        )
    assert given in get_args(get_args(Shrinkage)[1])
    return given  # type: ignore[return-value]
