"""Structural EM: a structure from rows with missing cells (Friedman 1997), the missing ones drawn from their posterior.

In turn, the tables of the graph so far are estimated by EM; missing cells are drawn a few times from what the network
says of them, given all that is known of their row; and a graph is searched for on the rows so completed. Graphs are
scored by what is known alone: the log-likelihood of the cells that are there, less the price of the parameters (that of
BIC where the score has none). The best is kept, and it ends when a round brings none better. Until then tables need not
be better than a parameter costs; those of the best graph are the likeliest in the end.
"""

from collections.abc import Callable
from dataclasses import field
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

DRAWS = 3
"""Completions of every row that a graph is searched on, but for the first: cells that come from even tables are worth
one."""

MOST_ROUNDS = 10
"""Rounds after which the best graph so far is given."""

PSEUDO_ROWS = 1.0
"""Rows imagined for each table, spread evenly: a draw needs a probability for every configuration. Scores do without
them."""

TOLERANCE = 1e-5
"""Gain of a row below which EM ends: that of a thousand rows is far less than the price of a parameter."""

WHOLE_ROUND = 1
"""The round that searches as far as was asked for, the first being 0; the one before it knows its cells from even
tables, and those after it begin near their end, so that a climb is enough for them."""

Searching = Callable[[LocalScores, Parents, bool], Search]
"""Searches for a graph, given what to count, where to begin, and whether a climb is enough."""


@record
class StructuralEm:
    """What structural EM found.

    Attributes
    ----------
    search : the graph, its score by what is known, and the steps of all searches together
    rounds : the score of the start and of every round
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

    def estimated(self, parents: Parents, completed: Array | None = None) -> Estimated:
        """Estimate tables of a graph by EM, roughly, from even ones or from those of completed rows; and score it."""
        axes = tuple(tuple(sorted(own)) for own in parents)
        shapes = [(*(self.cards[x] for x in own), self.cards[y]) for y, own in enumerate(axes)]
        pseudo = [np.full(shape[-1], PSEUDO_ROWS / float(np.prod(shape))) for shape in shapes]
        if completed is None:
            tables = [np.full(shape, 1.0 / shape[-1]) for shape in shapes]
        else:
            counts = [joint_counts(completed, (*own, y), shapes[y], None) for y, own in enumerate(axes)]
            tables = [conditional_table(count, own) for count, own in zip(counts, pseudo, strict=True)]
        rows = Expectation(self.codes, axes, self.cards, self.weight)
        return self._scored(parents, rows, Factors(self.cards, axes, tuple(tables)), self.price / rows.n_rows)

    def polished(self, found: Estimated) -> Estimated:
        """Go on with EM to the likeliest tables."""
        return self._scored(found.parents, found.rows, found.factors, TOLERANCE)

    def _scored(self, parents: Parents, rows: Expectation, begin: Factors, tolerance: float) -> Estimated:
        shapes = [table.shape for table in begin.tables]
        fit = fit_by_em(begin, rows, [np.zeros(shape[-1]) for shape in shapes], tolerance=tolerance)
        pseudo = [np.full(shape[-1], PSEUDO_ROWS / float(np.prod(shape))) for shape in shapes]
        smooth = Factors(self.cards, begin.parents, tuple(map(conditional_table, fit.counts, pseudo)))
        price = sum(
            self.criterion.terms(float(np.prod(shape[:-1])), shape[-1], rows.n_rows).constant for shape in shapes
        )
        return Estimated(parents, rows, smooth, float(fit.log_likelihood[-1] + price))


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

    rng = np.random.default_rng(seed)
    problem = Problem(codes, n_states, comparing_score(score), weight)
    best = problem.estimated(start)
    rounds, searches = [best.score], []
    is_time_left(best)
    nothing = problem.price  # gains that rough tables cannot tell
    ended = f"{MOST_ROUNDS} rounds of structural EM were made"
    for turn in range(MOST_ROUNDS):
        n_draws = DRAWS if turn else 1
        on_copies, copied_weight = of_copies(
            score, n_draws, codes.shape[1], best.rows.n_rows, weight, weigh=weigh_copies
        )
        copies = best.rows.draw(best.factors, n_draws, rng).reshape(len(codes), -1)
        local_scores = LocalScores(copies, n_states, on_copies, copied_weight)
        found = search(local_scores, best.parents, turn != WHOLE_ROUND)
        searches.append(found)
        ended = "a round of structural EM brought nothing better"
        gain = np.inf if turn == 0 or weigh_copies else found.score - local_scores.total(best.parents)
        n_copies = 1 if weigh_copies or not has_price(score) else n_draws  # as how many rows one counts in a search
        if found.parents == best.parents or gain <= n_copies * nothing:
            break
        new = problem.estimated(found.parents, copies)
        rounds.append(new.score)
        gains = new.score > best.score + (nothing if turn else 0.0)
        if new.score > best.score:
            best = new
            if not is_time_left(best):
                ended = TIME_IS_UP
                break
        if not gains:
            break
    best = problem.polished(best)
    rounds[rounds.index(max(rounds))] = best.score
    is_time_left(best)
    found = Search(
        best.parents,
        best.score,
        searches[min(WHOLE_ROUND, len(searches) - 1)].method,
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
            **settings,
        ),
        start=knowledge.start if start is None else start,
        weight=weight,
        weigh_copies=method in (*BY_TESTS, *RESTRICTED_BY, "rsmax2"),
        seed=seed,
        watch=clock.step,
    )
    return found.search, found.rounds
