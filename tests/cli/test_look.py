"""``bayeswater look``: what a table holds, for people and as JSON."""

import json
from datetime import datetime, timedelta

import pandas as pd
import pytest
from tests.cli.people import COLUMNS, TARGET

from bayeswater import look


def test_look_prints_what_python_prints_and_proposes_a_target(run, folder):
    answer = run("look", folder / "people.csv")
    assert (answer.code, answer.err) == (0, "")
    assert answer.out.rstrip("\n") == str(look(folder / "people.csv"))
    assert "! the target could be 'income'" in answer.out
    for word in (*COLUMNS, "number", "教师", "█"):
        assert word in answer.out


def test_look_as_json_is_what_python_gives(run, folder):
    answer = run("look", folder / "people.csv", "--target", TARGET, "--json")
    assert json.loads(answer.out) == look(folder / "people.csv", TARGET).to_dict()


def test_look_takes_the_options_of_reading_and_names_options_in_its_advice(run, tmp_path):
    path = tmp_path / "rows.txt"
    path.write_text("".join(f"{i};{'ab'[i % 2]}\n" for i in range(30)))
    answer = run("look", path, "--format", "csv", "--no-header", "--names", "number,letter")
    assert "--column number=ignored" in answer.out
    assert run("look", path, "--format", "csv", "-t", "none").code == 1


@pytest.mark.parametrize("ending", ["csv", "parquet", "feather", "xlsx"])
def test_a_table_looks_alike_in_every_format(ending, tmp_path):
    table = pd.DataFrame(
        {
            "day": [datetime(2024, 1, 1) + timedelta(days=i % 20) for i in range(200)],
            "paid": pd.Series(["no", "yes", None, "no"] * 50, dtype=object),
            "note": [None if i % 9 == 0 else f"came back by noon on day {i % 40}" for i in range(200)],
            "class": ["rare"] + ["a", "b"] * 99 + ["a"],
        }
    )
    path = tmp_path / f"rows.{ending}"
    {"csv": table.to_csv, "parquet": table.to_parquet, "feather": table.to_feather}.get(ending, table.to_excel)(
        path, **{} if ending in ("parquet", "feather") else {"index": False}
    )
    found = look(path, "class")
    assert [column.kind for column in found.columns] == ["date", "flag", "text", "category"]
    assert "2024-01-01 to 2024-01-20, as 2024-01-01" in str(found)
    assert "00:00" not in str(found)
    assert "a 50 %, b 50 %, rare <1 %" in str(found)


def test_a_table_of_one_row_and_a_target_without_values_are_told(tmp_path):
    told = str(look(pd.DataFrame({"x": [1.5], "y": [None]}), "y"))
    assert ": 1 row of 2 columns" in told
    assert "! y: no cell has a value: there is no class to learn" in told
