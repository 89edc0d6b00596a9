"""Greedy search: one arc added, deleted or turned at a time, always the one that gains most; with a tabu list if asked.

The gains of all changes of one arc are kept in a square, ``gain[child, parent]``; a step counts anew the rows of the
children whose parents changed, one or two of them. Who reaches whom tells which arcs would close a cycle; a step
changes that only above its parent and below its child.

Gains that differ by less than a small share of the score are equal, and of equal ones the first goes: an arc to add or
delete before one to turn, then by parent, then by child. So the last bits of a sum decide nothing. With a tabu list the
search goes on where nothing gains, and does not come back to any of the last graphs, until so many steps lost without a
new best, as in R's bnlearn.
"""

from collections import deque
from collections.abc import Callable, Sequence

import numpy as np

from bayeswater.data.reading.row_hashes import hash_word, hashed
from bayeswater.kernels.threads import row_blocks
from bayeswater.records import record
from bayeswater.structure.dag import Dag
from bayeswater.structure.family_scores import FamilyScores
from bayeswater.structure.knowledge import Knowledge
from bayeswater.typing import Array

AT_A_TIME = 256
"""Variables whose gains are counted at once: beside the square of all gains there is little room to keep."""

BYTES_OF_A_PAIR = 2 * 8 + 8
"""What a climb holds of every two variables: what an arc gains, where it may be; marks of arcs, paths and knowledge."""

TIE = 1e-12
"""Share of the score below which gains are equal: some hundred times the rounding of its sum."""

Parents = tuple[frozenset[int], ...]
Watch = Callable[[float, int], bool]
"""Told the score and the number of arcs after a step; says whether to go on."""


@record
class Step:
    """A change of one arc: it is turned, or else added where it is not there and deleted where it is."""

    parent: int
    child: int
    gain: float
    turns: bool = False


class Climb:
    """A graph on its way, with the gains of all its changes."""

    def __init__(self, local_scores: FamilyScores, knowledge: Knowledge, start: Parents) -> None:
        n = len(start)
        self.local_scores = local_scores
        self.knowledge = knowledge
        self.parents = list(start)
        self.gain = np.empty((n, n))
        for some in row_blocks(n, AT_A_TIME):
            wanted = [(y, start[y]) for y in range(some.start, some.stop)]
            self.gain[some] = local_scores.columns(wanted)
        self.score = sum(self.gain.diagonal().tolist())
        self.reach = reachable(start)
        self.arc = np.zeros((n, n), dtype=bool)  # [child, parent], as all squares here
        for y, own in enumerate(start):
            self.arc[y, list(own)] = True
        self.gain -= self.gain.diagonal().copy()[:, None]
        self._fixed = knowledge.required.T
        self._closed = ~knowledge.allowed.T
        self._toggle = np.empty((n, n))  # the gains of what may be added or deleted
        self._best = np.empty(n)  # the largest of each child
        self._refresh(np.arange(n))

    @property
    def tie(self) -> float:
        """Difference below which gains are equal."""
        return TIE * max(1.0, abs(self.score))

    def _refresh(self, children: Array) -> None:
        """Read again which arcs of some children may be added or deleted."""
        arc = self.arc[children]
        free = ~(self._closed[children] | self.reach[children] | arc)
        free &= (arc.sum(axis=1) < self.knowledge.max_parents)[:, None]
        free |= arc & ~self._fixed[children]
        self._toggle[children] = np.where(free, self.gain[children], -np.inf)
        self._best[children] = self._toggle[children].max(axis=1)

    def best_step(self, is_tabu: Callable[[Step], bool] | None = None) -> Step | None:
        """Find the change that gains most, whatever its sign; None where there is none."""
        turned, arcs = self._turns()
        barred = []
        try:
            while True:
                step = self._best_toggle()
                step = self._best_turn(turned, arcs, -np.inf if step is None else step.gain) or step
                if step is None or is_tabu is None or not is_tabu(step):
                    return step
                if step.turns:
                    turned[(arcs[0] == step.child) & (arcs[1] == step.parent)] = -np.inf
                else:
                    barred.append(step.child)
                    self._toggle[step.child, step.parent] = -np.inf
                    self._best[step.child] = self._toggle[step.child].max()
        finally:
            if barred:
                self._refresh(np.array(barred))

    def _best_toggle(self) -> Step | None:
        """Find the best arc to add or delete."""
        top = self._best.max()
        if top == -np.inf:
            return None
        children = np.flatnonzero(self._best >= top - self.tie)
        first = [int(np.argmax(self._toggle[y] >= top - self.tie)) for y in children]
        x, y = min(zip(first, children.tolist(), strict=True))
        return Step(x, y, float(self._toggle[y, x]))

    def _turns(self) -> tuple[Array, tuple[Array, Array]]:
        """Give the gain of turning each arc, and the arcs (children, parents); where it is not allowed, -inf."""
        y, x = np.nonzero(self.arc)
        full = self.arc.sum(axis=1) >= self.knowledge.max_parents
        barred = self._fixed[y, x] | self._closed[x, y] | full[x]
        return np.where(barred, -np.inf, self.gain[y, x] + self.gain[x, y]), (y, x)

    def _best_turn(self, turned: Array, arcs: tuple[Array, Array], least: float) -> Step | None:
        """Find the best arc to turn that gains more than `least`; those that would close a cycle are struck out."""
        while len(turned) and (top := turned.max()) > least + self.tie:
            near = np.flatnonzero(turned >= top - self.tie)
            at = near[np.lexsort((arcs[0][near], arcs[1][near]))[0]]
            y, x = int(arcs[0][at]), int(arcs[1][at])
            if not self.reach[x, [parent for parent in self.parents[y] if parent != x]].any():
                return Step(x, y, float(turned[at]), turns=True)
            turned[at] = -np.inf
        return None

    def take(self, step: Step) -> None:
        """Change the graph."""
        x, y = step.parent, step.child
        above = self.reach[:, x] | self.reach[:, y] if step.turns else self.reach[:, x].copy()
        if x in self.parents[y]:
            self._delete(x, y)
        else:
            self._add(x, y)
        if step.turns:
            self._add(y, x)
            self._count(x)
        self._count(y)
        self.score += step.gain
        above[[x, y]] = True
        self._refresh(np.flatnonzero(above))

    def _add(self, x: int, y: int) -> None:
        self.parents[y] |= {x}
        self.arc[y, x] = True
        self.reach[np.ix_(self.reach[:, x], self.reach[y])] = True

    def _delete(self, x: int, y: int) -> None:
        self.parents[y] -= {x}
        self.arc[y, x] = False
        below = np.flatnonzero(self.reach[y])
        # A node has more nodes above it than any of these has.
        for node in below[np.argsort(self.reach[:, below].sum(axis=0), kind="stable")].tolist():
            own = list(self.parents[node])
            self.reach[:, node] = self.reach[:, own].any(axis=1) if own else False
            self.reach[node, node] = True

    def _count(self, y: int) -> None:
        column = self.local_scores.column(y, self.parents[y])
        self.gain[y] = column - column[y]


def hill_climb(
    local_scores: FamilyScores, knowledge: Knowledge, start: Parents, *, tabu: int = 0, watch: Watch | None = None
) -> tuple[Parents, float, int]:
    """Climb from a graph to a local optimum: its parents, its score and the number of steps.

    Parameters
    ----------
    parent sets, knowledge : what is scored, and what may be there
    start : parents of every variable
    tabu : graphs that the search does not come back to, and steps that lose after which it ends; 0 ends it where no
        step gains
    watch : called with every step, may end the search
    """
    climb = Climb(local_scores, knowledge, start)
    best, best_score, since, n_steps = tuple(climb.parents), climb.score, 0, 0
    n = len(start)
    graph = 0  # the codes of its arcs, each added by exclusive or
    recent: deque[int] = deque([graph], maxlen=max(1, tabu))

    def after(step: Step) -> int:
        changed = graph ^ arc_code(step.parent * n + step.child)
        return changed ^ arc_code(step.child * n + step.parent) if step.turns else changed

    while True:
        step = climb.best_step((lambda step: after(step) in recent) if tabu else None)
        loses = step is not None and step.gain <= climb.tie
        if step is None or (loses and since >= tabu):
            break
        since += loses
        graph = after(step)
        recent.append(graph)
        climb.take(step)
        n_steps += 1
        if climb.score > best_score + climb.tie:
            best, best_score, since = tuple(climb.parents), climb.score, 0
        if watch is not None and not watch(climb.score, int(climb.arc.sum())):
            break
    return best, local_scores.total(best), n_steps


def reachable(parents: Sequence[frozenset[int]]) -> Array:
    """Whether a directed path leads from one node to another, each reaching itself: (n, n)."""
    reach = np.eye(len(parents), dtype=bool)
    for node in topological_order(parents):
        if parents[node]:
            reach[:, node] |= reach[:, list(parents[node])].any(axis=1)
    return reach


def topological_order(parents: Sequence[frozenset[int]]) -> list[int]:
    """Nodes, each after its parents, and of those that are free the first one first."""
    names = tuple(map(str, range(len(parents))))
    return list(Dag(names, tuple(tuple(sorted(own)) for own in parents)).order)


def arc_code(arc: int) -> int:
    """Give a number of 64 bits to each arc, always the same; a graph has those of its arcs by exclusive or.

    >>> arc_code(0) ^ arc_code(1) ^ arc_code(0) == arc_code(1)
    True
    """
    return int(hashed(hash_word(arc))[0])
