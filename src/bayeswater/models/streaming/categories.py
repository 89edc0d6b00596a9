"""Columns of too many categories, told before they fill the memory: a domain that grows with the rows names them."""

from typing import Any

from bayeswater.errors import ResourceLimitError
from bayeswater.models.streaming.walking import Parts
from bayeswater.statistics.category_counts import CategoryCounts
from bayeswater.statistics.column_groups import ColumnGroups
from bayeswater.statistics.pair_counts import PairCounts
from bayeswater.statistics.sums import Sums

MOST_CATEGORIES = 2**20
"""Categories of a column that is read in pieces: exact up to here."""


def require_few_categories(found: Any) -> None:
    """Refuse sums, whatever stands around them, in which a column has more categories than can be learned from."""
    if isinstance(found, Parts):
        for part in found.parts:
            require_few_categories(part)
    sums = getattr(found, "sums", found)
    if not isinstance(sums, Sums):
        return
    columns = sums.columns
    groups = columns.groups.values() if isinstance(columns, ColumnGroups) else [columns]
    for group in groups:
        if isinstance(group, CategoryCounts | PairCounts):
            for variable in group.schema:
                if variable.n_states > MOST_CATEGORIES:
                    raise _too_many(variable.name, variable.n_states)


def _too_many(name: str, n_states: int) -> ResourceLimitError:
    return ResourceLimitError(
        f"column {name!r} has {n_states:,} categories, over {MOST_CATEGORIES:,}; if it names the rows leave it out of "
        f"the source, or in a model that has columns say columns={{{name!r}: 'ignored'}}; NaiveBayes can also count it "
        f"by hash, columns={{{name!r}: {{'family': 'text', 'analyser': bayeswater.TextAnalyser(n_hash=2**16)}}}}"
    )
