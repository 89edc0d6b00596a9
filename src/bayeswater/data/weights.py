"""Row weights: checked once, kept as integers where they are whole.

A row of weight w stands for w equal rows. A row of weight 0 is no row: it is taken out before anything looks at it.
"""

from typing import Any

import numpy as np

from bayeswater.data.frames import is_frame, library_of, read_frame
from bayeswater.errors import DataError
from bayeswater.typing import Array


def checked_weight(sample_weight: Any, n_rows: int) -> Array | None:
    """Return None for rows that all count once, whole weights as int64, others as float64.

    >>> checked_weight([1, 2.0], 2)
    array([1, 2])
    """
    if sample_weight is None:
        return None
    weight = np.asarray(sample_weight)
    if weight.dtype.kind not in "biuf":
        try:
            weight = weight.astype(np.float64)
        except (TypeError, ValueError):
            raise DataError(f"sample_weight must hold numbers, not {weight.dtype}") from None
    if weight.ndim == 0:
        weight = np.full(n_rows, weight)
    if weight.ndim != 1:
        raise DataError(f"Sample weights must be 1D array or scalar, got an array of {weight.ndim} dimensions")
    if len(weight) != n_rows:
        raise DataError(
            f"sample_weight.shape == {weight.shape}, expected {(n_rows,)}: give one weight for each row of X"
        )
    bad = np.flatnonzero(~(np.isfinite(weight) & (weight >= 0)))
    if len(bad):
        raise DataError(f"sample_weight is {weight[bad[0]]} in row {bad[0]}; weights must be finite and not negative")
    if n_rows and not weight.any():
        raise DataError("sample_weight is zero for every row; at least one weight must be over zero")
    if (weight == 1).all():
        return None
    if weight.dtype.kind != "f" or (weight.max() < 2**53 and (weight == np.floor(weight)).all()):
        return weight.astype(np.int64)
    return weight.astype(np.float64)


def without_zero_rows(X: Any, y: Array, weight: Array | None) -> tuple[Any, Array, Array | None]:
    """Take the rows of weight zero out of X, y and the weights."""
    if weight is None or weight.all():
        return X, y, weight
    keep = weight > 0
    kept = weight[keep]
    return take_rows(X, keep), y[keep], None if (kept == 1).all() else kept


def take_rows(X: Any, keep: Array) -> Any:
    """Take the marked rows of a table of any kind."""
    if library_of(X) == "pandas" or (hasattr(X, "shape") and not is_frame(X)):
        return X[keep]
    if not is_frame(X):
        return [row for row, kept in zip(X, keep, strict=True) if kept]
    return read_frame(X).table.filter(keep) if library_of(X) == "pyarrow" else X.filter(keep)
