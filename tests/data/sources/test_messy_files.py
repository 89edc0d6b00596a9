"""Every shape in every encoding and with every delimiter is read as the table that a person reads out of the file."""

import gzip
import io

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.data.messy import DELIMITERS, ENCODINGS, SHAPES, messy_bytes, table_in
from tests.data.styled_columns import STYLES

from bayeswater import NaiveBayes
from bayeswater.data.reading.cell_style import MARKS
from bayeswater.data.sources import delimited
from bayeswater.data.sources.recognising import local_rows, open_source
from bayeswater.data.sources.source import TypesWidened
from bayeswater.errors import DataError, ParameterError, ReadingWarning, SchemaError


def opened(content: bytes | str, **options):
    content = content if isinstance(content, bytes) else content.encode()
    return open_source("-", standard_input=io.BytesIO(content), **options)


def rows_of(source):
    return [row for table in source.batches() for row in table.to_pylist()]


def as_a_person_reads(rows):
    names, *cells = rows
    return [dict(zip(names, [*row[:2], int(row[2]), float(row[3])], strict=True)) for row in cells]


FILES = [
    (shape, encoding, delimiter)
    for shape in SHAPES
    for encoding in ENCODINGS
    for delimiter in DELIMITERS
    if delimiter == "," or encoding == "utf-8" or shape in ("plain", "three empty columns", "a preamble")
]


def test_the_corpus_has_hundreds_of_files():
    assert len({messy_bytes(table_in(encoding), shape, encoding, d) for shape, encoding, d in FILES}) >= 150


@pytest.mark.parametrize(("shape", "encoding", "delimiter"), FILES)
def test_a_messy_file_is_the_table_that_a_person_reads_out_of_it(shape, encoding, delimiter):
    rows = table_in(encoding)
    source = opened(messy_bytes(rows, shape, encoding, delimiter))
    assert rows_of(source) == as_a_person_reads(rows)
    assert source.schema.names == rows[0]


@pytest.mark.parametrize("encoding", ["gbk", "big5", "shift-jis", "latin-1", "utf-16"])
def test_an_encoding_that_is_found_is_said(tmp_path, encoding):
    path = tmp_path / "table.csv"
    path.write_bytes(messy_bytes(table_in(encoding), "plain", encoding, ","))
    rows = local_rows(path)
    with pytest.warns(ReadingWarning, match=r"table\.csv: the text is .*read as (gb18030|big5|cp932|cp1252|utf-16)"):
        assert rows.schema.names == table_in(encoding)[0]
    assert len(rows.notes) == 1


def test_an_encoding_that_shows_only_far_down_is_found_by_reading_again(tmp_path, monkeypatch):
    monkeypatch.setattr(delimited, "INFERRED_BYTES", 64)
    path = tmp_path / "late.csv"
    path.write_bytes(b"a,b\n" + b"x,1\n" * 100 + "青绿,2\n乌黑,3\n".encode("gbk"))
    source = open_source(path)
    with pytest.raises(TypesWidened, match=r"row 102 .* is not text in utf-8; the file is read again as gb18030"):
        rows_of(source)
    assert [row["a"] for row in rows_of(source)[100:]] == ["青绿", "乌黑"]


# ---------------------------------------------------------------------- names


def test_names_that_stand_twice_and_missing_ones_are_made_up_and_said():
    source = opened("a,,a,x1,a_2\n1,2,3,4,5\n")
    assert rows_of(source) == [{"a": 1, "x1_": 2, "a_2_": 3, "x1": 4, "a_2": 5}]
    assert source.notes == ["columns are renamed: 'a' (column 3) is 'a_2_'; column 2 has no name and is 'x1_'"]


def test_a_column_at_the_end_without_a_name_that_is_not_empty_is_refused_far_down(tmp_path, monkeypatch):
    monkeypatch.setattr(delimited, "INFERRED_BYTES", 64)
    path = tmp_path / "end.csv"
    path.write_text("a,b,,\n" + "1,2,,\n" * 50 + "1,2,,oh\n")
    with pytest.raises(DataError, match=r"row 52 .* has 'oh' in column 4, which has no name, and no cells"):
        rows_of(open_source(path))
    assert rows_of(opened("a,b,,\n1,2,,oh\n")) == [{"a": 1, "b": 2, "x2": None, "x3": "oh"}]


def test_names_of_rows_as_r_writes_them_are_a_column():
    source = opened('"a","b"\n"r1",1,2\n"r2",3,4\n')
    assert rows_of(source) == [{"x0": "r1", "a": 1, "b": 2}, {"x0": "r2", "a": 3, "b": 4}]
    assert "no name in the header" in source.notes[0]


def test_a_header_in_a_comment_as_numpy_writes_it_is_the_header():
    assert rows_of(opened("# a,b\n1.5,2.5\n")) == [{"a": 1.5, "b": 2.5}]
    assert rows_of(opened("#a,b\nx,y\n")) == [{"a": "x", "b": "y"}]
    assert rows_of(opened("# by x, y\na,b\nu,v\n")) == [{"a": "u", "b": "v"}]
    assert rows_of(opened("#ff0000,1\n#00ff00,2\n", header=False)) == [
        {"x0": "#ff0000", "x1": 1},
        {"x0": "#00ff00", "x1": 2},
    ]


def test_names_for_a_file_with_empty_columns_at_the_end_need_not_name_these():
    assert rows_of(opened("1,x,,\n2,y,,\n", names=["n", "s"])) == [{"n": 1, "s": "x"}, {"n": 2, "s": "y"}]
    with pytest.raises(SchemaError, match=r"2 names are given for 3 columns \(n, s\)"):
        rows_of(opened("1,x,3\n", names=["n", "s"]))


# ---------------------------------------------------------------------- lines above, comments, totals


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("word\nhello, world\nso, then\n", None),  # texts with commas, and no table below a title
        ("a,b\n1,2,3\n4,5,6\n", ["x0", "a", "b"]),
        ("a\n1,2\n3,4\n", None),
        ("a,b,c,d\n,,,1\n,,,2\n", ["a", "b", "c", "d"]),
        ("2019,2020,2021\n1,2,3\n", ["2019", "2020", "2021"]),
    ],
)
def test_a_header_is_not_taken_for_a_note_above_one(text, names):
    if names is None:
        with pytest.raises(DataError, match=r"row 2 \(the header is row 1\) has 2 cells and not 1"):
            rows_of(opened(text))
    else:
        assert opened(text).schema.names == names


def test_rows_are_numbered_as_in_the_file_below_lines_that_are_passed_over():
    with pytest.raises(DataError, match=r"row 5 \(the header is row 3\) has 2 cells and not 3"):
        rows_of(opened("Title\nof it\na,b,c\n1,2,3\n4,5\n"))


def test_what_comments_begin_with_can_be_named():
    assert rows_of(opened("% note\na,b\n1,2\n% mid, way\n3,4\n", comment="%")) == [{"a": 1, "b": 2}, {"a": 3, "b": 4}]
    assert rows_of(opened("a,b\n#1,2\n")) == [{"a": "#1", "b": 2}]
    with pytest.raises(ParameterError, match="comment is ''"):
        opened("a,b\n", comment="")


@pytest.mark.parametrize("word", ["Total", "SUM:", "Gesamt", "合计"])
def test_a_row_of_totals_at_the_end_is_noticed(word):
    source = opened(f"name,n\nAnn,3\nBob,4\n{word},7\n")
    assert source.schema.names == ["name", "n"]
    assert source.notes == [f"the last row, '{word},7', looks like totals; take it out if it is no row of the table"]
    assert opened("name,n\nAnn,3\nTotal,many\n").schema.names and not opened("a,b\n1,2\n").notes


def test_a_row_of_totals_at_the_end_of_a_long_file_is_noticed(tmp_path, monkeypatch):
    monkeypatch.setattr(delimited, "INFERRED_BYTES", 64)
    path = tmp_path / "long.csv"
    path.write_text("name,n\n" + "Ann,3\n" * 100 + "Total,300\n")
    source = open_source(path)
    assert source.schema.names and "looks like totals" in source.notes[0]
    path.write_bytes(gzip.compress(path.read_bytes()))
    assert open_source(path).schema.names == ["name", "n"]


# ---------------------------------------------------------------------- rows of another length

RAGGED = "a,b,c\n1,2,3\n4,5\n6,7,8,,\n9\n"


def test_rows_of_another_length_are_refused_and_counted(tmp_path):
    path = tmp_path / "ragged.csv"
    path.write_text(RAGGED)
    with pytest.raises(
        DataError, match=r"row 3 .* has 2 cells and not 3, as the first of 3 rows: '4,5'; .*'skip'.*'pad'"
    ):
        rows_of(open_source(path))


def test_a_quote_that_is_not_closed_is_told_from_a_row_of_another_length(tmp_path):
    path = tmp_path / "open.csv"
    path.write_text('a,b,c\n1,2,3\n1,"x,2\n' + "3,y,4\n" * 20)
    with pytest.raises(DataError, match=r"row 3 .* begins a cell in quotes that does not end, \d+ lines on: '1,\"x,2"):
        rows_of(open_source(path))


def test_rows_of_another_length_are_left_out_on_request():
    with pytest.warns(ReadingWarning, match=r"rows of another length are left out, from row 3 .*'4,5'"):
        assert rows_of(opened(RAGGED, bad_rows="skip")) == [{"a": 1, "b": 2, "c": 3}]


def test_the_sign_of_a_new_page_is_passed_over_below_the_rows_and_named_among_them():
    for end in ("\f", "\n\f\n"):
        assert rows_of(opened(f"a,b\n1,2\n3,4{end}")) == [{"a": 1, "b": 2}, {"a": 3, "b": 4}]
    with pytest.raises(DataError, match=r"row 3 .* it is the sign of a new page, and no row"):
        rows_of(opened("a,b\n1,2\n\f\n3,4\n"))


def test_rows_of_another_length_are_filled_up_on_request():
    with pytest.warns(ReadingWarning, match="are filled up"):
        found = rows_of(opened(RAGGED, bad_rows="pad"))
    assert [tuple(row.values()) for row in found] == [(1, 2, 3), (4, 5, None), (6, 7, 8), (9, None, None)]
    with pytest.raises(DataError, match=r"has 4 cells and not 3: .*bad_rows='skip'\)$"):
        rows_of(opened("a,b,c\n1,2\n1,2,3,4\n", bad_rows="pad"))
    with pytest.raises(DataError, match=r"bad_rows='pad'$"):
        rows_of(opened("a,b,c\n1,2,3\n1,2,3,,\n"))
    with pytest.raises(ParameterError, match="bad_rows is 'ignore'; it can be one of error, skip, pad"):
        opened("a\n", bad_rows="ignore")


def test_texts_with_quotes_and_line_breaks_stay_as_they_are_where_others_are_filled_up():
    with pytest.warns(ReadingWarning):
        found = rows_of(opened('a,b,c\n"x ""y"",\nz",5" pipe,1\n2\n', bad_rows="pad"))
    assert found == [{"a": 'x "y",\nz', "b": '5" pipe', "c": 1}, {"a": "2", "b": None, "c": None}]


def test_numbers_of_rows_count_those_that_are_left_out(monkeypatch, tmp_path):
    monkeypatch.setattr(delimited, "BLOCK_BYTES", 64)
    path = tmp_path / "late.csv"
    path.write_text("a,b\n" + "1,2\n" * 5 + "3\n" + "1,2\n" * 40 + "x,2\n")
    with pytest.warns(ReadingWarning), pytest.raises(DataError, match=r"row 48 .*column 'a' holds 'x'"):
        rows_of(open_source(path, bad_rows="skip", types={"a": pa.float64()}))


def test_bytes_that_are_no_text_are_refused_with_the_way_to_name_an_encoding():
    for content in (b"\xff\x00\x01,income\n1,2\n", b"\x89PNG\r\n\x1a\n\x00\x00", bytes(range(128, 256)) * 4):
        with pytest.raises(DataError, match=r"is not text in utf-8; name the encoding of the file"):
            opened(content).schema  # noqa: B018


# ---------------------------------------------------------------------- cells of every style in every shape


@pytest.mark.parametrize("style", STYLES)
def test_cells_come_out_of_every_shape_as_they_were_written(style):
    cells, _ = STYLES[style]
    rows = [["name", "cell", "n"], *([f"Ann {i}", cell, str(i)] for i, cell in enumerate(cells))]
    as_written = dict.fromkeys(rows[0], pa.string())
    for i, shape in enumerate(SHAPES, start=list(STYLES).index(style)):  # over all styles each with each delimiter
        delimiter = DELIMITERS[i % len(DELIMITERS)]
        source = opened(messy_bytes(rows, shape, "utf-8", delimiter), types=as_written)
        assert [row["cell"] for row in rows_of(source)] == cells, (shape, delimiter)


WORD = st.text(st.characters(categories=("L", "Nd", "P"), exclude_characters='"#\ufeff'), min_size=1, max_size=6)
CELL = WORD.filter(lambda cell: cell not in MARKS and cell.strip() == cell)
NAME = st.text(st.characters(categories=("L",)), min_size=1, max_size=6)


@given(
    st.lists(NAME, min_size=3, max_size=5, unique=True).flatmap(
        lambda names: st.lists(st.lists(CELL, min_size=len(names), max_size=len(names)), min_size=2, max_size=6).map(
            lambda rows: [names, *rows]
        )
    ),
    st.sampled_from(sorted(SHAPES)),
    st.sampled_from(DELIMITERS),
    st.sampled_from(["utf-8", "utf-8 with a mark", "utf-16", "utf-16 of the other order"]),
)
def test_any_table_in_any_shape_is_read_back(rows, shape, delimiter, encoding):
    source = opened(
        messy_bytes(rows, shape, encoding, delimiter), types=dict.fromkeys(rows[0], pa.string()), delimiter=delimiter
    )
    assert [list(row.values()) for row in rows_of(source)] == rows[1:]
    assert source.schema.names == rows[0]


def test_names_that_a_model_knows_tell_the_encoding_of_a_file_of_one_row(tmp_path):
    path = tmp_path / "row.csv"
    path.write_bytes("이름,n\n김,1\n".encode("euc_kr"))
    assert local_rows(path).schema.names != ["이름", "n"]  # Chinese, as it looks: all of its bytes are
    assert local_rows(path, columns=["이름"]).schema.names == ["이름"]
    learned = tmp_path / "t.csv"
    learned.write_text("이름,n,kind\n" + "".join(f"{'김이'[i % 2]},{i % 3},{'ab'[i % 2]}\n" for i in range(40)))
    model = NaiveBayes().fit(learned, target="kind")
    with pytest.warns(ReadingWarning, match="read as euc_kr"):
        (answer,) = model.predict(path)
    assert answer.to_pylist() == [{"prediction": "a"}]


def test_chinese_of_few_signs_is_not_taken_for_korean():
    rows = [["地点", "编号"], ["北京", "广东"]]  # all of their bytes are of Korean letters, too
    assert rows_of(opened(messy_bytes(rows, "plain", "gbk", ","))) == [{"地点": "北京", "编号": "广东"}]


def notes_of(source):
    """Give what is said of a file, and its rows."""
    return rows_of(source), " ".join(source.notes)


def test_lines_of_two_cells_above_a_header_are_passed_over():
    lines = "Account;123\nOwner;Ann\nFrom;1.1.2023\n\n"
    rows, said = notes_of(opened(lines + "day;sum;text\n1.2.2023;1,50;a\n13.2.2023;-2,50;b\n14.2.2023;3,50;c\n"))
    assert [row["sum"] for row in rows] == [1.5, -2.5, 3.5]
    assert "3 lines above the header are passed over, from 'Account 123'" in said


@pytest.mark.parametrize("second", ["cm,kg,", "How tall?,How heavy?,Who?"])
def test_units_or_questions_below_the_names_are_passed_over(second):
    rows, said = notes_of(opened(f"height,weight,name\n{second}\n180,80,Ann\n170,,Bob\n160,65,Cyd\n"))
    assert [row["weight"] for row in rows] == [80, None, 65]
    assert "the row below the header" in said


def test_a_row_that_looks_like_units_is_one_where_a_column_is_said_to_be_text():
    source = opened("height,weight,name\ncm,kg,\n180,80,Ann\n170,,Bob\n160,65,Cyd\n", types={"weight": pa.string()})
    assert len(notes_of(source)[0]) == 4


@pytest.mark.parametrize("first", ["?,?,Eve", "tall,80,Eve", "180,80,Eve"])
def test_a_first_row_is_not_taken_for_units(first):
    assert len(rows_of(opened(f"height,weight,name\n{first}\n180,80,Ann\n170,70,Bob\n160,65,Cyd\n"))) == 4


@pytest.mark.parametrize(
    ("header", "is_said"),
    [
        ("5.1,3.5", True),
        ("-1,x", True),
        ("39,77516", True),
        ("0,0", True),
        ("2019,2020", False),
        ("0,1", False),
        ("a,b", False),
    ],
)
def test_a_first_row_of_numbers_is_said(header, is_said):
    _, said = notes_of(opened(f"{header}\n4.9,3.0\n4.7,3.2\n"))
    assert ("is read as a header" in said) == is_said


@pytest.mark.parametrize("delimiter", "~^")
def test_rare_delimiters_are_found_but_not_before_numbers(delimiter):
    assert rows_of(opened(f"name{delimiter}age\nAnn{delimiter}39\nBob{delimiter}40\n"))[0] == {"name": "Ann", "age": 39}
    assert rows_of(opened(f"age\n{delimiter}39\n{delimiter}40\n"))[0] == {"age": f"{delimiter}39"}


def test_points_among_semicolons_stand_between_thousands_where_other_columns_have_commas_and_else_it_is_said():
    rows, said = notes_of(opened("a;b\n1.000;1,5\n2.500;2,25\n"))
    assert ([row["a"] for row in rows], said) == ([1000, 2500], "")
    rows, said = notes_of(opened("a;b\n1.000;x\n900;y\n"))
    assert [row["a"] for row in rows] == [1, 900]
    assert "a point may stand between thousands as well: say thousands='.'" in said
    assert [row["a"] for row in rows_of(opened("a;b\n1.000;x\n900;y\n", thousands="."))] == [1000, 900]
    assert notes_of(opened("a;b\n1.25;x\n2.500;y\n"))[1] == ""


@pytest.mark.parametrize(
    ("encoding", "words"),
    [
        ("cp1250", "Praha Plzeň Děčín Třebíč Žďár Šumperk Kroměříž Ústí"),
        ("iso8859-2", "Praha Plzeň Děčín Třebíč Žďár Šumperk Kroměříž Ústí"),
        ("iso8859-2", "zażółć gęślą jaźń łódź Kraków święto źródło ćma"),
        ("cp1257", "Vilnius Šiauliai Panevėžys Žiežmariai Kėdainiai Ųkis Mažeikiai"),
        ("cp866", "Москва Казань Новосибирск Екатеринбург Самара Омск"),
        ("iso8859-5", "Москва Казань Новосибирск Екатеринбург Самара Омск"),
        ("iso2022_kr", "서울 부산 대구 인천 광주 대전"),
    ],
)
def test_rarer_encodings_are_found(encoding, words):
    text = "city;n\n" + "".join(f"{word};{n}\n" for n, word in enumerate(words.split()))
    assert [row["city"] for row in rows_of(opened(text.encode(encoding)))] == words.split()


def test_rows_of_sums_within_the_table_are_said(tmp_path):
    path = tmp_path / "shops.csv"
    path.write_text("shop,item,n\nA,red,3\nA,blue,4\nA,*,7\nB,red,1\nB,blue,2\nB,*,3\n", encoding="utf-8")
    rows = local_rows(path)
    assert rows.schema.names == ["shop", "item", "n"]
    assert "1 of the first rows, as 'A * 7', is a sum of those above it; take such rows out" in rows.parts[0].notes


@pytest.mark.parametrize("written", ["%Y%m%d%H%M", "%Y%m%d%H%M%S"])
def test_numbers_of_orders_that_begin_with_a_day_are_no_moments(written):
    numbers = [20231231 * 10 ** (len(written) - 6) + n for n in range(1, 7)]
    assert [row["no"] for row in rows_of(opened("no,x\n" + "".join(f"{n},1\n" for n in numbers)))] == numbers
