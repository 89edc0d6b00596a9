"""Mutual information: equal to its definition in fifty digits, from the rows that have the cells."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracles.counting import complete, conditional_information, count
from tests.structure.counted_pairs import counts_of

from bayeswater.structure.mutual_information import (
    conditional_mutual_information,
    mutual_information,
    pair_weight,
)

# A few terms below 2 nats, each rounded in its ratio, its logarithm and its product.
ROUNDING = 1e-14


def table(seed, n_rows=60, n_columns=4):
    rng = np.random.default_rng(seed)
    X = rng.choice(np.array(["a", "b", "c", None], dtype=object), size=(n_rows, n_columns), p=[0.5, 0.2, 0.2, 0.1])
    return X, rng.choice(np.array(["no", "yes", "zen"]), n_rows, p=[0.6, 0.3, 0.1])


@settings(max_examples=12)
@given(st.data())
def test_information_equals_its_definition(data):
    n = data.draw(st.integers(1, 12))
    cells = st.lists(st.sampled_from(["a", "b", "c", None]), min_size=3 * n, max_size=3 * n)
    X = np.array(data.draw(cells), dtype=object).reshape(n, 3)
    y = np.array(data.draw(st.lists(st.sampled_from(["no", "yes"]), min_size=n, max_size=n)))
    weight = np.array(data.draw(st.lists(st.sampled_from([0.25, 1.0, 1 / 3, 7.5]), min_size=n, max_size=n)))
    require_definition(X, y, weight)


@pytest.mark.parametrize("seed", range(3))
def test_information_of_more_rows_equals_its_definition(seed):
    require_definition(*table(seed), None)


def require_definition(X, y, weight):
    counts = counts_of(X, y, weight)
    single, given_class = mutual_information(counts), conditional_mutual_information(counts)
    rows = pair_weight(counts)
    for i in range(X.shape[1]):
        own = complete(count(X.tolist(), y.tolist(), weight, [i]))
        assert single[i] == pytest.approx(float(conditional_information(own, [0], [1], [])), abs=ROUNDING)
        assert given_class[i, i] == 0
        assert rows[i, i] == pytest.approx(float(sum(own.values())), rel=1e-14)
        for j in range(X.shape[1]):
            if i == j:
                continue
            both = complete(count(X.tolist(), y.tolist(), weight, [i, j]))
            expected = conditional_information(both, [0], [1], [2])
            assert given_class[i, j] == pytest.approx(float(expected), abs=ROUNDING)
            assert rows[i, j] == pytest.approx(float(sum(both.values())), rel=1e-14)
    for array in (given_class, rows):
        np.testing.assert_array_equal(array, array.T)
    assert (single >= 0).all() and (given_class >= 0).all()


def test_independent_columns_have_exactly_no_information():
    grid = np.array([[a, b, y] for a in "abc" for b in "de" for y in ("no", "yes") for _ in range(3)], dtype=object)
    counts = counts_of(grid[:, :2], grid[:, 2].astype(str))
    assert mutual_information(counts).tolist() == [0, 0]
    assert conditional_mutual_information(counts).tolist() == [[0, 0], [0, 0]]


def test_a_copy_of_a_column_tells_its_entropy_within_the_class():
    X, y = table(4)
    X = np.stack([X[:, 0], X[:, 0]], axis=1)
    counts = counts_of(X, y)
    cells = counts.of_column(0)
    share = cells / cells.sum(axis=0)
    entropy = -(cells / cells.sum() * np.log(share, out=np.zeros_like(share), where=share > 0)).sum()
    assert conditional_mutual_information(counts)[0, 1] == pytest.approx(entropy, abs=ROUNDING)


def test_columns_without_any_common_row_tell_nothing_of_each_other():
    X = np.array([["a", None], ["b", None], [None, "a"], [None, "b"]], dtype=object)
    counts = counts_of(X, ["no", "yes", "no", "yes"])
    assert conditional_mutual_information(counts)[0, 1] == 0
    assert pair_weight(counts).tolist() == [[2, 0], [0, 2]]


def test_a_column_without_cells_tells_nothing():
    X, y = table(5)
    X[:, 1] = None
    counts = counts_of(X, y)
    assert mutual_information(counts)[1] == 0
    assert (conditional_mutual_information(counts)[1] == 0).all()


def test_one_column_has_no_pairs():
    X, y = table(6)
    counts = counts_of(X[:, :1], y)
    assert conditional_mutual_information(counts).tolist() == [[0.0]]
    assert mutual_information(counts) == mutual_information(counts.singles)


@pytest.mark.parametrize("power", [-1000, -500, 500, 1000])
@pytest.mark.parametrize("measure", [mutual_information, conditional_mutual_information])
def test_what_every_row_weighs_does_not_show(measure, power):
    X, y = table(0)
    weight = np.ldexp(np.ones(len(y)), power)  # products of such counts are beyond the range of floats
    np.testing.assert_array_equal(measure(counts_of(X, y, weight)), measure(counts_of(X, y, None)))


@pytest.mark.parametrize("power", [-900, -600, 600, 900])
@pytest.mark.parametrize("measure", [mutual_information, conditional_mutual_information])
def test_rows_that_weigh_nothing_beside_the_others_do_not_show(measure, power):
    X, y = table(0)
    light = np.array([["d", "d", "d", "d"], ["d", "e", "a", None]], dtype=object)
    heavy = np.ldexp(1.0, max(power, 0))
    weight = np.append(np.full(len(y), heavy), np.full(2, np.ldexp(heavy, -abs(power))))
    found = measure(counts_of(np.vstack([X, light]), np.append(y, ["no", "odd"]), weight))
    np.testing.assert_allclose(found, measure(counts_of(X, y, None)), rtol=0, atol=ROUNDING)
