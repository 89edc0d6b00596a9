"""Counts of families against a count by hand, row by row."""

from collections import Counter

import numpy as np
import pytest

from bayeswater.errors import ResourceLimitError
from bayeswater.kernels.threads import threads
from bayeswater.statistics.joint_counts import joint_counts

CARDS = (3, 2, 4)


@pytest.fixture
def codes() -> np.ndarray:
    """Codes of which some are missing: equal to the number of states."""
    rng = np.random.default_rng(0)
    return np.stack([rng.integers(0, n + 1, 5000) for n in CARDS]).astype(np.uint8)


def by_hand(codes, members, weight=None) -> np.ndarray:
    cards = [CARDS[m] for m in members]
    counter: Counter = Counter()
    for i, row in enumerate(codes[members].T.tolist()):
        if all(code < card for code, card in zip(row, cards, strict=True)):
            counter[tuple(row)] += 1 if weight is None else weight[i]
    count = np.zeros(cards)
    for cell, n in counter.items():
        count[cell] = n
    return count


@pytest.mark.parametrize("members", [[0], [2, 0], [1, 2, 0]])
def test_rows_are_counted_where_all_of_the_family_is_there(codes, members):
    count = joint_counts(codes, members, [CARDS[m] for m in members], None)
    assert count.dtype == np.int64
    assert np.array_equal(count, by_hand(codes, members))


def test_whole_weights_stay_whole_and_fractions_are_added(codes):
    rng = np.random.default_rng(1)
    whole = rng.integers(0, 5, 5000)
    count = joint_counts(codes, [0, 1], CARDS[:2], whole)
    assert count.dtype == np.int64
    assert np.array_equal(count, by_hand(codes, [0, 1], whole))
    halves = whole / 2
    assert np.array_equal(joint_counts(codes, [0, 1], CARDS[:2], halves), by_hand(codes, [0, 1], halves))


def test_the_number_of_threads_does_not_show(codes):
    codes = np.tile(codes, 40)  # several blocks of rows
    weight = np.random.default_rng(2).random(codes.shape[1])
    with threads(1):
        alone = joint_counts(codes, [0, 2], [3, 4], weight)
    with threads(4):
        assert np.array_equal(joint_counts(codes, [0, 2], [3, 4], weight), alone)


def test_a_table_that_no_memory_holds_is_refused_before_it_is_made(codes):
    with pytest.raises(ResourceLimitError, match="counting a family of 3 columns would take"):
        joint_counts(codes, [0, 1, 2], [10_000, 10_000, 10_000], None)
