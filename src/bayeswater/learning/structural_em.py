"""Structural EM: a structure from rows with missing cells (Friedman 1997), the missing ones drawn from their posterior.

In turn, the tables of the graph so far are estimated by EM; missing cells are drawn a few times from what the network
says of them, given all that is known of their row; and a graph is searched for on the rows so completed. The first
graphs are drafts, of climbs on some of the rows, to draw cells by. Those that follow are scored by what is known alone:
the log-likelihood of the cells that are there, less the price of the parameters (that of BIC where the score has none).
The best is kept, and it ends when a round brings none better. Until then tables need not be better than a parameter
costs; those of the best graph are the likeliest in the end.
"""

from collections.abc import Callable, Sequence
from dataclasses import field, replace
from functools import cached_property
from time import perf_counter
from typing import Any

import numpy as np

from bayeswater.estimate.dirichlet import conditional_table
from bayeswater.inference.exact.factors import Factors
from bayeswater.learning.network_em import Expectation, fit_by_em
from bayeswater.records import record
from bayeswater.statistics.category_counts import joint_counts
from bayeswater.structure.hill_climbing import Parents
from bayeswater.structure.knowledge import Knowledge
from bayeswater.structure.local_scores import LocalScores
from bayeswater.structure.scores import Score
from bayeswater.structure.search import (
    BY_TESTS,
    RESTRICTED_BY,
    TIME_IS_UP,
    Progress,
    Search,
    SearchClock,
    search,
    settled,
)
from bayeswater.typing import Array

DRAWS, DRAWN_ROWS = 3, 15_000
"""Completions of every row that a graph is searched on, and rows that these are together at most, where one of each is
not more: the more rows there are, the less a single draw sways them."""

DRAFTS, ROWS_OF_A_DRAFT = 2, 5_000
"""Climbs, and rows at most, that the graph comes from by which cells are first drawn: the first one's cells come from
tables in which no variable tells of another."""

BRIEF_TABU = 10
"""Steps without a gain after which a climb ends that stands for a longer search."""

MOST_ROUNDS = 10
"""Rounds after which the best graph so far is given. The first searches as far as was asked for; those after it begin
near their end, so that a climb is enough for them."""

PSEUDO_ROWS = 1.0
"""Rows imagined for each table, spread evenly: a draw needs a probability for every configuration. Scores do without
them."""

TOLERANCE = 1e-5
"""Gain of a row below which EM ends: that of a thousand rows is far less than the price of a parameter."""

ROUGH = 10.0
"""Prices of a parameter that a round of EM has to gain for it to go on, where tables are there to draw cells alone."""

Searching = Callable[[LocalScores, Parents, bool], Search]
"""Searches for a graph, given what to count, where to begin, and whether a climb is enough."""


@record
class StructuralEm:
    """What structural EM found.

    Attributes
    ----------
    search : the graph, its score by what is known, and the steps of all searches together
    rounds : the score of every round
    """

    search: Search
    rounds: tuple[float, ...]


@record
class Estimated:
    """A graph with its tables, smoothed, and its score by what is known, which is that of the likeliest tables."""

    parents: Parents
    rows: Expectation
    factors: Factors
    score: float


@record
class Problem:
    """Rows with missing cells, and what graphs are scored by.

    Parameters
    ----------
    codes : (n_variables, n_rows), the card of a variable, or more, being the code of a missing cell
    n_states : (n_variables,)
    criterion : AIC, BIC, or the log-likelihood at a price of its own
    weight : (n_rows,), optional
    """

    codes: Array
    n_states: Array
    criterion: Score
    weight: Array | None
    cards: tuple[int, ...] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "cards", tuple(self.n_states.tolist()))

    @cached_property
    def price(self) -> float:
        """Nats that a parameter costs, at least one: less is not reported of a graph on its way."""
        n_rows = float(self.codes.shape[1] if self.weight is None else self.weight.sum())
        return max(1.0, -self.criterion.terms(1.0, 2, n_rows).constant)

    def some(self, most: int, rng: np.random.Generator) -> "Problem":
        """Give the problem of so many rows, chosen at random, or this one where there are no more."""
        n = self.codes.shape[1]
        if n <= most:
            return self
        rows = rng.choice(n, most, replace=False)
        return replace(self, codes=self.codes[:, rows], weight=None if self.weight is None else self.weight[rows])

    def estimated(self, parents: Parents, begin: Array, tolerance: float) -> Estimated:
        """Estimate tables of a graph by EM, from those of codes that may lack cells; and score it."""
        axes = tuple(tuple(sorted(own)) for own in parents)
        shapes = [(*(self.cards[x] for x in own), self.cards[y]) for y, own in enumerate(axes)]
        counts = [joint_counts(begin, (*own, y), shapes[y], None) for y, own in enumerate(axes)]
        factors = Factors(self.cards, axes, _smoothed(counts))
        return self.scored(self.known(parents, factors), tolerance)

    def known(self, parents: Parents, factors: Factors) -> Estimated:
        """Say what these rows are known to be by a graph with its tables, which is not scored yet."""
        return Estimated(parents, Expectation(self.codes, factors.parents, self.cards, self.weight), factors, -np.inf)

    def scored(self, found: Estimated, tolerance: float) -> Estimated:
        """Go on with EM until a round adds no more than this to the log-likelihood; and score the graph."""
        shapes = [table.shape for table in found.factors.tables]
        nothing = [np.zeros(shape[-1]) for shape in shapes]
        fit = fit_by_em(found.factors, found.rows, nothing, tolerance=tolerance / found.rows.n_rows)
        price = sum(
            self.criterion.terms(float(np.prod(shape[:-1])), shape[-1], found.rows.n_rows).constant for shape in shapes
        )
        smooth = Factors(self.cards, found.factors.parents, _smoothed(fit.counts))
        return replace(found, factors=smooth, score=float(fit.log_likelihood[-1] + price))


def _smoothed(counts: Sequence[Array]) -> tuple[Array, ...]:
    """Tables of counts and of rows that are imagined."""
    return tuple(conditional_table(count, np.full(count.shape[-1], PSEUDO_ROWS / count.size)) for count in counts)


def structural_em(
    codes: Array,
    n_states: Array,
    score: Score,
    search: Searching,
    *,
    start: Parents,
    weight: Array | None = None,
    weigh_copies: bool = False,
    seed: int = 0,
    watch: Callable[[float, int], bool] = lambda score, n_arcs: True,
) -> StructuralEm:
    """Find a graph from rows with missing cells.

    Parameters
    ----------
    codes : (n_variables, n_rows), the card of a variable, or more, being the code of a missing cell
    n_states, score : what is scored
    search : how a graph is found on completed rows
    start : graph to begin with
    weight : (n_rows,)
    weigh_copies : whether copies of a row have to share its weight, as where the search makes tests
    seed : of the draws
    watch : called with score and number of arcs of each new best; says whether there is time for another round
    """
    curve: list[tuple[float, float]] = []
    began = perf_counter()

    def is_time_left(best: Estimated) -> bool:
        curve.append((perf_counter() - began, best.score))
        return watch(best.score, sum(map(len, best.parents)))

    def searched(on: Problem, known: Estimated, n_draws: int, *, is_brief: bool) -> tuple[Parents, Array, float]:
        """Search on rows that are completed: the graph, these rows, and what it gains there."""
        copies = known.rows.draw(known.factors, n_draws, rng).reshape(len(codes), -1)
        n, n_rows = on.codes.shape[1], known.rows.n_rows
        on_copies, copied_weight = of_copies(score, n_draws, n, n_rows, on.weight, weigh=weigh_copies)
        local_scores = LocalScores(copies, n_states, on_copies, copied_weight)
        found = search(local_scores, known.parents, is_brief)
        searches.append(found)
        return found.parents, copies, np.inf if weigh_copies else found.score - local_scores.total(known.parents)

    rng, searches = np.random.default_rng(seed), list[Search]()
    problem = Problem(codes, n_states, comparing_score(score), weight)
    some = problem.some(ROWS_OF_A_DRAFT, rng)
    draft = some.estimated(start, some.codes, ROUGH * some.price)
    for _ in range(DRAFTS):
        parents, copies, _ = searched(some, draft, 1, is_brief=True)
        draft = some.estimated(parents, copies, ROUGH * some.price)
    best = replace(draft, score=-np.inf) if some is problem else problem.known(draft.parents, draft.factors)
    n_draws = max(1, min(DRAWS, DRAWN_ROWS // codes.shape[1]))
    nothing = problem.price  # gains that rough tables cannot tell
    least = nothing * (1 if weigh_copies or not has_price(score) else n_draws)  # of a search, as rows count there
    rounds: list[float] = []
    ended = "a round of structural EM brought nothing better"
    for turn in range(MOST_ROUNDS):
        parents, copies, gain = searched(problem, best, n_draws, is_brief=turn > 0)
        if turn > 0 and (parents == best.parents or gain <= least):
            break
        new = problem.estimated(parents, copies, nothing)
        rounds.append(new.score)
        gains = new.score > best.score + nothing
        if new.score > best.score:
            best = new
            if not is_time_left(best):
                ended = TIME_IS_UP
                break
        if not gains:
            break
    else:
        ended = f"{MOST_ROUNDS} rounds of structural EM were made"
    best = problem.scored(best, TOLERANCE * best.rows.n_rows)
    rounds[rounds.index(max(rounds))] = best.score
    is_time_left(best)
    found = Search(
        best.parents,
        best.score,
        searches[DRAFTS].method,
        sum(one.n_steps for one in searches),
        ended,
        tuple(curve),
        (),
        sum(one.n_families for one in searches),
        any(one.cache_was_full for one in searches),
    )
    return StructuralEm(found, tuple(rounds))


def comparing_score(score: Score) -> Score:
    """Give the score that compares graphs by what is known: itself, if it is a log-likelihood at a price, or BIC."""
    return score if has_price(score) else Score("bic")


def has_price(score: Score) -> bool:
    """Whether a score is the log-likelihood less a price for each parameter."""
    return score.name in ("loglik", "aic", "bic")


def of_copies(
    score: Score, n_draws: int, n: int, n_rows: float, weight: Array | None, *, weigh: bool = False
) -> tuple[Score, Array | None]:
    """Say how rows that are there several times are scored as if each were there once."""
    if has_price(score) and not weigh:
        # The likelihood is as many times as large: so is the price of a parameter, and all weighs the same.
        price = -n_draws * score.terms(1.0, 2, n_rows).constant
        return (Score(score.name, price) if price else score), None if weight is None else np.tile(weight, n_draws)
    share = np.full(n, 1.0) if weight is None else weight
    return score, np.tile(share / n_draws, n_draws)


def find_graph(
    codes: Array,
    n_states: Array,
    score: Score,
    knowledge: Knowledge,
    method: str = "auto",
    *,
    weight: Array | None = None,
    start: Parents | None = None,
    time_limit: float | None = None,
    seed: int = 0,
    progress: Progress | None = None,
    **settings: Any,
) -> tuple[Search, tuple[float, ...]]:
    """Find the graph of the highest score.

    Parameters
    ----------
    codes : (n_variables, n_rows), the card of a variable, or more, being the code of a missing cell
    n_states, score, weight : what is scored
    knowledge, method, start, time_limit, seed, progress, settings : as in `bayeswater.structure.search.search`

    Returns
    -------
    search, rounds
        The rounds of structural EM are there where cells are missing; then the score is that of what is known.
    """
    settings |= {"seed": seed}
    if not (codes >= n_states[:, None]).any():
        local_scores = LocalScores(codes, n_states, score, weight)
        return search(
            local_scores, knowledge, method, start=start, time_limit=time_limit, progress=progress, **settings
        ), ()
    clock, is_long = SearchClock(time_limit, progress), settled(method, knowledge) in ("order", "exact")
    found = structural_em(
        codes,
        n_states,
        score,
        # Half of the time that is left, so that there is some for a round on cells that were filled in better.
        lambda local_scores, begin, is_brief: search(
            local_scores,
            knowledge,
            "tabu" if is_brief and is_long else method,
            start=begin,
            time_limit=clock.half_of_the_rest,
            **(settings | {"tabu_length": BRIEF_TABU} if is_brief and is_long else settings),
        ),
        start=knowledge.start if start is None else start,
        weight=weight,
        weigh_copies=method in (*BY_TESTS, *RESTRICTED_BY, "rsmax2"),
        seed=seed,
        watch=clock.step,
    )
    return found.search, found.rounds
