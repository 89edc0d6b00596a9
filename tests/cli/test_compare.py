"""``bayeswater compare``, and ``fit --model``: what Python does, on files."""

import json
import sys
from typing import get_args

import numpy as np
import pytest
from tests.cli.people import COLUMNS, TARGET, people, write_csv

from bayeswater import A2DE, AODE, KDB, SKDB, SPODE, TAN, compare, load, save
from bayeswater.cli import models
from bayeswater.cli.options import ModelName
from bayeswater.data.sources import delimited
from bayeswater.models.comparing import peers
from bayeswater.models.kinds import LADDER

FAST = ["--model", "naive-bayes", "--model", "aode", "--folds", "2"]
DISCRETE = ["spode", "tan", "aode", "a2de", "kdb", "skdb"]


def test_the_names_of_models_are_those_of_the_ladder():
    assert [*get_args(ModelName)] == [*LADDER]


def test_the_figures_are_those_of_python(run, folder):
    answer = run("compare", folder / "people.csv", "--target", TARGET, *FAST, "--json")
    assert answer.code == 0, answer.err
    report = json.loads(answer.out)
    table = people()
    found = compare(table.select(COLUMNS), table.column(TARGET), models=["naive-bayes", "aode"], folds=2)
    assert report["best"] == found.best.name
    assert [(one["name"], one["log_loss"]) for one in report["models"]] == [
        (one.name, one.log_loss) for one in found.contestants
    ]
    assert (report["n_rows"], report["n_classes"], report["n_folds"]) == (300, 2, 2)


def test_the_table_fits_the_screen(run, folder, monkeypatch):
    answer = run("compare", folder / "people.csv", "--target", TARGET, *FAST)
    assert (answer.code, answer.err) == (0, "")
    for word in ("300 rows, 2 classes, 2 folds", "AODE", "NaiveBayes", "log-loss", "behind the best", "parameters"):
        assert word in answer.out
    monkeypatch.setenv("COLUMNS", "60")
    narrow = run("compare", folder / "people.csv", "--target", TARGET, *FAST).out
    assert max(map(len, narrow.splitlines())) <= 60
    assert "parameters" in narrow


def test_the_best_is_saved_and_the_picture_drawn(run, folder):
    saved, drawn = folder / "best.bayes", folder / "compared.svg"
    answer = run("compare", folder / "people.csv", "-t", TARGET, *FAST, "--save", saved, "--plot", drawn)
    assert answer.code == 0, answer.err
    assert "fitted on all rows, saved as" in answer.err
    model = load(saved)
    assert type(model).__name__ in answer.err
    assert model.class_count_.sum() == 300
    assert drawn.read_text().startswith("<?xml")
    assert run("predict", saved, folder / "people.csv").code == 0


def test_a_better_peer_is_told_and_ours_is_saved(run, folder, monkeypatch):
    peer = LADDER["naive-bayes"].make()
    monkeypatch.setattr(peers, "sklearn_peers", lambda seed: {"a peer": peer})
    few = ["--model", "tan", "--folds", "2", "--peers", "--save", folder / "best.bayes"]
    answer = run("compare", folder / "people.csv", "-t", TARGET, *few)
    assert answer.code == 0, answer.err
    assert "note: a peer did better, but model files hold our models alone" in answer.err
    assert isinstance(load(folder / "best.bayes"), TAN)


def test_a_pipe_is_read_and_a_type_that_does_not_hold_is_widened(run, monkeypatch):
    monkeypatch.setattr(delimited, "INFERRED_BYTES", 2**8)  # types are told by the first rows
    monkeypatch.setattr(models, "WORTH_TELLING", 2**8)
    lines = [f"{i % 7},{'a' if i % 3 else 'b'}" for i in range(200)] + ["many,a"] * 3
    data = "\n".join(["n,kind", *lines]).encode()
    answer = run("compare", "-", "-t", "kind", *FAST, "--json", stdin=data)
    assert answer.code == 0, answer.err
    assert json.loads(answer.out)["n_rows"] == 203
    assert "note: " in answer.err
    assert "'n'" in answer.err
    assert "all rows are held in memory at once, 0 MB" in answer.err


def test_failures_are_told_and_the_rest_is_compared(run, folder):
    few = ["--model", "gaussian-full", "--model", "aode", "--folds", "2"]
    answer = run("compare", folder / "people.csv", "-t", TARGET, *few)
    assert answer.code == 0
    assert "Gaussian, full: failed: " in answer.out
    assert "AODE" in answer.out


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["--target", "incme"], 1, "did you mean 'income'?"),
        (["--target", TARGET, "--folds", "1"], 2, "folds"),
        (["--target", TARGET, "--model", "ayode"], 2, "aode"),
        (["--target", TARGET, "--save", "nowhere/best.bayes"], 1, "there is no folder"),
        (["--target", TARGET, "--plot", "compared.pdq"], 2, "'compared.pdq' is no format of pictures"),
    ],
)
def test_faults_are_told_in_a_line(run, folder, arguments, code, words):
    answer = run("compare", folder / "people.csv", *arguments)
    assert answer.code == code
    assert words in answer.err
    assert "Traceback" not in answer.err


def test_a_picture_needs_matplotlib_and_says_so(run, folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.backend_bases", None)
    answer = run("compare", folder / "people.csv", "-t", TARGET, "--plot", folder / "compared.png")
    assert (answer.code, "pip install 'bayeswater[plot]'" in answer.err) == (2, True)


# ---------------------------------------------------------------------- fit --model, and what is done with the file


@pytest.mark.parametrize("name", DISCRETE)
def test_every_model_is_fitted_as_python_does_and_its_file_is_good_for_all_verbs(run, folder, name):
    path = folder / f"{name}.bayes"
    answer = run("fit", folder / "people.csv", "-t", TARGET, "--model", name, "-o", path, "--json")
    assert answer.code == 0, answer.err
    assert json.loads(answer.out)["kind"] == LADDER[name].model.__name__
    table = people()
    X = table.select(COLUMNS)
    expected = LADDER[name].make(calibrate=True).fit(X, table.column(TARGET))
    assert np.array_equal(load(path).predict_proba(X), expected.predict_proba(X))
    accuracy = json.loads(run("evaluate", path, folder / "people.csv", "-t", TARGET, "--json").out)["accuracy"]
    assert accuracy == pytest.approx((expected.predict(X) == np.array(table.column(TARGET))).mean())
    assert "rather than" in run("explain", path, folder / "people.csv", "--rows", 1).out
    assert f"{LADDER[name].model.__name__} of 300 rows" in run("inspect", path).out
    assert run("predict", path, folder / "people.csv", "--explain").out.count("\n") == 301


def test_gaussian_classes_are_fitted_from_a_file_of_numbers(run, folder):
    table = people().select(["hours", TARGET])
    data = write_csv(table, folder / "numbers.csv")
    path = folder / "g.bayes"
    answer = run("fit", data, "-t", TARGET, "--model", "gaussian-shared", "-o", path)
    assert answer.code == 0, answer.err
    assert "Leaving one out, 300 times" in answer.err
    assert load(path).covariance == "shared"
    answer = run("fit", data, "-t", TARGET, "--model", "gaussian-full", "-o", path, "--alpha", 1)
    assert (answer.code, "leave out --column and --alpha" in answer.err) == (2, True)
    answer = run("fit", folder / "people.csv", "-t", TARGET, "--model", "gaussian-full", "-o", path)
    assert (answer.code, "column 'job' holds string" in answer.err) == (1, True)


def test_smoothing_and_families_are_passed_on(run, folder):
    path = folder / "m.bayes"
    arguments = "fit", folder / "people.csv", "-t", TARGET, "--model", "aode", "-o", path, "--no-calibrate"
    answer = run(*arguments, "--alpha", 2, "--column", "age=binned", "--ignore", "born")
    assert answer.code == 0, answer.err
    model = load(path)
    assert (model.alpha, model.calibrate) == (2, False)
    assert [column.name for column in model.columns_] == COLUMNS[:4]
    assert "given the cuts" in answer.err


def test_the_report_names_the_rows_that_had_no_say_in_the_cuts(run, folder):
    answer = run("fit", folder / "people.csv", "-t", TARGET, "--model", "tan", "-o", folder / "m.bayes")
    assert "Leaving one out, 300 times: rows held out of the choice of cuts" in " ".join(answer.err.split())


@pytest.mark.parametrize("model", [SPODE, TAN, AODE, A2DE, KDB, SKDB])
def test_halves_of_a_file_are_merged_if_the_second_is_read_like_the_first(run, folder, model):
    table, name = people(), model.__name__.lower()
    first, second = (write_csv(table.slice(start, 150), folder / f"half{start}.csv") for start in (0, 150))
    arguments = "--target", TARGET, "--no-calibrate", "-o"
    one, other, both = (folder / f"{part}.bayes" for part in ("one", "other", "both"))
    assert run("fit", first, *arguments, one, "--model", name).code == 0
    answer = run("fit", second, *arguments, other, "--like", one)
    assert answer.code == 0, answer.err
    answer = run("merge", one, other, "-o", both)
    assert answer.code == 0, answer.err
    assert isinstance(load(both), model)
    assert load(both).class_count_.sum() == 300
    answer = run("fit", second, *arguments, other, "--like", one, "--model", name)
    assert (answer.code, "leave out --model" in answer.err) == (2, True)


def test_models_of_other_parents_say_on_the_command_line_how_to_make_them_agree(run, folder):
    table = people().select(["job", "member", TARGET])
    one, other = folder / "one.bayes", folder / "other.bayes"
    for k, path in enumerate((one, other)):
        save(KDB(k).fit(table.select(["job", "member"]), table.column(TARGET)), path)
    answer = run("merge", one, other, "-o", folder / "both.bayes")
    assert answer.code == 1
    assert f"fit the second model again with --like {one}" in answer.err
