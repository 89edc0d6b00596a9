"""The sums of a mixed table in a model file: its plan and the states of its categories, and arrays for each group.

What a group is summed in and over is read off the plan: columns of numbers have their names, bins their cuts, hashed
words their codes. Only the labels of categories and the words of texts have to be written down.
"""

from collections.abc import Sequence
from operator import index
from reprlib import repr as shortened
from typing import Any

import numpy as np

from bayeswater.data.column_plan import FAMILIES, Column, ColumnPlan
from bayeswater.data.number_table import bin_schema
from bayeswater.data.plan_rules import is_block, require_sound_plan
from bayeswater.data.schema import Schema
from bayeswater.data.variable import Variable
from bayeswater.files.model_file import Document, require
from bayeswater.files.words import words_as_bytes, words_of_bytes
from bayeswater.models.mixed.parts.category_part import BinPart, CategoryPart
from bayeswater.models.mixed.parts.grouping import parts_of, words_key
from bayeswater.models.mixed.parts.number_part import NormalPart, PoissonPart
from bayeswater.models.mixed.parts.part import Part
from bayeswater.models.mixed.parts.word_part import WordPart
from bayeswater.models.stored.domains import array_names, read_states, require_arrays, written_states
from bayeswater.models.stored.values import CODEC
from bayeswater.statistics.category_counts import CategoryCounts
from bayeswater.statistics.column_groups import ColumnGroups
from bayeswater.statistics.count_totals import CountTotals
from bayeswater.statistics.moments import Moments
from bayeswater.statistics.statistic import Statistic
from bayeswater.statistics.text_sums import TextSums
from bayeswater.typing import Array

SUMMED_IN: dict[type[Part], type[Statistic]] = {
    CategoryPart: CategoryCounts,
    BinPart: CategoryCounts,
    NormalPart: Moments,
    PoissonPart: CountTotals,
    WordPart: TextSums,
}
"""The statistic of each part of a plan."""

WORDS = "words"
"""Array of the words of a text, beside the sums over them."""


def described_groups(columns: ColumnGroups) -> tuple[Document, dict[str, Array]]:
    """Give what a document says of the columns, and the sums of all groups as arrays."""
    document: Document = {
        "columns": [CODEC.encode(column, f"the reading of column {column.name!r}") for column in columns.plan],
        "states": [],
    }
    arrays = columns.to_arrays()
    for key, part in parts_of(columns.plan).items():
        group = columns.groups[key]
        if isinstance(part, CategoryPart) and isinstance(group, CategoryCounts):
            document["states"] = written_states(group.schema)
        if isinstance(group, TextSums) and not group.vocabulary.is_coded:
            arrays[f"{key}.{WORDS}"] = words_as_bytes(group.vocabulary.states, f"column {group.name!r}")
    return document, {name: array for name, array in arrays.items() if array.size}  # there may be no words at all


def restored_groups(document: Document, arrays: dict[str, Array], classes: Variable) -> ColumnGroups:
    """Make the sums of all groups."""
    plan = read_plan(document["columns"])
    parts = parts_of(plan)
    schema = read_states(document["states"])
    labelled = [name for part in parts.values() if isinstance(part, CategoryPart) for name in part.names]
    require(
        list(schema.names) == labelled, f"it has states of {shortened(schema.names)}, and not of {shortened(labelled)}"
    )
    own: dict[str, dict[str, Array]] = {key: {} for key in parts}
    for name, array in arrays.items():
        key, _, rest = name.rpartition(".")
        own.setdefault(key, {})[rest] = array
    require_arrays(arrays, [f"{key}.{name}" for key, part in parts.items() for name in _needed(part, own[key])])
    groups = {key: _restored(part, own[key], schema, classes) for key, part in parts.items()}
    return ColumnGroups(classes, plan, groups)


def read_n_features(written: Any, columns: ColumnGroups) -> int:
    """Read the number of columns of X: a block of sparse ones is one of the plan, and if left out of unknown width."""
    sources = columns.plan.sources
    block = next((column for column in columns.plan if is_block(column)), None)
    words = None if block is None else columns.groups.get(words_key(block))
    n_features = len(sources) - 1 + words.vocabulary.n_states if isinstance(words, TextSums) else len(sources)
    is_open = block is not None and words is None
    require(
        type(written) is int and (written == n_features or (is_open and written > n_features)),
        f"it was fitted on {shortened(written)} columns, and not on {n_features}",
    )
    return written


def require_source_names(names: Sequence[str], plan: ColumnPlan) -> None:
    """Refuse names of the columns of X that are not those the plan is read from, in its order."""
    sources = [column.source for column in plan if column.name == column.source and not is_block(column)]
    known = set(sources)
    require(
        [name for name in names if name in known] == sources,
        f"its columns {shortened(names)} are not those of the plan, {shortened(sources)}",
    )


def read_plan(written: Any, families: tuple[str, ...] = FAMILIES) -> ColumnPlan:
    """Read how the columns of a table are read, each in one of some families."""
    columns = CODEC.decode(written, "a column")
    are_columns = isinstance(columns, list) and all(isinstance(column, Column) for column in columns)
    require(are_columns, "its columns are no plan")
    plan = ColumnPlan(tuple(columns))
    require_sound_plan(plan, families)
    return plan


def _needed(part: Part, found: dict[str, Array]) -> set[str]:
    """Name the arrays of a part."""
    names = array_names(SUMMED_IN[type(part)], found)
    if not isinstance(part, WordPart) or part.column.analyser is None or part.column.analyser.n_hash is not None:
        return names
    return names | {WORDS} if names & found.keys() != {"observed"} else {"observed"}


def _restored(part: Part, arrays: dict[str, Array], schema: Schema, classes: Variable) -> Statistic:
    if isinstance(part, WordPart):
        return _restored_words(part.column, arrays, classes)
    domain: dict[str, Any] = {"names": part.names}
    if isinstance(part, CategoryPart):
        domain = {"schema": schema}
    elif isinstance(part, BinPart):
        domain = {"schema": bin_schema([column.cuts or () for column in part.columns], part.names)}
    return SUMMED_IN[type(part)].from_arrays(arrays, classes=classes, **domain)


def _restored_words(column: Column, arrays: dict[str, Array], classes: Variable) -> TextSums:
    name, analyser = column.name, column.analyser
    if "present" not in arrays:
        none = np.zeros((classes.n_states, 0), dtype=arrays["observed"].dtype)
        arrays = {**arrays, "word_count": none, "present": none}
    n_words = arrays["present"].shape[-1]
    n_hash = n_words if analyser is None else analyser.n_hash
    if n_hash is not None:
        n_codes = index(n_hash)
        vocabulary = Variable.of_codes(name, n_codes, frozenset({n_codes - 1}))
    else:
        words = arrays.get(WORDS, np.zeros(0, dtype=np.uint8))
        vocabulary = Variable(name, words_of_bytes(words, n_words, f"column {name!r}"))
    sums = {key: array for key, array in arrays.items() if key != WORDS}
    return TextSums.from_arrays(sums, classes=classes, vocabulary=vocabulary)
