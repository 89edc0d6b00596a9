"""Parcels: what is packed comes out as a sum, whatever was empty and however it was joined."""

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayeswater.engines.engine_rows import (
    Parcel,
    errors_found,
    errors_named,
    first_rows,
    in_a_tree,
    in_types,
    packed,
    together,
)
from bayeswater.errors import DataError, SchemaError


@given(st.lists(st.lists(st.integers(-5, 5), max_size=3), min_size=1, max_size=80))
def test_the_sum_of_pieces_is_that_of_all_cells(pieces: list[list[int]]) -> None:
    tables = [pa.table({"x": pa.array(cells, pa.int64())}) for cells in pieces]
    parcel = in_a_tree([packed(_total, [table]) for table in tables], together)
    assert parcel.n_pieces == len(pieces)
    assert parcel.n_rows == sum(map(len, pieces))
    if parcel.n_rows:
        assert parcel.opened("the rows") == sum(map(sum, pieces))
    else:
        with pytest.raises(DataError, match="the rows has no rows"):
            parcel.opened("the rows")


def _total(table: pa.Table) -> int:
    assert table.num_rows  # a piece without rows is never asked
    return sum(table["x"].to_pylist())


def test_bytes_of_all_parcels_are_counted() -> None:
    one = Parcel.of(1, n_rows=1)
    assert one.content is not None
    assert together([one] * 3).n_bytes == 4 * len(one.content)


def test_what_goes_wrong_has_the_name_of_the_piece_and_keeps_its_kind() -> None:
    with pytest.raises(SchemaError, match=r"^piece 7: no such column$"), errors_named("piece 7"):
        raise SchemaError("no such column")
    with pytest.raises(DataError, match=r"^piece 7: KeyError: 'x'$"), errors_named("piece 7"):
        raise KeyError("x")
    with pytest.raises(MemoryError), errors_named("piece 7"):
        raise MemoryError


def test_an_error_is_found_in_the_text_of_a_traceback() -> None:
    cause = "Traceback:\nbayeswater.errors.DataError: cause\n\nDuring the handling:"
    text = f"{cause}\nbayeswater.errors.SchemaError: piece 7: x\n SQLSTATE: 3"
    with pytest.raises(SchemaError, match=r"^piece 7: x$"), errors_found():
        raise RuntimeError(text)
    with pytest.raises(RuntimeError, match="the network"), errors_found():
        raise RuntimeError("the network is gone")


def test_dictionaries_of_other_types_become_those_of_the_frame() -> None:
    types = pa.schema([("x", pa.dictionary(pa.int8(), pa.string())), ("open", pa.null())])
    nothing = pa.DictionaryArray.from_arrays(pa.array([None, None], pa.int16()), pa.nulls(0))
    table = pa.table({"x": nothing, "open": [1, 2]})
    found = in_types(table, types)
    assert found.schema.field("x").type.value_type == pa.string()
    assert found["open"].to_pylist() == [1, 2]


def test_first_rows_of_pieces_with_dictionaries_of_their_own_are_one_table() -> None:
    tables = [pa.table({"x": pa.array(cells).dictionary_encode()}) for cells in (["a", "b"], ["c", "a"])]
    joined = first_rows(tables, tables[0].schema, 3)
    assert joined["x"].to_pylist() == ["a", "b", "c"]
