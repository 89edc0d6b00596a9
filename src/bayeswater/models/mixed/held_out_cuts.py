"""Honest leave-one-out scores of a model with bins that the labels chose, from the sums.

Cuts that saw the labels of a row know something of it that leaving it out of the counts does not take back. So for
calibration they are chosen anew by a part of the rows, all rows are counted in these bins, and only the others are
scored (`models.held_out`). The counts are read off the histogram of all rows.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from bayeswater.data.labels import CheckedLabels, encode_labels
from bayeswater.data.matrix import ColumnMatrix
from bayeswater.data.reading.raw_table import RawTable
from bayeswater.estimate.bins import between_buckets, class_cuts
from bayeswater.families.binned import Binned
from bayeswater.families.choosing import FamilyChoice, in_order, sums_of_choice
from bayeswater.families.family import Settings
from bayeswater.families.number_profile import NumberProfile
from bayeswater.families.registry import families_of
from bayeswater.families.settings import MDL
from bayeswater.models.held_out import Fold
from bayeswater.models.streaming.passes import Parts
from bayeswater.statistics.category_counts import CategoryCounts
from bayeswater.statistics.column_groups import ColumnGroups
from bayeswater.statistics.sums import Sums
from bayeswater.typing import Array


def columns_cut_by_labels(settings: Settings) -> tuple[str, ...]:
    """Name the columns of which it was said that the labels choose their bins."""
    return tuple(name for name, said in settings.given.items() if said.bins == MDL)


def profiles_of_choosing(
    names: tuple[str, ...],
    folds: tuple[Fold, ...],
    raw: RawTable,
    dated: RawTable,
    y: CheckedLabels,
    weight: Array | None,
) -> Parts:
    """Sum the named columns over the rows that choose their cuts, for each fold; `dated` has dates as planned."""
    labels, shares = encode_labels(y), folds[0].folds.shares(raw, y)
    numbers = [dated.numbers(name) for name in names]

    def profile(fold: Fold) -> NumberProfile | None:
        share = 1 - shares[:, fold.number]
        some = share > 0
        if not some.any():
            return None
        counted = share[some] if weight is None else share[some] * weight[some]
        matrix = ColumnMatrix(tuple(column[some] for column in numbers), names)
        return NumberProfile.of(matrix, labels.take(some), None if (counted == 1).all() else counted)

    return Parts(tuple(map(profile, folds)))


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
    family, counts = families_of(plan)[Binned.key], columns.groups[Binned.key]
    assert isinstance(counts, CategoryCounts)
    kept = [j for j, name in enumerate(family.names) if name not in cuts]
    pieces: list[Any] = [counts.take(kept)] if kept else []
    for name, limits in cuts.items():
        choice = FamilyChoice("binned", "", limits, {})
        pieces.append(sums_of_choice(profile, profile.names.index(name), choice, sums.class_count.count))
    groups = {**columns.groups, Binned.key: family.declaring(in_order(pieces, family.names), settings)}
    return replace(sums, columns=ColumnGroups(sums.classes, plan, groups))
