"""Scores of parent sets against their definitions."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.oracles.local_scores import family_score, random_parents, regret
from tests.oracles.pc_of_bnlearn import NAMES as COLUMNS
from tests.oracles.pc_of_bnlearn import rows
from tests.oracles.scores_of_bnlearn import answers, some_parents

from bayeswater.errors import ParameterError
from bayeswater.structure.knowledge import Knowledge
from bayeswater.structure.local_scores import LocalScores
from bayeswater.structure.scores import Score, as_score, log_regret_of_rows, log_regrets
from bayeswater.structure.search import search

NAMES = ("loglik", "aic", "bic", "ebic", "bdeu", "bds", "bdj", "bdla", "k2", "fnml", "qnml")


@st.composite
def tables(draw, most_variables=4):
    n_states = draw(st.lists(st.integers(1, 3), min_size=2, max_size=most_variables))
    n_rows = draw(st.integers(1, 12))
    rows = [[draw(st.integers(0, r - 1)) for _ in range(n_rows)] for r in n_states]
    return np.array(rows, dtype=np.uint8), n_states


@pytest.mark.parametrize("name", NAMES)
@given(data=st.data(), table=tables())
def test_a_family_scores_what_its_definition_says(name, data, table):
    codes, n_states = table
    y = data.draw(st.integers(0, len(n_states) - 1))
    others = [x for x in range(len(n_states)) if x != y]
    parents = data.draw(st.lists(st.sampled_from(others), unique=True))
    local_scores = LocalScores(codes, np.array(n_states), Score(name))
    # Sums of a dozen terms of size ten, in float64.
    assert local_scores.of(y, parents) == pytest.approx(family_score(codes, n_states, y, parents, name), abs=1e-11)


@pytest.mark.parametrize("n", [1, 2, 7, 30])
@pytest.mark.parametrize("r", [1, 2, 3, 6])
def test_the_regret_is_the_sum_of_all_greatest_likelihoods(n, r):
    exact = float(regret(n, r))
    assert np.exp(log_regrets(n, r)[r]) == pytest.approx(exact, rel=1e-12)
    assert np.exp(log_regret_of_rows(n, r)[n]) == pytest.approx(exact, rel=1e-12)


@pytest.mark.parametrize("name", [name for name in NAMES if Score(name).is_equivalent])
@given(table=tables(most_variables=3), seed=st.integers(0, 2**16))
def test_equivalent_graphs_score_the_same(name, table, seed):
    codes, n_states = table
    local_scores = LocalScores(codes, np.array(n_states), Score(name))
    parents = random_parents(len(n_states), np.random.default_rng(seed))
    score = local_scores.total(parents)
    for y, own in enumerate(parents):
        for x in own:
            if own == parents[x] | {x}:  # an arc of which the turning gives an equivalent graph
                turned = list(parents)
                turned[y], turned[x] = own - {x}, parents[x] | {y}
                assert local_scores.total(turned) == pytest.approx(score, abs=1e-11)


@given(table=tables(), weights=st.lists(st.integers(0, 3), min_size=12, max_size=12))
def test_a_whole_weight_is_as_many_rows(table, weights):
    codes, n_states = table
    weight = np.array(weights[: codes.shape[1]])
    if not weight.any():
        weight[0] = 1
    repeated = LocalScores(np.repeat(codes, weight, axis=1), np.array(n_states), Score("bdeu"))
    weighted = LocalScores(codes, np.array(n_states), Score("bdeu"), weight.astype(float))
    for y in range(len(n_states)):
        np.testing.assert_allclose(weighted.column(y, frozenset()), repeated.column(y, frozenset()), rtol=0, atol=1e-11)


def test_scores_are_known_by_their_usual_names_and_others_are_refused():
    assert as_score("MDL") == Score("bic")
    assert as_score(("bdeu", 10)) == Score("bdeu", 10)
    with pytest.raises(ParameterError, match="choose one of loglik, aic, bic"):
        as_score("bad")
    with pytest.raises(ParameterError, match="number over 0"):
        as_score(("bdeu", -1))
    assert as_score(("mdl", 3)) == Score("bic", 3)
    with pytest.raises(ParameterError, match="takes no setting"):
        as_score(("k2", 7))
    with pytest.raises(ParameterError, match="give a name"):
        as_score(3)


def test_the_series_for_many_rows_goes_on_where_the_sum_ends():
    whole, exact = log_regret_of_rows(30_000, 3), [log_regrets(n, 3)[3] for n in (5_000, 5_001, 9_000, 30_000)]
    np.testing.assert_allclose(whole[[5_000, 5_001, 9_000, 30_000]], exact, rtol=1e-13)


def test_fnml_is_a_score_of_whole_rows():
    codes = np.zeros((2, 3), dtype=np.uint8)
    with pytest.raises(ParameterError, match="whole weights"):
        LocalScores(codes, np.array([2, 2]), Score("fnml"), np.array([0.5, 1.0, 1.0]))


def test_a_family_too_large_for_qnml_is_never_taken_and_stops_no_search():
    rng = np.random.default_rng(0)
    codes = rng.integers(110, size=(3, 300)).astype(np.uint8)
    local_scores = LocalScores(codes, np.array([110, 110, 110]), Score("qnml"))
    assert local_scores.column(0, frozenset([1]))[2] == -np.inf


@pytest.mark.parametrize("name", ["loglik", "aic", "bic", "bdeu", "bds", "k2", "fnml", "qnml"])
def test_a_score_can_be_pickled(name):
    assert pickle.loads(pickle.dumps(Score(name))) == Score(name)


@pytest.mark.parametrize("table", sorted({case.table for case in answers()}))
def test_scores_with_graph_priors_and_the_graphs_they_lead_to_are_those_of_bnlearn(table):
    for case in answers():
        if case.table != table:
            continue
        score = as_score((case.score, case.setting))
        if case.graph_prior != "uniform":
            score = as_score(score, (case.graph_prior, case.chance))
        local_scores = LocalScores(*rows(table), score)
        assert local_scores.total(some_parents(table)) == pytest.approx(case.value, rel=1e-10), case
        found = search(local_scores, Knowledge.of(COLUMNS), "hill_climb").parents
        assert {COLUMNS[x] + COLUMNS[y] for y, own in enumerate(found) for x in own} == set(case.arcs.split()), case


@pytest.mark.parametrize("table", range(3))
@pytest.mark.parametrize("prior", ["variable_selection", ("marginal", 0.9)])
def test_every_search_knows_the_graph_prior(table, prior):
    codes, n_states = rows(table)
    plain = LocalScores(codes[:5], n_states[:5], Score("bdeu"))
    local_scores = LocalScores(codes[:5], n_states[:5], as_score("bdeu", prior))
    per_parent, per_variable = local_scores.score.per_parent(5)
    scores = {}
    for method in ("exact", "order", "hill_climb"):
        found = search(local_scores, Knowledge.of(COLUMNS[:5]), method)
        n_arcs = sum(map(len, found.parents))
        expected = plain.total(found.parents) + per_parent * n_arcs + 5 * per_variable
        assert found.score == pytest.approx(expected, rel=1e-12)
        scores[method] = found.score
    assert max(scores.values()) == pytest.approx(scores["exact"], rel=1e-12)


def test_a_score_of_the_users_own_is_a_function_of_the_counts():
    codes, n_states = rows(1)
    bic = LocalScores(codes, n_states, Score("bic"))
    own = LocalScores(codes, n_states, as_score(Score("bic").local_score))
    known = Knowledge.of(COLUMNS)
    assert search(own, known, "hill_climb").parents == search(bic, known, "hill_climb").parents
    assert search(own, known, "hill_climb").score == pytest.approx(search(bic, known, "hill_climb").score, rel=1e-12)
    for value in (np.nan, "much", np.inf):
        with pytest.raises(ParameterError, match="score of your own gave"):
            LocalScores(codes, n_states, as_score(lambda *_, value=value: value)).of(0, [])


@pytest.mark.parametrize(
    ("score", "prior", "message"),
    [
        ("bic", "marginal", "'bic' is no marginal likelihood"),
        ("bdeu", "cs", "graph_prior is 'cs'"),
        ("bdeu", ("marginal", 1), "give a number between 0 and 1"),
        ("bdeu", ("uniform", 0.5), "'uniform' takes no probability"),
        (("bdla", 2.5), "uniform", "whole number of sample sizes"),
        ("own", "uniform", "score is 'own'"),
    ],
)
def test_priors_and_settings_that_mean_nothing_are_refused(score, prior, message):
    with pytest.raises(ParameterError, match=message):
        as_score(score, prior)
