"""The sums of a model as arrays and, in its document, the domains they are sums over; and back.

Which statistic the sums are is known from the kind of the model: no file names it. What a file says is held against
what any rows fulfil (`statistics/consistency.py`, `families/plan_consistency.py`) before it is believed.
"""

from collections.abc import Mapping
from math import isfinite
from reprlib import repr as shortened
from typing import Any

from bayeswater.data.variable import Variable
from bayeswater.families.plan_consistency import require_planned
from bayeswater.families.registry import law_of
from bayeswater.files.model_file import Document, require
from bayeswater.models.semi_naive.learning import PAIRS
from bayeswater.models.stored.discrete import described_discrete, restored_discrete
from bayeswater.models.stored.domains import read_names, read_states, require_arrays, written_states
from bayeswater.models.stored.groups import described_groups, restored_groups
from bayeswater.models.stored.values import CODEC
from bayeswater.statistics.category_counts import CategoryCounts
from bayeswater.statistics.column_groups import ColumnGroups
from bayeswater.statistics.statistic import Statistic
from bayeswater.statistics.sums import ClassCounts, SeenRanges, Sums
from bayeswater.typing import Array

COLUMNS = "columns."
"""What the names of all arrays begin with but that of the class counts."""

SEEN = "seen"
"""What a document may say beside its fields: from where to where the numbers of columns were."""


def described_sums(sums: Sums[Any]) -> tuple[Document, dict[str, Array]]:
    """Give what a document says of the sums, and the sums as arrays."""
    columns = sums.columns
    if isinstance(columns, ColumnGroups):
        document, arrays = (described_discrete if PAIRS in columns.groups else described_groups)(columns)
    else:
        is_table = isinstance(columns, CategoryCounts)
        document = {"columns": written_states(columns.schema) if is_table else columns.names and list(columns.names)}
        arrays = columns.to_arrays()
    document["classes"] = CODEC.encode(sums.classes, "a class")
    if sums.seen != SeenRanges():
        document[SEEN] = [dict(sums.seen.low), dict(sums.seen.high)]
    return document, {"class_count": sums.class_count.count} | {COLUMNS + name: a for name, a in arrays.items()}


def restored_sums(
    kind: type[Statistic],
    document: Document,
    arrays: dict[str, Array],
    groups: Mapping[str, type[Statistic]] | None = None,
) -> Sums[Any]:
    """Make the sums of a model whose columns are summed in `kind`; of states, in the given groups."""
    require("class_count" in arrays, f"its arrays are {sorted(arrays)}, and there is no class_count")
    own = {name.removeprefix(COLUMNS): array for name, array in arrays.items() if name != "class_count"}
    require_arrays(arrays, ["class_count", *(COLUMNS + name for name in own)])
    classes = CODEC.decode(document["classes"], "a class")
    require(isinstance(classes, Variable) and not classes.is_coded, "its classes are no list of labels")
    columns: Statistic
    if kind is ColumnGroups:
        columns = (
            restored_groups(document, own, classes)
            if groups is None
            else restored_discrete(document, own, classes, groups)
        )
    else:
        require_arrays(own, kind.array_names(own))
        columns = kind.from_arrays(own, classes=classes, **_domain(kind, document["columns"], own))
    sums = Sums(ClassCounts(classes, arrays["class_count"]), columns, _seen(document.get(SEEN, [{}, {}])))
    for column in columns.plan.used if isinstance(columns, ColumnGroups) else ():
        low, high = sums.seen.low.get(column.name), sums.seen.high.get(column.name)
        law_of(column.family).require_range(column, low, high)
    require_planned(sums)
    return sums


def _seen(written: Any) -> SeenRanges:
    """Read from where to where numbers were seen; files of before it was kept do not say."""
    ends: list[dict[str, float]] = written if isinstance(written, list) else []
    are_ends = all(isinstance(end, dict) and all(map(_is_finite, end.values())) for end in ends)
    require(are_ends and len(ends) == 2, f"the ranges of its columns are {shortened(written)}")
    low, high = ends
    crossed = [name for name in low if name in high and low[name] > high[name]]
    require(not crossed, f"the range of column {shortened(crossed[:1])} ends before it begins")
    return SeenRanges(low, high)


def _is_finite(number: Any) -> bool:
    return type(number) is float and isfinite(number)


def _domain(kind: type[Statistic], written: Any, arrays: dict[str, Array]) -> dict[str, Any]:
    if kind is not CategoryCounts:
        return {"names": read_names(written, max(array.shape[-1] for array in arrays.values()))}
    schema = read_states(written)
    require(len(schema) > 0, "it has no columns with states")
    return {"schema": schema}
