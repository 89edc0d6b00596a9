"""`TAN`: naive Bayes augmented by a tree, in which every column depends on the class and on one other column."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from bayeswater.errors import ParameterError
from bayeswater.estimate.pairs import PairEstimate
from bayeswater.inference.forest import Forest
from bayeswater.models.semi_naive.aode import AODE
from bayeswater.models.semi_naive.learning import pairs_of
from bayeswater.models.semi_naive.state_classifier import StateClassifier
from bayeswater.models.settings import column_place, documented_as_in
from bayeswater.statistics.column_groups import ColumnGroups
from bayeswater.statistics.pair_counts import PairCounts
from bayeswater.statistics.sums import Sums
from bayeswater.structure.mutual_information import sparse_columns
from bayeswater.structure.trees import PENALTIES, tree_augmented


@documented_as_in(AODE)
class TAN(StateClassifier):
    """Tree-augmented naive Bayes: P(y, x) = P(y) prod_j P(x_j | y, x_parent(j)), the parents forming a tree.

    Of all trees the one of largest likelihood is taken: the maximum spanning tree by CMI(X_i; X_j | Y), unsmoothed. It
    has the columns of 12 states at most, or of 10 rows for each state; others depend on the class alone, and `alpha` is
    the pseudo-count of each of their states.
    It is read from the counts again whenever they change. Edges of equal weight, within rounding, go by the order of
    their columns. Tables are smoothed: P(x_j | y, x_p) = (N(y, x_p, x_j) + m/v_j) / (N(y, x_p) + m), m = `alpha`.

    Rows are read as by `AODE`. A parent that is missing in a row is summed over, exactly.

    Parameters
    ----------
    root : name or position of a column, optional
        Column that depends on the class alone; default the one that tells most about it, by MI(X; Y). All roots have
        the same likelihood; smoothed tables differ a little.
    penalty : {None, "aic", "bic"}, default None
        What an edge has to pay for its parameters; those that do not pay are left out, which gives a forest.
    parents : dict {column: parent}, optional
        The tree itself, where it is known; columns that it does not name depend on the class alone.
    columns, discretize, alpha, smoothing, class_prior, missing, unseen, calibrate : as in `AODE`

    Attributes
    ----------
    parents_ : dict
        The parent of each column, None for a root.
    columns_, classes_, class_count_, class_log_prior_, statistics_ : as in `AODE`

    Examples
    --------
    >>> import pyarrow as pa
    >>> table = pa.table({"a": ["no", "no", "yes", "yes"] * 5, "b": ["no", "yes", "no", "yes"] * 5})
    >>> model = TAN().fit(table, ["same", "other", "other", "same"] * 5)
    >>> model.parents_
    {'a': None, 'b': 'a'}
    >>> model.predict(pa.table({"a": ["yes", "yes"], "b": ["yes", "no"]}))
    array(['same', 'other'], dtype='<U5')
    """

    def __init__(
        self,
        *,
        root: Any = None,
        penalty: str | None = None,
        parents: Any = None,
        columns: Any = None,
        discretize: str = "mdl",
        alpha: float = 1.0,
        smoothing: str = "m-estimate",
        class_prior: Any = None,
        missing: str = "ignore",
        unseen: str = "ignore",
        calibrate: bool = False,
    ) -> None:
        self.root = root
        self.penalty = penalty
        self.parents = parents
        self.columns = columns
        self.discretize = discretize
        self.alpha = alpha
        self.smoothing = smoothing
        self.class_prior = class_prior
        self.missing = missing
        self.unseen = unseen
        self.calibrate = calibrate

    def _structure(self, sums: Sums[ColumnGroups]) -> tuple[int, ...]:
        """Parent of each column, or -1."""
        names = pairs_of(sums).schema.names
        if self.parents is not None:
            return _given_parents(self.parents, names)
        root = None if self.root is None else column_place(self.root, names, "root")
        parents = tree_augmented(self._estimate(sums).states, root, self.penalty)
        return tuple(parents.tolist())

    def _estimate_of(self, pairs: PairCounts) -> PairEstimate:
        estimate = super()._estimate_of(pairs)
        # One row, spread over hundreds of states, would let a state that came once outweigh all other columns.
        return replace(estimate, is_sparse=sparse_columns(estimate.states)) if self._finds_parents else estimate

    def _read_with(self, sums: Sums[ColumnGroups], structure: tuple[int, ...]) -> Forest:
        return Forest.of_tree(self._prior(sums), self._estimate(sums), structure)

    def _require_parameters(self, sums: Sums[ColumnGroups]) -> None:
        super()._require_parameters(sums)
        names = pairs_of(sums).schema.names
        if self.root is not None:
            column_place(self.root, names, "root")
        if self.parents is not None:
            _given_parents(self.parents, names)

    def _require_reading_parameters(self) -> None:
        super()._require_reading_parameters()
        if self.penalty not in (None, *PENALTIES):
            raise ParameterError(f"penalty is {self.penalty!r}; it can be None, 'aic' or 'bic'")
        if self.parents is not None and (self.root is not None or self.penalty is not None):
            raise ParameterError("parents gives the tree, so there is neither a root nor a penalty to ask for")

    @property
    def parents_(self) -> dict[str, str | None]:
        """Parent of each column."""
        names = pairs_of(self.statistics_).schema.names
        forest: Forest = self._joint()
        return {name: None if p < 0 else names[p] for name, p in zip(names, forest.parents, strict=True)}


def _given_parents(given: Any, names: tuple[str, ...]) -> tuple[int, ...]:
    """Read a tree as the user gives it, and refuse one that goes round."""
    if not isinstance(given, Mapping):
        raise ParameterError(f"parents is {given!r}; give a dict {{column: parent}}")
    parents = np.full(len(names), -1)
    for child, parent in given.items():
        if parent is not None:
            parents[column_place(child, names, "parents")] = column_place(parent, names, "parents")
    for j in range(len(names)):
        seen, at = [j], int(parents[j])
        while at >= 0 and at != j and len(seen) <= len(names):
            seen.append(at)
            at = int(parents[at])
        if at == j:
            raise ParameterError(
                f"parents goes round: {' -> '.join(names[i] for i in [*reversed(seen), seen[-1]])}; leave one out"
            )
    return tuple(parents.tolist())
