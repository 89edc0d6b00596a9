"""`MixedCore`: a network in which variables have states or are numbers.

A number never has a child with states, so the variables with states are a network of their own, `states`, and each
number has regressions on its parents. Nodes are numbered twice: among all (the graph), and those with states among
themselves (`place`).
"""

from collections.abc import Mapping
from functools import cached_property

from bayeswater.data.variable import Variable
from bayeswater.errors import ParameterError
from bayeswater.networks.network import Network
from bayeswater.networks.regressions import Regressions
from bayeswater.records import record
from bayeswater.structure.dag import Dag


def require_numbers_below(dag: Dag, numbers: frozenset[int]) -> None:
    """Refuse a number that has a child with states."""
    for node, own in enumerate(dag.parents):
        above = [parent for parent in own if parent in numbers]
        if node not in numbers and above:
            raise ParameterError(
                f"{dag.names[node]!r} has states, and its parent {dag.names[above[0]]!r} is a number; such an arc has "
                "no exact answers: turn it, or put the number into bins"
            )


@record
class MixedCore:
    """Graph of all nodes, network of those with states, regressions of those that are numbers."""

    dag: Dag
    states: Network
    numbers: Mapping[int, Regressions]

    @classmethod
    def of(cls, dag: Dag, states: Network, numbers: Mapping[int, Regressions]) -> "MixedCore":
        """Check that all of it fits together."""
        require_numbers_below(dag, frozenset(numbers))
        core = cls(dag, states, dict(numbers))
        rest = tuple(name for node, name in enumerate(dag.names) if node not in numbers)
        if rest != states.names:
            raise ParameterError(f"{list(rest)[:10]} have states by the graph, and tables are given for {states.names}")
        for node, own in numbers.items():
            own.checked(dag.names[node], core.discrete_parents(node), core.numeric_parents(node))
        return core

    def __len__(self) -> int:
        return len(self.dag)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all variables."""
        return self.dag.names

    @cached_property
    def place(self) -> dict[int, int]:
        """Number of a node with states among these."""
        return {node: j for j, node in enumerate(n for n in range(len(self.dag)) if n not in self.numbers)}

    def variable(self, node: int) -> Variable:
        """States of a node that has them."""
        return self.states.variables[self.place[node]]

    def discrete(self, node: int) -> tuple[int, ...]:
        """Parents with states, in the order of the axes of the regressions."""
        return tuple(parent for parent in self.dag.parents[node] if parent not in self.numbers)

    def numeric(self, node: int) -> tuple[int, ...]:
        """Parents that are numbers, in the order of the slopes."""
        return tuple(parent for parent in self.dag.parents[node] if parent in self.numbers)

    def discrete_parents(self, node: int) -> tuple[Variable, ...]:
        """The variables of `discrete`."""
        return tuple(self.variable(parent) for parent in self.discrete(node))

    def numeric_parents(self, node: int) -> tuple[str, ...]:
        """The names of `numeric`."""
        return tuple(self.names[parent] for parent in self.numeric(node))

    @cached_property
    def n_parameters(self) -> int:
        """Number of free parameters."""
        return self.states.n_parameters + sum(own.n_parameters for own in self.numbers.values())


def discrete_part(dag: Dag, numbers: frozenset[int]) -> Dag:
    """Give the graph of the nodes that have states."""
    kept = [node for node in range(len(dag)) if node not in numbers]
    place = {node: j for j, node in enumerate(kept)}
    names = tuple(dag.names[node] for node in kept)
    return Dag(names, tuple(tuple(place[parent] for parent in dag.parents[node]) for node in kept))
