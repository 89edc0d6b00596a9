"""Networks with a class: arcs that a shape lets a search draw, tables for what it found, and the log-loss of a shape.

| shape | the class | columns among themselves |
|---|---|---|
| learned | a variable like any other | any arcs |
| augmented | parent of every column | any arcs |
| tree | parent of every column | at most one other parent each |
| naive | parent of every column | none |
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bayeswater.inference.class_joint import ClassJoint
from bayeswater.inference.exact.factors import Factors
from bayeswater.inference.exact.junction_tree import compile as compile_tree
from bayeswater.inference.log_space import fall_back, log_posterior
from bayeswater.models.network.fitting import estimated_tables
from bayeswater.models.structures.finding import find_graph
from bayeswater.structure.knowledge import Knowledge
from bayeswater.structure.scores import Score
from bayeswater.typing import Array

SHAPES = ("learned", "augmented", "tree", "naive")
"""Names of the shapes."""

FOLDS = 5
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

    def learned(self, shape: str, rows: Array | None = None) -> Factors:
        """Learn a network of a shape from all rows, or some of them (n_rows,) bool."""
        codes, weight = self.codes, self.weight
        if rows is not None:
            codes, weight = codes[:, rows], None if weight is None else weight[rows]
        knowledge = known_of_shape(self.names, shape, self.max_parents)
        found, _ = find_graph(codes, self.n_states, self.score, knowledge, self.method, weight=weight, seed=self.seed)
        cards = tuple(self.n_states.tolist())
        parents = tuple(tuple(sorted(own)) for own in found.parents)
        smoothing = [np.full(card, self.alpha) for card in cards]
        by_em = bool((codes >= self.n_states[:, None]).any())
        return Factors(cards, parents, estimated_tables(codes, cards, parents, smoothing, weight, by_em=by_em))

    def log_loss(self, shape: str) -> float:
        """Mean of -log P(class | row) over all rows, each predicted by a network of the other folds."""
        fold = folds(self.codes[0], self.seed)
        weight = np.ones(len(fold)) if self.weight is None else self.weight
        lost = 0.0
        for k in range(FOLDS):
            away = fold == k
            if away.any() and not away.all():
                joint = ClassJoint(compile_tree(self.learned(shape, ~away)))
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
    """Deal the rows of each class out to the folds at random: (n_rows,)."""
    order = np.random.default_rng(seed).permutation(len(classes))
    order = order[np.argsort(classes[order], kind="stable")]
    fold = np.empty(len(classes), dtype=np.int64)
    fold[order] = np.arange(len(classes)) % FOLDS
    return fold
