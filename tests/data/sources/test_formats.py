"""Archives, spreadsheets, databases, JSON arrays, files of statistics are tables; bombs are not, and queries read."""

import bz2
import contextlib
import datetime
import gzip
import io
import json
import lzma
import sqlite3
import zipfile

import pyarrow as pa
import pytest

from bayeswater import NaiveBayes, limits
from bayeswater.data.sources import databases, json_arrays, json_lines, spreadsheets, whole_files
from bayeswater.data.sources.recognising import local_rows, open_source
from bayeswater.data.sources.source import TypesWidened
from bayeswater.errors import DataError, ParameterError, ResourceLimitError

TEXT = "name,n\nAnn,1\nBob,2\n"
ROWS = [{"name": "Ann", "n": 1}, {"name": "Bob", "n": 2}]


def rows_of(source):
    return [row for table in source.batches() for row in table.to_pylist()]


def read(path, **options):
    return rows_of(open_source(path, **options))


def zipped(path, files, **how):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content, **how)
    return path


# ---------------------------------------------------------------------- archives


@pytest.mark.parametrize("ending", ["csv.gz", "csv.bz2", "csv.xz", "csv.zst", "csv.lz4", "zip"])
def test_a_packed_table_is_the_table(tmp_path, ending):
    path = tmp_path / f"t.{ending}"
    content = TEXT.encode()
    pack = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress}.get(ending.removeprefix("csv."))
    if ending == "zip":
        zipped(path, {"folder/t.csv": content, "__MACOSX/t.csv": b"x", ".hidden": b"y"})
    elif pack:
        path.write_bytes(pack(content))
    else:
        with pa.CompressedOutputStream(str(path), {"csv.zst": "zstd", "csv.lz4": "lz4"}[ending]) as file:
            file.write(content)
    assert read(path) == ROWS


def test_streams_of_xz_may_follow_one_another(tmp_path):
    path = tmp_path / "t.csv.xz"
    path.write_bytes(lzma.compress(b"name,n\nAnn,1\n") + b"\0" * 4 + lzma.compress(b"Bob,2\n"))
    assert read(path) == ROWS
    path.write_bytes(lzma.compress(TEXT.encode() * 100)[:-20])
    with pytest.raises(DataError, match=r"t\.csv\.xz: .*is the file complete"):
        read(path)


def test_a_file_of_an_archive_is_named_behind_an_exclamation_mark(tmp_path):
    path = zipped(tmp_path / "all.zip", {"a.csv": TEXT, "b/c.tsv": TEXT.replace(",", "\t"), "rows.jsonl": '{"n": 5}'})
    assert read(f"{path}!a.csv") == read(f"{path}!b/c.tsv") == ROWS
    assert local_rows(f"{path}!rows.jsonl").head(["n"]).to_pylist() == [{"n": 5}]
    with pytest.raises(
        DataError, match=r"it holds 3 files in the archive: 'a.csv', 'b/c.tsv', 'rows.jsonl'; name one, as"
    ):
        read(path)
    with pytest.raises(DataError, match=r"there is no 'd.csv' in the archive"):
        read(f"{path}!d.csv")
    named = tmp_path / "odd.zip!x.csv"
    named.write_text(TEXT)
    assert read(named) == ROWS


def test_a_zip_archive_goes_on_from_every_mark(tmp_path, monkeypatch):
    monkeypatch.setattr("bayeswater.data.sources.delimited.BLOCK_BYTES", 64)
    path = zipped(tmp_path / "t.zip", {"t.csv": "a,b\n" + "".join(f"{i},x\n" for i in range(100))})
    source = open_source(path)
    for piece in list(source.pieces()):
        (first, *_) = source.pieces(start=piece.mark)
        assert first.table["a"][0].as_py() == piece.mark.row


def test_an_archive_that_is_broken_or_locked_is_refused_in_words(tmp_path):
    path = zipped(tmp_path / "t.zip", {"t.csv": TEXT * 1000})
    whole = path.read_bytes()
    path.write_bytes(whole[:-30])
    with pytest.raises(DataError, match=r"not a complete zip archive"):
        read(path)
    locked = bytearray(whole)
    locked[6] |= 1  # the flag of a password, in both headers
    locked[whole.index(b"PK\x01\x02") + 8] |= 1
    path.write_bytes(locked)
    with pytest.raises(DataError, match=r"password"):
        read(path)
    with pytest.raises(DataError, match="a zip archive is read from its end, so not from a pipe"):
        rows_of(open_source("-", standard_input=io.BytesIO(whole)))


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
def test_a_bomb_is_refused_when_too_much_comes_of_it(tmp_path, monkeypatch, pack):
    monkeypatch.setattr(limits, "UNPACKED_BYTES", 2**21)
    path = tmp_path / "bomb.csv.gz"
    path.write_bytes(pack(b"a,b\n" + b"1,2\n" * 2**21))
    with pytest.raises(ResourceLimitError, match=r"bomb\.csv\.gz unpacks to \d+ times its size"):
        read(path)


def test_a_bomb_in_a_zip_archive_is_refused_before_it_is_unpacked(tmp_path, monkeypatch):
    monkeypatch.setattr(limits, "UNPACKED_BYTES", 2**21)
    path = zipped(tmp_path / "bomb.zip", {"t.csv": b"a,b\n" + b"1,2\n" * 2**21})
    monkeypatch.setattr(zipfile.ZipFile, "open", None)  # nothing is opened
    with pytest.raises(ResourceLimitError, match=r"bomb\.zip unpacks to \d+ times its size"):
        read(path)


# ---------------------------------------------------------------------- JSON arrays


@pytest.mark.parametrize(
    "text", ['[{"name": "Ann", "n": 1}, {"name": "Bob", "n": 2}]', json.dumps(ROWS, indent=2), "\ufeff[\n]"]
)
def test_an_array_of_objects_is_a_table(tmp_path, text):
    path = tmp_path / "t.json"
    path.write_text(text)
    if "{" in text:
        assert read(path) == ROWS
        assert rows_of(open_source("-", "jsonl", standard_input=io.BytesIO(text.encode()))) == ROWS
    else:
        with pytest.raises(DataError, match=r"t\.json is empty"):
            read(path)


def test_an_array_is_read_in_pieces_and_goes_on_from_every_mark(tmp_path, monkeypatch):
    monkeypatch.setattr("bayeswater.data.sources.json_lines.BLOCK_BYTES", 200)
    monkeypatch.setattr(json_arrays, "PIECE_BYTES", 50)
    path = tmp_path / "t.json"
    rows = [{"n": i, "s": f'[{i}, "}}"]' if i % 3 else "北京"} for i in range(100)]
    path.write_text(json.dumps(rows, indent=1, ensure_ascii=False))
    source = open_source(path)
    pieces = list(source.pieces())
    assert len(pieces) > 5
    assert rows_of(source) == rows
    for piece in pieces:
        (first, *_) = source.pieces(start=piece.mark)
        assert first.table.to_pylist()[0] == rows[piece.mark.row]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[{"a": 1}, 5]', "element 2 of the array is no JSON object but '5'"),
        ('[{"a": 1}, {"a": ]', "element 2 of the array is no JSON: "),
        ('[{"a": 1}', "element 2 of the array is no JSON: "),
    ],
)
def test_what_is_no_array_of_objects_is_refused_by_its_element(tmp_path, text, message):
    path = tmp_path / "t.json"
    path.write_text(text)
    with pytest.raises(DataError, match=message):
        read(path)


# ---------------------------------------------------------------------- spreadsheets

DAY = datetime.datetime(2023, 12, 31)
CELLS = [["name", "n", "share", "day", "mixed"], ["Ann", 1, 0.5, DAY, 7], [None, 2, 1.5, DAY, "x"]]
TABLE = [
    {"name": "Ann", "n": 1, "share": 0.5, "day": DAY.date(), "mixed": "7"},
    {"name": None, "n": 2, "share": 1.5, "day": DAY.date(), "mixed": "x"},
]


def workbook(path, *sheets):
    openpyxl = pytest.importorskip("openpyxl")
    pytest.importorskip("python_calamine")
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, rows in sheets:
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    book.save(path)
    return path


def as_days(rows):
    return [{**row, "day": getattr(row["day"], "date", lambda day=row["day"]: day)()} for row in rows]


def test_a_sheet_is_a_table_with_the_types_of_its_cells(tmp_path):
    path = workbook(tmp_path / "t.xlsx", ("data", CELLS), ("empty", []))
    assert as_days(read(path)) == TABLE


def test_a_sheet_of_open_document_is_a_table(tmp_path):
    odf = pytest.importorskip("odf.opendocument")
    pytest.importorskip("python_calamine")
    from odf.table import Table, TableCell, TableRow
    from odf.text import P

    book, sheet = odf.OpenDocumentSpreadsheet(), Table(name="data")
    for cells in [["name", "n"], ["Ann", 1], ["Bob", 2]]:
        row = TableRow()
        for cell in cells:
            kind = {"valuetype": "float", "value": cell} if isinstance(cell, int) else {"valuetype": "string"}
            box = TableCell(**kind)
            box.addElement(P(text=str(cell)))
            row.addElement(box)
        sheet.addElement(row)
    empty = TableRow(numberrowsrepeated=1048573)  # as LibreOffice fills up a sheet
    empty.addElement(TableCell(numbercolumnsrepeated=16384))
    sheet.addElement(empty)
    book.spreadsheet.addElement(sheet)
    book.save(tmp_path / "t.ods")
    assert read(tmp_path / "t.ods") == ROWS


def test_titles_empty_columns_double_names_and_totals_of_a_sheet_are_found(tmp_path):
    rows = [["Sales 2023"], [], ["name", "n", "n", None], ["Ann", 1, 2, None], ["Total", 1, 2, None]]
    source = open_source(workbook(tmp_path / "t.xlsx", ("data", rows)))
    assert rows_of(source) == [{"name": "Ann", "n": 1, "n_2": 2}, {"name": "Total", "n": 1, "n_2": 2}]
    assert len(source.notes) == 3
    assert read(workbook(tmp_path / "u.xlsx", ("data", [[1, "x"], [2, "y"]])), names=["a", "b"]) == [
        {"a": 1, "b": "x"},
        {"a": 2, "b": "y"},
    ]


def test_one_of_several_sheets_is_named(tmp_path):
    path = workbook(tmp_path / "t.xlsx", ("2022", [["a"], [1]]), ("2023", [["a"], [2]]))
    assert read(path, sheet="2023") == read(path, sheet=2) == read(path, sheet="2") == [{"a": 2}]
    with pytest.raises(DataError, match=r"has 2 sheets: '2022', '2023'; name one with .*sheet=\.\.\."):
        read(path)
    with pytest.raises(DataError, match="there is no sheet '2024'; did you mean '2023' or '2022'"):
        read(path, sheet="2024")


def test_a_sheet_whose_last_cell_is_far_away_is_refused_before_it_is_loaded(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    pytest.importorskip("python_calamine")
    book = openpyxl.Workbook()
    book.active["A1"], book.active["XFD1048576"] = "a", 1
    book.save(tmp_path / "far.xlsx")
    with pytest.raises(ResourceLimitError, match=r"reaches over 17,179,869,184 cells, most of them empty"):
        read(tmp_path / "far.xlsx")


@pytest.mark.parametrize("piece_bytes", [2**20, 100])
def test_cells_of_open_document_that_stand_for_many_are_counted(tmp_path, monkeypatch, piece_bytes):
    monkeypatch.setattr(spreadsheets, "PIECE_BYTES", piece_bytes)
    cell = '<table:table-cell table:number-columns-repeated="16384" office:value-type="float" office:value="1"/>'
    row = f'<table:table-row table:number-rows-repeated="1048576">{cell}</table:table-row>'
    path = zipped(tmp_path / "t.ods", {"content.xml": f"<x><table:table>{row}</table:table></x>"})
    with pytest.raises(ResourceLimitError, match="reaches over 17,179,869,184 cells"):
        spreadsheets.require_small_sheets(str(path), "t.ods")
    empty = row.replace(' office:value-type="float" office:value="1"', "")
    path = zipped(tmp_path / "u.ods", {"content.xml": f"<x><table:table>{empty}</table:table></x>"})
    spreadsheets.require_small_sheets(str(path), "u.ods")


def test_a_spreadsheet_that_unpacks_to_too_much_is_refused(tmp_path, monkeypatch):
    path = zipped(tmp_path / "t.xlsx", {"xl/worksheets/sheet1.xml": b" " * 2**20})
    monkeypatch.setattr(spreadsheets, "SHEET_BYTES", 2**19)
    with pytest.raises(ResourceLimitError, match="takes 1 MiB, over the limit of 512 KiB"):
        spreadsheets.require_small_sheets(str(path), "t.xlsx")


@pytest.mark.parametrize(
    ("ending", "library", "extra"),
    [("xlsx", "python_calamine", "excel"), ("sav", "pyreadstat", "statistics"), ("duckdb", "duckdb", "sql")],
)
def test_a_library_that_is_not_there_is_named_with_the_command_that_installs_it(
    tmp_path, monkeypatch, ending, library, extra
):
    path = tmp_path / f"t.{ending}"
    path.write_bytes(b"anything")

    def absent(name):
        raise ImportError(name)

    monkeypatch.setattr(whole_files, "import_module", absent)
    with pytest.raises(DataError, match=rf"needs {library}; install it with: pip install 'bayeswater\[{extra}\]'"):
        read(path)


# ---------------------------------------------------------------------- databases


@pytest.fixture
def people(tmp_path):
    path = tmp_path / "people.sqlite"
    with sqlite3.connect(path) as base:
        base.execute("CREATE TABLE people (name TEXT, n INTEGER, x, y)")
        base.executemany(
            "INSERT INTO people VALUES (?, ?, ?, ?)", [("Ann", 1, 1, None), ("Bob", 2, 2.5, 7), (None, 3, 3, "x")]
        )
    base.close()
    return path


def test_the_only_table_of_a_database_is_read_in_the_types_of_its_cells(people):
    source = open_source(people)
    assert source.schema.types == [pa.string(), pa.int64(), pa.float64(), pa.string()]
    assert rows_of(source) == [
        {"name": "Ann", "n": 1, "x": 1.0, "y": None},
        {"name": "Bob", "n": 2, "x": 2.5, "y": "7"},
        {"name": None, "n": 3, "x": 3.0, "y": "x"},
    ]
    assert [table.to_pylist() for table in source.batches(["n"])] == [[{"n": 1}, {"n": 2}, {"n": 3}]]


def test_a_table_or_a_query_is_named(people):
    with sqlite3.connect(people) as base:
        base.execute('CREATE TABLE "other ""one" (a)')
        base.execute('INSERT INTO "other ""one" VALUES (5)')
    base.close()
    assert read(people, table='other "one') == [{"a": 5}]
    assert read(people, query="SELECT n * 2 AS m FROM people WHERE n > 1;") == [{"m": 4}, {"m": 6}]
    with pytest.raises(DataError, match=r"has 2 tables: 'other \"one', 'people'; name one with .*table"):
        read(people)
    with pytest.raises(DataError, match="there is no table 'peopl'; did you mean 'people'"):
        read(people, table="peopl")
    with pytest.raises(ParameterError, match="both a table and a query"):
        read(people, table="people", query="SELECT 1")


@pytest.mark.parametrize(
    "query",
    [
        "DELETE FROM people",
        "SELECT 1) ; DELETE FROM people; --",
        "INSERT INTO people VALUES ('x', 1, 1, 1) RETURNING *",
        "ATTACH 'other.sqlite' AS other",
        "PRAGMA journal_mode",
        "SELECT load_extension('x')",
        "SELECT readfile('/etc/passwd')",
        "nonsense",
    ],
)
def test_a_query_of_sqlite_only_reads(people, query):
    with pytest.raises(DataError, match=r"people\.sqlite: .*; a query is one SELECT over the tables of the file"):
        read(people, query=query)
    assert len(read(people)) == 3


@pytest.fixture
def ducks(tmp_path):
    duckdb = pytest.importorskip("duckdb")
    path = tmp_path / "ducks.duckdb"
    with duckdb.connect(str(path)) as base:
        base.execute("CREATE TABLE people AS SELECT * FROM (VALUES ('Ann', 1), ('Bob', 2)) t(name, n)")
    return path


def test_a_table_of_duckdb_is_read(ducks):
    assert read(ducks) == ROWS
    assert read(ducks.rename(ducks.with_suffix(".db"))) == ROWS
    ducks.with_suffix(".db").rename(ducks)
    assert read(ducks, query="SELECT sum(n) AS n FROM people")[0]["n"] == 3


@pytest.mark.parametrize(
    "query",
    [
        "DELETE FROM people",
        "SELECT 1; DROP TABLE people",
        "COPY people TO 'out.csv'",
        "SELECT * FROM read_csv('{secret}')",
        "SELECT * FROM '{secret}'",
        "ATTACH '{secret}' AS other",
        "INSTALL httpfs",
        "SET enable_external_access = true",
        "SELECT * FROM read_text('https://example.org')",
    ],
)
def test_a_query_of_duckdb_only_reads_and_reaches_no_other_file(tmp_path, ducks, query):
    secret = tmp_path / "secret.csv"
    secret.write_text("a\nhidden\n")
    with pytest.raises(DataError, match="a query is one SELECT over the tables of the file"):
        read(ducks, query=query.format(secret=secret))
    assert read(ducks) == ROWS


def test_what_is_no_database_is_refused_in_words(tmp_path):
    path = tmp_path / "t.sqlite"
    path.write_text(TEXT * 100)
    with pytest.raises(DataError, match="is no file of SQLite"):
        read(path)


# ---------------------------------------------------------------------- SPSS, Stata, SAS


@pytest.mark.parametrize("ending", ["sav", "dta", "xpt"])
def test_files_of_statistics_have_labels_for_states_and_declared_missing_cells(tmp_path, ending):
    pyreadstat, pandas = pytest.importorskip("pyreadstat"), pytest.importorskip("pandas")
    path = tmp_path / f"t.{ending}"
    frame = pandas.DataFrame(
        {"sex": [2.0, 1.0, None], "age": [30.0, 98.0, 22.5], "name": ["Ann", "", "Di"], "n": [1, 2, 3]}
    )
    labels = {"sex": {1: "male", 2: "female", 3: "other"}}
    if ending == "sav":
        labels["age"] = {98: "refused"}
        pyreadstat.write_sav(frame, str(path), variable_value_labels=labels, missing_ranges={"age": [98]})
    elif ending == "dta":
        pyreadstat.write_dta(frame, str(path), variable_value_labels=labels)
    else:
        pyreadstat.write_xport(frame, str(path))
    source = open_source(path)
    (table,) = source.batches()
    rows = table.to_pylist()
    assert [row["age"] for row in rows] == [30.0, None if ending == "sav" else 98.0, 22.5]
    assert [row["name"] for row in rows] == ["Ann", None, "Di"]
    assert table.schema.field("n").type == pa.int64()
    if ending == "xpt":
        assert [row["sex"] for row in rows] == [2, 1, None]
    else:
        assert [row["sex"] for row in rows] == ["female", "male", None]
        assert table["sex"].chunk(0).dictionary.to_pylist() == ["male", "female", "other"]
    assert source.notes == ["only some values of 'age' have labels, as 'refused'; its values stay"] * (ending == "sav")


def test_files_of_statistics_are_read_in_pieces_and_broken_ones_refused(tmp_path, monkeypatch):
    pyreadstat, pandas = pytest.importorskip("pyreadstat"), pytest.importorskip("pandas")
    monkeypatch.setattr("bayeswater.data.sources.statistics_files.MOST_ROWS", 3)
    path = tmp_path / "t.sav"
    day = datetime.date(2023, 12, 31)
    pyreadstat.write_sav(pandas.DataFrame({"x": [1.0, 2.0, 3.0, 4.5], "day": [None, None, None, day]}), str(path))
    assert read(path) == [{"x": x, "day": day if x == 4.5 else None} for x in (1.0, 2.0, 3.0, 4.5)]
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(DataError, match="is the file whole"):
        read(path)


# ---------------------------------------------------------------------- one reader for all


STYLED = [
    {
        "price": f"{1000 + 7 * i:,}".replace(",", ".") + ",50 €",
        "ok": ("yes", "no")[i % 2],
        "day": f"{i % 28 + 1:02}.{i % 12 + 1:02}.2023",
        "n": "unknown" if i % 9 == 0 else f"{i},5",
        "y": ("a", "b")[i // 2 % 2],
    }
    for i in range(60)
]


def styled_file(folder, ending):
    path = folder / f"styled.{ending}"
    if ending == "jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in STYLED))
    elif ending == "json":
        path.write_text(json.dumps(STYLED))
    elif ending == "csv":
        cells = [[*STYLED[0]], *[row.values() for row in STYLED]]
        path.write_text("\n".join(";".join(row) for row in cells), encoding="utf-8")
    else:
        make = sqlite3.connect if ending == "sqlite" else pytest.importorskip("duckdb").connect
        with contextlib.closing(make(str(path))) as file:
            file.execute("CREATE TABLE t (price TEXT, ok TEXT, day TEXT, n TEXT, y TEXT)")
            file.executemany("INSERT INTO t VALUES (?, ?, ?, ?, ?)", [tuple(row.values()) for row in STYLED])
            file.commit()
    return path


@pytest.mark.parametrize("ending", ["csv", "jsonl", "json", "sqlite", "duckdb"])
def test_models_of_every_format_read_cells_alike(tmp_path, ending):
    rows = local_rows(styled_file(tmp_path, ending), missing="unknown", thousands=".", decimal=",")
    model = NaiveBayes().fit(rows, target="y")
    kinds = ["double", "bool", "date32[day]", "double", "string"]
    assert [str(kind) for kind in rows.schema.types] == kinds
    one = tmp_path / "one.json"
    one.write_text(json.dumps({**STYLED[9], "y": None}))
    later = tmp_path / "one.csv"
    later.write_text("price;ok;day;n\n1.063,50 €;no;10.10.2023;unknown\n", encoding="utf-8")
    answers = [next(iter(model.predict_proba(str(path)))).to_pylist() for path in (one, later)]
    assert answers[0] == answers[1]
    by_dict = model.predict_proba([{"price": 1063.5, "ok": "no", "day": datetime.date(2023, 10, 10), "n": None}])
    assert list(answers[0][0].values()) == pytest.approx(by_dict[0].tolist(), abs=1e-12)


@pytest.mark.parametrize("ending", ["jsonl", "sqlite", "duckdb"])
def test_a_cell_far_down_that_is_written_in_another_way_makes_a_text_of_its_column(tmp_path, ending, monkeypatch):
    monkeypatch.setattr(json_lines, "BLOCK_BYTES", 500)
    monkeypatch.setattr(databases, "BATCH_ROWS", 8)
    monkeypatch.setitem(STYLED[50], "price", "cheap")
    source = open_source(styled_file(tmp_path, ending))
    assert source.schema.field("price").type == pa.float64()
    with pytest.raises(TypesWidened, match="row 51, column 'price' holds 'cheap'"):
        rows_of(source)
    assert [row["price"] for row in rows_of(source)][49:51] == ["1.343,50 €", "cheap"]
