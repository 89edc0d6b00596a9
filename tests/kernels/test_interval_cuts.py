"""Intervals of numbers: both loops and the NumPy reference equal a comparison with every cut.

Scores of cuts: the loop equals the NumPy reference to the bit, and both what a cut leaves of the entropy.

The range of every column of integers: the loop equals the NumPy reference.
"""

import numpy as np
import pytest
from tests.kernels.tables import laid_out

from bayeswater.kernels.interval_cuts import (
    FEW_CUTS,
    LANES,
    column_range,
    cut_scores,
    in_units,
    interval_codes,
    lookup_table,
    units_per_bit,
)


@pytest.mark.parametrize("use_loop", [True, False], ids=["loop", "reference"])
@pytest.mark.parametrize("closed_right", [True, False])
@pytest.mark.parametrize("n_cuts", [0, 1, FEW_CUTS, FEW_CUTS + 1, 300])
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_a_number_falls_behind_the_cuts_below_it(kind, n_cuts, closed_right, use_loop):
    rng = np.random.default_rng(n_cuts)
    cuts = np.sort(rng.permutation(np.arange(-200, 200))[:n_cuts] / 4)
    x = np.concatenate([cuts, cuts + 0.125, [-np.inf, np.inf, np.nan, -0.0, 1e30]]).astype(kind)
    rng.shuffle(x)
    codes = np.empty(len(x), dtype=np.uint16)
    interval_codes(x, cuts, codes, closed_right=closed_right, use_loop=use_loop)
    below = x[:, None] > cuts if closed_right else x[:, None] >= cuts
    np.testing.assert_array_equal(codes, np.where(np.isnan(x), n_cuts + 1, below.sum(axis=1)))


def cells_of(rng, n_values, n_classes, kind):
    count = rng.integers(0, 4, size=(n_values, n_classes))
    count[np.arange(n_values), rng.integers(n_classes, size=n_values)] += 1  # every value has a row
    place, code = np.nonzero(count)
    start = np.searchsorted(place, np.arange(n_values + 1))
    weight = count[place, code] * (1 if kind is np.int64 else 0.37)
    return start, code.astype(np.int32), weight.astype(kind), np.bincount(code, weight, n_classes).astype(kind)


def entropy_left(start, code, weight, total):
    """-N H of the classes after each cut, by the definition."""
    result = []
    for value in range(1, len(start) - 1):
        left = np.bincount(code[: start[value]], weight[: start[value]], len(total))
        sides = (left, total - left)
        shares = [side[side > 1e-9] / side.sum() for side in sides]
        result.append(sum(side.sum() * (p @ np.log2(p)) for side, p in zip(sides, shares, strict=True)))
    return np.array(result)


@pytest.mark.parametrize("use_loop", [True, False], ids=["loop", "reference"])
@pytest.mark.parametrize("kind", [np.int64, np.float64])
@pytest.mark.parametrize("n_classes", [1, 2, 7])
def test_a_score_is_what_a_cut_leaves_of_the_entropy(n_classes, kind, use_loop):
    start, code, weight, total = cells_of(np.random.default_rng(n_classes), 50, n_classes, kind)
    units = units_per_bit(total.sum())
    table = lookup_table(total.sum(), units) if kind is np.int64 else None
    scores = cut_scores(start, code, weight, total, units, table, use_loop=use_loop)
    # Each of 2 K + 2 terms is rounded to half a unit, of 2**-28 bits.
    expected = entropy_left(start, code, weight, total)
    np.testing.assert_allclose(scores / units, expected, rtol=0, atol=(n_classes + 1) / units + 1e-10)


@pytest.mark.parametrize("n_classes", [2, 30])
def test_loop_and_reference_give_the_same_bits_for_whole_weights(n_classes):
    start, code, weight, total = cells_of(np.random.default_rng(1), 400, n_classes, np.int64)
    units = units_per_bit(total.sum())
    table = lookup_table(total.sum(), units)
    loop, reference = (cut_scores(start, code, weight, total, units, table, use_loop=loop) for loop in (True, False))
    np.testing.assert_array_equal(loop, reference)


@pytest.mark.parametrize("use_loop", [True, False], ids=["loop", "reference"])
def test_a_part_of_a_column_is_scored_on_its_own(use_loop):
    start, code, weight, total = cells_of(np.random.default_rng(2), 40, 3, np.int64)
    units, cells = units_per_bit(total.sum()), slice(start[10], start[31])
    table = lookup_table(total.sum(), units)
    of_part = np.bincount(code[cells], weight[cells], 3).astype(np.int64)
    inside = cut_scores(start[10:32], code, weight, of_part, units, table, use_loop=use_loop)
    alone = cut_scores(start[10:32] - start[10], code[cells], weight[cells], of_part, units, table, use_loop=use_loop)
    np.testing.assert_array_equal(inside, alone)


@pytest.mark.parametrize("weight", [1e-6, 1.0, 1e6, 2.0**24, 1e12, 2.0**53])
def test_scores_of_any_weight_fit_into_64_bits(weight):
    units = units_per_bit(weight)
    largest = in_units(np.array([weight]), units)
    assert 0 <= 2 * abs(int(largest[0])) < 2**62
    assert units >= 1 or weight > 1e12


KINDS = ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"]


@pytest.mark.parametrize("use_loop", [True, False], ids=["loop", "reference"])
@pytest.mark.parametrize(("kind", "layout"), [*[(kind, "C") for kind in KINDS], ("uint8", "F"), ("uint8", "strided")])
def test_the_extremes_of_the_kind_are_found(kind, layout, use_loop):
    limits = np.iinfo(kind)
    X = laid_out(np.array([[3, limits.min, 5], [4, 1, 5], [limits.max, 2, 5]], dtype=kind), layout)
    low, high = column_range(X, use_loop=use_loop)
    assert low.tolist() == [3, limits.min, 5]
    assert high.tolist() == [limits.max, 2, 5]
    assert low.dtype == high.dtype == np.dtype(kind)


@pytest.mark.parametrize("use_loop", [True, False], ids=["loop", "reference"])
def test_the_table_is_left_as_it_was(use_loop):
    X = np.array([[2, 7], [1, 9]], dtype=np.uint8)
    column_range(X, use_loop=use_loop)
    assert X.tolist() == [[2, 7], [1, 9]]


@pytest.mark.parametrize("use_loop", [True, False], ids=["loop", "reference"])
@pytest.mark.parametrize("layout", ["C", "F"])
@pytest.mark.parametrize("n_rows", [1, 2 * LANES - 1, 2 * LANES, 5 * LANES + 3])
def test_the_range_of_many_rows_is_that_of_each_column(n_rows, layout, use_loop):
    X = laid_out(np.random.default_rng(0).integers(-1000, 1000, size=(n_rows, 3)), layout)
    low, high = column_range(X, use_loop=use_loop)
    np.testing.assert_array_equal(low, X.min(axis=0))
    np.testing.assert_array_equal(high, X.max(axis=0))
