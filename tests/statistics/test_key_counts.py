"""Where a column has values, and the limits half way between them.

Histograms over the keys of floats: a sum, whatever the rows, and only what occurs is kept.
"""

import re
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayeswater import StatisticsError
from bayeswater.data.labels import encode_labels
from bayeswater.data.matrix import ColumnMatrix, DenseMatrix
from bayeswater.data.variable import Variable
from bayeswater.families.open_numbers import NumberProfile
from bayeswater.families.registry import CANDIDATES
from bayeswater.kernels import threads
from bayeswater.statistics import key_counts
from bayeswater.statistics.key_counts import Occupied


def occupied(values, *, is_whole):
    value, weight = np.unique(np.asarray(values, dtype=np.float64), return_counts=True)
    return Occupied(value, value, weight, is_whole=is_whole)


def test_limits_between_whole_numbers_are_halves():
    assert occupied([0, 1, 2, 6, 9], is_whole=True).limits.tolist() == [-0.5, 0.5, 1.5, 4.5, 7.5, 10.5]


def test_whole_numbers_that_share_a_bucket_share_a_cell():
    first, last = np.array([4096.0, 4100, 4104]), np.array([4099.0, 4103, 4107])
    assert Occupied(first, last, np.ones(3), is_whole=True).limits.tolist() == [4095.5, 4099.5, 4103.5, 4107.5]


def test_limits_are_half_way_and_where_no_float_is_between_the_upper_of_the_two():
    above = np.nextafter(1.0, 2)
    limits = occupied([0.5, 1.0, above, np.nextafter(above, 2)], is_whole=False).limits
    assert limits[1:-1].tolist() == [0.75, above, np.nextafter(above, 2)]
    large = 2.0**52 + np.arange(5)  # whole numbers between which there are no halves
    assert occupied(large, is_whole=True).limits[1:-1].tolist() == large[1:].tolist()


def test_the_outermost_limits_mirror_the_inner_ones():
    assert occupied([1.0, 3.0, 8.0], is_whole=False).limits.tolist() == [0.0, 2.0, 5.5, 10.5]


def test_one_stretch_is_its_own_cell():
    assert occupied([3.0], is_whole=False).limits.tolist() == [3.0, 3.0]
    assert occupied([3.0], is_whole=True).limits.tolist() == [2.5, 3.5]


@given(st.lists(st.floats(-1e300, 1e300), min_size=1, max_size=20))
def test_every_stretch_lies_in_its_cell(values):
    stretches = occupied(values, is_whole=False)
    assert (stretches.limits[:-1] <= stretches.first).all()
    assert (stretches.last <= stretches.limits[1:]).all()


def test_neighbouring_whole_numbers_hide_a_twelfth():
    np.testing.assert_allclose(occupied([3, 4, 5], is_whole=True).hidden_variance, 1 / 12)


def test_stretches_of_whole_numbers_hide_a_twelfth_too():
    # However many share a stretch: their own variance is among the moments, but not the width of each of them.
    first, last = np.array([4096.0, 4100, 4104]), np.array([4099.0, 4103, 4104])
    stretches = Occupied(first, last, np.ones(3), is_whole=True)
    np.testing.assert_allclose(stretches.hidden_variance, 1 / 12, rtol=1e-12)
    assert not stretches.are_values
    assert Occupied(first, first, np.ones(3), is_whole=True).are_values


def test_a_lonely_value_hides_a_twelfth_of_its_squared_cell_and_a_stretch_what_is_beyond_it():
    np.testing.assert_allclose(occupied([-100.0, 0.0, 100.0], is_whole=False).hidden_variance, 100**2 / 12)
    stretches = Occupied(np.array([0.0, 2.0]), np.array([1.0, 3.0]), np.ones(2), is_whole=False)
    np.testing.assert_allclose(stretches.hidden_variance, (2**2 - 1**2) / 12)


def test_the_stretches_of_logarithms_are_half_way_between_them():
    logs = occupied([1.0, 100.0], is_whole=True).logarithms()
    np.testing.assert_allclose(logs.limits, np.log([0.1, 10, 1000]), rtol=1e-14)


def keys_of(X, y, weight=None, names=None):
    return NumberProfile.of(DenseMatrix(np.asarray(X), names), encode_labels(np.asarray(y)), weight, CANDIDATES).keys


def table(seed=0, n_rows=60):
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.normal(size=n_rows), rng.integers(0, 4, size=n_rows), np.exp(rng.normal(size=n_rows))])
    X[rng.random(X.shape) < 0.1] = np.nan
    return X, np.array([*"abc"])[rng.integers(0, 3, size=n_rows)]


def counted_by_hand(X, y, weight, j):
    total = Counter()
    for x, label, w in zip(X[:, j], y, np.ones(len(y)) if weight is None else weight, strict=True):
        if x == x:
            total[float(x), str(label)] += w
    return dict(total)


def cells_of(keys, j):
    histogram = keys.of_column(j)
    labels = [str(keys.classes.states[k]) for k in histogram.code]
    return dict(zip(zip(histogram.first[histogram.place].tolist(), labels, strict=True), histogram.count, strict=True))


@pytest.mark.parametrize("weighted", [None, "int", "float"])
def test_every_number_is_counted_in_its_bucket_and_class(weighted):
    X, y = table()
    whole = np.random.default_rng(1).integers(1, 5, size=len(y))
    weight = {None: None, "int": whole, "float": whole / 4}[weighted]
    keys = keys_of(X, y, weight)
    for j in range(3):
        assert cells_of(keys, j) == counted_by_hand(X, y, weight, j)
    assert keys.count.dtype == (np.float64 if weighted == "float" else np.int64)


def test_a_column_without_values_has_no_bucket():
    keys = keys_of([[np.nan, 1.0], [np.nan, 2.0]], [0, 1])
    assert len(keys.of_column(0).first) == 0
    assert keys.of_column(1).first.tolist() == keys.of_column(1).last.tolist() == [1, 2]
    assert keys.of_column(0).pooled.tolist() == []


@given(st.integers(0, 59), st.integers(0, 1000))
def test_parts_add_up_to_the_whole_and_come_apart_again(n, seed):
    X, y = table(seed)
    whole, rest = keys_of(X, y), keys_of(X[n:], y[n:])
    if n:
        part = keys_of(X[:n], y[:n])
        assert part + rest == whole
        assert (whole - part).onto(rest.classes) == rest
        assert whole - rest == part.onto(whole.classes)
    assert len((whole - whole).low) == 0


def test_whole_weights_equal_repetition():
    X, y = table()
    weight = np.random.default_rng(2).integers(1, 4, size=len(y))
    assert keys_of(X, y, weight) == keys_of(np.repeat(X, weight, axis=0), np.repeat(y, weight))


@pytest.mark.parametrize("kind", [np.uint8, np.int16, np.int64, np.float32])
def test_narrow_numbers_are_counted_as_if_they_were_wide(kind):
    X, y = np.arange(30).reshape(10, 3).astype(kind), np.arange(10) % 2
    assert keys_of(X, y) == keys_of(X.astype(np.float64), y)


def test_columns_of_different_kinds_are_counted_like_a_matrix():
    X, y = table()
    columns = ColumnMatrix((X[:, 0].copy(), X[:, 1].astype(np.float32), X[:, 2].copy()))
    assert NumberProfile.of(columns, encode_labels(y), None, CANDIDATES).keys == keys_of(X, y)


def test_several_threads_count_what_one_does():
    X, y = table()
    fractions = np.random.default_rng(3).random(len(y))
    results = []
    for n in (1, 3):
        with threads.threads(n):
            results.append((keys_of(X, y), keys_of(X, y, fractions)))
    assert results[0] == results[1]


def test_other_classes_move_the_counts_and_drop_those_that_are_gone():
    keys = keys_of([[1.0], [2.0], [2.0]], ["a", "b", "c"])
    moved = keys.onto(Variable("class", ("c", "x", "a")))
    assert cells_of(moved, 0) == {(1.0, "a"): 1, (2.0, "c"): 1}
    assert moved.code.tolist() == [0, 2]


def test_rows_that_were_never_counted_are_refused_by_column_value_and_class():
    message = "the count of 'x1' near 7 in class 'b' would become -1"
    with pytest.raises(StatisticsError, match=message):
        keys_of([[0.0, 5.0], [0.0, 6.0]], ["a", "b"]) - keys_of([[0.0, 7.0]], ["b"])


def test_other_columns_are_refused():
    with pytest.raises(StatisticsError, match=r"columns \['x0'\] here, \['x0', 'x1'\] there"):
        keys_of([[1.0]], ["a"]) + keys_of([[1.0, 2.0]], ["a"])


@pytest.mark.parametrize("j", range(4))
def test_the_column_that_a_row_was_never_counted_in_is_named(j):
    X = np.arange(8.0).reshape(2, 4)
    taken = X[:1].copy()
    taken[0, j] = 99
    with pytest.raises(StatisticsError, match=f"the count of 'x{j}' near 99 in class 'a' would become -1"):
        keys_of(X, ["a", "b"]) - keys_of(taken, ["a"])


def test_of_many_columns_that_do_not_fit_ten_are_named():
    here, there = (keys_of(np.zeros((1, n)), ["a"]) for n in (11, 12))
    ten = [f"x{j}" for j in range(10)]
    with pytest.raises(StatisticsError, match=re.escape(f"columns {ten} here, {ten} there")):
        here + there


def test_rows_that_count_half_have_half_the_counts():
    X, y = table()
    half = keys_of(X, y).scaled(0.5)
    np.testing.assert_array_equal(half.count, keys_of(X, y).count / 2)
    np.testing.assert_array_equal(half.low, keys_of(X, y).low)


def test_a_remainder_within_rounding_is_no_row():
    X, y = np.full((3, 1), 4.0), ["a"] * 3
    weight = np.array([0.1, 0.2, 0.3])
    rest = keys_of(X, y, weight) - keys_of(X[[1, 2, 0]], y, weight[[1, 2, 0]])
    assert len(rest.low) == 0


@pytest.fixture
def few_buckets(monkeypatch):
    monkeypatch.setattr(key_counts, "MOST_BUCKETS", 16)
    monkeypatch.setattr(key_counts, "PROBED", 20)


@pytest.mark.usefixtures("few_buckets")
@pytest.mark.parametrize("n_parts", [1, 2, 7])
def test_buckets_are_as_fine_as_their_number_allows_in_any_order_and_partition(n_parts):
    X, y = table(n_rows=200)
    whole = keys_of(X, y)
    order = np.random.default_rng(4).permutation(200)
    parts = [keys_of(X[rows], y[rows]) for rows in np.array_split(order, n_parts)]
    assert sum(parts[1:], start=parts[0]) == whole
    assert whole.shift[1] == 0  # four different numbers
    for j in (0, 2):
        values = np.unique(X[:, j][~np.isnan(X[:, j])])
        histogram = whole.of_column(j)
        assert 8 < len(histogram.first) <= 16  # with half as wide buckets there would be more
        assert np.isin(histogram.first, values).all()
        assert np.isin(histogram.last, values).all()
        assert (histogram.last[:-1] < histogram.first[1:]).all()
        assert histogram.pooled.sum() == (X[:, j] == X[:, j]).sum()


@pytest.mark.usefixtures("few_buckets")
def test_rows_counted_in_finer_buckets_can_be_taken_away():
    X, y = table(n_rows=200)
    whole, part, rest = keys_of(X, y), keys_of(X[:10], y[:10]), keys_of(X[10:], y[10:])
    assert part.shift[0] < whole.shift[0]
    left = whole - part
    for j in range(3):
        of_rest = rest.of_column(j)
        place = np.searchsorted(left.of_column(j).last, of_rest.first)
        n_buckets = len(left.of_column(j).first)
        np.testing.assert_array_equal(
            of_rest.grouped(place, n_buckets), left.of_column(j).grouped(np.arange(n_buckets), n_buckets)
        )


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("starts", [[], [3], [1, 2, 17], [5, 5, 40]])
def test_stretches_of_buckets_hold_what_their_buckets_hold(weighted, starts):
    X, y = table()
    weight = np.random.default_rng(7).random(len(y)) if weighted else None
    histogram = keys_of(X, y, weight).of_column(0)
    place = np.searchsorted(starts, np.arange(len(histogram.first)), side="right")
    expected = histogram.grouped(place, len(starts) + 1)
    found = histogram.between(np.array(starts, dtype=np.int64))
    np.testing.assert_array_equal(found, expected)
    assert found.dtype == expected.dtype


def test_numbers_far_from_zero_are_as_different_as_those_near_it():
    x = np.arange(400.0)
    near, far = (keys_of((x + offset)[:, None], x % 2).of_column(0) for offset in (0, 1e9))
    assert len(near.first) == len(far.first) == 400
    np.testing.assert_array_equal(near.first + 1e9, far.last)


def test_columns_put_beside_others_and_taken_again_are_those_of_one_count():
    X, y = table()
    names = ("a", "b", "c")
    both = keys_of(X[:, [2, 0]], y, names=("c", "a")).hstack(keys_of(X[:, [1]], y, names=("b",)))
    assert both.take([1, 2, 0]) == keys_of(X, y, names=names)
    assert keys_of(X, y) != 3
