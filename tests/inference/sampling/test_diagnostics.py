"""R-hat and effective sample size against their definitions, written out draw by draw."""

from statistics import NormalDist

import numpy as np
import pytest

from bayeswater.inference.sampling.diagnostics import effective_draws, mean_and_error, r_hat, split


def walks(n_chains, n_draws, memory, seed=0):
    """Chains in which each draw remembers a share of the one before."""
    rng = np.random.default_rng(seed)
    draws = np.empty((n_chains, n_draws))
    draws[:, 0] = rng.normal(size=n_chains) / np.sqrt(1 - memory**2)
    for t in range(1, n_draws):
        draws[:, t] = memory * draws[:, t - 1] + rng.normal(size=n_chains)
    return draws


def autocovariance(chain, lag):
    mean = sum(chain) / len(chain)
    return sum((a - mean) * (b - mean) for a, b in zip(chain, chain[lag:], strict=False)) / len(chain)


def effective_draws_by_definition(chains):
    """Vehtari and others (2021), section 3.2, as the authors' programs compute it, lag by lag."""
    m, n = chains.shape
    within = np.mean([np.var(chain, ddof=1) for chain in chains])
    pooled = within * (n - 1) / n + (np.var([np.mean(chain) for chain in chains], ddof=1) if m > 1 else 0.0)

    def rho(lag):
        return 1 - (within - np.mean([autocovariance(chain, lag) for chain in chains])) / pooled

    pairs, t, even, odd = [], 0, 1.0, rho(1)
    while even + odd > 0:
        pairs.append(min(even + odd, pairs[-1]) if pairs else even + odd)
        t += 2
        even, odd = rho(t) if t < n else 0.0, rho(t + 1) if t + 1 < n else -np.inf
    time = -1 + 2 * sum(pairs) + max(even, 0.0)
    return m * n / max(time, 1 / np.log10(m * n))


def r_hat_by_definition(draws):
    half = draws.shape[1] // 2
    halves = np.concatenate([draws[:, :half], draws[:, -half:]])

    def plain(values):
        n = values.shape[1]
        within = np.mean([np.var(chain, ddof=1) for chain in values])
        between = n * np.var([np.mean(chain) for chain in values], ddof=1)
        return np.sqrt(((n - 1) / n * within + between / n) / within)

    def scores(values):
        flat = values.ravel()
        rank = np.array([(flat < x).sum() + ((flat == x).sum() + 1) / 2 for x in flat])
        return np.array([NormalDist().inv_cdf((r - 3 / 8) / (flat.size + 1 / 4)) for r in rank]).reshape(values.shape)

    return max(plain(scores(halves)), plain(scores(abs(halves - np.median(halves)))))


@pytest.mark.parametrize("memory", [0.0, 0.5, 0.95, -0.6])
@pytest.mark.parametrize("shape", [(1, 60), (4, 51), (7, 100)])
def test_effective_draws_are_those_of_the_definition(memory, shape):
    chains = walks(*shape, memory)
    # The transform and the sums differ by roundings alone.
    assert effective_draws(chains) == pytest.approx(effective_draws_by_definition(chains), rel=1e-9)


@pytest.mark.parametrize("memory", [0.0, 0.9])
def test_r_hat_is_that_of_the_definition(memory):
    draws = walks(4, 40, memory)
    assert r_hat(draws) == pytest.approx(r_hat_by_definition(draws), rel=1e-9)
    rounded = draws.round()  # many draws are equal: they share their ranks
    assert r_hat(rounded) == pytest.approx(r_hat_by_definition(rounded), rel=1e-9)


def test_r_hat_sees_chains_that_differ_in_place_in_spread_or_from_beginning_to_end():
    draws = walks(4, 200, 0.0)
    assert r_hat(draws) < 1.01
    assert r_hat(draws + np.arange(4)[:, None]) > 1.1
    assert r_hat(draws * np.array([1, 1, 1, 5])[:, None]) > 1.1
    assert r_hat(draws + np.linspace(0, 3, 200)) > 1.1


def test_r_hat_of_an_indicator_is_the_plain_one():
    # Ranks of two values are two values: R-hat does not change by a shift and a factor.
    draws = (walks(4, 200, 0.5) > 0.3).astype(float)
    halves = split(draws)
    n = halves.shape[1]
    within, between = halves.var(axis=1, ddof=1).mean(), n * halves.mean(axis=1).var(ddof=1)
    assert r_hat(draws) == pytest.approx(np.sqrt((between / within + n - 1) / n), rel=1e-12)


def test_chains_that_never_move_agree_only_if_they_stand_at_the_same_place():
    assert r_hat(np.ones((3, 20))) == 1.0
    assert r_hat(np.repeat([[0.0], [1.0]], 20, axis=1)) == np.inf


def test_the_error_of_independent_draws_is_their_deviation_by_the_root_of_their_number():
    draws = walks(100, 400, 0.0)
    mean, error = mean_and_error(draws)
    assert mean == pytest.approx(draws.mean(), rel=1e-12)
    # The spread of 100 means is known to 7 in 100.
    assert error == pytest.approx(1 / np.sqrt(draws.size), rel=0.15)


def test_the_error_of_few_chains_is_by_their_effective_draws_and_of_many_at_least_the_spread_of_their_means():
    few, many = walks(4, 300, 0.5), walks(64, 20, 0.9)
    halves = split(few)
    pooled = halves.var(axis=1).mean() + halves.mean(axis=1).var(ddof=1)
    assert mean_and_error(few)[1] == pytest.approx(np.sqrt(pooled / effective_draws(halves)), rel=1e-12)
    assert mean_and_error(many)[1] >= many.mean(axis=1).std(ddof=1) / 8


def test_the_error_of_draws_with_a_memory_is_that_of_their_sum():
    memory = 0.8
    mean, error = mean_and_error(walks(200, 500, memory))
    # The variance of the mean of such a series of length n is about 1 / (1 - memory)^2 / n.
    assert error == pytest.approx(1 / (1 - memory) / np.sqrt(200 * 500), rel=0.1)
    assert abs(mean) < 4 * error


def test_constant_draws_have_no_error():
    assert mean_and_error(np.full((4, 10), 0.25)) == (0.25, 0.0)
