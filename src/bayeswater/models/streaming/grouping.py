"""Sums of groups that the place of the rows has counted by itself, where it can: no row has to come to us.

Sums that look at each column alone are those of any rows that have the same margins: how often each cell of a column
meets each label. So few rows are made that have them, each with a weight, and the model counts these as it counts all
others. Moments are read off the sums of each partition. Where the groups do not say enough (cells that are missing or
out of range, digits that cancelled), rows are counted piece by piece as ever, and say what is wrong with them.
"""

from collections.abc import Callable, Sequence
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeswater.data.labels import encode_labels
from bayeswater.data.sources.rows import Margin, Rows, Spread
from bayeswater.errors import BayesError, ResourceLimitError
from bayeswater.kernels.moments import FAINT, NEAR_ZERO
from bayeswater.models.streaming.passes import Counting, Parts, Piece
from bayeswater.statistics.category_counts import CategoryCounts
from bayeswater.statistics.column_groups import ColumnGroups
from bayeswater.statistics.moments import Moments
from bayeswater.statistics.pair_counts import PairCounts
from bayeswater.statistics.sums import ClassCounts, Sums

if TYPE_CHECKING:
    import pyarrow as pa

SHARE_KEPT = 1e-4
"""What must remain of a sum of squares as scatter: four of sixteen digits may cancel."""

Counted = tuple[Any, int, int]
"""Sums, rows that have a label, and rows that have none."""


def by_groups(of: Callable[[Piece], Any], rows: Rows, columns: Sequence[str], target: str) -> Counted | None:
    """Give the sums of a model that is counted by groups; None where they have to be counted row by row."""
    if not isinstance(of, Counting):
        return None
    match of.grouped_as:
        case "margins":
            margins = rows.margins(columns, target)
            return None if margins is None else _of_margins(of, dict(zip(columns, margins, strict=True)))
        case "spreads":
            return _summed(rows, columns, target)
        case _:
            return None


def _of_margins(of: Counting, margins: dict[str, Margin]) -> Counted | None:
    piece = with_margins(margins)
    if piece is None:
        return None
    first = next(iter(margins.values()))
    n_labelled = int(piece.weight.sum())
    try:
        sums = of(piece)
        require_few_categories(sums)
        return sums, n_labelled, int(first.n_rows.sum()) - n_labelled
    except BayesError:
        return None  # it speaks of rows that nobody has


def with_margins(margins: dict[str, Margin]) -> Piece | None:
    """Make rows with weights that have these margins, as few as there are entries; None where there is no label.

    Within a label, the cells of each column are laid end to end, each as long as it is frequent. Wherever one ends in
    any column, a row ends.

    >>> import pyarrow as pa
    >>> labels = pa.array(["a", "a"])
    >>> rows = with_margins(
    ...     {
    ...         "x": Margin(labels, pa.array([1, 2]), np.array([3, 1])),
    ...         "y": Margin(labels, pa.array([7, 8]), np.array([2, 2])),
    ...     }
    ... )
    >>> rows.X.to_pydict(), rows.weight.tolist()
    ({'x': [1, 1, 2], 'y': [7, 8, 8]}, [2, 1, 1])
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    known = next(iter(margins.values())).labels.drop_null().unique()
    if not len(known):
        return None
    code_of = {name: _codes(margin.labels, known) for name, margin in margins.items()}
    places: dict[str, list[Any]] = {name: [] for name in margins}
    labels, weights = [], []
    for code in range(len(known)):
        entries = {name: np.flatnonzero(codes == code) for name, codes in code_of.items()}
        ends = {name: margins[name].n_rows[entry].cumsum() for name, entry in entries.items()}
        cuts = np.unique(np.concatenate([*ends.values()]))
        for name, entry in entries.items():
            places[name].append(entry[np.searchsorted(ends[name], cuts)])
        weights.append(np.diff(cuts, prepend=0))
        labels.append(np.full(len(cuts), code))
    cells = {name: pc.take(margins[name].cells, pa.array(np.concatenate(place))) for name, place in places.items()}
    return Piece(pa.table(cells), pc.take(known, pa.array(np.concatenate(labels))), np.concatenate(weights))


def _summed(rows: Rows, columns: Sequence[str], target: str) -> Counted | None:
    """Give moments, about the first row where digits cancel about zero; None where they cancel there too."""
    for about_first in (False, True):
        spreads = rows.spreads(columns, target, about_first=about_first)
        found = None if spreads is None else _of_spreads(spreads, tuple(columns))
        if spreads is None or found is not None:
            return found
    return None


def _of_spreads(spreads: Sequence[Spread], names: tuple[str, ...]) -> Counted | None:
    """Add up the moments of partitions, in their order; None where too many digits have cancelled."""
    found, squares, n_unlabelled = [], [], 0
    for spread in spreads:
        known = np.asarray(spread.labels.is_valid())
        n_unlabelled += int(spread.n_rows[~known].sum())
        if known.any():
            labels = encode_labels(spread.labels.drop_null())
            order = np.argsort(labels.codes)  # each label stands but once
            n, mean, scatter, square = (
                part[known][order] for part in (spread.n_rows, spread.mean, spread.scatter, spread.square)
            )
            count = ClassCounts(labels.variable, n)
            found.append(Sums(count, Moments(labels.variable, names, n[:, None], mean, scatter)))
            squares.append(Sums(count, Moments(labels.variable, names, n[:, None], np.zeros_like(mean), square)))
    if not found:
        return None
    sums = reduce(add, found)
    mean, square = sums.columns.mean, reduce(add, squares).columns.scatter
    are_faint = (square < FAINT) & (mean != 0) & (np.abs(mean) < NEAR_ZERO)
    if are_faint.any() or (sums.columns.scatter < SHARE_KEPT * square).any():
        return None
    return sums, int(sums.class_count.count.sum()), n_unlabelled


def _codes(labels: "pa.Array", known: "pa.Array") -> Any:
    """Give the places of labels among those known, -1 for null: (n_entries,)."""
    import pyarrow.compute as pc

    return pc.index_in(labels, known, skip_nulls=True).fill_null(-1).to_numpy()


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
