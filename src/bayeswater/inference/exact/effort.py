"""What each way to an answer takes, counted in cells: one cell of a clique, passed twice, for one row among many.

A count is the same on every machine and at every time, and so is the route that is chosen by it. The numbers below are
ratios: of the steps that a cell takes there to those it takes in a pass, four rows at a time; and of the calls into
NumPy that come before, each of which takes as long as some hundred cells.
"""

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
