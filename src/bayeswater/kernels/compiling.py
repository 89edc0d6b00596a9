"""When and how a loop is compiled.

A kernel is an ordinary Python function under ``@compiled``. Numba is imported and the loop compiled on
the first call, so that small inputs, which take the NumPy reference, never wait for it. The choice depends on
the size of the input alone: the same data give the same bits, whatever ran before.

Where loop and reference give the same bits (`Kernel.serves`), first calls wait for no loop: NumPy answers them. What
models are asked for again is worth a loop: it is loaded on a thread of its own, and inputs wait for it, unless they are
tiny; from then on it serves every size. ``BAYESWATER_COMPILE=late`` has such loops loaded only once NumPy has worked as
long as that takes, as a process wants it that does little and ends; ``now`` has the first large input wait, and ``0``
runs every kernel as plain Python.
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
"""Cells that NumPy has answered for, in a quarter of a second or more, before loops are loaded for first calls, too.

To load one takes a quarter of a second, where it was compiled before, and to compile it another one or two: in a
process that has little to do NumPy is done by then.
"""

CALLS_OF_A_KIND, LOAD_AGAIN_AFTER = 3, 60_000
"""Calls of models that need a loop, and cells that NumPy has answered for in all, before the last of them loads it."""

CELLS_OF_A_CALL = 500
"""What one more call counts beside its cells."""

WAITING_CELLS = 1_000
"""Such a call waits for the loop if it has so many cells: what is smaller is answered at once."""

PATIENCE, LONG_PATIENCE = 0.3, 5.0
"""Seconds that a large input of a first call waits for a loop, which may be enough, and an input of a later one.

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


def note_call() -> None:
    """Say that a model is about to learn from rows or answer for some: what comes in several calls is worth a loop."""
    Kernel.calls += 1


class Kernel:
    """A loop that is compiled when it is first called."""

    cells_answered = 0
    """Cells for which references have answered in this process where a loop has their bits; calls count as some."""

    calls = 0
    """Times that models were asked in this process: the blocks of a table, and what is made of it, are one of them."""

    def __init__(self, loop: Callable[..., Any], *, is_plain: bool = False, **options: Any) -> None:
        update_wrapper(self, loop)
        self.loop = loop
        self.is_plain = is_plain
        self._options = options
        self._call: Callable[..., Any] | None = None
        self._kinds_at_hand: set[tuple[Any, ...]] = set()
        self._calls: dict[tuple[Any, ...], tuple[int, int]] = {}  # how many have come, and the last
        self._loading: dict[tuple[Any, ...], Thread] = {}

    def serves(self, n_cells: int, *arguments: Any, use_loop: bool) -> bool:
        """Say whether the loop is to be taken, with a reference of the same bits beside it.

        It is where it is there for such arguments. Where it is not, it is loaded if that is worth while: see above.
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
        calls, last = self._calls.get(kinds, (0, -1))
        if last != Kernel.calls:
            self._calls[kinds] = calls, last = calls + 1, Kernel.calls
        comes_again = setting != "late" and calls >= CALLS_OF_A_KIND
        if Kernel.cells_answered < (LOAD_AGAIN_AFTER if comes_again else LOAD_AFTER):
            return False
        patience = LONG_PATIENCE if comes_again and n_cells >= WAITING_CELLS else 0.0
        loading = self._loading.get(kinds)
        if loading is None:
            # A view stays as it is; the array itself may be frozen before the thread looks at it.
            seen = tuple(one.view() if isinstance(one, np.ndarray) else one for one in arguments)
            loading = Thread(target=self._load, args=(kinds, seen), name=LOADING)
            loading.start()
            self._loading[kinds] = loading  # of two threads that come together both may load: the second finds it done
            patience = max(patience, PATIENCE if use_loop else 0.0)
        loading.join(patience)
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
        return _compile(self.loop, pipeline_class=PlainLoops, **self._options)


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
    return Kernel(loop, is_plain=True, _nrt=False)


def compiled_plainly_with_arrays(loop: Callable[..., Any]) -> Kernel:
    """Mark a loop of plain steps that makes arrays, too."""
    return Kernel(loop, is_plain=True)


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
