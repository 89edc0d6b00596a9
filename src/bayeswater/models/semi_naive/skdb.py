"""`SKDB`: KDB whose number of columns and of parents is chosen by leave-one-out."""

from typing import Any

import numpy as np

from bayeswater.inference.choosing import best_of_prefixes, prefix_losses, validation_rows, validation_weight
from bayeswater.inference.dependence import Dependence
from bayeswater.inference.missing_parents import n_filled
from bayeswater.inference.scoring import SCORING_ROWS
from bayeswater.kernels.compiling import worth_compiling
from bayeswater.kernels.threads import ordered_map, row_blocks
from bayeswater.models.semi_naive.aode import AODE
from bayeswater.models.semi_naive.kdb import KDB, SeveralParents, go_round, require_number_of_parents
from bayeswater.models.semi_naive.learning import StateRows, pairs_of, parents_of
from bayeswater.models.semi_naive.state_classifier import StateClassifier
from bayeswater.models.settings import documented_as_in
from bayeswater.statistics.column_groups import ColumnGroups
from bayeswater.statistics.pair_counts import PairCounts
from bayeswater.statistics.parent_counts import Parents
from bayeswater.statistics.sums import Sums
from bayeswater.structure.trees import k_dependence, telling_order
from bayeswater.typing import Array

CHOOSING_ROWS = 2**18
"""Kinds of rows by which columns and parents are chosen, at most; of more, some."""

Chosen = tuple[int, tuple[str, ...]]
"""Number of parents, and names of the columns in their order."""


@documented_as_in(KDB, AODE)
class SKDB(SeveralParents, StateClassifier):
    """Selective KDB: P(y, x) = P(y) prod_j P(x_j | y, the first k parents of j), over the first a columns.

    Columns are ordered by what they tell about the class, and parents found, as by `KDB`, up to `max_k` of them. The
    first fit then scores rows against the counts without them, for all numbers k of parents and a of columns in one
    pass, and takes those with the least squared error of the true class. Of equal ones the fewer are taken.

    All rows are scored where 2^18 of them or fewer differ, and those with missing parents have 2^16 states together
    that these can be in; of more, a sample that their cells decide, whatever their order. A row whose missing parents
    can be in more than 2^10 states is not scored; the others with missing parents weigh more for it.

    Parameters
    ----------
    max_k : int, default 5
        Parents of a column to choose from.
    parents : dict {column: list of columns}, optional
        Parents to choose from, where they are known, the strongest first; `max_k` is not asked then. The
        ``counted_parents_`` of another model make this one count as it does, so that the two can be added.
    smoothing, class_free, alpha : as in `KDB`
    columns, discretize, class_prior, missing, unseen, calibrate : as in `AODE`

    Attributes
    ----------
    k_ : int
        Number of parents that was chosen.
    selected_ : tuple of str
        Columns that were chosen, the most telling first.
    structure_ : pair
        Both of them; fixed by the first fit.
    parents_ : dict
        The first `k_` parents of each column, the strongest first.
    counted_parents_ : dict
        All parents that each column was counted with, from which `k_` was chosen.
    concentrations_ : as in `KDB`
    columns_, classes_, class_count_, class_log_prior_, statistics_ : as in `AODE`

    Examples
    --------
    >>> import pyarrow as pa
    >>> table = pa.table({"a": ["no", "no", "yes", "yes"] * 5, "b": ["no", "yes", "no", "yes"] * 5})
    >>> model = SKDB().fit(table, ["same", "other", "other", "same"] * 5)
    >>> model.k_, model.selected_
    (1, ('a', 'b'))
    """

    def __init__(
        self,
        max_k: int = 5,
        *,
        parents: Any = None,
        columns: Any = None,
        discretize: str = "mdl",
        alpha: float = 1.0,
        smoothing: str = "back-off",
        class_free: float = 0.3,
        class_prior: Any = None,
        missing: str = "ignore",
        unseen: str = "ignore",
        calibrate: bool = False,
    ) -> None:
        self.max_k = max_k
        self.parents = parents
        self.columns = columns
        self.discretize = discretize
        self.alpha = alpha
        self.smoothing = smoothing
        self.class_free = class_free
        self.class_prior = class_prior
        self.missing = missing
        self.unseen = unseen
        self.calibrate = calibrate

    _chooses_by_rows = True

    def _found_parents(self, states: PairCounts) -> Parents:
        return k_dependence(states, int(self.max_k)).parents

    def _most_choosing(self, sums: Sums[ColumnGroups]) -> int:
        return CHOOSING_ROWS

    def _chosen(self, sums: Sums[ColumnGroups], rows: StateRows) -> Chosen:
        names = pairs_of(sums).schema.names
        order = self._order(sums)
        joint = self._read_first(sums, max(map(len, parents_of(sums).parents)), tuple(order))
        times = rows.times * ~rows.alone(sums.class_count.count)
        validation = validation_rows(rows.table, rows.labels.codes, rows.removed, times, CHOOSING_ROWS)
        some = rows.take(validation.rows)
        table, codes, removed = some.table, some.labels.codes, some.removed
        blocks, use_loop = row_blocks(len(some), SCORING_ROWS), worth_compiling(table.n_cells)
        n_combinations = np.empty(len(some))
        for own in blocks:
            n_combinations[own] = n_filled(joint.gaps(joint.states(table.block(own))), joint.n_states)
        times = validation_weight(n_combinations, validation.weight)

        def losses_of(own: slice) -> Array:
            block = table.block(own)
            return prefix_losses(joint, order, block, codes[own], removed[own], times[own], use_loop=use_loop)

        losses = np.zeros((joint.n_levels, len(order) + 1))
        for part in ordered_map(losses_of, blocks):
            losses += part
        choice = best_of_prefixes(losses)
        return choice.n_parents, tuple(names[j] for j in order[: choice.n_columns])

    def _order(self, sums: Sums[ColumnGroups]) -> list[int]:
        """Columns in the order of what they tell about the class; given parents stand before their children."""
        order: list[int] = telling_order(self._estimate(sums).states).tolist()
        if self.parents is None:
            return order
        parents = parents_of(sums).parents
        done: dict[int, None] = {}
        while len(done) < len(order):
            done[next(j for j in order if j not in done and all(p in done for p in parents[j]))] = None
        return list(done)

    def _can_be_structure(self, structure: Any, sums: Sums[ColumnGroups]) -> bool:
        parents, names = parents_of(sums).parents, pairs_of(sums).schema.names
        if go_round(parents):
            return False
        if not (isinstance(structure, tuple) and len(structure) == 2 and isinstance(structure[1], tuple)):
            return False
        k, selected = structure
        if type(k) is not int or not 0 <= k <= max(map(len, parents)):
            return False
        if len(set(selected)) < len(selected) or not set(selected) <= set(names):
            return False
        return all(names[p] in selected for name in selected for p in parents[names.index(name)])

    def _read_with(self, sums: Sums[ColumnGroups], structure: Chosen) -> Dependence:
        n_parents, selected = structure
        names = pairs_of(sums).schema.names
        return self._read_first(sums, n_parents, tuple(names.index(name) for name in selected))

    def _require_reading_parameters(self) -> None:
        super()._require_reading_parameters()
        require_number_of_parents(self.max_k, "max_k")

    @property
    def k_(self) -> int:
        """Number of parents that was chosen."""
        return self.structure_[0]

    @property
    def selected_(self) -> tuple[str, ...]:
        """Columns that were chosen, the most telling first."""
        return self.structure_[1]
