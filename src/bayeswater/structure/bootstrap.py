"""How sure the arcs of a structure are: the search is repeated on rows drawn anew, and arcs are counted.

Of each repetition the equivalence class is counted: an arc that neither the rows nor what is known beforehand can
direct counts half for each direction. The strength of a pair is the share of repetitions in which it is joined, its
direction the share of those in which the arc points that way (Friedman, Goldszmidt and Wyner 1999).

A search decides ties by the order of the variables, and where a climb ends may hang on it. So every repetition has an
order of its own, drawn from that of the names: no arc is strong by its place alone, and the order of the columns does
not show.

Which strengths are significant is read from their distribution: that of perfectly sure strengths, all of them 0 or 1,
which lies nearest to it in the sum of differences, and whose step is the threshold (Scutari and Nagarajan 2013).
"""

from collections.abc import Callable, Sequence
from itertools import combinations

import numpy as np

from bayeswater.kernels.threads import ordered_map, threads
from bayeswater.structure.dag import Dag
from bayeswater.structure.equivalence import PartlyDirected, equivalence_class
from bayeswater.structure.family_scores import FamilyScores
from bayeswater.structure.knowledge import Knowledge
from bayeswater.structure.search import search
from bayeswater.typing import Array


def arc_counts(
    scores: Callable[[Array, Array], FamilyScores],
    n_rows: int,
    knowledge: Knowledge,
    n: int,
    *,
    method: str,
    seed: int,
    test: str | None = None,
    significance: float = 0.05,
    weight: Array | None = None,
    progress: Callable[[int], None] | None = None,
) -> Array:
    """Repeat a search n times on rows drawn with replacement: (n_variables, n_variables) counts [parent, child].

    Every repetition draws from a stream of its own, so the counts do not depend on the number of threads.

    Parameters
    ----------
    scores : gives those of some variables, in an order, over some rows
    n_rows : how many rows there are
    knowledge, method, test, significance : of the searches
    weight : (n_rows,), by which rows are drawn
    """
    n_variables = len(knowledge.names)
    share = None if weight is None else weight / weight.sum()
    by_name = in_order_of_names(knowledge.names)

    def once(stream: np.random.SeedSequence) -> Array:
        rng = np.random.default_rng(stream)
        rows = rng.choice(n_rows, size=n_rows, p=share)
        order = rng.permutation(by_name)
        known = knowledge.take(order)
        with threads(1):  # the repetitions are what is divided among threads
            drawn = scores(order, rows)
            seed_of_search = int(rng.integers(2**31))
            found = search(drawn, known, method, test=test, significance=significance, seed=seed_of_search)
        arcs = np.empty((len(order), len(order)))
        arcs[np.ix_(order, order)] = class_arcs(
            Dag(known.names, tuple(tuple(sorted(own)) for own in found.parents)), known
        )
        return arcs

    total = np.zeros((n_variables, n_variables))
    for done, arcs in enumerate(ordered_map(once, np.random.SeedSequence(seed).spawn(n)), start=1):
        total += arcs
        if progress is not None:
            progress(done)
    return total


def in_order_of_names(names: Sequence[str]) -> Array:
    """Places of names in the order that they have as texts."""
    return np.array(sorted(range(len(names)), key=names.__getitem__))


def class_arcs(dag: Dag, knowledge: Knowledge) -> Array:
    """Arcs of a graph; one that equivalent graphs turn counts half each way, unless what is known directs it."""
    arcs = np.zeros((len(dag), len(dag)))
    members = equivalence_class(dag, knowledge)
    for child, (own, either) in enumerate(zip(members.parents, members.neighbours, strict=True)):
        arcs[list(own), child] = 1.0
        arcs[list(either), child] = 0.5
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


def averaged_parents(counts: Array, n: float, threshold: float, knowledge: Knowledge) -> tuple[tuple[int, ...], ...]:
    """Join the pairs that are stronger than the threshold, the strongest first, unless an arc would close a cycle.

    Arcs that are required come before all others. Pairs that were found as often one way as the other are directed in
    the end, without a new v-structure where that can be. Of too many parents the strongest stay.
    """
    order = in_order_of_names(knowledge.names)
    counts, knowledge = counts[np.ix_(order, order)], knowledge.take(order)
    strength = (counts + counts.T) / n
    graph = PartlyDirected(len(order))
    for child, own in enumerate(knowledge.start):
        for parent in own:
            graph.direct(parent, child)
    strong = [pair for pair in combinations(range(len(order)), 2) if strength[pair] > threshold]
    for a, b in sorted(strong, key=lambda pair: -strength[pair]):
        if graph.joined(a, b):
            continue
        parent, child = (b, a) if counts[b, a] > counts[a, b] else (a, b)
        if counts[a, b] == counts[b, a]:
            graph.join(a, b)
        elif not graph.leads(child, parent):
            graph.direct(parent, child)
    graph.follow()
    parents: list[tuple[int, ...]] = [()] * len(order)
    for child, own in enumerate(graph.extension(knowledge)):
        ranked = sorted(own, key=lambda x: (not knowledge.required[x, child], -strength[x, child], x))
        parents[order[child]] = tuple(sorted(order[ranked[: knowledge.max_parents]].tolist()))
    return tuple(parents)
