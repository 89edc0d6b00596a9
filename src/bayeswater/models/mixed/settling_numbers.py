"""From undecided columns of numbers to families, by the evidence of their sums.

That needs no second look at the rows: the sums of whichever family wins are already among those that were kept to
choose it. Bins that the labels choose are no candidates, since their evidence would count the labels twice: they are
made where they are asked for.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from bayeswater.data.column_plan import AUTO, BITS, NUMERIC, Column
from bayeswater.data.number_table import bin_schema
from bayeswater.data.schema import Schema
from bayeswater.data.variable import Variable
from bayeswater.data.weights import EXACT
from bayeswater.estimate.class_bins import class_cuts
from bayeswater.estimate.number_family import FamilyChoice, choose_family
from bayeswater.kernels.threads import ordered_map
from bayeswater.models.columns.settings import MDL, ColumnSettings, Settings
from bayeswater.models.mixed.parts.category_part import StatePart
from bayeswater.models.mixed.parts.grouping import key_of, parts_of
from bayeswater.statistics.category_counts import CategoryCounts
from bayeswater.statistics.column_groups import ColumnGroups
from bayeswater.statistics.count_totals import CountTotals
from bayeswater.statistics.number_profile import NumberProfile
from bayeswater.statistics.statistic import Statistic, remainder
from bayeswater.statistics.sums import Sums
from bayeswater.typing import Array

OF_DAYS = ("gaussian", "binned")
"""Families among which that of the days of a date is chosen."""


def settle_numbers(sums: Sums[ColumnGroups], settings: Settings, numeric: str) -> Sums[ColumnGroups]:
    """Choose a family for every undecided column of numbers, and keep the sums of that family alone."""
    groups = dict(sums.columns.groups)
    if "undecided" not in groups:
        return sums
    profile = groups.pop("undecided")
    assert isinstance(profile, NumberProfile)
    columns = sums.columns.plan.of_families(AUTO, BITS)
    count = sums.class_count.count
    choices = list(
        ordered_map(lambda j: _chosen(profile, j, columns[j], settings, numeric, count), range(len(columns)))
    )
    plan = sums.columns.plan.with_columns(
        {
            column.name: replace(
                column, family=choice.family, cuts=choice.cuts, why=choice.why, spans=_spans(profile, j, choice.cuts)
            )
            for j, (column, choice) in enumerate(zip(columns, choices, strict=True))
        }
    )
    by_key: dict[str, list[Any]] = {}
    for j, choice in enumerate(choices):
        found = sums_of_choice(profile, j, choice, count)
        by_key.setdefault(key_of(choice.family), []).append(found)
    for key, part in parts_of(plan).items():
        if key in by_key:
            pieces = ([groups[key]] if key in groups else []) + by_key[key]
            joined = in_order(pieces, part.names)
            if isinstance(part, StatePart) and isinstance(joined, CategoryCounts):
                joined = part.declaring(joined, settings)
            groups[key] = joined
    ranged = [column.name for column in plan if column.family != "binned"]  # of bins, forgetting would leave the ends
    return replace(sums, columns=ColumnGroups(sums.classes, plan, groups), seen=sums.seen.only(ranged))


def _chosen(
    profile: NumberProfile, j: int, column: Column, settings: Settings, numeric: str, class_count: Array
) -> FamilyChoice:
    said: ColumnSettings = settings.of(column)
    values = profile.occupied(j).first
    if (said.family or numeric) == AUTO and said.bins is None and _is_mark(profile, j, class_count):
        why = f"one value, {values[0]:.6g}, and empty cells"
        return (
            FamilyChoice("categorical", why, None, {}) if _are_labels(column) else FamilyChoice("binned", why, (), {})
        )
    if column.family == BITS and profile.is_whole(j) and (values <= 1).all():
        return FamilyChoice("bernoulli", "only 0 and 1" if len(values) > 1 else column.why, None, {})
    if said.bins == MDL:
        return _cut_by_class(profile, j)
    family = said.family or numeric
    # The first of all days is arbitrary, and with it whatever depends on the distance from it.
    of_all = OF_DAYS if column.part == "days" else NUMERIC
    families = of_all if family == AUTO else (family,)
    assert not isinstance(said.bins, str)
    choice = choose_family(profile, j, families=families, n_bins=said.bins)
    return choice if said.family in (None, AUTO) else replace(choice, why=f"as told; {choice.why}")


def _is_mark(profile: NumberProfile, j: int, class_count: Array) -> bool:
    """Say whether one number comes again and again, and some rows have none: being there is what it says."""
    occupied = profile.occupied(j)
    if len(occupied.first) != 1 or not occupied.are_values or occupied.weight[0] <= 1 or occupied.last[0] >= EXACT:
        return False
    return bool(remainder(class_count, profile.binned(j, ()).sum(axis=0)).any())


def _are_labels(column: Column) -> bool:
    """Say whether the cells are the numbers that are counted: days and seconds are made of them."""
    return column.part is None and not (column.dtype or "").startswith(("time", "duration"))


def _cut_by_class(profile: NumberProfile, j: int) -> FamilyChoice:
    """Bins as told, cut where they tell the classes apart."""
    histogram = profile.keys.of_column(j)
    cuts = class_cuts(histogram, fallback=None)
    if cuts:
        return FamilyChoice("binned", f"as told; {len(cuts) + 1} bins by {MDL}", cuts, {})
    cuts = class_cuts(histogram)
    how = f"{len(cuts) + 1} bins of equal frequency" if cuts else "one bin"
    return FamilyChoice("binned", f"as told; {how}, as {MDL} finds no cut", cuts, {})


def sums_of_choice(profile: NumberProfile, j: int, choice: FamilyChoice, class_count: Array) -> Statistic:
    """Sums of one column in the family that was chosen for it."""
    if choice.family == "gaussian":
        return profile.moments.take([j])
    if choice.family == "lognormal":
        return profile.logs.take([j])
    name = profile.column_name(j)
    if choice.family == "poisson":
        wholes = profile.wholes.take([j])
        return CountTotals(profile.classes, (name,), np.array(wholes.whole), np.array(wholes.total))
    if choice.family == "categorical":
        value = float(profile.occupied(j).first[0])
        states = (int(value) if value.is_integer() else value,)
        counts, schema = profile.binned(j, ()), Schema((Variable(name, states),))
    elif choice.family == "bernoulli":
        counts, schema = profile.binned(j, (1.0,)), Schema((Variable(name, (False, True), frozenset({False, True})),))
    else:
        assert choice.cuts is not None
        counts, schema = profile.binned(j, choice.cuts), bin_schema([choice.cuts], [name])  # (n_states, n_classes)
    missing = class_count - counts.sum(axis=0)
    if missing.dtype.kind == "f":
        missing = remainder(class_count, counts.sum(axis=0))
    return CategoryCounts(profile.classes, schema, np.vstack([counts, missing]))


def _spans(profile: NumberProfile, j: int, cuts: tuple[float, ...] | None) -> tuple[tuple[float, float], ...] | None:
    """Least and largest value of each bin, if there are bins with values."""
    occupied = profile.occupied(j)
    if cuts is None or not len(occupied.first):
        return None
    first = np.searchsorted(occupied.first, [-np.inf, *cuts])  # stretch at which each bin begins
    last = np.append(first[1:], len(occupied.first)) - 1
    return tuple(zip(occupied.first[first].tolist(), occupied.last[last].tolist(), strict=True))


def in_order(pieces: Sequence[Any], names: Sequence[str]) -> Statistic:
    """Put statistics of single columns side by side, in the order of the plan."""
    joined = pieces[0]
    for piece in pieces[1:]:
        joined = joined.beside(piece)
    found = [variable.name for variable in joined.schema] if isinstance(joined, CategoryCounts) else joined.names
    return joined.take([list(found).index(name) for name in names])
