"""Counts in the leaves of trees: they add up, come apart, and are laid out as tables of any part of them."""

import numpy as np
import pytest

from bayeswater.data.variable import Variable
from bayeswater.errors import StatisticsError
from bayeswater.statistics import node_counts
from bayeswater.statistics.node_counts import NodeCounts

START = np.array([0, 5, 8])
LEAVES = [[2, 3, 4], [6, 7]]


def counted(seed, n_rows=30, n_classes=3, weight=None):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n_rows)
    leaves = [rng.choice(own, n_rows) for own in LEAVES]
    return NodeCounts.of(y, n_classes, weight, START, leaves.__getitem__), y, leaves


def test_counts_are_those_of_a_loop_over_the_rows():
    counts, y, leaves = counted(0)
    table = counts.within(slice(0, 8), slice(0, 3))
    expected = np.zeros((8, 3))
    for own in leaves:
        for node, k in zip(own, y, strict=True):
            expected[node, k] += 1
    np.testing.assert_array_equal(table, expected)
    np.testing.assert_array_equal(counts.totals(slice(0, 8)), expected.sum(axis=1))
    np.testing.assert_array_equal(counts.within(slice(5, 8), slice(1, 3)), expected[5:, 1:])
    np.testing.assert_array_equal(counts.totals(slice(5, 8)), expected[5:].sum(axis=1))


@pytest.mark.parametrize("weight", [None, np.arange(30) / 8])
def test_all_cells_at_once_or_those_that_occur_give_the_same_counts(weight, monkeypatch):
    dense = counted(1, weight=weight)[0]
    monkeypatch.setattr(node_counts, "DENSE_CELLS", 0)
    assert counted(1, weight=weight)[0] == dense


def test_what_was_added_can_be_taken_away():
    a, b = counted(0)[0], counted(1)[0]
    assert a + b - b == a
    assert a + b == b + a
    assert (a - a).count.size == 0


def in_words(counts):
    """Counts by node and class."""
    return dict(zip(zip(counts.node.tolist(), counts.code.tolist(), strict=True), counts.count.tolist(), strict=True))


@pytest.mark.parametrize("n_rows", [0, 1, 3, 40])
@pytest.mark.parametrize("n_classes", [1, 2, 9])
def test_cells_are_found_inserted_and_dropped_as_in_a_dictionary(n_rows, n_classes):
    for seed in range(6):
        a = counted(seed, n_rows=12, n_classes=n_classes)[0]
        b = counted(seed + 100, n_rows=n_rows, n_classes=n_classes)[0]
        expected = in_words(a)
        for cell, count in in_words(b).items():
            expected[cell] = expected.get(cell, 0.0) + count
        both = a + b
        assert in_words(both) == expected
        assert [*in_words(both)] == sorted(expected)  # in the order of nodes and classes
        assert both == b + a
        assert both - a == b
        assert both - b == a


def test_a_row_that_meets_its_like_moves_counts_and_no_cells():
    a, y, leaves = counted(0)
    row = NodeCounts.of(y[:1], 3, None, START, [own[:1] for own in leaves].__getitem__)
    both = a + row
    assert both.node is a.node
    assert both.code is a.code
    assert (both - row).node is a.node
    assert both - row == a


def test_further_classes_join():
    a, b = counted(0)[0], counted(1, n_classes=5)[0]
    both = a + b
    assert both.n_classes == 5
    assert both - b == a.onto(Variable.of_codes("class", 5))
    with pytest.raises(StatisticsError, match="never counted"):
        a - b


def test_classes_that_are_gone_take_their_counts_along():
    whole = counted(0, n_classes=3)[0]
    left = whole.onto(Variable.of_codes("class", 2))
    mine, theirs = (dict(zip(zip(c.node, c.code, strict=True), c.count, strict=True)) for c in (whole, left))
    assert theirs == {(node, code): n for (node, code), n in mine.items() if code != 2}


def test_counts_that_would_fall_below_zero_name_class_and_node():
    a, b = counted(0)[0], counted(1)[0]
    with pytest.raises(StatisticsError, match=r"the count of class \d in node \d would become"):
        a - (a + b)


def test_counts_of_other_trees_are_refused():
    a = counted(0)[0]
    other = NodeCounts.of(np.array([0]), 3, None, np.array([0, 1]), lambda tree: np.array([0]))
    with pytest.raises(StatisticsError, match="8 nodes here, 1 there"):
        a + other


BROKEN = {
    "lengths": dict(node=np.array([2])),
    "kinds": dict(count=np.ones(1, dtype=np.int64), node=np.array([2]), code=np.array([0])),
    "no leaf": dict(node=lambda node: np.zeros_like(node)),
    "no class": dict(code=lambda code: code + 5),
    "order": dict(node=lambda node: node[::-1].copy()),
    "not over 0": dict(count=lambda count: -count),
    "not finite": dict(count=lambda count: count * np.inf),
    "different rows": dict(count=lambda count: np.append(count[:-1], 50.0)),
}


@pytest.mark.parametrize("broken", BROKEN.values(), ids=BROKEN.keys())
def test_arrays_that_no_rows_lead_to_are_refused(broken):
    counts = counted(0)[0]
    is_leaf = np.isin(np.arange(8), LEAVES[0] + LEAVES[1])
    arrays = counts.to_arrays()
    assert NodeCounts.of_cells(arrays, 3, START, is_leaf) == counts
    arrays |= {name: value(arrays[name]) if callable(value) else value for name, value in broken.items()}
    with pytest.raises(StatisticsError):
        NodeCounts.of_cells(arrays, 3, START, is_leaf)


@pytest.mark.parametrize("name", ["node", "code", "count"])
@pytest.mark.parametrize("change", [lambda array: array[:-1], lambda array: np.append(array, array[-1:])])
def test_nodes_classes_and_counts_are_as_many_as_each_other(name, change):
    counts = counted(0)[0]
    arrays = counts.to_arrays()
    with pytest.raises(StatisticsError, match="not as many as each other"):
        NodeCounts.of_cells({**arrays, name: change(arrays[name])}, 3, START, np.full(8, True))
