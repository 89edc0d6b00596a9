"""`CsvForm`: how rows of delimited text are parsed by Arrow, out of memory."""

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING

from bayeswater.data.sources.odd_rows import BadRow, BadRows, padded
from bayeswater.data.sources.written_cells import null_values
from bayeswater.records import record

if TYPE_CHECKING:
    import pyarrow as pa


@record
class CsvForm:
    """What has to be known of a text to parse its rows; see `Layout` and `Reading`."""

    names: tuple[str, ...]
    delimiter: str
    quotes: bool
    decimal: str
    comment: str
    bad_rows: str

    def parsed(
        self,
        block: bytes,
        types: "Mapping[str, pa.DataType | None]",
        marks: tuple[str, ...],
        bad: list[BadRow] | None = None,
    ) -> "pa.Table":
        """Parse columns, or all, of rows; rows of another length that are no error are put into `bad`.

        Without threads of Arrow, since blocks are parsed side by side, and only so are rows numbered in errors.
        """
        import pyarrow as pa
        import pyarrow.csv

        if not block.strip():
            names = list(types or self.names)
            return pa.table([pa.nulls(0, types.get(name, pa.null())) for name in names], names)
        refused = BadRows(self.comment, self.bad_rows)
        reading = pyarrow.csv.ReadOptions(use_threads=False, block_size=len(block) + 1, column_names=list(self.names))
        parsing = pyarrow.csv.ParseOptions(
            delimiter=self.delimiter,
            quote_char='"' if self.quotes else False,
            newlines_in_values=self.quotes,
            invalid_row_handler=refused,
        )
        converting = pyarrow.csv.ConvertOptions(
            column_types={name: kind for name, kind in types.items() if kind is not None},
            include_columns=list(types),
            null_values=null_values(_in_block(marks, block)),
            strings_can_be_null=True,
            decimal_point=self.decimal,
        )
        table = pyarrow.csv.read_csv(pa.BufferReader(block), reading, parsing, converting)
        if refused.found and self.bad_rows == "pad":
            block = padded(block, len(self.names), self.delimiter, quotes=self.quotes)
            parsing.invalid_row_handler = BadRows(self.comment, "error")
            table = pyarrow.csv.read_csv(pa.BufferReader(block), reading, parsing, converting)
        if bad is not None:
            bad += refused.found
        return table


def _in_block(marks: tuple[str, ...], block: bytes) -> tuple[str, ...]:
    """Leave out marks that a block cannot have: Arrow holds every cell against all of them."""
    signs, is_ascii = _signs_of(marks), block.isascii()
    there = {sign for sign in {*signs.values()} if (not is_ascii if not sign else sign in block)}
    return tuple(mark for mark, sign in signs.items() if not mark or sign in there)


@cache
def _signs_of(marks: tuple[str, ...]) -> dict[str, bytes]:
    """Give a byte of each mark that is rare, none where it is beyond ASCII: one is found fast."""
    return {mark: b"" if not mark.isascii() else b"#" if "#" in mark else mark[:1].encode() for mark in marks}
