"""A question answered by sampling, to the standard error that is asked for, within the time that is given.

Which way: rows drawn independently are tried first; their weights tell how many of them the answer will take. Where
that is too many, chains take over, unless the weights are so even that chains would need as many draws; and where zeros
forbid chains, rows go on as far as time allows.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import ceil
from time import monotonic

import numpy as np

from bayeswater import limits
from bayeswater.errors import ParameterError, SamplingError
from bayeswater.inference.exact.factors import Factors, NetworkLike
from bayeswater.inference.exact.forecast import Forecast
from bayeswater.inference.sampling.gibbs import gibbs
from bayeswater.inference.sampling.likelihood_weighting import BATCH_ROWS, LEAST_COVER, WeightedRows
from bayeswater.inference.sampling.question import MOST_CELLS, Estimate, SamplingQuestion, ask, exactly
from bayeswater.typing import Array, is_number

METHODS = ("auto", "gibbs", "likelihood_weighting")

LEAST_SHOWN = 50
"""Draws, by their weights, under which weighted rows give no number at all."""

EVEN = 0.25
"""Share of the rows that their weights are worth at which no chain is better: its draws lean on one another."""

CELL_SECONDS = 20e-9
"""Of one variable of one row, roughly."""

STEPS_AHEAD = 4
"""Rows are multiplied by no more than this at a time: early weights tell little of later ones."""


def exact_is_affordable(forecast: Forecast, time_limit: float) -> bool:
    """Say whether an exact answer fits into memory and time, by its forecast."""
    return forecast.bytes <= limits.TABLE_BYTES and forecast.seconds <= time_limit


def approximate_query(
    network: NetworkLike,
    targets: Sequence[int],
    evidence: Mapping[int, int] | None = None,
    soft: Mapping[int, Array] | None = None,
    *,
    method: str = "auto",
    standard_error: float = 0.001,
    time_limit: float = 10.0,
    seed: int = 0,
    name: Callable[[int], str] = str,
) -> Estimate:
    """P(targets | evidence) by sampling, one axis for each target, with errors and a verdict.

    The same seed gives the same answer for any number of threads, unless time ran out.

    Parameters
    ----------
    network, targets, evidence, soft : as for an exact `query`
    method : "gibbs", "likelihood_weighting", or "auto" for the one that suits
    standard_error : of each probability, at most; sampling ends when it is reached
    time_limit : seconds after which it ends in any case
    seed : of the random numbers
    name : name of a variable, for errors

    Raises
    ------
    ImpossibleEvidence
        The evidence has probability zero.
    SamplingError
        No number could be given with an error: zeros tie too many variables together, or no row carries weight.

    Examples
    --------
    >>> step = np.array([[0.9, 0.1], [0.2, 0.8]])
    >>> chain = Factors((2, 2, 2), ((), (0,), (1,)), (np.array([0.5, 0.5]), step, step))
    >>> found = approximate_query(chain, [0], {2: 0}, standard_error=0.005)
    >>> found.probability.round(2), found.verdict
    (array([0.7, 0.3]), 'reliable')
    """
    _require(method, standard_error, time_limit, seed)
    deadline = monotonic() + time_limit
    factors = Factors.of(network)
    question = ask(factors, targets, evidence or {}, soft or {}, np.random.default_rng([seed, 0]))
    n_cells = float(np.prod([question.n_states(v) for v in question.targets], dtype=float))
    if n_cells > MOST_CELLS:
        raise SamplingError(
            f"{n_cells:.4g} probabilities are asked for, over the {MOST_CELLS} whose errors are kept; ask for fewer "
            "targets together"
        )
    if not any(v in question.free for v in question.targets):
        return _full(question, exactly(np.ones(1)))
    if method == "gibbs":
        found = gibbs(question, standard_error, deadline, seed, name)
    elif method == "likelihood_weighting":
        found = _by_weight(question, standard_error, deadline, seed)
    else:
        found = _either(question, standard_error, time_limit, deadline, seed, name)
    return _full(question, found)


def _require(method: str, standard_error: float, time_limit: float, seed: int) -> None:
    if method not in METHODS:
        raise ParameterError(f"method is {method!r}; give one of {', '.join(map(repr, METHODS))}")
    for what, value in (("standard_error", standard_error), ("time_limit", time_limit)):
        if not is_number(value) or value <= 0:
            raise ParameterError(f"{what} is {value!r}; give a number over 0")
    if not isinstance(seed, int | np.integer) or isinstance(seed, bool) or seed < 0:
        raise ParameterError(f"seed is {seed!r}; give a whole number, 0 or more")


def _either(
    question: SamplingQuestion,
    standard_error: float,
    time_limit: float,
    deadline: float,
    seed: int,
    name: Callable[[int], str],
) -> Estimate:
    rows = WeightedRows(question, seed)
    pilot = rows.sums(0, 1)
    # A forecast from counts, not from the clock: which way is taken must not change from call to call. Twice the error
    # will do, since independent rows are the more reliable ones.
    needed = BATCH_ROWS * max(
        0.25 / (2 * standard_error) ** 2 / max(pilot.effective_draws, LEAST_SHOWN),
        max(LEAST_COVER, 1 / (2 * standard_error)) / max(rows.cover(pilot), 1e-300),
    )
    fits = needed * len(question.free) * CELL_SECONDS < time_limit / 2
    if pilot.effective_draws >= (LEAST_SHOWN if fits else EVEN * BATCH_ROWS):
        return _by_weight(question, standard_error, deadline, seed)
    try:
        return gibbs(question, standard_error, deadline, seed, name)
    except SamplingError as no_chains:
        try:
            return _by_weight(question, standard_error, deadline, seed)
        except SamplingError as no_rows:
            raise SamplingError(f"{no_chains}. {no_rows}") from None


def _by_weight(question: SamplingQuestion, standard_error: float, deadline: float, seed: int) -> Estimate:
    """Weight rows until no cell has a larger error, or until the deadline."""
    rows = WeightedRows(question, seed)
    begin = monotonic()
    sums, n_batches = rows.sums(0, 1), 1
    while True:
        found = rows.estimate(sums)
        worst = float(np.max(found.standard_error))
        is_reached = worst <= standard_error
        if is_reached and found.is_reliable:
            return found
        wish = STEPS_AHEAD * n_batches
        if found.is_reliable:
            wish = min(wish, ceil(1.05 * n_batches * (worst / standard_error) ** 2))
        wish = max(wish, n_batches + 1)
        now = monotonic()
        per_batch = (now - begin) / n_batches
        wish = min(wish, n_batches + int((deadline - now) / per_batch))
        if wish <= n_batches:
            if not sums.effective_draws >= LEAST_SHOWN:
                raise SamplingError(
                    f"likelihood weighting cannot answer: {'; '.join(found.doubts)}. Evidence is too unlikely for rows "
                    "drawn without it; ask by method='gibbs' or 'exact'"
                )
            return replace(found, is_reached=is_reached)
        sums, n_batches = sums + rows.sums(n_batches, wish - n_batches), wish


def _full(question: SamplingQuestion, found: Estimate) -> Estimate:
    """Put the cells of free targets back among all states; what is impossible has no error."""
    shape = [question.factors.cards[v] for v in question.targets]
    where = np.ix_(*(question.states[v] for v in question.targets))
    within = [question.n_states(v) for v in question.targets]

    def put(values: Array, elsewhere: float) -> Array:
        full = np.full(shape, elsewhere)
        full[where] = values.reshape(within)
        return full

    return replace(
        found,
        probability=put(found.probability, 0.0),
        standard_error=put(found.standard_error, 0.0),
        effective_size=put(found.effective_size, np.inf),
        r_hat=None if found.r_hat is None else put(found.r_hat, 1.0),
    )
