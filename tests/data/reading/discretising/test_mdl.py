"""Cuts by description length: those of brute force, Weka's, and the laws of weights and missing values."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_iris, load_wine
from tests.data.reading.discretising.one_column import find_cuts
from tests.oracles.mdl_cuts import brute_force_cuts, remaining

from bayeswater.data.reading.discretising.mdl import ExactSearch, WekaSearch, class_weight, is_worth_its_cost, mdl_cuts
from bayeswater.data.reading.discretising.value_cells import ValueCells

COLUMNS = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 3)), min_size=1, max_size=36)
"""Rows of few values and up to four classes: many ties."""

CLUSTERED = st.lists(
    st.tuples(st.sampled_from([0.1, 0.2, 0.3, 1.7, 1.75, 4.0, 4.5]), st.integers(0, 1)), min_size=4, max_size=36
).map(lambda rows: [(value, int(value > 1) if toss else int(value > 2)) for value, toss in rows])
"""Rows whose class follows from their value, but for some between 1 and 2: cuts are found."""


def cuts_of(values, labels, n_classes=4, **options):
    return find_cuts(np.asarray(values, dtype=float), np.asarray(labels), n_classes, fallback=None, **options).tolist()


@given(COLUMNS | CLUSTERED)
def test_cuts_are_those_of_brute_force_over_all_cuts(rows):
    values, labels = zip(*rows, strict=True)
    assert cuts_of(values, labels) == brute_force_cuts(values, labels)


def test_the_rows_for_the_brute_force_have_cuts_at_several_levels():
    values = [1] * 12 + [2] * 12 + [3] * 12
    labels = [0] * 12 + [1] * 12 + [2] * 12
    assert cuts_of(values, labels) == brute_force_cuts(values, labels) == [1.5, 2.5]


@given(COLUMNS, st.data())
def test_a_whole_weight_is_that_many_rows(rows, data):
    values, labels = zip(*rows, strict=True)
    weight = data.draw(st.lists(st.integers(0, 9), min_size=len(rows), max_size=len(rows)).filter(any))
    repeated = cuts_of(np.repeat(values, weight), np.repeat(labels, weight))
    assert cuts_of(values, labels, weights=weight) == repeated


def test_a_column_of_many_rows_is_cut_alike_whether_rows_are_repeated_or_weighted():
    rng = np.random.default_rng(3)
    labels = rng.integers(3, size=40_000)
    values, weight = rng.normal(size=40_000) + labels, rng.integers(0, 4, size=40_000)
    weighted = cuts_of(values, labels, weights=weight)  # NumPy and the loop: 40 000 values against 240 000 cells
    assert weighted == cuts_of(np.repeat(values, weight), np.repeat(labels, weight))
    assert len(weighted) > 5


def test_weights_that_are_no_whole_numbers_count_as_rows_do():
    rng = np.random.default_rng(4)
    labels = rng.integers(3, size=600)
    values = rng.normal(size=600) + 2 * labels
    assert cuts_of(values, labels, weights=np.full(600, 1.5)) == cuts_of(
        np.concatenate([values] * 3), np.concatenate([labels] * 3), weights=np.full(1800, 0.5)
    )
    assert cuts_of(values, labels, weights=np.full(600, 1 + 1e-12)) == cuts_of(values, labels)
    assert cuts_of(values, labels, weights=np.full(600, 1e-3)) == []  # less than one row in all tells nothing


@given(COLUMNS, st.randoms(use_true_random=False))
def test_missing_values_and_rows_of_no_weight_have_no_influence(rows, random):
    values, labels = (list(column) for column in zip(*rows, strict=True))
    expected = cuts_of(values, labels)
    weight = [1] * len(values)
    for _ in range(5):
        place = random.randrange(len(values) + 1)
        missing = random.random() < 0.5
        values.insert(place, np.nan if missing else random.randrange(-3, 12))
        labels.insert(place, random.randrange(4))
        weight.insert(place, random.randrange(1, 4) if missing else 0)
    assert cuts_of(values, labels, weights=weight) == expected


def test_cuts_do_not_depend_on_the_order_of_rows_nor_on_how_classes_are_numbered():
    rng = np.random.default_rng(5)
    labels = rng.integers(5, size=3_000)
    values = np.round(rng.normal(size=3_000) + labels, 2)
    expected = cuts_of(values, labels, 5)
    order, name = rng.permutation(3_000), rng.permutation(7)
    assert cuts_of(values[order], name[labels[order]], 7) == expected
    assert len(expected) > 4


@pytest.mark.parametrize(
    ("values", "labels"),
    [
        ([2.0] * 20, [0, 1] * 10),  # one value
        ([np.nan] * 20, [0, 1] * 10),  # none
        (np.arange(20.0), [1] * 20),  # one class
        (np.arange(20.0), [0, 1] * 10),  # classes that take turns
        ([1.0], [0]),
        ([], []),
    ],
)
def test_columns_that_tell_nothing_of_the_classes_are_not_cut(values, labels):
    labels = np.array(labels, dtype=np.int64)
    assert cuts_of(values, labels) == cuts_of(values, labels, weka_exact=True) == []


def test_where_mdl_finds_no_cut_the_fallback_makes_bins_of_equal_frequency():
    values, labels = np.arange(20.0), np.array([0, 1] * 10)
    assert find_cuts(values, labels, 2).tolist() == [3.5, 7.5, 11.5, 15.5]
    assert find_cuts(values, labels, 2, fallback=2).tolist() == [9.5]
    assert find_cuts(values, values > 9, 2).tolist() == [9.5]  # a cut was found


def test_of_equally_good_cuts_the_first_is_taken():
    labels = [0] * 10 + [1] * 10 + [0] * 10 + [1] * 10 + [0] * 10  # the same from both ends
    assert brute_force_cuts(range(50), labels) == cuts_of(range(50), labels) == [9.5, 19.5]


def test_cuts_part_neighbouring_floats():
    low, high = 1.0 + 2**-52, 1.0 + 2**-51  # half way between them is the second, rounded to even
    assert (low + high) / 2 == high
    (cut,) = cuts_of([low] * 10 + [high] * 10, [0] * 10 + [1] * 10)
    assert low <= cut < high


def test_more_classes_than_powers_of_three_float64_can_hold():
    # 3**700 is infinite. A column that names the class is worth cutting with 700 classes of 40 rows as with 7.
    labels = np.repeat(np.arange(700), 40)
    assert len(cuts_of(labels, labels, 700)) > 100
    assert is_worth_its_cost(np.r_[np.full(350, 40), np.zeros(350)], np.r_[np.zeros(350), np.full(350, 40)])


WEKA = {
    load_iris: [[5.55, 6.15], [2.95, 3.3499999999999996], [2.45, 4.75], [0.8, 1.75]],
    load_wine: [
        [12.184999999999999, 12.78],
        [1.42, 2.2350000000000003],
        [2.0300000000000002],
        [17.9],
        [88.5],
        [1.84, 2.335],
        [0.975, 1.5750000000000002, 2.31],
        [0.395],
        [1.27],
        [3.46, 7.55],
        [0.785, 0.975, 1.295],
        [2.115, 2.475],
        [468.0, 755.0, 987.5],
    ],
}
"""What Weka 3.6.14's supervised Discretize gives with default options."""


@pytest.mark.parametrize("weka_exact", [False, True])
@pytest.mark.parametrize("load", WEKA)
def test_cuts_are_those_of_weka(load, weka_exact):
    X, y = load(return_X_y=True)
    assert [cuts_of(column, y, 3, weka_exact=weka_exact) for column in X.T] == WEKA[load]


def test_weka_exact_keeps_a_cut_that_does_not_part_what_it_was_made_for():
    low, high = 1.0 + 2**-52, 1.0 + 2**-51
    assert cuts_of([low] * 10 + [high] * 10, [0] * 10 + [1] * 10, weka_exact=True) == [high]


@given(COLUMNS | CLUSTERED)
def test_with_weka_exact_a_cut_leaves_the_same_entropy_as_ours(rows):
    values, labels = zip(*rows, strict=True)
    cells = ValueCells.of(np.array(values), np.array(labels), 4, None).joined
    n, total = len(cells.first), class_weight(cells, 0, len(cells.first))
    if n < 2:
        return
    ours, theirs = (search.best(0, n, total) for search in (ExactSearch.of(cells), WekaSearch(cells)))
    if ours is not None:
        left = {place: [row for row in rows if row[0] < cells.first[place]] for place in (ours, theirs)}
        right = {place: [row for row in rows if row[0] >= cells.first[place]] for place in (ours, theirs)}
        assert remaining(left[ours]) * remaining(right[ours]) == remaining(left[theirs]) * remaining(right[theirs])


def test_neighbours_of_one_class_are_one_stretch():
    cells = ValueCells.of(
        np.array([1.0, 2.0, 3.0, 3.0, 4.0, 5.0, 6.0]), np.array([0, 0, 0, 1, 1, 1, 0]), 2, None
    ).joined
    assert cells.first.tolist() == [1, 3, 4, 6]
    assert cells.last.tolist() == [2, 3, 5, 6]
    assert cells.start.tolist() == [0, 1, 3, 4, 5]
    assert cells.code.tolist() == [0, 0, 1, 1, 0]
    assert cells.weight.tolist() == [2, 1, 1, 2, 1]


@pytest.mark.parametrize("weight", [None, "whole", "heavy", "fractions"])
def test_the_loop_and_numpy_make_the_same_cuts(weight, monkeypatch):
    rng = np.random.default_rng(6)
    labels = rng.integers(4, size=5_000)
    values = np.round(rng.normal(size=5_000) + labels, 2)
    weights = {
        None: None,
        "whole": rng.integers(1, 5, size=5_000),
        "heavy": rng.integers(1, 10_000, size=5_000),  # too many rows for a table of x log x
        "fractions": rng.uniform(0.1, 3, size=5_000),
    }[weight]
    found = []
    for use_loop in (True, False):
        monkeypatch.setattr("bayeswater.data.reading.discretising.mdl.worth_compiling", lambda _, use=use_loop: use)
        found.append(cuts_of(values, labels, weights=weights))
    assert found[0] == found[1]
    assert len(found[0]) > 4


def test_at_a_lower_price_more_cuts_are_worth_their_cost():
    """A cut is taken where its gain is over the price times its cost: at price 0 wherever it gains anything."""
    rng = np.random.default_rng(0)
    values = rng.random(400)
    labels = (np.sin(12 * values) + rng.normal(size=400) > 0).astype(int)
    cells = ValueCells.of(values, labels, 2, None)
    found = [set(mdl_cuts(cells, price=price).tolist()) for price in (4.0, 1.0, 0.5, 0.0)]
    assert len(found[0]) < len(found[1]) < len(found[2]) < len(found[3])
    assert all(fewer <= more for fewer, more in pairwise(found))
    left, right = np.array([9, 3]), np.array([3, 9])
    gain, cost = 24 * (1 - entropy(9, 3)), np.log2(23) + np.log2(7) - (2 - 4 * entropy(9, 3))
    for price in (0.9 * gain / cost, 1.1 * gain / cost):
        assert is_worth_its_cost(left, right, price) == (price < gain / cost)


def entropy(a, b):
    share = np.array([a, b]) / (a + b)
    return float(-(share @ np.log2(share)))


def test_weights_too_far_apart_for_a_share_to_be_a_number_are_no_defect():
    x, y = np.arange(8.0), np.tile([0, 1], 4)
    weight = np.array([1e-200, 1e150, 1e-200, 1e150, 1e-200, 1e150, 1e-200, 1e150])
    assert mdl_cuts(ValueCells.of(x, y, 2, weight)).size == 0
