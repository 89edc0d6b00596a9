"""What the missing cells of a mixed row would tell: the distributions of their columns in each class.

A date is asked for as a whole, and tells its days, weekday and month together.
"""

from collections.abc import Collection, Mapping, Sequence

from bayeswater.data.cells import is_missing, python_value
from bayeswater.data.matrix import SparseMatrix
from bayeswater.data.reading.column_plan import Column, ColumnPlan
from bayeswater.data.reading.raw_table import RawTable
from bayeswater.decision.facts import Fact, RegionFact
from bayeswater.families.family import MixedJoint
from bayeswater.models.asking import Facts


def mixed_facts(
    joint: MixedJoint,
    groups: Mapping[str, Sequence[Column]],
    plan: ColumnPlan,
    raw: RawTable,
    unknown: Collection[str] = (),
) -> Facts:
    """Give the facts of every column of the table that is missing in the first row.

    Where empty is a state, a missing cell is known to be empty, unless the column is `unknown`.
    """
    of_column = {
        column.name: joint.groups[key].fact(j, is_unknown=column.source in unknown)
        for key, columns in groups.items()
        for j, column in enumerate(columns)
    }
    facts: dict[str, Sequence[Fact] | str] = {}
    for source in plan.sources:
        found = [of_column[column.name] for column in plan.used if column.source == source]
        if found and _is_missing(raw, source):
            reasons = [fact for fact in found if isinstance(fact, str)]
            told = [fact for fact in found if not isinstance(fact, str)]
            # A density comes first: its regions hang on what the other parts of a date say.
            facts[source] = reasons[0] if reasons else sorted(told, key=lambda fact: not isinstance(fact, RegionFact))
    return facts


def _is_missing(raw: RawTable, source: str) -> bool:
    cells = raw.columns[source]
    if isinstance(cells, SparseMatrix):
        return False
    return is_missing(python_value(cells[0]))
