"""What an answer will cost, forecast before anything is allocated.

The unit is the cell: a state of the variables of one clique together. Seconds are rough, from cells that a core of a
few years ago passes through in one second.

Each way to an answer is counted in cells passed twice, for one row among many. A count is the same on every machine and
at every time, and so is the route that is chosen by it. The numbers below are ratios: of the steps that a cell takes
there to those it takes in a pass, four rows at a time; and of the calls into NumPy that come before, each of which
takes as long as some hundred cells.
"""

from bayeswater import limits
from bayeswater.errors import ResourceLimitError
from bayeswater.records import record

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


@record
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


CALL = 1_000
"""A call into NumPy on a short array."""

CALLS_OF_A_PATTERN = 60
"""Calls to find the order of elimination for a pattern, and to lay out its steps."""

CALLS_OF_A_VARIABLE = 40
"""Calls for each variable where a tree, its products and its maps are made without compiled code."""

CALLS_OF_A_TREE = 150
"""Calls to make them with compiled code."""

CALLS_OF_A_CLIQUE = 5
"""Calls for each variable besides, in hanging the cliques together."""

STEPS_OF_A_MAP = 4
"""Of each cell in doing so."""

STEPS_OF_A_ROW = 6
"""Of a cell that is gone through for a single row: no vectors, and an index that is worked out for each factor."""

NARROW_ROWS = 6
"""A pass of few rows takes as much as one of this many more."""


def of_looking(n_variables: int) -> float:
    """Cells that finding the elimination of a pattern is worth: each step looks at all variables that are left."""
    return CALL * CALLS_OF_A_PATTERN + n_variables**2


def of_making(n_variables: int, n_cells: float, use_loop: bool) -> float:
    """Cells that making a tree is worth, its products and its maps."""
    calls = CALLS_OF_A_TREE + CALLS_OF_A_CLIQUE * n_variables if use_loop else CALLS_OF_A_VARIABLE * n_variables
    return CALL * calls + STEPS_OF_A_MAP * n_cells


def of_passing(n_cells: float, n_rows: int) -> float:
    """Cells of a pass of some rows through a tree."""
    return n_cells * (n_rows + NARROW_ROWS)


def of_single_rows(n_cells: float, n_rows: int) -> float:
    """Cells that rows gone through one by one are worth."""
    return n_cells * n_rows * STEPS_OF_A_ROW
