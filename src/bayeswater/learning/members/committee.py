"""`Committee`: members of one kind that learn, count, forget and predict together; `HonestMembers` one by one.

**Honest members.** A member learns its structure (cuts, orders, parents, splits) from some of the rows and counts all
of them. The rows that its structure has not seen validate it: each is scored with itself taken out of the counts. Which
rows a structure sees, the hash of their cells decides (`in_structure`), so equal rows share their fate.

A committee is a frozen value: `learn`, `plus` and `minus` give new ones. What it says must not depend on the number of
threads, nor on the order of the rows. What members say is averaged as probabilities; a row that is scored is so by the
mean of those members whose structure has not seen it.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import field, replace
from typing import Any, ClassVar, Protocol, Self

import numpy as np

from bayeswater.data.reading.row_hashes import hash_word, hashed
from bayeswater.decision.calibration_maps import Temperature
from bayeswater.errors import StatisticsError
from bayeswater.estimate.dirichlet import Prior, PseudoCounts
from bayeswater.kernels.remainders import remainder
from bayeswater.kernels.threads import ordered_map, threads
from bayeswater.learning.members.member_table import EnsembleTable, counted_classes
from bayeswater.learning.members.screening import ScreenedMember, member_of, of_columns, screened
from bayeswater.records import record
from bayeswater.statistics.sums import ClassCounts
from bayeswater.typing import Array, is_temperature

SMOOTHING = PseudoCounts("m-estimate", 1.0)
"""Pseudo-counts of all members, of the classes among others: one row of each column, spread evenly."""


class Committee(ABC):
    """Members of one kind, as an ensemble knows them.

    A committee that has not learned holds its settings alone, `n_members` among them.
    """

    kind: ClassVar[str]
    """Short name, by which reports and files call it."""

    is_beside: ClassVar[bool] = False
    """Whether it looks at what no other committee sees: what it says then multiplies what these say."""

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
        """Make a committee of arrays, perhaps from a file of unknown origin.

        Raises
        ------
        StatisticsError
            Where shapes, types, ranges or sums are not those of any committee that has learned.
        """

    @property
    def n_bytes(self) -> int:
        """Bytes of what was learned."""
        return sum(array.nbytes for array in self.to_arrays().values())

    def of_members(self, n_members: int) -> Self:
        """Give a committee of the same settings that will learn so many members."""
        return replace(self, n_members=n_members)  # type: ignore[type-var]

    def members_for(self, table: EnsembleTable) -> int:
        """Say how many members `learn` will make for a table."""
        return self.n_members


@record
class CountedClasses(Committee):
    """One model of which further rows move the class counts alone."""

    n_members: int = 1
    seed: int = 0
    counts: ClassCounts | None = field(default=None, repr=False)

    def plus(self, table: EnsembleTable) -> Self:
        """Count the classes of further rows."""
        return replace(self, counts=self.class_counts + counted_classes(table))

    def minus(self, table: EnsembleTable) -> Self:
        """Take rows out of the class counts."""
        return replace(self, counts=self.class_counts - counted_classes(table))

    @property
    def class_counts(self) -> ClassCounts:
        """Weight of each class."""
        assert self.counts is not None  # rows were learned
        return self.counts

    @property
    def _prior(self) -> Prior:
        return Prior.of(self.class_counts.count, SMOOTHING)


def in_structure(hashes: Array, seed: int, member: int, phi: float) -> Array:
    """Mark the rows, by their hashes (n_rows,), that a member learns its structure from: a share `phi` of them.

    A row is in where mixed(hash, seed, member) < phi 2^64: for `phi` 1 every row, and always the same ones.

    >>> rows = np.arange(1000, dtype=np.uint64)
    >>> int(in_structure(rows, seed=0, member=3, phi=0.6).sum()), bool(in_structure(rows, 0, 3, 1.0).all())
    (608, True)
    """
    if phi >= 1:
        return np.ones(len(hashes), dtype=bool)
    own = hashed(hashed(hash_word(seed)) + hash_word(member))
    limit = np.uint64(int(phi * 2.0**64))
    return np.asarray(hashed(hashes ^ own) < limit)


PHI = 0.6
"""Share of the rows that structures are learned from: the others are enough to validate them."""


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


@record
class HonestMembers(Committee):
    """Members that have learned; the seed, and the share `phi`, say which rows the structure of each has seen.

    `n_members` is how many there are to be; 0 leaves that to the size of the table. `n_slots` is how many states
    the columns have, at most, that each looks at, if these are not all (`screening`).
    """

    member_kind: ClassVar[Any]
    tuned_by: ClassVar[float] = 0.0
    """Share of the rows, beside those that a structure has seen, that tune the numbers of a member: they do not
    validate it either. Where a member tunes no more than a temperature, none are set apart for it."""

    n_members: int = 0
    seed: int = 0
    phi: float = PHI
    members: tuple[Member, ...] = field(default=(), repr=False)
    n_slots: int = 0

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
            seen, rng = in_structure(table.hashes, self.seed, number, self.phi), random_numbers(self.seed, number)
            if not self.n_slots:
                return self.learn_member(table, seen, number, rng)
            kept = screened(table.take(seen), self.n_slots)
            return ScreenedMember(kept, self.learn_member(of_columns(table, kept), seen, number, rng))

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
        """Mark the rows that tune a member (n_rows,): none of those that its structure has seen, or that score it."""
        first, last = (in_structure(table.hashes, self.seed, number, self.phi + more) for more in (0.0, self.tuned_by))
        return last & ~first

    def _scored(self, table: EnsembleTable, rows_of: Callable[[int], Array]) -> tuple[Array, Array]:
        """Score counted rows by the members that `rows_of` marks them for."""

        def scored(number: int) -> tuple[Array, Array]:
            rows = np.flatnonzero(rows_of(number))
            own = self.members[number].log_posterior_without(table.take(rows)) if len(rows) else np.zeros((0, 1))
            return rows, own

        return honest_log_mean(_beside(scored, range(self.n_members)), len(table), table.n_classes)

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
            members = [member_of(cls.member_kind, part, n_numbers, n_states, n_classes) for part in parts]
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


VALIDATION_ROWS = 3000
"""Different rows by which one or two numbers are chosen, at most: more would hardly choose otherwise."""


def log_mean(log_posteriors: Iterable[Array]) -> Array:
    """Logarithm of the mean of posteriors (n_rows, n_classes).

    >>> np.exp(log_mean([np.log([[0.25, 0.75]]), np.log([[0.75, 0.25]])]))
    array([[0.5, 0.5]])
    """
    total, n = None, 0
    for one in log_posteriors:
        total = one if total is None else np.logaddexp(total, one)
        n += 1
    assert total is not None
    return np.asarray(total - np.log(n))


def honest_log_mean(parts: Iterable[tuple[Array, Array]], n_rows: int, n_classes: int) -> tuple[Array, Array]:
    """Logarithm of the mean of the posteriors that validate each row, and their number (n_rows,).

    Each part has the rows that a member validates, by their places, and its log posterior of these. A row that none
    validates has the uniform posterior.
    """
    total, n_members = np.full((n_rows, n_classes), -np.inf), np.zeros(n_rows, dtype=np.int64)
    for rows, own in parts:
        total[rows] = np.logaddexp(total[rows], own)
        n_members[rows] += 1
    scored = n_members > 0
    total[scored] -= np.log(n_members[scored])[:, None]
    total[~scored] = -np.log(n_classes)
    return total, n_members


def can_validate(table: EnsembleTable, class_count: Array) -> Array:
    """Which rows can validate what they are taken out of: those that are not alone in their class: (n_rows,)."""
    left = remainder(class_count[table.labels].astype(np.float64), table.removed)
    return np.asarray(left > 0)


def tempered(log_posterior: Array, temperature: float) -> Array:
    """Take confidence back or add it, and normalise: (n_rows, n_classes)."""
    return Temperature(temperature).apply(log_posterior)


def best_temperature(log_posterior: Array, table: EnsembleTable, class_count: Array) -> float:
    """Temperature of least log-loss over rows that were taken out; 1 where there are none."""
    rows = can_validate(table, class_count)
    if not rows.any():
        return 1.0
    return Temperature.fit(log_posterior[rows], table.labels[rows], table.weights[rows]).temperature


def log_loss(log_posterior: Array, table: EnsembleTable, class_count: Array) -> float:
    """Mean log-loss over rows that were taken out; 0 where there are none."""
    rows = np.flatnonzero(can_validate(table, class_count))
    weight = table.weights[rows]
    return -float(weight @ log_posterior[rows, table.labels[rows]]) / float(weight.sum()) if len(rows) else 0.0


def some_rows(hashes: Array, most: int) -> Array:
    """Mark rows of at most so many different hashes: the least, so neither order nor repetition changes them.

    >>> some_rows(np.array([7, 3, 3, 9], dtype=np.uint64), 2)
    array([ True,  True,  True, False])
    """
    different = np.unique(hashes)
    if len(different) <= most:
        return np.ones(len(hashes), dtype=bool)
    return np.asarray(hashes <= different[most - 1])


def checked_temperature(arrays: Mapping[str, Array]) -> float:
    """Read a temperature; refuse what is none."""
    temperature = np.asarray(arrays["temperature"])
    if temperature.shape != (1,) or not is_temperature(temperature[0]):
        raise StatisticsError(f"the temperature of a member is {temperature}; it is a number over 0")
    return float(temperature[0])
