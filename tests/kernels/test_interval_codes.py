"""Intervals of numbers: both loops and the NumPy reference equal a comparison with every cut."""

import numpy as np
import pytest

from bayeswater.kernels.interval_codes import FEW_CUTS, interval_codes


@pytest.mark.parametrize("use_loop", [True, False], ids=["loop", "reference"])
@pytest.mark.parametrize("closed_right", [True, False])
@pytest.mark.parametrize("n_cuts", [0, 1, FEW_CUTS, FEW_CUTS + 1, 300])
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_a_number_falls_behind_the_cuts_below_it(kind, n_cuts, closed_right, use_loop):
    rng = np.random.default_rng(n_cuts)
    cuts = np.sort(rng.permutation(np.arange(-200, 200))[:n_cuts] / 4)
    x = np.concatenate([cuts, cuts + 0.125, [-np.inf, np.inf, np.nan, -0.0, 1e30]]).astype(kind)
    rng.shuffle(x)
    codes = np.empty(len(x), dtype=np.uint16)
    interval_codes(x, cuts, codes, closed_right=closed_right, use_loop=use_loop)
    below = x[:, None] > cuts if closed_right else x[:, None] >= cuts
    np.testing.assert_array_equal(codes, np.where(np.isnan(x), n_cuts + 1, below.sum(axis=1)))
