"""Honest leave-one-out scores of a model with bins that the labels chose, from the sums.

Cuts that saw the labels of a row know something of it that leaving it out of the counts does not take back. So for
calibration they are chosen anew by a share of the rows, all rows are counted in these bins, and only the others are
scored. The counts are read off the histogram of all rows: rows that come in batches are read no more often for it.

Row i chooses if the fraction of (i + 3) / golden ratio is below the share: spread evenly, in step with no period of the
table, and the same rows however the table is cut into batches. The first row is held out, and the second chooses. Where
pieces have no order, a hash of its cells decides in the place of its number.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bayeswater.data.column_plan import ColumnPlan
from bayeswater.data.labels import CheckedLabels, Labels
from bayeswater.data.matrix import ColumnMatrix
from bayeswater.data.raw_table import RawTable, read_raw
from bayeswater.data.weights import take_rows
from bayeswater.estimate.class_bins import between_buckets, class_cuts
from bayeswater.estimate.number_family import FamilyChoice
from bayeswater.models.columns.settings import MDL, Settings
from bayeswater.models.mixed.parts.category_part import BinPart
from bayeswater.models.mixed.parts.grouping import parts_of
from bayeswater.models.mixed.settling_numbers import in_order, sums_of_choice
from bayeswater.models.streaming.raw_words import raw_words, share_of
from bayeswater.statistics.category_counts import CategoryCounts
from bayeswater.statistics.column_groups import ColumnGroups
from bayeswater.statistics.number_profile import NumberProfile
from bayeswater.statistics.sums import Sums
from bayeswater.typing import Array

CHOOSING_SHARE = 0.7
"""Share of the rows that choose the cuts; the rest is scored."""

GOLDEN_RATIO = (1 + 5**0.5) / 2

Rows = tuple[Any, CheckedLabels, Array | None]
"""A table, its labels and weights, all rows of which count."""


def rows_that_choose(first: int, n_rows: int) -> Array:
    """Mark those of some rows, of which `first` is the number of the first one, that choose the cuts.

    >>> rows_that_choose(0, 10).astype(int)
    array([0, 1, 1, 0, 1, 0, 1, 1, 0, 1])
    """
    return np.arange(first + 3, first + n_rows + 3) / GOLDEN_RATIO % 1 < CHOOSING_SHARE


def rows_held_out(batches: Iterable[Rows]) -> Iterator[Rows]:
    """Give the rows of all batches that had no say in the cuts."""
    n_before = 0
    for X, labels, weight in batches:
        rest = ~rows_that_choose(n_before, len(labels))
        n_before += len(labels)
        if rest.any():
            yield take_rows(X, rest), labels[rest], None if weight is None else weight[rest]


def columns_cut_by_labels(settings: Settings) -> tuple[str, ...]:
    """Name the columns of which it was said that the labels choose their bins."""
    return tuple(name for name, said in settings.given.items() if said.bins == MDL)


def choosing(raw: RawTable, first: int | None) -> Array:
    """Mark the rows that choose the cuts: by their number, or by their cells where they have none."""
    if first is not None:
        return rows_that_choose(first, raw.n_rows)
    return share_of(raw_words(raw)) < CHOOSING_SHARE


@dataclass(frozen=True)
class HeldOut:
    """A function of a table: the rows of it that had no say in the cuts, where their cells decide that."""

    model: str
    plan: ColumnPlan

    def __call__(self, X: Any) -> Array:
        """Mark the rows (n_rows,)."""
        raw = read_raw(X, self.model).require_columns(self.plan.sources, self.model)
        return ~choosing(raw, None)


def profile_of_choosing(
    names: tuple[str, ...], raw: RawTable, dated: RawTable, labels: Labels, weight: Array | None, first: int | None
) -> NumberProfile | None:
    """Sum the named columns over those of some rows that choose their cuts; `dated` has dates as the plan has them."""
    part = choosing(raw, first)
    if not part.any():
        return None
    matrix = ColumnMatrix(tuple(dated.numbers(name)[part] for name in names), names)
    return NumberProfile.of(matrix, labels.take(part), None if weight is None else weight[part])


def chosen_cuts(chosen_by: NumberProfile, of_all: NumberProfile) -> Mapping[str, tuple[float, ...]]:
    """Choose the cuts of each column by some rows, such that all rows can be counted by them."""
    assert chosen_by.names is not None and of_all.names is not None
    cuts = {}
    for j, name in enumerate(chosen_by.names):
        histogram = of_all.keys.of_column(of_all.names.index(name))
        cuts[name] = between_buckets(class_cuts(chosen_by.keys.of_column(j)), histogram)
    return cuts


def with_cuts(
    sums: Sums[ColumnGroups], profile: NumberProfile, cuts: Mapping[str, tuple[float, ...]], settings: Settings
) -> Sums[ColumnGroups]:
    """Count the bins of some columns by other cuts; `profile` is that of all rows, before families were settled."""
    assert profile.names is not None
    columns = sums.columns
    plan = columns.plan.with_columns(
        {name: replace(columns.plan[name], cuts=limits, spans=None) for name, limits in cuts.items()}
    )
    part, counts = parts_of(plan)["bins"], columns.groups["bins"]
    assert isinstance(part, BinPart) and isinstance(counts, CategoryCounts)
    kept = [j for j, name in enumerate(part.names) if name not in cuts]
    pieces: list[Any] = [counts.take(kept)] if kept else []
    for name, limits in cuts.items():
        choice = FamilyChoice("binned", "", limits, {})
        pieces.append(sums_of_choice(profile, profile.names.index(name), choice, sums.class_count.count))
    joined = in_order(pieces, part.names)
    assert isinstance(joined, CategoryCounts)
    groups = {**columns.groups, "bins": part.declaring(joined, settings)}
    return replace(sums, columns=ColumnGroups(sums.classes, plan, groups))
