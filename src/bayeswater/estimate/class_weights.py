"""Class weights: a class counts in the class prior as if each of its rows were so many.

    P(k) is proportional to w_k N_k + class_alpha

"balanced" is w_k = N / (K N_k), with K the classes that have a row, by which these are all as probable. A weight that
is the same for all rows of a class says nothing of how they are spread over the columns: P(row | class) stays as the
rows say it, its smoothing too. Weights are no part of the sums: they are applied whenever a prior is read.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from bayeswater.data.variable import Variable
from bayeswater.errors import ParameterError
from bayeswater.records import record
from bayeswater.typing import LARGEST_COUNT, Array, is_number

BALANCED = "balanced"
"""Word for weights by which all classes are as probable."""


@record
class ClassWeights:
    """The weight of each class (n_classes,), or None where classes are balanced."""

    given: Array | None

    @classmethod
    def of(cls, given: Any, classes: Variable) -> "ClassWeights | None":
        """Read the parameter as scikit-learn does: None, "balanced" or {label: weight}, 1 where a label is not named.

        >>> ClassWeights.of({"rare": 9}, Variable("y", ("common", "rare"))).given
        array([1., 9.])
        """
        if given is None:
            return None
        if isinstance(given, str) and given == BALANCED:
            return cls(None)
        if not isinstance(given, Mapping):
            raise ParameterError(f"class_weight is {given!r}; give None, 'balanced' or a dict {{label: weight}}")
        for label, weight in given.items():
            if not (is_number(weight) and 0 <= weight <= LARGEST_COUNT):
                raise ParameterError(
                    f"class_weight of {label!r} is {weight!r}; give a number from 0 to {LARGEST_COUNT:g}"
                )
        unknown = [label for label in given if label not in classes.code_of]
        unnamed = [label for label in classes.states if label not in given]
        if unknown and unnamed:  # as in scikit-learn, a dict may name more classes than there are
            raise ParameterError(
                f"class_weight names {unknown[0]!r}, which is no class, and does not name {unnamed[0]!r}; the classes "
                f"are {classes.labels.tolist()[:10]}"
            )
        weights = np.array([float(given.get(label, 1.0)) for label in classes.states])
        if not (weights > 0).any():
            raise ParameterError(f"class_weight is {given!r}, by which no class counts; give one a weight over 0")
        return cls(weights)

    def of_counts(self, count: Array) -> Array:
        """Weights for class counts (..., n_classes); a class without a row has the weight 1 where they are balanced.

        >>> ClassWeights(None).of_counts(np.array([1, 3, 0]))
        array([2.        , 0.66666667, 1.        ])
        """
        if self.given is not None:
            return self.given
        has_rows = count > 0
        total = count.sum(axis=-1, keepdims=True, dtype=np.float64)
        share = np.maximum(has_rows.sum(axis=-1, keepdims=True), 1) * np.where(has_rows, count, 1)
        return np.where(has_rows, total / share, 1.0)

    def weighed(self, count: Array) -> Array:
        """Count rows (..., n_classes) as so many.

        >>> ClassWeights(None).weighed(np.array([1, 3]))
        array([2., 2.])
        """
        return self.of_counts(count) * count

    def applied(self, log_proba: Array, count: Array) -> Array:
        """Multiply probabilities (..., n_classes), given by their logarithms, of classes that had so many rows.

        >>> np.exp(ClassWeights(np.array([1.0, 9.0])).applied(np.log([0.9, 0.1]), np.array([9, 1])))
        array([0.5, 0.5])
        """
        with np.errstate(divide="ignore"):
            weighted = log_proba + np.log(self.of_counts(count))
        largest = weighted.max(axis=-1, keepdims=True)
        # Where only classes of no weight are possible, weights say nothing.
        weighted = np.where(np.isneginf(largest), log_proba, weighted)
        weighted -= weighted.max(axis=-1, keepdims=True)
        found: Array = weighted - np.log(np.exp(weighted).sum(axis=-1, keepdims=True))
        return found
