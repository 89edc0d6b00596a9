"""Doubt: what is made of classes that a classifier calls impossible, and that happen all the same.

No map of finite scores can raise a probability of zero. The rows tell how much of it is due:

    d = weight of rows whose own class was called impossible / (weight of rows with an impossible class + 1)

The impossible classes of a row share d equally, the possible ones keep 1 - d. Without the 1 (a row more on which the
classifier is right, so that d stays below one) this is the maximum of the likelihood, whatever map is used beside it:
a tree that is certain of every row and wrong in a tenth of them is left with 9/10. Where nothing impossible has
happened d is 0, and impossible stays impossible; so does a class of which no row is known.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np

from bayeswater.decision.scores import Scores
from bayeswater.typing import Array


@dataclass(frozen=True)
class Doubt:
    """Probability that one of the classes called impossible is true, and which classes there are rows of."""

    probability: float
    known: Array  # (n_classes,)

    @classmethod
    def fit(cls, scores: Scores) -> Self:
        """Count how often the impossible happened."""
        known = np.bincount(scores.codes[scores.weight > 0], minlength=scores.n_classes) > 0
        exposed = (np.isneginf(scores.log_proba) & known).any(axis=1)
        happened = scores.weight[np.isneginf(scores.own)].sum()
        return cls(float(happened / (scores.weight[exposed].sum() + 1)), known)

    def apply(self, log_proba: Array) -> Array:
        """Share the doubt among the impossible classes of each row of normalised log-probabilities."""
        if self.probability == 0:
            return log_proba
        raised = np.isneginf(log_proba) & self.known
        n_raised = raised.sum(axis=1, keepdims=True)
        kept = np.where(n_raised > 0, log_proba + np.log1p(-self.probability), log_proba)
        return np.where(raised, np.log(self.probability) - np.log(np.maximum(n_raised, 1)), kept)
