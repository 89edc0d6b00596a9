"""Two vocabularies joined, without looking at each word in Python: they may have a hundred thousand words each."""

import numpy as np

from bayeswater.data.variable import Variable
from bayeswater.typing import Array


def joined(mine: Variable, theirs: Variable) -> tuple[Variable, Array, Array]:
    """Join two vocabularies: all words, and the code among them of each of mine and of each of theirs.

    It is `Variable.union`, for words or for the codes of hashed ones. Arrow ranks words by their bytes in UTF-8, which
    is the order in which Python sorts them.

    >>> both, mine, theirs = joined(Variable("text", ("be", "to")), Variable("text", ("not", "to")))
    >>> both.states, mine, theirs
    (('be', 'not', 'to'), array([0, 2]), array([1, 2]))
    """
    if mine.is_coded or theirs.is_coded or tuple(mine.states) == tuple(theirs.states):
        return mine.union(theirs), np.arange(mine.n_states), np.arange(theirs.n_states)
    import pyarrow as pa
    import pyarrow.compute as pc

    words = pa.array([*mine.states, *theirs.states], pa.large_string())
    rank = pc.rank(words, sort_keys="ascending", tiebreaker="dense").to_numpy().astype(np.int64) - 1
    my_codes, their_codes = rank[: mine.n_states], rank[mine.n_states :]
    states = np.empty(int(rank.max()) + 1, dtype=object)
    for codes, variable in ((their_codes, theirs), (my_codes, mine)):
        states[codes] = variable.states
    return Variable(mine.name, tuple(states.tolist()), mine.declared | theirs.declared), my_codes, their_codes
