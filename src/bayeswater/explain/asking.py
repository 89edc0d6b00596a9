"""Which missing cell of a row is worth asking for: the same for every classifier.

A model says what every cell that is missing would tell (`Facts`): the distribution of the cell in each class, given the
cells that are known. Where columns are independent within a class that is the distribution of the column
(`facts_of_columns`); elsewhere it is read off log-joints of the row with each state in the cell (`state_facts`). What
facts are worth is worked out in `decision/`.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from math import prod
from typing import Any, TypeVar

import numpy as np

from bayeswater.data.cells import is_missing, python_value
from bayeswater.data.matrix import SparseMatrix
from bayeswater.data.reading.column_plan import Column, ColumnPlan
from bayeswater.data.reading.raw_table import RawTable
from bayeswater.decision.deciding import ClassEvidence
from bayeswater.decision.facts import NOTHING, Fact, RegionFact, StateFact
from bayeswater.decision.loss import as_loss, loss_of_row
from bayeswater.decision.next_best import NextBest, costs_of_asking, rank_facts
from bayeswater.errors import DataError
from bayeswater.families.family import MixedJoint
from bayeswater.kernels.class_scores import log_shares
from bayeswater.phrases import Phrase
from bayeswater.records import record
from bayeswater.typing import Array

Model = TypeVar("Model")

Facts = Mapping[str, Sequence[Fact] | str]
"""For each column what its cell would tell, or why that is not known."""

LEAST_WEIGHT = 1e-6
"""Weight of a column from which on its cells tell something."""

MOST_OUTCOMES = 2**14
"""Outcomes of one question that are scored one by one, at most."""


@record
class OpenRow:
    """A row of which cells are missing, and what a model says of it.

    `strength` is the share of its log-likelihoods that one more cell counts for, where a calibration takes some back.
    """

    X: Any
    evidence: ClassEvidence
    names: Sequence[str]
    facts: Facts
    strength: float = 1.0

    def next_best(self, loss: Any, costs: Any, prior: Any) -> NextBest:
        """Rank the cells by what knowing them is worth minus what asking costs."""
        posterior = self.evidence.proba(prior)[0]
        known = costs_of_asking(costs, self.names)
        asked = {name: self._weakened(fact) for name, fact in self.facts.items() if name in known}
        of_row = loss_of_row(as_loss(loss, np.asarray(self.evidence.classes).tolist()), self.X)
        return rank_facts(posterior, asked, known, of_row)

    def _weakened(self, facts: Sequence[Fact] | str) -> Sequence[Fact] | str:
        if isinstance(facts, str) or self.strength == 1:
            return facts
        weaker = [fact.weakened(self.strength) for fact in facts]
        found = [fact for fact in weaker if fact is not None]
        return found if len(found) == len(weaker) else Phrase("heavy tail")


def require_one_row(evidence: ClassEvidence) -> None:
    """Refuse more rows than one, and none."""
    if evidence.posterior.n_rows != 1:
        raise DataError(f"row has {evidence.posterior.n_rows} rows; give one")


def state_facts(
    log_joint: Callable[[Array], Array], codes: Array, n_states: Array, missing: Mapping[str, Sequence[int]]
) -> Facts:
    """Tell what missing cells of a row of codes (n_columns,) would say, given those that are known.

    P(state | class, row) is that of the log-joints (n_rows, n_classes) of the row with each state in the cell,
    normalised within the class. `missing` gives the places of what is asked for: a date is several columns at once.
    """
    facts: dict[str, Sequence[Fact] | str] = {}
    for name, places in missing.items():
        shape = tuple(int(n_states[j]) for j in places)
        if prod(shape) > MOST_OUTCOMES:
            facts[name] = Phrase("too many outcomes", n=f"{prod(shape):,}")
            continue
        filled = np.repeat(codes[None], prod(shape), axis=0)
        filled[:, list(places)] = np.indices(shape).reshape(len(shape), -1).T
        scores = log_joint(filled) if len(filled) else np.empty((0, 1))
        scores[:, np.isneginf(scores).all(axis=0)] = 0.0  # of a class that is impossible already, nothing is asked
        shares = log_shares(np.ascontiguousarray(scores.T), use_loop=False).T if len(filled) else scores
        facts[name] = [StateFact(shares) if len(filled) else NOTHING]
    return facts


def facts_of_columns(
    joint: MixedJoint,
    groups: Mapping[str, Sequence[Column]],
    plan: ColumnPlan,
    raw: RawTable,
    unknown: Collection[str] = (),
    weights: Mapping[str, Array] | None = None,
) -> Facts:
    """Tell what missing cells of a row would say whose columns are independent within a class.

    A date is asked for as a whole, and tells its days, weekday, month and time of day together. Where empty is a
    state, a missing cell is known to be empty, unless the column is `unknown`. Where columns have weights (n_classes,),
    facts count by them.
    """
    of_column: dict[str, Fact | str] = {
        column.name: joint.groups[key].fact(j, is_unknown=column.source in unknown)
        for key, columns in groups.items()
        for j, column in enumerate(columns)
    }
    if weights:
        of_column = {name: counted_by(fact, weights[name]) for name, fact in of_column.items()}
    for column in plan.used:
        fact = of_column[column.name]
        if column.part == "time" and isinstance(fact, RegionFact):  # of a date only the days are searched for regions
            of_column[column.name] = fact.in_cells()
    facts: dict[str, Sequence[Fact] | str] = {}
    for source in plan.sources:
        found = [of_column[column.name] for column in plan.used if column.source == source]
        if found and _is_missing(raw, source):
            reasons = [fact for fact in found if isinstance(fact, str)]
            known = [fact for fact in found if not isinstance(fact, str)]
            # A density comes first: its regions hang on what the other parts of a date say.
            facts[source] = reasons[0] if reasons else sorted(known, key=lambda fact: not isinstance(fact, RegionFact))
    return facts


def counted_facts(facts: Mapping[str, Fact | str], weights: Mapping[str, Array]) -> Facts:
    """Give facts of single columns, which count by weights where there are some."""
    counted = {name: counted_by(fact, weights[str(name)]) if weights else fact for name, fact in facts.items()}
    return {name: fact if isinstance(fact, str) else [fact] for name, fact in counted.items()}


def counted_by(fact: Fact | str, weight: Array) -> Fact | str:
    """Let a fact count by weights (n_classes,); a density by their mean, for a class has no scale of its own there."""
    if isinstance(fact, str):
        return fact
    if not weight.max() > LEAST_WEIGHT:
        return NOTHING
    if isinstance(fact, StateFact):
        return fact.weakened(weight)
    return fact.weakened(float(weight.mean())) or Phrase("heavy tail")


def _is_missing(raw: RawTable, source: str) -> bool:
    cells = raw.columns[source]
    if isinstance(cells, SparseMatrix):
        return False
    return is_missing(python_value(cells[0]))
