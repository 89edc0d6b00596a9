"""``bayeswater evaluate``: the scores of the model on labelled rows, and what its decisions cost."""

import json
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from sklearn.metrics import confusion_matrix, f1_score, log_loss, roc_auc_score
from tests.cli.people import COLUMNS, TARGET, people, write_csv

from bayeswater.decision.calibration_metrics import brier_decomposition, ece
from bayeswater.decision.loss import Loss
from bayeswater.models.persistence import load


@pytest.fixture
def test_set(folder: Any) -> Any:
    return write_csv(people(200, seed=5), folder / "test.csv")


def test_scores_equal_those_of_scikit_learn_and_of_the_library(run, folder, test_set, many_batches):
    answer = run("evaluate", folder / "people.bayes", test_set, "--target", TARGET, "--json")
    assert (answer.code, answer.err) == (0, "")
    found = json.loads(answer.out)
    table, model = people(200, seed=5), load(folder / "people.bayes")
    X, y = table.select(COLUMNS), table.column(TARGET).to_pylist()
    proba = model.predict_proba(X)
    assert found["classes"] == ["high", "low"]
    assert found["confusion"] == confusion_matrix(y, model.predict(X)).tolist()
    assert found["accuracy"] == np.mean(model.predict(X) == np.array(y))
    # Sums of 200 terms in another order.
    assert found["log_loss"] == pytest.approx(log_loss(y, proba), rel=1e-12)
    assert found["brier"] == pytest.approx(brier_decomposition(y, proba, labels=["high", "low"]).score, rel=1e-12)
    assert found["ece"] == pytest.approx(ece(y, proba, labels=["high", "low"]), rel=1e-12)
    assert found["auc"] == pytest.approx(roc_auc_score(np.array(y) == "low", proba[:, 1]), rel=1e-12)
    assert found["f1"] == pytest.approx(f1_score(y, model.predict(X), average="macro"), rel=1e-12)
    assert found["baseline"]["accuracy"] == max(np.mean(np.array(y) == label) for label in ("high", "low"))
    assert found["cost"] is None


def test_the_tables_are_on_standard_output(run, folder, test_set):
    answer = run("evaluate", folder / "people.bayes", test_set, "--target", TARGET)
    assert (answer.code, answer.err) == (0, "")
    for word in (
        "200 rows",
        "accuracy",
        "log-loss",
        "Brier",
        "ECE",
        "baseline",
        "AUC",
        "F1",
        "Confusion",
        "true \\ predicted",
        "high",
        "low",
    ):
        assert word in answer.out
    assert "cost" not in answer.out


def test_the_cost_of_the_best_decisions_and_of_the_likeliest_class(run, folder, test_set):
    path = folder / "costs.csv"
    path.write_text("action \\ truth,low,high\nlow,0,10\nhigh,1,0\n")
    answer = run("evaluate", folder / "people.bayes", test_set, "--target", TARGET, "--loss", path, "--json")
    found = json.loads(answer.out)
    table, model, loss = people(200, seed=5), load(folder / "people.bayes"), Loss.read(path)
    X, y = table.select(COLUMNS), table.column(TARGET).to_pylist()
    assert found["cost"] == pytest.approx(loss.realised(model.decide(X, loss=loss), y).mean(), rel=1e-12)
    assert found["cost_of_likeliest_class"] == pytest.approx(loss.realised(model.predict(X), y).mean(), rel=1e-12)
    assert found["cost"] < found["cost_of_likeliest_class"]
    shown = run("evaluate", folder / "people.bayes", test_set, "--target", TARGET, "--loss", path).out
    assert "per row, of the best decisions" in shown


def test_decisions_and_refusals_are_counted_by_their_true_class(run, folder, test_set):
    path = folder / "costs.csv"
    path.write_text("action \\ truth,low,high\nlow,0,10\nhigh,1,0\nask,0.4,0.4\n")
    found = json.loads(
        run("evaluate", folder / "people.bayes", test_set, "--target", TARGET, "--loss", path, "--json").out
    )
    table, model, loss = people(200, seed=5), load(folder / "people.bayes"), Loss.read(path)
    X, y = table.select(COLUMNS), np.array(table.column(TARGET).to_pylist())
    actions = model.decide(X, loss=loss)
    assert found["actions"] == ["high", "low", "ask"]
    expected = [
        [int(((y == truth) & (actions == action)).sum()) for action in found["actions"]] for truth in ("high", "low")
    ]
    assert found["decisions"] == expected
    assert found["expected_cost"] == pytest.approx(model.expected_loss(X, loss=loss).mean(), rel=1e-12)
    shown = run("evaluate", folder / "people.bayes", test_set, "--target", TARGET, "--loss", path).out
    assert "Decisions of least expected cost" in shown
    n_refused = int((actions == "ask").sum())
    assert f"share of rows, {n_refused} in all" in shown


def test_an_action_that_is_never_taken_is_mentioned_in_words(run, folder, test_set):
    path = folder / "costs.csv"
    path.write_text("action \\ truth,low,high\nlow,0,10\nhigh,1,0\nask,2,11\n")
    answer = run("evaluate", folder / "people.bayes", test_set, "--target", TARGET, "--loss", path)
    assert answer.code == 0
    assert answer.err == "warning: action 'ask' is never taken: 'low' costs no more whatever is true\n"


def test_costs_that_are_a_column_of_the_data(run, folder):
    table = people(50, seed=5)
    amount = np.arange(50.0)
    data = write_csv(table.append_column("amount", pa.array(amount)), folder / "test.csv")
    path = folder / "costs.toml"
    costs = '[costs.low]\nhigh = "amount"\n[costs.high]\nlow = 1\n[costs.ask]\nlow = 0.5\nhigh = 0.5\n'
    path.write_text(f'rows = "action"\ncolumns = "truth"\n{costs}')
    answer = run("evaluate", folder / "people.bayes", data, "--target", TARGET, "--loss", path, "--json")
    found = json.loads(answer.out)
    model, loss = load(folder / "people.bayes"), Loss.read(path)
    full = table.append_column("amount", pa.array(amount))
    actions = loss.for_classes(["high", "low"]).best_action(model.predict_proba(table.select(COLUMNS)), X=full)
    expected = loss.realised(actions, table.column(TARGET).to_pylist(), X=full).mean()
    assert found["cost"] == pytest.approx(expected, rel=1e-12)
    answer = run("evaluate", folder / "people.bayes", folder / "people.csv", "--target", TARGET, "--loss", path)
    assert answer.code == 1
    assert "there is no column of costs 'amount'" in answer.err


def test_classes_that_the_model_does_not_know_are_left_out_and_mentioned(run, folder):
    table = people(50, seed=5)
    labels = ["middling", *table.column(TARGET).to_pylist()[1:]]
    path = write_csv(table.set_column(5, TARGET, pa.array(labels)), folder / "test.csv")
    answer = run("evaluate", folder / "people.bayes", path, "--target", TARGET, "--json")
    assert "1 rows of classes that the model does not know were left out" in answer.err
    found = json.loads(answer.out)
    assert (found["n_rows"], found["n_rows_of_unknown_class"]) == (49, 1)
    path = write_csv(table.set_column(5, TARGET, pa.array(["other"] * 50)), folder / "test.csv")
    answer = run("evaluate", folder / "people.bayes", path, "--target", TARGET)
    assert (answer.code, answer.out) == (1, "")
    assert "no row is of a class that the model knows, ['high', 'low']" in answer.err


@pytest.mark.parametrize(
    ("costs", "message"),
    [
        ("action \\ truth,low,middle\nlow,0,1\nmiddle,1,0\n", "the classes of the loss do not match"),
        ("low,high\n0,1\n", "action"),
    ],
)
def test_a_loss_that_does_not_fit_is_refused(run, folder, test_set, costs, message):
    path = folder / "costs.csv"
    path.write_text(costs)
    answer = run("evaluate", folder / "people.bayes", test_set, "--target", TARGET, "--loss", path)
    assert (answer.code, answer.out) == (1, "")
    assert message in answer.err


def test_a_missing_target_answers_with_the_nearest_names(run, folder, test_set):
    answer = run("evaluate", folder / "people.bayes", test_set, "--target", "incme")
    assert answer.code == 1
    assert "there is no target column 'incme'; did you mean 'income'?" in answer.err
