"""Networks with the class among their variables, learned from rows, and their tables without a row.

`ClassNetworks` are learned, `CountedTables` are counts from which a row is taken out.

What arcs a search may draw, the shape says:

| shape | the class | columns among themselves |
|---|---|---|
| learned | a variable like any other | any arcs |
| augmented | parent of every column | any arcs |
| tree | parent of every column | at most one other parent each |
| naive | parent of every column | none |

Every table is read off counts, P(v | parents) = (N(parents, v) + alpha) / (N(parents) + alpha n_states). A row that has
all its cells moves one cell of every table, so the log-joints without it are sums of looked-up terms: the same as n
refits of the tables, the graph held fixed.

A row with missing cells was counted in shares, by the posterior of what they may hold (EM). These shares are worked out
for all states that its missing cells can be in, and taken out: that is one round of EM, not a refit. Where these states
are too many, the row is taken out of the tables that it has all cells of.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from math import prod

import numpy as np

from bayeswater.estimate.dirichlet import conditional_table
from bayeswater.inference.exact.factors import Factors
from bayeswater.inference.exact.junction_tree import compile as compile_tree
from bayeswater.inference.log_space import fall_back, log_evidence, log_posterior
from bayeswater.inference.network_joint import ClassJoint
from bayeswater.learning.network_em import Expectation
from bayeswater.learning.structural_em import find_graph
from bayeswater.models.network.network_fitting import estimated_tables
from bayeswater.records import record
from bayeswater.statistics.category_counts import family_counts
from bayeswater.statistics.parent_counts import Parents
from bayeswater.structure.knowledge import Knowledge
from bayeswater.structure.scores import Score
from bayeswater.typing import Array

SHAPES = ("learned", "augmented", "tree", "naive")
"""Names of the shapes."""

SELECTION_FOLDS = 5
"""Parts of the rows, each of which is predicted by a network of the others."""


@record
class ClassNetworks:
    """Rows of which networks are learned.

    Parameters
    ----------
    names : of the class and of the columns
    codes : (1 + n_columns, n_rows), the class first; the card of a variable, or more, is a missing cell
    n_states : (1 + n_columns,)
    weight : (n_rows,), optional
    score, method, max_parents, seed : of the search
    alpha : pseudo-count of every cell of a table
    """

    names: tuple[str, ...]
    codes: Array
    n_states: Array
    weight: Array | None
    score: Score
    method: str
    max_parents: int | None
    alpha: float
    seed: int

    def learned(self, shape: str) -> Factors:
        """Learn a network of a shape."""
        return self.estimated(self.graph(shape))

    def take(self, rows: Array, weight: Array | None = None) -> "ClassNetworks":
        """Give some of the rows, marked or numbered, with their own weights or others."""
        own = None if self.weight is None else self.weight[rows]
        return replace(self, codes=self.codes[:, rows], weight=own if weight is None else weight)

    def graph(self, shape: str) -> Parents:
        """Find a graph of a shape: the parents of every variable."""
        knowledge = known_of_shape(self.names, shape, self.max_parents)
        found, _ = find_graph(
            self.codes, self.n_states, self.score, knowledge, self.method, weight=self.weight, seed=self.seed
        )
        return tuple(tuple(sorted(own)) for own in found.parents)

    def estimated(self, parents: Parents) -> Factors:
        """Estimate the tables of a graph."""
        cards, by_em = tuple(self.n_states.tolist()), self._has_missing
        smoothing = [np.full(card, self.alpha) for card in cards]
        return Factors(
            cards, parents, estimated_tables(self.codes, cards, parents, smoothing, self.weight, by_em=by_em)
        )

    def counts(self, factors: Factors) -> tuple[Array, ...]:
        """Count every variable with its parents; rows with missing cells in the shares that a network expects."""
        cards, parents = factors.cards, factors.parents
        if self._has_missing:
            return tuple(Expectation(self.codes, parents, cards, self.weight).counts(factors)[0])
        members = [(*own, node) for node, own in enumerate(parents)]
        return family_counts(self.codes, cards, members, self.weight)

    @property
    def _has_missing(self) -> bool:
        return bool((self.codes >= self.n_states[:, None]).any())

    def log_loss(self, shape: str) -> float:
        """Mean of -log P(class | row) over all rows, each predicted by a network of the other folds."""
        fold = folds(self.codes[0], self.seed)
        weight = np.ones(len(fold)) if self.weight is None else self.weight
        lost = 0.0
        for k in range(SELECTION_FOLDS):
            away = fold == k
            if away.any() and not away.all():
                joint = ClassJoint(compile_tree(self.take(~away).learned(shape)))
                log_joint = joint.of(self.codes[1:, away].T)
                fall_back(log_joint, joint.log_prior)
                right = log_posterior(log_joint)[np.arange(int(away.sum())), self.codes[0, away]]
                lost -= float(weight[away] @ right)
        return lost / float(weight.sum())


def known_of_shape(names: Sequence[str], shape: str, max_parents: int | None) -> Knowledge:
    """Say which arcs must and cannot be there."""
    if shape == "learned":
        return Knowledge.of(names, max_parents=max_parents)
    own, *columns = names
    most = {"augmented": max_parents, "tree": 2, "naive": 1}[shape]
    return Knowledge.of(names, [(own, c) for c in columns], [(c, own) for c in columns], max_parents=most)


def folds(classes: Array, seed: int) -> Array:
    """Assign the rows of each class to folds at random: (n_rows,)."""
    order = np.random.default_rng(seed).permutation(len(classes))
    order = order[np.argsort(classes[order], kind="stable")]
    fold = np.empty(len(classes), dtype=np.int64)
    fold[order] = np.arange(len(classes)) % SELECTION_FOLDS
    return fold


MOST_FILLED = 2**12
"""States of the missing cells of a row that are gone through one by one."""


@record
class CountedTables:
    """Counts of every variable with its parents, the class the first variable, and what is added to every cell."""

    factors: Factors
    counts: tuple[Array, ...]
    alpha: float

    @cached_property
    def class_count(self) -> Array:
        """Weight of the rows of each class: (n_classes,)."""
        return self.counts[0].reshape(-1, self.factors.cards[0]).sum(axis=0)

    @cached_property
    def _flat(self) -> list[tuple[Array, Array]]:
        """Counts of each variable as a row of numbers, and their sums over its states."""
        return [
            (count.ravel().astype(np.float64), count.sum(axis=-1).ravel().astype(np.float64)) for count in self.counts
        ]

    def log_joint_without(self, block: Array, codes: Array, removed: Array) -> Array:
        """Log-joints (n_rows, n_classes) of rows of all variables but the class, each taken out of the counts.

        `codes` are their classes, and `removed` the weight that each is taken out with: (n_rows,).
        """
        result = np.empty((len(block), self.factors.cards[0]))
        whole = (block < self.factors.card_array[1:]).all(axis=1)
        if whole.any():
            result[whole] = self._of_whole(block[whole], codes[whole], removed[whole])
        for i in np.flatnonzero(~whole).tolist():
            result[i] = self._of_part(block[i], int(codes[i]), float(removed[i]))
        return result

    def _of_whole(self, block: Array, codes: Array, removed: Array) -> Array:
        n_rows, n_classes = len(block), self.factors.cards[0]
        states = np.empty((n_rows, n_classes, self.factors.n_variables), dtype=np.int64)
        states[:, :, 0], states[:, :, 1:] = np.arange(n_classes), block[:, None]
        is_own, weight = np.arange(n_classes) == codes[:, None], removed[:, None]
        total = np.zeros((n_rows, n_classes))
        for v, parents in enumerate(self.factors.parents):
            cell, above = self._places(v, states)
            own_cell = is_own if v == 0 or 0 in parents else True
            own_above = is_own if 0 in parents else True
            total += self._log_share(v, cell, above, weight * own_cell, weight * own_above)
        return total

    def _of_part(self, row: Array, code: int, removed: float) -> Array:
        cards, n_classes = self.factors.cards, self.factors.cards[0]
        missing = [v for v, card in enumerate(cards) if v and row[v - 1] >= card]
        shape = tuple(cards[v] for v in missing)
        if prod(shape) > MOST_FILLED:
            return self._by_tree(row, code, removed)
        states = np.empty((prod(shape), len(cards)), dtype=np.int64)
        states[:, 0], states[:, 1:] = code, row
        states[:, missing] = np.indices(shape).reshape(len(shape), -1).T
        own = [self._places(v, states) for v in range(len(cards))]
        with np.errstate(divide="ignore"):
            log_share = sum(
                np.log(table.ravel()[cell]) for table, (cell, _) in zip(self.factors.tables, own, strict=True)
            )
        share = np.exp(log_share - np.max(log_share)) if np.isfinite(np.max(log_share)) else np.ones(len(states))
        share *= removed / share.sum()
        taken = [
            (np.bincount(cell, share, count.size), np.bincount(above, share, total.size))
            for (cell, above), (count, total) in zip(own, self._flat, strict=True)
        ]
        result = np.empty(n_classes)
        for k in range(n_classes):
            states[:, 0] = k
            terms = np.zeros(len(states))
            for v, (of_cell, of_above) in enumerate(taken):
                cell, above = self._places(v, states)
                terms += self._log_share(v, cell, above, of_cell[cell], of_above[above])
            result[k] = log_evidence(terms[None])[0]
        return result

    def _by_tree(self, row: Array, code: int, removed: float) -> Array:
        """Take the row out of the tables that it has all cells of, and sum over the rest in a tree."""
        states = np.array([code, *row.tolist()])
        tables = []
        for v, (parents, count) in enumerate(zip(self.factors.parents, self.counts, strict=True)):
            members = [*parents, v]
            left = count.astype(np.float64)
            if (states[members] < self.factors.card_array[members]).all():
                left[tuple(states[members])] = max(left[tuple(states[members])] - removed, 0.0)
            tables.append(conditional_table(left, np.array(self.alpha)))
        factors = Factors(self.factors.cards, self.factors.parents, tuple(tables))
        return ClassJoint(compile_tree(factors)).of(row[None])[0]

    def _places(self, v: int, states: Array) -> tuple[Array, Array]:
        """Place of states (..., n_variables) in the table of a variable, and of its parents among theirs."""
        parents, cards = self.factors.parents[v], self.factors.cards
        above = np.zeros(states.shape[:-1], dtype=np.int64)
        for parent in parents:
            above = above * cards[parent] + states[..., parent]
        return above * cards[v] + states[..., v], above

    def _log_share(self, v: int, cell: Array, above: Array, of_cell: Array, of_above: Array) -> Array:
        """Log P(v | parents) in some places, with so much taken out of each, and of the sum over its states."""
        (count, total), card = self._flat[v], self.factors.cards[v]
        left = np.maximum(count[cell] - of_cell, 0.0) + self.alpha
        of_all = np.maximum(total[above] - of_above, 0.0) + self.alpha * card
        with np.errstate(divide="ignore"):
            return np.log(np.where(of_all > 0, left, 1.0) / np.where(of_all > 0, of_all, card))
