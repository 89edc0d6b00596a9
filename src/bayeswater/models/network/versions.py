"""Networks made of a network: another table, an edge more or less, a variable set from outside."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, Self

from bayeswater.models.network.changes import with_edge, with_states, with_table, without_edge
from bayeswater.networks.network import Network


class Versions(ABC):
    """What a network could be instead; the network itself stays as it is."""

    @property
    @abstractmethod
    def core(self) -> Network:
        """Variables, graph and tables."""

    @abstractmethod
    def _with(self, network: Network) -> Self:
        """Put the face on another core."""

    def with_cpt(self, name: str, table: Any) -> Self:
        """Give a variable another table, in any form that the constructor takes."""
        return self._with(with_table(self.core, name, table))

    def with_edge(self, parent: str, child: str, table: Any = None) -> Self:
        """Add an edge; without a table, the child is as it was whatever the new parent, its last one, is."""
        return self._with(with_edge(self.core, parent, child, table))

    def without_edge(self, parent: str, child: str, table: Any = None) -> Self:
        """Take an edge away.

        Without a table, the child is averaged over the parent: P(child | its other parents) is what it was, so that no
        network without the edge is nearer to this one.
        """
        return self._with(without_edge(self.core, parent, child, table))

    def do(self, states: Mapping[str, Any] | None = None, /, **more: Any) -> Self:
        """Set variables to states from outside: their parents no longer matter, all that follows from them does.

        >>> from bayeswater.models.network.bayesian_network import BayesianNetwork
        >>> network = BayesianNetwork("a -> b", {"a": [0.5, 0.5], "b": [[0.9, 0.1], [0.2, 0.8]]})
        >>> network.do(b=1).cpt("b")
        P(b)
        0  1
        0  1
        """
        return self._with(with_states(self.core, {**(states or {}), **more}))
