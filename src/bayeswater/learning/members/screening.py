"""Columns that a member looks at where there are too many: those that tell rows of other classes apart, honestly.

What a column tells is measured on the rows that the structure of a member sees, each left out of the counts:

    sum over rows of log P(class | cell, other rows) - log P(class | other rows)

with P(class | cell) drawn by one row to the class frequencies, and a number in five bins. A column that tells nothing
has less than 0 of it, and one of which almost every row has another value, too. So which columns a member keeps is part
of its structure, and the rows that it has not seen validate it.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from bayeswater.data.reading.discretising.cuts import apply_cuts
from bayeswater.data.reading.discretising.finding_cuts import FALLBACK_BINS
from bayeswater.data.reading.discretising.value_cells import ValueCells, equal_frequency_cuts
from bayeswater.errors import StatisticsError
from bayeswater.learning.members.member_table import EnsembleTable, weight_of
from bayeswater.records import record
from bayeswater.typing import Array

LEAST_COLUMNS = 8
"""Columns that are kept though they tell nothing alone: together they may."""


def information_of_class(table: EnsembleTable) -> Array:
    """Give what every column tells of the class of rows that are left out, in nats: (n_columns,)."""
    weight = weight_of(table)
    cuts = (equal_frequency_cuts(ValueCells.of(x, None, 1, weight), FALLBACK_BINS) for x in table.numbers.T)
    numbers = [apply_cuts(x, own) for x, own in zip(table.numbers.T, cuts, strict=True)]
    states = np.where(table.states < 0, table.n_states, table.states).T
    count = np.bincount(table.labels, weights=table.weights, minlength=table.n_classes)
    share = count / count.sum()
    return np.array([_information(codes.astype(np.int64), table, share) for codes in (*numbers, *states)])


def _information(codes: Array, table: EnsembleTable, share: Array) -> float:
    n_classes = table.n_classes
    cell = np.bincount(codes * n_classes + table.labels, weights=table.weights)
    cell = np.resize(np.append(cell, np.zeros(-len(cell) % n_classes)), (-(-len(cell) // n_classes), n_classes))
    others = np.maximum(cell - 1, 0.0) + share
    rest = np.maximum(cell.sum(axis=1, keepdims=True) - 1, 0.0) + 1
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(cell > 0, cell * (np.log(others / rest) - np.log(share)), 0.0)
    return float(terms.sum())


STATES_OF_A_NUMBER = 8
"""Slots of a column of numbers, in a forecast: root of the mean square over the ways in which members cut."""


def slots_of(table: EnsembleTable) -> Array:
    """Forecast the states of each column, with one for a missing cell: (n_columns,)."""
    return np.concatenate([np.full(table.numbers.shape[1], STATES_OF_A_NUMBER), table.n_states + 1])


def screened(table: EnsembleTable, most: int) -> Array:
    """Choose the columns that tell most, as long as all have at most so many states; in their order: (n_kept,)."""
    information, slots = information_of_class(table), slots_of(table)
    order = np.argsort(-information, kind="stable")
    order = order[: max(LEAST_COLUMNS, int((information > 0).sum()))]
    order = order[slots[order] <= most]
    kept = order[np.cumsum(slots[order]) <= most]
    return np.sort(kept) if len(kept) else np.array([slots.argmin()])


def of_columns(table: EnsembleTable, kept: Array) -> EnsembleTable:
    """Give the rows with some of their columns, and without their texts."""
    n_numbers = table.numbers.shape[1]
    states = kept[kept >= n_numbers] - n_numbers
    return replace(
        table,
        numbers=table.numbers[:, kept[kept < n_numbers]],
        states=table.states[:, states],
        n_states=table.n_states[states],
        words=None,
    )


@record
class ScreenedMember:
    """A member that looks at some columns."""

    kept: Array
    member: Any

    def log_posterior(self, table: EnsembleTable) -> Array:
        """Log posterior of rows: (n_rows, n_classes)."""
        return np.asarray(self.member.log_posterior(of_columns(table, self.kept)))

    def log_posterior_without(self, table: EnsembleTable) -> Array:
        """Log posterior of counted rows, one copy of each taken out of the counts: (n_rows, n_classes)."""
        return np.asarray(self.member.log_posterior_without(of_columns(table, self.kept)))

    def counting(self, table: EnsembleTable) -> "ScreenedMember":
        """Count other rows with the same structure."""
        return replace(self, member=self.member.counting(of_columns(table, self.kept)))

    def plus(self, table: EnsembleTable) -> "ScreenedMember":
        """Count further rows."""
        return replace(self, member=self.member.plus(of_columns(table, self.kept)))

    def minus(self, table: EnsembleTable) -> "ScreenedMember":
        """Take rows out of the counts."""
        return replace(self, member=self.member.minus(of_columns(table, self.kept)))

    def to_arrays(self) -> dict[str, Array]:
        """Give the columns, and the arrays of the member."""
        return {"kept": self.kept, **self.member.to_arrays()}


def member_of(kind: Any, arrays: Mapping[str, Array], n_numbers: int, n_states: Array, n_classes: int) -> Any:
    """Make a member of arrays that may come from anywhere, of some columns where these are told."""
    if "kept" not in arrays:
        return kind.from_arrays(arrays, n_numbers, n_states, n_classes)
    kept = np.asarray(arrays["kept"])
    is_kept = kept.ndim == 1 and kept.dtype == np.int64 and bool((np.diff(kept) > 0).all())
    if not is_kept or not len(kept) or kept[0] < 0 or kept[-1] >= n_numbers + len(n_states):
        raise StatisticsError("the columns of a member are not some of those that there are")
    own = {name: array for name, array in arrays.items() if name != "kept"}
    states = kept[kept >= n_numbers] - n_numbers
    return ScreenedMember(kept, kind.from_arrays(own, int((kept < n_numbers).sum()), n_states[states], n_classes))
