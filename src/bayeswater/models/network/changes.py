"""Networks made of a network: another table, an edge more or less, a variable set from outside."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, Self

import numpy as np

from bayeswater.errors import ParameterError
from bayeswater.inference.exact.elimination import query
from bayeswater.models.network.given_tables import read_conditional
from bayeswater.models.network.state_codes import state_code
from bayeswater.networks.conditionals import Conditional, NoisyOr, Table, require_room
from bayeswater.networks.network import Network
from bayeswater.typing import Array


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
        return self._with(_with_table(self.core, name, table))

    def with_edge(self, parent: str, child: str, table: Any = None) -> Self:
        """Add an edge; without a table, the child is as it was whatever the new parent, its last one, is."""
        return self._with(_with_edge(self.core, parent, child, table))

    def without_edge(self, parent: str, child: str, table: Any = None) -> Self:
        """Take an edge away.

        Without a table, the child is averaged over the parent: P(child | its other parents) is what it was, so that no
        network without the edge is nearer to this one.
        """
        return self._with(_without_edge(self.core, parent, child, table))

    def do(self, states: Mapping[str, Any] | None = None, /, **more: Any) -> Self:
        """Set variables to states from outside: their parents no longer matter, all that follows from them does.

        >>> from bayeswater.models.network.bayesian_network import BayesianNetwork
        >>> network = BayesianNetwork("a -> b", {"a": [0.5, 0.5], "b": [[0.9, 0.1], [0.2, 0.8]]})
        >>> network.do(b=1).cpt("b")
        P(b)
        0  1
        0  1
        """
        return self._with(_with_states(self.core, {**(states or {}), **more}))


def _with_table(core: Network, name: str, table: Any) -> Network:
    """Give a variable another table."""
    node = core.dag.node(name)
    conditional = read_conditional(table, core.variables[node], core.parents_of(node))
    return core.with_node(node, core.parents[node], conditional)


def _with_edge(core: Network, parent: str, child: str, table: Any) -> Network:
    """Add an edge, whose parent becomes the last; without a table the child is as it was, whatever that parent is."""
    start, end = core.dag.node(parent), core.dag.node(child)
    if start in core.parents[end]:
        raise ParameterError(f"the edge {parent} -> {child} is there already")
    parents = (*core.parents[end], start)
    require_room(core.variables[end], [core.variables[node] for node in parents])
    own = core.conditionals[end]
    conditional: Conditional
    if table is not None:
        conditional = read_conditional(table, core.variables[end], [core.variables[node] for node in parents])
    elif isinstance(own, NoisyOr):
        conditional = NoisyOr({**own.causes, parent: {}}, own.leak, own.present)
    else:
        conditional = Table(np.repeat(core.tables[end][..., None, :], core.cards[start], axis=-2))
    return core.with_node(end, parents, conditional)


def _without_edge(core: Network, parent: str, child: str, table: Any) -> Network:
    """Take an edge away; without a table, the child is averaged over the parent that it no longer has."""
    start, end = core.dag.node(parent), core.dag.node(child)
    if start not in core.parents[end]:
        parents = [variable.name for variable in core.parents_of(end)]
        raise ParameterError(f"there is no edge {parent} -> {child}; the parents of {child!r} are {parents}")
    rest = tuple(node for node in core.parents[end] if node != start)
    if table is None:
        table = _averaged(core, start, end, rest)
    conditional = read_conditional(table, core.variables[end], [core.variables[node] for node in rest])
    return core.with_node(end, rest, conditional)


def _averaged(core: Network, parent: int, child: int, rest: tuple[int, ...]) -> Array:
    """P(child | rest) = sum over the states of the parent of P(child | parent, rest) P(parent | rest).

    Where the rest is impossible, all states of the parent weigh the same.
    """
    joint = query(core, [parent, *rest])
    total = joint.sum(axis=0)
    share = np.where(total > 0, joint, 1.0) / np.where(total > 0, total, len(joint))
    table = np.moveaxis(core.tables[child], core.parents[child].index(parent), 0)
    return (table * share[..., None]).sum(axis=0)


def _with_states(core: Network, states: Mapping[str, Any]) -> Network:
    """Set variables to states from outside: they have no parents any more."""
    for name, state in states.items():
        node = core.dag.node(name)
        table = np.zeros(core.cards[node])
        table[state_code(core.variables[node], state)] = 1.0
        core = core.with_node(node, (), Table(table))
    return core
