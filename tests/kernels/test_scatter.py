"""The scatter kernel against the definition.

Triangular roots of many matrices at once: equal to those of LAPACK, one by one.
"""

import numpy as np
import pytest

from bayeswater.kernels import scatter as kernel
from bayeswater.kernels.scatter import class_scatter, lengths_by_roots, lengths_by_rows, part_of


def rows(n: int = 300, d: int = 4, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, d)) @ rng.standard_normal((d, d)) + 5, rng.integers(0, 3, n)


def by_definition(X: np.ndarray, w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    mean = w @ X / w.sum()
    return mean, (X - mean).T @ (w[:, None] * (X - mean))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, np.uint8])
@pytest.mark.parametrize("order", ["C", "F"])
def test_sums_are_those_of_the_definition_for_every_kind_of_numbers(weighted, dtype, order):
    X, y = rows()
    X = np.asarray(np.abs(3 * X), dtype=dtype, order=order)
    w = np.random.default_rng(1).random(len(X)) if weighted else None
    n, mean, scatter = class_scatter(X, y, w, 4, skip_missing=False)
    for k in range(3):
        own = np.ones((y == k).sum()) if w is None else w[y == k]
        expected_mean, expected = by_definition(X[y == k].astype(float), own)
        assert n[k, 0, 0] == pytest.approx(own.sum(), rel=1e-14)
        np.testing.assert_allclose(mean[k, :, 0], expected_mean, rtol=1e-14)
        np.testing.assert_allclose(scatter[k], expected, rtol=0, atol=1e-13 * np.abs(expected).max())
    assert not n[3].any() and not mean[3].any() and not scatter[3].any()  # a class without rows


def test_stretches_of_a_class_are_joined_to_the_sums_of_the_whole(monkeypatch):
    X, y = rows()
    whole = class_scatter(X, y, None, 3, skip_missing=False, higher=True)
    monkeypatch.setattr(kernel, "STRETCH_CELLS", 4 * 7)
    for found, expected in zip(class_scatter(X, y, None, 3, skip_missing=False, higher=True), whole, strict=True):
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-13 * np.abs(expected).max())


def test_a_constant_column_far_from_zero_has_no_scatter_at_all():
    X, y = rows()
    X[:, 1] = 1e15 + 0.3
    _, mean, scatter = class_scatter(X, y, None, 3, skip_missing=False)
    assert not scatter[:, 1].any() and not scatter[:, :, 1].any()
    assert (mean[:, 1] == X[0, 1]).all()


def test_columns_far_from_zero_lose_no_digits():
    # Whole numbers shifted by 2**40 are exact, so the scatter about a shift must be the same to the last bits.
    X, y = rows()
    X = np.rint(100 * X)
    near = class_scatter(X, y, None, 3, skip_missing=False)[2]
    far = class_scatter(X + 2.0**40, y, None, 3, skip_missing=False)[2]
    np.testing.assert_allclose(far, near, rtol=1e-14)


@pytest.mark.parametrize("weighted", [False, True])
def test_pairs_of_columns_are_summed_over_the_rows_that_have_both(weighted):
    X, y = rows()
    rng = np.random.default_rng(2)
    X[rng.random(X.shape) < 0.3] = np.nan
    X[y == 2, 3] = np.nan
    w = rng.integers(1, 4, len(X)) if weighted else None
    n, mean, scatter = class_scatter(X, y, w, 3, skip_missing=True)
    for k in range(3):
        own = np.ones((y == k).sum()) if w is None else w[y == k].astype(float)
        for i in range(4):
            for j in range(4):
                both = ~np.isnan(X[y == k][:, [i, j]]).any(axis=1)
                assert n[k, i, j] == own[both].sum()
                if both.any():
                    pair = X[y == k][both][:, [i, j]]
                    expected_mean, expected = by_definition(pair, own[both])
                    assert mean[k, i, j] == pytest.approx(expected_mean[0], rel=1e-13)
                    assert scatter[k, i, j] == pytest.approx(expected[0, 1], abs=1e-12 * n[k].max())
                else:
                    assert mean[k, i, j] == scatter[k, i, j] == 0


def test_third_and_fourth_sums_are_those_of_the_definition():
    X, y = rows()
    w = np.random.default_rng(1).random(len(X))
    *_, third, fourth = class_scatter(X, y, w, 3, skip_missing=False, higher=True)
    for k in range(3):
        own, x = w[y == k], X[y == k]
        z = x - own @ x / own.sum()
        np.testing.assert_allclose(third[k], (own[:, None] * z**2).T @ z, rtol=0, atol=1e-10)
        np.testing.assert_allclose(fourth[k], (own[:, None] * z**2).T @ z**2, rtol=1e-12)


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
