"""`HeldSource`: a file that another library reads as a whole, such as a spreadsheet, given as a table in pieces."""

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any

from bayeswater.data.column_types import cast_columns
from bayeswater.data.sources.parts import DecodedPiece, Mark
from bayeswater.data.sources.source import Source, batch_rows, errors_named
from bayeswater.errors import DataError

if TYPE_CHECKING:
    import pyarrow as pa


class HeldSource(Source):
    """Rows of a file that is in memory once it is looked at."""

    @cached_property
    def _table(self) -> "pa.Table":
        with errors_named(self.origin):
            return self._loaded()

    @abstractmethod
    def _loaded(self) -> "pa.Table":
        """Read the file."""

    def _read_schema(self) -> "pa.Schema":
        import pyarrow as pa

        types = {} if self.types_strings else self.types
        return pa.schema([field.with_type(types.get(field.name, field.type)) for field in self._table.schema])

    @property
    def n_rows(self) -> int | None:
        """Number of rows."""
        return self._table.num_rows

    def _read(self, names: list[str], start: Mark) -> Iterator[DecodedPiece]:
        n_at_once = batch_rows(len(names))
        table, types = self._table.select(names), {} if self.types_strings else self.types
        for row in range(start.row, table.num_rows, n_at_once):
            piece = table.slice(row, n_at_once)
            yield DecodedPiece(cast_columns(piece, types, self.name, row), Mark(row))


def library(name: str, extra: str, what: str) -> Any:
    """Import a library that only some files need, or say how to install it."""
    try:
        return import_module(name)
    except ImportError:
        raise DataError(f"{what} needs {name}; install it with: pip install 'bayeswater[{extra}]'") from None


def column_of_cells(cells: Sequence[Any], marks: Sequence[str] = ()) -> "pa.Array":
    """Make a column of Python's values: of one type, or text where they are of several.

    Marks of missing cells among values that are no strings are missing.

    >>> column_of_cells([1.0, None, 2.0]).to_pylist(), column_of_cells([1.0, "x", True]).to_pylist()
    ([1, None, 2], ['1', 'x', 'true'])
    >>> column_of_cells([1.5, "-", 2.0], ["-"]).to_pylist(), column_of_cells(["-", "-"], ["-"]).to_pylist()
    ([1.5, None, 2.0], ['-', '-'])
    >>> column_of_cells([1.0, 1e300]).to_pylist()
    [1.0, 1e+300]
    """
    import pyarrow as pa

    kinds = {type(cell) for cell in cells if cell is not None}
    if str in kinds and len(kinds) > 1 and all(cell.strip() in marks for cell in cells if type(cell) is str):
        cells, kinds = [None if type(cell) is str else cell for cell in cells], kinds - {str}
    if kinds <= {int, float} and kinds:
        numbers = [cell if cell is None or type(cell) is int or not _is_whole(cell) else int(cell) for cell in cells]
        is_whole = all(type(cell) is not float for cell in numbers)
        return pa.array(numbers if is_whole else cells, pa.int64() if is_whole else pa.float64())
    if len(kinds) < 2:
        return pa.array(cells)
    if kinds == {date, datetime}:  # a spreadsheet gives a time stamp at midnight as a day
        moments = [datetime(cell.year, cell.month, cell.day) if type(cell) is date else cell for cell in cells]
        return pa.array(moments, pa.timestamp("us"))
    return pa.array([None if cell is None else cell_text(cell) for cell in cells], pa.string())


def said_of_kinds(columns: Mapping[str, Sequence[Any]], table: "pa.Table") -> list[str]:
    """Say which columns have numbers beside text, and are text."""
    import pyarrow as pa

    said = []
    for name, cells in columns.items():
        words = [cell for cell in cells if type(cell) is str]
        numbers = sum(type(cell) in (int, float) for cell in cells)
        if words and numbers and pa.types.is_string(table.schema.field(name).type):
            shown = f"{numbers:,} numbers and {len(words):,} words, as {words[0][:40]!r}"
            said.append(f"column {name!r} has {shown}, and is text; if words are missing numbers, say missing=[...]")
    return said


def _is_whole(number: float) -> bool:
    return number.is_integer() and abs(number) <= 2**53  # larger ones are not exact


def cell_text(cell: Any) -> str:
    """Write a value as a person sees it; one that is missing is blank.

    >>> cell_text(2020.0), cell_text(True), cell_text(None)
    ('2020', 'true', '')
    """
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return str(cell).lower()
    if isinstance(cell, float) and _is_whole(cell):
        return str(int(cell))
    return str(cell)
