"""``bayeswater predict``: the answers of the model, in every format, row by row."""

import csv
import io
import json
import os
import signal
import subprocess
import weakref
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from tests.cli.people import COLUMNS, TARGET, people, write_csv

from bayeswater.cli import writing
from bayeswater.cli.predict import PredictionWriter
from bayeswater.decision.loss import Loss
from bayeswater.models.gaussian_nb import GaussianNB
from bayeswater.models.mixed.naive_bayes import NaiveBayes
from bayeswater.models.network.bayesian_network import BayesianNetwork
from bayeswater.models.persistence import load, save

ANSWERS = ["prediction", "P(high)", "P(low)"]


def read_csv(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


@pytest.fixture
def expected(folder: Any) -> list[dict[str, Any]]:
    """Give the answers of the model in Python."""
    model, X = load(folder / "people.bayes"), people().select(COLUMNS)
    proba = model.predict_proba(X).tolist()
    return [dict(zip(ANSWERS, [c, *p], strict=True)) for c, p in zip(model.predict(X).tolist(), proba, strict=True)]


def test_answers_as_csv_on_standard_output_are_those_of_the_model(run, folder, expected):
    answer = run("predict", folder / "people.bayes", folder / "people.csv")
    assert (answer.code, answer.err) == (0, "")
    rows = read_csv(answer.out)
    assert [*rows[0]] == ANSWERS
    # Seventeen digits bring every float back as it was.
    assert [{**row, "P(high)": float(row["P(high)"]), "P(low)": float(row["P(low)"])} for row in rows] == expected


def test_answers_as_parquet_and_json_lines(run, folder, expected):
    assert run("predict", folder / "people.bayes", folder / "people.csv", "-o", folder / "a.parquet").code == 0
    assert pyarrow.parquet.read_table(folder / "a.parquet").to_pylist() == expected
    assert run("predict", folder / "people.bayes", folder / "people.csv", "-o", folder / "a.jsonl").code == 0
    assert [json.loads(line) for line in (folder / "a.jsonl").read_text().splitlines()] == expected
    answer = run("predict", folder / "people.bayes", folder / "people.csv", "--output-format", "jsonl")
    assert [json.loads(line) for line in answer.out.splitlines()] == expected


def test_many_batches_give_the_answers_of_one(run, folder, many_batches, expected):
    assert run("predict", folder / "people.bayes", folder / "people.csv", "-o", folder / "a.parquet").code == 0
    assert pyarrow.parquet.ParquetFile(folder / "a.parquet").num_row_groups > 3
    assert pyarrow.parquet.read_table(folder / "a.parquet").to_pylist() == expected


def test_kept_columns_follow_the_answers_as_they_were_written(run, folder):
    table = people(3).append_column("zip", pa.array(["007", "x, y", None]))
    path = write_csv(table, folder / "few.csv")
    rows = read_csv(run("predict", folder / "people.bayes", path, "--keep").out)
    assert [*rows[0]] == [*ANSWERS, *COLUMNS, TARGET, "zip"]
    assert [row["zip"] for row in rows] == ["007", "x, y", ""]
    assert [row["job"] for row in rows] == [job or "" for job in table.column("job").to_pylist()]


def test_a_kept_column_with_the_name_of_an_answer_is_refused(run, folder):
    path = write_csv(people(3).append_column("prediction", pa.array([1, 2, 3])), folder / "few.csv")
    answer = run("predict", folder / "people.bayes", path, "--keep")
    assert (answer.code, answer.out) == (1, "")
    assert "has a column 'prediction' of its own" in answer.err
    assert run("predict", folder / "people.bayes", path).code == 0


def test_reasons_are_one_line_for_each_row(run, folder):
    rows = read_csv(run("predict", folder / "people.bayes", folder / "people.csv", "--explain").out)
    model, X = load(folder / "people.bayes"), people().select(COLUMNS)
    assert [row["reasons"] for row in rows] == [explanation.summary for explanation in model.explain(X)]


def test_standard_input_without_a_target_column_and_in_another_order(run, folder, expected):
    table = people().select([*reversed(COLUMNS)])
    content = write_csv(table, folder / "other.csv").read_bytes()
    answer = run("predict", folder / "people.bayes", "-", "--output-format", "jsonl", stdin=content)
    assert [json.loads(line) for line in answer.out.splitlines()] == expected


def test_labels_that_look_like_numbers_are_read_as_the_model_knows_them(run, folder):
    codes = ["1", "2", "x"] * 10
    table = pa.table({"code": codes, "y": ["a" if code == "1" else "b" for code in codes]})
    model = NaiveBayes().fit(table.select(["code"]), table.column("y"))
    save(model, folder / "codes.bayes")
    path = folder / "codes.csv"
    path.write_text("code\n1\n2\n")  # all of which look like integers
    answer = run("predict", folder / "codes.bayes", path, "--output-format", "jsonl")
    assert answer.err == ""
    expected = model.predict_proba(pa.table({"code": ["1", "2"]}))
    rows = [json.loads(line) for line in answer.out.splitlines()]
    assert np.array_equal([[row["P(a)"], row["P(b)"]] for row in rows], expected)


def test_models_fitted_in_python_on_named_columns_answer_too(run, folder):
    X = pa.table({"u": [1.0, 2.0, 8.0, 9.0], "v": [0.0, 1.0, 0.0, 1.5]})
    model = GaussianNB().fit(X, [0, 0, 1, 1])
    save(model, folder / "g.bayes")
    path = write_csv(pa.table({"v": [0, 1], "u": [1, 9]}), folder / "g.csv")
    rows = read_csv(run("predict", folder / "g.bayes", path).out)
    assert [row["prediction"] for row in rows] == ["0", "1"]
    rows = read_csv(run("predict", folder / "g.bayes", path, "--explain").out)
    assert rows[1]["reasons"] == "1 (over 0.999999) rather than 0 for u = 9"
    save(GaussianNB().fit([[1.0], [2.0]], [0, 1]), folder / "nameless.bayes")
    answer = run("predict", folder / "nameless.bayes", path)
    assert answer.code == 1
    assert "without column names" in answer.err


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_models_fitted_on_frames_of_any_library_read_their_columns_from_a_file(run, folder, library):
    table = people()
    frame = table.to_pandas() if library == "pandas" else pytest.importorskip("polars").from_arrow(table)
    if library == "pandas":
        frame["job"] = frame["job"].astype("category")
        frame["born"] = frame["born"].astype("datetime64[s]")
    model = NaiveBayes().fit(frame[COLUMNS], frame[TARGET])
    save(model, folder / "m.bayes")
    answer = run("predict", folder / "m.bayes", folder / "people.csv", "--output-format", "jsonl")
    assert (answer.code, answer.err) == (0, "")
    found = [[row["P(high)"], row["P(low)"]] for row in map(json.loads, answer.out.splitlines())]
    assert np.array_equal(found, model.predict_proba(frame[COLUMNS]))


def test_a_file_without_rows_has_answers_without_rows(run, folder):
    path = folder / "none.csv"
    path.write_text(",".join(COLUMNS) + "\n")
    assert run("predict", folder / "people.bayes", path).out == "prediction,P(high),P(low)\n"
    assert run("predict", folder / "people.bayes", path, "-o", folder / "a.parquet").code == 0
    assert pyarrow.parquet.read_table(folder / "a.parquet").shape == (0, 3)


def test_unseen_categories_are_mentioned_once_and_answered(run, folder, many_batches):
    table = people()
    path = write_csv(table.set_column(2, "job", pa.array(["astronaut"] * 300)), folder / "new.csv")
    answer = run("predict", folder / "people.bayes", path)
    assert answer.code == 0
    assert len(read_csv(answer.out)) == 300
    assert answer.err.count("astronaut") == 1
    assert "more of the same kind in later batches" in answer.err


# ---------------------------------------------------------------------- what goes wrong


def test_a_missing_column_is_named_with_the_nearest(run, folder):
    table = people(3)
    path = write_csv(table.rename_columns(["age", "hrs", *table.column_names[2:]]), folder / "few.csv")
    answer = run("predict", folder / "people.bayes", path)
    assert (answer.code, answer.out) == (1, "")
    assert "few.csv: column 'hours' of the model" in answer.err
    assert "is missing" in answer.err and "JSON lines, which may lack columns" in answer.err
    assert "'hrs'" in answer.err
    path.write_text("1,2,3\n4,5,6\n")
    assert "a file without a header needs --names, with 3 names" in run("predict", folder / "people.bayes", path).err


def test_a_cell_that_is_no_number_is_named_by_row_and_column(run, folder):
    lines = (folder / "people.csv").read_text().splitlines()[:4]
    cells = lines[2].split(",")
    path = folder / "few.csv"
    path.write_text("\n".join([*lines[:2], ",".join([cells[0], "lots", *cells[2:]]), lines[3]]) + "\n")
    answer = run("predict", folder / "people.bayes", path, "-o", folder / "a.csv")
    assert answer.code == 1
    assert "few.csv: row 3 (the header is row 1), column 'hours' holds 'lots', which is no number" in answer.err
    assert sorted(p.name for p in folder.iterdir()) == ["few.csv", "people.bayes", "people.csv"], "nothing is left"


def test_an_old_answer_stays_whole_where_a_new_one_fails(run, folder):
    out = folder / "a.parquet"
    assert run("predict", folder / "people.bayes", folder / "people.csv", "-o", out).code == 0
    before = out.read_bytes()
    broken = folder / "broken.csv"
    broken.write_text((folder / "people.csv").read_text() + "1,2\n")
    assert run("predict", folder / "people.bayes", broken, "-o", out).code == 1
    assert out.read_bytes() == before
    assert not [p for p in folder.iterdir() if p.name.startswith(".bayeswater")]


@pytest.mark.parametrize("kind", ["csv", "parquet", "jsonl"])
def test_answers_go_into_a_pipe_or_where_a_link_points_to(run, folder, kind):
    model, data, pipe = folder / "people.bayes", folder / "people.csv", folder / f"pipe.{kind}"
    there, link = folder / f"there.{kind}", folder / f"link.{kind}"
    link.symlink_to(there)
    os.mkfifo(pipe)
    reader = subprocess.Popen(["cat", str(pipe)], stdout=subprocess.PIPE)
    assert run("predict", model, data, "-o", pipe).code == 0
    assert run("predict", model, data, "-o", link).code == 0
    assert link.is_symlink() and pipe.is_fifo()
    assert reader.communicate(timeout=60)[0] == there.read_bytes()


@pytest.mark.parametrize("kind", ["csv", "parquet", "jsonl"])
def test_a_disk_that_is_full_leaves_no_answers_under_their_name(run, folder, kind):
    """A file that may not grow stands for a disk without room: both are told by the write that fails."""
    resource = pytest.importorskip("resource", reason="limits of a process are of Unix")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    output = folder / f"out.{kind}"
    resource.setrlimit(resource.RLIMIT_FSIZE, (2000, before[1]))
    try:
        answer = run("predict", folder / "people.bayes", folder / "people.csv", "-o", output)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, ignored)
    assert answer.code == 1
    assert f"cannot write {str(output)!r}" in answer.err
    assert "Traceback" not in answer.err
    assert not output.exists()
    assert not list(folder.glob("*.tmp"))


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["no.bayes", "people.csv"], 1, "no.bayes"),
        (["people.csv", "people.csv"], 1, "people.csv"),
        (["people.bayes", "no.csv"], 1, "there is no such file"),
        (["people.bayes", "people.csv", "-o", "answers.xls"], 2, "names no format"),
        (["people.bayes", "people.csv", "-o", "nowhere/a.csv"], 1, "nowhere/a.csv"),
        (["people.bayes"], 2, "DATA"),
        ([], 2, "MODEL"),
    ],
)
def test_files_that_are_not_there_or_not_what_they_should_be(run, folder, monkeypatch, arguments, code, message):
    monkeypatch.chdir(folder)
    answer = run("predict", *arguments)
    assert (answer.code, answer.out) == (code, "")
    assert message in answer.err
    assert "Traceback" not in answer.err


def test_parquet_is_not_written_to_a_screen(monkeypatch):
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    with pytest.raises(ValueError, match="name a file with -o"), writing.writer(None, "parquet"):
        pass


# ---------------------------------------------------------------------- how little is held at once


def test_answered_batches_are_let_go(run, folder, many_batches, monkeypatch):
    seen: list[weakref.ref[pa.Table]] = []
    most = 0
    answer = PredictionWriter.__call__

    def watched(self: PredictionWriter, table: pa.Table) -> int:
        nonlocal most
        seen.append(weakref.ref(table))
        most = max(most, sum(ref() is not None for ref in seen))
        return answer(self, table)

    monkeypatch.setattr(PredictionWriter, "__call__", watched)
    assert run("predict", folder / "people.bayes", folder / "people.csv", "--keep").code == 0
    assert len(seen) == 15
    assert most <= 3, "the one in hand, the one before it, and the one that is read in the meantime"


# ---------------------------------------------------------------------- decisions by their costs

COSTS = "action \\ truth,low,high\nlow,0,10\nhigh,1,0\nask,0.4,0.4\n"


def test_actions_their_risk_and_the_refusals(run, folder, many_batches, expected):
    path = folder / "costs.csv"
    path.write_text(COSTS)
    answer = run("predict", folder / "people.bayes", folder / "people.csv", "--loss", path, "-o", folder / "a.parquet")
    rows = pyarrow.parquet.read_table(folder / "a.parquet").to_pylist()
    assert [*rows[0]] == ["prediction", "action", "risk", "P(high)", "P(low)"]
    assert [{name: row[name] for name in ANSWERS} for row in rows] == expected
    model, loss, X = load(folder / "people.bayes"), Loss.read(path), people().select(COLUMNS)
    actions, risk = model.decide(X, loss=loss, return_risk=True)
    assert [row["action"] for row in rows] == actions.tolist()
    assert [row["risk"] for row in rows] == pytest.approx(risk.min(axis=1).tolist(), rel=1e-12)
    assert (answer.code, answer.err) == (0, f"'ask' is the action of {(actions == 'ask').sum()} of 300 rows\n")


def test_costs_that_are_a_column_of_the_data_kept_or_not(run, folder):
    table = people(20, seed=5).append_column("amount", pa.array(np.arange(20.0)))
    data, path = write_csv(table, folder / "new.csv"), folder / "costs.toml"
    path.write_text('rows = "action"\ncolumns = "truth"\n[costs.low]\nhigh = "amount"\n[costs.high]\nlow = 1\n')
    model, loss = load(folder / "people.bayes"), Loss.read(path).for_classes(["high", "low"])
    actions = loss.best_action(model.predict_proba(table.select(COLUMNS)), X=table).tolist()
    for options in ((), ("--keep",)):
        answer = run("predict", folder / "people.bayes", data, "--loss", path, *options)
        assert (answer.code, answer.err) == (0, "")
        assert [row["action"] for row in read_csv(answer.out)] == actions
    answer = run("predict", folder / "people.bayes", folder / "people.csv", "--loss", path)
    assert (answer.code, answer.out) == (1, "")
    assert "there is no column of costs 'amount'" in answer.err


def test_actions_beside_classes_that_are_numbers_are_text(run, folder):
    X = pa.table({"u": [1.0, 2.0, 8.0, 9.0]})
    save(GaussianNB().fit(X, [0, 0, 1, 1]), folder / "g.bayes")
    data, path = write_csv(pa.table({"u": [1.5, 5.0, 8.5]}), folder / "g.csv"), folder / "costs.csv"
    path.write_text("action \\ truth,0,1\n0,0,1\n1,1,0\nask,0.1,0.1\n")
    answer = run("predict", folder / "g.bayes", data, "--loss", path, "--output-format", "jsonl")
    rows = [json.loads(line) for line in answer.out.splitlines()]
    assert [(row["prediction"], row["action"]) for row in rows] == [(0, "0"), (0, "ask"), (1, "1")]
    path.write_text("action \\ truth,0,1\n0,0,1\n1,1,0\n")
    answer = run("predict", folder / "g.bayes", data, "--loss", path, "--output-format", "jsonl")
    assert [json.loads(line)["action"] for line in answer.out.splitlines()] == [0, 0, 1]


def test_a_file_without_rows_has_decisions_without_rows(run, folder):
    path, data = folder / "costs.csv", folder / "none.csv"
    path.write_text(COSTS)
    data.write_text(",".join(COLUMNS) + "\n")
    answer = run("predict", folder / "people.bayes", data, "--loss", path)
    assert (answer.code, answer.out.strip()) == (0, "prediction,action,risk,P(high),P(low)")


@pytest.mark.parametrize("verb", ["predict", "explain", "evaluate"])
def test_a_network_is_no_classifier_and_how_to_ask_it_is_told(run, folder, verb):
    path = folder / "coin.bayes"
    save(BayesianNetwork("side", {"side": {"heads": 0.5, "tails": 0.5}}), path)
    answer = run(verb, path, folder / "people.csv", *(["--target", TARGET] if verb == "evaluate" else []))
    assert (answer.code, answer.out) == (1, "")
    assert f"a BayesianNetwork has no class that it predicts; ask it: bayeswater query {path}" in answer.err


def test_json_lines_that_lack_columns_are_predicted_from_those_they_have(run, tmp_path):
    data = tmp_path / "t.csv"
    data.write_text("x,colour,kind\n" + "".join(f"{i % 7},{'rg'[i % 2]},{'ab'[i % 2]}\n" for i in range(40)))
    assert run("fit", data, "-t", "kind", "-o", tmp_path / "m.bayes").code == 0
    answer = run("predict", tmp_path / "m.bayes", "-", "--format", "jsonl", stdin=b'{"colour": "r"}\n{"colour": "g"}\n')
    assert answer.code == 0
    assert [line.split(",")[0] for line in answer.out.splitlines()] == ["prediction", "a", "b"]
    assert "no row has 'x': not known" in answer.err
    answer = run("predict", tmp_path / "m.bayes", "-", "--format", "jsonl", stdin=b'{"color": "r"}\n')
    assert answer.code == 1 and "are missing" in answer.err


def test_members_of_objects_in_json_lines_are_columns_and_lists_may_be_left_out(run, tmp_path):
    data, model = tmp_path / "t.jsonl", tmp_path / "m.bayes"
    rows = [{"x": "rg"[i % 2], "meta": {"n": i}, "tags": ["a"], "kind": "ab"[i % 2]} for i in range(40)]
    data.write_text("\n".join(map(json.dumps, rows)))
    refused = run("fit", data, "-t", "kind", "-o", model)
    assert refused.code == 1 and "or leave it out, --column tags=ignored" in refused.err
    ignored = ("--column", "meta.n=ignored", "--column", "tags=ignored")
    assert run("fit", data, "-t", "kind", "-o", model, *ignored).code == 0
    assert [line.split(",")[0] for line in run("predict", model, data).out.splitlines()] == ["prediction", *"ab" * 20]
