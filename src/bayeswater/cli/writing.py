"""Tables written as they come: CSV or JSON lines to standard output or a file, Parquet to a file.

A file appears under its name when it is complete, and not before: whoever interrupts finds the old one, or none.
"""

import csv
import io
import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Literal, Protocol

from bayeswater.cli.standard_output import StandardOutput, finite
from bayeswater.errors import ParameterError
from bayeswater.models.stored.folders import appearing

if TYPE_CHECKING:
    import pyarrow as pa

OutputFormat = Literal["csv", "parquet", "jsonl"]

FORMAT_OF_SUFFIX: dict[str, OutputFormat] = {
    ".csv": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
}


class Writer(Protocol):
    """Takes tables of one schema, one after the other."""

    def write(self, table: "pa.Table") -> None:
        """Write the rows of a table."""

    def close(self) -> None:
        """Write what is to come after the last row."""


@contextmanager
def writer(path: Path | None, format: OutputFormat | None) -> Iterator[Writer]:
    """Open a file, or standard output for None, in the format given or told by the ending of its name."""
    chosen = format or _format_of(path)
    if path is None and chosen == "parquet" and sys.stdout.isatty():
        raise ParameterError("Parquet cannot be printed; name a file with -o, or take another --output-format")
    with nullcontext(StandardOutput()) if path is None else appearing(path) as file:
        result = WRITERS[chosen](file)
        yield result
        result.close()


class CsvWriter:
    """CSV with a header, in UTF-8; cells are quoted where they must be."""

    def __init__(self, file: BinaryIO) -> None:
        self.file, self.has_header = file, False

    def write(self, table: "pa.Table") -> None:
        """Write the rows of a table."""
        text = io.BytesIO()
        if not self.has_header:
            header = io.StringIO(newline="")
            csv.writer(header, lineterminator="\n").writerow(table.column_names)
            text.write(header.getvalue().encode())
            self.has_header = True
        _write_rows(_without_dictionaries(table), text)
        self.file.write(text.getbuffer())
        self.file.flush()

    def close(self) -> None:
        """Nothing comes after the last row."""


class JsonLinesWriter:
    """One JSON object for each row; numbers that are not finite become null."""

    def __init__(self, file: BinaryIO) -> None:
        self.file = file

    def write(self, table: "pa.Table") -> None:
        """Write the rows of a table."""
        lines = (json.dumps(finite(row), ensure_ascii=False, default=str) + "\n" for row in table.to_pylist())
        self.file.write("".join(lines).encode())
        self.file.flush()

    def close(self) -> None:
        """Nothing comes after the last row."""


class ParquetWriter:
    """A Parquet file with a group of rows for each table."""

    def __init__(self, file: BinaryIO) -> None:
        self.file = file
        self.rows: Any = None

    def write(self, table: "pa.Table") -> None:
        """Write the rows of a table."""
        import pyarrow.parquet

        if self.rows is None:
            self.rows = pyarrow.parquet.ParquetWriter(self.file, table.schema)
        self.rows.write_table(table)

    def close(self) -> None:
        """Write the footer."""
        if self.rows is not None:
            self.rows.close()


WRITERS: dict[str, Callable[[Any], Writer]] = {
    "csv": CsvWriter,
    "parquet": ParquetWriter,
    "jsonl": JsonLinesWriter,
}


def _format_of(path: Path | None) -> OutputFormat:
    if path is None:
        return "csv"
    found = FORMAT_OF_SUFFIX.get(path.suffix.lower())
    if found is None:
        raise ParameterError(
            f"the ending of {str(path)!r} names no format; end it in {', '.join(FORMAT_OF_SUFFIX)}, or give "
            "--output-format"
        )
    return found


def _write_rows(table: "pa.Table", text: io.BytesIO) -> None:
    """Write cells bare, or all strings in quotes where one of them needs it."""
    import pyarrow as pa
    import pyarrow.csv

    for style in ("none", "needed"):
        cells = io.BytesIO()
        try:
            pyarrow.csv.write_csv(table, cells, pyarrow.csv.WriteOptions(include_header=False, quoting_style=style))
        except pa.ArrowInvalid:
            continue
        text.write(cells.getbuffer())
        return


def _without_dictionaries(table: "pa.Table") -> "pa.Table":
    """Spell out categories, which CSV has no other way to write."""
    import pyarrow as pa

    for place, field in enumerate(table.schema):
        if pa.types.is_dictionary(field.type):
            table = table.set_column(place, field.name, table.column(place).cast(field.type.value_type))
    return table
