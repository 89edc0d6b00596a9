"""The sums of a mixed table in a model file: its plan and the states of its categories, and arrays for each group.

What a group is summed in and over is read off the plan: columns of numbers have their names, bins their cuts, hashed
words their codes. Only the labels of categories and the words of texts have to be written down.
"""

from collections.abc import Sequence
from reprlib import repr as shortened
from typing import Any

import numpy as np

from bayeswater.data.reading.column_plan import IGNORED, Column, ColumnPlan
from bayeswater.data.variable import Schema, Variable
from bayeswater.families.family import Family
from bayeswater.families.plan_consistency import is_block, require_sound_plan
from bayeswater.families.registry import FAMILIES, families_of, key_of
from bayeswater.files.model_file import Document, require, words_as_bytes, words_of_bytes
from bayeswater.models.stored.domains import read_states, require_arrays, written_states
from bayeswater.models.stored.values import CODEC
from bayeswater.statistics.column_groups import ColumnGroups
from bayeswater.statistics.statistic import Statistic
from bayeswater.statistics.text_sums import TextSums
from bayeswater.typing import Array

WORDS = "words"
"""Array of the words of a text, beside the sums over them."""


def described_groups(columns: ColumnGroups) -> tuple[Document, dict[str, Array]]:
    """Give what a document says of the columns, and the sums of all groups as arrays."""
    document: Document = {
        "columns": [CODEC.encode(column, f"the reading of column {column.name!r}") for column in columns.plan],
        "states": [],
    }
    arrays = columns.to_arrays()
    for key, family in families_of(columns.plan).items():
        domain = family.domain(columns.groups[key])
        if isinstance(domain, Schema):
            document["states"] = written_states(domain)
        elif domain is not None:
            arrays[f"{key}.{WORDS}"] = words_as_bytes(domain.states, f"column {domain.name!r}")
    return document, {name: array for name, array in arrays.items() if array.size}  # there may be no words at all


def restored_groups(document: Document, arrays: dict[str, Array], classes: Variable) -> ColumnGroups:
    """Make the sums of all groups."""
    plan = read_plan(document["columns"])
    families = families_of(plan)
    schema = read_states(document["states"])
    labelled = [name for family in families.values() if family.has_labels for name in family.names]
    require(
        list(schema.names) == labelled, f"it has states of {shortened(schema.names)}, and not of {shortened(labelled)}"
    )
    own: dict[str, dict[str, Array]] = {key: {} for key in families}
    for name, array in arrays.items():
        key, _, rest = name.rpartition(".")
        own.setdefault(key, {})[rest] = array
    require_arrays(arrays, [f"{key}.{name}" for key, family in families.items() for name in _needed(family, own[key])])
    groups = {key: _restored(family, own[key], schema, classes) for key, family in families.items()}
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


def _needed(family: Family, found: dict[str, Array]) -> set[str]:
    """Name the arrays of the columns of a family; words that have names are one, where there are any."""
    names = family.array_names(set(found))
    return names | {WORDS} if family.has_words and names != {"observed"} else names


def _restored(family: Family, arrays: dict[str, Array], schema: Schema, classes: Variable) -> Statistic:
    if not family.has_words:
        return family.restored(arrays, classes, schema)
    n_words = arrays["present"].shape[-1] if "present" in arrays else 0
    words = arrays.get(WORDS, np.zeros(0, dtype=np.uint8))
    domain = words_of_bytes(words, n_words, f"column {family.names[0]!r}")
    return family.restored({name: array for name, array in arrays.items() if name != WORDS}, classes, domain)
