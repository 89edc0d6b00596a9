"""How many threads the matrix products of NumPy may use.

Our own threads work on blocks of rows, each with products of its own. Were every product spread over all cores as well,
the threads of both would stand in each other's way, and sums would hang on how a product was cut up. So BLAS is held to
one thread while ours are at work.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from threading import Lock
from typing import Any

WORTH_HOLDING = 10_000_000
"""Multiplications below which no BLAS starts a second thread that would be worth the wait."""

_lock = Lock()
_held: dict[str, Any] = {"by": 0, "limit": None}


@contextmanager
def one_blas_thread(n_products: int) -> Iterator[None]:
    """Hold BLAS to one thread inside the ``with`` block, if there are enough multiplications for that to matter.

    The setting belongs to the process: whoever comes first changes it, and whoever leaves last puts it back.
    """
    if n_products < WORTH_HOLDING:
        yield
        return
    with _lock:
        if _held["by"] == 0:
            _held["limit"] = _libraries().limit(limits=1, user_api="blas")
        _held["by"] += 1
    try:
        yield
    finally:
        with _lock:
            _held["by"] -= 1
            if _held["by"] == 0:
                _held.pop("limit").restore_original_limits()


@cache
def _libraries() -> Any:
    """Find the BLAS libraries of the process, once: that takes longer than to tell them something."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
