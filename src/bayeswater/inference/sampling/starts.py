"""Where chains start: states that are possible together with the evidence, spread more widely than the answer.

Chains that do not mix are found out by their disagreement, so they have to start where they could disagree. One half
starts from rows drawn as likelihood weighting draws them, taken whatever their weight. But what is rare before the
evidence may be all there is after it, and none of these rows would be there: the other half starts from rows in which
each variable is drawn evenly among the states that its parents leave it. Where no row is possible, states are searched
for.
"""

import numpy as np

from bayeswater.inference.sampling.likelihood_weighting import BATCH_ROWS, WeightedRows
from bayeswater.inference.sampling.question import Question
from bayeswater.typing import Array

SEARCHES = 8
"""Different starts that are searched for, and shared by all chains."""

EVEN_ROWS = BATCH_ROWS // 8
"""Rows drawn evenly: enough to find possible ones, where evidence does not forbid almost all."""


def find_starts(question: Question, n_chains: int, rng: np.random.Generator) -> Array:
    """Possible states of the free variables, (n_free, n_chains) int32."""
    seeds = rng.integers(2**63, size=2).tolist()
    drawn = WeightedRows(question, seeds[0]).draw(0, use_loop=False)
    even = WeightedRows(question, seeds[1], evenly=True).draw(0, n_rows=EVEN_ROWS, use_loop=False)
    possible = [codes[:, log_weight > -np.inf] for codes, log_weight in (drawn, even)]
    sources = [codes for codes in possible if codes.shape[1]]
    if not sources:
        return _searched(question, drawn[0][:, :n_chains].copy(), rng)
    starts = np.empty((len(question.free), n_chains), dtype=np.int32)
    for k, codes in enumerate(sources):
        own = starts[:, k :: len(sources)]
        own[:] = codes[:, rng.choice(codes.shape[1], own.shape[1], replace=codes.shape[1] < own.shape[1])]
    return starts


def _searched(question: Question, starts: Array, rng: np.random.Generator) -> Array:
    """Search for states of the variables in tables with zeros; all others may be in any state, those of `starts`."""
    domains = {v: np.ones(question.n_states(v), dtype=bool) for v in question.free}
    constraints = question.constraints
    searches = (constraints.find_together(domains, rng) for _ in range(SEARCHES))
    found = [together for together in searches if together is not None]  # all of them: the evidence is possible
    for line, v in enumerate(question.free):
        if v in constraints.of_variable:
            starts[line] = [found[c % len(found)][v] for c in range(starts.shape[1])]
    return starts
