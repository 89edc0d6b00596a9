"""The stack: honest scores equal brute force, counts move exactly; no order, repetition or thread shows."""

from dataclasses import replace

import numpy as np
import pytest
from tests.models.ensemble.tables import ONE, mixed_frame

from bayeswater import BayesEnsemble, StatisticsError, threads
from bayeswater.decision.pools import Pool
from bayeswater.estimate.dirichlet import Prior
from bayeswater.learning.members.committee import SMOOTHING, in_structure
from bayeswater.learning.members.linear_member import LinearMember
from bayeswater.learning.members.stack import Stack, _pooled, learn, seed_of
from bayeswater.learning.members.word_member import WordMember
from bayeswater.models.ensemble.reading import canonical


def fitted(preset="balanced", members=None, n_rows=240, weight=None):
    frame, y = mixed_frame(n_rows)
    few = {**ONE, "linear": 0} if members is None else members  # whose weights without a row are others
    model = BayesEnsemble(preset, members=few, random_state=3).fit(frame, y, weight)
    return model, model._counted(frame, y, weight, forgotten=False)


@pytest.mark.parametrize("weighted", [False, True])
def test_honest_scores_equal_those_of_a_stack_that_never_counted_the_row(weighted):
    weight = np.random.default_rng(1).integers(1, 4, 240).astype(float) / 2 if weighted else None
    model, table = fitted(weight=weight)
    stack = model._stack
    honest, judged = stack.honest_log_posterior(table)
    # Of one member each, a row that all families can judge is judged by all members: so taking it out of the counts,
    # with the structures as they are, has to give the same.
    rows = np.flatnonzero(judged)
    assert len(rows) >= 5
    for row in rows[:12]:
        one = table.take(np.array([row]))
        copy = replace(one, weight=one.removed)
        left = stack.minus(copy)
        # Sums of floats are taken in another order, and the scatter is downdated rather than summed again.
        np.testing.assert_allclose(honest[[row]], left.log_posterior(one), rtol=1e-7, atol=1e-9)


def test_rows_that_some_structure_has_seen_do_not_judge():
    model, table = fitted()
    _, judged = model._stack.honest_log_posterior(table)
    names = [family.name for family in model.report_.families]
    seen = np.zeros(len(table), dtype=bool)
    for place, name in enumerate(names):
        if name != "gaussian":
            seen |= in_structure(table.hashes, seed_of(3, place), 0, 0.6)
    np.testing.assert_array_equal(judged, ~seen)
    assert model.report_.n_validated == judged.sum()


def test_rows_that_were_counted_and_taken_out_again_leave_no_trace():
    model, _ = fitted()
    stack = model._stack
    more, y = mixed_frame(60, seed=9)
    rows = model._counted(more, y, None, forgotten=False)
    back = stack.plus(rows).minus(rows)
    probe = model._table(mixed_frame(50, seed=5)[0])
    np.testing.assert_allclose(back.log_posterior(probe), stack.log_posterior(probe), rtol=1e-7, atol=1e-9)
    np.testing.assert_array_equal(back.class_count, stack.class_count)


def test_rows_that_were_never_counted_are_not_forgotten():
    model, _ = fitted()
    strangers, _ = mixed_frame(40, seed=77)
    rows = model._counted(strangers, np.repeat("low", 40), None, forgotten=True)
    with pytest.raises(StatisticsError, match="give rows that were counted"):
        model._stack.minus(rows)
    with pytest.raises(StatisticsError, match="more are to be forgotten"):
        model._stack.minus(replace(rows, weight=np.full(len(rows), 50.0)))


def test_the_number_of_threads_never_shows():
    frame, y = mixed_frame(300)
    found = []
    for n in (1, 2, 5):
        with threads(n):
            found.append(BayesEnsemble(random_state=0).fit(frame, y).predict_log_proba(frame))
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])


def test_the_order_of_the_rows_never_shows():
    frame, y = mixed_frame()
    order = np.random.default_rng(0).permutation(len(y))
    first, second = BayesEnsemble(random_state=0).fit(frame, y), BayesEnsemble(random_state=0)
    second.fit(frame.iloc[order], y[order])
    np.testing.assert_array_equal(first.predict_log_proba(frame), second.predict_log_proba(frame))
    assert first.report_.log_loss == second.report_.log_loss


def test_a_row_of_weight_three_is_three_equal_rows_to_the_bit():
    frame, y = mixed_frame()
    weight = np.random.default_rng(2).integers(0, 4, len(y))
    rows = np.repeat(np.arange(len(y)), weight)
    weighted = BayesEnsemble(random_state=0).fit(frame, y, weight)
    repeated = BayesEnsemble(random_state=0).fit(frame.iloc[rows], y[rows])
    np.testing.assert_array_equal(weighted.predict_log_proba(frame), repeated.predict_log_proba(frame))


def test_equal_rows_become_one_and_others_stay_apart():
    _, table = fitted()
    twice = table.take(np.tile(np.arange(len(table)), 2)[::-1])
    once = canonical(twice)
    np.testing.assert_array_equal(once.hashes, table.hashes)
    np.testing.assert_array_equal(once.weight, np.full(len(table), 2.0))
    np.testing.assert_array_equal(once.numbers, table.numbers)
    assert (np.diff(once.hashes.astype(object)) >= 0).all()


def test_of_one_class_there_is_nothing_to_learn():
    _, table = fitted()
    alone = replace(table, codes=np.zeros(len(table), dtype=np.int64), n_classes=1)
    found = learn({}, alone, 0)
    np.testing.assert_array_equal(found.stack.log_posterior(alone), np.zeros((len(table), 1)))
    assert found.stack.committees == ()


def test_words_that_say_nothing_leave_the_others_as_they_are():
    class_count = np.array([3.0, 40.0])
    stack = Stack(
        (LinearMember(), WordMember()), np.ones(2), Pool(np.array([1.0, 0.0]), np.array([1.0, 0.0])), class_count
    )
    others = np.log([[0.3, 0.7], [0.9, 0.1]])
    prior = Prior.of(class_count, SMOOTHING)
    np.testing.assert_allclose(stack.pooled([others, np.tile(prior.log, (2, 1))]), others, rtol=1e-12)
    without = prior.without(np.array([0, 1]), np.ones(2))
    np.testing.assert_allclose(stack.pooled([others, without], without), others, rtol=1e-12)


@pytest.mark.parametrize(("is_repeated", "power"), [(True, 0.0), (False, 1.0)])
def test_words_multiply_others_as_far_as_they_tell_what_these_do_not(is_repeated, power):
    """As a title in a name repeats the sex."""
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 2, 2000)
    a, b = rng.normal(0.8 * (2 * codes - 1), 1.0, (2, 2000))  # 1.6 times each is its log-odds
    others, words = (shares_of(1.6 * (a * is_repeated + b)), shares_of(1.6 * a))
    found = _pooled([others, words], (LinearMember(), WordMember()), np.log([[0.5, 0.5]]), codes, np.ones(2000))
    assert found[2] == power


def shares_of(log_odds):
    return -np.logaddexp(0.0, np.stack([log_odds, -log_odds], axis=1))
