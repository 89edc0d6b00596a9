"""Which view an explanation takes of each column."""

from bayeswater.data.raw_table import RawTable
from bayeswater.explain.number_views import NormalView, PoissonView
from bayeswater.explain.state_view import StateView
from bayeswater.explain.terms import Terms
from bayeswater.explain.view import ColumnView, LastBlock
from bayeswater.explain.word_view import WordView
from bayeswater.inference.category_columns import CategoryColumns
from bayeswater.inference.normal_columns import NormalColumns
from bayeswater.inference.poisson_columns import PoissonColumns
from bayeswater.inference.word_columns import WordColumns
from bayeswater.statistics.seen_ranges import SeenRanges

VIEW_OF: dict[type, type[ColumnView]] = {
    CategoryColumns: StateView,
    NormalColumns: NormalView,
    PoissonColumns: PoissonView,
    WordColumns: WordView,
}
"""The view of the columns of each kind of group."""


def views_of(terms: Terms, raw: RawTable, seen: SeenRanges) -> tuple[ColumnView, ...]:
    """Views of all columns, in the order of the plan."""
    blocks = {key: LastBlock() for key in terms.joint.groups}
    found = {
        column.name: VIEW_OF[type(group)](column, group, terms.table.groups[key], j, raw, seen, blocks[key])
        for key, group in terms.joint.groups.items()
        for j, column in enumerate(terms.groups[key])
    }
    return tuple(found[column.name] for column in terms.columns)
