"""Trees as structures: the orders of states that they cut, and which of them a tree of a cycle takes."""

import numpy as np

from bayeswater.structure.tree_splits import Growth, SortedRows, TreeSplits, class_ranks, first_slots, ranked


def sorted_rows(states, y, weight=None, n_states=4):
    states, y = np.asarray(states), np.asarray(y)
    weight = np.ones(len(y)) if weight is None else np.asarray(weight, dtype=float)
    codes, n_codes = states[:, None].astype(np.uint8), np.array([n_states + 1])
    return SortedRows.of(codes, n_codes, 0, y, int(y.max()) + 1, weight, states.astype(np.uint64))


def test_equal_rows_of_a_class_are_joined_and_all_sorted_by_class():
    rows = sorted_rows([3, 1, 1, 1, 2], [1, 0, 1, 0, 0], [1, 2, 3, 4, 5])
    assert rows.codes[:, 0].tolist() == [1, 2, 1, 3]
    assert rows.y.tolist() == [0, 0, 1, 1]
    assert rows.weight.tolist() == [6, 5, 3, 1]


def test_a_few_whole_weights_are_written_out_as_equal_rows():
    for rows in (sorted_rows([3, 1, 0], [1, 0, 0], [1, 2, 1]), sorted_rows([1, 3, 0, 1], [0, 1, 0, 0])):
        assert rows.codes[:, 0].tolist() == [0, 1, 1, 3]
        assert rows.y.tolist() == [0, 0, 0, 1]
        assert len(rows.weight) == 0
    assert sorted_rows([3, 1, 0], [1, 0, 0], [1, 1.5, 1]).weight.tolist() == [1, 1.5, 1]


def test_states_are_placed_by_their_smoothed_rate_of_half_the_classes():
    states = [0] * 4 + [1] * 4 + [3] * 8
    rows = sorted_rows(states, [0, 0, 0, 0, 1, 1, 1, 1, 0, 0, 0, 1, 1, 1, 1, 1])
    share = {0: 7 / 16, 1: 9 / 16}
    found = set()
    for choice in range(20):
        place = class_ranks(rows, np.arange(len(rows)), np.uint64(choice)).tolist()
        expected = []
        for half in (0, 1):
            own = rows.weights * (rows.y == half)
            met = np.bincount(rows.codes[:, 0], weights=rows.weights, minlength=5)
            rate = (np.bincount(rows.codes[:, 0], weights=own, minlength=5) + share[half]) / (met + 1)
            expected.append(np.argsort(np.argsort(rate, kind="stable")).tolist())
        assert place in expected
        found.add(tuple(place))
    assert len(found) == 2  # now one class is the half, now the other


def test_a_state_that_no_row_has_stands_between_those_that_tell_the_classes_apart():
    rows = sorted_rows([0] * 5 + [1] * 5, [0] * 5 + [1] * 5)
    place = class_ranks(rows, np.arange(len(rows)), np.uint64(1)).tolist()
    assert {place[0], place[1]} == {0, 4}


def test_places_replace_the_codes_of_states_alone():
    slot = first_slots(np.array([9, 3, 2]), 1)
    codes = np.array([[8, 0, 1], [1, 2, 0]], dtype=np.uint8)
    found = ranked(codes, np.array([2, 1, 0, 1, 0], dtype=np.uint32), slot)
    assert found.tolist() == [[8, 2, 0], [1, 0, 1]]


def test_trees_of_a_cycle_take_their_turns():
    rng = np.random.default_rng(0)
    states = rng.integers(0, 4, 60)
    rows = sorted_rows(states, (states + rng.integers(0, 2, 60)) % 3)
    seen = [np.ones(len(rows), dtype=bool)] * 6
    trees = TreeSplits.grown(rows, seen, Growth("sqrt", 3, "cycle"), seed=0)
    assert trees.order.tolist() == [-1, 0, -1, -1, 1, -1]
    for tree in range(6):
        splits = trees.splits[trees.start[tree] : trees.start[tree + 1]]
        inner = splits[splits[:, 0] > 0]
        is_one = tree % 3 == 2
        assert (inner[:, 2] == (inner[:, 3] if is_one else 0)).all()
