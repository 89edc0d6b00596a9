"""`Network`: the immutable core of a Bayesian network.

    P(x_1, ..., x_n) = product over i of P(x_i | parents of x_i)

It holds variables, a graph of their names, and for each variable how it depends on its parents. Engines read `cards`,
`parents` and `tables`: plain numbers and arrays.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Self

from bayeswater.data.variable import Variable
from bayeswater.errors import NormalisedTableWarning, ParameterError, warn_user
from bayeswater.networks.conditionals import Conditional
from bayeswater.records import record
from bayeswater.structure.dag import Dag
from bayeswater.typing import Array


@record
class Network:
    """Variables, their graph, and what each is given its parents; made by `Network.of`, which checks all of it.

    >>> from bayeswater.networks.conditionals import Table
    >>> rain, wet = Variable("rain", ("no", "yes")), Variable("wet", ("no", "yes"))
    >>> network = Network.of((rain, wet), Dag.parse("rain -> wet"), (Table([0.8, 0.2]), Table([[0.9, 0.1], [0, 1]])))
    >>> network.cards, network.n_parameters
    ((2, 2), 3)
    """

    variables: tuple[Variable, ...]
    dag: Dag
    conditionals: tuple[Conditional, ...]

    @classmethod
    def of(cls, variables: Sequence[Variable], dag: Dag, conditionals: Sequence[Conditional]) -> Self:
        """Check that all of it fits together, and report, in one warning, rows that had to be normalised."""
        names = tuple(variable.name for variable in variables)
        if names != dag.names:
            raise ParameterError(f"the variables {list(names)[:10]} are not the nodes {list(dag.names)[:10]}")
        for variable in variables:
            if variable.n_states == 0 or len(variable.code_of) < variable.n_states:
                raise ParameterError(
                    f"the states of {variable.name!r} are {list(variable.states)[:10]}; give one or more, all distinct"
                )
        loose = cls(tuple(variables), dag, tuple(conditionals))
        bound = (c.bound(v, loose.parents_of(j)) for j, (c, v) in enumerate(zip(conditionals, variables, strict=True)))
        network = replace(loose, conditionals=tuple(bound))
        network._report_drift(loose)
        return network

    def with_node(self, node: int, parents: tuple[int, ...], conditional: Conditional) -> Self:
        """Give one node other parents and another table."""
        dag = Dag(self.dag.names, (*self.dag.parents[:node], parents, *self.dag.parents[node + 1 :]))
        loose = replace(self, dag=dag)
        bound = conditional.bound(self.variables[node], loose.parents_of(node))
        network = replace(loose, conditionals=(*self.conditionals[:node], bound, *self.conditionals[node + 1 :]))
        network._report_drift(self)
        return network

    def _report_drift(self, before: "Network") -> None:
        pairs = zip(self.conditionals, before.conditionals, self.variables, strict=True)
        drifts = [(new.drift, variable.name) for new, old, variable in pairs if new is not old and new.drift > 0]
        if drifts:
            worst, name = max(drifts)
            warn_user(
                f"rows of {len(drifts)} of {len(self.variables)} tables did not sum to 1 and were divided by their "
                f"sum; the farthest, of {name!r}, was off by {worst:.2g}",
                NormalisedTableWarning,
            )

    def __len__(self) -> int:
        return len(self.variables)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the variables."""
        return self.dag.names

    @property
    def parents(self) -> tuple[tuple[int, ...], ...]:
        """Parents of each variable, in the order of the axes of its table."""
        return self.dag.parents

    def parents_of(self, node: int) -> tuple[Variable, ...]:
        """Variables that are the parents of one."""
        return tuple(self.variables[parent] for parent in self.dag.parents[node])

    @cached_property
    def cards(self) -> tuple[int, ...]:
        """Number of states of each variable."""
        return tuple(variable.n_states for variable in self.variables)

    @cached_property
    def tables(self) -> tuple[Array, ...]:
        """P(variable | parents) of each variable: (*n_states of the parents, n_states)."""
        return tuple(
            conditional.table(variable, self.parents_of(node))
            for node, (conditional, variable) in enumerate(zip(self.conditionals, self.variables, strict=True))
        )

    @cached_property
    def n_parameters(self) -> int:
        """Number of free parameters."""
        return sum(
            conditional.n_parameters(variable, self.parents_of(node))
            for node, (conditional, variable) in enumerate(zip(self.conditionals, self.variables, strict=True))
        )

    def __hash__(self) -> int:
        return hash((self.dag, tuple(variable.name for variable in self.variables)))
