"""`HonestMembers`: a family whose members learn each from its part of the rows, one beside the other on our threads."""

from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Protocol, Self

import numpy as np

from bayeswater.errors import StatisticsError
from bayeswater.kernels.threads import ordered_map, threads
from bayeswater.models.ensemble.family import Family, in_structure
from bayeswater.models.ensemble.labelled_table import EnsembleTable
from bayeswater.models.ensemble.pooling import honest_log_mean, log_mean
from bayeswater.typing import Array

PHI = 0.6
"""Share of the rows that structures are learned from: the others are enough to judge them."""


class Member(Protocol):
    """One model: its structure, and the counts of all rows."""

    def log_posterior(self, table: EnsembleTable) -> Array:
        """Log posterior of rows: (n_rows, n_classes)."""
        ...

    def log_posterior_without(self, table: EnsembleTable) -> Array:
        """Log posterior of counted rows, one copy of each taken out of the counts: (n_rows, n_classes)."""
        ...

    def counting(self, table: EnsembleTable) -> Self:
        """Count other rows with the same structure."""
        ...

    def plus(self, table: EnsembleTable) -> Self:
        """Count further rows."""
        ...

    def minus(self, table: EnsembleTable) -> Self:
        """Take rows out of the counts."""
        ...

    def to_arrays(self) -> dict[str, Array]:
        """Give structure and counts as arrays."""
        ...


@dataclass(frozen=True)
class HonestMembers(Family):
    """Members that have learned; the seed, and the share `phi`, say which rows the structure of each has seen.

    `n_members` is how many there are to be; 0 leaves that to the size of the table.
    """

    member_kind: ClassVar[Any]
    tuned_by: ClassVar[float] = 0.0
    """Share of the rows, beside those that a structure has seen, that tune the numbers of a member: they do not judge
    it either. Where a member tunes no more than a temperature, none are set apart for it."""

    n_members: int = 0
    seed: int = 0
    phi: float = PHI
    members: tuple[Member, ...] = field(default=(), repr=False)

    @abstractmethod
    def members_for(self, table: EnsembleTable) -> int:
        """Say how many members a table is worth."""

    def phi_for(self, table: EnsembleTable) -> float:
        """Say which share of the rows structures are to see."""
        return PHI

    def learn(self, table: EnsembleTable, seed: int) -> Self:
        """Learn the structure of every member from its rows, and count all rows."""
        return replace(self, seed=seed, phi=self.phi_for(table)).grown(table, self.members_for(table))

    def grown(self, table: EnsembleTable, n_members: int) -> Self:
        """Learn further members, until there are so many."""

        def learned(number: int) -> Member:
            seen = in_structure(table.hashes, self.seed, number, self.phi)
            return self.learn_member(table, seen, number, random_numbers(self.seed, number))

        more = _beside(learned, range(len(self.members), n_members))
        return replace(self, n_members=n_members, members=(*self.members, *more))

    def learn_member(self, table: EnsembleTable, seen: Array, number: int, rng: np.random.Generator) -> Member:
        """Learn one member, whose structure sees the rows that are marked `seen`."""
        return self.member_kind.learn(table, seen, number, rng)

    def plus(self, table: EnsembleTable) -> Self:
        """Count further rows; the structures stay."""
        return replace(self, members=tuple(_beside(lambda member: member.plus(table), self.members)))

    def minus(self, table: EnsembleTable) -> Self:
        """Take rows out of the counts; the structures stay."""
        return replace(self, members=tuple(_beside(lambda member: member.minus(table), self.members)))

    def log_posterior(self, table: EnsembleTable) -> Array:
        """Logarithm of the mean of the members' posteriors: (n_rows, n_classes)."""
        return log_mean(_beside(lambda member: member.log_posterior(table), self.members))

    def honest_log_posterior(self, table: EnsembleTable) -> tuple[Array, Array]:
        """Score counted rows by members that they taught nothing but counts, each row taken out of these."""
        return self._scored(
            table, lambda number: ~in_structure(table.hashes, self.seed, number, self.phi + self.tuned_by)
        )

    def tuning_log_posterior(self, table: EnsembleTable) -> tuple[Array, Array]:
        """Score counted rows by the members that they tune, each row taken out of the counts."""
        return self._scored(table, lambda number: self.tuning_rows(table, number))

    def tuning_rows(self, table: EnsembleTable, number: int) -> Array:
        """Mark the rows that tune a member (n_rows,): none of those that its structure has seen, or that judge it."""
        first, last = (in_structure(table.hashes, self.seed, number, self.phi + more) for more in (0.0, self.tuned_by))
        return last & ~first

    def _scored(self, table: EnsembleTable, rows_of: Callable[[int], Array]) -> tuple[Array, Array]:
        """Score counted rows by the members that `rows_of` marks them for."""

        def judged(number: int) -> tuple[Array, Array]:
            rows = np.flatnonzero(rows_of(number))
            own = self.members[number].log_posterior_without(table.take(rows)) if len(rows) else np.zeros((0, 1))
            return rows, own

        return honest_log_mean(_beside(judged, range(self.n_members)), len(table), table.n_classes)

    def to_arrays(self) -> dict[str, Array]:
        """Give all members as arrays."""
        arrays = {
            "seed": np.array([self.seed % 2**64], dtype=np.uint64),
            "n_members": np.array([self.n_members]),
            "phi": np.array([self.phi]),
        }
        for number, member in enumerate(self.members):
            arrays |= {f"{number}.{name}": array for name, array in member.to_arrays().items()}
        return arrays

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Array], n_numbers: int, n_states: Array, n_classes: int) -> Self:
        """Make the members of arrays that may come from anywhere."""
        try:
            seed, n_members, phi = int(arrays["seed"][0]), int(arrays["n_members"][0]), float(arrays["phi"][0])
            parts: list[dict[str, Array]] = [{} for _ in range(min(n_members, len(arrays)))]
            for name, array in arrays.items():
                number, _, rest = name.partition(".")
                if rest:
                    parts[int(number)][rest] = np.asarray(array)
            members = [cls.member_kind.from_arrays(part, n_numbers, n_states, n_classes) for part in parts]
        except (KeyError, IndexError, ValueError, TypeError, OverflowError) as error:
            raise StatisticsError(f"the arrays of a family {cls.kind!r} are not complete: {error}") from None
        if len(members) != n_members or not members or not 0 <= phi <= 1:
            raise StatisticsError(f"a family {cls.kind!r} has arrays of {len(members)} members, and not of {n_members}")
        return cls(n_members=n_members, seed=seed, phi=phi, members=tuple(members))


def random_numbers(seed: int, number: int) -> np.random.Generator:
    """Give a member its own random numbers."""
    return np.random.default_rng([seed % 2**64, number])


def _beside(work: Callable[[Any], Any], items: Iterable[Any]) -> Iterable[Any]:
    """Do some work for each item, on our threads; what it does itself stays on the thread it is on."""

    def alone(item: Any) -> Any:
        with threads(1):
            return work(item)

    return ordered_map(alone, items)
