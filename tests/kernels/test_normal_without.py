"""The loop over rows taken out of their moments agrees with the NumPy rule, and leaves to it what is near a floor."""

import numpy as np
import pytest

from bayeswater.data.labels import encode_labels
from bayeswater.data.number_table import NumberTable
from bayeswater.families.gaussian import NormalBlock
from bayeswater.statistics.moments import Moments


@pytest.mark.parametrize("holes", [False, True])
@pytest.mark.parametrize("weights", [None, "whole", "fractions"])
@pytest.mark.parametrize("floor", [1e-9, 0.2, 0.9])  # 0.9 is over the variance of most classes
def test_the_loop_gives_the_densities_of_the_numpy_rule(holes, weights, floor):
    rng = np.random.default_rng(5)
    y = encode_labels(rng.integers(0, 3, 200))
    X = rng.normal(size=(200, 4)) * [1, 10, 1e-3, 1] + y.codes[:, None] * [0.5, 20.0, 0.0, 3.0]
    if holes:
        X[rng.random(X.shape) < 0.1] = np.nan
    weight = {None: None, "whole": rng.integers(1, 4, 200), "fractions": rng.random(200) + 0.5}[weights]
    table = NumberTable(tuple(X.T), ("a", "b", "c", "d"), (False,) * 4)
    columns = NormalBlock(Moments.of(table, y, weight, skip_missing=True), floor, {}, np.zeros(4, dtype=bool))
    removed = np.ones(200) if weight is None else np.minimum(weight, 1.0)
    every = np.ones(4, dtype=bool)
    loop, lost_in_loop = columns._own_without(X, y.codes, removed, every, use_loop=True)
    rule, lost = columns._own_without(X, y.codes, removed, every, use_loop=False)
    np.testing.assert_allclose(loop, rule, rtol=1e-13, atol=1e-12)  # the same operations, summed in another order
    np.testing.assert_array_equal(lost_in_loop, lost)
