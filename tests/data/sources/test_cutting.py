"""Batches are cut by a rule of the rows alone: however they are divided into pieces, the batches are the same."""

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayeswater.data.frames import STORED
from bayeswater.data.row_places import Stretch
from bayeswater.data.sources import cutting
from bayeswater.data.sources.cutting import PartPiece, cut_batches, text_bytes
from bayeswater.data.sources.parts import START, DecodedPiece, Mark, Place


@pytest.fixture(autouse=True)
def small_batches(monkeypatch):
    monkeypatch.setattr(cutting, "GRID_ROWS", 4)
    monkeypatch.setattr(cutting, "BATCH_BYTES", 50)


def divided(table: pa.Table, parts: list[list[int]]) -> list[PartPiece]:
    """Divide the rows of a table into parts of pieces of so many rows; what is left is one part more."""
    pieces, done = [], 0
    left = table.num_rows - sum(map(sum, parts))
    for number, lengths in enumerate([*parts, [left]]):
        in_part = 0
        for length in lengths:
            pieces.append(PartPiece(number, f"part {number}", DecodedPiece(table.slice(done, length), Mark(in_part))))
            done, in_part = done + length, in_part + length
    return pieces


tables = st.lists(st.text("ab", max_size=30), min_size=1, max_size=60).map(
    lambda words: pa.table({"n": range(len(words)), "s": words})
)
divisions = st.lists(st.lists(st.integers(0, 9), max_size=4), max_size=4)


@given(tables, divisions, st.integers(1, 20))
def test_batches_do_not_depend_on_the_pieces(table, parts, n_rows):
    if sum(map(sum, parts)) > table.num_rows:
        parts = []
    whole = [batch.table.to_pylist() for batch in cut_batches(divided(table, []), n_rows)]
    cut = list(cut_batches(divided(table, parts), n_rows))
    assert [batch.table.to_pylist() for batch in cut] == whole
    assert [row for rows in whole for row in rows] == table.to_pylist()
    assert [batch.place.n_batches for batch in cut] == list(range(1, len(cut) + 1))
    assert cut[-1].place.n_rows == table.num_rows


@given(tables, divisions, st.integers(1, 20))
def test_stretches_say_where_each_row_of_a_batch_stands(table, parts, n_rows):
    if sum(map(sum, parts)) > table.num_rows:
        parts = []
    pieces = divided(table, parts)
    row_in = {  # (part, row in it) -> the row
        (piece.name, piece.piece.mark.row + i): row
        for piece in pieces
        for i, row in enumerate(piece.piece.table.to_pylist())
    }
    for batch in cut_batches(pieces, n_rows):
        named = [row_in[name, n_before + i] for name, n_before, n in batch.stretches for i in range(n)]
        assert named == batch.table.to_pylist()


@given(tables, divisions, st.integers(1, 20))
def test_from_the_place_behind_a_batch_the_same_batches_follow(table, parts, n_rows):
    if sum(map(sum, parts)) > table.num_rows:
        parts = []
    pieces = divided(table, parts)
    cut = list(cut_batches(pieces, n_rows))
    for batch in cut:
        place = Place(*batch.place)
        left = [p for p in pieces if (p.part, p.piece.mark.row) >= (place.part, place.mark_row)]
        for rest in (pieces, left):  # also where those before the mark are left out
            again = list(cut_batches(rest, n_rows, place))
            assert [b.table.to_pylist() for b in again] == [b.table.to_pylist() for b in cut[place.n_batches :]]
            assert [b.place for b in again] == [b.place for b in cut[place.n_batches :]]


def test_long_texts_end_a_batch_at_the_next_line_of_the_grid():
    table = pa.table({"s": ["x" * 9] * 20})  # 50 bytes are reached within the sixth row
    assert [batch.table.num_rows for batch in cut_batches(divided(table, []), 100)] == [8, 8, 4]


def test_a_column_that_only_some_pieces_keep_as_a_dictionary_is_written_out():
    coded = pa.table(
        [pa.array(["a", "b"]).dictionary_encode()],
        pa.schema([pa.field("s", pa.dictionary(pa.int32(), pa.string()), metadata=STORED)]),
    )
    plain = pa.table({"s": ["c"]})
    pieces = [PartPiece(0, "p", DecodedPiece(coded, Mark())), PartPiece(1, "q", DecodedPiece(plain, Mark()))]
    (batch,) = cut_batches(pieces, 10)
    assert batch.table.equals(pa.table({"s": ["a", "b", "c"]}))
    (first, second) = cut_batches(pieces, 2)
    assert first.table.schema.field("s").metadata == STORED
    assert second.table.schema.field("s").type == pa.string()


def test_stretches_of_one_part_are_told_as_one():
    (batch,) = cut_batches(divided(pa.table({"n": range(9)}), [[2, 3], [1]]), 100)
    assert batch.stretches == (Stretch("part 0", 0, 5), Stretch("part 1", 0, 1), Stretch("part 2", 0, 3))


def test_bytes_of_texts_are_those_of_the_rows_and_not_of_the_memory_behind_them():
    table = pa.table({"n": [1, 2, 3], "s": ["aa", None, "ä"], "l": pa.array(["b", "", "ccc"], pa.large_string())})
    assert text_bytes(table) == 2 + 2 + 1 + 3
    assert text_bytes(table.slice(2)) == 2 + 3
    assert text_bytes(table.slice(3)) == 0


def test_no_pieces_give_no_batches():
    assert list(cut_batches([], 10)) == []
    assert list(cut_batches(divided(pa.table({"n": []}), []), 10, START)) == []
