"""Cells of family tables, by either road, against indexing with tuples.

Configurations: numbered in the order of their slots, however many and large the columns are.

Log-likelihoods on a grid of concentrations: the loop multiplies where the reference takes logarithms.
"""

import numpy as np
import pytest

from bayeswater.kernels import parent_cells
from bayeswater.kernels.compiling import worth_compiling
from bayeswater.kernels.parent_cells import (
    add_cells,
    cells_of,
    draw_states,
    log_likelihoods,
    number_configurations,
    strides_of,
)

SHAPE = (3, 2, 4)


@pytest.fixture
def codes() -> np.ndarray:
    rng = np.random.default_rng(0)
    return np.stack([rng.integers(0, n, 1000) for n in (5, *SHAPE)]).astype(np.uint8)


def test_strides_are_those_of_an_array_of_that_shape():
    assert strides_of(SHAPE).tolist() == [s // 8 for s in np.zeros(SHAPE).strides]
    assert strides_of(()).tolist() == []


def test_a_cell_is_where_an_index_of_codes_points(codes, kernel):
    table = np.random.default_rng(1).normal(size=SHAPE)
    members = np.array([1, 2, 3])
    expected = table[codes[1], codes[2], codes[3]]
    assert np.array_equal(table.ravel()[cells_of(codes, members, strides_of(SHAPE))], expected)
    total = np.ones(1000)
    add_cells(codes, members, strides_of(SHAPE), table.ravel(), total, use_loop=worth_compiling(codes.size))
    assert np.array_equal(total, 1 + expected)


def test_a_state_is_drawn_where_the_uniform_number_falls(codes, kernel):
    rng = np.random.default_rng(2)
    cumulated = rng.dirichlet(np.ones(5), size=6).cumsum(axis=1)
    cumulated[:, -1] = 1.0
    cumulated[0, :2] = 0.0  # two states of probability zero are never drawn
    uniform = rng.random(1000)
    uniform[:3] = 0.0
    draw_states(codes, np.array([1, 2]), np.array([2, 1]), cumulated, uniform, 0, use_loop=worth_compiling(codes.size))
    expected = [
        np.searchsorted(cumulated[2 * a + b], u, side="right")
        for a, b, u in zip(codes[1], codes[2], uniform, strict=True)
    ]
    assert codes[0].tolist() == expected


@pytest.mark.parametrize(
    "n_slots",
    [
        [3, 2],  # all possible combinations are listed
        [200, 300, 5],  # only those that occur are sorted
        [2**31, 2**31, 7, 2**31],  # their product passes 2**63
        [2**40] * 5,
    ],
)
def test_numbers_follow_the_order_of_the_slots(n_slots):
    rng = np.random.default_rng(0)
    slots = np.stack([rng.choice(rng.integers(0, n, size=3), size=50) for n in n_slots])
    number, row = number_configurations(slots, np.array(n_slots))
    rows = [tuple(column) for column in slots.T.tolist()]
    ordered = sorted(set(rows))
    assert number.tolist() == [ordered.index(configuration) for configuration in rows]
    assert [rows[r] for r in row.tolist()] == ordered


def test_listed_and_sorted_combinations_have_the_same_numbers(monkeypatch):
    slots = np.random.default_rng(1).integers(0, 4, size=(3, 30))
    listed, _ = number_configurations(slots, np.array([4, 4, 4]))
    monkeypatch.setattr(parent_cells, "SPARSE_FROM", 0)
    in_order, _ = number_configurations(slots, np.array([4, 4, 4]))
    assert listed.tolist() == in_order.tolist()


def test_no_columns_have_one_configuration():
    number, row = number_configurations(np.zeros((0, 3), dtype=np.uint8), np.zeros(0, dtype=np.int64))
    assert number.tolist() == [0, 0, 0]
    assert len(row) == 1


@pytest.mark.parametrize("weighted", [False, True])
def test_the_loop_equals_the_reference(weighted):
    rng = np.random.default_rng(0)
    n = 5000
    total = rng.integers(1, 100, n).astype(float)
    count, base = np.floor(total * rng.random(n)), rng.random(n) * 1e-6
    weight = rng.choice([0.5, 1.0, 3.0], n) if weighted else np.ones(n)
    grid = np.array([0.05, 1.0, 1e5])
    found, expected = (log_likelihoods(weight, count, total, base, grid, use_loop=loop) for loop in (True, False))
    # Five thousand factors, each rounded, and as many logarithms.
    np.testing.assert_allclose(found, expected, rtol=1e-12)
