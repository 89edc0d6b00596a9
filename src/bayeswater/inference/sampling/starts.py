"""Where chains start: states that are possible together with the evidence, as far apart as the prior has them.

Rows are drawn as likelihood weighting draws them, and those with any weight are possible. They are taken whatever
their weight: spread more widely than the answer, so that chains which do not mix disagree. Where no row has weight,
states are searched for.
"""

import numpy as np

from bayeswater.inference.sampling.likelihood_weighting import WeightedRows
from bayeswater.inference.sampling.question import Question
from bayeswater.typing import Array

SEARCHES = 8
"""Different starts that are searched for, and shared by all chains."""


def find_starts(question: Question, n_chains: int, rng: np.random.Generator) -> Array:
    """Possible states of the free variables, (n_free, n_chains) int32."""
    codes, log_weight = WeightedRows(question, int(rng.integers(2**63))).draw(0, use_loop=False)
    possible = np.flatnonzero(log_weight > -np.inf)
    if len(possible):
        return np.ascontiguousarray(codes[:, rng.choice(possible, n_chains, replace=len(possible) < n_chains)])
    # Variables in no table with zeros may be in any state: those of the rows drawn.
    starts = codes[:, :n_chains].copy()
    domains = {v: np.ones(question.n_states(v), dtype=bool) for v in question.free}
    constraints = question.constraints
    searches = (constraints.find_together(domains, rng) for _ in range(SEARCHES))
    found = [together for together in searches if together is not None]  # all of them: the evidence is possible
    for line, v in enumerate(question.free):
        if v in constraints.of_variable:
            starts[line] = [found[c % len(found)][v] for c in range(n_chains)]
    return starts
