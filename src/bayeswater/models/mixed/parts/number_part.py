"""Columns of numbers: normal and log-normal densities, Poisson counts, and numbers that have no family yet."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from bayeswater.data.column_plan import Column
from bayeswater.data.labels import Labels
from bayeswater.data.matrix import ColumnPieces
from bayeswater.data.missing import require_no_missing
from bayeswater.data.number_table import NumberTable
from bayeswater.data.raw_table import RawTable
from bayeswater.data.weights import EXACT
from bayeswater.errors import DataError, ParameterError, UnseenCategoryWarning, warn_user
from bayeswater.estimate.gaussian import NormalInverseGamma, require_finite_moments, require_near_priors
from bayeswater.estimate.poisson import JEFFREYS
from bayeswater.inference.drawing import draw_poisson
from bayeswater.inference.mixed import ColumnTerms
from bayeswater.inference.normal_columns import NormalColumns
from bayeswater.inference.poisson_columns import PoissonColumns
from bayeswater.kernels.threads import ordered_map
from bayeswater.models.columns.settings import Settings
from bayeswater.models.mixed.parts.part import Part
from bayeswater.statistics.count_totals import CountTotals
from bayeswater.statistics.moments import Moments
from bayeswater.statistics.number_profile import NumberProfile
from bayeswater.typing import Array

LARGEST_LOG = float(np.log(np.finfo(np.float64).max))
"""Logarithm of the largest number there is."""


class NumberPart(Part):
    """What all columns of numbers share: how they are read."""

    def numbers(self, raw: RawTable, settings: Settings) -> tuple[Array, ...]:
        """The columns as arrays, NaN where a cell is missing."""
        columns = tuple(raw.numbers(name) for name in self.names)
        if settings.missing == "error":
            for name, column in zip(self.names, columns, strict=True):
                if column.dtype.kind == "f":
                    require_no_missing(np.isnan(column), name)
        return columns


class UndecidedPart(NumberPart):
    """Numbers of which all sums are kept that a choice of the family needs."""

    def encode(self, raw: RawTable, known: Any, settings: Settings, *, learning: bool) -> ColumnPieces:
        """Read the numbers as they are."""
        if settings.missing == "error":
            return ColumnPieces(tuple((column,) for column in self.numbers(raw, settings)), self.names)
        return ColumnPieces(tuple(ordered_map(raw.number_pieces, self.names)), self.names)

    def count(self, table: ColumnPieces, labels: Labels, weight: Array | None, settings: Settings) -> NumberProfile:
        """Sum what the choice needs."""
        return NumberProfile.of(table, labels, weight)

    def read(self, sums: Any, settings: Settings) -> ColumnTerms:
        """Refuse: there is no family yet."""
        raise AssertionError("the family of these columns has not been chosen")

    tables = sample = read  # type: ignore[assignment]

    def n_parameters(self, sums: Any) -> int:
        """Refuse: there is no family yet."""
        raise AssertionError("the family of these columns has not been chosen")


class NormalPart(NumberPart):
    """Normal densities of numbers or, where they are log-normal, of their logarithms."""

    @property
    def is_log(self) -> tuple[bool, ...]:
        """Which columns are read by their logarithm."""
        return tuple(column.family == "lognormal" for column in self.columns)

    def encode(self, raw: RawTable, known: Moments | None, settings: Settings, *, learning: bool) -> NumberTable:
        """Read the numbers; what has no logarithm is refused in learning, and left out in predicting."""
        columns = self.numbers(raw, settings)
        for column, values in zip(self.columns, columns, strict=True):
            if column.family == "lognormal":
                _report_impossible(column, values, values <= 0, settings, learning)
        return NumberTable(columns, self.names, self.is_log)

    def count(self, table: NumberTable, labels: Labels, weight: Array | None, settings: Settings) -> Moments:
        """Sum first and second moments."""
        return Moments.of_numbers(table, labels, weight, self.is_log)

    def read(self, sums: Moments, settings: Settings) -> NormalColumns:
        """Read the densities."""
        priors = {
            j: prior for j, column in enumerate(self.columns) if (prior := _normal_prior(column, settings)) is not None
        }
        require_finite_moments(sums, priors=priors)
        require_near_priors(sums, priors)
        return NormalColumns(sums, settings.variance_floor, priors, np.array(self.is_log))

    def tables(self, sums: Moments, settings: Settings, classes: Sequence[Any]) -> dict[str, dict[str, Any]]:
        """Give mean and standard deviation in each class, of the logarithm where a column is log-normal."""
        p = self.read(sums, settings).parameters
        result = {}
        for j, column in enumerate(self.columns):
            what = f"log {column.name}" if column.family == "lognormal" else column.name
            result[column.name] = {
                "class": list(classes),
                f"mean({what})": p.mean[:, j],
                f"std({what})": np.sqrt(p.variance[:, j]),
            }
        return result

    def n_parameters(self, sums: Moments) -> int:
        """A mean and a variance for each class and column."""
        return 2 * sums.n_classes * len(self.columns)

    def sample(self, sums: Moments, settings: Settings, codes: Array, rng: np.random.Generator) -> dict[str, Any]:
        """Draw from the densities."""
        p = self.read(sums, settings).parameters
        noise = rng.standard_normal((len(codes), len(self.columns)))
        degrees = p.degrees[codes]
        student = np.isfinite(degrees)
        if student.any():
            noise[student] = rng.standard_t(degrees[student])
        values = p.mean[codes] + np.sqrt(p.variance[codes]) * noise
        values[:, self.is_log] = np.exp(np.minimum(values[:, self.is_log], LARGEST_LOG))
        return dict(zip(self.names, values.T, strict=True))


class PoissonPart(NumberPart):
    """Counts that follow Poisson's law."""

    def encode(self, raw: RawTable, known: Any, settings: Settings, *, learning: bool) -> NumberTable:
        """Read the counts; what is none, negative or a fraction, is refused in learning, and left out in predicting."""
        columns = []
        for column, values in zip(self.columns, self.numbers(raw, settings), strict=True):
            wrong = (values < 0) | (values >= EXACT) | (values != np.floor(values)) & ~np.isnan(values)
            if _report_impossible(column, values, wrong, settings, learning):
                values = np.where(wrong, np.nan, values)
            columns.append(values)
        return NumberTable(tuple(columns), self.names, (False,) * len(columns))

    def count(self, table: NumberTable, labels: Labels, weight: Array | None, settings: Settings) -> CountTotals:
        """Sum weights and counts."""
        return CountTotals.of(table, labels, weight)

    def read(self, sums: CountTotals, settings: Settings) -> PoissonColumns:
        """Read the rates."""
        for column in self.columns:
            if settings.of(column).prior is not None:
                raise ParameterError(
                    f"the prior of column {column.name!r} is {settings.of(column).prior!r}, but a poisson column takes "
                    "none; give alpha, the pseudo-count of its rate"
                )
        alphas = [settings.alpha_of(column) for column in self.columns]
        return PoissonColumns(sums, np.array([JEFFREYS if alpha == "auto" else float(alpha) for alpha in alphas]))

    def tables(self, sums: CountTotals, settings: Settings, classes: Sequence[Any]) -> dict[str, dict[str, Any]]:
        """Give the rate in each class."""
        rate = self.read(sums, settings).rate
        return {
            column.name: {"class": list(classes), f"rate({column.name})": rate[:, j]}
            for j, column in enumerate(self.columns)
        }

    def n_parameters(self, sums: CountTotals) -> int:
        """A rate for each class and column."""
        return sums.n_classes * len(self.columns)

    def sample(self, sums: CountTotals, settings: Settings, codes: Array, rng: np.random.Generator) -> dict[str, Any]:
        """Draw counts."""
        rate = self.read(sums, settings).rate[codes]
        return dict(zip(self.names, draw_poisson(rate, rng).T, strict=True))


POSSIBLE = {"lognormal": "numbers over 0", "poisson": "counts, whole, from 0 on and below 2**53"}


def _report_impossible(column: Column, values: Array, wrong: Array, settings: Settings, learning: bool) -> bool:
    """Tell whether values are none that the family can have: in learning refuse them, in predicting warn."""
    if not wrong.any():
        return False
    row = int(wrong.argmax())
    what = f"column {column.name!r} is {column.family}, for {POSSIBLE[column.family]}, but row {row} has {values[row]}"
    if learning:
        raise DataError(f"{what}; correct it, or fit again with columns={{{column.name!r}: 'gaussian'}}")
    if settings.unseen == "error":
        raise DataError(f"{what}; correct it, or use unseen='ignore' to leave it out")
    warn_user(f"{what}: such cells are left out ({int(wrong.sum())} of {len(wrong)} rows)", UnseenCategoryWarning)
    return True


def _normal_prior(column: Column, settings: Settings) -> NormalInverseGamma | None:
    prior = settings.of(column).prior
    if prior is None or isinstance(prior, NormalInverseGamma):
        return prior
    raise ParameterError(
        f"the prior of column {column.name!r} is {prior!r}; of a {column.family} column it is a NormalInverseGamma"
    )
