"""When and how a loop is compiled.

A kernel is an ordinary Python function under ``@compiled``. Numba is imported and the loop compiled on
the first call, so that small inputs, which take the NumPy reference, never pay for it. The choice depends on
the size of the input alone: the same data give the same bits, whatever ran before.
``BAYESWATER_COMPILE=0`` runs every kernel as plain Python.
"""

import os
from collections.abc import Callable
from functools import partial, update_wrapper
from typing import Any

COMPILE_FROM_CELLS = 500_000
"""Below this many cells NumPy answers in the time that a kernel needs to load."""


def worth_compiling(n_cells: int) -> bool:
    """Say whether an input of this many cells goes to the compiled loop."""
    return n_cells >= COMPILE_FROM_CELLS


class Kernel:
    """A loop that is compiled when it is first called."""

    def __init__(self, loop: Callable[..., Any]) -> None:
        update_wrapper(self, loop)
        self.loop = loop
        self._call: Callable[..., Any] | None = None

    def __call__(self, *arguments: Any) -> Any:
        """Run the loop, compiled if that is not switched off."""
        if self._call is None:
            self._call = _compile(self.loop) if os.environ.get("BAYESWATER_COMPILE", "1") != "0" else self.loop
        return self._call(*arguments)


def compiled(loop: Callable[..., Any]) -> Kernel:
    """Mark a loop as a kernel."""
    return Kernel(loop)


def _compile(loop: Callable[..., Any]) -> Callable[..., Any]:
    from numba import njit

    # A division by zero is infinite or NaN, as in NumPy, and no exception in the middle of a loop.
    compile_loop = partial(njit, nogil=True, error_model="numpy")
    try:
        return compile_loop(cache=True)(loop)
    except RuntimeError:  # numba finds no place it may write its cache to
        return compile_loop()(loop)
