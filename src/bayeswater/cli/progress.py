"""Bars that show how far rows have come, read from a file or made, and a comparison, in fits."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from bayeswater.cli.words import words

if TYPE_CHECKING:
    import pyarrow as pa

    from bayeswater.data.sources.local_rows import LocalRows
    from bayeswater.data.sources.parts import Progress


def counted(tables: "Iterable[pa.Table]", what: str, n_rows: int, *, quiet: bool = False) -> "Iterator[pa.Table]":
    """Give tables of so many rows in all, and show on a terminal how far it has come."""
    if quiet or not words().is_terminal:
        yield from tables
        return
    progress = _bar(n_rows)
    n_done = 0
    with progress:
        task = progress.add_task(what, total=n_rows, rows=0, speed=0.0)
        for table in tables:
            n_done += table.num_rows
            yield table
            del table
            elapsed = progress.tasks[0].elapsed or 0.0
            progress.update(task, completed=n_done, rows=n_done, speed=n_done / elapsed if elapsed else 0.0)


def _bar(total: int | None) -> Any:
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    return Progress(
        TextColumn("{task.description}"),
        BarColumn(bar_width=None),
        TextColumn("{task.fields[rows]:,} rows"),
        TextColumn("{task.fields[speed]:,.0f} rows/s"),
        *((TimeRemainingColumn(compact=True),) if total else (TimeElapsedColumn(),)),
        console=words(),
        transient=True,
    )


@contextmanager
def passes_shown(rows: "LocalRows", under_way: Callable[[], str], *, quiet: bool = False) -> Iterator[None]:
    """Show on a terminal how far each reading of the rows has come, how fast it is, and how long it will take.

    What they are read for is told by a function, since one pass may follow the other.
    """
    if quiet or not words().is_terminal:
        yield
        return
    progress = _bar(rows.n_rows or rows.n_bytes)
    task = progress.add_task("reading", total=None, rows=0, speed=0.0)

    def tell(done: "Progress") -> None:
        shown, what = progress.tasks[0], under_way()
        if shown.description != what or done.n_rows < shown.fields["rows"]:
            progress.reset(task, description=what, rows=0, speed=0.0)
        elapsed = progress.tasks[0].elapsed or 0.0
        progress.update(
            task,
            total=done.total_rows or done.total_bytes,
            completed=done.n_rows if done.total_rows else done.n_bytes,
            rows=done.n_rows,
            speed=done.n_rows / elapsed if elapsed else 0.0,
        )

    before, rows.progress = rows.progress, tell
    try:
        with progress:
            yield
    finally:
        rows.progress = before


@contextmanager
def fits_shown() -> Iterator[Callable[[int, int, str], None] | None]:
    """Give a function that shows on a terminal how many fits are done, and of which model the next one is."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    console = words()
    if not console.is_terminal:
        yield None
        return
    progress = Progress(
        TextColumn("{task.description}"),
        BarColumn(bar_width=None),
        MofNCompleteColumn(),
        TextColumn("fits"),
        TimeElapsedColumn(),
        console=console,
        transient=True,
    )
    with progress:
        task = progress.add_task("comparing", total=None)

        def tell(n_done: int, n_fits: int, name: str) -> None:
            progress.update(task, completed=n_done, total=n_fits, description=f"fitting {name}")

        yield tell
