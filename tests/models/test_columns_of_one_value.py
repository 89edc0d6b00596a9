"""Columns of one value and holes, "t" for what somebody bought: a cell that is empty is a state of its own."""

import datetime as dt
import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest

from bayeswater import (
    A2DE,
    AODE,
    KDB,
    SKDB,
    SPODE,
    TAN,
    BayesEnsemble,
    BayesWarning,
    NaiveBayes,
    NetworkClassifier,
    load,
    save,
)

pytestmark = pytest.mark.filterwarnings("ignore:.* one value and empty cells")

MODELS = [NaiveBayes(), AODE(), AODE(select=True), A2DE(), TAN(), TAN(penalty="bic"), SPODE(), KDB(), SKDB()]
every_model = pytest.mark.parametrize("model", MODELS, ids=str)

RNG = np.random.default_rng(0)
N = 120
Y = RNG.choice(["few", "many"], N)
BOUGHT = RNG.random((N, 3)) < np.where(Y == "many", 0.7, 0.2)[:, None]


def basket(there: Any, absent: Any) -> pd.DataFrame:
    """Three goods of one value, and columns that are no such marks."""
    frame = pd.DataFrame(
        {name: pd.Series(np.where(own, there, absent), dtype=object) for name, own in zip("abc", BOUGHT.T, strict=True)}
    )
    town = np.random.default_rng(1).choice(np.array(["Ulm", "Köln", None], dtype=object), N)
    return frame.assign(town=town, age=np.random.default_rng(2).normal(40, 9, N))


MARKED, SPELT = basket("t", None), basket("t", "z")


def new(model: Any, **changed: Any) -> Any:
    return type(model)(**{**model.get_params(), **changed})


@every_model
def test_an_empty_cell_says_what_a_second_value_would_say(model: Any) -> None:
    marked, spelt = new(model).fit(MARKED, Y), new(model).fit(SPELT, Y)
    np.testing.assert_allclose(marked.predict_proba(MARKED), spelt.predict_proba(SPELT), rtol=1e-9)
    left_out = (one.loo_predict_log_proba(X, Y) for one, X in ((marked, MARKED), (spelt, SPELT)))
    np.testing.assert_allclose(*left_out, rtol=1e-9)
    assert marked.n_parameters == spelt.n_parameters
    both = (one.explain(X)[3].contributions for one, X in ((marked, MARKED), (spelt, SPELT)))
    np.testing.assert_allclose(
        *([part.contribution for part in sorted(own, key=lambda one: one.column)] for own in both), rtol=1e-9
    )


@every_model
def test_it_is_the_same_for_any_order_and_pieces_of_the_rows(model: Any) -> None:
    whole = new(model).fit(MARKED, Y)
    order = np.argsort(BOUGHT.sum(axis=1), kind="stable")  # the first rows have no good at all, the last no hole
    shuffled, labels = MARKED.iloc[order].reset_index(drop=True), Y[order]
    pieces = [(shuffled[first : first + 30], labels[first : first + 30]) for first in range(0, N, 30)]
    for other in (new(model).fit(shuffled, labels), new(model).fit_batches(pieces)):
        np.testing.assert_allclose(other.predict_proba(MARKED), whole.predict_proba(MARKED), rtol=1e-9)


@pytest.mark.parametrize("model", [NaiveBayes(), AODE(), TAN()], ids=str)
def test_learning_row_by_row_merging_and_forgetting_read_the_holes_as_one_fit_does(model: Any) -> None:
    X = MARKED[["a", "b", "town"]]
    whole = new(model).fit(X, Y).predict_proba(X)
    grown = new(model)
    for first in range(0, N, 15):
        grown.partial_fit(X[first : first + 15], Y[first : first + 15])
    merged = new(model).fit(X[:50], Y[:50]) + new(model).fit(X[50:], Y[50:])
    second = X.assign(a="second")
    forgetful = new(model).fit(pd.concat([X, second]), [*Y, *Y]).forget(second, Y)
    for other in (grown, merged, forgetful):
        np.testing.assert_allclose(other.predict_proba(X), whole, rtol=1e-9)


@pytest.mark.parametrize("model", [NaiveBayes(), AODE(), TAN()], ids=str)
def test_a_second_value_that_comes_later_is_a_new_state(model: Any) -> None:
    X = MARKED[["a", "b", "town"]]
    later = X[:20].assign(a="u")
    grown = new(model).fit(X, Y).partial_fit(later, Y[:20])
    whole = new(model).fit(pd.concat([X, later]), [*Y, *Y[:20]])
    np.testing.assert_allclose(grown.predict_proba(later), whole.predict_proba(later), rtol=1e-9)
    assert grown.tables()["a"]["a"].tolist()[:2] == ["t", "u"]


def test_a_learned_network_has_a_state_for_empty_cells(tmp_path: Any) -> None:
    marked, spelt = (NetworkClassifier("augmented").fit(X[["a", "b", "town"]], Y) for X in (MARKED, SPELT))
    np.testing.assert_allclose(marked.predict_proba(MARKED), spelt.predict_proba(SPELT), rtol=1e-9)
    assert tuple(marked.network_.core.variables[1].states) == ("t", "(empty)")
    save(marked, tmp_path / "model")
    np.testing.assert_array_equal(load(tmp_path / "model").predict_proba(MARKED), marked.predict_proba(MARKED))


VALUES: dict[str, Any] = {
    "text": "t",
    "whole": 7,
    "bit": 1.0,
    "fraction": 0.48,
    "flag": True,
    "date": dt.datetime(2024, 2, 29),
    "duration": dt.timedelta(hours=2),
    "category": pd.Categorical(["t", None])[0],
}


@pytest.mark.parametrize("kind", VALUES)
@pytest.mark.parametrize("model", [NaiveBayes(), AODE(), KDB()], ids=str)
def test_the_value_may_be_of_any_type(kind: str, model: Any, tmp_path: Any) -> None:
    cells = [VALUES[kind] if here else None for here in BOUGHT[:, 0]]
    X = pd.DataFrame({"mark": pd.array(cells, dtype="boolean") if kind == "flag" else cells})
    with pytest.warns(BayesWarning, match="column 'mark' has one value and empty cells: empty is a state"):
        fitted = new(model).fit(X, Y)
    share = np.array([np.mean(Y[BOUGHT[:, 0] == here] == "many") for here in (False, True)])
    found = fitted.predict_proba(X)[:, 1]
    np.testing.assert_allclose(found, share[BOUGHT[:, 0].astype(int)], atol=0.03)  # smoothed
    drawn, _ = fitted.sample(60, random_state=0)
    assert 0 < drawn["mark"].isna().sum() < 60
    save(fitted, tmp_path / "model")
    np.testing.assert_array_equal(load(tmp_path / "model").predict_proba(X), fitted.predict_proba(X))
    assert "mark is empty" in str(fitted.explain(X[~BOUGHT[:, 0]][:1]))


def test_what_was_declared_or_asked_for_is_done() -> None:
    X = MARKED[["a", "town"]]
    declared = X.assign(a=pd.Categorical(X["a"], categories=["t", "u"]))
    with warnings.catch_warnings():
        warnings.simplefilter("error", BayesWarning)
        model = NaiveBayes().fit(declared, Y)
        NaiveBayes(missing="state").fit(X, Y)
    assert model.tables()["a"]["a"].tolist() == ["t", "u"]
    without = NaiveBayes().fit(X[["town"]], Y)
    empty = declared.assign(a=pd.Categorical([None] * N, categories=["t", "u"]))
    np.testing.assert_allclose(model.predict_proba(empty), without.predict_proba(X), rtol=1e-9)


def test_all_such_columns_are_told_of_in_one_line() -> None:
    many = pd.DataFrame({f"good {j}": np.where(RNG.random(N) < 0.5, "t", None) for j in range(97)})
    for model in (NaiveBayes(), AODE()):
        with pytest.warns(BayesWarning) as told:
            model.fit(many, Y)
        (line,) = {str(one.message) for one in told}
        assert line.startswith("97 columns ('good 0', 'good 1', 'good 2', 'good 3', 'good 4', ...) have one value and")


def test_all_columns_without_a_value_are_told_of_in_one_line() -> None:
    many = MARKED[["town"]].assign(**{f"good {j}": None for j in range(97)})
    for model in (NaiveBayes(), AODE(), BayesEnsemble("generative")):
        with pytest.warns(
            BayesWarning, match=r"97 columns \('good 0', .*, \.\.\.\) are left out: no cell has a value"
        ) as told:
            model.fit(many, Y)
        assert len(told) == 1
    with pytest.warns(BayesWarning, match=r"97 columns \('good 0'") as told:
        AODE().fit_batches([(many[:60], Y[:60]), (many[60:], Y[60:])])
    assert len(told) == 1


def test_a_cell_that_a_dict_does_not_have_is_not_known_and_one_that_is_none_is_empty() -> None:
    X = MARKED[["a", "b"]]
    model = NaiveBayes(alpha=1.0).fit(X, Y)
    both = pd.DataFrame({"a": ["t", None], "b": [None, None]}, dtype=object)
    joint = np.exp(model.predict_joint_log_proba(both))  # the row is the sum over what the cell may be
    now, then = joint.sum(axis=0).min() / joint.sum(), joint.min(axis=1).sum() / joint.sum()
    asked = model.next_best({"b": None})
    assert asked.risk_now == pytest.approx(now)
    assert [one.value.worth for one in asked] == [pytest.approx(now - then)]
    assert asked.table["column"].to_pylist() == ["a"]
    assert model.next_best({"a": None, "b": None}).best is None
    assert model.next_best(both[1:]).risk_now == pytest.approx(joint[1].min() / joint[1].sum())


@pytest.mark.parametrize("model", [NaiveBayes(), TAN(), KDB()], ids=str)
def test_a_network_has_a_state_for_empty_cells(model: Any) -> None:
    X = MARKED[["a", "b"]]
    fitted = new(model).fit(X, Y)
    found = fitted.to_network().posteriors(X.fillna("(empty)"))["class"]
    np.testing.assert_allclose(found, fitted.predict_proba(X), rtol=1e-9)
