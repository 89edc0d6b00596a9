"""What is said to turn a decision does so when it is tried, and where nothing is said nothing does."""

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from tests.explain.tables import COLUMNS, fruit, fruit_model, loan_model, with_cell

from bayeswater import GaussianClassifier, NaiveBayes, NormalInverseGamma
from bayeswater.decision.likelihood_temperature import LikelihoodTemperature
from bayeswater.explain.turning import Decision

STATES = {"colour": ["blue", "green", "red"], "sweet": [False, True]}
MIDDLE_OF_BIN = {"under 2": 1.0, "2 to 5": 3.0, "5 to 9": 7.0, "from 9 on": 12.0}


def all_turns(monkeypatch):
    monkeypatch.setattr("bayeswater.explain.turning.MOST_TURNS", 100)


def beyond(change, value):
    """The number that is told, and one just before the limit."""
    step = 2e-3 * max(abs(value), 1e-3) * (1 if change.startswith("over") else -1)  # it is told with four digits
    return value, value - step


def test_every_change_turns_the_decision_when_it_is_tried(monkeypatch):
    all_turns(monkeypatch)
    model = fruit_model()
    X, _ = fruit(60, random_state=11)
    tried = set()
    for i, one in enumerate(model.explain(X)):
        row = X.slice(i, 1)
        for turn in one.turns:
            if turn.column in STATES:
                changed = with_cell(row, turn.column, turn.value)
            elif turn.column == "age":
                changed = with_cell(row, "age", MIDDLE_OF_BIN[turn.value])
            elif turn.column in ("size", "price"):
                after, before = beyond(turn.change, turn.value)
                if row[turn.column][0].as_py() is not None:
                    assert model.predict(with_cell(row, turn.column, before))[0] == one.prediction
                changed = with_cell(row, turn.column, after)
            elif turn.column == "seeds":
                inside = turn.value - 1 if "at least" in turn.change else turn.value + 1
                if row["seeds"][0].as_py() is not None:  # one count less does not turn it
                    assert model.predict(with_cell(row, "seeds", inside))[0] == one.prediction
                changed = with_cell(row, "seeds", turn.value)
            else:
                continue  # parts of a date cannot be changed one by one, and words have a test of their own
            assert model.predict(changed)[0] == turn.prediction
            tried.add(turn.column)
    assert tried == {"colour", "sweet", "age", "size", "price", "seeds"}


def test_no_column_of_states_that_could_turn_it_is_left_out(monkeypatch):
    all_turns(monkeypatch)
    model = fruit_model()
    X, _ = fruit(40, random_state=12)
    joints = {
        (column, label): model.predict_joint_log_proba(with_cell(X, column, cell))
        for column, cells in [*STATES.items(), ("age", MIDDLE_OF_BIN)]
        for label, cell in (cells.items() if isinstance(cells, dict) else zip(cells, cells, strict=True))
    }
    for i, one in enumerate(model.explain(X)):
        k = np.searchsorted(model.classes_, one.prediction)
        turning = {column for (column, _), joint in joints.items() if joint[i].argmax() != k}
        assert {turn.column for turn in one.turns} & {"colour", "sweet", "age"} == turning


def test_the_nearest_bin_is_named():
    X = pd.DataFrame({"x": np.repeat([0.5, 1.5, 2.5, 3.5], 10)})
    y = [0] * 20 + [1] * 20
    model = NaiveBayes(columns={"x": {"cuts": [1, 2, 3]}}, alpha=1.0).fit(X, y)
    assert model.explain(pd.DataFrame({"x": [0.5]}))[0].turns == [("x", "2 to 3", "2 to 3", 1)]
    assert model.explain(pd.DataFrame({"x": [3.5]}))[0].turns == [("x", "1 to 2", "1 to 2", 0)]


def test_of_several_categories_the_most_plausible_is_named():
    X = pa.table({"x": ["a"] * 10 + ["b"] * 2 + ["c"] * 8})
    model = NaiveBayes(alpha=1.0).fit(X, [0] * 10 + [1] * 10)
    assert model.explain(pa.table({"x": ["a"]}))[0].turns == [("x", "= c", "c", 1)]


def test_the_change_that_is_least_in_units_of_its_spread_is_told_first():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 200)
    X = pa.table(
        {
            "rare": np.where(rng.random(400) < np.where(y == 0, 0.001, 0.1), "rare", "common"),
            "even": np.where(rng.random(400) < np.where(y == 0, 0.2, 0.8), "high", "low"),
        }
    )
    model = NaiveBayes(alpha=1.0).fit(X, y)
    one = model.explain(pa.table({"rare": ["common"], "even": ["low"]}))[0]
    assert [turn.column for turn in one.turns] == ["even", "rare"]


def test_at_most_three_changes_are_told():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 200)
    X = pa.table({f"c{j}": np.where(rng.random(400) < 0.2 + 0.6 * y, "p", "q") for j in range(5)})
    one = NaiveBayes(alpha=1.0).fit(X, y).explain(pa.table({f"c{j}": ["pq"[j % 2]] for j in range(5)}))[0]
    assert len(one.turns) == 3


def test_where_no_single_column_turns_it_two_are_named_that_do_or_it_is_said_that_none_was_found():
    y = np.repeat([0, 1], 50)
    told = {}
    for n_columns in (3, 5):
        X = pa.table({f"c{j}": np.where(y == 1, "p", "q") for j in range(n_columns)})
        one = NaiveBayes(alpha=1.0).fit(X, y).explain(X.slice(0, 1))[0]
        assert one.turns == []
        told[n_columns] = one.turns_together, str(one).splitlines()[-1].strip()
    assert told[3] == (
        [("c0", "= p", "p", 1), ("c1", "= p", "p", 1)],
        "no single column turns it; two would: c0 = p and c1 = p",
    )
    assert told[5] == ([], "no single column turns it, and no two were found that do")


def test_of_a_missing_number_the_value_is_told_that_would_turn_it():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], [150, 50])
    X = pd.DataFrame({"x": rng.normal(2.0 * y)})
    model = NaiveBayes(family="gaussian").fit(X, y)
    one = model.explain(pd.DataFrame({"x": [np.nan]}))[0]
    ((column, change, value, prediction),) = one.turns
    assert (column, prediction) == ("x", 1)
    after, before = beyond(change, value)
    assert model.predict(pd.DataFrame({"x": [after, before]})).tolist() == [1, 0]


def test_a_column_with_a_prior_turns_at_a_crossing_of_its_student_densities():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], [15, 6])
    X = pd.DataFrame({"x": rng.normal(3.0 * y)})
    prior = NormalInverseGamma(mean=1.0, strength=0.5, shape=2.0, scale=2.0)
    model = NaiveBayes(columns={"x": {"family": "gaussian", "prior": prior}}).fit(X, y)
    for x in (-1.0, 4.0):
        one = model.explain(pd.DataFrame({"x": [x]}))[0]
        ((_, change, value, prediction),) = one.turns
        after, before = beyond(change, value)
        assert model.predict(pd.DataFrame({"x": [after, before]})).tolist() == [prediction, one.prediction]


def test_counts_that_one_class_never_has_turn_it_at_the_first():
    X = pd.DataFrame({"n": [0, 0, 0, 0, 3, 2, 0, 4]})
    model = NaiveBayes(columns={"n": {"family": "poisson", "alpha": 0.0}}).fit(X, [0] * 4 + [1] * 4)
    assert model.explain(pd.DataFrame({"n": [0]}))[0].turns == [("n", "at least 1", 1, 1)]
    assert model.explain(pd.DataFrame({"n": [2]}))[0].turns == [("n", "at most 0", 0, 0)]


def test_equal_rates_turn_nothing():
    X = pd.DataFrame({"n": [1, 2, 1, 2], "c": ["a", "a", "a", "b"]})
    model = NaiveBayes(columns={"n": "poisson"}, alpha=1.0).fit(X, [0, 0, 1, 1])
    one = model.explain(pd.DataFrame({"n": [1], "c": ["a"]}))[0]
    assert [turn.column for turn in one.turns] == ["c"]


def test_a_temperature_moves_no_point_where_it_turns():
    X, y = loan_model()[1], loan_model()[0].predict(loan_model()[1])
    model = NaiveBayes(columns={"application_id": "ignored"}).fit(X, y)
    before = [one.turns for one in model.explain(X)]
    plain = model.leave_one_out([(X, y)])
    model.calibrate_with(plain)
    whole = LikelihoodTemperature(3.0, (1 / 3 - 1) * model.class_log_prior_, 0.0, 1.0)  # tied: of the whole posterior
    model.calibration_ = replace(model.calibration_, map=whole)
    assert [one.turns for one in model.explain(X)] == before


def test_a_calibration_that_shifts_the_classes_moves_the_point_where_it_turns(monkeypatch):
    all_turns(monkeypatch)
    model, X = loan_model()
    tried = 0
    for i, one in enumerate(model.explain(X)):
        for turn in one.turns:
            if turn.column in ("age", "income"):
                after, before = beyond(turn.change, turn.value)
                row = X.slice(i, 1)
                assert model.predict(with_cell(row, turn.column, after))[0] == turn.prediction
                assert model.predict(with_cell(row, turn.column, before))[0] == one.prediction
                tried += 1
            if turn.column in ("occupation", "owns_home"):
                assert model.predict(with_cell(X.slice(i, 1), turn.column, turn.value))[0] == turn.prediction
                tried += 1
    assert tried > 30


def test_scores_that_say_nothing_turn_nothing():
    flat = Decision(slope=0.0, shift=np.array([0.1, -0.1]))
    assert not (flat.lead(np.array([[-5.0, 0.0], [0.0, -5.0]]), 0) < 0).any()
    assert flat.winner(np.array([-5.0, 0.0])) == 0


def test_with_three_classes_the_class_that_would_win_is_named():
    """A change that puts the runner-up ahead may bring a third class to the top."""
    X = pa.table({"x": ["a"] * 12 + ["b"] * 2 + ["a"] * 4 + ["b"] * 3 + ["c"] * 3 + ["b"] * 10})
    model = NaiveBayes(alpha=0.5).fit(X, [0] * 14 + [1] * 10 + [2] * 10)
    one = model.explain(pa.table({"x": ["a"]}), against=1)[0]
    assert (one.prediction, one.against) == (0, 1)
    assert [(turn.value, turn.prediction) for turn in one.turns] in ([("c", 1)], [("b", 2)])
    for turn in one.turns:
        assert model.predict(pa.table({"x": [turn.value]}))[0] == turn.prediction


@pytest.mark.parametrize("reading", ["multinomial", "complement", "marks"])
def test_a_word_whose_absence_turns_it_does_so_in_every_reading(reading, monkeypatch):
    all_turns(monkeypatch)
    X, y = fruit(300)
    model = NaiveBayes(columns={**dict.fromkeys(set(X.column_names) - {"note"}, "ignored"), "note": reading}).fit(X, y)
    rows, _ = fruit(60, random_state=13)
    tried = 0
    for i, one in enumerate(model.explain(rows)):
        for turn in one.turns:
            words = [word for word in rows["note"][i].as_py().split() if word != turn.value]
            assert model.predict(with_cell(rows.slice(i, 1), "note", " ".join(words)))[0] == turn.prediction
            tried += 1
    assert tried > 5


def test_times_and_dates_are_told_in_their_unit():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 100)
    seconds = pa.array(np.rint(rng.normal(30_000 + 20_000 * y, 3_000)).astype(np.int32), pa.time32("s"))
    days = pa.array(np.rint(rng.normal(19_000 + 1_000 * y, 100)).astype(np.int32), pa.date32())
    told = {}
    for name, column in (("at", seconds), ("on", days)):
        columns = {name: "gaussian"} | (
            {f"{name} (weekday)": "ignored", f"{name} (month)": "ignored"} if name == "on" else {}
        )
        model = NaiveBayes(columns=columns).fit(pa.table({name: column}), y)
        (turn,) = model.explain(pa.table({name: column.slice(0, 1)}))[0].turns
        told[name] = turn
    assert told["at"].change.startswith("over ")
    assert re.fullmatch(r"over \d\d:\d\d(:\d\d)?", told["at"].change)
    assert 38_000 < told["at"].value < 42_000
    assert "2022-01-01" < told["on"].value < "2025-01-01"
    assert told["on"].change == f"over {told['on'].value}"


def test_columns_of_every_family_are_among_those_tried():
    assert {column.family for column in fruit_model().columns_} >= {
        *("categorical", "bernoulli", "gaussian", "lognormal", "poisson", "binned", "multinomial")
    }
    assert set(COLUMNS) < set(fruit(1)[0].column_names)


def test_columns_that_hardly_vary_and_depend_on_each_other_are_explained_without_overflow():
    rng = np.random.default_rng(4)
    b = rng.normal(size=8)
    X = np.c_[rng.normal(size=8), 1e-150 * b, 1e-150 * (b + 1e-4 * rng.normal(size=8))]
    explanation = GaussianClassifier(shrinkage=0.0).fit(X, np.arange(8) % 2).explain(X[:1])[0]
    with np.errstate(over="raise"):
        assert "turn" in str(explanation) and "nan" not in str(explanation)
