"""What numbers say of the classes by normal densities, and categories by naive Bayes: two parts that multiply.

    covariance_k = (S_k + q S) / (n_k + q n),  drawn by a thousandth to a sphere

S_k is the scatter of class k and S the sum of all of them: each class is lent q of the shape of all. Numbers are
measured in the units they were brought to (`StandardNumbers`), whatever rows come or go, so leaving a row out changes
sums alone. Categories have P(state | class) by the m-estimate of one row.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from bayeswater.data.weights import checked_weight
from bayeswater.errors import StatisticsError
from bayeswater.estimate.covariance import Reading
from bayeswater.estimate.densities import Densities, read_densities
from bayeswater.estimate.pseudo_counts import PseudoCounts
from bayeswater.estimate.shrinkage import Friedman
from bayeswater.estimate.yardstick import Yardstick, directions
from bayeswater.families.states import StateBlock
from bayeswater.inference.gaussian_full import FullJoint
from bayeswater.inference.kept_fields import KeptFields
from bayeswater.inference.scoring import score_blocks
from bayeswater.kernels.compiling import worth_compiling
from bayeswater.kernels.threads import one_blas_thread
from bayeswater.models.ensemble.labelled_table import EnsembleTable
from bayeswater.models.ensemble.standard_numbers import StandardNumbers
from bayeswater.models.ensemble.state_columns import StateColumns, labels_of, without_numbers
from bayeswater.models.gaussian.learning import likelihood_without
from bayeswater.statistics.category_counts import CategoryCounts
from bayeswater.statistics.consistency import require_consistent
from bayeswater.statistics.moments import LostDigits
from bayeswater.statistics.scatter import Scatter, possible_scatter
from bayeswater.statistics.sums import ClassCounts, Sums
from bayeswater.typing import Array

SPHERICAL = 0.001
"""How far covariances are drawn to a sphere: enough for an extent in every direction."""

VARIANCE_FLOOR = 1e-9
"""Variance, in the units of the numbers, below which classes that do not vary at all are lifted to it."""

ROUNDING = 1e-9
"""Share of a scatter below which it is rounding, when rows are taken away."""

NUMBER_ARRAYS = frozenset({"mean", "deviation", "median", "weight", "means", "scatter", "shared"})
"""Names of the arrays of a `NormalNumbers`."""

SMOOTHING = PseudoCounts("m-estimate", 1.0)


@dataclass(frozen=True)
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
        reading = Reading("full", shrinkage=Friedman(self.shared, SPHERICAL))
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


@dataclass(frozen=True)
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
        return {
            "missing_is_state": self.columns.missing_is_state.astype(np.uint8),
            "table": self.sums.columns.table,
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Array], n_states: Array, class_count: ClassCounts) -> "NaiveStates":
        """Read them back; refuse counts that no rows can have."""
        no_cuts = {"cuts": np.zeros(0), "n_cuts": np.zeros(0, dtype=np.int64)}
        columns = StateColumns.from_arrays({**no_cuts, "missing_is_state": arrays["missing_is_state"]}, 0, n_states)
        sums = Sums(class_count, CategoryCounts(class_count.classes, columns.schema, np.array(arrays["table"])))
        require_consistent(sums)
        return cls(columns, sums)


def _scatter(numbers: StandardNumbers, table: EnsembleTable) -> Sums[Scatter]:
    labels, weight = labels_of(table), checked_weight(table.weight, len(table))
    return Sums(ClassCounts.of(labels, weight), Scatter.of(numbers.read(table), labels, weight, skip_missing=False))


def _categories(columns: StateColumns, table: EnsembleTable) -> Sums[CategoryCounts]:
    labels, weight = labels_of(table), checked_weight(table.weight, len(table))
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
