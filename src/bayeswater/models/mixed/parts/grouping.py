"""Which part each column of a plan belongs to."""

from bayeswater.data.column_plan import AUTO, BITS, OF_TEXT, TEXT, Column, ColumnPlan
from bayeswater.models.mixed.parts.category_part import BinPart, CategoryPart
from bayeswater.models.mixed.parts.number_part import NormalPart, PoissonPart, UndecidedPart
from bayeswater.models.mixed.parts.part import Part
from bayeswater.models.mixed.parts.word_part import WordPart

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


def key_of(family: str) -> str:
    """Name of the part that holds the columns of a family, other than words.

    >>> key_of("lognormal")
    'normal'
    """
    return next(key for key, (_, families) in PARTS.items() if family in families)


def words_key(column: Column) -> str:
    """Name of the part of a column of words."""
    return f"words {column.name}"
