"""Any data frame, read as Arrow columns: pandas, polars, pyarrow and whatever speaks the Arrow PyCapsule interface.

Frames are recognised by what they can do, and pandas through ``sys.modules``: a user who hands us a pandas frame has
imported it.

Arrays that put cells off or hide them become plain ones: an array of Dask is computed, and a masked cell is missing.
NumPy makes plain arrays of both, too, but with the cells that a mask hides.
"""

import sys
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from copy import copy
from dataclasses import field
from datetime import MAXYEAR, MINYEAR
from os import PathLike
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from bayeswater.data.cells import is_missing, is_text, numbered_truths, type_names
from bayeswater.data.column_types import without_views
from bayeswater.errors import DataError, SchemaError
from bayeswater.records import record
from bayeswater.typing import Array

if TYPE_CHECKING:
    import pyarrow as pa


def computed(values: Any) -> Any:
    """Give what an array, a frame or a column of Dask holds, with its mask; leave everything else as it is."""
    return values.compute() if hasattr(type(values), "__dask_graph__") else values


def unmasked(values: Any) -> Any:
    """Put NaN, NaT or None for the cells that a masked array, or a list of such rows, hides; leave all else as it is.

    >>> unmasked(np.ma.masked_array([1, 2], [True, False]))
    array([nan,  2.])
    >>> unmasked(np.ma.masked_array(["a", "b"], [True, False]))
    array([None, 'b'], dtype=object)
    """
    if isinstance(values, list | tuple) and any(isinstance(row, np.ma.MaskedArray) for row in values):
        return [unmasked(row) for row in values]
    if not isinstance(values, np.ma.MaskedArray):
        return values
    hidden = np.ma.getmaskarray(values)
    if not hidden.any():
        return values.data
    kind = values.dtype.kind
    if kind in "biufc":
        return np.where(hidden, np.nan, values.data)
    if kind in "mM":
        return np.where(hidden, np.array("NaT", values.dtype), values.data)
    return np.where(hidden, np.array(None), values.data.astype(object))


STORED = {b"bayeswater": b"a dictionary by storage alone"}
"""Metadata of a column of strings that a file keeps as a dictionary: it declares no categories."""


NOT_IN_ARROW = (ValueError, TypeError, NotImplementedError, OverflowError)
"""What Arrow raises for cells that it cannot read."""


SERIES = (("pandas", "Series"), ("polars", "Series"), ("pyarrow", "Array"), ("pyarrow", "ChunkedArray"))
"""Columns of libraries that have no table around them."""


OF_OTHER_KINDS = "convert it, or use NaiveBayes, which takes columns of all kinds"
"""Way out of one who has other columns than numbers."""


@record
class Frame:
    """Named Arrow columns, and the library they came from."""

    table: "pa.Table"
    library: str
    declared: frozenset[str]  # columns whose dtype declares its categories
    stored: frozenset[str] = frozenset()  # strings that are a dictionary by storage alone

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(self.table.column_names)


def is_frame(X: Any) -> bool:
    """Tell a data frame, or one column of it, from an array."""
    if isinstance(X, np.ndarray):
        return False
    return hasattr(X, "__arrow_c_stream__") or _is_pandas(X) or _is_pandas(X, "Series")


def materialised(X: Any) -> Any:
    """Hold the rows of an Arrow stream, which can be read but once, in a table, and compute what Dask puts off.

    Texts in a list, an array or a series are a column. Everything else is left as it is. What is almost a table is
    refused, with the call that makes it one.
    """
    if _is_pandas(X) or _is_polars(X):
        return X
    if isinstance(X, dict) and not hasattr(X, "tocsr"):  # a sparse matrix may be kept in a dict
        is_row = all(isinstance(cell, str) or not hasattr(cell, "__len__") for cell in X.values())
        rows = "[X]" if is_row else "X"
        raise DataError(f"X is a dict, and a dict is no table; give pandas.DataFrame({rows})")
    if isinstance(X, str | PathLike):
        raise DataError(
            f"X is {str(X)!r}, and a name is no table; give the rows of the file, bayeswater.read_table(X).table, "
            "without their labels; to learn from all of them, give no y but the name of their column of labels: "
            "fit(X, target=...)"
        )
    if isinstance(X, list) and X and isinstance(X[0], dict):
        raise DataError("X is a list of dicts, and no table; give pandas.DataFrame(X)")
    X = _column_of_texts(computed(X))
    if _is_lazy(X):
        raise DataError("X is a polars LazyFrame, which holds no rows yet; give X.collect()")
    if not is_frame(X) or _is_pandas(X) or _is_polars(X):
        return X
    import pyarrow as pa

    try:
        return _as_table(X)
    except (pa.ArrowInvalid, TypeError):
        raise DataError(
            f"Expected 2D array, got 1D array instead: X is a {type(X).__name__}, one column without a table around "
            "it; give a frame, for example X.to_frame(), or X.to_frame().T where it is a row"
        ) from None


def _column_of_texts(X: Any) -> Any:
    """Make a table of one column of texts, as messages are, that stand in a list, an array or a series.

    >>> _column_of_texts(["win a prize", None]).tolist(), _column_of_texts([1.5, 2.5])
    ([['win a prize'], [None]], [1.5, 2.5])
    """
    if isinstance(X, np.ndarray | list | tuple):
        return _one_column(X) if getattr(X, "ndim", 1) == 1 and _are_texts(X) else X
    if not _is_series(X):
        return X
    cells = X.to_pylist() if hasattr(X, "to_pylist") else X.to_list()
    if not _are_texts(cells):
        return X
    return X.to_frame() if getattr(X, "name", None) else _one_column(cells)


def _is_series(X: Any) -> bool:
    known = ((sys.modules.get(library), kind) for library, kind in SERIES)
    return any(library is not None and isinstance(X, getattr(library, kind)) for library, kind in known)


def _are_texts(cells: Any) -> bool:
    """Say whether cells are texts, apart from those that are missing."""
    kinds = set(map(type, cells))
    texts = {kind for kind in kinds if issubclass(kind, str)}
    return bool(texts) and (texts == kinds or all(isinstance(cell, str) or is_missing(cell) for cell in cells))


def _one_column(cells: Any) -> Array:
    column = np.empty((len(cells), 1), dtype=object)
    column[:, 0] = cells
    return column


def read_frame(X: Any) -> Frame:
    """Read a frame as Arrow columns, without copying where its library allows."""
    import pyarrow as pa

    if _is_pandas(X):
        library = "pandas"
        require_own_names(X.columns)
        spelled = _with_spelled_categories(X)
        try:
            table = pa.Table.from_pandas(spelled, preserve_index=False)
        except NOT_IN_ARROW:
            table = pa.table({str(name): _of_pandas(spelled[name], str(name)) for name in spelled.columns})
        else:
            for name, column in zip(X.columns, table.columns, strict=True):
                if pa.types.is_timestamp(column.type) and X[name].dtype == object:
                    _require_years_of_python(X[name], str(name))
        # Arrow may spell a name otherwise, if it is a tuple
        declared = frozenset(
            name for name, kind in zip(table.column_names, X.dtypes, strict=True) if kind == "category"
        )
    else:
        library = "polars" if type(X).__module__.startswith("polars") else "pyarrow"
        if library == "polars":
            require_no_nul(X.columns)
        table = _as_table(X)
        declared = frozenset(
            name
            for name, column in zip(table.column_names, table.columns, strict=True)
            if pa.types.is_dictionary(column.type) and not _is_polars_categorical(X, name)
        )
    require_own_names(table.column_names)
    stored = frozenset(field.name for field in table.schema if field.metadata == STORED)
    return Frame(table, library, declared - stored, stored)


def _as_table(X: Any) -> "pa.Table":
    """Read a stream of Arrow. A table is one already: pyarrow before 25 crashes where it streams short string views."""
    import pyarrow as pa

    if isinstance(X, tuple):  # what `read_table` gives: no list of columns
        return pa.RecordBatchReader.from_stream(X).read_all()
    return X if isinstance(X, pa.Table) else pa.table(X)


def _with_spelled_categories(X: Any) -> Any:
    """Put the text of labels of pandas that Arrow has none for, intervals and periods, in their place."""
    pandas = sys.modules["pandas"]
    unknown = (pandas.IntervalDtype, pandas.PeriodDtype)
    spelled: dict[Any, Any] = {}
    for name, kind in X.dtypes.items():
        if kind == "category" and isinstance(kind.categories.dtype, unknown):
            spelled[name] = X[name].cat.rename_categories(str)
        elif isinstance(kind, unknown):
            spelled[name] = X[name].astype(object).map(str, na_action="ignore")
    if not spelled:
        return X
    X = X.copy(deep=False)
    for name, column in spelled.items():
        X[name] = column
    return X


def _of_pandas(column: Any, name: str) -> Any:
    """Read one column of pandas as Arrow, objects as those of an array; refuse it by name where that cannot be."""
    import pyarrow as pa

    if column.dtype == object:
        return as_arrow(column.to_numpy(), name)
    if isinstance(column.dtype, sys.modules["pandas"].SparseDtype):
        raise DataError(f"column {name!r} is sparse, and is needed dense; convert it with .sparse.to_dense()")
    try:
        return pa.array(column, from_pandas=True)
    except UnicodeEncodeError:
        raise _no_text(name, column.tolist()) from None
    except NOT_IN_ARROW as error:
        raise DataError(f"column {name!r} holds {column.dtype}, which cannot be read: {error}; convert it") from None


def given_names(X: Any) -> Sequence[Any]:
    """Names of the columns of a frame that is held, as they are: those of pandas need not be text."""
    names: Any = X.column_names if library_of(X) == "pyarrow" else X.columns
    return names.tolist() if library_of(X) == "pandas" else names  # in one go: an index takes its time for each


def frame_names(X: Any) -> list[str]:
    """Names of the columns of a frame that is held, as text."""
    return list(map(str, given_names(X)))


def take_columns(X: Any, names: Sequence[str]) -> Any:
    """Give some columns of a frame that is held, in this order."""
    return X.select(names) if library_of(X) == "pyarrow" else X[list(names)]


def require_known_columns(there: Collection[str], known: Iterable[str], model: str) -> None:
    """Refuse a table that lacks a column which a model was fitted with."""
    absent = [name for name in known if name not in there]
    if absent:
        more = f" (and {len(absent) - 1} more)" if len(absent) > 1 else ""
        raise SchemaError(
            f"column {absent[0]!r}, which {model} was fitted with, is missing{more}; X has {list(there)[:10]}"
        )


def require_own_names(names: Iterable[Any]) -> None:
    """Refuse a name that stands over two columns, or is no text."""
    texts = list(map(str, names))
    if not is_text("".join(texts)):
        broken = next(name for name in texts if not is_text(name))
        raise SchemaError(f"column name {broken!r} has half of a character (a lone surrogate); rename the column")
    if len(set(texts)) < len(texts):
        twice = next(name for name, n in Counter(texts).items() if n > 1)
        raise SchemaError(f"column name {twice!r} occurs more than once; give every column its own name")


def require_no_nul(names: Iterable[str]) -> None:
    """Refuse a name with a NUL, with which polars ends the process where it hands its columns to Arrow."""
    for name in names:
        if "\0" in name:
            raise SchemaError(f"the name {name!r} holds a NUL character; rename it")


@record
class Alongside:
    """How a frame is written that has a line for each row of another: its library, and the index that pandas has."""

    library: str | None
    index: Any = field(default=None, compare=False)

    @classmethod
    def of(cls, X: Any) -> "Alongside":
        """Write in the library of X, along its rows."""
        return cls(library_of(X), index_of(X))


def index_of(X: Any) -> Any:
    """Give the index of the rows of a frame of pandas; other tables have none."""
    return X.index if _is_pandas(X) else None


def write_frame(columns: dict[str, Any], library: str | Alongside | None) -> Any:
    """Make a frame of the given library, or alongside another; a pyarrow Table where the library is not known."""
    import pyarrow as pa

    table = pa.table({name: _writable(column) for name, column in columns.items()})
    along = library if isinstance(library, Alongside) else Alongside(library)
    if along.library == "pandas":
        frame = _in_pandas(table)
        return frame if along.index is None else frame.set_axis(along.index, axis=0)
    if along.library == "polars":
        import polars

        return polars.from_arrow(without_views(table))  # pyarrow before 25 crashes where it streams short ones
    return table


class Framed:
    """What a model tells of itself that can be a frame; its library is that of the rows the model learned from."""

    library: str | None = None  # of the model and no part of what is told: neither compared nor stored

    def _lines(self) -> dict[str, Any]:
        """Give the columns of the frame."""
        raise NotImplementedError

    def to_frame(self, library: str | None = None) -> Any:
        """Give it as a frame of the library of the rows, or of the one named; a pyarrow Table where there is none."""
        return write_frame(self._lines(), library or self.library)

    def in_library(self, library: str | None) -> Self:
        """Give the same, as a model tells it that gives frames of a library."""
        if library == self.library:
            return self
        kept = vars(self).setdefault("_in_library", {})  # a plan is asked for again and again, and remembers names
        if library not in kept:
            kept[library] = copy(self)
            vars(kept[library]).update(library=library, _in_library={})
        found: Self = kept[library]
        return found


def _in_pandas(table: Any) -> Any:
    """Give a table as a frame of pandas, its dates as Python has them, unless one is beyond the years 1 to 9999."""
    try:
        return table.to_pandas()
    except (ValueError, OverflowError):
        return table.to_pandas(date_as_object=False)


def _writable(column: Any) -> Any:
    """Give a column as Arrow takes it: labels unknown to it, as intervals of pandas, by their text."""
    import pyarrow as pa

    try:
        return pa.array(column)
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):
        return pa.array([str(label) for label in column])


def library_of(X: Any) -> str | None:
    """Name the library of a frame, or None for an array."""
    if _is_pandas(X):
        return "pandas"
    if not is_frame(X):
        return None
    return "polars" if type(X).__module__.startswith("polars") else "pyarrow"


def numeric_column(frame: Frame, name: str, way_out: str = OF_OTHER_KINDS) -> Array:
    """Give a column as numbers, NaN where it is null; refuse anything else by name, with the way out."""
    import pyarrow as pa

    column = frame.table.column(name)
    kind = column.type
    if pa.types.is_boolean(kind):
        column = column.cast(pa.uint8())
    elif pa.types.is_null(kind):
        return np.full(len(column), np.nan)
    elif pa.types.is_decimal(kind):
        column = column.cast(pa.float64())
    elif not (pa.types.is_integer(kind) or pa.types.is_floating(kind)):
        is_text = pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)
        as_scikit_learn = "could not convert string to float: " if is_text else ""
        raise DataError(f"{as_scikit_learn}column {name!r} holds {kind}, not numbers; {way_out}")
    return as_numpy(column)


def as_numpy(column: "pa.ChunkedArray") -> Array:
    """Give numbers as an array: one piece without holes where it is, NaN where a cell is null."""
    is_one = column.num_chunks == 1 and not column.null_count
    return np.asarray((column.chunk(0) if is_one else column).to_numpy())


def as_arrow(cells: Array, name: str) -> Any:
    """Read one column of an array of objects, strings or times as Arrow."""
    import pyarrow as pa

    try:
        array = pa.array(cells if cells.dtype.kind in "mM" else cells.tolist(), from_pandas=True)
    except OverflowError:
        raise _beyond_64_bits(name, cells.tolist()) from None
    except UnicodeEncodeError:
        raise _no_text(name, cells.tolist()) from None
    except (pa.ArrowException, *NOT_IN_ARROW) as error:
        numbers = numbered_truths(cells.tolist())
        if numbers is not None:
            return as_arrow(np.array(numbers, dtype=object), name)
        kinds = type_names(cells.tolist())
        raise DataError(
            f"column {name!r} {'mixes' if len(kinds) > 1 else 'holds'} values of types {kinds}; give it one type, for "
            f"example with str(): {error}"
        ) from None
    if cells.dtype == object and pa.types.is_timestamp(array.type):
        _require_years_of_python(cells, name)
    return pa.chunked_array([array])


def _require_years_of_python(times: Iterable[Any], name: str) -> None:
    """Refuse objects of pandas beyond the years 1 to 9999, which Arrow takes for times of 1970."""
    years = (getattr(time, "year", MINYEAR) for time in times)
    far = next((year for year in years if year < MINYEAR or year > MAXYEAR), None)  # that of NaT is NaN
    if far is not None:
        raise DataError(
            f"column {name!r} holds times as objects, one of the year {far}, beyond the years that Python has; convert "
            "it with .astype('datetime64[s]'), without a time zone"
        )


def _is_pandas(X: Any, kind: str = "DataFrame") -> bool:
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(X, getattr(pandas, kind))


def is_sparse_frame(X: Any) -> bool:
    """Say whether X is a frame of pandas whose columns are all sparse, with the zeros left out."""
    return _is_pandas(X) and len(X.dtypes) > 0 and all(map(_leaves_out_zeros, X.dtypes))


def sparse_columns(X: Any) -> list[Any]:
    """Name the columns of a frame of pandas that are sparse, with the zeros left out."""
    return [name for name, kind in X.dtypes.items() if _leaves_out_zeros(kind)] if _is_pandas(X) else []


def _leaves_out_zeros(kind: Any) -> bool:
    return isinstance(kind, sys.modules["pandas"].SparseDtype) and kind.kind in "biuf" and kind.fill_value == 0


def _is_lazy(X: Any) -> bool:
    polars = sys.modules.get("polars")
    return polars is not None and isinstance(X, polars.LazyFrame)


def _is_polars(X: Any) -> bool:
    polars = sys.modules.get("polars")
    return polars is not None and isinstance(X, polars.DataFrame)


def _is_polars_categorical(X: Any, name: str) -> bool:
    """Say whether a polars column is a Categorical: unlike an Enum, it declares nothing."""
    return _is_polars(X) and X.schema[name] == sys.modules["polars"].Categorical


def _no_text(name: str, cells: list[Any]) -> DataError:
    row = next(row for row, cell in enumerate(cells) if isinstance(cell, str) and not is_text(cell))
    return DataError(
        f"column {name!r} holds {cells[row]!r} in row {row}, which is no text: it has half of a character (a lone "
        "surrogate); replace it, for example by cell.encode('utf-8', 'replace').decode()"
    )


def _is_beyond_64_bits(cell: Any) -> bool:
    return isinstance(cell, int | np.integer) and not -(2**63) <= int(cell) < 2**63


def _beyond_64_bits(name: str, cells: Iterable[Any]) -> DataError:
    first = next(filter(_is_beyond_64_bits, cells))
    return DataError(
        f"column {name!r} holds {first}, a whole number too large for 64 bits; convert numbers with .astype(float), "
        "and names with .astype(str)"
    )
