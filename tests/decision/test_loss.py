"""How costs are stated, read, labelled, matched to classes and shown."""

import copy
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal

from bayeswater import DataError, DominatedActionWarning, Loss, ParameterError, SchemaError

SPAM = {("spam", "ham"): 10, ("ham", "spam"): 1, ("ask", "spam"): 0.5, ("ask", "ham"): 0.5}


def spam():
    return Loss.from_costs(SPAM)


def test_the_first_key_is_the_action_and_the_second_the_truth():
    loss = spam()
    assert loss["spam", "ham"] == 10
    assert loss["ham", "spam"] == 1
    assert loss["ham", "ham"] == loss["spam", "spam"] == 0
    assert loss.conditional_risk([[0.0, 1.0]]).tolist() == [[10, 0, 0.5]]  # columns: spam, ham as first mentioned
    assert loss.classes == ["spam", "ham"]
    assert loss.actions.tolist() == ["spam", "ham", "ask"]


def test_every_way_to_state_the_same_costs_gives_the_same_loss():
    costs = [[0, 10], [1, 0], [0.5, 0.5]]
    actions, classes = ["spam", "ham", "ask"], ["spam", "ham"]
    frame = pd.DataFrame(costs, index=actions, columns=classes)
    first_column = {"action": actions, "spam": [0.0, 1.0, 0.5], "ham": [10.0, 0.0, 0.5]}
    for same in (
        Loss(costs, actions=actions, classes=classes),
        Loss(np.array(costs), actions=np.array(actions), classes=np.array(classes)),
        Loss({"spam": {"spam": 0, "ham": 10}, "ham": {"spam": 1}, "ask": {"spam": 0.5, "ham": 0.5}}),
        Loss(frame),
        Loss(pd.DataFrame(first_column)),
        Loss(pl.DataFrame(first_column)),
        Loss(pa.table(first_column)),
        Loss({"spam": {"ham": 10}, "ham": {"spam": 1}}).with_reject(0.5, label="ask"),
        pickle.loads(pickle.dumps(spam())),
        copy.deepcopy(spam()),
    ):
        assert same == spam()
        assert hash(same) == hash(spam())
    assert Loss(costs) != spam()


CSV = "action \\ truth, ham, spam\nham,0,1\nspam,10,\n"
CSV_TURNED = "truth\\action,ham,spam\nham,,10\nspam,1,0\n"
TOML = 'rows = "action"\ncolumns = "truth"\n[costs.ham]\nspam = 1\n[costs.spam]\nham = 10\n'
TOML_TURNED = 'rows = "truth"\ncolumns = "action"\n[costs.ham]\nspam = 10\n[costs.spam]\nham = 1\n'


@pytest.mark.parametrize(
    ("name", "text"), [("a.csv", CSV), ("b.csv", CSV_TURNED), ("c.toml", TOML), ("d.toml", TOML_TURNED)]
)
def test_a_file_says_whether_its_rows_are_actions_or_truths(tmp_path, name, text):
    path = tmp_path / name
    path.write_text(text)
    loss = Loss.read(path)
    assert loss["spam", "ham"] == 10
    assert loss["ham", "spam"] == 1


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        (
            "a.csv",
            "x,ham,spam\nham,0,1\nspam,10,0\n",
            r"first cell of the header is 'x'; begin the file with the line action \\ truth,ham,spam",
        ),
        ("a.csv", "", "no costs; write a header"),
        ("a.csv", "action \\ truth,ham,spam\nham,0,1\nspam,10\n", r"line 3 \(spam\) has 1 costs, and the header 2"),
        ("a.csv", "action \\ truth,ham,spam\nham,0,1\nspam,1O,0\n", "line 3, column 'ham' is '1O'; give a number"),
        ("a.csv", "action \\ truth,ham,spam\nham,0,\nspam,10,0\n", r"no cost is stated for \('ham', 'spam'\)"),
        ("a.csv", "action \\ truth,ham,spam\nham,0,nan\nspam,10,0\n", "costs must be finite"),
        ("a.toml", TOML.replace("rows", "lines"), 'say what is what: rows = "action"'),
        ("a.toml", 'rows = "action"\ncolumns = "truth"\n', r"write them as \[costs.spam\]"),
        ("a.toml", "rows = ", "Invalid"),
    ],
)
def test_a_file_that_cannot_be_read_for_costs_is_refused_by_name_and_line(tmp_path, name, text, message):
    (tmp_path / name).write_text(text)
    with pytest.raises(DataError, match=message) as error:
        Loss.read(tmp_path / name)
    assert name in str(error.value)


def test_a_file_that_is_not_there_or_no_text_is_refused(tmp_path):
    with pytest.raises(DataError, match="No such file"):
        Loss.read(tmp_path / "none.csv")
    (tmp_path / "binary.csv").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(DataError, match="not text in UTF-8"):
        Loss.read(tmp_path / "binary.csv")


def test_text_instead_of_a_number_in_a_toml_file_names_a_column(tmp_path):
    (tmp_path / "fraud.toml").write_text(
        'rows = "action"\ncolumns = "truth"\n'
        '[costs.pay]\nfraud = "amount"\nhonest = 0\n'
        "[costs.stop]\nfraud = 0\nhonest = 5\n"
    )
    loss = Loss.read(tmp_path / "fraud.toml")
    X = pd.DataFrame({"amount": [1.0, 1000.0]})
    for rows in (X, pl.from_pandas(X), pa.Table.from_pandas(X)):
        assert loss.best_action([[0.1, 0.9]] * 2, X=rows).tolist() == ["pay", "stop"]
    assert "[amount]" in str(loss)
    assert loss["pay", "fraud"] == "amount"
    assert np.isnan(loss.costs[loss.actions.tolist().index("pay"), loss.classes.index("fraud")])


def test_columns_and_class_actions_come_in_the_order_of_the_classifier():
    loss = spam().for_classes(np.array(["ham", "spam"]))
    assert loss.classes == ["ham", "spam"]
    assert loss.actions.tolist() == ["ham", "spam", "ask"]
    assert {(a, t): loss[a, t] for a in loss.actions for t in loss.classes} == {
        (a, t): spam()[a, t] for a in loss.actions for t in loss.classes
    }


def test_labels_written_as_text_are_matched_to_the_numbers_whose_text_they_are():
    loss = Loss({"0": {"1": 5}, "1": {"0": 1}}).with_reject(0.4).for_classes(np.array([0, 1]))
    assert loss.actions.tolist() == [0, 1, "reject"]
    assert loss[0, 1] == 5


def test_a_loss_without_labels_takes_those_of_the_classifier_and_keeps_further_actions():
    square = Loss([[0, 5], [1, 0]])
    assert square.for_classes(["no", "yes"]).actions.tolist() == ["no", "yes"]
    assert square.with_reject(0.2).for_classes(["no", "yes"]).actions.tolist() == ["no", "yes", "reject"]
    assert Loss([[0, 5], [1, 0], [0.5, 0.5]]).for_classes(["no", "yes"]).actions.tolist() == ["no", "yes", 2]
    wide = Loss([[0, 5, 1], [1, 0, 1]])
    assert wide.for_classes("abc").actions.tolist() == [0, 1]
    assert Loss([[0, 5], [1, 0]], actions=["go", "stay"]).for_classes("ab")["go", "b"] == 5


def test_labels_that_do_not_match_are_named():
    with pytest.raises(
        SchemaError, match=r"no costs are stated for \['eggs'\]; there are no probabilities of \['ham'\]"
    ):
        spam().for_classes(["eggs", "spam"])
    with pytest.raises(SchemaError, match=r"no costs are stated for \['eggs'\]$"):
        spam().for_classes(["eggs", "ham", "spam"])
    with pytest.raises(SchemaError, match="the loss has 2 classes"):
        Loss([[0, 1], [1, 0]]).for_classes("abc")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Loss.from_costs({("a", "b"): 1, ("b", "a"): 1, ("c", "a"): 1}), r"no cost is stated for \('c', 'b'\)"),
        (lambda: Loss.from_costs({"ab": 1}), "'ab' is no such pair"),
        (lambda: Loss.from_costs({}), "is no such pair"),
        (lambda: Loss({"a": 3}), r"the costs of action 'a' are 3; give \{truth: cost"),
        (lambda: Loss([[0, np.nan], [1, 0]]), "the cost of deciding 0 when 1 is true is nan; costs must be finite"),
        (lambda: Loss([[0, np.inf], [1, 0]]), "costs must be finite"),
        (lambda: Loss([[0, 1e301], [1, 0]]), "no larger than 1e\\+300"),
        (lambda: Loss([0, 1]), r"shape \(2,\)"),
        (lambda: Loss([["x", 1], [1, 0]]), "not numbers"),
        (lambda: Loss(np.zeros((0, 2))), "an action and a class at least"),
        (lambda: Loss([[0, 1], [1, 0]], classes=["a", "a"]), "name 'a' more than once"),
        (lambda: Loss([[0, 1], [1, 0]], classes=["a"]), "2 actions .* and 1 classes"),
        (lambda: Loss({"a": {"b": 1}}, classes=["a"]), "labels of their own"),
        (lambda: Loss.from_costs({("a", "b"): None, ("b", "a"): 1}), "is None; give a number"),
        (lambda: spam().with_reject("dear"), "the cost of refusing is 'dear'"),
        (lambda: spam().with_reject([1, 2, 3]), "give a number, or one for each class"),
        (lambda: spam().with_reject(0.1, label="ask"), "there is an action 'ask' already"),
        (lambda: spam().with_reject(np.nan), "costs must be finite"),
        (lambda: spam().binary_threshold(), "2 actions and 2 classes"),
        (lambda: spam()["eggs", "ham"], "unknown action 'eggs'; the loss knows"),
        (lambda: spam()["ham", "eggs"], "unknown class 'eggs'"),
        (lambda: spam()["ham"], r"ask for loss\[action, truth\]"),
        (lambda: spam().realised(["ham"], ["eggs"]), "unknown class 'eggs'"),
        (lambda: spam().realised(np.array(["ham", "eggs"]), ["ham", "ham"]), "unknown action 'eggs'; the loss knows"),
        (lambda: spam().realised(np.array([0, 1]), ["ham", "ham"]), "unknown action 0, 1; the loss knows"),
        (lambda: spam().realised(np.array(["spam", "eggs"]), ["ham", "ham"]), "unknown action 'eggs'; the loss knows"),
        (lambda: spam().realised(np.array(["ham", np.nan], dtype=object), ["ham", "ham"]), "unknown action nan"),
        (lambda: spam().realised([["ham"]], ["ham"]), "one action for each row, in one dimension"),
        (lambda: spam().realised(["ham"], np.array([["ham"]])), r"one class for each row, .* shape \(1, 1\)"),
        (lambda: spam().realised(["ham"], ["ham", "ham"]), "1 actions and 2 true classes"),
    ],
)
def test_costs_that_make_no_sense_are_refused_with_the_reason(make, message):
    with pytest.raises((ParameterError, SchemaError, DataError), match=message):
        make()


@pytest.mark.parametrize(
    "form",
    [list, tuple, np.array, lambda v: np.array(v, dtype=object), pd.Series, pd.Categorical, pl.Series, pa.array],
    ids=["list", "tuple", "strings", "objects", "pandas", "categorical", "polars", "arrow"],
)
def test_the_cost_of_decisions_is_looked_up_whatever_the_form_of_the_labels(form):
    actions, truth = ["spam", "ask", "ham", "spam"], ["ham", "ham", "spam", "spam"]
    assert spam().realised(form(actions), form(truth)).tolist() == [10, 0.5, 1, 0]


def test_the_cost_of_decisions_for_labels_that_are_numbers():
    loss = Loss([[0, 2], [3, 0], [1, 1]], actions=[30, 10, "wait"], classes=[30, 10])
    assert loss.realised([10, "wait", 30, 30], np.array([30, 10, 10, 30])).tolist() == [3, 1, 2, 0]
    assert Loss.zero_one([30, 10]).realised(np.array([10.0, 30.0]), np.array([10, 10])).tolist() == [0, 1]
    assert Loss.zero_one([False, True]).realised(np.array([True, False]), [True, True]).tolist() == [0, 1]


def test_every_dominated_action_is_named_in_one_warning():
    with pytest.warns(DominatedActionWarning, match="'reject' is never taken: 0 costs no more") as record:
        Loss.zero_one([0, 1]).with_reject(1)
    assert len(record) == 1
    assert record[0].filename == __file__
    with pytest.warns(DominatedActionWarning, match="action 1 is never taken: 0"):
        Loss([[1, 2], [1, 2]])


def test_there_is_no_threshold_where_one_action_is_never_worse():
    with pytest.warns(DominatedActionWarning):
        loss = Loss([[0, 0], [1, 0]])
    with pytest.raises(ParameterError, match="no threshold: one action is never worse"):
        loss.binary_threshold()
    assert not loss.is_reasonable()


def test_reasonable_is_a_loss_under_which_every_error_costs_more_than_being_right():
    assert spam().is_reasonable()
    assert Loss.zero_one("abc").with_reject(0.3).is_reasonable()
    assert not Loss([[0, 2, 1], [1, 1, 1], [3, 1, 0]]).is_reasonable()  # being right about 1 costs what 2 costs
    assert Loss({"treat": {"ill": 0, "well": 1}, "wait": {"ill": 10, "well": 0}}).is_reasonable()


def test_the_threshold_is_that_of_the_second_class_whatever_the_order_of_the_actions():
    costs = {("b", "a"): 3, ("a", "b"): 1}
    assert Loss.from_costs(costs).for_classes("ab").binary_threshold() == 0.75
    assert Loss([[3, 0], [0, 1]], actions=["b", "a"], classes=["a", "b"]).binary_threshold() == 0.75


def test_the_table_shows_actions_below_one_another():
    assert str(spam()).splitlines() == [
        "decide \\ true  spam  ham",
        "spam              0   10",
        "ham               1    0",
        "ask             0.5  0.5",
    ]
    html = Loss.from_costs({("<b>", "y"): 1, ("y", "<b>"): 2})._repr_html_()
    assert "&lt;b&gt;" in html
    assert "<b>" not in html
    by_row = Loss.from_costs({("a", "b"): np.array([1.0]), ("b", "a"): len})
    assert "[by row]" in str(by_row)
    assert "len(X)" in str(by_row)
    assert eval(repr(spam()), {"Loss": Loss}) == spam()


def test_actions_keep_the_type_of_the_labels():
    assert Loss.zero_one(np.array([3, 5])).actions.dtype.kind == "i"
    assert Loss.zero_one([True, False]).actions.dtype == bool
    assert Loss.zero_one([3, 5]).with_reject(0.1).actions.tolist() == [3, 5, "reject"]
    assert_array_equal(Loss.zero_one(np.array([3, 5])).best_action([[0.2, 0.8]]), [5])


def test_costs_of_rows_are_evaluated_for_as_many_rows_as_there_are():
    loss = Loss.from_costs({(0, 0): 0, (0, 1): lambda X: X[:, 0], (1, 0): 2, (1, 1): 0})
    X = np.array([[3.0], [5.0], [7.0]])
    found = loss.for_rows(X).conditional_risk(np.full((3, 2), 0.5))
    np.testing.assert_array_equal(found, [[1.5, 1.0], [2.5, 1.0], [3.5, 1.0]])
    assert np.isnan(loss.costs[0, 1]) and loss[1, 0] == 2.0


@pytest.mark.parametrize("asked", ["ab", ("a",), ("a", "b", "a"), "a"])
def test_a_cost_is_asked_for_by_action_and_truth(asked):
    loss = Loss([[0, 5], [1, 0]], actions=["a", "b"], classes=["a", "b"])
    assert loss["a", "b"] == 5.0
    with pytest.raises(SchemaError, match=r"ask for loss\[action, truth\]"):
        loss[asked]


def test_actions_in_the_order_of_other_classes_are_told():
    costs = {"grant": {"late": 10, "repaid": 0}, "refuse": {"late": 0, "repaid": 2}}
    with pytest.raises(ParameterError, match=r"'grant' is the action for 'repaid', .* 'refuse' first"):
        Loss(costs).binary_threshold()
    assert Loss(dict(reversed(costs.items()))).binary_threshold() == pytest.approx(10 / 12)
