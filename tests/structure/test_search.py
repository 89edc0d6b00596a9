"""Searches for a structure: what they must find, and what they must never do."""

from itertools import pairwise

import numpy as np
import pytest
from tests.oracles.chained_rows import chained_rows
from tests.oracles.local_scores import all_parents, is_acyclic

from bayeswater import limits
from bayeswater.errors import ParameterError, ResourceLimitError
from bayeswater.kernels.threads import threads
from bayeswater.structure.exact_search import exact_search, forecast
from bayeswater.structure.hill_climbing import Climb, hill_climb
from bayeswater.structure.knowledge import Knowledge
from bayeswater.structure.local_scores import LocalScores
from bayeswater.structure.order_search import OrderSearch
from bayeswater.structure.scores import Score
from bayeswater.structure.search import search

LETTERS = tuple("abcdefghij")


def local_scores(n_rows=300, n_states=(2, 3, 2, 2, 3, 2, 2), seed=0, name="bic", setting=None):
    return LocalScores(*chained_rows(n_rows, list(n_states), seed), Score(name, setting))


def knows(n, **known):
    return Knowledge.of(LETTERS[:n], **known)


@pytest.mark.parametrize(
    ("name", "seed"), [("bic", 0), ("bic", 1), ("bdeu", 2), ("aic", 0), ("fnml", 1), ("bds", 2), ("qnml", 0)]
)
def test_the_exact_search_finds_the_best_of_all_graphs(name, seed):
    scored = local_scores(60, (2, 3, 2, 2), seed, name)
    best = max(scored.total(parents) for parents in all_parents(4))
    parents, score = exact_search(scored, knows(4))
    assert is_acyclic(parents)
    assert score == scored.total(parents)
    assert score == pytest.approx(best, abs=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_the_exact_search_keeps_to_what_is_known(seed):
    scored = local_scores(60, (2, 3, 2, 2), seed)
    known = knows(4, required="d -> a", forbidden="a -> b; c -> b", max_parents=2)
    allowed = [
        parents
        for parents in all_parents(4)
        if 3 in parents[0] and not {0, 2} & parents[1] and max(map(len, parents)) <= 2
    ]
    parents, score = exact_search(scored, known)
    assert parents in allowed
    assert score == pytest.approx(max(map(scored.total, allowed)), abs=1e-9)


@pytest.mark.parametrize("method", ["hill_climb", "tabu", "order"])
@pytest.mark.parametrize("seed", range(3))
def test_what_a_search_finds_is_a_graph_that_no_change_of_one_arc_improves(method, seed):
    scored = local_scores(seed=seed)
    found = search(scored, knows(7), method)
    assert is_acyclic(found.parents)
    assert found.score == scored.total(found.parents)
    for y in range(7):
        for x in range(7):
            for turns in (False, True):
                changed = list(found.parents)
                if x == y or (turns and x not in changed[y]):
                    continue
                changed[y] = changed[y] ^ {x}
                if turns:
                    changed[x] = changed[x] | {y}
                if is_acyclic(changed):
                    assert scored.total(changed) <= found.score + 1e-9


@pytest.mark.parametrize("name", ["bic", "bdeu"])
@pytest.mark.parametrize("seed", range(4))
def test_the_order_search_finds_the_proven_optimum_of_small_tables(name, seed):
    scored = local_scores(seed=seed, name=name)
    assert search(scored, knows(7), "order").score == pytest.approx(exact_search(scored, knows(7))[1], abs=1e-9)


def test_methods_never_lose_to_the_simpler_ones():
    scored = local_scores(400, (2, 3, 2, 4, 2, 3, 2, 2, 3, 2), seed=8)
    found = [search(scored, knows(10), method).score for method in ("hill_climb", "tabu", "order", "exact")]
    assert all(low <= high + 1e-9 for low, high in pairwise(found))


@pytest.mark.parametrize("method", ["hill_climb", "tabu", "order", "exact"])
def test_every_search_keeps_to_what_is_known(method):
    known = knows(7, required=[("g", "a"), ("a", "d")], forbidden="b <- *; c -> d", tiers=[["g"], ["a", "e"], ["f"]])
    found = search(local_scores(seed=2), known, method)
    assert is_acyclic(found.parents)
    assert 6 in found.parents[0] and 0 in found.parents[3]
    assert not found.parents[1] and 2 not in found.parents[3]
    assert not found.parents[6] & {0, 4, 5} and 5 not in found.parents[0] | found.parents[4]
    assert max(map(len, search(local_scores(seed=2), knows(7, max_parents=1), method).parents)) <= 1


def test_the_answer_does_not_depend_on_threads_or_on_a_second_run():
    def answers():
        scored = local_scores(2000, seed=5)
        scored._uses_kernel = True
        return [search(scored, knows(7), method, seed=3) for method in ("order", "hill_climb")]

    with threads(1):
        alone = answers()
    with threads(4):
        together = answers()
    for a, b in zip(alone, together, strict=True):
        assert (a.parents, a.score) == (b.parents, b.score)


def test_equal_gains_are_decided_by_a_fixed_rule_not_by_the_last_bit():
    codes, n_states = chained_rows(200, [2, 2, 2, 2], seed=4)
    codes[3] = codes[2]  # turning an arc between equal columns gains nothing, and neither is better for anything
    found = search(LocalScores(codes, n_states, Score("bic")), knows(4), "hill_climb")
    backwards = search(LocalScores(codes[:, ::-1], n_states, Score("bic")), knows(4), "hill_climb")
    assert found.parents == backwards.parents
    assert 2 in found.parents[3]  # the earlier one is the parent


def test_restarts_are_told_and_the_best_of_them_is_given():
    found = search(local_scores(seed=1), knows(7), "hill_climb", restarts=3, seed=1)
    assert len(found.restarts) == 4
    assert found.score == max(found.restarts)


def test_where_nobody_asked_for_a_proof_a_short_time_gives_the_best_graph_so_far():
    assert search(local_scores(), knows(7), "auto").method == "exact"
    found = search(local_scores(), knows(7, required="a -> b"), "auto", time_limit=1e-9)
    assert found.method == "order" and found.stopped == "the time limit was reached"
    assert 0 in found.parents[1] and found.score == pytest.approx(local_scores().total(found.parents), rel=1e-12)


def test_a_time_limit_ends_a_search_and_is_told():
    found = search(local_scores(seed=1), knows(7), "order", time_limit=0.2)
    assert found.stopped == "the time limit was reached"
    assert is_acyclic(found.parents)
    scores = [score for _, score in found.curve]
    assert scores == sorted(scores) and scores[-1] == found.score


@pytest.mark.parametrize(
    ("method", "size"), [("hill_climb", "1.148 KiB"), ("tabu", "1.148 KiB"), ("order", "3.445 KiB")]
)
def test_a_climb_that_would_not_fit_is_refused_with_what_it_would_hold(monkeypatch, method, size):
    monkeypatch.setattr(limits, "TABLE_BYTES", 500)
    with pytest.raises(ResourceLimitError, match=rf"among 7 variables gains, .*{method}.* would take {size}.*'tree'"):
        search(local_scores(), knows(7), method)
    assert search(local_scores(), knows(7), "tree").method == "tree"


def test_a_search_begins_where_it_is_told_to():
    scored, known = local_scores(seed=6), knows(7)
    best = exact_search(scored, known)[0]
    assert hill_climb(scored, known, best) == (best, scored.total(best), 0)
    assert search(scored, known, "hill_climb", start=best).n_steps == 0


@pytest.mark.parametrize("seed", range(3))
def test_the_best_tree_is_the_best_of_all_graphs_with_one_parent_at_most(seed):
    scored = local_scores(100, (2, 3, 2, 2), seed)
    trees = [parents for parents in all_parents(4) if max(map(len, parents)) <= 1]
    assert search(scored, knows(4), "tree").score == pytest.approx(max(map(scored.total, trees)), abs=1e-9)


@pytest.mark.parametrize(("name", "setting"), [("loglik", None), ("aic", None), ("bic", 3.0), ("ebic", 0.2)])
def test_the_best_tree_by_information_alone_is_that_by_scores(name, setting):
    """Of likelihood scores what all pairs gain is their information, less a price: no column of scores is asked for."""
    scored = local_scores(400, (2, 3, 2, 2, 3, 2, 2), 1, name, setting)
    by_scores = search(scored, knows(7), "tree")
    assert scored.pair_gains() is None
    compiled = local_scores(400, (2, 3, 2, 2, 3, 2, 2), 1, name, setting)
    compiled._uses_kernel = True
    gains = compiled.pair_gains()
    for y in range(7):
        column = scored.column(y, frozenset())
        others = np.arange(7) != y
        np.testing.assert_allclose(gains[y][others], (column - column[y])[others], rtol=1e-9, atol=1e-9)
    assert search(compiled, knows(7), "tree").parents == by_scores.parents


def test_the_score_of_a_climb_is_that_of_its_graph_after_every_step():
    scored, known = local_scores(seed=9), knows(7)
    climb = Climb(scored, known, known.start)
    while (step := climb.best_step()) is not None and step.gain > 0:
        climb.take(step)
        assert climb.score == pytest.approx(scored.total(climb.parents), abs=1e-9)
        fresh = Climb(scored, known, tuple(climb.parents))
        np.testing.assert_array_equal(climb.reach, fresh.reach)
        np.testing.assert_array_equal(climb._toggle, fresh._toggle)


def test_an_order_search_moves_required_parents_before_their_children():
    scored, known = local_scores(seed=2), knows(7, required="g -> a; a -> b")
    walk = OrderSearch(scored, known, seed=1)
    found = walk.from_random_order()
    assert 6 in found.parents[0] and 0 in found.parents[1] and is_acyclic(found.parents)


def test_an_exact_search_of_too_many_variables_is_refused_with_the_numbers():
    n_states = [2] * 26
    scored = LocalScores(np.zeros((26, 2), dtype=np.uint8), np.array(n_states), Score("bic"))
    names = [f"x{j}" for j in range(26)]
    message = "26 variables has up to 872,415,232 different families.*method='order'"
    with pytest.raises(ResourceLimitError, match=message):
        search(scored, Knowledge.of(names), "exact")
    assert forecast(Knowledge.of(names, max_parents=1)).n_families == 26 * 26


def test_the_forecast_of_an_exact_search_is_told_before_it_begins_and_kept(caplog, monkeypatch):
    told = []

    def begun(*_):
        told.extend(caplog.messages)
        raise KeyError

    with caplog.at_level("INFO", logger="bayeswater"):
        assert (
            search(local_scores(), knows(7), "exact").forecast
            == "up to 448 different families, 1.125 KiB for all subsets"
        )
        caplog.clear()
        monkeypatch.setattr("bayeswater.structure.search.exact_search", begun)
        with pytest.raises(KeyError):
            search(local_scores(), knows(7), "exact")
    assert told == ["an exact search over 7 variables has up to 448 different families, 1.125 KiB for all subsets"]
    assert not search(local_scores(), knows(7), "order").forecast


def test_the_forecast_counts_every_family_of_many_variables():
    names = tuple(f"v{j}" for j in range(661))
    known = Knowledge.of(names, required=[("v0", "v1")], forbidden=[("v2", "v3")])
    cost = forecast(known)
    assert cost.n_families == 659 * 2**660 + 2 * 2**659
    assert forecast(Knowledge.of(names, max_parents=2)).n_families == 661 * (1 + 660 + 660 * 659 // 2)


def test_unknown_methods_and_trees_that_cannot_be_are_refused():
    with pytest.raises(ParameterError, match="choose one of auto, hill_climb"):
        search(local_scores(), knows(7), "simulated annealing")
    with pytest.raises(ParameterError, match="'b' has several required ones"):
        search(local_scores(), knows(7, required="a -> b; c -> b"), "tree")
    assert not any(search(local_scores(), knows(7, max_parents=0), "tree").parents)
    with pytest.raises(ParameterError, match="takes no max_parents"):
        search(local_scores(), knows(7, max_parents=1), "pc")


@pytest.mark.parametrize("seed", range(30))
def test_a_tree_that_keeps_to_what_is_known_is_the_best_of_one_parent_each(seed):
    rng = np.random.default_rng(seed)
    scored = local_scores(name=("bic", "k2", "aic")[seed % 3])
    arcs = [(x, y) for x in "abcdefg" for y in "abcdefg" if x != y]
    forbidden = [arcs[i] for i in rng.choice(len(arcs), int(rng.integers(0, 20)), replace=False)]
    before, after = sorted(rng.choice(list("abcdefg"), 2, replace=False).tolist())
    required = [(before, after)] if seed % 2 and (before, after) not in forbidden else []
    known = Knowledge.of(tuple("abcdefg"), required=required, forbidden=forbidden, max_parents=1)
    found = search(scored, known, "tree")
    assert found.score == pytest.approx(search(scored, known, "exact").score, rel=1e-12)
    assert found.score == pytest.approx(scored.total(found.parents), rel=1e-12)


def test_auto_takes_no_exact_search_over_more_subsets_than_it_can_hold():
    # With one parent each there are few parent sets, and still 2 ** 30 subsets.
    scored = LocalScores(*chained_rows(50, [2] * 30, 0), Score("bic"))
    names = tuple(f"v{j}" for j in range(30))
    assert search(scored, Knowledge.of(names, max_parents=1), "auto").method == "order"
    assert search(local_scores(), knows(7, max_parents=1), "auto").method == "exact"


def test_an_exact_search_that_runs_out_of_time_says_so():
    with pytest.raises(ResourceLimitError, match="before the best graph was proven"):
        search(local_scores(), knows(7), "exact", time_limit=1e-9)


@pytest.mark.parametrize("method", ["order", "hill_climb", "tabu"])
def test_a_search_that_runs_out_of_time_at_once_still_gives_a_graph(method):
    found = search(local_scores(), knows(7, required="a -> b"), method, time_limit=1e-9)
    assert is_acyclic(found.parents) and 0 in found.parents[1]


def test_constant_columns_and_a_single_row_are_searched_like_others():
    for n_rows in (1, 20):
        codes = np.zeros((4, n_rows), dtype=np.uint8)
        found = search(LocalScores(codes, np.array([1, 2, 1, 2]), Score("bic")), knows(4), "order")
        assert not any(found.parents)


def test_columns_of_very_many_states_are_passed_over_before_memory_is():
    n = 6000
    codes = np.array([np.arange(n), np.arange(n)[::-1], np.arange(n) % 2], dtype=np.uint16)
    scored = LocalScores(codes, np.array([n, n, 2]), Score("bdeu"))
    scored.expect(10**6)
    assert scored.column(2, frozenset([0]))[1] == -np.inf
    assert np.isfinite(scored.column(2, frozenset())).all()
