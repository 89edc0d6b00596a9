"""Wall-clock times, taken in turns: ours, theirs, ours, theirs, ... so that a noisy moment meets both."""

from collections.abc import Callable, Mapping
from statistics import median
from time import perf_counter, sleep
from typing import Any

CALLS_OF_ONE_ROW = 300
"""A call on one row takes microseconds: many are timed in each turn, and the median is over all of them."""

PAUSE = 0.05
"""Seconds before each turn: the threads of a BLAS library spin for a while after their work, and would take a core."""


def medians_in_turns(actions: Mapping[str, Callable[[], Any]], repeats: int, calls: int = 1) -> dict[str, float]:
    """Median seconds of each action, after one call that is not counted (it compiles, and fills caches)."""
    for action in actions.values():
        action()
    seconds: dict[str, list[float]] = {name: [] for name in actions}
    for _ in range(repeats):
        for name, action in actions.items():
            sleep(PAUSE)
            seconds[name] += [_seconds(action) for _ in range(calls)]
    return {name: median(values) for name, values in seconds.items()}


def _seconds(action: Callable[[], Any]) -> float:
    start = perf_counter()
    action()
    return perf_counter() - start
