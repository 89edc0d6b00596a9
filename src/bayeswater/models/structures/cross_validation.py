"""`cross_validate_structure`: how well networks explain rows that they were not learned from."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bayeswater.data.frames import frame_names, take_columns
from bayeswater.errors import ParameterError, nearest_names
from bayeswater.learning.structural_em import find_graph
from bayeswater.markup import html_table, paragraphs
from bayeswater.models.mixed_networks.mixed_network import MixedNetwork
from bayeswater.models.network.bayesian_network import BayesianNetwork
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
from bayeswater.structure.dag import Dag
from bayeswater.structure.hill_climbing import Parents
from bayeswater.structure.knowledge import Arcs, Knowledge
from bayeswater.structure.moment_scores import as_moment_score
from bayeswater.structure.scores import as_score
from bayeswater.typing import Array, is_number

HEADS = ("fold", "rows", "arcs", "log-loss", "error")


@record(repr=False)
class StructureValidation:
    """What rows that were held out lose.

    Attributes
    ----------
    graphs : the graph of each fold, learned from the rows of all others
    losses : (n_folds,) mean of -ln P(row) over the rows of each fold, in nats; of a target, of -ln P(target | rest)
    n_rows : (n_folds,) rows of each fold
    target : the variable that was predicted, if there is one
    errors : (n_folds,) share of wrong states of the target, or mean squared error of a number; NaN without a target
    """

    graphs: tuple[Dag, ...]
    losses: Array
    n_rows: Array
    target: str | None
    errors: Array

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

    @property
    def error(self) -> float:
        """Mean error of the target over all rows; NaN without one."""
        return float(self.errors @ self.n_rows / self.n_rows.sum())

    def _title(self) -> str:
        what = "a row" if self.target is None else f"{self.target!r}"
        error = "" if self.target is None else f"; error {self.error:.4g}"
        return f"Log-loss of {what} {self.loss:.4f} nats, standard error {self.standard_error:.4f}{error}"

    def _lines(self) -> list[tuple[str, ...]]:
        folds = zip(self.n_rows, self.graphs, self.losses, self.errors, strict=True)
        lines = [
            (f"{k}", f"{n}", f"{dag.n_edges}", f"{loss:.4f}", f"{error:.4g}")
            for k, (n, dag, loss, error) in enumerate(folds, start=1)
        ]
        return [line[: 4 if self.target is None else 5] for line in (HEADS, *lines)]

    def __repr__(self) -> str:
        return "\n".join([self._title(), *("".join(f"{cell:>10}" for cell in line) for line in self._lines())])

    def _repr_html_(self) -> str:
        heads, *lines = self._lines()
        return paragraphs([self._title()]) + html_table(heads, lines)


def cross_validate_structure(
    data: Any,
    graph: Any = None,
    *,
    score: Any = "bic",
    method: str = "auto",
    graph_prior: Any = "uniform",
    folds: Any = 10,
    target: str | None = None,
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
    """Score structure learning by cross-validation: the mean log-loss of a row of the fold that is left out.

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
    target : str, optional
        A variable that is predicted from all others: the loss is -ln P(target | rest), and `error` the share of wrong
        states, or the mean squared error of a number.
    equivalent_sample_size : float, default 1
        Imagined rows that are spread over each table, so that no row is impossible; 0 for none.
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
    >>> round(cross_validate_structure(rows, "rain -> wet", folds=3, target="rain").error, 3)
    0.267

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
    if not (is_number(equivalent_sample_size) and 0 <= equivalent_sample_size < np.inf):
        raise ParameterError(f"equivalent_sample_size is {equivalent_sample_size!r}; give a number, 0 or more")
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
    else:
        table = states = StateTable.of(data, discretize, columns, nodes=() if fixed is None else fixed.names)
        require_complete(states)
        knowledge = Knowledge.of(states.names, required, forbidden, tiers, max_parents)
        scored_by = as_score(score, graph_prior)

        def parents_by(kept: Array) -> Parents:
            found, _ = find_graph(states.codes[:, kept], states.n_states, scored_by, knowledge, method, **settings)
            return found.parents

    if target is not None and target not in table.names:
        raise ParameterError(f"target is {target!r}, which is no variable ({nearest_names(target, table.names)})")
    fixed = None if fixed is None else ordered(fixed, table.names, "graph")
    fold_of = _folds(folds, table.codes.shape[1], seed)
    graphs, scored, n_rows = [], [], []
    for fold in np.unique(fold_of):
        kept = fold_of != fold
        dag = fixed or Dag(table.names, tuple(tuple(sorted(own)) for own in parents_by(kept)))
        graphs.append(dag)
        scored.append(_loss_and_error(dag, table, kept, target, equivalent_sample_size))
        n_rows.append(int((~kept).sum()))
    losses, errors = np.array(scored).T
    return StructureValidation(tuple(graphs), losses, np.array(n_rows), target, errors)


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


def _loss_and_error(
    dag: Dag, table: StateTable | NumbersAndStates, kept: Array, target: str | None, sample_size: float
) -> tuple[float, float]:
    """Mean of -ln P(row), or of the target, of rows by tables and regressions of the others; and the target's error."""
    states = {v.name: v.states for v in table.variables if v is not None}
    learned_from, held_out = (table.of_rows(rows).to_frame() for rows in (kept, ~kept))
    prior: dict[str, Any] = {"equivalent_sample_size": sample_size} if sample_size else {"alpha": 0.0}
    kind = MixedNetwork if isinstance(table, NumbersAndStates) else BayesianNetwork
    network = kind.from_data(dag, learned_from, states=states, **prior)
    log_probability = network.log_probability(held_out)
    if target is None:
        return -float(np.mean(log_probability)), np.nan
    found = network.posteriors(take_columns(held_out, [name for name in table.names if name != target]), target)
    place, impossible = table.names.index(target), found.impossible
    if isinstance(table, NumbersAndStates) and target not in states:
        errors = np.where(impossible, np.inf, (found[target] - table.values[place, ~kept]) ** 2)
    else:
        errors = impossible | (found[target].argmax(axis=1) != table.codes[place, ~kept])
    losses = np.where(impossible, np.inf, found.log_evidence - np.where(impossible, 0.0, log_probability))
    return float(np.mean(losses)), float(np.mean(errors))
