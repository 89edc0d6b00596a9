"""Gibbs sampling: many chains, each drawing site after site given the rest, until they agree and their error is small.

Chains start from states that are possible and far apart. Their sweeps are cut into windows; the mean of each window is
one draw for the diagnostics. There are always as many windows: when the sweeps are doubled, windows are joined in
pairs. The first quarter is left out, so that where chains started does not count.

Chains have streams of their own and groups of fixed size, so that the number of threads never shows.
"""

from collections.abc import Callable, Sequence
from time import monotonic

import numpy as np

from bayeswater.inference.sampling.diagnostics import mean_and_error, r_hat
from bayeswater.inference.sampling.estimate import FEW_HITS, Estimate, effective_size, error_of_few, exactly
from bayeswater.inference.sampling.question import Question
from bayeswater.inference.sampling.site_tables import lay_out, reading_of
from bayeswater.inference.sampling.sites import Site, make_sites
from bayeswater.inference.sampling.starts import find_starts
from bayeswater.kernels.compiling import worth_compiling
from bayeswater.kernels.gibbs_sweeps import sweep
from bayeswater.kernels.threads import ordered_map, row_blocks
from bayeswater.typing import Array

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

    def __init__(self, question: Question, sites: Sequence[Site], seed: int, n_chains: int = N_CHAINS) -> None:
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
    question: Question, standard_error: float, deadline: float, seed: int, name: Callable[[int], str] = str
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
