"""`read_table`: a file of any format as one Arrow table, and a report of how it was read."""

import warnings
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from bayeswater.data.display_width import display_width, padded
from bayeswater.data.reading.missing_codes import hint_of_codes
from bayeswater.data.sources.laid_down import laid_down
from bayeswater.data.sources.parts import Progress
from bayeswater.data.sources.paths import is_path
from bayeswater.data.sources.reading_options import reading_with
from bayeswater.data.sources.recognising import are_paths, local_rows
from bayeswater.data.sources.source import Source
from bayeswater.data.sources.whole import whole_table
from bayeswater.errors import ReadingWarning
from bayeswater.markup import html_table, preformatted
from bayeswater.records import record

if TYPE_CHECKING:
    import pyarrow as pa

WAY_OUT = "read fewer columns, columns=[...], or learn from the file in pieces: fit(path, target=...)"


@record
class ReadingReport:
    """How a file was read.

    Attributes
    ----------
    name : of the file
    n_rows : of the table
    types : of the columns, by name
    n_missing : cells that are missing, by name of the column
    notes : what was found out about the file: its encoding, lines above the header, names that were made up, odd rows
    how : in which style the cells of a column of text were written, which marks are missing and which cells stayed, in
        words, by its name
    """

    name: str
    n_rows: int
    types: "dict[str, pa.DataType]"
    n_missing: dict[str, int]
    notes: tuple[str, ...]
    how: dict[str, str]

    def __str__(self) -> str:
        """Say it in lines."""
        width = max(map(display_width, self.types), default=0)
        columns = [
            f"  {padded(name, width)}  {kind}"
            + f", {self.n_missing[name]:,} missing" * bool(self.n_missing[name])
            + (f"; {self.how[name]}" if name in self.how else "")
            for name, kind in self.types.items()
        ]
        notes = [f"  note: {note}" for note in self.notes]
        return "\n".join([f"{self.name}: {self.n_rows:,} rows of {len(self.types)} columns", *columns, *notes])


ROWS_SHOWN = 5
"""Rows that a cell of a notebook shows."""


class TableRead(NamedTuple):
    """A table, and the report of how it was read; where rows are asked for, it is the table."""

    table: "pa.Table"
    report: ReadingReport

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self.table.__arrow_c_stream__(requested_schema)

    def _repr_html_(self) -> str:
        """Show how the file was read, and the first rows."""
        rows = zip(*(column.slice(0, ROWS_SHOWN).to_pylist() for column in self.table.columns), strict=True)
        cells = ((str(i + 1), *("" if cell is None else str(cell) for cell in row)) for i, row in enumerate(rows))
        return preformatted(str(self.report)) + html_table(("", *self.table.column_names), cells)


def read_table(
    source: Any,
    *,
    columns: Sequence[str] | None = None,
    progress: Callable[[Progress], None] | None = None,
    **reading: Any,
) -> TableRead:
    r"""Read a file into memory, in the same way as `fit` and the command line.

    Parameters
    ----------
    source : path or rows
        A file of any format, or anything else that `local_rows` takes; "-" is standard input.
    columns : list of str, optional
        Columns to read; default all.
    progress : function, optional
        It is called after each batch with how far reading has come.
    **reading : options of `Reading`
        How the file is read: types, format, delimiter, header, names, encoding, missing, bad_rows, sheet, table, query
        and others. The page "From a file to a model" explains them.

    Returns
    -------
    TableRead
        A pair: the Arrow table, and a `ReadingReport` to print.

    Raises
    ------
    DataError
        Where the file cannot be read; it names what is wrong, and where.

    See Also
    --------
    look : Look at a table before anything is learned from it.
    local_rows : Open a table, also one larger than memory, and say how it is read.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "people.csv"
    >>> _ = path.write_text("People of 2023\n\nname;age;age;\nAnn;39;3;\nBob;;4;\n")
    >>> table, report = read_table(path)
    >>> table.to_pylist()[0]
    {'name': 'Ann', 'age': 39, 'age_2': 3}
    >>> print(str(report).replace(str(path.parent), ""))
    /people.csv: 2 rows of 3 columns
      name   string
      age    int64, 1 missing
      age_2  int64
      note: 1 line above the header is passed over, from 'People of 2023'
      note: 1 empty column at the end is left out
      note: columns are renamed: 'age' (column 3) is 'age_2'
    """
    reading_with(**reading)  # refused before a file is opened
    if not (is_path(source) or are_paths(source)):
        return _read(local_rows(source, columns=columns, progress=progress, **reading))
    with laid_down([source] if is_path(source) else source) as files:
        return _read(files.named(local_rows(files.paths, columns=columns, progress=progress, **reading)))


def _read(rows: Any) -> TableRead:
    for part in rows.parts:
        if isinstance(part, Source):
            part.keeps_dictionaries = False
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ReadingWarning)  # it is in the report
        table = whole_table(rows, None, "read_table", WAY_OUT)
    prefix = f"{rows.name}: "
    told = [column for part in rows.parts if isinstance(part, Source) for column in part.cells.report(part.schema)]
    report = ReadingReport(
        rows.name,
        table.num_rows,
        {field.name: field.type for field in table.schema},
        {name: column.null_count for name, column in zip(table.column_names, table.columns, strict=True)},
        (*(note.removeprefix(prefix) for note in rows.notes), *_of_codes(table)),
        {
            column.name: words
            for column in told
            if (words := column.found.in_words()) and column.name in rows.schema.names
        },
    )
    return TableRead(table, report)


def _of_codes(table: "pa.Table") -> list[str]:
    """Say in which columns a number or a day may stand for missing."""
    hints = {name: hint_of_codes(column) for name, column in zip(table.column_names, table.columns, strict=True)}
    return [f"column {name!r}: {hint}" for name, hint in hints.items() if hint]
