"""Rows drawn from a model: the classes first, each by its prior probability."""

from typing import Any

import numpy as np

from bayeswater.errors import ParameterError
from bayeswater.inference.log_space import posterior
from bayeswater.typing import Array


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
