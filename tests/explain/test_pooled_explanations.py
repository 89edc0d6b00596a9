"""Reasons by taking cells away: they add up exactly, and of few columns they are the Shapley values."""

from itertools import combinations
from math import factorial

import numpy as np
import pandas as pd
import pytest
from tests.models.ensemble.tables import FEW, mixed_frame

from bayeswater import BayesEnsemble, ParameterError, ResourceLimitError, SchemaError, UnseenCategoryWarning
from bayeswater.explain import explaining
from bayeswater.explain.pooled_explanations import Orders

FRAME, Y = mixed_frame(200)


@pytest.fixture(scope="module")
def model():
    return BayesEnsemble(members=FEW, random_state=0).fit(FRAME, Y)


def worth(values, known):
    """Log-odds of a set of columns in a game that is written down (n_sets, by bits)."""
    return values[int(sum(1 << j for j in np.flatnonzero(known)))]


def shapley(values, n_columns):
    found = np.zeros(n_columns)
    for j in range(n_columns):
        others = [k for k in range(n_columns) if k != j]
        for size in range(n_columns):
            share = factorial(size) * factorial(n_columns - size - 1) / factorial(n_columns)
            for chosen in combinations(others, size):
                known = np.isin(np.arange(n_columns), chosen)
                with_it = known | (np.arange(n_columns) == j)
                found[j] += share * (worth(values, with_it) - worth(values, known))
    return found


@pytest.mark.parametrize("n_columns", [1, 2, 3])
def test_of_few_columns_contributions_are_the_shapley_values(n_columns):
    values = np.random.default_rng(n_columns).normal(size=2**n_columns)
    orders = Orders.of(n_columns)
    odds = np.array([[worth(values, known) for known in orders.known]])
    intercept, contributions, error = orders.contributions(odds)
    np.testing.assert_allclose(contributions[0], shapley(values, n_columns), atol=1e-12)
    assert intercept[0] == values[0]
    assert not error.any()


def test_of_many_columns_that_work_in_pairs_they_are_the_shapley_values_too():
    rng = np.random.default_rng(0)
    single, pair = rng.normal(size=6), np.triu(rng.normal(size=(6, 6)), 1)
    orders = Orders.of(6)
    odds = np.array([[known @ single + known @ pair @ known for known in orders.known.astype(float)]])
    _, contributions, error = orders.contributions(odds)
    np.testing.assert_allclose(contributions[0], single + (pair.sum(axis=0) + pair.sum(axis=1)) / 2, atol=1e-12)
    np.testing.assert_allclose(error, 0.0, atol=1e-12)


def test_contributions_and_intercept_add_up_to_the_log_odds_of_the_ensemble(model):
    found = model.explain(FRAME[:20])
    np.testing.assert_allclose(found.intercept + found.contributions.sum(axis=1), found.log_odds, rtol=1e-10)
    log_proba = model.predict_log_proba(FRAME[:20])
    ordered = np.sort(log_proba, axis=1)
    np.testing.assert_allclose(found.log_odds, ordered[:, -1] - ordered[:, -2], rtol=1e-10)
    np.testing.assert_array_equal(found.prediction, model.predict(FRAME[:20]))
    assert found.error.shape == found.contributions.shape == (20, 5)


def test_a_missing_or_unseen_cell_adds_nothing_and_is_named(model):
    row = FRAME[:1].assign(width=np.nan, shape="oval")
    with pytest.warns(UnseenCategoryWarning):
        (one,) = model.explain(row)
    assert one.missing == ["width"]
    assert one.unseen == ["shape"]
    worth_of = {c.column: c.contribution for c in one.contributions}
    assert worth_of["width"] == worth_of["shape"] == 0.0
    assert "never seen, left out: shape = oval" in str(one)


def test_cells_that_decide_alone_are_those_without_which_another_class_wins(model):
    found = model.explain(FRAME[:60])
    n_turns = 0
    for i, one in enumerate(found):
        for turn in one.turns:
            without = FRAME[i : i + 1].copy()
            without[turn.column] = (
                pd.Series([None], index=without.index, dtype=FRAME[turn.column].dtype)
                if turn.column in ("colour", "shape")
                else (np.nan if turn.column != "new" else None)
            )
            assert model.predict(without)[0] == turn.prediction
            n_turns += 1
    assert n_turns > 0


def test_the_class_to_compare_with_can_be_told(model):
    found = model.explain(FRAME[:10], against="top")
    assert set(found.against[found.prediction != "top"]) == {"top"}
    with pytest.raises(SchemaError, match="huge"):
        model.explain(FRAME[:10], against="huge")
    with pytest.raises(ParameterError, match="one class"):
        BayesEnsemble(random_state=0).fit(FRAME, ["only"] * 200).explain(FRAME[:1])


def test_reasons_come_as_a_frame_and_as_plain_values(model):
    found = model.explain(FRAME[:4])
    frame = found.to_frame()
    assert isinstance(frame, pd.DataFrame)
    assert [*frame.columns[-5:]] == ["height", "width", "colour", "shape", "new"]
    document = found[0].to_dict()
    assert document["prediction"] == found.prediction[0]
    assert len(document["contributions"]) == 5
    assert "with all cells missing" in str(found[0])


def test_rows_in_blocks_give_the_same_reasons(model, monkeypatch):
    whole = model.explain(FRAME[:9]).contributions
    monkeypatch.setattr(explaining, "KNOWN_CELLS", 500)
    np.testing.assert_array_equal(model.explain(FRAME[:9]).contributions, whole)


def test_reasons_that_would_not_fit_into_memory_are_refused(model, monkeypatch):
    monkeypatch.setattr("bayeswater.limits.TABLE_BYTES", 1000)
    with pytest.raises(ResourceLimitError, match="explain fewer rows"):
        model.explain(FRAME)
