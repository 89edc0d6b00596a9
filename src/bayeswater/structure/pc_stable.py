"""PC: the graph that tests of independence leave (Spirtes and Glymour 1991; "stable", Colombo and Maathuis 2014).

A test tells how likely counts are that depart so far, if x and y do not depend on each other given z:

    G2 = 2 sum of n_xyz ln(n_xyz n_z / (n_xz n_yz)),        X2 = sum of (n_xyz - e)^2 / e, e = n_xz n_yz / n_z

Both follow the chi-squared distribution of (r_x - 1)(r_y - 1) q degrees of freedom, q the configurations of z that the
domains allow. With few rows for so many cells nothing can be shown, and the test says "independent".

The graph is made in four steps:

1. All pairs are joined. With sets of 0, 1, 2, ... neighbours given, pairs that test as independent are parted.
   Neighbours are those at the beginning of a round, so the order of the columns does not show.
2. What is known beforehand is directed.
3. Where a and b are not joined, both are joined to c, and c was not in the set that parted them, a -> c <- b: both
   arcs, or neither if what is known or was directed before forbids one of them.
4. Every edge that has to be so lest there be a new such v-structure or a cycle is directed (Meek 1995).

Tests may contradict one another and what is known. V-structures are directed in the order of the p-values that parted
their ends, the least first, as in R's bnlearn; what is left without a direction is directed so that there is no cycle
and, where that can be, no new v-structure. If several sets part a pair, the one of the earliest columns counts.

A pair that may not be joined is not tested in the first step. Where a v-structure depends on it, a set that parts it is
looked for then; if there is none, nothing is concluded.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np
from scipy.special import chdtrc, xlogy

from bayeswater.errors import ParameterError
from bayeswater.limits import require_table_bytes
from bayeswater.structure.equivalence import PartlyDirected
from bayeswater.structure.knowledge import Knowledge
from bayeswater.structure.local_scores import numbered
from bayeswater.typing import Array


@dataclass(frozen=True)
class IndependenceTest:
    """Tests on one table of codes (n_variables, n_rows)."""

    codes: Array
    n_states: Array
    kind: str = "g2"
    weight: Array | None = None

    def __post_init__(self) -> None:
        if self.kind not in ("g2", "chi2"):
            raise ParameterError(f"test is {self.kind!r}; it can be 'g2' or 'chi2'")

    def p_value(self, x: int, y: int, given: Sequence[int] = ()) -> float:
        """Probability of counts that depart from independence as far as these or farther."""
        r_x, r_y = int(self.n_states[x]), int(self.n_states[y])
        q = float(np.prod(self.n_states[list(given)], dtype=np.float64))
        degrees = (r_x - 1) * (r_y - 1) * q
        if degrees == 0:
            return 1.0
        count = self._counts(x, y, given)  # (configurations, r_x, r_y)
        of_x, of_y = count.sum(axis=2), count.sum(axis=1)
        total = of_x.sum(axis=1)
        if self.kind == "g2":
            statistic = 2.0 * (
                xlogy(count, count).sum()
                + xlogy(total, total).sum()
                - xlogy(of_x, of_x).sum()
                - xlogy(of_y, of_y).sum()
            )
        else:
            share = np.divide(of_x, total[:, None], out=np.zeros_like(of_x), where=total[:, None] > 0)
            expected = share[:, :, None] * of_y[:, None, :]
            off = (count - expected) ** 2
            statistic = np.divide(off, expected, out=np.zeros_like(expected), where=expected > 0).sum()
        return float(chdtrc(degrees, max(0.0, float(statistic))))

    def _counts(self, x: int, y: int, given: Sequence[int]) -> Array:
        configuration, n_numbers = numbered(self.codes, self.n_states, given)
        r_x, r_y = int(self.n_states[x]), int(self.n_states[y])
        cell = (configuration * r_x + self.codes[x]) * r_y + self.codes[y]
        require_table_bytes(
            16 * n_numbers * r_x * r_y, f"a test of columns of {r_x} and {r_y} states", "leave one of them out"
        )
        counts = np.bincount(cell, self.weight, minlength=n_numbers * r_x * r_y)
        return counts.reshape(n_numbers, r_x, r_y).astype(np.float64)


Watch = Callable[[], bool]
"""Asked before every pair whether to go on."""


@dataclass(frozen=True)
class Parting:
    """A set given which two variables test as independent."""

    given: frozenset[int]
    p_value: float


@dataclass
class Partings:
    """What parts pairs (x, y), x < y, by tests at a significance; None where all sets were tried and none does."""

    test: IndependenceTest
    significance: float
    of: dict[tuple[int, int], Parting | None] = field(default_factory=dict)
    n_tests: int = 0

    def look(self, x: int, y: int, near_x: set[int], near_y: set[int], size: int) -> bool:
        """Look for a set of a size, out of those near x or of those near y, that parts the two."""
        for given in _sets(near_x - {y}, near_y - {x}, size):
            self.n_tests += 1
            p_value = self.test.p_value(x, y, given)
            if p_value > self.significance:
                self.of[x, y] = Parting(frozenset(given), p_value)
                return True
        return False


def pc_stable(
    test: IndependenceTest, knowledge: Knowledge, significance: float, watch: Watch = lambda: True
) -> tuple[tuple[frozenset[int], ...], int]:
    """Find a graph by tests: parents of every variable, and the number of tests made."""
    graph, partings = PartlyDirected(len(knowledge.names)), Partings(test, significance)
    for x, y in combinations(range(len(graph)), 2):
        if knowledge.allowed[x, y] or knowledge.allowed[y, x]:
            graph.join(x, y)
    _part(graph, partings, knowledge, watch)
    graph.direct_known(knowledge)
    for _, a, c, b in sorted(_v_structures(graph, partings, watch), key=lambda found: found[0]):
        if not graph.children[c] & {a, b} and not (graph.leads(c, a) or graph.leads(c, b)):
            graph.direct(a, c)
            graph.direct(b, c)
    graph.follow()
    return graph.extension(knowledge), partings.n_tests


def _part(graph: PartlyDirected, partings: Partings, knowledge: Knowledge, watch: Watch) -> None:
    """Part pairs that test as independent, unless an arc is required."""
    size = 0
    while True:
        near = [set(own) for own in graph.neighbours]
        pairs = [(x, y) for x, y in graph.edges() if x < y and not knowledge.required[[x, y], [y, x]].any()]
        if not any(max(len(near[x]), len(near[y])) > size for x, y in pairs):
            return
        for x, y in pairs:
            if not watch():
                return
            if partings.look(x, y, near[x], near[y], size):
                graph.part(x, y)
        size += 1


def _v_structures(graph: PartlyDirected, partings: Partings, watch: Watch) -> Iterator[tuple[float, int, int, int]]:
    """Give v-structures a -> c <- b that tests ask for and nothing known forbids, as (p-value of parting, a, c, b)."""
    for c in range(len(graph)):
        for a, b in combinations(sorted(graph.around(c) - graph.children[c]), 2):
            if graph.joined(a, b):
                continue
            if (a, b) not in partings.of:  # they may not be joined, and were not tested
                sides = graph.around(a), graph.around(b)
                sizes = range(max(map(len, sides)) + 1)
                if not any(watch() and partings.look(a, b, *sides, size) for size in sizes):
                    partings.of[a, b] = None
            parting = partings.of[a, b]
            if parting is not None and c not in parting.given:
                yield parting.p_value, a, c, b


def _sets(a: set[int], b: set[int], size: int) -> Iterator[tuple[int, ...]]:
    """Sets of a size out of one or the other, each once."""
    yield from combinations(sorted(a), size)
    for given in combinations(sorted(b), size):
        if not a.issuperset(given):
            yield given
