"""What holds of the plan of every fitted model, and of its sums: what came from elsewhere is held against it.

Every column has a name of its own, a family that is no longer open, and what that family needs: bins have cuts, words
an analyser unless they are a block of sparse counts. What is read from one column of the table stands together: the
column itself, or the three columns of a date. The sums are those of its columns, in its order, of the right domains.
"""

from collections.abc import Sequence
from itertools import groupby, pairwise
from math import inf, isfinite
from typing import Any

import numpy as np

from bayeswater.data.frames import require_own_names
from bayeswater.data.reading.column_plan import COUNTS, IGNORED, NUMBER, Column, ColumnPlan
from bayeswater.data.reading.dates import PARTS
from bayeswater.errors import SchemaError
from bayeswater.families.family import require_sums
from bayeswater.families.registry import BINNED, FAMILIES, NUMERIC, OF_TEXT, law_of
from bayeswater.statistics.category_counts import CategoryCounts
from bayeswater.statistics.column_groups import ColumnGroups
from bayeswater.statistics.consistency import require_consistent, slack_of
from bayeswater.statistics.pair_counts import PairCounts
from bayeswater.statistics.parent_counts import ParentCounts
from bayeswater.statistics.statistic import ColumnStatistic, Statistic
from bayeswater.statistics.sums import Sums
from bayeswater.statistics.text_sums import TextSums


def require_sound_plan(plan: ColumnPlan, families: tuple[str, ...] = FAMILIES) -> None:
    """Refuse a plan that no fit of a model with these families makes."""
    require_own_names(column.name for column in plan)
    _require(bool(plan.used), "the plan has no column to learn from")
    for column in plan:
        _require_family(column, families)
    by_source = [(source, list(group)) for source, group in groupby(plan, key=lambda column: column.source)]
    _require(len(by_source) == len(plan.sources), "what is read from one column of the table does not stand together")
    for source, columns in by_source:
        _require_source(source, columns)


def is_block(column: Column) -> bool:
    """Tell whether a column is, or where it is left out may be, the block of all sparse columns of a table."""
    return column.name == COUNTS and column.analyser is None and column.family in (*OF_TEXT, IGNORED)


def _require_family(column: Column, families: tuple[str, ...]) -> None:
    name, family = column.name, column.family
    _require(
        family in (*families, IGNORED),
        f"column {name!r} has family {family!r}, which is none of {[*families, IGNORED]}",
    )
    _require(family != BINNED or column.cuts is not None, f"column {name!r} has bins, but no cuts")
    cuts = column.cuts or ()
    _require(
        all(map(isfinite, cuts)) and all(a < b for a, b in pairwise(cuts)),
        f"the cuts of column {name!r} are {cuts!r:.200}, and not finite numbers in rising order",
    )
    if column.spans is not None:
        bins = pairwise((-inf, *cuts, inf))
        _require(
            family == BINNED
            and len(column.spans) == len(cuts) + 1
            and all(low <= a <= b < high for (low, high), (a, b) in zip(bins, column.spans, strict=True)),
            f"the spans of column {name!r} are {column.spans!r:.200}, and not values in each of its bins",
        )
    needed = {} if family in (IGNORED, NUMBER) else law_of(family).options
    are_given = {option for option, _ in column.options} == set(needed) and all(n > 0 for _, n in column.options)
    _require(are_given, f"column {name!r} of family {family!r} says {column.options!r:.200}")
    is_text = family in OF_TEXT
    _require(is_text or column.analyser is None, f"column {name!r} has family {family!r}, but words are read from it")
    _require(not is_text or column.analyser is not None or is_block(column), f"column {name!r} does not say its words")


def _require_source(source: str, columns: list[Column]) -> None:
    """Refuse what is neither the column itself nor the parts of a date, of which the time of day may be left out."""
    found = [(column.name, column.part) for column in columns]
    of_date = [(source, "days"), *((f"{source} ({part})", part) for part in PARTS)]
    if found not in (of_date, of_date[:-1]):
        _require(found == [(source, None)], f"columns {found!r:.200} cannot be read from column {source!r}")
        return
    _require(
        all(
            column.family in ("categorical", IGNORED)
            if column.part in ("weekday", "month")
            else column.family in (*NUMERIC, NUMBER) or (column.part == "time" and column.family == IGNORED)
            for column in columns
        ),
        f"the parts of the date {source!r} cannot be read as {[column.family for column in columns]}",
    )


def _require(condition: bool, problem: str) -> None:
    if not condition:
        raise SchemaError(problem)


def require_planned(sums: Sums[Any]) -> None:
    """Refuse sums that no rows can have; of a mixed table, those that are not of the columns of its plan."""
    require_consistent(sums)
    if isinstance(sums.columns, ColumnGroups):
        _require_planned(sums.columns, slack_of(sums.class_count.count))


def _require_planned(sums: ColumnGroups, slack: float) -> None:
    require_sound_plan(sums.plan)
    used = {column.name: place for place, column in enumerate(sums.plan.used)}
    counted: list[str] = []
    for group in sums.groups.values():
        names = _names(group)
        places = [used.get(name, -1) for name in names]
        require_sums(-1 not in places, f"there are sums of {names!r:.200}, and columns {[*used]!r:.200}")
        require_sums(places == sorted(places), f"the sums of {names!r:.200} do not stand in the order of the columns")
        if not isinstance(group, ParentCounts):  # they count again what is counted in pairs
            counted += names
        for j, name in enumerate(names):
            _require_column(sums.plan[name], group, j, slack)
    require_sums(sorted(counted) == sorted(used), f"there are sums of {counted!r:.200}, and columns {[*used]!r:.200}")
    _require_same_rows(sums, slack)


def _require_same_rows(sums: ColumnGroups, slack: float) -> None:
    """Refuse families that are not counted from the rows of the pairs beside them."""
    pairs = next((group for group in sums.groups.values() if isinstance(group, PairCounts)), None)
    for group in sums.groups.values():
        if isinstance(group, ParentCounts) and pairs is not None:
            same = group.schema == pairs.schema and group.count.dtype == pairs.table.dtype
            require_sums(
                same and bool((np.abs(group.singles.table - pairs.table) <= slack).all()),
                "columns are not counted with their parents as often as in pairs",
            )


def _names(group: Statistic) -> Sequence[str]:
    if isinstance(group, CategoryCounts | PairCounts | ParentCounts):
        return group.schema.names
    if isinstance(group, TextSums):
        return (group.name,)
    assert isinstance(group, ColumnStatistic)
    return [group.column_name(j) for j in range(group.n_columns)]


def _require_column(column: Column, group: Statistic, j: int, slack: float) -> None:
    law = law_of(column.family)
    has_schema = isinstance(group, CategoryCounts | PairCounts | ParentCounts)
    require_sums(
        has_schema if law.has_states else type(group) is law.statistic,
        f"column {column.name!r} of family {column.family!r} is summed as {type(group).__name__}",
    )
    law.require_column(column, group, j, slack)
