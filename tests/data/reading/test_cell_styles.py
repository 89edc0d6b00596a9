"""Cells as people write them are read as a person reads them, by a style that can be stored."""

import datetime as dt

import pyarrow as pa
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.data.styled_columns import STYLES, written_columns

from bayeswater.data.column_types import Misfit
from bayeswater.data.reading import date_style, number_style
from bayeswater.data.reading.cell_style import MARKS, CellStyle, PlainStyle
from bayeswater.data.reading.cell_styles import style_of, style_of_document
from bayeswater.data.reading.date_style import DateStyle
from bayeswater.data.reading.number_style import NumberStyle
from bayeswater.data.reading.style_search import StyleSearch
from bayeswater.errors import ParameterError


def read(cells: list[str | None], style: CellStyle) -> list[object]:
    return style.read(pa.chunked_array([pa.array(cells, pa.string())]), "x").to_pylist()


def found_style(cells: list[str | None]) -> CellStyle:
    search = StyleSearch()
    search.add(pa.chunked_array([pa.array(cells, pa.string())]))
    return search.found().style


@pytest.mark.parametrize("name", STYLES)
def test_each_style_is_found_and_read_as_a_person_would(name: str) -> None:
    cells, values = STYLES[name]
    assert read(cells, found_style(cells)) == values


@given(written_columns())
def test_what_is_written_in_any_style_is_read_back(column: tuple[str, list[str], list[object]]) -> None:
    _, cells, values = column
    assume(sum(value is not None for value in values) > 1)
    style = found_style(cells)
    assume(style.kind != "truth" or {True, False} <= set(values))
    if style.kind != "plain":
        assert read(cells, style) == values
    else:
        assert "truth" in column[0]  # of one word alone


@given(written_columns())
def test_a_style_comes_back_from_its_document_and_from_the_metadata_of_a_field(
    column: tuple[str, list[str], list[object]],
) -> None:
    style = found_style(column[1])
    assert style_of_document(style.document()) == style
    assert style_of(pa.field("x", style.type, metadata=style.metadata())) == style


def test_a_blank_within_a_date_does_not_part_it_from_a_time_of_day() -> None:
    cells = ["January 1, 2000", "January 2, 2024"]  # the tenth character is a comma, and then there is a blank
    assert read(cells, found_style(cells)) == [dt.date(2000, 1, 1), dt.date(2024, 1, 2)]
    with_time = [f"{cell} 12:30" for cell in cells]
    assert read(with_time, found_style(with_time))[0] == dt.datetime(2000, 1, 1, 12, 30)


@settings(max_examples=10)
@given(written_columns(), st.integers(1, 5))
def test_how_a_column_is_cut_into_pieces_does_not_show(
    column: tuple[str, list[str], list[object]], n_rows: int
) -> None:
    _, cells, _ = column
    whole, search = found_style(cells), StyleSearch()
    for start in range(0, len(cells), n_rows):
        search.add(pa.chunked_array([pa.array(cells[start : start + n_rows], pa.string())]))
    found = search.found().style
    assert (found.kind, read(cells, found)) == (whole.kind, read(cells, whole))


def test_a_cell_that_is_not_written_so_is_refused_by_column_row_and_cell() -> None:
    with pytest.raises(Misfit, match=r"row 1, column 'x' holds '31.04.2023', which is no date as 31.12.2023"):
        read(["30.04.2023", "31.04.2023"], DateStyle(format="%d.%m.%Y"))
    with pytest.raises(Misfit, match=r"row 0, column 'x' holds '€5', which is no number as \$1,234.5"):
        read(["€5"], NumberStyle(thousands=",", unit="$"))


def test_columns_that_are_typed_already_pass_as_they_are() -> None:
    numbers = pa.chunked_array([[1.5, None]])
    assert NumberStyle(unit="$").read(numbers, "x").equals(numbers)


def test_marks_are_missing_unless_they_are_kept() -> None:
    assert read(list(MARKS), PlainStyle()) == [None] * len(MARKS)
    assert read(["None", "?"], PlainStyle(kept=("None",))) == ["None", None]


def test_shares_are_the_nearest_numbers() -> None:
    assert read(["12.3%", "0.1%", "7 %"], NumberStyle(unit="%")) == [0.123, 0.001, 0.07]


def test_what_is_no_number_is_none() -> None:
    style = NumberStyle(thousands=",", unit="$")
    for cell in ("1,23", "1,2345", "5$0", "(5", "--5", "1.2.3", "$", "5 €", "0815", "1 000"):
        with pytest.raises(Misfit):
            read([cell], style)


def test_a_strangers_document_is_refused() -> None:
    for document in ([], {}, {"kind": "magic"}, {"kind": "number", "decimal": "x"}, {"kind": "number", "unit": "kg"}):
        with pytest.raises((TypeError, ValueError)):
            style_of_document(document)
    for document in ({"kind": "date", "format": "%d"}, {"kind": "date", "format": "%d.%d.%m.%Y"}):
        with pytest.raises(ParameterError):
            style_of_document(document)


@pytest.mark.parametrize("unit", ["EUR", "kr", "$"])
def test_an_exponent_is_read_beside_every_unit(unit: str) -> None:
    assert read([f"1e3 {unit}", f"{unit} 2.5E-1", f"7{unit}"], NumberStyle(unit=unit)) == [1000.0, 0.25, 7.0]


@pytest.mark.parametrize("cell", ["1e400 $", "9" * 400 + " $", "99999999999e299 $"])
def test_a_number_too_large_for_a_float_is_refused(cell: str) -> None:
    with pytest.raises(Misfit, match="which is no number"):
        read(["3 $", cell], NumberStyle(unit="$"))


DAYS = [
    "31.12.2023",
    "1.2.24",
    "2023-02-29",
    "2024-02-29",
    "12/31/2023",
    "Dec 31,",
    "31 Dec 2023",
    "2023年12月31日",
    "",
]
CLOCKS = [
    "8:15",
    "08:15:07",
    "23:59:59,5",
    "0:00:00.1234560",
    "1:02:03.1234567",
    "24:00",
    "12:60",
    "123:10",
    "1.02 Uhr",
]
BEHIND = ["", " AM", "pm", " +02:00", " CET", " 2023", " x", ":"]


@settings(max_examples=40)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(DAYS),
            st.sampled_from([" ", "T", ", ", ":", ""]),
            st.sampled_from([*CLOCKS, ""]),
            st.sampled_from(BEHIND),
        )
        | st.none(),
        min_size=1,
        max_size=12,
    ),
    st.sampled_from(
        ["%d.%m.%Y", "%Y-%m-%d", "%m/%d/%Y", "%d %b %Y", "%b %d %H:%M:%S %Y", "%d.%m.%Y %I:%M %p", "%Y年%m月%d日"]
    ),
    st.sampled_from(["local", "UTC"]),
)
def test_moments_of_a_long_column_are_those_of_each_cell(
    parts: list[tuple[str, ...] | None], format: str, time: str
) -> None:
    strings = pa.array([None if cell is None else "".join(cell) for cell in parts], pa.string())
    style = DateStyle(format=format, time=time)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(date_style, "worth_compiling", lambda n_cells: True)
        together = style.values(strings)
    assert together.to_pylist() == style._instants(strings).cast(style.type).to_pylist()


@pytest.mark.parametrize(
    ("format", "cell", "moment"),
    [
        ("%H:%M:%S %d/%m/%Y", "08:15:30 02/01/2024", "2024-01-02 08:15:30"),
        ("%d:%m:%Y %H:%M", "02:01:2024 08:15", "2024-01-02 08:15:00"),
        ("%d.%m.%Y %Hh%M:%S", "02.01.2024 8h15:30", "2024-01-02 08:15:30"),
        ("%d.%m.%Y", "02.01.2024 8.15:30", "2024-01-02 08:15:30"),
        ("%d.%m.%Y", "02.01.2024 8.15 +02:00", "2024-01-02 06:15:00"),
        ("%d.%m.%Y", "02.01.2024 8.15 −02:00", "2024-01-02 10:15:00"),
    ],
)
def test_a_colon_that_is_not_the_first_of_a_clock_is_none_of_a_long_column(format: str, cell: str, moment: str) -> None:
    style = DateStyle(format=format, time="local")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(date_style, "worth_compiling", lambda n_cells: True)
        assert [str(found) for found in style.values(pa.array([cell])).to_pylist()] == [moment]


def test_a_style_of_an_earlier_file_has_a_point_behind_letters() -> None:
    style = style_of_document({"kind": "number", "decimal": ",", "unit": "руб."})
    assert style.values(pa.array(["1,5 руб.", "2 руб"])).to_pylist() == [1.5, 2.0]


@given(st.lists(st.text("$1,2-.() e€", max_size=6) | st.none(), max_size=8))
def test_numbers_of_a_long_column_are_those_of_each_cell(cells: list[str | None]) -> None:
    style, strings = NumberStyle(thousands=",", unit="$"), pa.array(cells, pa.string())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(number_style, "worth_compiling", lambda n_cells: True)
        together = style.values(strings)
        patch.setattr(number_style.translate_bytes, "serves", lambda *_, use_loop: False, raising=False)
        assert together.to_pylist() == style.values(strings).to_pylist()
