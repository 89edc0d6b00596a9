"""`learn_structure`, `score_structure`: the graph that explains rows best, and how well any graph does."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from bayeswater.data.reading.discretising.cuts import cuts_named
from bayeswater.data.weights import require_rows
from bayeswater.errors import DataError, ParameterError
from bayeswater.families.family import ColumnSettings
from bayeswater.learning.structural_em import comparing_score, find_graph
from bayeswater.models.mixed_networks.mixed_network import MixedNetwork
from bayeswater.models.network.bayesian_network import BayesianNetwork
from bayeswater.models.network.graph import read_graph
from bayeswater.models.structures.learned_structure import LearnedMixedStructure, LearnedStructure
from bayeswater.models.structures.mixed_learning import NumbersAndStates, is_mixed
from bayeswater.models.structures.state_table import StateTable, named_frame, require_complete
from bayeswater.structure.dag import Dag
from bayeswater.structure.family_scores import FamilyScores
from bayeswater.structure.independence import TESTS_OF_STATES, named_test
from bayeswater.structure.knowledge import Arcs, Knowledge
from bayeswater.structure.local_scores import LocalScores
from bayeswater.structure.moment_scores import MomentScore, as_moment_score
from bayeswater.structure.number_tests import MIXED_TESTS
from bayeswater.structure.order_search import TABU
from bayeswater.structure.scores import as_score
from bayeswater.structure.search import BY_TESTS, checked_method, search
from bayeswater.typing import is_number

Begin = tuple[frozenset[int], ...] | None
"""Parents of each variable in the graph that a search begins from, if there is one."""


def learn_structure(
    data: Any,
    score: Any = "bic",
    method: str = "auto",
    *,
    graph_prior: Any = "uniform",
    start: Any = None,
    required: Arcs = None,
    forbidden: Arcs = None,
    tiers: Sequence[Sequence[str]] | None = None,
    max_parents: int | None = None,
    time_limit: float | None = None,
    restarts: int = 0,
    perturb: int = 10,
    tabu_length: int = TABU,
    significance: float = 0.05,
    test: str | None = None,
    max_given: int | None = None,
    restrict: str = "si_hiton_pc",
    maximize: str = "hill_climb",
    seed: int = 0,
    numbers: str | None = None,
    discretize: str = "equal_frequency",
    columns: Mapping[Any, Any] | None = None,
    missing: str = "em",
    sample_weight: Any = None,
    progress: Callable[[float, float, int], None] | None = None,
) -> LearnedStructure:
    """Find the graph of the highest score.

    Parameters
    ----------
    data : data frame or source of rows
        A column for each variable. A source (path, pattern, dataset, query) is held in memory. Numbers are put into
        bins.
    score : str, pair or function, default "bic"
        "bic" (or "mdl"), "aic", "ebic", "loglik", "bdeu", "bds", "bdj", "bdla", "k2", "fnml", "qnml", ("bdeu",
        equivalent sample size), or a function ``f(counts, n_configurations, n_rows)`` of your own: it is given the
        counts (configurations that rows have, n_states) of a variable with its parents.
    method : str, default "auto"
        "auto", "hill_climb", "tabu", "order", "exact", "tree", by tests "pc", "grow_shrink", "iamb", "inter_iamb",
        "fast_iamb", "iamb_fdr", "mmpc", "si_hiton_pc", "hpc" or "aracne", or both "mmhc", "h2pc" or "rsmax2"; bnlearn's
        names ("hc", "gs", "pc.stable", ...) are known, too. The page "Learning a structure" explains them.
    graph_prior : str or pair, default "uniform"
        With marginal likelihoods, how likely arcs are beforehand: "uniform", "variable_selection" or "marginal", or
        ("marginal", probability).
    start : graph, optional
        Graph to begin from; none of its arcs has to stay. "exact", "tree" and searches by tests do not use it.
    required, forbidden : iterable of arcs, or str
        Arcs (parent, child) that must or cannot be there, or text: ``"age -> income; sex <- *"``.
    tiers : lists of names, optional
        No arc leads from a later list to an earlier one.
    max_parents : int, optional
        Most parents of a variable.
    time_limit : float, optional
        Seconds; "order" uses all of them, and without a limit makes a fixed number of attempts.
    restarts, perturb : int, int
        Of "hill_climb" and "tabu": how often to climb again, and after how many random changes.
    tabu_length : int, default 30
        Of "tabu": the graphs that it does not come back to, and the steps without a gain after which it ends. R's
        bnlearn takes 10.
    significance, test : float, str
        Of searches by tests: probability below which a departure from independence counts, and "g2" (default), "chi2",
        "mi-sh", "mi-adf", "x2-adf", "permutation", "sp-mi" or "jt" (see `independence_test`); where numbers stay
        numbers "mi-cg" (default) or "lr-cg", and of numbers alone "cor" (default), "zf", "mi-g", "mi-g-sh" or
        "permutation-cor".
    max_given : int, optional
        Of searches by tests: most variables that are given when two are tested.
    restrict, maximize : str, default "si_hiton_pc" and "hill_climb"
        Of "rsmax2": the search by tests that says which arcs are open, and the climb among them, or "tabu".
    seed : int, default 0
        Seed of everything random. Without a time limit the same seed gives the same graph.
    numbers : {"states", "gaussian"}, optional
        "states" puts numbers into bins. "gaussian" leaves them numbers, normal around a linear function of their
        parents; then the score is "bic", "aic", "ebic", "loglik" or, of numbers alone, "bge" (bnlearn's names, as
        "bic-g" and "bic-cg", imply "gaussian"). No arc leads from a number to a variable with states.
    discretize, columns : str, dict
        How numbers are put into bins, any way of `Discretizer` but "mdl", which needs classes; and what is known of
        columns, as in `NaiveBayes`.
    missing : {"em", "error"}
        "em" fills in missing cells by structural EM, so that all rows count with what is known of them; "error" refuses
        them.
    sample_weight : weights of shape (n_rows,), optional
        How many rows each row counts for.
    progress : function, optional
        It is called with seconds, score and number of arcs at every new best.

    Returns
    -------
    LearnedStructure
        ``.graph``, ``.score``, ``.network`` with its tables estimated, ``.states_of(frame)`` for new rows with numbers,
        and a report. Print it.

    Raises
    ------
    ParameterError
        If the score, method or test is unknown, or an arc is required and impossible.

    See Also
    --------
    score_structure : Score a graph: natural logarithms, higher is better.
    bootstrap_structure : Learn a structure n times from rows drawn with replacement.
    BayesianNetwork : A network of discrete variables.

    Notes
    -----
    With n rows and d variables, the score of a family of p parents takes O(n p) time; it is computed once. "hill_climb"
    looks at O(d^2) families at the start and at O(d) after each step, "tree" at O(d^2) pairs; "exact" takes O(d 2^d)
    time and O(2^d) memory on top of the scores.

    Examples
    --------
    >>> import pandas as pd
    >>> rain, wet = ["yes", "no", "no", "no"] * 30, ["yes", "no", "no", "yes"] * 30
    >>> found = learn_structure(pd.DataFrame({"rain": rain, "wet": wet, "coin": ["heads"] * 60 + ["tails"] * 60}))
    >>> found
    Structure of 3 variables with 1 arc, bic -217.52
      arcs       wet -> rain
      search     exact: ...
      stopped    it is proven that no graph scores higher
    """
    if not (time_limit is None or (is_number(time_limit) and time_limit > 0)):
        raise ParameterError(f"time_limit is {time_limit!r}; give seconds, over 0")
    checked_significance(significance)
    if not isinstance(restarts, int | np.integer) or isinstance(restarts, bool) or restarts < 0:
        raise ParameterError(f"restarts is {restarts!r}; give a whole number, 0 or more")
    if missing not in ("em", "error"):
        raise ParameterError(f"missing is {missing!r}; it can be 'em' or 'error'")
    if not isinstance(tabu_length, int | np.integer) or isinstance(tabu_length, bool) or tabu_length < 1:
        raise ParameterError(f"tabu_length is {tabu_length!r}; give a whole number of graphs, 1 or more")
    if not isinstance(perturb, int | np.integer) or isinstance(perturb, bool) or perturb < 1:
        raise ParameterError(f"perturb is {perturb!r}; give a whole number of changes, 1 or more")
    method, mixed = checked_method(method), is_mixed(numbers, score, test)
    test = checked_test(test, mixed=mixed)
    checked_seed(seed)
    search_settings: dict[str, Any] = {"time_limit": time_limit, "restarts": int(restarts), "perturb": perturb}
    search_settings |= {
        "tabu_length": int(tabu_length),
        "significance": significance,
        "test": test,
        "max_given": checked_most_given(max_given),
        "restrict": restrict,
        "maximize": maximize,
        "seed": seed,
        "progress": progress,
    }
    if mixed:
        rows = NumbersAndStates.of(data, discretize, columns, sample_weight)
        knowledge = rows.known(Knowledge.of(rows.names, required, forbidden, tiers, max_parents))
        begin = _beginning(start, rows.names, knowledge)
        return learn_mixed(rows, as_moment_score(score, graph_prior), knowledge, method, start=begin, **search_settings)
    table = StateTable.of(data, discretize, columns, sample_weight)
    require_rows(table.weight)
    if missing == "error":
        require_complete(table)
    knowledge = Knowledge.of(table.names, required, forbidden, tiers, max_parents)
    scored_by = as_score(score, graph_prior)
    found, rounds = find_graph(
        table.codes,
        table.n_states,
        scored_by,
        knowledge,
        method,
        weight=table.weight,
        start=_beginning(start, table.names, knowledge),
        **search_settings,
    )
    return LearnedStructure(table, comparing_score(scored_by) if rounds else scored_by, found, knowledge, rounds)


def learn_mixed(
    table: NumbersAndStates, score: MomentScore, knowledge: Knowledge, method: str, start: Begin = None, **settings: Any
) -> LearnedMixedStructure:
    """Search for the graph of states and numbers."""
    table.tell_twins()
    scores = table.scores(score)
    if method not in BY_TESTS and scores.total(knowledge.start if start is None else start) == -np.inf:
        raise DataError(
            "the graph to begin with leaves a number without variance: too few rows for its parents, or an exact "
            "function of them; require fewer arcs, or start from none"
        )
    return LearnedMixedStructure(table, score, search(scores, knowledge, method, start=start, **settings), knowledge)


def _beginning(start: Any, names: Sequence[str], knowledge: Knowledge) -> Begin:
    """Give the parents of each variable in the graph to begin from, if there is one."""
    if start is None:
        return None
    dag = ordered(read_graph(start), names, "start")
    knowledge.check(dag)
    return tuple(map(frozenset, dag.parents))


def score_structure(
    graph: Any,
    data: Any,
    score: Any = "bic",
    *,
    graph_prior: Any = "uniform",
    per_node: bool = False,
    per_arc: bool = False,
    numbers: str | None = None,
    new_rows: Any = None,
    discretize: str = "equal_frequency",
    columns: Mapping[Any, Any] | None = None,
    sample_weight: Any = None,
) -> Any:
    """Score a graph: natural logarithms, higher is better.

    Parameters
    ----------
    graph : graph or network
        Text, edges, `Dag`, networkx graph, `BayesianNetwork` or what `learn_structure` gave. Where the states of a
        network are bins, numbers go into these.
    data, score, graph_prior : as in `learn_structure`
        And the score "pred-loglik", the log-likelihood of other rows by parameters of these, with "gaussian" numbers.
    per_node : bool, default False
        Whether to give the score of each node; they add up to that of the graph.
    per_arc : bool, default False
        Whether to give what the score of the graph would lose without each arc.
    numbers : as in `learn_structure`
        Whether numbers are put into bins.
    new_rows : data frame, optional
        Of "pred-loglik", the other rows.
    discretize, columns, sample_weight : as in `learn_structure`
        How numbers are put into bins, and weights of rows.

    Returns
    -------
    float, dict {name: float}, or dict {(parent, child): float}
        The score, that of each node, or the loss without each arc.

    Raises
    ------
    ParameterError
        Where the score is not known, or a node has no column.

    See Also
    --------
    learn_structure : Find the graph of the highest score.
    description_length : Give the nats that graph, parameters and rows take together, the less the better.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"a": [0, 0, 1, 1], "b": ["x", "x", "y", "x"]})
    >>> round(score_structure("a -> b", frame, "loglik"), 4)
    -4.1589
    >>> score_structure("a -> b", frame, "loglik", per_arc=True)
    {('a', 'b'): 0.863...}
    """
    if per_node and per_arc:
        raise ParameterError("per_node and per_arc are two answers; ask for one of them")
    dag = read_graph(graph)
    if isinstance(score, str) and score.lower().startswith("pred-loglik"):
        found = _predictive(dag, data, new_rows, columns, sample_weight)
        if per_arc:
            raise ParameterError("'pred-loglik' is given for nodes, not for arcs; take 'loglik', or per_node=True")
        return found if per_node else sum(found.values())
    local_scores: FamilyScores
    if is_mixed(numbers, score):
        mixed = NumbersAndStates.of(data, discretize, columns, sample_weight)
        dag = ordered(dag, mixed.names, "graph")
        local_scores = mixed.scores(as_moment_score(score, graph_prior))
        return _of_graph(dag, local_scores, per_node=per_node, per_arc=per_arc)
    table = StateTable.of(data, discretize, columns, sample_weight, bins=_bins(graph), nodes=dag.names)
    require_rows(table.weight)
    require_complete(table)
    dag = ordered(dag, table.names, "graph")
    local_scores = LocalScores(table.codes, table.n_states, as_score(score, graph_prior), table.weight)
    return _of_graph(dag, local_scores, per_node=per_node, per_arc=per_arc)


def _of_graph(dag: Dag, local_scores: FamilyScores, *, per_node: bool, per_arc: bool) -> Any:
    nodes = {
        name: local_scores.of(node, own) for node, (name, own) in enumerate(zip(dag.names, dag.parents, strict=True))
    }
    too_large = next((name for name, value in nodes.items() if value == -np.inf), None)
    if too_large is not None and isinstance(local_scores, LocalScores):
        raise ParameterError(
            f"{too_large!r} with its parents has too many cells for {local_scores.score.name}; take 'bic'"
        )
    if per_arc:
        return {
            (dag.names[parent], name): nodes[name] - local_scores.of(node, set(own) - {parent})
            for node, (name, own) in enumerate(zip(dag.names, dag.parents, strict=True))
            for parent in own
        }
    return nodes if per_node else sum(nodes.values())


def _predictive(dag: Dag, data: Any, new_rows: Any, columns: Any, sample_weight: Any) -> dict[str, float]:
    """Log-likelihood of each node in other rows, by parameters of largest likelihood."""
    if new_rows is None:
        raise ParameterError("'pred-loglik' is of other rows; give them: new_rows=frame")
    if columns:
        raise ParameterError("'pred-loglik' takes no columns; give columns the types that they are to have")
    network = MixedNetwork.from_data(dag, named_frame(data), alpha=0, sample_weight=sample_weight)
    return {name: float(own.sum()) for name, own in network.node_log_probabilities(new_rows).items()}


def description_length(graph: Any, data: Any, score: Any = "bic", **settings: Any) -> float:
    """Give the description length of a graph and the rows, in nats: the negative of the score.

    With AIC and BIC it is ``f |B| - LL(B | D)``, f the price of a parameter and ``|B|`` the number of parameters.

    Parameters
    ----------
    graph, data, score : as in `score_structure`
        The graph, the rows, and the score.
    **settings : keywords
        Further settings of `score_structure`.

    Returns
    -------
    float
        Nats.

    See Also
    --------
    score_structure : Score a graph: natural logarithms, higher is better.

    Examples
    --------
    >>> import pandas as pd
    >>> from bayeswater import description_length
    >>> round(description_length("a -> b", pd.DataFrame({"a": [0, 0, 1, 1], "b": ["x", "x", "y", "x"]})), 4)
    6.2383
    """
    return -float(score_structure(graph, data, score, **settings))


def _bins(graph: Any) -> dict[str, ColumnSettings]:
    """Cuts of the numbers, by name, of a graph that knows them: those it was learned with, or that its states name."""
    if isinstance(graph, LearnedStructure):
        binned = graph.table.plan.of_families("binned")
        return {column.name: ColumnSettings("binned", cuts=column.cuts, dtype=column.dtype) for column in binned}
    if isinstance(graph, BayesianNetwork) and graph.has_tables:
        found = {variable.name: cuts_named(variable.states) for variable in graph.variables}
        return {name: ColumnSettings("binned", cuts=cuts) for name, cuts in found.items() if cuts is not None}
    return {}


def ordered(dag: Dag, names: Sequence[str], what: str) -> Dag:
    """Give the same graph with its nodes in the order of the columns."""
    for name in dag.names:
        if name not in names:
            raise ParameterError(f"{what} has a node {name!r}, but data has no such column; there are {names[:10]}")
    missing = [name for name in names if name not in dag.position]
    if missing and what == "graph":
        raise ParameterError(f"data has a column {missing[0]!r} that is no node of the graph; leave it out of one")
    place = {name: node for node, name in enumerate(names)}
    parents = {name: tuple(place[dag.names[p]] for p in own) for name, own in zip(dag.names, dag.parents, strict=True)}
    return Dag(tuple(names), tuple(parents.get(name, ()) for name in names))


def checked_most_given(most: Any) -> int | None:
    """Refuse a number of variables that is none."""
    if most is not None and (not isinstance(most, int | np.integer) or isinstance(most, bool) or most < 0):
        raise ParameterError(f"max_given is {most!r}; give a whole number of variables, 0 or more")
    return None if most is None else int(most)


def checked_significance(significance: Any) -> None:
    """Refuse what is no probability between 0 and 1."""
    if not (is_number(significance) and 0 < significance < 1):
        raise ParameterError(f"significance is {significance!r}; give a probability between 0 and 1")


def checked_test(test: str | None, *, mixed: bool) -> str | None:
    """Give the name that a test has here, None for that of the table, or refuse one that is not known."""
    if test is None:
        return None
    test = named_test(test)
    known = MIXED_TESTS if mixed else TESTS_OF_STATES
    if test not in known:
        raise ParameterError(f"test is {test!r}; choose one of {', '.join(known)}")
    return test


def checked_seed(seed: Any) -> None:
    """Refuse a seed that is no whole number."""
    if not isinstance(seed, int | np.integer) or isinstance(seed, bool) or seed < 0:
        raise ParameterError(f"seed is {seed!r}; give a whole number, 0 or more")
