"""`CountedRows`: the rows of a table that count, with their labels and weights.

A row of weight w stands for w equal rows, so a row of weight 0 is none: it is taken out here, before anything looks at
it, and it is taken out once. Whoever works on the others speaks of row 7 of them; a person is told the row of the table
that was given.
"""

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

from bayeswater.data.frames import materialised
from bayeswater.data.labels import CheckedLabels, checked_labels
from bayeswater.data.row_places import places_told
from bayeswater.data.weights import checked_weight, without_zero_rows
from bayeswater.errors import DataError
from bayeswater.typing import Array

ALL_ROWS = nullcontext()
"""Of rows that are all there: each has its own place."""


@dataclass(frozen=True)
class CountedRows:
    """Rows that all count.

    Attributes
    ----------
    X : their table
    y : their labels, checked
    weight : (n_rows,), all over 0; None where every row counts once
    kept : marks of these rows among all that were given; None where they are all of them
    """

    X: Any
    y: CheckedLabels
    weight: Array | None
    kept: Array | None = None

    @classmethod
    def of(cls, X: Any, y: Any, sample_weight: Any, model: str) -> "CountedRows":
        """Check labels and weights, and take the rows of weight zero out.

        Labels that have been checked come with weights that have been: such rows are given back as they are.

        >>> rows = CountedRows.of([[1.0], [2.0]], ["a", "b"], [0, 1], "NaiveBayes")
        >>> rows.X, rows.y.array, rows.weight, rows.kept
        ([[2.0]], array(['b'], dtype='<U1'), None, array([False,  True]))
        """
        if isinstance(y, CheckedLabels):
            return cls(X, y, sample_weight)
        labels, X = required_labels(y, model), materialised(X)
        weight = checked_weight(sample_weight, len(labels))
        kept = None if weight is None or weight.all() else weight > 0
        return cls(*without_zero_rows(X, labels, weight), kept)

    @property
    def triple(self) -> tuple[Any, CheckedLabels, Array | None]:
        """Table, labels and weights."""
        return self.X, self.y, self.weight

    def named(self) -> AbstractContextManager[None]:
        """Give errors about a row the place that it has in the table that was given."""
        return ALL_ROWS if self.kept is None else places_told(self.kept)


def required_labels(y: Any, model: str) -> CheckedLabels:
    """Check labels; refuse to learn without them."""
    if y is None:
        raise DataError(
            f"This {model} estimator requires y to be passed, but the target y is None. Give y, or with target= the "
            "name of the column of X that holds the labels"
        )
    return checked_labels(y)
