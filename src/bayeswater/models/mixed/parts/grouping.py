"""Which part each column of a plan belongs to, and the road of all parts side by side."""

from collections.abc import Mapping
from typing import Any

from bayeswater.data.column_plan import AUTO, BITS, OF_TEXT, TEXT, Column, ColumnPlan
from bayeswater.data.labels import Labels
from bayeswater.data.mixed_table import MixedTable
from bayeswater.data.raw_table import RawTable
from bayeswater.inference.mixed import ColumnTerms
from bayeswater.models.columns.settings import Settings
from bayeswater.models.mixed.parts.category_part import BinPart, CategoryPart
from bayeswater.models.mixed.parts.number_part import NormalPart, PoissonPart, UndecidedPart
from bayeswater.models.mixed.parts.part import Part
from bayeswater.models.mixed.parts.word_part import WordPart
from bayeswater.statistics.column_groups import ColumnGroups
from bayeswater.statistics.seen_ranges import SeenRanges
from bayeswater.typing import Array

PARTS: dict[str, tuple[type[Part], tuple[str, ...]]] = {
    "categories": (CategoryPart, ("categorical", "bernoulli")),
    "bins": (BinPart, ("binned",)),
    "normal": (NormalPart, ("gaussian", "lognormal")),
    "poisson": (PoissonPart, ("poisson",)),
    "undecided": (UndecidedPart, (AUTO, BITS)),
}
"""Parts of many columns by name, and the families they hold; every column of words is a part of its own."""


def parts_of(plan: ColumnPlan) -> dict[str, Part]:
    """Group the columns of a plan."""
    found = {key: (kind, plan.of_families(*families)) for key, (kind, families) in PARTS.items()}
    parts: dict[str, Part] = {key: kind(columns) for key, (kind, columns) in found.items() if columns}
    return parts | {words_key(column): WordPart((column,)) for column in plan.of_families(*OF_TEXT, TEXT)}


def encode_parts(
    raw: RawTable, plan: ColumnPlan, known: Mapping[str, Any], settings: Settings, *, learning: bool
) -> MixedTable:
    """Data: read the columns of a plan, in the domains of the sums that are known."""
    raw = raw.require_columns(plan.sources, settings.model).with_dates(plan)
    parts = parts_of(plan)
    groups = {key: part.encode(raw, known.get(key), settings, learning=learning) for key, part in parts.items()}
    return MixedTable(plan, groups, raw.n_rows)


def count_parts(table: MixedTable, labels: Labels, weight: Array | None, settings: Settings) -> ColumnGroups:
    """Statistics: sum the rows of a table, part by part."""
    parts = parts_of(table.plan)
    groups = {key: part.count(table.groups[key], labels, weight, settings) for key, part in parts.items()}
    return ColumnGroups(labels.variable, table.plan, groups)


def seen_in_parts(table: MixedTable) -> SeenRanges:
    """Find from where to where the numbers are of columns that have densities and rates, or no family yet."""
    ranged = (NormalPart, PoissonPart, UndecidedPart)
    parts = ((part, table.groups[key]) for key, part in parts_of(table.plan).items() if isinstance(part, ranged))
    return SeenRanges.of((name, own.column_pieces(j)) for part, own in parts for j, name in enumerate(part.names))


def read_parts(sums: ColumnGroups, settings: Settings) -> dict[str, ColumnTerms]:
    """Estimate: read parameters off the sums, part by part."""
    return {key: part.read(sums.groups[key], settings) for key, part in parts_of(sums.plan).items()}


def key_of(family: str) -> str:
    """Name of the part that holds the columns of a family, other than words.

    >>> key_of("lognormal")
    'normal'
    """
    return next(key for key, (_, families) in PARTS.items() if family in families)


def words_key(column: Column) -> str:
    """Name of the part of a column of words."""
    return f"words {column.name}"
