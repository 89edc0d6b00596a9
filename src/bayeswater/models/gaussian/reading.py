"""How the parameters of `GaussianClassifier` are checked, and its densities read off the sums with them."""

from typing import Any, get_args

import numpy as np

from bayeswater.data.column_plan import Column
from bayeswater.data.matrix import ColumnMatrix, DenseMatrix, DenseTable, first_cell
from bayeswater.data.raw_table import RawTable
from bayeswater.errors import DataError, ParameterError, SchemaError, SingularCovarianceWarning, warn_user
from bayeswater.estimate.covariance import FORMS, Reading, Shrinkage
from bayeswater.estimate.densities import Densities, read_densities
from bayeswater.estimate.shrinkage import Friedman
from bayeswater.estimate.wishart import NormalInverseWishart
from bayeswater.explain.gaussian_view import GaussianTerms, GaussianView, Rows
from bayeswater.inference.gaussian_form import joint_of
from bayeswater.inference.gaussian_full import FullJoint
from bayeswater.inference.gaussian_terms import full_terms, independent_terms
from bayeswater.inference.independent import IndependentJoint
from bayeswater.statistics.class_counts import ClassCounts
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


def in_known_order(matrix: DenseTable, names: tuple[str, ...] | None) -> DenseTable:
    """Put named columns into the order the model knows; refuse a table that lacks one, or has another."""
    if matrix.names is None or names is None or matrix.names == names:
        return matrix
    unknown, lacking = sorted(set(matrix.names) - set(names)), sorted(set(names) - set(matrix.names))
    if unknown or lacking:
        raise SchemaError(
            "The feature names should match those that were passed during fit: "
            + "; ".join(f"{what} {found[:5]}" for what, found in (("X has", unknown), ("X lacks", lacking)) if found)
        )
    order = [matrix.names.index(name) for name in names]
    if isinstance(matrix, DenseMatrix):
        return DenseMatrix(matrix.values[:, order], names)
    return ColumnMatrix(tuple(matrix.columns[j] for j in order), names)


def require_whole_rows(matrix: DenseTable) -> None:
    """Refuse missing cells among rows to learn from: fourth moments are kept of whole rows alone."""
    cell = first_cell(matrix, np.isnan)
    if cell is not None:
        raise DataError(
            f"Input X contains NaN: {cell.where}; shrinkage='ledoit_wolf' reads fourth moments, which are summed over "
            "whole rows. Fill the cell, leave the row out, or take shrinkage='oas' or a number (rows to predict may "
            "lack cells)"
        )


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


def gaussian_terms(
    joint: FullJoint | IndependentJoint, table: DenseTable, names: list[str], raw: RawTable
) -> tuple[GaussianTerms, tuple[GaussianView, ...]]:
    """Make the log-likelihoods of some rows ready for an explanation, column by column."""
    rows = Rows(table.block(slice(0, table.shape[0])).astype(np.float64))
    sources = names if set(names) == set(raw.names) else raw.names
    columns = tuple(Column(name, source, "gaussian") for name, source in zip(names, sources, strict=True))

    def share_out(block: Array) -> Array:
        if isinstance(joint, FullJoint):
            return full_terms(joint, block)
        return independent_terms(joint.densities, block)

    measure = joint.densities.blend.yardstick
    deviation = measure.scale * np.sqrt(np.diagonal(measure.total))
    views = tuple(
        GaussianView(column, joint, rows, j, raw, (float(measure.center[j]), float(deviation[j])))
        for j, column in enumerate(columns)
    )
    return GaussianTerms(joint, rows, {"": columns}, share_out), views  # type: ignore[arg-type]


def warn_of_lifted(read: Densities, class_count: ClassCounts) -> None:
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
