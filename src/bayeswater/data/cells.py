"""What a single cell is, as Python has it: missing, a number, True or False, or of another type."""

from collections.abc import Iterable
from typing import Any

import numpy as np

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
