"""`DependenceClassifier`: what KDB and SKDB share, classifiers whose columns depend on several others each.

The first fit counts all pairs of columns, reads from them the order of the columns and the parents of each
(`structure.kdb`), and counts every column with its parents. Which parents these are is part of the counts: later rows
are counted with them, and counts of other parents are refused.
"""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from bayeswater.data.column_plan import ColumnPlan
from bayeswater.errors import ParameterError
from bayeswater.estimate.pseudo_counts import KINDS, PseudoCounts
from bayeswater.inference.dependence import Dependence
from bayeswater.models.held_out import Part
from bayeswater.models.network.as_network import AsNetwork, NetworkTables
from bayeswater.models.semi_naive.dependence_frames import dependence_network, dependence_parameters, dependence_tables
from bayeswater.models.semi_naive.discrete_classifier import DiscreteClassifier
from bayeswater.models.semi_naive.state_rows import StateRows
from bayeswater.models.semi_naive.walking import CodedPiece, counted
from bayeswater.models.settings import column_place
from bayeswater.models.streaming.walking import Pass, SideBySide, Walk
from bayeswater.statistics.class_counts import ClassCounts
from bayeswater.statistics.column_groups import ColumnGroups
from bayeswater.statistics.family_counts import FamilyCounts, Parents
from bayeswater.statistics.pair_counts import PairCounts
from bayeswater.statistics.statistic import Statistic
from bayeswater.statistics.sums import Sums
from bayeswater.structure.kdb import k_dependence
from bayeswater.typing import is_number

FAMILIES = "families"
"""Name of the group of sums that counts every column with its parents."""

BACK_OFF = "back-off"
"""Word for the smoothing in which each level is drawn towards the one with a parent less."""


class DependenceClassifier(AsNetwork, DiscreteClassifier):
    """A classifier whose columns have several parents, fixed by the first fit."""

    # ------------------------------------------------------------------ what each model says for itself

    @property
    @abstractmethod
    def _most_parents(self) -> int:
        """Parents that a column is counted with, at most."""

    @property
    def _least_information(self) -> float | None:
        """Conditional mutual information that a parent has at least, if that matters."""
        return None

    # ------------------------------------------------------------------ counting

    def _sums_of_rows(self, rows: StateRows) -> Sums[ColumnGroups]:
        """Count rows with the parents that they choose themselves."""
        pairs = self._pair_sums(rows)
        return _beside(pairs, _families_of(rows, self._parents_by(self._pairs(pairs))))

    def _counted(self, rows: StateRows) -> dict[str, Statistic]:
        """Statistics of further rows, with the parents that are known."""
        return dict(self._sums_like(self.statistics_, rows).columns.groups)

    def _counting_walk(self, plan: ColumnPlan, part: Part | None) -> Walk[tuple[Any, Any]]:
        """Count pairs, choose parents by them, and count every column with its parents."""
        if self.parents is not None:
            return (yield from super()._counting_walk(plan, part))
        then = "parents are chosen by all rows and then counted, so that rows are read twice unless parents= names them"
        (pairs, of_part) = (yield from counted(self, plan, self._pair_sums, part, then)).parts
        if of_part is None:
            return pairs, None
        parents = self._parents_by(self._pairs(of_part))
        of = partial(_families_of, parents=parents)
        # the domains are those of the pairs: they do not grow any more
        functions = [CodedPiece(self, plan, of, None, self._pairs(pairs).singles, pairs.classes)]
        if part:
            functions.append(CodedPiece(self, plan, of, part, self._pairs(of_part).singles, of_part.classes))
        again = "calibrate=True reads the rows again" if self.calibrate else ""
        found = yield Pass(SideBySide(tuple(functions)), "counting with parents", None, again)
        return _beside(pairs, found.parts[0]), _beside(of_part, found.parts[-1])

    def _pair_sums(self, rows: StateRows) -> Sums[ColumnGroups]:
        """Count rows without parents."""
        columns = ColumnGroups(rows.labels.variable, rows.table.plan, super()._counted(rows))
        return Sums(ClassCounts.of(rows.labels, rows.weight), columns)

    def _parents_by(self, pairs: PairCounts) -> Parents:
        """Parents of each column: as given, or by what the columns tell of each other."""
        names = pairs.schema.names
        if self.parents is not None:
            return _given_parents(self.parents, names)
        return k_dependence(self._estimate_of(pairs).states, self._most_parents, self._least_information).parents

    def _sums_like(self, chosen_by: Sums[ColumnGroups], rows: StateRows) -> Sums[ColumnGroups]:
        return _beside(self._pair_sums(rows), _families_of(rows, self._families(chosen_by).parents))

    def _learns_structure(self) -> bool:
        return self._finds_parents

    @property
    def _finds_parents(self) -> bool:
        return self.parents is None

    def _can_be_structure(self, structure: Any, sums: Sums[ColumnGroups]) -> bool:
        return structure is None and not _going_round(self._families(sums).parents)

    @staticmethod
    def _families(sums: Sums[ColumnGroups]) -> FamilyCounts:
        families = sums.columns.groups[FAMILIES]
        assert isinstance(families, FamilyCounts)
        return families

    # ------------------------------------------------------------------ reading

    def _dependence(self, sums: Sums[ColumnGroups], n_parents: int, used: tuple[int, ...]) -> Dependence:
        class_free = float(self.class_free) if self.smoothing == BACK_OFF else None
        joint = Dependence(self._prior(sums), self._estimate(sums), self._families(sums), n_parents, used, class_free)
        return joint.read()

    @property
    def _smoothing(self) -> PseudoCounts:
        if self.smoothing not in (*KINDS, BACK_OFF):
            raise ParameterError(f"smoothing is {self.smoothing!r}; it can be one of {[*KINDS, BACK_OFF]}")
        return PseudoCounts("m-estimate" if self.smoothing == BACK_OFF else self.smoothing, self.alpha)

    def _require_reading_parameters(self) -> None:
        super()._require_reading_parameters()
        if not (is_number(self.class_free) and 0 <= self.class_free <= 1):
            raise ParameterError(f"class_free is {self.class_free!r}; it must be a number from 0 to 1")
        if self.parents is not None and not isinstance(self.parents, Mapping):
            raise ParameterError(f"parents is {self.parents!r}; give a dict {{column: [parents]}}")

    # ------------------------------------------------------------------ what was learned

    @property
    def parents_(self) -> dict[str, tuple[str, ...]]:
        """Parents of each column, the strongest first."""
        names = self._pairs(self.statistics_).schema.names
        joint: Dependence = self._joint()
        return {name: tuple(names[p] for p in own) for name, own in zip(names, joint.parents, strict=True)}

    @property
    def counted_parents_(self) -> dict[str, tuple[str, ...]]:
        """All parents that each column was counted with, of which ``parents_`` are the first.

        Another model with these as its `parents` counts as this one does: the two can be added.
        """
        families = self._families(self.statistics_)
        names = families.schema.names
        return {name: tuple(names[p] for p in own) for name, own in zip(names, families.parents, strict=True)}

    @property
    def concentrations_(self) -> dict[str, list[float]]:
        """Concentrations of back-off: c of each level with the class and, ``"without_class"``, f without it.

        Level l has the first l parents; f of level 0 is `alpha`. Columns of too many states to be a parent have others.
        """
        if self.smoothing != BACK_OFF:
            raise AttributeError(f"smoothing is {self.smoothing!r}: only back-off has concentrations")
        rule = self._joint().usual_rule
        return {"with_class": rule.with_class.tolist(), "without_class": rule.without_class.tolist()}

    def tables(self) -> dict[str, Any]:
        """Give the class prior, and P(state | class, states of the parents) of each column, as labelled frames by name.

        The prior is called "class", or "(class)" beside a column of that name.
        """
        return dependence_tables(self)

    def network_tables(self) -> NetworkTables:
        """Give the model as a Bayesian network: the class, and every column with its parents."""
        return dependence_network(self)

    @property
    def n_parameters(self) -> int:
        """Number of free parameters: K - 1 of the class, and K v_1 ... v_l (v_j - 1) of column j with l parents."""
        return dependence_parameters(self._joint())


def _families_of(rows: StateRows, parents: Parents) -> FamilyCounts:
    """Count every column of some rows with its parents."""
    return FamilyCounts.of(rows.table.coded, rows.labels, rows.weight, parents)


def _beside(pairs: Sums[ColumnGroups], families: FamilyCounts) -> Sums[ColumnGroups]:
    """Put counts with parents beside those of pairs of the same rows."""
    return Sums(pairs.class_count, replace(pairs.columns, groups={**pairs.columns.groups, FAMILIES: families}))


def require_number_of_parents(number: Any, parameter: str) -> None:
    """Refuse what is no number of parents."""
    if not isinstance(number, int | np.integer) or isinstance(number, bool) or number < 0:
        raise ParameterError(f"{parameter} is {number!r}; it must be a whole number of parents, 0 or more")


def _given_parents(given: Mapping[Any, Any], names: tuple[str, ...]) -> Parents:
    """Read parents as the user gives them, and refuse those that go round."""
    parents: list[tuple[int, ...]] = [()] * len(names)
    for child, own in given.items():
        if isinstance(own, str) or not hasattr(own, "__iter__"):
            raise ParameterError(f"parents of {child!r} are {own!r}; give a list of columns, which may be empty")
        parents[column_place(child, names, "parents")] = tuple(column_place(p, names, "parents") for p in own)
    around = [names[j] for j in _going_round(tuple(parents))]
    if around:
        raise ParameterError(f"parents goes round among the columns {around[:10]}; leave one out")
    return tuple(parents)


def _going_round(parents: Parents) -> list[int]:
    """Columns that hang on themselves, and those below them."""
    done: set[int] = set()
    while ready := [j for j, own in enumerate(parents) if j not in done and done.issuperset(own)]:
        done.update(ready)
    return [j for j in range(len(parents)) if j not in done]
