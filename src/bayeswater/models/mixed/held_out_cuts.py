"""Honest leave-one-out scores of a model with bins that the labels chose, from the sums.

Cuts that saw the labels of a row know something of it that leaving it out of the counts does not take back. So for
calibration they are chosen anew by a share of the rows, all rows are counted in these bins, and only the others are
scored. The counts are read off the histogram of all rows: rows that come in batches are read no more often for it.

Row i chooses if the fraction of (i + 3) / golden ratio is below the share: spread evenly, in step with no period of the
table, and the same rows however the table is cut into batches. The first row is held out, and the second chooses.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bayeswater.data.labels import CheckedLabels, Labels
from bayeswater.data.matrix import ColumnMatrix
from bayeswater.data.raw_table import RawTable
from bayeswater.data.weights import take_rows
from bayeswater.estimate.class_bins import between_buckets, class_cuts
from bayeswater.estimate.number_family import FamilyChoice
from bayeswater.models.mixed.column_settings import MDL
from bayeswater.models.mixed.parts.category_part import BinPart
from bayeswater.models.mixed.parts.grouping import parts_of
from bayeswater.models.mixed.parts.part import Settings
from bayeswater.models.mixed.settling import in_order, sums_of_choice
from bayeswater.models.semi_naive.held_out import some_labels
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


@dataclass(frozen=True)
class Choosing:
    """Sums of the columns with bins that the labels choose, over the rows that choose among `n_rows`."""

    names: tuple[str, ...]
    profile: NumberProfile | None = None
    n_rows: int = 0

    @classmethod
    def of(cls, settings: Settings) -> "Choosing":
        """Begin with no rows; there may be no such columns."""
        return cls(tuple(name for name, said in settings.given.items() if said.bins == MDL))

    def with_rows(self, raw: RawTable, labels: Labels, weight: Array | None) -> "Choosing":
        """Go on with further rows, dates as the plan has them."""
        part, n_rows = rows_that_choose(self.n_rows, raw.n_rows), self.n_rows + raw.n_rows
        if not (self.names and part.any()):
            return replace(self, n_rows=n_rows)
        matrix = ColumnMatrix(tuple(raw.numbers(name)[part] for name in self.names), self.names)
        new = NumberProfile.of(matrix, some_labels(labels, part), None if weight is None else weight[part])
        return replace(self, profile=new if self.profile is None else self.profile + new, n_rows=n_rows)

    def cuts(self, of_all: NumberProfile) -> Mapping[str, tuple[float, ...]]:
        """Choose the cuts of each column, such that the rows of all can be counted by them."""
        assert self.profile is not None and of_all.names is not None
        chosen = {}
        for j, name in enumerate(self.names):
            histogram = of_all.keys.of_column(of_all.names.index(name))
            chosen[name] = between_buckets(class_cuts(self.profile.keys.of_column(j)), histogram)
        return chosen


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
    return Sums(sums.class_count, ColumnGroups(sums.classes, plan, groups))
