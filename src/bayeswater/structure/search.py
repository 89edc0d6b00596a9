"""One door to all searches: which one is taken, how long it may last, and what it tells of its way.

| method | what it does |
|---|---|
| hill_climb | one arc at a time until none gains, perhaps again from perturbed graphs |
| tabu | the same, going on over the hill with a list of graphs not to come back to |
| order | a tabu climb, then variables moved in an order, then throws about the best (`structure.order_search`) |
| exact | the best graph of all, proven; for few variables; what it will cost is logged before it begins |
| tree | the best tree (Chow and Liu) |
| pc | the graph that tests of independence leave (`structure.pc_stable`); no score is searched for |
| grow_shrink, iamb, inter_iamb, fast_iamb, iamb_fdr, mmpc, si_hiton_pc, hpc | the same by what is near each |
| mmhc, h2pc, rsmax2 | a hill climb among the arcs that mmpc leaves, hpc, or any other of these |
| aracne | all pairs but the weakest of any three (`structure.blankets`) |
| auto | exact where it is cheap, order otherwise |

Everything is drawn from one seed: without a time limit the same rows give the same graph on every machine, for any
number of threads.
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from time import perf_counter

import numpy as np

from bayeswater.errors import ParameterError, ResourceLimitError
from bayeswater.limits import require_table_bytes
from bayeswater.records import record
from bayeswater.structure.blankets import NEAR, TestAnswers, aracne, by_blankets, nearby
from bayeswater.structure.equivalence import EquivalenceClass
from bayeswater.structure.exact_search import chow_liu_tree, exact_search, forecast
from bayeswater.structure.family_scores import FamilyScores
from bayeswater.structure.hill_climbing import BYTES_OF_A_PAIR, TIE, Parents, hill_climb, reachable
from bayeswater.structure.independence import IndependenceTest
from bayeswater.structure.knowledge import Knowledge
from bayeswater.structure.moment_scores import MomentScores
from bayeswater.structure.number_tests import MixedTest
from bayeswater.structure.order_search import BYTES_OF_A_LINK, TABU, FoundGraph, OrderSearch
from bayeswater.structure.pc_stable import pc_stable

BY_TESTS = ("pc", *NEAR, "aracne")
"""Searches that only test, and score nothing."""

METHODS = ("auto", "hill_climb", "tabu", "order", "exact", "tree", *BY_TESTS, "mmhc", "h2pc", "rsmax2")
"""Names of the searches."""

RESTRICTED_BY = {"mmhc": "mmpc", "h2pc": "hpc"}
"""The search by tests that leaves the arcs among which another climbs."""

NAMES_OF_BNLEARN = {"hc": "hill_climb", "gs": "grow_shrink", "pc_stable": "pc"}
"""Names of the same searches in R's bnlearn, but for points and underscores."""

THROWS = 200
"""Throws about the best graph that `order` makes when it has no time limit."""

CHEAP_PARENT_SETS = 3_000
"""Parent sets up to which `auto` searches exactly: it takes a second or so."""

CHEAP_BYTES = 2**22
"""Bytes of all subsets up to which it does: with few parents allowed there are few parent sets of many variables."""

MANY_VARIABLES = 150
"""Variables from which `order`, given time, begins from several random orders."""

RANDOM_ORDERS = 3
"""How many of them."""

Progress = Callable[[float, float, int], None]
"""Told seconds, score and number of arcs when a search comes to something better."""


@dataclass
class SearchClock:
    """The clock of a search, and its best scores against the seconds they took."""

    time_limit: float | None
    progress: Progress | None = None
    curve: list[tuple[float, float]] = field(default_factory=list)
    began: float = field(default_factory=perf_counter)

    @property
    def seconds(self) -> float:
        """Seconds since it began."""
        return perf_counter() - self.began

    def goes_on(self) -> bool:
        """Whether there is time left."""
        return self.time_limit is None or self.seconds < self.time_limit

    @property
    def half_of_the_rest(self) -> float | None:
        """Half of the seconds that are left, if they are counted; at least a moment, which ends a search at once."""
        return None if self.time_limit is None else max(1e-3, (self.time_limit - self.seconds) / 2)

    def step(self, score: float, n_arcs: int) -> bool:
        """Note a score, and say whether there is time left."""
        if not self.curve or score > self.curve[-1][1]:
            self.curve.append((self.seconds, score))
            if self.progress is not None:
                self.progress(self.seconds, score, n_arcs)
        return self.goes_on()

    def found(self, found: FoundGraph) -> bool:
        """Note a graph, and say whether there is time left."""
        return self.step(found.score, sum(map(len, found.parents)))


@record
class Search:
    """What a search found, and how.

    Attributes
    ----------
    parents, score : the graph
    method : the search that was made
    n_steps : changes of an arc that were made, or tests
    stopped : what ended it, in words
    curve : (seconds, score) of each new best
    restarts : the scores that the beginnings it was tried from led to
    n_families : counts of parent sets that were made; one that several sets of parents lead to may be counted for each
    forecast : of "exact", what it was to cost at most, as forecast before it began; else empty
    cache_was_full : whether some had to be counted more than once, as there was no room to keep them
    pattern : of searches by tests, the graph with those directions alone that tests and knowledge give
    """

    parents: Parents
    score: float
    method: str
    n_steps: int
    stopped: str
    curve: tuple[tuple[float, float], ...]
    restarts: tuple[float, ...]
    n_families: int
    cache_was_full: bool
    forecast: str = ""
    pattern: EquivalenceClass | None = None


def search(
    local_scores: FamilyScores,
    knowledge: Knowledge,
    method: str = "auto",
    *,
    start: Parents | None = None,
    time_limit: float | None = None,
    restarts: int = 0,
    perturb: int = 10,
    tabu_length: int = TABU,
    significance: float = 0.05,
    test: str | None = None,
    max_given: int | None = None,
    restrict: str = "si_hiton_pc",
    maximize: str = "hill_climb",
    seed: int = 0,
    progress: Progress | None = None,
) -> Search:
    """Search for the graph of the highest score.

    Parameters
    ----------
    parent sets, knowledge : what is scored, and what may be there
    method : see the table above
    start : parents of every variable to begin from; by default those that are required ("exact", "tree" and what
        tests begin nowhere)
    time_limit : seconds
    restarts, perturb : of "hill_climb" and "tabu": how often to climb again, and after how many random changes
    tabu_length : of "tabu": graphs that it does not come back to, and steps that lose after which it ends
    significance, test : probability below which a departure from independence counts, and a test (see `tests_of`)
    max_given : most variables that a test of these is given
    restrict, maximize : of "rsmax2": the search by tests that says which arcs are open, and "hill_climb" or "tabu"
    seed : of everything random
    progress : called with every new best
    """
    method, restrict, maximize = checked_method(method), checked_method(restrict), checked_method(maximize)
    if restrict not in BY_TESTS:
        raise ParameterError(f"restrict is {restrict!r}; choose one of {', '.join(BY_TESTS)}")
    if maximize not in ("hill_climb", "tabu"):
        raise ParameterError(f"maximize is {maximize!r}; it can be 'hill_climb' or 'tabu'")
    way = SearchClock(time_limit, progress)
    start = knowledge.start if start is None else start
    asked, cost = method, forecast(knowledge)
    method = settled(method, knowledge)
    tabu = tabu_length if "tabu" in (method, method == "rsmax2" and maximize) else 0
    pattern: EquivalenceClass | None = None
    scores: tuple[float, ...] = ()

    def answers() -> TestAnswers:
        most = np.inf if max_given is None else max_given
        return TestAnswers(tests_of(local_scores, test, seed), significance, way.goes_on, most)

    held = BYTES_OF_A_PAIR * (method in ("hill_climb", "tabu", "order")) + BYTES_OF_A_LINK * (method == "order")
    require_table_bytes(
        held * local_scores.n_variables**2,
        f"what every arc among {local_scores.n_variables:,} variables gains, as method={method!r} holds it,",
        "take method='tree', which holds one number a pair, or leave columns out",
    )
    if method in ("hill_climb", "tabu"):
        found, n_steps, scores, stopped = _climbs(local_scores, knowledge, way, tabu, start, restarts, perturb, seed)
    elif method == "order":
        found, n_steps, scores, stopped = _orders(local_scores, knowledge, way, start, seed)
    elif method == "exact":
        logging.getLogger(__name__).info("an exact search over %d variables has %s", local_scores.n_variables, cost)
        try:
            found, n_steps = FoundGraph(*exact_search(local_scores, knowledge, way.goes_on)), 0
            stopped = "it is proven that no graph scores higher"
        except ResourceLimitError:
            if asked == "exact" or way.goes_on():
                raise
            method = "order"  # nobody asked for a proof: what there is time for
            found, n_steps, scores, stopped = _orders(local_scores, knowledge, way, start, seed)
    elif method in BY_TESTS:
        found, pattern, n_steps, stopped = _by_tests(answers(), local_scores, knowledge, method)
    elif method in (*RESTRICTED_BY, "rsmax2"):
        near, n_tests = nearby(answers(), knowledge, RESTRICTED_BY.get(method, restrict))
        among = replace(knowledge, allowed=near)
        found, n_steps, scores, ended = _climbs(
            local_scores, among, way, tabu, knowledge.start, restarts, perturb, seed
        )
        stopped = f"{n_tests} tests left {int((near | near.T).sum()) // 2} pairs, and {ended}"
    else:
        parents = chow_liu_tree(local_scores, knowledge)
        found, n_steps = FoundGraph(parents, local_scores.total(parents)), 0
        stopped = "it is proven that no tree scores higher"
    way.found(found)
    return Search(
        found.parents,
        found.score,
        method,
        n_steps,
        stopped,
        tuple(way.curve),
        tuple(scores),
        local_scores.n_counted,
        local_scores.is_full,
        str(cost) if method == "exact" else "",
        pattern,
    )


def checked_method(method: str) -> str:
    """Give the name that a search has here, or refuse one that is not known."""
    plain = str(method).replace(".", "_")
    name = NAMES_OF_BNLEARN.get(plain, plain)
    if name not in METHODS:
        raise ParameterError(f"method is {method!r}; choose one of {', '.join(METHODS)}")
    return name


def settled(method: str, knowledge: Knowledge) -> str:
    """Give the search that is made: of "auto", exact where that is cheap."""
    if method != "auto":
        return method
    cost = forecast(knowledge)
    return "exact" if cost.n_families <= CHEAP_PARENT_SETS and cost.n_bytes <= CHEAP_BYTES else "order"


Outcome = tuple[FoundGraph, int, tuple[float, ...], str]

TIME_IS_UP = "the time limit was reached"


def _climbs(
    local_scores: FamilyScores,
    knowledge: Knowledge,
    way: SearchClock,
    tabu: int,
    start: Parents,
    restarts: int,
    perturb: int,
    seed: int,
) -> Outcome:
    rng = np.random.default_rng(seed)
    parents, score, n_steps = hill_climb(local_scores, knowledge, start, tabu=tabu, watch=way.step)
    best, scores = FoundGraph(parents, score), [score]
    for _ in range(restarts):
        if not way.goes_on():
            break
        begin = perturbed(best.parents, knowledge, perturb, rng)
        if local_scores.total(begin) == -np.inf:  # numbers whose rows leave no variance: nothing is gained from there
            continue
        parents, score, more = hill_climb(local_scores, knowledge, begin, tabu=tabu, watch=way.step)
        n_steps += more
        scores.append(score)
        if score > best.score + TIE * abs(score):
            best = FoundGraph(parents, score)
    ended = f"{tabu} step{'' if tabu == 1 else 's'} brought nothing better" if tabu else "no change of one arc gains"
    return best, n_steps, tuple(scores), ended if way.goes_on() else TIME_IS_UP


def _by_tests(
    ask: TestAnswers, local_scores: FamilyScores, knowledge: Knowledge, method: str
) -> tuple[FoundGraph, EquivalenceClass, int, str]:
    if knowledge.max_parents < local_scores.n_variables - 1:
        raise ParameterError(
            f"method={method!r} takes no max_parents: tests tell who depends; use 'order' or 'mmhc', or leave it out"
        )
    if method == "pc":
        graph, n_tests = pc_stable(ask.test, knowledge, ask.significance, ask.watch, ask.max_given)
    elif method == "aracne":
        graph, n_tests = aracne(ask.test, knowledge)
    else:
        graph, n_tests = by_blankets(ask, knowledge, method)
    ended = f"{n_tests} tests leave no pair to part" if ask.watch() else TIME_IS_UP
    parents = graph.extension(knowledge)
    return FoundGraph(parents, local_scores.total(parents)), graph.frozen(knowledge.names), n_tests, ended


def tests_of(local_scores: FamilyScores, kind: str | None, seed: int) -> IndependenceTest | MixedTest:
    """Tests of independence over the rows that are scored; by default those that R's bnlearn takes for such rows."""
    if isinstance(local_scores, MomentScores):
        return MixedTest(local_scores, kind or ("cor" if local_scores.is_number.all() else "mi-cg"), seed)
    return IndependenceTest(local_scores.codes, local_scores.n_states, kind or "g2", local_scores.weight, seed=seed)


def _orders(local_scores: FamilyScores, knowledge: Knowledge, way: SearchClock, start: Parents, seed: int) -> Outcome:
    walk = OrderSearch(local_scores, knowledge, seed, way.found, way.goes_on)
    best = walk.from_graph(start)
    scores = [best.score]
    if way.time_limit is not None and local_scores.n_variables > MANY_VARIABLES:
        for _ in range(RANDOM_ORDERS):
            if way.goes_on():
                found = walk.from_random_order()
                scores.append(found.score)
                best = max(best, found, key=lambda found: found.score)
    best = walk.throw_about(best, THROWS if way.time_limit is None else None)
    ended = f"{THROWS} throws about the best graph were made" if way.time_limit is None else TIME_IS_UP
    return best, walk.n_steps, tuple(scores), ended


def perturbed(parents: Parents, knowledge: Knowledge, n_changes: int, rng: np.random.Generator) -> Parents:
    """Change a number of arcs at random, each time one that may be changed."""
    own = [set(p) for p in parents]
    n = len(own)
    done = tries = 0
    while done < n_changes and tries < 100 * n_changes:
        tries += 1
        x, y = (int(node) for node in rng.integers(n, size=2))
        if x in own[y]:
            if knowledge.required[x, y]:
                continue
            own[y].discard(x)
        else:
            closes_cycle = reachable(tuple(map(frozenset, own)))[y, x]
            if not knowledge.allowed[x, y] or closes_cycle or len(own[y]) >= knowledge.max_parents:
                continue
            own[y].add(x)
        done += 1
    return tuple(map(frozenset, own))
