"""`Codebook`: numbers and states side by side as narrow codes, by cuts that no class had a say in.

A number becomes the interval of about equal weight it falls into; a missing one has a code of its own above all others.
A state keeps its code; one that is missing or was never seen has the code one past the last.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Self

import numpy as np

from bayeswater.data.reading.discretising.cuts import apply_cuts
from bayeswater.data.reading.discretising.value_cells import ValueCells, equal_frequency_cuts
from bayeswater.errors import StatisticsError
from bayeswater.kernels.threads import ordered_map
from bayeswater.typing import Array


@dataclass(frozen=True)
class Codebook:
    """Cuts of columns of numbers, and the number of states of those behind them.

    The cuts of number column j are ``cuts[start[j] : start[j + 1]]``, in rising order.

    >>> book = Codebook.of(np.array([[1.0], [2.0], [2.0], [np.nan]]), np.array([3]), None, most_codes=100)
    >>> book.codes(np.array([[1.0], [7.0], [np.nan]]), np.array([[0], [2], [-1]]))
    array([[0, 0],
           [1, 2],
           [2, 3]], dtype=uint8)
    """

    cuts: Array  # float64
    start: Array  # (n_numbers + 1,)
    n_states: Array  # (n_nominal,)

    @classmethod
    def of(cls, numbers: Array, n_states: Array, weight: Array | None, most_codes: int) -> Self:
        """Cut columns of numbers (n_rows, n_numbers) into at most `most_codes` intervals."""

        def cuts_of(j: int) -> Array:
            return equal_frequency_cuts(ValueCells.of(numbers[:, j], None, 1, weight), most_codes)

        cuts = list(ordered_map(cuts_of, range(numbers.shape[1])))
        start = np.cumsum([0, *map(len, cuts)])
        return cls(np.concatenate([np.zeros(0), *cuts]), start, np.asarray(n_states, dtype=np.int64))

    @property
    def n_numbers(self) -> int:
        """Number of columns of numbers."""
        return len(self.start) - 1

    @property
    def n_columns(self) -> int:
        """Number of all columns."""
        return self.n_numbers + len(self.n_states)

    @property
    def n_codes(self) -> Array:
        """Codes of every column, with that of a missing cell: (n_columns,)."""
        return np.concatenate([np.diff(self.start) + 2, self.n_states + 1])

    def cuts_of(self, j: int) -> Array:
        """Cuts of a column of numbers."""
        return self.cuts[self.start[j] : self.start[j + 1]]

    def codes(self, numbers: Array, states: Array) -> Array:
        """Code rows: (n_rows, n_columns), row after row, in the narrowest unsigned numbers."""
        highest = int(self.n_codes.max(initial=1)) - 1
        kind = np.uint8 if highest < 2**8 else np.uint16 if highest < 2**16 else np.uint32
        codes = np.empty((len(numbers), self.n_columns), dtype=kind)
        for j in range(self.n_numbers):
            codes[:, j] = apply_cuts(numbers[:, j], self.cuts_of(j))
        is_known = (states >= 0) & (states < self.n_states)
        codes[:, self.n_numbers :] = np.where(is_known, states, self.n_states)
        return codes

    def to_arrays(self) -> dict[str, Array]:
        """Give the cuts as arrays."""
        return {"cuts": self.cuts, "cut_start": self.start}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Array], n_numbers: int, n_states: Array) -> Self:
        """Read the cuts back; refuse what cannot be cuts of so many columns."""
        cuts, start = arrays["cuts"], arrays["cut_start"]
        is_shaped = cuts.ndim == 1 and cuts.dtype == np.float64 and start.shape == (n_numbers + 1,)
        if not is_shaped or start.dtype.kind != "i" or start[0] != 0 or start[-1] != len(cuts) or np.isnan(cuts).any():
            raise StatisticsError(f"the cuts are not those of {n_numbers} columns of numbers")
        for first, last in pairwise(start.tolist()):
            if first > last or (np.diff(cuts[first:last]) <= 0).any():
                raise StatisticsError("the cuts of a column do not rise")
        return cls(cuts, start, np.asarray(n_states, dtype=np.int64))
