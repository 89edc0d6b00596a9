"""``inspect``, ``merge``, ``forget`` and ``explain``: what is done to a model file is what Python does to the model."""

import json
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from tests.cli.people import COLUMNS, TARGET, people, write_csv

from bayeswater.models.categorical_nb import CategoricalNB
from bayeswater.models.persistence import load, save

FAMILIES = ["--column", "age=gaussian", "--column", "hours=poisson", "--ignore", "born", "--no-calibrate"]
"""Families that two halves of the rows agree on."""


def fit(run: Any, table: pa.Table, path: Any) -> Any:
    data = write_csv(table, path.with_suffix(".csv"))
    answer = run("fit", data, "--target", TARGET, "-o", path, *FAMILIES)
    assert answer.code == 0, answer.err
    return path


# ---------------------------------------------------------------------- inspect


def test_inspect_prints_the_class_table_and_that_of_each_column(run, folder):
    answer = run("inspect", folder / "people.bayes")
    assert (answer.code, answer.err) == (0, "")
    assert "NaiveBayes of 300 rows, 2 classes, 5 columns" in answer.out
    for word in ("probability", "P(job | class)", "engineer", "教师", "member", "born (weekday)"):
        assert word in answer.out


def test_inspect_as_json_has_the_tables_of_the_model(run, folder):
    found = json.loads(run("inspect", folder / "people.bayes", "--json").out)
    tables = load(folder / "people.bayes").tables()
    assert found["kind"] == "NaiveBayes"
    assert [*found["tables"]] == [*tables]
    for name, frame in tables.items():
        assert found["tables"][name] == json.loads(json.dumps(frame.to_pydict()))


def test_inspect_says_in_chinese_why_columns_are_read_as_they_are(run, folder):
    found = run("inspect", folder / "people.bayes", "--lang", "zh").out
    assert "类别" in found and "categorical" not in found


def test_inspect_of_one_column(run, folder):
    answer = run("inspect", folder / "people.bayes", "--column", "job")
    assert "P(job | class)" in answer.out
    assert "hours" not in answer.out
    answer = run("inspect", folder / "people.bayes", "--column", "jb")
    assert (answer.code, answer.out) == (1, "")
    assert "there is no table of 'jb'; did you mean 'job'?" in answer.err


def test_inspect_of_the_counts_of_integers(run, folder):
    # The exercise of a lecture: a table rounded to integers, counted by hand.
    X = np.array([[0], [0], [1], [2], [2], [2]])
    save(CategoricalNB(alpha=0).fit(pa.table({"size": X[:, 0]}), ["a", "a", "a", "b", "b", "b"]), folder / "c.bayes")
    answer = run("inspect", folder / "c.bayes")
    assert "CategoricalNB of 6 rows" in answer.out
    rows = [line.split() for line in answer.out.splitlines()]
    assert ["0", "0.6667", "0"] in rows
    assert ["2", "0", "1"] in rows


def test_wide_and_long_tables_are_cut_to_the_screen(run, folder, monkeypatch):
    n_classes = 30
    codes = np.arange(n_classes * 3) % n_classes
    labels = [f"class {code:02d}" for code in codes]
    save(CategoricalNB().fit(pa.table({"size": codes}), labels), folder / "c.bayes")
    monkeypatch.setenv("COLUMNS", "80")
    answer = run("inspect", folder / "c.bayes", "--column", "size", "--rows", "5")
    assert max(map(len, answer.out.splitlines()[1:])) <= 80
    assert "... and 25 more" in answer.out
    assert "P(size | class) (continued)" in answer.out
    assert all(label in answer.out for label in labels)
    assert run("inspect", folder / "c.bayes", "--rows", "0").code == 2


# ---------------------------------------------------------------------- merge


def test_merged_models_are_the_model_of_all_rows(run, folder):
    table = people()
    parts = [fit(run, table.slice(start, 100), folder / f"part{start}.bayes") for start in (0, 100, 200)]
    answer = run("merge", *parts, "-o", folder / "sum.bayes")
    assert (answer.code, answer.out) == (0, "")
    assert "the sum of 3 models" in answer.err
    assert "300 rows" in answer.err
    whole, total = load(fit(run, table, folder / "whole.bayes")), load(folder / "sum.bayes")
    X = people(50, seed=1).select(COLUMNS[:4])
    # Sums of floats in another order.
    assert np.allclose(total.predict_proba(X), whole.predict_proba(X), rtol=1e-9, atol=0)
    assert np.array_equal(total.class_count_, whole.class_count_)


def test_halves_of_a_file_are_merged_if_the_second_is_read_like_the_first(run, folder):
    table = people()
    first, second = (write_csv(table.slice(start, 150), folder / f"half{start}.csv") for start in (0, 150))
    arguments = "--target", TARGET, "--no-calibrate", "-o"
    assert run("fit", first, *arguments, folder / "first.bayes", "--alpha", 2).code == 0
    assert run("fit", second, *arguments, folder / "second.bayes").code == 0
    answer = run("merge", folder / "first.bayes", folder / "second.bayes", "-o", folder / "sum.bayes")
    assert answer.code == 1
    assert f"fit the second model again with --like {folder / 'first.bayes'}, so that both" in answer.err
    like = "--like", folder / "first.bayes"
    assert run("fit", second, *arguments, folder / "second.bayes", *like).code == 0
    assert run("merge", folder / "first.bayes", folder / "second.bayes", "-o", folder / "sum.bayes").code == 0
    assert run("fit", folder / "people.csv", *arguments, folder / "whole.bayes", *like).code == 0
    whole, total = load(folder / "whole.bayes"), load(folder / "sum.bayes")
    assert whole.alpha == total.alpha == 2
    assert whole.columns_ == load(folder / "first.bayes").columns_
    X = people(50, seed=1).select(COLUMNS)
    # Sums of floats in another order.
    assert np.allclose(total.predict_proba(X), whole.predict_proba(X), rtol=1e-9, atol=0)


def test_a_model_to_be_like_must_be_one_of_fit_and_is_all_that_is_said(run, folder):
    arguments = "fit", folder / "people.csv", "--target", TARGET, "-o", folder / "m.bayes", "--like"
    answer = run(*arguments, folder / "people.bayes", "--column", "age=binned")
    assert (answer.code, "--like takes over columns and smoothing" in answer.err) == (2, True)
    save(CategoricalNB().fit(pa.table({"job": ["a", "b"]}), [0, 1]), folder / "c.bayes")
    answer = run(*arguments, folder / "c.bayes")
    assert (answer.code, "c.bayes is a CategoricalNB; --like takes a model" in answer.err) == (1, True)


def test_models_that_do_not_fit_together_are_refused_and_nothing_is_written(run, folder):
    other = write_csv(people().select(["age", TARGET]), folder / "other.csv")
    assert run("fit", other, "--target", TARGET, "-o", folder / "other.bayes").code == 0
    answer = run("merge", folder / "people.bayes", folder / "other.bayes", "-o", folder / "sum.bayes")
    assert answer.code == 1
    assert "cannot add" in answer.err
    assert "other.bayes to" in answer.err
    save(CategoricalNB().fit(pa.table({"a": [0, 1]}), [0, 1]), folder / "c.bayes")
    answer = run("merge", folder / "people.bayes", folder / "c.bayes", "-o", folder / "sum.bayes")
    assert answer.code == 1
    assert "a CategoricalNB" in answer.err
    assert not (folder / "sum.bayes").exists()
    assert run("merge", folder / "people.bayes", "-o", folder / "sum.bayes").code == 2


@pytest.mark.parametrize("name", ["people.bayes", "./people.bayes", "link.bayes"])
def test_a_model_is_not_added_to_itself(run, folder, monkeypatch, name):
    monkeypatch.chdir(folder)
    (folder / "link.bayes").symlink_to("people.bayes")
    answer = run("merge", "people.bayes", name, "-o", "sum.bayes")
    assert answer.code == 1
    assert answer.err == f"error: {name!r} is named twice, and its rows would be counted twice; name each model once\n"
    assert not (folder / "sum.bayes").exists()


# ---------------------------------------------------------------------- forget


@pytest.mark.parametrize("verb", ["merge", "forget"])
def test_a_model_that_cannot_be_written_is_refused_before_the_rest_is_read(run, verb, folder):
    arguments = {"merge": ["not there.bayes"], "forget": ["not there.csv", "--target", TARGET]}[verb]
    answer = run(verb, folder / "people.bayes", *arguments, "-o", folder / "nowhere" / "model.bayes")
    assert answer.code == 1
    assert "there is no folder" in answer.err


def test_forgotten_rows_are_as_if_they_had_never_been_seen(run, folder, many_batches):
    table = people()
    whole = fit(run, table, folder / "whole.bayes")
    rows = write_csv(table.slice(0, 60), folder / "rows.csv")
    answer = run("forget", whole, rows, "--target", TARGET, "-o", folder / "less.bayes")
    assert (answer.code, answer.out) == (0, "")
    assert "60 rows forgotten" in answer.err
    rest, less = load(fit(run, table.slice(60), folder / "rest.bayes")), load(folder / "less.bayes")
    assert np.array_equal(less.class_count_, rest.class_count_)
    X = people(50, seed=1).select(COLUMNS[:4])
    # Moments after a subtraction have lost a digit or two.
    assert np.allclose(less.predict_proba(X), rest.predict_proba(X), rtol=1e-9, atol=0)
    assert load(whole).class_count_.sum() == 300


def test_forgetting_in_place_and_the_report_as_json(run, folder):
    whole = fit(run, people(), folder / "whole.bayes")
    rows = write_csv(people().slice(0, 10), folder / "rows.csv")
    answer = run("forget", whole, rows, "--target", TARGET, "--json")
    assert json.loads(answer.out)["n_rows"] == 290
    assert load(whole).class_count_.sum() == 290


def test_rows_that_were_never_counted_leave_the_model_file_as_it_was(run, folder):
    whole = fit(run, people(), folder / "whole.bayes")
    before = whole.read_bytes()
    table = people(3)
    rows = write_csv(table.set_column(2, "job", pa.array(["astronaut"] * 3)), folder / "rows.csv")
    answer = run("forget", whole, rows, "--target", TARGET)
    assert (answer.code, answer.out) == (1, "")
    assert "rows.csv, rows 1 to 3: " in answer.err
    assert whole.read_bytes() == before


# ---------------------------------------------------------------------- explain


def test_explanations_are_those_of_the_model(run, folder):
    model, X = load(folder / "people.bayes"), people().select(COLUMNS)
    answer = run("explain", folder / "people.bayes", folder / "people.csv", "--rows", "3")
    assert (answer.code, answer.err) == (0, "")
    explanations = list(model.explain(X.slice(0, 3)))
    assert all(str(explanation) in answer.out for explanation in explanations)
    assert [line for line in answer.out.splitlines() if line.startswith("row ")] == ["row 1", "row 2", "row 3"]


def test_explanations_in_chinese(run, folder):
    model, X = load(folder / "people.bayes"), people().select(COLUMNS)
    answer = run("explain", folder / "people.bayes", folder / "people.csv", "--rows", "1", "--lang", "zh")
    assert answer.code == 0 and "而不是" in answer.out
    assert str(model.explain(X.slice(0, 1), lang="zh")) in answer.out


def test_explanations_as_json_lines(run, folder):
    answer = run("explain", folder / "people.bayes", folder / "people.csv", "--rows", "2", "--json")
    rows = [json.loads(line) for line in answer.out.splitlines()]
    assert [row["row"] for row in rows] == [1, 2]


def test_explanations_against_another_class(run, folder):
    answer = run("explain", folder / "people.bayes", folder / "people.csv", "--rows", "1", "--against", "hihg")
    assert (answer.code, answer.out) == (1, "")
    assert "there is no class 'hihg' in the model; did you mean 'high'?" in answer.err
    assert run("explain", folder / "people.bayes", folder / "people.csv", "--against", "high").code == 0


@pytest.mark.parametrize("rows", ["0", "-1", "some"])
def test_explaining_no_rows_is_refused(run, folder, rows):
    assert run("explain", folder / "people.bayes", folder / "people.csv", "--rows", rows).code == 2
