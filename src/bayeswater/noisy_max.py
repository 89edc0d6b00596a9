"""Noisy-MAX and noisy-OR, the one of two states, written out as tables of probabilities.

Both files and networks have such nodes; that neither room knows the other puts the formula under them.

The first state of the node is the strongest. Each parent on its own, in each of its states, and the leak bring the node
to some state; the strongest of these is what the node is in. Parents are taken one after the other: of two, the node is
in state i where one brings it to i and the other to i or anything weaker,

    P(i) = p(i) q(i..) + p(i+1..) q(i),    q(i..) = the sum of q from i on

Nothing is subtracted, so that small probabilities keep their digits.
"""

from collections.abc import Iterable

import numpy as np

from bayeswater.typing import Array


def noisy_or_table(strengths: Iterable[Array], leak: float) -> Array:
    """Write out the table of causes that each bring an effect about on their own.

        P(no effect) = (1 - leak) * product over the parents of (1 - strength of the parent's state)

    Parameters
    ----------
    strengths : arrays (n_states of a parent,)
        Probability that a parent brings the effect about, in the order of its states.
    leak : probability of the effect where no cause acts

    Returns
    -------
    array (*n_states of the parents, 2), the effect before its absence

    Examples
    --------
    >>> noisy_or_table([np.array([0.0, 0.75])], 0.5)
    array([[0.5  , 0.5  ],
           [0.875, 0.125]])
    """
    columns = [np.stack((strength, 1.0 - strength), axis=-1) for strength in strengths]
    return noisy_max_table(columns, np.array([float(leak), 1.0 - leak]))


def noisy_max_table(columns: Iterable[Array], leak: Array) -> Array:
    """Write the table out.

    Parameters
    ----------
    columns : arrays (n_states of a parent, n_states)
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
