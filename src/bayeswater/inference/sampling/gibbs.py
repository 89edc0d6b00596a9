"""Gibbs sampling: many chains, each drawing site after site given the rest, until they agree and their error is small.

Chains that do not mix are found out by their disagreement, so they have to start where they could disagree. One half
starts from rows drawn as likelihood weighting draws them, taken whatever their weight. But what is rare before the
evidence may be all there is after it, and none of these rows would be there: the other half starts from rows in which
each variable is drawn evenly among the states that its parents leave it. Where no row is possible, states are searched
for.

Sweeps are cut into windows; the mean of each window is one draw for the diagnostics. There are always as many windows:
when the sweeps are doubled, windows are joined in pairs. The first quarter is left out, so that where chains started
does not count. Chains have streams of their own and groups of fixed size, so that the number of threads never shows.

R-hat tells whether chains agree, the effective sample size how much their draws tell. With m chains of n draws each,
every chain cut into halves (so that one which drifts disagrees with itself):

    W = mean of the variances within chains,   B / n = variance of the means of chains
    V = (n - 1) / n W + B / n,                 R-hat = sqrt(V / W)
    ESS = m n / (1 + 2 sum_t rho_t),           rho_t = 1 - (W - mean autocovariance at lag t) / V

The sum ends where pairs of neighbouring rho are no longer positive, and pairs never grow (Geyer). R-hat is taken of
normal scores of ranks, also of the distance from the median, and the larger one counts (Vehtari, Gelman, Simpson,
Carpenter, Buerkner 2021, Rank-normalization, folding, and localization: an improved R-hat for assessing convergence of
MCMC).
"""

from collections.abc import Callable, Sequence
from time import monotonic

import numpy as np

from bayeswater.inference.sampling.likelihood_weighting import BATCH_ROWS, WeightedRows
from bayeswater.inference.sampling.question import (
    FEW_HITS,
    Estimate,
    SamplingQuestion,
    effective_size,
    error_of_few,
    exactly,
)
from bayeswater.inference.sampling.sites import Site, lay_out, make_sites, reading_of
from bayeswater.kernels.compiling import worth_compiling
from bayeswater.kernels.gibbs_sweeps import sweep
from bayeswater.kernels.threads import ordered_map, row_blocks
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
    from scipy.special import ndtri  # its import takes as long as a question that is answered without draws

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
    from scipy.fft import next_fast_len

    n = chains.shape[1]
    size = next_fast_len(2 * n, real=True)
    transformed = np.fft.rfft(chains - chains.mean(axis=1, keepdims=True), size, axis=1)
    # The transform is linear: chains are averaged before it is taken back.
    power = (transformed.real**2 + transformed.imag**2).mean(axis=0)
    return np.fft.irfft(power, size)[:n] / n


SEARCHES = 8
"""Different starts that are searched for, and shared by all chains."""

EVEN_ROWS = BATCH_ROWS // 8
"""Rows drawn evenly: enough to find possible ones, where evidence does not forbid almost all."""


def find_starts(question: SamplingQuestion, n_chains: int, rng: np.random.Generator) -> Array:
    """Possible states of the free variables, (n_free, n_chains) int32."""
    seeds = rng.integers(2**63, size=2).tolist()
    drawn = WeightedRows(question, seeds[0]).draw(0, use_loop=False)
    even = WeightedRows(question, seeds[1], evenly=True).draw(0, n_rows=EVEN_ROWS, use_loop=False)
    possible = [codes[:, log_weight > -np.inf] for codes, log_weight in (drawn, even)]
    sources = [codes for codes in possible if codes.shape[1]]
    if not sources:
        return _searched(question, drawn[0][:, :n_chains].copy(), rng)
    starts = np.empty((len(question.free), n_chains), dtype=np.int32)
    for k, codes in enumerate(sources):
        own = starts[:, k :: len(sources)]
        own[:] = codes[:, rng.choice(codes.shape[1], own.shape[1], replace=codes.shape[1] < own.shape[1])]
    return starts


def _searched(question: SamplingQuestion, starts: Array, rng: np.random.Generator) -> Array:
    """Search for states of the variables in tables with zeros; all others may be in any state, those of `starts`."""
    domains = {v: np.ones(question.n_states(v), dtype=bool) for v in question.free}
    constraints = question.constraints
    searches = (constraints.find_together(domains, rng) for _ in range(SEARCHES))
    found = [together for together in searches if together is not None]  # all of them: the evidence is possible
    for line, v in enumerate(question.free):
        if v in constraints.of_variable:
            starts[line] = [found[c % len(found)][v] for c in range(starts.shape[1])]
    return starts


N_CHAINS = 128

GROUP_CHAINS = 32
"""Chains that go together on one thread."""

WINDOWS = 128

LEFT_OUT = WINDOWS // 4

MOST_R_HAT = 1.01
"""Chains that disagree more have not forgotten where they started (Vehtari and others)."""

LEAST_EFFECTIVE = 400
"""Independent draws that the chains have to be worth, or else their spread is not known well enough."""

METHOD = "gibbs"

CONSTANT = 1e-12
"""Means of windows that differ by less do so by rounding."""


class Chains:
    """Chains of a question, wherever they are."""

    def __init__(self, question: SamplingQuestion, sites: Sequence[Site], seed: int, n_chains: int = N_CHAINS) -> None:
        self.tables, self.reading = lay_out(question, sites), reading_of(question, sites)
        self.n_cells = int(np.prod([question.n_states(v) for v in question.targets]))
        start, streams = np.random.SeedSequence(seed).spawn(2)
        self.states = find_starts(question, n_chains, np.random.default_rng(start))
        self.streams = streams.generate_state(n_chains, np.uint64) | np.uint64(1)  # xorshift never leaves 0

    def advance(self, n_windows: int, n_sweeps: int) -> Array:
        """Sweep on, and give the mean of each window, (n_windows, n_cells, n_chains)."""
        n_chains = len(self.streams)
        totals = np.zeros((n_windows, self.n_cells, n_chains))
        if not worth_compiling(n_windows * n_sweeps * self.states.size):
            sweep(self.tables, self.reading, self.states, self.streams, totals, n_sweeps, use_loop=False)
            return totals / n_sweeps

        def group(chains: slice) -> None:
            states, streams, part = (
                self.states[:, chains].copy(),
                self.streams[chains].copy(),
                totals[..., chains].copy(),
            )
            sweep(self.tables, self.reading, states, streams, part, n_sweeps, use_loop=True)
            self.states[:, chains], self.streams[chains], totals[..., chains] = states, streams, part

        for _ in ordered_map(group, row_blocks(n_chains, GROUP_CHAINS)):
            pass
        return totals / n_sweeps


def gibbs(
    question: SamplingQuestion, standard_error: float, deadline: float, seed: int, name: Callable[[int], str] = str
) -> Estimate:
    """Sample until no cell of the free targets, (n_cells,), has a larger error, or until the deadline (`monotonic`).

    Raises
    ------
    SamplingError
        Zeros tie more variables together than can be drawn at once.
    """
    sites = make_sites(question, name)
    chains = Chains(question, sites, seed)
    if len(sites) == 1:  # the distribution that it is drawn from is the answer
        return exactly(chains.advance(1, 1)[0, :, 0])
    n_sweeps = 1
    begin = monotonic()
    means = chains.advance(WINDOWS, n_sweeps)
    while True:
        now = monotonic()
        is_last = now + (now - begin) > deadline  # the next round takes as long as all before it
        found = _read(means, n_sweeps, standard_error, with_r_hat=is_last)
        if found.is_reached and not is_last:
            found = _read(means, n_sweeps, standard_error, with_r_hat=True)
        if is_last or (found.is_reached and found.is_reliable):
            return found
        means = means.reshape(WINDOWS // 2, 2, *means.shape[1:]).mean(axis=1)
        n_sweeps *= 2
        means = np.concatenate([means, chains.advance(WINDOWS // 2, n_sweeps)])


def _read(means: Array, n_sweeps: int, standard_error: float, *, with_r_hat: bool) -> Estimate:
    draws = means[LEFT_OUT:].transpose(1, 2, 0)  # (n_cells, n_chains, n_windows)
    n_chains, n_windows = draws.shape[1:]
    p, error = np.array([mean_and_error(cell) for cell in draws]).T
    varies = np.ptp(draws, axis=(1, 2)) > CONSTANT
    size = np.where(varies, effective_size(p, error), np.inf)
    # Where a cell is the same in all windows, or has its probability from a few of them, their spread tells no error:
    # it is that of as many draws as the other cells are worth.
    few = ~varies | (np.minimum(_hits(draws), _hits(1 - draws)) < FEW_HITS)
    enough = size[~few].min(initial=np.inf) if not few.all() else n_chains
    n_draws = n_chains * n_windows * n_sweeps
    known = min(float(enough), float(n_draws))
    error = np.where(few, np.maximum(error, error_of_few(p, known)), error)
    # Windows are means of probabilities given the rest, which may be tiny and alike as long as a rare state of the rest
    # was never met; so many draws rule out no more than one such state among them.
    error = np.maximum(error, error_of_few(np.zeros(1), n_draws))
    size = np.where(few, known, size)
    agreement = (
        np.array([r_hat(cell) if v else 1.0 for cell, v in zip(draws, varies, strict=True)]) if with_r_hat else None
    )
    doubts = []
    if agreement is not None and agreement.max() > MOST_R_HAT:
        doubts.append(f"chains disagree: R-hat is {agreement.max():.3f}, over {MOST_R_HAT}")
    if not varies.any():
        doubts.append("all draws are the same, which tells nothing of their error")
    elif size.min() < LEAST_EFFECTIVE:
        doubts.append(f"the draws are worth {size.min():.3g} independent ones, fewer than {LEAST_EFFECTIVE}")
    return Estimate(
        p, error, size, agreement, METHOD, n_draws, n_chains, tuple(doubts),
        is_reached=bool(error.max() <= standard_error),
    )  # fmt: skip


def _hits(draws: Array) -> Array:
    # Windows of equal probability that would be worth as much: (n_cells,).
    square = (draws**2).sum(axis=(1, 2))
    return np.where(square > 0, draws.sum(axis=(1, 2)) ** 2 / np.where(square > 0, square, 1.0), 0.0)
