"""Drawings of a network, in notebooks and as text."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from bayeswater.errors import BayesWarning, ResourceLimitError, warn_user
from bayeswater.files.networks.names import some
from bayeswater.models.network.evidence import evidence_of
from bayeswater.networks.drawing import to_dot, to_svg
from bayeswater.networks.network import Network
from bayeswater.structure.dag import Dag
from bayeswater.typing import Array

MOST_WITH_BARS = 100
"""Nodes of a drawing that has bars without being asked for: those of larger ones could not be read."""

MOST_SECONDS = 2.0
"""Seconds, by forecast, that the bars of a drawing may take where they are worked out one by one."""


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

    @abstractmethod
    def _affordable_marginals(self, evidence: Mapping[str, Any] | None, seconds: float) -> dict[int, Array]:
        """Distributions of the variables that can be told one by one."""

    def to_dot(self) -> str:
        """Write the graph in the language of Graphviz."""
        return to_dot(self.dag)

    def to_svg(self, evidence: Mapping[str, Any] | None = None, *, bars: bool = True) -> str:
        """Draw the network, parents above children, with the probabilities of the states in every node.

        Parameters
        ----------
        evidence : ``{name: state}``, what is observed; these nodes are marked, and the others show their posteriors
        bars : whether probabilities are shown; without them, and for a network without tables, names alone

        Where all probabilities together would take too much memory, they are worked out one by one; nodes for which
        that, too, is too much are drawn without bars, and counted in a warning.
        """
        if self._network is None or not bars:
            return to_svg(self.dag)
        try:
            found = self._marginals(evidence)
        except ResourceLimitError as error:
            found = self._affordable_marginals(evidence, MOST_SECONDS)
            _tell_left_out([name for node, name in enumerate(self.dag.names) if node not in found], error)
        return self._with_bars(found, evidence)

    def _with_bars(self, marginals: Mapping[int, Array], evidence: Mapping[str, Any] | None) -> str:
        states = [variable.states for variable in self.core.variables]
        return to_svg(self.dag, states, marginals, frozenset(evidence_of(self.core, evidence)))

    def _repr_svg_(self) -> str:
        """Show the drawing in a notebook, with bars where they are cheap to compute and can be read."""
        if self._network is not None and len(self.dag) <= MOST_WITH_BARS:
            with suppress(ResourceLimitError):
                return self._with_bars(self._marginals(None), None)
        return self.to_svg(bars=False)


def _tell_left_out(names: list[str], error: ResourceLimitError) -> None:
    if names:
        warn_user(
            f"{len(names)} nodes are drawn without bars, as their probabilities would take too much memory or time: "
            f"{some(list(map(repr, names)))}; all together, {error}. bars=False draws names alone",
            BayesWarning,
        )
