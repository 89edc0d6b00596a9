"""Wall-clock times, taken in turns: ours, theirs, ours, theirs, ... so that a noisy moment meets both."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from statistics import median
from time import perf_counter, process_time, sleep
from typing import Any

from threadpoolctl import threadpool_limits

from bayeswater import threads

CALLS_OF_ONE_ROW = 300
"""A call on one row takes microseconds: many are timed in each turn, and the median is over all of them."""

PAUSE = 0.05
"""Seconds before each turn: the threads of a BLAS library spin for a while after their work, and would take a core."""


def medians_in_turns(
    actions: Mapping[str, Callable[[], Any]], repeats: int, calls: int = 1, clock: Callable[[], float] = perf_counter
) -> dict[str, float]:
    """Median seconds of each action, after one call that is not counted (it compiles, and fills caches)."""
    for action in actions.values():
        action()
    seconds: dict[str, list[float]] = {name: [] for name in actions}
    for _ in range(repeats):
        for name, action in actions.items():
            sleep(PAUSE)
            seconds[name] += [_seconds(action, clock) for _ in range(calls)]
    return {name: median(values) for name, values in seconds.items()}


def _seconds(action: Callable[[], Any], clock: Callable[[], float]) -> float:
    start = clock()
    action()
    return clock() - start


@contextmanager
def one_thread() -> Iterator[None]:
    """Give one thread to us and to BLAS, whose others spin for a while after their work: that, too, is time."""
    with threads(1), threadpool_limits(1):
        yield


def warm_ratio(ours: Callable[[], Any], theirs: Callable[[], Any], warm_calls: int, calls: int) -> float:
    """Median time of `theirs` by that of `ours`: of single calls in turns, after some that are not counted.

    It is the time of the processor: what others do on the machine is not part of it.
    """
    turns = range(warm_calls + calls)
    seconds = [(_seconds(theirs, process_time), _seconds(ours, process_time)) for _ in turns][warm_calls:]
    of_theirs, of_ours = zip(*seconds, strict=True)
    return median(of_theirs) / median(of_ours)
