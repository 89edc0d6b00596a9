"""SQLite and DuckDB files: a table, or what a query gives, in batches.

Both are opened for reading alone. A query is one SELECT that sees the tables of its file and nothing else: no other
file, no network, no extension of the database.

A column of SQLite may hold cells of several types. Which it holds is asked before rows are read: whole numbers and
fractions are numbers, and beside text all is text.
"""

import sqlite3
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayeswater.data.sources.parts import DecodedPiece, Mark
from bayeswater.data.sources.queries import quoted
from bayeswater.data.sources.source import BATCH_ROWS, Source, batch_rows
from bayeswater.data.sources.whole_files import library
from bayeswater.errors import DataError, nearest_names

if TYPE_CHECKING:
    import pyarrow as pa

ALLOWED = {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE}
"""What a query of SQLite may do."""

CLOSED = {"autoinstall_known_extensions": "false", "autoload_known_extensions": "false"}
"""An instance of DuckDB that loads no extension by itself."""


class DatabaseSource(Source):
    """Rows of a table or a query in a file of a database."""

    types_strings = True

    def _read_schema(self) -> "pa.Schema":
        return self._stored

    def _read(self, names: list[str], start: Mark) -> Iterator[DecodedPiece]:
        n_rows = 0
        for table in self._tables(names):
            if n_rows + table.num_rows > start.row:
                yield DecodedPiece(table, Mark(n_rows))
            n_rows += table.num_rows

    @cached_property
    def _query(self) -> str:
        """The query that gives the rows: the one that was given, or all of a table."""
        if self.reading.query is not None:
            return self.reading.query.strip().rstrip(";")
        tables = self._table_names()
        name = self.reading.table
        if name is None and len(tables) != 1:
            listed = ", ".join(map(repr, tables[:10])) + ", ..." * (len(tables) > 10)
            raise DataError(
                f"{self.name} has {len(tables)} tables: {listed}; name one with "
                "bayeswater.local_rows(source, table=...), or give a query=..."
            )
        name = tables[0] if name is None else name
        if name not in tables:
            raise DataError(f"{self.name}: there is no table {name!r}; {nearest_names(name, tables)}")
        return f"SELECT * FROM {quoted(name)}"

    def _refused(self, error: Exception) -> DataError:
        return DataError(
            f"{self.name}: {error}; a query is one SELECT over the tables of the file: {self._query[:200]!r}"
        )

    @abstractmethod
    def _table_names(self) -> list[str]:
        """Names of the tables and views."""

    @property
    @abstractmethod
    def _stored(self) -> "pa.Schema":
        """Names and types as the database has them."""

    @abstractmethod
    def _tables(self, names: Sequence[str]) -> "Iterator[pa.Table]":
        """Give the named columns of all rows."""


class SqliteSource(DatabaseSource):
    """Rows of a table or a query in a file of SQLite."""

    def _opened(self) -> sqlite3.Connection:
        path = Path(self.origin.whole_file("a database")).resolve()
        connection = sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)
        connection.set_authorizer(lambda action, *_: sqlite3.SQLITE_OK if action in ALLOWED else sqlite3.SQLITE_DENY)
        return connection

    def _executed(self, query: str) -> Any:
        try:
            return self._opened().execute(query)
        except (sqlite3.Error, sqlite3.Warning) as error:
            raise self._refused(error) from None

    def _fetched(self, cursor: sqlite3.Cursor, n_rows: int) -> list[Any]:
        try:
            return cursor.fetchmany(n_rows)
        except sqlite3.Error as error:
            raise DataError(
                f"{self.name}: {error}; text is read as UTF-8: leave such a column out by a query=..., or is the file "
                "damaged?"
            ) from None

    def _table_names(self) -> list[str]:
        asked = (
            "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%' ORDER BY name"
        )
        try:
            return [name for (name,) in self._opened().execute(asked)]
        except sqlite3.Error as error:
            raise DataError(f"{self.name} is no file of SQLite: {error}") from None

    @cached_property
    def _stored(self) -> "pa.Schema":
        import pyarrow as pa

        described = self._executed(f"SELECT * FROM ({self._query}\n) LIMIT 0").description
        names = [column[0] for column in described]
        if not names:
            return pa.schema([])
        held = ", ".join(
            f"max(typeof({quoted(name)}) = {kind!r})" for name in names for kind in ("integer", "real", "text", "blob")
        )
        ((*kinds,),) = self._fetched(self._executed(f"SELECT {held} FROM ({self._query}\n)"), 1)
        fields = []
        for place, name in enumerate(names):
            whole, real, text, blob = kinds[4 * place : 4 * place + 4]
            if blob:
                self.note(f"column {name!r} holds bytes, which are no cells of a table, and is left out")
            else:
                if text and (whole or real):
                    self.note(f"column {name!r} holds numbers and text, and is text")
                number = pa.float64() if real else pa.int64() if whole else pa.null()
                fields.append((name, pa.string() if text else number))
        return pa.schema(fields)

    def _tables(self, names: Sequence[str]) -> "Iterator[pa.Table]":
        import pyarrow as pa

        schema = pa.schema([self._stored.field(name) for name in names])
        words = {pa.string(): "TEXT", pa.float64(): "REAL"}
        chosen = ", ".join(
            f"CAST({quoted(f.name)} AS {words[f.type]})" if f.type in words else quoted(f.name) for f in schema
        )
        cursor = self._executed(f"SELECT {chosen} FROM ({self._query}\n)")
        while rows := self._fetched(cursor, min(batch_rows(len(names)), BATCH_ROWS)):
            columns = [pa.array(cells, kind) for cells, kind in zip(zip(*rows, strict=True), schema.types, strict=True)]
            yield pa.table(columns, schema=schema)


class DuckdbSource(DatabaseSource):
    """Rows of a table or a query in a file of DuckDB."""

    @contextmanager
    def _opened(self) -> Iterator[Any]:
        """Connect to an instance of our own, to which the file is attached, and close it at the end.

        What is forbidden to an instance is forbidden to all connections to it, those of the user among them.
        """
        path = self.origin.whole_file("a database")
        duckdb = library("duckdb", "sql", f"{self.name}: a file of DuckDB")
        stem = Path(path).stem
        name = quoted(f"{stem}_file" if stem in ("memory", "system", "temp") else stem)
        place = path.replace("'", "''")
        with duckdb.connect(":memory:", config=CLOSED) as connection:
            try:
                connection.execute(f"ATTACH '{place}' AS {name} (READ_ONLY, TYPE duckdb)")
                connection.execute(f"USE {name}")
                connection.execute("SET enable_external_access = false")
                connection.execute("SET lock_configuration = true")
            except duckdb.Error as error:
                raise DataError(
                    f"{self.name} is no file of DuckDB that can be read: {error}; close other connections to it, or "
                    "give what they read: connection.sql(...)"
                ) from None
            yield connection

    def _relation(self, connection: Any) -> Any:
        from duckdb import Error, StatementType

        query = self._query
        try:
            statements = connection.extract_statements(query)
            if len(statements) != 1 or statements[0].type != StatementType.SELECT:
                raise DataError("it is something else")
            return connection.sql(query)
        except (Error, DataError) as error:
            raise self._refused(error) from None

    def _table_names(self) -> list[str]:
        asked = "SELECT table_name FROM information_schema.tables WHERE table_catalog = current_database() ORDER BY 1"
        with self._opened() as connection:
            return [name for (name,) in connection.execute(asked).fetchall()]

    @cached_property
    def _stored(self) -> "pa.Schema":
        from duckdb import Error

        with self._opened() as connection:
            try:
                return self._relation(connection).limit(0).to_arrow_table().schema
            except Error as error:
                raise self._refused(error) from None

    def _tables(self, names: Sequence[str]) -> "Iterator[pa.Table]":
        import pyarrow as pa
        from duckdb import Error

        with self._opened() as connection:
            try:
                chosen = self._relation(connection).project(", ".join(map(quoted, names)))
                read = chosen.to_arrow_reader if hasattr(chosen, "to_arrow_reader") else chosen.fetch_record_batch
                for batch in read(BATCH_ROWS):
                    yield pa.Table.from_batches([batch])
            except Error as error:
                raise self._refused(error) from None
