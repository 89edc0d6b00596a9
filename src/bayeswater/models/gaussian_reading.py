"""How `GaussianClassifier` reads its rows and its parameters, and the densities off its sums.

Named columns are found by their name, and cells may be missing. Parameters that are out of range or at odds are refused
before anything is summed; where sums have no digits left, or a covariance has no extent, that is reported.
"""

from typing import Any, get_args

import numpy as np

from bayeswater.data.frames import frame_names, is_frame, require_known_columns, take_columns
from bayeswater.data.matrix import DenseTable
from bayeswater.data.reading.matrix_reading import first_cell, names_of, read_dense, require_values, with_known_columns
from bayeswater.errors import DataError, ParameterError, SingularCovarianceWarning, StatisticsError, warn_user
from bayeswater.estimate.covariance import FORMS, CovarianceReading, Shrinkage
from bayeswater.estimate.covariance_priors import Friedman, NormalInverseWishart
from bayeswater.estimate.densities import FEW_DIGITS, Densities
from bayeswater.estimate.yardstick import NARROWEST
from bayeswater.kernels.moments import FAINT
from bayeswater.models.settings import require_flag
from bayeswater.models.streaming.passes import Batches, Examples
from bayeswater.phrases import own_reasons
from bayeswater.statistics.fourth_moments import FourthMoments
from bayeswater.statistics.scatter import LOST_SQUARES, Scatter
from bayeswater.statistics.sums import ClassCounts, Sums
from bayeswater.typing import Array, is_number

own_reasons(
    {
        "columns {names} are bound to one another, or nearly so: a covariance has a condition number of {n} or more, "
        "so that {what}. Leave columns out that others tell already, or take shrinkage='auto'": (
            "列 {names} 彼此（几乎）线性相关：协方差的条件数不小于 {n}，因此{what}。"
            "请去掉多余的列，或用 shrinkage='auto'"
        ),
        "{n} of their directions tell nothing": "其中 {n} 个方向不含信息",
        "few digits of their differences are right": "它们之差只有少数几位可靠",
        "class {name} has no extent in {n} of {all} directions: {why}. There its variance is taken as {share} of what "
        "is usual": "类别 {name} 在 {all} 个方向中的 {n} 个上没有散布；在那里方差取通常值的 {share} 倍",
        "shrinkage='auto', a prior or a shared covariance estimate it better": (
            "shrinkage='auto'、先验或共享协方差能估计得更好"
        ),
    }
)

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
            "with missing='em' missing cells are estimated from all rows together, so there are no sums over rows: "
            f"{why}"
        )


def require_rows_for(missing: str, examples: Examples, *, is_auto: bool) -> None:
    """Refuse expected cells where rows are left out or read in pieces."""
    if is_auto:
        why = "shrinkage='auto' cannot leave rows out of them to choose; give a number or Friedman(...)"
        refuse_em(missing, why)
    if missing == "em" and not isinstance(examples, Batches):
        raise ParameterError(
            f"missing='em' looks at all rows again and again, and {examples.name} is read in pieces; fit rows that "
            "are in memory, or take missing='ignore'"
        )


def checked_reading(model: Any, scatter: Scatter | None) -> CovarianceReading:
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
                "a prior already sets the shrinkage of covariances and their divisor; leave shrinkage and estimate "
                f"at their defaults (they are {model.shrinkage!r} and {model.estimate!r}), or take no prior"
            )
        if scatter is not None:
            _require_fitting(model.prior, scatter.n_columns)
    return CovarianceReading(model.covariance, model.estimate == "unbiased", shrinkage, model.prior)


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
        raise ParameterError(f"shrinkage is {given!r}, but a spherical covariance cannot be shrunk further; take None")
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


def read_rows(X: Any, model: str, missing: str, known: Scatter | None) -> DenseTable:
    """Read a table of numbers, its columns in the order of the sums that are known; refuse cells that are none."""
    matrix = read_dense(X if known is None else _known_columns(X, known.names, model), model)
    if known is not None:
        matrix = with_known_columns(matrix, known.names, known.n_columns, model)
    require_values(matrix, model, missing="error" if missing == "error" else "ignore", allow_negative=True)
    return matrix


def _known_columns(X: Any, names: tuple[str, ...] | None, model: str) -> Any:
    """Take the columns of a frame that the model knows, in its order; others are left out unread."""
    if names is None or not is_frame(X):
        return X
    there = names_of(X, tuple(frame_names(X)))
    if there is None or there == names:
        return X
    require_known_columns(there, names, model)
    return take_columns(X, names)


def require_whole_rows(matrix: DenseTable) -> None:
    """Refuse missing cells among rows to learn from: fourth moments are kept of whole rows alone."""
    cell = first_cell(matrix, np.isnan)
    if cell is not None:
        raise DataError(
            f"Input X contains NaN: {cell.where}; shrinkage='ledoit_wolf' reads fourth moments, which are summed over "
            "whole rows. Fill the cell, leave the row out, or take shrinkage='oas' or a number (rows to predict may "
            "lack cells)"
        )


def require_finite(scatter: Scatter, reading: CovarianceReading) -> None:
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
    narrow = scatter.is_too_narrow.any(axis=0)
    if narrow.any():
        raise DataError(f"the squares of column {scatter.column_name(int(narrow.argmax()))!r} {LOST_SQUARES}")
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
