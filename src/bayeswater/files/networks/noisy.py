"""Noisy-MAX, as XDSL gives it, written out as a table or recognised as a noisy-OR.

The first state of the node is the strongest. Each parent on its own, in each of its states, and the leak bring the node
to some state; the strongest of these is what the node is in. So with the states from i on,

    P(node in i.. | parents) = leak(i..) * product over the parents of P(node in i.. | this parent's state)

The columns of a parent stand in the order of their strength, which ``strengths`` gives as numbers of its states.
"""

import numpy as np

from bayeswater.files.networks.document import NoisyOr
from bayeswater.typing import Array


def noisy_max_table(columns: list[Array], leak: Array) -> Array:
    """Write the table out.

    Parameters
    ----------
    columns : list of arrays (n_states of a parent, n_states)
        What each parent does on its own, in the order of its states.
    leak : array (n_states,)
    """
    from_on = _from_on(leak)  # (n_states,)
    for column in columns:
        from_on = from_on[..., None, :] * _from_on(column)
    return from_on - np.append(from_on[..., 1:], np.zeros((*from_on.shape[:-1], 1)), axis=-1)


def _from_on(probabilities: Array) -> Array:
    """Add up from each state to the last; the whole is exactly one."""
    sums = probabilities[..., ::-1].cumsum(axis=-1)[..., ::-1].clip(max=1.0)
    sums[..., 0] = 1.0
    return sums


def as_noisy_or(columns: list[Array], leak: Array) -> NoisyOr | None:
    """Recognise causes with two states, one of which does nothing; None for anything else.

    >>> as_noisy_or([np.array([[0.8, 0.2], [0.0, 1.0]])], np.array([0.1, 0.9]))
    NoisyOr(effect=0, cause=(0,), link=(0.8,), leak=0.1)
    """
    if leak.size != 2 or any(column.shape != (2, 2) for column in columns):
        return None
    causes, links = [], []
    for column in columns:
        idle = next((state for state in (1, 0) if column[state].tolist() == [0.0, 1.0]), None)
        if idle is None:
            return None
        causes.append(1 - idle)
        links.append(float(column[1 - idle, 0]))
    return NoisyOr(0, tuple(causes), tuple(links), float(leak[0]))
