"""What a network could be instead: each method gives a new one, in which tables, edges, nodes or states are others."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from bayeswater.errors import ParameterError
from bayeswater.models.network.edited_cores import (
    merged,
    network_renamed,
    network_with_edge,
    network_with_node,
    network_with_reversed_edge,
    network_with_state,
    network_with_state_names,
    network_with_states,
    network_with_table,
    network_without_edge,
    network_without_state,
    subnetwork,
)
from bayeswater.models.network.evidence import named
from bayeswater.networks.network import Network

if TYPE_CHECKING:
    from bayeswater.models.network.network_files import Remarks


class Editing(ABC):
    """Networks made of one network; remarks of a file stay with the nodes that they are about."""

    remarks: "Remarks"
    _states: Mapping[str, Any]
    """States that are named where there are no tables."""

    @property
    @abstractmethod
    def core(self) -> Network:
        """Variables, graph and tables."""

    @property
    @abstractmethod
    def has_tables(self) -> bool:
        """Whether there are probabilities, or a graph alone."""

    @property
    @abstractmethod
    def _edited(self) -> Network:
        """What edges and nodes are changed of: the core; or, of a graph alone, one whose variables have one state."""

    @abstractmethod
    def _with(
        self, network: Network, remarks: "Remarks | None" = None, states: Mapping[str, Any] | None = None
    ) -> Self:
        """Give the network that was made of this one what is said beside it; and states, which a graph alone names."""

    # ------------------------------------------------------------------ tables and edges

    def with_cpt(self, name: str, table: Any) -> Self:
        """Give a variable another table, in any form that the constructor takes.

        Parameters
        ----------
        name : str
            Name of the variable.
        table : array, dict or other table
            P(variable | parents), one row for each configuration of the parents.

        Returns
        -------
        network
            A new network; this one stays as it is.

        See Also
        --------
        cpt : Give the table of P(variable | parents), with its labels.

        Examples
        --------
        >>> from bayeswater import BayesianNetwork
        >>> network = BayesianNetwork("rain -> wet", {"rain": {"no": 0.8, "yes": 0.2}, "wet": [[0.9, 0.1], [0.2, 0.8]]})
        >>> network.with_cpt("rain", [0.5, 0.5]).cpt("rain")
        P(rain)
         no  yes
        0.5  0.5
        """
        return self._with(network_with_table(self.core, name, table))

    def with_edge(self, parent: str, child: str, table: Any = None) -> Self:
        """Add an edge; without a table, the child does not depend on the new parent, its last one.

        Parameters
        ----------
        parent, child : str
            Names of the two variables.
        table : array, dict or other table, optional
            P(child | parents), the new parent last.

        Returns
        -------
        network
            A new network; this one stays as it is.

        Raises
        ------
        ParameterError
            Where the edge would close a cycle.

        See Also
        --------
        without_edge : Remove an edge.
        with_reversed_edge : Turn an edge.

        Examples
        --------
        >>> from bayeswater import BayesianNetwork
        >>> network = BayesianNetwork("rain -> wet", {"rain": {"no": 0.8, "yes": 0.2}, "wet": [[0.9, 0.1], [0.2, 0.8]]})
        >>> network.with_node("hose", [0.5, 0.5]).with_edge("hose", "wet").parents("wet")
        ('rain', 'hose')
        """
        core = self._edited if table is None else self.core
        return self._with(network_with_edge(core, parent, child, table))

    def without_edge(self, parent: str, child: str, table: Any = None) -> Self:
        """Remove an edge.

        Without a table, the child is averaged over the parent: P(child | its other parents) is what it was, so that no
        network without the edge is nearer to this one.

        Parameters
        ----------
        parent, child : str
            Names of the two variables.
        table : array, dict or other table, optional
            P(child | the parents that stay).

        Returns
        -------
        network
            A new network; this one stays as it is.

        See Also
        --------
        with_edge : Add an edge.

        Examples
        --------
        >>> from bayeswater import BayesianNetwork
        >>> network = BayesianNetwork("rain -> wet", {"rain": {"no": 0.8, "yes": 0.2}, "wet": [[0.9, 0.1], [0.2, 0.8]]})
        >>> network.without_edge("rain", "wet").cpt("wet")
        P(wet)
           0     1
        0.76  0.24
        """
        core = self._edited if table is None else self.core
        return self._with(network_without_edge(core, parent, child, table))

    def with_reversed_edge(self, parent: str, child: str) -> Self:
        """Reverse an edge; the joint distribution stays, and each of the two also gets the other's parents.

        A graph without tables has no distribution to keep: there the edge is turned, and nothing else.

        Parameters
        ----------
        parent, child : str
            The edge as it is now.

        Returns
        -------
        network
            A new network; this one stays as it is.

        See Also
        --------
        without_edge : Remove an edge.
        is_equivalent : Say whether another graph of the same nodes, in any form, implies the same independencies.

        Examples
        --------
        >>> from bayeswater import BayesianNetwork
        >>> network = BayesianNetwork("a -> b", {"a": [0.5, 0.5], "b": [[0.9, 0.1], [0.1, 0.9]]})
        >>> network.with_reversed_edge("a", "b")
        BayesianNetwork('b -> a'): 2 variables, 1 edge, 3 parameters
        """
        if not self.has_tables:
            return self.without_edge(parent, child).with_edge(child, parent)
        return self._with(network_with_reversed_edge(self.core, parent, child))

    def do(self, states: Mapping[str, Any] | None = None, /, **more: Any) -> Self:
        """Set variables from outside (an intervention): the arrows into them are removed.

        Parameters
        ----------
        states : dict {name: state}, optional
            The variables that are set.
        **more : state
            The same as keywords, for names that are identifiers.

        Returns
        -------
        network
            A new network; this one stays as it is.

        Raises
        ------
        ParameterError
            Where a variable has no such state.

        See Also
        --------
        query : Give the distribution of a variable, given the states of others.
        adjustment_sets : Give all back-door sets that need all their nodes.

        Examples
        --------
        >>> from bayeswater.models.network.bayesian_network import BayesianNetwork
        >>> network = BayesianNetwork("a -> b", {"a": [0.5, 0.5], "b": [[0.9, 0.1], [0.2, 0.8]]})
        >>> network.do(b=1).cpt("b")
        P(b)
        0  1
        0  1
        """
        return self._with(network_with_states(self.core, {**(states or {}), **more}))

    # ------------------------------------------------------------------ nodes

    def with_node(self, name: str, table: Any = None, *, parents: str | Iterable[str] = (), states: Any = None) -> Self:
        """Add a variable.

        Parameters
        ----------
        name : str
            Name of the variable.
        table : array, dict or other table, optional
            P(variable | parents), in any form that the constructor takes; default all states equally probable.
        parents : str or iterable of str, optional
            Names, in the order of the axes of the table.
        states : labels or int, optional
            Labels, or how many there are; needed where the table does not name them.

        Returns
        -------
        network
            A new network; this one stays as it is.

        See Also
        --------
        without_node : Take a variable away.
        with_edge : Add an edge.

        Examples
        --------
        >>> from bayeswater import BayesianNetwork
        >>> network = BayesianNetwork("rain", {"rain": {"no": 0.8, "yes": 0.2}})
        >>> network.with_node("wet", {"no": {"dry": 0.9, "wet": 0.1}, "yes": [0, 1]}, parents="rain").cpt("wet")
        P(wet | rain)
        rain  dry  wet
        no    0.9  0.1
        yes     0    1
        """
        core = self._edited if table is None else self.core
        if not self.has_tables and states is None:
            states = [name]  # as the others of such a graph
        return self._with(network_with_node(core, name, table, named(parents, "parents"), states))

    def without_node(self, name: str) -> Self:
        """Remove a variable; its children are averaged over it, as in `subnetwork`.

        Parameters
        ----------
        name : str
            Name of the variable.

        Returns
        -------
        network
            A new network; this one stays as it is.

        See Also
        --------
        with_node : Add a variable.
        subnetwork : Keep some variables and the edges among them.

        Examples
        --------
        >>> from bayeswater import BayesianNetwork
        >>> network = BayesianNetwork("rain -> wet", {"rain": {"no": 0.8, "yes": 0.2}, "wet": [[0.9, 0.1], [0.2, 0.8]]})
        >>> network.without_node("rain").cpt("wet")
        P(wet)
           0     1
        0.76  0.24
        """
        dag = self._edited.dag
        node = dag.node(name)
        return self._among(other for other in range(len(dag)) if other != node)

    def subnetwork(self, names: str | Iterable[str]) -> Self:
        """Keep some variables and the edges among them.

        A table is averaged over the parents that are left out: P(variable | parents that stay) is what it was. Among
        all networks of that graph, this one is nearest to the distribution of its variables.

        Parameters
        ----------
        names : str or iterable of str
            The variables that stay.

        Returns
        -------
        network
            A new network; this one stays as it is.

        See Also
        --------
        markov_blanket_network : Keep a variable and its Markov blanket.

        Examples
        --------
        >>> from bayeswater import BayesianNetwork
        >>> network = BayesianNetwork("a -> b", {"a": [0.6, 0.4], "b": [[0.9, 0.1], [0.2, 0.8]]})
        >>> network.subnetwork("b").cpt("b")
        P(b)
           0     1
        0.62  0.38
        """
        return self._among(sorted(self._edited.dag.nodes(named(names, "names"))))

    def markov_blanket_network(self, name: str) -> Self:
        """Keep a variable and its Markov blanket: given all the others in it, its posterior is that of the whole.

        Parameters
        ----------
        name : str
            Name of the variable.

        Returns
        -------
        network
            A new network; this one stays as it is.

        See Also
        --------
        markov_blanket : Give parents, children and the children's other parents.
        subnetwork : Keep some variables and the edges among them.

        Examples
        --------
        >>> from bayeswater import BayesianNetwork
        >>> network = BayesianNetwork("a -> b; c", {"a": [0.6, 0.4], "b": [[0.9, 0.1], [0.2, 0.8]], "c": [0.5, 0.5]})
        >>> network.markov_blanket_network("b").names
        ('a', 'b')
        """
        dag = self._edited.dag
        node = dag.node(name)
        return self._among(sorted({node, *dag.markov_blanket(node)}))

    def _among(self, nodes: Iterable[int]) -> Self:
        core = self._edited
        kept = list(nodes)
        if not kept:
            raise ParameterError("no variable would be left; name one or more that stay")
        there = {"", *(core.names[node] for node in kept)}
        return self._with(subnetwork(core, kept), {name: own for name, own in self.remarks.items() if name in there})

    def with_names(self, names: Mapping[str, str]) -> Self:
        """Give variables other names: ``{"old": "new"}``.

        Parameters
        ----------
        names : dict {old: new}
            Variables that are not named keep their names.

        Returns
        -------
        network
            A new network; this one stays as it is.

        See Also
        --------
        with_state_names : Give states of a variable other labels.

        Examples
        --------
        >>> from bayeswater import BayesianNetwork
        >>> network = BayesianNetwork("rain -> wet", {"rain": {"no": 0.8, "yes": 0.2}, "wet": [[0.9, 0.1], [0.2, 0.8]]})
        >>> network.with_names({"rain": "snow"}).names
        ('snow', 'wet')
        """
        remarks = {names.get(name, name): own for name, own in self.remarks.items()}
        return self._with(network_renamed(self._edited, names), remarks)

    def merge(self, other: "Editing", *, prefer: str | None = None) -> Self:
        """Merge two networks; variables with the same name are one variable.

        A variable that has parents in one of them alone is taken from there: in the other it stands for what is not
        explained. Where both give it parents, or neither does, their tables have to be equal, unless `prefer` decides.

        Parameters
        ----------
        other : network
            The network to add.
        prefer : {"self", "other"}, optional
            Whose tables are taken for the variables of both.

        Returns
        -------
        network
            A new network; both stay as they are.

        See Also
        --------
        subnetwork : Keep some variables and the edges among them.

        Examples
        --------
        >>> from bayeswater import BayesianNetwork
        >>> first = BayesianNetwork("rain -> wet", {"rain": [0.8, 0.2], "wet": [[0.9, 0.1], [0, 1]]})
        >>> second = BayesianNetwork("wet -> slip", {"wet": [0.5, 0.5], "slip": [[0.99, 0.01], [0.7, 0.3]]})
        >>> first.merge(second)
        BayesianNetwork('rain -> wet; wet -> slip'): 3 variables, 2 edges, 5 parameters
        """
        if not isinstance(other, Editing):
            raise ParameterError(f"other is a {type(other).__name__}; give a BayesianNetwork")
        if self.has_tables != other.has_tables:
            raise ParameterError("one of the networks has no tables; give them to both, or merge graphs alone")
        for name, states in () if self.has_tables else self._states.items():
            if not np.array_equal(states, other._states.get(name, states)):
                raise ParameterError(f"the graphs name other states of {name!r}; give both the same")
        made, remarks = merged(self._edited, other._edited, prefer), {**other.remarks, **self.remarks}
        return self._with(made, remarks, {**other._states, **self._states})

    # ------------------------------------------------------------------ states

    def with_state_names(self, name: str, states: Mapping[Any, Any]) -> Self:
        """Give states of a variable other labels: ``{"old": "new"}``.

        Parameters
        ----------
        name : str
            Name of the variable.
        states : dict {old: new}
            States that are not named keep their labels.

        Returns
        -------
        network
            A new network; this one stays as it is.

        See Also
        --------
        states : Give the labels of the states of a variable.
        with_names : Give variables other names.

        Examples
        --------
        >>> from bayeswater import BayesianNetwork
        >>> network = BayesianNetwork("rain -> wet", {"rain": {"no": 0.8, "yes": 0.2}, "wet": [[0.9, 0.1], [0.2, 0.8]]})
        >>> network.with_state_names("wet", {0: "dry", 1: "wet"}).states("wet")
        ('dry', 'wet')
        """
        return self._with(network_with_state_names(self.core, name, states))

    def with_state(self, name: str, state: Any) -> Self:
        """Add a state, the last one, of probability zero; `with_cpt` gives it more.

        Given it, a child is what it is where nothing is known of the variable; for a noisy-OR, -AND or -MAX, a state
        that does nothing: it brings nothing about, and meets every condition.

        Parameters
        ----------
        name : str
            Name of the variable.
        state : label
            Label of the new state.

        Returns
        -------
        network
            A new network; this one stays as it is.

        See Also
        --------
        without_state : Remove a state: the distribution given that the variable is not in that state.
        with_cpt : Give a variable another table, in any form that the constructor takes.

        Examples
        --------
        >>> from bayeswater import BayesianNetwork
        >>> network = BayesianNetwork("rain -> wet", {"rain": {"no": 0.8, "yes": 0.2}, "wet": [[0.9, 0.1], [0.2, 0.8]]})
        >>> network.with_state("rain", "hail").cpt("rain")
        P(rain)
         no  yes  hail
        0.8  0.2     0
        """
        return self._with(network_with_state(self.core, name, state))

    def without_state(self, name: str, state: Any) -> Self:
        """Remove a state: the distribution given that the variable is not in that state.

        Parameters
        ----------
        name : str
            Name of the variable.
        state : label
            Label of the state that goes.

        Returns
        -------
        network
            A new network; this one stays as it is.

        See Also
        --------
        with_state : Add a state, the last one, of probability zero.

        Examples
        --------
        >>> from bayeswater import BayesianNetwork
        >>> network = BayesianNetwork("sky", {"sky": {"blue": 0.5, "grey": 0.3, "black": 0.2}})
        >>> network.without_state("sky", "black").cpt("sky")
        P(sky)
         blue   grey
        0.625  0.375
        """
        return self._with(network_without_state(self.core, name, state))
