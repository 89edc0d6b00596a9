"""Where a column has values, and the limits half way between them."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from bayeswater.statistics.occupied import Occupied


def occupied(values, *, is_whole):
    value, weight = np.unique(np.asarray(values, dtype=np.float64), return_counts=True)
    return Occupied(value, value, weight, is_whole=is_whole)


def test_limits_between_whole_numbers_are_halves():
    assert occupied([0, 1, 2, 6, 9], is_whole=True).limits.tolist() == [-0.5, 0.5, 1.5, 4.5, 7.5, 10.5]


def test_whole_numbers_that_share_a_bucket_share_a_cell():
    first, last = np.array([4096.0, 4100, 4104]), np.array([4099.0, 4103, 4107])
    assert Occupied(first, last, np.ones(3), is_whole=True).limits.tolist() == [4095.5, 4099.5, 4103.5, 4107.5]


def test_limits_are_half_way_and_where_no_float_is_between_the_upper_of_the_two():
    above = np.nextafter(1.0, 2)
    limits = occupied([0.5, 1.0, above, np.nextafter(above, 2)], is_whole=False).limits
    assert limits[1:-1].tolist() == [0.75, above, np.nextafter(above, 2)]
    large = 2.0**52 + np.arange(5)  # whole numbers between which there are no halves
    assert occupied(large, is_whole=True).limits[1:-1].tolist() == large[1:].tolist()


def test_the_outermost_limits_mirror_the_inner_ones():
    assert occupied([1.0, 3.0, 8.0], is_whole=False).limits.tolist() == [0.0, 2.0, 5.5, 10.5]


def test_one_stretch_is_its_own_cell():
    assert occupied([3.0], is_whole=False).limits.tolist() == [3.0, 3.0]
    assert occupied([3.0], is_whole=True).limits.tolist() == [2.5, 3.5]


@given(st.lists(st.floats(-1e300, 1e300), min_size=1, max_size=20))
def test_every_stretch_lies_in_its_cell(values):
    stretches = occupied(values, is_whole=False)
    assert (stretches.limits[:-1] <= stretches.first).all()
    assert (stretches.last <= stretches.limits[1:]).all()


def test_neighbouring_whole_numbers_hide_a_twelfth():
    np.testing.assert_allclose(occupied([3, 4, 5], is_whole=True).hidden_variance, 1 / 12)


def test_stretches_of_whole_numbers_hide_a_twelfth_too():
    # However many share a stretch: their own variance is among the moments, but not the width of each of them.
    first, last = np.array([4096.0, 4100, 4104]), np.array([4099.0, 4103, 4104])
    stretches = Occupied(first, last, np.ones(3), is_whole=True)
    np.testing.assert_allclose(stretches.hidden_variance, 1 / 12, rtol=1e-12)
    assert not stretches.are_values
    assert Occupied(first, first, np.ones(3), is_whole=True).are_values


def test_a_lonely_value_hides_a_twelfth_of_its_squared_cell_and_a_stretch_what_is_beyond_it():
    np.testing.assert_allclose(occupied([-100.0, 0.0, 100.0], is_whole=False).hidden_variance, 100**2 / 12)
    stretches = Occupied(np.array([0.0, 2.0]), np.array([1.0, 3.0]), np.ones(2), is_whole=False)
    np.testing.assert_allclose(stretches.hidden_variance, (2**2 - 1**2) / 12)


def test_the_stretches_of_logarithms_are_half_way_between_them():
    logs = occupied([1.0, 100.0], is_whole=True).logarithms()
    np.testing.assert_allclose(logs.limits, np.log([0.1, 10, 1000]), rtol=1e-14)
