"""`independence_test`: whether two columns of a frame depend on each other, given others."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from bayeswater.data.frames import frame_names, numeric_column, read_frame, take_columns
from bayeswater.errors import DataError, ParameterError, nearest_names
from bayeswater.markup import html_table, paragraphs
from bayeswater.models.structures.mixed_learning import NumbersAndStates
from bayeswater.models.structures.state_table import StateTable, named_frame
from bayeswater.models.structures.structure_learning import checked_seed
from bayeswater.records import record
from bayeswater.structure.independence import (
    TESTS_OF_NUMBERS,
    TESTS_OF_STATES,
    Departure,
    IndependenceTest,
    correlation_departure,
    named_test,
)
from bayeswater.structure.moment_scores import MomentScore
from bayeswater.structure.number_tests import MIXED_TESTS, TESTS_OF_BOTH, MixedTest
from bayeswater.structure.separation import Independence
from bayeswater.typing import Array

HEADS = ("test", "statistic", "degrees of freedom", "p-value", "rows")


@record(repr=False)
class IndependenceResult:
    """What a test of independence says.

    Attributes
    ----------
    claim : that of the test: x is independent of y, given others
    test : its name
    statistic : how far the rows depart from the claim
    degrees_of_freedom : of the statistic; None for permutations
    p_value : probability of rows that depart as far or farther, if the claim is true
    n_rows : rows that have all cells of the columns named
    """

    claim: Independence
    test: str
    statistic: float
    degrees_of_freedom: float | None
    p_value: float
    n_rows: int

    def _cells(self) -> list[str]:
        degrees = "" if self.degrees_of_freedom is None else f"{self.degrees_of_freedom:g}"
        return [self.test, f"{self.statistic:.4f}", degrees, f"{self.p_value:.4g}", f"{self.n_rows:,}"]

    def __repr__(self) -> str:
        told = [f"{head} {cell}" for head, cell in zip(HEADS[1:], self._cells()[1:], strict=True) if cell]
        return f"{self.test} of {self.claim}: {', '.join(told)}"

    def _repr_html_(self) -> str:
        return paragraphs([str(self.claim)]) + html_table(HEADS, [self._cells()])


def independence_test(
    data: Any,
    x: str,
    y: str,
    given: str | Iterable[str] = (),
    test: str = "g2",
    *,
    n_permutations: int = 5000,
    seed: int = 0,
    discretize: str = "equal_frequency",
    columns: Mapping[Any, Any] | None = None,
) -> IndependenceResult:
    """Test whether two columns are independent, given others; rows that lack one of these cells are left out.

    Parameters
    ----------
    data : as in `learn_structure`
        The rows.
    x, y, given : str, str, iterable of str
        Names of columns.
    test : str, default "g2"
        Of states "g2", "chi2", "mi-sh", "mi-adf", "x2-adf", "permutation", "permutation-chi2", "sp-mi", "sp-x2" or, if
        they have an order, "jt" (bnlearn's names, as "mi" and "x2", are known, too); of numbers "cor", "zf", "mi-g",
        "mi-g-sh" or "permutation-cor"; of both bnlearn's "mi-cg", or "lr-cg", which is the same for x and y swapped.
        The page "Learning a structure" defines them.
    n_permutations, seed : int, int
        Number of tables, or of orders of rows, that are drawn by tests with permutations, and seed.
    discretize, columns : as in `learn_structure`
        How tests of states put numbers into bins.

    Returns
    -------
    IndependenceResult
        ``.statistic``, ``.degrees_of_freedom``, ``.p_value``; it can be printed.

    Raises
    ------
    ParameterError
        Where there is no such column or test.

    See Also
    --------
    learn_structure : Find the graph of the highest score.
    BayesianNetwork.is_d_separated : Say whether the graph makes two sets of nodes independent, given a third.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"rain": ["yes", "no", "no", "no"] * 9, "wet": ["yes", "no", "no", "yes"] * 9})
    >>> independence_test(frame, "rain", "wet")
    g2 of rain ⊥ wet: statistic 15.5348, degrees of freedom 1, p-value 8.1e-05, rows 36
    """
    test = named_test(test)
    if test not in (*TESTS_OF_STATES, *MIXED_TESTS):
        raise ParameterError(f"test is {test!r}; choose one of {', '.join((*TESTS_OF_STATES, *MIXED_TESTS))}")
    if not isinstance(n_permutations, int | np.integer) or isinstance(n_permutations, bool) or n_permutations < 1:
        raise ParameterError(f"n_permutations is {n_permutations!r}; give a whole number, 1 or more")
    checked_seed(seed)
    others = (given,) if isinstance(given, str) else tuple(given)
    names = [x, y, *others]
    frame = named_frame(data)
    known = frame_names(frame)
    for place, name in enumerate(names):
        if name not in known:
            raise ParameterError(f"there is no column {name!r} to test ({nearest_names(name, known)})")
        if name in names[:place]:
            raise ParameterError(f"column {name!r} is named twice; a test has x, y and others")
    frame = take_columns(frame, names)
    if test in TESTS_OF_NUMBERS:
        values = _numbers(frame, names, test)
        found = correlation_departure(test, values[0], values[1], values[2:].T, int(n_permutations), (seed,))
        n_rows = values.shape[1]
    elif test in TESTS_OF_BOTH:
        found, n_rows = _of_both(frame, names, test, discretize, columns)
    else:
        found, n_rows = _of_states(frame, names, test, int(n_permutations), seed, discretize, columns)
    return IndependenceResult(Independence((x,), (y,), others), test, *found, n_rows)


def _of_states(
    frame: Any,
    names: list[str],
    test: str,
    n_permutations: int,
    seed: int,
    discretize: str,
    columns: Mapping[Any, Any] | None,
) -> tuple[Departure, int]:
    told = {name: settings for name, settings in (columns or {}).items() if name in names}
    table = StateTable.of(frame, discretize, told or None, nodes=names)
    absent = next((name for name in names if name not in table.names), None)
    if absent is not None:
        raise DataError(f"column {absent!r} has no states to test; take a test of numbers, or say how to read it")
    places = [table.names.index(name) for name in names]
    codes, n_states = table.codes[places], table.n_states[places]
    codes = codes[:, (codes < n_states[:, None]).all(axis=0)]
    _require_rows(codes, names)
    tests = IndependenceTest(codes, n_states, test, n_permutations=n_permutations, seed=seed)
    return tests.departure(0, 1, range(2, len(names))), codes.shape[1]


def _of_both(
    frame: Any, names: list[str], test: str, discretize: str, columns: Mapping[Any, Any] | None
) -> tuple[Departure, int]:
    """Test states and numbers together, in the rows that have all cells."""
    import pyarrow.compute as pc

    rows = read_frame(frame).table
    there = np.ones(rows.num_rows, dtype=bool)
    for name in names:
        there &= ~pc.is_null(rows.column(name), nan_is_null=True).to_numpy()
    _require_rows(there[None, there], names)
    told = {name: settings for name, settings in (columns or {}).items() if name in names}
    table = NumbersAndStates.of(rows.filter(there), discretize, told)
    places = [table.names.index(name) for name in names]
    tests = MixedTest(table.scores(MomentScore("loglik")), test)
    return tests.departure(places[0], places[1], places[2:]), int(there.sum())


def _numbers(frame: Any, names: list[str], test: str) -> Array:
    """Columns (n_columns, n_rows) of the rows that have all cells."""
    read = read_frame(frame)
    way_out = f"{test!r} is a test of numbers: take one of {', '.join(TESTS_OF_STATES)}"
    values = np.array([numeric_column(read, name, way_out) for name in names], dtype=np.float64)
    if np.isinf(values).any():
        raise DataError(f"column {names[int(np.argmax(np.isinf(values).any(axis=1)))]!r} has an infinite cell")
    values = values[:, ~np.isnan(values).any(axis=0)]
    _require_rows(values, names)
    return values


def _require_rows(values: Array, names: list[str]) -> None:
    if not values.shape[1]:
        raise DataError(f"no row has a cell in each of the columns {', '.join(map(repr, names))}; name fewer of them")
