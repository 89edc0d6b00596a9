"""A long column that is counted as it comes has the sums of a sorted one, whatever a look at it has told."""

from dataclasses import replace
from fractions import Fraction
from functools import cache
from math import log, log1p

import numpy as np
import pytest

from bayeswater.kernels import number_columns
from bayeswater.kernels.number_columns import Look, LookedAt, NumberColumns, SpreadColumn
from bayeswater.kernels.sorted_column import ClassOrder, SortedColumn

MOST = 512
N_ROWS = 6000
N_CLASSES = 3
# A mean is rounded once in each of a few additions, a scatter once in each of its terms, all of one sign.
CLOSE = {"rtol": 1e-13, "atol": 1e-12}

KINDS = {
    "normal": lambda rng, n: rng.normal(size=n),
    "far from zero": lambda rng, n: 1e6 + rng.normal(size=n),
    "below zero": lambda rng, n: -rng.exponential(size=n),
    "log-normal": lambda rng, n: np.exp(3 * rng.normal(size=n)),
    "heavy tails": lambda rng, n: rng.standard_cauchy(size=n),
    "sorted": lambda rng, n: np.sort(rng.random(n)),
    "few counts": lambda rng, n: np.where(rng.random(n) < 0.02, rng.integers(-3, 9, size=n), rng.normal(size=n)),
    "extremes": lambda rng, n: np.concatenate([EXTREMES, rng.normal(size=n - len(EXTREMES))]),
    "near the largest": lambda rng, n: np.where(rng.random(n) < 0.1, np.nan, 1e308 * rng.uniform(-1.7, 1.7, size=n)),
    "shares": lambda rng, n: np.where(rng.random(n) < 0.5, rng.random(n), 1 - 1e-4 * rng.random(n)),
    "missing": lambda rng, n: np.where(rng.random(n) < 0.3, np.nan, rng.normal(size=n)),
}
EXTREMES = [0.0, -0.0, 5e-324, -5e-324, 1.0, -1.0, 1e150, -1e150, np.nan, -np.nan, 1e-300, -1 / 3]


@pytest.fixture(autouse=True)
def short_columns_are_long(monkeypatch):
    monkeypatch.setattr(number_columns, "LONG", 0)
    monkeypatch.setattr(number_columns, "BLOCK", 256)
    monkeypatch.setattr(number_columns, "NEAR", 4)
    monkeypatch.setattr(number_columns, "SEEN", 32)


def column_of(kind, seed=0):
    rng = np.random.default_rng(seed)
    return KINDS[kind](rng, N_ROWS), rng.integers(0, N_CLASSES, size=N_ROWS).astype(np.uint8)


def taken(x, y, n_classes=N_CLASSES, cuts=(), **how):
    return NumberColumns.of(y, n_classes, None, most=MOST).column(np.split(x, cuts), **how)


def sorted_one(x, y, n_classes=N_CLASSES):
    return SortedColumn.of(x, None, ClassOrder.of(y, n_classes))


def cells_of(column):
    return column.key_cells(most=MOST, probed=2 * MOST)


@cache
def sorted_cells(kind, seed=0):
    return cells_of(sorted_one(*column_of(kind, seed)))


def assert_same_cells(found, expected):
    assert found.shift == expected.shift
    for one, other in zip(found[1:], expected[1:], strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("kind", KINDS)
def test_cells_are_those_of_the_sorted_column(kind):
    for seed in range(4):
        assert_same_cells(cells_of(taken(*column_of(kind, seed))), sorted_cells(kind, seed))


def test_columns_of_numbers_that_hardly_repeat_are_not_sorted():
    for kind in ("normal", "far from zero", "below zero", "few counts", "missing"):
        assert isinstance(taken(*column_of(kind)), SpreadColumn)


@pytest.mark.parametrize("kind", ["few values", "counts", "over many magnitudes", "nothing"])
def test_columns_that_are_better_sorted_are_sorted(kind, monkeypatch):
    rng = np.random.default_rng(0)
    x = {
        "few values": rng.integers(-9, 9, size=N_ROWS) / 7,
        "counts": rng.integers(0, 10**6, size=N_ROWS).astype(np.float64),
        "over many magnitudes": np.exp(600 * rng.random(N_ROWS)) / 7,
        "nothing": np.full(N_ROWS, np.nan),
    }[kind]
    monkeypatch.setattr(number_columns, "TABLE", 2**10)  # as small for these buckets as it is for many more
    assert isinstance(taken(x, np.zeros(N_ROWS, dtype=np.uint8)), SortedColumn)


def test_rows_that_have_weights_or_many_classes_are_sorted():
    x, y = column_of("normal")
    weighted = NumberColumns.of(y, N_CLASSES, np.ones(N_ROWS), most=MOST)
    assert isinstance(weighted.column([x]), SortedColumn)
    assert isinstance(taken(x, y, n_classes=9), SortedColumn)


@pytest.mark.parametrize("kind", KINDS)
def test_moments_are_those_of_exact_arithmetic(kind):
    x, y = column_of(kind)
    column, inner = taken(x, y), np.abs(x) < 1e100  # squares of others are beyond all floats
    inner |= np.isnan(x)
    if not inner.all():
        column = taken(x[inner], y[inner])
        x, y = x[inner], y[inner]
    looked_at = [(column.moments(), x)]
    if not (x <= 0).any():
        looked_at.append((column.log_moments(), np.log(x)))
    for found, values in looked_at:
        for k in range(N_CLASSES):
            own = [Fraction(value) for value in values[(y == k) & (values == values)].tolist()]
            mean = sum(own) / max(1, len(own))
            scatter = sum((value - mean) ** 2 for value in own)
            assert found[0][k] == len(own)
            np.testing.assert_allclose([found[1][k], found[2][k]], [float(mean), float(scatter)], **CLOSE)
        assert found[0].dtype == np.int64


def test_an_outlier_that_comes_first_costs_no_digits():
    x, y = column_of("far from zero")
    x[0] = 1e12
    _, mean, scatter = taken(x, np.zeros_like(y), 1).moments()
    exact = [Fraction(value) for value in x.tolist()]
    expected = sum(exact) / len(exact)
    np.testing.assert_allclose(mean[0], float(expected), rtol=1e-15)
    np.testing.assert_allclose(scatter[0], float(sum((value - expected) ** 2 for value in exact)), rtol=1e-13)


def test_a_class_that_was_not_seen_is_summed_about_its_first_number():
    x, y = column_of("far from zero")
    assert (x > 0).all()
    look = taken(x, y).table.look
    unseen = replace(look, center=np.full(N_CLASSES, np.nan), log_center=np.full(N_CLASSES, np.nan))
    order = ClassOrder.of(np.where(y == 2, 0, y), N_CLASSES)  # a class without a row, too
    found = SpreadColumn.of([x], order, unseen, with_cells=True, with_logs=True)
    expected = SortedColumn.of(x, None, order)
    np.testing.assert_allclose(found.moments(), expected.moments(), **CLOSE)
    np.testing.assert_allclose(found.log_moments(), expected.log_moments(), **CLOSE)


@pytest.mark.parametrize("kind", KINDS)
def test_sums_of_counts_are_those_of_the_sorted_column(kind):
    x, y = column_of(kind)
    (*found, logs), (*expected, other_logs) = taken(x, y).whole_sums(), sorted_one(x, y).whole_sums()
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)
        assert one.dtype == other.dtype
    np.testing.assert_allclose(logs, other_logs, rtol=1e-14)  # sums of logarithms are rounded


@pytest.mark.parametrize("kind", ["sorted", "shares"])
def test_sums_of_shares_are_those_of_each_logarithm(kind):
    x, y = column_of(kind)
    x[x == 1] = 0.5
    for k, found in enumerate(zip(*taken(x, y).share_sums(), strict=True)):
        own = x[(y == k) & (x > 0) & (x < 1)]
        expected = [len(own), -sum(map(log, own)), -sum(log1p(-share) for share in own)]
        np.testing.assert_allclose(found, expected, rtol=1e-13)  # each factor of a product is rounded


@pytest.mark.parametrize("cuts", [(1,), (256,), (100, 101, 2047), (700, 700), (N_ROWS,)])
@pytest.mark.parametrize("kind", ["normal", "missing", "few counts"])
def test_where_the_pieces_end_does_not_show_in_any_bit(kind, cuts):
    x, y = column_of(kind)
    one, other = taken(x, y), taken(x, y, cuts=cuts)
    assert isinstance(other, SpreadColumn)
    assert_same_cells(cells_of(other), cells_of(one))
    for sums in ("moments", "log_moments", "whole_sums", "share_sums"):
        np.testing.assert_array_equal(getattr(other, sums)(), getattr(one, sums)())


def test_logarithms_that_no_law_will_ask_for_are_not_taken():
    x, y = column_of("shares")
    assert taken(x, y).log_moments()[0].sum() == taken(x, y).share_sums()[0].sum() == N_ROWS
    x[:2] = -1.0, 2.0  # in the first block: neither all over 0 nor all between 0 and 1
    for weight, *sums in (taken(x, y).log_moments(), taken(x, y).share_sums()):
        assert not weight.any()
        assert not np.any(sums[-1])


def test_sums_without_cells_are_those_with_cells_to_the_bit():
    x, y = column_of("log-normal")
    one, other = taken(x, y), taken(x, y, with_cells=False)
    np.testing.assert_array_equal(other.moments(), one.moments())
    np.testing.assert_array_equal(other.log_moments(), one.log_moments())
    bare = taken(x, y, with_cells=False, with_logs=False)
    np.testing.assert_array_equal(bare.moments(), one.moments())


@pytest.mark.parametrize("coarser", [-3, -1, 0, 1, 2])
@pytest.mark.parametrize("further", [-300, 0, 4, 200])
@pytest.mark.parametrize("kind", ["normal", "missing", "extremes"])
def test_a_look_that_misleads_changes_no_cell(kind, further, coarser):
    x, y = column_of(kind)
    look = taken(x, y).table.look
    shift, begin = look.shift + coarser, max(int((look.begin + further) * 2.0**-coarser), 1)
    width = min(look.width, (number_columns.INFINITY >> shift) - begin)
    misled = replace(look, shift=shift, begin=begin, width=width)
    found = cells_of(SpreadColumn.of([x], ClassOrder.of(y, N_CLASSES), misled, with_cells=True, with_logs=True))
    assert_same_cells(found, sorted_cells(kind))


def test_numbers_of_few_bytes_and_of_every_second_place_are_read_as_they_are():
    x, y = column_of("normal")
    narrow = x.astype(np.float32)
    assert_same_cells(cells_of(taken(narrow, y)), cells_of(sorted_one(narrow.astype(np.float64), y)))
    apart = np.repeat(x, 2)[::2]
    assert_same_cells(cells_of(taken(apart, y)), cells_of(taken(x, y)))


def test_of_a_rare_class_enough_rows_are_looked_at_to_know_its_middle():
    y = np.zeros(50_000, dtype=np.uint8)
    y[100:140] = 1
    looked_at = LookedAt.of(ClassOrder.of(y, 3), 512)
    assert [len(places) for places in looked_at.of_class] == [33, 40, 0]
    assert (np.diff(looked_at.rows) > 0).all()
    np.testing.assert_array_equal(y[looked_at.rows[looked_at.of_class[1]]], 1)
    x = np.where(y == 1, 1e6, 0.0) + np.random.default_rng(0).normal(size=len(y))
    look = Look.at([x], looked_at, 512)
    assert abs(look.center[1] - 1e6) < 1
    assert abs(look.center[0]) < 0.5
    assert np.isnan(look.center[2])


def test_the_column_itself_is_left_as_it_was():
    x, y = column_of("missing")
    before = x.copy()
    cells_of(taken(x, y))
    np.testing.assert_array_equal(x, before)
    assert x.flags.writeable
