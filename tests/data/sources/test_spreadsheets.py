"""A spreadsheet that asks for more memory than its cells fill is refused before it is loaded, however it is written."""

import zipfile
from datetime import datetime

import pytest

import bayeswater as bw
from bayeswater import limits
from bayeswater.data.sources import spreadsheets
from bayeswater.data.sources.recognising import open_source
from bayeswater.errors import DataError, ResourceLimitError

DAY = datetime(2025, 3, 1, 12, 30)
MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
WORKBOOK = (
    f'<workbook xmlns="{MAIN}" xmlns:r="{OFFICE}"><sheets><sheet name="s" sheetId="1" r:id="a"/></sheets></workbook>'
)
PACKAGE = "http://schemas.openxmlformats.org/package/2006/relationships"
RELATION = f'<Relationships xmlns="{PACKAGE}"><Relationship Id="a" Type="{OFFICE}/{{}}" Target="{{}}"/></Relationships>'
SHEET = (
    f"<worksheet xmlns='{MAIN}'><sheetData><row r='1'><c r='A1' t='str'><v>a</v></c></row>{{}}</sheetData></worksheet>"
)


def book(path, rows, place="worksheets/sheet1.xml", encoding="utf-8", sheet=SHEET):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/workbook.xml", WORKBOOK)
        archive.writestr("_rels/.rels", RELATION.format("officeDocument", "xl/workbook.xml"))
        archive.writestr("xl/_rels/workbook.xml.rels", RELATION.format("worksheet", place))
        archive.writestr(f"xl/{place}", sheet.format(rows).encode(encoding))
    return path


def read(path, **options):
    return [row for table in open_source(path, **options).batches() for row in table.to_pylist()]


@pytest.mark.parametrize("place", ["worksheets/sheet1.xml", "deep/s.xml"])
def test_a_sheet_is_read_wherever_the_archive_holds_it_or_refused_in_words(tmp_path, place):
    pytest.importorskip("python_calamine")
    path = book(tmp_path / "t.xlsx", "<row r='2'><c r='A2'><v>1</v></c></row>", place)
    try:
        rows = read(path)
    except DataError as error:  # early versions of calamine know one place alone
        assert place == "deep/s.xml" and "is it a whole spreadsheet?" in str(error)
    else:
        assert rows == [{"a": 1}]


@pytest.mark.parametrize(
    "cell",
    [
        "<row><c r='BZZ60000'><v>1</v></c></row>",
        '<row><c r="bzz60000"><v>1</v></c></row>',
        f'<row><c s="{"0" * 5000}" r="BZZ60000"><v>1</v></c></row>',
        "<row><c\n\tr = 'BZZ60000'><v>1</v></c></row>",
        "<row r='60000'><c><v>1</v></c></row><row><c r='BZZ1'><v>1</v></c></row>",
        "<row><x:c xmlns:x='y' r='BZZ60000'><v>1</v></x:c></row>",
        "<row><c r='BZZ4294967296000'><v>1</v></c></row>",
        "<row><c r='A1'><v>1</v></c></row><row><c r='BZZ60000'/></row>".replace("'", '"'),
    ],
)
@pytest.mark.parametrize("place", ["worksheets/sheet1.xml", "deep/s.xml"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_a_far_cell_is_found_however_it_is_written(tmp_path, cell, place, encoding):
    path = book(tmp_path / "t.xlsx", cell, place, encoding)
    with pytest.raises(ResourceLimitError, match=r"t\.xlsx: xl/.* reaches over [\d,]+ cells, .*CSV"):
        spreadsheets.require_small_sheets(str(path), "t.xlsx")


@pytest.mark.parametrize(
    "sheet",
    [
        "<worksheet><sheetData><row><c r='A1' r='BZZ60000'/></row></sheetData></worksheet>",
        "<worksheet></w><sheetData><row><c r='BZZ60000'/></row></sheetData></worksheet>",
        "<!DOCTYPE w [<!ENTITY r 'BZZ60000'>]><worksheet><sheetData><c r='&r;'/></sheetData></worksheet>",
    ],
)
def test_cells_in_what_is_no_sound_xml_are_refused(tmp_path, sheet):
    path = book(tmp_path / "t.xlsx", "", sheet=sheet)
    with pytest.raises(DataError, match=r"sheet1\.xml is not valid XML: .*; open the file and save it anew"):
        spreadsheets.require_small_sheets(str(path), "t.xlsx")


def test_parts_that_are_no_xml_and_hold_no_cells_are_passed_over(tmp_path):
    path = book(tmp_path / "t.xlsx", "")
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("xl/media/image1.png", b"\x89PNG")
        archive.writestr("xl/drawings/vmlDrawing1.vml", "<xml><br></xml>")
    spreadsheets.require_small_sheets(str(path), "t.xlsx")


def test_sheets_are_counted_together(tmp_path, monkeypatch):
    row = "<table:table-row><table:table-cell office:value='1' table:number-columns-repeated='9'/></table:table-row>"
    path = tmp_path / "t.ods"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("content.xml", f"<x>{f'<table:table>{row}</table:table>' * 3}</x>")
    spreadsheets.require_small_sheets(str(path), "t.ods")
    monkeypatch.setattr(limits, "SHEET_CELLS", 26)
    with pytest.raises(ResourceLimitError, match="reaches over 27 cells"):
        spreadsheets.require_small_sheets(str(path), "t.ods")


def test_rows_within_a_cell_of_open_document_hide_no_others(tmp_path):
    inner = "<table:table-cell><table:table-row/></table:table-cell>"
    path = tmp_path / "t.ods"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("content.xml", f"<table:table><table:table-row>{inner}</table:table-row></table:table>")
    with pytest.raises(DataError, match="a row within a row"):
        spreadsheets.require_small_sheets(str(path), "t.ods")


def test_a_binary_workbook_is_refused_with_the_way_out(tmp_path):
    path = tmp_path / "t.xlsb"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("xl/workbook.bin", b"\0")
    with pytest.raises(
        DataError, match=r"t\.xlsb is a binary workbook \(\.xlsb\), which is not read; save it as \.xlsx"
    ):
        spreadsheets.require_small_sheets(str(path), "t.xlsb")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a\tb\n1\t2\n", r"t\.xls is no spreadsheet; if it is text, say format='csv'"),
        ("\n<table><tr><td>1</td></tr></table>", r"t\.xls is a page of HTML or XML.*save it as \.xlsx"),
    ],
)
def test_text_that_is_named_as_a_spreadsheet_is_refused_with_the_way_out(tmp_path, text, said):
    (tmp_path / "t.xls").write_text(text)
    with pytest.raises(DataError, match=said):
        spreadsheets.require_small_sheets(str(tmp_path / "t.xls"), "t.xls")


@pytest.mark.parametrize(
    ("local", "central", "value", "message"),
    [
        (None, 16, 0xFF, "t.xlsx is damaged: Bad CRC-32.*; save it anew"),
        (6, 8, 1, "t.xlsx: .*password.*; save it without a password"),
        (8, 10, 97, "t.xlsx: .*compression method.*; save it"),
        (39, None, 0xFF, "t.xlsx is damaged: .*; save it anew"),
    ],
)
def test_a_damaged_or_locked_spreadsheet_is_refused_in_words(tmp_path, local, central, value, message):
    path = tmp_path / "t.xlsx"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("content", b"0123456789" * 50)
    content = bytearray(path.read_bytes())
    if local is not None:
        content[local] = value
    if central is not None:
        content[content.index(b"PK\x01\x02") + central] = value
    path.write_bytes(content)
    with pytest.raises(DataError, match=message):
        spreadsheets.require_small_sheets(str(path), "t.xlsx")


def test_time_stamps_of_which_one_is_at_midnight_are_one_column(tmp_path):
    moments = [datetime(2025, 3, 1, 23, 30), datetime(2025, 3, 2), None, datetime(2025, 3, 2, 0, 30)]
    book = pytest.importorskip("openpyxl").Workbook()
    for row in [["time", "x"], *([moment, k] for k, moment in enumerate(moments))]:
        book.active.append(row)
    book.save(tmp_path / "times.xlsx")
    table, _ = bw.read_table(tmp_path / "times.xlsx")
    assert table.column("time").to_pylist() == moments


def test_marks_of_missing_cells_among_numbers_are_missing(tmp_path):
    pytest.importorskip("python_calamine")
    book = pytest.importorskip("openpyxl").Workbook()
    for row in [
        ["n", "day", "k"],
        *([cell, day, "-"] for cell, day in zip([1, "-", 2.5, " n/a"], [DAY, "?", DAY, None], strict=True)),
    ]:
        book.active.append(row)
    book.save(tmp_path / "marks.xlsx")
    assert read(tmp_path / "marks.xlsx")[:2] == [{"n": 1, "day": DAY, "k": "-"}, {"n": None, "day": None, "k": "-"}]
    assert read(tmp_path / "marks.xlsx", missing_only=["x"])[1]["n"] == "-"


def test_cells_that_are_merged_downwards_stand_in_each_of_their_rows(tmp_path):
    pytest.importorskip("python_calamine")
    book = pytest.importorskip("openpyxl").Workbook()
    sheet, path = book.active, tmp_path / "groups.xlsx"
    for row in [["Groups of 2023"], [], ["group", "n", "more"], ["a", 1, 5], [None, 2, None], ["b", 3, None]]:
        sheet.append(row)
    for cells in ("A1:C1", "A4:A5", "C5:C6"):
        sheet.merge_cells(cells)
    book.save(path)
    assert read(path) == [
        {"group": "a", "n": 1, "more": 5},
        {"group": "a", "n": 2, "more": None},
        {"group": "b", "n": 3, "more": None},
    ]
    assert "stand in each of their rows: column 'group', 'more'" in bw.read_table(path).report.notes[1]


def test_the_one_sheet_that_is_not_hidden_is_read(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for sheet, rows in ((book.active, [["code"], [1]]), (book.create_sheet("Data"), [["a"], [2], [3]])):
        for row in rows:
            sheet.append(row)
    book.worksheets[0].sheet_state, book.active = "hidden", 1
    book.save(tmp_path / "t.xlsx")
    table, report = bw.read_table(tmp_path / "t.xlsx")
    assert table.to_pylist() == [{"a": 2}, {"a": 3}]
    assert "the sheet 'Data' is read; hidden: 'Sheet'" in report.notes


def test_numbers_beside_words_are_said(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in (["a", "b"], [1, "x"], ["two", "y"], [3, "z"]):
        book.active.append(row)
    book.save(tmp_path / "t.xlsx")
    assert (
        "column 'a' has 2 numbers and 1 words, as 'two', and is text"
        in bw.read_table(tmp_path / "t.xlsx").report.notes[0]
    )


def test_formulas_without_values_are_said(tmp_path):
    book = pytest.importorskip("openpyxl").Workbook()
    for row in (["a", "twice"], [1, "=A2*2"], [2, "=A3*2"]):
        book.active.append(row)
    book.save(tmp_path / "sums.xlsx")
    report = bw.read_table(tmp_path / "sums.xlsx").report
    assert [note for note in report.notes if "some formulas have no values" in note]
