"""Cells of a column whose states are all known: codes, a dictionary, or numbers where the states are bins of numbers.

Of codes nothing is looked at but the buffers of Arrow, so that they cost no more than a pass over their bytes. A column
with anything else in it is left to the encoder that names what it finds (`coded_table`).
"""

from bisect import bisect_right
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeswater.data.cells import is_missing, label_values
from bayeswater.data.discretising.cuts import apply_cuts
from bayeswater.data.interval_names import cuts_named
from bayeswater.data.variable import Variable
from bayeswater.typing import Array, is_number

if TYPE_CHECKING:
    import pyarrow as pa


def known_codes(column: "pa.ChunkedArray", variable: Variable, codes: Array) -> bool:
    """Write the codes of a column into `codes` (n_rows,), n_states for a missing cell; say whether all could be read.

    >>> import pyarrow as pa
    >>> column, codes = pa.chunked_array([["low", None, "high"]]).dictionary_encode(), np.empty(3, dtype=np.uint8)
    >>> known_codes(column, Variable("level", ("high", "low")), codes), codes
    (True, array([1, 2, 0], dtype=uint8))
    """
    import pyarrow as pa

    is_dictionary = pa.types.is_dictionary(column.type)
    if not (is_dictionary or (variable.is_coded and pa.types.is_integer(column.type))):
        return holds_numbers(column.type) and _of_numbers(column, variable, codes)
    write = _of_dictionary if is_dictionary else _of_integers
    start = 0
    for chunk in column.chunks:
        if not write(chunk, variable, codes[start : start + len(chunk)]):
            return False
        start += len(chunk)
    return True


def known_code(label: Any, variable: Variable) -> int | None:
    """Give the code of one cell: of a state, or of the bin that a number falls into; None for what is no state.

    >>> known_code(50, Variable("age", ("under 30", "30 to 60", "from 60 on")))
    1
    """
    try:
        code = variable.code_of.get(label)
    except TypeError:  # what is not hashable is no label
        return None
    if code is not None or isinstance(label, bool) or not is_number(label):
        return code
    cuts = None if variable.is_coded else cuts_named(variable.states)
    return None if cuts is None else bisect_right(cuts, label)  # bins are closed on the left


def holds_numbers(kind: "pa.DataType") -> bool:
    """Tell a type of numbers."""
    import pyarrow as pa

    return bool(pa.types.is_floating(kind) or pa.types.is_integer(kind) or pa.types.is_decimal(kind))


def holds_texts(kind: "pa.DataType") -> bool:
    """Tell a type of texts, those of a dictionary among them."""
    import pyarrow as pa

    own = kind.value_type if pa.types.is_dictionary(kind) else kind
    return bool(pa.types.is_string(own) or pa.types.is_large_string(own) or pa.types.is_string_view(own))


def _of_numbers(column: "pa.ChunkedArray", variable: Variable, codes: Array) -> bool:
    """Write the bins of numbers; say whether the states are bins, which have the names of their limits, of all cells.

    What is infinite is no number of a bin, and left to the encoder, which refuses it.
    """
    cuts = None if variable.is_coded else cuts_named(variable.states)
    if cuts is None:
        return False
    values = column.cast("float64", safe=False).to_numpy()  # NaN where it is missing
    if np.isinf(values).any():
        return False
    np.copyto(codes, apply_cuts(values, np.array(cuts), closed="left"), casting="unsafe")
    return True


def _of_integers(chunk: "pa.Array", variable: Variable, codes: Array) -> bool:
    """Write the codes of a chunk of integers; say whether all are within the domain."""
    values, missing = _integer_buffer(chunk)
    outside = values.view(f"u{values.itemsize}") >= variable.n_states  # what is negative is large then
    if missing is not None:
        outside &= ~missing
    if outside.any():
        return False
    np.copyto(codes, values, casting="unsafe")
    if missing is not None:
        codes[missing] = variable.n_states
    return True


def _of_dictionary(chunk: "pa.DictionaryArray", variable: Variable, codes: Array) -> bool:
    """Write the codes of a chunk with a dictionary of labels; say whether all of these are states."""
    n_states = variable.n_states
    labels = label_values(chunk.dictionary, variable.name)
    place = [n_states if is_missing(label) else variable.code_of.get(label) for label in labels]
    if None in place or any(isinstance(label, bool) for label in labels):
        return False  # a label that is no state; True is one only where it is meant
    np.take(np.array([*place, n_states], dtype=codes.dtype), dictionary_index(chunk), out=codes, mode="clip")
    return True


def dictionary_index(chunk: "pa.DictionaryArray") -> Array:
    """Where in its dictionary each cell of a chunk stands; a missing one, just behind the last entry.

    >>> import pyarrow as pa
    >>> dictionary_index(pa.array(["low", None, "high"]).dictionary_encode())
    array([0, 2, 1])
    """
    values, missing = _integer_buffer(chunk.indices)
    if missing is None:
        return values
    return np.where(missing, np.int64(len(chunk.dictionary)), values)  # narrow integers may not reach that far


def _integer_buffer(array: "pa.Array") -> tuple[Array, Array | None]:
    """Values of an array of integers as they lie in memory, and which are missing, if any are."""
    validity, data = array.buffers()
    kind = np.dtype(str(array.type))
    values = np.frombuffer(data, dtype=kind, count=len(array), offset=array.offset * kind.itemsize)
    if array.null_count == 0 or validity is None:
        return values, None
    first = array.offset // 8
    n_bytes = (array.offset + len(array) + 7) // 8 - first
    bits = np.unpackbits(np.frombuffer(validity, dtype=np.uint8, count=n_bytes, offset=first), bitorder="little")
    skipped = array.offset - 8 * first
    return values, bits[skipped : skipped + len(array)] == 0
