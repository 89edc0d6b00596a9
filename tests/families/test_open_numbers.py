"""All sums that a choice of the family can ask for: they add, come apart, and hold those of every family."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayeswater import StatisticsError
from bayeswater.data.labels import encode_labels
from bayeswater.data.matrix import ColumnMatrix, ColumnPieces, DenseMatrix
from bayeswater.data.reading.number_table import binned
from bayeswater.estimate.histogram_cuts import quantile_cuts
from bayeswater.families.open_numbers import NumberProfile
from bayeswater.families.registry import CANDIDATES
from bayeswater.kernels import number_columns, threads
from bayeswater.statistics import key_counts
from bayeswater.statistics.moments import LostDigits, Moments

# Moments and sums of logarithms round in every addition, of which there are some dozens.
CLOSE = {"rtol": 1e-12, "atol": 1e-12}
# A scatter that remains of a subtraction has eight digits; less is refused.
SUBTRACTED = {"rtol": 1e-8, "atol": 1e-8}
ROUNDED = {
    *("gaussian.mean", "gaussian.scatter", "lognormal.mean", "lognormal.scatter"),
    *("wholes.log_factorials", "beta.from_zero", "beta.from_one"),
}


def profile_of(X, y, weight=None, names=None):
    return NumberProfile.of(DenseMatrix(np.asarray(X), names), encode_labels(np.asarray(y)), weight, CANDIDATES)


def assert_equal(a, b, close=CLOSE):
    """Whole sums are the same bits, float sums the same but for rounding."""
    assert a.classes == b.classes
    theirs = b.to_arrays()
    for name, array in a.to_arrays().items():
        if name in ROUNDED:
            np.testing.assert_allclose(array, theirs[name], **close, err_msg=name)
        else:
            np.testing.assert_array_equal(*np.broadcast_arrays(array, theirs[name]), err_msg=name)


def table(seed=0, n_rows=80):
    """Normal, log-normal, counts, and counts with a fraction among them; some cells are missing."""
    rng = np.random.default_rng(seed)
    X = np.column_stack(
        [
            rng.normal(size=n_rows),
            np.exp(rng.normal(size=n_rows)),
            rng.poisson(3, size=n_rows),
            np.where(np.arange(n_rows) == 5, 0.5, rng.poisson(900, size=n_rows)),
        ]
    )
    X[rng.random(X.shape) < 0.05] = np.nan
    X[5, 3] = 0.5
    return X, np.array([*"abc"])[np.arange(n_rows) % 3]


def test_it_holds_the_moments_of_the_values_and_of_their_logarithms():
    X, y = table()
    profile = profile_of(X, y)
    positive = X > 0
    logs = np.where(positive, np.log(np.where(positive, X, 1.0)), np.nan)
    for moments, values in ((profile.own["gaussian"], X), (profile.own["lognormal"], logs)):
        expected = Moments.of(DenseMatrix(values), encode_labels(y), None, skip_missing=True)
        np.testing.assert_array_equal(*np.broadcast_arrays(moments.weight, expected.weight))
        np.testing.assert_allclose(moments.mean, expected.mean, **CLOSE)
        np.testing.assert_allclose(moments.scatter, expected.scatter, **CLOSE)


@pytest.mark.parametrize("weighted", [False, True])
def test_moments_alone_are_those_of_the_profile_to_the_bit(weighted):
    X, y = table()
    weight = np.random.default_rng(6).random(len(y)) if weighted else None
    profile = profile_of(X, y, weight)
    for part, is_log in ((profile.own["gaussian"], False), (profile.own["lognormal"], True)):
        assert Moments.of_numbers(DenseMatrix(X), encode_labels(y), weight, [is_log] * 4) == part


def test_logarithms_of_whole_numbers_leave_out_the_zeros():
    profile = profile_of(np.array([[0], [1], [8]]), [0, 0, 0])
    assert profile.own["lognormal"].weight.tolist() == [[2]]
    np.testing.assert_allclose(profile.own["lognormal"].mean, [[np.log(8) / 2]], rtol=1e-15)


def test_it_holds_the_sums_of_the_whole_numbers():
    X, y = table()
    profile = profile_of(X, y)
    for k, label in enumerate("abc"):
        counts = X[y == label, 2]
        assert profile.wholes.whole[k, 2] == np.sum(counts == counts)
        assert profile.wholes.total[k, 2] == np.nansum(counts)
    assert [profile.is_whole(j) for j in range(4)] == [False, False, True, False]


@given(st.integers(3, 77), st.integers(0, 100))
def test_parts_add_up_to_the_whole_and_come_apart_again(n, seed):
    X, y = table(seed)
    whole, part, rest = profile_of(X, y), profile_of(X[:n], y[:n]), profile_of(X[n:], y[n:])
    assert_equal(part + rest, whole)
    # Where equal values remain, all digits of their scatter are lost: those classes are taken from the rest.
    assert_equal(whole.minus(part, rest).onto(rest.classes), rest, SUBTRACTED)


def test_any_order_of_the_rows_gives_the_same_sums():
    X, y = table()
    order = np.random.default_rng(1).permutation(len(y))
    assert_equal(profile_of(X[order], y[order]), profile_of(X, y))


def test_whole_weights_equal_repetition():
    X, y = table()
    weight = np.random.default_rng(2).integers(1, 4, size=len(y))
    assert_equal(profile_of(X, y, weight), profile_of(np.repeat(X, weight, axis=0), np.repeat(y, weight)))


def test_the_number_of_threads_does_not_show():
    X, y = table()
    weight = np.random.default_rng(3).random(len(y))
    results = []
    for n in (1, 4):
        with threads.threads(n):
            results.append(profile_of(X, y, weight))
    assert results[0] == results[1]


def test_columns_of_a_frame_are_summed_like_a_matrix():
    X, y = table()
    columns = ColumnMatrix(tuple(np.ascontiguousarray(X.T)))
    assert_equal(NumberProfile.of(columns, encode_labels(y), None, CANDIDATES), profile_of(X, y))


@pytest.fixture
def long_columns(monkeypatch):
    """Columns of a few thousand rows, and histograms of as many buckets as longer ones would have for their length."""
    monkeypatch.setattr(number_columns, "LONG", 0)
    monkeypatch.setattr(key_counts, "MOST_BUCKETS", 512)
    monkeypatch.setattr(number_columns, "NEAR", 4)
    return table(n_rows=6000)


def test_long_columns_have_the_same_bits_in_any_pieces_and_with_any_number_of_threads(long_columns):
    X, y = long_columns
    labels, whole = encode_labels(y), profile_of(X, y)
    for n_threads, cuts in ((1, [10]), (4, [1, 3000, 3001])):
        pieces = ColumnPieces(tuple(tuple(np.split(column, cuts)) for column in X.T))
        with threads.threads(n_threads):
            assert NumberProfile.of(pieces, labels, None, CANDIDATES) == whole


def test_long_columns_add_up_to_the_whole_and_their_moments_alone_have_the_same_bits(long_columns):
    X, y = long_columns
    whole = profile_of(X, y)
    assert_equal(profile_of(X[:2500], y[:2500]) + profile_of(X[2500:], y[2500:]), whole)
    for part, is_log in ((whole.own["gaussian"], False), (whole.own["lognormal"], True)):
        assert Moments.of_numbers(DenseMatrix(X), encode_labels(y), None, [is_log] * 4) == part


def test_narrow_whole_numbers_are_summed_as_if_they_were_wide():
    X = np.random.default_rng(4).integers(0, 200, size=(50, 2))
    y = np.arange(50) % 2
    assert_equal(profile_of(X.astype(np.uint8), y), profile_of(X.astype(np.float64), y))


@pytest.mark.parametrize("n_bins", [2, 5, 30, 1000])
@pytest.mark.parametrize("j", range(4))
def test_bins_hold_the_rows_that_their_cuts_say(j, n_bins):
    X, y = table(n_rows=300)
    profile = profile_of(X, y)
    cuts = quantile_cuts(profile.occupied(j), n_bins)
    labels = encode_labels(y)
    codes = binned([X[:, j]], [cuts], ["x"]).block(slice(0, 300)).ravel()
    expected = np.zeros((len(cuts) + 2, 3), dtype=np.int64)
    np.add.at(expected, (codes, labels.codes), 1)
    np.testing.assert_array_equal(profile.binned(j, cuts), expected[:-1])  # the last are the missing cells
    assert profile.binned(j, cuts).dtype == np.int64


def test_a_cut_that_parts_a_bucket_is_refused_with_what_it_parts(monkeypatch):
    monkeypatch.setattr(key_counts, "MOST_BUCKETS", 2)
    profile = profile_of(np.array([[1.0], [1024.0], [1027.0]]), [0, 0, 0])
    with pytest.raises(StatisticsError, match=r"the cut 1025.5 of column 'x0' parts the values from 1024.0 to 1027.0"):
        profile.binned(0, (1025.5,))
    assert profile.binned(0, (1024.0,)).tolist() == [[1], [2]]
    assert profile.binned(0, (1.5, 1027.5)).tolist() == [[1], [2], [0]]


def test_rows_of_new_classes_may_be_added():
    X, y = table()
    first = y != "b"
    assert_equal(profile_of(X[first], y[first]) + profile_of(X[~first], y[~first]), profile_of(X, y))


def test_half_of_every_row_is_half_of_every_sum():
    X, y = table()
    assert_equal(profile_of(X, y).scaled(0.5), profile_of(X, y, np.full(len(y), 0.5)))


def test_a_scatter_that_would_lose_its_digits_is_recounted_from_the_rest():
    X, y = np.array([[1.0], [2.0], [3.0], [1e6 + 0.5]]), np.zeros(4, dtype=int)
    whole, gone, rest = profile_of(X, y), profile_of(X[3:], y[3:]), profile_of(X[:3], y[:3])
    with pytest.raises(LostDigits):
        whole - gone
    assert_equal(whole.minus(gone, rest), rest)


def test_more_cells_than_rows_are_refused():
    profile = profile_of(np.array([[1.0, 2.0], [3.0, np.nan]]), [0, 0], names=("a", "b"))
    profile.require_cells_within(np.array([2]), np.zeros(1))
    with pytest.raises(StatisticsError, match="class 0 would have 1 rows, with 2 cells in column 'a'"):
        profile.require_cells_within(np.array([1]), np.zeros(1))


def test_names_and_sums_of_chosen_columns():
    X, y = table()
    profile = profile_of(X, y, names=("n", "l", "c", "f"))
    assert (profile.names, profile.n_columns, profile.column_name(2)) == (("n", "l", "c", "f"), 4, "c")
    taken = profile.own["gaussian"].take([2, 0])
    assert taken.names == ("c", "n")
    np.testing.assert_array_equal(taken.mean, profile.own["gaussian"].mean[:, [2, 0]])
    np.testing.assert_array_equal(taken.weight, profile.own["gaussian"].weight[:, [2, 0]])


def test_columns_without_names_keep_those_of_their_places_when_taken():
    X = np.arange(12.0).reshape(4, 3)
    moments = profile_of(X, [0, 0, 1, 1]).own["gaussian"]
    taken = moments.take([2])
    assert taken.names == ("x2",)
    assert moments.weight.shape == taken.weight.shape == (2, 1)  # no cell was missing: one column for all
    assert (taken.mean == moments.mean[:, [2]]).all()
    assert taken.take([0]) == taken
    assert taken.take([]).n_columns == 0


def test_profiles_of_different_rows_are_different():
    X, y = table()
    assert profile_of(X, y) == profile_of(X, y)
    assert profile_of(X, y) != profile_of(X[1:], y[1:])
    assert profile_of(X, y) != 3


def test_its_size_is_that_of_its_arrays():
    X, y = table()
    profile = profile_of(X, y)
    assert profile.nbytes == sum(array.nbytes for array in profile.to_arrays().values())
    with pytest.raises(ValueError, match="read-only"):
        profile.wholes.whole[0, 0] = 1


def test_columns_put_beside_others_and_taken_again_are_those_of_one_count():
    values = np.random.default_rng(5).normal(size=(40, 3)).round(1)
    values[::7, 1] = np.nan
    labels = encode_labels(np.arange(40) % 3)
    names = ("a", "b", "c")

    def profile(*columns):
        return NumberProfile.of(
            DenseMatrix(values[:, columns], tuple(names[j] for j in columns)), labels, None, CANDIDATES
        )

    joined = profile(2, 0).hstack(profile(1)).take([1, 2, 0])
    assert_equal(joined, profile(0, 1, 2))
    assert joined.names == names
