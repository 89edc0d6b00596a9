"""Densities with a floor under their variance: a share of the column's own variance, in whatever unit."""

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from bayeswater.data.labels import encode_labels
from bayeswater.data.matrix import DenseMatrix
from bayeswater.errors import DataError
from bayeswater.estimate.normal_parameters import (
    NormalInverseGamma,
    floored_parameters,
    pooled_variance,
    require_finite_moments,
    require_near_priors,
)
from bayeswater.statistics.moments import Moments

Y = ["a", "a", "b", "b", "b"]


def moments_of(*columns: Any, y: Any = Y, weight: Any = None) -> Moments:
    return Moments.of(DenseMatrix(np.array(columns, dtype=float).T), encode_labels(y), weight, skip_missing=True)


def test_a_variance_over_the_floor_is_that_of_largest_likelihood() -> None:
    p = floored_parameters(moments_of([1, 3, 0, 3, 6]), 1e-6, {})
    assert_allclose(p.mean, [[2], [3]])
    assert_allclose(p.variance, [[1], [6]])
    assert np.isinf(p.degrees).all()
    assert p.seen.all()


def test_a_variance_under_the_floor_is_a_share_of_that_of_all_classes() -> None:
    x = np.array([1, 1, 0, 4, 2])
    for unit in (1.0, 2.0**-300, 1e100):
        moments = moments_of(x * unit)
        p = floored_parameters(moments, 0.125, {})
        assert_allclose(pooled_variance(moments), [x.var() * unit**2], rtol=1e-14)
        assert_allclose(p.variance[:, 0], [0.125 * x.var() * unit**2, x[2:].var() * unit**2], rtol=1e-14)


def test_a_class_without_a_value_has_the_moments_of_all() -> None:
    p = floored_parameters(moments_of([np.nan, np.nan, 1, 2, 6]), 1e-6, {})
    assert_allclose(p.mean, [[3], [3]])
    assert_allclose(p.variance, [[14 / 3], [14 / 3]])


@pytest.mark.parametrize("cells", [[7] * 5, [np.nan] * 5, [np.nan] * 4 + [3]], ids=["constant", "empty", "one value"])
def test_a_column_that_never_varies_has_no_factor_unless_a_prior_gives_one(cells: Any) -> None:
    moments = moments_of(cells, [1, 2, 3, 4, 5])
    assert_array_equal(floored_parameters(moments, 1e-6, {}).has_factor, [False, True])
    prior = NormalInverseGamma(0.0, 1.0, 2.0, 3.0)
    with_prior = floored_parameters(moments, 1e-6, {0: prior})
    assert_array_equal(with_prior.has_factor, [True, True])
    assert np.isfinite(with_prior.degrees[:, 0]).all()
    assert np.isinf(with_prior.degrees[:, 1]).all()


def test_a_prior_gives_students_t_by_the_rows_of_each_class() -> None:
    prior = NormalInverseGamma(mean=1.0, strength=2.0, shape=3.0, scale=4.0)
    p = floored_parameters(moments_of([1, 3, 0, 3, 6]), 0.5, {0: prior})
    assert_allclose(p.mean[:, 0], [(2 * 1 + 2 * 2) / 4, (2 * 1 + 3 * 3) / 5])
    scale = [4 + 2 / 2 + 2 * 2 * 1 / (2 * 4), 4 + 18 / 2 + 2 * 3 * 4 / (2 * 5)]
    assert_allclose(p.variance[:, 0], [scale[0] / 4 * 5 / 4, scale[1] / 4.5 * 6 / 5])
    assert_allclose(p.degrees[:, 0], [8, 9])


def test_what_overflows_is_refused_by_the_name_of_its_column() -> None:
    with np.errstate(over="ignore", invalid="ignore"):
        far = moments_of([1, 2, 3, 4, 5], [1e200, -1e200, 1e200, 1, 2])
    with pytest.raises(DataError, match="the squares of column 'x1' overflow: its values are too far apart"):
        require_finite_moments(far)
    with pytest.raises(
        DataError, match="column 'x0' overflow: its values are too far from the mean 1e\\+200 of its prior"
    ):
        require_near_priors(moments_of([1, 2, 3, 4, 5]), {0: NormalInverseGamma(1e200)})
    require_near_priors(moments_of([1, 2, 3, 4, 5]), {0: NormalInverseGamma(1e100)})
