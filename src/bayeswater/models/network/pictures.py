"""Drawings of a network, in notebooks and as text."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

from bayeswater.errors import ResourceLimitError
from bayeswater.models.network.evidence import evidence_of
from bayeswater.networks.drawing.dot import to_dot
from bayeswater.networks.drawing.svg import to_svg
from bayeswater.networks.network import Network
from bayeswater.structure.dag import Dag
from bayeswater.typing import Array

MOST_WITH_BARS = 100
"""Nodes of a drawing that has bars without being asked for: those of larger ones could not be read."""


class Pictures(ABC):
    """What a network looks like."""

    _network: Network | None

    @property
    @abstractmethod
    def dag(self) -> Dag:
        """The graph."""

    @property
    @abstractmethod
    def core(self) -> Network:
        """Variables, graph and tables."""

    @abstractmethod
    def _marginals(self, evidence: Mapping[str, Any] | None) -> dict[int, Array]:
        """Distributions of all variables."""

    def to_dot(self) -> str:
        """Write the graph in the language of Graphviz."""
        return to_dot(self.dag)

    def to_svg(self, evidence: Mapping[str, Any] | None = None, *, bars: bool = True) -> str:
        """Draw the network, parents above children, with the probabilities of the states in every node.

        Parameters
        ----------
        evidence : ``{name: state}``, what is observed; these nodes are marked, and the others show their posteriors
        bars : whether probabilities are shown; without them, and for a network without tables, names alone
        """
        if self._network is None or not bars:
            return to_svg(self.dag)
        core, observed = self.core, evidence_of(self.core, evidence)
        states = [variable.states for variable in core.variables]
        return to_svg(core.dag, states, self._marginals(evidence), frozenset(observed))

    def _repr_svg_(self) -> str:
        """Show the drawing in a notebook, with bars where they are cheap to compute and can be read."""
        try:
            return self.to_svg(bars=len(self.dag) <= MOST_WITH_BARS)
        except ResourceLimitError:
            return self.to_svg(bars=False)
