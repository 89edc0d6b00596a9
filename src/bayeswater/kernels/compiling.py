"""When and how a loop is compiled.

A kernel is an ordinary Python function under ``@compiled``. Numba is imported and the loop compiled on
the first call, so that small inputs, which take the NumPy reference, never wait for it. The choice depends on
the size of the input alone: the same data give the same bits, whatever ran before.

Where loop and reference give the same bits (`Kernel.serves`), nobody waits for a loop: NumPy answers until it has
worked about as long as it takes to load one. Then the loop is loaded on a thread of its own, NumPy goes on answering
until it is there, and from then on it serves every size. ``BAYESWATER_COMPILE=now`` has it loaded by the first large
input, ``BAYESWATER_COMPILE=0`` runs every kernel as plain Python.
"""

import gc
import logging  # noqa: F401  # numba writes to a log: at a fork its lock is taken after ours, if it was registered first
import os
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from functools import partial, update_wrapper
from threading import RLock, Thread, current_thread, main_thread
from typing import Any

import numpy as np

COMPILE_FROM_CELLS = 500_000
"""Below this many cells NumPy answers in the time that a kernel needs to load."""

SERVING_SHARE = 500_000
"""A loop that is there serves inputs down to this part of `COMPILE_FROM_CELLS`: a single row, too."""

LOAD_AFTER = 50_000_000
"""Cells that NumPy has answered for, in a quarter of a second or more, before loops are loaded that have its bits.

To load one takes a quarter of a second, where it was compiled before, and to compile it another one or two: in a
process that has little to do NumPy is done by then.
"""

CELLS_OF_A_CALL = 5_000
"""Cells that NumPy would have answered for in the time that one more call takes."""

PATIENCE = 0.3
"""Seconds that a large input waits for a loop, then: most that were compiled before are there by that time.

While it waits, the thread that loads does not have to share Python's lock with it.
"""

LOADING = "bayeswater loads a loop"
"""Name of a thread that loads one."""

BY_ROW, BY_COLUMN = 0x1, 0x2
"""Flags of an array that lies row by row, and column by column: a single row does both, and counts as the first."""

OWNED = 0x4
"""Flag of an array that holds its own memory (``NPY_ARRAY_OWNDATA``)."""

_compiling = RLock()
# A fork waits until nothing is compiled: the new process would have the lock, and no thread that gives it back.
os.register_at_fork(before=_compiling.acquire, after_in_parent=_compiling.release, after_in_child=_compiling.release)


def worth_compiling(n_cells: int) -> bool:
    """Say whether an input of this many cells goes to the compiled loop."""
    return n_cells >= COMPILE_FROM_CELLS


class Kernel:
    """A loop that is compiled when it is first called."""

    cells_answered = 0
    """Cells for which references have answered in this process where a loop has their bits; calls count as some."""

    def __init__(self, loop: Callable[..., Any], *, is_plain: bool = False, **options: Any) -> None:
        update_wrapper(self, loop)
        self.loop = loop
        self.is_plain = is_plain
        self._options = options
        self._call: Callable[..., Any] | None = None
        self._kinds_at_hand: set[tuple[Any, ...]] = set()
        self._kinds_asked_for: set[tuple[Any, ...]] = set()

    def serves(self, n_cells: int, *arguments: Any, use_loop: bool) -> bool:
        """Say whether the loop is to be taken, with a reference of the same bits beside it.

        It is where it is there for such arguments. A large input (`use_loop`) waits for it only if it was asked to.
        """
        if not use_loop and n_cells * SERVING_SHARE < COMPILE_FROM_CELLS:
            return False
        kinds = tuple(map(_kind, arguments))
        if kinds in self._kinds_at_hand:
            return True
        setting = _setting()
        if setting == "0":
            return use_loop
        if use_loop and setting == "now":
            self._kinds_at_hand.add(kinds)
            return True
        Kernel.cells_answered += n_cells + CELLS_OF_A_CALL
        if Kernel.cells_answered >= LOAD_AFTER and kinds not in self._kinds_asked_for:
            self._kinds_asked_for.add(kinds)
            # A view stays as it is; the array itself may be frozen before the thread looks at it.
            seen = tuple(one.view() if isinstance(one, np.ndarray) else one for one in arguments)
            loading = Thread(target=self._load, args=(kinds, seen), name=LOADING)
            loading.start()
            if use_loop:
                loading.join(PATIENCE)
        return kinds in self._kinds_at_hand

    def _load(self, kinds: tuple[Any, ...], arguments: tuple[Any, ...]) -> None:
        with _compiling:
            if not main_thread().is_alive():  # the process is about to end, and waits for this thread
                return
            from numba import typeof
            from numba.core import errors

            if not isinstance(vars(errors).get("warnings"), _WarningsOfNumba):
                vars(errors)["warnings"] = _WarningsOfNumba()
            loop = self._loop_to_call()
            if hasattr(loop, "compile"):  # numba itself may be switched off
                loop.compile(tuple(map(typeof, arguments)))
                self._kinds_at_hand.add(kinds)

    def __call__(self, *arguments: Any) -> Any:
        """Run the loop, compiled if that is not switched off."""
        if self._call is not None:
            return self._call(*arguments)
        with _collector_at_rest():
            return self._loop_to_call()(*arguments)

    def _loop_to_call(self) -> Any:
        with _compiling:  # threads that come together share what the first one compiles
            if self._call is None:
                self._call = self.loop if _setting() == "0" else self._compiled()
        return self._call

    def _compiled(self) -> Callable[..., Any]:
        if not self.is_plain:
            return _compile(self.loop, **self._options)
        try:
            from bayeswater.kernels.plain_loops import PlainLoops
        except ImportError:  # passes are no promise of numba's: without them it only takes longer
            return _compile(self.loop)
        return _compile(self.loop, pipeline_class=PlainLoops, _nrt=False)


class _WarningsOfNumba:
    """The module `warnings` as the compiler sees it.

    It catches warnings while it works, and to catch them on one thread is to catch them on all: those that a user is to
    see meanwhile would be lost. So on the thread that loads a loop nothing is caught.
    """

    def __getattr__(self, name: str) -> Any:
        return getattr(warnings, name)

    def catch_warnings(self, **given: Any) -> Any:
        """Catch what other threads compile."""
        return nullcontext([]) if current_thread().name == LOADING else warnings.catch_warnings(**given)

    def simplefilter(self, *given: Any) -> None:
        """Change the filters of what other threads compile."""
        if current_thread().name != LOADING:
            warnings.simplefilter(*given)


def compiled(loop: Callable[..., Any]) -> Kernel:
    """Mark a loop as a kernel."""
    return Kernel(loop)


def compiled_plainly(loop: Callable[..., Any]) -> Kernel:
    """Mark a loop as a kernel of plain steps, which takes less time to compile.

    It has numbers, elements and shapes of arrays: no new arrays, no array expressions, no slices, no closures.
    """
    return Kernel(loop, is_plain=True)


def compiled_in_any_order(loop: Callable[..., Any]) -> Kernel:
    """Mark a loop whose sums may be added up in any order: they fill the lanes of the processor, as in BLAS."""
    return Kernel(loop, fastmath={"reassoc", "contract", "nsz"})


def _setting() -> str:
    return os.environ.get("BAYESWATER_COMPILE", "1")


def _kind(argument: Any) -> Any:
    """Give what numba tells arguments apart by: of arrays kind, dimensions, and how they lie in memory."""
    if isinstance(argument, np.ndarray):
        flags = argument.flags.num & ~OWNED
        return argument.dtype.char, argument.ndim, flags & ~BY_COLUMN if flags & BY_ROW else flags
    return type(argument)


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
