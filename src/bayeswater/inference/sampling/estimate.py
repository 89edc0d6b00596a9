"""`Estimate`: probabilities found by sampling, how far off each may be, and whether that can be relied on."""

from dataclasses import dataclass

import numpy as np

from bayeswater.typing import Array

MOST_CELLS = 256
"""States of all targets together: each is reported with an error of its own."""


@dataclass(frozen=True, eq=False)
class Estimate:
    """What sampling found.

    `effective_size` is the number of independent draws from the distribution itself that would give the same standard
    error, p (1 - p) / se^2; where there is no error, it is infinite. `doubts` say why the errors cannot be relied on;
    there are none in an estimate that can.

    >>> coin = exactly(np.array([0.25, 0.75]))
    >>> coin.is_reliable, coin.verdict
    (True, 'reliable')
    """

    probability: Array  # (*n_states of the targets)
    standard_error: Array
    effective_size: Array
    r_hat: Array | None  # None where draws are independent
    method: str
    n_draws: int
    n_chains: int | None
    doubts: tuple[str, ...] = ()
    is_reached: bool = True  # the standard error that was asked for

    @property
    def is_reliable(self) -> bool:
        """Whether nothing speaks against the errors."""
        return not self.doubts

    @property
    def verdict(self) -> str:
        """Say whether the errors can be relied on, and why not."""
        if self.doubts:
            return f"not reliable: {'; '.join(self.doubts)}"
        return "reliable" if self.is_reached else "reliable, but the error asked for was not reached in the time given"


def exactly(probability: Array) -> Estimate:
    """Give what follows without a draw."""
    size = np.full(probability.shape, np.inf)
    return Estimate(probability, np.zeros(probability.shape), size, None, "exact", 0, None)


FEW_HITS = 25
"""Where fewer draws had a state, or had another one, their spread tells too little of the error."""


def error_of_few(probability: Array, n_draws: float) -> Array:
    """Standard error where few of some independent draws had a state, or all of them.

    One draw more might have been different: p is moved by the rule of succession before its error is taken.

    >>> float(error_of_few(np.array(0.0), 1000).round(5))
    0.001
    """
    moved = (probability * n_draws + 1) / (n_draws + 2)
    return np.asarray(np.sqrt(moved * (1 - moved) / (n_draws + 2)))


def effective_size(probability: Array, standard_error: Array) -> Array:
    """Number of independent draws with the same standard error: infinite where there is none."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(standard_error > 0, probability * (1 - probability) / standard_error**2, np.inf)
