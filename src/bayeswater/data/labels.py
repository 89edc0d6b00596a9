"""Class labels: of any type that has an order, coded in the narrowest integer that fits.

Labels are coded by us and never counted in their own dtype, so a label of 8 bits cannot overflow a count.
"""

import sys
from collections.abc import Iterable
from itertools import pairwise
from typing import Any

import numpy as np

from bayeswater.data.cells import NUMBERS, TRUTHS, is_missing, is_text, text_array, type_names
from bayeswater.data.frames import computed, require_no_nul, unmasked
from bayeswater.data.variable import Variable
from bayeswater.errors import DataError, ParameterError
from bayeswater.kernels.threads import row_blocks
from bayeswater.records import record
from bayeswater.typing import Array


@record
class Labels:
    """The class of every row: a code (n_rows,) into the states of `variable`, and how many rows have each."""

    variable: Variable
    codes: Array
    count: Array  # (n_classes,)

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return self.variable.n_states

    def take(self, rows: Array) -> "Labels":
        """Give the labels of some rows, marked or numbered, among the same classes."""
        codes = self.codes[rows]
        return Labels(self.variable, codes, np.bincount(codes, minlength=self.n_classes))


def narrow_codes(codes: Array, n_states: int) -> Array:
    """Store codes 0 .. n_states in the narrowest of uint8, uint16 and int32.

    >>> narrow_codes(np.array([0, 255]), 255).dtype
    dtype('uint8')
    """
    kind = np.uint8 if n_states < 2**8 else np.uint16 if n_states < 2**16 else np.int32
    return codes.astype(kind, copy=False)


@record
class CheckedLabels:
    """Labels that can be used: an array of them (n_rows,), or of their places among those that are `distinct`, sorted.

    Rows may be taken out, as from an array; then a label that is distinct need not have a row.
    """

    values: Array
    distinct: Array | None = None

    def __len__(self) -> int:
        """Number of rows."""
        return len(self.values)

    def __getitem__(self, rows: Any) -> "CheckedLabels":
        """Labels of some rows."""
        return CheckedLabels(self.values[rows], self.distinct)

    @property
    def array(self) -> Array:
        """The labels themselves."""
        return self.values if self.distinct is None else self.distinct[self.values]


def encode_labels(y: Any, known: Variable | None = None, *, counted: bool = False) -> Labels:
    """Code the labels of y, into the domain `known` or, without one, into that of the labels found, sorted.

    `counted` says that the rows of y are among those the model has counted; it only words the refusal of others.
    """
    y = y if isinstance(y, CheckedLabels) else checked_labels(y)
    if len(y) == 0:
        raise DataError("y has 0 labels (shape=(0,)) while a minimum of 1 is required.")
    if y.distinct is not None:
        found, codes, count = _encode_places(y.values, y.distinct)
    elif y.values.dtype.kind in "iu":
        found, codes, count = _encode_integers(y.values)
    else:
        found, codes, count = np.unique(y.values, return_inverse=True, return_counts=True)
    states = tuple(found.tolist())
    broken = [state for state in states if isinstance(state, str) and not is_text(state)]
    if broken:
        raise DataError(
            f"y has the label {broken[0]!r}, which is no text: it has half of a character (a lone surrogate); give it "
            "another name"
        )
    if known is None:
        return Labels(Variable("class", states, dtype=found.dtype), narrow_codes(codes, len(states)), count)
    unknown = [state for state in states if state not in known.code_of]
    if unknown:
        raise _unknown_classes(unknown, known, counted)
    place = narrow_codes(np.array([known.code_of[state] for state in states]), known.n_states)
    count_of_known = np.zeros(known.n_states, dtype=np.int64)
    count_of_known[place] = count
    return Labels(known, place[codes], count_of_known)


def _unknown_classes(unknown: list[Any], known: Variable, counted: bool) -> DataError:
    if counted:
        return DataError(
            f"class {unknown[0]!r} was never counted: the model knows the classes {list(known.states)}; give rows that "
            "it has learned from"
        )
    return DataError(
        f"The target label(s) {unknown} in y do not exist in the initial classes {list(known.states)}; "
        "declare every class in the first call of partial_fit, or fit again"
    )


def declared_classes(classes: Any) -> Variable:
    """Give the domain of classes that a user declares: sorted, and kept though no row has them."""
    try:
        found = encode_labels(classes).variable
    except DataError as error:
        raise ParameterError(f"classes is {classes!r}; give all labels there will be, in one list ({error})") from None
    return Variable("class", found.states, frozenset(found.states), found.dtype)


def one_dimensional(y: Any) -> Array:
    """Check shape and kind of y, and give it as an array (n_rows,)."""
    return checked_labels(y).array


def checked_labels(y: Any) -> CheckedLabels:
    """Check shape and kind of y; integers, the common case, are passed through at once."""
    if isinstance(y, CheckedLabels):
        return y
    if isinstance(y, str):
        raise DataError(
            f"y is the string {y!r}, and not one label for each row; to name a column of X, say target={y!r}"
        )
    y = unmasked(computed(y))
    if isinstance(y, np.ndarray) and y.ndim == 1 and y.dtype.kind in "iub":
        return CheckedLabels(y)
    names = _arrow_names(y)
    if names is not None:
        return names
    from sklearn.utils import column_or_1d

    try:
        flat: Array = column_or_1d(_as_array(y), warn=True)
    except ValueError as error:
        raise DataError(f"y: {error}") from None
    return _checked_objects(flat) if flat.dtype.kind == "O" else _checked_values(flat)


def _checked_values(y: Array) -> CheckedLabels:
    """Check labels of a dtype of their own."""
    if y.dtype.kind in "fmM":
        _refuse_missing(np.isnan(y) if y.dtype.kind == "f" else np.isnat(y), y)
    if y.dtype.kind == "f":
        _require_whole(y)
    return CheckedLabels(y)


def _checked_objects(y: Array) -> CheckedLabels:
    """Check objects: numbers become an array of numbers; the others are told apart once, and each is looked at once."""
    labels = y.tolist()
    types = set(map(type, labels))
    if all(issubclass(kind, TRUTHS) for kind in types):
        return CheckedLabels(y.astype(bool))
    is_numeric = all(issubclass(kind, NUMBERS) and not issubclass(kind, TRUTHS) for kind in types)
    if is_numeric:
        numbers = np.array(labels)
        if numbers.dtype.kind != "O":  # integers may be too long for any other dtype
            return _checked_values(numbers)
    try:
        found = dict.fromkeys(labels)
    except TypeError as error:
        raise DataError(f"Unknown label type: {error} in y; labels must be names, whole numbers or hashable") from None
    if any(map(is_missing, found)):
        _refuse_missing(np.array([is_missing(label) for label in labels]), y)
    if len(types) > 1 and not is_numeric and not all(issubclass(kind, str) for kind in types):
        names = sorted(kind.__name__ for kind in types)
        raise DataError(f"y mixes labels of types {names}; give all labels one type, for example with str()")
    states = _in_order(found)
    code_of = {state: code for code, state in enumerate(states)}
    codes = np.fromiter(map(code_of.__getitem__, labels), dtype=np.int64, count=len(labels))
    return CheckedLabels(codes, np.fromiter(states, dtype=object, count=len(states)))


def _refuse_missing(missing: Array, y: Array) -> None:
    if missing.any():
        row = int(missing.argmax())
        raise DataError(
            f"Input y contains NaN: the label of row {row} is missing ({y[row]}; {missing.sum()} missing in all); "
            "leave these rows out"
        )


def _in_order(labels: Iterable[Any]) -> list[Any]:
    """Sort distinct labels; refuse those of which some are neither before nor after another, as sets are."""
    try:
        ordered = sorted(labels)
        if not ordered[0] < ordered[0] and all(a < b for a, b in pairwise(ordered)):
            return ordered
    except (TypeError, ValueError):  # no order, or one without a truth value
        pass
    raise DataError(
        f"Unknown label type: y holds {type_names(labels)[0]}, and such labels have no order; labels must be names, "
        "whole numbers or other things that can be sorted"
    )


def _arrow_names(y: Any) -> CheckedLabels | None:
    """Read strings of Arrow or polars by their dictionary, without looking at each; give None for anything else."""
    pyarrow = sys.modules.get("pyarrow")
    if pyarrow is None or not (isinstance(y, pyarrow.Array | pyarrow.ChunkedArray) or _is_polars_series(y)):
        return None
    if _is_polars_series(y):
        require_no_nul([y.name])
    column = y if isinstance(y, pyarrow.ChunkedArray) else pyarrow.chunked_array(y if _is_polars_series(y) else [y])
    types = pyarrow.types
    kind = column.type.value_type if types.is_dictionary(column.type) else column.type
    if not (types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind)) or not len(column):
        return None
    if types.is_string_view(column.type):
        column = column.cast(pyarrow.large_string())
    if not types.is_dictionary(column.type):
        column = column.dictionary_encode()
    encoded = column.unify_dictionaries().combine_chunks()
    encoded = encoded.chunk(0) if isinstance(encoded, pyarrow.ChunkedArray) else encoded
    if encoded.null_count or encoded.dictionary.null_count:
        return None  # the slow way names the row
    labels = text_array(encoded.dictionary.to_pylist())
    distinct, place = np.unique(labels, return_inverse=True)
    return CheckedLabels(place[encoded.indices.to_numpy()], distinct)


def _is_polars_series(y: Any) -> bool:
    polars = sys.modules.get("polars")
    return polars is not None and isinstance(y, polars.Series)


def _as_array(y: Any) -> Any:
    """Turn a column of pandas, polars or pyarrow, or a list of names, into an array."""
    pyarrow = sys.modules.get("pyarrow")
    if pyarrow is not None and isinstance(y, pyarrow.Array):
        return y.to_numpy(zero_copy_only=False)
    if hasattr(y, "to_numpy"):
        return y.to_numpy()
    if isinstance(y, list | tuple) and any(isinstance(label, str) for label in y):
        return text_array(y) if all(isinstance(label, str) for label in y) else np.array(y, dtype=object)
    return y


def _require_whole(y: Array) -> None:
    infinite = np.isinf(y)
    if infinite.any():
        raise DataError(f"Input y contains infinity: the label of row {int(infinite.argmax())}; leave the row out")
    fraction = y != np.floor(y)
    if fraction.any():
        row = int(fraction.argmax())
        raise DataError(
            f"Unknown label type: continuous. The label of row {row} is {y[row]}: maybe these are values to predict by "
            "a regression. Labels must be names or whole numbers; bin it: pandas.qcut(y, 3)"
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
    present, codes, count = _without_gaps(distance, count)
    return np.array([low + place for place in present.tolist()], dtype=y.dtype), codes, count


def _encode_places(places: Array, distinct: Array) -> tuple[Array, Array, Array]:
    """Code places among labels that are sorted; those that no row has are left out."""
    present, codes, count = _without_gaps(places, np.bincount(places, minlength=len(distinct)))
    return distinct[present], codes, count


def _without_gaps(places: Array, count: Array) -> tuple[Array, Array, Array]:
    """Number the places that are counted 0, 1, 2, ...: which these are, the new codes (n_rows,), and their counts."""
    present = np.flatnonzero(count)
    if len(present) == len(count):
        return present, narrow_codes(places, len(count)), count
    code_at = narrow_codes(np.zeros(len(count), dtype=np.int64), len(present))
    code_at[present] = np.arange(len(present))
    return present, code_at[places], count[present]
