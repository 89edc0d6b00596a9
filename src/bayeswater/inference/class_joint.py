"""`ClassJoint`: log P(class, row) in a network of which the class is a variable like any other.

Each class is put beside the row as if it had been observed, and log P(evidence) is what is asked for: missing cells are
summed over, and no logarithm is taken of a probability that has underflowed.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bayeswater.inference.exact.junction_tree import JunctionTree
from bayeswater.inference.exact.marginals import marginals
from bayeswater.typing import Array


@dataclass(frozen=True)
class ClassJoint:
    """A network whose first variable is the class."""

    tree: JunctionTree

    @property
    def n_classes(self) -> int:
        """How many classes there are."""
        return self.tree.factors.cards[0]

    @cached_property
    def log_prior(self) -> Array:
        """Log P(class), of a row of which nothing is known: (n_classes,)."""
        return self.of(self.tree.factors.card_array[None, 1:])[0]

    def of(self, block: Array, use_loop: bool = False) -> Array:
        """Log-joints (n_rows, n_classes) of codes (n_rows, n_variables - 1) of all variables but the class."""
        n_rows, n_classes = len(block), self.n_classes
        kind = np.result_type(block.dtype, np.min_scalar_type(n_classes))
        rows = np.empty((n_classes, n_rows, 1 + block.shape[1]), dtype=kind)
        rows[:, :, 0] = np.arange(n_classes)[:, None]
        rows[:, :, 1:] = block
        found = marginals(self.tree, rows.reshape(n_classes * n_rows, -1), [])
        return np.ascontiguousarray(found.log_evidence.reshape(n_classes, n_rows).T)
