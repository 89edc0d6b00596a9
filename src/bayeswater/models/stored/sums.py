"""The sums of a model as arrays and, in its document, the domains they are sums over; and back.

Which statistic the sums are is known from the kind of the model: no file names it. What a file says is held against
what any rows fulfil (`statistics/consistency.py`) before it is believed.

**A mixed table**: its plan, and arrays for each family of columns. What a family is summed in and over is read off the
plan: columns of numbers have their names, bins their cuts, hashed words their codes. Only the labels of categories and
the words of texts have to be written down.

**A table of states**: its plan, the states of all its columns, and arrays for each group. Every group of sums is over
the same columns, in the order of the plan; which groups there are depends on the model. Where columns are counted with
their parents, the document says which these are.
"""

from collections.abc import Mapping
from math import isfinite
from reprlib import repr as shortened
from typing import Any

import numpy as np

from bayeswater.data.reading.column_plan import IGNORED
from bayeswater.data.variable import Schema, Variable
from bayeswater.families.family import Family
from bayeswater.families.plan_consistency import is_block, require_planned
from bayeswater.families.registry import OF_STATES, families_of, key_of, law_of
from bayeswater.files.model_file import Document, require, words_as_bytes, words_of_bytes
from bayeswater.models.stored.documents import (
    read_names,
    read_parents,
    read_plan,
    read_states,
    require_arrays,
    require_states,
    written_plan,
    written_states,
)
from bayeswater.models.stored.values import CODEC
from bayeswater.statistics.category_counts import CategoryCounts, code_kind
from bayeswater.statistics.column_groups import ColumnGroups
from bayeswater.statistics.pair_counts import PairCounts
from bayeswater.statistics.parent_counts import ParentCounts
from bayeswater.statistics.some_pairs import Partners, SomePairs
from bayeswater.statistics.statistic import Statistic
from bayeswater.statistics.sums import ClassCounts, SeenRanges, Sums
from bayeswater.statistics.text_sums import TextSums
from bayeswater.typing import Array

WORDS = "words"
"""Array of the words of a text, beside the sums over them."""


def described_groups(columns: ColumnGroups) -> tuple[Document, dict[str, Array]]:
    """Give what a document says of the columns, and the sums of all groups as arrays."""
    document: Document = {"columns": written_plan(columns.plan), "states": []}
    arrays = columns.to_arrays()
    for key, family in families_of(columns.plan).items():
        domain = family.domain(columns.groups[key])
        if isinstance(domain, Schema):
            document["states"] = written_states(domain)
        elif domain is not None and not domain.is_coded:
            arrays[f"{key}.{WORDS}"] = words_as_bytes(domain.states, f"column {domain.name!r}")
    return document, {name: array for name, array in arrays.items() if array.size}  # there may be no words at all


def restored_groups(document: Document, arrays: dict[str, Array], classes: Variable) -> ColumnGroups:
    """Make the sums of all groups."""
    plan = read_plan(document["columns"])
    families = families_of(plan)
    schema = read_states(document["states"])
    labelled = [name for family in families.values() if family.has_labels for name in family.names]
    require_states(schema, labelled)
    own: dict[str, dict[str, Array]] = {key: {} for key in families}
    for name, array in arrays.items():
        key, _, rest = name.rpartition(".")
        own.setdefault(key, {})[rest] = array
    require_arrays(arrays, [f"{key}.{name}" for key, family in families.items() for name in _needed(family, own[key])])
    groups = {key: _restored_part(family, own[key], schema, classes) for key, family in families.items()}
    return ColumnGroups(classes, plan, groups)


def read_n_features(written: Any, columns: ColumnGroups) -> int:
    """Read the number of columns of X: a block of sparse ones is one of the plan, and if left out of unknown width."""
    sources = columns.plan.sources
    block = next((column for column in columns.plan if is_block(column)), None)
    words = None if block is None or block.family == IGNORED else columns.groups.get(key_of(block))
    n_features = len(sources) - 1 + words.vocabulary.n_states if isinstance(words, TextSums) else len(sources)
    is_open = block is not None and words is None
    require(
        type(written) is int and (written == n_features or (is_open and written > n_features)),
        f"it was fitted on {shortened(written)} columns, and not on {n_features}",
    )
    return written


def _needed(family: Family, found: dict[str, Array]) -> set[str]:
    """Name the arrays of the columns of a family; words that have names are one, where there are any."""
    names = family.array_names(set(found))
    return names | {WORDS} if family.has_words and names != {"observed"} else names


def _restored_part(family: Family, arrays: dict[str, Array], schema: Schema, classes: Variable) -> Statistic:
    if not family.has_words:
        return family.restored(arrays, classes, schema)
    n_words = arrays["present"].shape[-1] if "present" in arrays else 0
    words = arrays.get(WORDS, np.zeros(0, dtype=np.uint8))
    domain = words_of_bytes(words, n_words, f"column {family.names[0]!r}")
    return family.restored({name: array for name, array in arrays.items() if name != WORDS}, classes, domain)


MAY_BE_EMPTY = ("pairs", "triples")
"""Arrays that have no cells where there are too few columns: they are not written."""


def described_discrete(columns: ColumnGroups) -> tuple[Document, dict[str, Array]]:
    """Give what a document says of the columns, and the sums of all groups as arrays; one column has no pairs."""
    pairs = next(group for group in columns.groups.values() if isinstance(group, PairCounts))
    document = {"columns": written_plan(columns.plan), "states": written_states(pairs.schema)}
    arrays = {name: array for name, array in columns.to_arrays().items() if array.size}
    for key, group in columns.groups.items():
        if isinstance(group, ParentCounts):
            document["parents"] = [list(own) for own in group.parents]
            wide = group.cell.dtype != np.uint8  # of integers a file holds the widest, and bytes
            arrays[f"{key}.cell"] = group.cell.astype(np.int64) if wide else group.cell
    if isinstance(pairs, SomePairs):  # columns that have the same partners name them once
        lists = {own: place for place, own in enumerate(dict.fromkeys(pairs.partners))}
        document[PARTNERS] = [[list(own) for own in lists], [lists[own] for own in pairs.partners]]
    return document, arrays


def restored_discrete(
    document: Document, arrays: dict[str, Array], classes: Variable, kinds: Mapping[str, type[Statistic]]
) -> ColumnGroups:
    """Make the sums of all groups, whose kinds the model says."""
    plan = read_plan(document["columns"])
    wrong = [column.name for column in plan if column.family not in (*OF_STATES, IGNORED)]
    require(not wrong, f"its columns {shortened(wrong)} have no states")
    schema = read_states(document["states"])
    names = [column.name for column in plan.used]
    require_states(schema, names)
    own: dict[str, dict[str, Array]] = {}
    for name, array in arrays.items():
        group, _, rest = name.partition(".")
        own.setdefault(group, {})[rest] = array
    require(own.keys() == kinds.keys(), f"it has sums of {sorted(own)}, and not of {sorted(kinds)}")
    groups = {}
    for group, found in own.items():
        kind = kinds[group]
        domain: dict[str, Any] = {"classes": classes, "schema": schema}
        if kind is PairCounts and PARTNERS in document:
            kind, domain["partners"] = SomePairs, _read_partners(document[PARTNERS], len(schema))
        needed = kind.array_names(found)
        if kind is ParentCounts:
            parents, n_columns = read_parents(document["parents"]), len(schema)
            within = len(parents) == n_columns and all(0 <= p < n_columns for own in parents for p in own)
            require(within, f"its parents {shortened(parents)} are not those of {n_columns} columns")
            domain["parents"] = parents
            found = {name: _narrow(array, schema) if name == "cell" else array for name, array in found.items()}
        for name in needed.intersection(MAY_BE_EMPTY):
            table = found.get("table", np.zeros((0, 0), dtype=np.int64))
            found.setdefault(name, np.zeros((0, classes.n_states), dtype=table.dtype))
        require_arrays(found, needed)
        groups[group] = kind.from_arrays(found, **domain)
    return ColumnGroups(classes, plan, groups)


def _read_partners(written: Any, n_columns: int) -> Partners:
    """Read the columns that each is counted with; two are counted together once."""
    require(isinstance(written, list) and len(written) == 2, "it does not say which pairs of columns are counted")
    lists, places = read_parents(written[0]), written[1]
    are_places = isinstance(places, list) and all(type(place) is int and 0 <= place < len(lists) for place in places)
    require(are_places and len(places) == n_columns, f"its pairs are not those of {n_columns} columns")
    partners, among = tuple(lists[place] for place in places), [frozenset(own) for own in lists]
    for i, own in enumerate(partners):
        once = all(0 <= j < n_columns and j != i and i not in among[places[j]] for j in own)
        once &= len(among[places[i]]) == len(own)
        require(once, f"the pairs {shortened(own)} of column {i} are not of two columns, each once")
    return partners


def _narrow(cell: Array, schema: Schema) -> Array:
    """Bring the slots of cells back to the kind that counting gives them."""
    highest = int(schema.n_states.max(initial=0))
    within = cell.dtype.kind in "iu" and cell.size > 0 and cell.min() >= 0 and cell.max() <= highest
    require(bool(within), "a cell of its families has a state beyond its domain")
    return cell.astype(code_kind(schema.n_states))


PARTNERS = "partners"
"""What a document may say beside its fields: which pairs of columns are counted, where these are not all."""

COLUMNS = "columns."
"""What the names of all arrays begin with but that of the class counts."""

SEEN = "seen"
"""What a document may say beside its fields: from where to where the numbers of columns were."""


def described_sums(sums: Sums[Any]) -> tuple[Document, dict[str, Array]]:
    """Give what a document says of the sums, and the sums as arrays."""
    columns = sums.columns
    if isinstance(columns, ColumnGroups):
        of_states = any(isinstance(group, PairCounts) for group in columns.groups.values())
        document, arrays = (described_discrete if of_states else described_groups)(columns)
    else:
        is_table = isinstance(columns, CategoryCounts)
        document = {"columns": written_states(columns.schema) if is_table else columns.names and list(columns.names)}
        arrays = columns.to_arrays()
    document["classes"] = CODEC.encode(sums.classes, "a class")
    if sums.seen != SeenRanges() or sums.seen.lost:
        lost = [sorted(map(list, sums.seen.lost))] if sums.seen.lost else []
        document[SEEN] = [dict(sums.seen.low), dict(sums.seen.high), *lost]
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
    parts = written if isinstance(written, list) else []
    ends: list[dict[str, float]] = parts[:2]
    are_ends = len(ends) == 2 and all(isinstance(end, dict) and all(map(_is_finite, end.values())) for end in ends)
    lost = parts[2] if len(parts) == 3 else []
    are_lost = isinstance(lost, list) and len(parts) <= 3 and all(map(_is_lost, lost))
    require(are_ends and are_lost, f"the ranges of its columns are {shortened(written)}")
    low, high = ends
    crossed = [name for name in low if name in high and low[name] > high[name]]
    require(not crossed, f"the range of column {shortened(crossed[:1])} ends before it begins")
    return SeenRanges(low, high, frozenset((side, name) for side, name in lost))


def _is_lost(end: Any) -> bool:
    return isinstance(end, list) and len(end) == 2 and end[0] in ("low", "high") and isinstance(end[1], str)


def _is_finite(number: Any) -> bool:
    return type(number) is float and isfinite(number)


def _domain(kind: type[Statistic], written: Any, arrays: dict[str, Array]) -> dict[str, Any]:
    if kind is not CategoryCounts:
        return {"names": read_names(written, max(array.shape[-1] for array in arrays.values()))}
    schema = read_states(written)
    require(len(schema) > 0, "it has no columns with states")
    return {"schema": schema}
