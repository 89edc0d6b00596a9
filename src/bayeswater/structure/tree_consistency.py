"""Whether arrays are the splits of trees: what a file says is believed only after this."""

import numpy as np

from bayeswater.errors import StatisticsError
from bayeswater.typing import Array


def require_trees(start: Array, splits: Array, n_columns: int) -> None:
    """Refuse splits of which some node has not one parent, before it and in its own tree, or asks for no column.

    >>> require_trees(np.array([0, 3]), np.array([[1, 0, 0, 5], [0, 0, 0, 0], [0, 0, 0, 0]]), 1)
    >>> require_trees(np.array([0, 3]), np.array([[2, 0, 0, 5], [0, 0, 0, 0], [0, 0, 0, 0]]), 1)
    Traceback (most recent call last):
    bayeswater.errors.StatisticsError: the splits of class trees have children in another tree
    """
    require(start.ndim == 1 and len(start) > 1 and splits.shape == (start[-1], 4), "other shapes")
    require(start[0] == 0 and (np.diff(start) > 0).all(), "trees without a node")
    jump, column, low, high = splits.T.astype(np.int64)
    require((jump >= 0).all(), "children in front of their parent")
    inner = np.flatnonzero(jump)
    child, end = inner + jump[inner], np.repeat(start[1:], np.diff(start))
    require((child + 1 < end[inner]).all(), "children in another tree")
    n_parents = np.bincount(np.concatenate([child, child + 1]), minlength=len(splits))
    n_parents[start[:-1]] += 1  # a root has none
    require((n_parents == 1).all(), "nodes with no parent or several")
    column, low, high = column[inner], low[inner], high[inner]
    require(((column >= 0) & (column < n_columns)).all(), "columns that are not there")
    require(((low >= 0) & (low <= high)).all(), "no code between their limits")


def require_orders(order: Array, ranks: Array, slot: Array, n_codes: Array, n_trees: int) -> None:
    """Refuse orders of states that do not give each state of a column a place of its own."""
    is_state = slot >= 0
    is_shaped = order.shape == (n_trees,) and ranks.ndim == 2 and ranks.shape[1] == n_codes[is_state].sum()
    require(is_shaped, "orders of other shapes")
    require(((order >= -1) & (order < len(ranks))).all(), "orders that are not there")
    for first, n in zip(slot[is_state].tolist(), n_codes[is_state].tolist(), strict=True):
        own = np.sort(ranks[:, first : first + n], axis=1)
        require((own == np.arange(n)).all(), "orders without a place for each state")


def require(condition: bool | np.bool_, what: str) -> None:
    """Refuse splits that do not fulfil a condition."""
    if not condition:
        raise StatisticsError(f"the splits of class trees have {what}")
