"""CSV and TSV in batches: what a cell means, types that change on the way, files as people have them."""

import csv
import datetime
import io
import re
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayeswater.data.reading.cell_style import ALWAYS_MISSING, MARKS
from bayeswater.data.sources import delimited
from bayeswater.data.sources.recognising import open_source
from bayeswater.data.sources.source import Source, TypesWidened
from bayeswater.data.sources.table_reading import read_table
from bayeswater.errors import DataError, ParameterError, SchemaError


def piped(content: bytes | str, **options: Any) -> Source:
    """Read from standard input, which can be read only once."""
    content = content if isinstance(content, bytes) else content.encode()
    return open_source("-", standard_input=io.BytesIO(content), **options)


def table_of(source: Source, columns: list[str] | None = None) -> pa.Table:
    return pa.concat_tables(source.batches(columns))


def rows_of(content: bytes | str, **options: Any) -> list[dict[str, Any]]:
    return table_of(piped(content, **options)).to_pylist()


@pytest.fixture
def small_blocks(monkeypatch: Any) -> None:
    """Read 64 bytes at once and look for types in the first 64, so that short files have many blocks."""
    monkeypatch.setattr(delimited, "BLOCK_BYTES", 64)
    monkeypatch.setattr(delimited, "INFERRED_BYTES", 64)


# ---------------------------------------------------------------------- what a cell means


def test_numbers_texts_truths_and_dates_are_told_apart():
    source = piped("n,x,s,t,d\n1,1.5,a,true,2024-02-29\n-2,3e2,b c,false,2024-03-01\n")
    assert source.schema.types == [pa.int64(), pa.float64(), pa.string(), pa.bool_(), pa.date32()]
    assert table_of(source).to_pylist()[0] == {"n": 1, "x": 1.5, "s": "a", "t": True, "d": datetime.date(2024, 2, 29)}


@pytest.mark.parametrize("marker", ["", *ALWAYS_MISSING])
def test_usual_markers_are_missing_cells_of_numbers_and_of_texts(marker):
    rows = rows_of(f"n,s\n1,a\n{marker},{marker} \n 3 , {marker}\n")
    assert rows == [{"n": 1, "s": "a"}, {"n": None, "s": None}, {"n": 3, "s": None}]


def test_none_and_a_question_mark_are_values():
    assert rows_of("s\nNone\n?\n") == [{"s": "None"}, {"s": "?"}]


def test_named_markers_take_the_place_of_the_usual_ones_and_the_empty_cell_stays_missing():
    assert rows_of("s,n\nNA,-\n-,1\n,2\n", missing_only=["-"]) == [
        {"s": "NA", "n": None},
        {"s": None, "n": 1},
        {"s": None, "n": 2},
    ]


@pytest.mark.parametrize("is_long", [False, True])
def test_blanks_around_cells_and_names_are_no_part_of_them(monkeypatch, is_long):
    monkeypatch.setattr(delimited, "worth_loops", lambda n_bytes: is_long)
    assert rows_of('a, b\n1,"x y "\n') == [{"a": 1, "b": "x y"}]
    # U+3000 is the blank of Chinese and Japanese.
    assert rows_of("a, b ,c\n1,  x y ,\u3000好\u3000\n") == [{"a": 1, "b": "x y", "c": "好"}]


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_the_delimiter_is_recognised(delimiter):
    text = "a,b,c\n1,x,2.5\n2,y,3.5\n".replace(",", delimiter)
    assert rows_of(text) == [{"a": 1, "b": "x", "c": 2.5}, {"a": 2, "b": "y", "c": 3.5}]


def test_a_semicolon_wins_over_decimal_commas_and_quoted_delimiters():
    assert [*rows_of('a;b\n"x, y";1,5\n"u, v";2,5\n')[0]] == ["a", "b"]
    assert rows_of('a,b\n"x;y;z",1\n"u;v;w",2\n')[1] == {"a": "u;v;w", "b": 2}


def test_a_named_delimiter_is_taken():
    assert rows_of("a|b\n1|2\n", delimiter="|") == [{"a": 1, "b": 2}]


@pytest.mark.parametrize("delimiter", ["", "||", "，", '"', "\n", "\r", "\0", 5, b","])
def test_what_cannot_stand_between_cells_is_refused(delimiter):
    with pytest.raises(ParameterError, match=r"delimiter is .*; give one character of ASCII"):
        piped("a,b\n1,2\n", delimiter=delimiter)


def test_a_quote_may_stand_between_cells_where_it_is_a_character_like_others():
    assert rows_of('a"b\n1"2\n', delimiter='"', quotes=False) == [{"a": 1, "b": 2}]


@pytest.mark.parametrize("decimal", ["", "x", ",,"])
def test_what_cannot_stand_before_decimals_is_refused(decimal):
    with pytest.raises(ParameterError, match=r"decimal is .*; give a point or a comma"):
        piped("a;b\n1;2\n", decimal=decimal)


def test_one_column_needs_no_delimiter():
    assert rows_of("word\nhello\nworld\n") == [{"word": "hello"}, {"word": "world"}]


@pytest.mark.parametrize("is_long", [False, True])
def test_quoted_cells_may_hold_line_breaks_quotes_and_delimiters_across_blocks(small_blocks, monkeypatch, is_long):
    monkeypatch.setattr(delimited, "worth_loops", lambda n_bytes: is_long)
    cells = [f'line {i}\nand, "more"' for i in range(20)]
    out = io.StringIO(newline="")
    csv.writer(out).writerows([["text", "n"], *([cell, i] for i, cell in enumerate(cells))])
    assert [row["text"] for row in rows_of(out.getvalue())] == cells


def test_without_quotes_a_quote_is_a_character_like_others(small_blocks):
    content = 'label\ttext\nham\t"Well" he said\n' + 'ham\t"oh no\nspam\twin 5" pipes\n' * 20
    rows = rows_of(content, quotes=False)
    assert [row["text"] for row in rows] == ['"Well" he said', *['"oh no', 'win 5" pipes'] * 20]


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_lines_may_end_in_any_way_and_empty_ones_are_no_rows(newline):
    assert rows_of(f"a,b{newline}1,2{newline}{newline}3,4{newline}{newline}") == [{"a": 1, "b": 2}, {"a": 3, "b": 4}]


CELL = st.text(st.characters(exclude_categories=("Cs", "Cc", "Zs", "Zl", "Zp")), min_size=1, max_size=8).filter(
    lambda cell: cell not in MARKS
)


@given(st.lists(st.tuples(CELL, CELL), min_size=1, max_size=20))
def test_any_text_that_python_writes_as_csv_is_read_back(rows):
    out = io.StringIO(newline="")
    csv.writer(out, quoting=csv.QUOTE_ALL).writerows([["a", "b"], *rows])
    found = rows_of(out.getvalue(), types={"a": pa.string(), "b": pa.string()}, delimiter=",")
    assert [(row["a"], row["b"]) for row in found] == rows


# ---------------------------------------------------------------------- names


def test_without_a_header_columns_are_numbered():
    assert rows_of("1,a\n2,b\n", header=False) == [{"x0": 1, "x1": "a"}, {"x0": 2, "x1": "b"}]


def test_names_that_are_given_stand_in_for_a_header():
    assert rows_of("1,a\n2,b\n", names=["n", "a, b"]) == [{"n": 1, "a, b": "a"}, {"n": 2, "a, b": "b"}]
    with pytest.raises(SchemaError, match=r"1 names are given for 2 columns \(n\); give each column a name"):
        table_of(piped("1,a\n", names=["n"]))


def test_a_header_cell_without_a_name_gets_its_number():
    assert rows_of(",age\n0,39\n") == [{"x0": 0, "age": 39}]


def test_two_columns_of_one_name_are_told_apart_and_it_is_said():
    source = piped("a,b,a\n1,2,3\n")
    assert table_of(source).to_pylist() == [{"a": 1, "b": 2, "a_2": 3}]
    assert source.notes == ["columns are renamed: 'a' (column 3) is 'a_2'"]


def test_columns_are_given_in_the_order_asked_for_and_unknown_ones_refused_with_the_nearest_names():
    assert table_of(piped("age,income,job\n1,2,3\n"), ["job", "age"]).to_pylist() == [{"job": 3, "age": 1}]
    with pytest.raises(SchemaError, match="there is no column 'incom'; did you mean 'income'"):
        table_of(piped("age,income\n1,2\n"), ["incom"])
    with pytest.raises(SchemaError, match="there is no column 'zip'"):
        piped("age\n1\n", types={"zip": pa.string()}).schema  # noqa: B018


# ---------------------------------------------------------------------- encodings


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "gbk", "utf-16", "shift_jis"])
def test_texts_in_any_encoding(encoding, tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("色,数\n青,1\n黒,2\n", encoding=encoding)
    found = open_source(path, encoding="utf-8" if encoding == "utf-8-sig" else encoding)
    assert table_of(found).to_pylist() == [{"色": "青", "数": 1}, {"色": "黒", "数": 2}]


def test_a_long_file_in_another_encoding_is_cut_at_no_character(monkeypatch):
    monkeypatch.setattr(delimited, "INFERRED_BYTES", 100)
    text = "名,n\n" + "".join(f"{'汉' * (i % 7)}字,{i}\n" for i in range(500))
    rows = rows_of(text.encode("gbk"), encoding="gbk")
    assert rows == [{"名": "汉" * (i % 7) + "字", "n": i} for i in range(500)]


def test_text_in_another_encoding_than_the_one_that_is_named_is_refused_with_the_way_out():
    with pytest.raises(DataError, match=r"line 2 is not text in utf-8; .*local_rows\(source, encoding='gbk'\)"):
        piped("a,b\n青绿,1\n".encode("gbk"), encoding="utf-8").schema  # noqa: B018


def test_text_in_another_encoding_far_down_is_refused_by_row_and_column(small_blocks):
    content = b"a,b\n" + b"x,1\n" * 100 + b"\xc7\xe0,1\n"
    with pytest.raises(DataError, match=r"row 102 \(the header is row 1\), column 'a' is not text in utf-8"):
        table_of(piped(content))
    with pytest.raises(DataError, match="is not text in ascii"):
        table_of(piped(content, encoding="ascii"))


@pytest.mark.parametrize("encoding", ["gbkk", "", "hex", "undefined", "a\0"])
def test_an_unknown_encoding_is_refused(encoding):
    with pytest.raises(ParameterError, match=re.escape(f"there is no encoding {encoding!r}")):
        piped("a\n1\n", encoding=encoding)


def test_text_that_lacks_the_mark_of_its_encoding_is_refused_with_the_way_out():
    with pytest.raises(DataError, match=r"line 1 is not text in utf-16; name the encoding"):
        table_of(piped("a,b\n1,2\n", encoding="utf-16"))


# ---------------------------------------------------------------------- types that change on the way


def late(tmp_path: Path, last: str) -> Path:
    path = tmp_path / "late.csv"
    path.write_text("a,b,c\n" + "1,,x\n" * 100 + last)
    return path


@pytest.mark.parametrize(
    ("last", "types"),
    [
        ("1.5,2,x\n", [pa.float64(), pa.int64(), pa.string()]),
        ("many,2.5,x\n", [pa.string(), pa.float64(), pa.string()]),
        ("1,no,5\n", [pa.int64(), pa.string(), pa.string()]),
        ("1,true,5\n", [pa.int64(), pa.bool_(), pa.string()]),
        ("1,2024-01-31,5\n", [pa.int64(), pa.date32(), pa.string()]),
        ("99999999999999999999,,5\n", [pa.float64(), pa.null(), pa.string()]),
    ],
)
def test_a_cell_that_does_not_fit_leads_to_types_that_fit_all_rows(tmp_path, small_blocks, last, types):
    source = open_source(late(tmp_path, last))
    with pytest.raises(TypesWidened, match=r"late\.csv: row 102 \(the header is row 1\), column '[ab]' holds '"):
        table_of(source)
    assert source.schema.types == types
    table = table_of(source)
    assert table.num_rows == 101
    assert table.schema.types == types
    assert table.column("a").null_count == 0


def test_the_types_are_looked_for_once_whatever_number_of_columns_change(tmp_path, small_blocks):
    path = tmp_path / "wide.csv"
    names = [f"c{i}" for i in range(10)]
    lines = [",".join(names), *([",".join("1" * 10)] * 20)]
    lines += [",".join("x" if i == j else "2" for i in range(10)) for j in range(10)]
    path.write_text("\n".join(lines))
    source = open_source(path)
    with pytest.raises(TypesWidened):
        table_of(source)
    assert table_of(source).schema.types == [pa.string()] * 10


def test_a_pipe_cannot_be_read_again_and_says_how_to_name_the_type(small_blocks):
    content = "a,b\n" + "1,2\n" * 100 + "many,2\n"
    with pytest.raises(
        DataError, match=r"column 'a' holds 'many', which is no whole number .*types=\{'a': 'string'\}"
    ) as refusal:
        table_of(piped(content))
    assert not isinstance(refusal.value, TypesWidened)
    assert table_of(piped(content, types={"a": pa.string()})).column("a")[100].as_py() == "many"


def test_a_cell_that_does_not_fit_a_given_type_is_refused_by_row_column_and_value(tmp_path):
    path = tmp_path / "ages.csv"
    path.write_text("name,age\nAnn,39\nBob,old\n")
    with pytest.raises(
        DataError, match=r"ages\.csv: row 3 .*column 'age' holds 'old', which is no number; .*missing=\['old'\]"
    ):
        table_of(open_source(path, types={"age": pa.float64()}))


# ---------------------------------------------------------------------- broken files


def test_a_row_with_too_few_or_too_many_cells_is_named(small_blocks):
    with pytest.raises(DataError, match=r"row 102 \(the header is row 1\) has 1 cell and not 2: '7'"):
        table_of(piped("a,b\n" + "1,2\n" * 100 + "7\n1,2\n"))
    with pytest.raises(DataError, match="row 3 has 3 cells and not 2"):
        table_of(piped("1,2\n3,4\n5,6,7\n", header=False))


def test_a_quote_that_never_closes_is_named(small_blocks, monkeypatch):
    content = "a,b\n" + "1,x\n" * 50 + '1,"oh\n' + "1,x\n" * 50
    with pytest.raises(DataError, match=r"a row after row \d+ .*does not end: a quote is opened and never closed"):
        table_of(piped(content))
    monkeypatch.setattr(delimited, "LONGEST_ROW", 100)
    with pytest.raises(DataError, match=r"a row after row \d+ .*does not end"):
        table_of(piped(content))


@pytest.mark.parametrize("content", [b"", b"\n\n", b"  \n"])
def test_an_empty_file_is_refused(content):
    with pytest.raises(DataError, match="standard input is empty"):
        piped(content).schema  # noqa: B018


def test_a_byte_order_mark_alone_is_no_table():
    with pytest.raises(DataError, match="standard input has no rows"):
        piped(b"\xef\xbb\xbf").schema  # noqa: B018


def test_a_cell_longer_than_pythons_csv_reads_is_a_cell():
    text = "x" * (csv.field_size_limit() + 1)
    assert rows_of(f"a,b\n{text},1\n") == [{"a": text, "b": 1}]


def test_a_header_alone_has_no_rows():
    assert list(piped("a,b\n").batches()) == []


def test_a_null_byte_is_a_character_like_others():
    assert rows_of(b"a,b\nx\x00y,1\n") == [{"a": "x\x00y", "b": 1}]


# ---------------------------------------------------------------------- decimal commas


def test_a_decimal_comma_is_read_as_such():
    assert rows_of("a;b\n1234,5;x\n-2,25;y\n3;z\n", decimal=",") == [
        {"a": 1234.5, "b": "x"},
        {"a": -2.25, "b": "y"},
        {"a": 3.0, "b": "z"},
    ]


def test_a_decimal_comma_beyond_the_beginning_widens_the_type(monkeypatch, tmp_path):
    monkeypatch.setattr(delimited, "INFERRED_BYTES", 2**6)
    path = tmp_path / "a.csv"
    path.write_text("a;b\n" + "1;x\n" * 100 + "2,5;y\n")
    source = open_source(path, decimal=",")
    with pytest.raises(TypesWidened, match="'2,5', which is no whole number"):
        table_of(source)
    assert table_of(source).to_pylist()[-1] == {"a": 2.5, "b": "y"}


def test_one_character_cannot_stand_between_cells_and_before_decimals():
    with pytest.raises(ParameterError, match=r"',' stands between cells, so it cannot stand before decimals too"):
        rows_of("a,b\n1,x\n2,y\n", decimal=",")


def test_whatever_is_asked_first_of_a_file_with_ragged_rows_is_refused_in_words():
    for ask in (lambda source: source.begins_with_data, lambda source: source.schema):
        with pytest.raises(DataError, match="row 3"):
            ask(piped("a,b,c\n1,2,x\n3,4\n5,6,y\n"))


@pytest.mark.parametrize("last", ["Bob           Oslo", "Bob Lee    41 Oslo"])
def test_lines_that_blanks_part_unevenly_are_said_to_be_one_cell(tmp_path, last):
    path = tmp_path / "fixed.txt"
    path.write_text(f"name      age   city\nAnn Lee    39 Rome\n{last}\n")
    source = open_source(path)
    assert len(source.schema) == 1
    assert any("delimiter=' '" in note and "save the table as CSV" in note for note in source.notes)
    path.write_text("name\nAnn Lee\nBob van Damme\n")
    assert not open_source(path).notes


@pytest.mark.parametrize("header", ["weight", '"weight"'])
@pytest.mark.parametrize("cell", ["1{} kg", "1{} 234", "2020-01-1{} 10:00:00", "1{} Rue de Rome"])
def test_one_column_whose_cells_begin_with_a_number_is_one(tmp_path, header, cell):
    path = tmp_path / "one.csv"
    path.write_text("\n".join([header, *map(cell.format, range(4))]) + "\n")
    table = read_table(path).table
    assert table.column_names == ["weight"]
    assert (table.num_rows, table["weight"].null_count) == (4, 0)
