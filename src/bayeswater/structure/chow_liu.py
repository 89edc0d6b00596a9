"""The tree of the highest score: every variable has at most one parent (Chow and Liu 1968).

For a score that equivalent graphs share, an arc gains the same in both directions, so the best tree is a maximum
spanning tree of the gains; arcs that do not gain are left out, which makes it a forest. Of equal gains the arc to the
earlier variable goes first. Each tree hangs from its earliest variable.
"""

import numpy as np

from bayeswater.errors import ParameterError
from bayeswater.structure.families import Families
from bayeswater.structure.hill_climbing import TIE, Parents
from bayeswater.structure.knowledge import Knowledge


def chow_liu_tree(families: Families, knowledge: Knowledge) -> Parents:
    """Find the best tree."""
    if knowledge.required.any() or not (knowledge.allowed | np.eye(len(knowledge.names), dtype=bool)).all():
        raise ParameterError(
            "method='tree' takes no required or forbidden arcs and no tiers; use 'order' with max_parents=1"
        )
    if not families.score.is_equivalent:
        raise ParameterError(
            "method='tree' needs a score that equivalent graphs share, such as 'bic' or 'bdeu', "
            f"not {families.score.name!r}"
        )
    n = families.n_variables
    none: frozenset[int] = frozenset()
    if knowledge.max_parents == 0:
        return (none,) * n
    families.columns([(y, none) for y in range(n)])
    gain = np.array([families.column(y, none) - families.column(y, none)[y] for y in range(n)])
    least = TIE * abs(families.total([none] * n))
    # Prim's rule from the earliest variable of each tree; gain[y, x] of the variables x outside to their best y inside.
    inside = np.zeros(n, dtype=bool)
    parents = [none] * n
    best, best_parent = np.full(n, -np.inf), np.zeros(n, dtype=np.int64)
    for _ in range(n):
        outside = np.flatnonzero(~inside)
        top = best[outside].max()
        if top > least:
            y = int(outside[np.argmax(best[outside] >= top - least)])
            parents[y] = frozenset([int(best_parent[y])])
        else:
            y = int(outside[0])
        inside[y] = True
        better = ~inside & (gain[:, y] > np.maximum(best, 0.0) + least)
        best[better], best_parent[better] = gain[better, y], y
    return tuple(parents)
