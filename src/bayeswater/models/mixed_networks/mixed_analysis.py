"""What a network of states and numbers says about itself: entropy, and the divergence of another one.

Variables with states are a network of their own, and a number is normal given its parents, so both are sums over nodes:

    H     = H of the states + sum over numbers of E[log2(2 pi e variance)] / 2
    KL    = KL of the states + sum over numbers of E_P[log2 p(v | parents in P) - log2 q(v | parents in Q)]

where the mean of log2 q needs means and covariances of v and its parents for each configuration of states in Q.
"""

from abc import abstractmethod
from itertools import product
from math import e, log2, pi

import numpy as np

from bayeswater.errors import ParameterError
from bayeswater.inference.exact.derivatives import derivatives
from bayeswater.inference.exact.information import divergence, network_entropy
from bayeswater.models.mixed_networks.mixed_questions import MixedQuestions
from bayeswater.models.network.edited_cores import merged
from bayeswater.networks.mixed_core import MixedCore


class MixedAnalysis(MixedQuestions):
    """Questions about the distribution as a whole. Information is in bits; that of numbers may be below 0."""

    @property
    @abstractmethod
    def core(self) -> MixedCore:
        """Graph, tables and regressions."""

    def entropy(self) -> float:
        """Give the entropy of all variables together; of numbers it is that of their density, and may be below 0.

        Returns
        -------
        float
            Bits; -inf where a number is an exact function of its parents.

        See Also
        --------
        kl_divergence : Give the Kullback-Leibler divergence of another network from this one.

        Examples
        --------
        >>> from bayeswater import LinearGaussian, MixedNetwork
        >>> round(MixedNetwork("x", {"x": LinearGaussian(0, variance=1)}).entropy(), 4)
        2.0471
        """
        states = self.core.states
        total = network_entropy(states, derivatives(states)) if len(states.names) else 0.0
        return float(total - sum(self._own_log_density(node) for node in self.core.numbers))

    def kl_divergence(self, other: "MixedAnalysis") -> float:
        """Give the Kullback-Leibler divergence of another network Q from this one, P: E[log2 P(row) / Q(row)] over P.

        Exact. The variables of both, and their states, have to be the same; graphs may differ.

        Parameters
        ----------
        other : MixedNetwork
            The network that stands for this one.

        Returns
        -------
        float
            Bits, 0 or more; infinite where the other one takes for impossible what is not.

        Raises
        ------
        ParameterError
            Where the variables differ, or a number of either network has variance 0, and so no density.

        See Also
        --------
        entropy : Give the entropy of all variables together.

        Examples
        --------
        >>> from bayeswater import LinearGaussian, MixedNetwork
        >>> one, other = (MixedNetwork("x", {"x": LinearGaussian(mean, variance=1)}) for mean in (0, 2))
        >>> round(one.kl_divergence(other), 4)  # 2 nats
        2.8854
        """
        if not isinstance(other, MixedAnalysis):
            raise ParameterError(f"other is a {type(other).__name__}; give a MixedNetwork")
        own, its = self.core, other.core
        odd = {(name, node in core.numbers) for core in (own, its) for node, name in enumerate(core.names)}
        if len(odd) > len(own.names) or len(own.names) != len(its.names):
            raise ParameterError("the networks differ in their variables; compare those of the same ones")
        for core in (own, its):
            exact = next((node for node, given in core.numbers.items() if (given.variance == 0).any()), None)
            if exact is not None:
                raise ParameterError(
                    f"{core.names[exact]!r} has variance 0 and no density to compare; give it a small variance"
                )
        total = divergence(own.states, merged(own.states, its.states, "other")) if len(own.states.names) else 0.0
        total += sum(self._own_log_density(node) for node in own.numbers)
        return max(0.0, float(total - sum(self._log_density_of(its, node) for node in its.numbers)))

    def _own_log_density(self, node: int) -> float:
        """Mean of the log-density of a number given its parents."""
        core = self.core
        chance = (
            self.joint(parent.name for parent in core.discrete_parents(node)).probabilities
            if core.discrete(node)
            else np.ones(())
        )
        variance = core.numbers[node].variance[chance > 0]
        with np.errstate(divide="ignore"):
            return -float((chance[chance > 0] * np.log2(2 * pi * e * variance)).sum()) / 2

    def _log_density_of(self, its: MixedCore, node: int) -> float:
        """Mean, over this network, of the log-density that another one gives a number."""
        given, total = its.discrete_parents(node), 0.0
        numbers = [its.names[node], *its.numeric_parents(node)]
        for states in product(*(parent.states for parent in given)):
            evidence = {parent.name: state for parent, state in zip(given, states, strict=True)}
            chance = float(np.exp(self.log_evidence(evidence))) if evidence else 1.0
            if chance == 0:
                continue
            place = tuple(parent.states.index(state) for parent, state in zip(given, states, strict=True))
            regression, found = its.numbers[node], self.moments(numbers, evidence)
            weights = np.concatenate([[1.0], -regression.slopes[place]])
            off = float(weights @ found.mean) - regression.intercept[place]
            spread = float(weights @ found.covariance @ weights) + off * off
            variance = float(regression.variance[place])
            total -= chance * (log2(2 * pi * variance) + spread / variance * log2(e)) / 2
        return total
