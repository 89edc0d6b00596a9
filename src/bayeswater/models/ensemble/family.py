"""`Family`: members of one kind that learn, count, forget and predict together.

**Honest members.** A member learns its structure (cuts, orders, parents, splits) from some of the rows and counts all
of them. The rows that its structure has not seen judge it: each is scored with itself taken out of the counts. Which
rows a structure sees, the hash of their cells decides (`in_structure`), so equal rows share their fate.

A family is a frozen value: `learn`, `plus` and `minus` give new ones. What it says must not depend on the number of
threads, nor on the order of the rows.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar, Self

import numpy as np

from bayeswater.data.reading.row_hashes import mixed, word
from bayeswater.models.ensemble.labelled_table import EnsembleTable
from bayeswater.typing import Array


class Family(ABC):
    """Members of one kind, as an ensemble knows them.

    A family that has not learned holds its settings alone, `n_members` among them.
    """

    kind: ClassVar[str]
    """Short name, by which reports and files call it."""

    n_members: int

    @abstractmethod
    def learn(self, table: EnsembleTable, seed: int) -> Self:
        """Learn structures, each from its part of the rows, and count all rows."""

    @abstractmethod
    def plus(self, table: EnsembleTable) -> Self:
        """Count further rows; the structures stay."""

    @abstractmethod
    def minus(self, table: EnsembleTable) -> Self:
        """Take rows out of the counts; the structures stay.

        Raises
        ------
        StatisticsError
            Where rows were never counted: a count would fall below 0.
        """

    @abstractmethod
    def log_posterior(self, table: EnsembleTable) -> Array:
        """Logarithm of the mean of the members' posteriors: (n_rows, n_classes)."""

    @abstractmethod
    def honest_log_posterior(self, table: EnsembleTable) -> tuple[Array, Array]:
        """Score rows that were counted by the members whose structure has not seen them, without the rows themselves.

        One copy of each row (`EnsembleTable.removed`) is taken out of all counts: the result equals that of counting
        all other rows anew for the structures as they are.

        Returns
        -------
        log_posterior : (n_rows, n_classes), of the mean over these members; uniform where there are none
        n_members : (n_rows,), how many there are
        """

    @abstractmethod
    def to_arrays(self) -> dict[str, Array]:
        """Give everything that was learned, and the settings that predicting needs, as arrays."""

    @classmethod
    @abstractmethod
    def from_arrays(cls, arrays: Mapping[str, Array], n_numbers: int, n_states: Array, n_classes: int) -> Self:
        """Make a family of arrays, perhaps from a file of unknown origin.

        Raises
        ------
        StatisticsError
            Where shapes, types, ranges or sums are not those of any family that has learned.
        """

    @property
    def n_bytes(self) -> int:
        """Bytes of what was learned."""
        return sum(array.nbytes for array in self.to_arrays().values())

    def of_members(self, n_members: int) -> Self:
        """Give a family of the same settings that will learn so many members."""
        return replace(self, n_members=n_members)  # type: ignore[type-var]

    def members_for(self, table: EnsembleTable) -> int:
        """Say how many members `learn` will make for a table."""
        return self.n_members


def in_structure(hashes: Array, seed: int, member: int, phi: float) -> Array:
    """Mark the rows, by their hashes (n_rows,), that a member learns its structure from: a share `phi` of them.

    A row is in where mixed(hash, seed, member) < phi 2^64: for `phi` 1 every row, and always the same ones.

    >>> rows = np.arange(1000, dtype=np.uint64)
    >>> int(in_structure(rows, seed=0, member=3, phi=0.6).sum()), bool(in_structure(rows, 0, 3, 1.0).all())
    (608, True)
    """
    if phi >= 1:
        return np.ones(len(hashes), dtype=bool)
    own = mixed(mixed(word(seed)) + word(member))
    limit = np.uint64(int(phi * 2.0**64))
    return np.asarray(mixed(hashes ^ own) < limit)
