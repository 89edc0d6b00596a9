"""`bootstrap_structure`, `average_structures`: how sure each arc is, by graphs of rows drawn anew, or of your own."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property, partial
from itertools import combinations
from typing import Any

import numpy as np

from bayeswater.data.frames import write_frame
from bayeswater.data.weights import require_rows
from bayeswater.errors import ParameterError
from bayeswater.markup import Safe, bar, html_table, paragraphs
from bayeswater.models.mixed_networks.mixed_network import MixedNetwork
from bayeswater.models.network.bayesian_network import BayesianNetwork
from bayeswater.models.network.graph import read_graph
from bayeswater.models.structures.mixed_learning import NumbersAndStates, is_mixed
from bayeswater.models.structures.state_table import StateTable, require_complete
from bayeswater.models.structures.structure_learning import (
    checked_seed,
    checked_significance,
    checked_test,
)
from bayeswater.networks.drawing import MOST_DRAWN, to_svg
from bayeswater.records import record
from bayeswater.structure.bootstrap import (
    arc_counts,
    averaged_parents,
    class_arcs,
    in_order_of_names,
    significance_threshold,
)
from bayeswater.structure.dag import Dag
from bayeswater.structure.equivalence import in_order_of
from bayeswater.structure.family_scores import FamilyScores
from bayeswater.structure.knowledge import Arcs, Knowledge
from bayeswater.structure.local_scores import LocalScores
from bayeswater.structure.moment_scores import as_moment_score
from bayeswater.structure.notation import quoted
from bayeswater.structure.scores import as_score
from bayeswater.structure.search import checked_method
from bayeswater.typing import Array, is_number

MOST_PAIRS = 20
"""Pairs that are printed."""

WIDEST = 4.0
"""Width of the line of an arc that every repetition has."""


@record(repr=False)
class ArcStrengths:
    """How often pairs were joined, and in which direction.

    Attributes
    ----------
    table : StateTable, or NumbersAndStates where numbers stay numbers; None of graphs that were given
    counts : array (n_variables, n_variables) of repetitions with the arc [parent, child]; one that the rows cannot
        direct counts half each way
    n : repetitions, or the sum of their weights
    knowledge : what was known beforehand
    """

    table: StateTable | NumbersAndStates | None
    counts: Array
    n: float
    knowledge: Knowledge

    @cached_property
    def strength(self) -> Array:
        """Share of the repetitions in which two variables are joined: (n_variables, n_variables)."""
        return (self.counts + self.counts.T) / self.n

    @cached_property
    def direction(self) -> Array:
        """Of those, the share in which the arc leads from row to column; 0 where they never are joined."""
        joined = self.counts + self.counts.T
        return np.divide(self.counts, joined, out=np.zeros_like(self.counts), where=joined > 0)

    @cached_property
    def threshold(self) -> float:
        """Strength beyond which a pair is taken to be joined, chosen from all strengths."""
        return significance_threshold(self.strength[np.tril_indices(len(self.counts), -1)])

    def graph(self, threshold: float | None = None) -> Dag:
        """The averaged graph: all pairs that are stronger than the threshold, unless an arc would close a cycle."""
        if threshold is None:
            threshold = self.threshold
        if not (is_number(threshold) and 0 <= threshold <= 1):
            raise ParameterError(f"threshold is {threshold!r}; give a number from 0 to 1")
        return Dag(self.knowledge.names, averaged_parents(self.counts, self.n, threshold, self.knowledge))

    def network(self, threshold: float | None = None, **prior: Any) -> BayesianNetwork | MixedNetwork:
        """The averaged graph with tables and regressions estimated from all rows; see `BayesianNetwork.from_data`."""
        table = self.table
        if table is None:
            raise ParameterError(
                "graphs have no rows to estimate tables from: take BayesianNetwork.from_data(graph, data)"
            )
        states = {variable.name: variable.states for variable in table.variables if variable is not None}
        prior = prior or {"equivalent_sample_size": 1.0}
        kind = MixedNetwork if isinstance(table, NumbersAndStates) else BayesianNetwork
        return kind.from_data(
            self.graph(threshold), table.to_frame(), states=states, sample_weight=table.weight, **prior
        )

    def _pairs(self) -> list[tuple[str, str, float, float]]:
        """Pairs with strength and direction: the strongest first, and of what is equal the first name."""
        names, found = self.knowledge.names, []
        for a, b in combinations(in_order_of_names(names).tolist(), 2):
            parent, child = (b, a) if self.counts[b, a] > self.counts[a, b] else (a, b)
            found.append((names[parent], names[child], self.strength[a, b], self.direction[parent, child]))
        return sorted((pair for pair in found if pair[2] > 0), key=lambda pair: -pair[2])

    def to_frame(self) -> Any:
        """Pairs that were ever joined: "from", "to", "strength" and "direction", the strongest first."""
        start, end, strength, direction = zip(*self._pairs(), strict=True) if self._pairs() else ((), (), (), ())
        columns = {"from": start, "to": end, "strength": strength, "direction": direction}
        library = None if self.table is None else self.table.library
        return write_frame({name: np.array(values) for name, values in columns.items()}, library)

    def _title(self) -> str:
        what = "graphs" if self.table is None else "repetitions"
        return f"Arcs in {self.n:g} {what}; those over {self.threshold:.3g} are significant"

    def to_svg(self, threshold: float | None = None) -> str:
        """Draw the averaged graph, each arc as wide as it is strong."""
        dag = self.graph(threshold)
        arcs = ((parent, child) for child, own in enumerate(dag.parents) for parent in own)
        return to_svg(dag, widths={arc: WIDEST * float(self.strength[arc]) for arc in arcs})

    def _repr_html_(self) -> str:
        drawing = Safe(self.to_svg()) if len(self.counts) <= MOST_DRAWN else ""
        rows = [(f"{a} → {b}", bar(s), f"{s:.3f}", f"{d:.3f}") for a, b, s, d in self._pairs()[:MOST_PAIRS]]
        return paragraphs([self._title()]) + html_table(("arc", "", "strength", "this way"), rows) + drawing

    def __repr__(self) -> str:
        pairs = self._pairs()
        arcs = [f"{quoted(a)} -> {quoted(b)}" for a, b, *_ in pairs[:MOST_PAIRS]]
        width = max(map(len, arcs), default=0)
        lines = [self._title()]
        lines += [
            f"  {arc:{width}}  {strength:5.3f}  this way {direction:.3f}"
            for arc, (_, _, strength, direction) in zip(arcs, pairs, strict=False)
        ]
        if len(pairs) > MOST_PAIRS:
            lines.append(f"  and {len(pairs) - MOST_PAIRS} weaker ones")
        return "\n".join(lines)


def bootstrap_structure(
    data: Any,
    n: int = 200,
    score: Any = "bic",
    method: str = "hill_climb",
    *,
    graph_prior: Any = "uniform",
    required: Arcs = None,
    forbidden: Arcs = None,
    tiers: Sequence[Sequence[str]] | None = None,
    max_parents: int | None = None,
    significance: float = 0.05,
    test: str | None = None,
    seed: int = 0,
    numbers: str | None = None,
    discretize: str = "equal_frequency",
    columns: Mapping[Any, Any] | None = None,
    sample_weight: Any = None,
    progress: Callable[[int], None] | None = None,
) -> ArcStrengths:
    """Learn a structure n times from rows drawn with replacement, and count how often each arc is found.

    Parameters
    ----------
    data : as in `learn_structure`
        The rows. Cuts of numbers are made once, from all of them.
    n : int, default 200
        Number of repetitions.
    score, method, graph_prior : as in `learn_structure`
        The search for a graph.
    required, forbidden, tiers, max_parents, significance, test : as in `learn_structure`
        Knowledge that the search keeps to, and its tests.
    seed : int, default 0
        Seed of the draws.
    numbers, discretize, columns, sample_weight : as in `learn_structure`
        How rows are read.
    progress : function, optional
        It is called with the number of repetitions done.

    Returns
    -------
    ArcStrengths
        How often each arc was found, and in which direction.

    See Also
    --------
    learn_structure : Find the graph of the highest score.
    cross_validate_structure : Learn a graph and its tables from all folds of the rows but one.

    Notes
    -----
    It takes the time of n calls of `learn_structure`.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"a": [0, 0, 1, 1] * 20, "b": ["x", "x", "y", "y"] * 20, "c": [0, 1, 0, 1] * 20})
    >>> found = bootstrap_structure(frame, n=20)
    >>> print(found.strength[0, 1], list(found.graph().edges()))
    1.0 [('a', 'b')]

    With ``numbers="gaussian"`` numbers stay numbers, and `network` is a `MixedNetwork`.
    """
    if not isinstance(n, int | np.integer) or isinstance(n, bool) or n < 1:
        raise ParameterError(f"n is {n!r}; give the number of repetitions, 1 or more")
    checked_seed(seed)
    checked_significance(significance)
    method, test = checked_method(method), checked_test(test, mixed=is_mixed(numbers, score, test))
    table: StateTable | NumbersAndStates
    scores: Callable[[Array, Array], FamilyScores]
    if is_mixed(numbers, score, test):
        table = mixed = NumbersAndStates.of(data, discretize, columns, sample_weight)
        scored_by = as_moment_score(score, graph_prior)
        scores = partial(mixed.scores, scored_by)
    else:
        table = states = StateTable.of(data, discretize, columns, sample_weight)
        require_rows(table.weight)
        require_complete(states)
        of_states = as_score(score, graph_prior)

        def scores(order: Array, rows: Array) -> FamilyScores:
            return LocalScores(states.codes[order][:, rows], states.n_states[order], of_states)

    knowledge = Knowledge.of(table.names, required, forbidden, tiers, max_parents)
    if isinstance(table, NumbersAndStates):
        knowledge = table.known(knowledge)
    counts = arc_counts(
        scores,
        table.codes.shape[1],
        knowledge,
        int(n),
        method=method,
        seed=seed,
        test=test,
        significance=significance,
        weight=table.weight,
        progress=progress,
    )
    return ArcStrengths(table, counts, int(n), knowledge)


def average_structures(graphs: Iterable[Any], weights: Iterable[float] | None = None) -> ArcStrengths:
    """Count how often arcs are found in graphs of your own: of several searches, folds or experts.

    Parameters
    ----------
    graphs : iterable of graphs
        Graphs of the same nodes, in any form. Each counts as its class of equivalent graphs: an arc that may point
        either way counts half for each.
    weights : iterable of float, optional
        As how many graphs each counts.

    Returns
    -------
    ArcStrengths
        How often each arc is there, and in which direction; ``.graph()`` is the averaged graph.

    Raises
    ------
    ParameterError
        Where the graphs differ in their nodes, or weights are no numbers over 0.

    See Also
    --------
    bootstrap_structure : Learn a structure n times from rows drawn with replacement.
    cross_validate_structure : Learn a graph and its tables from all folds of the rows but one.

    Examples
    --------
    >>> found = average_structures(["a -> c <- b", "a -> c <- b", "a -> c; b"])
    >>> found.strength[0, 1].round(3), list(found.graph(0.5).edges())
    (np.float64(1.0), [('a', 'c'), ('b', 'c')])
    """
    dags = [read_graph(graph) for graph in graphs]
    if not dags:
        raise ParameterError("there are no graphs to average; give one or more")
    weight = np.ones(len(dags)) if weights is None else np.asarray(list(weights))
    if weight.shape != (len(dags),) or weight.dtype.kind not in "iuf" or not (np.isfinite(weight) & (weight > 0)).all():
        raise ParameterError(f"weights are {weights!r}; give a number over 0 for each of the {len(dags)} graphs")
    knowledge = Knowledge.of(dags[0].names)
    counts = sum(own * class_arcs(in_order_of(dags[0], dag), knowledge) for own, dag in zip(weight, dags, strict=True))
    return ArcStrengths(None, np.asarray(counts), float(weight.sum()), knowledge)
