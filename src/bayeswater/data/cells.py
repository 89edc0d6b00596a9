"""What a single cell is, as Python has it: missing, a number, True or False, or of another type.

Columns that may have no missing cells are checked here.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from bayeswater.errors import DataError
from bayeswater.typing import Array

NUMBERS = (int, float, np.integer, np.floating)
TRUTHS = (bool, np.bool_)


def is_missing(cell: Any) -> bool:
    """Say whether a cell is None or differs from itself, as NaN does."""
    try:
        return cell is None or bool(cell != cell)
    except TypeError:  # pandas.NA has no truth value
        return True
    except ValueError:  # nor has an array, but it is there
        return False


def python_value(cell: Any) -> Any:
    """Give a cell of an array or of Arrow as Python has it; a date beyond the years 1 to 9999, which it lacks, as text.

    >>> import pyarrow
    >>> days = pyarrow.array([0, 4_000_000], pyarrow.int32()).cast("date32")
    >>> [python_value(day) for day in days]
    [datetime.date(1970, 1, 1), '12921-08-18']
    """
    if isinstance(cell, np.generic):
        return cell.item()
    try:
        return cell.as_py()
    except (OverflowError, ValueError):
        return cell.cast("string").as_py()


def label_values(cells: Any, column: str) -> list[Any]:
    """Give labels of Arrow as Python has them; refuse dates that it has none for."""
    try:
        return list(cells.to_pylist())
    except (OverflowError, ValueError):
        odd = next(value for cell in cells if isinstance(value := python_value(cell), str))
        raise DataError(
            f"column {column!r} has the label {odd!r}, beyond the dates that Python has, years 1 to 9999; let the "
            "column be read as dates, or make text of it"
        ) from None


def is_text(text: str) -> bool:
    r"""Say whether a text can be written: halves of characters, which only some programs leave behind, cannot.

    >>> is_text("né"), is_text("n\ud800")
    (True, False)
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def text_array(texts: Sequence[str]) -> Array:
    r"""Give texts as an array: of objects if one ends in NUL, which an array of texts would take off.

    >>> text_array(["a", "b"]), text_array(["a", "a\0"])
    (array(['a', 'b'], dtype='<U1'), array(['a', 'a\x00'], dtype=object))
    """
    return np.array(texts, dtype=object if any(text.endswith("\0") for text in texts) else None)


def type_names(cells: Iterable[Any]) -> list[str]:
    """Name the types of the cells that are not missing.

    >>> type_names(["a", None, 1, "b"])
    ['int', 'str']
    """
    return sorted({type(cell).__name__ for cell in cells if not is_missing(cell)})


def numbered_truths(cells: list[Any]) -> list[Any] | None:
    """Put 1 and 0 for True and False among numbers, as arrays of numbers do; None where cells are no mixture of these.

    >>> numbered_truths([True, None, 2.5]), numbered_truths([True, "a"]), numbered_truths([True, False])
    ([1, None, 2.5], None, None)
    """
    kinds = {type(cell) for cell in cells if not is_missing(cell)}
    truths = {kind for kind in kinds if issubclass(kind, TRUTHS)}
    if not truths or truths == kinds or not all(issubclass(kind, NUMBERS + TRUTHS) for kind in kinds):
        return None
    return [int(cell) if isinstance(cell, TRUTHS) else cell for cell in cells]


def require_no_missing(missing: Array, name: str, *, can_be_state: bool = False) -> None:
    """Refuse a column with missing cells, which `missing` (n_rows,) tells.

    Parameters
    ----------
    missing : which cells of the column are missing
    name : what it is called
    can_be_state : whether a missing cell could be counted as a state of its own

    >>> import numpy as np
    >>> require_no_missing(np.array([False, True]), "age")
    Traceback (most recent call last):
        ...
    bayeswater.errors.DataError: Input X contains NaN: row 1 of column 'age' is missing (1 missing in all); fill them, \
leave the rows out, or take missing='ignore'
    """
    if missing.any():
        raise DataError(
            f"Input X contains NaN: row {int(missing.argmax())} of column {name!r} is missing "
            f"({int(missing.sum())} missing in all); fill them, leave the rows out, or take missing='ignore'"
            + (" or missing='state'" if can_be_state else "")
        )
