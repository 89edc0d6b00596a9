"""Our threads over blocks of rows, and the threads of BLAS beside them.

Rows are cut into blocks whose size never depends on the number of threads, and partial results are handed back
in the order of the blocks. So a sum of floats has the same bits for one thread and for sixteen.

The matrix products of NumPy have threads, too. Our own threads work on blocks of rows, each with products of its own.
Were every product spread over all cores as well, the threads of both would stand in each other's way, and sums would
hang on how a product was cut up. So BLAS is held to one thread while ours are at work.
"""

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from math import inf
from operator import index
from threading import Lock
from typing import Any, TypeVar

from bayeswater.errors import ParameterError

BLOCK_ROWS = 65_536
"""Rows of one block: enough to make a hand-over cheap, few enough to keep partial results small."""

_chosen: ContextVar[int | None] = ContextVar("bayeswater_threads", default=None)

Item = TypeVar("Item")
Result = TypeVar("Result")


@contextmanager
def threads(n: int) -> Iterator[None]:
    """Use at most `n` threads inside the ``with`` block; results do not depend on it.

    Outside of such a block the environment variable ``BAYESWATER_THREADS`` holds, or else every core the
    process may use.

    Parameters
    ----------
    n : int
        Number of threads, 1 or more.

    Yields
    ------
    None

    Raises
    ------
    ParameterError
        Where `n` is no whole number from 1 on.

    See Also
    --------
    compare : Compare models on the same folds: error, log-loss, calibration error, seconds and sizes.

    Examples
    --------
    >>> with threads(1):
    ...     thread_count()
    1
    """
    token = _chosen.set(_checked(n, "threads(n)"))
    try:
        yield
    finally:
        _chosen.reset(token)


def thread_count() -> int:
    """Tell how many threads a computation started now may use."""
    chosen = _chosen.get()
    if chosen is not None:
        return chosen
    setting = os.environ.get("BAYESWATER_THREADS")
    if setting:
        return _checked(setting, "the environment variable BAYESWATER_THREADS")
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _checked(n: int | str, where: str) -> int:
    try:
        count = int(n) if isinstance(n, str) else index(n)
    except (TypeError, ValueError):
        count = 0
    if count < 1:
        raise ParameterError(f"{where} is {n!r}; give a whole number of threads, 1 or more")
    return count


def row_blocks(n_rows: int, rows: int = BLOCK_ROWS) -> list[slice]:
    """Cut `n_rows` into consecutive blocks.

    >>> row_blocks(5, rows=2)
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    return [slice(start, min(start + rows, n_rows)) for start in range(0, n_rows, rows)]


def one_ahead(items: Iterable[Item]) -> Iterator[Item]:
    """Give the items, fetching each next one on a thread of its own while the last is worked on.

    >>> list(one_ahead(range(3)))
    [0, 1, 2]
    """
    iterator, end = iter(items), object()
    with ThreadPoolExecutor(1) as pool:
        coming = pool.submit(next, iterator, end)
        while (item := coming.result()) is not end:
            coming = pool.submit(next, iterator, end)
            yield item  # type: ignore[misc]
            del item  # while the next one is waited for, nothing of this one is kept


def parallel_map(function: Callable[[Item], Result], items: Iterable[Item]) -> list[Result]:
    """Apply `function` to few large items, several at a time; each has its share of our threads for its own work.

    >>> with threads(6):
    ...     parallel_map(lambda item: (item, thread_count()), "ab")
    [('a', 3), ('b', 3)]
    """
    items = list(items)
    share = max(1, thread_count() // max(1, len(items)))

    def with_share(item: Item) -> Result:
        with threads(share):
            return function(item)

    return list(ordered_map(with_share, items))


def ordered_map(function: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
    """Apply `function` to the items on our threads; results come in the order of the items.

    At most two items a thread are under way or waiting to be taken, so memory stays bounded.
    """
    items = list(items)
    workers = min(thread_count(), len(items)) if len(items) > 1 else 1
    if workers == 1:
        yield from map(function, items)
        return
    with _pool(workers) as pool:
        waiting = deque(pool.submit(function, item) for item in items[: 2 * workers])
        try:
            for item in items[2 * workers :]:
                yield waiting.popleft().result()
                waiting.append(pool.submit(function, item))
            while waiting:
                yield waiting.popleft().result()
        finally:
            wait([future for future in waiting if not future.cancel()])


_idle: dict[int, deque[ThreadPoolExecutor]] = {}
# Threads do not follow into a fork.
os.register_at_fork(after_in_child=_idle.clear)


@contextmanager
def _pool(workers: int) -> Iterator[ThreadPoolExecutor]:
    """Give so many threads to one caller: those of an earlier call, as to start some takes half a millisecond."""
    idle = _idle.setdefault(workers, deque())
    try:
        pool = idle.pop()
    except IndexError:
        pool = ThreadPoolExecutor(workers)
    try:
        yield pool
    finally:
        idle.append(pool)


def block_map(function: Callable[[Item], Result], blocks: Iterable[Item], *, together: bool) -> Iterator[Result]:
    """Apply `function` to blocks, on our threads if `together` they are large: for small ones threads come too late."""
    return ordered_map(function, blocks) if together else map(function, blocks)


class Crew:
    """Threads that stay from one call to the next, for items of less than a millisecond.

    >>> Crew().map(str.upper, "ab")
    ['A', 'B']
    """

    def __init__(self) -> None:
        self._pool: ThreadPoolExecutor | None = None
        self._size = 0
        self._process = os.getpid()  # threads do not follow into a fork

    def map(self, function: Callable[[Item], Result], items: Iterable[Item]) -> list[Result]:
        """Apply `function` to the items on our threads, this one among them; results come in the order of the items.

        Not to be called by the function itself: all threads may be waiting for it.
        """
        items = list(items)
        n_helpers = min(thread_count(), len(items)) - 1
        if n_helpers < 1:
            return [function(item) for item in items]
        if self._pool is None or self._size < n_helpers or self._process != os.getpid():
            self._pool, self._size, self._process = ThreadPoolExecutor(n_helpers), n_helpers, os.getpid()
        waiting = deque(enumerate(items))
        results: dict[int, Result] = {}

        def work() -> None:
            while True:
                try:
                    place, item = waiting.popleft()
                except IndexError:
                    return
                try:
                    results[place] = function(item)
                except BaseException:
                    waiting.clear()  # nobody waits for the others any more
                    raise

        helping = [self._pool.submit(work) for _ in range(n_helpers)]
        try:
            work()
        finally:
            for helper in helping:
                helper.result()
        return [results[place] for place in range(len(items))]


WORTH_HOLDING = 10_000_000
"""Multiplications below which no BLAS starts a second thread that would be worth the wait."""

_lock = Lock()
_held: dict[str, Any] = {"by": 0, "limit": None}


@contextmanager
def one_blas_thread(n_products: float = inf) -> Iterator[None]:
    """Hold BLAS to one thread inside the ``with`` block, if there are enough multiplications for that to matter.

    The setting belongs to the process: whoever comes first changes it, and whoever leaves last puts it back.
    """
    if n_products < WORTH_HOLDING:
        yield
        return
    with _lock:
        if _held["by"] == 0:
            _held["limit"] = _in_control(lambda: _libraries().limit(limits=1, user_api="blas"))
        _held["by"] += 1
    try:
        yield
    finally:
        with _lock:
            _held["by"] -= 1
            if _held["by"] == 0:
                _in_control(_held.pop("limit").restore_original_limits)


def _in_control(change: Callable[[], Result]) -> Result:
    """Change a setting from any thread: threadpoolctl 3.8 and later heed, silently, only the first one that does."""
    from threadpoolctl import OpenBLASController

    let_go = getattr(OpenBLASController, "clear_controlling_thread", lambda force: None)
    let_go(force=True)
    try:
        return change()
    finally:
        let_go(force=True)


@cache
def _libraries() -> Any:
    """Find the BLAS libraries of the process, once: that takes longer than to tell them something."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
