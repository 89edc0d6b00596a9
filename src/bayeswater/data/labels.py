"""Class labels: of any type, coded in the narrowest integer that fits.

Labels are coded by us and never counted in their own dtype, so a label of 8 bits cannot overflow a count.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from bayeswater.data.variable import Variable, sorted_labels
from bayeswater.errors import DataError
from bayeswater.typing import Array


@dataclass(frozen=True)
class Labels:
    """The class of every row: a code (n_rows,) into the states of `variable`."""

    variable: Variable
    codes: Array

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return self.variable.n_states


def narrow_codes(codes: Array, n_states: int) -> Array:
    """Store codes 0 .. n_states in the narrowest of uint8, uint16 and int32.

    >>> narrow_codes(np.array([0, 255]), 255).dtype
    dtype('uint8')
    """
    kind = np.uint8 if n_states < 2**8 else np.uint16 if n_states < 2**16 else np.int32
    return codes.astype(kind, copy=False)


def encode_labels(y: Any, known: Variable | None = None) -> Labels:
    """Code the labels of y, into the domain `known` or, without one, into that of the labels found, sorted."""
    y = one_dimensional(y)
    if len(y) == 0:
        raise DataError("y has 0 labels (shape=(0,)) while a minimum of 1 is required.")
    if y.dtype.kind in "iu":
        found, codes = _encode_integers(y)
    elif y.dtype.kind == "O":
        found, codes = _encode_objects(y)
    else:
        found, codes = np.unique(y, return_inverse=True)
    states = tuple(found.tolist())
    if known is None:
        return Labels(Variable("class", states, dtype=y.dtype), narrow_codes(codes, len(states)))
    unknown = [state for state in states if state not in known.code_of]
    if unknown:
        raise DataError(
            f"The target label(s) {unknown} in y do not exist in the initial classes {list(known.states)}; "
            "declare every class in the first call of partial_fit, or fit again"
        )
    place = narrow_codes(np.array([known.code_of[state] for state in states]), known.n_states)
    return Labels(known, place[codes])


def declared_classes(classes: Any) -> Variable:
    """Give the domain of classes that a user declares: sorted, and kept though no row has them."""
    array = np.asarray(classes)
    states = sorted_labels(set(array.tolist()))
    return Variable("class", states, frozenset(states), array.dtype)


def one_dimensional(y: Any) -> Array:
    """Check shape and kind of y; integers, the common case, are passed through at once."""
    if isinstance(y, np.ndarray) and y.ndim == 1 and y.dtype.kind in "iub":
        return y
    if hasattr(y, "to_numpy"):  # a column of pandas, polars or pyarrow
        y = y.to_numpy()
    if isinstance(y, list | tuple) and any(isinstance(label, str) for label in y):
        y = np.array(y, dtype=object)
    from sklearn.utils import column_or_1d
    from sklearn.utils.multiclass import check_classification_targets

    try:
        flat: Array = column_or_1d(y, warn=True)
    except ValueError as error:
        raise DataError(f"y: {error}") from None
    missing = _missing(flat)
    if missing.any():
        row = int(missing.argmax())
        raise DataError(
            f"Input y contains NaN: the label of row {row} is missing ({flat[row]!r}), and so are "
            f"{missing.sum()} in all; "
            "leave these rows out"
        )
    if flat.dtype.kind == "c":
        raise DataError("Complex data not supported: y holds complex numbers; labels must be names or whole numbers")
    if flat.dtype.kind == "f" and not np.isfinite(flat).all():
        raise DataError(f"Input y contains infinity: the label of row {int(np.isinf(flat).argmax())}")
    if len(flat) and not isinstance(flat[0], str | np.str_ | np.bool_ | bool):
        try:
            check_classification_targets(flat)
        except ValueError as error:
            raise DataError(
                f"{error} Labels must be names or whole numbers; here y holds {flat[:3].tolist()} ..."
            ) from None
    return flat


def _missing(y: Array) -> Array:
    if y.dtype.kind == "f":
        return np.isnan(y)
    if y.dtype.kind == "O":
        return np.array([label is None or _is_nan(label) for label in y], dtype=bool)
    return np.zeros(len(y), dtype=bool)


def _is_nan(label: Any) -> bool:
    """Say whether a label differs from itself, as NaN does."""
    try:
        return bool(label != label)
    except TypeError:  # pandas.NA has no truth value
        return True


def _encode_integers(y: Array) -> tuple[Array, Array]:
    """Code integers by counting where their range is small: no sort."""
    low, high = int(y.min()), int(y.max())
    if high - low >= 2**16:
        return np.unique(y, return_inverse=True)
    distance = y if low == 0 else y.astype(np.int64) - low
    present = np.flatnonzero(np.bincount(distance.astype(np.int64, copy=False)))
    place = narrow_codes(np.zeros(high - low + 1, dtype=np.int64), len(present))
    place[present] = np.arange(len(present))
    return (present + low).astype(y.dtype), place[distance]


def _encode_objects(y: Array) -> tuple[Array, Array]:
    kinds = {type(label).__name__ for label in y}
    if len(kinds) > 1 and "str" in kinds:
        raise DataError(f"y mixes labels of types {sorted(kinds)}; give all labels one type, for example with str()")
    try:
        states = sorted_labels(set(y.tolist()))
    except TypeError:
        raise DataError(f"Unknown label type: y holds {sorted(kinds)}; labels must be names or whole numbers") from None
    code_of = {state: code for code, state in enumerate(states)}
    found = np.empty(len(states), dtype=object)
    found[:] = states
    return found, np.array([code_of[label] for label in y.tolist()], dtype=np.int64)
