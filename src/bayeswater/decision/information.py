"""The value of one more fact: by how much knowing it would lower the expected cost of the best decision.

    worth = least risk now - sum over outcomes o of P(o) (least risk once o is known)

It is never negative; asking pays where it exceeds the cost of asking.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from bayeswater.decision.loss import Loss
from bayeswater.decision.prior_shift import checked_prior
from bayeswater.decision.probabilities import ROUNDING, SUM_TOLERANCE
from bayeswater.errors import DataError, ParameterError
from bayeswater.typing import Array, is_number


@dataclass(frozen=True)
class InformationValue:
    """What a fact is worth, and what it costs to ask for it."""

    risk_now: float
    risk_then: float
    cost: float
    error: float = 0.0  # how much more it may be worth than it says

    @property
    def worth(self) -> float:
        """Expected reduction of risk."""
        return self.risk_now - self.risk_then

    @property
    def net(self) -> float:
        """Worth minus the cost of asking: over 0 where asking pays."""
        return self.worth - self.cost

    def __float__(self) -> float:
        return self.net

    def __str__(self) -> str:
        return f"worth {self.worth:.3g} of loss, costs {self.cost:.3g}: {'ask' if self.net > 0 else 'do not ask'}"


def value_of_information(
    posterior: Any, outcome_probability: Any, posterior_given_outcome: Any, loss: Any, cost: float = 0.0
) -> InformationValue:
    """Tell what it is worth to learn which of several outcomes holds, before deciding.

    Parameters
    ----------
    posterior : array (n_classes,)
        Probabilities of the classes as things stand; the mean of the posteriors to come.
    outcome_probability : array (n_outcomes,)
    posterior_given_outcome : array (n_outcomes, n_classes)
        Rows of outcomes of probability 0 are not looked at.
    loss : Loss, or anything that `Loss` reads
    cost : what it costs to ask

    Examples
    --------
    A test that shows 9 of 10 ill and 1 of 10 healthy people as ill, when missing an illness costs 10:

    >>> loss = Loss({"treat": {"ill": 0, "well": 1}, "wait": {"ill": 10, "well": 0}})
    >>> print(
    ...     value_of_information([0.05, 0.95], [0.14, 0.86], [[9 / 28, 19 / 28], [1 / 172, 171 / 172]], loss, cost=0.1)
    ... )
    worth 0.355 of loss, costs 0.1: ask
    """
    loss = loss if isinstance(loss, Loss) else Loss(loss)
    if not is_number(cost):
        raise ParameterError(f"cost is {cost!r}; give what it costs to ask, a number")
    chance = np.asarray(outcome_probability, dtype=np.float64)
    chance = checked_prior(chance, range(len(chance)) if chance.ndim else (), "outcome_probability")
    now = np.asarray(posterior, dtype=np.float64)
    then = np.asarray(posterior_given_outcome, dtype=np.float64)
    if then.shape != (len(chance), *now.shape) or now.ndim != 1:
        raise DataError(
            f"posterior has shape {now.shape} and posterior_given_outcome {then.shape}; for {len(chance)} outcomes "
            f"give (n_classes,) and ({len(chance)}, n_classes)"
        )
    chance, then = chance[chance > 0], then[chance > 0]
    risk_now, beyond = float(loss.expected_loss(now[None])[0]), _least_regret(loss, now[None])[0]
    loss.expected_loss(then)  # refuses what are no probabilities
    worth = float(beyond - chance @ _least_regret(loss, then))
    worth = worth if worth > ROUNDING * beyond else 0.0  # it is never negative, and rounding is worth nothing
    if not np.abs(chance @ then - now).max() <= SUM_TOLERANCE:
        raise DataError(
            f"the posteriors given the outcomes average to {(chance @ then).tolist()}, and the posterior is "
            f"{now.tolist()}; they belong to different models"
        )
    return InformationValue(risk_now, risk_now - worth, float(cost))


def _least_regret(loss: Loss, proba: Array) -> Array:
    """Risk of the best action beyond that of knowing the truth: (n_rows,); none of its terms is negative."""
    return (loss.table.regret @ proba.T).min(axis=0)
