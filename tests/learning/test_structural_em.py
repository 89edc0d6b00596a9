"""Structural EM finds the graph although cells are missing, and counts no copy of a row as another row."""

import numpy as np
import pytest
from tests.learning.lossy_rows import rows_of
from tests.networks.nets import YES_NO

from bayeswater.learning.structural_em import (
    DRAWS,
    TOLERANCE,
    Problem,
    comparing_score,
    find_graph,
    of_copies,
    structural_em,
)
from bayeswater.models.network.bayesian_network import BayesianNetwork
from bayeswater.structure.dag import Dag
from bayeswater.structure.equivalence import equivalence_class
from bayeswater.structure.knowledge import Knowledge
from bayeswater.structure.local_scores import LocalScores
from bayeswater.structure.scores import Score
from bayeswater.structure.search import search

GRAPH = "rain -> wet <- sprinkler; wet -> slippery; season -> rain"


def lawn():
    likely, rare = [0.8, 0.2], [0.15, 0.85]
    tables = {
        "rain": [likely, rare],
        "sprinkler": [0.4, 0.6],
        "wet": [[[0.95, 0.05], [0.75, 0.25]], [[0.8, 0.2], [0.03, 0.97]]],  # given rain, sprinkler
        "slippery": [likely, rare],
        "season": [0.5, 0.5],
    }
    return BayesianNetwork(GRAPH, tables, states=dict.fromkeys(tables, YES_NO)).core


def found_in(codes, score="bic", method="auto", weight=None, seed=0, **settings):
    n = len(codes)
    knowledge = Knowledge.of(tuple(f"v{j}" for j in range(n)))
    return structural_em(
        codes,
        np.full(n, 2),
        Score(score),
        lambda local_scores, start, is_brief: search(local_scores, knowledge, method, start=start),
        start=knowledge.start,
        weight=weight,
        seed=seed,
        **settings,
    )


def class_of(names, parents):
    return equivalence_class(Dag(names, tuple(tuple(sorted(own)) for own in parents)))


def test_the_graph_is_found_again_with_missing_cells():
    network = lawn()
    codes = rows_of(network, 3000, 0.2, np.random.default_rng(1))
    found = found_in(codes)
    assert class_of(network.dag.names, found.search.parents) == equivalence_class(network.dag)
    assert found.search.score == max(found.rounds)
    scores = [score for _, score in found.search.curve]  # each new best, and the last one with its likeliest tables
    assert scores == sorted(scores) and scores[-1] == found.search.score


def test_of_whole_rows_the_score_is_that_of_the_counts():
    codes = rows_of(lawn(), 800, 0.0, np.random.default_rng(2))
    local_scores, names = LocalScores(codes, np.full(5, 2), Score("bic")), tuple("abcde")
    found = found_in(codes).search
    assert found.score == pytest.approx(local_scores.total(found.parents), rel=1e-12)
    best = search(local_scores, Knowledge.of(names), "auto")
    assert class_of(names, found.parents) == class_of(names, best.parents)


@pytest.mark.parametrize(("name", "price"), [("loglik", 0.0), ("aic", 1.0), ("bic", np.log(12) / 2)])
def test_the_score_is_the_greatest_likelihood_of_what_is_known_less_the_price(name, price):
    # Where b is missing its row tells of a alone, so the greatest likelihood is that of shares.
    codes = np.array([[0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1], [0, 0, 0, 1, 2, 0, 1, 1, 1, 1, 2, 2]])
    of_a = 5 * np.log(5 / 12) + 7 * np.log(7 / 12)
    of_b = 3 * np.log(3 / 4) + np.log(1 / 4) + np.log(1 / 5) + 4 * np.log(4 / 5)
    problem = Problem(codes, np.array([2, 2]), Score(name), None)
    found = problem.estimated((frozenset(), frozenset({0})), codes, len(codes[0]) * TOLERANCE)
    # EM ends at a gain below the tolerance of every row; as 2 of 7 cells are missing, what is left is less than that.
    assert found.score == pytest.approx(of_a + of_b - 3 * price, abs=12 * TOLERANCE)
    assert all(table.min() > 0 for table in found.factors.tables)  # what cells are drawn from leaves all possible


@pytest.mark.parametrize("name", ["loglik", "aic", "bic"])
def test_a_higher_price_for_copies_is_the_same_as_a_smaller_weight_of_each(name):
    codes = np.tile(rows_of(lawn(), 200, 0.0, np.random.default_rng(3)), DRAWS)
    score = Score(name)
    priced, nothing = of_copies(score, DRAWS, 200, 200.0, None)
    _, weight = of_copies(score, DRAWS, 200, 200.0, None, weigh=True)
    assert nothing is None
    copies, weighted = LocalScores(codes, np.full(5, 2), priced), LocalScores(codes, np.full(5, 2), score, weight)
    for y, parents in ((0, ()), (1, (0, 2)), (3, (4,))):
        assert copies.of(y, parents) == pytest.approx(DRAWS * weighted.of(y, parents), rel=1e-12)


@pytest.mark.parametrize("name", ["bdeu", "k2", "qnml", "fnml", "bds"])
def test_copies_share_the_weight_of_their_row_where_a_score_has_no_price(name):
    score, weight = of_copies(Score(name), DRAWS, 3, 6.0, np.array([1.0, 2.0, 3.0]))
    assert score == Score(name)
    np.testing.assert_allclose(weight.reshape(DRAWS, 3).sum(axis=0), [1, 2, 3])
    assert comparing_score(Score(name)) == Score("bic")


@pytest.mark.parametrize("score", ["bdeu", "aic"])
def test_other_scores_search_too(score):
    codes = rows_of(lawn(), 400, 0.2, np.random.default_rng(4))
    found = found_in(codes, score, "hill_climb")
    assert sum(map(len, found.search.parents)) >= 3
    nothing = Problem(codes, np.full(5, 2), comparing_score(Score(score)), None).estimated(
        (frozenset(),) * 5, codes, 1.0
    )
    assert found.search.score > nothing.score


def test_tests_of_independence_take_no_copy_for_another_row():
    # Two fair coins: whichever way their missing cells are drawn, copies would make chance look like dependence.
    rng = np.random.default_rng(5)
    arcs = 0
    for _ in range(10):
        codes = np.where(rng.random((2, 200)) < 0.05, 2, rng.integers(0, 2, (2, 200)))
        arcs += sum(map(len, found_in(codes, method="pc", weigh_copies=True).search.parents))
    assert arcs <= 2  # of ten tests at 0.05; with copies as rows about four


@pytest.mark.parametrize("method", ["exact", "order"])
def test_a_long_search_is_made_once_and_the_other_rounds_climb(method, monkeypatch):
    made = []

    def counted(local_scores, knowledge, method, **settings):
        made.append(method)
        return search(local_scores, knowledge, method, **settings)

    monkeypatch.setattr("bayeswater.learning.structural_em.search", counted)
    network = lawn()
    codes = rows_of(network, 3000, 0.2, np.random.default_rng(1))
    found, rounds = find_graph(codes, np.full(5, 2), Score("bic"), Knowledge.of(network.dag.names), method)
    assert class_of(network.dag.names, found.parents) == equivalence_class(network.dag)
    assert len(made) > 2 and made.count(method) == 1 and found.method == method
    assert set(made) == {method, "tabu"} and found.score == max(rounds)


def test_the_same_seed_gives_the_same_answer():
    codes = rows_of(lawn(), 500, 0.3, np.random.default_rng(6))
    one, other = found_in(codes, seed=3), found_in(codes, seed=3)
    assert one.rounds == other.rounds and one.search.parents == other.search.parents
    assert one.rounds[0] != found_in(codes, seed=4).rounds[0]


def test_weights_are_as_many_rows():
    codes = rows_of(lawn(), 100, 0.2, np.random.default_rng(7))
    weight = np.random.default_rng(8).integers(1, 4, 100)
    repeated, parents = np.repeat(codes, weight, axis=1), (frozenset(), frozenset({0}), *[frozenset({1})] * 3)
    weighted = Problem(codes, np.full(5, 2), Score("bic"), weight).estimated(parents, codes, 1e-9)
    plain = Problem(repeated, np.full(5, 2), Score("bic"), None).estimated(parents, codes, 1e-9)
    assert weighted.score == pytest.approx(plain.score, abs=1e-6)


def test_drafts_of_many_rows_look_at_some_of_them():
    codes, rng = rows_of(lawn(), 6000, 0.2, np.random.default_rng(10)), np.random.default_rng(11)
    problem = Problem(codes, np.full(5, 2), Score("bic"), np.arange(6000.0))
    some = problem.some(5000, rng)
    rows = some.weight.astype(int)
    assert len(set(rows)) == 5000
    assert np.array_equal(some.codes, codes[:, rows]) and problem.some(6000, rng) is problem
    assert found_in(codes).search.score > found_in(codes[:, :5000]).search.score * 6 / 5 * 1.01


def test_no_further_round_is_made_when_there_is_no_time_left():
    codes = rows_of(lawn(), 100, 0.2, np.random.default_rng(9))
    found = found_in(codes, watch=lambda score, n_arcs: False)
    assert len(found.rounds) == 1
    assert found.search.stopped == "the time limit was reached"
