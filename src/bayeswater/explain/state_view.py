"""Categories, flags and numbers in bins, as an explanation looks at them."""

from functools import cached_property
from typing import Any

import numpy as np

from bayeswater.data.number_table import bin_labels
from bayeswater.explain.view import Cell, Change, ColumnView, Rest
from bayeswater.explain.wording import cell
from bayeswater.inference.category_columns import CategoryColumns
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

    def change(self, row: int, rest: Rest) -> Change | None:
        """Find the nearest bin, or the most plausible category, that turns the decision."""
        code = self.code(row)
        turning = rest.turns(self.log_probability)
        turning[code : code + 1] = False
        states = np.flatnonzero(turning)
        if not len(states):
            return None
        plausible = rest.log_evidence(self.log_probability[states])
        if self.is_binned and code < len(self.labels):
            distance = np.abs(states - code)
            plausible = np.where(distance == distance.min(), plausible, -np.inf)
        state = int(states[plausible.argmax()])
        label = self.labels[state]
        words = label if self.is_binned and label is not None else cell(label)
        return Change(words, self.labels[state], self.log_probability[state])


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
