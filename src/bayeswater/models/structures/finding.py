"""Which way a graph is found: by one search where every cell is there, by structural EM where some are missing."""

from typing import Any

from bayeswater.learning.structural_em import structural_em
from bayeswater.structure.families import Families
from bayeswater.structure.hill_climbing import Parents
from bayeswater.structure.knowledge import Knowledge
from bayeswater.structure.scores import Score
from bayeswater.structure.search import Progress, Search, Way, search
from bayeswater.typing import Array


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
        families = Families(codes, n_states, score, weight)
        return search(
            families, knowledge, method, start=start, time_limit=time_limit, progress=progress, **settings
        ), ()
    clock = Way(time_limit, progress)
    found = structural_em(
        codes,
        n_states,
        score,
        # Half of the time that is left, so that there is some for a round on cells that were filled in better.
        lambda families, begin: search(
            families, knowledge, method, start=begin, time_limit=clock.half_of_the_rest, **settings
        ),
        start=knowledge.start if start is None else start,
        weight=weight,
        weigh_copies=method == "pc",
        seed=seed,
        watch=clock.step,
    )
    return found.search, found.rounds
