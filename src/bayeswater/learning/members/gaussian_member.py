"""`GaussianMember`: one normal density for each class over all numbers, times naive Bayes on the categories.

    covariance_k = (S_k + q S) / (n_k + q n),  drawn by a thousandth to a sphere

S_k is the scatter of class k and S the sum of all of them: each class is lent q of the shape of all, as if it were seen
in g d rows more, for d columns. Of four values of g the one of least log-loss is taken, each with its temperature, by
exact leave-one-out. Numbers are measured in the units they were brought to (`StandardNumbers`), whatever rows come or
go, so leaving a row out changes sums alone. Categories have P(state | class) by the m-estimate of one row. Nothing else
is learned from the classes but sums, so every row may validate.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cached_property
from operator import add, sub
from typing import Any, ClassVar, Self

import numpy as np

from bayeswater.errors import DataError, StatisticsError
from bayeswater.estimate.covariance import CovarianceReading
from bayeswater.estimate.covariance_priors import Friedman
from bayeswater.estimate.densities import Densities, read_densities
from bayeswater.estimate.dirichlet import Prior
from bayeswater.estimate.yardstick import Yardstick, directions
from bayeswater.families.states import StateBlock
from bayeswater.inference.class_trees import KeptFields
from bayeswater.inference.gaussian_full import FullJoint
from bayeswater.inference.gaussian_without import likelihood_without
from bayeswater.inference.log_space import fall_back, log_posterior
from bayeswater.inference.scoring import score_blocks
from bayeswater.kernels.compiling import worth_compiling
from bayeswater.kernels.threads import one_blas_thread
from bayeswater.learning.members.committee import (
    SMOOTHING,
    VALIDATION_ROWS,
    Committee,
    best_temperature,
    checked_temperature,
    log_loss,
    some_rows,
    tempered,
)
from bayeswater.learning.members.member_table import (
    EnsembleTable,
    StandardNumbers,
    StateColumns,
    counted_classes,
    declared_codes,
    labels_of,
    weight_of,
    without_numbers,
)
from bayeswater.records import record
from bayeswater.statistics.category_counts import CategoryCounts
from bayeswater.statistics.consistency import require_consistent
from bayeswater.statistics.moments import LostDigits
from bayeswater.statistics.scatter import LOST_SQUARES, Scatter, possible_scatter
from bayeswater.statistics.sums import ClassCounts, Sums
from bayeswater.typing import Array

LENT_ROWS = (0.3, 2.0, 20.0, 1e4)
"""Values of g: rows, for each column, of the shape of all classes that each class is lent."""

SPHERICAL = 0.001
"""How far covariances are drawn to a sphere: enough for an extent in every direction."""

VARIANCE_FLOOR = 1e-9
"""Variance, in the units of the numbers, below which classes that do not vary at all are lifted to it."""

ROUNDING = 1e-9
"""Share of a scatter below which it is rounding, when rows are taken away."""

NUMBER_ARRAYS = frozenset({"mean", "deviation", "median", "weight", "means", "scatter", "shared"})
"""Names of the arrays of a `NormalNumbers`."""


@record
class NormalNumbers(KeptFields):
    """Sums of the numbers, and how far the classes share a covariance: q / (1 + q)."""

    numbers: StandardNumbers
    sums: Sums[Scatter]
    shared: float = 0.0

    @classmethod
    def learn(cls, table: EnsembleTable) -> "NormalNumbers | None":
        """Sum all rows; None where no number varies."""
        numbers = StandardNumbers.learn(table)
        return cls(numbers, _scatter(numbers, table)) if len(numbers.kept) else None

    def lent(self, rows_per_column: float) -> "NormalNumbers":
        """Lend each class so many rows for each column, of the shape of all: q = rows_per_column d / n."""
        n, lent = float(self.sums.class_count.count.sum()), rows_per_column * len(self.numbers.kept)
        return replace(self, shared=lent / (n + lent))

    def counted(self, table: EnsembleTable) -> Sums[Scatter]:
        """Sum rows in the same way."""
        return _scatter(self.numbers, table)

    def without(self, part: Sums[Scatter]) -> Sums[Scatter]:
        """Take sums away.

        Where hardly any scatter of a class is left in a direction its digits are lost, which other models refuse. Here
        they do not count: numbers are within 8 deviations, so what is left is off by 1e-12 of a deviation or so, and a
        class is lent the scatter of all and a sphere.
        """
        try:
            return self.sums - part
        except LostDigits:
            return _roughly_without(self.sums, part)

    @cached_property
    def densities(self) -> Densities:
        """Densities of the classes."""
        d = len(self.numbers.kept)
        one = np.eye(d)
        units = Yardstick(np.ones(d), np.zeros(d), one, one, directions(one, only_columns=True), one)
        reading = CovarianceReading("full", shrinkage=Friedman(self.shared, SPHERICAL))
        return read_densities(self.sums.columns, self.sums.class_count.count, reading, VARIANCE_FLOOR, units)

    @cached_property
    def joint(self) -> FullJoint:
        """The densities, laid out for scoring."""
        return FullJoint(np.zeros(self.densities.n_classes), self.densities)

    def log_likelihood(self, table: EnsembleTable) -> Array:
        """Log-density of rows: (n_rows, n_classes)."""
        with one_blas_thread(self._n_products(table)):
            return self.joint.likelihood(self.numbers.read(table).values)

    def log_likelihood_without(self, table: EnsembleTable) -> Array:
        """Log-density of counted rows, one copy of each taken out of the sums."""
        rows = self.numbers.read(table)
        without = likelihood_without(self.sums, self.densities, rows, table.labels, table.removed, table.weights)
        with one_blas_thread(self._n_products(table)):
            return score_blocks(lambda part, use_loop: (without(part, use_loop), np.zeros(1)), rows, None)

    def _n_products(self, table: EnsembleTable) -> int:
        return len(table) * len(self.numbers.kept) ** 2 * table.n_classes

    def to_arrays(self) -> dict[str, Array]:
        """Give units and sums as arrays."""
        scatter = self.sums.columns
        own = {"weight": scatter.weight, "means": scatter.mean, "scatter": scatter.scatter}
        return {**self.numbers.to_arrays(), **own, "shared": np.array([self.shared])}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Array], n_numbers: int, class_count: ClassCounts) -> "NormalNumbers":
        """Read them back; refuse sums that no rows can have."""
        numbers, shared = StandardNumbers.from_arrays(arrays, n_numbers), float(arrays["shared"][0])
        own = (np.array(arrays[name]) for name in ("weight", "means", "scatter"))
        scatter = Scatter(class_count.classes, None, *own)
        sums = Sums(class_count, scatter)
        require_consistent(sums)
        if scatter.n_columns != len(numbers.kept) or scatter.is_pairwise or not 0 <= shared <= 1:
            raise StatisticsError("the scatter of a family 'gaussian' is not that of the numbers that vary")
        return cls(numbers, sums, shared)


@record
class NaiveStates(KeptFields):
    """Counts of the categories."""

    columns: StateColumns
    sums: Sums[CategoryCounts]

    @classmethod
    def learn(cls, table: EnsembleTable) -> "NaiveStates | None":
        """Count all rows; None where there are no categories."""
        if not table.states.shape[1]:
            return None
        columns = StateColumns((), table.n_states, np.asarray((table.states < 0).any(axis=0)))
        return cls(columns, _categories(columns, table))

    def counted(self, table: EnsembleTable) -> Sums[CategoryCounts]:
        """Count rows in the same way."""
        return _categories(self.columns, table)

    @cached_property
    def joint(self) -> StateBlock:
        """The probabilities, ready for scoring."""
        pseudo_count = np.repeat(SMOOTHING.of(self.columns.n_states), self.columns.n_states + 1)
        return StateBlock(self.sums.columns, pseudo_count[:, None])

    def log_likelihood(self, table: EnsembleTable) -> Array:
        """Log-probability of rows: (n_rows, n_classes)."""
        coded = self.columns.read(without_numbers(table))
        return self.joint.likelihood(coded.block(slice(0, len(table))), worth_compiling(coded.n_cells))

    def log_likelihood_without(self, table: EnsembleTable) -> Array:
        """Log-probability of counted rows, one copy of each taken out of the counts."""
        coded = self.columns.read(without_numbers(table))
        without = self.joint.without(coded, labels_of(table), table.removed)
        return without(slice(0, len(table)), worth_compiling(coded.n_cells))

    def to_arrays(self) -> dict[str, Array]:
        """Give the counts as arrays."""
        return {"missing_is_state": self.columns.missing_is_state.astype(np.uint8), "table": self.sums.columns.table}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Array], n_states: Array, class_count: ClassCounts) -> "NaiveStates":
        """Read them back; refuse counts that no rows can have."""
        no_cuts = {"cuts": np.zeros(0), "n_cuts": np.zeros(0, dtype=np.int64)}
        columns = StateColumns.from_arrays({**no_cuts, "missing_is_state": arrays["missing_is_state"]}, 0, n_states)
        sums = Sums(class_count, CategoryCounts(class_count.classes, columns.schema, np.array(arrays["table"])))
        require_consistent(sums)
        return cls(columns, sums)


def _scatter(numbers: StandardNumbers, table: EnsembleTable) -> Sums[Scatter]:
    labels, weight = labels_of(table), weight_of(table)
    scatter = Scatter.of(numbers.read(table), labels, weight, skip_missing=False)
    if scatter.is_too_narrow.any():
        raise DataError(f"the squares of numbers {LOST_SQUARES}")
    return Sums(ClassCounts.of(labels, weight), scatter)


def _categories(columns: StateColumns, table: EnsembleTable) -> Sums[CategoryCounts]:
    labels, weight = labels_of(table), weight_of(table)
    coded = columns.read(without_numbers(table))
    return Sums(ClassCounts.of(labels, weight), CategoryCounts.of(coded, labels, weight))


def _roughly_without(whole: Sums[Scatter], part: Sums[Scatter]) -> Sums[Scatter]:
    """Take sums away by the formula alone, and clear what is below zero by rounding."""
    count = whole.class_count - part.class_count
    n, taken = (sums.class_count.count[:, None].astype(np.float64) for sums in (whole, part))
    left = np.where(count.count > 0, count.count, 1.0)[:, None]
    mean = np.where(count.count[:, None] > 0, (n * whole.columns.means - taken * part.columns.means) / left, 0.0)
    apart = part.columns.means - mean
    share = np.where(n > 0, taken * count.count[:, None] / np.where(n > 0, n, 1.0), 0.0)
    moved = share[:, :, None] * apart[:, :, None] * apart[:, None]
    scatter = whole.columns.scatter - part.columns.scatter - moved
    size = np.diagonal(whole.columns.scatter, axis1=1, axis2=2)
    if (np.diagonal(scatter, axis1=1, axis2=2) < -ROUNDING * (size + n)).any():
        raise StatisticsError("cannot take away rows that were never counted: a class would have a negative scatter")
    diagonal = np.einsum("kii->ki", scatter)
    diagonal[diagonal < 0] = 0.0
    scatter[count.count <= 1] = 0.0
    weight = count.count[:, None, None]
    return Sums(count, replace(whole.columns, weight=weight, mean=mean[:, :, None], scatter=possible_scatter(scatter)))


@record
class GaussianMember(Committee):
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
        member = replace(self, class_counts=counted_classes(table), numbers=numbers, states=states, temperature=1.0)
        validation = table.take(some_rows(table.hashes, VALIDATION_ROWS))
        shapes = [None] if numbers is None else [numbers.lent(g) for g in LENT_ROWS]
        best: tuple[float, Self] | None = None
        for shape in shapes:
            own = replace(member, numbers=shape)
            found = own.honest_log_posterior(validation)[0]
            temperature = best_temperature(found, validation, own.class_count)
            loss = log_loss(tempered(found, temperature), validation, own.class_count)
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
        return replace(
            self, class_counts=move(self.class_counts, counted_classes(table)), numbers=numbers, states=states
        )

    def log_posterior(self, table: EnsembleTable) -> Array:
        """Log posterior of rows: (n_rows, n_classes)."""
        prior = Prior.of(self.class_count, SMOOTHING).log
        joint = np.tile(prior, (len(table), 1))
        for part in self.parts:  # there is none where no column varies
            joint += part.log_likelihood(table)
        fall_back(joint, prior)
        return tempered(log_posterior(joint), self.temperature)

    def honest_log_posterior(self, table: EnsembleTable) -> tuple[Array, Array]:
        """Log posterior of counted rows, one copy of each taken out of the sums; one member validates every row."""
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
