"""Row weights, checked once and kept as integers where they are whole, and the rows that count (`CountedRows`).

A row of weight w stands for w equal rows, so a row of weight 0 is none: it is taken out here, before anything looks at
it, and it is taken out once. Whoever works on the others speaks of row 7 of them; a person is told the row of the table
that was given.
"""

from contextlib import AbstractContextManager, nullcontext
from typing import Any, TypeVar

import numpy as np

from bayeswater.data.column_types import without_views
from bayeswater.data.frames import computed, is_frame, library_of, materialised, unmasked
from bayeswater.data.labels import CheckedLabels, checked_labels
from bayeswater.data.row_places import original_rows
from bayeswater.errors import DataError, ParameterError
from bayeswater.records import record
from bayeswater.typing import Array

GivenLabels = TypeVar("GivenLabels", Array, CheckedLabels)

EXACT = 2**53
"""Whole numbers below this are exact as float64, in which sums of weights are taken."""


LEAST = 1e-300
"""Weights below this, and shares of them, are no numbers of sixteen digits any more."""


FEWEST_ROWS = 2
"""Rows that weights stand for together; fewer would make every parameter free."""


def checked_weight(sample_weight: Any, n_rows: int) -> Array | None:
    """Return None for rows that all count once, whole weights as int64, others as float64.

    >>> checked_weight([1, 2.0], 2)
    array([1, 2])
    """
    if sample_weight is None:
        return None
    weight = np.asarray(unmasked(computed(sample_weight)))
    if weight.dtype.kind == "c":
        raise DataError("sample_weight must hold real numbers, not complex ones")
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
    faint = np.flatnonzero((weight > 0) & (weight < LEAST))
    if len(faint):
        raise DataError(
            f"sample_weight is {weight[faint[0]]} in row {faint[0]}; below {LEAST:g} few digits of sums are right: "
            "multiply all weights by a large number, or leave the row out"
        )
    if n_rows and not weight.any():
        raise DataError("sample_weight is zero for every row; at least one weight must be over zero")
    if (weight == 1).all():
        return None
    with np.errstate(over="ignore"):
        total = weight.sum(dtype=np.float64)
    if not np.isfinite(total):
        raise DataError("the sum of sample_weight overflows; divide the weights by a large number")
    if total < EXACT and (weight == np.floor(weight)).all():
        return weight.astype(np.int64)
    return weight.astype(np.float64)


def require_rows(weight: Array | None) -> None:
    """Refuse weights that together are not even two rows, for scores that ask how many rows there are."""
    if weight is not None and weight.sum() < FEWEST_ROWS:
        raise ParameterError(
            f"the weights sum to {weight.sum():.4g}; a weight says as how many rows a row counts: give weights that "
            "sum to the number of rows"
        )


def without_zero_rows(X: Any, y: GivenLabels, weight: Array | None) -> tuple[Any, GivenLabels, Array | None]:
    """Take the rows of weight zero out of X, y and the weights."""
    if weight is None or weight.all():
        return X, y, weight
    keep = weight > 0
    kept = weight[keep]
    n_rows = n_rows_of(X)
    if n_rows != len(keep):
        raise inconsistent_lengths(n_rows, len(keep))
    return take_rows(X, keep), y[keep], None if (kept == 1).all() else kept


def n_rows_of(X: Any) -> int:
    """Count the rows of a table of any kind; refuse what has none to take."""
    shape = getattr(X, "shape", None)
    if X is None or np.isscalar(X) or shape == ():
        raise DataError(f"Expected 2D array, got {X!r} instead; give a table, a row for each label")
    if shape or hasattr(X, "__len__"):
        return int(shape[0]) if shape else len(X)
    return n_rows_of(np.asarray(X))


def inconsistent_lengths(n_rows: int, n_labels: int) -> DataError:
    """Say that X and y are of different length."""
    return DataError(
        f"Found input variables with inconsistent numbers of samples: X has {n_rows} rows, y has {n_labels}; "
        "give one label for each row"
    )


def take_rows(X: Any, keep: Array) -> Any:
    """Take the marked rows of a table of any kind."""
    if hasattr(X, "tocsr"):  # not every sparse format can be indexed
        return X.tocsr()[keep]
    if not (hasattr(X, "shape") or hasattr(X, "__len__") or is_frame(X)):
        return np.asarray(X)[keep]
    if library_of(X) == "pandas" or (hasattr(X, "shape") and not is_frame(X)):
        return X[keep]
    if library_of(X) == "pyarrow":  # which filters no views
        return without_views(X).filter(keep)
    return X.filter(keep) if is_frame(X) else [row for row, kept in zip(X, keep, strict=True) if kept]


def evenly_spaced(n_rows: int, most: int) -> Array:
    """Mark up to `most` of some rows, as far from each other as can be.

    >>> evenly_spaced(5, 3)
    array([ True, False,  True, False,  True])
    """
    marked = np.zeros(n_rows, dtype=bool)
    marked[np.linspace(0, n_rows - 1, min(n_rows, most)).astype(np.int64)] = True
    return marked


ALL_ROWS = nullcontext()
"""Of rows that are all there: each has its own place."""


@record
class CountedRows:
    """Rows that all count.

    Attributes
    ----------
    X : their table
    y : their labels, checked
    weight : (n_rows,), all over 0; None where every row counts once
    kept : marks of these rows among all that were given; None where they are all of them
    """

    X: Any
    y: CheckedLabels
    weight: Array | None
    kept: Array | None = None

    @classmethod
    def of(cls, X: Any, y: Any, sample_weight: Any, model: str) -> "CountedRows":
        """Check labels and weights, and take the rows of weight zero out.

        Labels that have been checked come with weights that have been: such rows are given back as they are.

        >>> rows = CountedRows.of([[1.0], [2.0]], ["a", "b"], [0, 1], "NaiveBayes")
        >>> rows.X, rows.y.array, rows.weight, rows.kept
        ([[2.0]], array(['b'], dtype='<U1'), None, array([False,  True]))
        """
        if isinstance(y, CheckedLabels):
            return cls(X, y, sample_weight)
        labels, X = required_labels(y, model), materialised(X)
        weight = checked_weight(sample_weight, len(labels))
        kept = None if weight is None or weight.all() else weight > 0
        return cls(*without_zero_rows(X, labels, weight), kept)

    @property
    def triple(self) -> tuple[Any, CheckedLabels, Array | None]:
        """Table, labels and weights."""
        return self.X, self.y, self.weight

    def named(self) -> AbstractContextManager[None]:
        """Give errors about a row the place that it has in the table that was given."""
        return ALL_ROWS if self.kept is None else original_rows(self.kept)


def required_labels(y: Any, model: str) -> CheckedLabels:
    """Check labels; refuse to learn without them."""
    if y is None:
        raise DataError(
            f"This {model} estimator requires y to be passed, but the target y is None. Give y, or with target= the "
            "name of the column of X that holds the labels"
        )
    return checked_labels(y)
