"""Missing cells of columns that may have none."""

from bayeswater.errors import DataError
from bayeswater.typing import Array


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
