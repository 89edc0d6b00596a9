"""Arrays that put cells off or hide them, as plain ones: an array of Dask is computed, and a masked cell is missing.

NumPy makes plain arrays of both, too, but with the cells that a mask hides.
"""

from typing import Any

import numpy as np


def computed(values: Any) -> Any:
    """Give what an array, a frame or a column of Dask holds, with its mask; leave everything else as it is."""
    return values.compute() if hasattr(type(values), "__dask_graph__") else values


def unmasked(values: Any) -> Any:
    """Put NaN, NaT or None for the cells that a masked array, or a list of such rows, hides; leave all else as it is.

    >>> unmasked(np.ma.masked_array([1, 2], [True, False]))
    array([nan,  2.])
    >>> unmasked(np.ma.masked_array(["a", "b"], [True, False]))
    array([None, 'b'], dtype=object)
    """
    if isinstance(values, list | tuple) and any(isinstance(row, np.ma.MaskedArray) for row in values):
        return [unmasked(row) for row in values]
    if not isinstance(values, np.ma.MaskedArray):
        return values
    hidden = np.ma.getmaskarray(values)
    if not hidden.any():
        return values.data
    kind = values.dtype.kind
    if kind in "biufc":
        return np.where(hidden, np.nan, values.data)
    if kind in "mM":
        return np.where(hidden, np.array("NaT", values.dtype), values.data)
    return np.where(hidden, np.array(None), values.data.astype(object))
