"""Class labels: of any type, coded in the narrowest integer that fits.

Labels are coded by us and never counted in their own dtype, so a label of 8 bits cannot overflow a count.
"""

import sys
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayeswater.data.variable import Variable
from bayeswater.errors import DataError, ParameterError
from bayeswater.kernels.threads import row_blocks
from bayeswater.typing import Array


@dataclass(frozen=True)
class Labels:
    """The class of every row: a code (n_rows,) into the states of `variable`, and how many rows have each."""

    variable: Variable
    codes: Array
    count: Array  # (n_classes,)

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
        found, codes, count = _encode_integers(y)
    elif y.dtype.kind == "O":
        found, codes, count = _encode_objects(y)
    else:
        found, codes, count = np.unique(y, return_inverse=True, return_counts=True)
    states = tuple(found.tolist())
    if known is None:
        return Labels(Variable("class", states, dtype=y.dtype), narrow_codes(codes, len(states)), count)
    unknown = [state for state in states if state not in known.code_of]
    if unknown:
        raise DataError(
            f"The target label(s) {unknown} in y do not exist in the initial classes {list(known.states)}; "
            "declare every class in the first call of partial_fit, or fit again"
        )
    place = narrow_codes(np.array([known.code_of[state] for state in states]), known.n_states)
    count_of_known = np.zeros(known.n_states, dtype=np.int64)
    count_of_known[place] = count
    return Labels(known, place[codes], count_of_known)


def declared_classes(classes: Any) -> Variable:
    """Give the domain of classes that a user declares: sorted, and kept though no row has them."""
    try:
        found = encode_labels(classes).variable
    except DataError as error:
        raise ParameterError(f"classes is {classes!r}; give all labels there will be, in one list ({error})") from None
    return Variable("class", found.states, frozenset(found.states), found.dtype)


def one_dimensional(y: Any) -> Array:
    """Check shape and kind of y; integers, the common case, are passed through at once."""
    if isinstance(y, np.ndarray) and y.ndim == 1 and y.dtype.kind in "iub" and not isinstance(y, np.ma.MaskedArray):
        return y
    from sklearn.utils import column_or_1d

    try:
        flat: Array = column_or_1d(_as_array(y), warn=True)
    except ValueError as error:
        raise DataError(f"y: {error}") from None
    missing = _missing(flat)
    if missing.any():
        row = int(missing.argmax())
        raise DataError(
            f"Input y contains NaN: the label of row {row} is missing ({flat[row]!r}), and so are {missing.sum()} in "
            "all; leave these rows out"
        )
    if flat.dtype.kind == "O":
        flat = _of_one_type(flat)
    if flat.dtype.kind == "f":
        _require_whole(flat)
    return flat


def _as_array(y: Any) -> Any:
    """Turn a column of pandas, polars or pyarrow, a masked array or a list of names into an array."""
    pyarrow = sys.modules.get("pyarrow")
    if pyarrow is not None and isinstance(y, pyarrow.Array):
        return y.to_numpy(zero_copy_only=False)
    if hasattr(y, "to_numpy"):
        return y.to_numpy()
    if isinstance(y, np.ma.MaskedArray):
        return np.where(np.ma.getmaskarray(y), np.array(None), y.data)
    if isinstance(y, list | tuple) and any(isinstance(label, str) for label in y):
        return np.array(y, dtype=None if all(isinstance(label, str) for label in y) else object)
    return y


def _missing(y: Array) -> Array:
    if y.dtype.kind == "f":
        return np.isnan(y)
    if y.dtype.kind in "mM":
        return np.isnat(y)
    if y.dtype.kind == "O":
        return np.array([is_missing(label) for label in y], dtype=bool)
    return np.zeros(len(y), dtype=bool)


def is_missing(label: Any) -> bool:
    """Say whether a label is None or differs from itself, as NaN does."""
    try:
        return label is None or bool(label != label)
    except TypeError:  # pandas.NA has no truth value
        return True
    except ValueError:  # nor has an array, but it is there
        return False


def type_names(cells: Iterable[Any]) -> list[str]:
    """Name the types of the cells that are not missing.

    >>> type_names(["a", None, 1, "b"])
    ['int', 'str']
    """
    return sorted({type(cell).__name__ for cell in cells if not is_missing(cell)})


def _of_one_type(y: Array) -> Array:
    """Give objects that are numbers as an array of numbers, names as they are; refuse other things, and mixtures."""
    if all(isinstance(label, str) for label in y):
        return y
    is_bool = [isinstance(label, bool | np.bool_) for label in y]
    if all(is_bool):
        return y.astype(bool)
    if not any(is_bool) and all(isinstance(label, int | float | np.integer | np.floating) for label in y):
        return np.array(y.tolist())
    kinds = type_names(y)
    if len(kinds) > 1:
        raise DataError(f"y mixes labels of types {kinds}; give all labels one type, for example with str()")
    raise DataError(f"Unknown label type: y holds {kinds[0]}; labels must be names or whole numbers")


def _require_whole(y: Array) -> None:
    infinite = np.isinf(y)
    if infinite.any():
        raise DataError(f"Input y contains infinity: the label of row {int(infinite.argmax())}; leave the row out")
    fraction = y != np.floor(y)
    if fraction.any():
        row = int(fraction.argmax())
        raise DataError(
            f"Unknown label type: continuous. The label of row {row} is {y[row]}: maybe these are values to predict by "
            "a regression. Labels must be names or whole numbers; cut the values into classes"
        )


def _encode_integers(y: Array) -> tuple[Array, Array, Array]:
    """Code integers by counting where their range is small: no sort."""
    low, high = int(y.min()), int(y.max())
    if high - low >= 2**16:
        return np.unique(y, return_inverse=True, return_counts=True)
    distance = y if low == 0 else y.astype(np.uint64) - np.uint64(low % 2**64)  # exact for every kind of integers
    n_values = high - low + 1
    count = np.zeros(n_values, dtype=np.int64)
    for rows in row_blocks(len(y)):
        count += np.bincount(distance[rows].astype(np.int64, copy=False), minlength=n_values)
    present = np.flatnonzero(count)
    found = np.array([low + code for code in present.tolist()], dtype=y.dtype)
    if len(present) == n_values:
        return found, narrow_codes(distance, n_values), count
    place = narrow_codes(np.zeros(n_values, dtype=np.int64), len(present))
    place[present] = np.arange(len(present))
    return found, place[distance], count[present]


def _encode_objects(y: Array) -> tuple[Array, Array, Array]:
    states = sorted(set(y.tolist()))
    code_of = {state: code for code, state in enumerate(states)}
    codes = np.array([code_of[label] for label in y.tolist()], dtype=np.int64)
    return np.array(states, dtype=object), codes, np.bincount(codes)
