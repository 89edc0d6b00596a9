"""`Discretizer`: numbers into intervals, as a transformer of scikit-learn."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from bayeswater.data.frames import materialised
from bayeswater.data.labels import encode_labels
from bayeswater.data.matrix import DenseTable, column_name
from bayeswater.data.reading.discretising.cuts import Cuts
from bayeswater.data.reading.discretising.finding_cuts import (
    ENOUGH_ROWS,
    FALLBACK_BINS,
    METHODS,
    Method,
    column_of,
    find_table_cuts,
    is_whole,
)
from bayeswater.data.reading.discretising.hartemink import kept_cuts
from bayeswater.data.reading.matrix_reading import read_dense, require_values, require_width
from bayeswater.data.weights import CountedRows, inconsistent_lengths, n_rows_of
from bayeswater.errors import DataError, ParameterError, SchemaError
from bayeswater.kernels.threads import ordered_map
from bayeswater.typing import Array

ENCODINGS = ("ordinal", "interval")

HARTEMINK = "hartemink"
"""The method that looks at all columns together."""


class Discretizer(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Cut columns of numbers into intervals: where the classes differ, or by the numbers alone.

    Parameters
    ----------
    method : {"mdl", "equal_frequency", "equal_width", "rounding", "pkid", "fixed_frequency", "hartemink"}
        "mdl", the default, cuts where that shortens the description of the labels (Fayyad and Irani); it needs y. Then
        `n_bins` bins of about equal frequency, or of equal width. "rounding" joins what rounds to the same, half to
        even.
        "pkid" makes the root of n bins of about equal frequency, "fixed_frequency" bins of `min_rows` rows or more.
        "hartemink" looks at all columns together: of `initial_bins` bins of about equal frequency it joins neighbours
        until `n_bins` are left, so that columns tell as much of each other as they can.
    n_bins : int, default 5
        Bins of equal frequency or width. Of equal frequency there are fewer, where a column has not so many different
        values; of equal width they are as many, and some of them may hold none.
    fallback : int or None, default 5
        Bins of equal frequency for a column in which MDL finds no cut; None leaves it whole.
    weka_exact : bool, default False
        Whether MDL breaks ties as Weka's filter does: ``Discretizer(weka_exact=True, fallback=None)`` has its cuts, for
        rows of equal weight. Without it, the first of equally good cuts is taken.
    decimals : int, default 0
        Digits after the point to which values are rounded, -300 to 300; -2 rounds to hundreds.
    min_rows : float, default 30
        Rows that each bin of fixed frequency has at least.
    initial_bins : int, default 50
        Bins that "hartemink" begins with. With b of them in each of d columns it takes O(d^2 n + d^3 b^3) time.
    encode : {"ordinal", "interval"}, default "ordinal"
        Codes 0, 1, 2, ... as floats, or the intervals as text. What is missing stays so: NaN, or None.

    Attributes
    ----------
    cuts_ : tuple of Cuts, one for each column; it can be printed
    n_bins_ : array of shape (n_columns,)
        Number of intervals.
    n_features_in_, feature_names_in_ : columns, and their names where they had any

    See Also
    --------
    NaiveBayes : Naive Bayes of a mixed table.
    AODE : Averaged one-dependence estimators.

    Notes
    -----
    With n rows, d columns, K classes and b bins, `fit` sorts each column in O(n d log n) time; "mdl" adds O(n d K b).
    `transform` takes O(n d log b) time. Memory is O(n) for each thread.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from bayeswater import Discretizer
    >>> iris = load_iris()
    >>> discretizer = Discretizer().fit(iris.data, iris.target)
    >>> print(discretizer.cuts_[3])
    x3: (-inf, 0.8] (0.8, 1.75] (1.75, inf)
    >>> discretizer.transform([[5.0, 3.1, np.nan, 0.9]])
    array([[ 0.,  1., nan,  1.]])
    """

    def __init__(
        self,
        method: str = "mdl",
        *,
        n_bins: int = 5,
        fallback: int | None = FALLBACK_BINS,
        weka_exact: bool = False,
        decimals: int = 0,
        min_rows: float = ENOUGH_ROWS,
        initial_bins: int = 50,
        encode: str = "ordinal",
    ) -> None:
        self.method = method
        self.n_bins = n_bins
        self.fallback = fallback
        self.weka_exact = weka_exact
        self.decimals = decimals
        self.min_rows = min_rows
        self.initial_bins = initial_bins
        self.encode = encode

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Choose the cuts of every column.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_columns)
            Numbers; missing cells are left out, column by column.
        y : labels of any type, of shape (n_rows,)
            Needed by "mdl"; no other method looks at them.
        sample_weight : weights of shape (n_rows,), optional
            A row of weight w counts as w equal rows; one of weight 0 has no influence at all.

        Returns
        -------
        self
            The object itself, fitted.

        Raises
        ------
        ParameterError
            Where a parameter is out of its range.
        DataError
            Where "mdl" has no y, or a cell is no number.

        See Also
        --------
        transform : Give the interval of every cell.

        Examples
        --------
        >>> from bayeswater import Discretizer
        >>> print(Discretizer().fit([[1], [2], [8], [9]] * 5, ["low", "low", "high", "high"] * 5).cuts_[0])
        x0: (-inf, 5] (5, inf)
        """
        method = self._method()
        if method.needs_labels and y is None:
            raise DataError(
                "This Discretizer requires y to be passed, but the target y is None: method 'mdl' cuts where the "
                "classes differ; give y, or take another method, for example 'equal_frequency'"
            )
        X = materialised(X)
        y = y if method.needs_labels else np.zeros(n_rows_of(X), dtype=np.int64)  # all rows are of one class
        rows = CountedRows.of(X, y, sample_weight, "Discretizer")
        with rows.named():
            table = self._read(rows.X)
        if table.shape[0] != len(rows.y):
            raise inconsistent_lengths(table.shape[0], len(rows.y))
        labels = encode_labels(rows.y)
        found = find_table_cuts(table, labels.codes, labels.n_classes, rows.weight, method)
        if self.method == HARTEMINK:
            found = self._joined(table, found, rows.weight)
        validate_data(self, rows.X, reset=True, skip_check_array=True)
        self.n_features_in_ = table.shape[1]
        self.cuts_ = tuple(Cuts(column_name(table.names, j), tuple(cuts.tolist())) for j, cuts in enumerate(found))
        return self

    def transform(self, X: Any) -> Any:
        """Give the interval of every cell: (n_rows, n_columns).

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_columns)
            The columns of `fit`.

        Returns
        -------
        table of shape (n_rows, n_columns)
            In the form X was given.

        See Also
        --------
        fit : Choose the cuts of every column.

        Examples
        --------
        >>> from bayeswater import Discretizer
        >>> Discretizer("equal_width", n_bins=2, encode="interval").fit([[0], [10]]).transform([[3], [8]]).tolist()
        [['(-inf, 5]'], ['(5, inf)']]
        """
        check_is_fitted(self)
        self._method()
        X = materialised(X)
        table = self._read(X)
        try:
            validate_data(self, X, reset=False, skip_check_array=True)
        except ValueError as error:
            raise SchemaError(str(error)) from None
        require_width(table.shape[1], self.n_features_in_, "Discretizer")
        return _side_by_side(table, self.cuts_, as_text=self.encode == "interval")

    @property
    def n_bins_(self) -> Array:
        """Number of intervals of each column."""
        check_is_fitted(self)
        return np.array([cuts.n_bins for cuts in self.cuts_])

    def _method(self) -> Method:
        if self.encode not in ENCODINGS:
            raise ParameterError(f"encode is {self.encode!r}; it must be one of {list(ENCODINGS)}")
        if self.method not in (*METHODS, HARTEMINK):
            raise ParameterError(f"method is {self.method!r}; it must be one of {[*METHODS, HARTEMINK]}")
        method = Method(
            "equal_frequency" if self.method == HARTEMINK else self.method,
            self.n_bins,
            self.fallback,
            self.weka_exact,
            self.decimals,
            self.min_rows,
        )
        if self.method != HARTEMINK:
            return method
        if not is_whole(self.initial_bins, self.n_bins):
            raise ParameterError(
                f"initial_bins is {self.initial_bins!r}; give a whole number, n_bins ({self.n_bins}) or more"
            )
        return replace(method, n_bins=int(self.initial_bins))

    def _joined(self, table: DenseTable, found: tuple[Array, ...], weight: Array | None) -> tuple[Array, ...]:
        """Take some of the cuts, so that columns tell most of each other."""
        if len(found) < 2:
            raise DataError(
                "method 'hartemink' keeps what columns tell of each other, and there is one; take 'equal_frequency'"
            )
        cuts = [Cuts("", tuple(own.tolist())) for own in found]
        codes = [own.codes(column_of(table, j)) for j, own in enumerate(cuts)]
        kept = kept_cuts(codes, [own.n_bins for own in cuts], self.n_bins, weight)
        return tuple(own[places] for own, places in zip(found, kept, strict=True))

    def _read(self, X: Any) -> DenseTable:
        table = read_dense(X, "Discretizer")
        require_values(table, "Discretizer", missing="ignore", allow_negative=True)
        return table

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.target_tags.required = self.method == "mdl"
        if self.encode == "interval":
            tags.transformer_tags.preserves_dtype = []
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return "cuts_" in self.__dict__


def _side_by_side(table: DenseTable, cuts: Sequence[Cuts], *, as_text: bool) -> Array:
    """Codes of all columns, or their intervals: (n_rows, n_columns), stored by column."""
    result = np.empty(table.shape, dtype=object if as_text else np.float64, order="F")

    def write(j: int) -> None:
        missing = None if as_text else np.nan
        known: Sequence[Any] = cuts[j].intervals if as_text else range(cuts[j].n_bins)
        meaning = np.array([*known, missing], dtype=result.dtype)
        result[:, j] = meaning[cuts[j].codes(column_of(table, j))]

    for _ in ordered_map(write, range(table.shape[1])):
        pass
    return result
