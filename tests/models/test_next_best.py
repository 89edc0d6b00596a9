"""Which missing cell to ask for: against every value it could hold, filled in and decided."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose
from scipy.stats import norm, poisson

from bayeswater import (
    BernoulliNB,
    CategoricalNB,
    ComplementNB,
    DataError,
    GaussianNB,
    Loss,
    MultinomialNB,
    NaiveBayes,
    NormalInverseGamma,
    ParameterError,
    SchemaError,
)

RNG = np.random.default_rng(0)
N = 300
CLASS = RNG.choice(["flu", "cold", "well"], N, p=[0.2, 0.3, 0.5])
SICK = (CLASS != "well").astype(float)
TABLE = pd.DataFrame(
    {
        "cough": np.where(RNG.random(N) < 0.2 + 0.6 * SICK, "yes", "no"),
        "colour": RNG.choice(["pale", "red", "blue"], N),
        "fever": np.round(36.6 + 2.5 * (CLASS == "flu") + RNG.normal(0, 0.5, N), 1),
        "days": RNG.poisson(1 + 3 * SICK),
        "smoker": RNG.random(N) < 0.3,
    }
)
FAMILIES = {
    "cough": "categorical",
    "colour": "categorical",
    "fever": "gaussian",
    "days": "poisson",
    "smoker": "bernoulli",
}
LOSS = Loss.from_costs(
    {
        ("flu", "cold"): 1,
        ("flu", "well"): 4,
        ("cold", "flu"): 6,
        ("cold", "well"): 2,
        ("well", "flu"): 9,
        ("well", "cold"): 3,
    }
    | {("test", truth): 1.2 for truth in ("flu", "cold", "well")}
)


def fitted(**parameters):
    return NaiveBayes(columns=FAMILIES, **parameters).fit(TABLE, CLASS)


def worth_of_filling_in(model, row, column, values, chance):
    """Expected loss now, minus the mean of that once the cell is filled in, by the public interface alone."""
    rows = row.iloc[np.zeros(len(values), dtype=int)].reset_index(drop=True)
    rows[column] = values
    return model.expected_loss(row, loss=LOSS)[0] - chance @ model.expected_loss(rows, loss=LOSS)


def chances(model, row, column):
    """P(value | row) of a column of states."""
    table = model.tables()[column]
    likelihood = table[[f"P({column} | {label})" for label in model.classes_]].to_numpy()
    return table[column].tolist(), likelihood @ model.predict_proba(row)[0]


ROWS = [
    {"cough": None, "colour": None, "fever": np.nan, "days": np.nan, "smoker": None},
    {"cough": "yes", "colour": None, "fever": np.nan, "days": 4.0, "smoker": None},
    {"cough": None, "colour": "red", "fever": 37.4, "days": np.nan, "smoker": False},
]


def row_of(cells):
    return pd.DataFrame({name: [value] for name, value in cells.items()})


@pytest.mark.parametrize("cells", ROWS)
def test_states_are_worth_what_filling_them_in_saves_on_average(cells):
    model, row = fitted(), row_of(cells)
    found = {question.column: question.value for question in model.next_best(row, LOSS)}
    for column in ("cough", "colour", "smoker"):
        if cells[column] is None:
            expected = worth_of_filling_in(model, row, column, *chances(model, row, column))
            assert_allclose(found[column].worth, expected, atol=1e-13)  # risks of size 1
            assert found[column].error == 0
        else:
            assert column not in found


@pytest.mark.parametrize("cells", [row for row in ROWS if np.isnan(row["days"])])
def test_counts_are_worth_what_filling_them_in_saves_on_average(cells):
    model, row = fitted(), row_of(cells)
    rate = np.array([model.tables()["days"].set_index("class").loc[label].iloc[0] for label in model.classes_])
    values = np.arange(60)
    chance = poisson.pmf(values[:, None], rate) @ model.predict_proba(row)[0]
    found = {question.column: question.value for question in model.next_best(row, LOSS)}["days"]
    assert_allclose(found.worth, worth_of_filling_in(model, row, "days", values.astype(float), chance), atol=1e-12)
    assert 0 < found.error < 1e-11


@pytest.mark.parametrize("cells", [row for row in ROWS if np.isnan(row["fever"])])
@pytest.mark.parametrize("family", ["gaussian", "lognormal"])
def test_numbers_are_worth_what_filling_them_in_saves_on_average(cells, family):
    model, row = NaiveBayes(columns=FAMILIES | {"fever": family}).fit(TABLE, CLASS), row_of(cells)
    mean, std = model.tables()["fever"].set_index("class").loc[model.classes_].to_numpy().T
    limits = np.linspace((mean - 9 * std).min(), (mean + 9 * std).max(), 40_001)
    chance = np.diff(norm.cdf(limits[:, None], mean, std), axis=0) @ model.predict_proba(row)[0]
    middle = (limits[1:] + limits[:-1]) / 2
    values = np.exp(middle) if family == "lognormal" else middle
    found = {question.column: question.value for question in model.next_best(row, LOSS)}["fever"]
    # Steps of 1e-3 standard deviations or so, decided by their middle: wrong by the square of a step where it matters.
    assert_allclose(found.worth, worth_of_filling_in(model, row, "fever", values, chance), atol=1e-6)
    assert found.error < 1e-12


def test_a_date_is_asked_for_as_a_whole():
    days = pd.to_datetime("2024-01-01") + pd.to_timedelta(RNG.integers(0, 60, N) + 90 * (CLASS == "flu"), unit="D")
    table = TABLE[["cough"]].assign(seen=days)
    model = NaiveBayes(columns={"seen": "binned"}).fit(table, CLASS)
    row = pd.DataFrame({"cough": ["yes"], "seen": [pd.NaT]})
    found = {question.column: question.value for question in model.next_best(row, LOSS)}
    assert list(found) == ["seen"]
    posterior, parts = model.predict_proba(row)[0], model.tables()
    likelihood = np.ones((1, 3))
    for name in ("seen", "seen (weekday)", "seen (month)"):
        part = parts[name][[f"P({name} | {label})" for label in model.classes_]].to_numpy()
        likelihood = (likelihood[:, None] * part).reshape(-1, 3)
    regret = LOSS.for_classes(model.classes_).table.cost
    then = (likelihood * posterior) @ regret.T
    assert_allclose(found["seen"].worth, (regret @ posterior).min() - then.min(axis=1).sum(), atol=1e-13)


def test_a_text_is_passed_over_with_a_word_and_ignored_columns_are_not_mentioned():
    table = TABLE.assign(note=[f"{label} again and again" for label in CLASS], number=np.arange(N))
    model = NaiveBayes(columns={**FAMILIES, "note": "text", "number": "ignored"}).fit(table, CLASS)
    found = model.next_best({"cough": "yes"}, LOSS)
    assert dict(found.skipped) == {"note": "a text has too many outcomes"}
    assert {question.column for question in found} == {"colour", "fever", "days", "smoker"}
    assert str(found).startswith("Ask for the fever next: it is worth ")
    assert "note: a text has too many outcomes" in str(found)


def test_costs_are_taken_off_and_a_dict_of_them_says_what_can_be_asked_for():
    model = fitted()
    free = model.next_best({}, LOSS)
    some = model.next_best({}, LOSS, {"days": 0.25, "cough": 10.0})
    worth = {question.column: question.value.worth for question in free}
    assert [question.column for question in some] == ["days", "cough"]
    assert [question.value.net for question in some] == [worth["days"] - 0.25, worth["cough"] - 10.0]
    assert [q.value.cost for q in model.next_best({}, LOSS, 0.5)] == [0.5] * 5
    assert sorted(worth.values(), reverse=True) == list(worth.values())
    assert model.next_best({}, LOSS, {"cough": 10.0}).best is None


def test_the_row_may_come_in_any_form():
    model = fitted()
    cells = {"cough": "yes", "colour": None, "fever": None, "days": 4, "smoker": None}
    expected = str(model.next_best(cells, LOSS))
    short = {name: cell for name, cell in cells.items() if cell is not None}
    for row in (short, pa.table({k: [v] for k, v in cells.items()}), pl.DataFrame({k: [v] for k, v in cells.items()})):
        assert str(model.next_best(row, LOSS)) == expected


def test_another_prior_is_that_of_the_model_with_it():
    prior = [0.1, 0.8, 0.1]
    found = fitted().next_best({"days": 2}, LOSS, prior=prior)
    same = fitted(class_prior=prior).next_best({"days": 2}, LOSS)
    for a, b in zip(found, same, strict=True):
        assert a.column == b.column
        assert_allclose(a.value.worth, b.value.worth, atol=1e-13)


def test_costs_of_the_row_itself():
    loss = Loss.from_costs(
        {("flu", "well"): "days", ("well", "flu"): 3, ("cold", "flu"): 1, ("flu", "cold"): 1}
        | {("cold", "well"): 1, ("well", "cold"): 1}
    )
    fixed = Loss.from_costs(
        {("flu", "well"): 4, ("well", "flu"): 3, ("cold", "flu"): 1, ("flu", "cold"): 1}
        | {("cold", "well"): 1, ("well", "cold"): 1}
    )
    row = row_of({"cough": "yes", "colour": None, "fever": np.nan, "days": 4.0, "smoker": None})
    assert str(fitted().next_best(row, loss)) == str(fitted().next_best(row, fixed))


# ---------------------------------------------------------------------- calibration


def test_of_a_calibrated_model_a_fact_counts_for_its_share():
    # The same column four times over: a naive model is four times too sure.
    again = TABLE.assign(**{f"cough {i}": TABLE["cough"] for i in range(3)})
    model = NaiveBayes(columns=FAMILIES, calibrate=True).fit(again, CLASS)
    row = row_of(ROWS[0]).assign(**{f"cough {i}": ["yes"] for i in range(3)})
    posterior = model.predict_proba(row)[0]
    n_known = int(row.notna().sum(axis=1).iloc[0])
    strength = model.calibration_.map.slope(np.array([n_known + 1]))[0]
    assert strength < 0.9
    table = model.tables()["cough"]
    power = table[[f"P(cough | {label})" for label in model.classes_]].to_numpy() ** strength
    joint = power / power.sum(axis=0) * posterior
    cost = LOSS.for_classes(model.classes_).table.cost
    found = {question.column: question.value for question in model.next_best(row, LOSS)}["cough"]
    assert_allclose(found.worth, (cost @ posterior).min() - (joint @ cost.T).min(axis=1).sum(), atol=1e-13)
    assert_allclose(found.risk_now, model.expected_loss(row, loss=LOSS)[0], rtol=1e-13)


# ---------------------------------------------------------------------- the drop-ins


def test_bernoulli_flags():
    X = TABLE[["smoker"]].assign(cough=TABLE["cough"] == "yes").to_numpy().astype(float)
    model = BernoulliNB().fit(X, CLASS)
    open_to_gaps = BernoulliNB(missing="ignore").fit(X, CLASS)
    row = np.array([[np.nan, 1.0]])
    (found,) = model.next_best(row, LOSS)
    assert found.column == "x0"
    posterior = open_to_gaps.predict_proba(row)[0]
    present = np.exp(model.feature_log_prob_[:, 0]) @ posterior
    filled = model.expected_loss([[0.0, 1.0], [1.0, 1.0]], loss=LOSS)
    expected = open_to_gaps.expected_loss(row, loss=LOSS)[0] - np.array([1 - present, present]) @ filled
    assert_allclose(found.value.worth, expected, atol=1e-13)
    assert model.missing == "error"
    with pytest.raises(DataError, match="NaN"):
        model.predict(row)


def test_categories():
    model = CategoricalNB().fit(TABLE[["cough", "colour"]], CLASS)
    row = pd.DataFrame({"cough": [None], "colour": ["red"]})
    (found,) = model.next_best(row, LOSS)
    open_to_gaps = CategoricalNB(missing="ignore").fit(TABLE[["cough", "colour"]], CLASS)
    posterior = open_to_gaps.predict_proba(row)[0]
    chance = posterior @ np.exp(model.feature_log_prob_[0])
    rows = pd.DataFrame({"cough": model.categories_[0], "colour": "red"})
    expected = open_to_gaps.expected_loss(row, loss=LOSS)[0] - chance @ model.expected_loss(rows, loss=LOSS)
    assert_allclose(found.value.worth, expected, atol=1e-13)
    state = CategoricalNB(missing="state").fit(TABLE[["cough", "colour"]], CLASS)
    assert dict(state.next_best(row, LOSS).skipped) == {"cough": "a missing cell is a state of its own there"}


@pytest.mark.parametrize("prior", [None, NormalInverseGamma(mean=37.0)])
def test_normal_columns(prior):
    X = TABLE[["fever", "days"]].to_numpy().astype(float)
    model = GaussianNB(columns=None if prior is None else {0: {"prior": prior}}).fit(X, CLASS)
    mixed = NaiveBayes(
        columns={"x0": {"family": "gaussian", **({} if prior is None else {"prior": prior})}, "x1": "gaussian"},
        class_alpha=0.0,
        variance_floor=1e-12,
    ).fit(X, CLASS)
    row = np.array([[np.nan, 3.0]])
    (found,), (same,) = model.next_best(row, LOSS, {0: 0.5}), mixed.next_best(row, LOSS, {"x0": 0.5})
    assert found.column == same.column == "x0"
    assert_allclose(found.value.worth, same.value.worth, rtol=1e-6)  # variances differ by var_smoothing, 1e-9
    assert found.value.cost == 0.5


def test_a_column_that_never_varies_is_worth_nothing():
    X = np.column_stack([TABLE["fever"], np.ones(N)])
    found = GaussianNB(var_smoothing=0.0).fit(X, CLASS).next_best([[np.nan, np.nan]], LOSS)
    assert [(q.column, q.value.worth > 0) for q in found] == [("x0", True), ("x1", False)]


def test_counts_of_features_that_are_not_independent_cannot_be_asked_for():
    for model in (MultinomialNB(), ComplementNB()):
        model.fit(np.abs(RNG.integers(0, 5, (20, 3))), CLASS[:20])
        with pytest.raises(ParameterError, match="cannot say what a missing count is worth"):
            model.next_best({"x0": 1})


# ---------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((TABLE.iloc[:2], LOSS), DataError, "row has 2 rows; give one"),
        (({"caugh": "yes"}, LOSS), SchemaError, "row names 'caugh'"),
        (({}, LOSS, {"caugh": 1}), SchemaError, "costs names 'caugh'"),
        (({}, LOSS, {"cough": "dear"}), ParameterError, "the cost of asking for 'cough' is 'dear'"),
        (({}, LOSS, np.nan), ParameterError, "the cost of asking for 'cough' is nan"),
        (({}, Loss.zero_one("ab")), SchemaError, "no costs are stated"),
    ],
)
def test_what_cannot_be_asked_is_refused(arguments, error, message):
    with pytest.raises(error, match=message):
        fitted().next_best(*arguments)
