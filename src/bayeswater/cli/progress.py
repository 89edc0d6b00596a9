"""A bar that shows how far the reading of a file has come: rows, rows per second and the time left."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from bayeswater.cli.words import words

if TYPE_CHECKING:
    import pyarrow as pa

    from bayeswater.data.sources.source import Source


def shown(
    source: "Source", what: str, columns: Sequence[str] | None = None, *, quiet: bool = False
) -> "Iterator[pa.Table]":
    """Read a source batch by batch and show on a terminal how far it has come; elsewhere, only read."""
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    console = words()
    total = source.n_rows or source.n_bytes
    progress = Progress(
        TextColumn("{task.description}"),
        BarColumn(bar_width=None),
        TextColumn("{task.fields[rows]:,} rows"),
        TextColumn("{task.fields[speed]:,.0f} rows/s"),
        *((TimeRemainingColumn(compact=True),) if total else (TimeElapsedColumn(),)),
        console=console,
        disable=quiet or not console.is_terminal,
        transient=True,
    )
    n_rows = 0
    with progress:
        task = progress.add_task(what, total=total, rows=0, speed=0.0)
        for table in source.batches(columns):
            n_rows += table.num_rows
            yield table
            del table
            elapsed = progress.tasks[0].elapsed or 0.0
            progress.update(
                task,
                completed=n_rows if source.n_rows else source.bytes_read,
                rows=n_rows,
                speed=n_rows / elapsed if elapsed else 0.0,
            )
