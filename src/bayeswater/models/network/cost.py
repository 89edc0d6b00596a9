"""What an exact answer will take, asked before it is computed."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from bayeswater.errors import ParameterError
from bayeswater.inference.exact.elimination import forecast_query
from bayeswater.inference.exact.forecast import Forecast, of_tree
from bayeswater.inference.exact.junction_tree import JunctionTree, Plan, roles_of
from bayeswater.kernels.compiling import worth_compiling
from bayeswater.typing import Array

QUESTION_SECONDS = 15e-6
"""Of each variable of the network in one question, beside the steps: whether it matters, and where it stands."""

ROWS_SECONDS = 150e-6
"""Of each variable in a frame of rows, beside the cells: a column read, a place in the tree, an answer laid out."""


def forecast(tree: JunctionTree, targets: Sequence[int], observed: Sequence[int], n_rows: int) -> Forecast:
    """Forecast of one question about one variable, by elimination, or else of rows of one pattern, by a tree."""
    if not isinstance(n_rows, int | np.integer) or isinstance(n_rows, bool) or n_rows < 1:
        raise ParameterError(f"n_rows is {n_rows!r}; give the number of rows, 1 or more")
    factors = tree.factors
    if len(targets) == 1 and n_rows == 1:
        found, own = forecast_query(factors, targets, observed), QUESTION_SECONDS
    else:
        found, own = of_tree(_plan(tree, targets, observed).tree.n_cells, n_rows), ROWS_SECONDS
    return replace(found, seconds=found.seconds + own * factors.n_variables)


def tree_width(tree: JunctionTree) -> int:
    """Variables of the largest clique, less one, where all variables are asked for and none is observed."""
    plan = _plan(tree, range(tree.factors.n_variables), ())
    return int(np.diff(plan.tree.start).max(initial=1)) - 1


def _plan(tree: JunctionTree, targets: Sequence[int], observed: Sequence[int]) -> Plan:
    factors = tree.factors
    fixed, evidence, wanted = (_marked(nodes, factors.n_variables) for nodes in (observed, (), targets))
    return tree.plan(roles_of(factors, fixed, evidence, wanted), use_loop=worth_compiling(factors.n_variables**2))


def _marked(nodes: Sequence[int], n_variables: int) -> Array:
    marks = np.zeros(n_variables, dtype=bool)
    marks[list(nodes)] = True
    return marks
