"""What a network answers about numbers: mixtures of normals, of one question or of many rows."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import ndtr

from bayeswater.data.frames import Alongside, write_frame
from bayeswater.data.variable import Variable
from bayeswater.errors import ParameterError
from bayeswater.markup import html_table, paragraphs
from bayeswater.records import record
from bayeswater.typing import Array, is_number

ROWS_SHOWN = 30
"""Lines that a notebook shows."""

BLOCK = 2048
"""Components whose density is worked out at once."""


@record(eq=False, repr=False)
class NumberDistribution:
    """The distribution of a number: normals, each with its weight.

    Parameters
    ----------
    name : of the variable
    weights, means, variances : (n_components,); where a variance is 0, the number is that mean exactly

    Examples
    --------
    >>> height = NumberDistribution("height", np.array([0.5, 0.5]), np.array([165.0, 178.0]), np.array([36.0, 49.0]))
    >>> height
    height: mean 171.5, sd 9.206, 90 % from 157.3 to 187
    >>> round(height.cdf(171.5), 4), round(height.quantile(0.5), 3)
    (0.5186, 171.0)
    """

    name: str
    weights: Array
    means: Array
    variances: Array

    @cached_property
    def mean(self) -> float:
        """Mean; to the last digit where all components have it."""
        return float(self.means[0] if (self.means == self.means[0]).all() else self.weights @ self.means)

    @cached_property
    def variance(self) -> float:
        """Variance: that of the components, and of their means."""
        return float(self.weights @ (self.variances + (self.means - self.mean) ** 2))

    @property
    def std(self) -> float:
        """Standard deviation."""
        return float(np.sqrt(self.variance))

    def pdf(self, x: Any) -> Any:
        """Density at x, a number or an array; infinite where the number lies exactly."""
        x = np.asarray(x, dtype=np.float64)
        used = self.weights > 0
        spread, sd = used & (self.variances > 0), np.sqrt(self.variances)
        means, scale, height = self.means[spread], np.sqrt(0.5) / sd[spread], self.weights[spread] / sd[spread]
        found = np.zeros(x.shape)
        for start in range(0, len(means), BLOCK):  # small enough to stay in the cache: a mixture may have 100,000
            part = slice(start, start + BLOCK)
            terms = x[..., None] - means[part]
            terms *= scale[part]
            np.square(terms, out=terms)
            np.exp(np.negative(terms, out=terms), out=terms)
            found += terms @ height[part]
        found /= np.sqrt(2 * np.pi)
        found = np.where(np.isin(x, self.means[used & ~spread]), np.inf, found)
        return float(found) if found.ndim == 0 else found

    def cdf(self, x: Any) -> Any:
        """Probability of at most x, a number or an array."""
        x = np.asarray(x, dtype=np.float64)[..., None]
        sd = np.sqrt(self.variances)
        below = ndtr((x - self.means) / np.where(sd > 0, sd, 1.0))
        found = (np.where(sd > 0, below, x >= self.means) * self.weights).sum(axis=-1)
        return float(found) if found.ndim == 0 else found

    def quantile(self, p: float) -> float:
        """Find the number that is not passed with probability p."""
        if not (is_number(p) and 0 < p < 1):
            raise ParameterError(f"p is {p!r}; give a probability between 0 and 1, both left out")
        used = self.weights > 0
        sd, means = np.sqrt(self.variances[used]), self.means[used]
        low, high = float((means - 40 * sd).min()), float((means + 40 * sd).max())
        for _ in range(200):
            middle = 0.5 * (low + high)
            if not low < middle < high:
                break
            low, high = (middle, high) if self.cdf(middle) < p else (low, middle)
        return high

    def interval(self, mass: float = 0.9) -> tuple[float, float]:
        """Numbers between which it lies with some probability, as likely to lie below as above them."""
        if not (is_number(mass) and 0 < mass < 1):
            raise ParameterError(f"mass is {mass!r}; give a probability between 0 and 1, both left out")
        return self.quantile((1 - mass) / 2), self.quantile((1 + mass) / 2)

    def sample(self, n: int, random_state: Any = None) -> Array:
        """Draw n numbers."""
        rng = np.random.default_rng(random_state)
        which = rng.choice(len(self.weights), size=n, p=self.weights / self.weights.sum())
        return self.means[which] + np.sqrt(self.variances[which]) * rng.standard_normal(n)

    def __repr__(self) -> str:
        if self.variance == 0:
            return f"{self.name}: exactly {self.mean:.6g}"
        low, high = self.interval()
        return f"{self.name}: mean {self.mean:.4g}, sd {self.std:.4g}, 90 % from {low:.4g} to {high:.4g}"

    def _repr_html_(self) -> str:
        return paragraphs([repr(self)])


@record(eq=False, repr=False)
class JointMoments:
    """Means and covariances of several numbers.

    Attributes
    ----------
    names : of the numbers
    mean : (n,)
    covariance : (n, n)
    """

    names: tuple[str, ...]
    mean: Array
    covariance: Array
    library: str | None = None

    def to_frame(self, library: str | None = None) -> Any:
        """Give a frame: a line for each number with its mean, and a column of covariances with each."""
        columns: dict[str, Any] = {"number": list(self.names), "mean": self.mean}
        columns |= {f"with {name}": self.covariance[:, j] for j, name in enumerate(self.names)}
        return write_frame(columns, library or self.library)

    def _lines(self) -> list[tuple[str, ...]]:
        """Write heads, and a line for each number."""
        return [("", "mean", *(f"with {name}" for name in self.names))] + [
            (name, f"{self.mean[j]:.4g}", *(f"{c:.4g}" for c in self.covariance[j]))
            for j, name in enumerate(self.names)
        ]

    def __repr__(self) -> str:
        lines = self._lines()
        width = [max(map(len, column)) for column in zip(*lines, strict=True)]
        rows = ["  ".join(map(str.rjust, line[1:], width[1:])) for line in lines]
        return "\n".join(f"{line[0]:<{width[0]}}  {row}" for line, row in zip(lines, rows, strict=True))

    def _repr_html_(self) -> str:
        heads, *rows = self._lines()
        return html_table(heads, rows)


class MixedPosteriors(dict[str, Array]):
    """A dict from names to answers for each row: P(state | row), (n_rows, n_states), or means of a number, (n_rows,).

    Attributes
    ----------
    std : by name, standard deviations of the numbers, (n_rows,); 0 where they are observed
    log_evidence : (n_rows,), logarithm of the probability, or density, of what each row observes
    impossible : (n_rows,) bool; the answers of such rows are zeros, and NaN is none of them
    """

    def __init__(
        self,
        found: Mapping[str, Array],
        std: Mapping[str, Array],
        variables: Sequence[Variable],
        log_evidence: Array,
        impossible: Array,
    ) -> None:
        super().__init__(found)
        self.std = dict(std)
        self.variables = {variable.name: variable for variable in variables}
        self.log_evidence = log_evidence
        self.impossible = impossible

    def labels(self) -> dict[str, Array]:
        """Give the likeliest state of variables with states in every row, and the mean of numbers."""
        found: dict[str, Any] = {}
        for name, answer in self.items():
            variable = self.variables.get(name)
            found[name] = answer if variable is None else variable.labels[answer.argmax(axis=1)]
            if variable is not None and self.impossible.any():
                found[name] = np.where(self.impossible, None, found[name])
        return found

    def to_frame(self, library: str | Alongside | None = None) -> Any:
        """Give columns ``name=state``, for numbers ``name`` and ``name (sd)``, and "log_evidence" and "impossible"."""
        columns: dict[str, Any] = {}
        for name, answer in self.items():
            if name in self.variables:
                for code, state in enumerate(self.variables[name].states):
                    columns[f"{name}={state}"] = np.ascontiguousarray(answer[:, code])
            else:
                columns |= {name: answer, f"{name} (sd)": self.std[name]}
        return write_frame({**columns, "log_evidence": self.log_evidence, "impossible": self.impossible}, library)

    def _repr_html_(self) -> str:
        found = self.labels()
        rows = [
            (str(i), *(str(found[name][i]) if name in self.variables else f"{found[name][i]:.4g}" for name in self))
            for i in range(min(len(self.log_evidence), ROWS_SHOWN))
        ]
        more = len(self.log_evidence) - len(rows)
        return html_table(("", *self), rows) + paragraphs([f"... and {more} more rows"] if more else [])
