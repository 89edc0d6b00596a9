"""Rows that come in pieces: X, y and perhaps weights of some rows at a time."""

from collections.abc import Iterable
from typing import Any

from bayeswater.errors import ParameterError

Batch = tuple[Any, ...]
"""X and y of some rows, and perhaps their weights."""


def as_triple(batch: Batch) -> tuple[Any, Any, Any]:
    """Give X, y and the weights of a batch, None where it has none."""
    if not isinstance(batch, tuple | list) or len(batch) not in (2, 3):
        raise ParameterError("a batch must be (X, y) or (X, y, sample_weight)")
    return batch[0], batch[1], batch[2] if len(batch) == 3 else None


def require_second_reading(batches: Iterable[Batch]) -> None:
    """Refuse batches that can be read but once."""
    if iter(batches) is batches:
        raise ParameterError(
            "calibrate=True reads the rows twice, and these batches can be read but once; give a list, or an "
            "object that begins anew whenever it is iterated over"
        )
