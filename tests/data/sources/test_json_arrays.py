"""An array of objects is a table only where it is one array: what is broken is refused, and not guessed at."""

import json

import pandas as pd
import pytest

from bayeswater.data.sources import json_arrays
from bayeswater.data.sources.recognising import open_source
from bayeswater.errors import DataError


def read(path, text):
    path.write_text(text)
    return [row for table in open_source(path).batches() for row in table.to_pylist()]


@pytest.mark.parametrize("piece_bytes", [1, 2**20])
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[{"a":1}{"a":2}]', "element 2 of the array follows without a comma"),
        ('[{"a":1},,{"a":2}]', "element 2 of the array is no JSON"),
        ('[,{"a":1}]', "element 1 of the array is no JSON"),
        ('[{"a":1},]', "element 2 of the array is no JSON"),
        ('[[{"a":1}]]', "element 1 of the array is no JSON object but"),
        ('[{"a":1}] junk', "behind the end of the array stands 'j"),
        ('[{"a":1}][{"a":2}]', "behind the end of the array stands"),
        ('[{"a":1}]]', "behind the end of the array stands"),
        ('[{"a":1},', "element 2 of the array is no JSON"),
    ],
)
def test_an_array_has_one_comma_between_objects_and_nothing_behind_it(
    tmp_path, monkeypatch, text, message, piece_bytes
):
    monkeypatch.setattr(json_arrays, "PIECE_BYTES", piece_bytes)
    with pytest.raises(DataError, match=rf"t\.json: {message}"):
        read(tmp_path / "t.json", text)
    assert read(tmp_path / "u.json", ' [ {"a":1}\n,\n{"a":2} ] \n') == [{"a": 1}, {"a": 2}]


def test_what_stands_behind_an_array_is_found_beyond_the_beginning_of_a_file(tmp_path, monkeypatch):
    monkeypatch.setattr("bayeswater.data.sources.json_lines.BLOCK_BYTES", 50)
    monkeypatch.setattr(json_arrays, "PIECE_BYTES", 20)
    text = "[" + ",".join(f'{{"a": {n}}}' for n in range(50)) + "]"
    assert len(read(tmp_path / "t.json", text)) == 50
    with pytest.raises(DataError, match="behind the end of the array stands"):
        read(tmp_path / "t.json", text + "junk")


def test_an_array_that_is_nested_very_deep_is_refused_in_words(tmp_path):
    with pytest.raises(DataError, match=r"t\.json: element 1 of the array is nested too deeply"):
        read(tmp_path / "t.json", '[{"a":' + "[" * 20_000 + "]" * 20_000 + "}]")


@pytest.mark.parametrize("text", ['{"n": 2, "data": [{"a": 1}, {"a": 2}]}', '{\n "data": [\n  {"a": 1}\n ]\n}\n'])
def test_an_object_around_the_rows_is_pointed_to_them(tmp_path, text):
    with pytest.raises(DataError, match=r"t\.json is one object, .* the list 'data' in it; write that list alone"):
        read(tmp_path / "t.json", text)


@pytest.mark.parametrize("orient", ["columns", "index", "list"])
def test_a_table_that_is_written_by_columns_is_refused_with_the_way_out(tmp_path, orient):
    frame = pd.DataFrame({"a": [1, 2], "x": ["p", "q"]})
    text = json.dumps(frame.to_dict("list")) if orient == "list" else frame.to_json(orient=orient)
    with pytest.raises(DataError, match="columns and not rows; write an array of objects"):
        read(tmp_path / "table.json", text)
