"""Configurations: numbered in the order of their slots, however many and large the columns are."""

import numpy as np
import pytest

from bayeswater.kernels import configurations
from bayeswater.kernels.configurations import number_configurations


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
    monkeypatch.setattr(configurations, "SPARSE_FROM", 0)
    in_order, _ = number_configurations(slots, np.array([4, 4, 4]))
    assert listed.tolist() == in_order.tolist()


def test_no_columns_have_one_configuration():
    number, row = number_configurations(np.zeros((0, 3), dtype=np.uint8), np.zeros(0, dtype=np.int64))
    assert number.tolist() == [0, 0, 0]
    assert len(row) == 1
