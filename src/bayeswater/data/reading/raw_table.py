"""`RawTable`: the columns of a table of any kind by name, each as it came: Arrow, an array of numbers, a sparse block.

Arrays are read where they are. A sparse matrix, or all sparse columns of a frame together, are one block of counts.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import field, replace
from functools import cached_property
from typing import Any

import numpy as np

from bayeswater.data.column_types import without_views
from bayeswater.data.frames import (
    STORED,
    Frame,
    as_arrow,
    as_numpy,
    is_frame,
    library_of,
    numeric_column,
    read_frame,
    require_known_columns,
    sparse_columns,
    unmasked,
)
from bayeswater.data.matrix import SparseMatrix, column_name
from bayeswater.data.reading.cell_style import CellStyle, holds_strings
from bayeswater.data.reading.cell_styles import style_of
from bayeswater.data.reading.column_plan import COUNTS, ColumnPlan
from bayeswater.data.reading.dates import SECONDS_PER_DAY, date_columns, in_zone_of, seconds_of
from bayeswater.data.reading.known_labels import holds_numbers, holds_texts, numbers_written
from bayeswater.data.reading.matrix_reading import names_of, read_matrix, require_cells, rows_of_objects
from bayeswater.data.reading.number_style import SHARES, NumberStyle
from bayeswater.data.reading.original_types import arrow_type, drawn_table, pandas_types
from bayeswater.errors import BayesWarning, DataError, ParameterError, SchemaError, warn_user
from bayeswater.records import record
from bayeswater.typing import Array


@record
class RawTable:
    """Columns by name; `declared` are those whose type declares categories, `stored` strings kept as a dictionary."""

    columns: dict[str, Any]
    n_rows: int
    declared: frozenset[str] = frozenset()
    named: bool = False  # whether the names came with the table
    stored: frozenset[str] = frozenset()
    dtypes: Mapping[str, str] = field(default_factory=dict)  # as a library names them, where it is not Arrow
    styles: Mapping[str, CellStyle] = field(default_factory=dict)  # how cells were written that a source has read
    hashes: dict[tuple[str, ...], Array] = field(default_factory=dict, init=False, repr=False, compare=False)
    """Hashes of the rows by some of the columns, as far as they were asked for."""

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(self.columns)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.n_rows, len(self.columns)

    def __getitem__(self, keep: Array) -> "RawTable":
        """Take the marked rows."""
        import pyarrow as pa

        cells = without_views(pa.table({name: self.arrow(name) for name in self.names})).filter(keep)
        return replace(self, columns=dict(zip(self.names, cells.columns, strict=True)), n_rows=cells.num_rows)

    def arrow(self, name: str, head: int | None = None) -> Any:
        """Give a column (or the first rows of it) as an Arrow array."""
        import pyarrow as pa

        column = self.columns[name]
        if isinstance(column, np.ndarray):
            return pa.chunked_array([pa.array(column[:head], from_pandas=True)])
        return column.slice(0, head)

    def cells(self, name: str) -> Any:
        """Give a column as an Arrow array; one without a single value has no type, whatever it came in."""
        import pyarrow as pa

        column = self.arrow(name)
        return pa.chunked_array([pa.nulls(len(column))]) if column.null_count == len(column) else column

    def numbers(self, name: str) -> Array:
        """Give a column as numbers, NaN where a cell is missing; refuse what is none, and what is infinite."""
        import pyarrow as pa

        column = self.columns[name]
        if not isinstance(column, np.ndarray):
            column = self.cells(name)
            if pa.types.is_time(column.type) or pa.types.is_duration(column.type):
                return seconds_of(column)
            if holds_texts(column.type):
                column = numbers_written(column)
            one = Frame(pa.table({name: column}), "pyarrow", frozenset())
            column = numeric_column(one, name, "the column is read as numbers: convert its cells, or empty them")
        _require_finite(column, name)
        return column

    def number_pieces(self, name: str) -> tuple[Array, ...]:
        """Give a column as `numbers` does, in the arrays that it is made of: they need not be copied into one."""
        import pyarrow as pa

        column = self.columns[name]
        is_in_pieces = isinstance(column, pa.ChunkedArray) and column.num_chunks > 1
        if not is_in_pieces or column.null_count or not pa.types.is_float64(column.type):
            return (self.numbers(name),)
        pieces = tuple(np.asarray(chunk.to_numpy()) for chunk in column.chunks)
        for first, piece in zip(np.cumsum([0, *map(len, pieces)]).tolist(), pieces, strict=False):
            _require_finite(piece, name, first)
        return pieces

    def labels(self, names: Iterable[str], flags: Collection[str] = (), *, learning: bool = False) -> Frame:
        """Give columns as a frame in which every cell is a label, numbers too; flags are False and True.

        A flag that is neither 0 nor 1 is refused in learning, and in predicting a label like any other that is unseen.
        """
        import pyarrow as pa

        columns = {name: self._flags(name, learning) if name in flags else self._labels(name) for name in names}
        return Frame(pa.table(columns), "pyarrow", self.declared | frozenset(flags))

    def _labels(self, name: str) -> Any:
        import pyarrow as pa

        column = self.arrow(name)
        if pa.types.is_decimal(column.type) or pa.types.is_float16(column.type):  # older Arrow encodes no halves
            column = column.cast(pa.float64())
        kind = column.type
        if pa.types.is_floating(kind):
            _require_finite(as_numpy(column), name)  # no category, and none that is merely unseen
        is_number = pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind)
        return column.dictionary_encode() if is_number else column

    def _flags(self, name: str, learning: bool) -> Any:
        import pyarrow as pa

        numbers = self.numbers(name)
        missing = np.isnan(numbers) if numbers.dtype.kind == "f" else np.zeros(len(numbers), dtype=bool)
        other = ~missing & (numbers != 0) & (numbers != 1)
        if not other.any():
            codes = pa.array(np.where(missing, 0, numbers).astype(np.int8), mask=missing)
            return pa.DictionaryArray.from_arrays(codes, pa.array([False, True]))
        if learning:
            row = int(other.argmax())
            raise DataError(
                f"column {name!r} holds flags, 0 and 1, but {numbers[row]} in row {row} is none; fit again with "
                f"columns={{{name!r}: 'auto'}}"
            )
        return pa.array(numbers, mask=missing).dictionary_encode()

    def with_dates(self, plan: ColumnPlan) -> "RawTable":
        """Read cells as the plan has them, and spread dates over days and the parts that it has, in its time zone."""
        table = self.in_styles({column.source: column.style for column in plan.used if column.style is not None})
        dates = [column.source for column in plan if column.part == "days"]
        if not dates:
            return table
        columns: dict[str, Any] = dict(table.columns)
        planned = {column.name for column in plan}
        for name in dates:
            fitted = arrow_type(plan[name].dtype or "")
            parts = date_columns(name, in_zone_of(name, table.cells(name), fitted))
            columns |= {part: cells for part, cells in parts.items() if part in planned}
        declared = table.declared | frozenset(column.name for column in plan if column.part in ("weekday", "month"))
        return replace(table, columns=columns, declared=declared)

    def in_styles(self, styles: Mapping[str, CellStyle]) -> "RawTable":
        """Read the strings of columns that have a style and were not read by one before, and truths as words."""
        new = {name: style for name, style in styles.items() if name not in self.styles or style.kind == "words"}
        for name, style in new.items():
            if isinstance(style, NumberStyle) and style.is_share:
                self._warn_of_large_shares(name, style)
        read = {name: style for name, style in new.items() if self._is_written(name, style)}
        if not read:
            return self
        columns = {name: style.read(self.arrow(name), name) for name, style in read.items()}
        own, words = {**self.columns, **columns}, {name for name in read if read[name].kind == "words"}
        declared, stored = self.declared - read.keys(), (self.stored - read.keys()) | words
        return replace(self, columns=own, styles={**self.styles, **read}, stored=stored, declared=declared)

    def _warn_of_large_shares(self, name: str, style: NumberStyle) -> None:
        """Say that plain numbers are shares of one where a column was fitted on 45%, if one is more than that."""
        column = self.columns[name]
        if not isinstance(column, np.ndarray) and not holds_numbers(column.type):
            return
        numbers = self.numbers(name)
        large = numbers[np.abs(numbers) > 1]
        if len(large):
            scaled = f"{large[0]:g}{style.unit}"
            warn_user(
                f"column {name!r} holds {large[0]:g}, but the model knows cells as {style}, which are shares of one; "
                f"if {scaled} is meant, write {scaled!r} or {large[0] * 10.0 ** SHARES[style.unit]:g}",
                BayesWarning,
            )

    def _is_written(self, name: str, style: CellStyle) -> bool:
        """Say whether a column holds strings as people write them; plain ones of a dictionary are its categories."""
        column = self.columns[name]
        if isinstance(column, np.ndarray | SparseMatrix) or self.styles.get(name) == style:
            return False
        if not holds_strings(column.type):
            return style.kind == "words" and str(column.type) == "bool"
        return style.kind != "plain" or name in self.stored or not hasattr(column.type, "index_type")

    def require_columns(self, names: tuple[str, ...], model: str) -> "RawTable":
        """Bring the columns into the order that a model knows; those it does not know are left out."""
        if (COUNTS in self.columns) != (COUNTS in names):  # what was counted sparse may come dense, and the other way
            return (self._sparse(names, model) if COUNTS in names else self._dense()).require_columns(names, model)
        if not self.named:
            if len(self.names) != len(names):
                raise SchemaError(
                    f"X has {len(self.names)} features, but {model} is expecting {len(names)} features as input."
                )
            return replace(self, columns=dict(zip(names, self.columns.values(), strict=True)))
        lacks_one = not self.columns.keys() >= set(names)
        if lacks_one and names == tuple(column_name(None, j) for j in range(len(self.names))):
            return replace(self, named=False).require_columns(names, model)  # the model was fitted without names
        require_known_columns(self.names, names, model)
        return replace(self, columns={name: self.columns[name] for name in names})

    def _sparse(self, names: tuple[str, ...], model: str) -> "RawTable":
        """Put all columns that are not known by `names`, which are numbers, into one sparse block."""
        from scipy import sparse

        block = [name for name in self.names if name not in names]
        if not block:
            raise SchemaError(
                f"the sparse columns that {model} was fitted with are missing; X has {[*self.names][:10]}"
            )
        values = np.stack([self.numbers(name) for name in block], axis=1)
        rest = {name: column for name, column in self.columns.items() if name in names}
        return replace(self, columns={**rest, COUNTS: read_matrix(sparse.csr_array(values), model)})

    def _dense(self) -> "RawTable":
        """Take a sparse block apart into columns."""
        counts = self.columns[COUNTS]
        values = counts.to_dense()
        rest = {name: column for name, column in self.columns.items() if name != COUNTS}
        return replace(
            self, columns=rest | {column_name(counts.names, j): values[:, j] for j in range(values.shape[1])}
        )

    def dtype(self, name: str) -> str:
        """Name the type of a column."""
        column = self.columns[name]
        if name in self.dtypes:
            return self.dtypes[name]
        kind = column.dtype if isinstance(column, np.ndarray) else column.type
        return str(kind.value_type if name in self.stored else kind)


def _require_finite(numbers: Array, name: str, first: int = 0) -> None:
    """Refuse a column of numbers, or the piece of it that begins with a row, of which one is infinite."""
    if numbers.dtype.kind != "f":
        return
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(numbers.sum()):  # read once, and nothing written: then no number is infinite
            return
    infinite = np.isinf(numbers)
    if infinite.any():
        row = int(infinite.argmax())
        raise DataError(
            f"Input X contains infinity: {numbers[row]} in row {first + row}, column {name!r}; replace it by a finite "
            "number, or by a missing cell"
        )


def drawn_rows(drawn: dict[str, Any], plan: ColumnPlan, n_rows: int, library: str | None) -> Any:
    """Give drawn columns as the table had them: a frame of the library, or an array; counts as a sparse matrix.

    A date is its day and its time of day; what was left out is empty.
    """
    cells = {name: drawn.get(name, np.full(n_rows, np.nan)) for name in plan.sources}
    for column in plan.used:
        if column.part == "time":
            cells[column.source] = np.floor(cells[column.source]) + drawn[column.name] / SECONDS_PER_DAY
    if COUNTS not in cells:
        return drawn_table(cells, {column.name: column.dtype for column in plan}, library)
    if len(cells) > 1:
        raise ParameterError("a frame with sparse columns cannot be drawn; fit the sparse block alone")
    return cells[COUNTS]


def in_styles(X: Any, styles: Mapping[str, CellStyle]) -> Any:
    """Read the strings of a frame, for who has no plan; what is no frame, or has none to read, is left as it is."""
    if not styles or not is_frame(X) or sparse_columns(X):
        return X
    import pyarrow as pa

    raw = read_raw(X, "the model")
    read = raw.in_styles({name: style for name, style in styles.items() if name in raw.columns})
    if read is raw:
        return X
    fields = [
        pa.field(name, read.arrow(name).type, metadata=STORED if name in read.stored else None) for name in read.names
    ]
    return pa.table([read.arrow(name) for name in read.names], schema=pa.schema(fields))


def in_words(X: Any) -> Any:
    """Put words for the truths of a table that a source has read, where a model of states has them so."""
    if library_of(X) != "pyarrow" or not hasattr(X, "schema"):
        return X
    styles = {field.name: style.of_states for field in X.schema if (style := style_of(field)) is not None}
    words = {name: style for name, style in styles.items() if style.kind == "words"}
    return in_styles(X, words)


def read_raw(X: Any, model: str) -> RawTable:
    """Read a table of any kind: frame, array, lists or sparse matrix; one that has been read is given back."""
    if isinstance(X, RawTable):
        return X
    if is_frame(X):
        block = sparse_columns(X)
        if block:
            counts = read_matrix(X[block], model)
            if len(block) == X.shape[1]:
                return RawTable({COUNTS: counts}, len(X), named=counts.names is not None)
            rest = read_raw(X.drop(columns=block), model)
            if not rest.named or counts.names is None:
                raise SchemaError("some columns of X are sparse and some are not, so they need names; set X.columns")
            return replace(rest, columns={**rest.columns, COUNTS: counts})
        frame = read_frame(X)
        require_cells(frame.table.shape, model)
        names = names_of(X, frame.names)
        called = {name: column_name(names, j) for j, name in enumerate(frame.names)}
        columns = dict(zip(called.values(), frame.table.columns, strict=True))
        if COUNTS in columns:
            raise SchemaError(f"column {COUNTS!r} has the name that sparse columns take together; rename it")
        declared = frozenset(called[name] for name in frame.declared)
        dtypes = pandas_types(X, columns) if frame.library == "pandas" else {}
        styles = {called[field.name]: style for field in frame.table.schema if (style := style_of(field)) is not None}
        return RawTable(columns, frame.table.num_rows, declared, names is not None, frame.stored, dtypes, styles)
    X = unmasked(X)
    if isinstance(X, np.ndarray | list | tuple):
        cells = np.asarray(X) if isinstance(X, np.ndarray) else rows_of_objects(X)
        if cells is not None and cells.ndim == 2 and cells.dtype.kind in "OUSmM":
            require_cells(cells.shape, model)
            columns = {column_name(None, j): as_arrow(cells[:, j], column_name(None, j)) for j in range(cells.shape[1])}
            return RawTable(columns, len(cells))
    matrix = read_matrix(X, model)
    if isinstance(matrix, SparseMatrix):
        return RawTable({COUNTS: matrix}, matrix.shape[0])
    values = matrix.block(slice(0, matrix.shape[0]))
    columns = {column_name(None, j): values[:, j] for j in range(values.shape[1])}
    return RawTable(columns, len(values), dtypes=dict.fromkeys(columns, str(getattr(X, "dtype", values.dtype))))
