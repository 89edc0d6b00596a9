"""`cross_validate_structure`: how well networks explain rows that they were not learned from."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bayeswater.data.frames import frame_names, take_columns
from bayeswater.errors import ParameterError
from bayeswater.estimate.dirichlet import conditional_table
from bayeswater.learning.structural_em import find_graph
from bayeswater.markup import html_table, paragraphs
from bayeswater.models.mixed_networks.mixed_network import MixedNetwork
from bayeswater.models.network.graph import read_graph
from bayeswater.models.structures.mixed_learning import NumbersAndStates, is_mixed
from bayeswater.models.structures.state_table import StateTable, named_frame, require_complete
from bayeswater.models.structures.structure_learning import (
    checked_seed,
    checked_significance,
    checked_test,
    learn_mixed,
    ordered,
)
from bayeswater.records import record
from bayeswater.statistics.category_counts import joint_counts
from bayeswater.structure.dag import Dag
from bayeswater.structure.hill_climbing import Parents
from bayeswater.structure.knowledge import Arcs, Knowledge
from bayeswater.structure.moment_scores import as_moment_score
from bayeswater.structure.scores import as_score
from bayeswater.typing import Array, is_number

HEADS = ("fold", "rows", "arcs", "log-loss")


@record(repr=False)
class StructureValidation:
    """What rows that were held out lose.

    Attributes
    ----------
    graphs : the graph of each fold, learned from the rows of all others
    losses : (n_folds,) mean of -ln P(row) over the rows of each fold, in nats
    n_rows : (n_folds,) rows of each fold
    """

    graphs: tuple[Dag, ...]
    losses: Array
    n_rows: Array

    @property
    def loss(self) -> float:
        """Mean over all rows."""
        return float(self.losses @ self.n_rows / self.n_rows.sum())

    @property
    def standard_error(self) -> float:
        """Error of the mean, by how the folds differ; infinite where a row is impossible."""
        if not np.isfinite(self.losses).all():
            return float("inf")
        return float(np.std(self.losses, ddof=1) / np.sqrt(len(self.losses)))

    def _title(self) -> str:
        return f"Log-loss of a row {self.loss:.4f} nats, standard error {self.standard_error:.4f}"

    def _lines(self) -> list[list[str]]:
        folds = zip(self.n_rows, self.graphs, self.losses, strict=True)
        return [[f"{k}", f"{n}", f"{dag.n_edges}", f"{loss:.4f}"] for k, (n, dag, loss) in enumerate(folds, start=1)]

    def __repr__(self) -> str:
        lines = [HEADS, *self._lines()]
        return "\n".join([self._title(), *("".join(f"{cell:>10}" for cell in line) for line in lines)])

    def _repr_html_(self) -> str:
        return paragraphs([self._title()]) + html_table(HEADS, self._lines())


def cross_validate_structure(
    data: Any,
    graph: Any = None,
    *,
    score: Any = "bic",
    method: str = "auto",
    graph_prior: Any = "uniform",
    folds: Any = 10,
    equivalent_sample_size: float = 1.0,
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
) -> StructureValidation:
    """Learn a graph and its tables from all folds of the rows but one, and score that one: for each of them.

    Parameters
    ----------
    data : as in `learn_structure`
        The rows. Cuts of numbers are made once, from all of them.
    graph : graph, optional
        Default: one is learned for each fold. Of a graph in any form, the tables alone are learned.
    score, method, graph_prior : as in `learn_structure`
        The search for a graph.
    folds : int or array of shape (n_rows,), default 10
        Number of folds, drawn by the seed, or the fold of each row.
    equivalent_sample_size : float, default 1
        Imagined rows that are spread over each table, so that no row is impossible.
    required, forbidden, tiers, max_parents, significance, test : as in `learn_structure`
        Knowledge and tests of the search.
    seed : int, default 0
        Seed of the folds.
    numbers, discretize, columns : as in `learn_structure`
        How numbers are read. With "gaussian" they stay numbers, -ln P(row) is of a density, and so it may be below 0.

    Returns
    -------
    StructureValidation
        The loss of every fold, their mean, and the graphs.

    See Also
    --------
    learn_structure : Find the graph of the highest score.
    score_structure : Score a graph: natural logarithms, higher is better.

    Notes
    -----
    It takes the time of a call of `learn_structure` for each fold.

    Examples
    --------
    >>> import pandas as pd
    >>> rows = pd.DataFrame({"rain": ["yes", "no", "no", "no"] * 30, "wet": ["yes", "no", "no", "yes"] * 30})
    >>> found, apart = cross_validate_structure(rows, folds=3), cross_validate_structure(rows, "rain; wet", folds=3)
    >>> found.loss < apart.loss
    True

    Numbers that stay numbers:

    >>> rows = pd.DataFrame({"x": [1.0, 2, 3, 4, 5, 6] * 9, "y": [1.1, 2.3, 2.9, 4.2, 5.1, 5.8] * 9})
    >>> found, apart = (
    ...     cross_validate_structure(rows, graph, folds=3, numbers="gaussian") for graph in ("x -> y", "x; y")
    ... )
    >>> found.loss < apart.loss
    True
    """
    checked_seed(seed)
    checked_significance(significance)
    if not (is_number(equivalent_sample_size) and 0 < equivalent_sample_size < np.inf):
        raise ParameterError(f"equivalent_sample_size is {equivalent_sample_size!r}; give a number over 0")
    fixed = None if graph is None else read_graph(graph)
    is_of_both = is_mixed(numbers, score, test)
    settings: dict[str, Any] = {"seed": seed, "significance": significance}
    settings["test"] = checked_test(test, mixed=is_of_both)
    table: StateTable | NumbersAndStates
    if is_of_both:
        table = mixed = NumbersAndStates.of(_with_nodes(data, fixed), discretize, columns)
        knowledge = mixed.known(Knowledge.of(mixed.names, required, forbidden, tiers, max_parents))
        by_moments = as_moment_score(score, graph_prior)

        def parents_by(kept: Array) -> Parents:
            return learn_mixed(mixed.of_rows(kept), by_moments, knowledge, method, **settings).search.parents

        def loss_of(dag: Dag, kept: Array) -> float:
            return _mixed_loss(dag, mixed, kept, equivalent_sample_size)
    else:
        table = states = StateTable.of(data, discretize, columns, nodes=() if fixed is None else fixed.names)
        require_complete(states)
        knowledge = Knowledge.of(states.names, required, forbidden, tiers, max_parents)
        scored_by = as_score(score, graph_prior)

        def parents_by(kept: Array) -> Parents:
            found, _ = find_graph(states.codes[:, kept], states.n_states, scored_by, knowledge, method, **settings)
            return found.parents

        def loss_of(dag: Dag, kept: Array) -> float:
            return _loss(dag, states.n_states, states.codes[:, kept], states.codes[:, ~kept], equivalent_sample_size)

    fixed = None if fixed is None else ordered(fixed, table.names, "graph")
    fold_of = _folds(folds, table.codes.shape[1], seed)
    graphs, losses, n_rows = [], [], []
    for fold in np.unique(fold_of):
        kept = fold_of != fold
        dag = fixed or Dag(table.names, tuple(tuple(sorted(own)) for own in parents_by(kept)))
        graphs.append(dag)
        losses.append(loss_of(dag, kept))
        n_rows.append(int((~kept).sum()))
    return StructureValidation(tuple(graphs), np.array(losses), np.array(n_rows))


def _with_nodes(data: Any, graph: Dag | None) -> Any:
    """Give the columns of a frame that are nodes of the graph, if one is given."""
    data = named_frame(data)
    return data if graph is None else take_columns(data, [name for name in frame_names(data) if name in graph.position])


def _folds(folds: Any, n_rows: int, seed: int) -> Array:
    """Give the fold of each row."""
    if isinstance(folds, int | np.integer) and not isinstance(folds, bool):
        if not 2 <= folds <= n_rows:
            raise ParameterError(f"folds is {folds}; give a number from 2 to that of the rows, {n_rows}")
        return np.random.default_rng(seed).permutation(n_rows) % int(folds)
    fold_of = np.asarray(folds)
    if fold_of.shape != (n_rows,) or len(np.unique(fold_of)) < 2:
        raise ParameterError(
            f"folds has shape {fold_of.shape} and {len(np.unique(fold_of))} folds; give a number, or the fold of each "
            f"of the {n_rows} rows, two or more of them"
        )
    return fold_of


def _loss(dag: Dag, n_states: Array, learned_from: Array, held_out: Array, sample_size: float) -> float:
    """Mean of -ln P(row) by tables that are learned from other rows."""
    total = 0.0
    for node, own in enumerate(dag.parents):
        axes = (*own, node)
        shape = tuple(n_states[list(axes)].tolist())
        counts = joint_counts(learned_from, axes, shape, None)
        tables = conditional_table(counts, np.full(shape[-1], sample_size / float(np.prod(shape))))
        total -= float(np.log(tables[tuple(held_out[list(axes)])]).sum())
    return total / held_out.shape[1]


def _mixed_loss(dag: Dag, table: NumbersAndStates, kept: Array, sample_size: float) -> float:
    """Mean of -ln P(row), of numbers a density, by tables and regressions that are learned from other rows."""
    states = {name: v.states for name, v in zip(table.names, table.variables, strict=True) if v is not None}
    learned_from, held_out = (table.of_rows(rows).to_frame() for rows in (kept, ~kept))
    network = MixedNetwork.from_data(dag, learned_from, equivalent_sample_size=sample_size, states=states)
    return -float(np.mean(network.log_probability(held_out)))
