"""`MixedNetwork`: a Bayesian network in which a variable has states or is a number.

    P(states) = product of P(state | parents)        number = intercept + slopes . numbers + noise, for each
                                                     configuration of its parents with states

A network never changes: `fit`, `partial_fit`, `forget`, ``+`` and `do` give new ones.
"""

import os
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, Self

import numpy as np

from bayeswater.data.frames import is_frame, library_of, materialised, read_frame
from bayeswater.data.sources.whole import in_types_that_fit, whole_table
from bayeswater.errors import DataError, ParameterError, ResourceLimitError, nearest_names
from bayeswater.learning.mixed_em import fit_mixed_by_em
from bayeswater.models.mixed_networks.mixed_analysis import MixedAnalysis
from bayeswater.models.mixed_networks.mixed_completions import MixedCompletions
from bayeswater.models.mixed_networks.mixed_files import read_mixed, write_mixed
from bayeswater.models.mixed_networks.mixed_questions import require_possible, row_answers
from bayeswater.models.mixed_networks.mixed_rows import number_nodes, require_columns, row_of
from bayeswater.models.mixed_networks.mixed_sums import MixedSums, summed_rows, summed_table
from bayeswater.models.mixed_networks.stored_mixed import read_mixed_model, write_mixed_model
from bayeswater.models.network.bayesian_network import MOST_WITH_BARS
from bayeswater.models.network.conditional_tables import ConditionalTable, read_conditional, read_variables, state_code
from bayeswater.models.network.graph import GraphQuestions, graph_in_brief, read_graph
from bayeswater.models.network.network_files import MODEL_SUFFIX
from bayeswater.models.network.network_fitting import columns_of, declare_states, pseudo_counts_of, require_settings
from bayeswater.models.streaming.sources import rows_to_answer
from bayeswater.networks.conditionals import Table
from bayeswater.networks.drawing import to_svg
from bayeswater.networks.mixed_core import MixedCore, discrete_part, require_numbers_below
from bayeswater.networks.network import Network
from bayeswater.networks.regressions import LinearGaussian, Regressions, regressions_of
from bayeswater.structure.dag import Dag
from bayeswater.typing import Array, is_number


class MixedNetwork(GraphQuestions, MixedAnalysis, MixedCompletions):
    """A Bayesian network of variables with states and of numbers.

    Parameters
    ----------
    graph : str, iterable of edges (parent, child), Dag or networkx.DiGraph
        No arc leads from a number to a variable with states.
    nodes : dict
        For every node its table, as in `BayesianNetwork`, or for a number a `LinearGaussian`; where it has parents with
        states, a dict from their states (a tuple for several) to one each.
    states : dict, optional
        Labels of the states of a node, or how many there are; needed where the table does not name them.

    Raises
    ------
    ParameterError
        Where an arc leads from a number to a variable with states, or a table does not fit the graph.

    See Also
    --------
    BayesianNetwork : A network of discrete variables.
    LinearGaussian : A number that is normal around a linear function of its numeric parents.
    learn_structure : Find the graph of the highest score.

    Notes
    -----
    With n rows, d variables and at most p numeric parents, `from_data`, `fit` and `partial_fit` take O(n d p^2) time,
    and O(d p^2) memory for each configuration of states. With g numbers and S configurations of the states that they
    depend on together, `query` takes at most O(S g^3) time and O(S g^2) memory; `posteriors` adds O(n S g).

    Examples
    --------
    >>> from bayeswater import LinearGaussian, MixedNetwork
    >>> network = MixedNetwork(
    ...     "sex -> height -> weight",
    ...     {
    ...         "sex": {"f": 0.5, "m": 0.5},
    ...         "height": {"f": LinearGaussian(165, variance=36), "m": LinearGaussian(178, variance=49)},
    ...         "weight": LinearGaussian(-100, {"height": 1.0}, 81),
    ...     },
    ... )
    >>> network.query("height", {"weight": 90})
    height: mean 181.4, sd 6.289, 90 % from 170.5 to 191.3
    >>> round(network.query("sex", {"weight": 90})["m"], 4)
    0.8874
    """

    _core: MixedCore
    _sums: MixedSums | None
    _settings: Mapping[str, Any]

    def __init__(self, graph: Any, nodes: Mapping[str, Any], *, states: Mapping[str, Any] | None = None) -> None:
        dag, states = read_graph(graph), dict(states or {})
        if not isinstance(nodes, Mapping):
            raise ParameterError(f"nodes is a {type(nodes).__name__}; give a dict from the names of the nodes")
        for name in nodes:
            if name not in dag.position:
                raise ParameterError(f"nodes names {name!r}, which is no node; {nearest_names(str(name), dag.names)}")
        numbers = frozenset(dag.position[name] for name, given in nodes.items() if _is_number_node(given))
        require_numbers_below(dag, numbers)
        part = discrete_part(dag, numbers)
        tables = {name: given for name, given in nodes.items() if dag.position[name] not in numbers}
        variables = read_variables(part, tables, states)
        parents = ([variables[parent] for parent in own] for own in part.parents)
        conditionals = [read_conditional(tables[v.name], v, p) for v, p in zip(variables, parents, strict=True)]
        network = Network.of(variables, part, conditionals)
        known = {variable.name: variable for variable in variables}
        regressions = {}
        for node in sorted(numbers):
            above = [dag.names[parent] for parent in dag.parents[node]]
            discrete = [known[name] for name in above if name in known]
            numeric = [name for name in above if name not in known]
            regressions[node] = regressions_of(nodes[dag.names[node]], dag.names[node], discrete, numeric)
        self._adopt(MixedCore.of(dag, network, regressions))

    def _adopt(
        self,
        core: MixedCore,
        sums: MixedSums | None = None,
        settings: Mapping[str, Any] | None = None,
        library: str | None = None,
    ) -> None:
        vars(self).update(_core=core, _sums=sums, _settings=settings or {}, library=library)

    @classmethod
    def from_core(
        cls,
        core: MixedCore,
        sums: MixedSums | None = None,
        settings: Mapping[str, Any] | None = None,
        library: str | None = None,
    ) -> Self:
        """Give a core the face that is asked questions; sums are what it was learned from, of frames of a library.

        Parameters
        ----------
        core : MixedCore
            Variables, graph, tables and regressions.
        sums : MixedSums, optional
            What it was learned from.
        settings : dict, optional
            Settings of `from_data` that it was learned with.
        library : str, optional
            Library of the frame it was learned from, in which answers are written.

        Returns
        -------
        MixedNetwork
            A network with all questions.

        See Also
        --------
        core : Graph, tables and regressions as plain arrays, for engines.

        Examples
        --------
        >>> from bayeswater import LinearGaussian, MixedNetwork
        >>> heights = {"f": LinearGaussian(165, variance=36), "m": LinearGaussian(178, variance=49)}
        >>> network = MixedNetwork("sex -> height", {"sex": {"f": 0.6, "m": 0.4}, "height": heights})
        >>> MixedNetwork.from_core(network.core).numbers
        ('height',)
        """
        made = cls.__new__(cls)
        made._adopt(core, sums, settings, library)
        return made

    # ------------------------------------------------------------------ learning

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
        """Learn tables and regressions of a graph from rows.

        A column of numbers is a number, unless `states` names it. Regressions are by least squares, and variances the
        sum of squared residuals divided by n - k - 1, with n rows and k numeric parents: as `lm` of R, and bnlearn.

        Parameters
        ----------
        graph : as in the class
            The graph.
        X : data frame or source of rows
            A column for every node; others are left out. A source may hold more rows than memory.
        alpha, equivalent_sample_size, columns : as in `BayesianNetwork.from_data`
            Pseudo-counts of states.
        states : dict, optional
            States of a node, or how many there are for the codes 0, 1, ...; a column of numbers that is named here has
            states.
        sample_weight : weights of shape (n_rows,), or str
            Weight of each row, or the name of a column of a source.
        missing : {"available", "em"}, default "available"
            "available" counts for a family the rows that have all its cells. "em" finds the largest likelihood; where
            no row has a whole family its slopes begin at 0, and stay there if the rows do not determine them.

        Returns
        -------
        MixedNetwork
            The graph with tables and regressions.

        See Also
        --------
        fit : Give this graph parameters learned from rows.
        partial_fit : Add rows: give the network of all rows, as if they had been there at once.

        Examples
        --------
        >>> import pandas as pd
        >>> rows = pd.DataFrame({"sex": list("ffmm"), "height": [160.0, 168, 175, 183]})
        >>> MixedNetwork.from_data("sex -> height", rows).regression("height", sex="m")
        LinearGaussian(intercept=179.0, slopes={}, variance=32.0)
        """
        dag = read_graph(graph)
        # Lists, which model files hold.
        states = {name: own.tolist() if hasattr(own, "tolist") else own for name, own in (states or {}).items()}
        settings = {"alpha": alpha, "equivalent_sample_size": equivalent_sample_size, "columns": columns}
        require_settings(dag, states, alpha, equivalent_sample_size, missing)
        rows = rows_to_answer(X)
        if rows is not None:
            require_columns(dag, rows.schema.names)
            declare_states(rows, states)
            numbers = _numbers(rows.schema, dag, states)
            if missing == "available":
                summing = partial(summed_table, dag, numbers, states, sample_weight)
                sums = in_types_that_fit(lambda: rows.sum(summing, columns_of(dag, sample_weight)))
                return cls.from_core(sums.core(**settings), sums, {**settings, "states": states})
            X = whole_table(rows, columns_of(dag, sample_weight), "EM", "take missing='available', which sums pieces")
            sample_weight = None if sample_weight is None else X[sample_weight]
        sums, cells, weight = _summed(X, dag, states, sample_weight)
        core = sums.core(**settings, begin_with=cells if missing == "em" else None)
        if missing == "available":
            return cls.from_core(core, sums, {**settings, "states": states}, library_of(X))
        part = discrete_part(dag, sums.numbers)
        pseudo_counts = pseudo_counts_of(part, alpha, equivalent_sample_size, columns, core.states.variables)
        return cls.from_core(fit_mixed_by_em(core, cells, weight, pseudo_counts), library=library_of(X))

    def fit(self, X: Any, **settings: Any) -> Self:
        """Give this graph parameters learned from rows; settings as in `from_data`, states as they are.

        Parameters
        ----------
        X : data frame or source of rows
            Rows with a column for each variable.
        **settings : keywords
            Settings of `from_data`.

        Returns
        -------
        MixedNetwork
            A new network; this one stays as it is.

        See Also
        --------
        from_data : Learn tables and regressions of a graph from rows.
        partial_fit : Add rows: give the network of all rows, as if they had been there at once.

        Examples
        --------
        >>> from bayeswater import LinearGaussian, MixedNetwork
        >>> heights = {"f": LinearGaussian(165, variance=36), "m": LinearGaussian(178, variance=49)}
        >>> network = MixedNetwork("sex -> height", {"sex": {"f": 0.6, "m": 0.4}, "height": heights})
        >>> rows = network.sample(50, random_state=0)
        >>> network.fit(rows).n_parameters
        5
        """
        known = {variable.name: variable.states for variable in self._core.states.variables}
        return type(self).from_data(self.dag, X, **{"states": known} | settings)

    def partial_fit(self, X: Any, *, sample_weight: Any = None) -> Self:
        """Add rows: give the network of all rows, as if they had been there at once.

        Parameters
        ----------
        X : data frame or source of rows
            Further rows.
        sample_weight : weights of shape (n_rows,), optional
            Weight of each row; default 1.

        Returns
        -------
        MixedNetwork
            A new network; this one stays as it is.

        See Also
        --------
        fit : Give this graph parameters learned from rows.
        forget : Remove rows: give the network of the others, as if these had never been there.

        Examples
        --------
        >>> from bayeswater import LinearGaussian, MixedNetwork
        >>> heights = {"f": LinearGaussian(165, variance=36), "m": LinearGaussian(178, variance=49)}
        >>> network = MixedNetwork("sex -> height", {"sex": {"f": 0.6, "m": 0.4}, "height": heights})
        >>> rows = network.sample(50, random_state=0)
        >>> network.fit(rows[:25]).partial_fit(rows[25:]).query("sex")["f"] == network.fit(rows).query("sex")["f"]
        True
        """
        return self._with_sums(self._own_sums() + self._more(X, sample_weight))

    def forget(self, X: Any, *, sample_weight: Any = None) -> Self:
        """Remove rows: give the network of the others, as if these had never been there.

        Parameters
        ----------
        X : data frame or source of rows
            Rows that were counted.
        sample_weight : weights of shape (n_rows,), optional
            Weight they were counted with; default 1.

        Returns
        -------
        MixedNetwork
            A new network; this one stays as it is.

        See Also
        --------
        partial_fit : Add rows: give the network of all rows, as if they had been there at once.

        Examples
        --------
        >>> from bayeswater import LinearGaussian, MixedNetwork
        >>> heights = {"f": LinearGaussian(165, variance=36), "m": LinearGaussian(178, variance=49)}
        >>> network = MixedNetwork("sex -> height", {"sex": {"f": 0.6, "m": 0.4}, "height": heights})
        >>> rows = network.sample(50, random_state=0)
        >>> network.fit(rows).forget(rows[25:]).query("sex")["f"] == network.fit(rows[:25]).query("sex")["f"]
        True
        """
        return self._with_sums(self._own_sums() - self._more(X, sample_weight))

    def __add__(self, other: "MixedNetwork") -> Self:
        if not isinstance(other, MixedNetwork):
            return NotImplemented
        return self._with_sums(self._own_sums() + other._own_sums())

    def _own_sums(self) -> MixedSums:
        if self._sums is None:
            raise ParameterError(
                "the network has no sums to add rows to: it was given its parameters, or learned by EM; learn it with "
                "from_data(missing='available')"
            )
        return self._sums

    def _more(self, X: Any, sample_weight: Any) -> MixedSums:
        """Sum further rows, their columns of the kind that they were."""
        own = self._own_sums()
        states = self._settings.get("states", {})
        rows = rows_to_answer(X)
        if rows is None:
            return _summed(X, self.dag, states, sample_weight, own.numbers)[0]
        require_columns(self.dag, rows.schema.names)
        declare_states(rows, states)
        summing = partial(summed_table, self.dag, own.numbers, states, sample_weight)
        return in_types_that_fit(lambda: rows.sum(summing, columns_of(self.dag, sample_weight)))

    def _with_sums(self, sums: MixedSums) -> Self:
        settings = {name: value for name, value in self._settings.items() if name != "states"}
        return self.from_core(sums.core(**settings), sums, self._settings, self.library)

    # ------------------------------------------------------------------ files

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Self:
        """Read a network from our JSON, from XDSL whose equations are linear, or from a model file (.bayes).

        Parameters
        ----------
        path : path
            Name of the file.

        Returns
        -------
        MixedNetwork
            The network of the file.

        See Also
        --------
        write : Write the network as JSON, XDSL or a model file, by the ending of the name.

        Examples
        --------
        >>> from pathlib import Path
        >>> from tempfile import TemporaryDirectory
        >>> from bayeswater import LinearGaussian, MixedNetwork
        >>> heights = {"f": LinearGaussian(165, variance=36), "m": LinearGaussian(178, variance=49)}
        >>> network = MixedNetwork("sex -> height", {"sex": {"f": 0.6, "m": 0.4}, "height": heights})
        >>> with TemporaryDirectory() as folder:
        ...     network.write(Path(folder) / "height.json")
        ...     MixedNetwork.read(Path(folder) / "height.json").numbers
        ('height',)
        """
        if Path(path).suffix.lower() == MODEL_SUFFIX:
            return cls.from_core(*read_mixed_model(Path(path)))
        return cls.from_core(read_mixed(path))

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the network as JSON, XDSL or a model file, by the ending of the name; a file that is there is replaced.

        A model file (.bayes) keeps the sums of the rows that it was learned from, so that it goes on learning.

        Parameters
        ----------
        path : path
            Name of the file.

        See Also
        --------
        read : Read a network from our JSON, from XDSL whose equations are linear, or from a model file.
        save : Write a fitted model to a file; an existing one is replaced.

        Examples
        --------
        >>> from pathlib import Path
        >>> from tempfile import TemporaryDirectory
        >>> from bayeswater import LinearGaussian, MixedNetwork
        >>> heights = {"f": LinearGaussian(165, variance=36), "m": LinearGaussian(178, variance=49)}
        >>> network = MixedNetwork("sex -> height", {"sex": {"f": 0.6, "m": 0.4}, "height": heights})
        >>> with TemporaryDirectory() as folder:
        ...     network.write(Path(folder) / "height.xdsl")
        ...     MixedNetwork.read(Path(folder) / "height.xdsl").names
        ('sex', 'height')
        """
        if Path(path).suffix.lower() == MODEL_SUFFIX:
            write_mixed_model((self._core, *self.learned_from), Path(path))
        else:
            write_mixed(self._core, path)

    # ------------------------------------------------------------------ what it is made of

    @property
    def dag(self) -> Dag:
        """The graph."""
        return self._core.dag

    @property
    def core(self) -> MixedCore:
        """Graph, tables and regressions as plain arrays, for engines."""
        return self._core

    @property
    def learned_from(self) -> tuple[MixedSums | None, Mapping[str, Any]]:
        """Sums of the rows that it was learned from, if they are known, and how they were read."""
        return self._sums, self._settings

    @property
    def numbers(self) -> tuple[str, ...]:
        """Names of the variables that are numbers."""
        return tuple(self.dag.names[node] for node in sorted(self._core.numbers))

    def states(self, name: str) -> tuple[Any, ...]:
        """Give the labels of the states of a variable that has them.

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
        numbers : Names of the variables that are numbers.

        Examples
        --------
        >>> from bayeswater import LinearGaussian, MixedNetwork
        >>> heights = {"f": LinearGaussian(165, variance=36), "m": LinearGaussian(178, variance=49)}
        >>> network = MixedNetwork("sex -> height", {"sex": {"f": 0.6, "m": 0.4}, "height": heights})
        >>> network.states("sex")
        ('f', 'm')
        """
        return tuple(self._core.variable(self._with_states(name)).states)

    def cpt(self, name: str) -> ConditionalTable:
        """Give the table of P(variable | parents) of a variable with states.

        Parameters
        ----------
        name : str
            Name of the variable.

        Returns
        -------
        ConditionalTable
            Probabilities and labels; print it.

        See Also
        --------
        regression : Give the regression of a number, for one state of each of its parents that have states.

        Examples
        --------
        >>> from bayeswater import LinearGaussian, MixedNetwork
        >>> heights = {"f": LinearGaussian(165, variance=36), "m": LinearGaussian(178, variance=49)}
        >>> network = MixedNetwork("sex -> height", {"sex": {"f": 0.6, "m": 0.4}, "height": heights})
        >>> network.cpt("sex")
        P(sex)
          f    m
        0.6  0.4
        """
        core = self._core
        place = core.place[self._with_states(name)]
        return ConditionalTable(core.states.variables[place], core.states.parents_of(place), core.states.tables[place])

    def _with_states(self, name: str) -> int:
        node = self.dag.node(name)
        if node in self._core.numbers:
            raise ParameterError(f"{name!r} is a number and has no states; regression({name!r}) tells what it follows")
        return node

    def regression(self, name: str, states: Mapping[str, Any] | None = None, /, **more: Any) -> LinearGaussian:
        """Give the regression of a number, for one state of each of its parents that have states.

        Parameters
        ----------
        name : str
            Name of the number.
        states : dict {parent: state}, optional
            A state of each parent that has states.
        **more : keywords
            The same as keywords, for names that are identifiers.

        Returns
        -------
        LinearGaussian
            Intercept, slopes and variance.

        See Also
        --------
        cpt : Give the table of P(variable | parents) of a variable with states.

        Examples
        --------
        >>> from bayeswater import LinearGaussian, MixedNetwork
        >>> heights = {"f": LinearGaussian(165, variance=36), "m": LinearGaussian(178, variance=49)}
        >>> network = MixedNetwork("sex -> height", {"sex": {"f": 0.6, "m": 0.4}, "height": heights})
        >>> network.regression("height", sex="m")
        LinearGaussian(intercept=178.0, slopes={}, variance=49.0)
        """
        core, node = self._core, self.dag.node(name)
        if node not in core.numbers:
            raise ParameterError(f"{name!r} has states and is no number; cpt({name!r}) is its table")
        wanted = {**(states or {}), **more}
        parents = core.discrete_parents(node)
        if set(wanted) != {parent.name for parent in parents}:
            raise ParameterError(
                f"the states of {sorted(wanted)} are given; name those of {[parent.name for parent in parents]}"
            )
        place = tuple(state_code(parent, wanted[parent.name]) for parent in parents)
        return core.numbers[node].of(place, core.numeric_parents(node))

    @property
    def n_parameters(self) -> int:
        """Number of free parameters."""
        return self._core.n_parameters

    def do(self, values: Mapping[str, Any] | None = None, /, **more: Any) -> Self:
        """Set variables from outside (an intervention): the arrows into them are removed.

        Parameters
        ----------
        values : dict {name: state or number}, optional
            The variables that are set.
        **more : keywords
            The same as keywords, for names that are identifiers.

        Returns
        -------
        MixedNetwork
            A new network; this one stays as it is.

        See Also
        --------
        query : Give the distribution of a variable, given states and numbers of others.

        Examples
        --------
        >>> from bayeswater import LinearGaussian, MixedNetwork
        >>> chain = {"a": LinearGaussian(0), "b": LinearGaussian(0, {"a": 2}), "c": LinearGaussian(1, {"b": 1})}
        >>> network = MixedNetwork("a -> b -> c", chain)
        >>> network.do(b=3).query("a"), network.do(b=3).query("c").mean
        (a: mean 0, sd 1, 90 % from -1.645 to 1.645, 4.0)
        """
        core = self._core
        for name, value in {**(values or {}), **more}.items():
            core = _set(core, core.dag.node(name), value)
        return self.from_core(core, library=self.library)

    def to_svg(self, evidence: Mapping[str, Any] | None = None, *, bars: bool = True) -> str:
        """Draw the network, parents above children, with probabilities of states, and means of numbers ± deviations.

        Parameters
        ----------
        evidence : dict {name: state or number}, optional
            What is observed. These nodes are marked, and the others show posteriors.
        bars : bool, default True
            Whether probabilities and means are shown, or names alone.

        Returns
        -------
        str
            The picture.

        See Also
        --------
        to_dot : Write the graph in the language of Graphviz.

        Examples
        --------
        >>> from bayeswater import LinearGaussian, MixedNetwork
        >>> heights = {"f": LinearGaussian(165, variance=36), "m": LinearGaussian(178, variance=49)}
        >>> network = MixedNetwork("sex -> height", {"sex": {"f": 0.6, "m": 0.4}, "height": heights})
        >>> network.to_svg({"height": 180})[:4]
        '<svg'
        """
        if not bars:
            return to_svg(self.dag)
        core = self._core
        known = {name: value for name, value in (evidence or {}).items() if value is not None}
        found, mean, std, log_evidence = row_answers(self._engine, row_of(known, core), range(len(core)))
        require_possible(float(log_evidence[0]), evidence, None)
        lines: dict[int, Any] = {node: own[0] for node, own in found.items()}
        lines |= {node: (float(own[0]), float(std[node][0])) for node, own in mean.items()}
        states = [() if node in core.numbers else core.variable(node).states for node in range(len(core))]
        return to_svg(self.dag, states, lines, frozenset(core.dag.nodes(known)))

    def _repr_svg_(self) -> str:
        """Show the drawing in a notebook, with bars where they can be read and had."""
        if len(self.dag) <= MOST_WITH_BARS:
            with suppress(ResourceLimitError):
                return self.to_svg()
        return self.to_svg(bars=False)

    # ------------------------------------------------------------------ as a value

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"{name!r} cannot be set, as a network does not change; fit, do and + give new ones")

    def __getstate__(self) -> dict[str, Any]:
        return {name: vars(self)[name] for name in ("_core", "_sums", "_settings")}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, MixedNetwork) and self._core == other._core

    def __hash__(self) -> int:
        return hash(self.dag)

    def __repr__(self) -> str:
        n, m, k = len(self.dag), self.dag.n_edges, len(self._core.numbers)
        parts = [f"{n} variable{'s' * (n != 1)}, {k} of them number{'s' * (k != 1)}", f"{m} edge{'s' * (m != 1)}"]
        parts.append(f"{self.n_parameters} parameter{'s' * (self.n_parameters != 1)}")
        return f"{type(self).__name__}({graph_in_brief(self.dag)!r}): {', '.join(parts)}"


def _is_number_node(given: Any) -> bool:
    if isinstance(given, Mapping) and given:
        given = next(iter(given.values()))
    return isinstance(given, LinearGaussian | Regressions)


def _numbers(schema: Any, dag: Dag, states: Mapping[str, Any]) -> frozenset[int]:
    numbers = number_nodes(schema, dag, states)
    require_numbers_below(dag, numbers)
    return numbers


def _summed(
    X: Any, dag: Dag, states: Mapping[str, Any], weight: Any, numbers: frozenset[int] | None = None
) -> tuple[MixedSums, Any, Array | None]:
    X = materialised(X)
    if not is_frame(X):
        raise DataError(f"X is a {type(X).__name__} without names; give a frame with a column for every node")
    frame = read_frame(X)
    require_columns(dag, frame.names)
    kinds = _numbers(frame.table.schema, dag, states) if numbers is None else numbers
    return summed_rows(frame, dag, kinds, states, weight)


def _set(core: MixedCore, node: int, value: Any) -> MixedCore:
    """Give a core in which a node has a value and no parents."""
    parents = core.dag.parents
    dag = Dag(core.names, (*parents[:node], (), *parents[node + 1 :]))
    if node in core.numbers:
        if not is_number(value) or not np.isfinite(value):
            raise ParameterError(f"{core.names[node]!r} is a number, and {value!r} is none; give a finite one")
        own = Regressions(np.array(float(value)), np.empty(0), np.array(0.0))
        return MixedCore.of(dag, core.states, {**core.numbers, node: own})
    place = core.place[node]
    table = np.zeros(core.states.cards[place])
    table[state_code(core.variable(node), value)] = 1.0
    return MixedCore.of(dag, core.states.with_node(place, (), Table(table)), core.numbers)
