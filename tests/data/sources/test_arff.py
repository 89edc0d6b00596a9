"""ARFF in batches: declared labels, quotes of both kinds, missing cells, and what is refused."""

import datetime
import io
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayeswater.data.sources.arff import cells_of, unquoted
from bayeswater.data.sources.recognising import open_source
from bayeswater.errors import DataError

WEATHER = """\
% A comment, and a blank line.

@RELATION weather
@Attribute outlook {sunny, 'partly cloudy', rainy, never}
@attribute\t'temp. (C)'  NUMERIC   % degrees
@attribute "wind" {strong,weak}
@attribute days integer
@attribute note string
@attribute measured date "yyyy-MM-dd HH:mm"

@DATA
sunny, 21.5, weak, 3, 'it\\'s fine', "2024-02-29 12:30"
% between rows
'partly cloudy',?,strong,-1,?,?   % after a row

rainy,1e-3,?,?,"50% \\"wet\\"",'2024-03-01 00:00'
"""


def piped(content: str | bytes, **options: Any) -> Any:
    content = content if isinstance(content, bytes) else content.encode()
    return open_source("-", "arff", standard_input=io.BytesIO(content), **options)


def table_of(source: Any) -> pa.Table:
    return pa.concat_tables(source.batches())


def header(*attributes: str) -> str:
    return "@relation r\n" + "".join(f"@attribute {attribute}\n" for attribute in attributes) + "@data\n"


def test_cells_of_every_kind():
    assert table_of(piped(WEATHER)).to_pylist() == [
        {
            "outlook": "sunny",
            "temp. (C)": 21.5,
            "wind": "weak",
            "days": 3,
            "note": "it's fine",
            "measured": datetime.datetime(2024, 2, 29, 12, 30),
        },
        {"outlook": "partly cloudy", "temp. (C)": None, "wind": "strong", "days": -1, "note": None, "measured": None},
        {
            "outlook": "rainy",
            "temp. (C)": 1e-3,
            "wind": None,
            "days": None,
            "note": '50% "wet"',
            "measured": datetime.datetime(2024, 3, 1),
        },
    ]


def test_declared_labels_are_the_domain_though_no_row_has_them():
    column = table_of(piped(WEATHER)).column("outlook")
    assert pa.types.is_dictionary(column.type)
    assert column.chunk(0).dictionary.to_pylist() == ["sunny", "partly cloudy", "rainy", "never"]


def test_a_quoted_question_mark_is_a_value_and_a_bare_one_is_missing():
    rows = table_of(piped(header("a {'?',b}", "s string") + "'?',?\n?,'?'\n")).to_pylist()
    assert rows == [{"a": "?", "s": None}, {"a": None, "s": "?"}]


def test_blanks_may_stand_in_the_place_of_commas():
    assert table_of(piped(header("a numeric", "b {x,y}") + "1 x\n2\ty\n")).to_pylist() == [
        {"a": 1.0, "b": "x"},
        {"a": 2.0, "b": "y"},
    ]


def test_labels_and_names_may_stand_against_the_braces():
    assert table_of(piped(header("class{a,b}") + "a\nb\n")).to_pylist() == [{"class": "a"}, {"class": "b"}]


def test_sparse_rows_leave_out_zeros_and_first_labels():
    declared = header("a integer", "b {no, 'a, b'}", "c real", "d date yyyy", "e string")
    rows = "{ 1 'a, b' , 2 -1.5}\n{}\n{0 7,1 ?, 3 2024, 4 'it\\'s }'}  % { note }\n1,no,2,?,x\n"
    assert table_of(piped(declared + rows)).to_pylist() == [
        {"a": 0, "b": "a, b", "c": -1.5, "d": None, "e": None},
        {"a": 0, "b": "no", "c": 0.0, "d": None, "e": None},
        {"a": 7, "b": None, "c": 0.0, "d": datetime.datetime(2024, 1, 1), "e": "it's }"},
        {"a": 1, "b": "no", "c": 2.0, "d": None, "e": "x"},
    ]


def test_wide_rows_are_read_few_at_a_time():
    declared = header(*(f"a{place} integer" for place in range(10_000)))
    tables = [*piped(declared + "{9999 5}\n" * 600).batches(["a0", "a9999"])]
    assert [table.num_rows for table in tables] == [512, 88]
    assert tables[1].to_pylist()[0] == {"a0": 0, "a9999": 5}


@given(st.lists(st.text(st.characters(exclude_categories=("Cs", "Cc", "Zl", "Zp"))), min_size=1))
def test_any_words_in_quotes_are_taken_apart_again(words):
    for quote in "'\"":
        line = ",".join(quote + w.replace("\\", "\\\\").replace(quote, "\\" + quote) + quote for w in words)
        assert cells_of(line) == words


def test_escapes_in_quotes():
    assert unquoted(r"'a\nb\tc\\d'") == "a\nb\tc\\d"


@pytest.mark.parametrize(
    ("java", "text", "moment"),
    [
        ("", "2024-02-29T12:30:05", datetime.datetime(2024, 2, 29, 12, 30, 5)),
        ("dd/MM/yy", "29/02/24", datetime.datetime(2024, 2, 29)),
        ("'100%' yyyy", "100% 2024", datetime.datetime(2024, 1, 1)),
    ],
)
def test_dates_in_the_formats_of_java(java, text, moment):
    declared = f'd date "{java}"' if java else "d date"
    assert table_of(piped(header(declared) + f'"{text}"\n')).to_pylist() == [{"d": moment}]


def test_a_header_longer_than_the_first_block_is_read(monkeypatch):
    from bayeswater.data.sources import arff

    monkeypatch.setattr(arff, "BLOCK_BYTES", 100)
    names = [f"a{i}" for i in range(200)]
    source = piped(header(*(f"{name} numeric" for name in names)) + ",".join("1" * 200) + "\n")
    assert source.schema.names == names
    assert table_of(source).num_rows == 1


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (header("a numeric", "b {x}") + "1,x\n2\n", r":6: 1 cell\(s\), and 2 attributes are declared"),
        (header("a numeric") + "1\n{1 5}\n", r":5: '\{1 5\}' is no sparse row; write \{place value"),
        (header("a numeric", "b numeric") + "{1 5, 0 2}\n", ":5: .*with places from 0 to 1 in their order"),
        (header("a numeric") + "{0 5}, {2}\n", r":4: weights of rows, as '\{2\}', are not read"),
        (header("a numeric", "b {x}") + "1,x,{5}\n", ":5: weights of rows"),
        (header("a numeric") + "1\nmany\n", ":5: attribute 'a' holds 'many', which is no number"),
        (header("a integer") + "1.5\n", ":4: attribute 'a' holds '1.5', which is no whole number"),
        (header("a {x,y}") + "x\nz\n", r":5: attribute 'a' holds 'z', which is none of the labels \['x', 'y'\]"),
        (header("d date yyyy") + "2024\n?\nsoon\n", ":6: attribute 'd' holds 'soon', which is no date"),
        (header("s string") + "'oh\n", ":4: a quote is opened and not closed"),
        (header("a {x,y"), ":2: the labels of attribute 'a' do not close"),
        (header("a {x,x}"), ":2: attribute 'a' declares the label 'x' twice"),
        (header("a relational"), ":2: attribute 'a' is of type 'relational', which is not read"),
        (header("d date EEE"), ":2: 'EEE' in the date format"),
        (header("a"), ":2: attribute 'a' is of type ''"),
        ("@relation r\n@data\n1\n", ":2: there is no @attribute before @data"),
        ("@relation r\n@attribute a numeric\n", "there is no @data"),
        ("a,b\n1,2\n", ":1: expected @relation, @attribute or @data, and found 'a,b'; is it an ARFF file"),
        ("", "there is no @data; is it an ARFF file"),
    ],
)
def test_what_cannot_be_read_is_refused_by_line(content, message):
    with pytest.raises(DataError, match=f"standard input:? ?{message}"):
        table_of(piped(content))


def test_other_encodings_are_named_or_found_and_said():
    content = header("s string").encode() + "na\xefve\n".encode("latin-1")
    with pytest.raises(DataError, match=r"after line \d+: not text in utf-8; .*encoding='latin-1'"):
        table_of(piped(content, encoding="utf-8"))
    assert table_of(piped(content, encoding="latin-1")).to_pylist() == [{"s": "naïve"}]
    found = piped(content)
    assert table_of(found).to_pylist() == [{"s": "naïve"}]
    assert found.notes == ["the text is read as cp1252"]


def test_text_that_lacks_the_mark_of_its_encoding_is_refused_with_the_way_out():
    with pytest.raises(DataError, match=r"after line 0: not text in utf-16; name the encoding"):
        table_of(piped("@relation r\n@attribute s string\n@data\na\n", encoding="utf-16"))
