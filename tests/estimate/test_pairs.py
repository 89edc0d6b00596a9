"""Probabilities of pairs of columns are those of rows counted one by one, in fractions."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose
from tests.statistics.several_columns import Kind

from bayeswater.estimate.dirichlet import PseudoCounts
from bayeswater.estimate.pairs import PairEstimate

RNG = np.random.default_rng(3)
X = RNG.choice(np.array(["a", "b", "c", None], dtype=object), size=(24, 3), p=[0.4, 0.3, 0.1, 0.2])
X[X[:, 1] == "c", 1] = "a"  # columns of three and two states
Y = RNG.choice(np.array(["no", "yes"]), 24)
CLASSES = ["no", "yes"]
COUNTS = Kind("pairs").of(X, Y)

EMPTY = [False, True, np.array([False, True, False])]
by_rule = pytest.mark.parametrize("empty", EMPTY, ids=["left out", "a state", "a state of one column"])


def states_of(j, empty):
    """States of a column, None among them where missing is one."""
    is_state = bool(np.broadcast_to(empty, 3)[j])
    return [*COUNTS.schema[j].states, *([None] if is_state else [])]


def n_rows(*conditions, weights=None):
    return Fraction(sum(all(condition(x, y) for condition in conditions) for x, y in zip(X, Y, strict=True)))


def has(j, state):
    return lambda x, y: x[j] == state


def there(j, empty):
    return lambda x, y: x[j] in states_of(j, empty)


def of_class(label):
    return lambda x, y: y == label


def laid_out(estimate, empty, of_slot):
    """A table (n_slots, n_classes) by column, state and class, 0 in the slots that are no states."""
    rows = []
    for j in range(3):
        rows += [[float(of_slot(j, state, label)) for label in CLASSES] for state in states_of(j, empty)]
        rows.append([0.0, 0.0])
    return np.array(rows)


@by_rule
def test_counts_are_laid_out_by_slots(empty):
    estimate = PairEstimate(COUNTS, PseudoCounts(), empty)
    counted = laid_out(estimate, empty, lambda j, state, label: n_rows(has(j, state), of_class(label)))
    assert estimate.single.tolist() == counted.tolist()
    assert estimate.support.tolist() == counted.sum(axis=1).tolist()
    assert estimate.observed.tolist() == [
        [n_rows(there(j, empty), of_class(label)) for label in CLASSES] for j in range(3)
    ]
    assert estimate.n_states.tolist() == [len(states_of(j, empty)) for j in range(3)]
    assert estimate.is_state.sum() == estimate.n_states.sum() == estimate.n_slots - 3
    codes = np.array([[0, 1, 2], [9, 9, 9], [2, 0, 1]])
    expected = np.minimum(codes, estimate.n_states) + np.array([0, *np.cumsum(estimate.n_states + 1)[:-1]])
    assert estimate.slots(codes).tolist() == expected.tolist()


@by_rule
@pytest.mark.parametrize("kind", ["m-estimate", "laplace"])
def test_probabilities_are_shares_of_rows_and_pseudo_counts(empty, kind):
    alpha = Fraction(1, 2)
    estimate = PairEstimate(COUNTS, PseudoCounts(kind, float(alpha)), empty)

    def cell(n):
        return alpha if kind == "laplace" else alpha / n

    def share(count, total, n):
        return (count + cell(n)) / (total + n * cell(n))

    def joint(j, state, label):
        n = 2 * len(states_of(j, empty))
        return share(n_rows(has(j, state), of_class(label)), n_rows(there(j, empty)), n)

    def marginal(j, state, label):
        n = len(states_of(j, empty))
        return share(n_rows(has(j, state), of_class(label)), n_rows(there(j, empty), of_class(label)), n)

    no_state = ~estimate.is_state
    for found, of_slot in ((estimate.log_joint, joint), (estimate.log_marginal, marginal)):
        assert_allclose(np.exp(found)[~no_state], laid_out(estimate, empty, of_slot)[~no_state], rtol=1e-13)
        assert not found[no_state].any()
    for i in range(3):
        beside, log_given_state = estimate.pairs_with(i), estimate.log_given_state(i)
        assert not beside[-1].any() and not log_given_state[-1].any()
        own = slice(estimate.start[i], estimate.start[i + 1])
        assert not beside[:, own].any() and not log_given_state[:, own].any()
        assert not log_given_state[:, no_state].any()
        for j in (j for j in range(3) if j != i):
            log_given = estimate.log_given(j, i)
            for (a, u), (b, v), (k, label) in product(
                enumerate(states_of(i, empty)), enumerate(states_of(j, empty)), enumerate(CLASSES)
            ):
                count = n_rows(has(i, u), has(j, v), of_class(label))
                total = n_rows(has(i, u), there(j, empty), of_class(label))
                expected = float(share(count, total, len(states_of(j, empty))))
                slot = estimate.start[j] + b
                assert beside[a, slot, k] == estimate.pair(i, j)[a, b, k] == count
                assert np.exp(log_given_state[a, slot, k]) == pytest.approx(expected, rel=1e-13)
                assert np.exp(log_given[a, b, k]) == pytest.approx(expected, rel=1e-13)


def test_without_smoothing_what_no_row_says_is_equal_for_all_states():
    estimate = PairEstimate(COUNTS, PseudoCounts("laplace", 0.0))
    i, j = 0, 1
    whole = estimate.observed_pairs(estimate.pairs_with(i))[:, j]  # (states of i and its slot beyond, n_classes)
    found = np.exp(estimate.log_given_state(i)[:-1, estimate.start[j] : estimate.start[j] + 2])
    for a, k in product(range(3), range(2)):
        share = estimate.pair(i, j)[a, :, k] / whole[a, k] if whole[a, k] else np.full(2, 0.5)
        assert_allclose(found[a, :, k], share, rtol=1e-13)


def test_a_row_taken_out_is_missing_in_its_cell_and_its_total():
    estimate = PairEstimate(COUNTS, PseudoCounts("laplace", 1.0))
    cells = estimate.pairs_with(0)[:-1, estimate.start[1] : estimate.start[1] + 2]
    found = np.exp(estimate.log_given_state(0, removed=1.0)[:-1, estimate.start[1] : estimate.start[1] + 2])
    expected = (np.maximum(cells - 1, 0) + 1) / (np.maximum(cells.sum(axis=1, keepdims=True) - 1, 0) + 2)
    assert_allclose(found, expected, rtol=1e-13)


def test_sparse_columns_have_the_whole_pseudo_count_in_every_state():
    estimate = PairEstimate(COUNTS, PseudoCounts("m-estimate", 2.0), is_sparse=np.array([True, False, False]))
    assert estimate.cell.tolist() == [2.0, 1.0, pytest.approx(2 / 3)]
    assert estimate.joint_cell.tolist() == pytest.approx([2 / 6, 2 / 4, 2 / 6])


def test_missing_is_drawn_only_where_a_row_was_missing():
    complete = X.copy()
    complete[[cell is None for cell in X[:, 0]], 0] = "a"
    estimate = PairEstimate(Kind("pairs").of(complete, Y), PseudoCounts(), True)
    # Three states and None, which was never seen there; two and None; three and None; each with a slot beyond.
    assert estimate.can_be_drawn.tolist() == [
        *([True] * 3 + [False, False]),
        *([True] * 3 + [False]),
        *([True] * 4 + [False]),
    ]


@by_rule
def test_counts_with_missing_as_a_state_are_those_of_rows_that_say_so(empty):
    rows = X.copy()
    for j in np.flatnonzero(np.broadcast_to(empty, 3)):
        rows[[cell is None for cell in X[:, j]], j] = "~"  # behind all other states
    expected = Kind("pairs").of(rows, Y)
    found = PairEstimate(COUNTS, PseudoCounts(), empty).states
    assert found.table.tolist() == expected.table.tolist()
    assert found.pairs.tolist() == expected.pairs.tolist()
