"""Logarithms of factorials.

Sums of a sorted column are those of its rows, taken one by one in exact arithmetic, by NumPy as by loops.
"""

from collections import Counter
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from tests.kernels.tables import NUMBER_KINDS, labels, weights

from bayeswater.kernels import sorted_column as module
from bayeswater.kernels.key_cells import keys_of, least_shift, numbers_of
from bayeswater.kernels.sorted_column import ClassOrder, SortedColumn, distance_sums, log_factorial


def test_the_logarithm_of_a_factorial_has_every_digit():
    x = np.array([0.0, 1.0, 2.0, 20.0, 1023.0, 1024.0, 1025.0, 1e5, 1e9, 2.0**53 - 1])
    exact = [float(mpmath.loggamma(mpmath.mpf(v) + 1)) for v in x]
    np.testing.assert_allclose(log_factorial(x), exact, rtol=4e-16, atol=0)  # two roundings


N_CLASSES = 4
EXTREMES = [0.0, -0.0, 5e-324, -5e-324, 1.0, -1.0, np.finfo(float).max, -np.finfo(float).max, 0.1, -1 / 3, 1e-300]
WEIGHTED = pytest.mark.parametrize("weighted", [None, "int", "float"])
# A mean is rounded once in each of a few additions, a scatter once in each of its terms, all of one sign.
CLOSE = {"rtol": 1e-14, "atol": 1e-13}


@pytest.fixture(autouse=True, params=["NumPy", "loops", "loops with little room", "counted"])
def way(request, monkeypatch):
    """Columns of any length go the way of short ones, or that of long ones."""
    monkeypatch.setattr(module, "LONG", 10**9 if request.param == "NumPy" else 0)
    monkeypatch.setattr(module, "RUNS", 3 if request.param == "loops with little room" else 2**17)
    monkeypatch.setattr(module, "COUNTS", module.COUNTS if request.param == "counted" else 0)


def sorted_column(x, y, weight=None, n_classes=N_CLASSES):
    return SortedColumn.of(np.asarray(x), weight, ClassOrder.of(np.asarray(y), n_classes))


def cells_of(x, y, weight, k):
    """Numbers and weights of a class, in fractions."""
    times = np.ones(len(y)) if weight is None else weight
    rows = zip(np.asarray(x, dtype=np.float64).tolist(), y, times.tolist(), strict=True)
    return [(Fraction(value), Fraction(w)) for value, own, w in rows if own == k and value == value]


def moments_by_hand(x, y, weight):
    moments = np.zeros((3, N_CLASSES))
    for k in range(N_CLASSES):
        cells = cells_of(x, y, weight, k)
        total = sum(w for _, w in cells)
        if total:
            center = sum(w * value for value, w in cells) / total
            moments[:, k] = total, center, sum(w * (value - center) ** 2 for value, w in cells)
    return moments


def columns(rng, n_rows):
    """Few different numbers, and many; with cells that are missing, all of them in one class."""
    y = labels(rng, n_rows, N_CLASSES)
    few, many = rng.integers(-2, 9, size=n_rows).astype(np.float64), rng.normal(size=n_rows)
    holes = few.copy()
    holes[rng.random(n_rows) < 0.3] = np.nan
    holes[y == 1] = np.nan
    return y, (few, many, holes, np.full(n_rows, np.nan))


@WEIGHTED
def test_moments_are_those_of_exact_arithmetic(weighted):
    rng = np.random.default_rng(0)
    y, xs = columns(rng, 300)
    weight = weights(rng, 300, weighted)
    for x in xs:
        found, expected = sorted_column(x, y, weight).moments(), moments_by_hand(x, y, weight)
        np.testing.assert_array_equal(found[0], expected[0])
        np.testing.assert_allclose(found[1:], expected[1:], **CLOSE)
        assert found[0].dtype == (np.float64 if weighted == "float" else np.int64)


@WEIGHTED
@pytest.mark.parametrize("outlier", [0.0, 1e9])
def test_moments_far_from_zero_keep_their_digits(weighted, outlier):
    rng = np.random.default_rng(1)
    x, y = 1e6 + rng.normal(size=200), np.zeros(200, dtype=np.uint8)
    x[7] += outlier
    weight = weights(rng, 200, weighted)
    if weighted == "float":
        weight[7] *= 2.0**-40  # by weight it is hardly there
    _, mean, scatter = sorted_column(x, y, weight).moments()
    _, expected_mean, expected_scatter = moments_by_hand(x, y, weight)
    np.testing.assert_allclose(mean, expected_mean, rtol=1e-15)
    np.testing.assert_allclose(scatter, expected_scatter, rtol=1e-12)  # the mean has ten digits after the point


@WEIGHTED
def test_equal_numbers_have_no_scatter(weighted):
    weight = weights(np.random.default_rng(2), 9, weighted)
    _, mean, scatter = sorted_column(np.full(9, 0.1), np.arange(9) % 3, weight).moments()
    assert mean.tolist() == [0.1, 0.1, 0.1, 0.0]
    assert not scatter.any()


@WEIGHTED
def test_logarithms_leave_out_what_has_none(weighted):
    rng = np.random.default_rng(3)
    y, xs = columns(rng, 300)
    weight = weights(rng, 300, weighted)
    for x in (*xs, np.exp(xs[1])):
        logs = np.full(300, np.nan)
        logs[x > 0] = np.log(x[x > 0])
        found, expected = sorted_column(x, y, weight).log_moments(), moments_by_hand(logs, y, weight)
        np.testing.assert_array_equal(found[0], expected[0])
        np.testing.assert_allclose(found[1:], expected[1:], **CLOSE)


@WEIGHTED
@pytest.mark.parametrize("kind", NUMBER_KINDS)
def test_every_count_is_summed_in_its_class(kind, weighted):
    rng = np.random.default_rng(4)
    x, y = np.append(rng.integers(0, 10, size=40), 200).astype(kind), labels(rng, 41, N_CLASSES)
    x[7] += 0.5 if "float" in kind else 0
    weight = weights(rng, 41, weighted)
    sums = np.zeros((4, N_CLASSES))
    for k in range(N_CLASSES):
        for value, w in cells_of(x, y, weight, k):
            if value.denominator == 1:
                sums[:, k] += [float(w), 0, float(w * value), float(w) * float(mpmath.loggamma(int(value) + 1))]
            else:
                sums[1, k] += float(w)
    found = sorted_column(x, y, weight).whole_sums()
    # Sums of whole numbers and quarters are exact, sums of logarithms are not.
    np.testing.assert_array_equal(found[:3], sums[:3])
    np.testing.assert_allclose(found[3], sums[3], rtol=1e-14)


def test_what_is_no_count_is_told_apart_from_what_is_missing():
    cells = [0.0, -0.0, 3.0, 1e6, 2.0**52 + 1, 0.5, -1.0, 2.0**53, 1e300, np.nan]
    whole, other, total, factorials = (s.item() for s in sorted_column(cells, np.zeros(10, int), None, 1).whole_sums())
    assert (whole, other) == (5, 4)
    assert total == 3 + 1e6 + 2.0**52 + 1
    np.testing.assert_allclose(factorials, float(sum(mpmath.loggamma(x + 1) for x in cells[:5])), rtol=1e-15)


def histogram_by_hand(x, y, weight, shift):
    total, keys = Counter(), {}
    for value, k, w in zip(x, y, np.ones(len(x), dtype=int) if weight is None else weight, strict=True):
        if value == value:
            key = int(keys_of(np.array([value]))[0])
            total[int(k), key >> shift] += w.item()
            keys.setdefault((int(k), key >> shift), []).append(key)
    return [(min(keys[cell]), max(keys[cell]), cell[0], total[cell]) for cell in sorted(total)]


@WEIGHTED
@pytest.mark.parametrize("kind", [np.uint8, np.uint16, np.int32])
@pytest.mark.parametrize("most", [5, 40, 1000])
@pytest.mark.parametrize("repeated", [1, 3])
def test_numbers_are_counted_in_their_bucket_and_class_and_nan_in_none(repeated, most, kind, weighted):
    rng = np.random.default_rng(5)
    x = np.array([*EXTREMES, np.nan, -np.nan, *rng.normal(size=150), *rng.integers(-9, 9, size=150)])
    x = np.repeat(x, 3 * repeated)[::3]  # a column of a matrix that is stored by row
    y = rng.integers(0, 7, size=len(x)).astype(kind)
    weight = weights(rng, len(x), weighted)
    shift = least_shift(np.sort(keys_of(x[x == x])), most)
    cells = sorted_column(x, y, weight, 7).key_cells(most=most, probed=50)
    assert cells.shift == shift
    # Sums of quarters are exact.
    rows = zip(*(array.tolist() for array in cells[1:]), strict=True)
    assert list(rows) == histogram_by_hand(x, y, weight, shift)
    assert cells.weight.dtype == (np.float64 if weighted == "float" else np.int64)


def test_keys_whose_last_bits_are_equal_are_kept_apart():
    x = np.arange(64.0)  # the last 31 bits of their keys are zero
    cells = sorted_column(np.repeat(x, 2), np.zeros(128, dtype=np.uint8), None, 1).key_cells(most=100, probed=10)
    assert numbers_of(cells.low).tolist() == x.tolist()
    assert cells.weight.tolist() == [2] * 64


def test_a_column_of_nothing_but_missing_cells_has_no_sums():
    column = sorted_column([np.nan, np.nan], [0, 2])
    assert len(column.key_cells(most=5, probed=10).low) == 0
    for sums in (*column.moments(), *column.log_moments(), *column.whole_sums()):
        assert sums.tolist() == [0] * N_CLASSES


def test_the_order_of_the_rows_does_not_show():
    rng = np.random.default_rng(6)
    y, xs = columns(rng, 500)
    order = rng.permutation(500)
    for x in xs:
        one, other = sorted_column(x, y), sorted_column(x[order], y[order])
        np.testing.assert_array_equal(one.moments(), other.moments())
        np.testing.assert_array_equal(one.log_moments(), other.log_moments())
        np.testing.assert_array_equal(one.whole_sums(), other.whole_sums())


def test_the_column_itself_is_left_as_it_was():
    x = np.array([3.0, 1.0, 2.0])
    sorted_column(x, np.zeros(3, dtype=np.uint8))
    assert x.tolist() == [3.0, 1.0, 2.0]


@WEIGHTED
def test_as_many_classes_as_rows_are_summed_one_by_one(weighted):
    rng = np.random.default_rng(7)
    x, y, weight = rng.normal(size=50), rng.permutation(50), weights(rng, 50, weighted)
    n, mean, scatter = sorted_column(x, y, weight, 50).moments()
    np.testing.assert_array_equal(mean[y], x)
    np.testing.assert_array_equal(n[y], 1 if weight is None else weight)
    assert not scatter.any()


@pytest.mark.parametrize("n_classes", [1, 3, 300])
def test_rows_are_ordered_by_class_and_keep_their_order_within_it(n_classes):
    y = np.random.default_rng(8).integers(0, n_classes, size=400).astype(np.uint16)
    order = ClassOrder.of(y, n_classes + 1)
    np.testing.assert_array_equal(order.rows, np.argsort(y, kind="stable"))
    np.testing.assert_array_equal(order.size, np.bincount(y, minlength=n_classes + 1))


@WEIGHTED
def test_a_column_longer_than_the_cache_has_the_sums_of_a_short_one(weighted, monkeypatch):
    rng = np.random.default_rng(9)
    y, xs = columns(rng, 300)
    weight = weights(rng, 300, weighted)
    for x in (*xs, np.abs(xs[1]), np.round(xs[1], 1)):
        at_once = sorted_column(x, y, weight)
        with monkeypatch.context() as patch:
            patch.setattr(module, "CACHED", 7)
            in_stretches = sorted_column(x, y, weight)
            found, expected = (column.key_cells(most=50, probed=20) for column in (in_stretches, at_once))
            assert found.shift == expected.shift
            np.testing.assert_array_equal(found[1:], expected[1:])
            np.testing.assert_array_equal(in_stretches.whole_sums(), at_once.whole_sums())
            np.testing.assert_allclose(in_stretches.moments(), at_once.moments(), **CLOSE)
            np.testing.assert_allclose(in_stretches.log_moments(), at_once.log_moments(), **CLOSE)


def test_a_column_has_the_same_cells_by_numpy_and_by_loops_and_the_same_sums_but_for_rounding(monkeypatch):
    rng = np.random.default_rng(10)
    y, xs = columns(rng, 5000)
    for x in (*xs, np.round(1e5 * xs[1])):
        found = []
        for long in (0, 10**9):
            monkeypatch.setattr(module, "LONG", long)
            column = sorted_column(x, y)
            found.append((column.key_cells(most=300, probed=600), column.moments(), column.log_moments()))
            found[-1] += (column.whole_sums(),)
        (cells, *sums), (others, *other_sums) = found
        assert cells.shift == others.shift
        for one, other in zip(cells[1:], others[1:], strict=True):
            np.testing.assert_array_equal(one, other)
        for one, other in zip(sums, other_sums, strict=True):
            np.testing.assert_allclose(one, other, **CLOSE)


def test_distances_keep_their_digits_whatever_the_number_of_them():
    x = np.concatenate([np.full(70_001, 0.1), np.full(30_000, 1e3 / 7)])
    total, square = distance_sums(x, 1 / 3)
    exact = [Fraction(value - 1 / 3) for value in (0.1, 1e3 / 7)]  # a distance is rounded once
    expected = [sum(n * away**power for n, away in zip((70_001, 30_000), exact, strict=True)) for power in (1, 2)]
    # A lane has 256 additions in a stretch, and there are 98 stretches: some hundred roundings.
    np.testing.assert_allclose([total, square], [float(value) for value in expected], rtol=1e-13)


def test_numbers_that_are_counted_are_those_that_are_sorted(monkeypatch):
    rng = np.random.default_rng(3)
    y = labels(rng, 3000, N_CLASSES)
    few = rng.integers(-2, 9, size=3000)
    columns = {
        "few": few.astype(np.int8),
        "with both zeros and no finite end": np.where(few > 3, -0.0, np.where(few == 0, np.inf, few / 7)),
        "missing": np.where(few > 3, np.nan, few),
        "hardly any twice": rng.normal(size=3000).astype(np.float32),
        "every second place": np.repeat(few / 3, 2)[::2],
    }
    counted_or_sorted = []
    for counts in (module.COUNTS, 2**15, 0):
        monkeypatch.setattr(module, "COUNTS", counts)
        counted_or_sorted.append([sorted_column(x, y) for x in columns.values()])
    expected = counted_or_sorted.pop()
    for found in counted_or_sorted:
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_array_equal(one.x, other.x)
            np.testing.assert_array_equal(one.size, other.size)
            assert (one.weight is None) == (other.weight is None)
            np.testing.assert_array_equal(one.class_weight, other.class_weight)
