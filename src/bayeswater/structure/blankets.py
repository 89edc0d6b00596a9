"""Who is near whom by tests, one variable at a time: blankets (grow-shrink, IAMB), parents and children (MMPC), ARACNE.

The Markov blanket of x are its parents, its children and their other parents: given these, nothing else tells of x.

| method | how the blanket of x is found |
|---|---|
| grow_shrink | any that depends on x given the blanket so far joins; then any that does not leaves (Margaritis 2003) |
| iamb | each time the one that depends most joins; in the end others leave (Tsamardinos et al. 2003) |
| inter_iamb | the same, and others leave after each that joins |
| fast_iamb | all join that depend, the strongest first, while rows are enough for a test; then others leave |
| iamb_fdr | as many join as hold the expected share of false members below the significance (Pena 2008) |
| hpc | parents and children alone: small tests find who may be near x, and iamb_fdr looks among these |
| si_hiton_pc | parents and children alone: the strongest joins first, if no set of those so far parts it from x |
| mmpc | parents and children alone: that one joins whose weakest dependence, given any of those so far, is strongest |

MMPC is by Tsamardinos, Brown and Aliferis (2006), SI-HITON-PC by Aliferis et al. (2010): in both, those leave in the
end whom a set of the others parts from x. HPC is by Gasse, Aussem and Elghazel (2014), Fast-IAMB by Yaramakala and
Margaritis (2005).

Two are near each other where each is in the blanket of the other. Those whom a set out of the smaller blanket parts are
no neighbours. Then a -> c <- b where a and b are not joined, both are joined to c, and no set with c in it, the others
out of the smaller blanket, parts a and b. All else is directed as in `structure.pc_stable`. Parents and children tell
not of blankets: who is joined to them stands for these.

As in R's bnlearn, the last that joins the blanket of IAMB stays, the only member of a blanket is a neighbour without a
further test, and where neighbours are required, MMPC begins with sets that have the last of them. Where tests
contradict one another, the one that moved last in IAMB with FDR stays where it was. Among equal p-values the variable
of the first column goes first; so the order of columns may show.

ARACNE joins all pairs, and takes of any three the one of least mutual information away (Margolin et al. 2006). It says
nothing of directions: what is known gives them, or else the order of the columns.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, combinations

import numpy as np

from bayeswater.kernels.remainders import ROUNDING
from bayeswater.records import record
from bayeswater.structure.equivalence import PartlyDirected
from bayeswater.structure.independence import ROWS_FOR_A_CELL, PairTest
from bayeswater.structure.knowledge import Knowledge
from bayeswater.structure.pc_stable import Watch, direct, pc_stable
from bayeswater.typing import Array

Near = list[set[int]]
"""For each variable, those near it."""


@dataclass
class TestAnswers:
    """What tests say at a significance, each asked once; when time is up, nothing depends on anything.

    Blankets grow, and sets that may part two are taken, up to `max_given` variables.
    """

    test: PairTest
    significance: float
    watch: Watch = lambda: True
    max_given: float = np.inf
    of: dict[tuple[int, int, frozenset[int]], float] = field(default_factory=dict)

    def p_value(self, x: int, y: int, given: set[int]) -> float:
        """P-value of a test."""
        if self.test.is_symmetric:
            x, y = min(x, y), max(x, y)
        key = (x, y, frozenset(given))
        if key not in self.of:
            if not self.watch():
                return 1.0
            self.of[key] = self.test.p_value(x, y, sorted(given))
        return self.of[key]

    def depend(self, x: int, y: int, given: set[int]) -> bool:
        """Whether two variables depend on each other, given others."""
        return self.p_value(x, y, given) <= self.significance

    def weakest(self, x: int, y: int, among: set[int], always: set[int]) -> float:
        """Find the largest p-value given any set of some variables, and others always; one that parts will do."""
        largest = 0.0
        for own in subsets(among, self.max_given):
            largest = max(largest, self.p_value(x, y, always | set(own)))
            if largest > self.significance:
                break
        return largest


def subsets(nodes: set[int], most: float) -> Iterator[tuple[int, ...]]:
    """All sets of some nodes, of so many at most, the smallest first."""
    return chain.from_iterable(combinations(sorted(nodes), size) for size in range(int(min(len(nodes), most)) + 1))


Blanket = Callable[[TestAnswers, int, list[int], set[int]], set[int]]
"""Finds the blanket of a variable among others; some are in it whatever tests say."""


def grow_shrink(ask: TestAnswers, x: int, others: list[int], fixed: set[int]) -> set[int]:
    """Let any variable join that depends, and then any leave that does not."""
    blanket, joined = set(fixed), list[int]()
    while len(blanket) <= ask.max_given:
        new = next((y for y in others if y not in blanket and ask.depend(x, y, blanket)), None)
        if new is None:
            break
        blanket.add(new)
        joined.append(new)
    while (old := next((y for y in joined if not ask.depend(x, y, blanket - {y})), None)) is not None:
        blanket.discard(old)
        joined.remove(old)
    return blanket


def iamb(ask: TestAnswers, x: int, others: list[int], fixed: set[int], *, inter: bool = False) -> set[int]:
    """Let the variable join that depends most, one after the other; others leave in the end, or each time."""
    blanket, joined, been = set(fixed), list[int](), {frozenset(fixed)}
    while len(blanket) <= ask.max_given and (free := [y for y in others if y not in blanket]):
        new = min(free, key=lambda y: ask.p_value(y, x, blanket))
        if not ask.depend(new, x, blanket):
            break
        blanket.add(new)
        if inter:
            _leave(ask, x, blanket, joined)
        joined.append(new)
        if frozenset(blanket) in been:  # tests that contradict one another lead round in a circle
            break
        been.add(frozenset(blanket))
    if not inter:
        _leave(ask, x, blanket, joined[:-1])
    return blanket


def inter_iamb(ask: TestAnswers, x: int, others: list[int], fixed: set[int]) -> set[int]:
    """IAMB in which variables leave after each that joins."""
    return iamb(ask, x, others, fixed, inter=True)


def fast_iamb(ask: TestAnswers, x: int, others: list[int], fixed: set[int]) -> set[int]:
    """IAMB in which all join at once that depend, as long as rows are enough for a test."""
    blanket, joined, been, enough = set(fixed), list[int](), list[set[int]](), True
    free = [y for y in others if y not in fixed]
    while enough and free and blanket not in been and len(blanket) <= ask.max_given:
        been.append(set(blanket))
        strength = {y: ask.p_value(y, x, blanket) for y in free}
        new = sorted((y for y in free if strength[y] <= ask.significance), key=strength.__getitem__)
        if not new:
            break
        for y in new:
            enough = ask.test.rows_for_a_cell(x, y, sorted(blanket)) >= ROWS_FOR_A_CELL
            if not enough or len(blanket) > ask.max_given:
                break
            blanket.add(y)
            joined.append(y)
        n_joined = len(joined)
        _leave(ask, x, blanket, joined)
        free = [y for y in free if y not in blanket]
        enough = enough or len(joined) < n_joined
    return blanket


def iamb_fdr(ask: TestAnswers, x: int, others: list[int], fixed: set[int], begin: Iterable[int] = ()) -> set[int]:
    """IAMB whose bound on p-values holds the expected share of false members below the significance."""
    blanket, been, last, barred = fixed.union(begin), list[set[int]](), -1, set(fixed)
    price = len(others) * sum(1 / k for k in range(1, len(others) + 1))  # whatever tests depend on each other
    while len(blanket) <= ask.max_given:
        if blanket in been:  # tests that contradict one another lead round in a circle: no more of the last that moved
            blanket ^= {last}
            barred.add(last)
            been.pop()
        been.append(set(blanket))
        strength = {y: ask.p_value(x, y, blanket - {y}) for y in others}
        ranked = sorted(others, key=strength.__getitem__)
        passed = {y for rank, y in enumerate(ranked, 1) if strength[y] * price / rank <= ask.significance}
        order = [y for y in ranked if y not in barred and y != last]
        if old := [y for y in order if y in blanket and y not in passed]:
            last = old[-1]
        elif new := [y for y in order if y not in blanket and y in passed]:
            last = new[0]
        else:
            break
        blanket ^= {last}
    return blanket


def _leave(ask: TestAnswers, x: int, blanket: set[int], joined: list[int]) -> None:
    """Let those leave, the first that joined first, that do not depend given the others."""
    for y in list(joined):
        if not ask.depend(x, y, blanket - {y}):
            blanket.discard(y)
            joined.remove(y)


def mmpc(ask: TestAnswers, x: int, others: list[int], fixed: set[int]) -> set[int]:
    """Let the variable join whose weakest dependence on x is the strongest."""
    found, last = set(fixed), set(sorted(fixed)[-1:])
    free = {y: ask.weakest(y, x, found - last, last) for y in others if y not in found}
    while len(found) <= ask.max_given and (free := {y: p for y, p in free.items() if p <= ask.significance}):
        new = min(free, key=free.__getitem__)
        del free[new]
        free = {y: max(p, ask.weakest(y, x, found, {new})) for y, p in free.items()}
        found.add(new)
    return {y for y in found if y in fixed or ask.weakest(x, y, found - {y}, set()) <= ask.significance}


def hiton(ask: TestAnswers, x: int, others: list[int], fixed: set[int]) -> set[int]:
    """Let variables join, the strongest dependence on x first, whom no set of those so far parts from it."""
    found = set(fixed)
    free = {y: ask.p_value(y, x, set()) for y in others if y not in found}
    for y in sorted((y for y, p in free.items() if p <= ask.significance), key=free.__getitem__):
        if len(found) <= ask.max_given and ask.weakest(x, y, found, set()) <= ask.significance:
            found.add(y)
    return {y for y in found if y in fixed or ask.weakest(x, y, found - {y}, set()) <= ask.significance}


def hpc(ask: TestAnswers, x: int, others: Sequence[list[int]], fixed: Near) -> set[int]:
    """Find parents and children of x, or by those that have x for one; `others` and `fixed` are of every variable."""
    strength, parted_by = _may_be_near(ask, x, others[x], fixed[x])
    near = list(strength)
    beside = _may_share_a_child(ask, x, near, parted_by, len(others)) if len(near) > 1 else []
    if len(near) + len(beside) <= 2:
        return set(near)
    strongest = sorted(near, key=strength.__getitem__)[:2]
    among = [x, *near, *beside]

    def found(y: int) -> set[int]:
        known = fixed[y] & set(among)
        blanket = iamb_fdr(ask, y, [z for z in among if z != y], known, strongest)
        return known | {
            z
            for z in blanket.intersection(others[y]) - known
            if (y == x or x in blanket) and ask.weakest(y, z, blanket - {z}, set()) <= ask.significance
        }

    own = found(x)
    return own | {y for y in near if y not in own and y not in strongest and x in found(y)}


def _may_be_near(
    ask: TestAnswers, x: int, others: list[int], fixed: set[int]
) -> tuple[dict[int, float], dict[int, set[int]]]:
    """Who depends on x, also given any one of the others: by strength; and who parts the rest from it."""
    alone = {y: ask.p_value(y, x, set()) for y in others if y not in fixed}
    open_ = sorted((y for y, p in alone.items() if p <= ask.significance), key=alone.__getitem__, reverse=True)
    strength = dict.fromkeys(sorted(fixed), 0.0) | {y: alone[y] for y in open_}
    parted_by = {}
    for y in open_ if len(open_) > 1 else ():
        for z in sorted(strength, key=strength.__getitem__):
            if z != y:
                strength[y] = max(strength[y], ask.p_value(x, y, {z}))
                if strength[y] > ask.significance:
                    parted_by[y] = {z}
                    del strength[y]
                    break
    return strength, parted_by


def _may_share_a_child(
    ask: TestAnswers, x: int, near: list[int], parted_by: dict[int, set[int]], n_variables: int
) -> list[int]:
    """Who depends on x given one that is near x, also given any one more."""
    found = dict[int, None]()
    for child in near:
        strength = {}
        for y in range(n_variables):
            given = parted_by.get(y, set())
            if y != x and y not in near and child not in given and len(given) < ask.max_given:
                strength[y] = ask.p_value(x, y, given | {child})
        left = sorted((y for y, p in strength.items() if p <= ask.significance), key=strength.__getitem__, reverse=True)
        for y in list(left):
            if any(not ask.depend(x, y, {z, child}) for z in left if z != y):
                left.remove(y)
        found |= dict.fromkeys(left)
    return list(found)


BLANKETS: dict[str, Blanket] = {
    "grow_shrink": grow_shrink,
    "iamb": iamb,
    "inter_iamb": inter_iamb,
    "fast_iamb": fast_iamb,
    "iamb_fdr": iamb_fdr,
    "mmpc": mmpc,
    "si_hiton_pc": hiton,
}
PARENTS_AND_CHILDREN = ("mmpc", "si_hiton_pc", "hpc")
"""Those that find no blankets."""

NEAR = (*BLANKETS, "hpc")
"""All of them."""


@record
class Surroundings:
    """Blankets, and the neighbours among them."""

    blankets: Near
    neighbours: Near

    @classmethod
    def of(cls, ask: TestAnswers, knowledge: Knowledge, method: str) -> "Surroundings":
        """Find both for every variable."""
        n = len(knowledge.names)
        known = [set(np.flatnonzero(own).tolist()) for own in knowledge.required | knowledge.required.T]
        allowed = knowledge.allowed | knowledge.allowed.T
        # Who may not be joined is no parent or child, but may be in a blanket.
        open_ = allowed if method in PARENTS_AND_CHILDREN else np.ones_like(allowed)
        others = [[y for y in np.flatnonzero(open_[x]).tolist() if y != x] for x in range(n)]
        if method == "hpc":
            blankets = [hpc(ask, x, others, known) for x in range(n)]
        else:
            blankets = [BLANKETS[method](ask, x, others[x], known[x]) for x in range(n)]
        if method not in PARENTS_AND_CHILDREN:
            blankets = mutual(blankets)
        near = [{y for y in own if allowed[x, y] and x in blankets[y]} for x, own in enumerate(blankets)]
        if method in PARENTS_AND_CHILDREN:
            return cls([own.union(*(blankets[y] for y in own)) - {x} for x, own in enumerate(blankets)], near)
        neighbours = [
            {y for y in own if y in known[x] or len(blankets[x]) == 1 or not _is_parted(ask, x, y, blankets)}
            for x, own in enumerate(near)
        ]
        return cls(blankets, mutual(neighbours))


def mutual(near: Near) -> Near:
    """Keep those who have each other."""
    return [{y for y in own if x in near[y]} for x, own in enumerate(near)]


def _smaller(x: int, y: int, near: Near, without: set[int]) -> set[int]:
    """Of what is near one and what is near the other, the smaller one."""
    own, other = near[x] - without, near[y] - without
    return own if len(own) <= len(other) else other


def _is_parted(ask: TestAnswers, x: int, y: int, near: Near) -> bool:
    return ask.weakest(x, y, _smaller(x, y, near, {x, y}), set()) > ask.significance


def by_blankets(ask: TestAnswers, knowledge: Knowledge, method: str) -> tuple[PartlyDirected, int]:
    """Find a graph by blankets, and count the tests: what they leave without a direction has none."""
    around = Surroundings.of(ask, knowledge, method)
    graph = _joined(around.neighbours)
    graph.direct_known(knowledge)
    direct(graph, _meeting(graph, ask, around))
    return graph, len(ask.of)


def _joined(neighbours: Near) -> PartlyDirected:
    graph = PartlyDirected(len(neighbours))
    for x, own in enumerate(neighbours):
        for y in own:
            graph.join(x, y)
    return graph


def _meeting(graph: PartlyDirected, ask: TestAnswers, around: Surroundings) -> Iterator[tuple[float, int, int, int]]:
    """Give v-structures a -> c <- b: a and b depend on each other given c and any others, as (p-value, a, c, b)."""
    for c in range(len(graph)):
        for a, b in combinations(sorted(graph.around(c) - graph.children[c]), 2):
            if graph.joined(a, b):
                continue
            p_value = ask.weakest(a, b, _smaller(a, b, around.blankets, {a, b, c}), {c})
            if p_value <= ask.significance:
                yield p_value, a, c, b


def nearby(ask: TestAnswers, knowledge: Knowledge, method: str = "mmpc") -> tuple[Array, int]:
    """Say which arcs tests leave open, or are required: (n, n) [parent, child]; and the number of tests made."""
    if method in NEAR:
        neighbours, n_tests = Surroundings.of(ask, knowledge, method).neighbours, 0
    else:
        graph, n_tests = (
            pc_stable(ask.test, knowledge, ask.significance, ask.watch, ask.max_given)
            if method == "pc"
            else aracne(ask.test, knowledge)
        )
        neighbours = [graph.around(x) for x in range(len(graph))]
    square = np.zeros_like(knowledge.allowed)
    for x, own in enumerate(neighbours):
        square[x, list(own)] = True
    return square & knowledge.allowed, n_tests + len(ask.of)


def aracne(test: PairTest, knowledge: Knowledge) -> tuple[PartlyDirected, int]:
    """Join all pairs but the weakest of any three, and count the pairs."""
    n = len(knowledge.names)
    information = np.zeros((n, n))
    pairs = list(combinations(range(n), 2))
    for x, y in pairs:
        information[x, y] = information[y, x] = test.departure(x, y).statistic
    tie = ROUNDING * information.max(initial=0.0)
    allowed = knowledge.allowed | knowledge.allowed.T
    required = knowledge.required | knowledge.required.T
    graph = PartlyDirected(n)
    for x, y in pairs:
        beside = np.minimum(information[x], information[y])
        beside[[x, y]] = 0.0
        if allowed[x, y] and (required[x, y] or information[x, y] > max(tie, beside.max() - tie)):
            graph.join(x, y)
    graph.direct_known(knowledge)
    graph.follow()
    return graph, len(pairs)
