"""Counts of a column, its parents and the class, where rows were: added, taken away, and with fewer parents.

Families: found cell by cell, of any product of domains, and only of one structure.
"""

from dataclasses import replace

import numpy as np
import pytest
from tests.oracles.counting import count, marginal

from bayeswater import ParameterError, ResourceLimitError
from bayeswater.data.labels import encode_labels
from bayeswater.data.matrix import DenseMatrix
from bayeswater.data.reading.coded_table import CodedTable, Rules, encode_categories
from bayeswater.data.variable import Schema, Variable
from bayeswater.errors import StatisticsError
from bayeswater.statistics.pair_counts import PairCounts
from bayeswater.statistics.parent_counts import (
    ParentCells,
    ParentCounts,
    class_cells,
    joined,
    of_first_parents,
    remaining,
    taken_away,
)

N_SLOTS = np.array([3, 4, 3, 2])
"""Two parents, the column itself and the class."""


def rows(n_rows, seed=0):
    rng = np.random.default_rng(seed)
    return np.stack([rng.integers(0, n, n_rows) for n in N_SLOTS]).astype(np.uint8)


def assert_same(one, other):
    np.testing.assert_array_equal(one.cell, other.cell)
    np.testing.assert_array_equal(one.count, other.count)


def test_cells_stand_in_the_order_of_their_slots_and_count_the_rows_that_have_the_column():
    slots = rows(200)
    cells = class_cells(slots, N_SLOTS, None)
    listed = [tuple(row) for row in slots.T.tolist() if row[2] < 2]
    assert [tuple(cell) for cell in cells.cell.tolist()] == sorted(set(listed))
    assert cells.count[:, 0].tolist() == [listed.count(tuple(cell)) for cell in cells.cell.tolist()]


@pytest.mark.parametrize("n_parents", [0, 1, 2])
def test_fewer_parents_are_counted_as_if_there_had_been_no_others(n_parents):
    slots = rows(200)
    kept = [*range(n_parents), 2, 3]
    assert_same(
        of_first_parents(class_cells(slots, N_SLOTS, None), n_parents), class_cells(slots[kept], N_SLOTS[kept], None)
    )


@pytest.mark.parametrize("weights", [False, True])
def test_taking_rows_away_equals_never_having_counted_them(weights):
    slots = rows(200)
    weight = np.random.default_rng(1).integers(1, 5, 200).astype(float) if weights else None
    first, later = slice(0, 120), slice(120, 200)
    parts = [class_cells(slots[:, some], N_SLOTS, None if weight is None else weight[some]) for some in (first, later)]
    whole = class_cells(slots, N_SLOTS, weight)
    assert_same(joined(parts), whole)
    assert_same(taken_away(whole, parts[1]), parts[0])
    assert len(taken_away(whole, whole).cell) == 0


def test_what_was_never_counted_cannot_be_taken_away():
    part = class_cells(rows(50), N_SLOTS, None)
    with pytest.raises(StatisticsError, match="never counted"):
        taken_away(part, class_cells(rows(50, seed=1), N_SLOTS, None))
    with pytest.raises(StatisticsError, match="never counted"):
        remaining(np.array([1.0]), np.array([1.1]))


def test_fractions_that_leave_but_rounding_leave_nothing():
    slots = rows(3)[:, [0, 0, 0]]
    slots[2] = 0
    whole = class_cells(slots, N_SLOTS, np.array([0.1, 0.2, 0.7]))
    part = class_cells(slots[:, :1], N_SLOTS, np.array([0.7 + 0.1 + 0.2]))
    assert len(taken_away(whole, part).cell) == 0


RNG = np.random.default_rng(0)
X = RNG.choice(np.array(["a", "b", "c", None], dtype=object), size=(50, 4))
Y = RNG.choice(np.array(["no", "yes"]), 50)
PARENTS = [(), (0,), (1, 0), (0, 2, 1)]


def families(X=X, y=Y, parents=PARENTS, weight=None):
    return ParentCounts.of(encode_categories(X, Rules("KDB", refuse_missing=False)), encode_labels(y), weight, parents)


def huge_table(n_rows=30, n_columns=6, n_states=2**20):
    """Codes of a few rows in domains whose product passes 2**63; few enough to count by hand."""
    values = np.random.default_rng(1).integers(0, 3, size=(n_rows, n_columns)) * 300_000
    schema = Schema(tuple(Variable.of_codes(f"x{j}", n_states) for j in range(n_columns)))
    return CodedTable(schema, DenseMatrix(values)), encode_labels(np.arange(n_rows) % 2)


def test_a_product_of_domains_over_the_largest_integer_is_counted_all_the_same():
    coded, labels = huge_table()
    structure = [tuple(range(x)) for x in range(6)]
    counts = ParentCounts.of(coded, labels, None, structure)
    rows = coded.codes.values.tolist()
    for x in range(6):
        expected = count(rows, labels.codes.tolist(), None, [*range(x), x])
        for n_parents in range(x + 1):
            family = counts.cells_of(x).with_parents(n_parents)
            cells = {
                (*cell, k): n
                for cell, row in zip(family.cell.tolist(), family.count.tolist(), strict=True)
                for k, n in enumerate(row)
                if n
            }
            assert cells == marginal(expected, [*range(n_parents), x, x + 1])
    assert counts + counts == counts.scaled(2)
    assert (counts + counts) - counts == counts


def test_every_row_finds_its_cell_and_others_find_none():
    counts = families()
    coded = encode_categories(X, Rules("KDB", refuse_missing=False))
    codes = coded.block(slice(0, 50))
    for x, parents in enumerate(PARENTS):
        family, columns = counts.cells_of(x), [*parents, x]
        place = family.find(codes[:, columns].T)
        assert family.cell[place].tolist() == codes[:, columns].tolist()
        for level, j in enumerate(columns):
            unseen = codes[:, columns].T.astype(np.int64)
            unseen[level] = counts.n_states[j] + 1
            assert (family.find(unseen) == -1).all()
    absent = np.argwhere(counts.cells_of(3).dense().sum(axis=-1) == 0)
    assert len(absent) > 0
    assert (counts.cells_of(3).find(absent.T) == -1).all()


@pytest.mark.parametrize("order", [1, -1])
def test_rows_that_bring_states_in_between_add_to_the_counts_of_all_rows(order):
    first = (X != "b").all(axis=1)  # "b" lies before "c", whose code it moves
    parts = [families(X[some], Y[some]) for some in (first, ~first)][::order]
    assert parts[0] + parts[1] == families()


def test_cells_without_a_row_are_not_kept():
    counts = families()
    assert counts.count.any(axis=1).all()
    assert len(counts.count) == sum(len(set(map(tuple, X[:, [*parents, x]]))) for x, parents in enumerate(PARENTS))


def test_families_agree_with_pairs_and_singles():
    coded = encode_categories(X, Rules("TAN", refuse_missing=False))
    pairs = PairCounts.of(coded, encode_labels(Y), None)
    counts = families()
    assert counts.singles == pairs.singles
    np.testing.assert_array_equal(counts.cells_of(1).dense(), pairs.of_pair(0, 1))
    np.testing.assert_array_equal(counts.cells_of(2).with_parents(1).dense(), pairs.of_pair(1, 2))


def test_counts_of_different_structures_do_not_combine_and_are_not_equal():
    other = families(parents=[(), (0,), (0, 1), (0, 2, 1)])
    message = r"column 'x2' has the parents \['x1', 'x0'\] here and \['x0', 'x1'\] there"
    with pytest.raises(StatisticsError, match=message):
        families() + other
    with pytest.raises(StatisticsError, match=message):
        families() - other
    assert families() != other


@pytest.mark.parametrize(
    ("parents", "message"),
    [
        ([(), (0,)], "parents of 2 columns, and 4 columns"),
        ([(), (1,), (), ()], r"column 'x1' has the parents \(1,\); give different columns"),
        ([(), (0, 0), (), ()], r"column 'x1' has the parents \(0, 0\)"),
        ([(), (4,), (), ()], r"column 'x1' has the parents \(4,\)"),
        ([(), (-1,), (), ()], r"column 'x1' has the parents \(-1,\)"),
    ],
)
def test_parents_that_are_no_other_columns_are_refused(parents, message):
    with pytest.raises(ParameterError, match=message):
        families(parents=parents)


def test_more_configurations_than_the_limit_are_refused(monkeypatch):
    monkeypatch.setattr("bayeswater.limits.TABLE_BYTES", 100)
    with pytest.raises(
        ResourceLimitError, match=r"4 columns with their parents \(the most.*'x3': \d+\).*fewer parents"
    ):
        families()


def test_single_columns_of_more_states_than_fit_are_refused():
    counts = weighed(None)
    wide = Schema((Variable("a", range(2**31)), counts.schema[1]))
    with pytest.raises(ResourceLimitError, match="counting 2 columns would take 32 GiB"):
        _ = replace(counts, schema=wide).singles


def test_a_dense_table_may_take_all_that_the_limit_allows(monkeypatch):
    cells = ParentCells(np.array([3, 4]), np.array([[0, 1], [2, 3]]), np.array([[5, 0], [1, 2]]))
    monkeypatch.setattr("bayeswater.limits.TABLE_BYTES", cells.dense().nbytes)
    assert cells.dense().shape == (3, 4, 2)
    monkeypatch.setattr("bayeswater.limits.TABLE_BYTES", cells.dense().nbytes - 1)
    with pytest.raises(ResourceLimitError, match="a column and 1 parents"):
        cells.dense()


def test_a_dense_table_over_the_limit_is_refused():
    coded, labels = huge_table()
    counts = ParentCounts.of(coded, labels, None, [(), (0,), (0, 1), (), (), ()])
    with pytest.raises(ResourceLimitError, match="all configurations of a column and 2 parents would take"):
        counts.cells_of(2).dense()


def weighed(weight, rows=slice(None)):
    """Families of two columns; of each class the weights are the same."""
    X, y = np.array([["a", "x"], ["b", "y"], ["a", "y"]] * 4)[rows], np.array(["no", "no", "yes"] * 4)[rows]
    coded = encode_categories(X.astype(object), Rules("the test", refuse_missing=False))
    return ParentCounts.of(coded, encode_labels(y), None if weight is None else np.full(len(X), weight), [(), (0,)])


def test_the_weight_of_a_row_is_one_for_whole_weights_and_their_own_for_fractions():
    assert weighed(None).row_weight == weighed(1).row_weight == weighed(3).row_weight == 1.0
    assert weighed(0.125).row_weight == 0.125  # powers of two: no sum is rounded
    assert weighed(2.5).row_weight == 1.0


def test_the_weight_of_a_row_follows_merging_taking_away_and_fading():
    first, later = weighed(0.25, slice(0, 6)), weighed(0.5, slice(6, 12))
    assert (first + later).row_weight == (6 * 0.25**2 + 6 * 0.5**2) / (6 * 0.25 + 6 * 0.5)
    assert ((first + later) - later).row_weight == 0.25
    assert weighed(None).scaled(0.25) == weighed(0.25)
    assert weighed(2).scaled(0.25).row_weight == 0.25


def test_squares_too_small_to_tell_leave_the_weight_of_a_row_at_one():
    assert weighed(1e-200).row_weight == 1.0
