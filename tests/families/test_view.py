"""Other cells that could be in the place of one: how far they are, in which order they are tried, how they are told."""

import decimal
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse

from bayeswater.data.matrix import SparseMatrix
from bayeswater.families.view import ColumnView, LastBlock, NumberOptions, Options, _away


def numbers(low=0.0, high=10.0, start=4.0, **others):
    given = {"is_missing": False, "spread": 2.0, "bends": np.array([3.0, 7.0])}
    return NumberOptions(low, high, start, **{**given, **others})


def test_the_most_frequent_states_are_tried_and_no_others():
    options = Options(np.arange(20), np.arange(20) / 2, str, int)
    cells, distance = options.few(5)
    assert cells.tolist() == list(range(16)) and distance.tolist() == [cell / 2 for cell in range(16)]


def test_some_numbers_of_the_range_and_its_bends_are_tried_each_once():
    cells, distance = numbers().few(3)
    assert cells.tolist() == [0.0, 3.0, 5.0, 7.0, 10.0]
    assert distance.tolist() == [2.0, 0.5, 0.5, 1.5, 3.0]
    whole, _ = numbers(low=0.4, high=9.6, bends=np.array([2.6, 3.4, 9.55]), is_whole=True).few(2)
    assert whole.tolist() == [1.0, 3.0, 9.0]


def test_numbers_are_looked_at_outward_from_where_the_row_is():
    assert numbers().outward() == [[4.0, 7.0, 10.0], [4.0, 3.0, 0.0]]
    assert numbers(start=7.0).outward() == [[7.0, 10.0], [7.0, 3.0, 0.0]]
    assert numbers(start=0.0).outward() == [[0.0, 3.0, 7.0, 10.0], [0.0]]
    assert numbers(start=10.0).outward() == [[10.0], [10.0, 7.0, 3.0, 0.0]]
    assert numbers(start=-1.0).outward() == [[0.0, 3.0, 7.0, 10.0], []]
    assert numbers(start=11.0).outward() == [[], [10.0, 7.0, 3.0, 0.0]]


def test_a_number_is_told_with_the_fewest_digits_that_still_turn_the_decision():
    assert numbers().rounded(5.123456789, lambda x: x > 5.1234) == (5.124, 5.124, "over 5.124")
    assert numbers().rounded(5.123456789, lambda x: 5.1234 < x < 5.1239)[0] == 5.12346
    assert numbers().rounded(2.123456789, lambda x: x < 2.1235) == (2.123, 2.123, "under 2.123")
    assert numbers(start=5.0, is_missing=True).rounded(5.0, lambda x: True) == (5.0, 5.0, "= 5")
    assert numbers(start=5.0).rounded(5.0, lambda x: True) == (5.0, 5.0, "under 5")
    assert numbers(high=9.99995).rounded(9.999949, lambda x: x > 9.9999)[0] == 9.99995  # no further than the range
    assert numbers().rounded(5.5, lambda x: False) is None


def test_whole_numbers_are_told_whole_and_logarithms_as_numbers():
    whole = numbers(is_whole=True, written=int)
    assert whole.rounded(5.2, lambda x: x > 5.2) == (6.0, 6, "over 6")
    assert whole.rounded(2.8, lambda x: x < 2.8) == (2.0, 2, "under 2")
    assert numbers(high=9.5, is_whole=True).rounded(9.3, lambda x: x > 9.2) is None
    place, value, text = numbers(is_log=True).rounded(np.log(700.0), lambda x: x >= np.log(700.0))
    assert (place, value, text) == (np.log(700.0), 700.0, "over 700")


@pytest.mark.parametrize("digits", [4, 6, 9])
@pytest.mark.parametrize("side", [1, -1])
def test_a_rounded_number_is_the_next_of_so_many_digits_on_its_side(digits, side):
    rounding = decimal.ROUND_CEILING if side > 0 else decimal.ROUND_FLOOR
    context = decimal.Context(prec=digits, rounding=rounding)
    draws = np.random.default_rng(0).normal(size=60)
    for number in [*draws, *(1e7 * draws), *(1e-9 * draws), 1.0, -250.0, 0.125]:
        assert _away(float(number), digits, side) == float(context.create_decimal_from_float(float(number)))


def test_what_has_no_digits_stays_as_it_is():
    for number in (0.0, np.inf, -np.inf, 5e-320):
        assert _away(number, 4, 1) == number


def test_a_block_of_one_row_is_cut_once():
    asked = []
    table = SimpleNamespace(block=lambda rows: asked.append((rows.start, rows.stop)) or f"row {rows.start}")
    blocks = LastBlock()
    assert [blocks.of(row, table) for row in (0, 0, 3, 3, 0)] == ["row 0", "row 0", "row 3", "row 3", "row 0"]
    assert asked == [(0, 1), (3, 4), (0, 1)]


def test_the_value_of_a_row_of_a_sparse_block_is_the_sum_of_its_cells():
    cells = sparse.csr_array(np.array([[1, 0, 2], [0, 0, 0], [4, 8, 0], [0, 16, 0]]))
    block = SparseMatrix(cells.indptr, cells.indices, cells.data, 3)
    view = SimpleNamespace(column=SimpleNamespace(source="b"), raw=SimpleNamespace(columns={"b": block}))
    assert [ColumnView.value(view, row) for row in range(4)] == [3, 0, 12, 16]
