"""Cells that a model drew, in the form of the table it was fitted on."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from bayeswater.data.frames import write_frame
from bayeswater.data.original_types import typed_frame, with_type


def drawn_table(cells: Mapping[str, Any], dtypes: Mapping[str, str | None], library: str | None) -> Any:
    """Give drawn columns as a frame of the library, or as an array if that is None, each in the type that it had."""
    typed = {name: with_type(column, dtypes[name]) for name, column in cells.items()}
    if library is not None:
        return typed_frame(write_frame(typed, library), typed, dtypes)
    columns = [column.to_numpy(zero_copy_only=False) for column in typed.values()]
    of_one_kind = len({column.dtype.kind for column in columns}) == 1
    return np.stack(columns, axis=1, dtype=None if of_one_kind else object)
