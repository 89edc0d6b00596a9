"""Triangular roots of many matrices at once: equal to those of LAPACK, one by one."""

import numpy as np
import pytest

from bayeswater.kernels.many_roots import lengths_by_roots, lengths_by_rows, part_of

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("d", [1, 2, 7, 70])
def test_lengths_and_determinants_are_those_of_each_matrix(d):
    R = RNG.standard_normal((20, d, 2 * d))
    C, u = R @ R.swapaxes(1, 2), RNG.standard_normal((20, 3, d))
    lengths, log_determinant = lengths_by_roots(C, u)
    expected = np.einsum("nmi,nij,nmj->nm", u, np.linalg.inv(C), u)
    # As many digits are lost as the condition of the worst of twenty random matrices has.
    np.testing.assert_allclose(lengths, expected, rtol=1e-9)
    np.testing.assert_allclose(log_determinant, np.linalg.slogdet(C)[1], rtol=0, atol=1e-9)
    seen = RNG.random((20, d)) < 0.6
    part = lengths_by_roots(part_of(C, seen), u * seen[:, None, :])
    rows = lengths_by_rows(R, u * seen[:, None, :], seen)
    for i in range(20):
        here = np.ix_(seen[i], seen[i])
        v = u[i][:, seen[i]]
        expected = np.einsum("mi,ij,mj->m", v, np.linalg.inv(C[i][here]), v)
        for found in (part, rows):
            np.testing.assert_allclose(found[0][i], expected, rtol=1e-9, atol=1e-12)
            np.testing.assert_allclose(found[1][i], np.linalg.slogdet(C[i][here])[1], rtol=0, atol=1e-9)


@pytest.mark.parametrize("d", [3, 70])
def test_a_matrix_that_is_not_positive_says_so_and_no_other_does(d):
    C = np.array([np.eye(d), np.diag([1.0, -1.0] + [1.0] * (d - 2)), np.zeros((d, d)), 2 * np.eye(d)])
    lengths, log_determinant = lengths_by_roots(C, np.ones((4, 1, d)))
    assert np.isnan(lengths[:, 0]).tolist() == [False, True, True, False]
    assert np.isnan(log_determinant).tolist() == [False, True, True, False]


def test_rows_of_roots_keep_what_squares_lose():
    # The second direction has 1e-20 of the variance of the first: no digit of it is left in the product.
    root = np.array([[[1.0, 0.0], [1.0, 1e-10]]])
    seen = np.ones((1, 2), dtype=bool)
    lengths, log_determinant = lengths_by_rows(root, np.array([[[0.0, 1e-10]]]), seen)
    np.testing.assert_allclose(lengths, 1.0, rtol=1e-6)
    np.testing.assert_allclose(log_determinant, 2 * np.log(1e-10), rtol=1e-6)
    assert np.isnan(lengths_by_roots(root @ root.swapaxes(1, 2), np.array([[[0.0, 1e-10]]]))[1]).all()


def test_no_columns_have_no_length():
    lengths, log_determinant = lengths_by_rows(np.ones((4, 0, 0)), np.ones((4, 2, 0)), np.ones((4, 0), dtype=bool))
    assert (lengths == 0).all() and (log_determinant == 0).all()
