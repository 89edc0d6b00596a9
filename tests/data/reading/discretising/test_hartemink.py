"""Bins of all columns together: against joining by hand, every mutual information being counted anew."""

import numpy as np
import pytest

from bayeswater import Discretizer
from bayeswater.data.reading.discretising.hartemink import kept_cuts
from bayeswater.errors import DataError, ParameterError, ResourceLimitError


def mutual_information(a, b, weight):
    """n times the mutual information of the rows that have both, in nats."""
    there = ~(np.isnan(a) | np.isnan(b))
    table = np.zeros((60, 60))
    np.add.at(table, (a[there].astype(int), b[there].astype(int)), weight[there])
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / max(table.sum(), 1e-300)
    seen = table > 0
    return float((table[seen] * np.log(table[seen] / expected[seen])).sum())


def joined_by_hand(codes, n_bins, weight):
    """Codes (n_columns, n_rows) after joining, NaN where a cell is missing."""
    codes = codes.astype(float)
    while any(np.nanmax(own) >= n_bins for own in codes):
        for j, own in enumerate(codes):
            if np.nanmax(own) >= n_bins:
                tried = [np.where(own > k, own - 1, own) for k in range(int(np.nanmax(own)))]
                others = [other for o, other in enumerate(codes) if o != j]
                told = [sum(mutual_information(one, other, weight) for other in others) for one in tried]
                codes[j] = tried[int(np.argmax(np.array(told) >= max(told) - 1e-9 * weight.sum()))]
    return codes


@pytest.mark.parametrize("seed", range(4))
def test_neighbours_are_joined_that_tell_least_apart(seed):
    rng = np.random.default_rng(seed)
    z = rng.normal(size=150)
    X = np.array([z + rng.normal(size=150), z**2 + rng.normal(size=150), rng.normal(size=150)]).T
    X[rng.random(X.shape) < 0.1 * (seed % 2)] = np.nan
    weight = rng.integers(1, 4, 150).astype(float) if seed > 1 else None
    fine = Discretizer("equal_frequency", n_bins=9).fit(X, sample_weight=weight)
    found = Discretizer("hartemink", n_bins=3, initial_bins=9).fit(X, sample_weight=weight)
    expected = joined_by_hand(fine.transform(X).T, 3, np.ones(150) if weight is None else weight)
    np.testing.assert_array_equal(found.transform(X).T, expected)
    assert found.n_bins_.tolist() == [3, 3, 3]
    assert all(set(few.points) <= set(many.points) for few, many in zip(found.cuts_, fine.cuts_, strict=True))


def test_cuts_stay_where_all_rows_weigh_less():
    rng = np.random.default_rng(5)
    X, weight = rng.normal(size=(200, 2)), rng.integers(1, 5, 200)
    X[:, 1] += X[:, 0] ** 2
    found, light = (Discretizer("hartemink", n_bins=3).fit(X, sample_weight=own) for own in (weight, weight * 2.0**-40))
    assert light.cuts_ == found.cuts_


def test_a_column_with_few_values_stays_as_it_is():
    X = np.array([[0.0, 1.0] * 20, np.arange(40.0) // 10]).T
    found = Discretizer("hartemink", n_bins=3, initial_bins=10).fit(X)
    assert found.n_bins_.tolist() == [2, 3]


def test_a_useless_cut_goes_first():
    x = np.arange(40.0)
    X = np.column_stack([x, x >= 10])
    found = Discretizer("hartemink", n_bins=2, initial_bins=8).fit(X)
    assert found.cuts_[0].points == (9.5,)


def test_what_cannot_be_meant_is_refused():
    with pytest.raises(DataError, match="there is one; take 'equal_frequency'"):
        Discretizer("hartemink").fit([[1.0], [2.0]])
    with pytest.raises(ParameterError, match=r"initial_bins is 2; give a whole number, n_bins \(5\) or more"):
        Discretizer("hartemink", initial_bins=2).fit([[1.0, 2.0], [2.0, 3.0]])
    with pytest.raises(ParameterError, match="'hartemink'"):
        Discretizer("information").fit([[1.0], [2.0]])
    with pytest.raises(ResourceLimitError, match="initial_bins=10"):
        kept_cuts([np.zeros(1, dtype=int)] * 2, [10**6, 10**6], 3, None)
