"""How sure the arcs of a structure are: the search is repeated on rows drawn anew, and arcs are counted.

Of each repetition the equivalence class is counted: an arc that neither the rows nor what is known beforehand can
direct counts half for each direction. The
strength of a pair is the share of repetitions in which it is joined, its direction the share of those in which the arc
points that way (Friedman, Goldszmidt and Wyner 1999).

Which strengths are significant is read from their distribution: that of perfectly sure strengths, all of them 0 or 1,
which lies nearest to it in the sum of differences, and whose step is the threshold (Scutari and Nagarajan 2013).
"""

from collections.abc import Callable, Iterator

import numpy as np

from bayeswater.kernels.threads import ordered_map, threads
from bayeswater.structure.dag import Dag
from bayeswater.structure.equivalence import equivalence_class
from bayeswater.structure.families import Families
from bayeswater.structure.knowledge import Knowledge
from bayeswater.structure.scores import Score
from bayeswater.structure.search import search
from bayeswater.typing import Array


def arc_counts(
    codes: Array,
    n_states: Array,
    score: Score,
    knowledge: Knowledge,
    n: int,
    *,
    method: str,
    seed: int,
    weight: Array | None = None,
    progress: Callable[[int], None] | None = None,
) -> Array:
    """Repeat a search n times on rows drawn with replacement: (n_variables, n_variables) counts [parent, child].

    Every repetition draws from a stream of its own, so the counts do not depend on the number of threads.
    """
    n_rows = codes.shape[1]
    share = None if weight is None else weight / weight.sum()

    def once(stream: np.random.SeedSequence) -> Array:
        rng = np.random.default_rng(stream)
        rows = rng.choice(n_rows, size=n_rows, p=share)
        with threads(1):  # the repetitions are what is divided among threads
            found = search(Families(codes[:, rows], n_states, score), knowledge, method, seed=int(rng.integers(2**31)))
        return _arcs(Dag(knowledge.names, tuple(tuple(sorted(own)) for own in found.parents)), knowledge)

    total = np.zeros((len(n_states), len(n_states)))
    for done, arcs in enumerate(ordered_map(once, np.random.SeedSequence(seed).spawn(n)), start=1):
        total += arcs
        if progress is not None:
            progress(done)
    return total


def _arcs(dag: Dag, knowledge: Knowledge) -> Array:
    """Arcs of a graph; one that equivalent graphs turn counts half each way, unless what is known directs it."""
    arcs = np.zeros((len(dag), len(dag)))
    neighbours = equivalence_class(dag).neighbours
    for child, own in enumerate(dag.parents):
        for parent in own:
            is_open = parent in neighbours[child] and not knowledge.required[parent, child]
            both_ways = is_open and knowledge.allowed[child, parent]
            arcs[parent, child] = 0.5 if both_ways else 1.0
            arcs[child, parent] += 0.5 if both_ways else 0.0
    return arcs


def significance_threshold(strengths: Array) -> float:
    """Strength from which on arcs are significant; `strengths` are those of all pairs, zeros included.

    >>> significance_threshold(np.array([0.02, 0.04, 0.05, 0.9, 0.95]))
    0.05
    """
    values, counts = np.unique(np.concatenate([[0.0], np.sort(strengths), [1.0]]), return_counts=True)
    counts[0] -= 1
    counts[-1] -= 1
    below = np.cumsum(counts) / max(1, len(strengths))  # share of pairs up to each value
    widths, level = np.diff(values), below[:-1]
    # The step of height t is at distance sum of width * |level - t|; its best height is a median of the levels.
    distance = [(widths * np.abs(level - t)).sum() for t in level]
    best = level[int(np.argmin(distance))] if len(level) else 0.0
    position = int(np.searchsorted(below, best - 1e-12))
    return float(values[position])


def averaged_parents(counts: Array, n: int, threshold: float, knowledge: Knowledge) -> tuple[tuple[int, ...], ...]:
    """Join the pairs that are stronger than the threshold, the strongest first, unless an arc would close a cycle.

    Arcs that are required come before all others.
    """
    parents = [set(own) for own in knowledge.start]
    for strength, parent, child in _ranked(counts / n):
        if strength <= threshold or child in parents[parent] or parent in parents[child]:
            continue
        may_be = knowledge.allowed[parent, child] and len(parents[child]) < knowledge.max_parents
        if may_be and not _reaches(parents, parent, child):
            parents[child].add(parent)
    return tuple(tuple(sorted(own)) for own in parents)


def _ranked(share: Array) -> Iterator[tuple[float, int, int]]:
    """Pairs by strength, each in the direction it has more often; of equal ones the earlier."""
    strength = share + share.T
    pairs = [(a, b) for a in range(len(share)) for b in range(a)]
    for a, b in sorted(pairs, key=lambda pair: (-strength[pair], pair[1], pair[0])):
        parent, child = (a, b) if share[a, b] > share[b, a] else (b, a)
        yield float(strength[a, b]), parent, child


def _reaches(parents: list[set[int]], node: int, ancestor: int) -> bool:
    """Whether `ancestor` is above `node`."""
    waiting, seen = [node], {node}
    while waiting:
        current = waiting.pop()
        if current == ancestor:
            return True
        fresh = parents[current] - seen
        seen |= fresh
        waiting.extend(fresh)
    return False
