"""Rows with many missing cells, summed over by a network of the columns: the numbers of summing by hand."""

import numpy as np
import pandas as pd
import pytest

from bayeswater import KDB, SKDB
from bayeswater.inference import dependence
from bayeswater.inference.missing_parents import DependenceNetwork

N_COLUMNS = 9


def rows(n_rows, missing, seed=0):
    """Columns that follow one another, of two to four states, some cells missing; and a class."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n_rows)
    codes = np.empty((n_rows, N_COLUMNS), dtype=int)
    before = y
    for j in range(N_COLUMNS):
        fresh = rng.integers(0, 2 + j % 3, n_rows)
        codes[:, j] = np.where(rng.random(n_rows) < 0.6, np.minimum(before, 1 + j % 3), fresh)
        before = codes[:, j]
    frame = pd.DataFrame(codes.astype(str), columns=[f"x{j}" for j in range(N_COLUMNS)])
    return frame.mask(rng.random(frame.shape) < missing), y


@pytest.mark.parametrize("smoothing", ["back-off", "m-estimate"])
@pytest.mark.parametrize("k", [1, 2, 4])
def test_a_network_sums_as_elimination_row_by_row_does(k, smoothing, monkeypatch):
    model = KDB(k, smoothing=smoothing).fit(*rows(300, 0.1))
    block = model._table(rows(120, 0.6, seed=1)[0]).block(slice(0, 120))
    joint = model._joint()
    monkeypatch.setattr(dependence, "FEW_FILLED", 1)
    found = joint.of(block, use_loop=True)
    monkeypatch.setattr(DependenceNetwork, "log_likelihood", lambda self, states: None)
    monkeypatch.setattr(dependence, "MOST_FILLED", 1)
    expected = joint.of(block, use_loop=True)
    np.testing.assert_allclose(found, expected, rtol=1e-12)  # sums of some thousand products in another order


def test_tables_over_the_limit_make_no_network():
    terms = lambda j, states: np.full((len(states), 2), 0.5)  # noqa: E731
    parents, n_states = ((), (0,)), np.array([2, 2])
    assert DependenceNetwork.of([0, 1], parents, n_states, 2, terms, most_terms=11) is None
    network = DependenceNetwork.of([0, 1], parents, n_states, 2, terms, most_terms=12)
    np.testing.assert_allclose(network.log_likelihood(np.array([[2, 0], [1, 1]])), np.log([[0.5] * 2, [0.25] * 2]))


def test_a_parent_without_states_has_no_say():
    share = np.array([[0.9, 0.4], [0.1, 0.6]])
    network = DependenceNetwork.of([0, 1], ((), (0,)), np.array([0, 2]), 2, lambda j, states: share, most_terms=100)
    assert network.columns == [1]
    np.testing.assert_allclose(network.log_likelihood(np.array([[0, 0], [0, 1]])), np.log(share), rtol=1e-15)


def test_cliques_over_the_limit_are_left_to_others(monkeypatch):
    monkeypatch.setattr("bayeswater.limits.TABLE_BYTES", 100)
    monkeypatch.setattr("bayeswater.inference.exact.marginals.worth_compiling", lambda cells: True)
    terms = lambda j, states: np.full((len(states), 2), 0.5)  # noqa: E731
    network = DependenceNetwork.of([0, 1, 2], ((), (0,), (0, 1)), np.array([2, 2, 2]), 2, terms, most_terms=100)
    assert network.log_likelihood(np.array([[2, 2, 0]])) is None


def terms_of(model, frame, monkeypatch):
    """How many terms P(x_j | y, parents) are read to predict some rows."""
    read, level_terms = [], dependence.level_terms
    monkeypatch.setattr(
        dependence,
        "level_terms",
        lambda states, *a, **options: read.append(len(states)) or level_terms(states, *a, **options),
    )
    model.predict_proba(frame)
    monkeypatch.setattr(dependence, "level_terms", level_terms)
    return sum(read)


def with_names(n_rows, seed=0):
    """A class, and columns of which two are nearly names: tickets and cabins, often missing."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n_rows)
    frame = pd.DataFrame(
        {
            "sex": np.where(rng.random(n_rows) < 0.8, y, 1 - y).astype(str),
            "deck": rng.integers(0, 4, n_rows).astype(str),
            "ticket": np.char.add("t", rng.integers(0, n_rows, n_rows).astype(str)),
            "cabin": np.char.add("c", rng.integers(0, n_rows // 2, n_rows).astype(str)),
        }
    )
    return frame.mask(np.c_[np.zeros((n_rows, 2)), rng.random((n_rows, 2))] > 0.4), y


@pytest.mark.filterwarnings("ignore::bayeswater.errors.BayesWarning")
@pytest.mark.parametrize("model", [KDB(), SKDB()], ids=["KDB", "SKDB"])
def test_a_row_without_its_names_is_as_little_work_as_any(model, monkeypatch):
    frame, y = with_names(300)
    assert terms_of(model.fit(frame, y), frame.assign(ticket=None, cabin=None)[:60], monkeypatch) <= 60 * 4


def test_names_that_are_parents_are_summed_over_once_for_all_rows(monkeypatch):
    frame, y = with_names(300)
    n_tickets, n_cabins = frame.ticket.nunique(), frame.cabin.nunique()
    model = KDB(parents={"sex": ["ticket"], "deck": ["ticket", "cabin"]}).fit(frame, y)
    without, table = frame.assign(ticket=None, cabin=None), n_tickets * (3 + 4 * n_cabins) + n_cabins
    assert terms_of(model, without[:200], monkeypatch) < 3 * table  # and not of each row
    assert terms_of(model, without, monkeypatch) <= 300 * 4
