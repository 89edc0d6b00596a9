"""Cells of family tables, by either road, against indexing with tuples."""

import numpy as np
import pytest

from bayeswater.kernels.compiling import worth_compiling
from bayeswater.kernels.family_cells import add_cells, cells_of, draw_states, strides_of

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
