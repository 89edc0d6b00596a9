"""How the cuts of a column are found: by a method that is named, from the rows given and no others.

Each column is looked at on its own, so columns go to our threads. Missing cells and rows of weight zero are taken out
first; a column of which nothing is left, or only one value, has no cut.

Bins of equal width reach from the least to the largest value of a column. With rounding, numbers that round to the same
are in one interval. Rounding is NumPy's, half to even: 0.5 becomes 0 and 1.5 becomes 2. A cut is the largest float that
still rounds down, so that the intervals are those of rounding to the last digit. A number that rounds to what was never
seen goes to the nearest that was.
"""

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from bayeswater.data.matrix import DenseMatrix, DenseTable
from bayeswater.data.reading.discretising.mdl import mdl_cuts
from bayeswater.data.reading.discretising.value_cells import (
    ValueCells,
    equal_frequency_cuts,
    fixed_frequency_cuts,
    half_way,
    proportional_cuts,
)
from bayeswater.errors import DataError, ParameterError
from bayeswater.kernels.threads import ordered_map
from bayeswater.limits import require_table_bytes
from bayeswater.records import record
from bayeswater.typing import Array, is_number


def equal_width_cuts(values: Array, n_bins: int) -> Array:
    """Cut a column of `n_bins` bins; fewer where no float is between two cuts, none where all values are equal.

    >>> equal_width_cuts(np.array([0.0, 1.0, 10.0]), 4)
    array([2.5, 5. , 7.5])
    """
    require_table_bytes(8 * n_bins, f"the cuts of {n_bins} bins of equal width", "take a smaller n_bins")
    low, high = float(values.min()), float(values.max())
    half_width = (high / 2 - low / 2) / n_bins  # by halves, since the distance of large numbers might overflow
    cuts = np.unique(2 * (low / 2 + np.arange(1, n_bins) * half_width))
    return cuts[(low <= cuts) & (cuts < high)]


MOST_DECIMALS = 300
"""Digits after the point, or before it, to which values are rounded: beyond, a unit of the last digit is no float."""

FLOATS = np.finfo(np.float64)


def rounding_cuts(values: Array, decimals: int) -> Array:
    """Cut a column between the rounded values that it has.

    >>> rounding_cuts(np.array([0.1, 0.9, 2.2]), 0)
    array([0.5, 1.5])
    """
    rounded = np.unique(_rounded(values, decimals))
    return _last_rounding_to(half_way(rounded[:-1], rounded[1:]), decimals)


def _rounded(values: Array, decimals: int) -> Array:
    """Round; a number so large that it has no such digits, and overflows on the way to them, stays as it is."""
    with np.errstate(over="ignore", invalid="ignore"):
        rounded = np.round(values, decimals)
    return np.where(np.isfinite(rounded), rounded, values)


def _last_rounding_to(limit: Array, decimals: int) -> Array:
    """Largest floats whose rounded value is no more than a limit.

    Rounding never decreases, so halving the floats between what rounds down and what rounds up finds them.
    """
    step = np.maximum(10.0**-decimals, np.abs(limit) * FLOATS.eps)  # large floats are further apart than a digit
    with np.errstate(over="ignore"):
        low, high = np.clip([limit - step, limit + step], FLOATS.min, FLOATS.max)  # round down to it, and above it
    while True:
        middle = low / 2 + high / 2
        is_between = (low < middle) & (middle < high)
        if not is_between.any():
            return low
        is_down = _rounded(middle, decimals) <= limit
        low = np.where(is_between & is_down, middle, low)
        high = np.where(is_between & ~is_down, middle, high)


FALLBACK_BINS = 5
"""Bins of equal frequency of a column in which MDL finds no cut: few rows and many classes can be the reason, and the
column may tell the classes apart together with others."""

ENOUGH_ROWS = 30
"""Rows of a bin from which on its counts are taken to be reliable."""


@record
class Method:
    """How columns are cut.

    Parameters
    ----------
    method : "mdl", "equal_frequency", "equal_width", "rounding", "pkid" or "fixed_frequency"
    n_bins : number of bins of equal frequency or equal width
    fallback : bins of equal frequency where MDL finds no cut; None for none
    weka_exact : whether MDL breaks ties as Weka does
    decimals : digits after the point to which values are rounded; may be negative
    min_rows : rows that every bin of fixed frequency has at least
    """

    method: str = "mdl"
    n_bins: int = 5
    fallback: int | None = FALLBACK_BINS
    weka_exact: bool = False
    decimals: int = 0
    min_rows: float = ENOUGH_ROWS

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            raise ParameterError(f"method is {self.method!r}; it must be one of {[*METHODS]}")
        for name, least in (("n_bins", 1), ("fallback", 1), ("decimals", None)):
            value = getattr(self, name)
            if not (is_whole(value, least) or (name == "fallback" and value is None)):
                what = "a whole number" if least is None else f"a whole number, {least} or more"
                raise ParameterError(f"{name} is {value!r}; give {what}")
        if not -MOST_DECIMALS <= self.decimals <= MOST_DECIMALS:
            raise ParameterError(
                f"decimals is {self.decimals}; give a whole number, -{MOST_DECIMALS} to {MOST_DECIMALS}"
            )
        if not (is_number(self.min_rows) and self.min_rows > 0):
            raise ParameterError(f"min_rows is {self.min_rows!r}; give a number of rows over 0")
        if not isinstance(self.weka_exact, bool | np.bool_):
            raise ParameterError(f"weka_exact is {self.weka_exact!r}; it must be True or False")

    @property
    def needs_labels(self) -> bool:
        """Whether the classes decide where the cuts are."""
        return self.method not in BY_NUMBERS

    def found(self, values: Array, labels: Array | None, n_classes: int, weight: Array | None) -> "FoundCuts":
        """Cut one column (n_rows,); weights are as `checked_weight` gives them."""
        if self.needs_labels and labels is None:
            raise DataError(f"method {self.method!r} needs the classes of the rows; give y, or take another method")
        if weight is not None and not weight.all():
            kept = weight > 0
            values, weight = values[kept], weight[kept]
            labels = None if labels is None else labels[kept]
        return self.found_in(NumberColumn(values, labels, n_classes, weight))

    def found_in(self, column: "Numbers") -> "FoundCuts":
        """Cut one column of rows that all have a weight."""
        if self.method in BY_NUMBERS:
            return FoundCuts(BY_NUMBERS[self.method](self, column), self.method)
        return cuts_by_class(column.sorted_by_class, self.fallback, weka_exact=self.weka_exact)


@record
class FoundCuts:
    """Cuts of a column in rising order, and the method that found them: not always the one that was asked.

    >>> print(
    ...     FoundCuts(np.array([1.5, 3.0]), "mdl"),
    ...     FoundCuts(np.zeros(0), "equal_frequency", instead_of="mdl"),
    ...     sep="; ",
    ... )
    3 bins by mdl; 1 bin by equal_frequency, since mdl finds no cut
    """

    cuts: Array
    method: str
    instead_of: str | None = None

    def __str__(self) -> str:
        bins = f"{len(self.cuts) + 1} bin{'s' * (len(self.cuts) > 0)} by {self.method}"
        return bins if self.instead_of is None else f"{bins}, since {self.instead_of} finds no cut"


class Numbers(Protocol):
    """What methods ask of a column of numbers."""

    @property
    def present(self) -> Array:
        """The values that are not missing, as float64."""

    @property
    def sorted(self) -> ValueCells:
        """The values in rising order, all classes alike."""

    @property
    def sorted_by_class(self) -> ValueCells:
        """The values in rising order, and the classes of each."""


@record
class NumberColumn:
    """Numbers of any kind, NaN where they are missing, their classes and weights: (n_rows,) each."""

    values: Array
    labels: Array | None
    n_classes: int
    weight: Array | None

    @property
    def present(self) -> Array:
        """The values that are not missing, as float64."""
        values = self.values[~np.isnan(self.values)] if self.values.dtype.kind == "f" else self.values
        return values.astype(np.float64, copy=False)

    @property
    def sorted(self) -> ValueCells:
        """The values in rising order, all classes alike."""
        return ValueCells.of(self.values, None, 1, self.weight)

    @property
    def sorted_by_class(self) -> ValueCells:
        """The values in rising order, and the classes of each."""
        return ValueCells.of(self.values, self.labels, self.n_classes, self.weight)


def cuts_by_class(cells: ValueCells, fallback: int | None = FALLBACK_BINS, *, weka_exact: bool = False) -> FoundCuts:
    """Cut where that tells the classes apart or, where nothing does, into `fallback` bins of about equal weight."""
    cuts = mdl_cuts(cells, weka_exact=weka_exact)
    if len(cuts) or fallback is None:
        return FoundCuts(cuts, "mdl")
    return FoundCuts(equal_frequency_cuts(cells, fallback), "equal_frequency", instead_of="mdl")


def _on_present(cut: Callable[[Array, int], Array], values: Array, setting: int) -> Array:
    return cut(values, setting) if len(values) else np.zeros(0)


BY_NUMBERS: dict[str, Callable[[Method, Numbers], Array]] = {
    "equal_frequency": lambda method, column: equal_frequency_cuts(column.sorted, method.n_bins),
    "equal_width": lambda method, column: _on_present(equal_width_cuts, column.present, method.n_bins),
    "rounding": lambda method, column: _on_present(rounding_cuts, column.present, method.decimals),
    "pkid": lambda _, column: proportional_cuts(column.sorted),
    "fixed_frequency": lambda method, column: fixed_frequency_cuts(column.sorted, method.min_rows),
}
"""How each method cuts that does not ask for classes."""

METHODS = ("mdl", *BY_NUMBERS)
"""Names of all methods."""


def find_table_cuts(
    table: DenseTable, labels: Array | None, n_classes: int, weight: Array | None, method: Method
) -> tuple[Array, ...]:
    """Cut every column of a table, on our threads; weights are as `checked_weight` gives them."""
    n_columns = table.shape[1]

    def cut(j: int) -> Array:
        return method.found(column_of(table, j), labels, n_classes, weight).cuts

    return tuple(ordered_map(cut, range(n_columns)))


def column_of(table: DenseTable, j: int) -> Array:
    """One column of a table (n_rows,), without a copy."""
    return table.values[:, j] if isinstance(table, DenseMatrix) else table.columns[j]


def is_whole(value: Any, least: int | None) -> bool:
    """Whether a value is a whole number, and no less than the least."""
    is_integer = isinstance(value, int | np.integer) and not isinstance(value, bool)
    return is_integer and (least is None or value >= least)
