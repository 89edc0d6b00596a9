"""Rows left out of counts and smoothing are scored as by a model that never saw them."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy.special import polygamma, psi

from bayeswater import NaiveBayes
from bayeswater.data.variable import Schema, Variable
from bayeswater.families import states
from bayeswater.inference.drawing import Stage
from bayeswater.statistics.category_counts import CategoryCounts

N = 36
Y = np.array(["a", "b", "c"])[np.arange(N) % 3]


def table(n_columns=3, n_rows=N, seed=0):
    """Categories of declared domains, one of them with holes, and a flag; they say something of the class."""
    rng = np.random.default_rng(seed)
    y = np.arange(n_rows) % 3
    codes = (rng.integers(0, 3, (n_columns, n_rows)) + (rng.random((n_columns, n_rows)) < 0.5) * y) % 4
    frame = pd.DataFrame({f"c{j}": pd.Categorical.from_codes(own, list("wxyz")) for j, own in enumerate(codes)})
    frame.loc[frame.index[::7], "c1"] = np.nan
    frame["flag"] = rng.random(n_rows) < 0.3 + 0.2 * y
    return frame


@pytest.mark.parametrize("missing", ["ignore", "state"])
@pytest.mark.parametrize("alpha", ["auto", 0.5])
def test_a_row_is_scored_as_by_a_model_that_never_saw_it(missing, alpha):
    X = table()
    columns = {"c0": {"alpha": 2.0}}
    model = NaiveBayes(missing=missing, alpha=alpha, columns=columns).fit(X, Y)
    for i in range(N):
        scores = model.leave_one_out([(X[i : i + 1], Y[i : i + 1])]).scores
        rest = np.arange(N) != i
        refit = NaiveBayes(missing=missing, alpha=alpha, columns=columns).fit(X[rest], Y[rest])
        # The best smoothing is found to a billionth, and hardly moves what is best.
        np.testing.assert_allclose(scores.log_proba[0], refit.predict_log_proba(X[i : i + 1])[0], rtol=1e-7)


def test_a_class_that_lacks_every_cell_of_a_column_is_scored_as_by_a_model_that_never_saw_the_row():
    X = table()
    X.loc[Y == "b", "c0"] = np.nan
    model = NaiveBayes().fit(X, Y)
    for i in range(6):
        scores = model.leave_one_out([(X[i : i + 1], Y[i : i + 1])]).scores  # warnings are errors
        rest = np.arange(N) != i
        refit = NaiveBayes().fit(X[rest], Y[rest])
        # The best smoothing is found to a billionth, and hardly moves what is best.
        np.testing.assert_allclose(scores.log_proba[0], refit.predict_log_proba(X[i : i + 1])[0], rtol=1e-7)


def test_whole_weights_count_as_repeated_rows_do():
    X, weight = table(), np.random.default_rng(1).integers(1, 4, N)
    times = np.repeat(np.arange(N), weight)
    weighted = NaiveBayes(calibrate=True).fit(X, Y, weight)
    repeated = NaiveBayes(calibrate=True).fit(X.iloc[times], Y[times])
    # The maximum of the likelihood of a temperature is found to a millionth.
    np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), rtol=1e-6)


def test_pieces_are_scored_as_the_whole_table():
    X = table()
    model = NaiveBayes().fit(X, Y)
    whole, pieces = (
        model.leave_one_out(batches).scores.log_proba for batches in ([(X, Y)], [(X[:10], Y[:10]), (X[10:], Y[10:])])
    )
    np.testing.assert_allclose(pieces, whole, rtol=1e-12)


@pytest.mark.parametrize("limit", ["MOST_ROWS", "MOST_TERMS", None])
def test_of_many_rows_and_of_fractions_the_smoothing_of_all_is_taken(limit, monkeypatch):
    X, weight = table(), None if limit else np.full(N, 0.5)
    if limit:
        monkeypatch.setattr(states, limit, 5)
    model = NaiveBayes().fit(X, Y, weight)
    scores = model.leave_one_out([(X, Y, weight)]).scores
    expected = model.loo_predict_log_proba(X, Y, weight)
    for column, other in zip(scores.log_proba.T, expected.T, strict=True):  # rows are in the order of a hash
        np.testing.assert_allclose(np.unique(column), np.unique(other), rtol=1e-12)


def test_noise_is_not_trusted_though_smoothing_is_automatic():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.integers(0, 3, (60, 400)).astype(str))
    y, new = rng.integers(0, 2, 60), pd.DataFrame(rng.integers(0, 3, (200, 400)).astype(str))
    model = NaiveBayes(calibrate=True).fit(X, y)
    assert np.abs(model.predict_proba(new) - 0.5).max() < 0.15
    assert np.abs(NaiveBayes().fit(X, y).predict_proba(new) - 0.5).max() > 0.4  # what it would say of itself


@pytest.mark.parametrize("missing_is_state", [False, True])
def test_drawn_probabilities_of_states_have_the_moments_of_their_dirichlet(missing_is_state):
    schema = Schema((Variable("p", ("u", "v")), Variable("q", ("u", "v", "w"))))
    table = np.array([[3, 0], [2, 5], [1, 2], [4, 1], [0, 6], [1, 1], [2, 3]])
    counts = CategoryCounts(Variable("class", ("a", "b")), schema, table)
    concentration = np.array([1.0, 1.0, 0.5, 0.5, 0.5, 0.5, 2.0])[:, None]
    is_state = np.full(2, missing_is_state)
    block = SimpleNamespace(
        counts=counts, concentration=concentration, missing_is_state=missing_is_state, empty_is_state=is_state
    )
    n_draws = 4000
    draws = states.StateDraws(block, [0, 1], Stage(3, n_draws, 2))
    shape = table + concentration
    for j, (first, end) in enumerate([(0, 3), (3, 7)]):
        own = shape[first : end if missing_is_state else end - 1]
        for state in range(len(own)):
            cells = np.full((1, 2), 9)  # of the other column nothing is known
            cells[0, j] = state
            total = np.zeros((1, n_draws, 2))
            draws.add_to(total, cells)
            a, all_states = own[state], own.sum(axis=0)
            variance = polygamma(1, a) - polygamma(1, all_states)
            # Five standard errors.
            assert (np.abs(total[0].mean(axis=0) - psi(a) + psi(all_states)) < 5 * np.sqrt(variance / n_draws)).all()
            assert (np.abs(total[0].var(axis=0) / variance - 1) < 0.3).all()
