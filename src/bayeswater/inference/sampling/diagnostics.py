"""Do chains agree, and how much do their draws tell? R-hat and effective sample size.

With m chains of n draws each, every chain cut into halves (so that one which drifts disagrees with itself):

    W = mean of the variances within chains,   B / n = variance of the means of chains
    V = (n - 1) / n W + B / n,                 R-hat = sqrt(V / W)
    ESS = m n / (1 + 2 sum_t rho_t),           rho_t = 1 - (W - mean autocovariance at lag t) / V

The sum ends where pairs of neighbouring rho are no longer positive, and pairs never grow (Geyer). R-hat is taken of
normal scores of ranks, also of the distance from the median, and the larger one counts.

Vehtari, Gelman, Simpson, Carpenter, Buerkner (2021), Rank-normalization, folding, and localization: an improved R-hat
for assessing convergence of MCMC.
"""

import numpy as np
from scipy.fft import next_fast_len
from scipy.special import ndtri

from bayeswater.typing import Array

MANY_CHAINS = 32
"""The spread of the means of so many chains is known to an eighth."""


def split(draws: Array) -> Array:
    """Cut chains (n_chains, n_draws) into halves, (2 n_chains, n_draws // 2); a draw in the middle is left out.

    >>> split(np.array([[1, 2, 3, 4, 5]]))
    array([[1, 2],
           [4, 5]])
    """
    half = draws.shape[1] // 2
    return np.concatenate([draws[:, :half], draws[:, draws.shape[1] - half :]])


def r_hat(draws: Array) -> float:
    """R-hat of chains (n_chains, n_draws), split, rank-normalised and folded; 1 where nothing ever differs."""
    halves = split(draws)
    folded = np.abs(halves - np.median(halves))
    return max(_r_hat(_normal_scores(halves)), _r_hat(_normal_scores(folded)))


def _r_hat(halves: Array) -> float:
    n = halves.shape[1]
    within = halves.var(axis=1, ddof=1).mean()
    between = n * halves.mean(axis=1).var(ddof=1)
    if within == 0:
        return 1.0 if between == 0 else np.inf
    return float(np.sqrt((between / within + n - 1) / n))


def _normal_scores(draws: Array) -> Array:
    # Blom's: ranks, equal draws having the mean of theirs, as quantiles of a normal distribution.
    _, kind, count = np.unique(draws, return_inverse=True, return_counts=True)
    rank = np.cumsum(count) - (count - 1) / 2  # scipy.stats has this, too, but its import takes longer than a query
    return np.asarray(ndtri((rank - 3 / 8) / (draws.size + 1 / 4)))[kind].reshape(draws.shape)


def mean_and_error(draws: Array) -> tuple[float, float]:
    """Mean of all draws (n_chains, n_draws), and its standard error.

    That is sqrt(V / ESS), which for short chains with a long memory is somewhat small; where there are many chains, the
    spread of their means tells the error without a look at memory, and the larger one counts.
    """
    halves = split(draws)
    error = np.sqrt(_pooled_variance(halves) / effective_draws(halves))
    if len(draws) >= MANY_CHAINS:
        error = max(error, draws.mean(axis=1).std(ddof=1) / np.sqrt(len(draws)))
    return float(draws.mean()), float(error)


def _pooled_variance(chains: Array) -> float:
    # V: the first term is (n - 1) / n W.
    return float(chains.var(axis=1).mean() + (chains.mean(axis=1).var(ddof=1) if len(chains) > 1 else 0.0))


def effective_draws(chains: Array) -> float:
    """ESS of the mean of chains (n_chains, n_draws), which are taken as they are.

    It may be larger than the number of draws, where these swing to and fro, but no more than log10 of it times that.
    """
    m, n = chains.shape
    covariance = _mean_autocovariance(chains)
    within = covariance[0] * n / (n - 1)
    pooled = _pooled_variance(chains)
    if pooled == 0:
        return float(m * n)
    rho = 1 - (within - covariance) / pooled
    rho[0] = 1.0
    pairs = rho[: n - n % 2].reshape(-1, 2).sum(axis=1)
    ends = np.flatnonzero(pairs <= 0)
    n_pairs = int(ends[0]) if len(ends) else len(pairs)
    # Where the sum ends, one lag more counts if it is positive, as the paper's authors compute it.
    last = max(rho[2 * n_pairs], 0.0) if 2 * n_pairs < n else 0.0
    time = -1 + 2 * np.minimum.accumulate(pairs[:n_pairs]).sum() + last
    return m * n / max(time, 1 / np.log10(m * n))


def _mean_autocovariance(chains: Array) -> Array:
    n = chains.shape[1]
    size = next_fast_len(2 * n, real=True)
    transformed = np.fft.rfft(chains - chains.mean(axis=1, keepdims=True), size, axis=1)
    # The transform is linear: chains are averaged before it is taken back.
    power = (transformed.real**2 + transformed.imag**2).mean(axis=0)
    return np.fft.irfft(power, size)[:n] / n
