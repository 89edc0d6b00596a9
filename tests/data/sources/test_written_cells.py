"""Cells of text files are read as people write them: the whole column tells, and what a model knows is held to."""

import re
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.data.styled_columns import STYLES, written_columns

from bayeswater.data.column_types import Misfit, type_named
from bayeswater.data.reading.cell_style import EARLIER_MARKS
from bayeswater.data.reading.cell_styles import style_of, style_of_document
from bayeswater.data.reading.date_style import DateStyle
from bayeswater.data.reading.number_style import NumberStyle
from bayeswater.data.sources import delimited
from bayeswater.data.sources.arrow_csv import CsvForm
from bayeswater.data.sources.recognising import local_rows, open_source
from bayeswater.data.sources.source import Source, TypesWidened
from bayeswater.data.sources.whole import whole_table
from bayeswater.data.sources.written_cells import LABELS
from bayeswater.errors import BayesWarning, ParameterError


def csv(path: Path, columns: dict[str, list[str]], delimiter: str = ";") -> Path:
    """Write a file in which each cell stands in quotes."""
    rows = [columns, *zip(*columns.values(), strict=True)]
    text = "".join(delimiter.join(f'"{cell}"' for cell in row) + "\n" for row in rows)
    path.write_text(text, encoding="utf-8")
    return path


def opened(path: Path, **reading: Any) -> Source:
    return open_source(path, **reading)


def cells(source: Source, name: str) -> list[Any]:
    return [cell for table in source.batches([name]) for cell in table[name].to_pylist()]


@pytest.mark.parametrize("name", STYLES)
def test_each_style_in_a_file_is_read_as_a_person_would(name: str, tmp_path: Path) -> None:
    written, values = STYLES[name]
    source = opened(csv(tmp_path / "a.csv", {"x": written, "other": ["a"] * len(written)}))
    assert cells(source, "x") == values
    assert cells(source, "other") == ["a"] * len(written)


@settings(max_examples=30)
@given(columns=st.lists(written_columns(), min_size=1, max_size=3), delimiter=st.sampled_from(";\t|"))
def test_any_table_written_in_any_style_and_read_back_is_equal(
    columns: list[tuple[str, list[str], list[Any]]], delimiter: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    n_rows = min(len(written) for _, written, _ in columns)
    table = {f"c{i}": written[-n_rows:] for i, (_, written, _) in enumerate(columns)}
    path = csv(tmp_path_factory.mktemp("written") / "a.csv", table | {"row": [*map(str, range(n_rows))]}, delimiter)
    source = opened(path, delimiter=delimiter)
    for i, (name, _, values) in enumerate(columns):
        if not (name.startswith("truth") and len({*values[-n_rows:]} - {None}) < 2):
            assert cells(source, f"c{i}") == values[-n_rows:], name


def test_codes_with_zeros_before_them_stay_strings_and_numbers_of_months_stay_numbers(tmp_path: Path) -> None:
    columns = {"zip": ["00501", "10001"], "month": ["01", "12"], "phone": ["0301234", "0891234567"], "n": ["5", "6"]}
    source = opened(csv(tmp_path / "a.csv", columns))
    assert [str(kind) for kind in source.schema.types] == ["string", "int64", "string", "int64"]
    assert cells(source, "zip") == ["00501", "10001"]


@pytest.mark.parametrize("is_looked_at_first", [False, True])
def test_labels_keep_the_zeros_before_them(is_looked_at_first: bool, tmp_path: Path) -> None:
    source = opened(csv(tmp_path / "a.csv", {"zip": ["00501", "10001"], "n": ["5", "6"]}))
    if is_looked_at_first:
        assert source.schema.names == ["zip", "n"]
    source.declare({}, {"zip": LABELS, "n": LABELS})
    assert cells(source, "zip") == ["00501", "10001"]
    assert cells(source, "n") == [5, 6]


def test_telephone_numbers_with_a_plus_stay_strings_and_signed_numbers_are_numbers(tmp_path: Path) -> None:
    columns = {"phone": ["+4915112345678", "+493012345"], "change": ["+5", "-1000000"], "large": ["+1e7", "2e8"]}
    source = opened(csv(tmp_path / "a.csv", columns))
    assert [str(kind) for kind in source.schema.types] == ["string", "double", "double"]
    assert cells(source, "phone") == columns["phone"]
    fitted = source.cells.fit_all([pa.table({"phone": columns["phone"]})], ["phone"], ".")
    assert fitted == {"phone": pa.string()}


def test_a_sign_of_money_is_the_same_in_its_wide_form(tmp_path: Path) -> None:
    source = opened(csv(tmp_path / "a.csv", {"x": ["¥1,200.5", "￥30"], "y": ["5%", "10％"]}, "\t"))
    assert cells(source, "x") == [1200.5, 30]
    assert cells(source, "y") == [0.05, 0.1]
    assert style_of_document({"kind": "number", "unit": "￥"}) == NumberStyle(EARLIER_MARKS, unit="¥")


def test_marks_are_missing_where_a_column_parses_and_where_they_are_rare(tmp_path: Path) -> None:
    n = 40
    columns = {
        "number": ["?", "None", "-", " ", *map(str, range(n - 4))],
        "rare": ["?", *["red", "blue"] * (n // 2)][:n],
        "answer": [*["None", "garage"] * (n // 2)],
        "sign": [*["+", "-"] * (n // 2)],
    }
    source = opened(csv(tmp_path / "a.csv", columns))
    assert cells(source, "number")[:5] == [None, None, None, None, 0]
    assert source.schema.field("number").type == pa.int64()
    assert cells(source, "rare")[0] is None
    assert set(cells(source, "answer")) == {"None", "garage"}
    assert set(cells(source, "sign")) == {"+", "-"}


def test_a_user_adds_marks_or_replaces_all(tmp_path: Path) -> None:
    path = csv(tmp_path / "a.csv", {"x": ["-999", "NA", "5", "6"], "y": ["NA", "-999", "a", "b"]})
    assert cells(opened(path, missing="-999"), "x") == [None, None, 5, 6]
    assert cells(opened(path, missing=["-999"]), "y") == [None, None, "a", "b"]
    assert cells(opened(path, missing_only="-999"), "x") == [None, "NA", "5", "6"]
    assert cells(opened(path, missing_only="-999"), "y") == ["NA", None, "a", "b"]


def test_types_and_formats_that_a_user_says_overrule(tmp_path: Path) -> None:
    path = csv(tmp_path / "a.csv", {"x": ["$1,200", "$5"], "d": ["01/02/2023", "03/04/2023"], "c": ["1,234", "5,678"]})
    assert cells(opened(path, types={"x": pa.string()}), "x") == ["$1,200", "$5"]
    assert cells(opened(path, types={"x": type_named("integer")}), "x") == [1200, 5]
    assert [day.month for day in cells(opened(path), "d")] == [1, 3]
    assert [day.month for day in cells(opened(path, date_format="%d/%m/%Y"), "d")] == [2, 4]
    assert cells(opened(path), "c") == [1234.0, 5678.0]
    assert cells(opened(path, decimal=","), "c") == [1.234, 5.678]
    assert cells(opened(path, thousands=","), "c") == [1234.0, 5678.0]
    with pytest.raises(ParameterError, match="tells no day"):
        opened(path, date_format="%d/%m")


def test_another_column_of_the_file_tells_where_one_leaves_doubt(tmp_path: Path) -> None:
    path = csv(tmp_path / "a.csv", {"a": ["01/02/2023", "03/04/2023"], "b": ["31/12/2023", "01/01/2023"]})
    assert [day.month for day in cells(opened(path), "a")] == [2, 4]


def short_beginnings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the first rows be few, and blocks small."""
    monkeypatch.setattr(delimited, "INFERRED_BYTES", 400)
    monkeypatch.setattr(delimited, "BLOCK_BYTES", 1000)


def test_all_rows_are_asked_where_the_first_leave_doubt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    short_beginnings(monkeypatch)
    path = csv(tmp_path / "a.csv", {"x": ["01/02/2023"] * 500 + ["31/12/2023"], "n": ["1"] * 501})
    assert [day.month for day in cells(opened(path), "x")][::500] == [2, 12]


@pytest.mark.parametrize(
    ("first", "last", "values"),
    [
        ("$5", "about 8", ["$5", "about 8"]),
        ("31.12.2023", "soon", ["31.12.2023", "soon"]),
        ("5", "$1,200", [5.0, 1200.0]),
        ("1.234", "1.234.567", [1234.0, 1234567.0]),
        ("12", "1,5", [12.0, 1.5]),
        ("501", "00501", [501, 501]),
    ],
)
def test_a_cell_far_down_is_read_with_all_before_it(
    first: str, last: str, values: list[Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    short_beginnings(monkeypatch)
    path = csv(tmp_path / "a.csv", {"x": [first, first.replace("5", "6")] * 250 + [last], "n": ["1"] * 501})
    rows = local_rows(path)
    if last in ("00501", "1.234.567"):  # the first leave doubt, so that all are asked
        found = whole_table(rows, ["x"], "", "")["x"].to_pylist()
    else:
        with pytest.warns(BayesWarning, match=f"holds '{re.escape(last)}', which is no .* as the cells before are"):
            found = whole_table(rows, ["x"], "", "")["x"].to_pylist()
    assert [found[0], found[-1]] == values


def test_a_style_that_a_model_knows_holds_for_a_file_of_one_row_and_other_cells_are_refused(tmp_path: Path) -> None:
    style = DateStyle(format="%d/%m/%Y")
    source = opened(csv(tmp_path / "a.csv", {"x": ["01/02/2023"], "y": ["1"]}))
    source.declare({}, {"x": style})
    assert [day.month for day in cells(source, "x")] == [2]
    source = opened(csv(tmp_path / "b.csv", {"x": ["2023-02-01", "01.02.2023"], "y": ["1", "2"]}))
    source.declare({}, {"x": style})
    with pytest.raises(Misfit, match=r"row 3 \(the header is row 1\), column 'x' holds '01.02.2023', which is no date"):
        cells(source, "x")


def test_a_value_that_is_written_otherwise_is_not_called_missing_and_a_word_may_be(tmp_path: Path) -> None:
    for cell, way_out in (
        ("2.584,00 €", "write it so, or leave the cell empty"),
        ("none yet", r"missing=\['none yet'\]"),
    ):
        source = opened(csv(tmp_path / "a.csv", {"x": ["$5", cell], "y": ["1", "2"]}))
        source.declare({}, {"x": NumberStyle(unit="$")})
        with pytest.raises(Misfit, match=way_out):
            cells(source, "x")


def test_labels_keep_their_words_and_marks(tmp_path: Path) -> None:
    source = opened(csv(tmp_path / "a.csv", {"y": ["yes", "no", "-", "NA", *["no"] * 30], "x": ["yes", "no"] * 17}))
    source.declare({}, {"y": LABELS})
    assert cells(source, "y")[:4] == ["yes", "no", "-", None]
    assert cells(source, "x")[:2] == [True, False]


def test_fields_tell_how_they_are_written_in_tables_and_in_the_schema_of_rows(tmp_path: Path) -> None:
    rows = local_rows(csv(tmp_path / "a.csv", {"x": ["$5", "$6"], "n": ["1", "2"]}))
    for schema in (rows.schema, rows.head(["x", "n"]).schema):
        found = style_of(schema.field("x"))
        assert found is not None and found.unit == "$"
        assert style_of(schema.field("n")) is None


def test_the_report_says_what_was_read_how_with_marks_and_cells_that_stayed(tmp_path: Path) -> None:
    columns = {"a": ["$5", "n/a", "$7", "$8"], "b": ["$5", "$6", "$7", "about 8"], "c": ["x", "y", "x", "y"]}
    source = opened(csv(tmp_path / "a.csv", columns))
    report = {str(column) for column in source.cells.report(source.schema)}
    assert "a (double): numbers written as $1,234.5; missing: 'n/a' (1 x)" in report
    assert "b (string): stays as written: most cells are numbers as $1,234.5, but not 'about 8' (1 x)" in report


def test_types_are_widened_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    short_beginnings(monkeypatch)
    source = opened(csv(tmp_path / "a.csv", {"x": ["$5"] * 500 + ["soon"], "n": ["1"] * 501}))
    with pytest.raises(TypesWidened):
        cells(source, "x")
    assert cells(source, "x")[-1] == "soon"


def whole(paths: list[Path]) -> list[Any]:
    return whole_table(local_rows(paths), ["x"], "", "")["x"].to_pylist()


def test_files_of_one_table_are_read_alike(tmp_path: Path) -> None:
    def file(number: int, cells: list[str]) -> Path:
        return csv(tmp_path / f"{number}.csv", {"x": cells, "n": ["1"] * len(cells)})

    assert whole([file(0, ["yes", "no"]), file(1, ["yes", "yes"])]) == [True, False, True, True]
    assert [
        day.month for day in whole([file(2, ["01/02/2023", "03/04/2023"]), file(3, ["31/12/2023", "01/01/2023"])])
    ] == [
        2,
        4,
        12,
        1,
    ]
    assert whole([file(4, ["00501", "00502"]), file(5, ["10001", "10002"])]) == ["00501", "00502", "10001", "10002"]
    assert whole([file(6, ["$5", "$6"]), file(7, ["7", "8"])]) == [5.0, 6.0, 7.0, 8.0]
    with pytest.warns(BayesWarning, match="holds 'maybe', which is no truth as yes or no as the cells before are"):
        assert whole([file(8, ["yes", "no"]), file(9, ["yes", "maybe"])]) == ["yes", "no", "yes", "maybe"]


def test_a_file_is_parsed_once_for_its_types_and_its_target_is_parsed_with_all_other_columns(monkeypatch, tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("x,word,holes,y\n" + "0.5,red,a,low\n1.5,blue,,high\n" * 5)
    parses, original = [], CsvForm.parsed
    monkeypatch.setattr(CsvForm, "parsed", lambda *how: parses.append(list(how[2])) or original(*how))
    rows = local_rows(path)
    _ = rows.schema
    rows.declare({}, {"y": LABELS})
    assert rows.head(["x", "word", "holes", "y"]).num_rows == 10
    assert parses == [[], ["holes"], ["x", "word", "holes", "y"]]  # strings without holes are there already


def test_a_mark_is_a_class_though_other_columns_are_parsed_with_it(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("x,y\n" + "0.5,None\n-,high\n1.5,NA\n" * 5)
    rows = local_rows(path)
    _ = rows.schema
    rows.declare({}, {"y": LABELS})
    assert rows.head(["x", "y"]).slice(0, 3).to_pydict() == {"x": [0.5, None, 1.5], "y": ["None", "high", None]}


@pytest.mark.parametrize("unit", ["руб.", "kr.", "EUR"])
def test_a_point_may_stand_behind_the_letters_of_a_unit(tmp_path: Path, unit: str) -> None:
    path = csv(tmp_path / "prices.csv", {"price": [f"1 200,50 {unit}", f"300,00 {unit}"]})
    assert [row["price"] for table in open_source(path).batches() for row in table.to_pylist()] == [1200.5, 300.0]


def test_a_style_that_a_cell_does_not_have_is_not_found_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(NumberStyle, "values", lambda self, strings: pa.nulls(len(strings), pa.float64()))
    source = open_source(csv(tmp_path / "prices.csv", {"price": ["$1", "$2"]}))
    with pytest.raises(TypesWidened):
        list(source.batches())
    assert [row["price"] for table in source.batches() for row in table.to_pylist()] == ["$1", "$2"]


def test_a_block_whose_dates_are_all_missing_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(delimited, "INFERRED_BYTES", 256)
    monkeypatch.setattr(delimited, "BLOCK_BYTES", 256)
    days = ["31.12.2023", "01.02.2024"] * 40 + ["-"] * 200
    source = opened(csv(tmp_path / "a.csv", {"d": days, "n": [str(k) for k in range(280)]}))
    assert [day is None for day in cells(source, "d")] == [False] * 80 + [True] * 200
