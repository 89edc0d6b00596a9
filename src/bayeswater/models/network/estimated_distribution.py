"""`EstimatedDistribution`: probabilities found by sampling, each with its error, and whether that can be relied on."""

from dataclasses import dataclass

from bayeswater.data.display_width import display_width, padded
from bayeswater.inference.sampling.question import Estimate
from bayeswater.models.network.distribution import Distribution
from bayeswater.typing import Array


@dataclass(frozen=True, eq=False, repr=False)
class EstimatedDistribution(Distribution):
    """A distribution that was estimated: see `Distribution` for the labels.

    Parameters
    ----------
    estimate : what sampling found: `standard_error`, `effective_size`, `r_hat`, `verdict`

    Examples
    --------
    >>> import numpy as np
    >>> from bayeswater.data.variable import Variable
    >>> from bayeswater.inference.sampling.question import effective_size
    >>> p, error = np.array([0.62, 0.38]), np.array([0.001, 0.001])
    >>> found = Estimate(p, error, effective_size(p, error), None, "likelihood_weighting", 300_000, None)
    >>> EstimatedDistribution((Variable("lung", ("yes", "no")),), p, found)
    lung  probability  standard error
    yes        0.6200          0.0010  ████████████
    no         0.3800          0.0010  ████████
    likelihood_weighting, 300000 draws: reliable
    """

    estimate: Estimate

    @property
    def standard_error(self) -> Array:
        """How far off each probability may be: (*n_states of each variable)."""
        return self.estimate.standard_error

    @property
    def is_reliable(self) -> bool:
        """Whether nothing speaks against the errors."""
        return self.estimate.is_reliable

    @property
    def verdict(self) -> str:
        """Say whether the errors can be relied on, and why not."""
        return self.estimate.verdict

    def __repr__(self) -> str:
        # A number that nobody vouches for carries a question mark.
        doubt = "" if self.is_reliable else "?"
        lines = super().__repr__().split("\n")
        at = display_width(lines[0])
        errors = [f"{error:#.2g}{doubt}" for error in self.standard_error.ravel().tolist()]
        shown = [f"{lines[0]}  standard error"]
        for line, error in zip(lines[1:], errors, strict=False):
            if line.startswith("... and "):
                shown.append(line)
                break
            number, bar = line[:at], line[at:].strip()
            shown.append(f"{padded(number + doubt, at + 2)}{error:>14}  {bar}".rstrip())
        chains = f"{self.estimate.n_chains} chains, " if self.estimate.n_chains else ""
        return "\n".join([*shown, f"{self.estimate.method}, {chains}{self.estimate.n_draws} draws: {self.verdict}"])
