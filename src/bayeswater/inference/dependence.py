"""Columns that depend on the class and on several other columns each: KDB and SKDB.

    P(y, x) = P(y) prod_j P(x_j | y, parents of j)

What a column has given its parents is found by going down the tree of its counts, level by level of its parents, and
joints grow by a column at a time (`ParentColumns`). Counts are laid out in one of two ways:

- by class (`Dependence`, `kernels.level_terms`), as statistics hold them. A cell that is missing has no factor; where
  it is the parent of one that is there it is summed over, exactly (`inference.missing_parents`).
- by cells that occur, the class among them (`inference.sparse_dependence`), for members of an ensemble.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from math import prod
from typing import Any

import numpy as np

from bayeswater.data.labels import Labels
from bayeswater.estimate.back_off import fitted_rule, flat_rule
from bayeswater.estimate.count_trees import level_tree
from bayeswater.estimate.dirichlet import Prior
from bayeswater.estimate.pairs import PairEstimate
from bayeswater.inference.drawing import draw_states
from bayeswater.inference.log_space import log_ratio
from bayeswater.inference.missing_parents import DependenceNetwork, filled, n_filled, sum_over_missing
from bayeswater.inference.scoring import JointWithout
from bayeswater.kernels.category_tables import sum_of_states
from bayeswater.kernels.compiling import worth_compiling
from bayeswater.kernels.level_terms import BackOffRule, Taken, Tree, level_terms
from bayeswater.kernels.parent_cells import strides_of
from bayeswater.kernels.prefix_losses import multiply
from bayeswater.kernels.threads import ordered_map, row_blocks
from bayeswater.limits import require_table_bytes
from bayeswater.records import record
from bayeswater.statistics.parent_counts import ParentCounts, Parents
from bayeswater.structure.dag import Dag
from bayeswater.structure.mutual_information import sparse_columns
from bayeswater.typing import Array

FLAT_TERMS = 2**22
"""Logarithms of probabilities that are laid out at once, at most; where there are more, trees are gone down."""

MOST_FILLED = 2**12
"""Combinations of the missing cells of a row up to which all are looked at."""

FEW_FILLED = 2**6
"""The same, where a network would answer instead: fewer are found in less steps than its cells."""

DRAWN_TERMS = 2**20
"""Probabilities that are held at a time where states are drawn."""


@record
class Removed:
    """Rows that are taken out: their classes and weights (n_rows,), and, where it matters, which cells are there."""

    codes: Array
    weight: Array
    is_there: Array | None = None  # (n_rows, n_columns)

    @classmethod
    def nobody(cls, n_rows: int) -> "Removed":
        """Rows that were not counted."""
        return cls(np.full(n_rows, -1), np.zeros(n_rows))

    def take(self, rows: Array | slice) -> "Removed":
        """Some of the rows."""
        return Removed(self.codes[rows], self.weight[rows], None if self.is_there is None else self.is_there[rows])


class ParentColumns(ABC):
    """Columns with several parents each, whatever way their counts are laid out."""

    @property
    @abstractmethod
    def n_levels(self) -> int:
        """Levels of the column with the most parents."""

    @abstractmethod
    def terms(
        self, j: int, states: Array, removed: Removed | None = None, *, every_level: bool = False, use_loop: bool
    ) -> Array:
        """P(x_j | y, parents) of some rows: (1 or number of levels, n_rows, n_classes); 1 where no cell is there."""

    def growing_joints(
        self, order: Iterable[int], states: Array, removed: Removed | None, prior: Array, n_levels: int, use_loop: bool
    ) -> Iterator[tuple[Array, Array]]:
        """Joints of rows with the first columns of an order, from none to all, for the first numbers of parents.

        They begin with the log-prior (n_rows, n_classes), and are given as mantissas and exponents, which go on being
        multiplied: (n_levels, n_rows, n_classes) each (`kernels.prefix_losses`).
        """
        shape = n_levels, *prior.shape
        mantissa, exponent = np.broadcast_to(np.exp(prior), shape).copy(), np.zeros(shape, dtype=np.int32)
        yield mantissa, exponent
        for j in order:
            terms = self.terms(j, states, removed, every_level=n_levels > 1, use_loop=use_loop)
            multiply(terms, mantissa, exponent, use_loop=use_loop)
            yield mantissa, exponent

    def prefix_losses(
        self,
        order: Iterable[int],
        states: Array,
        removed: Removed,
        prior: Array,
        loss: Callable[[Array, Array], Array],
        use_loop: bool,
    ) -> Array:
        """Losses of rows, each taken out, for every number of parents and of columns: (n_levels, 1 + n_columns)."""
        joints = self.growing_joints(order, states, removed, prior, self.n_levels, use_loop)
        return np.stack([loss(mantissa, exponent) for mantissa, exponent in joints], axis=1)


@record
class Dependence(ParentColumns):
    """Counts of columns with their parents, read with at most `n_parents` of the parents of each column.

    `class_free` is the share lambda of back-off, None where each level is smoothed for itself. Columns that are not
    among those `used` say nothing; the parents of those that are used are used.
    """

    prior: Prior
    estimate: PairEstimate
    counts: ParentCounts
    n_parents: int
    used: tuple[int, ...]
    class_free: float | None = None

    @property
    def log_prior(self) -> Array:
        """Log class prior (n_classes,)."""
        return self.prior.log

    def read(self) -> "Dependence":
        """Read all parameters at once: threads that need them later would do so each for itself."""
        assert len(self.rules) == len(self.trees)
        return self

    @cached_property
    def parents(self) -> Parents:
        """Parents of each column, the strongest first."""
        return tuple(own[: self.n_parents] for own in self.counts.parents)

    @property
    def n_states(self) -> Array:
        """Number of states of each column."""
        return self.estimate.n_states

    @property
    def n_levels(self) -> int:
        """Levels of the column with the most parents."""
        return 1 + max(len(own) for own in self.parents)

    # ------------------------------------------------------------------ parameters

    @cached_property
    def trees(self) -> list[Tree]:
        """Counts of each column with its parents."""

        def laid_out(j: int) -> Tree:
            is_state = self.estimate.empty_is_state[[*self.counts.parents[j], j]]
            return level_tree(self.counts.cells_of(j), len(self.parents[j]), missing_is_state=is_state)

        return list(ordered_map(laid_out, list(range(len(self.parents)))))

    @cached_property
    def rules(self) -> list[BackOffRule]:
        """How the levels of each column are smoothed."""
        smoothing = self.estimate.smoothing
        if self.class_free is None:
            return [flat_rule(smoothing, tree.n_states, self.n_levels) for tree in self.trees]
        # Columns of which nearly every row has another state would draw all others to equal shares.
        own = {kind: self._fitted_rule(np.flatnonzero(self._is_sparse == kind)) for kind in {*self._is_sparse.tolist()}}
        return [own[kind] for kind in self._is_sparse.tolist()]

    @property
    def usual_rule(self) -> BackOffRule:
        """How columns are smoothed that have not too many states."""
        return self.rules[int(self._is_sparse.argmin())]

    @cached_property
    def _is_sparse(self) -> Array:
        return sparse_columns(self.estimate.states)

    def _fitted_rule(self, columns: Array) -> BackOffRule:
        """Learn the back-off of some columns together."""
        assert self.class_free is not None
        counts, trees = [self.counts.cells_of(j) for j in columns], [self.trees[j] for j in columns]
        alpha, row_weight = float(self.estimate.smoothing.alpha), self.counts.row_weight
        n_parents = [len(self.parents[j]) for j in columns]
        return fitted_rule(counts, trees, n_parents, self.class_free, alpha, row_weight)

    def terms(
        self, j: int, states: Array, removed: Removed | None = None, *, every_level: bool = False, use_loop: bool
    ) -> Array:
        """P(x_j | y, parents) of some rows: (1 or number of levels, n_rows, n_classes); 1 where no cell is there."""
        own = self.parents[j]
        taken = None
        if removed is not None:
            assert removed.is_there is not None
            leading = np.cumprod(removed.is_there[:, [j, *own]], axis=1).sum(axis=1)
            taken = Taken(removed.codes, removed.weight, leading)
        n_terms = len(own) + 1 if every_level else 1
        return level_terms(states[:, [*own, j]], self.trees[j], self.rules[j], taken, n_terms, use_loop=use_loop)

    def log_conditional(self, j: int) -> Array:
        """Logarithm of P(x_j | y, parents) of all states: (v_parent1, ..., v_parentl, v_j, n_classes)."""
        shape = tuple(self.n_states[[*self.parents[j], j]].tolist())
        require_table_bytes(
            8 * self.estimate.n_classes * int(np.prod(shape, dtype=object)),
            f"the table of column {self.counts.schema[j].name!r} given {len(self.parents[j])} parents",
            "take a smaller k",
        )
        states = np.stack([axis.ravel() for axis in np.indices(shape)], axis=1)
        terms = level_terms(states, self.trees[j], self.rules[j], None, 1, use_loop=False)[0]
        with np.errstate(divide="ignore"):
            return np.log(terms).reshape(*shape, self.estimate.n_classes)

    # ------------------------------------------------------------------ scores of rows

    def of(self, block: Array, use_loop: bool) -> Array:
        """Log-joints of a block of codes: (n_rows, n_classes)."""
        joint = self.log_likelihood(self.states(block), None, use_loop)
        joint += self.prior.log
        return joint

    def without(self, table: Any, labels: Labels, removed: Array) -> JointWithout:
        """Give a function of some rows: their log-joints, each row taken out, and the prior without it."""

        def log_joint(rows: slice, use_loop: bool) -> tuple[Array, Array]:
            states, y, weight = self.states(table.block(rows)), labels.codes[rows], removed[rows]
            joint = self.log_likelihood(states, Removed(y, weight, self.is_there(states)), use_loop)
            prior = self.prior.without(y, weight)
            return joint + prior, prior

        return log_joint

    def states(self, block: Array) -> Array:
        """States (n_rows, n_columns); v_j where a cell is not there."""
        return np.minimum(block, self.n_states).astype(np.int64, copy=False)

    def is_there(self, states: Array) -> Array:
        """Which cells are there: (n_rows, n_columns)."""
        return np.asarray(states < self.n_states)

    def log_likelihood(self, states: Array, removed: Removed | None, use_loop: bool) -> Array:
        """Log P(row | y), missing parents summed over: (n_rows, n_classes)."""
        total, gaps = self.log_product(states, removed, use_loop), self.gaps(states)
        has_gaps, size = np.asarray(gaps.any(axis=1)), n_filled(gaps, self.n_states)
        use_loop = use_loop or worth_compiling(size[has_gaps].sum())
        many = np.flatnonzero(has_gaps & (size > FEW_FILLED))
        if use_loop and removed is None and len(many) and self.network is not None:
            found = self.network.log_likelihood(states[many])
            if found is not None:
                total[many] = found
                has_gaps[many] = False
        few = np.flatnonzero(has_gaps & (size <= MOST_FILLED))
        for part in filled(states[few], gaps[few], self.n_states):
            own = None if removed is None else removed.take(few[part.row])
            total[few[part.rows]] = part.log_sum(self.log_product(part.states, own, use_loop))
        left = np.flatnonzero(has_gaps & (size > MOST_FILLED))
        if len(left):
            own = None if removed is None else removed.take(left)
            total[left] = self._eliminated(states[left], gaps[left], own, use_loop)
        return total

    def _eliminated(self, states: Array, gaps: Array, removed: Removed | None, use_loop: bool) -> Array:
        """Log-likelihoods of rows with many missing cells, those of one pattern together: (n_rows, n_classes)."""
        total, there = np.zeros((len(states), self.estimate.n_classes)), self.is_there(states)
        for j in self.used:  # columns without a gap are the same factor, whatever is filled in
            is_whole = np.asarray(there[:, j] & ~gaps[:, list(self.parents[j])].any(axis=1))
            with np.errstate(divide="ignore"):
                log_terms = np.log(self.terms(j, states, removed, use_loop=use_loop)[0])
            total += np.where(is_whole[:, None], log_terms, 0.0)
        _, first, pattern = np.unique(there, axis=0, return_index=True, return_inverse=True)
        for number, one in enumerate(first.tolist()):
            rows = np.flatnonzero(pattern.reshape(-1) == number)

            def terms(j: int, filled: Array, row: Array, rows: Array = rows) -> Array:
                own = None if removed is None else removed.take(rows[row])
                return self.terms(j, filled, own, use_loop=use_loop)[0]

            members = [[*self.parents[j], j] for j in self.used if there[one, j] or gaps[one, j]]
            members = [own for own in members if gaps[one, own].any()]
            total[rows] += sum_over_missing(
                terms, members, states[rows], gaps[one], self.n_states, self.estimate.n_classes
            )
        return total

    @cached_property
    def network(self) -> DependenceNetwork | None:
        """The columns and the class as a network; None where its tables would be too large."""

        def terms(j: int, states: Array) -> Array:
            return level_terms(states, self.trees[j], self.rules[j], None, 1, use_loop=False)[0]

        return DependenceNetwork.of(
            self.used, self.parents, self.n_states, self.estimate.n_classes, terms, most_terms=FLAT_TERMS
        )

    @cached_property
    def _flat(self) -> tuple[Array, list[Array], Array] | None:
        """Logarithms of all columns in one table, one after the other: its parts, strides within each, and itself.

        None where it would be too large. In the slot of what is not there it is 0 for the column itself.
        """
        members = [[*self.parents[j], j] for j in self.used]
        widths = [(self.n_states[own] + 1).tolist() for own in members]
        size = [prod(width) for width in widths]
        if not size or sum(size) * self.estimate.n_classes > FLAT_TERMS:
            return None
        table = np.empty((sum(size), self.estimate.n_classes))
        start = np.concatenate([[0], np.cumsum(size)])
        with np.errstate(divide="ignore"):
            for first, j, width in zip(start.tolist(), self.used, widths, strict=False):
                slots = np.stack([axis.ravel() for axis in np.indices(width)], axis=1)
                terms = level_terms(slots, self.trees[j], self.rules[j], None, 1, use_loop=False)[0]
                table[first : first + len(slots)] = np.log(terms)
        return start, [strides_of(width) for width in widths], table

    def log_product(self, states: Array, removed: Removed | None, use_loop: bool) -> Array:
        """Log P(cells that are there | y), with missing parents left out: (n_rows, n_classes)."""
        if removed is None and self._flat is not None:
            start, strides, table = self._flat
            places = np.empty((len(states), len(self.used)), dtype=np.int32)
            for at, (j, stride) in enumerate(zip(self.used, strides, strict=True)):
                places[:, at] = states[:, [*self.parents[j], j]] @ stride
            return sum_of_states(places, np.diff(start) - 1, start, table, use_loop=use_loop)
        total = np.zeros((len(states), self.estimate.n_classes))
        with np.errstate(divide="ignore"):
            for j in self.used:
                total += np.log(self.terms(j, states, removed, use_loop=use_loop)[0])
        return total

    @cached_property
    def _ancestors(self) -> Array:
        """Whether a column (first axis) is above another one, through any number of parents."""
        above = np.zeros((len(self.parents), len(self.parents)), dtype=bool)
        for j in self.from_roots:
            for parent in self.parents[j]:
                above[:, j] |= above[:, parent]
                above[parent, j] = True
        return above

    def gaps(self, states: Array) -> Array:
        """Which missing cells are above one that is there, and have to be summed over: (n_rows, n_columns)."""
        there = self.is_there(states)
        if there.all():
            return np.zeros_like(there)
        is_used = np.isin(np.arange(len(self.parents)), self.used)
        below = (there & is_used).astype(np.float32) @ self._ancestors.T.astype(np.float32)
        return np.asarray(~there & (below > 0) & (self.n_states > 0))

    @cached_property
    def from_roots(self) -> list[int]:
        """Columns in an order in which parents stand before their children: those of least depth first."""
        depth = [0] * len(self.parents)
        for j in Dag(self.counts.schema.names, self.parents).order:
            depth[j] = 1 + max((depth[parent] for parent in self.parents[j]), default=-1)
        return sorted(range(len(depth)), key=lambda j: depth[j])

    # ------------------------------------------------------------------ reasons and drawn rows

    def pair_terms(self, block: Array, chosen: Array, against: Array) -> tuple[Array, Array]:
        """What the prior, and every cell given its parents, add to the log-odds of two classes in each row.

        Gives the intercept (n_rows,) and (n_rows, parent, column). What a cell says given the class alone stands on
        the diagonal; with each parent stands what it changes, after those before it. Where a parent is summed over,
        or a class is impossible, all that a cell says given the cells before it stands on the diagonal.
        """
        states, row = self.states(block), np.arange(len(block))
        pairs = np.zeros((len(block), len(self.parents), len(self.parents)))
        with np.errstate(divide="ignore"):
            for j in self.used:
                levels = np.log(self.terms(j, states, every_level=True, use_loop=False))
                ratio = log_ratio(levels[:, row, chosen], levels[:, row, against])  # (n_levels, n_rows)
                finite = np.isfinite(ratio).all(axis=0)
                pairs[:, j, j] = np.where(finite, ratio[0], ratio[-1])
                steps = np.diff(np.where(finite, ratio, 0.0), axis=0)
                pairs[:, self.parents[j], j] = steps.T
        for i in np.flatnonzero(self.gaps(states).any(axis=1)).tolist():
            pairs[i] = 0.0
            order = [j for j in self.from_roots if j in self.used]
            revealed = np.tile(self.n_states, (len(order) + 1, 1))
            for place, j in enumerate(order, start=1):
                revealed[place:, j] = states[i, j]
            joint = self.log_likelihood(revealed, None, use_loop=False)
            ratio = log_ratio(joint[:, chosen[i]], joint[:, against[i]])
            with np.errstate(invalid="ignore"):
                steps = np.diff(ratio)
            pairs[i, order, order] = np.where(np.isnan(steps), 0.0, steps)
        return log_ratio(self.log_prior[chosen], self.log_prior[against]), pairs

    def draw(self, codes: Array, rng: np.random.Generator) -> Array:
        """Draw the states (n_rows, n_columns) of rows of the given classes, parents first."""
        states = np.tile(self.n_states, (len(codes), 1)).astype(np.int64)
        for j in self.from_roots:
            v = int(self.n_states[j])
            if v == 0:
                continue
            can_be = self.estimate.can_be_drawn[self.estimate.start[j] : self.estimate.start[j + 1] - 1]
            for rows in row_blocks(len(codes), max(1, DRAWN_TERMS // (v * self.estimate.n_classes))):
                each = np.repeat(states[rows], v, axis=0)
                each[:, j] = np.tile(np.arange(v), len(each) // v)
                share = self.terms(j, each, use_loop=False)[0].reshape(-1, v, self.estimate.n_classes)
                own = np.take_along_axis(share, codes[rows, None, None], axis=2)[:, :, 0]
                states[rows, j] = draw_states(own * can_be, rng)
        return states
