"""`SeveralParents`: how the columns of `KDB` and `SKDB` get their parents, and how tables with parents are smoothed."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayeswater.errors import ParameterError
from bayeswater.estimate.dirichlet import KINDS, PseudoCounts
from bayeswater.estimate.pairs import PairEstimate
from bayeswater.inference.dependence import Dependence
from bayeswater.inference.leave_one_out import Prior
from bayeswater.models.semi_naive.learning import pairs_of
from bayeswater.models.settings import column_place
from bayeswater.statistics.column_groups import ColumnGroups
from bayeswater.statistics.pair_counts import PairCounts
from bayeswater.statistics.parent_counts import ParentCounts, Parents
from bayeswater.statistics.sums import Sums
from bayeswater.structure.trees import k_dependence
from bayeswater.typing import is_number

BACK_OFF = "back-off"
"""Word for the smoothing in which each level is drawn towards the one with a parent less."""


@dataclass(frozen=True)
class SeveralParents:
    """Parameters of a model whose columns have several parents: what is given, or found up to `most` of them.

    `least` is the conditional mutual information that a parent has at least, if that matters.
    """

    given: Any
    smoothing: Any
    class_free: Any
    most: Any
    least: Any = None

    def require(self) -> None:
        """Refuse parameters that are out of range."""
        if not (is_number(self.class_free) and 0 <= self.class_free <= 1):
            raise ParameterError(f"class_free is {self.class_free!r}; it must be a number from 0 to 1")
        if self.given is not None and not isinstance(self.given, Mapping):
            raise ParameterError(f"parents is {self.given!r}; give a dict {{column: [parents]}}")

    def by(self, pairs: PairCounts, estimate: PairEstimate) -> Parents:
        """Parents of each column: as given, or by what the columns tell of each other."""
        if self.given is not None:
            return _given_parents(self.given, pairs.schema.names)
        return k_dependence(estimate.states, int(self.most), self.least).parents

    def pseudo_counts(self, alpha: Any) -> PseudoCounts:
        """Give the smoothing of single tables, and of the class prior."""
        if self.smoothing not in (*KINDS, BACK_OFF):
            raise ParameterError(f"smoothing is {self.smoothing!r}; it can be one of {[*KINDS, BACK_OFF]}")
        return PseudoCounts("m-estimate" if self.smoothing == BACK_OFF else self.smoothing, alpha)

    def joint(
        self, prior: Prior, estimate: PairEstimate, counts: ParentCounts, n_parents: int, used: tuple[int, ...]
    ) -> Dependence:
        """Read the columns that are `used` with their first `n_parents` parents off the counts."""
        class_free = float(self.class_free) if self.smoothing == BACK_OFF else None
        return Dependence(prior, estimate, counts, n_parents, used, class_free).read()

    def concentrations(self, joint: Dependence) -> dict[str, list[float]]:
        """Give the concentrations of the levels of back-off, with and without the class."""
        if self.smoothing != BACK_OFF:
            raise AttributeError(f"smoothing is {self.smoothing!r}: only back-off has concentrations")
        rule = joint.usual_rule
        return {"with_class": rule.with_class.tolist(), "without_class": rule.without_class.tolist()}


def named_parents(sums: Sums[ColumnGroups], parents: Parents) -> dict[str, tuple[str, ...]]:
    """Name the parents of each column."""
    names = pairs_of(sums).schema.names
    return {name: tuple(names[p] for p in own) for name, own in zip(names, parents, strict=True)}


def require_number_of_parents(number: Any, parameter: str) -> None:
    """Refuse what is no number of parents."""
    if not isinstance(number, int | np.integer) or isinstance(number, bool) or number < 0:
        raise ParameterError(f"{parameter} is {number!r}; it must be a whole number of parents, 0 or more")


def go_round(parents: Parents) -> list[int]:
    """Columns that hang on themselves, and those below them."""
    done: set[int] = set()
    while ready := [j for j, own in enumerate(parents) if j not in done and done.issuperset(own)]:
        done.update(ready)
    return [j for j in range(len(parents)) if j not in done]


def _given_parents(given: Mapping[Any, Any], names: tuple[str, ...]) -> Parents:
    """Read parents as the user gives them, and refuse those that go round."""
    parents: list[tuple[int, ...]] = [()] * len(names)
    for child, own in given.items():
        if isinstance(own, str) or not hasattr(own, "__iter__"):
            raise ParameterError(f"parents of {child!r} are {own!r}; give a list of columns, which may be empty")
        parents[column_place(child, names, "parents")] = tuple(column_place(p, names, "parents") for p in own)
    around = [names[j] for j in go_round(tuple(parents))]
    if around:
        raise ParameterError(f"parents goes round among the columns {around[:10]}; leave one out")
    return tuple(parents)
