"""What an answer will cost, told before anything is allocated.

The unit is the cell: a state of the variables of one clique together. Seconds are rough, from cells that a core of a
few years ago passes through in one second.
"""

from dataclasses import dataclass

from bayeswater import limits
from bayeswater.errors import ResourceLimitError

CELL_BYTES = 8 + 3 * 4
"""Of a cell that is kept in a plan: the product, and three maps on average."""

CELL_SECONDS = 1.6e-9
"""Of a cell and a row, where many rows are taken together, both passes."""

STEP_SECONDS = 20e-6
"""Of one step of elimination in NumPy."""

ELIMINATION_CELL_SECONDS = 5e-9
"""Of a cell in a step of elimination."""

WORK_BYTES = 2**28
"""Room for the messages of the rows that are taken together."""

MOST_TOGETHER = 64
"""Rows taken together at the most: with more, the messages of a tree leave the cache."""


@dataclass(frozen=True)
class Forecast:
    """Cells of all cliques, bytes at the peak, and seconds.

    >>> print(Forecast(cells=3e12, bytes=6e13, seconds=5e3))
    3e+12 cells, 55879 GiB, 5000 s
    >>> print(Forecast(cells=6, bytes=64, seconds=4.003e-05))
    6 cells, 64 bytes, 40 µs
    """

    cells: float
    bytes: float
    seconds: float

    def __str__(self) -> str:
        return f"{self.cells:.4g} cells, {limits.bytes_in_words(self.bytes)}, {seconds_in_words(self.seconds)}"

    def require_room(self) -> None:
        """Refuse what is over the limit of memory."""
        if self.bytes > limits.TABLE_BYTES:
            raise ResourceLimitError(
                f"an exact answer would take {self}, over the limit of {limits.bytes_in_words(limits.TABLE_BYTES)}; "
                "observe more variables, ask for fewer targets, or use sampling, which gives an estimate and its error"
            )


def seconds_in_words(seconds: float) -> str:
    """Give a time in the unit that leaves it a number before the point, with the few digits that a forecast has.

    >>> seconds_in_words(3.2e-6), seconds_in_words(0.0512), seconds_in_words(1.25), seconds_in_words(5000)
    ('3.2 µs', '51 ms', '1.2 s', '5000 s')
    """
    scale, unit = (1e6, "µs") if seconds < 1e-3 else (1e3, "ms") if seconds < 1 else (1.0, "s")
    shown = scale * seconds
    return f"{shown:.0f} {unit}" if 99.5 <= shown < 1e6 else f"{shown:.2g} {unit}"


def rows_together(n_cells: float) -> int:
    """How many rows are taken together: as many as fit into the room for work, if every cell were a message cell."""
    return int(max(1, min(MOST_TOGETHER, WORK_BYTES // max(8 * n_cells, 1))))


def of_tree(n_cells: float, n_rows: int) -> Forecast:
    """Forecast of passing messages for some rows through a tree of this many cells."""
    width = min(rows_together(n_cells), max(n_rows, 1))
    return Forecast(n_cells, n_cells * (CELL_BYTES + 8 * width), n_rows * n_cells * CELL_SECONDS)


def of_elimination(step_cells: list[float]) -> Forecast:
    """Forecast of eliminating variables one after the other, the largest table being there twice."""
    cells = sum(step_cells)
    seconds = len(step_cells) * STEP_SECONDS + cells * ELIMINATION_CELL_SECONDS
    return Forecast(cells, 16 * max(step_cells, default=0.0), seconds)
