"""The family of a numeric column left open: that under which its values, class by class, are most probable.

Each candidate answers with its evidence, a function of the sums. Before looking, no law is preferred; after it, one
further down the list must have said more than it could have by chance (`TIE`).

That needs no second look at the rows: the sums of whichever wins are already among those that were kept to choose it.
Bins that the labels choose are no candidates, since their evidence would count the labels twice: they are made where
they are asked for.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from bayeswater.data.reading.column_plan import AUTO, BITS, Column
from bayeswater.data.reading.dates import SECONDS_PER_DAY
from bayeswater.data.reading.original_types import arrow_type
from bayeswater.data.variable import Variable
from bayeswater.data.weights import EXACT
from bayeswater.errors import ParameterError
from bayeswater.estimate.histogram_cuts import class_cuts
from bayeswater.families.family import Settings
from bayeswater.families.open_numbers import NumberProfile, OpenColumn
from bayeswater.families.registry import BINNED, CANDIDATES, NUMERIC, OpenNumbers, families_of, key_of, law_of
from bayeswater.families.settings import MDL
from bayeswater.kernels.remainders import remainder
from bayeswater.kernels.threads import ordered_map
from bayeswater.phrases import own_reasons
from bayeswater.records import record
from bayeswater.statistics.category_counts import CategoryCounts
from bayeswater.statistics.column_groups import ColumnGroups
from bayeswater.statistics.statistic import Statistic
from bayeswater.statistics.sums import Sums
from bayeswater.typing import Array

own_reasons(
    {
        "log-evidence per row: {parts}": "每行的对数证据：{parts}",
        "{title} {n}": "{title} {n}",
        "{title} beyond float64": "{title} 超出 float64",
        "{title} {n} (too close to prefer)": "{title} {n}（相差太小）",
        "{title} not eligible ({reason})": "{title} 不适用（{reason}）",
        "one value, {n}, and empty cells": "只有一个值 {n}，其余为空",
    }
)

TIE = 1.0
"""Families whose log-evidence differs by no more, a factor below 3 in probability, are tied: the first is taken."""

TIME_OF_DAY = (("period", float(SECONDS_PER_DAY)),)
"""What is known of times of day without being told."""

OF_DAYS = tuple(candidate.family for candidate in CANDIDATES if candidate.has_no_origin)
"""Families among which that of the days of a date is chosen."""


@record
class FamilyChoice:
    """A family, the reason in words, the cuts of a binned column, and the log-evidence of each family that can be."""

    family: str
    why: str
    cuts: tuple[float, ...] | None
    log_evidence: Mapping[str, float]
    options: tuple[tuple[str, float], ...] = ()


def choose_family(
    profile: NumberProfile,
    j: int,
    families: Sequence[str] = NUMERIC,
    n_bins: int | None = None,
    options: tuple[tuple[str, float], ...] = (),
) -> FamilyChoice:
    """Choose the family of column j among those allowed; with `n_bins`, bins are that many and no other number.

    A column without two different values gives nothing to choose by: it has the first family that it can have.
    """
    column = OpenColumn(profile, j, n_bins, options)
    candidates = [candidate for candidate in CANDIDATES if candidate.family in families]
    found = ((one.family, one.why_not(column, alone=len(candidates) == 1)) for one in candidates)
    refused: Mapping[str, str] = {family: reason for family, reason in found if reason is not None}
    for one in candidates:
        if one.family not in refused:
            refused = one.refusals(column, [other for other in candidates if other is not one], refused)
    allowed = [candidate for candidate in candidates if candidate.family not in refused]
    titles = {candidate.family: candidate.title for candidate in candidates}
    if not allowed:
        reasons = ", ".join(f"not {titles[family]} ({reason})" for family, reason in refused.items())
        raise ParameterError(f"column {column.name!r} has no family among {[*families]}: {reasons}")
    if column.nothing_to_learn is not None:
        first = allowed[0].family
        return FamilyChoice(first, column.nothing_to_learn, () if first == BINNED else None, {})
    weighed = {candidate.family: candidate.weighed(column) for candidate in allowed}
    evidence = {family: one.log_evidence for family, one in weighed.items()}
    best = next(family for family in evidence if evidence[family] >= max(evidence.values()) - TIE)
    titles |= {family: one.title for family, one in weighed.items() if one.title is not None}
    n = float(column.n.sum())
    why = _in_words(best, {family: value / n for family, value in evidence.items()}, refused, titles)
    needed = tuple((option, number) for option, number in options if option in law_of(best).options)
    return FamilyChoice(best, why, weighed[best].cuts, evidence, needed)


def _in_words(best: str, per_row: Mapping[str, float], refused: Mapping[str, str], titles: Mapping[str, str]) -> str:
    order = sorted(per_row, key=lambda family: (family != best, -per_row[family]))
    apart = min((abs(per_row[best] - per_row[family]) for family in order[1:]), default=np.inf)
    digits = next((d for d in range(2, 6) if apart >= 10.0**-d), 6)  # as many as tell the best from the next
    figures = []
    for family in order:
        figure = f"{per_row[family]:.{digits}f}" if np.isfinite(per_row[family]) else "beyond float64"
        close = " (too close to prefer)" if per_row[family] > per_row[best] else ""
        figures.append(f"{titles[family]} {figure}{close}")
    figures += [f"{titles[family]} not eligible ({reason})" for family, reason in refused.items() if reason]
    return f"log-evidence per row: {', '.join(figures)}"


def settle_numbers(sums: Sums[ColumnGroups], settings: Settings, numeric: str) -> Sums[ColumnGroups]:
    """Choose a family for every undecided column of numbers, and keep the sums of that family alone."""
    groups = dict(sums.columns.groups)
    if OpenNumbers.key not in groups:
        return sums
    profile = groups.pop(OpenNumbers.key)
    assert isinstance(profile, NumberProfile)
    columns = sums.columns.plan.of_families(AUTO, BITS)
    count = sums.class_count.count
    choices = list(
        ordered_map(lambda j: _chosen(profile, j, columns[j], settings, numeric, count), range(len(columns)))
    )
    settled = [
        replace(
            column,
            family=choice.family,
            cuts=choice.cuts,
            why=choice.why,
            spans=_spans(profile, j, choice.cuts),
            options=choice.options,
        )
        for j, (column, choice) in enumerate(zip(columns, choices, strict=True))
    ]
    plan = sums.columns.plan.with_columns({column.name: column for column in settled})
    by_key: dict[str, list[Any]] = {}
    for j, (column, choice) in enumerate(zip(settled, choices, strict=True)):
        by_key.setdefault(key_of(column), []).append(sums_of_choice(profile, j, choice, count))
    for key, family in families_of(plan).items():
        if key in by_key:
            pieces = ([groups[key]] if key in groups else []) + by_key[key]
            groups[key] = family.declaring(in_order(pieces, family.names), settings)
    ranged = [name for family in families_of(plan).values() if family.is_ranged for name in family.names]
    return replace(sums, columns=ColumnGroups(sums.classes, plan, groups), seen=sums.seen.only(ranged))


def _chosen(
    profile: NumberProfile, j: int, column: Column, settings: Settings, numeric: str, class_count: Array
) -> FamilyChoice:
    said = settings.of(column)
    values = profile.occupied(j).first
    if (said.family or numeric) == AUTO and said.bins is None and _is_mark(profile, j, class_count):
        why = f"one value, {values[0]:.6g}, and empty cells"
        return FamilyChoice("categorical", why, None, {}) if _are_labels(column) else FamilyChoice(BINNED, why, (), {})
    if column.family == BITS and profile.is_whole(j) and (values <= 1).all():
        return FamilyChoice("bernoulli", "only 0 and 1" if len(values) > 1 else column.why, None, {})
    if said.bins == MDL:
        return _cut_by_class(profile, j)
    family = said.family or numeric
    # The first of all days is arbitrary, and with it whatever depends on the distance from it.
    of_all = OF_DAYS if column.part == "days" else NUMERIC
    families = of_all if family == AUTO else (family,)
    assert not isinstance(said.bins, str)
    options = column.options or (TIME_OF_DAY if _is_time_of_day(column) else ())
    choice = choose_family(profile, j, families=families, n_bins=said.bins, options=options)
    return choice if said.family in (None, AUTO) else replace(choice, why=f"as given; {choice.why}")


def _is_mark(profile: NumberProfile, j: int, class_count: Array) -> bool:
    """Say whether one number comes again and again, and some rows have none: being there is what it says."""
    occupied = profile.occupied(j)
    if len(occupied.first) != 1 or not occupied.are_values or occupied.weight[0] <= 1 or occupied.last[0] >= EXACT:
        return False
    return bool(remainder(class_count, profile.binned(j, ()).sum(axis=0)).any())


def _are_labels(column: Column) -> bool:
    """Say whether the cells are the numbers that are counted: days and seconds are made of them."""
    return column.part is None and not (column.dtype or "").startswith(("time", "duration"))


def _is_time_of_day(column: Column) -> bool:
    """Say whether cells are times of day, which are read as seconds."""
    import pyarrow as pa

    kind = arrow_type(column.dtype or "")
    return kind is not None and pa.types.is_time(kind)


def _cut_by_class(profile: NumberProfile, j: int) -> FamilyChoice:
    """Bins as given, cut where they tell the classes apart."""
    histogram = profile.keys.of_column(j)
    cuts = class_cuts(histogram, fallback=None)
    if cuts:
        return FamilyChoice(BINNED, f"as given; {len(cuts) + 1} bins by {MDL}", cuts, {})
    cuts = class_cuts(histogram)
    how = f"{len(cuts) + 1} bins of equal frequency" if cuts else "one bin"
    return FamilyChoice(BINNED, f"as given; {how}, as {MDL} finds no cut", cuts, {})


def sums_of_choice(profile: NumberProfile, j: int, choice: FamilyChoice, class_count: Array) -> Statistic:
    """Sums of one column in the family that was chosen for it; labels, where the numbers are some, are counted."""
    column = OpenColumn(profile, j, options=choice.options)
    candidate = next((one for one in CANDIDATES if one.family == choice.family), None)
    if candidate is not None:
        return candidate.settled(column, choice.cuts, class_count)
    if choice.family == "categorical":
        value = float(column.occupied.first[0])
        states = (int(value) if value.is_integer() else value,)
        return CategoryCounts.of_values(profile.classes, Variable(column.name, states), column.binned(()), class_count)
    flags = Variable(column.name, (False, True), frozenset({False, True}))
    return CategoryCounts.of_values(profile.classes, flags, column.binned((1.0,)), class_count)


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
        joined = joined.hstack(piece)
    found = [variable.name for variable in joined.schema] if isinstance(joined, CategoryCounts) else joined.names
    ordered: Statistic = joined.take([list(found).index(name) for name in names])
    return ordered
