"""`GaussianMember`: one normal density for each class over all numbers, times naive Bayes on the categories.

Each class is lent the shape of all, as if it were seen in g d rows more, for d columns (`gaussian_parts.py`). Of four
values of g the one of least log-loss is taken, each with its temperature, by exact leave-one-out. Nothing else is
learned from the classes but sums, so every row may judge.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from operator import add, sub
from typing import Any, ClassVar, Self

import numpy as np

from bayeswater.data.weights import checked_weight
from bayeswater.errors import StatisticsError
from bayeswater.inference.log_space import fall_back, log_posterior
from bayeswater.inference.prior import Prior
from bayeswater.models.ensemble.family import Family
from bayeswater.models.ensemble.gaussian_parts import NUMBER_ARRAYS, SMOOTHING, NaiveStates, NormalNumbers
from bayeswater.models.ensemble.labelled_table import EnsembleTable
from bayeswater.models.ensemble.pooling import (
    JUDGES,
    best_temperature,
    checked_temperature,
    log_loss,
    some_rows,
    tempered,
)
from bayeswater.models.ensemble.state_columns import declared_codes, labels_of
from bayeswater.statistics.scatter import Scatter
from bayeswater.statistics.sums import ClassCounts, Sums
from bayeswater.typing import Array

LENT_ROWS = (0.3, 2.0, 20.0, 1e4)
"""Values of g: rows, for each column, of the shape of all classes that each class is lent."""


@dataclass(frozen=True)
class GaussianMember(Family):
    """Sums of numbers and of categories, as far as there are any, and a temperature."""

    kind: ClassVar[str] = "gaussian"

    n_members: int = 1
    class_counts: ClassCounts | None = None
    numbers: NormalNumbers | None = None
    states: NaiveStates | None = None
    temperature: float = 1.0

    def learn(self, table: EnsembleTable, seed: int) -> Self:
        """Sum all rows, and choose g and the temperature by leave-one-out."""
        numbers, states = NormalNumbers.learn(table), NaiveStates.learn(table)
        member = replace(self, class_counts=_counted(table), numbers=numbers, states=states, temperature=1.0)
        judges = table.take(some_rows(table.hashes, JUDGES))
        shapes = [None] if numbers is None else [numbers.lent(g) for g in LENT_ROWS]
        best: tuple[float, Self] | None = None
        for shape in shapes:
            own = replace(member, numbers=shape)
            found = own.honest_log_posterior(judges)[0]
            temperature = best_temperature(found, judges, own.class_count)
            loss = log_loss(tempered(found, temperature), judges, own.class_count)
            if best is None or loss < best[0]:
                best = loss, replace(own, temperature=temperature)
        assert best is not None
        return best[1]

    @property
    def parts(self) -> tuple[NormalNumbers | NaiveStates, ...]:
        """The parts that there are."""
        return tuple(part for part in (self.numbers, self.states) if part is not None)

    @property
    def class_count(self) -> Array:
        """Weight of each class: (n_classes,)."""
        assert self.class_counts is not None  # rows were learned
        return self.class_counts.count

    def counting(self, table: EnsembleTable) -> Self:
        """Sum other rows, with what was chosen as it is."""
        return self._moved(table, lambda mine, theirs: theirs, lambda part, theirs: theirs)

    def plus(self, table: EnsembleTable) -> Self:
        """Sum further rows."""
        return self._moved(table, add, lambda part, theirs: part.sums + theirs)

    def minus(self, table: EnsembleTable) -> Self:
        """Take rows out of the sums."""
        return self._moved(table, sub, NormalNumbers.without)

    def _moved(
        self,
        table: EnsembleTable,
        move: Callable[[Any, Any], Any],
        move_numbers: Callable[[NormalNumbers, Sums[Scatter]], Sums[Scatter]],
    ) -> Self:
        numbers, states = self.numbers, self.states
        if numbers is not None:
            numbers = replace(numbers, sums=move_numbers(numbers, numbers.counted(table)))
        if states is not None:
            states = replace(states, sums=move(states.sums, states.counted(table)))
        return replace(self, class_counts=move(self.class_counts, _counted(table)), numbers=numbers, states=states)

    def log_posterior(self, table: EnsembleTable) -> Array:
        """Log posterior of rows: (n_rows, n_classes)."""
        prior = Prior.of(self.class_count, SMOOTHING).log
        joint = np.tile(prior, (len(table), 1))
        for part in self.parts:  # there is none where no column varies
            joint += part.log_likelihood(table)
        fall_back(joint, prior)
        return tempered(log_posterior(joint), self.temperature)

    def honest_log_posterior(self, table: EnsembleTable) -> tuple[Array, Array]:
        """Log posterior of counted rows, one copy of each taken out of the sums; one member judges every row."""
        prior = Prior.of(self.class_count, SMOOTHING).without(table.labels, table.removed)
        joint = prior + sum(part.log_likelihood_without(table) for part in self.parts)
        fall_back(joint, prior)
        return tempered(log_posterior(joint), self.temperature), np.ones(len(table), dtype=np.int64)

    def to_arrays(self) -> dict[str, Array]:
        """Give sums and choices as arrays."""
        own = {"class_count": self.class_count, "temperature": np.array([self.temperature])}
        numbers = {} if self.numbers is None else self.numbers.to_arrays()
        return {**own, **numbers, **({} if self.states is None else self.states.to_arrays())}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Array], n_numbers: int, n_states: Array, n_classes: int) -> Self:
        """Make the member of arrays that may come from anywhere."""
        try:
            counts = ClassCounts(declared_codes("class", n_classes), np.array(arrays["class_count"]))
            has_numbers = not NUMBER_ARRAYS.isdisjoint(arrays)
            numbers = NormalNumbers.from_arrays(arrays, n_numbers, counts) if has_numbers else None
            states = NaiveStates.from_arrays(arrays, n_states, counts) if len(n_states) else None
            temperature = checked_temperature(arrays)
        except (KeyError, IndexError, ValueError, TypeError, OverflowError) as error:
            raise StatisticsError(f"the arrays of a family {cls.kind!r} are not complete: {error}") from None
        if counts.count.shape != (n_classes,) or not np.isfinite(counts.count).all() or (counts.count < 0).any():
            raise StatisticsError(f"the class counts of a family {cls.kind!r} are not those of {n_classes} classes")
        return cls(1, counts, numbers, states, temperature)


def _counted(table: EnsembleTable) -> ClassCounts:
    return ClassCounts.of(labels_of(table), checked_weight(table.weight, len(table)))
