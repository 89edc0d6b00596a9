"""A linear member: logistic regression of rows as others read them, honest by folds, and silent where cells are."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from tests.learning.members.member_rows import mixed_rows, repeated, table_of

from bayeswater.errors import StatisticsError
from bayeswater.inference.log_space import log_posterior
from bayeswater.learning.members import linear_member
from bayeswater.learning.members.linear_member import FOLDS, LinearMember, LinearTerms, _folds, _LinesOfLeastLoss


def line_table(n_rows=400, seed=0):
    rng = np.random.default_rng(seed)
    numbers, states = rng.normal(size=(n_rows, 2)), rng.integers(0, 3, (n_rows, 1))
    codes = (numbers @ [2.0, -1.0] + states[:, 0] + rng.logistic(size=n_rows) > 1).astype(np.int64)
    return table_of(numbers, states, [3], codes, 2)


def test_the_weights_are_those_of_a_logistic_regression():
    table = line_table()
    problem = _LinesOfLeastLoss(LinearTerms.learn(table), table, np.bincount(table.labels))
    everywhere = np.ones(len(table), dtype=bool)
    intercept, weight = problem.least(0.5, everywhere, problem.start)
    # Of two classes w and -w are one weight 2 w, so C is twice; our intercepts are held back a little, the peer's not.
    design = np.concatenate([problem.terms[0], problem.terms[1].toarray()], axis=1)
    peer = LogisticRegression(C=1.0, tol=1e-8).fit(design, table.labels)
    np.testing.assert_allclose(weight[:, 1] - weight[:, 0], peer.coef_[0], atol=0.05)
    offset = problem.prior[1] - problem.prior[0] + intercept[1] - intercept[0]
    np.testing.assert_allclose(offset, peer.intercept_[0], atol=0.1)


def test_a_row_is_judged_by_what_other_folds_teach():
    table, rng = mixed_rows(200), np.random.default_rng(1)
    member, fold = LinearMember().learn(table, 3), _folds(table, 3)
    for number in range(FOLDS):
        own, codes = np.flatnonzero(fold == number), table.labels.copy()
        codes[own] = rng.permutation(codes[own])
        problems = [
            _LinesOfLeastLoss(member.terms, replace(table, codes=of), np.bincount(table.labels))
            for of in (table.labels, codes)
        ]
        lines = [problem.least(1.0, fold != number, problem.start) for problem in problems]
        np.testing.assert_array_equal(*(weight for _, weight in lines))
        part = table.take(own)
        said = member.terms.scores(member.terms.read(part), member.lines[1 + number])
        found, n_members = member.honest_log_posterior(part)
        np.testing.assert_allclose(found, log_posterior(member._prior.without(part.labels, part.removed) + said))
        assert (n_members == 1).all()


def curved_table(n_rows=600, seed=0):
    rng = np.random.default_rng(seed)
    numbers = rng.uniform(-2, 2, size=(n_rows, 2))
    codes = (3 * np.abs(numbers[:, 0]) + numbers[:, 1] + rng.logistic(size=n_rows) > 3).astype(np.int64)
    return table_of(numbers, np.empty((n_rows, 0), dtype=np.int32), [], codes, 2)


def test_terms_bend_where_held_out_rows_are_told_better_and_stay_straight_where_not(monkeypatch):
    table, new = curved_table(), curved_table(4000, 1)
    bent = LinearMember().learn(table, 0)
    assert bent.terms.knots.shape == (2, linear_member.N_KNOTS)
    assert not LinearMember().learn(line_table(), 0).terms.knots.size
    right = (bent.log_posterior(new).argmax(axis=1) == new.labels).mean()
    straight = LinearMember(bends=False).learn(table, 0)
    assert not straight.terms.knots.size
    monkeypatch.setattr(linear_member, "MOST_BENT", 0)
    assert not LinearMember().learn(table, 0).terms.knots.size
    assert right > (straight.log_posterior(new).argmax(axis=1) == new.labels).mean() + 0.1


def test_knots_are_those_of_rows_as_often_as_they_weigh():
    table = curved_table(60)
    twice = table_of(
        np.repeat(table.numbers, 2, axis=0), np.repeat(table.states, 2, axis=0), [], np.repeat(table.labels, 2), 2
    )
    heavy = replace(table, weight=np.full(60, 2.0))
    terms = LinearTerms.learn(heavy)
    np.testing.assert_allclose(terms.bent(heavy).knots, terms.bent(twice).knots)


def test_a_row_without_any_cell_has_the_class_frequencies():
    table = line_table(2000)
    member = LinearMember().learn(table, 0)
    empty = table_of(np.full((1, 2), np.nan), np.array([[-1]]), [3], np.array([0]), 2)
    # Of a smooth boundary, the row in the middle is about as frequent as the classes: not exactly, as odds are no line.
    np.testing.assert_allclose(np.exp(member.log_posterior(empty))[0], np.bincount(table.labels) / 2000, atol=0.05)


def test_states_say_nothing_in_the_mean_and_missing_ones_are_states_where_there_were_some():
    table = mixed_rows(300, missing=0.2)
    member = LinearMember().learn(table, 0)
    assert member.terms.n_states.tolist() == [6, 3]
    z, marks = member.terms.read(table)
    assert marks.sum(axis=1).min() == 2
    np.testing.assert_allclose(marks.mean(axis=0)[3:9] @ member.lines[0][1][6:12], 0, atol=1e-12)
    assert z.shape == (300, 3)


def test_order_and_repetition_do_not_show_and_counting_moves_the_prior_alone():
    table = mixed_rows(120)
    weighed = replace(table, weight=np.full(120, 2.0))
    one, two = LinearMember().learn(weighed, 1), LinearMember().learn(repeated(table, 2), 1)
    np.testing.assert_allclose(one.log_posterior(table), two.log_posterior(table), atol=1e-3)  # the search ends before
    more = mixed_rows(50, seed=5)
    moved = one.plus(more)
    assert np.abs(moved.log_posterior(table) - one.log_posterior(table)).max() > 1e-4
    np.testing.assert_array_equal(moved.minus(more).log_posterior(table), one.log_posterior(table))


def test_arrays_give_knots_back_and_none_where_an_earlier_file_has_none():
    table = curved_table()
    for member in (LinearMember().learn(table, 1), LinearMember(bends=False).learn(table, 1)):
        arrays, shape = member.to_arrays(), (2, np.zeros(0, dtype=np.int64), 2)
        again = LinearMember.from_arrays(arrays, *shape)
        np.testing.assert_array_equal(again.log_posterior(table), member.log_posterior(table))
        for wrong in (arrays["knots"][:1], np.full((2, 7), np.nan), np.zeros((2, 3)), np.zeros((2, 7), dtype=np.int64)):
            with pytest.raises(StatisticsError, match="'linear'"):
                LinearMember.from_arrays({**arrays, "knots": wrong}, *shape)
    del arrays["knots"]
    np.testing.assert_array_equal(LinearMember.from_arrays(arrays, *shape).lines[0][1], member.lines[0][1])


def test_arrays_give_the_member_back_and_others_are_refused():
    table = mixed_rows(100)
    member = LinearMember().learn(table, 1)
    arrays = member.to_arrays()
    again = LinearMember.from_arrays(arrays, 3, np.array([5, 2]), 3)
    np.testing.assert_array_equal(again.log_posterior(table), member.log_posterior(table))
    np.testing.assert_array_equal(again.honest_log_posterior(table)[0], member.honest_log_posterior(table)[0])
    for name, wrong in {
        "weight": arrays["weight"][:, 1:],
        "intercept": arrays["intercept"] * np.nan,
        "lacks": arrays["lacks"] + 2,
        "class_count": -arrays["class_count"],
        "seed": arrays["seed"][:0],
    }.items():
        with pytest.raises(StatisticsError, match="'linear'"):
            LinearMember.from_arrays({**arrays, name: wrong.astype(arrays[name].dtype)}, 3, np.array([5, 2]), 3)
