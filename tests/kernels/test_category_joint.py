"""Looking up and summing log-likelihoods: the loop equals the NumPy reference."""

import numpy as np
import pytest
from tests.kernels.tables import CODE_KINDS, labels, laid_out

from bayeswater.kernels import category_joint
from bayeswater.kernels.category_counts import offsets
from bayeswater.kernels.category_joint import sum_of_own_states, sum_of_states

N_STATES = np.array([2, 1, 5, 3, 2, 8, 1, 4, 6, 2, 3])  # loops that take several columns at once leave a rest
START = offsets(N_STATES)
CASES = [*[(kind, "C") for kind in CODE_KINDS], ("uint8", "F"), ("uint8", "strided")]


@pytest.fixture(autouse=True)
def several_stretches(monkeypatch):
    monkeypatch.setattr(category_joint, "STRETCH_CELLS", 400)


def case(kind, layout):
    rng = np.random.default_rng(0)
    codes = laid_out(rng.integers(0, N_STATES + 3, size=(30, 11)).astype(kind), layout)
    # Whole numbers: their sums are exact in any order.
    log_likelihood = -rng.integers(0, 100, size=(START[-1], 4)).astype(float)
    log_likelihood[START[1:] - 1] = 0.0
    return codes, labels(rng, 30, 4), log_likelihood


def by_hand(codes, log_likelihood):
    return np.array(
        [
            [sum(log_likelihood[START[j] + min(int(row[j]), n), k] for j, n in enumerate(N_STATES)) for k in range(4)]
            for row in codes
        ]
    )


@pytest.mark.parametrize("use_loop", [True, False], ids=["loop", "reference"])
@pytest.mark.parametrize(("kind", "layout"), CASES)
def test_every_class_sums_the_log_likelihoods_of_the_states(kind, layout, use_loop):
    codes, _, log_likelihood = case(kind, layout)
    joint = sum_of_states(codes, N_STATES, START, log_likelihood, use_loop=use_loop)
    np.testing.assert_array_equal(joint, by_hand(codes, log_likelihood))


@pytest.mark.parametrize("use_loop", [True, False], ids=["loop", "reference"])
@pytest.mark.parametrize(("kind", "layout"), CASES)
def test_the_own_class_alone_is_summed_when_asked_for(kind, layout, use_loop):
    codes, y, log_likelihood = case(kind, layout)
    own = sum_of_own_states(codes, N_STATES, START, y, log_likelihood, use_loop=use_loop)
    np.testing.assert_array_equal(own, by_hand(codes, log_likelihood)[np.arange(len(y)), y])


@pytest.mark.parametrize("use_loop", [True, False], ids=["loop", "reference"])
def test_an_impossible_state_makes_the_sum_minus_infinity(use_loop):
    log_likelihood = np.array([[-np.inf, -1.0], [-2.0, -3.0], [0.0, 0.0]])
    codes = np.array([[0], [1], [2]], dtype=np.uint8)
    joint = sum_of_states(codes, np.array([2]), np.array([0, 3]), log_likelihood, use_loop=use_loop)
    assert joint.tolist() == [[-np.inf, -1.0], [-2.0, -3.0], [0.0, 0.0]]
