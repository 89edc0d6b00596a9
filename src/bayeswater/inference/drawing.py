"""Random draws: streams of numbers, one for each column and cell, gamma variates, shares and states.

What is drawn for one column or cell never depends on another, so the answer for a row is the same whichever rows are
asked about together with it.
"""

from typing import Any

import numpy as np

from bayeswater.errors import ParameterError
from bayeswater.inference.log_space import posterior
from bayeswater.records import record
from bayeswater.typing import Array

LARGEST_RATE = 2.0**53
"""Rate beyond which every float is whole, and Poisson's law a normal density to all of its digits."""

CLASSES = 0
"""Stream of what concerns the classes; that of column j is j + 1."""

CACHE_BYTES = 2**26
"""Memory for the draws of cells that rows have in common, of each block."""


@record
class Stage:
    """How many draws for how many classes, and the seed of all of them."""

    seed: int
    n_draws: int
    n_classes: int

    @property
    def cached_cells(self) -> int:
        """Cells whose draws are kept at a time."""
        return max(16, CACHE_BYTES // (8 * self.n_draws * self.n_classes))


def stream(seed: int, *place: int) -> np.random.Generator:
    """Give the stream of a place: a column, and perhaps a cell of it."""
    return np.random.default_rng([seed, *place])


def checked_seed(random_state: Any) -> int:
    """Refuse what is no seed: one generator for all cells would make every answer depend on the order of asking."""
    is_whole = isinstance(random_state, int | np.integer) and not isinstance(random_state, bool)
    if not is_whole or random_state < 0:
        raise ParameterError(f"random_state is {random_state!r}; give a whole number, 0 or more")
    return int(random_state)


def checked_draws(n_draws: Any) -> int:
    """Refuse what is no number of draws."""
    if not isinstance(n_draws, int | np.integer) or isinstance(n_draws, bool) or n_draws < 1:
        raise ParameterError(f"n_draws is {n_draws!r}; give a whole number, 1 or more")
    return int(n_draws)


def log_gamma(rng: np.random.Generator, shape: Array, n_draws: int) -> Array:
    """Draw logarithms of gamma variates of the given shapes: (n_draws, *shape).

    G(a) is distributed as G(a + 1) U^(1/a) with U uniform, so a small shape, whose variates are smaller than any
    float64, does no harm. A shape of 0 gives -inf: the limit.
    """
    size = (n_draws, *shape.shape)
    with np.errstate(divide="ignore"):
        return np.log(rng.standard_gamma(shape + 1, size)) - rng.standard_exponential(size) / shape


def log_share(rng: np.random.Generator, own: Array, others: Array, n_draws: int) -> tuple[Array, Array]:
    """Draw the logarithm of a Beta(own, others) share, and of what is left of 1: (n_draws, n_classes) each.

    Where neither has a count or a pseudo-count both are 1/2.
    """
    a, b = log_gamma(rng, own, n_draws), log_gamma(rng, others, n_draws)
    none = (own == 0) & (others == 0)
    a, b = np.where(none, 0.0, a), np.where(none, 0.0, b)
    both = np.logaddexp(a, b)
    return a - both, b - both


def draw_states(share: Array, rng: np.random.Generator) -> Array:
    """Draw a state for each row of shares (n_rows, n_states), which need not sum to one: (n_rows,).

    >>> draw_states(np.array([[0.0, 2.0, 0.0]]), np.random.default_rng(0))
    array([1])
    """
    if not share.shape[1]:
        return np.zeros(len(share), dtype=np.int64)
    cumulated = share.cumsum(axis=1)
    found: Array = (rng.random((len(share), 1)) * cumulated[:, -1:] >= cumulated).sum(axis=1)
    return np.minimum(found, share.shape[1] - 1)


def states_at(cumulated: Array, codes: Array, uniform: Array) -> Array:
    """States that uniform numbers (n_draws,) fall on in the cumulated P(state | class), (n_classes, n_states)."""
    result = np.empty(len(codes), dtype=np.int64)
    for k in np.unique(codes):
        rows = codes == k
        # The last entry is 1 but for rounding.
        result[rows] = np.searchsorted(cumulated[k], uniform[rows] * cumulated[k, -1], side="right")
    return np.minimum(result, cumulated.shape[1] - 1)


def draw_classes(log_prior: Array, n: Any, random_state: Any) -> tuple[np.random.Generator, Array]:
    """Draw the codes of the classes of n rows, and give the generator that draws their cells."""
    rng = generator_of(n, random_state)
    return rng, rng.choice(len(log_prior), size=n, p=posterior(log_prior[None].copy())[0])


def generator_of(n: Any, random_state: Any) -> np.random.Generator:
    """Make the generator that draws n rows, once what is asked for is checked."""
    if not isinstance(n, int | np.integer) or isinstance(n, bool) or n < 1:
        raise ParameterError(f"n is {n!r}; give the number of rows to draw, 1 or more")
    try:
        return np.random.default_rng(random_state)
    except (TypeError, ValueError) as error:
        raise ParameterError(f"random_state is {random_state!r}; give a seed or a generator ({error})") from None


def require_density(has_density: Array, codes: Array, classes: Array) -> None:
    """Refuse classes of which no row was counted among those that are drawn."""
    lacking = codes[~has_density[codes]]
    if len(lacking):
        raise ParameterError(
            f"class {classes[lacking[0]]!r} has a prior but no row of it was counted: there is no density to draw "
            "from; give it probability 0"
        )


def draw_counts(rate: Array, rng: np.random.Generator) -> Array:
    """Draw a count by Poisson's law for each rate, of any shape; NaN where it is NaN.

    >>> draw_counts(np.array([0.0, np.nan, 1e300]), np.random.default_rng(0)).round(-299)
    array([0.e+000,     nan, 1.e+300])
    """
    drawn = rng.poisson(np.where(rate <= LARGEST_RATE, rate, 0.0)).astype(np.float64)
    large = rate > LARGEST_RATE
    drawn[large] = rng.normal(rate[large], np.sqrt(rate[large]))
    return np.where(np.isnan(rate), np.nan, drawn)
