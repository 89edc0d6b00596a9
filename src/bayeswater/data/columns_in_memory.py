"""Columns that lie side by side in memory, as those of a frame of pandas do, are one array already.

There must be no gap between them. At equal distances lie any two columns, and what lies between may be anybody's: an
array that claims it overlaps with whatever NumPy allocates there, also to copy it to, and copying then never ends.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from bayeswater.typing import Array


def one_array(columns: Sequence[Array]) -> Array | None:
    """Give columns as one array (n_rows, n_columns) without copying a cell; None where they do not lie so.

    >>> together = np.arange(6.0).reshape(2, 3)
    >>> one_array(tuple(together))
    array([[0., 3.],
           [1., 4.],
           [2., 5.]])
    >>> one_array((together[0], together[1].copy(), together[1])) is None
    True
    """
    first, places = columns[0], [column.__array_interface__["data"][0] for column in columns]
    distances = {b - a for a, b in pairwise(places)}
    alike = {(column.dtype, column.shape, column.strides) for column in columns}
    if len(distances) != 1 or len(alike) != 1 or first.ndim != 1:
        return None
    (distance,), (stride,) = distances, first.strides
    end_to_end = stride == first.itemsize and distance == first.nbytes
    row_by_row = distance > 0 and (len(columns) - 1) * distance + first.itemsize <= stride
    return np.asarray(_Columns(columns, distance)) if end_to_end or row_by_row else None


class _Columns:
    """Memory of columns, which stays as long as an array of it is used."""

    def __init__(self, columns: Sequence[Array], distance: int) -> None:
        self._columns = columns
        first = columns[0]
        self.__array_interface__: dict[str, Any] = {
            **first.__array_interface__,
            "data": (first.__array_interface__["data"][0], True),  # a column may be read-only, or stand in it twice
            "shape": (len(first), len(columns)),
            "strides": (*first.strides, distance),
        }
