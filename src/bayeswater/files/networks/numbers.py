"""Floats as text: the shortest that is read back as the same float64, which is what ``repr`` gives."""

from collections.abc import Iterable
from itertools import product

from bayeswater.typing import Array


def written_numbers(values: Array, between: str) -> str:
    """Write the numbers of an array in their order.

    >>> import numpy as np
    >>> written_numbers(np.array([0.1, 1 / 3]), ", ")
    '0.1, 0.3333333333333333'
    """
    return between.join(map(repr, values.reshape(-1).tolist()))


def configurations(n_states: Iterable[int]) -> Iterable[tuple[int, ...]]:
    """Count through the states of parents, the last one fastest, as the rows of a table do.

    >>> list(configurations([2, 2]))
    [(0, 0), (0, 1), (1, 0), (1, 1)]
    """
    return product(*(range(n) for n in n_states))
