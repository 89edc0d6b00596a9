"""Files of SPSS (.sav, .zsav, .por), Stata (.dta) and SAS (.sas7bdat, .xpt), read by pyreadstat.

A column of which all values have labels becomes these: they are its states, in the order of the values. Where only some
have one, as 98 for "refused" among ages, the values stay. What is declared missing is missing, and so is an empty text.
The rows are held in memory, and how much they take is forecast by what the file says of itself.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayeswater.data.cells import is_missing
from bayeswater.data.sources.source import batch_rows
from bayeswater.data.sources.whole_files import HeldSource, column_of_cells, library
from bayeswater.errors import DataError
from bayeswater.limits import require_held_bytes

if TYPE_CHECKING:
    import pyarrow as pa

READERS = {
    ".sav": "read_sav",
    ".zsav": "read_sav",
    ".por": "read_por",
    ".dta": "read_dta",
    ".sas7bdat": "read_sas7bdat",
    ".xpt": "read_xport",
}
"""How pyreadstat calls what reads a file, by the ending of its name."""

NUMBER_BYTES = 8

MOST_ROWS = 2**15
"""Rows that are read at once: each cell is an object of Python for a moment."""


class StatisticsSource(HeldSource):
    """Rows of a file of SPSS, Stata or SAS."""

    def _loaded(self) -> "pa.Table":
        import pyarrow as pa

        described = self._given(metadataonly=True)[1]
        names, widths = described.column_names, described.variable_storage_width
        row_bytes = sum(max(int(widths.get(name) or 0), NUMBER_BYTES) for name in names)
        require_held_bytes(
            row_bytes * (described.number_rows or 0), f"the rows of {self.name}", "export fewer columns, or to CSV"
        )
        pieces: list[list[pa.Array]] = []
        n_at_once = min(batch_rows(len(names)), MOST_ROWS)
        while not pieces or (pieces[-1] and len(pieces[-1][0]) == n_at_once):
            cells, _ = self._given(row_offset=n_at_once * len(pieces), row_limit=n_at_once)
            pieces.append([_cells(cells[name]) for name in names])
        columns = [
            self._column(name, list(chunks), described.variable_value_labels.get(name, {}))
            for name, chunks in zip(names, zip(*pieces, strict=True), strict=True)
        ]
        return pa.table(columns, names=names)

    def _given(self, **how: Any) -> Any:
        """Ask pyreadstat for cells, or for what the file says of itself."""
        path = self.origin.whole_file("a file of statistics")
        pyreadstat = library("pyreadstat", "statistics", f"{self.name}: a file of SPSS, Stata or SAS")
        reader = READERS.get(Path(path).suffix.lower())
        if reader is None:
            raise DataError(f"{self.name}: its name ends in none of {', '.join(READERS)}; rename it")
        try:
            return getattr(pyreadstat, reader)(path, output_format="dict", **how)
        except Exception as error:
            raise DataError(f"{self.name}: {error}; is the file whole?") from None

    def _column(self, name: str, chunks: "list[pa.Array]", labels: dict[Any, str]) -> "pa.ChunkedArray":
        """Put the pieces of a column together, in whole numbers where all are, or in labels where all have one."""
        import pyarrow as pa
        import pyarrow.compute as pc

        kind = next((chunk.type for chunk in chunks if not pa.types.is_null(chunk.type)), pa.null())
        column = pa.chunked_array([chunk.cast(kind) for chunk in chunks], kind)
        values = column.drop_null().unique()
        if labels and set(values.to_pylist()) <= labels.keys():
            states = list(dict.fromkeys(labels.values()))
            place = {value: states.index(label) for value, label in labels.items()}
            codes = pa.array([None if value is None else place[value] for value in column.to_pylist()], pa.int32())
            return pa.chunked_array([pa.DictionaryArray.from_arrays(codes, pa.array(states, pa.string()))])
        if labels:
            self.note(f"only some values of {name!r} have labels, as {next(iter(labels.values()))!r}; its values stay")
        if pa.types.is_floating(kind) and pc.all(pc.equal(values, pc.floor(values))).as_py() and len(values):
            return column.cast(pa.int64()) if pc.max(pc.abs(values)).as_py() < 2**53 else column
        return column


def _cells(cells: Iterable[Any]) -> "pa.Array":
    """Make an array of a piece of a column: numbers with fractions, dates, or texts that are not empty."""
    import pyarrow as pa

    known = [None if is_missing(cell) or cell == "" else cell for cell in cells]
    if all(cell is None for cell in known):
        return pa.nulls(len(known))
    if all(cell is None or isinstance(cell, int | float) for cell in known):
        return pa.array(known, pa.float64())
    return column_of_cells(known)
