"""``bayeswater fit``: the model in the file is the one that Python fits; the report says what was done."""

import gzip
import io
import json
import weakref
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest
from tests.cli.people import COLUMNS, TARGET, people, write_csv

from bayeswater.cli.options import ReadingOptions
from bayeswater.data.sources import delimited, local_rows
from bayeswater.families.registry import FAMILIES
from bayeswater.models.mixed.naive_bayes import NaiveBayes
from bayeswater.models.persistence import load
from bayeswater.models.streaming import labelled
from bayeswater.models.streaming.labelled import Labelled


def fitted(table: pa.Table, **parameters: Any) -> NaiveBayes:
    return NaiveBayes(**parameters).fit(table.select(COLUMNS), table.column(TARGET))


def same_probabilities(a: Any, b: Any) -> bool:
    X = people(50, seed=1).select(COLUMNS)
    return np.array_equal(a.predict_proba(X), b.predict_proba(X))


def test_the_model_in_the_file_is_the_one_python_fits(run, folder):
    assert run("fit", folder / "people.csv", "--target", TARGET, "-o", folder / "m.bayes", "--no-calibrate").code == 0
    read_back = pyarrow.csv.read_csv(
        folder / "people.csv", convert_options=pyarrow.csv.ConvertOptions(strings_can_be_null=True)
    )
    assert same_probabilities(load(folder / "m.bayes"), fitted(read_back))


def test_calibration_is_on_unless_it_is_turned_off(run, folder):
    data = folder / "people.csv"
    answer = run("fit", data, "--target", TARGET, "-o", folder / "on.bayes", "--json")
    report = json.loads(answer.out)["calibration"]
    assert report["before"]["log_loss"] > 0
    assert report["after"]["ece"] >= 0
    answer = run("fit", data, "--target", TARGET, "-o", folder / "off.bayes", "--json", "--no-calibrate")
    assert json.loads(answer.out)["calibration"] is None
    assert not same_probabilities(load(folder / "on.bayes"), load(folder / "off.bayes"))


def test_the_report_has_families_classes_and_the_scores_of_leaving_one_out(run, folder):
    answer = run("fit", folder / "people.csv", "--target", TARGET, "-o", folder / "m.bayes")
    assert answer.code == 0
    assert answer.out == ""
    words = ["300 rows, 5 columns", "born (weekday)", "categorical", "high", "low", "accuracy", "log-loss", "ECE"]
    for word in [*words, "saved as"]:
        assert word in answer.err
    assert "\x1b" not in answer.err, "no colours and no bar where there is no terminal"


def test_the_json_report_agrees_with_leaving_one_out_in_python(run, folder):
    answer = run("fit", folder / "people.csv", "--target", TARGET, "-o", folder / "m.bayes", "--json")
    assert answer.err == ""
    report = json.loads(answer.out)
    table = people()
    review = fitted(table).leave_one_out([(table.select(COLUMNS), table.column(TARGET))])
    # Sums of the same 300 terms, over cells that are equal.
    assert report["leave_one_out"]["log_loss"] == pytest.approx(review.log_loss, rel=1e-12)
    assert report["leave_one_out"]["accuracy"] == review.accuracy
    assert report["n_rows"] == 300
    assert {entry["class"]: entry["rows"] for entry in report["classes"]} == {
        label: table.column(TARGET).to_pylist().count(label) for label in ("high", "low")
    }
    assert [column["name"] for column in report["columns"]][:4] == COLUMNS[:4]
    assert all(column["family"] and column["why"] for column in report["columns"])


@pytest.mark.parametrize("kind", ["csv.gz", "tsv", "parquet", "arrow", "jsonl"])
def test_files_of_every_kind_give_the_same_model(run, folder, kind):
    table, path = people(), folder / f"people.{kind}"
    match kind:
        case "csv.gz":
            path.write_bytes(gzip.compress((folder / "people.csv").read_bytes()))
        case "tsv":
            pyarrow.csv.write_csv(table, path, pyarrow.csv.WriteOptions(delimiter="\t"))
        case "parquet":
            pyarrow.parquet.write_table(table, path)
        case "arrow":
            with pa.ipc.new_file(path, table.schema) as file:
                file.write_table(table)
        case "jsonl":
            path.write_text("".join(json.dumps(row, default=str) + "\n" for row in table.to_pylist()))
    assert run("fit", path, "--target", TARGET, "-o", folder / "m.bayes").code == 0
    assert same_probabilities(load(folder / "m.bayes"), load(folder / "people.bayes"))


def test_standard_input_is_fitted_and_calibrated_like_a_file(run, folder):
    content = (folder / "people.csv").read_bytes()
    answer = run("fit", "-", "--target", TARGET, "-o", folder / "m.bayes", stdin=content)
    assert answer.code == 0
    assert "standard input: 300 rows" in answer.err
    assert (folder / "m.bayes").read_bytes() == (folder / "people.bayes").read_bytes()


def test_families_and_smoothing_can_be_given_and_columns_left_out(run, folder):
    answer = run(
        *("fit", folder / "people.csv", "--target", TARGET, "-o", folder / "m.bayes", "--json", "--no-calibrate"),
        *("--column", "age=gaussian", "--column", "hours=categorical", "--ignore", "job", "--ignore", "born"),
        *("--alpha", "0.5"),
    )
    families = {column["name"]: column["family"] for column in json.loads(answer.out)["columns"]}
    assert families == {"age": "gaussian", "hours": "categorical", "member": "bernoulli"}
    assert load(folder / "m.bayes").alpha == 0.5


def test_a_period_is_said_behind_a_colon(run, folder):
    fit = "fit", folder / "people.csv", "--target", TARGET, "-o", folder / "m.bayes", "--no-calibrate"
    assert run(*fit, "--column", "hours=von_mises:24").code == 0
    assert load(folder / "m.bayes").columns_["hours"].family == "von_mises"
    answer = run(*fit, "--column", "hours=von_mises:day")
    assert answer.code == 2
    assert "gives no number after ':'" in " ".join(answer.err.split())


@pytest.mark.parametrize("calibrate", [True, False])
def test_bins_by_mdl_are_calibrated_by_held_out_rows(run, folder, calibrate):
    options = ["--column", "age=mdl", *([] if calibrate else ["--no-calibrate"])]
    result = run("fit", folder / "people.csv", "--target", TARGET, "-o", folder / "m.bayes", *options)
    assert result.code == 0
    assert ("rows held out of the choice of cuts" in " ".join(result.err.split())) == calibrate
    read_back = pyarrow.csv.read_csv(
        folder / "people.csv", convert_options=pyarrow.csv.ConvertOptions(strings_can_be_null=True)
    )
    found, expected = load(folder / "m.bayes"), fitted(read_back, columns={"age": "mdl"}, calibrate=calibrate)
    assert same_probabilities(found, expected)
    assert hasattr(found, "calibration_") == calibrate
    assert not calibrate or found.calibration_.n_used == found.class_count_.sum()


def test_rows_without_a_label_are_left_out_and_mentioned(run, folder):
    table = people()
    labels = table.column(TARGET).to_pylist()
    labels[3] = labels[7] = None
    path = write_csv(table.set_column(5, TARGET, pa.array(labels)), folder / "holes.csv")
    answer = run("fit", path, "--target", TARGET, "-o", folder / "m.bayes", "--json")
    assert "2 rows have no value in 'income' and were left out" in answer.err
    report = json.loads(answer.out)
    assert (report["n_rows"], report["n_rows_without_label"]) == (298, 2)


def test_a_column_that_turns_out_to_be_text_is_read_again_and_mentioned(run, folder, monkeypatch):
    monkeypatch.setattr(delimited, "BLOCK_BYTES", 2**11)
    monkeypatch.setattr(delimited, "INFERRED_BYTES", 2**11)
    table = people()
    grades = [*(str(i % 3) for i in range(299)), "A"]
    path = write_csv(table.add_column(0, "grade", pa.array(grades)), folder / "late.csv")
    path.write_text(path.read_text().replace('"0",', "0,").replace('"1",', "1,").replace('"2",', "2,"))
    answer = run("fit", path, "--target", TARGET, "-o", folder / "m.bayes", "--json")
    assert answer.code == 0, answer.err
    assert "warning: " in answer.err
    assert "column 'grade' holds 'A', which is no whole number" in answer.err
    report = json.loads(answer.out)
    assert report["n_rows"] == 300
    assert {"name": "grade", "family": "categorical"}.items() <= report["columns"][0].items()


# ---------------------------------------------------------------------- what goes wrong


def test_a_missing_target_answers_with_the_nearest_names(run, folder):
    answer = run("fit", folder / "people.csv", "--target", "Incom", "-o", folder / "m.bayes")
    assert answer.code == 1
    assert answer.out == ""
    assert "people.csv: there is no target column 'Incom'; did you mean 'income'?" in answer.err
    assert not (folder / "m.bayes").exists()


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (["--ignore", "jobs"], 1, "there is no column 'jobs'; did you mean 'job'?"),
        (["--column", "ages=binned"], 1, "there is no column 'ages'; did you mean 'age'?"),
        (["--column", "age"], 2, "names no family; write column=family"),
        (["--column", "age=gausian"], 2, "gausian"),
        (["--alpha", "much"], 2, "--alpha is 'much'"),
        (["--alpha", "-1"], 2, "alpha is -1"),
        (["--type", "age=nmber"], 2, "there is no type 'nmber'; did you mean 'number'?"),
        (["--delimiter", ";;"], 2, "--delimiter is ';;'; give one character"),
        (["--delimiter", "，"], 2, "--delimiter is '，'; give one character of ASCII"),
        (["--decimal", "·"], 2, "--decimal is '·'; give a point or a comma"),
        (["--encoding", "klingon"], 2, "there is no encoding 'klingon'"),
        (["--format", "word"], 2, 'Invalid value "word" for --format'),
        (["--frmat", "csv"], 2, "--frmat"),
    ],
)
def test_options_that_make_no_sense_are_refused(run, folder, options, code, message):
    answer = run("fit", folder / "people.csv", "--target", TARGET, "-o", folder / "m.bayes", *options)
    assert (answer.code, answer.out) == (code, "")
    assert message in answer.err
    assert "Traceback" not in answer.err
    assert not (folder / "m.bayes").exists()


def test_a_place_that_cannot_be_written_is_refused_before_the_file_is_read(run, folder):
    answer = run("fit", folder / "people.csv", "--target", TARGET, "-o", folder / "nowhere" / "m.bayes")
    assert answer.code == 1
    assert "there is no folder" in answer.err
    answer = run("fit", folder / "people.csv", "--target", TARGET, "-o", folder)
    assert answer.code == 1
    assert "it is a folder" in answer.err


def test_hostile_files_are_refused_in_words(run, folder):
    for content, message in [
        (b"", "is empty"),
        (b"a,income\n", "has no rows"),
        (b"a,income\n1,\n2,\n", "no row has a value in 'income'"),
        (b"a,income\n1,high\n2\n", "row 3 (the header is row 1) has 1 cell and not 2"),
        (b"\xff\x00\x01,income\n", "--encoding"),
        (b"PK\x03\x04whatever", "zip archive"),
    ]:
        path = folder / "hostile.csv"
        path.write_bytes(content)
        answer = run("fit", path, "--target", TARGET, "-o", folder / "m.bayes")
        assert (answer.code, answer.out) == (1, ""), content
        assert message in answer.err
        assert "hostile.csv" in answer.err
        assert "Traceback" not in answer.err


def test_errors_of_the_model_name_the_file_and_its_rows(run, folder):
    path = folder / "one.csv"
    path.write_text("y,x\n0.5,1\n0.25,2\n")
    answer = run("fit", path, "--target", "y", "-o", folder / "m.bayes")
    assert answer.code == 1
    assert "one.csv, rows 1 to 2: " in answer.err
    assert "continuous" in answer.err


def test_debug_shows_the_traceback(run, folder):
    answer = run("--debug", "fit", folder / "none.csv", "--target", TARGET, "-o", folder / "m.bayes")
    assert answer.code == 1
    assert "Traceback" in answer.err
    assert io.StringIO(answer.err).readlines()[-1].startswith("error: cannot read")


# ---------------------------------------------------------------------- how little is held at once


def test_counted_batches_are_let_go(run, folder, monkeypatch):
    monkeypatch.setattr(delimited, "BLOCK_BYTES", 2**10)
    monkeypatch.setattr(labelled, "SAMPLED", 20)
    monkeypatch.setattr(local_rows, "batch_rows", lambda n_columns: 20)
    seen: list[weakref.ref[pa.Table]] = []
    most = 0
    count = Labelled.__call__

    def watched(self: Labelled, table: pa.Table) -> Any:
        nonlocal most
        seen.append(weakref.ref(table))
        most = max(most, sum(ref() is not None for ref in seen))
        return count(self, table)

    monkeypatch.setattr(Labelled, "__call__", watched)
    assert run("fit", folder / "people.csv", "--target", TARGET, "-o", folder / "m.bayes").code == 0
    assert len(seen) == 2 * 15, "counted, and left out one by one"
    assert most <= 3, "the one in hand, the one before it, and the one that is read in the meantime"


# ---------------------------------------------------------------------- tables of many files, and of many rows


@pytest.mark.parametrize("how", ["files", "pattern", "folder"])
def test_several_files_are_one_table(run, folder, how):
    (folder / "parts").mkdir()
    files = [write_csv(people().slice(100 * i, 100), folder / "parts" / f"part-{i}.csv") for i in range(3)]
    data = {"files": files, "pattern": [folder / "parts" / "part-*.csv"], "folder": [folder / "parts"]}[how]
    answer = run("fit", *data, "--target", TARGET, "-o", folder / "m.bayes")
    assert answer.code == 0
    assert "300 rows, 5 columns" in answer.err
    assert (folder / "m.bayes").read_bytes() == (folder / "people.bayes").read_bytes()


def test_files_of_other_columns_are_named(run, folder):
    other = write_csv(people().drop_columns(["age"]), folder / "other.csv")
    answer = run("fit", folder / "people.csv", other, "--target", TARGET, "-o", folder / "m.bayes")
    assert answer.code == 1
    assert "other.csv" in answer.err
    assert "age" in answer.err
    assert run("fit", folder / "no-*.csv", "--target", TARGET, "-o", folder / "m.bayes").code == 1


@pytest.mark.parametrize("model", ["naive-bayes", "spode", "tan", "aode", "a2de", "kdb", "skdb"])
def test_every_model_is_counted_in_pieces_as_from_all_rows_at_once(run, folder, monkeypatch, model):
    options = ["--target", TARGET, "--model", model, "--no-calibrate", "--json", "--column", "hours=binned"]
    if model == "naive-bayes":
        options += ["--column", "age=binned"]
    whole = run("fit", folder / "people.csv", *options, "-o", folder / "whole.bayes")
    monkeypatch.setattr(labelled, "SAMPLED", 50)
    monkeypatch.setattr(local_rows, "batch_rows", lambda n_columns: 64)
    pieces = run("fit", folder / "people.csv", *options, "-o", folder / "pieces.bayes")
    assert (whole.code, pieces.code) == (0, 0)
    found, expected = load(folder / "pieces.bayes"), load(folder / "whole.bayes")
    assert found.statistics_ == expected.statistics_
    assert same_probabilities(found, expected)
    mine, theirs = (json.loads(answer.out)["leave_one_out"] for answer in (pieces, whole))
    assert mine["accuracy"] == theirs["accuracy"]
    # The same 300 terms, added in other pieces.
    assert mine["log_loss"] == pytest.approx(theirs["log_loss"], rel=1e-12)


@pytest.mark.parametrize(
    ("options", "n_passes"),
    [
        ([], 2),  # counted; left out one by one, which also calibrates
        (["--column", "age=mdl"], 4),  # rows are dealt, and held out of the choice of cuts
        (["--model", "gaussian-full", "--ignore", "job", "--ignore", "member", "--ignore", "born"], 3),
        (["--model", "tan"], 5),  # numbers are looked at before they are counted
        (["--model", "aode"], 5),
        (["--model", "a2de"], 5),
        (["--model", "spode"], 6),  # and a parent is chosen
        (["--model", "kdb"], 6),
        (["--model", "skdb"], 7),  # and columns; once more where numbers have so many values that cuts are refined
        (["--model", "ensemble", "--preset", "generative"], 1),
    ],
)
def test_the_table_is_read_as_often_as_the_help_says(run, folder, monkeypatch, options, n_passes):
    monkeypatch.setattr(labelled, "SAMPLED", 50)
    passes = []
    add_up = local_rows.LocalRows.sum

    def counted(self: Any, *given: Any, **more: Any) -> Any:
        passes.append(self)
        return add_up(self, *given, **more)

    monkeypatch.setattr(local_rows.LocalRows, "sum", counted)
    answer = run("fit", folder / "people.csv", "--target", TARGET, *options, "-o", folder / "m.bayes")
    assert answer.code == 0, answer.err
    assert len(passes) == n_passes


def test_a_count_that_was_stopped_goes_on_from_its_checkpoint(run, folder, monkeypatch):
    monkeypatch.setattr(labelled, "SAMPLED", 50)
    monkeypatch.setattr(local_rows, "batch_rows", lambda n_columns: 50)
    command = ["fit", folder / "people.csv", "--target", TARGET, "-o", folder / "m.bayes"]
    assert run(*command).code == 0
    expected = (folder / "m.bayes").read_bytes()
    (folder / "m.bayes").unlink()
    count, n_counted = Labelled.__call__, 0

    def stopping(self: Labelled, table: pa.Table) -> Any:
        nonlocal n_counted
        n_counted += 1
        if n_counted in (4, 9):
            raise KeyboardInterrupt
        return count(self, table)

    monkeypatch.setattr(Labelled, "__call__", stopping)
    kept = folder / "count.checkpoint"
    for n_left in (1, 1, 0):
        answer = run(*command, "--checkpoint", kept)
        assert (answer.code == 0) == (n_left == 0)
        assert kept.exists() == bool(n_left)
        assert (folder / "m.bayes").exists() == (n_left == 0)
        assert not list(folder.glob("*.tmp"))
    assert (folder / "m.bayes").read_bytes() == expected
    assert n_counted == 6 + 6 + 2, "6 batches counted, 6 left out, and two that were stopped"


@pytest.mark.parametrize(
    ("data", "options", "code", "message"),
    [
        ("people.csv", ["--checkpoint", "nowhere/c"], 1, "cannot write 'nowhere/c': there is no folder 'nowhere'"),
        ("people.csv", ["--checkpoint", "."], 1, "cannot write '.': it is a folder; name a file in it"),
        ("-", ["--checkpoint", "c"], 2, "and standard input can be read only once; give a file"),
        ("people.csv", ["--checkpoint", "c", "--model", "ensemble"], 2, "--checkpoint is for models that are counted"),
    ],
    ids=str,
)
def test_a_checkpoint_of_no_use_is_refused_before_anything_is_read(
    data, options, code, message, run, folder, monkeypatch
):
    monkeypatch.chdir(folder)
    monkeypatch.setattr(ReadingOptions, "rows", None)
    answer = run("fit", data, "--target", TARGET, "-o", "m.bayes", *options, stdin=b"")
    assert (answer.code, message in answer.err) == (code, True)
    assert not Path("c").exists()


# ---------------------------------------------------------------------- what the command says


@pytest.mark.parametrize("options", [(), ("--decimal", ",")])
def test_a_file_with_decimal_commas_is_read(run, tmp_path, options):
    data = tmp_path / "prices.csv"
    data.write_text("price;kind\n" + "".join(f"{i},5;{'ab'[i % 2]}\n" for i in range(40)))
    assert run("fit", data, "--target", "kind", "-o", tmp_path / "m.bayes", *options).code == 0
    assert load(tmp_path / "m.bayes").columns_["price"].family in ("gaussian", "lognormal", "binned")
    assert run("predict", tmp_path / "m.bayes", data, *options).code == 0
    answer = run("fit", data, "--target", "kind", "-o", tmp_path / "m.bayes", "--decimal", "x")
    assert (answer.code, "--decimal is 'x'; give a point or a comma" in answer.err) == (2, True)


def test_messages_of_the_model_speak_of_options(run, tmp_path):
    data = tmp_path / "ids.csv"
    data.write_text("size,row name,kind\n" + "".join(f"{i % 7},x{i},{'ab'[i % 2]}\n" for i in range(40)))
    answer = run("fit", data, "--target", "kind", "-o", tmp_path / "m.bayes")
    assert "to keep it, say --column 'row name=categorical'" in answer.err
    assert "columns={" not in answer.err


def test_every_family_stands_in_the_help(run):
    described = run("fit", "--help").out
    assert all(family in described for family in (*FAMILIES, "auto", "text", "ignored"))


def test_an_error_names_the_row_of_the_file(run, tmp_path, monkeypatch):
    monkeypatch.setattr(delimited, "BLOCK_BYTES", 2**8)  # in many batches
    lines = [f"{i % 5 + 1},{'ab'[i % 2]}\n" for i in range(200)]
    lines[140:145] = ["1,\n"] * 5  # rows without a label, which no model sees
    lines[149] = "-3,a\n"
    data = tmp_path / "counts.csv"
    data.write_text("visits,kind\n" + "".join(lines))
    answer = run("fit", data, "--target", "kind", "-o", tmp_path / "m.bayes", "--column", "visits=poisson")
    assert answer.code == 1
    assert "but row 150 has -3" in answer.err
    assert "fit again with --column visits=gaussian" in answer.err


def test_a_column_that_is_empty_at_first_is_read(run, tmp_path, monkeypatch):
    monkeypatch.setattr(delimited, "BLOCK_BYTES", 2**10)  # in many batches
    lines = [f"{i % 5},{'' if i < 400 else 'uv'[i % 2]},{'ab'[i % 2]}\n" for i in range(600)]
    data = tmp_path / "late.csv"
    data.write_text("size,late,kind\n" + "".join(lines))
    assert run("fit", data, "--target", "kind", "-o", tmp_path / "m.bayes").code == 0
    model = load(tmp_path / "m.bayes")
    assert model.columns_["late"].family == "categorical"
    assert model.statistics_.columns.groups["categories"].table.tolist() == [[100, 0], [0, 100], [200, 200]]


@pytest.mark.parametrize("rest", [b"garbage", None])
def test_a_pipe_that_cannot_be_unpacked_is_not_taken_for_a_disk_without_room(run, folder, rest):
    packed = gzip.compress((folder / "people.csv").read_bytes())
    given = packed[:-40] if rest is None else packed + rest
    answer = run("fit", "-", "--target", TARGET, "-o", folder / "m.bayes", stdin=given)
    assert answer.code == 1
    assert answer.err.startswith("error: standard input: ")
    assert answer.err.endswith("; is the file complete, and is its format as named?\n")


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (MemoryError(), "error: there is not enough memory; leave out columns or rows\n"),
        (MemoryError("8 GiB"), "error: there is not enough memory (8 GiB); leave out columns or rows\n"),
        (ZeroDivisionError("oh"), "error: ZeroDivisionError: oh (run again with --debug to see where)\n"),
    ],
)
def test_what_nobody_foresaw_is_told_without_a_traceback(run, folder, monkeypatch, error, told):
    def failing(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr("bayeswater.models.persistence.save", failing)
    answer = run("fit", folder / "people.csv", "--target", TARGET, "-o", folder / "m.bayes")
    assert (answer.code, answer.err) == (1, told)
