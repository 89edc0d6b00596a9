"""Types of columns: as people name them, as cells of text look, and cells brought into them."""

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from bayeswater.errors import DataError, ParameterError, PrecisionWarning, nearest_names, warn_user

if TYPE_CHECKING:
    import pyarrow as pa


class Misfit(DataError):
    """A cell that is not of the type which its column has to have: `where` it stands, its column, and the way out."""

    where: str
    column: str
    cell: Any
    kind: "pa.DataType | str"
    way_out: str
    row = 0
    """Its place among the cells that were read with it."""

    @classmethod
    def of(cls, where: str, column: str, cell: Any, kind: "pa.DataType | str", way_out: str) -> "Misfit":
        """Say what is wrong in a sentence, and keep its parts for who knows more of the column."""
        error = cls(f"{where}, column {column!r} holds {cell!r}, which is no {spoken(kind)}; {way_out}")
        error.where, error.column, error.cell, error.kind, error.way_out = where, column, cell, kind, way_out
        return error


def spoken(kind: "pa.DataType | str") -> str:
    """Name a type as people do.

    >>> import pyarrow
    >>> spoken(pyarrow.int64()), spoken(pyarrow.float64()), spoken("time of day")
    ('whole number', 'number', 'time of day')
    """
    named = {"int64": "whole number", "double": "number", "bool": "boolean", "date32[day]": "date"}
    return "time stamp" if str(kind).startswith("timestamp") else named.get(str(kind), str(kind))


STRETCH = 2**12
"""Cells that are cast at once to see whether they fit."""


def type_named(name: str) -> "pa.DataType":
    """Give the type that a person names.

    >>> type_named("string"), type_named("number")
    (DataType(string), DataType(double))
    """
    import pyarrow as pa

    known = {
        "string": pa.string(),
        "number": pa.float64(),
        "integer": pa.int64(),
        "boolean": pa.bool_(),
        "date": pa.date32(),
        "timestamp": pa.timestamp("us"),
    }
    synonyms = {"str": "string", "float": "number", "double": "number", "int": "integer", "bool": "boolean"}
    found = known.get(synonyms.get(name, name))
    if found is None:
        raise ParameterError(f"there is no type {name!r}; {nearest_names(name, [*known])}")
    return found


def candidate_types() -> "list[pa.DataType]":
    """Types that cells of text may look like, in the order in which they are tried; all can be a string."""
    import pyarrow as pa

    return [pa.int64(), pa.float64(), pa.bool_(), pa.date32(), pa.timestamp("s"), pa.timestamp("ns"), pa.string()]


def fits(cells: "pa.ChunkedArray", kind: "pa.DataType") -> bool:
    """Say whether all cells can be read as a type.

    Asked stretch by stretch: Arrow words an error for every cell that does not fit, though only one is told.
    """
    import pyarrow as pa

    try:
        for start in range(0, len(cells), STRETCH):
            cells.slice(start, STRETCH).cast(kind)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return False
    return True


def are_whole(cells: "pa.ChunkedArray") -> bool:
    """Say whether all cells are written as whole numbers."""
    import pyarrow.compute as pc

    return bool(pc.all(pc.match_substring_regex(cells, pattern=r"^[-+]?\d+$")).as_py())


def without_digits(cells: "pa.ChunkedArray") -> set[str]:
    """Give the different whole numbers among the cells that are too long for a float64.

    One may be a number like no other that stands for missing cells; several are codes, of which two would become one.

    >>> import pyarrow
    >>> sorted(without_digits(pyarrow.chunked_array([["12345678901234567890", "100000000000000000000", "7"]])))
    ['12345678901234567890']
    """
    import pyarrow.compute as pc

    long = cells.filter(pc.match_substring_regex(cells, pattern=r"^[-+]?\d{16,}$")).unique()
    return {cell for cell in long.to_pylist() if Decimal(cell) != Decimal(float(cell))}


def cast_columns(table: "pa.Table", types: "Mapping[str, pa.DataType]", where: str, first_row: int) -> "pa.Table":
    """Bring the columns that are named in `types` into them; a cell that does not fit is named by file and row."""
    import pyarrow as pa

    for place, name in enumerate(table.column_names):
        column, kind = table.column(place), types.get(name)
        if kind is None or column.type == kind:
            continue
        if pa.types.is_integer(kind) and pa.types.is_floating(column.type):
            column = with_gaps(column)  # a gap has made whole numbers floats
        try:
            column = column.cast(kind)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            row = first_misfit(column, kind)
            of_row, cell = f"{where}: row {first_row + row + 1}", column[row].as_py()
            raise Misfit.of(of_row, name, cell, kind, "correct the cell, or leave it empty") from None
        table = table.set_column(place, pa.field(name, kind), column)
    return table


def said_by_types(name: str, kind: str = "string") -> str:
    """Say how the type of a column is told.

    >>> said_by_types("zip")
    "say what the column holds, for example bayeswater.local_rows(source, types={'zip': 'string'})"
    """
    return f"say what the column holds, for example bayeswater.local_rows(source, types={{{name!r}: {kind!r}}})"


def plain_type(kind: "pa.DataType") -> "pa.DataType":
    """Give strings for views of strings, in which few functions of Arrow are at home; other types as they are.

    >>> import pyarrow as pa
    >>> plain_type(pa.string_view()), plain_type(pa.int8())
    (DataType(string), DataType(int8))
    """
    import pyarrow as pa

    if pa.types.is_dictionary(kind) and pa.types.is_string_view(kind.value_type):
        return pa.dictionary(kind.index_type, pa.string(), kind.ordered)
    return pa.string() if pa.types.is_string_view(kind) else kind


def without_views(table: "pa.Table") -> "pa.Table":
    """Bring views of strings, as columns and as the labels of dictionaries, to strings."""
    import pyarrow as pa

    for place, field in enumerate(table.schema):
        kind = plain_type(field.type)
        if kind == field.type:
            continue
        column = table.column(place)
        if pa.types.is_dictionary(kind):
            parts = [(chunk.indices, chunk.dictionary.cast(pa.string())) for chunk in column.chunks]
            chunks = [pa.DictionaryArray.from_arrays(*part, ordered=kind.ordered) for part in parts]
            column = pa.chunked_array(chunks, kind)
        else:
            column = column.cast(kind)
        table = table.set_column(place, field.with_type(kind), column)
    return table


def wider_type(a: "pa.DataType", b: "pa.DataType") -> "pa.DataType | None":
    """Give the type that holds the cells of both, None where there is none: text is no number, and truths are neither.

    >>> import pyarrow as pa
    >>> wider_type(pa.int32(), pa.float64()), wider_type(pa.string(), pa.int64())
    (DataType(double), None)
    """
    import pyarrow as pa

    if a == b:
        return a
    if pa.types.is_dictionary(a) != pa.types.is_dictionary(b):
        return wider_type(*(kind.value_type if pa.types.is_dictionary(kind) else kind for kind in (a, b)))
    if pa.types.is_date(a) or pa.types.is_date(b):
        moments = [kind for kind in (a, b) if pa.types.is_timestamp(kind) and kind.tz is None]
        if moments:
            return moments[0]
    if all(map(pa.types.is_string_view, (a, b))) != any(map(pa.types.is_string_view, (a, b))):
        return wider_type(*(pa.large_string() if pa.types.is_string_view(kind) else kind for kind in (a, b)))
    both = [pa.schema([("", kind)]) for kind in (a, b)]
    try:
        return pa.unify_schemas(both, promote_options="permissive").field(0).type
    except pa.ArrowTypeError:
        return None


def whole_numbers(cells: "pa.ChunkedArray", kind: "pa.DataType") -> "pa.ChunkedArray | None":
    """Give numbers in a type of integers, where that loses nothing, else None; NaN is a gap.

    >>> import pyarrow as pa
    >>> gap = pa.chunked_array([[1.0, float("nan")]])
    >>> whole_numbers(gap, pa.int8()).to_pylist(), whole_numbers(pa.chunked_array([[0.5]]), pa.int8())
    ([1, None], None)
    """
    import pyarrow as pa

    is_float = pa.types.is_floating(cells.type)
    if not (pa.types.is_integer(kind) and (is_float or pa.types.is_integer(cells.type))):
        return None
    if is_float:
        cells = with_gaps(cells)
    return cells.cast(kind) if fits(cells, kind) else None


def with_fractions(cells: "pa.ChunkedArray", field: "pa.Field", where: str) -> "pa.ChunkedArray":
    """Give whole numbers in a type with fractions, rounded as those are that are written with a point.

    A warning names the column and the file where different numbers may have become one.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    try:
        return cells.cast(field.type)
    except pa.ArrowInvalid:  # one of them is large, and may be a power of two all the same
        rounded = cells.cast(field.type, safe=False)
    if not pc.all(pc.equal(rounded.cast(cells.type, safe=False), cells)).as_py():
        warn_user(
            f"{where}: column {field.name!r} holds whole numbers beyond 2**53, which are rounded, so that different "
            f"ones may become one: the column is read as {field.type}, since other rows have fractions or gaps; to "
            f"keep them apart, {said_by_types(field.name, 'integer')}",
            PrecisionWarning,
        )
    return rounded


def with_gaps(numbers: "pa.ChunkedArray") -> "pa.ChunkedArray":
    """Give numbers with fractions, null where they are NaN.

    >>> import pyarrow as pa
    >>> with_gaps(pa.chunked_array([[1.0, float("nan")]])).to_pylist()
    [1.0, None]
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    return pc.if_else(pc.is_nan(numbers), pa.scalar(None, numbers.type), numbers)


def first_misfit(cells: "pa.ChunkedArray", kind: "pa.DataType") -> int:
    """Find the first cell that does not fit, by halving."""
    low, high = 0, len(cells)  # cells before `low` fit, and one before `high` does not
    while high - low > 1:
        middle = (low + high) // 2
        if fits(cells.slice(low, middle - low), kind):
            low = middle
        else:
            high = middle
    return low


def as_types(pairs: Iterable[str]) -> "dict[str, pa.DataType]":
    """Read types given as ``column=type``.

    >>> as_types(["zip=string"])
    {'zip': DataType(string)}
    """
    found = {}
    for pair in pairs:
        name, equals, kind = pair.rpartition("=")
        if not equals:
            raise ParameterError(f"{pair!r} names no type; write column=type, for example zip=string")
        found[name] = type_named(kind)
    return found
