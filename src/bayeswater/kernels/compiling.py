"""When and how a loop is compiled.

A kernel is an ordinary Python function under ``@compiled``. Numba is imported and the loop compiled on
the first call, so that small inputs, which take the NumPy reference, never pay for it. The choice depends on
the size of the input alone: the same data give the same bits, whatever ran before.
``BAYESWATER_COMPILE=0`` runs every kernel as plain Python.
"""

import gc
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial, update_wrapper
from threading import Lock
from typing import Any

COMPILE_FROM_CELLS = 500_000
"""Below this many cells NumPy answers in the time that a kernel needs to load."""

_compiling = Lock()


def worth_compiling(n_cells: int) -> bool:
    """Say whether an input of this many cells goes to the compiled loop."""
    return n_cells >= COMPILE_FROM_CELLS


class Kernel:
    """A loop that is compiled when it is first called."""

    def __init__(self, loop: Callable[..., Any], *, is_plain: bool = False) -> None:
        update_wrapper(self, loop)
        self.loop = loop
        self.is_plain = is_plain
        self._call: Callable[..., Any] | None = None

    def __call__(self, *arguments: Any) -> Any:
        """Run the loop, compiled if that is not switched off."""
        if self._call is not None:
            return self._call(*arguments)
        with _collector_at_rest():
            with _compiling:  # threads that come together share what the first one compiles
                if self._call is None:
                    self._call = self._compiled() if os.environ.get("BAYESWATER_COMPILE", "1") != "0" else self.loop
            return self._call(*arguments)

    def _compiled(self) -> Callable[..., Any]:
        if not self.is_plain:
            return _compile(self.loop)
        try:
            from bayeswater.kernels.plain_loops import PlainLoops
        except ImportError:  # passes are no promise of numba's: without them it only takes longer
            return _compile(self.loop)
        return _compile(self.loop, pipeline_class=PlainLoops)


def compiled(loop: Callable[..., Any]) -> Kernel:
    """Mark a loop as a kernel."""
    return Kernel(loop)


def compiled_plainly(loop: Callable[..., Any]) -> Kernel:
    """Mark a loop as a kernel of plain steps, which takes less time to compile.

    It has numbers, elements and shapes of arrays: no array expressions, no slices, no closures.
    """
    return Kernel(loop, is_plain=True)


@contextmanager
def _collector_at_rest() -> Iterator[None]:
    # A compiler makes many objects, all of which stay: looking for garbage among them takes a tenth of its time.
    is_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if is_on:
            gc.enable()


def _compile(loop: Callable[..., Any], **options: Any) -> Callable[..., Any]:
    from numba import njit

    # A division by zero is infinite or NaN, as in NumPy, and no exception in the middle of a loop.
    compile_loop = partial(njit, nogil=True, error_model="numpy", **options)
    try:
        return compile_loop(cache=True)(loop)
    except RuntimeError:  # numba finds no place it may write its cache to
        return compile_loop()(loop)
