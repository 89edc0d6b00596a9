"""Verbs on data of several files: the answers are those for one file with all of their rows."""

import io
import json
import os
import sqlite3
import threading
import zipfile
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest
from tests.cli.people import COLUMNS, TARGET, people, write_csv

from bayeswater.cli import models as cli_rows
from bayeswater.data.sources import delimited
from bayeswater.models.persistence import load

COSTS = "action \\ truth,low,high\nlow,0,10\nhigh,1,0\nask,0.4,0.4\n"


@pytest.fixture
def parts(folder: Path) -> Path:
    """Make a folder with people.csv in three files."""
    (folder / "parts").mkdir()
    for i, n_rows in enumerate([70, 130, 100]):
        write_csv(people().slice([0, 70, 200][i], n_rows), folder / "parts" / f"part-{i}.csv")
    return folder / "parts"


def named(parts: Path, how: str) -> list[Path]:
    return {"files": sorted(parts.iterdir()), "pattern": [parts / "part-*.csv"], "folder": [parts]}[how]


@pytest.mark.parametrize("how", ["files", "pattern", "folder"])
@pytest.mark.parametrize("options", [[], ["--keep"], ["--explain", "--output-format", "jsonl"]])
def test_answers_for_several_files_are_those_for_one(run, folder, parts, how, options):
    one = run("predict", folder / "people.bayes", folder / "people.csv", *options)
    many = run("predict", folder / "people.bayes", *named(parts, how), *options)
    assert (one.code, many.code) == (0, 0)
    assert many.out == one.out
    assert many.err == one.err


def test_decisions_for_several_files_are_those_for_one(run, folder, parts):
    (folder / "costs.csv").write_text(COSTS)
    options = ["--loss", folder / "costs.csv"]
    one = run("predict", folder / "people.bayes", folder / "people.csv", *options)
    many = run("predict", folder / "people.bayes", parts, *options)
    assert (many.code, many.out, many.err) == (0, one.out, one.err)


def test_scores_of_several_files_are_those_of_one(run, folder, parts):
    (folder / "costs.csv").write_text(COSTS)
    options = ["--target", TARGET, "--json", "--loss", folder / "costs.csv"]
    one = run("evaluate", folder / "people.bayes", folder / "people.csv", *options)
    many = run("evaluate", folder / "people.bayes", parts, *options)
    assert (one.code, many.code) == (0, 0)
    assert many.out == one.out


def test_rows_of_several_files_are_forgotten(run, folder, parts):
    data = sorted(parts.iterdir())[1:]
    answer = run("forget", folder / "people.bayes", *data, "--target", TARGET, "-o", folder / "less.bayes", "--json")
    assert answer.code == 0, answer.err
    assert json.loads(answer.out)["n_rows"] == 70
    rest = people().slice(0, 70).column(TARGET).to_pylist()
    assert load(folder / "less.bayes").class_count_.tolist() == [rest.count("high"), rest.count("low")]


def test_the_first_rows_of_several_files_are_explained(run, folder, parts):
    one = run("explain", folder / "people.bayes", folder / "people.csv", "--rows", "80", "--json")
    many = run("explain", folder / "people.bayes", parts, "--rows", "80", "--json")
    assert (many.code, many.out) == (0, one.out)
    assert len(many.out.splitlines()) == 80


def test_models_are_compared_on_several_files(run, folder, parts):
    options = ["--target", TARGET, "--model", "naive-bayes", "--folds", "2", "--json"]
    one, many = (run("compare", data, *options) for data in (folder / "people.csv", parts))
    assert many.code == 0, many.err
    figures = [json.loads(answer.out)["models"][0] for answer in (one, many)]
    assert figures[1]["log_loss"] == figures[0]["log_loss"]


# ---------------------------------------------------------------------- files that differ


def test_files_may_differ_in_columns_that_the_model_does_not_read(run, folder, parts):
    model, first = folder / "people.bayes", parts / "part-0.csv"
    table = pyarrow.csv.read_csv(first)
    write_csv(table.append_column("zip", pa.array(["no"] * 70)), first)
    write_csv(people().slice(70, 130).append_column("zip", pa.array(range(130))), parts / "part-1.csv")
    answer = run("predict", model, parts)
    assert (answer.code, answer.out) == (0, run("predict", model, folder / "people.csv").out)
    assert run("evaluate", model, parts, "--target", TARGET).code == 0
    answer = run("predict", model, parts, "--keep")
    assert (answer.code, answer.out) == (1, "")
    assert "part-2.csv has no column 'zip'" in answer.err
    assert "columns=" not in answer.err


def test_a_kept_column_of_numbers_in_one_file_and_text_in_another_is_written_as_it_is(run, folder, parts):
    for path, cell in zip(sorted(parts.iterdir()), ["007", "x", "1.50"], strict=True):
        table = pyarrow.csv.read_csv(path)
        lines = path.read_text().splitlines()
        path.write_text("\n".join([lines[0] + ",zip", *(f"{line},{cell}" for line in lines[1:])]) + "\n")
    rows = pyarrow.csv.read_csv(
        io.BytesIO(run("predict", folder / "people.bayes", parts, "--keep").out.encode()),
        convert_options=pyarrow.csv.ConvertOptions(column_types={"zip": pa.string()}),
    )
    assert rows.column("zip").to_pylist() == ["007"] * 70 + ["x"] * 130 + ["1.50"] * table.num_rows


def test_the_file_that_lacks_a_column_is_named(run, folder, parts):
    write_csv(people(5).drop_columns(["age"]), parts / "part-1.csv")
    answer = run("predict", folder / "people.bayes", parts)
    assert answer.code == 1
    assert "part-1.csv: column 'age' of the model" in answer.err
    write_csv(people(5).drop_columns([TARGET]), parts / "part-1.csv")
    answer = run("evaluate", folder / "people.bayes", parts, "--target", TARGET)
    assert answer.code == 1
    assert "part-1.csv: there is no target column 'income'" in answer.err


def test_categories_that_look_like_numbers_in_one_of_the_files_are_text(run, folder):
    table = people().set_column(2, "job", pa.array([f"{i % 3}" if i < 100 else f"job {i % 3}" for i in range(300)]))
    whole = write_csv(table, folder / "whole.csv")
    files = [write_csv(table.slice(at, n), folder / f"{at}.csv") for at, n in ((0, 100), (100, 200))]
    assert run("fit", whole, "--target", TARGET, "-o", folder / "m.bayes").code == 0
    answer = run("predict", folder / "m.bayes", *files)
    assert (answer.code, answer.out) == (0, run("predict", folder / "m.bayes", whole).out)
    answer = run("fit", *files, "--target", TARGET, "-o", folder / "m.bayes")
    assert answer.code == 1
    assert "for example --type job=string" in answer.err


def test_kept_columns_of_parquet_files_stored_in_different_ways_are_one_column(run, folder, many_batches):
    files = [folder / "a.parquet", folder / "b.parquet"]
    for file, start, is_dictionary in zip(files, (0, 150), (True, False), strict=True):
        pyarrow.parquet.write_table(people().slice(start, 150), file, use_dictionary=is_dictionary)
    out = folder / "answers.parquet"
    answer = run("predict", folder / "people.bayes", *files, "--keep", "-o", out)
    assert answer.code == 0, answer.err
    assert pyarrow.parquet.read_table(out).select([*COLUMNS, TARGET]).to_pylist() == people().to_pylist()


# ---------------------------------------------------------------------- rows that are answered a few at a time


def test_a_row_that_cannot_be_answered_is_told_by_its_file_and_number(run, tmp_path, monkeypatch):
    monkeypatch.setattr(cli_rows, "MOST_ROWS", 7)
    lines = [f"{i % 5 + 1},{'ab'[i % 2]}\n" for i in range(60)]
    good = tmp_path / "good.csv"
    good.write_text("visits,kind\n" + "".join(lines))
    options = ["--target", "kind", "--column", "visits=gaussian"]
    assert run("fit", good, *options, "-o", tmp_path / "m.bayes").code == 0
    lines[30:33] = ["1,\n"] * 3  # rows without a label, which are not evaluated
    lines[39] = "inf,a\n"
    bad = tmp_path / "bad.csv"
    bad.write_text("visits,kind\n" + "".join(lines))
    for answer in (
        run("predict", tmp_path / "m.bayes", good, bad),
        run("evaluate", tmp_path / "m.bayes", good, bad, "--target", "kind"),
    ):
        assert answer.code == 1
        assert f"{bad}, rows 1 to 60: " in answer.err
        assert f"row 40 of {bad}" in answer.err


def test_few_rows_at_a_time_give_the_answers_of_all(run, folder, monkeypatch):
    options = ["--target", TARGET, "--json"]
    asked = [("predict", folder / "people.csv", "--explain"), ("evaluate", folder / "people.csv", *options)]
    before = [run(verb, folder / "people.bayes", *more) for verb, *more in asked]
    monkeypatch.setattr(cli_rows, "MOST_CELLS", 14)
    predicted, evaluated = (run(verb, folder / "people.bayes", *more) for verb, *more in asked)
    assert predicted.out == before[0].out
    for name, value in json.loads(before[1].out).items():
        # The same 300 terms, added in other pieces.
        close = pytest.approx(value, rel=1e-12) if isinstance(value, float) else value
        assert json.loads(evaluated.out)[name] == close


# ---------------------------------------------------------------------- pipes


def test_a_pipe_is_fitted_in_types_that_fit_all_of_its_cells(run, folder, monkeypatch):
    monkeypatch.setattr(delimited, "INFERRED_BYTES", 2**8)  # types are told by the first rows
    lines = [f"{i % 7},{'a' if i % 3 else 'b'}" for i in range(200)] + ["many,a"] * 3
    data = "\n".join(["n,kind", *lines]).encode()
    answer = run("fit", "-", "--target", "kind", "-o", folder / "m.bayes", "--json", stdin=data)
    assert answer.code == 0, answer.err
    assert (json.loads(answer.out)["n_rows"], json.loads(answer.out)["data"]) == (203, "standard input")


@pytest.mark.skipif(os.name != "posix", reason="named pipes are of Unix")
def test_named_pipes_and_a_file_are_one_table(run, folder, parts):
    pipes = [folder / "first" / "part.csv", folder / "second" / "part.csv"]
    files = sorted(parts.iterdir())
    for pipe, file in zip(pipes, files, strict=False):
        pipe.parent.mkdir()
        os.mkfifo(pipe)
        threading.Thread(target=pipe.write_bytes, args=[file.read_bytes()], daemon=True).start()
    answer: Any = run("fit", *pipes, files[2], "--target", TARGET, "-o", folder / "m.bayes")
    assert answer.code == 0, answer.err
    assert (folder / "m.bayes").read_bytes() == (folder / "people.bayes").read_bytes()


@pytest.mark.parametrize(
    ("verb", "option"),
    [
        (("fit", "--target", TARGET), "-o"),
        (("fit", "--target", TARGET, "-o", "new.bayes"), "--checkpoint"),
        (("compare", "--target", TARGET), "--save"),
        (("predict", "people.bayes"), "-o"),
        (("forget", "people.bayes", "--target", TARGET), "-o"),
    ],
)
@pytest.mark.parametrize("name", ["people.csv", "./people.csv", "link.csv"])
def test_no_verb_writes_over_its_data(run, folder, monkeypatch, verb, option, name):
    monkeypatch.chdir(folder)
    data = folder / "people.csv"
    (folder / "link.csv").symlink_to(data)
    (folder / "more.csv").write_bytes(data.read_bytes())
    before = data.read_bytes()
    answer = run(verb[0], *verb[1:], data, "more.csv", option, name)
    assert (answer.code, answer.out) == (2, "")
    assert answer.err == f"error: {str(Path(name))!r} holds the data, and would be written over; name another file\n"
    assert data.read_bytes() == before


@pytest.mark.parametrize(
    "arguments",
    [
        ("people.bayes", "people.csv", "more.csv", "--target", TARGET, "--json"),
        ("people.bayes", "--target", TARGET, "--json", "people.csv", "more.csv"),
        ("--json", "people.bayes", "people.csv", "--target", TARGET, "more.csv"),
    ],
)
def test_files_may_stand_anywhere_among_the_options(run, folder, monkeypatch, arguments):
    monkeypatch.chdir(folder)
    (folder / "more.csv").write_bytes((folder / "people.csv").read_bytes())
    answer = run("evaluate", *arguments)
    assert answer.code == 0
    assert json.loads(answer.out)["n_rows"] == 2 * people().num_rows


def test_an_option_that_there_is_not_is_no_file(run, folder):
    answer = run("predict", folder / "people.bayes", folder / "people.csv", "--kepe")
    assert answer.code == 2
    said = "--kepe is no option of this verb, nor a file: that would be written ./--kepe; did you mean --keep?"
    assert answer.err.startswith(f"error: {said} (")


def test_a_sheet_a_database_and_an_archive_are_fitted_with_their_options(run, tmp_path):
    lines = ["x,kind", *(f"{i % 7},{'ab'[i % 2]}" for i in range(40))]
    with zipfile.ZipFile(tmp_path / "t.zip", "w") as archive:
        archive.writestr("one.csv", "\n".join(lines))
        archive.writestr("two.csv", "x\n1\n")
    with sqlite3.connect(tmp_path / "t.sqlite") as base:
        base.execute("CREATE TABLE t (x, kind)")
        base.executemany(
            "INSERT INTO t VALUES (?, ?)", [(int(x), kind) for x, kind in (a.split(",") for a in lines[1:])]
        )
    base.close()
    query = ["--query", "SELECT x, kind FROM t WHERE x > 1"]
    for data, options, n_rows in [
        ("t.zip!one.csv", [], 40),
        ("t.sqlite", ["--table", "t"], 40),
        ("t.sqlite", query, 28),
    ]:
        answer = run("fit", tmp_path / data, "-t", "kind", "-o", tmp_path / "m.bayes", "--json", *options)
        assert json.loads(answer.out)["n_rows"] == n_rows
    answer = run("fit", tmp_path / "t.sqlite", "--query", "DELETE FROM t", "-t", "kind", "-o", tmp_path / "m.bayes")
    assert answer.code == 1 and "a query is one SELECT" in answer.err
    answer = run("fit", tmp_path / "t.zip", "-t", "kind", "-o", tmp_path / "m.bayes")
    assert answer.code == 1 and "name one, as" in answer.err


def test_what_is_found_out_about_a_file_is_said_as_a_note(run, tmp_path):
    path = tmp_path / "t.csv"
    lines = ["Sales of 2023", "", "x,kind,,", *(f"{i % 7},{'ab'[i % 2]},," for i in range(40)), "1"]
    path.write_text("\n".join(lines))
    answer = run("fit", path, "-t", "kind", "-o", tmp_path / "m.bayes")
    assert answer.code == 1 and "say" not in answer.err
    assert "leave such rows out with --bad-rows skip, or fill them up with --bad-rows pad" in answer.err
    answer = run("fit", path, "-t", "kind", "-o", tmp_path / "m.bayes", "--bad-rows", "skip")
    assert answer.code == 0
    for note in (
        "1 line above the header is passed over",
        "2 empty columns at the end",
        "rows of another length are left",
    ):
        assert f"note: {path}: {note}" in answer.err
