"""`Scatter` and `FourthMoments` add and subtract as if rows had been there from the start, or never."""

import numpy as np
import pytest

from bayeswater.data.labels import encode_labels
from bayeswater.data.matrix import DenseMatrix
from bayeswater.errors import ResourceLimitError, StatisticsError
from bayeswater.kernels.threads import threads
from bayeswater.statistics import scatter as module
from bayeswater.statistics.fourth_moments import FourthMoments
from bayeswater.statistics.moments import LostDigits
from bayeswater.statistics.scatter import Scatter, possible_scatter

KINDS = [Scatter, FourthMoments]


def summed(kind, X, y, weight=None):
    return kind.of(DenseMatrix(np.asarray(X)), encode_labels(np.asarray(y)), weight, skip_missing=kind is Scatter)


def table(n=120, d=3, seed=0, missing=0.0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) @ rng.standard_normal((d, d)) + [[3.0, -2.0, 100.0][:d]]
    X[rng.random(X.shape) < missing] = np.nan
    return X, rng.integers(0, 3, n)


def require_close(found, expected, share=1e-12):
    for name, array in found.to_arrays().items():
        other = expected.to_arrays()[name]
        np.testing.assert_allclose(*np.broadcast_arrays(array, other), rtol=share, atol=share * np.abs(other).max())


@pytest.mark.parametrize("kind", KINDS)
def test_the_sum_of_parts_is_the_sum_of_all_rows(kind):
    X, y = table()
    parts = [summed(kind, X[i::4], y[i::4]) for i in range(4)]
    require_close(parts[0] + parts[1] + (parts[2] + parts[3]), summed(kind, X, y))


@pytest.mark.parametrize("kind", KINDS)
def test_rows_taken_away_leave_the_sums_of_the_others(kind):
    X, y = table()
    left = summed(kind, X, y) - summed(kind, X[:50], y[:50])
    require_close(left, summed(kind, X[50:], y[50:]), share=1e-10)  # a subtraction may lose some digits


def test_parts_with_and_without_missing_cells_add_up():
    X, y = table(missing=0.2)
    whole = ~np.isnan(X).any(axis=1)
    both = summed(Scatter, X[whole], y[whole]) + summed(Scatter, X[~whole], y[~whole])
    require_close(both, summed(Scatter, X, y))
    require_close(both - summed(Scatter, X[~whole], y[~whole]), summed(Scatter, X[whole], y[whole])._for_pairs(), 1e-10)


@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_whole_weights_equal_repeated_rows(missing):
    X, y = table(missing=missing)
    w = np.random.default_rng(3).integers(1, 4, len(X))
    weighted = summed(Scatter, X, y, w)
    assert weighted.weight.dtype == np.int64
    require_close(weighted, summed(Scatter, np.repeat(X, w, axis=0), np.repeat(y, w)))


def test_the_number_of_threads_does_not_show(monkeypatch):
    monkeypatch.setattr(module, "BLOCK_ROWS", 16)
    X, y = table(400)
    with threads(1):
        one = summed(Scatter, X, y)
    with threads(3):
        assert summed(Scatter, X, y) == one


def test_classes_are_aligned_by_label():
    X, y = table()
    a, b = summed(Scatter, X[y > 0], y[y > 0]), summed(Scatter, X[y < 2], y[y < 2])
    require_close(a + b, summed(Scatter, np.r_[X[y > 0], X[y < 2]], np.r_[y[y > 0], y[y < 2]]))


def test_one_remaining_row_has_no_scatter():
    X, y = table(6, seed=1)
    y = np.zeros(6, dtype=int)
    left = summed(Scatter, X, y) - summed(Scatter, X[1:], y[1:])
    assert not left.scatter.any()
    np.testing.assert_allclose(left.means[0], X[0], rtol=1e-12)


def test_directions_beyond_the_rows_that_remain_are_empty():
    # Three rows span a plane at most: of the three directions one is cleared, and nothing is refused.
    X, y = table(30, seed=2)
    y = np.zeros(30, dtype=int)
    left = summed(Scatter, X, y) - summed(Scatter, X[3:], y[3:])
    values = np.linalg.eigvalsh(left.scatter[0])
    assert abs(values[0]) < 1e-12 * values[-1] < values[1]
    require_close(left, summed(Scatter, X[:3], y[:3]), share=1e-11)


def test_a_direction_that_would_lose_its_digits_is_refused_and_recounted_on_request():
    # Along the columns all is well; but what remains lies in the plane x0 = x1, and only rounding is left beside it.
    rng = np.random.default_rng(0)
    rest = rng.standard_normal((40, 2))[:, [0, 0, 1]] + 1e-6 * rng.standard_normal((40, 3))
    gone = rng.standard_normal((40, 3))
    y = np.zeros(40, dtype=int)
    total = summed(Scatter, np.r_[rest, gone], np.r_[y, y])
    with pytest.raises(LostDigits, match=r"column 'x[01]'.*fewer than 8 digits"):
        total - summed(Scatter, gone, y)
    expected = summed(Scatter, rest, y)
    require_close(total.minus(summed(Scatter, gone, y), expected), expected)
    with pytest.raises(StatisticsError, match="`remaining` holds weight 39"):
        total.minus(summed(Scatter, gone, y), summed(Scatter, rest[1:], y[1:]))


def test_fourth_moments_that_would_lose_their_digits_are_refused_and_recounted_on_request():
    # Rows a thousand times as far away: squares keep ten of their sixteen digits, fourth powers four.
    X, y = table(60)
    y[:] = 0
    X -= X.mean(axis=0)
    X[40:] *= 1e3
    gone, expected = summed(FourthMoments, X[40:], y[40:]), summed(FourthMoments, X[:40], y[:40])
    require_close(summed(Scatter, X, y) - summed(Scatter, X[40:], y[40:]), summed(Scatter, X[:40], y[:40]), share=1e-8)
    with pytest.raises(LostDigits, match="column 'x0' of class 0 with a fourth moment"):
        summed(FourthMoments, X, y) - gone
    require_close(summed(FourthMoments, X, y).minus(gone, expected), expected)
    with pytest.raises(StatisticsError, match="`remaining` holds weight 39"):
        summed(FourthMoments, X, y).minus(gone, summed(FourthMoments, X[1:40], y[1:40]))


def test_one_remaining_row_has_no_fourth_moment():
    X, y = table(6, seed=1)
    y[:] = 0
    left = summed(FourthMoments, X, y) - summed(FourthMoments, X[1:], y[1:])
    assert not left.third.any() and not left.fourth.any()


def test_a_column_that_would_lose_its_digits_is_refused_with_missing_cells_too():
    X, y = table(20, missing=0.2)
    y[:] = 0
    X[0, 1] = 1e12
    with pytest.raises(LostDigits, match="column 'x1'"):
        summed(Scatter, X, y) - summed(Scatter, X[:1], y[:1])


def test_a_column_of_which_one_cell_remains_has_no_scatter_though_others_have():
    X, y = table(12)
    y[:], X[2:, 0] = 0, np.nan
    left = summed(Scatter, X, y) - summed(Scatter, X[:1], y[:1])
    assert left.cells.tolist() == [[1, 11, 11]]
    assert not left.scatter[0, 0].any() and not left.scatter[0, :, 0].any()
    require_close(left, summed(Scatter, X[1:], y[1:]), share=1e-9)


def test_rows_that_were_never_counted_are_refused():
    X, y = table()
    with pytest.raises(StatisticsError, match="never counted"):
        summed(Scatter, X[:5], y[:5]) - summed(Scatter, X, y)


def test_what_was_summed_apart_cannot_stand_side_by_side():
    X, y = table()
    with pytest.raises(StatisticsError, match="summed apart"):
        summed(Scatter, X[:, :1], y).hstack(summed(Scatter, X[:, 1:], y))


@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_some_columns_have_the_sums_of_a_table_of_these_columns(missing):
    X, y = table(missing=missing)
    expected = summed(Scatter, X[:, [2, 0]], y)
    for name, array in summed(Scatter, X, y).take([2, 0]).to_arrays().items():
        np.testing.assert_allclose(array, expected.to_arrays()[name], rtol=1e-12, atol=1e-12)


def test_pooled_sums_are_those_of_all_rows_as_one_class():
    X, y = table()
    n, mean, scatter = summed(Scatter, X, y).pooled
    one = summed(Scatter, X, np.zeros(len(X), dtype=int))
    np.testing.assert_allclose(n, len(X))
    np.testing.assert_allclose(mean, one.means[0], rtol=1e-13)
    np.testing.assert_allclose(scatter, one.scatter[0], rtol=1e-12, atol=1e-12)


def test_a_class_counted_again_takes_its_place_though_it_has_no_higher_moments():
    X, y = table()
    again = summed(Scatter, X[:5], np.zeros(5, dtype=int))
    found = summed(FourthMoments, X, y).with_class(0, again)
    assert (found.scatter[0] == again.scatter[0]).all() and (found.means[0] == again.means[0]).all()


def test_a_matrix_that_no_rows_have_becomes_one_that_rows_can_have():
    matrix = np.array([[4.0, 3.6, -3.6], [3.6, 4.0, 3.6], [-3.6, 3.6, 4.0]])
    assert np.linalg.eigvalsh(matrix)[0] < 0
    found = possible_scatter(matrix)
    np.testing.assert_allclose(np.diagonal(found), 4.0, rtol=1e-14)
    least, *_, largest = np.linalg.eigvalsh(matrix)
    raised = np.linalg.eigvalsh(found)
    np.testing.assert_allclose(raised[0] / raised[-1], -least / largest)  # what may be an error is no certainty
    fine = np.array([[2.0, 1.0], [1.0, 2.0]])
    assert (possible_scatter(fine) == fine).all()


def test_matrices_too_large_are_refused_before_they_are_allocated():
    labels = encode_labels(np.array([0, 1]))
    with pytest.raises(ResourceLimitError, match="20000 columns in 2 classes"):
        Scatter.of(DenseMatrix(np.zeros((2, 20_000))), labels, None, skip_missing=True)


def test_a_scaled_statistic_keeps_means_and_covariances():
    X, y = table()
    half = summed(Scatter, X, y).scaled(0.5)
    np.testing.assert_allclose(half.scatter / half.weight, summed(Scatter, X, y).scatter / summed(Scatter, X, y).weight)
    assert (half.mean == summed(Scatter, X, y).mean).all()
