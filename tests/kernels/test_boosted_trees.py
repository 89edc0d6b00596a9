"""Trees of boosters: slopes are derivatives, questions are the best of all, and leaves are where answers lead."""

import numpy as np
import pytest

from bayeswater.kernels.boosted_trees import NO_CUT, add_node_trees, add_trees, grow_tree, leaf_steps, loss_slopes

N_CODES = np.array([3, 5, 2, 4])


def drawn(n_rows=40, width=3, seed=0):
    """Codes (4, n_rows), and terms of rows: whole numbers, whose sums have no rounding."""
    rng = np.random.default_rng(seed)
    codes = np.array([rng.integers(0, n, n_rows) for n in N_CODES], dtype=np.uint8)
    terms = rng.integers(-8, 9, (n_rows, width)).astype(float)
    terms[:, -1] = rng.integers(1, 4, n_rows)
    return codes, terms


def leaf_gains(leaf, terms, ridge):
    """Sum over leaves of |g|^2 / (h + ridge)."""
    sums = [terms[leaf == v].sum(axis=0) for v in np.unique(leaf)]
    return sum(own[:-1] @ own[:-1] / (own[-1] + ridge) for own in sums)


def grown(codes, columns, rows, terms, ridge=1.0, least=0.0, depth=3, is_oblivious=True):
    columns = np.asarray(columns)
    first = np.cumsum([0, *N_CODES[columns].tolist()])
    column, cut = np.zeros((2, depth if is_oblivious else 2**depth - 1), dtype=np.int32)
    leaf = np.zeros(codes.shape[1], dtype=np.int32)
    grow_tree(codes, first, columns, np.asarray(rows), terms, ridge, least, depth, column, cut, leaf)
    return column, cut, leaf


@pytest.mark.parametrize("seed", range(4))
def test_every_question_is_the_best_of_all_that_could_be_asked(seed):
    codes, terms = drawn(seed=seed)
    rows = np.flatnonzero(np.random.default_rng(seed).random(40) < 0.8)
    columns = [0, 1, 3]
    column, cut, leaf = grown(codes, columns, rows, terms)
    at = np.zeros(40, dtype=int)
    for level in range(3):
        gains = {
            (j, bound): leaf_gains(2 * at[rows] + (codes[j, rows] > bound), terms[rows], 1.0)
            for j in columns
            for bound in range(N_CODES[j] - 1)
        }
        assert gains[column[level], cut[level]] == pytest.approx(max(gains.values()), rel=1e-12)
        at = 2 * at + (codes[column[level]] > cut[level])
    np.testing.assert_array_equal(leaf, at)  # of rows that were not learned from, too


@pytest.mark.parametrize("seed", range(4))
def test_every_node_asks_the_best_of_all_questions_for_its_own_rows(seed):
    codes, terms = drawn(seed=seed)
    rows = np.flatnonzero(np.random.default_rng(seed).random(40) < 0.8)
    columns = [0, 1, 3]
    column, cut, leaf = grown(codes, columns, rows, terms, is_oblivious=False)
    node = np.zeros(40, dtype=int)
    for _ in range(3):
        for v in np.unique(node[rows]):
            own = rows[node[rows] == v]
            before = leaf_gains(np.zeros(len(own)), terms[own], 1.0)
            gains = {
                (j, bound): leaf_gains(codes[j, own] > bound, terms[own], 1.0) - before
                for j in columns
                for bound in range(N_CODES[j] - 1)
                if len(np.unique(codes[j, own] > bound)) == 2
            }
            best = max([0.0, *gains.values()])
            assert gains.get((column[v], cut[v]), 0.0) == pytest.approx(max(best, 0.0), abs=1e-9)
        node = 2 * node + 1 + (codes[column[node], np.arange(40)] > cut[node])
    np.testing.assert_array_equal(leaf, node - 7)  # of rows that were not learned from, too


def test_a_side_of_too_little_curvature_does_not_count_and_without_a_gain_all_rows_stay_below():
    codes, terms = drawn()
    _, cut, leaf = grown(codes, [0, 1, 2, 3], np.arange(40), terms, least=1e9)
    assert (cut == NO_CUT).all() and (leaf == 0).all()
    codes = np.zeros((4, 40), dtype=np.uint8)
    assert (grown(codes, [0, 1, 2, 3], np.arange(40), terms)[1] == NO_CUT).all()
    codes[2, 0] = 1  # one row of curvature 1 stands alone
    terms[0] = [9.0, 9.0, 1.0]
    assert grown(codes, [2], np.arange(40), terms, least=1.5, depth=1)[1] == [NO_CUT]
    assert grown(codes, [2], np.arange(40), terms, least=0.5, depth=1)[1] == [0]


def test_slopes_and_curvatures_are_derivatives_of_the_loss():
    rng = np.random.default_rng(0)
    score, prior = rng.normal(size=(6, 3)), np.log([0.5, 0.3, 0.2])
    labels, weight = rng.integers(0, 3, 6), rng.uniform(0.5, 2, 6)

    def looked(score):
        loss, slope, curvature = np.zeros(6), np.zeros((6, 3)), np.zeros((6, 3))
        loss_slopes(score, prior, labels, weight, loss, slope, curvature)
        return loss, slope, curvature

    loss, slope, curvature = looked(score)
    log_p = score + prior - np.log(np.exp(score + prior).sum(axis=1, keepdims=True))
    np.testing.assert_allclose(loss, -weight * log_p[np.arange(6), labels], rtol=1e-13)
    for k in range(3):
        little = np.zeros(3)
        little[k] = 1e-5
        up, down = looked(score + little), looked(score - little)
        np.testing.assert_allclose((up[0] - down[0]) / 2e-5, slope[:, k], atol=1e-9)  # differences lose half the digits
        np.testing.assert_allclose((up[1] - down[1])[:, k] / 2e-5, curvature[:, k], atol=1e-9)


def test_scores_beyond_all_exponentials_have_finite_slopes():
    loss, slope, curvature = np.zeros(1), np.zeros((1, 2)), np.zeros((1, 2))
    loss_slopes(np.array([[1e4, -1e4]]), np.zeros(2), np.array([1]), np.ones(1), loss, slope, curvature)
    assert loss == [2e4] and slope.tolist() == [[1.0, -1.0]] and curvature.tolist() == [[0.0, 0.0]]


def test_steps_are_those_of_newton_and_trees_add_them_where_answers_lead():
    codes, terms = drawn(width=2)
    slope, curvature = terms[:, :1] * [[1.0, -1.0]], np.abs(terms)
    rng = np.random.default_rng(1)
    column, cut = np.array([[0, 2], [3, 1]], dtype=np.int32), np.array([[0, 0], [1, 2]], dtype=np.int32)
    slot = np.array([-1, 0, -1, 5])
    ranks = np.concatenate([rng.permutation(5), rng.permutation(4)]).astype(np.uint32)[None]
    place = codes.copy()
    place[1], place[3] = ranks[0, codes[1]], ranks[0, 5 + codes[3]]
    order, step, score = np.zeros(2, dtype=np.int32), np.zeros((2, 4, 2)), np.zeros((40, 2))
    expected = np.zeros((40, 2))
    for tree in range(2):
        first, second = (place[column[tree, level]] > cut[tree, level] for level in range(2))
        leaf = (2 * first + second).astype(np.int32)
        leaf_steps(leaf, slope, curvature, 0.5, 0.1, step[tree])
        for v in range(4):
            own = leaf == v
            newton = -0.1 * slope[own].sum(axis=0) / (curvature[own].sum(axis=0) + 0.5)
            np.testing.assert_allclose(step[tree, v], newton, rtol=1e-13)
            expected[own] += newton
    add_trees(codes, column, cut, order, ranks, slot, step, score)
    np.testing.assert_allclose(score, expected, rtol=1e-13)


@pytest.mark.parametrize("n_rows", [1, 40, 1100])
def test_trees_of_own_questions_add_their_steps_where_answers_lead(n_rows):
    rng, depth = np.random.default_rng(0), 3
    codes, _ = drawn(n_rows)
    column = rng.integers(0, 4, (5, 7)).astype(np.int32)
    cut = rng.integers(0, 4, (5, 7)).astype(np.int32)
    slot, order = np.array([-1, 0, -1, 5]), np.array([0, 0, 1, 1, 0], dtype=np.int32)
    ranks = np.array([[*rng.permutation(5), *rng.permutation(4)] for _ in range(2)], dtype=np.uint32)
    step, score, expected = rng.normal(size=(5, 8, 2)), np.zeros((n_rows, 2)), np.zeros((n_rows, 2))
    for tree in range(5):
        place = codes.astype(int)
        place[1], place[3] = ranks[order[tree], codes[1]], ranks[order[tree], 5 + codes[3]]
        node = np.zeros(n_rows, dtype=int)
        for _ in range(depth):
            node = 2 * node + 1 + (place[column[tree, node], np.arange(n_rows)] > cut[tree, node])
        expected += step[tree, node - 7]
    add_node_trees(codes, column, cut, order, ranks, slot, step, score)
    np.testing.assert_allclose(score, expected, rtol=1e-12)
