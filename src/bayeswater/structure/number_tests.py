"""Tests of independence over a table of states and numbers, read off the moments of families.

"cor", "zf", "mi-g", "mi-g-sh" and "permutation-cor" are tests of numbers given numbers (`structure.independence`).
"mi-cg" and "lr-cg" compare log-likelihoods l of regressions (`structure.moment_scores`), and follow the chi-squared
distribution; z are k numbers and states of q configurations, and a number w of z is given the states and the later
numbers of z:

    two numbers             2 (l(x | y, z) - l(x | z)), q degrees of freedom; where nothing is given it is mi-g
    a number and states y   2 (l(x | y, z) - l(x | z)), (r_y - 1) q (k + 2)
    two variables of states g2 given the states of z, (r_x - 1)(r_y - 1) q, and for each number w
        "mi-cg"             2 (l(w | y) - l(w)), and in all (r_y - 1) q k (k + 3)/2 further where states are given
        "lr-cg"             2 (l(w | x, y) - l(w | y) - l(w | x) + l(w)), (r_x - 1)(r_y - 1) q k (k + 3)/2 further

"mi-cg" is R bnlearn's test of this name, to the letter: of two variables of states it asks, too, whether y tells of the
numbers, whatever x is, and the order of x and y shows. "lr-cg" asks whether x and y depend on each other, and is the
same for y and x. Where a likelihood is infinite, the tests say "independent".
"""

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Protocol

import numpy as np

from bayeswater.errors import ParameterError
from bayeswater.estimate.regression import regress
from bayeswater.records import record
from bayeswater.structure.independence import (
    TESTS_OF_NUMBERS,
    Departure,
    IndependenceTest,
    chi_squared_tail,
    correlation_departure,
    degrees_of_correlation,
    departure_of_correlation,
    shrunk_correlation,
)
from bayeswater.typing import Array

TESTS_OF_BOTH = ("lr-cg", "mi-cg")
MIXED_TESTS = (*TESTS_OF_NUMBERS, *TESTS_OF_BOTH)


class FamilyMoments(Protocol):
    """Rows of states and numbers that are summed when asked for."""

    codes: Array
    values: Array
    is_number: Array
    n_states: Array
    weight: Array | None
    n_rows: float

    def sums(self, discrete: tuple[int, ...]) -> tuple[Array, Array, Array]:
        """Rows, means and scatters of all numbers, for each configuration."""

    def log_likelihood(self, y: int, parents: Iterable[int]) -> float:
        """Log-likelihood of a variable given parents."""


@record
class MixedTest:
    """Tests on one table.

    Parameters
    ----------
    rows : the table
    kind : one of `MIXED_TESTS`
    seed : of orders of rows that are drawn, the same ones for the same question
    """

    rows: FamilyMoments
    kind: str
    seed: int = 0

    def __post_init__(self) -> None:
        if self.kind not in MIXED_TESTS:
            raise ParameterError(f"test is {self.kind!r}; with numbers it can be one of {', '.join(MIXED_TESTS)}")
        if self.kind not in TESTS_OF_BOTH and not self.rows.is_number.all():
            raise ParameterError(f"test {self.kind!r} is of numbers alone, and there are states, too; take 'lr-cg'")
        if self.kind in ("mi-g-sh", "permutation-cor") and self.rows.weight is not None:
            raise ParameterError(f"test {self.kind!r} takes no weights; take 'mi-g', or leave them out")

    @property
    def is_symmetric(self) -> bool:
        """Whether x and y may be exchanged."""
        return self.kind != "mi-cg"

    def p_value(self, x: int, y: int, given: Sequence[int] = ()) -> float:
        """Probability of rows that depart from independence as far as these or farther."""
        return self.departure(x, y, given).p_value

    def departure(self, x: int, y: int, given: Sequence[int] = ()) -> Departure:
        """Test two variables given others."""
        is_number = self.rows.is_number
        if is_number[[x, y, *given]].all() and not (self.kind in TESTS_OF_BOTH and len(given)):
            return self._of_numbers(x, y, given)
        if not is_number[[x, y]].any():
            return self._of_states(x, y, given)
        if not is_number[x] or (is_number[y] and y < x):
            x, y = y, x
        return self._of_likelihoods(x, y, given)

    def rows_for_a_cell(self, x: int, y: int, given: Sequence[int] = ()) -> float:
        """Say that numbers have no cells."""
        return np.inf

    def _of_numbers(self, x: int, y: int, given: Sequence[int]) -> Departure:
        kind = "mi-g" if self.kind in TESTS_OF_BOTH else self.kind
        degrees = degrees_of_correlation(kind, self.rows.n_rows, len(given))
        if degrees < 1:
            return Departure(0.0, 0.0, 1.0)
        if kind == "permutation-cor":
            of_x, of_y, others = self.rows.values[x], self.rows.values[y], self.rows.values[list(given)].T
            return correlation_departure(kind, of_x, of_y, others, seed=(self.seed, x, y, *given))
        if kind == "mi-g-sh":
            r = shrunk_correlation(self.rows.values[[x, y, *given]].T)
        else:
            r = self._partial_correlation(x, y, given)
        return departure_of_correlation(kind, r, self.rows.n_rows, degrees)

    def _partial_correlation(self, x: int, y: int, given: Sequence[int]) -> float:
        """The slope of one on the other, on the scale of what is left of both given the rest."""
        n, mean, scatter = self.rows.sums(())
        place = self._column_of

        def left(columns: Sequence[int]) -> tuple[float, float]:
            own = [place[v] for v in columns]
            found = regress(n, mean[:, own], scatter[:, own][:, :, own])
            return float(found.left[0]), float(found.slopes[0, -1]) if len(own) > 1 else 0.0

        of_x, of_y = left([*given, x])[0], left([*given, y])[0]
        if of_x == 0 or of_y == 0:
            return 0.0
        slope = left([*given, x, y])[1]
        return float(np.clip(slope * np.sqrt(of_x / of_y), -1.0, 1.0))

    @cached_property
    def _column_of(self) -> dict[int, int]:
        return {int(v): j for j, v in enumerate(np.flatnonzero(self.rows.is_number))}

    def _of_likelihoods(self, x: int, y: int, given: Sequence[int]) -> Departure:
        """Test a number x with y, which is a number or has states, given others."""
        rows = self.rows
        statistic = self._gain(x, [y], given)
        numbers = int(rows.is_number[list(given)].sum())
        q = float(np.prod(rows.n_states[list(given)], dtype=np.float64))
        degrees = q if rows.is_number[y] else (int(rows.n_states[y]) - 1) * q * (numbers + 2)
        return _departure(statistic, degrees)

    def _of_states(self, x: int, y: int, given: Sequence[int]) -> Departure:
        rows = self.rows
        discrete = [v for v in given if not rows.is_number[v]]
        numbers = [v for v in given if rows.is_number[v]]
        plain = self._of_counts.departure(x, y, discrete)
        if not numbers or not plain.degrees_of_freedom:
            return plain
        before = [[*discrete, *numbers[j + 1 :]] for j in range(len(numbers))]
        alone, further = ([y], []) if self.kind == "mi-cg" else ([x], [y])
        told = [self._gain(v, alone, [*own, *further]) for v, own in zip(numbers, before, strict=True)]
        degrees = plain.degrees_of_freedom * (len(numbers) * (len(numbers) + 3) / 2)
        if self.kind == "mi-cg":
            degrees = degrees / (int(rows.n_states[x]) - 1) if discrete else 0.0
        else:
            told += [-self._gain(v, [x], own) for v, own in zip(numbers, before, strict=True)]
        return _departure(plain.statistic + sum(told), plain.degrees_of_freedom + degrees)

    def _gain(self, x: int, more: Sequence[int], given: Sequence[int]) -> float:
        """Twice what further parents add to the log-likelihood; 0 where one is infinite."""
        with_more = self.rows.log_likelihood(x, [*given, *more])
        without = self.rows.log_likelihood(x, given)
        return 2.0 * (with_more - without) if np.isfinite(with_more) and np.isfinite(without) else 0.0

    @cached_property
    def _of_counts(self) -> IndependenceTest:
        return IndependenceTest(self.rows.codes, self.rows.n_states, "g2", self.rows.weight)


def _departure(statistic: float, degrees: float) -> Departure:
    # Variances are of rows less parameters, and a number given states in part is a mixture that is taken for normal: so
    # a statistic may fall below 0, as bnlearn's does.
    return Departure(statistic, degrees, chi_squared_tail(degrees, max(0.0, statistic)))
