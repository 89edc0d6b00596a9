"""Counting categories: the loop equals the NumPy reference, and both equal a count by hand.

Looking up and summing log-likelihoods: the loop equals the NumPy reference.
"""

import numpy as np
import pytest
from tests.kernels.tables import CODE_CASES, CODE_KINDS, labels, laid_out, weights

from bayeswater.kernels import category_tables
from bayeswater.kernels.category_tables import count_categories, count_column, offsets, sum_of_own_states, sum_of_states

N_STATES = np.array([2, 1, 5, 3, 2, 8, 1, 4, 6, 2, 3])
N_CLASSES = 4


def table_by_hand(codes, n_states, y, weight, n_classes):
    start = offsets(n_states)
    table = np.zeros((start[-1], n_classes))
    for i in range(len(codes)):
        for j, n in enumerate(n_states):
            state = min(int(codes[i, j]), n)
            table[start[j] + state, y[i]] += 1 if weight is None else weight[i]
    return table


@pytest.mark.parametrize("use_loop", [True, False], ids=["loop", "reference"])
@pytest.mark.parametrize(("kind", "layout", "weighted"), CODE_CASES)
def test_every_cell_is_counted_in_its_state_and_class(kind, layout, weighted, use_loop):
    rng = np.random.default_rng(0)
    codes = laid_out(rng.integers(0, N_STATES + 1, size=(40, 11)).astype(kind), layout)
    y, weight = labels(rng, 40, N_CLASSES), weights(rng, 40, weighted)
    table = count_categories(codes, N_STATES, y, weight, N_CLASSES, use_loop=use_loop)
    np.testing.assert_array_equal(table, table_by_hand(codes, N_STATES, y, weight, N_CLASSES))
    assert table.dtype == (np.float64 if weighted == "float" else np.int64)


@pytest.mark.parametrize("use_loop", [True, False], ids=["loop", "reference"])
def test_a_code_beyond_the_domain_falls_into_the_slot_of_missing_cells(use_loop):
    codes = np.array([[0, 0], [200, 0], [255, 9]], dtype=np.uint8)
    table = count_categories(codes, np.array([2, 1]), np.zeros(3, dtype=np.uint8), None, 1, use_loop=use_loop)
    assert table[:, 0].tolist() == [1, 0, 2, 2, 1]


@pytest.mark.parametrize("use_loop", [True, False], ids=["loop", "reference"])
def test_more_columns_than_one_group_are_all_counted(use_loop):
    rng = np.random.default_rng(1)
    codes = rng.integers(0, 2, size=(7, 600)).astype(np.uint8)
    n_states = np.full(600, 2)
    table = count_categories(codes, n_states, np.zeros(7, dtype=np.uint8), None, 1, use_loop=use_loop)
    np.testing.assert_array_equal(table.reshape(600, 3)[:, 1], codes.sum(axis=0))


@pytest.mark.parametrize("use_loop", [True, False], ids=["loop", "reference"])
@pytest.mark.parametrize("kind", [np.uint8, np.uint16, np.int32])
def test_classes_are_counted_in_the_code_they_came_in(kind, use_loop):
    y = np.array([0, 1, 1], dtype=kind)
    table = count_categories(np.zeros((3, 1), dtype=np.uint8), np.array([1]), y, None, 2, use_loop=use_loop)
    assert table.tolist() == [[1, 2], [0, 0]]


@pytest.mark.parametrize("few_cells", [0, 2**10], ids=["one table", "tables in turns"])
@pytest.mark.parametrize("kind", [np.uint8, np.uint16, np.int32])
@pytest.mark.parametrize("n_rows", [0, 1, 3, 41])
def test_a_column_by_itself_is_counted_as_among_others(n_rows, kind, few_cells, monkeypatch):
    monkeypatch.setattr(category_tables, "FEW_CELLS", few_cells)
    rng = np.random.default_rng(2)
    codes = rng.integers(0, 8, size=n_rows).astype(kind)  # codes from 5 on are missing
    y = rng.integers(0, N_CLASSES, size=n_rows).astype(np.uint8)
    table = count_column(codes, 5, y, N_CLASSES)
    np.testing.assert_array_equal(table, table_by_hand(codes[:, None], np.array([5]), y, None, N_CLASSES))
    assert table.dtype == np.int64


START = offsets(N_STATES)
CASES = [*[(kind, "C") for kind in CODE_KINDS], ("uint8", "F"), ("uint8", "strided")]


@pytest.fixture(autouse=True)
def several_stretches(monkeypatch):
    monkeypatch.setattr(category_tables, "STRETCH_CELLS", 400)
    monkeypatch.setattr(category_tables, "ROWS_IN_PAIRS", 1)


def case(kind, layout):
    rng = np.random.default_rng(0)
    codes = laid_out(rng.integers(0, N_STATES + 3, size=(30, 11)).astype(kind), layout)
    # Whole numbers: their sums are exact in any order.
    log_likelihood = -rng.integers(0, 100, size=(START[-1], 4)).astype(float)
    log_likelihood[START[1:] - 1] = 0.0
    return codes, labels(rng, 30, 4), log_likelihood


def by_hand(codes, log_likelihood):
    return np.array(
        [
            [sum(log_likelihood[START[j] + min(int(row[j]), n), k] for j, n in enumerate(N_STATES)) for k in range(4)]
            for row in codes
        ]
    )


@pytest.mark.parametrize("use_loop", [True, False], ids=["loop", "reference"])
@pytest.mark.parametrize(("kind", "layout"), CASES)
def test_every_class_sums_the_log_likelihoods_of_the_states(kind, layout, use_loop):
    codes, _, log_likelihood = case(kind, layout)
    joint = sum_of_states(codes, N_STATES, START, log_likelihood, use_loop=use_loop)
    np.testing.assert_array_equal(joint, by_hand(codes, log_likelihood))


@pytest.mark.parametrize("use_loop", [True, False], ids=["loop", "reference"])
@pytest.mark.parametrize(("kind", "layout"), CASES)
def test_the_own_class_alone_is_summed_when_asked_for(kind, layout, use_loop):
    codes, y, log_likelihood = case(kind, layout)
    own = sum_of_own_states(codes, N_STATES, START, y, log_likelihood, use_loop=use_loop)
    np.testing.assert_array_equal(own, by_hand(codes, log_likelihood)[np.arange(len(y)), y])


@pytest.mark.parametrize("use_loop", [True, False], ids=["loop", "reference"])
def test_an_impossible_state_makes_the_sum_minus_infinity(use_loop):
    log_likelihood = np.array([[-np.inf, -1.0], [-2.0, -3.0], [0.0, 0.0]])
    codes = np.array([[0], [1], [2]], dtype=np.uint8)
    joint = sum_of_states(codes, np.array([2]), np.array([0, 3]), log_likelihood, use_loop=use_loop)
    assert joint.tolist() == [[-np.inf, -1.0], [-2.0, -3.0], [0.0, 0.0]]
