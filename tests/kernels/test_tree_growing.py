"""Growing a tree: splits are the best of those tried, limits lie half way, and nothing is split that cannot be."""

from math import log

import numpy as np
import pytest

from bayeswater.data.reading.row_hashes import hash_word, hashed
from bayeswater.kernels.tree_growing import BEYOND_CODES, MOST_PASSED, grow_tree, n_log_n_table

ONE = -1


def grow(codes, y, *, missing, weight=None, n_columns=None, n_thresholds=1, most_depth=30, seed=1):
    """Grow a tree from all rows; gives its splits, and the rows that reach each node."""
    codes, y = np.asarray(codes, dtype=np.uint8), np.asarray(y, dtype=np.int32)
    order = np.argsort(y, kind="stable").astype(np.int32)
    own_weight = np.zeros(0) if weight is None else np.asarray(weight, dtype=float)
    splits = np.zeros((2 * len(y), 4), dtype=np.int32)
    total = len(y) if weight is None else own_weight.sum()
    is_whole = weight is None or (own_weight == np.floor(own_weight)).all()
    n_nodes = grow_tree(
        codes,
        y,
        int(y.max()) + 1,
        own_weight,
        order.copy(),
        np.broadcast_to(np.asarray(missing, dtype=np.int64), codes.shape[1]).copy(),
        n_columns or codes.shape[1],
        n_thresholds,
        most_depth,
        n_log_n_table(float(total), is_whole=bool(is_whole)),
        hashed(hash_word(seed)),
        splits,
    )
    reached = {0: np.arange(len(y))}
    for node in range(n_nodes):
        jump, column, low, high = splits[node].tolist()
        if jump:
            code = codes[reached[node], column]
            inside = (code >= low) & (code <= high)
            reached[node + jump], reached[node + jump + 1] = reached[node][inside], reached[node][~inside]
    return splits[:n_nodes], reached


def information(y, weight):
    """Sum of n log n over the classes, less N log N."""
    masses = [weight[y == k].sum() for k in set(y.tolist())]
    return sum(m * log(m) for m in masses) - (sum(masses) * log(sum(masses)) if masses else 0.0)


def rows_of(seed, n=40, d=3, n_codes=6, n_classes=3):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n)
    return (y[:, None] + rng.integers(0, n_codes - n_classes + 1, (n, d))).astype(np.uint8), y


@pytest.mark.parametrize("missing", [BEYOND_CODES, ONE], ids=["ordered", "one against the rest"])
@pytest.mark.parametrize("weight", [None, 2.0, 0.3], ids=["alike", "whole", "fractions"])
def test_of_all_splits_of_a_column_the_most_informative_wins(missing, weight):
    codes, y = rows_of(0, d=1)
    weights = np.ones(40) if weight is None else weight * (1 + np.arange(40) % 3)
    # With 60 draws each of at most 6 codes is missed with probability 6 (5/6)^60, about 1e-4; the seed is fixed.
    splits, _ = grow(codes, y, missing=missing, weight=None if weight is None else weights, n_thresholds=60)
    gains = {}
    for v in sorted(set(codes[:, 0].tolist()))[: None if missing == ONE else -1]:
        inside = codes[:, 0] == v if missing == ONE else codes[:, 0] <= v
        gains[v] = information(y[inside], weights[inside]) + information(y[~inside], weights[~inside])
    best = max(gains, key=gains.get)
    assert splits[0].tolist() == [1, 0, best if missing == ONE else 0, best]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("missing", [BEYOND_CODES, ONE], ids=["ordered", "one against the rest"])
def test_every_child_has_rows_and_at_a_leaf_nothing_more_is_gained(seed, missing):
    codes, y = rows_of(seed)
    splits, reached = grow(codes, y, missing=missing, n_thresholds=60, seed=seed)
    for node, (jump, *_) in enumerate(splits.tolist()):
        assert len(reached[node]) > 0
        if not jump:
            own = reached[node]
            assert len(set(y[own].tolist())) == 1 or not _some_gain(codes[own], y[own], missing)
    leaves = [reached[node] for node in range(len(splits)) if splits[node, 0] == 0]
    assert sorted(np.concatenate(leaves).tolist()) == list(range(40))


def _some_gain(codes, y, missing):
    """Whether some split of some column gains information."""
    ones = np.ones(len(y))
    for column in codes.T:
        for v in set(column.tolist()) - (set() if missing == ONE else {column.max()}):
            inside = column == v if missing == ONE else column <= v
            parts = [information(y[part], ones[part]) for part in (inside, ~inside)]
            if inside.any() and not inside.all() and sum(parts) > information(y, ones) + 1e-9:
                return True
    return False


def test_a_limit_lies_half_way_between_the_codes_beside_it():
    splits, _ = grow([[3], [3], [50], [60]], [0, 0, 1, 1], missing=BEYOND_CODES, n_thresholds=40)
    assert splits.tolist() == [[1, 0, 0, 26], [0, 0, 0, 0], [0, 0, 0, 0]]


def test_missing_cells_stand_apart_from_all_codes_below_theirs():
    splits, _ = grow([[3], [20], [99], [99]], [0, 0, 1, 1], missing=99, n_thresholds=40)
    assert splits[0].tolist() == [1, 0, 0, 98]


def test_columns_of_one_code_are_passed_over():
    codes = np.zeros((6, MOST_PASSED), dtype=np.uint8)
    codes[3:, 7] = 1
    for seed in range(5):
        splits, _ = grow(codes, [0, 0, 0, 1, 1, 1], missing=BEYOND_CODES, n_columns=1, seed=seed)
        assert splits[0, 1] == 7


def test_of_very_many_columns_only_some_are_passed_over():
    codes = np.zeros((6, 20 * MOST_PASSED), dtype=np.uint8)
    codes[3:, 7] = 1
    sizes = [len(grow(codes, [0, 0, 0, 1, 1, 1], missing=BEYOND_CODES, n_columns=1, seed=s)[0]) for s in range(40)]
    assert 0 < sizes.count(3) < 10  # it is among those drawn in one of 20 cases


def test_a_tree_ends_at_its_depth_and_where_nothing_is_gained():
    codes, y = rows_of(2)
    splits, _ = grow(codes, y, missing=BEYOND_CODES, most_depth=1)
    assert len(splits) == 3
    splits, _ = grow([[0], [0], [1], [1]], [0, 1, 0, 1], missing=BEYOND_CODES)
    assert len(splits) == 1


def test_rows_of_one_class_are_one_leaf():
    splits, _ = grow([[0], [1], [2]], [1, 1, 1], missing=BEYOND_CODES)
    assert splits.tolist() == [[0, 0, 0, 0]]


def test_limits_are_drawn_by_weight():
    """One threshold of one column: a code of 998 of 1000 rows is drawn nearly always, whatever the other two gain."""
    codes, y, weight = [[0], [1], [2]], [0, 1, 0], [1.0, 998.0, 1.0]
    found = [grow(codes, y, missing=ONE, weight=weight, seed=seed)[0][0, 3] for seed in range(1, 41)]
    assert found == [1] * 40
