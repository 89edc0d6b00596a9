"""Files as other programs export them: read where they tell what they are, else refused with a way out."""

import codecs

import pandas
import pyarrow as pa
import pytest

import bayeswater
from bayeswater.data.sources import delimited
from bayeswater.data.sources.recognising import open_source
from bayeswater.data.sources.source import TypesWidened
from bayeswater.errors import DataError, SchemaError

TABLE = "name\tzahl\r\nKöln\t1\r\n北京\t2\r\n"


def read(path, **options):
    return [row for table in open_source(str(path), **options).batches() for row in table.to_pylist()]


@pytest.mark.parametrize(
    ("mark", "encoding"),
    [
        (codecs.BOM_UTF16_LE, "utf-16-le"),
        (codecs.BOM_UTF16_BE, "utf-16-be"),
        (codecs.BOM_UTF32_LE, "utf-32-le"),
        (codecs.BOM_UTF32_BE, "utf-32-be"),
        (codecs.BOM_UTF8, "utf-8"),
    ],
)
def test_a_mark_at_the_beginning_tells_the_encoding(tmp_path, mark, encoding):
    path = tmp_path / "unicode.csv"
    path.write_bytes(mark + TABLE.encode(encoding))
    assert read(path) == [{"name": "Köln", "zahl": 1}, {"name": "北京", "zahl": 2}]


@pytest.mark.parametrize(("n_rows", "n_others"), [(30, 1), (9_000, 1), (30, 300), (3_000, 9_000)])
def test_lines_of_another_encoding_among_utf_8_are_refused_by_the_first(tmp_path, monkeypatch, n_rows, n_others):
    monkeypatch.setattr(delimited, "INFERRED_BYTES", 2**14)
    monkeypatch.setattr(delimited, "BLOCK_BYTES", 2**14 + 2)  # the second begins within a character
    path = tmp_path / "joined.csv"
    path.write_bytes(b"stadt;x\n" + "Köln;1\n".encode() * n_rows + "Köln;2\n".encode("cp1252") * n_others)
    said = rf"is text in UTF-8, but line {n_rows + 2} is not: b'K\\xf6ln;2'; write all of it"
    with pytest.raises(DataError, match=said):
        read(path)


def test_german_is_not_taken_for_the_text_of_neighbours_that_has_the_same_bytes(tmp_path):
    path = tmp_path / "german.csv"
    path.write_bytes(b"stadt;x\n" + "München und so weiter;1\n".encode("cp1252") * 600)
    assert "read as cp1252" in bayeswater.read_table(path).report.notes[0]


def test_dates_alone_tell_chinese(tmp_path):
    path = tmp_path / "dates.csv"
    path.write_bytes("".join(["d,x\n", *(f"2023年{k}月{k + 9}日,{k}\n" for k in range(1, 13))]).encode("gbk"))
    assert str(read(path)[0]["d"]) == "2023-01-10"


def test_an_encoding_that_is_named_holds_whatever_the_first_bytes_are(tmp_path):
    path = tmp_path / "latin.csv"
    path.write_bytes("ÿþ,b\n1,2\n".encode("latin-1"))  # the bytes of a mark of UTF-16
    assert read(path, encoding="latin-1") == [{"ÿþ": 1, "b": 2}]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b\n1,2,\n", "has 3 cells and not 2: '1,2,'; take the ',' off its end, or add one to the end of the header"),
        ("a,b\n1,2,3\n", "has 3 cells and not 2: '1,2,3'; take out the lines above it if it is the header; else quote"),
        ("a,b\n" + 30 * "1,2\n" + "1,2,3\n", "row 32 .* has 3 cells and not 2: '1,2,3'; quote cells that hold ','"),
        ("a,b\n1\n", "has 1 cell and not 2: '1'; quote cells that hold ','"),
    ],
)
def test_a_row_of_another_length_is_refused_with_the_way_out_of_its_kind(tmp_path, text, message):
    path = tmp_path / "ragged.csv"
    path.write_text(text)
    with pytest.raises(DataError, match=message):
        read(path, delimiter=",")


def test_amounts_in_quotes_below_the_lines_of_a_bank_hide_no_semicolons(tmp_path):
    lines = ['"Konto";"DE00 1203"', '""', '"Stand:";"1.234,56 EUR"', '""', '"Datum";"Art";"Text";"Betrag"']
    lines += [f'"0{k}.05.23";"{"ab"[k % 2]}";"x";"-{k},50 €"' for k in range(1, 10)]
    path = tmp_path / "bank.csv"
    path.write_text("\n".join(lines), encoding="utf-8")
    assert [(row["Art"], row["Betrag"]) for row in read(path)][:2] == [("b", -1.5), ("a", -2.5)]


@pytest.mark.parametrize("cell", ["'Rome, IT'", '"a \\"b\\", c"'])
def test_cells_that_are_torn_are_no_names_of_rows(tmp_path, cell):
    path = tmp_path / "torn.csv"
    path.write_text("id,city,class\n" + "".join(f"{k},{cell},{k % 2}\n" for k in range(9)))
    with pytest.raises(DataError, match="has 4 cells and not 3, as the first of 9 rows"):
        read(path)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a,b\n" + "1,2\n" * 20 + "a,b\n" + "3,4\n" * 20, "is the header there more than once?"),
        ("id    name        sum\n1     Ann Lee     2.5\n2     Bob         3.5\n", "if blanks stand between cells"),
        ("red,yes\n" + "blue,no\nred,no\nblue,yes\n" * 2, "the first row is read as a header, 'red', 'yes'"),
        ("spam\nham\nham\nspam\n", "the first row is read as a header, 'spam'"),
        ("a,b\n1,2\n# end\n".replace("# end", "Total: all,7"), "the last row, 'Total: all,7', looks like totals"),
        ('id,text,n\n1,"he said \\"hi\\"",2\n3,x,4\n', "a backslash stands before quotes within cells"),
    ],
)
def test_what_looks_wrong_with_the_shape_is_said(tmp_path, text, said):
    path = tmp_path / "odd.csv"
    path.write_text(text)
    source = open_source(str(path))
    assert source.schema is not None and any(said in note for note in source.notes)


def test_a_character_between_cells_that_is_not_recognised_is_asked_for(tmp_path):
    path = tmp_path / "colons.csv"
    path.write_text("age:income\n1:2\n")
    with pytest.raises(SchemaError, match=r"no column 'age', but one column 'age:income'; name the character between"):
        open_source(str(path)).require_column("age")
    assert read(path, delimiter=":") == [{"age": 1, "income": 2}]


@pytest.mark.parametrize(
    ("cell", "decimal", "way_out"),
    [
        ("26,9", ".", r"read the file with decimal=','$"),
        ("-26.9", ",", r"read the file without decimal=','$"),
        ("26,9,1", ".", r"correct the cell, or name what stands for missing with .*missing=\['26,9,1'\]\)$"),
    ],
)
def test_a_number_with_the_other_decimal_sign_is_refused_with_the_option_that_reads_it(
    tmp_path, cell, decimal, way_out
):
    path = tmp_path / "numbers.csv"
    path.write_text(f"a;b\n{cell};x\n")
    with pytest.raises(DataError, match=rf"column 'a' holds '{cell}', which is no number; {way_out}"):
        read(path, types={"a": pa.float64()}, decimal=decimal)


def test_one_word_for_missing_cells_is_a_word_and_not_its_letters(tmp_path):
    path = tmp_path / "words.csv"
    path.write_text("a\nno\nn\no\n")
    assert [row["a"] for row in read(path, missing="no")] == [None, "n", "o"]


LONG = ["12345678901234567890", "12345678901234567891"]  # two numbers, and one float64


@pytest.mark.parametrize("before", [[], ["7"] * 40])
@pytest.mark.parametrize("blanks", ["{}", " {} "])
@pytest.mark.parametrize("between", [",", "\t"])
def test_whole_numbers_that_a_float_cannot_tell_apart_stay_as_they_are_written(
    tmp_path, monkeypatch, before, blanks, between
):
    monkeypatch.setattr(delimited, "INFERRED_BYTES", 64)  # so that some come far behind the first rows
    path = tmp_path / "codes.csv"
    cells = [*before, *LONG]
    path.write_text("".join(f"{a}{between}{blanks.format(b)}\n" for a, b in [("x", "code"), *((1, c) for c in cells)]))
    source = open_source(str(path))
    if before:
        with pytest.raises(TypesWidened):
            list(source.batches())
    assert [row["code"] for table in source.batches() for row in table.to_pylist()] == cells


@pytest.mark.parametrize(
    "cells", [["100000000000000000000", "200000000000000000000"], [*LONG, "1.5"], ["1e30", "2"], ["9" * 20, "5"]]
)
def test_large_numbers_that_a_float_holds_or_that_are_measured_are_numbers(tmp_path, cells):
    path = tmp_path / "numbers.csv"
    path.write_text("\n".join(["a", *cells]) + "\n")
    assert [row["a"] for row in read(path)] == [float(cell) for cell in cells]


# ---------------------------------------------------------------------- survey tools and sheets with names over names


QUALTRICS = 'Q1,Q2\n{}"{{""ImportId"":""QID1""}}","{{""ImportId"":""QID2""}}"\n20,Yes\n30,No\n'


@pytest.mark.parametrize("questions", ["", "How old are you?,Would you buy it?\n"])
def test_questions_and_ids_of_qualtrics_are_no_rows(tmp_path, questions):
    path = tmp_path / "survey.csv"
    path.write_text(QUALTRICS.format(questions))
    table, report = bayeswater.read_table(path)
    assert table.to_pylist() == [{"Q1": 20, "Q2": True}, {"Q1": 30, "Q2": False}]
    assert "ids of Qualtrics: passed over" in report.notes[0]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("ID,Devices,,Age\n,Phone,Tablet,Response\n1,Phone,,30\n2,,Tablet,40\n", "ID|Devices Phone|Devices Tablet|Age"),
        (",2022,,2023,\nregion,q1,q2,q1,q2\nN,1,2,3,4\nS,5,6,7,8\n", "region|2022 q1|2022 q2|2023 q1|2023 q2"),
        ("ID,Devices,,Age\n1,Phone,Tablet,30\n2,,Tablet,40\n", "ID|Devices|x2|Age"),
    ],
    ids=["answers below questions", "years above quarters", "one row"],
)
def test_a_header_of_two_rows_is_joined(tmp_path, text, names):
    path = tmp_path / "two.csv"
    path.write_text(text)
    table, report = bayeswater.read_table(path)
    assert table.column_names == names.split("|")
    assert table.num_rows == 2
    assert any("two rows" in note for note in report.notes) == ("x2" not in names)


def test_a_first_row_that_is_unlike_all_others_is_said(tmp_path):
    path = tmp_path / "questions.csv"
    path.write_text("a,b\nWhich?,Where?\n" + "red,Rome\nblue,Oslo\n" * 15)
    assert "'Which? Where?', is unlike all others" in bayeswater.read_table(path).report.notes[0]


@pytest.mark.parametrize("n_rows", [3, 4_000])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_rows_of_nothing_at_the_end_are_left_out_and_others_are_said(tmp_path, monkeypatch, n_rows, end):
    monkeypatch.setattr(delimited, "BLOCK_BYTES", 2**12)
    path = tmp_path / "sheet.csv"
    rows = ["a;b;c", *["1;x;"] * n_rows, ";;", "2;y;3"]
    path.write_bytes(end.join([*rows, *[";;"] * 3_000, " ; ", ";"]).encode())
    table, report = bayeswater.read_table(path)
    assert table.num_rows == n_rows + 2
    assert table.to_pylist()[-2:] == [{"a": None, "b": None, "c": None}, {"a": 2, "b": "y", "c": 3}]
    assert "the last 3,002 rows have nothing but ';' and are left out" in report.notes
    assert any("whose cells are all missing" in note for note in report.notes)


def test_years_are_names_below_lines_about_the_source(tmp_path):
    path = tmp_path / "indicators.csv"
    above = '"Data Source","World Development Indicators",\n\n"Last Updated","2023-12-18",\n\n'
    path.write_text(above + '"Country","Code","1960","1961","1962",\n' + '"Aruba","ABW","1.5","","2",\n' * 3)
    assert bayeswater.read_table(path).table.column_names == ["Country", "Code", "1960", "1961", "1962"]


def test_cells_with_one_blank_between_them_are_read_where_some_are_numbers(tmp_path):
    path = tmp_path / "r.txt"
    path.write_text('"age" "name" "y"\n' + '"1" 20 "N 1" "a"\n"2" 21 "N" "b"\n')
    assert read(path) == [
        {"x0": 1, "age": 20, "name": "N 1", "y": "a"},
        {"x0": 2, "age": 21, "name": "N", "y": "b"},
    ]
    path.write_text("1.50e+00 -2 3e4\n2.5 7 1\n")
    assert bayeswater.read_table(path, header=False).table.num_columns == 3
    assert "the first row is read as a header" in bayeswater.read_table(path).report.notes[0]
    path.write_text("great film\nbad idea\nroom 5\n")
    assert bayeswater.read_table(path, header=False).table.num_columns == 1


def test_columns_that_stand_below_one_another_are_read(tmp_path, monkeypatch):
    monkeypatch.setattr(delimited, "BLOCK_BYTES", 64)
    path = tmp_path / "cars.data"
    path.write_text("   mpg  cyl name\n" + "".join(f'{k / 2:6}  {k % 4}   "a  b, {k}" \n' for k in range(30)))
    assert read(path) == [{"mpg": k / 2, "cyl": k % 4, "name": f"a  b, {k}"} for k in range(30)]
    assert [*bayeswater.read_table(path, delimiter=" ").table.column_names] == ["mpg", "cyl", "name"]
    path.write_text(
        "id          name\n----------- ----------\n          1 Ann       \n         20 Bob\n\n(2 rows affected)\n"
    )
    assert read(path) == [{"id": 1, "name": "Ann"}, {"id": 20, "name": "Bob"}]


def test_a_note_that_is_as_wide_as_the_table_is_no_header(tmp_path):
    path = tmp_path / "bank.csv"
    path.write_text("Konto;DE00;;;\nStand;1.234,5;EUR;;\n\nTag;Art;Text;Betrag;n\n" + "13.2.2023;a;b;3,5;1\n" * 5)
    table, report = bayeswater.read_table(path)
    assert table.column_names == ["Tag", "Art", "Text", "Betrag", "n"] and table.num_rows == 5
    assert [note.partition("from ")[2] for note in report.notes] == ["'Konto DE00'", "'Stand 1.234,5 EUR'"]
    path.write_text("Stand;1.234,5;EUR;;\n" + "Tag;Art;Text;Betrag;n\n" + "13.2.2023;a;b;3,5;1\n" * 5)
    assert read(path)[0]["Betrag"] == 3.5


def test_a_comment_that_begins_no_file_is_pointed_out(tmp_path):
    path = tmp_path / "end.csv"
    path.write_text("a,b\n1,2\n# end of file\n")
    with pytest.raises(
        DataError, match=r"if such lines are no rows, say bayeswater\.local_rows\(source, comment='#'\)"
    ):
        read(path)
    assert read(path, comment="#") == [{"a": 1, "b": 2}]


def test_a_quote_behind_a_backslash_moves_no_cell(tmp_path):
    path = tmp_path / "said.csv"
    path.write_text("id,text,y\n" + "".join(f'{k},"he said \\"hi, {k}\\"",a\n' for k in range(5)))
    with pytest.raises(DataError, match=r"has 4 cells and not 3.*; write quotes within cells twice"):
        read(path)
    path.write_text("id,text,y\n1,'a, b','x'\n".replace("1", "'1'"))
    with pytest.raises(DataError, match="write double quotes around cells"):
        read(path)


def test_signs_of_units_alone_are_western(tmp_path):
    path = tmp_path / "logger.txt"
    path.write_bytes("n\tTemp, °C\tm²\n".encode("latin-1") + b"1\t20.5\t3\n" * 9)
    assert [*read(path)[0]] == ["n", "Temp, °C", "m²"]


def test_a_spreadsheet_that_is_named_as_text_is_told(tmp_path):
    pytest.importorskip("openpyxl")
    pandas.DataFrame({"a": [1]}).to_excel(tmp_path / "t.xlsx")
    path = (tmp_path / "t.xlsx").rename(tmp_path / "t.csv")
    with pytest.raises(
        DataError, match=r"is a spreadsheet that is named as text; name it \.xlsx, or say format='excel'"
    ):
        read(path)
    assert bayeswater.read_table(path, format="excel").table.num_rows == 1


DRAWN = {
    "SAP": (
        "Dynamische Listenausgabe\r\n\r\n------------------\r\n|Name     |Betrag |\r\n|---------|-------|\r\n"
        "|Ann, Bob |  1,50-|\r\n|Eve      |  2,25 |\r\n------------------\r\n"
    ),
    "psql": "   Name   | Betrag \n----------+--------\n Ann, Bob |  -1.50\n Eve      |   2.25\n(2 rows)\n\n",
    "mysql": (
        "+----------+--------+\n| Name     | Betrag |\n+----------+--------+\n| Ann, Bob |  -1.50 |\n"
        "| Eve      |   2.25 |\n+----------+--------+\n2 rows in set (0.00 sec)\n"
    ),
    "Markdown": "| Name | Betrag |\n| :--- | ---: |\n| Ann, Bob | -1.50 |\n| Eve | 2.25 |\n",
}
"""A table as programs print it, with lines that only draw it."""


@pytest.mark.parametrize("program", DRAWN)
def test_lines_that_draw_a_table_are_no_rows(tmp_path, program):
    path = tmp_path / "list.txt"
    path.write_text(DRAWN[program], newline="")
    assert read(path) == [{"Name": "Ann, Bob", "Betrag": -1.5}, {"Name": "Eve", "Betrag": 2.25}]
    assert "lines that draw the table are no rows" in bayeswater.read_table(path).report.notes


def test_a_row_of_marks_between_bars_draws_nothing(tmp_path):
    path = tmp_path / "bars.txt"
    path.write_text("a|b\n1|2\n--|--\n3|4\n")
    assert read(path) == [{"a": 1, "b": 2}, {"a": None, "b": None}, {"a": 3, "b": 4}]


def test_the_rows_of_names_that_pandas_writes_are_joined(tmp_path):
    means = pandas.DataFrame({"k": list("ababab"), "v": range(6), "w": range(6)})
    path = tmp_path / "means.csv"
    means.groupby("k").agg({"v": ["mean", "max"], "w": ["min"]}).to_csv(path)
    assert read(path) == [
        {"k": "a", "v mean": 2.0, "v max": 4, "w min": 0},
        {"k": "b", "v mean": 3.0, "v max": 5, "w min": 1},
    ]
    table = pandas.DataFrame([[1.5, 2, "x"]] * 3, columns=pandas.MultiIndex.from_tuples(["am", "as", ("y", "")]))
    table.to_csv(path)
    assert [*read(path)[0]] == ["x0", "a m", "a s", "y"]


@pytest.mark.parametrize(
    ("end", "said"),
    [
        ("Summe,9,\n* preliminary,,\n", "a row near the end, 'Summe,9,', looks like totals"),
        ("Source: our own,,\n", "the last row, 'Source: our own', looks like a note"),
        ("Rome,,\n", "the last row, 'Rome', looks like a note"),
        ("Rome,3,\n", None),
    ],
)
def test_a_note_or_totals_below_the_table_are_said(tmp_path, end, said):
    path = tmp_path / "sheet.csv"
    path.write_text("city,n,kind\n" + "Oslo,1,a\nKiel,2,b\n" * 3 + end)
    notes = bayeswater.read_table(path).report.notes
    assert notes == () if said is None else notes[0].startswith(said)


def test_times_of_which_only_some_have_a_zone_are_said(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("at\n2023-01-10T10:20:30Z\n2023-01-11T10:20:30\n")
    assert "some times have no zone" in bayeswater.read_table(path).report.notes[0]


@pytest.mark.parametrize("below", ["\nSource: ours\n", '\n\n"Totals (3, all)"\n(c) us, inc.\n', "---------\n3 rows\n"])
@pytest.mark.parametrize("n_rows", [3, 5_000])
def test_lines_below_a_table_are_left_out_and_said(tmp_path, monkeypatch, below, n_rows):
    monkeypatch.setattr(delimited, "INFERRED_BYTES", 2**12)
    monkeypatch.setattr(delimited, "BLOCK_BYTES", 2**12)
    path = tmp_path / "report.csv"
    path.write_text("city;n;kind\n" + "Oslo;1;a\n" * n_rows + below)
    table, report = bayeswater.read_table(path)
    assert (table.num_rows, str(table.schema.field("n").type)) == (n_rows, "int64")
    assert "below the table" in report.notes[0]


def test_lines_of_a_cell_in_quotes_are_none_below_the_table(tmp_path):
    path = tmp_path / "texts.csv"
    path.write_text('n,text\n1,a\n2,"b\n\nc"\n')
    assert read(path)[1]["text"] == "b\n\nc"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a,b\n1,x\n2,y\n\nc,d\np,3\n", "a blank line stands above 'c,d'"),
        ("a,b\n'1','x, y'\n".replace(", y", "") + "'2','y'\n", "cells stand in single quotes"),
        ("1::10::5\n2::20::3\n3::30::4\n", r"if '::' stands between cells, say"),
        ("shop,n,x\na,1,2\nb,2,3\nc,3,4\n,6,9\n", "has numbers alone and may be totals"),
        ("shop,n,x\na,1,2\nb,2,3\nc,3,4\nSuma total,6,9\n", "looks like totals"),
    ],
)
def test_what_a_person_would_wonder_at_is_said(tmp_path, text, said):
    path = tmp_path / "odd.csv"
    path.write_text(text)
    assert any(said in note for note in bayeswater.read_table(path).report.notes)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"<!DOCTYPE html>\n<html><body>Please log in</body></html>\n", "is a page of HTML or XML"),
        (b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n1 0 obj\n", "is a PDF"),
        (b"t.csv".ljust(257, b"\0") + b"ustar" + bytes(250) + b"a,b\n1,2\n", "is a tar archive: unpack it first"),
    ],
)
def test_what_is_no_table_is_named(tmp_path, content, said):
    path = tmp_path / "table.csv"
    path.write_bytes(content)
    with pytest.raises(DataError, match=said):
        read(path)


@pytest.mark.parametrize("text", ['{"a": 1}\n{"a": 2}\n', '[\n {"a": 1}, {"a": 2}]'])
def test_json_that_is_named_as_text_is_read(tmp_path, text):
    path = tmp_path / "rows.txt"
    path.write_text(text)
    assert read(path) == [{"a": 1}, {"a": 2}]


@pytest.mark.parametrize("above", ["", '"Plot Title: barn"\n', "# a note\n"])
def test_a_number_sign_alone_is_the_name_of_a_column(tmp_path, above):
    path = tmp_path / "logger.csv"
    path.write_text(above + '"#","Name","Temp"\n1,a,20.5\n2,b,21.5\n')
    assert read(path)[0] == {"#": 1, "Name": "a", "Temp": 20.5}


def test_the_end_of_files_of_dos_is_no_row(tmp_path):
    path = tmp_path / "dos.csv"
    path.write_bytes(b"a,b\r\n1,x\r\n2,y\r\n\x1a")
    assert len(read(path)) == 2


LANGUAGES = {
    "cp1250": "Město;Částka\nPlzeň;Děčín\nTřebíč;Ústí\n",
    "cp1254": "Şehir;Değer\nİzmir;Muğla\nEskişehir;Iğdır\n",
    "cp1253": "Πόλη;Ποσό\nΑθήνα;Πάτρα\nΒόλος;Χανιά\n",
    "cp1255": "עיר;סכום\nחיפה;אילת\nנתניה;אשדוד\n",
    "cp1256": "المدينة;المبلغ\nالقاهرة;الرياض\nتونس;بغداد\n",
    "cp874": "เมือง;จำนวน\nเชียงใหม่;ภูเก็ต\nขอนแก่น;ระยอง\n",
    "cp1251": "Город;Сумма\nКазань;Томск\nСочи;Пермь\n",
    "koi8-r": "Город;Сумма\nКазань;Томск\nСочи;Пермь\n",
    "cp850": "Name;Ort\nMüller;Köln\nGrößer;Düren\n",
    "mac-roman": "Name;Ort\nMüller;Köln\nGrößer;Düren\n",
    "iso8859-15": "Ort;Preis\nKöln;5 €\nDüren;7 €\n",
    "cp1252": "città;perché\nForlì;Cefalù\npiù;così\n",
}


@pytest.mark.parametrize("encoding", LANGUAGES)
def test_letters_of_a_language_tell_the_encoding(tmp_path, encoding):
    path = tmp_path / "towns.csv"
    path.write_bytes(LANGUAGES[encoding].encode(encoding))
    names, *rows = [line.split(";") for line in LANGUAGES[encoding].splitlines()]
    table, report = bayeswater.read_table(path, types=dict.fromkeys(names, pa.string()))
    assert [*zip(*table.to_pydict().values(), strict=True)] == [tuple(row) for row in rows]
    assert table.column_names == names
    assert f"is read as {encoding}" in report.notes[0]


def test_rows_that_begin_with_an_error_of_a_sheet_are_no_comments(tmp_path):
    path = tmp_path / "sheet.csv"
    path.write_text("# a note\na,b\n#N/A,1\n2,2\n# half of it\n#NV ,3\n4,4\n")
    assert [row["a"] for row in read(path)] == [None, 2, None, 4]
