"""`KDB`: every column depends on the class and on the k columns before it that tell most of it.

`SKDB` chooses the number of columns and of parents by leave-one-out. `SeveralParents` is what the two share: how
columns get their parents, and how their tables are smoothed.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeswater.errors import ParameterError
from bayeswater.estimate.dirichlet import KINDS, PseudoCounts
from bayeswater.inference.choosing import first_of_least, prefix_losses, validation_rows, validation_weight
from bayeswater.inference.dependence import Dependence
from bayeswater.inference.missing_parents import n_filled
from bayeswater.inference.scoring import SCORING_ROWS
from bayeswater.kernels.compiling import worth_compiling
from bayeswater.kernels.pair_information import PairValues
from bayeswater.kernels.threads import ordered_map, row_blocks
from bayeswater.models.semi_naive.aode import AODE
from bayeswater.models.semi_naive.learning import StateRows, information_of_pairs, pairs_of, parents_of
from bayeswater.models.semi_naive.state_classifier import StateClassifier
from bayeswater.models.settings import column_place, documented_as_in
from bayeswater.statistics.category_counts import CategoryCounts
from bayeswater.statistics.column_groups import ColumnGroups
from bayeswater.statistics.pair_counts import PairCounts
from bayeswater.statistics.parent_counts import Parents
from bayeswater.statistics.some_pairs import Partners, SomePairs
from bayeswater.statistics.sums import Sums
from bayeswater.structure.trees import k_dependence, telling_order
from bayeswater.typing import Array, is_number

if TYPE_CHECKING:
    Base = StateClassifier
else:
    Base = object

BACK_OFF = "back-off"
"""Word for the smoothing in which each level is drawn towards the one with a parent less."""


class SeveralParents(Base):
    """Mixin of a `StateClassifier` that counts every column with several parents, given or found."""

    parents: Any
    class_free: float

    _counts_parents = True

    def _found_parents(self, states: PairCounts | CategoryCounts, information: PairValues | None) -> Parents:
        """Parents of each column by what columns tell of each other."""
        raise NotImplementedError

    def _partners(self, rows: StateRows, singles: SomePairs) -> Partners:
        return singles.partners  # none: columns are counted with their parents, and pairs only tell which these are

    def _parents_by(self, pairs: PairCounts, rows: StateRows | None = None) -> Parents:
        if self.parents is not None:
            return _given_parents(self.parents, pairs.schema.names)
        states = self._estimate_of(pairs).states
        return self._found_parents(states, None if rows is None else information_of_pairs(rows, states.n_states))

    def _read_first(self, sums: Sums[ColumnGroups], n_parents: int, used: tuple[int, ...]) -> Dependence:
        """Read some columns with their first parents off the counts."""
        class_free = float(self.class_free) if self.smoothing == BACK_OFF else None
        counts = parents_of(sums)
        return Dependence(self._prior(sums), self._estimate(sums), counts, n_parents, used, class_free).read()

    @property
    def _smoothing(self) -> PseudoCounts:
        """Smoothing of single tables, and of the class prior."""
        if self.smoothing not in (*KINDS, BACK_OFF):
            raise ParameterError(f"smoothing is {self.smoothing!r}; it can be one of {[*KINDS, BACK_OFF]}")
        return PseudoCounts("m-estimate" if self.smoothing == BACK_OFF else self.smoothing, self.alpha)

    def _require_reading_parameters(self) -> None:
        super()._require_reading_parameters()
        if not (is_number(self.class_free) and 0 <= self.class_free <= 1):
            raise ParameterError(f"class_free is {self.class_free!r}; it must be a number from 0 to 1")
        if self.parents is not None and not isinstance(self.parents, Mapping):
            raise ParameterError(f"parents is {self.parents!r}; give a dict {{column: [parents]}}")

    @property
    def parents_(self) -> dict[str, tuple[str, ...]]:
        """Parents of each column, the strongest first."""
        return _named_parents(self.statistics_, self._joint().parents)

    @property
    def counted_parents_(self) -> dict[str, tuple[str, ...]]:
        """All parents that each column was counted with, of which ``parents_`` are the first.

        Another model with these as its `parents` counts as this one does: the two can be added.
        """
        return _named_parents(self.statistics_, parents_of(self.statistics_).parents)

    @property
    def concentrations_(self) -> dict[str, list[float]]:
        """Concentrations of back-off: c of each level with the class and, ``"without_class"``, f without it.

        Level l has the first l parents; f of level 0 is `alpha`. Columns of too many states to be a parent have others.
        """
        if self.smoothing != BACK_OFF:
            raise AttributeError(f"smoothing is {self.smoothing!r}: only back-off has concentrations")
        rule = self._joint().usual_rule
        return {"with_class": rule.with_class.tolist(), "without_class": rule.without_class.tolist()}


def _named_parents(sums: Sums[ColumnGroups], parents: Parents) -> dict[str, tuple[str, ...]]:
    """Name the parents of each column."""
    names = pairs_of(sums).schema.names
    return {name: tuple(names[p] for p in own) for name, own in zip(names, parents, strict=True)}


def require_number_of_parents(number: Any, parameter: str) -> None:
    """Refuse what is no number of parents."""
    if not isinstance(number, int | np.integer) or isinstance(number, bool) or number < 0:
        raise ParameterError(f"{parameter} is {number!r}; it must be a whole number of parents, 0 or more")


def go_round(parents: Parents) -> list[int]:
    """Columns that hang on themselves, and those below them."""
    done: set[int] = set()
    while ready := [j for j, own in enumerate(parents) if j not in done and done.issuperset(own)]:
        done.update(ready)
    return [j for j in range(len(parents)) if j not in done]


def _given_parents(given: Mapping[Any, Any], names: tuple[str, ...]) -> Parents:
    """Read parents as the user gives them, and refuse those that go round."""
    parents: list[tuple[int, ...]] = [()] * len(names)
    for child, own in given.items():
        if isinstance(own, str) or not hasattr(own, "__iter__"):
            raise ParameterError(f"parents of {child!r} are {own!r}; give a list of columns, which may be empty")
        parents[column_place(child, names, "parents")] = tuple(column_place(p, names, "parents") for p in own)
    around = [names[j] for j in go_round(tuple(parents))]
    if around:
        raise ParameterError(f"parents has a cycle among the columns {around[:10]}; leave one out")
    return tuple(parents)


@documented_as_in(AODE)
class KDB(SeveralParents, StateClassifier):
    """K-dependence Bayes: P(y, x) = P(y) prod_j P(x_j | y, the k parents of j).

    Columns are ordered by what they tell about the class, MI(X; Y). The parents of a column are those k before it with
    the largest CMI(X_i; X_j | Y). The first fit decides them; later rows are counted with them. With k = 0 it is naive
    Bayes. A column of more than 12 states, with fewer than 10 rows for each, is no parent and has none.

    The more parents, the fewer rows have seen their states together. A combination that no row has is left at the first
    parents that some have. By default every level is also drawn towards the one with a parent less, by back-off:
    P_l = (N + c_l [(1 - lambda) P_{l-1} + lambda F_l]) / (N_parents + c_l), where F_l is the same without the class;
    the concentrations c_l are those under which rows predict each other best.

    Rows are read as by `AODE`. A parent that is missing in a row is summed over, exactly.

    Parameters
    ----------
    k : int, default 2
        Parents of a column, at most.
    theta : float, optional
        Conditional mutual information, in nats, that a parent has at least.
    parents : dict {column: list of columns}, optional
        The parents themselves, if they are known, the strongest first; `k` and `theta` are not used then. The
        ``counted_parents_`` of another model make this one count as it does, so that the two can be added.
    columns, discretize : as in `AODE`
    alpha : float, default 1
        Strength of the smoothing; with back-off, that of the class prior and of F_0.
    smoothing : {"back-off", "m-estimate", "laplace"}, default "back-off"
        Whether levels are drawn towards each other, or each is smoothed for itself, as by `AODE`.
    class_free : float, default 0.3
        Share lambda of what the parents say without the class, in what a level is drawn towards.
    class_prior, class_weight, missing, unseen, calibrate : as in `AODE`

    Attributes
    ----------
    parents_ : dict
        The parents of each column, the strongest first.
    counted_parents_ : dict
        All parents that each column was counted with: more, where a smaller `k` was set after the fit.
    concentrations_ : dict
        Concentrations of the levels, where `smoothing` is "back-off".
    columns_, classes_, class_count_, class_log_prior_, statistics_ : as in `AODE`

    See Also
    --------
    SKDB : KDB that selects columns and parents.
    TAN : Tree-augmented naive Bayes.
    A2DE : Averaged two-dependence estimators.

    Notes
    -----
    With n rows, d columns of s states and K classes, `fit` takes O(n d^2) time. Finding parents takes O(K d^2 s^2)
    memory or, where that is more than 1 GiB and rows are in memory, O(d^2); the model O(n d k) at most: only what
    occurs is counted. `predict` takes O(n d k K).

    Examples
    --------
    >>> import pyarrow as pa
    >>> table = pa.table({"a": ["no", "no", "yes", "yes"] * 5, "b": ["no", "yes", "no", "yes"] * 5})
    >>> model = KDB(k=1).fit(table, ["same", "other", "other", "same"] * 5)
    >>> model.parents_
    {'a': (), 'b': ('a',)}
    >>> model.predict(pa.table({"a": ["yes", "yes"], "b": ["yes", "no"]}))
    array(['same', 'other'], dtype='<U5')
    """

    def __init__(
        self,
        k: int = 2,
        *,
        theta: float | None = None,
        parents: Any = None,
        columns: Any = None,
        discretize: str = "mdl",
        alpha: float = 1.0,
        smoothing: str = "back-off",
        class_free: float = 0.3,
        class_prior: Any = None,
        class_weight: Any = None,
        missing: str = "ignore",
        unseen: str = "ignore",
        calibrate: bool = False,
    ) -> None:
        self.k = k
        self.theta = theta
        self.parents = parents
        self.class_free = class_free
        super().__init__(columns, discretize, alpha, smoothing, class_prior, class_weight, missing, unseen, calibrate)

    def _found_parents(self, states: PairCounts | CategoryCounts, information: PairValues | None) -> Parents:
        return k_dependence(states, int(self.k), self.theta, information=information).parents

    def _read_with(self, sums: Sums[ColumnGroups], structure: None) -> Dependence:
        parents = parents_of(sums).parents
        most = max(map(len, parents)) if self.parents is not None else int(self.k)
        return self._read_first(sums, most, tuple(range(len(parents))))

    def _can_be_structure(self, structure: Any, sums: Sums[ColumnGroups]) -> bool:
        return structure is None and not go_round(parents_of(sums).parents)

    def _require_parameters(self, sums: Sums[ColumnGroups]) -> None:
        super()._require_parameters(sums)
        parents = parents_of(sums).parents
        counted = max(map(len, parents))
        linked = {j for child, own in enumerate(parents) if own for j in (child, *own)}  # others had too many states
        if self.parents is None and self.theta is None and counted < min(int(self.k), len(linked) - 1):
            raise ParameterError(f"k is {self.k}, but columns were counted with {counted} parents at most; fit again")

    def _require_reading_parameters(self) -> None:
        super()._require_reading_parameters()
        require_number_of_parents(self.k, "k")
        if self.theta is not None and not (is_number(self.theta) and self.theta >= 0):
            raise ParameterError(f"theta is {self.theta!r}; it must be None or a number, 0 or more")


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
    columns, discretize : as in `AODE`
    alpha, smoothing, class_free : as in `KDB`
    class_prior, class_weight, missing, unseen, calibrate : as in `AODE`

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

    See Also
    --------
    KDB : Naive Bayes with k parents for each column.
    BayesEnsemble : An ensemble of classifiers on counts, which needs no tuning.

    Notes
    -----
    Time and memory are those of `KDB` with `max_k` parents; scoring rows takes O(n d k K) more.

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
        class_weight: Any = None,
        missing: str = "ignore",
        unseen: str = "ignore",
        calibrate: bool = False,
    ) -> None:
        self.max_k = max_k
        self.parents = parents
        self.class_free = class_free
        super().__init__(columns, discretize, alpha, smoothing, class_prior, class_weight, missing, unseen, calibrate)

    _chooses_by_rows = True

    def _found_parents(self, states: PairCounts | CategoryCounts, information: PairValues | None) -> Parents:
        return k_dependence(states, int(self.max_k), information=information).parents

    def _most_choosing(self, sums: Sums[ColumnGroups]) -> int:
        return CHOOSING_ROWS

    def _chosen(self, sums: Sums[ColumnGroups], rows: StateRows) -> Chosen:
        names = pairs_of(sums).schema.names
        order = self._order(sums)
        joint = self._read_first(sums, max(map(len, parents_of(sums).parents)), tuple(order))
        joint = replace(joint, prior=joint.prior.unweighted)
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
        n_parents, n_columns = first_of_least(losses)
        return n_parents, tuple(names[j] for j in order[:n_columns])

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
