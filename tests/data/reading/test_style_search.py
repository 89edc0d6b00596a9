"""How a column is written is told by all of its cells; what leaves doubt is said, and what is a code stays one."""

import pandas as pd
import pyarrow as pa
import pytest

from bayeswater.data.reading.cell_style import PlainStyle
from bayeswater.data.reading.style_search import StyleFound, StyleSearch, style_in_frame
from bayeswater.data.reading.written_as import WrittenAs
from bayeswater.errors import ParameterError


def found(cells: list[str], written: WrittenAs | None = None, others: tuple[StyleFound, ...] = ()) -> StyleFound:
    search = StyleSearch(written or WrittenAs())
    search.add(pa.chunked_array([cells]))
    return search.found([other.style for other in others])


def test_one_cell_that_is_something_else_keeps_the_column_as_it_is_written_and_is_named() -> None:
    column = found(["$5", "$6", "$7", "about 8", "-"])
    assert column.style.kind == "plain"
    assert column.in_words().startswith("stays as written: most cells are numbers as $1,234.5, but not 'about 8' (1 x)")


def test_one_cell_decides_nothing() -> None:
    assert found(["$5"]).style.kind == "plain"
    assert found(["yes", "yes"]).style.kind == "plain"


@pytest.mark.parametrize(
    "cells",
    [
        ["00501", "12345"],
        ["0301234", "0891234567"],
        ["+4915112345", "+4915112346"],
        ["123 456 789", "987 654 321"],
        ["555-1234", "555-9876"],
        ["12 kg", "13 kg"],
        ["1.2.3", "1.2.4"],
        ["10:30 or so", "11:30"],
    ],
)
def test_codes_telephone_numbers_and_units_that_nobody_knows_stay_as_they_are(cells: list[str]) -> None:
    assert found(cells).style.kind == "plain"


def test_two_units_are_not_one_column_of_numbers_and_that_is_said() -> None:
    assert "beside the numbers stand $ and €" in found(["$5", "€6"]).in_words()
    assert "beside the numbers stand % and nothing" in found(["45%", "3"]).in_words()


def test_all_cells_tell_day_from_month() -> None:
    assert found(["01/02/2023", "31/12/2023"]).style.format == "%d/%m/%Y"
    assert found(["01/02/2023", "12/31/2023"]).style.format == "%m/%d/%Y"
    assert found(["01/02/2023", "31/12/2023"]).doubt == ""


def test_another_column_tells_where_one_leaves_doubt_and_else_the_doubt_is_said() -> None:
    doubtful = found(["01/02/2023", "03/04/2023"])
    assert doubtful.style.format == "%m/%d/%Y"
    assert doubtful.doubt == "day and month may be the other way round, as 31/12/2023: say date_format='%d/%m/%Y'"
    told = found(["01/02/2023", "03/04/2023"], others=(found(["31.12.2023", "1.1.2023"]),))
    assert (told.style.format, told.doubt) == ("%d/%m/%Y", "")
    assert found(["01/02/2023", "03/04/2023"], WrittenAs(date_format="%d/%m/%Y")).style.format == "%d/%m/%Y"


def test_a_format_of_dates_that_fits_no_cell_is_said_with_one() -> None:
    given = WrittenAs(date_format="%Y.%m.%d")
    column = found(["01/02/2023", "03/04/2023"], given)
    assert isinstance(column.style, PlainStyle)
    assert column.doubt == "date_format='%Y.%m.%d' fits none of the first cells, such as '01/02/2023'"
    assert found(["2023.02.01", "2023.04.03"], given).doubt == found(["red", "blue"], given).doubt == ""


def test_groups_of_three_are_thousands_unless_another_column_has_a_decimal_comma() -> None:
    doubtful = found(["1,234", "5,678"])
    assert (doubtful.style.thousands, doubtful.doubt) == (
        ",",
        "a comma may stand before decimals as well: say decimal=','",
    )
    told = found(["1,234", "5,678"], others=(found(["1,5", "2,25"]),))
    assert (told.style.decimal, told.doubt) == (",", "")
    assert found(["1,234", "5,678"], WrittenAs(decimal=",")).style.decimal == ","
    assert found(["1,234", "1,234,567"]).doubt == ""


def test_points_before_three_digits_part_the_thousands_of_money_and_leave_doubt_if_all_cells_have_them() -> None:
    doubt = "a point may stand before decimals as well: say decimal='.'"
    for cells in (["1.234 €", "2.500 €"], ["€ 1.234", "€ 2.345"]):
        euros = found(cells)
        assert (euros.style.thousands, euros.doubt) == (".", doubt)
    assert (found(["€ 500", "€ 1.234"]).style.thousands, found(["€ 500", "€ 1.234"]).doubt) == (".", "")
    assert found(["1.234 €", "2.500 €"], others=(found(["1,5", "2,25"]),)).doubt == ""
    assert found(["1.234 €", "2.500 €"], WrittenAs(decimal=".")).style.decimal == "."
    assert found(["1,459 €", "1,559 €"]).doubt == "a comma may stand before decimals as well: say decimal=','"
    assert (found(["$1,200", "$3,400"]).style.thousands, found(["$1,200", "$3,400"]).doubt) == (",", "")


def test_points_before_three_digits_stand_before_decimals_where_no_money_is_meant_and_the_doubt_is_said() -> None:
    plain = found(["1.234", "2.500"])
    assert plain.style.decimal == "."
    assert plain.doubt == "a point may stand between thousands as well: say thousands='.'"
    assert found(["1.234", "2.5"]).doubt == ""
    assert (found(["1.234%", "2.500%"]).style.decimal, found(["1.234%", "2.500%"]).doubt) == (".", "")


def test_a_number_too_large_for_a_float_is_none() -> None:
    assert found(["1e400 $", "3 $"]).style.kind == "plain"


def test_a_word_among_numbers_is_no_unit() -> None:
    column = found(["unknown", "1,234", "5", "6,789,000"])
    stayed = "stays as written: most cells are numbers as 1,234.5, but not 'unknown' (1 x)"
    assert column.in_words() == f"{stayed}; if these are missing, say missing=['unknown']"


def test_a_word_that_begins_as_a_month_is_none() -> None:
    assert found(["5 May 2020", "6 Maybe 2020"]).style.kind == "plain"
    assert found(["5 Sept 2020", "6 September 2021", "7 jan. 2020"]).style.format == "%d %b %Y"


def test_years_of_two_digits_leave_the_same_doubt() -> None:
    for cells in (["01.02.03", "02.03.04"], ["01-02-03", "02-03-04"]):
        assert found(cells).doubt.startswith("day and month may be the other way round")
    assert found(["31/02/23", *(f"{day:02}/02/23" for day in range(1, 20))]).nearly is not None
    assert found(["29.12.23", "02.01.24"]).doubt == ""


def test_a_year_of_two_digits_may_stand_first_where_the_days_lie_nearer_each_other_then() -> None:
    column = found(["23/12/31", "24/02/01", "24/05/06"])
    assert column.style.format == "%y/%m/%d" and "say date_format='%d/%m/%y'" in column.doubt


def test_a_dash_beside_a_unit_is_the_nothing_of_accountants_and_is_said() -> None:
    column = found(["$1,200.50", "$ -", "$(7.50)"])
    assert column.style.read(pa.chunked_array([["$1,200.50", "$ -", "$(7.50)"]]), "x").to_pylist() == [1200.5, 0, -7.5]
    assert "read as 0" in column.doubt


@pytest.mark.parametrize("mark", ["\\N", "[NULL]", "NaT"])
def test_marks_of_databases_are_missing_however_frequent(mark: str) -> None:
    assert mark in found(["red", mark]).style.missing


@pytest.mark.parametrize("mark", ["..", "—", "#NV", "#VALEUR!", "n.a.", ":"])
def test_marks_of_offices_are_missing_among_numbers(mark: str) -> None:
    column = found(["1.234,5", mark, "7,25"])
    assert column.style.decimal == "," and column.marks == {mark: 1}


def test_a_zero_date_is_missing() -> None:
    assert found(["31.12.2023", "00.00.0000", "01.02.2024"]).style.format == "%d.%m.%Y"


def test_a_frequent_none_is_an_answer_and_a_rare_one_is_missing() -> None:
    assert found(["red", "None", "None"]).style.kept == ("None",)
    rare = found(["red", "blue"] * 10 + ["None"])
    assert (rare.style.kept, rare.marks) == ((), {"None": 1})
    assert "NA" in found(["red", "NA", "NA"]).style.missing


def test_a_user_adds_marks_or_replaces_them() -> None:
    assert found(["5", "-999", "7"], WrittenAs(missing=("-999",))).marks == {"-999": 1}
    assert found(["a", "NA"], WrittenAs(missing_only=("x",))).style.missing == ("", "x")
    with pytest.raises(ParameterError, match="give one"):
        WrittenAs(missing=("x",), missing_only=("y",))
    with pytest.raises(ParameterError, match="give a comma, a point"):
        WrittenAs(thousands=";")
    with pytest.raises(ParameterError, match="two characters"):
        WrittenAs(thousands=",", decimal=",")


def test_plain_numbers_of_a_frame_are_codes_unless_marks_stand_among_many() -> None:
    codes = pa.chunked_array([["1", "2", "3"] * 5])
    assert style_in_frame(codes, is_stored=False) is None
    numbers = pa.chunked_array([[*map(str, range(20)), "n/a"]])
    found_there = style_in_frame(numbers, is_stored=False)
    assert found_there is not None and found_there.style.kind == "number"
    words = style_in_frame(pa.chunked_array([["yes", "No", "no"]]), is_stored=False)
    assert (
        words is not None
        and (words.style.true[0], words.style.false[0]) == ("yes", "no")
        and words.style.of_states.kind == "words"
    )
    assert style_in_frame(pa.chunked_array([pa.array(pd.Categorical(["$5", "$6"]))]), is_stored=False) is None


def test_a_later_cell_of_a_frame_is_held_against_the_style() -> None:
    cells = [f"${number}" for number in range(100_010)]
    assert style_in_frame(pa.chunked_array([cells]), is_stored=False) is not None
    assert style_in_frame(pa.chunked_array([[*cells, "about 8"]]), is_stored=False) is None


def test_names_among_numbers_are_not_spoken_of_unless_they_are_few() -> None:
    tickets = [*map(str, range(100, 170)), *(f"A/5 {number}" for number in range(30))]
    assert found(tickets).in_words() == ""
    assert "numbers as 1,234.5, but not 'A/5 1' (1 x)" in found([*tickets[:70], "A/5 1"]).in_words()


@pytest.mark.parametrize("cells", [["red", "blue"], ["1", "20", "300"], ["1.5", "-2.25"]])
def test_words_and_short_codes_of_a_frame_are_passed_over_without_a_search(
    cells: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(StyleSearch, "add", None)
    assert style_in_frame(pa.chunked_array([cells]), is_stored=False) is None


def test_a_rare_none_beside_some_is_an_answer() -> None:
    search = StyleSearch()
    search.add(pa.chunked_array([["有"] * 30 + ["无", "-"]]))
    assert search.found().style.kept == ("无",)
