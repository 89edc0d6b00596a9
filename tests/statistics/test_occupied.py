"""Where a column has values, and the limits half way between them."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from bayeswater.kernels.key_cells import buckets_of
from bayeswater.statistics.occupied import Occupied


def occupied(values, *, is_whole):
    bucket, weight = np.unique(buckets_of(np.asarray(values, dtype=np.float64)), return_counts=True)
    return Occupied.of_buckets(bucket, weight, is_whole=is_whole)


def test_limits_between_whole_numbers_are_halves():
    assert occupied([0, 1, 2, 6, 9], is_whole=True).limits.tolist() == [-0.5, 0.5, 1.5, 4.5, 7.5, 10.5]


def test_whole_numbers_that_share_a_bucket_share_a_cell():
    stretches = occupied([4096, 4099, 4100, 4107], is_whole=True)  # buckets of four
    assert stretches.first.tolist() == [4096, 4100, 4104]
    assert stretches.last.tolist() == [4099, 4103, 4107]
    assert stretches.limits.tolist() == [4095.5, 4099.5, 4103.5, 4107.5]


def test_buckets_that_touch_are_parted_at_their_edge_and_others_half_way():
    near, far = 1 + 2.0**-10, 2.0
    limits = occupied([1.0, near, far], is_whole=False).limits
    assert limits[1] == near
    assert limits[2] == (1 + 2 * 2.0**-10 + far) / 2


def test_the_outermost_limits_mirror_the_inner_ones():
    stretches = occupied([1.0, 3.0, 8.0], is_whole=False)
    limits, first, last = stretches.limits, stretches.first, stretches.last
    assert first[0] - limits[0] == limits[1] - last[0]
    assert limits[-1] - last[-1] == first[-1] - limits[-2]


def test_one_stretch_is_its_own_cell():
    assert occupied([3.0], is_whole=False).limits.tolist() == [3.0, 3 + 2.0**-9]
    assert occupied([3.0], is_whole=True).limits.tolist() == [2.5, 3.5]


@given(st.lists(st.floats(-1e300, 1e300), min_size=1, max_size=20))
def test_every_stretch_lies_in_its_cell(values):
    stretches = occupied(values, is_whole=False)
    assert (stretches.limits[:-1] <= stretches.first).all()
    assert (stretches.last <= stretches.limits[1:]).all()


def test_neighbouring_whole_numbers_hide_a_twelfth():
    np.testing.assert_allclose(occupied([3, 4, 5], is_whole=True).hidden_variance, 1 / 12)


def test_buckets_that_touch_hide_nothing_and_lonely_ones_a_twelfth_of_their_squared_cell():
    touching = np.linspace(1, 2, 4000)
    assert (occupied(touching, is_whole=False).hidden_variance[1:-1] == 0).all()
    # Zero, and a hundred on either side: the cell of zero is a hundred wide, and its bucket is nothing beside it.
    hidden = occupied([-100.0, 0.0, 100.0], is_whole=False).hidden_variance
    np.testing.assert_allclose(hidden[1], 100**2 / 12, rtol=2e-3)  # the buckets are a thousandth wide


def test_the_stretches_of_logarithms_are_half_way_between_them():
    logs = occupied([1.0, 100.0], is_whole=True).logarithms()
    np.testing.assert_allclose(logs.limits, np.log([0.1, 10, 1000]), rtol=1e-14)
