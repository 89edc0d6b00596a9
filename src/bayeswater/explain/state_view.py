"""Categories, flags and numbers in bins, as an explanation looks at them."""

from functools import cached_property
from typing import Any

import numpy as np

from bayeswater.data.number_table import bin_labels
from bayeswater.explain.options import Options
from bayeswater.explain.view import Cell, ColumnView
from bayeswater.explain.wording import cell
from bayeswater.inference.category_columns import CategoryColumns
from bayeswater.statistics.category_counts import CategoryCounts
from bayeswater.typing import Array


class StateView(ColumnView):
    """A column of states."""

    terms: CategoryColumns

    @property
    def is_binned(self) -> bool:
        """Whether the states are bins of a number, in order."""
        return self.column.family == "binned"

    @cached_property
    def labels(self) -> list[Any]:
        """Names of the states; None is an empty cell, where that is one."""
        states = bin_labels(self.column) if self.is_binned else self.terms.counts.schema[self.j].states
        return [*states, *[None] * int(self.terms.empty_is_state[self.j])]

    @cached_property
    def log_probability(self) -> Array:
        """Logarithm of P(state | class): (n_states, n_classes)."""
        first = self.terms.joint.start[self.j]
        return self.terms.joint.log_likelihood[first : first + len(self.labels)]

    def code(self, row: int) -> int:
        """Code of the state of a cell."""
        return int(self._block(row)[0, self.j])

    def cell(self, row: int) -> Cell:
        """Tell what became of a cell; where missing is a state, it is read as one."""
        code = self.code(row)
        if code > self.terms.counts.n_states[self.j]:
            return Cell.UNSEEN
        return Cell.READ if code < len(self.labels) else Cell.MISSING

    def value(self, row: int) -> Any:
        """Give the cell as the user gave it; of a date, its weekday or month."""
        code = self.code(row)
        is_derived = self.column.part in ("weekday", "month")
        return self.labels[code] if is_derived and code < len(self.labels) else super().value(row)

    def reading(self, row: int, chosen: int, against: int) -> str:
        """Name the bin of a number."""
        code = self.code(row)
        return f"binned {self.labels[code]}" if self.is_binned and code < self.terms.counts.n_states[self.j] else ""

    @property
    def counts(self) -> CategoryCounts:
        """What was counted."""
        return self.terms.counts

    @cached_property
    def state_count(self) -> Array:
        """How often each state was counted: (n_states,)."""
        first = self.counts.start[self.j]
        return np.asarray(self.counts.table[first : first + len(self.labels)].sum(axis=1), dtype=np.float64)

    def options(self, row: int, chosen: int) -> Options | None:
        """List the states that occur, the most frequent first; bins are as far as their places are apart."""
        code, count = self.code(row), self.state_count
        cells = np.flatnonzero(count > 0)
        cells = cells[np.argsort(-count[cells], kind="stable")]
        cells = cells[cells != code]
        share = count / max(count.sum(), 1.0)
        variance = (1 - share @ share) / 2
        if not len(cells) or not variance > 0:
            return None
        distance = np.full(len(cells), 1 / np.sqrt(variance))
        if self.is_binned:  # an empty cell, behind the last bin, has no place among them
            place, own = np.arange(self.counts.n_states[self.j]), count[: self.counts.n_states[self.j]]
            middle = own @ place / own.sum()
            deviation = np.sqrt(own @ (place - middle) ** 2 / own.sum())
            is_bin = cells < len(place)
            apart = np.abs(cells[is_bin] - (code if code < len(place) else middle))
            distance[is_bin] = apart / (deviation if deviation > 0 else 1.0)
        return Options(cells, distance, self._words, self._label)

    def terms_at(self, row: int, cells: Array) -> Array:
        """Terms of states: (n, n_classes)."""
        return self.log_probability[cells]

    def _label(self, code: Any) -> Any:
        return self.labels[int(code)]

    def _words(self, code: Any) -> str:
        label = self._label(code)
        return str(label) if self.is_binned and label is not None else cell(label)


MOST_DAYS = 1e12
"""Days up to which the calendar of NumPy reaches, and somewhat beyond all uses of it."""


def day(days: float) -> str:
    """Write days since 1970-01-01 as a date.

    >>> day(19723.5), day(1e300)
    ('2024-01-01', '1e+300 days after 1970-01-01')
    """
    if abs(days) > MOST_DAYS:
        return f"{days:.6g} days after 1970-01-01"
    return str(np.datetime64(int(np.floor(days)), "D"))
