"""``bayeswater look``: what a table holds, for people and as JSON."""

import json

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
