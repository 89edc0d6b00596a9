"""`Stream`: Arrow tables that come one after the other, from an iterator, a query or a frame in memory.

The first table tells the types. Where a later one has another type, its cells are read in the first one if that loses
nothing: whole numbers that a gap has made floats are whole numbers. Else the column is read again from the start in a
type that holds them all; where tables come but once, only those may differ that are looked at before rows are counted.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any

from bayeswater.data.column_types import (
    plain_type,
    said_by_types,
    whole_numbers,
    wider_type,
    without_views,
)
from bayeswater.data.frames import STORED, Frame, is_frame, read_frame, require_own_names
from bayeswater.data.reading.cell_style import CellStyle
from bayeswater.data.sources.parts import BEGINNING, NO_STYLES, DecodedPiece, Mark, chosen_fields, conformed
from bayeswater.data.sources.rows import Margin
from bayeswater.data.sources.source import TypesWidened
from bayeswater.errors import BayesError, DataError, SchemaError, nearest_names

if TYPE_CHECKING:
    import pyarrow as pa

Begin = Callable[[Sequence[str]], Iterable[Any]]
"""Begin to read: given the columns that are needed, tables that have at least these."""


class Stream:
    """Rows of Arrow tables, record batches or frames that come one after the other.

    Parameters
    ----------
    name : what errors call it
    begin : gives the tables, from the first on each time it is called
    schema : names and types; None where the first table tells them
    can_be_reread : whether `begin` gives all tables more than once
    n_rows : where it is known
    identity : what is different where the rows may be, if anything; None where their order may be too
    types : Arrow types of columns by name, in the place of those the tables have
    margins : counts how often cells of some columns meet labels, where it can without giving rows
    """

    def __init__(
        self,
        name: str,
        begin: Begin,
        *,
        schema: "pa.Schema | None" = None,
        can_be_reread: bool = True,
        n_rows: int | None = None,
        identity: tuple[object, ...] | None = (),
        types: "Mapping[str, pa.DataType] | None" = None,
        margins: "Callable[[Sequence[pa.Field], pa.Field], list[Margin] | None] | None" = None,
    ) -> None:
        self.name, self.can_be_reread, self.n_rows = name, can_be_reread, n_rows
        self._margins = margins
        self._begin, self._given_schema, self._identity = begin, schema, identity
        self._types = dict(types or {})
        self._wider: dict[str, pa.DataType] = {}  # what later tables hold
        self._peeked: Iterator[Any] | None = None  # what was begun to see the first table, of what comes but once
        self.n_bytes: int | None = None
        self.bytes_read = 0
        self.may_lack_columns = False

    @cached_property
    def _own_schema(self) -> "pa.Schema":
        """Names and types as the tables have them; a dictionary by storage alone is what it holds."""
        import pyarrow as pa

        schema = self._first_table.schema if self._given_schema is None else self._given_schema
        return pa.schema([(field.name, _plain_type(field)) for field in schema])

    @property
    def _first_table(self) -> "pa.Table":
        names = self._given_schema.names if self._given_schema else ()
        items = iter(self._peeked or self._read(self._begin(names)))
        for item in items:
            first = self._as_table(item, 0)  # an Arrow stream can be read but once: the table is kept, not the item
            if not self.can_be_reread:
                self._peeked = chain([first], items)
            return first
        raise DataError(f"{self.name} has no rows and no columns; give at least one table")

    @property
    def schema(self) -> "pa.Schema":
        """Names and types of all columns."""
        import pyarrow as pa

        own = self._own_schema
        require_own_names(own.names)
        for name in self._types:
            if name not in own.names:
                raise SchemaError(f"{self.name}: there is no column {name!r}; {nearest_names(name, own.names)}")
        types = {**self._wider, **self._types}
        return pa.schema([(field.name, types.get(field.name, field.type)) for field in own])

    def look_ahead(self, n_rows: int) -> None:
        """Let the first rows tell the types, of tables that come but once and have no other way to tell them."""
        if self.can_be_reread or self._given_schema is not None:
            return
        kinds = {field.name: field.type for field in self.schema}  # the first table is peeked at
        items = self._peeked or iter(())
        seen: list[pa.Table] = []
        for item in items:
            table = self._as_table(item, len(seen))
            seen.append(table)
            n_rows -= table.num_rows
            for place, field in enumerate(table.schema):
                kind = kinds.get(field.name)
                if kind is None or field.name in self._types:
                    continue
                wider = wider_type(_plain_type(field), kind)
                if wider not in (None, kind) and whole_numbers(table.column(place), kind) is None:
                    kinds[field.name] = self._wider[field.name] = wider
            if n_rows <= 0:
                break
        self._peeked = chain(seen, items)

    @property
    def identity(self) -> tuple[object, ...]:
        """What is different where the rows may be different; nothing where only the rows themselves tell."""
        if self._identity is None:
            raise DataError(
                f"{self.name} does not promise the order of its rows, so that counting them cannot be taken up again "
                "where it stopped; write them to a Parquet file, and count that"
            )
        return self._identity

    def declare(self, types: "Mapping[str, pa.DataType]", styles: Mapping[str, CellStyle] = NO_STYLES) -> None:
        """Fix the types of columns; those that were given before stay as they are."""
        self._types = {**types, **self._types}

    def margins(self, columns: Sequence[str], target: str) -> list[Margin] | None:
        """Count how often cells of each column meet the labels, where that takes no rows."""
        if self._margins is None or self._types:
            return None
        return self._margins([self.schema.field(name) for name in columns], self.schema.field(target))

    def pieces(self, columns: Sequence[str] | None = None, start: Mark = BEGINNING) -> Iterator[DecodedPiece]:
        """Give the rows from a place on, or from all; those before it are read, and passed over."""
        names = list(self.schema.names if columns is None else columns)
        schema = chosen_fields(self.schema, names)
        items, self._peeked = self._peeked or self._begin(names), None
        n_rows = 0
        for number, item in enumerate(self._read(items)):
            table = self._as_table(item, number)
            del item
            if n_rows + table.num_rows > start.row:
                yield DecodedPiece(self._conformed(table, schema, number, n_rows), Mark(n_rows))
            n_rows += table.num_rows
            self.bytes_read += table.nbytes
            del table

    def _read(self, items: Iterable[Any]) -> Iterator[Any]:
        """Give the items; what goes wrong in those who make them is told with the name."""
        try:
            yield from items
        except BayesError:
            raise
        except Exception as error:
            said = str(error).strip().splitlines() or [""]
            raise DataError(f"{self.name}: reading failed with {type(error).__name__}: {said[0]}") from error

    def _as_table(self, item: Any, number: int) -> "pa.Table":
        import pyarrow as pa

        if isinstance(item, pa.RecordBatch):
            item = pa.Table.from_batches([item])
        if isinstance(item, pa.Table):
            return without_views(item.replace_schema_metadata(None))
        if is_frame(item):
            return marked_table(read_frame(item))
        raise DataError(
            f"{self.name}: item {number} is a {type(item).__name__}; give Arrow tables, record batches or data frames"
        )

    def _conformed(self, table: "pa.Table", schema: "pa.Schema", number: int, n_rows: int) -> "pa.Table":
        """Take the columns of a schema, in its types, out of a table."""
        if table.schema.equals(schema):
            return table
        known = {field.name: _plain_type(field) for field in table.schema}
        for name, kind in zip(schema.names, schema.types, strict=True):
            if name not in known:
                raise SchemaError(
                    f"{self.name}: table {number} (from row {n_rows + 1:,} on) has no column {name!r}, which the first "
                    "one has; give all tables the same columns"
                )
            wider = wider_type(known[name], kind)
            if name in self._types or wider == kind:
                continue
            cells = whole_numbers(table.column(name), kind)
            if cells is not None:
                table = table.set_column(table.column_names.index(name), name, cells)
                continue
            differs = (
                f"{self.name}: column {name!r} holds {known[name]} in table {number} (from row {n_rows + 1:,} on), and "
                f"{kind} before it"
            )
            if wider is not None and self.can_be_reread and self._given_schema is None:
                self._wider[name] = wider
                raise TypesWidened(f"{differs}; the column is read again in a type that fits all of its cells")
            raise SchemaError(
                f"{differs}; give all tables the same types, or "
                f"{said_by_types(name, 'number' if wider is not None and _is_number(wider) else 'string')}"
            )
        return conformed(table.select(schema.names), schema, self.name, n_rows)


def marked_table(frame: Frame) -> "pa.Table":
    """Give the table of a frame, with a mark on dictionaries that declare no categories, as those of polars."""
    import pyarrow as pa

    table = without_views(frame.table.replace_schema_metadata(None))
    for place, field in enumerate(table.schema):
        if pa.types.is_dictionary(field.type) and field.name not in frame.declared:
            table = table.set_column(place, field.with_metadata(STORED), table.column(place))
    return table


def _plain_type(field: "pa.Field") -> "pa.DataType":
    """Give the type of the cells, whatever they are stored as."""
    return plain_type(field.type.value_type if field.metadata == STORED else field.type)


def _is_number(kind: "pa.DataType") -> bool:
    import pyarrow as pa

    return pa.types.is_integer(kind) or pa.types.is_floating(kind)
