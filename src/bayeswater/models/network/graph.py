"""Questions to the graph of a network, in names: who depends on whom, and what is independent of what."""

import os
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from itertools import combinations, islice
from typing import Any

from bayeswater.errors import ParameterError
from bayeswater.models.network.network_files import is_network_file
from bayeswater.networks.drawing import shown_in_cell, to_dot
from bayeswater.structure.dag import Dag, UndirectedGraph, moral_graph
from bayeswater.structure.equivalence import (
    ArcAgreement,
    EquivalenceClass,
    equivalence_class,
    hamming_distance,
    is_equivalent,
    structural_hamming_distance,
)
from bayeswater.structure.notation import quoted
from bayeswater.structure.separation import (
    Independence,
    Trail,
    active_trail,
    adjustment_sets,
    local_independencies,
    minimal_separator,
    minimal_separators,
)

Names = str | Iterable[str]

MOST_LETTERS = 60
"""Letters of a graph that is written in brief."""


class GraphQuestions(ABC):
    """What a graph answers. Sets of nodes are given as one name or as several; answers come in the graph's order."""

    @property
    @abstractmethod
    def dag(self) -> Dag:
        """The graph."""

    @abstractmethod
    def _repr_svg_(self) -> str:
        """Show the drawing in a notebook, with bars where they can be read and had."""

    def _repr_html_(self) -> str:
        return shown_in_cell(repr(self), self.dag, self._repr_svg_)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the variables."""
        return self.dag.names

    @property
    def edges(self) -> tuple[tuple[str, str], ...]:
        """Edges (parent, child)."""
        return tuple(self.dag.edges())

    def parents(self, name: str) -> tuple[str, ...]:
        """Give the parents of a node, in the order of the axes of its table.

        Parameters
        ----------
        name : str
            Name of the node.

        Returns
        -------
        tuple of str
            Names.

        See Also
        --------
        children : Give the children of a node.
        ancestors : Give the nodes from which a directed path leads to one of these.

        Examples
        --------
        >>> from bayeswater import BayesianNetwork
        >>> BayesianNetwork("a -> c <- b").parents("c")
        ('a', 'b')
        """
        return tuple(self.dag.names[parent] for parent in self.dag.parents[self.dag.node(name)])

    def children(self, name: str) -> tuple[str, ...]:
        """Give the children of a node.

        Parameters
        ----------
        name : str
            Name of the node.

        Returns
        -------
        tuple of str
            Names, in the order of the nodes.

        See Also
        --------
        parents : Give the parents of a node, in the order of the axes of its table.
        descendants : Give the nodes to which a directed path leads from one of these.

        Examples
        --------
        >>> from bayeswater import BayesianNetwork
        >>> BayesianNetwork("a -> c <- b").children("a")
        ('c',)
        """
        return self.dag.named(self.dag.children[self.dag.node(name)])

    def ancestors(self, names: Names) -> tuple[str, ...]:
        """Give the nodes from which a directed path leads to one of these.

        Parameters
        ----------
        names : str or iterable of str
            One node, or several.

        Returns
        -------
        tuple of str
            Names, in the order of the nodes.

        See Also
        --------
        parents : Give the parents of a node, in the order of the axes of its table.
        descendants : Give the nodes to which a directed path leads from one of these.

        Examples
        --------
        >>> from bayeswater import BayesianNetwork
        >>> BayesianNetwork("a -> b -> c").ancestors("c")
        ('a', 'b')
        """
        return self.dag.named(self.dag.ancestors(self.dag.nodes(names)))

    def descendants(self, names: Names) -> tuple[str, ...]:
        """Give the nodes to which a directed path leads from one of these.

        Parameters
        ----------
        names : str or iterable of str
            One node, or several.

        Returns
        -------
        tuple of str
            Names, in the order of the nodes.

        See Also
        --------
        children : Give the children of a node.
        ancestors : Give the nodes from which a directed path leads to one of these.

        Examples
        --------
        >>> from bayeswater import BayesianNetwork
        >>> BayesianNetwork("a -> b -> c").descendants("a")
        ('b', 'c')
        """
        return self.dag.named(self.dag.descendants(self.dag.nodes(names)))

    def markov_blanket(self, name: str) -> tuple[str, ...]:
        """Give parents, children and the children's other parents: given these, no other node matters.

        Parameters
        ----------
        name : str
            Name of the node.

        Returns
        -------
        tuple of str
            Names, in the order of the nodes.

        See Also
        --------
        is_d_separated : Say whether the graph makes two sets of nodes independent, given a third.

        Examples
        --------
        >>> from bayeswater import BayesianNetwork
        >>> BayesianNetwork("a -> c <- b; c -> d").markov_blanket("a")
        ('c', 'b')
        """
        return self.dag.named(self.dag.markov_blanket(self.dag.node(name)))

    def topological_order(self) -> tuple[str, ...]:
        """Give all nodes, each after its parents; the same order every time.

        Returns
        -------
        tuple of str
            Names.

        See Also
        --------
        edges : Edges (parent, child).

        Examples
        --------
        >>> from bayeswater import BayesianNetwork
        >>> BayesianNetwork("c <- b <- a").topological_order()
        ('a', 'b', 'c')
        """
        return tuple(self.dag.names[node] for node in self.dag.order)

    def moral_graph(self) -> UndirectedGraph:
        """Join the parents of every node, and forget the directions.

        Returns
        -------
        UndirectedGraph
            The moral graph, of the same nodes.

        See Also
        --------
        is_d_separated : Say whether the graph makes two sets of nodes independent, given a third.

        Examples
        --------
        >>> from bayeswater import BayesianNetwork
        >>> sorted(BayesianNetwork("a -> c <- b").moral_graph().edges())
        [('a', 'b'), ('a', 'c'), ('c', 'b')]
        """
        return moral_graph(self.dag)

    def v_structures(self) -> tuple[tuple[str, str, str], ...]:
        """Give the nodes where two arrows meet, with both parents, if these are not joined.

        Returns
        -------
        tuple of (parent, node, parent)
            Names, in the order of the nodes.

        See Also
        --------
        equivalence_class : Give the graph of all that rows can tell: arcs, and edges without a direction.

        Examples
        --------
        >>> from bayeswater import BayesianNetwork
        >>> BayesianNetwork("a -> c <- b; c -> d").v_structures()
        (('a', 'c', 'b'),)
        """
        dag = self.dag
        return tuple(
            (dag.names[a], dag.names[node], dag.names[b])
            for node, own in enumerate(dag.parents)
            for a, b in combinations(sorted(own), 2)
            if a not in dag.parents[b] and b not in dag.parents[a]
        )

    def is_d_separated(self, left: Names, right: Names, given: Names = ()) -> bool:
        """Say whether the graph makes two sets of nodes independent, given a third.

        Parameters
        ----------
        left, right : str or iterable of str
            The two sets of nodes.
        given : str or iterable of str, optional
            The nodes that are observed.

        Returns
        -------
        bool
            Whether no active trail joins the two sets.

        See Also
        --------
        active_trail : Show a trail by which two sets of nodes depend on each other, given a third.
        independencies : List the local independencies: each node of all that are not its descendants.

        Examples
        --------
        >>> from bayeswater import BayesianNetwork
        >>> network = BayesianNetwork("a -> c <- b")
        >>> network.is_d_separated("a", "b"), network.is_d_separated("a", "b", given="c")
        (True, False)
        """
        return self.active_trail(left, right, given) is None

    def active_trail(self, left: Names, right: Names, given: Names = ()) -> Trail | None:
        """Show a trail by which two sets of nodes depend on each other, given a third; None if they are d-separated.

        Parameters
        ----------
        left, right : str or iterable of str
            The two sets of nodes.
        given : str or iterable of str, optional
            The nodes that are observed.

        Returns
        -------
        Trail or None
            The nodes and edges of the trail; it can be printed.

        See Also
        --------
        is_d_separated : Say whether the graph makes two sets of nodes independent, given a third.

        Examples
        --------
        >>> from bayeswater import BayesianNetwork
        >>> print(BayesianNetwork("a -> c <- b").active_trail("a", "b", given="c"))
        a -> c <- b
        """
        x, y, z = map(self.dag.nodes, (left, right, given))
        return active_trail(self.dag, x, y, z)

    def minimal_separator(
        self, left: Names, right: Names, *, included: Names = (), allowed: Names | None = None
    ) -> tuple[str, ...] | None:
        """Find a minimal set that d-separates two sets, beside the nodes of `included`; None if there is none.

        Parameters
        ----------
        left, right : str or iterable of str
            The two sets of nodes.
        included : str or iterable of str, optional
            Nodes that are in the set anyway.
        allowed : str or iterable of str, optional
            Nodes that may be taken; default all others.

        Returns
        -------
        tuple of str or None
            Names, in the order of the nodes.

        See Also
        --------
        minimal_separators : Give all sets that d-separate two sets and need all their nodes.
        is_d_separated : Say whether the graph makes two sets of nodes independent, given a third.

        Examples
        --------
        >>> from bayeswater import BayesianNetwork
        >>> BayesianNetwork("a -> b -> c").minimal_separator("a", "c")
        ('b',)
        """
        x, y, z = map(self.dag.nodes, (left, right, included))
        found = minimal_separator(self.dag, x, y, z, None if allowed is None else self.dag.nodes(allowed))
        return None if found is None else self.dag.named(found)

    def minimal_separators(self, left: Names, right: Names, *, most: int | None = None) -> Iterator[tuple[str, ...]]:
        """Give all minimal sets that d-separate two sets, at most `most` of them.

        Parameters
        ----------
        left, right : str or iterable of str
            The two sets of nodes.
        most : int, optional
            How many sets to give; default all.

        Returns
        -------
        iterator of tuples of str
            The sets. They are found one by one, as they are asked for.

        See Also
        --------
        minimal_separator : Find a set that d-separates two sets, and needs all its nodes but those `included`.

        Examples
        --------
        >>> from bayeswater import BayesianNetwork
        >>> list(BayesianNetwork("a -> b -> c -> d").minimal_separators("a", "d"))
        [('b',), ('c',)]
        """
        found = minimal_separators(self.dag, self.dag.nodes(left), self.dag.nodes(right))
        return map(self.dag.named, islice(found, most))

    def adjustment_sets(
        self, cause: str, effect: str, *, allowed: Names | None = None, most: int | None = None
    ) -> Iterator[tuple[str, ...]]:
        """Give all minimal back-door sets: what to observe to estimate an effect without an intervention.

        ``P(effect | do(cause))`` is the mean of ``P(effect | cause, set)`` over ``P(set)``. An empty set says that
        nothing confounds the two; where there is none, the effect cannot be had in this way.

        Parameters
        ----------
        cause, effect : str
            Names of the two variables.
        allowed : str or iterable of str, optional
            Nodes that can be observed; default all.
        most : int, optional
            How many sets to give; default all.

        Returns
        -------
        iterator of tuples of str
            The sets. They are found one by one, as they are asked for.

        See Also
        --------
        do : Set variables to states from outside.
        minimal_separators : Give all sets that d-separate two sets and need all their nodes.

        Examples
        --------
        >>> from bayeswater import BayesianNetwork
        >>> list(BayesianNetwork("gene -> smoke -> tar -> lung <- gene").adjustment_sets("smoke", "lung"))
        [('gene',)]
        """
        may_be = None if allowed is None else self.dag.nodes(allowed)
        found = adjustment_sets(self.dag, self.dag.node(cause), self.dag.node(effect), may_be)
        return map(self.dag.named, islice(found, most))

    def independencies(self, names: Names | None = None) -> list[Independence]:
        """List the local independencies: each node of all that are not its descendants, given its parents.

        Parameters
        ----------
        names : str or iterable of str, optional
            The nodes to speak of; default all.

        Returns
        -------
        list of Independence
            A statement for each node that has one.

        See Also
        --------
        is_d_separated : Say whether the graph makes two sets of nodes independent, given a third.
        markov_blanket : Give parents, children and the children's other parents.

        Examples
        --------
        >>> from bayeswater import BayesianNetwork
        >>> BayesianNetwork("a -> b -> c").independencies()
        [Independence(left=('c',), right=('a',), given=('b',))]
        """
        return local_independencies(self.dag, None if names is None else sorted(self.dag.nodes(names)))

    def equivalence_class(self) -> EquivalenceClass:
        """Give the CPDAG: all graphs that imply the same independencies as this one.

        Returns
        -------
        EquivalenceClass
            Edges that all these graphs have in common, and edges that point either way.

        See Also
        --------
        is_equivalent : Say whether another graph of the same nodes, in any form, implies the same independencies.

        Examples
        --------
        >>> from bayeswater import BayesianNetwork
        >>> BayesianNetwork("a -> b -> c").equivalence_class() == BayesianNetwork("c -> b -> a").equivalence_class()
        False
        """
        return equivalence_class(self.dag)

    def is_equivalent(self, other: Any) -> bool:
        """Say whether another graph of the same nodes, in any form, implies the same independencies.

        Parameters
        ----------
        other : graph
            A text such as ``"a -> b"``, edges, a `Dag`, a networkx graph, or a network.

        Returns
        -------
        bool
            Whether both graphs have the same edges, directions aside, and the same colliders.

        See Also
        --------
        equivalence_class : Give the CPDAG: all graphs that imply the same independencies as this one.

        Examples
        --------
        >>> from bayeswater import BayesianNetwork
        >>> BayesianNetwork("a -> b -> c").is_equivalent("a <- b -> c")
        True
        """
        return is_equivalent(self.dag, read_graph(other))

    def structural_hamming_distance(self, other: Any, *, of_classes: bool = True) -> int:
        """Count the pairs of nodes that are joined differently in the classes of both graphs, or in the graphs.

        Parameters
        ----------
        other : graph
            A graph of the same nodes, in any form that `is_equivalent` takes.
        of_classes : bool, default True
            Whether the classes of equivalent graphs are compared, or the graphs themselves.

        Returns
        -------
        int
            The number of pairs; 0 for equal graphs.

        See Also
        --------
        hamming_distance : Count the pairs of nodes that are joined in one graph and not in the other.
        arc_agreement : Compare the arcs of a learned graph with those of this one, the true one.

        Examples
        --------
        >>> from bayeswater import BayesianNetwork
        >>> BayesianNetwork("a -> b -> c").structural_hamming_distance("a -> b <- c")
        2
        """
        return structural_hamming_distance(self.dag, read_graph(other), of_classes=of_classes)

    def hamming_distance(self, other: Any) -> int:
        """Count the pairs of nodes that are joined in one graph and not in the other, whatever the directions.

        Parameters
        ----------
        other : graph
            A graph of the same nodes, in any form that `is_equivalent` takes.

        Returns
        -------
        int
            The number of pairs; 0 for equal skeletons.

        See Also
        --------
        structural_hamming_distance : Count the pairs of nodes that are joined differently.

        Examples
        --------
        >>> from bayeswater import BayesianNetwork
        >>> BayesianNetwork("a -> b -> c").hamming_distance("a -> b; c")
        1
        """
        return hamming_distance(self.dag, read_graph(other))

    def arc_agreement(self, learned: Any) -> ArcAgreement:
        """Compare the arcs of a learned graph with those of this one, the true one; gives precision and recall.

        Parameters
        ----------
        learned : graph
            A graph of the same nodes, in any form that `is_equivalent` takes.

        Returns
        -------
        ArcAgreement
            Numbers of arcs that were found, are false and were missed, with `precision` and `recall`.

        See Also
        --------
        structural_hamming_distance : Count the pairs of nodes that are joined differently.

        Examples
        --------
        >>> from bayeswater import BayesianNetwork
        >>> agreement = BayesianNetwork("a -> b -> c").arc_agreement("a -> b <- c")
        >>> agreement, agreement.precision
        (ArcAgreement(n_found=1, n_false=1, n_missed=1), 0.5)
        """
        return ArcAgreement.of(read_graph(learned), self.dag)

    def to_dot(self) -> str:
        """Write the graph in the language of Graphviz.

        Returns
        -------
        str
            Source of a picture for ``dot``.

        See Also
        --------
        to_networkx : Give a ``networkx.DiGraph`` of the names.

        Examples
        --------
        >>> from bayeswater import BayesianNetwork
        >>> print(BayesianNetwork("rain -> wet").to_dot())
        digraph {
          node [shape=box, style=rounded];
          "rain";
          "wet";
          "rain" -> "wet";
        }
        """
        return to_dot(self.dag)

    def to_networkx(self) -> Any:
        """Give a ``networkx.DiGraph`` of the names.

        Returns
        -------
        networkx.DiGraph
            A graph with the names as its nodes.

        See Also
        --------
        edges : Edges (parent, child).

        Examples
        --------
        >>> from bayeswater import BayesianNetwork
        >>> list(BayesianNetwork("a -> b").to_networkx().edges)
        [('a', 'b')]
        """
        return self.dag.to_networkx()


def read_graph(graph: Any) -> Dag:
    """Take a graph in any form: a text, edges, a Dag, a networkx.DiGraph, or anything that has one."""
    if isinstance(graph, Dag):
        return graph
    if isinstance(graph, GraphQuestions):
        return graph.dag
    if isinstance(getattr(graph, "graph", None), Dag):  # what was learned; a networkx graph has attributes there
        return graph.graph
    if isinstance(graph, str | os.PathLike):
        _require_no_file(os.fspath(graph))
    if isinstance(graph, str):
        return Dag.parse(graph)
    if hasattr(graph, "is_directed"):
        return Dag.from_networkx(graph)
    if isinstance(graph, Iterable):
        return Dag.from_edges(graph)
    raise ParameterError(f"graph is {graph!r}; give a text such as 'a -> b', edges (parent, child), a Dag or a DiGraph")


def _require_no_file(text: str) -> None:
    """Refuse the name of a network file, which would be a graph of one node; between quotes it is one."""
    if not re.search(r'->|<-|[;"\n]', text) and is_network_file(text, or_model=True):
        raise ParameterError(
            f"{text!r} is the name of a file, and no graph; read the network with BayesianNetwork.read({text!r}), or "
            f"put a node that is called so between double quotes"
        )


def graph_in_brief(dag: Dag) -> str:
    """Write a graph as it could be typed, as far as there is room."""
    parts = [f"{quoted(a)} -> {quoted(b)}" for a, b in dag.edges()]
    parts += [quoted(name) for node, name in enumerate(dag.names) if not dag.parents[node] and not dag.children[node]]
    text = "; ".join(parts)
    return text if len(text) <= MOST_LETTERS else text[:MOST_LETTERS].rsplit("; ", 1)[0] + "; ..."
