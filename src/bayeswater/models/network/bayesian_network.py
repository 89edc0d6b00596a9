"""`BayesianNetwork`: a graph of variables and a table for each, which together are one joint distribution.

    P(x_1, ..., x_n) = product over i of P(x_i | parents of x_i)

A network never changes: `with_cpt`, `with_edge`, `do` and their like (`Editing`) give new ones.
"""

import os
from collections.abc import Mapping
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np

from bayeswater.data.frames import library_of
from bayeswater.data.variable import Variable
from bayeswater.errors import BayesWarning, ParameterError, ResourceLimitError, warn_user
from bayeswater.files.networks.names import some
from bayeswater.models.network.analysis import Analysis
from bayeswater.models.network.conditional_tables import (
    ConditionalTable,
    read_conditional,
    read_variables,
    require_by_name,
)
from bayeswater.models.network.editing import Editing
from bayeswater.models.network.evidence import evidence_of
from bayeswater.models.network.graph import GraphQuestions, graph_in_brief, read_graph
from bayeswater.models.network.network_files import MODEL_SUFFIX, Remarks, read_network_file, write_network_file
from bayeswater.models.network.network_fitting import fitted_network
from bayeswater.models.network.network_rows import EMPTY, declared_variable
from bayeswater.models.network.queries import Queries
from bayeswater.networks.conditionals import Table
from bayeswater.networks.drawing import to_svg
from bayeswater.networks.network import Network
from bayeswater.structure.dag import Dag
from bayeswater.typing import Array

MOST_WITH_BARS = 100
"""Nodes of a drawing that has bars without being asked for: those of larger ones could not be read."""

MOST_SECONDS = 2.0
"""Seconds, by forecast, that the bars of a drawing may take where they are worked out one by one."""


class BayesianNetwork(GraphQuestions, Queries, Editing, Analysis):
    """A Bayesian network of discrete variables.

    Parameters
    ----------
    graph : str, iterable of edges (parent, child), Dag or networkx.DiGraph
        A text such as ``"smoke -> cancer <- pollution; cancer -> xray"``.
    tables : mapping, optional
        For every node P(node | parents): an array of shape ``(*n_states of the parents, n_states)``; a dict
        ``{state: p}`` or ``{(state of each parent): {state: p}}``; a frame with a column for each parent, the node and
        "probability"; a `ConditionalTable`; a `NoisyOr` or a `Deterministic`. Without tables the network answers
        questions about its graph alone.
    states : mapping, optional
        Labels of the states of a node, or how many there are; needed where the table does not name them.

    Raises
    ------
    ParameterError
        Where the graph has a cycle, or a table does not fit it or does not sum to one.

    See Also
    --------
    MixedNetwork : A network of states and numbers.
    DecisionNetwork : A network with decisions and utilities.
    NetworkClassifier : A Bayesian network, learned, as a classifier.
    learn_structure : Find the graph of the highest score.

    Notes
    -----
    With n rows, d variables and at most p parents, `from_data`, `fit` and `partial_fit` take O(n d p) time, and memory
    for the tables. With C the cells of all cliques of the junction tree, which may grow exponentially with d, `query`
    takes at most O(C) time and memory, and `posteriors` O(n C) time. `cost` estimates both before a question is asked.

    Examples
    --------
    >>> network = BayesianNetwork(
    ...     "smoke -> cancer",
    ...     tables={"smoke": {"yes": 0.3, "no": 0.7}, "cancer": {"yes": {"yes": 0.1, "no": 0.9}, "no": [0.01, 0.99]}},
    ... )
    >>> network
    BayesianNetwork('smoke -> cancer'): 2 variables, 1 edge, 3 parameters
    >>> network.cpt("cancer")
    P(cancer | smoke)
    smoke   yes    no
    yes     0.1   0.9
    no     0.01  0.99
    >>> network.with_cpt("smoke", [0.5, 0.5]).cpt("smoke").given()["yes"]
    0.5
    """

    _dag: Dag
    _states: Mapping[str, Any]
    _network: Network | None
    title: str
    """Name of the network, where a file gave one."""
    remarks: Remarks
    """What a file says beside the probabilities: properties by node, and of the network itself under ''."""

    def __init__(
        self, graph: Any, tables: Mapping[str, Any] | None = None, *, states: Mapping[str, Any] | None = None
    ) -> None:
        dag, states = read_graph(graph), {} if states is None else states
        require_by_name(states, "states")
        network = None
        if tables is not None:
            variables = read_variables(dag, tables, states)
            parents = ([variables[parent] for parent in own] for own in dag.parents)
            conditionals = [read_conditional(tables[v.name], v, p) for v, p in zip(variables, parents, strict=True)]
            network = Network.of(variables, dag, conditionals)
        vars(self).update(_dag=dag, _states=dict(states), _network=network, title="", remarks={})

    @classmethod
    def from_core(
        cls, core: Network, title: str = "", remarks: Remarks | None = None, *, library: str | None = None
    ) -> Self:
        """Make a network of a core: variables, graph and tables as arrays.

        Parameters
        ----------
        core : Network
            Variables, graph and tables.
        title, remarks : str, dict
            What a file says beside the probabilities.
        library : str, optional
            Library of the frame it was learned from, in which answers are written.

        Returns
        -------
        BayesianNetwork
            A network with all questions.

        See Also
        --------
        core : Variables, graph and tables as plain arrays, for engines.

        Examples
        --------
        >>> from bayeswater import BayesianNetwork
        >>> network = BayesianNetwork("rain -> wet", {"rain": {"no": 0.8, "yes": 0.2}, "wet": [[0.9, 0.1], [0.2, 0.8]]})
        >>> BayesianNetwork.from_core(network.core)
        BayesianNetwork('rain -> wet'): 2 variables, 1 edge, 3 parameters
        """
        made = cls.__new__(cls)
        described = {"title": title, "remarks": remarks or {}, "library": library}
        vars(made).update(_dag=core.dag, _states={}, _network=core, **described)
        return made

    @property
    def _edited(self) -> Network:
        if self._network is not None:
            return self._network
        variables = [Variable(name, [name]) for name in self.names]  # the state tells what a variable was called
        tables = [Table(np.ones((1,) * (len(own) + 1))) for own in self.dag.parents]
        return Network.of(variables, self.dag, tables)

    def _with(self, network: Network, remarks: Remarks | None = None, states: Mapping[str, Any] | None = None) -> Self:
        remarks = self.remarks if remarks is None else remarks
        if self._network is None:
            old, known = {v.name: v.states[0] for v in network.variables}, self._states if states is None else states
            states = {name: known[own] for name, own in old.items() if own in known}
            new = {v.name: v.states for v in network.variables if v.n_states > 1}
            made = type(self)(network.dag, states={**states, **new})
            vars(made).update(title=self.title, remarks=remarks)
            return made
        return self.from_core(network, self.title, remarks, library=self.library)

    @classmethod
    def from_classifier(cls, model: Any, *, class_name: str | None = None) -> Self:
        """Read a fitted classifier as a network, in which the class is a variable like any other.

        Parameters
        ----------
        model : fitted classifier
            A `TAN`, `SPODE`, `KDB`, `SKDB`, `NetworkClassifier`, `CategoricalNB`, or a `NaiveBayes` whose columns are
            categories, flags or bins; ``model.to_network()`` does the same.
        class_name : str, optional
            Name of the class variable; default "class".

        Returns
        -------
        BayesianNetwork
            The class and every column, with their tables.

        See Also
        --------
        from_data : Estimate the tables of a graph from rows.

        Examples
        --------
        >>> from bayeswater import BayesianNetwork, CategoricalNB
        >>> BayesianNetwork.from_classifier(CategoricalNB().fit([["red"], ["green"]], ["cherry", "pea"]))
        BayesianNetwork('class -> x0'): 2 variables, 1 edge, 3 parameters
        """
        return cls.from_core(network_of(model, class_name), library=vars(model).get("_library"))

    @classmethod
    def from_data(
        cls,
        graph: Any,
        X: Any,
        *,
        alpha: Any = None,
        equivalent_sample_size: float | None = None,
        columns: Mapping[Any, Any] | None = None,
        states: Mapping[str, Any] | None = None,
        sample_weight: Any = None,
        missing: str = "available",
    ) -> Self:
        """Estimate the tables of a graph from rows.

        P(v | parents) = (n_v + a_v) / sum over u of (n_u + a_u). A row counts for a family where none of the family's
        cells is missing; with ``missing="em"`` it counts for all, missing cells being summed over.

        Parameters
        ----------
        graph : as in the class
            The graph.
        X : data frame or source of rows
            A column for every node; others are left out. Rows that do not fit into memory, of a file or of a frame of
            an engine (see docs/scale.md), are counted in pieces; with "em" they are held in memory.
        alpha : float or dict, optional
            Pseudo-count of every cell, or of the cells of each node; default 1, and 0 is maximum likelihood.
        equivalent_sample_size : float, optional
            Number of imagined rows, spread evenly over the cells of each table (BDeu), in the place of `alpha`.
        columns : dict, optional
            ``{node: {"prior": Dirichlet(...)}}``: pseudo-counts by label for every row of the node's table.
        states : dict, optional
            States of a node, those that rows do not show too, or how many there are for the codes 0, 1, ...; default
            the values that occur, sorted.
        sample_weight : weights of shape (n_rows,), or str
            Weight of each row, or the name of a column of a source.
        missing : {"available", "em"}, default "available"
            "available" counts for a family the rows that have all its cells. "em" finds tables of largest likelihood; a
            node that no row shows, whose `states` are given, is then found by its effect on its children, with its
            states in arbitrary order.

        Returns
        -------
        BayesianNetwork
            The graph with its tables.

        Raises
        ------
        SchemaError
            Where a node has no column.

        See Also
        --------
        fit : Give this graph tables estimated from rows.
        learn_structure : Find the graph of the highest score.

        Examples
        --------
        >>> import pyarrow as pa
        >>> rows = pa.table({"rain": ["no", "no", "yes", "yes"], "wet": ["no", "yes", "yes", None]})
        >>> BayesianNetwork.from_data("rain -> wet", rows, alpha=0).cpt("wet")
        P(wet | rain)
        rain   no  yes
        no    0.5  0.5
        yes     0    1
        """
        network = fitted_network(
            read_graph(graph),
            X,
            alpha=alpha,
            equivalent_sample_size=equivalent_sample_size,
            columns=columns,
            states=states or {},
            sample_weight=sample_weight,
            missing=missing,
        )
        return cls.from_core(network, library=library_of(X))

    def fit(self, X: Any, **settings: Any) -> Self:
        """Give this graph tables estimated from rows; settings as in `from_data`, states as far as they are known.

        Parameters
        ----------
        X : data frame or source of rows
            Rows with a column for each variable.
        **settings : settings of `from_data`
            For example ``alpha=1`` or ``missing="em"``.

        Returns
        -------
        BayesianNetwork
            A new network; this one stays as it is.

        See Also
        --------
        from_data : Estimate the tables of a graph from rows.

        Examples
        --------
        >>> import pyarrow as pa
        >>> from bayeswater import BayesianNetwork
        >>> rows = pa.table({"rain": ["no", "no", "yes", "yes"], "wet": ["no", "yes", "yes", "yes"]})
        >>> BayesianNetwork("rain -> wet").fit(rows, alpha=0).query("wet")["yes"]
        0.75
        """
        known = dict(self._states) if self._network is None else {v.name: v.states for v in self._network.variables}
        return type(self).from_data(self._dag, X, **{"states": known} | settings)

    # ------------------------------------------------------------------ files

    @classmethod
    def read(cls, path: str | os.PathLike[str], *, tolerance: float | None = None) -> Self:
        """Read a network file: BIF, XMLBIF, XDSL, Hugin NET, DSC or UAI by the ending of its name, or our own .bayes.

        Each but our own may be compressed (``asia.bif.gz``). Every number is the float64 that the file says. Rows whose
        sum has drifted from one are normalised; that, and what else was changed in reading, is reported in a warning,
        once for each file.

        Parameters
        ----------
        path : path
            Name of the file.
        tolerance : number, optional
            By how much the sum of a row may differ from one; a row that differs by more is refused. Default 0.01, as
            numbers of two digits leave it; the numbers of NET are potentials, and may have any sum but 0.

        Returns
        -------
        BayesianNetwork
            The network of the file.

        Raises
        ------
        NetworkFileError
            Where the file cannot be read; it names line and column.

        See Also
        --------
        write : Write a network file, in the format that the ending of its name tells.
        load : Read a model from a file that `save` wrote: equal to the saved one, to the bit.

        Examples
        --------
        >>> from pathlib import Path
        >>> from tempfile import TemporaryDirectory
        >>> from bayeswater import BayesianNetwork
        >>> network = BayesianNetwork("rain -> wet", {"rain": {"no": 0.8, "yes": 0.2}, "wet": [[0.9, 0.1], [0.2, 0.8]]})
        >>> with TemporaryDirectory() as folder:
        ...     network.write(Path(folder) / "rain.bif")
        ...     BayesianNetwork.read(Path(folder) / "rain.bif")
        BayesianNetwork('rain -> wet'): 2 variables, 1 edge, 3 parameters
        """
        path = Path(path)
        if path.suffix.lower() == MODEL_SUFFIX:
            from bayeswater.models.network.stored_network import read_network_model

            return cls.from_core(*read_network_model(path))
        return cls.from_core(*read_network_file(path, tolerance))

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write a network file, in the format that the ending of its name tells; one that is there is replaced.

        Parameters
        ----------
        path : path
            Name of the file.

        Raises
        ------
        NetworkFileError
            Where the format is not known, or cannot hold the network.

        See Also
        --------
        read : Read a network file.
        save : Write a fitted model to a file; an existing one is replaced.

        Examples
        --------
        >>> from pathlib import Path
        >>> from tempfile import TemporaryDirectory
        >>> from bayeswater import BayesianNetwork
        >>> network = BayesianNetwork("rain -> wet", {"rain": {"no": 0.8, "yes": 0.2}, "wet": [[0.9, 0.1], [0.2, 0.8]]})
        >>> with TemporaryDirectory() as folder:
        ...     network.write(Path(folder) / "rain.net")
        ...     (Path(folder) / "rain.net").read_text().split()[0]
        'net'
        """
        path = Path(path)
        if path.suffix.lower() == MODEL_SUFFIX:
            from bayeswater.models.network.stored_network import write_network_model

            write_network_model(path, self.core, self.title, self.remarks)
        else:
            write_network_file(path, self.core, self.title, self.remarks)

    # ------------------------------------------------------------------ what it is made of

    @property
    def dag(self) -> Dag:
        """The graph."""
        return self._dag

    @property
    def has_tables(self) -> bool:
        """Whether there are probabilities, or a graph alone."""
        return self._network is not None

    @property
    def core(self) -> Network:
        """Variables, graph and tables as plain arrays, for engines."""
        if self._network is None:
            raise ParameterError(
                "the network has a graph and no tables; give tables={...}, or learn them from rows: network.fit(frame)"
            )
        return self._network

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The variables."""
        return self.core.variables

    def states(self, name: str) -> tuple[Any, ...]:
        """Give the labels of the states of a variable.

        Parameters
        ----------
        name : str
            Name of the variable.

        Returns
        -------
        tuple of labels
            In the order of the axes of tables.

        See Also
        --------
        variables : The variables.
        with_state_names : Give states of a variable other labels.

        Examples
        --------
        >>> from bayeswater import BayesianNetwork
        >>> network = BayesianNetwork("rain -> wet", {"rain": {"no": 0.8, "yes": 0.2}, "wet": [[0.9, 0.1], [0.2, 0.8]]})
        >>> network.states("rain")
        ('no', 'yes')
        """
        return tuple(self.core.variables[self._dag.node(name)].states)

    def cpt(self, name: str) -> ConditionalTable:
        """Give the table of P(variable | parents), with its labels.

        Parameters
        ----------
        name : str
            Name of the variable.

        Returns
        -------
        ConditionalTable
            Probabilities and labels; it can be printed.

        Raises
        ------
        ParameterError
            Where there is no such variable, or the network has no tables.

        See Also
        --------
        with_cpt : Give a variable another table, in any form that the constructor takes.

        Examples
        --------
        >>> from bayeswater import BayesianNetwork
        >>> network = BayesianNetwork("rain -> wet", {"rain": {"no": 0.8, "yes": 0.2}, "wet": [[0.9, 0.1], [0.2, 0.8]]})
        >>> network.cpt("rain")
        P(rain)
         no  yes
        0.8  0.2
        """
        node = self._dag.node(name)
        return ConditionalTable(
            self.core.variables[node], self.core.parents_of(node), self.core.tables[node], self.library
        )

    @cached_property
    def n_parameters(self) -> int:
        """Number of free parameters."""
        return self.core.n_parameters

    # ------------------------------------------------------------------ pictures

    def to_svg(self, evidence: Mapping[str, Any] | None = None, *, bars: bool = True) -> str:
        """Draw the network, parents above children, with the probabilities of the states in every node.

        Where all probabilities together would take too much memory, they are worked out one by one; nodes for which
        that, too, is too much are drawn without bars, and counted in a warning.

        Parameters
        ----------
        evidence : dict {name: state}, optional
            What is observed. These nodes are marked, and the others show their posteriors.
        bars : bool, default True
            Whether probabilities are shown; without them, and for a network without tables, names alone.

        Returns
        -------
        str
            The picture.

        See Also
        --------
        to_dot : Write the graph in the language of Graphviz.
        explore : Show a fitted classifier or a network as a local page.

        Examples
        --------
        >>> from bayeswater import BayesianNetwork
        >>> network = BayesianNetwork("rain -> wet", {"rain": {"no": 0.8, "yes": 0.2}, "wet": [[0.9, 0.1], [0.2, 0.8]]})
        >>> network.to_svg({"wet": 1})[:4]
        '<svg'
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

    # ------------------------------------------------------------------ as a value

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(
            f"{name!r} cannot be set, as a network does not change; with_cpt, with_edge, do give new ones"
        )

    def __getstate__(self) -> dict[str, Any]:
        # What was made ready for questions is made again where it is needed.
        kept = ("_dag", "_states", "_network", "title", "remarks")
        return {name: vars(self)[name] for name in kept}

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, BayesianNetwork):
            return NotImplemented
        return self._dag == other._dag and self._network == other._network

    def __hash__(self) -> int:
        return hash(self._dag)

    def __repr__(self) -> str:
        n, m = len(self._dag), self._dag.n_edges
        parts = [f"{n} variable{'s' * (n != 1)}", f"{m} edge{'s' * (m != 1)}"]
        if self._network is None:
            parts.append("no tables")
        else:
            parts.append(f"{self.n_parameters} parameter{'s' * (self.n_parameters != 1)}")
        return f"{type(self).__name__}({graph_in_brief(self._dag)!r}): {', '.join(parts)}"


def _tell_left_out(names: list[str], error: ResourceLimitError) -> None:
    if names:
        warn_user(
            f"{len(names)} nodes are drawn without bars, as their probabilities would take too much memory or time: "
            f"{some(list(map(repr, names)))}; all together, {error}. bars=False draws names alone",
            BayesWarning,
        )


def network_of(model: Any, class_name: str | None = None) -> Network:
    """Give the network of a fitted `NaiveBayes`, `CategoricalNB`, `TAN`, `SPODE`, `KDB`, `SKDB` or `NetworkClassifier`.

    Parameters
    ----------
    model : fitted classifier, whose columns all have states
    class_name : name of the class variable; default "class", or "(class)" beside a column of that name
    """
    if not hasattr(model, "network_tables"):
        raise ParameterError(
            f"a {type(model).__name__} is no network of variables with states; give a NaiveBayes, CategoricalNB, TAN, "
            "SPODE, KDB or SKDB"
        )
    from sklearn.utils.validation import check_is_fitted  # it takes its time, and is there where a classifier is

    check_is_fitted(model)
    if model.missing == "state":
        raise ParameterError(
            "missing='state' makes a missing cell a state of its own, and in a network it is what is not observed; "
            "fit with missing='ignore'"
        )
    found = model.network_tables()
    names = (class_name or found.names[0], *found.names[1:])
    if len(set(names)) < len(names):
        raise ParameterError(f"class_name is {class_name!r}, which is the name of a column; give another")
    for name, states in zip(names, found.states, strict=True):
        if not states:
            raise ParameterError(
                f"column {name!r} has no value in any row, so its states are not known; leave it out: "
                f"columns={{{name!r}: 'ignored'}}"
            )
    named = [[EMPTY if state is None else state for state in states] for states in found.states]
    variables = [declared_variable(name, states) for name, states in zip(names, named, strict=True)]
    # Probabilities that come from logarithms sum to one only within rounding.
    tables = [Table(table / table.sum(axis=-1, keepdims=True)) for table in found.tables]
    return Network.of(variables, Dag(names, found.parents), tables)
