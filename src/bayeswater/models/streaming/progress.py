"""How far reading a source has come, told to whoever asked for it."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from bayeswater.data.sources.local_rows import LocalRows
from bayeswater.data.sources.places import Progress
from bayeswater.data.sources.rows import Rows
from bayeswater.errors import ParameterError

EVERY_SECONDS = 0.5
"""Time between two lines."""


@contextmanager
def told(rows: Rows, progress: Any) -> Iterator[None]:
    """Tell how far the rows of files have come; the rows of an engine are shown by the engine."""
    if progress is None or progress is False or not isinstance(rows, LocalRows):
        yield
        return
    if progress is not True and not callable(progress):
        raise ParameterError(f"progress is {progress!r}; give True, or a function that takes a Progress")
    before, rows.progress = rows.progress, Line() if progress is True else progress
    try:
        yield
    finally:
        if isinstance(rows.progress, Line):
            rows.progress.end()
        rows.progress = before


class Line:
    """A line on standard error that says how many rows were read, how fast, and how long the rest will take."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock, self._began, self._said = clock, clock(), float("-inf")
        self._last: Progress | None = None

    def __call__(self, progress: Progress) -> None:
        """Say it, not too often; another pass begins anew."""
        now = self._clock()
        if self._last is None or progress.n_rows < self._last.n_rows:
            self._began = now
        self._last = progress
        if now - self._said >= EVERY_SECONDS:
            self._said = now
            sys.stderr.write(f"\r{in_words(progress, now - self._began)}\x1b[K")
            sys.stderr.flush()

    def end(self) -> None:
        """Clear the line."""
        sys.stderr.write("\r\x1b[K")
        sys.stderr.flush()


def in_words(progress: Progress, seconds: float) -> str:
    """Say how far reading has come after so many seconds.

    >>> in_words(Progress(n_rows=1000, total_rows=4000, n_bytes=0, total_bytes=None), 2.0)
    '1,000 rows, 25 %, 500 rows/s, 0:06 left'
    """
    said = [f"{progress.n_rows:,} rows"]
    share = progress.fraction
    if share is not None:
        said.append(f"{100 * share:.0f} %")
    if seconds > 0:
        said.append(f"{progress.n_rows / seconds:,.0f} rows/s")
        if share:
            left = round(seconds * (1 - share) / share)
            said.append(f"{left // 60}:{left % 60:02d} left")
    return ", ".join(said)
