"""What any graph could still gain: a bound that no score is above, beside the score that a search came to.

Let every variable take the best of its sets of parents, whatever cycles come of it: no graph scores higher. That is far
too much, as every arc is taken in both directions. In a graph without cycles any cluster of variables has one without
a parent in the cluster, the first of them in an order. With a multiplier m_C >= 0 for each cluster C,

    bound = sum over y of max over S of (score(y | S) + sum of m_C over C that y is in and S is not) - sum of m_C

is above every score (Lagrange), whatever the multipliers are: good ones only make it low. They are those of the linear
program in which each variable mixes its sets of parents, and every cluster holds (Jaakkola et al. 2010; Cussens 2011).
Clusters are added where the mixture breaks them, until there is none that is quickly found. Of few variables all orders
are gone through instead: then a graph reaches the bound.

A set of parents takes part unless a part of it scores as well. Sets are counted up to a number of parents that a limit
of work allows, and those of the graph that was found: the bound is one over graphs made of these.
"""

from collections.abc import Iterator
from dataclasses import replace
from math import comb

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

from bayeswater.records import record
from bayeswater.structure.exact_search import best_graph, parent_sets
from bayeswater.structure.family_scores import FamilyScores
from bayeswater.structure.hill_climbing import TIE, Parents
from bayeswater.structure.knowledge import Knowledge
from bayeswater.typing import Array

MOST_CELLS = 3 * 10**9
"""Cells that are read at most, those of all columns of scores: some seconds."""

CELLS_OF_A_SET = 5_000
"""As how many cells a set of parents costs that is kept."""

MOST_ROUNDS = 40
"""Rounds of clusters after which the bound is good enough."""

FEW_VARIABLES = 16
"""Variables up to which all orders are gone through."""

LARGEST_CLUSTER = 12
"""Variables up to which a cluster is grown."""

BROKEN = 1e-4
"""By how much less than one first variable a mixture leaves a cluster that is worth adding."""


@record
class ScoreBound:
    """A score that no graph is above.

    Attributes
    ----------
    score : nats
    max_parents : over graphs in which each variable has so many parents at most, or those that were found; None where
        it is over all graphs that were allowed
    """

    score: float
    max_parents: int | None

    def beside(self, score: float) -> str:
        """Say in words what is still to be gained over a score."""
        n = self.max_parents
        limit = "" if n is None else f" of at most {n} parent{'' if n == 1 else 's'}, or those here,"
        gain = self.score - score
        if gain <= TIE * abs(score):
            return f"it is proven that no graph{limit} scores higher"
        return f"no graph{limit} scores above {self.score:.2f}: at most {gain:.2f} are still to be gained"


def score_bound(local_scores: FamilyScores, knowledge: Knowledge, found: Parents) -> ScoreBound | None:
    """Bound what any graph scores, given one that was found; None where pairs of parents are too many to count."""
    n_columns = _n_columns(knowledge)
    n_variables, n_rows = local_scores.codes.shape
    cells = np.cumsum([0, *n_columns]) * float(n_variables * (n_rows + CELLS_OF_A_SET))
    most = int(np.searchsorted(cells, MOST_CELLS, side="right")) - 1
    if most < min(2, knowledge.max_parents):
        return None
    among = replace(knowledge, max_parents=most)
    local_scores.expect(sum(n_columns[:most]))
    sets = [parent_sets(local_scores, among, y) for y in range(n_variables)]
    for y, own in enumerate(found):
        sets[y].setdefault(own, local_scores.of(y, own))
    if n_variables <= FEW_VARIABLES:
        score = local_scores.total(best_graph(sets, knowledge))
    else:
        score = _Relaxation(sets).bound()
    return ScoreBound(max(score, local_scores.total(found)), None if most == knowledge.max_parents else most)


def _n_columns(knowledge: Knowledge) -> list[int]:
    """Columns that are counted for the sets of each number of parents, from 1 on."""
    free = (knowledge.allowed & ~knowledge.required).sum(axis=0).tolist()
    fixed = knowledge.required.sum(axis=0).tolist()
    both = list(zip(free, fixed, strict=True))
    return [sum(comb(n, k - own) for n, own in both if k >= own) for k in range(knowledge.max_parents)]


class _Relaxation:
    """The linear program over the sets of parents of all variables, with their scores."""

    def __init__(self, sets: list[dict[frozenset[int], float]]) -> None:
        self.n = len(sets)
        self.owner = np.repeat(np.arange(self.n), [len(own) for own in sets])
        self.score = np.array([score for own in sets for score in own.values()])
        self.member = np.zeros((len(self.owner), self.n), dtype=bool)
        for row, parents in zip(self.member, (parents for own in sets for parents in own), strict=True):
            row[list(parents)] = True
        self.first = np.flatnonzero(np.diff(self.owner, prepend=-1))  # the sets of a variable lie side by side
        self.clusters: dict[bytes, Array] = {}

    def bound(self) -> float:
        """Give the lowest bound that is found."""
        share = np.zeros(len(self.owner))
        each = np.split(self.score, self.first[1:])
        share[self.first + [int(np.argmax(own)) for own in each]] = 1.0
        best = float(sum(own.max() for own in each))
        mixes = csr_array((np.ones(len(share)), (self.owner, np.arange(len(share)))), shape=(self.n, len(share)))
        for _ in range(MOST_ROUNDS):
            n_known = len(self.clusters)
            for cluster in self._broken(share):
                self.clusters.setdefault(cluster.tobytes(), self._without_parents(cluster, slice(None)))
            if len(self.clusters) == n_known:
                break
            firsts = csr_array(np.array(list(self.clusters.values()), dtype=np.float64))
            program = linprog(
                -self.score, A_ub=-firsts, b_ub=-np.ones(len(self.clusters)), A_eq=mixes, b_eq=np.ones(self.n)
            )
            if not program.success:
                break
            share = program.x
            multiplier = np.maximum(0.0, -program.ineqlin.marginals)
            most = np.maximum.reduceat(self.score + multiplier @ firsts, self.first)
            best = min(best, float(most.sum() - multiplier.sum()))
        return best

    def _without_parents(self, cluster: Array, sets: Array | slice) -> Array:
        """Whether sets are of a variable in the cluster, and have no parent there."""
        return cluster[self.owner[sets]] & ~self.member[sets][:, cluster].any(axis=1)

    def _broken(self, share: Array) -> Iterator[Array]:
        """Clusters (n,) that a mixture leaves without a whole first variable."""
        taken = np.flatnonzero(share > 1e-9)
        arc = np.zeros((self.n, self.n))  # [parent, child], the share that has it
        np.add.at(arc, self.owner[taken], share[taken, None] * self.member[taken])
        arc = arc.T
        # Short cycles of strong arcs, and what grows from each arc.
        length = np.where(arc > 1e-9, np.maximum(1.0 - arc, 1e-7), 0.0)
        distance, before = dijkstra(csr_array(length), return_predecessors=True)
        for x, y in np.argwhere(arc > 1e-9).tolist():
            if distance[y, x] + length[x, y] < 1 - BROKEN:
                cycle = np.zeros(self.n, dtype=bool)
                cycle[y], node = True, x
                while node != y:
                    cycle[node], node = True, before[y, node]
                yield cycle
            grown, left = self._grown((x, y), arc, taken, share[taken])
            if left < 1 - BROKEN:
                yield grown

    def _grown(self, start: tuple[int, int], arc: Array, taken: Array, share: Array) -> tuple[Array, float]:
        """Add variables to a pair, each time the one that leaves the least of first variables; the best on the way."""
        cluster = np.zeros(self.n, dtype=bool)
        cluster[list(start)] = True
        best, least = cluster, float(share @ self._without_parents(cluster, taken))
        owner, member = self.owner[taken], self.member[taken]
        while cluster.sum() < LARGEST_CLUSTER:
            near = np.flatnonzero(~cluster & ((arc[cluster].sum(axis=0) + arc[:, cluster].sum(axis=1)) > 0))
            if not len(near):
                break
            without = ~member[:, cluster].any(axis=1)
            stays = (share * (cluster[owner] & without)) @ ~member[:, near]
            left = stays + np.bincount(owner[without], share[without], minlength=self.n)[near]
            pick = int(np.argmin(left))
            cluster = cluster.copy()
            cluster[near[pick]] = True
            if left[pick] < least - 1e-9:
                best, least = cluster, float(left[pick])
        return best, least
