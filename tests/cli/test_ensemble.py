"""An ensemble on the command line: fitted, told, explained, made to forget, and compared."""

import json

import numpy as np
import pyarrow.csv
import pytest
from tests.cli.people import COLUMNS, TARGET, people, write_csv

from bayeswater import BayesEnsemble, load


@pytest.fixture
def fitted(run, folder):
    answer = run("fit", folder / "people.csv", "-t", TARGET, "-o", folder / "e.bayes", "--model", "ensemble")
    assert answer.code == 0
    return folder, answer


def test_the_ensemble_in_the_file_is_the_one_python_fits(fitted):
    folder, answer = fitted
    options = pyarrow.csv.ConvertOptions(strings_can_be_null=True)
    table = pyarrow.csv.read_csv(folder / "people.csv", convert_options=options)
    model = BayesEnsemble(random_state=0).fit(table.select(COLUMNS), table.column(TARGET))
    X = people(40, seed=1).select(COLUMNS)
    np.testing.assert_array_equal(load(folder / "e.bayes").predict_proba(X), model.predict_proba(X))
    for word in ("honest, on", "trees-sqrt", "log-loss", "saved as"):
        assert word in answer.err


def test_it_is_evaluated_explained_inspected_and_made_to_forget(run, fitted):
    folder, _ = fitted
    some = write_csv(people().slice(0, 30), folder / "some.csv")
    assert "accuracy" in run("evaluate", folder / "e.bayes", some, "-t", TARGET).out
    reasons = run("explain", folder / "e.bayes", some, "--rows", 2, "--json")
    documents = [json.loads(line) for line in reasons.out.splitlines()]
    for one in documents:
        worth = one["intercept"] + sum(part["contribution"] for part in one["contributions"])
        assert worth == pytest.approx(one["log_odds"])
    assert "families" in run("inspect", folder / "e.bayes").out
    answer = run("forget", folder / "e.bayes", some, "-t", TARGET)
    assert "now stands for 270 rows" in answer.err
    assert "fit again to renew them" in answer.err
    assert load(folder / "e.bayes").class_count_.sum() == 270


def test_preset_and_time_limit_are_told_and_the_report_is_json_too(run, folder):
    options = ("--preset", "generative", "--time-limit", "100", "--json")
    answer = run("fit", folder / "people.csv", "-t", TARGET, "-o", folder / "g.bayes", "--model", "ensemble", *options)
    report = json.loads(answer.out)
    assert report["ensemble"]["preset"] == "generative"
    assert report["ensemble"]["forecast"] > 0
    learned = {family["name"] for family in report["ensemble"]["families"]}
    assert learned | {*report["ensemble"]["left_out"]} == {"kdb", "aode", "gaussian"}
    assert report["honest"]["error"]["low"] <= report["honest"]["error"]["value"] <= report["honest"]["error"]["high"]


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--preset", "best"], "--preset is of an ensemble"),
        (["--time-limit", "3"], "--time-limit is of an ensemble"),
        (["--model", "ensemble", "--alpha", "1"], "leave out --alpha"),
        (["--model", "ensemble", "--time-limit", "-1"], "time_limit is -1"),
        (["--model", "ensemble", "--column", "age=gaussian"], "'age'"),
    ],
)
def test_options_of_other_models_are_refused(run, folder, options, told):
    answer = run("fit", folder / "people.csv", "-t", TARGET, "-o", folder / "m.bayes", *options)
    assert answer.code != 0
    assert told in answer.err
    assert not (folder / "m.bayes").exists()


def test_ensembles_are_not_merged_and_the_way_out_is_told(run, fitted):
    folder, _ = fitted
    (folder / "f.bayes").write_bytes((folder / "e.bayes").read_bytes())
    answer = run("merge", folder / "e.bayes", folder / "f.bayes", "-o", folder / "sum.bayes")
    assert answer.code != 0
    assert "partial_fit" in answer.err


def test_it_is_a_row_of_the_comparison(run, folder):
    models = ("--model", "naive-bayes", "--model", "ensemble")
    answer = run("compare", folder / "people.csv", "-t", TARGET, "--folds", 2, *models)
    assert "BayesEnsemble" in answer.out + answer.err
