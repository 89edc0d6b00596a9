"""Rows that come in pieces: X, y and perhaps weights of some rows at a time."""

from typing import Any

from bayeswater.errors import ParameterError

Batch = tuple[Any, ...]
"""X and y of some rows, and perhaps their weights."""


def as_triple(batch: Batch, name: str = "a batch") -> tuple[Any, Any, Any]:
    """Give X, y and the weights of a batch, None where it has none; `name` is what a message calls it."""
    if not isinstance(batch, tuple | list) or len(batch) not in (2, 3):
        raise ParameterError(f"{name} must be (X, y) or (X, y, sample_weight)")
    return batch[0], batch[1], batch[2] if len(batch) == 3 else None
