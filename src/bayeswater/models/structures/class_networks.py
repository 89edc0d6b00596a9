"""Networks with the class among their variables, learned from rows: `ClassNetworks`.

What arcs a search may draw, the shape says:

| shape | the class | columns among themselves |
|---|---|---|
| learned | a variable like any other | any arcs |
| augmented | parent of every column | any arcs |
| tree | parent of every column | at most one other parent each |
| naive | parent of every column | none |
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from bayeswater.inference.exact.factors import Factors
from bayeswater.inference.exact.junction_tree import compile as compile_tree
from bayeswater.inference.log_space import fall_back, log_posterior
from bayeswater.inference.network_joint import ClassJoint
from bayeswater.learning.network_em import Expectation
from bayeswater.learning.structural_em import find_graph
from bayeswater.models.network.network_fitting import estimated_tables
from bayeswater.statistics.category_counts import joint_counts
from bayeswater.statistics.parent_counts import Parents
from bayeswater.structure.knowledge import Knowledge
from bayeswater.structure.scores import Score
from bayeswater.typing import Array

SHAPES = ("learned", "augmented", "tree", "naive")
"""Names of the shapes."""

SELECTION_FOLDS = 5
"""Parts of the rows, each of which is predicted by a network of the others."""


@dataclass(frozen=True)
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
        return tuple(joint_counts(self.codes, own, [cards[v] for v in own], self.weight) for own in members)

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
