"""How likely arcs are before any row is seen: what adds to a marginal likelihood (Castelo and Siebes 2000).

uniform              every graph the same
variable_selection   each possible parent is one with probability b, default 1/(p - 1): k ln(b / (1 - b)) for k
marginal             each pair is joined with probability b, default 1/2, either way as likely: ln(3b / 2) for
one that is, ln(3 (1 - b)) for one that is not
"""

from math import log
from typing import Any

from bayeswater.errors import ParameterError
from bayeswater.records import record
from bayeswater.typing import is_number

GRAPH_PRIORS = ("uniform", "variable_selection", "marginal")


@record
class GraphPrior:
    """A prior by name, and its probability b where it is given.

    Examples
    --------
    >>> GraphPrior("variable_selection", 0.5).terms(4)
    (0.0, 0.0)
    """

    name: str = "uniform"
    chance: float | None = None

    def __post_init__(self) -> None:
        if self.name not in GRAPH_PRIORS:
            raise ParameterError(f"graph_prior is {self.name!r}; choose one of {', '.join(GRAPH_PRIORS)}")
        if self.name == "uniform" and self.chance is not None:
            raise ParameterError("graph_prior 'uniform' takes no probability; leave it out")
        if self.chance is not None and not (is_number(self.chance) and 0 < self.chance < 1):
            raise ParameterError(
                f"the probability of graph_prior is {self.chance!r}; give a number between 0 and 1, both left out"
            )

    @classmethod
    def of(cls, prior: Any) -> "GraphPrior":
        """Read a prior by name, as (name, probability) or as it is; "vsp" is bnlearn's name of variable selection."""
        if isinstance(prior, GraphPrior):
            return prior
        name, chance = prior if isinstance(prior, tuple) and len(prior) == 2 else (prior, None)
        return cls("variable_selection" if name == "vsp" else name, chance)

    def require_likelihood(self, score: str, known: tuple[str, ...]) -> None:
        """Refuse a score that is no marginal likelihood, which this prior would mean nothing for."""
        if self.name != "uniform" and score not in known:
            raise ParameterError(
                f"score {score!r} is no marginal likelihood, and takes no graph_prior; of these scores "
                f"{', '.join(known)} take one"
            )

    def terms(self, n_variables: int) -> tuple[float, float]:
        """What each parent adds to the score of a variable, and what every variable adds."""
        others = max(1, n_variables - 1)
        if self.name == "variable_selection":
            # Of two variables, each is the parent of the other or not.
            chance = min(0.5, 1 / others) if self.chance is None else self.chance
            return log(chance / (1 - chance)), 0.0
        if self.name == "marginal":
            chance = 0.5 if self.chance is None else self.chance
            return log(chance / 2 / (1 - chance)), (n_variables - 1) / 2 * log(3 * (1 - chance))
        return 0.0, 0.0


UNIFORM = GraphPrior()
