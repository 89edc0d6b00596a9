"""`Sampling`: by which method a question is answered, and how far sampling goes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bayeswater.errors import ParameterError
from bayeswater.inference.exact.elimination import prepare
from bayeswater.inference.exact.factors import Factors
from bayeswater.inference.sampling.answering import approximate_query, exact_is_affordable
from bayeswater.inference.sampling.question import Estimate
from bayeswater.typing import Array

METHODS = ("auto", "exact", "sampling", "gibbs", "likelihood_weighting")


@dataclass(frozen=True)
class Sampling:
    """A method, and for sampling the error and the seconds at which it ends, and a seed."""

    method: str
    standard_error: float
    time_limit: float
    random_state: int

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            raise ParameterError(f"method is {self.method!r}; it can be one of {list(METHODS)}")

    def try_exactly(
        self, factors: Factors, targets: Sequence[int], evidence: Mapping[int, int], soft: Mapping[int, Array]
    ) -> Array | None:
        """Answer exactly, if that is the method; "auto" asks the forecast first."""
        if self.method not in ("auto", "exact"):
            return None
        question = prepare(factors, targets, evidence, soft)
        if self.method == "auto" and not exact_is_affordable(question.forecast, self.time_limit):
            return None
        return question.answer()

    def estimate(
        self,
        factors: Factors,
        targets: Sequence[int],
        evidence: Mapping[int, int],
        soft: Mapping[int, Array],
        names: Sequence[str],
    ) -> Estimate:
        """Answer by sampling."""
        return approximate_query(
            factors,
            targets,
            evidence,
            soft,
            method="auto" if self.method == "sampling" else self.method,
            standard_error=self.standard_error,
            time_limit=self.time_limit,
            seed=self.random_state,
            name=names.__getitem__,
        )
