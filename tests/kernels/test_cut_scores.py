"""Scores of cuts: the loop equals the NumPy reference to the bit, and both what a cut leaves of the entropy."""

import numpy as np
import pytest

from bayeswater.kernels.cut_scores import cut_scores, in_units, lookup_table, units_per_bit


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
