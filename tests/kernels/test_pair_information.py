"""What every pair of columns is worth, beside the same in fractions of counts: by bits, by scatter, with holes."""

import mpmath
import numpy as np
import pytest

from bayeswater.kernels.pair_information import BIC, CONDITIONAL, PairValues, pair_values


def worth(table, price):
    """The worth of a table of counts (v_i, v_j, n_classes), with 40 digits."""
    with mpmath.workdps(40):
        information = mpmath.mpf(0)
        for one in np.moveaxis(table, 2, 0):
            n, rows, columns = int(one.sum()), one.sum(axis=1), one.sum(axis=0)
            for (a, b), cell in np.ndenumerate(one):
                if cell:
                    information += int(cell) * mpmath.log(mpmath.mpf(int(cell) * n) / (int(rows[a]) * int(columns[b])))
        weight, n_parameters = int(table.sum()), (table.shape[0] - 1) * (table.shape[1] - 1) * table.shape[2]
        if price == CONDITIONAL:
            return float(information / weight) if weight else 0.0
        unit = mpmath.log(max(weight, 1)) / 2 if price == BIC else price
        return float(information - n_parameters * unit)


@pytest.mark.parametrize("price", [CONDITIONAL, BIC, 0.0, 1.5])
@pytest.mark.parametrize(("most_states", "n_rows", "n_classes"), [(3, 1, 1), (4, 300, 3), (45, 130, 2)])
def test_pairs_are_worth_what_their_tables_say(most_states, n_rows, n_classes, price):
    rng = np.random.default_rng(n_rows)
    n_states = rng.integers(1, most_states + 1, 6)
    codes = np.array([rng.integers(0, n + 1, n_rows) for n in n_states], dtype=np.uint8)  # the last slot: missing
    codes[1] = np.minimum(codes[1], n_states[1] - 1)  # a column without holes
    codes[2, : n_rows // 2] = codes[1, : n_rows // 2] % n_states[2]
    y = rng.integers(0, n_classes, n_rows)
    found = pair_values(codes, n_states, y, n_classes, price)
    for i in range(6):
        for j in range(i):
            table = np.zeros((n_states[i] + 1, n_states[j] + 1, n_classes), dtype=int)
            np.add.at(table, (codes[i], codes[j], y), 1)
            expected = worth(table[:-1, :-1], price)
            assert found[i][j] == found[j][i] == pytest.approx(expected, rel=1e-12, abs=1e-13)


def test_rows_with_weights_are_worth_as_many():
    rng = np.random.default_rng(3)
    codes = np.array([rng.integers(0, n + 1, 80) for n in (3, 40, 2, 2)], dtype=np.uint8)
    y, times = rng.integers(0, 2, 80), rng.integers(0, 4, 80)
    n_states = np.array([3, 40, 2, 2])
    for price in (CONDITIONAL, BIC):
        weighted = pair_values(codes, n_states, y, 2, price, times.astype(float))
        repeated = pair_values(np.repeat(codes, times, axis=1), n_states, np.repeat(y, times), 2, price)
        np.testing.assert_allclose(weighted.packed, repeated.packed, rtol=1e-12, atol=1e-13)


def test_independent_columns_have_exactly_no_information():
    codes = np.array([[0, 0, 1, 1] * 3, [0, 1, 0, 1] * 3], dtype=np.uint8)
    y = np.repeat([0, 1, 1], 4)
    assert pair_values(codes, np.array([2, 2]), y, 2, CONDITIONAL).packed.tolist() == [0.0]


def test_half_a_matrix_gives_the_rows_of_the_whole_one():
    whole = np.array([[0, 1, 2, 4], [1, 0, 3, 5], [2, 3, 0, 6], [4, 5, 6, 0]], dtype=float)
    half = PairValues(4, np.arange(1.0, 7.0))
    assert len(half) == 4
    assert [half[i].tolist() for i in range(4)] == whole.tolist()
