"""The sums of a mixed table against its plan: they are the sums of its columns, in its order, of the right domains."""

from collections.abc import Sequence
from operator import lt

import numpy as np

from bayeswater.data.column_plan import OF_TEXT, Column
from bayeswater.data.plan_rules import require_sound_plan
from bayeswater.data.variable import Variable
from bayeswater.errors import StatisticsError
from bayeswater.statistics.category_counts import CategoryCounts
from bayeswater.statistics.column_groups import ColumnGroups
from bayeswater.statistics.count_totals import CountTotals
from bayeswater.statistics.family_counts import FamilyCounts
from bayeswater.statistics.moments import Moments
from bayeswater.statistics.pair_counts import PairCounts
from bayeswater.statistics.statistic import ColumnStatistic, Statistic
from bayeswater.statistics.text_sums import TextSums
from bayeswater.statistics.triple_counts import TripleCounts

LOGARITHMS = (-745.0, 710.0)
"""Where the logarithms of all numbers over 0 lie."""

COUNTED_IN: dict[type[Statistic], tuple[str, ...]] = {
    CategoryCounts: ("categorical", "bernoulli", "binned"),
    PairCounts: ("categorical", "bernoulli", "binned"),
    TripleCounts: ("categorical", "bernoulli", "binned"),
    FamilyCounts: ("categorical", "bernoulli", "binned"),
    Moments: ("gaussian", "lognormal"),
    CountTotals: ("poisson",),
    TextSums: OF_TEXT,
}
"""Families of columns by the statistic they are summed in."""


def require_planned(sums: ColumnGroups, slack: float) -> None:
    """Refuse sums that are not those of the columns of the plan."""
    require_sound_plan(sums.plan)
    used = {column.name: place for place, column in enumerate(sums.plan.used)}
    counted: list[str] = []
    for group in sums.groups.values():
        names = _names(group)
        places = [used.get(name, -1) for name in names]
        _require(-1 not in places, f"there are sums of {names!r:.200}, and columns {[*used]!r:.200}")
        _require(places == sorted(places), f"the sums of {names!r:.200} do not stand in the order of the columns")
        if not isinstance(group, FamilyCounts):  # they count again what is counted in pairs
            counted += names
        for j, name in enumerate(names):
            _require_column(sums.plan[name], group, j, slack)
    _require(sorted(counted) == sorted(used), f"there are sums of {counted!r:.200}, and columns {[*used]!r:.200}")
    _require_same_rows(sums, slack)


def _require_same_rows(sums: ColumnGroups, slack: float) -> None:
    """Refuse families that are not counted from the rows of the pairs beside them."""
    pairs = next((group for group in sums.groups.values() if isinstance(group, PairCounts)), None)
    for group in sums.groups.values():
        if isinstance(group, FamilyCounts) and pairs is not None:
            same = group.schema == pairs.schema and group.count.dtype == pairs.table.dtype
            _require(
                same and bool((np.abs(group.singles.table - pairs.table) <= slack).all()),
                "columns are not counted with their parents as often as in pairs",
            )


def _names(group: Statistic) -> Sequence[str]:
    if isinstance(group, CategoryCounts | PairCounts | FamilyCounts):
        return group.schema.names
    if isinstance(group, TextSums):
        return (group.name,)
    assert isinstance(group, ColumnStatistic)
    return [group.column_name(j) for j in range(group.n_columns)]


def _require_column(column: Column, group: Statistic, j: int, slack: float) -> None:
    _require(
        column.family in COUNTED_IN[type(group)],
        f"column {column.name!r} of family {column.family!r} is summed as {type(group).__name__}",
    )
    if isinstance(group, CategoryCounts | PairCounts | FamilyCounts):
        _require_states(column, group.schema[j])
    elif isinstance(group, TextSums):
        _require_vocabulary(column, group, slack)
    elif isinstance(group, Moments) and column.family == "lognormal":
        _require_logarithms(column, group, j)


def _require_logarithms(column: Column, sums: Moments, j: int) -> None:
    """Refuse moments that logarithms of numbers cannot have, since none is outside of `LOGARITHMS`."""
    low, high = LOGARITHMS
    mean, scatter, weight = sums.mean[:, j], sums.scatter[:, j], sums.weight[:, min(j, sums.weight.shape[1] - 1)]
    within = (mean >= low) & (mean <= high) & (scatter <= weight * ((high - low) / 2) ** 2)
    _require(bool(within.all()), f"the moments of column {column.name!r} are not those of logarithms")


def _require_states(column: Column, states: Variable) -> None:
    if column.family == "binned":
        n_bins = len(column.cuts or ()) + 1
        _require(
            states.is_coded and states.n_states == n_bins and states.declared == {n_bins - 1},
            f"column {column.name!r} has {n_bins - 1} cuts, and {states.n_states} bins",
        )
    if column.family == "bernoulli":
        are_flags = not states.is_coded and all(type(state) is bool for state in states.states)
        _require(are_flags, f"the states of column {column.name!r} are {states.states!r:.200}, and no flags")


def _require_vocabulary(column: Column, sums: TextSums, slack: float) -> None:
    """Refuse words that the analyser does not give: a hash has codes, and a word that is found is counted."""
    words, analyser = sums.vocabulary, column.analyser
    n_codes = words.n_states if analyser is None else analyser.n_hash
    if n_codes is None:
        _require(
            not (words.is_coded or words.declared)
            and set(map(type, words.states)) <= {str}
            and all(map(lt, words.states, words.states[1:])),
            f"the words of column {column.name!r} are no texts, each once and in their order",
        )
    else:
        _require(
            words.is_coded and words.n_states == n_codes and words.declared == {n_codes - 1},
            f"column {column.name!r} has {words.n_states} words, and should have {n_codes} codes of words",
        )
    if analyser is None:
        return  # a block of any numbers from 0 on
    more = sums.present > sums.word_count + slack
    _require(not bool(more.any()), f"rows of column {column.name!r} have a word less than once")
    once = not analyser.binary or bool((np.abs(sums.word_count - sums.present) <= slack).all())
    _require(once, f"column {column.name!r} marks words, but counts some more than once in a row")


def _require(condition: bool, problem: str) -> None:
    if not condition:
        raise StatisticsError(problem)
