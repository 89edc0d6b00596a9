"""Codes column by column: the same from every storage, in the narrowest kind, and never beyond the domain.

Counts of families against a count by hand, row by row.
"""

from collections import Counter

import numpy as np
import pytest

from bayeswater.data.matrix import ColumnMatrix, DenseMatrix
from bayeswater.data.reading.coded_table import CodedTable
from bayeswater.data.variable import Schema, Variable
from bayeswater.errors import ResourceLimitError
from bayeswater.kernels.threads import threads
from bayeswater.statistics.category_counts import TURNED_ROWS, CategoryCounts, columnwise_codes, joint_counts

N_STATES = [3, 7, 1]
CODES = np.random.default_rng(0).integers(0, 10, size=(2 * TURNED_ROWS + 5, 3))


def coded(matrix, n_states=N_STATES):
    return CodedTable(Schema(tuple(Variable.of_codes(f"x{j}", n) for j, n in enumerate(n_states))), matrix)


@pytest.mark.parametrize("kind", [np.uint8, np.uint16, np.int32, np.int64])
@pytest.mark.parametrize(
    "stored",
    [DenseMatrix, lambda X: DenseMatrix(np.asfortranarray(X)), lambda X: ColumnMatrix(tuple(X.T.copy()))],
    ids=["rows", "columns of an array", "columns"],
)
def test_codes_of_every_storage_are_the_same_and_stay_in_the_domain(stored, kind):
    rows = slice(3, len(CODES) - 1)
    codes = columnwise_codes(coded(stored(CODES.astype(kind))), rows)
    np.testing.assert_array_equal(codes, np.minimum(CODES[rows], N_STATES).T)
    assert codes.dtype == np.uint8
    assert codes.flags.c_contiguous


@pytest.mark.parametrize(("n_states", "kind"), [(255, np.uint8), (256, np.uint16), (70_000, np.int32)])
def test_the_slot_of_missing_cells_fits_the_kind(n_states, kind):
    codes = columnwise_codes(coded(DenseMatrix(np.array([[n_states]])), [n_states]), slice(0, 1))
    assert codes.tolist() == [[n_states]]
    assert codes.dtype == kind


def test_a_domain_larger_than_the_kind_of_the_codes_cuts_nothing():
    codes = columnwise_codes(coded(DenseMatrix(np.array([[255]], dtype=np.uint8)), [1000]), slice(0, 1))
    assert codes.tolist() == [[255]]


CARDS = (3, 2, 4)


@pytest.fixture
def codes() -> np.ndarray:
    """Codes of which some are missing, equal to the number of states, and some unseen, beyond it."""
    rng = np.random.default_rng(0)
    return np.stack([rng.integers(0, n + 2, 5000) for n in CARDS]).astype(np.uint8)


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
    with pytest.raises(ResourceLimitError, match="counting 3 columns together would take"):
        joint_counts(codes, [0, 1, 2], [10_000, 10_000, 10_000], None)


def test_counts_are_laid_out_for_other_classes_and_stand_beside_further_columns():
    schema = Schema((Variable("p", ("u", "v")),))
    counts = CategoryCounts(Variable("class", ("a", "c")), schema, np.array([[1, 2], [3, 4], [5, 6]]))
    three = counts.onto(Variable("class", ("a", "b", "c")))
    assert three.classes.states == ("a", "b", "c")
    assert three.table.tolist() == [[1, 0, 2], [3, 0, 4], [5, 0, 6]]
    q = CategoryCounts(three.classes, Schema((Variable("q", ("w",)),)), np.array([[7, 8, 9], [0, 1, 0]]))
    both = q.hstack(counts)
    assert [one.name for one in both.schema] == ["q", "p"]
    assert both.table.tolist() == [[7, 8, 9], [0, 1, 0], *three.table.tolist()]
    assert both.take([1]).table.tolist() == three.table.tolist()
