"""Boosted trees: they find what takes several columns at once, and no row has a part in what scores it honestly."""

from dataclasses import replace

import numpy as np
import pytest
from tests.learning.members.member_rows import mixed_rows, repeated, table_of

from bayeswater.errors import StatisticsError
from bayeswater.inference.log_space import log_posterior
from bayeswater.kernels.threads import threads
from bayeswater.learning.members import boosted_member
from bayeswater.learning.members.boosted_member import FOLDS, BoostedMember, _directions, _Stopping
from bayeswater.learning.members.presets import committees_of
from bayeswater.models.ensemble.reading import canonical


@pytest.fixture(autouse=True)
def few_trees(monkeypatch):
    for name in ("OBLIVIOUS", "DEEP", "OF_NODES"):
        monkeypatch.setattr(boosted_member, name, getattr(boosted_member, name)._replace(most_trees=20))
    monkeypatch.setattr(boosted_member, "PATIENCE", 5)


def parity(n_rows=600, seed=0):
    """Classes of an exclusive or of a number's sign and a state, which no column tells of alone."""
    rng = np.random.default_rng(seed)
    numbers, states = rng.normal(size=(n_rows, 2)), rng.integers(0, 4, (n_rows, 1))
    codes = ((numbers[:, 0] > 0) ^ (states[:, 0] % 2 == 1)).astype(np.int64)
    return table_of(numbers, states, [4], codes, 2)


def test_what_takes_two_columns_at_once_is_found_and_told_to_rows_that_are_new():
    table, new = parity(), parity(300, seed=1)
    member = BoostedMember().learn(table, 0)
    assert (member.log_posterior(new).argmax(axis=1) == new.labels).mean() > 0.95
    honest, n_members = member.honest_log_posterior(table)
    assert (honest.argmax(axis=1) == table.labels).mean() > 0.95
    assert (n_members == 1).all()


@pytest.mark.parametrize("number", range(FOLDS))
@pytest.mark.parametrize("own_half", range(2))
@pytest.mark.parametrize("shape", ["OBLIVIOUS", "OF_NODES"])
def test_no_row_has_a_part_in_what_scores_it_but_that_a_fold_chooses_the_shape(number, own_half, shape, monkeypatch):
    for name in ("OBLIVIOUS", "OF_NODES"):
        monkeypatch.setattr(boosted_member, name, getattr(boosted_member, shape))
    table, rng = mixed_rows(240), np.random.default_rng(1)
    member = BoostedMember().learn(table, 3)
    fold, half = member._parts(table, FOLDS)
    own, codes = np.flatnonzero((fold == number) & (half == own_half)), table.labels.copy()
    codes[own] = rng.permutation(codes[own])
    other = BoostedMember().learn(replace(table, codes=codes), 3)
    part = table.take(own)
    found = [one.honest_log_posterior(part)[0] for one in (member, other)]
    np.testing.assert_array_equal(*found)
    n_trees = int(member.boosters[number].n_trees[2 - own_half])
    said = member.boosters[number].scores(member._codes(part), member._slot, n_trees)
    prior = member._prior.without(part.labels, part.removed)
    np.testing.assert_allclose(found[0], log_posterior(prior + said), rtol=1e-12)
    assert (member.log_posterior(part) != other.log_posterior(part)).any()  # the boosters of other folds saw them


def test_the_posterior_is_the_mean_of_the_folds():
    table = mixed_rows(150)
    member = BoostedMember().learn(table, 0)
    alone = [np.exp(replace(member, boosters=(one,)).log_posterior(table)) for one in member.boosters]
    np.testing.assert_allclose(np.exp(member.log_posterior(table)), np.mean(alone, axis=0), rtol=1e-12)


def test_trees_have_the_shape_that_the_first_fold_wants_and_of_very_many_rows_there_are_few_folds(monkeypatch):
    table, tried = parity(), []
    oblivious, deep, of_nodes = boosted_member.OBLIVIOUS, boosted_member.DEEP, boosted_member.OF_NODES

    def boosted(*given):
        tried.append(given[-1])
        return booster, {oblivious: 2.0, deep: 1.0, of_nodes: 3.0}[given[-1]]

    booster = BoostedMember().learn(table, 0).boosters[0]
    monkeypatch.setattr(boosted_member, "_boosted", boosted)
    BoostedMember().learn(table, 0)
    assert sorted(tried) == [of_nodes, *[oblivious] * FOLDS]  # 600 rows are too few for deep ones
    monkeypatch.setattr(boosted_member, "DEEP_ROWS", 600)
    tried.clear()
    BoostedMember().learn(table, 0)
    assert sorted(tried) == sorted([of_nodes, oblivious, *[deep] * FOLDS])
    monkeypatch.setattr(boosted_member, "MANY_TERMS", 600 * 3 * 2 - 1)
    assert len(BoostedMember().learn(table, 0).boosters) == boosted_member.FEW_FOLDS


def test_lists_of_rules_are_learned_by_trees_whose_nodes_have_questions_of_their_own(monkeypatch):
    rng = np.random.default_rng(0)
    cells = rng.integers(0, 3, (900, 6))
    y = np.select([(cells[:, :3] == 0).all(axis=1), (cells[:, 2:5] > 0).all(axis=1), cells[:, 5] == 1], [1, 2, 0], 1)
    table = table_of(np.zeros((900, 0)), cells, [3] * 6, y, 3)
    member = BoostedMember().learn(table, 0)
    assert {one.column.shape[1] for one in member.boosters} == {2**boosted_member.OF_NODES.depth - 1}
    again = BoostedMember.from_arrays(member.to_arrays(), 0, np.full(6, 3), 3)
    np.testing.assert_array_equal(again.log_posterior(table), member.log_posterior(table))
    arrays = member.to_arrays()
    for name in ("0.column", "0.cut"):
        arrays[name] = arrays[name][:, :-1]
    with pytest.raises(StatisticsError, match="other shapes"):
        BoostedMember.from_arrays(arrays, 0, np.full(6, 3), 3)


def test_a_booster_stops_where_the_loss_was_least():
    stop = _Stopping(1.0)
    for n_trees, loss in enumerate([0.9, 0.8, 0.85, 0.82, 0.81, 0.8, 0.83, 0.1], start=1):
        stop.look(n_trees, loss)
    assert (stop.n_trees, stop.least, stop.is_over) == (2, 0.8, True)  # it is over before the last one


def test_directions_hold_all_slopes_of_few_classes():
    slope = np.random.default_rng(0).normal(size=(20, 4))
    slope -= slope.mean(axis=1, keepdims=True)
    held = slope @ _directions(4, np.random.default_rng(1))
    np.testing.assert_allclose((held**2).sum(axis=1), (slope**2).sum(axis=1), rtol=1e-12)
    assert _directions(26, np.random.default_rng(1)).shape == (26, 4)


def test_weights_are_equal_rows_threads_do_not_show_and_counting_moves_the_prior_alone():
    table = mixed_rows(150)
    one = BoostedMember().learn(canonical(replace(table, weight=np.full(150, 2.0))), 1)
    with threads(1):
        two = BoostedMember().learn(canonical(repeated(table, 2)), 1)
    np.testing.assert_array_equal(one.log_posterior(table), two.log_posterior(table))
    more = mixed_rows(50, seed=5)
    moved = one.plus(more)
    assert np.abs(moved.log_posterior(table) - one.log_posterior(table)).max() > 1e-4
    np.testing.assert_array_equal(moved.minus(more).log_posterior(table), one.log_posterior(table))


@pytest.mark.parametrize("n_rows", [7, 12])
@pytest.mark.parametrize("weight", [1e-300, 1.0, 1e300])
def test_few_rows_of_any_weight_and_rows_without_a_cell_have_finite_answers(n_rows, weight):
    table = replace(mixed_rows(n_rows), weight=np.full(n_rows, weight))
    member = BoostedMember().learn(table, 0)
    empty = table_of(np.full((1, 3), np.nan), np.full((1, 2), -1), [5, 2], np.array([0]), 3)
    assert np.isfinite(member.log_posterior(table)).all()
    assert np.isfinite(member.log_posterior(empty)).all()


def test_arrays_give_the_member_back_and_others_are_refused():
    table, n_states = mixed_rows(150), np.array([5, 2])
    member = BoostedMember().learn(table, 1)
    arrays = member.to_arrays()
    again = BoostedMember.from_arrays(arrays, 3, n_states, 3)
    np.testing.assert_array_equal(again.log_posterior(table), member.log_posterior(table))
    np.testing.assert_array_equal(again.honest_log_posterior(table)[0], member.honest_log_posterior(table)[0])
    for name, wrong in {
        "0.column": arrays["0.column"] + 5,
        "0.cut": arrays["0.cut"][1:],
        "1.order": arrays["1.order"] + 9,
        "1.ranks": arrays["1.ranks"] * 0,
        "2.step": arrays["2.step"] * np.nan,
        "2.n_trees": arrays["2.n_trees"] + 100,
        "class_count": -arrays["class_count"],
        "seed": arrays["seed"][:0],
    }.items():
        with pytest.raises(StatisticsError, match=r"'boosted'|orders"):
            BoostedMember.from_arrays({**arrays, name: wrong.astype(arrays[name].dtype)}, 3, n_states, 3)
    with pytest.raises(StatisticsError, match="'boosted'"):
        BoostedMember.from_arrays({**arrays, "2.step": arrays["2.step"].astype(np.float32)}, 3, n_states, 3)
    del arrays["1.step"]
    with pytest.raises(StatisticsError, match="not complete"):
        BoostedMember.from_arrays(arrays, 3, n_states, 3)


def test_kdb_stands_beside_boosted_trees_where_rows_are_few_or_it_is_asked_for():
    few, many = mixed_rows(100), mixed_rows(1000)
    assert {"kdb", "boosted"} <= committees_of("best", None, few).keys()
    found = committees_of("best", None, many)
    assert "boosted" in found and "kdb" not in found
    assert {"kdb", "boosted"} <= committees_of("best", {"kdb": 2}, many).keys()
    assert "kdb" in committees_of("best", {"boosted": 0}, many)
    assert "kdb" not in committees_of("best", {"kdb": 0}, few)
    assert "trees-half" in committees_of("best", {"trees-half": 2}, many)
    assert not any("trees-half" in committees_of("best", None, table) for table in (few, many))
    assert "boosted" not in committees_of("balanced", None, many)
