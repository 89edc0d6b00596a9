"""`TAN` and `SPODE`: every column depends on the class and on one other column.

Those of `TAN` form a tree; of `SPODE` one column, the super-parent, is the parent of all the others.
"""

import warnings
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Self

import numpy as np

from bayeswater.errors import ImpossibleEvidenceWarning, ParameterError
from bayeswater.inference.forest import Forest
from bayeswater.inference.log_space import log_posterior
from bayeswater.inference.scoring import score_blocks
from bayeswater.models.held_out import Fold
from bayeswater.models.semi_naive.aode import AODE
from bayeswater.models.semi_naive.learning import CodedPiece, StateRows, information_of_pairs, pairs_of
from bayeswater.models.semi_naive.state_classifier import StateClassifier
from bayeswater.models.settings import column_place, documented_as_in
from bayeswater.models.streaming.passes import Pass, Passes, side_by_side
from bayeswater.statistics.column_groups import ColumnGroups
from bayeswater.statistics.pair_counts import PairCounts
from bayeswater.statistics.some_pairs import Partners, SomePairs, stars
from bayeswater.statistics.sums import Sums
from bayeswater.structure.mutual_information import mutual_information
from bayeswater.structure.trees import PENALTIES, rooted, tree_augmented, tree_of_rows
from bayeswater.typing import Array


@documented_as_in(AODE)
class TAN(StateClassifier):
    """Tree-augmented naive Bayes: P(y, x) = P(y) prod_j P(x_j | y, x_parent(j)), the parents forming a tree.

    The tree is the one with the largest likelihood: the maximum spanning tree by CMI(X_i; X_j | Y), without smoothing.
    A column of more than 12 states, with fewer than 10 rows for each, is not part of it: it depends on the class alone,
    and `alpha` is the pseudo-count of each of its states. The tree is found again whenever the counts change. Of edges
    with equal weight, within rounding, the earlier columns win. Tables are smoothed:
    P(x_j | y, x_p) = (N(y, x_p, x_j) + m/v_j) / (N(y, x_p) + m), m = `alpha`.

    Rows are read as by `AODE`. A parent that is missing in a row is summed over, exactly.

    Parameters
    ----------
    root : name or position of a column, optional
        Column that depends on the class alone; default the one that tells most about it, by MI(X; Y). All roots have
        the same likelihood; smoothed tables differ a little.
    penalty : {None, "aic", "bic"}, default None
        What an edge has to pay for its parameters; those that do not pay are left out, which gives a forest.
    parents : dict {column: parent}, optional
        The tree itself, if it is known; columns that it does not name depend on the class alone.
    columns, discretize, alpha, smoothing, class_prior, class_weight, missing, unseen, calibrate : as in `AODE`

    Attributes
    ----------
    parents_ : dict
        The parent of each column, None for a root.
    columns_, classes_, class_count_, class_log_prior_, statistics_ : as in `AODE`

    See Also
    --------
    SPODE : One-dependence estimator with a super-parent.
    AODE : Averaged one-dependence estimators.
    KDB : Naive Bayes with k parents for each column.

    Notes
    -----
    With n rows, d columns of s states and K classes, `fit` takes O(n d^2) time and the counts of pairs O(K d^2 s^2)
    memory; `predict` takes O(n d K). Where those counts would take more than 1 GiB, rows in memory are looked at pair
    by pair, and only the pairs of the tree are kept: O(d^2) memory for one number a pair, O(K d s^2) for the model.
    The first fit then decides the tree for later rows, too.

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
        class_weight: Any = None,
        missing: str = "ignore",
        unseen: str = "ignore",
        calibrate: bool = False,
    ) -> None:
        self.root = root
        self.penalty = penalty
        self.parents = parents
        super().__init__(columns, discretize, alpha, smoothing, class_prior, class_weight, missing, unseen, calibrate)

    def _structure(self, sums: Sums[ColumnGroups]) -> tuple[int, ...]:
        """Parent of each column, or -1."""
        pairs = pairs_of(sums)
        names = pairs.schema.names
        if self.parents is not None:
            return _given_parents(self.parents, names)
        root = None if self.root is None else column_place(self.root, names, "root")
        states = self._estimate(sums).states
        if isinstance(pairs, SomePairs):  # the pairs of the tree, and no others
            if vars(self).get("_penalty_of_fit", self.penalty) != self.penalty:
                raise ParameterError(
                    f"penalty is {self.penalty!r}, but of so many columns only the pairs of a tree were counted, with "
                    f"penalty={self._penalty_of_fit!r}; set it back, or fit again"
                )
            parents = rooted([*pairs.each_pair()], mutual_information(states), root)
        else:
            assert isinstance(states, PairCounts)
            parents = tree_augmented(states, root, self.penalty)
        return tuple(parents.tolist())

    def _partners(self, rows: StateRows, singles: SomePairs) -> Partners:
        if self.parents is not None:
            given = _given_parents(self.parents, singles.schema.names)
            return tuple((p,) if p >= 0 else () for p in given)
        states = self._estimate_of(singles).states
        edges = tree_of_rows(states, partial(information_of_pairs, rows, states.n_states), self.penalty)
        partners: list[tuple[int, ...]] = [()] * len(singles.schema)
        for low, high in edges:
            partners[high] += (low,)
        return tuple(partners)

    _fixed_by_fit = ("structure_", "_penalty_of_fit")

    def _adopt(self, sums: Sums[ColumnGroups]) -> Self:
        self.__dict__.setdefault("_penalty_of_fit", self.penalty)
        return super()._adopt(sums)

    @property
    def _spares_names(self) -> bool:
        return self._finds_parents

    def _read_with(self, sums: Sums[ColumnGroups], structure: tuple[int, ...]) -> Forest:
        return Forest.of_tree(self._prior(sums), self._estimate(sums), structure)

    def _require_parameters(self, sums: Sums[ColumnGroups]) -> None:
        super()._require_parameters(sums)
        names = pairs_of(sums).schema.names
        if self.root is not None:
            column_place(self.root, names, "root")
        if self.parents is not None:
            given, pairs = _given_parents(self.parents, names), pairs_of(sums)
            edges = [(j, p) for j, p in enumerate(given) if p >= 0]
            if isinstance(pairs, SomePairs) and not set(edges) <= {*pairs.each_pair()}:
                raise ParameterError("parents names pairs of columns that were not counted together; fit again")

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
                f"parents has a cycle: {' -> '.join(names[i] for i in [*reversed(seen), seen[-1]])}; leave one out"
            )
    return tuple(parents.tolist())


BEST = "best"
"""Word for the super-parent of least leave-one-out log-loss."""

SAME_LOSS = 1e-12
"""Losses that differ by no more than this share of their size are equal: the order of rows moves their last digits."""


@documented_as_in(AODE)
class SPODE(StateClassifier):
    """Super-parent one-dependence estimator: P(y, x) = P(y, x_i) prod_{j != i} P(x_j | y, x_i).

    One column i, the super-parent, is the parent of all others; smoothing is that of `AODE`, which averages over all
    super-parents. Rows are read as by `AODE`. A super-parent that is missing in a row is summed over, exactly.

    Parameters
    ----------
    super_parent : name or position of a column, or "best", default "best"
        "best" takes the column of least leave-one-out log-loss on the rows of the fit, the first one among equals; none
        that has too many values for its rows to be the parent of another, such as a ticket number.
    columns, discretize, alpha, smoothing, class_prior, class_weight, missing, unseen, calibrate : as in `AODE`

    Attributes
    ----------
    super_parent_ : str
        The column that all others depend on.
    class_log_prior_ : array of shape (n_classes,)
        Of the rows that have the super-parent: it is counted in one piece with the class.
    columns_, classes_, class_count_, statistics_ : as in `AODE`

    See Also
    --------
    AODE : Averaged one-dependence estimators.
    TAN : Tree-augmented naive Bayes.

    Notes
    -----
    With n rows, d columns of s states and K classes, `fit` takes O(n d^2 K) time to find the super-parent, and the
    counts of pairs O(K d^2 s^2) memory; `predict` takes O(n d K).

    Examples
    --------
    >>> import pyarrow as pa
    >>> table = pa.table({"a": ["no", "no", "yes", "yes"] * 5, "b": ["no", "yes", "no", "yes"] * 5})
    >>> model = SPODE("b").fit(table, ["same", "other", "other", "same"] * 5)
    >>> model.predict(pa.table({"a": ["yes", "yes"], "b": ["yes", "no"]}))
    array(['same', 'other'], dtype='<U5')
    """

    def __init__(
        self,
        super_parent: Any = BEST,
        *,
        columns: Any = None,
        discretize: str = "mdl",
        alpha: float = 1.0,
        smoothing: str = "m-estimate",
        class_prior: Any = None,
        class_weight: Any = None,
        missing: str = "ignore",
        unseen: str = "ignore",
        calibrate: bool = False,
    ) -> None:
        self.super_parent = super_parent
        super().__init__(columns, discretize, alpha, smoothing, class_prior, class_weight, missing, unseen, calibrate)

    def _partners(self, rows: StateRows, singles: SomePairs) -> Partners | None:
        if not self._is_given:
            return None
        center = column_place(self.super_parent, singles.schema.names, "super_parent")
        return stars(np.array([center]), len(singles.schema))

    def _chosen(self, sums: Sums[ColumnGroups], rows: StateRows) -> str | None:
        return None if self._is_given else self._of_least_loss(sums, self._losses(rows, sums))

    @property
    def _chooses_by_rows(self) -> bool:
        return not self._is_given

    def _choosing_passes(self, sums: Sums[ColumnGroups], fold: Fold | None) -> Passes[str | None]:
        """Choose by the losses of all rows, which are sums: none has to be gathered."""
        if self._is_given:
            return None
        coded = CodedPiece.like(sums, self._settings, partial(self._losses, sums=sums), fold)
        found = yield Pass(partial(side_by_side, (coded,)), "choosing the super-parent")
        return self._of_least_loss(sums, found.parts[0])

    _way_to_parents = "super_parent=..."

    @property
    def _spares_names(self) -> bool:
        return not self._is_given

    def _losses(self, rows: StateRows, sums: Sums[ColumnGroups]) -> Array:
        """Sum the leave-one-out log-losses of some rows for every super-parent: (n_columns,).

        A column with too many values to be a parent is none, unless all are such.
        """
        table, labels, own = rows.table, rows.labels, np.arange(len(rows))
        is_scored = ~rows.alone(sums.class_count.count)
        is_usual = self._estimate(sums).is_usual
        losses = []
        with warnings.catch_warnings():  # of candidates that are not chosen nobody wants to know
            warnings.simplefilter("ignore", ImpossibleEvidenceWarning)
            for column, can_be in zip(table.plan.used, is_usual | ~is_usual.any(), strict=True):
                if not can_be:
                    losses.append(np.inf)
                    continue
                forest = self._read_with(sums, column.name)
                joint = replace(forest, prior=forest.prior.unweighted).without(table, labels, rows.removed)
                log_proba = score_blocks(joint, table, log_posterior)
                losses.append(-(log_proba[own, labels.codes] * rows.times)[is_scored].sum())
        return np.array(losses)

    def _of_least_loss(self, sums: Sums[ColumnGroups], losses: Array) -> str:
        """Name the super-parent of least loss; the first one among those that are equal but for rounding."""
        best = np.flatnonzero(losses <= losses.min() * (1 + SAME_LOSS))
        return pairs_of(sums).schema.names[int(best[0])]

    def _structure(self, sums: Sums[ColumnGroups]) -> str:
        pairs = pairs_of(sums)
        names, counted = pairs.schema.names, pairs.centers if isinstance(pairs, SomePairs) else ()
        if self._is_given:
            center = column_place(self.super_parent, names, "super_parent")
            if counted and center not in counted:
                raise ParameterError(
                    f"super_parent is {self.super_parent!r}, but columns were counted with {names[counted[0]]!r}; set "
                    "it back, or fit again"
                )
            return names[center]
        if "structure_" not in self.__dict__:
            raise ParameterError(
                "super_parent is 'best', but the rows were learned with one that was given; set it back, or fit again"
            )
        return str(self.structure_)

    @property
    def _is_given(self) -> bool:
        return not (isinstance(self.super_parent, str) and self.super_parent == BEST)

    def _can_be_structure(self, structure: Any, sums: Sums[ColumnGroups]) -> bool:
        is_name = isinstance(structure, str) and structure in pairs_of(sums).schema.names
        return is_name or (structure is None and self._is_given)

    def _read_with(self, sums: Sums[ColumnGroups], structure: str) -> Forest:
        estimate = self._estimate(sums)
        center = estimate.counts.schema.names.index(structure)
        if not estimate.n_states[center]:  # it never had a value
            return Forest.of_tree(self._prior(sums), estimate, (center,) * estimate.n_columns)
        return Forest.of_star(self._prior(sums), estimate, center)

    def _log_prior(self, sums: Sums[ColumnGroups]) -> Array:
        """Log class prior of the joint; of rows without the super-parent it counts none."""
        return self._read(sums).log_prior

    def _require_parameters(self, sums: Sums[ColumnGroups]) -> None:
        super()._require_parameters(sums)
        if self._is_given:
            column_place(self.super_parent, pairs_of(sums).schema.names, "super_parent")

    @property
    def super_parent_(self) -> str:
        """The column that all others depend on."""
        return self._structure(self.statistics_)
