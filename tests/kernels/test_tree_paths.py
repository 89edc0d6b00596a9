"""Ways down trees: the loops equal the references to the last bit, and both what is found by hand."""

import numpy as np
import pytest

from bayeswater.kernels.tree_paths import add_leaves, add_paths_without, draw_down, find_leaves, sum_up

roads = pytest.mark.parametrize("use_loop", [True, False], ids=["loop", "reference"])

SPLITS = np.array(
    [[1, 0, 0, 4], [2, 1, 2, 2], *[[0, 0, 0, 0]] * 3, [1, 1, 0, 0], *[[0, 0, 0, 0]] * 2],
    dtype=np.int32,
)
"""Two trees: nodes 0 to 4, of which 2, 3 and 4 are leaves, and 5 to 7."""

CODES = np.array([[4, 2], [5, 2], [0, 1], [0, 2]], dtype=np.uint8)
SLOT = np.array([-1, 0])
ROOTS = np.array([0, 5])
NO_RANKS = np.zeros((0, 3), dtype=np.uint32)


@roads
def test_rows_go_to_the_first_child_if_their_code_is_between_the_limits(use_loop):
    found = find_leaves(CODES, SPLITS, ROOTS, np.array([-1, -1]), NO_RANKS, SLOT, use_loop=use_loop)
    assert found.tolist() == [[3, 2, 4, 3], [7, 7, 7, 7]]


@roads
def test_an_order_replaces_the_codes_of_states_alone(use_loop):
    ranks = np.array([[0, 1, 2], [1, 2, 0]], dtype=np.uint32)  # in the second, state 2 comes first
    found = find_leaves(CODES, SPLITS, ROOTS, np.array([1, 1]), ranks, SLOT, use_loop=use_loop)
    assert found.tolist() == [[4, 2, 3, 4], [6, 6, 7, 6]]
    found = find_leaves(CODES, SPLITS, ROOTS, np.array([-1, 1]), ranks, SLOT, use_loop=use_loop)
    assert found.tolist() == [[3, 2, 4, 3], [6, 6, 7, 6]]


@roads
def test_a_node_has_the_rows_of_all_leaves_below(use_loop):
    count = np.array([[0, 0], [0, 0], [1, 2], [3, 4], [5, 6], [0, 0], [7, 0], [0, 8]], dtype=float)
    total = count.sum(axis=1)
    sum_up(SPLITS, count, total, use_loop=use_loop)
    assert count[[0, 1, 5]].tolist() == [[9, 12], [8, 10], [7, 8]]
    np.testing.assert_array_equal(total, count.sum(axis=1))


@roads
def test_a_posterior_is_drawn_towards_that_above(use_loop):
    count = np.array([[9, 12], [8, 10], [1, 2], [3, 4], [5, 6], [7, 8], [7, 0], [0, 8]], dtype=float)
    total = count.sum(axis=1)
    table = count.copy()
    draw_down(SPLITS, 0.5, 0.25, table, total, use_loop=use_loop)
    parent = {0: None, 1: 0, 2: 0, 3: 1, 4: 1, 5: None, 6: 5, 7: 5}
    for node, above in parent.items():
        p = 0.25 if above is None else table[above]
        np.testing.assert_allclose(table[node], (count[node] + 0.5 * p) / (total[node] + 0.5), rtol=1e-15)


def random_case(n_classes, n_rows=50, n_nodes=31):
    """One tree of random splits, its counts, and rows of them."""
    rng = np.random.default_rng(n_classes)
    splits = np.zeros((n_nodes, 4), dtype=np.int32)
    made, node = 1, 0
    while made + 2 <= n_nodes:
        if rng.random() < 0.7 or node == made - 1:
            low, high = sorted(rng.integers(0, 5, 2).tolist())
            splits[node] = [made - node, rng.integers(0, 4), low, high]
            made += 2
        node += 1
    codes = rng.integers(0, 5, (n_rows, 4)).astype(np.uint16)
    ranks = np.concatenate([rng.permutation(5), rng.permutation(5)]).astype(np.uint32)[None]
    slot = np.array([-1, 0, -1, 5])
    y, weight = rng.integers(0, n_classes, n_rows), rng.random(n_rows)
    leaf = find_leaves(codes, splits, ROOTS[:1], np.array([0]), ranks, slot, use_loop=False)[0]
    count = np.zeros((n_nodes, n_classes))
    np.add.at(count, (leaf, y), weight)
    total = count.sum(axis=1)
    sum_up(splits, count, total, use_loop=False)
    return codes, splits, ranks, slot, y, weight, count, total


@pytest.mark.parametrize("n_classes", [1, 2, 3, 9])
def test_loops_equal_the_references_bit_for_bit(n_classes):
    codes, splits, ranks, slot, y, weight, count, total = random_case(n_classes)
    found = []
    for use_loop in (True, False):
        leaf = find_leaves(codes, splits, np.zeros(2, int), np.array([0, -1]), ranks, slot, use_loop=use_loop)
        again = np.where((splits[:, 0] > 0)[:, None], 0.0, count)
        sums = np.where(splits[:, 0] > 0, 0.0, total)
        sum_up(splits, again, sums, use_loop=use_loop)
        table, mean = count.copy(), np.ones((len(codes), n_classes))
        draw_down(splits, 0.3, 1 / n_classes, table, total, use_loop=use_loop)
        add_leaves(table, leaf, mean, use_loop=use_loop)
        own = np.ones_like(mean)
        rows = np.arange(0, len(codes), 3)
        short = add_paths_without(
            codes, splits, 0, 0, ranks, slot, rows, y, weight, 0.3, 1 / n_classes, count, total, own, use_loop=use_loop
        )
        found.append((leaf, again, sums, table, mean, own, short))
    for mine, theirs in zip(*found, strict=True):
        np.testing.assert_array_equal(mine, theirs)


@roads
def test_classes_go_their_ways_apart(use_loop):
    codes, splits, ranks, slot, y, weight, count, total = random_case(9)
    rows, whole = np.arange(len(codes)), np.zeros((len(codes), 9))
    arguments = codes, splits, 0, 0, ranks, slot, rows
    add_paths_without(*arguments, y, weight, 0.3, 1 / 9, count, total, whole, use_loop=use_loop)
    for classes in (slice(0, 4), slice(4, 9)):
        part, place = np.zeros((len(codes), classes.stop - classes.start)), y - classes.start
        place = np.where((place >= 0) & (place < part.shape[1]), place, -1)
        own = np.ascontiguousarray(count[:, classes])
        add_paths_without(*arguments, place, weight, 0.3, 1 / 9, own, total, part, use_loop=use_loop)
        np.testing.assert_array_equal(part, whole[:, classes])


@roads
def test_a_row_that_its_leaf_does_not_have_is_told(use_loop):
    codes, splits, ranks, slot, y, weight, count, total = random_case(3)
    rows, own = np.arange(10, 20), np.zeros((len(codes), 3))
    weight[14] = count.max() + 1
    arguments = codes, splits, 0, 0, ranks, slot, rows, y, weight, 0.3, 1 / 3, count, total, own
    assert add_paths_without(*arguments, use_loop=use_loop) == 14
