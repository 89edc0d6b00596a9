"""JSON lines in batches: members that come and go, types that change, lines that are none."""

import io
import json
from itertools import product
from typing import Any

import pyarrow as pa
import pytest

from bayeswater import NaiveBayes, read_table
from bayeswater.data.sources import json_lines
from bayeswater.data.sources.recognising import local_rows, open_source
from bayeswater.data.sources.source import TypesWidened
from bayeswater.data.sources.whole import whole_table
from bayeswater.errors import BayesWarning, DataError, SchemaError


def piped(content: bytes | str, **options: Any) -> Any:
    content = content if isinstance(content, bytes) else content.encode()
    return open_source("-", "jsonl", standard_input=io.BytesIO(content), **options)


def rows_of(source: Any) -> list[dict[str, Any]]:
    return pa.concat_tables(source.batches()).to_pylist()


@pytest.fixture
def small_blocks(monkeypatch: Any) -> None:
    monkeypatch.setattr(json_lines, "BLOCK_BYTES", 64)


def test_members_that_are_not_there_are_missing_and_empty_lines_are_no_rows():
    rows = rows_of(piped('{"a": 1, "b": "x"}\n\n{"b": null}\n{"a": 2.5}'))
    assert rows == [{"a": 1.0, "b": "x"}, {"a": None, "b": None}, {"a": 2.5, "b": None}]


def test_a_byte_order_mark_is_no_part_of_the_first_line():
    assert rows_of(piped(b'\xef\xbb\xbf{"a": 1}\n')) == [{"a": 1}]


def test_texts_of_all_languages_and_escapes():
    cells = ["青绿", 'a "quoted" word', "line\nbreak", "😀", "é"]
    assert [row["s"] for row in rows_of(piped("".join(json.dumps({"s": cell}) + "\n" for cell in cells)))] == cells


@pytest.mark.parametrize(
    ("last", "kind"),
    [('{"a": 1.5}', pa.float64()), ('{"a": 1, "b": "new"}', pa.int64())],
)
def test_types_and_members_that_come_late_lead_to_types_that_fit_all_lines(tmp_path, small_blocks, last, kind):
    path = tmp_path / "late.jsonl"
    path.write_text('{"a": 1}\n' * 50 + last + "\n")
    source = open_source(path)
    with pytest.raises(TypesWidened, match=r"late\.jsonl: after line \d+"):
        rows_of(source)
    assert source.schema.field("a").type == kind
    assert rows_of(source)[50] == json.loads(last)


@pytest.mark.filterwarnings("ignore:column '(b|c.b)' has one value")
@pytest.mark.parametrize(
    ("late", "name"), [('{"a": 1, "b": "x", "y": 1}', "b"), ('{"a": 1, "c": {"b": "x"}, "y": 1}', "c.b")]
)
def test_a_member_that_comes_late_is_a_column_of_what_is_read_and_learned(tmp_path, small_blocks, late, name):
    path = tmp_path / "late.jsonl"
    path.write_text('{"a": 1, "y": 0}\n{"a": 2, "y": 1}\n' * 50 + f"{late}\n" * 20)
    with pytest.warns(BayesWarning, match="cells of other types or columns"):
        assert {*read_table(path).table.column_names} == {"a", name, "y"}
    for columns, learned in ((None, {"a", name}), (["a", "y"], {"a"})):
        with pytest.warns(BayesWarning, match="cells of other types or columns"):
            model = NaiveBayes().fit(local_rows(path, columns=columns), target="y")
        assert {column.name for column in model.columns_} == learned


def test_a_date_that_turns_out_to_be_text_is_text(tmp_path, small_blocks):
    path = tmp_path / "late.jsonl"
    path.write_text('{"a": "2024-01-01"}\n' * 50 + '{"a": "soon"}\n')
    source = open_source(path)
    with pytest.raises(TypesWidened):
        rows_of(source)
    assert rows_of(source)[50] == {"a": "soon"}


def test_a_pipe_cannot_be_read_again(small_blocks):
    with pytest.raises(DataError, match="cannot be read again from the start; give a file") as refusal:
        rows_of(piped('{"a": 1}\n' * 50 + '{"a": 1.5}\n'))
    assert not isinstance(refusal.value, TypesWidened)


def test_types_that_are_asked_for_need_no_second_reading(small_blocks):
    rows = rows_of(piped('{"a": 1}\n' * 50 + '{"a": 1.5}\n', types={"a": pa.float64()}))
    assert rows[50] == {"a": 1.5}
    assert rows_of(piped('{"a": 1}\n', types={"a": pa.string()})) == [{"a": "1"}]


def test_members_that_nobody_asked_for_may_be_of_any_type(small_blocks):
    source = piped('{"a": 1, "b": 2}\n' * 50 + '{"a": 1, "b": "x", "c": 3}\n')
    assert pa.concat_tables(source.batches(["a"])).num_rows == 51


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"a": 1}\n{"a": 2\n', r"line 2 is no JSON: .*; write one object on each line"),
        ('{"a": 1}\n[{"a": 2}]', "line 2 is no JSON object but"),
        ('{"a": 1}\n5\n', "line 2 is no JSON object but '5'"),
        ('{"a": 1}\n{"a": "x"}\n', "after line 1, column 'a' holds text, and numbers before it"),
        ('{"a": true}\n{"a": {}}\n', "after line 1, column 'a' holds objects, and truths before it"),
        (b'{"a": "\xc7\xe0"}\n', "line 1 is not text in UTF-8"),
        ("", "standard input is empty"),
        ("\n \n", "standard input is empty"),
    ],
)
def test_lines_that_are_no_rows_are_refused_by_number(content, message):
    with pytest.raises(DataError, match=f"standard input.*{message.removeprefix('standard input')}"):
        rows_of(piped(content))


@pytest.mark.parametrize("n_lines", [40, 45])  # at the end of a block, where each is of one type, and within one
def test_text_among_numbers_far_down_is_refused_by_line_and_column(tmp_path, monkeypatch, n_lines):
    monkeypatch.setattr(json_lines, "BLOCK_BYTES", 10 * len('{"a": 1}\n'))
    path = tmp_path / "mixed.jsonl"
    path.write_text('{"a": 1}\n' * n_lines + '{"a": "x"}\n' * 20)
    message = rf"mixed\.jsonl: after line {n_lines}, column 'a' holds (text|string), and (numbers|int64) before it"
    with pytest.raises(DataError, match=message):
        rows_of(open_source(path))


def test_text_among_numbers_within_an_object_is_refused_by_line_and_column(tmp_path):
    path = tmp_path / "mixed.jsonl"
    path.write_text('{"user": {"age": 1}}\n' * 40 + '{"user": {"age": "x"}}\n')
    with pytest.raises(DataError, match=r"after line 40, column 'user\.age' holds text, and numbers before it"):
        read_table(path)


def test_a_file_without_lines_is_refused_before_it_fills_the_memory(monkeypatch, small_blocks):
    monkeypatch.setattr(json_lines, "LONGEST_LINE", 1000)
    with pytest.raises(DataError, match="is it JSON lines"):
        list(json_lines.JsonLinesSource._blocks(piped(b"1," * 5000)))


# ---------------------------------------------------------------------- several files


def test_a_member_that_no_line_of_a_file_has_is_missing_in_all_of_them(tmp_path):
    (tmp_path / "0.jsonl").write_text('{"y": "a"}\n{"y": "b"}\n')
    (tmp_path / "1.jsonl").write_text('{"x": 5, "y": "a"}\n')
    rows = local_rows(str(tmp_path / "*.jsonl"))
    assert rows.head(["x", "y"]).to_pydict() == {"x": [None, None, 5], "y": ["a", "b", "a"]}
    assert rows.head(["x"])["x"].to_pylist() == [None, None, 5]
    with pytest.raises(SchemaError, match=r"0\.jsonl: there is no column 'z'; there are 'y'"):
        local_rows(str(tmp_path / "*.jsonl"), columns=["y", "z"]).head(["y"])


def test_a_column_that_all_files_must_have_is_named_with_the_file_that_lacks_it(tmp_path):
    (tmp_path / "0.jsonl").write_text('{"x": 1, "y": "a"}\n')
    (tmp_path / "1.jsonl").write_text('{"x": 2}\n')
    with pytest.raises(SchemaError, match=r"1\.jsonl has no column 'y', which .*0\.jsonl has"):
        local_rows(str(tmp_path / "*.jsonl")).require_in_all_parts("y")


@pytest.mark.parametrize("inner", ["", "\n", '"]]]",', r'"\"]",', r'"\n", "]]",', r'"\\", "]",'])
def test_a_line_that_is_nested_very_deep_is_refused_before_arrow_ends_the_process(tmp_path, inner):
    path, depth = tmp_path / "t.jsonl", 20_000
    path.write_text('{"a": 1}\n{"b":' + f"[{inner}" * depth + "1" + "]" * depth + "}\n")
    with pytest.raises(DataError, match=r"t\.jsonl: .*(recursion|deep|line 2 is no JSON)"):
        list(open_source(path).batches())


def test_many_lists_beside_one_another_are_not_deep(tmp_path):
    path = tmp_path / "t.jsonl"
    path.write_text('{"a": [' + ",".join(["[1]"] * 500) + "]}\n")
    assert [table.num_rows for table in open_source(path).batches()] == [1]


@pytest.mark.parametrize(("held", "written"), [("2", "02.01.2024"), ("2", "yes"), ("true", "02.01.2024")])
def test_what_is_held_as_no_string_is_never_made_what_strings_of_another_file_are(tmp_path, held, written):
    others = {"yes": "no"}.get(written, "13.01.2024")
    (tmp_path / "1.jsonl").write_text(f'{{"x": {held}}}\n{{"x": {held}}}\n')
    (tmp_path / "2.jsonl").write_text(f'{{"x": "{written}"}}\n{{"x": "{others}"}}\n')
    with pytest.raises(SchemaError, match="say what the column holds"):
        _ = local_rows([tmp_path / "1.jsonl", tmp_path / "2.jsonl"]).schema


def test_numbers_are_read_beside_numbers_that_are_written(tmp_path):
    (tmp_path / "1.jsonl").write_text('{"x": 2}\n{"x": 3}\n')
    (tmp_path / "2.jsonl").write_text('{"x": "1,50 €"}\n{"x": "2,25 €"}\n')
    rows = local_rows([tmp_path / "1.jsonl", tmp_path / "2.jsonl"])
    assert whole_table(rows, ["x"], "test", "").column("x").to_pylist() == [2.0, 3.0, 1.5, 2.25]


def test_times_with_a_zone_are_in_utc_also_where_the_zone_comes_late(tmp_path, monkeypatch):
    monkeypatch.setattr(json_lines, "BLOCK_BYTES", 128)
    path = tmp_path / "a.jsonl"
    local = [{"at": f"2023-01-1{n}T10:20:30", "own": f"2023-01-1{n}T10:20:30"} for n in range(4)]
    late = [{"at": "2023-01-20T10:20:30+02:00", "own": "2023-01-20T10:20:30"}] * 2
    path.write_text("".join(json.dumps(row) + "\n" for row in local + late))
    with pytest.warns(BayesWarning, match="'at' have a zone"):
        table = whole_table(local_rows(path), ["at", "own"], "", "")
    assert table.schema.field("at").type == pa.timestamp("us", "UTC")
    assert str(table["at"][-1]) == "2023-01-20 08:20:30+00:00"
    assert table.schema.field("own").type.tz is None
    monkeypatch.undo()
    assert local_rows(path).schema.field("at").type == pa.timestamp("us", "UTC")


@pytest.mark.parametrize(
    ("whole", "said"),
    [
        ('{"count": 2, "results": [{"a": 1}, {"a": 2}]}', "its rows seem to be the list 'results' in it"),
        ('{"columns": ["a"], "index": [0, 1], "data": [[1], [2]]}', "its rows seem to be the list 'data' in it"),
        ('{"a": {"0": 1}, "b": {"0": 2}}', "it seems to hold columns and not rows"),
    ],
)
def test_a_table_within_one_object_is_refused_unless_a_model_knows_it_as_a_row(tmp_path, whole, said):
    path = tmp_path / "t.json"
    path.write_text(whole)
    with pytest.raises(DataError, match=said):
        read_table(path)
    (tmp_path / "rows.jsonl").write_text('{"count": 1, "a": 1, "results": [{"a": 2}], "y": "p"}\n' * 20)
    rows = local_rows(tmp_path / "rows.jsonl", types={"y": "string"})
    model = NaiveBayes(columns={"results": "ignored"}).fit(rows, target="y")
    path.write_text('{"count": 2, "a": 3, "results": [{"a": 1}]}')
    assert next(model.predict(path)).to_pylist() == [{"prediction": "p"}]


def test_whole_numbers_that_no_float_tells_apart_are_said(tmp_path):
    path = tmp_path / "ids.jsonl"
    path.write_text('{"id": 12345678901234567890, "x": 1.5}\n{"id": 12345678901234567891, "x": 1e30}\n')
    source = open_source(path)
    assert source.schema.names == ["id", "x"]
    assert [note for note in source.notes if "tells apart" in note] == [
        "column 'id' has whole numbers that no float64 tells apart: write them as text"
    ]


def test_text_that_is_not_in_utf_8_is_named(tmp_path):
    path = tmp_path / "rows.json"
    path.write_bytes('[{"a": 1}]'.encode("utf-16"))
    for encoding, text in product(("utf-16-le", "utf-16-be"), ('[{"a": 1}]', '{"a": 1}\n{"a": 2}\n')):
        (tmp_path / "unmarked.json").write_bytes(text.encode(encoding))
        with pytest.raises(DataError, match=r"(?i)text in utf-16.*; write JSON in UTF-8"):
            open_source(tmp_path / "unmarked.json").schema  # noqa: B018
    with pytest.raises(DataError, match="is text in utf-16; write JSON in UTF-8"):
        open_source(path).schema  # noqa: B018


def test_members_of_objects_within_a_row_are_columns(tmp_path: Any) -> None:
    rows = [{"id": 1, "user": {"name": "Ann", "at": {"lat": 1.5}}}, {"id": 2, "user": None}, {"id": 3, "user": {}}]
    late = [{"id": 4, "user": {"name": "Bob", "age": 31}}] * 150_000
    for written in ("\n".join(map(json.dumps, rows)), json.dumps(rows)):
        (tmp_path / "users.json").write_text(written, encoding="utf-8")
        table = read_table(tmp_path / "users.json").table
        assert table.to_pylist() == [
            {"id": 1, "user.name": "Ann", "user.at.lat": 1.5},
            {"id": 2, "user.name": None, "user.at.lat": None},
            {"id": 3, "user.name": None, "user.at.lat": None},
        ]
    (tmp_path / "users.jsonl").write_text("\n".join(map(json.dumps, rows + late)), encoding="utf-8")
    table = read_table(tmp_path / "users.jsonl").table
    assert table.column("user.age").null_count == 3
    assert table.column_names == ["id", "user.name", "user.at.lat", "user.age"]


def test_members_that_would_be_one_column_are_refused(tmp_path: Any) -> None:
    (tmp_path / "a.jsonl").write_text('{"user.age": 1, "user": {"age": 2}}\n', encoding="utf-8")
    with pytest.raises(DataError, match=r"two members of a row are called 'user\.age'; give one of them another name"):
        read_table(tmp_path / "a.jsonl")
