"""Rows left out of counts and smoothing are scored as by a model that never saw them."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy.special import polygamma, psi

from bayeswater import NaiveBayes
from bayeswater.data.variable import Schema, Variable
from bayeswater.decision.facts import MISSING_IS_STATE
from bayeswater.families import states
from bayeswater.families.family import ABSENT
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


SCHEMA = Schema((Variable("p", ("u", "v")), Variable("q", ("u", "v", "w"))))
TABLE = np.array([[3, 0], [2, 5], [1, 2], [4, 1], [0, 6], [1, 0], [2, 0]])  # the last of each column is an empty cell


def block_of(missing_is_state=False, alpha=(1.0, 0.5)):
    counts = CategoryCounts(Variable("class", ("a", "b")), SCHEMA, TABLE)
    return states.StateBlock(counts, np.repeat(alpha, [3, 4])[:, None], missing_is_state)


CELLS = np.array([[0, 2], [2, 3], [3, 4], [1, 0]])  # read, empty, never seen, read


@pytest.mark.parametrize("missing_is_state", [False, True])
def test_a_state_that_no_row_had_is_less_probable_than_any_other(missing_is_state):
    block = block_of(missing_is_state)
    rows = [slice(0, 3), slice(3, 7)] if missing_is_state else [slice(0, 2), slice(3, 6)]
    for j, (own, alpha) in enumerate(zip(rows, (1.0, 0.5), strict=True)):
        count = TABLE[own]
        expected = alpha / (count.sum(axis=0) + (len(count) + 1) * alpha)
        np.testing.assert_allclose(np.exp(block.log_new_state[j]), expected, rtol=1e-12)
    found = np.zeros((4, 2))
    block.add_new(found, CELLS)
    np.testing.assert_allclose(found[2], block.log_new_state.sum(axis=0), rtol=1e-12)
    assert not found[[0, 1, 3]].any()
    assert block.is_new(CELLS).tolist() == [[False] * 2, [False] * 2, [True] * 2, [False] * 2]


def test_without_smoothing_a_new_state_is_impossible():
    assert np.isneginf(block_of(alpha=(0.0, 0.0)).log_new_state).all()


@pytest.mark.parametrize("missing_is_state", [False, True])
def test_the_support_of_a_row_is_that_of_its_rarest_state(missing_is_state):
    block = block_of(missing_is_state)
    found = block.support(CELLS, np.array([0, 0, 0, 1])).tolist()
    assert found == [1, 1 if missing_is_state else np.inf, np.inf, 1]
    empty = 0 if missing_is_state else ABSENT
    assert block.patterns(CELLS).tolist() == [[0, 0], [empty, empty], [0, 0], [0, 0]]


def test_the_states_of_a_column_are_a_fact_unless_an_empty_cell_is_known_to_be_one():
    block = block_of()
    np.testing.assert_allclose(np.exp(block.fact(1, is_unknown=False).log_likelihood).sum(axis=0), 1.0, rtol=1e-12)
    assert len(block.fact(0, is_unknown=True).log_likelihood) == 2
    block = block_of(np.array([False, True]))
    assert (block.fact(1, is_unknown=False), len(block.fact(1, is_unknown=True).log_likelihood)) == (
        MISSING_IS_STATE,
        4,
    )
    assert len(block.fact(0, is_unknown=False).log_likelihood) == 2


@pytest.mark.parametrize("missing_is_state", [False, True])
def test_drawn_states_are_as_frequent_as_they_are_probable(missing_is_state):
    block, codes = block_of(missing_is_state), np.repeat([0, 1], 3000)
    for j, terms in enumerate(block.draw_terms(codes, [2, 5], 7, np.zeros(0))):
        own = block.fact(j, is_unknown=True).log_likelihood
        for k in (0, 1):
            place = np.argmin(np.abs(terms[0][codes == k, None] - own).sum(axis=2), axis=1)
            share = np.bincount(place, minlength=len(own)) / 3000
            np.testing.assert_allclose(terms[0][codes == k], own[place], rtol=1e-12)
            assert (np.abs(share - np.exp(own[:, k])) < 5 * np.sqrt(0.25 / 3000)).all()


def test_a_class_without_a_count_and_without_smoothing_has_all_states_alike():
    counts = CategoryCounts(Variable("class", ("a", "b")), SCHEMA, TABLE * [1, 0])
    block = states.StateBlock(counts, np.zeros((7, 1)))
    total = np.zeros((1, 5, 2))
    block.draw_parameters([0, 1], Stage(1, 5, 2)).add_to(total, np.array([[0, 0]]))
    np.testing.assert_allclose(total[0, :, 1], -np.log(6), rtol=1e-12)
