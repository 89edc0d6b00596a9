"""Parameters of columns drawn from their posterior, and the log-likelihoods of rows under each draw.

    states        Dirichlet(N_kv + alpha_v): of one cell the share of its state, Beta(N_kv + alpha_v, all others)
    normal        Normal-inverse-gamma of the column's prior, or by the reference prior
                  variance ~ scatter / chi2(n - 1), mean ~ N(mean, variance / n); never below the floor of the variance
    Poisson       rate ~ gamma(total + a) / weight

A class with less than two values of a normal column, for which the reference posterior does not exist, takes the spread
of all classes together; a class without any value takes their mean too, as the model does (see `estimate`).
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Protocol

import numpy as np

from bayeswater.explain.random_streams import log_gamma, stream
from bayeswater.inference.category_columns import CategoryColumns
from bayeswater.inference.normal_columns import NormalColumns
from bayeswater.inference.poisson_columns import PoissonColumns
from bayeswater.typing import Array

CACHE_BYTES = 2**26
"""Memory for the draws of cells that rows have in common, of each group."""


class ParameterDraws(Protocol):
    """Draws of the parameters of a group of columns."""

    def add_to(self, total: Array, block: Any) -> None:
        """Add the log-likelihoods of some rows to `total` (n_rows, n_draws, n_classes)."""
        ...


@dataclass(frozen=True)
class Stage:
    """How many draws for how many classes, and the seed of all of them."""

    seed: int
    n_draws: int
    n_classes: int

    @property
    def cached_cells(self) -> int:
        """Cells whose draws are kept at a time."""
        return max(16, CACHE_BYTES // (8 * self.n_draws * self.n_classes))


def log_share(rng: np.random.Generator, own: Array, others: Array, n_draws: int) -> tuple[Array, Array]:
    """Draw the logarithm of a Beta(own, others) share, and of what is left of 1: (n_draws, n_classes) each.

    Where neither has a count or a pseudo-count both are 1/2.
    """
    a, b = log_gamma(rng, own, n_draws), log_gamma(rng, others, n_draws)
    none = (own == 0) & (others == 0)
    a, b = np.where(none, 0.0, a), np.where(none, 0.0, b)
    both = np.logaddexp(a, b)
    return a - both, b - both


class StateDraws:
    """Draws of the probabilities of states; only of those that rows have."""

    def __init__(self, columns: CategoryColumns, places: list[int], stage: Stage) -> None:
        self.columns, self.places, self.stage = columns, places, stage
        counts = columns.counts
        smoothed = counts.table + columns.concentration
        self._smoothed = smoothed
        in_domain = np.ones((len(smoothed), 1))
        in_domain[counts.start[1:] - 1, 0] = columns.missing_is_state
        self._total = np.add.reduceat(smoothed * in_domain, counts.start[:-1])  # (n_columns, n_classes)
        self._n_states = counts.n_states + columns.empty_is_state
        self._state = lru_cache(stage.cached_cells)(self._drawn)

    def add_to(self, total: Array, block: Array) -> None:
        """Add the log-likelihoods of rows of codes."""
        for j in range(block.shape[1]):
            states, place = np.unique(block[:, j], return_inverse=True)
            drawn = np.stack([self._state(j, int(state)) for state in states])
            total += drawn[place]

    def _drawn(self, j: int, state: int) -> Array:
        """Logarithm of P(state | class): (n_draws, n_classes)."""
        if state >= self._n_states[j]:  # missing or unseen: no factor
            return np.zeros((self.stage.n_draws, self.stage.n_classes))
        own = self._smoothed[self.columns.counts.start[j] + state]
        rng = stream(self.stage.seed, self.places[j], state)
        share, _ = log_share(rng, own, np.maximum(self._total[j] - own, 0.0), self.stage.n_draws)
        return np.where(self._total[j] == 0, -np.log(self._n_states[j]), share)


@dataclass(frozen=True)
class DrawnNormal:
    """Draws of a normal density: its variance, and how far its mean is off `centre` in standard deviations.

    The variance is kept as a logarithm: of little more than one row it may be larger than any float64.
    """

    centre: Array  # (n_classes,)
    offset: Array  # (n_draws, n_classes)
    log_variance: Array  # (n_draws, n_classes)

    def log_density(self, x: Array) -> Array:
        """Log-density, but for a constant that all classes share."""
        with np.errstate(over="ignore"):
            standard = (x - self.centre) * np.exp(-0.5 * self.log_variance) - self.offset
            return -0.5 * (self.log_variance + standard**2)


class NormalDraws:
    """Draws of means and variances."""

    def __init__(self, columns: NormalColumns, places: list[int], stage: Stage) -> None:
        self.columns, self.places, self.stage = columns, places, stage
        has_factor = columns.parameters.has_factor
        self._drawn = {j: self._column(j) for j in np.flatnonzero(has_factor).tolist()}

    def add_to(self, total: Array, block: Array) -> None:
        """Add the log-densities of rows of numbers."""
        for j, drawn in self._drawn.items():
            x = block[:, j, None, None]
            total += np.where(np.isnan(x), 0.0, drawn.log_density(x))

    def _column(self, j: int) -> DrawnNormal:
        moments = self.columns.moments
        n = np.broadcast_to(moments.weight, moments.mean.shape)[:, j].astype(np.float64)
        own_mean, own_scatter = moments.mean[:, j], moments.scatter[:, j]
        floor = -np.inf
        if j in self.columns.priors:
            mean, strength, shape, scale = self.columns.priors[j].posterior(n, own_mean, own_scatter)
        else:
            n_all, mean_all, scatter_all = (float(part[j]) for part in moments.pooled())
            known = n > 1
            degrees = np.where(known, n - 1, n_all - 1 if n_all > 1 else n_all)  # decayed rows may weigh less than one
            mean, strength = np.where(n > 0, own_mean, mean_all), np.where(n > 0, n, n_all)
            shape, scale = degrees / 2, np.where(known, own_scatter, scatter_all) / 2
            floor = float(np.log(self.columns.variance_floor * scatter_all / n_all))
        rng = stream(self.stage.seed, self.places[j])
        with np.errstate(divide="ignore"):  # of equal values the scatter is 0, and the floor holds
            log_variance = np.log(scale) - log_gamma(rng, shape, self.stage.n_draws)
        offset = rng.standard_normal(log_variance.shape) / np.sqrt(strength)
        return DrawnNormal(mean, offset, np.maximum(log_variance, floor))


class PoissonDraws:
    """Draws of rates."""

    def __init__(self, columns: PoissonColumns, places: list[int], stage: Stage) -> None:
        self.columns, self.places, self.stage = columns, places, stage
        self._log_rate = [self._column(j) for j in range(len(places))]

    def add_to(self, total: Array, block: Array) -> None:
        """Add the log-likelihoods of rows of counts, but for constants that all classes share."""
        for j, log_rate in enumerate(self._log_rate):
            x = block[:, j, None, None]
            with np.errstate(invalid="ignore", over="ignore"):
                term = np.where(x == 0, 0.0, x * log_rate) - np.exp(log_rate)
            total += np.where(np.isnan(term), 0.0, term)  # a missing cell, or a column without a value

    def _column(self, j: int) -> Array:
        """Logarithm of the rate in each class: (n_draws, n_classes)."""
        sums = self.columns.sums
        weight_all, total_all = (part[j] for part in sums.pooled())
        has_value = sums.weight[:, j] > 0
        weight = np.where(has_value, sums.weight[:, j], weight_all).astype(np.float64)
        total = np.where(has_value, sums.total[:, j], total_all)
        drawn = log_gamma(
            stream(self.stage.seed, self.places[j]), total + self.columns.pseudo_count[j], self.stage.n_draws
        )
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(weight > 0, drawn - np.log(weight), np.nan)
