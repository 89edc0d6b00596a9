"""Facts that could be asked for: which outcomes they have, and how probable each is in every class.

`Outcomes.likelihood[o, k]` is P(outcome o | class k). States have as many outcomes as there are states; counts end
where no class has any probability left. A number (see `densities`) has as many
as there are regions of it in which different actions are best: nothing is gained by telling two values of one region
apart, so the value of the region is the value of the number.

A calibrated classifier takes the log-likelihoods of its columns a share `strength` (one over the temperature) of what
they say. A fact that is `weakened` tells as much: P(outcome | class)^strength, normalised within each class.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil, sqrt
from typing import Protocol

import numpy as np
from scipy.special import gammaln, xlogy

from bayeswater.kernels.class_scores import log_shares
from bayeswater.typing import Array

TAIL = 45.0
"""Counts are left out whose log-probability is this much below the largest of their class."""

TAIL_MASS = 1e-12
"""More than all counts that are left out can have: exp(-TAIL) is 3e-20, and they fall off like a geometric series."""

MOST_RATE = 1e8
"""Rates up to which counts are gone through one by one: some hundred thousand of them."""


@dataclass(frozen=True)
class Outcomes:
    """P(outcome | class) (n_outcomes, n_classes), and by how much they may overstate the risk that remains."""

    likelihood: Array
    error: float = 0.0


class Fact(Protocol):
    """Something that could be asked for."""

    def weakened(self, strength: float) -> "Fact | None":
        """Take its log-likelihoods a share `strength` over 0 of what they are; None where no distribution is left."""

    def outcomes(self, belief: Array, regret: Array) -> Outcomes:
        """Tell its outcomes, apart as far as matters for a belief (n_classes,) and regrets (n_actions, n_classes)."""


@dataclass(frozen=True)
class StateFact:
    """A column of states: log P(state | class), (n_states, n_classes); no state is no fact."""

    log_likelihood: Array

    def weakened(self, strength: float) -> "StateFact":
        """Take a power of the probabilities."""
        if not len(self.log_likelihood):
            return self
        return StateFact(log_shares((strength * self.log_likelihood).T, use_loop=False).T)

    def outcomes(self, belief: Array, regret: Array) -> Outcomes:
        """Every state is an outcome."""
        if not len(self.log_likelihood):
            return Outcomes(np.ones((1, len(belief))))
        return Outcomes(np.exp(self.log_likelihood))


@dataclass(frozen=True)
class CountFact:
    """A column of counts by Poisson's law, of a rate (n_classes,) in each class."""

    rate: Array
    strength: float = 1.0

    def weakened(self, strength: float) -> "CountFact":
        """Take a power of the probabilities."""
        return replace(self, strength=self.strength * strength)

    def outcomes(self, belief: Array, regret: Array) -> Outcomes:
        """Every count that is not too improbable is an outcome."""
        count = np.unique(np.concatenate([self._likely_counts(rate) for rate in self.rate]))
        log_probability = xlogy(count[:, None], self.rate) - self.rate - gammaln(count + 1)[:, None]
        shares = log_shares((self.strength * log_probability).T, use_loop=False)
        return Outcomes(np.exp(shares).T, TAIL_MASS * float(belief @ regret.max(axis=0)))

    def _likely_counts(self, rate: float) -> Array:
        """Counts around a rate, until the log-probability has fallen by the tail, divided by the strength."""
        depth = TAIL / self.strength
        # -log P falls by d^2 / (2 (rate + d / 3)) at least at a distance d (Bernstein).
        reach = ceil(depth / 3 + sqrt(depth**2 / 9 + 2 * rate * depth)) + 1
        middle = int(rate)
        return np.arange(max(0, middle - reach), middle + reach + 1)


def joint_outcomes(facts: Sequence[Fact], belief: Array, regret: Array) -> Outcomes:
    """Outcomes of facts that are learned together and independent within each class, as the parts of a date are.

    The first may have outcomes that hang on what is believed; it is asked once for each outcome of the others.
    """
    first, *others = facts
    if not others:
        return first.outcomes(belief, regret)
    known = joint_outcomes(others, belief, regret)
    parts = [first.outcomes(belief * likelihood, regret) for likelihood in known.likelihood]
    likelihood = [part.likelihood * given for part, given in zip(parts, known.likelihood, strict=True)]
    return Outcomes(np.concatenate(likelihood), known.error + sum(part.error for part in parts))
