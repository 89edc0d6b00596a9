"""Columns that depend on the class and on one another, as a network: sums over missing cells by exact inference.

The tables are read once and serve all rows, so that these share trees and go through compiled code. A class of equal
shares stands first; what it adds to every log-joint is known.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from bayeswater.errors import ResourceLimitError
from bayeswater.inference.class_joint import ClassJoint
from bayeswater.inference.exact.factors import Factors
from bayeswater.inference.exact.junction_tree import compile as compile_tree
from bayeswater.statistics.family_counts import Parents
from bayeswater.typing import Array


@dataclass(frozen=True)
class FamilyNetwork:
    """Some columns, and the network of the class and these columns."""

    columns: list[int]
    joint: ClassJoint

    @classmethod
    def of(
        cls,
        used: Sequence[int],
        parents: Parents,
        n_states: Array,
        n_classes: int,
        terms: Callable[[int, Array], Array],
        most_terms: int,
    ) -> "FamilyNetwork | None":
        """Write out all tables; None where they have more entries than `most_terms`.

        Parameters
        ----------
        used : columns that say something; a column without states does not, also as a parent
        parents, n_states : of all columns
        terms : P(x_j | y, parents) of a column j for states (n, n_parents + 1), its own last: (n, n_classes)
        """
        columns = [j for j in used if n_states[j] > 0]
        place = {j: 1 + at for at, j in enumerate(columns)}
        shapes = {j: [max(int(n_states[member]), 1) for member in (*parents[j], j)] for j in columns}
        if n_classes * sum(map(prod, shapes.values())) > most_terms:
            return None
        above: list[tuple[int, ...]] = [()]
        tables = [np.full(n_classes, 1 / n_classes)]
        for j, shape in shapes.items():
            states = np.stack([axis.ravel() for axis in np.indices(shape)], axis=1)
            known = [i for i in parents[j] if i in place]
            above.append((0, *(place[i] for i in known)))
            tables.append(terms(j, states).T.reshape(n_classes, *n_states[[*known, j]].tolist()))
        cards = (n_classes, *n_states[columns].tolist())
        return cls(columns, ClassJoint(compile_tree(Factors(cards, tuple(above), tuple(tables)))))

    def log_likelihood(self, states: Array) -> Array | None:
        """Log P(row | y) of rows of states: (n_rows, n_classes); None where the cliques of some row are too large."""
        try:
            return self.joint.of(states[:, self.columns]) + np.log(self.joint.n_classes)
        except ResourceLimitError:
            return None
