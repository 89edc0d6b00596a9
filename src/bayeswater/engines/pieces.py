"""The rows of a piece in the types that all pieces have.

Engines promise types and do not always keep them: a partition without a single value may have another type, and every
partition may have a dictionary of its own. Labels are aligned where sums are added, so dictionaries may differ; only
the type of their labels is made the same.
"""

from typing import TYPE_CHECKING

from bayeswater.data.sources.column_types import cast_columns

if TYPE_CHECKING:
    import pyarrow as pa


def in_types(table: "pa.Table", types: "pa.Schema") -> "pa.Table":
    """Bring the columns into types; those of type null are open and stay as they are.

    Raises
    ------
    DataError
        Where a cell does not fit: with its row in the piece, its column, and the fix.
    """
    import pyarrow as pa

    wanted = {field.name: field.type for field in types if not pa.types.is_null(field.type)}
    for place, name in enumerate(table.column_names):
        column, kind = table.column(place), wanted.get(name)
        if kind is None or not (pa.types.is_dictionary(kind) and pa.types.is_dictionary(column.type)):
            continue
        del wanted[name]
        if column.type.value_type != kind.value_type:
            table = table.set_column(place, name, _with_labels(column, kind.value_type))
    return cast_columns(table, wanted, "by the types of the frame", 0)


def _with_labels(column: "pa.ChunkedArray", kind: "pa.DataType") -> "pa.ChunkedArray":
    import pyarrow as pa

    chunks = [
        pa.DictionaryArray.from_arrays(chunk.indices, chunk.dictionary.cast(kind), ordered=chunk.type.ordered)
        for chunk in column.chunks
    ]
    return pa.chunked_array(chunks, pa.dictionary(column.type.index_type, kind, column.type.ordered))


def first_rows(tables: "list[pa.Table]", types: "pa.Schema", n_rows: int) -> "pa.Table":
    """Join the first rows of pieces, whose dictionaries may differ, into one table."""
    import pyarrow as pa

    some = [table for table in tables if table.num_rows] or [types.empty_table()]
    return pa.concat_tables(some, promote_options="permissive").slice(0, n_rows).unify_dictionaries()
