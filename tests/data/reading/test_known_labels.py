"""Columns of integers and dictionaries, read from their buffers: the same codes as the encoder that looks at labels."""

import numpy as np
import pyarrow as pa
import pytest

from bayeswater.data.reading.known_labels import write_known_codes
from bayeswater.data.variable import Variable

LEVELS = Variable("level", ("low", "mid", "high"))
CODES = Variable("code", range(5))


def read(column, variable) -> list[int] | None:
    column = column if isinstance(column, pa.ChunkedArray) else pa.chunked_array([column])
    codes = np.full(len(column), 99, dtype=np.uint8)
    return codes.tolist() if write_known_codes(column, variable, codes) else None


@pytest.mark.parametrize("kind", ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"])
def test_integers_of_every_width_are_codes(kind):
    assert read(pa.array([0, 4, None, 2], type=kind), CODES) == [0, 4, 5, 2]
    assert read(pa.array([3, 1], type=kind), CODES) == [3, 1]


@pytest.mark.parametrize("value", [5, 100, -1, -128])
def test_an_integer_that_is_no_code_is_left_to_others(value):
    assert read(pa.array([0, value], type="int8"), CODES) is None
    assert read(pa.array([0, value, None], type="int64"), CODES) is None


@pytest.mark.parametrize("index", ["int8", "uint8", "int32", "int64"])
def test_a_dictionary_is_matched_by_label(index):
    column = (
        pa.array(["high", None, "low", "high"])
        .dictionary_encode()
        .cast(pa.dictionary(pa.type_for_alias(index), pa.string()))
    )
    assert read(column, LEVELS) == [2, 3, 0, 2]


def test_a_dictionary_that_fills_its_index_kind_leaves_room_for_missing_cells():
    labels = [f"{i:03}" for i in range(128)]
    column = pa.DictionaryArray.from_arrays(pa.array([127, None], pa.int8()), pa.array(labels))
    assert read(column, Variable("v", tuple(labels))) == [127, 128]


def test_every_chunk_has_a_dictionary_of_its_own():
    chunks = [pa.array(part).dictionary_encode() for part in (["high", "low"], ["mid", None], ["low"])]
    assert read(pa.chunked_array(chunks), LEVELS) == [2, 0, 1, 3, 0]
    assert read(pa.chunked_array([], type=chunks[0].type), LEVELS) == []


def test_a_missing_label_in_the_dictionary_is_a_missing_cell():
    column = pa.DictionaryArray.from_arrays(pa.array([0, 1, 0]), pa.array([None, "low"]))
    assert read(column, LEVELS) == [3, 0, 3]


def test_a_label_that_is_no_state_is_left_to_others_though_no_cell_has_it():
    assert read(pa.DictionaryArray.from_arrays(pa.array([0]), pa.array(["low", "none"])), LEVELS) is None


def test_other_kinds_of_columns_are_left_to_others():
    assert read(pa.array(["low"]), LEVELS) is None
    assert read(pa.array([0.0]), CODES) is None
    assert read(pa.array([0]), LEVELS) is None
    assert read(pa.array([True]).dictionary_encode(), Variable("flag", (False, True))) is None


@pytest.mark.parametrize("start", [1, 3, 8, 13])
def test_a_slice_begins_in_the_middle_of_a_byte(start):
    rng = np.random.default_rng(0)
    cells = [None if gap else int(code) for gap, code in zip(rng.random(60) < 0.4, rng.integers(0, 5, 60), strict=True)]
    expected = [5 if cell is None else cell for cell in cells]
    assert read(pa.array(cells, type="int16").slice(start, 30), CODES) == expected[start : start + 30]
    labels = [None if cell is None or cell > 2 else LEVELS.states[cell] for cell in cells]
    column = pa.array(labels).dictionary_encode().slice(start, 30)
    assert read(column, LEVELS) == [3 if code > 2 else code for code in expected[start : start + 30]]
