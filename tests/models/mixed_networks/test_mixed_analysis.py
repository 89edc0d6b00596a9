"""Entropy and divergence of networks of states and numbers: beside the normal distribution, and draws."""

import numpy as np
import pytest

from bayeswater import LinearGaussian, MixedNetwork
from bayeswater.errors import ParameterError

LINES = {
    "a": LinearGaussian(1, variance=2),
    "b": LinearGaussian(-1, {"a": 0.7}, 0.5),
    "c": LinearGaussian(3, {"a": -1.2, "b": 0.4}, 1.5),
}


def mixed(shift=0.0):
    return MixedNetwork(
        "s -> x -> y <- s; t -> s",
        {
            "t": {"u": 0.3, "v": 0.7},
            "s": {"u": {"f": 0.2, "m": 0.8}, "v": {"f": 0.6, "m": 0.4}},
            "x": {"f": LinearGaussian(1 + shift, variance=2), "m": LinearGaussian(4, variance=1 + shift)},
            "y": {"f": LinearGaussian(0, {"x": 2}, 1), "m": LinearGaussian(1, {"x": -1 + shift}, 3)},
        },
    )


def test_of_numbers_alone_they_are_those_of_the_normal_distribution():
    one = MixedNetwork("a -> b -> c <- a", LINES)
    other = MixedNetwork("c; a -> b", LINES | {"c": LinearGaussian(2, variance=4)})
    first, second = (network.moments(["a", "b", "c"]) for network in (one, other))
    assert one.entropy() == pytest.approx(np.linalg.slogdet(2 * np.pi * np.e * first.covariance)[1] / 2 / np.log(2))
    inverse, off = np.linalg.inv(second.covariance), second.mean - first.mean
    gap = np.linalg.slogdet(second.covariance)[1] - np.linalg.slogdet(first.covariance)[1]
    expected = (np.trace(inverse @ first.covariance) + off @ inverse @ off - 3 + gap) / 2 / np.log(2)
    assert one.kl_divergence(other) == pytest.approx(expected)
    assert one.kl_divergence(one) == pytest.approx(0, abs=1e-12)


def test_of_states_and_numbers_they_are_means_over_draws():
    one, other = mixed(), mixed(0.5).do(t="u")
    for network in (other, MixedNetwork("x; s; t; y", {
        "x": LinearGaussian(2, variance=5), "y": LinearGaussian(0, variance=30),
        "s": {"m": 0.5, "f": 0.5}, "t": {"u": 0.3, "v": 0.7},
    })):  # fmt: skip
        if np.isinf(one.kl_divergence(network)):
            assert network is other  # t is always u there
            continue
        rows = one.sample(200_000, random_state=0)
        own, its = one.log_probability(rows), network.log_probability(rows)
        for exact, seen in ((one.entropy(), -own), (one.kl_divergence(network), own - its)):
            error = seen.std() / np.sqrt(len(seen))
            assert abs(exact * np.log(2) - seen.mean()) < 5 * error


def test_a_number_without_variance_has_no_density_to_compare():
    exact = MixedNetwork("a -> b", {"a": LinearGaussian(0, variance=1), "b": LinearGaussian(0, {"a": 1.0}, 0)})
    assert exact.entropy() == -np.inf
    with pytest.raises(ParameterError, match="'b' has variance 0"):
        exact.kl_divergence(exact)
    with pytest.raises(ParameterError, match="differ in their variables"):
        mixed().kl_divergence(exact)
    with pytest.raises(ParameterError, match="other is a str"):
        exact.kl_divergence("x")
