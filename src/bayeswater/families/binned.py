"""Numbers in bins, counted as states: P(bin | class) = (N_kb + alpha) / (N_k + B alpha).

Shares are smoothed as those of all states (`families.states`). As a candidate for a column left open, the shares of
bins are divided by their widths, which turns them into a density.
Bins are made from the values, which has its price. Cuts through the gaps between a handful of values would fit the
gaps, so a bin needs rows; of several numbers of bins each is as probable as the others before looking; and that no
value lies outside of the bins is known because two of the D different ones were taken for their ends, out of
D (D - 1) / 2 pairs.

A density has no value twice. So none is a candidate where one value is that of most rows, and a column of two values is
a pair of states: bins, cut between them.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from bayeswater.data.labels import narrow_codes
from bayeswater.data.matrix import ColumnMatrix
from bayeswater.data.reading.coded_table import CodedTable
from bayeswater.data.reading.column_plan import Column
from bayeswater.data.reading.number_table import bin_labels, bin_schema, binned
from bayeswater.data.reading.raw_table import RawTable
from bayeswater.data.variable import Variable
from bayeswater.estimate.histogram_cuts import quantile_cuts
from bayeswater.estimate.normal_parameters import dirichlet_log_evidence, or_impossible
from bayeswater.families.curve import bin_edges
from bayeswater.families.family import Settings, require_sums
from bayeswater.families.numbers import NumberFamily
from bayeswater.families.open_numbers import Candidate, OpenColumn, Weighed
from bayeswater.families.states import StateFamily, without_unknown
from bayeswater.phrases import own_phrases, own_reasons
from bayeswater.statistics.category_counts import CategoryCounts
from bayeswater.statistics.key_counts import Occupied
from bayeswater.typing import Array

own_phrases(
    {
        "binned": ("binned {label}", "分箱 {label}"),
    }
)
own_reasons(
    {
        "binned": "分箱",
        "bins": "分箱",
        "{n} bins": "{n} 个箱",
        "few values": "取值很少",
        "too few rows": "行太少",
        "one value in most rows": "多数行取同一个值",
        "{n} bin by {what}": "按 {what} 分为 {n} 个箱",
        "{n} bins by {what}": "按 {what} 分为 {n} 个箱",
        "{n} bins by {what}, since {other} finds no cut": "按 {what} 分为 {n} 个箱，因为 {other} 找不到切点",
        "{n} bin by {what}, since {other} finds no cut": "按 {what} 分为 {n} 个箱，因为 {other} 找不到切点",
        "{n} bins of equal frequency, as {other} finds no cut": "等频分为 {n} 个箱，因为 {other} 找不到切点",
        "one bin, as {other} finds no cut": "一个箱，因为 {other} 找不到切点",
        "equal_frequency": "等频",
        "equal_width": "等宽",
    }
)

BIN_COUNTS = (4, 8, 16, 32, 64)
"""Numbers of bins that are tried; a column of fewer different values has a bin for each."""

ROWS_PER_BIN = 5
"""Rows that bins have at least, on the average."""

BIN_PSEUDO_COUNT = 0.5
"""Rows imagined in every bin: Jeffreys' prior."""

FEW_VALUES, ROWS_A_VALUE = 8, 10
"""Up to so many whole numbers, with so many rows for each, are states of their own: no density is tried."""


class BinnedCandidate(Candidate):
    """Bins of about equal weight, cut from the histogram."""

    family = "binned"
    title = "bins"
    has_no_origin = True
    is_last = True

    def why_not(self, column: OpenColumn, *, alone: bool) -> str | None:
        """Say that there are too few rows; bins that were given are made of any."""
        return None if alone or self._bin_counts(column) else "too few rows"

    def refusals(
        self, column: OpenColumn, others: Collection[Candidate], refused: Mapping[str, str]
    ) -> Mapping[str, str]:
        """Say why values are states and none of a density: two values, a few whole numbers, or a spike."""
        if _is_pair(column.occupied):
            return {other.family: "" if refused.get(other.family) == "" else "two values" for other in others}
        reason = _why_no_density(column.occupied)
        if reason is None:
            return refused
        densities = (other.family for other in others if other.is_density)
        return {**refused, **{family: reason for family in densities if family not in refused}}

    def weighed(self, column: OpenColumn) -> Weighed:
        """Log-evidence of the best of some numbers of bins, less the price of the choice; and its cuts."""
        tried = [_in_bins(column, n_bins) for n_bins in self._bin_counts(column) or BIN_COUNTS[:1]]
        evidence, cuts = max(tried, key=lambda found: found[0])
        different = len(column.occupied.first)
        price = np.log(len(tried)) + np.log(max(1, different * (different - 1) // 2))
        return Weighed(evidence - float(price), cuts, f"{len(cuts) + 1} bin{'s' * bool(cuts)}")

    def settled(self, column: OpenColumn, cuts: tuple[float, ...] | None, class_count: Array) -> CategoryCounts:
        """Count the bins."""
        cuts = cuts or ()
        variable = bin_schema([cuts], [column.name])[0]
        return CategoryCounts.of_values(column.profile.classes, variable, column.binned(cuts), class_count)

    def _bin_counts(self, column: OpenColumn) -> tuple[int, ...]:
        """Numbers of bins to try: the one that was given, or as many as the rows allow; of a pair two."""
        if column.n_bins is not None:
            return (column.n_bins,)
        different = len(column.occupied.first)
        most = float(column.n.sum()) / ROWS_PER_BIN
        found = tuple(sorted({min(b, different) for b in BIN_COUNTS if min(b, different) <= most}))
        return found or ((2,) if _is_pair(column.occupied) else ())


def _in_bins(column: OpenColumn, n_bins: int) -> tuple[float, tuple[float, ...]]:
    occupied = column.occupied
    cuts = quantile_cuts(occupied, n_bins)
    count = column.histogram.between(np.searchsorted(occupied.first, cuts))  # (n_bins, n_classes)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):  # between neighbours there is no float
        width = np.diff([occupied.limits[0], *cuts, occupied.limits[-1]])
        evidence = dirichlet_log_evidence(BIN_PSEUDO_COUNT, count).sum() - count.sum(axis=1) @ np.log(width)
    return or_impossible(evidence), cuts


def _is_pair(occupied: Occupied) -> bool:
    """Say whether there are but two values, of which one has come again: states, whole numbers or not."""
    return len(occupied.first) == 2 and occupied.are_values and bool(occupied.weight.max() > 1)


def _why_no_density(occupied: Occupied) -> str | None:
    """Say why values are none of a density, which has no value twice: a few numbers are states, and so is a spike."""
    n, different = float(occupied.weight.sum()), len(occupied.first)
    if occupied.is_whole and occupied.are_values and 2 <= different <= min(FEW_VALUES, n / ROWS_A_VALUE):
        return "few values"
    most = int(occupied.weight.argmax()) if different > 1 else 0
    is_spike = different > 1 and 2 * occupied.weight[most] > n and occupied.first[most] == occupied.last[most]
    return "one value in most rows" if is_spike else None


class Binned(StateFamily, NumberFamily):
    """Numbers in bins, as codes."""

    key: ClassVar = "bins"
    families: ClassVar = ("binned",)
    candidates: ClassVar = (BinnedCandidate(),)
    has_cuts: ClassVar = True
    is_ranged: ClassVar = False  # what was seen in a bin is not forgotten with its row

    def encode(self, raw: RawTable, known: Any, settings: Settings, *, learning: bool) -> CodedTable:
        """Put the numbers into the bins of the plan."""
        numbers = self.numbers(raw, settings)
        coded = binned(numbers, [_cuts(column) for column in self.columns], self.names)
        return without_unknown(coded, [column.source for column in self.columns], settings.unknown)

    def state_labels(self, sums: CategoryCounts, j: int) -> Sequence[Any]:
        """Name the bins by their limits."""
        return bin_labels(self.columns[j])

    def drawn(self, variable: Variable, j: int, state: Array, rng: np.random.Generator) -> Any:
        """Draw numbers evenly between the least and the largest value of their bins.

        Of bins that were given these are unknown: those reach from cut to cut, an outer one as far as that beside it.
        """
        column = self.columns[j]
        if column.spans is not None:
            low, high = np.array([*column.spans, (np.nan, np.nan)]).T[:, state]
            return low + rng.random(len(state)) * (high - low)
        edges = bin_edges(column)
        if edges is None:
            return np.full(len(state), np.nan)
        limits = np.append(edges, np.nan)
        return limits[state] + rng.random(len(state)) * (limits[state + 1] - limits[state])

    def with_new_cells(self, table: CodedTable, raw: RawTable) -> CodedTable:
        """Give numbers that are beyond the outer bins of their column the code of what was never seen."""
        codes = table.block(slice(0, table.shape[0]))
        marked = []
        for j, column in enumerate(self.columns):
            numbers, n_bins = raw.numbers(column.name), len(_cuts(column)) + 1
            low, high = reach(column)
            beyond = (numbers < low) | (numbers > high)
            marked.append(narrow_codes(np.where(beyond, n_bins + 1, codes[:, j]), n_bins + 2))
        return replace(table, codes=ColumnMatrix(tuple(marked)))

    def restored(self, arrays: dict[str, Array], classes: Variable, domain: Any) -> CategoryCounts:
        """Make the counts of the bins of the plan."""
        schema = bin_schema([_cuts(column) for column in self.columns], self.names)
        return CategoryCounts.from_arrays(arrays, classes=classes, schema=schema)

    @classmethod
    def require_column(cls, column: Column, group: Any, j: int, slack: float) -> None:
        """Refuse bins that are not those of the cuts."""
        n_bins, states = len(_cuts(column)) + 1, group.schema[j]
        require_sums(
            states.is_coded and states.n_states == n_bins and states.declared == {n_bins - 1},
            f"column {column.name!r} has {n_bins - 1} cuts, and {states.n_states} bins",
        )


def reach(column: Column) -> tuple[float, float]:
    """Least and largest number a binned column can be taken to have had: an outer bin is as wide as all inner ones.

    The outer bins have no limit, and with as many rows in each bin they are wider than those beside them.

    >>> reach(Column("x", "x", "binned", cuts=(1.0, 2.0, 4.0)))
    (-2.0, 7.0)
    """
    cuts = column.cuts or ()
    if not cuts:
        return -np.inf, np.inf
    width = cuts[-1] - cuts[0] if len(cuts) > 1 else max(abs(cuts[0]), 1.0)
    return cuts[0] - width, cuts[-1] + width


def _cuts(column: Column) -> tuple[float, ...]:
    return column.cuts or ()
