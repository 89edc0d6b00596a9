"""Facts that could be asked for: which outcomes they have, and how probable each is in every class.

`Outcomes.likelihood[o, k]` is P(outcome o | class k). States have as many outcomes as there are states; counts end
where no class has any probability left. A number (see `densities`) has as many as there are regions of it in which
different actions are best: nothing is gained by telling two values of one region apart, so the value of the region is
the value of the number.

A calibrated classifier takes the log-likelihoods of its columns a share `strength` (one over the temperature) of what
they say. A fact that is `weakened` tells as much: P(outcome | class)^strength, normalised within each class.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from bayeswater.kernels.class_scores import log_shares
from bayeswater.typing import Array

MISSING_IS_STATE = "a missing cell is a state of its own there"
"""Why a column is passed over where an empty cell is one of its states."""


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


NOTHING = StateFact(np.empty((0, 0)))
"""What is learned from a column that has no factor."""


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
