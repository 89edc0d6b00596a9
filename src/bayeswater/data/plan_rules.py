"""What holds of the plan of every fitted model: a plan that came from elsewhere is held against it.

Every column has a name of its own, a family that is no longer open, and what that family needs: bins have cuts, words
an analyser unless they are a block of sparse counts. What is read from one column of the table stands together: the
column itself, or the three columns of a date.
"""

from itertools import groupby, pairwise
from math import inf, isfinite

from bayeswater.data.column_plan import FAMILIES, IGNORED, NUMBER, NUMERIC, OF_TEXT, Column, ColumnPlan
from bayeswater.data.frames import require_own_names
from bayeswater.data.raw_table import COUNTS
from bayeswater.errors import SchemaError

DATE = ("days", "weekday", "month")
"""What is read from a date, in this order."""


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
    _require(family != "binned" or column.cuts is not None, f"column {name!r} has bins, but no cuts")
    cuts = column.cuts or ()
    _require(
        all(map(isfinite, cuts)) and all(a < b for a, b in pairwise(cuts)),
        f"the cuts of column {name!r} are {cuts!r:.200}, and not finite numbers in rising order",
    )
    if column.spans is not None:
        bins = pairwise((-inf, *cuts, inf))
        _require(
            family == "binned"
            and len(column.spans) == len(cuts) + 1
            and all(low <= a <= b < high for (low, high), (a, b) in zip(bins, column.spans, strict=True)),
            f"the spans of column {name!r} are {column.spans!r:.200}, and not values in each of its bins",
        )
    is_text = family in OF_TEXT
    _require(is_text or column.analyser is None, f"column {name!r} has family {family!r}, but words are read from it")
    _require(not is_text or column.analyser is not None or is_block(column), f"column {name!r} does not say its words")


def _require_source(source: str, columns: list[Column]) -> None:
    """Refuse what is neither the column itself nor the three of a date."""
    found = [(column.name, column.part) for column in columns]
    of_date = [(source, DATE[0]), *((f"{source} ({part})", part) for part in DATE[1:])]
    if found != of_date:
        _require(found == [(source, None)], f"columns {found!r:.200} cannot be read from column {source!r}")
        return
    days, *rest = columns
    _require(
        days.family in (*NUMERIC, NUMBER) and all(column.family in ("categorical", IGNORED) for column in rest),
        f"the parts of the date {source!r} cannot be read as {[column.family for column in columns]}",
    )


def _require(condition: bool, problem: str) -> None:
    if not condition:
        raise SchemaError(problem)
