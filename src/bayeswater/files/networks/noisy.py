"""Noisy-MAX written out as a table; noisy-OR is the one of two states.

The first state of the node is the strongest. Each parent on its own, in each of its states, and the leak bring the node
to some state; the strongest of these is what the node is in. Parents are taken one after the other: of two, the node is
in state i where one brings it to i and the other to i or anything weaker,

    P(i) = p(i) q(i..) + p(i+1..) q(i),    q(i..) = the sum of q from i on

Nothing is subtracted, so that small probabilities keep their digits.
"""

import numpy as np

from bayeswater.typing import Array


def noisy_max_table(columns: list[Array], leak: Array) -> Array:
    """Write the table out.

    Parameters
    ----------
    columns : list of arrays (n_states of a parent, n_states)
        What each parent does on its own, in the order of its states.
    leak : array (n_states,)

    Examples
    --------
    >>> noisy_max_table([np.array([[0.5, 0.5], [0.0, 1.0]])], np.array([0.25, 0.75]))
    array([[0.625, 0.375],
           [0.25 , 0.75 ]])
    """
    table = leak
    for column in columns:
        so_far = table[..., None, :]
        table = so_far * _from_on(column) + _from_on(so_far, 1) * column
    return table


def _from_on(probabilities: Array, further: int = 0) -> Array:
    """Add up from each state, or some further, to the last; the whole is exactly one."""
    n_states = probabilities.shape[-1]
    own = probabilities[..., ::-1].cumsum(axis=-1)[..., ::-1].clip(max=1.0)
    own[..., 0] = 1.0
    sums = np.zeros_like(own)
    sums[..., : n_states - further] = own[..., further:]
    return sums
