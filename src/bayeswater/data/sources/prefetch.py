"""Reading and working side by side: items are read in the thread that asks, and worked on in threads of our own.

So whatever is read (a pipe, a cursor of a database, an iterator of the user) is read in the thread it was made in, an
interrupt reaches the thread that waits, and no reader is left behind that nobody listens to any more.
"""

from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from typing import TypeVar

from bayeswater.kernels.threads import thread_count

Item = TypeVar("Item")
Result = TypeVar("Result")


def worked_beside(
    function: Callable[[Item], Result], items: Iterable[Item], n_workers: int = 1
) -> Generator[tuple[Item, Result], None, None]:
    """Give each item with what the function makes of it, in order; the next ones are read in the meantime.

    At most `n_workers` + 1 items are held. Whoever stops early closes the generator, which waits for the calls of the
    function that are at work, and makes no more.

    >>> [result for _, result in worked_beside(len, ["a", "bcd"])]
    [1, 3]
    """
    if thread_count() == 1:
        for item in items:
            yield item, function(item)
            del item
        return
    pool = ThreadPoolExecutor(n_workers, "bayeswater")
    under_way: deque[tuple[Item, Future[Result]]] = deque()
    reading = iter(items)
    failure: Exception | None = None
    try:
        while failure is None:
            try:
                item = next(reading)
            except StopIteration:
                break
            except Exception as error:  # raised in its turn: what came before it was read well
                failure = error
                continue
            # the function runs in the context of the caller: the number of threads is chosen there
            under_way.append((item, pool.submit(copy_context().run, function, item)))
            del item
            if len(under_way) > n_workers:
                yield _finished(under_way)
        while under_way:
            yield _finished(under_way)
        if failure is not None:
            raise failure
    finally:
        pool.shutdown(cancel_futures=True)


def _finished(under_way: "deque[tuple[Item, Future[Result]]]") -> tuple[Item, Result]:
    item, coming = under_way.popleft()
    return item, coming.result()
