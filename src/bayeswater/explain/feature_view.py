"""Features of a linear model one by one, as an explanation looks at them: counts, or marks that are there or not.

A count adds x_j w_jk to the score of class k. A mark adds log P(present | k) or log P(absent | k), and a missing one
nothing. What would turn a decision is a mark that were another, or a feature that were not there.
"""

import numpy as np

from bayeswater.data.matrix import SparseMatrix
from bayeswater.families.view import CellUse, ColumnView, Options
from bayeswater.records import record
from bayeswater.typing import Array


@record
class FeatureTerms:
    """What features say of the classes.

    Attributes
    ----------
    weight : of a feature that is there, once: (n_features, n_classes)
    absent : of one that is not, for marks; None where features are counted
    threshold : value over which a mark is there
    distance : how far a change of each mark is (n_features,), infinite where all rows have the same
    is_score : whether weights are scores that make up no distribution
    is_scaled : whether rows are scaled by their length, so that a feature that were not there would change the others
    """

    weight: Array
    absent: Array | None = None
    threshold: float = 0.0
    distance: Array | None = None
    is_score: bool = False
    is_scaled: bool = False

    def terms(self, cells: Array | SparseMatrix) -> Array:
        """What each cell of some rows adds to each class: (n_rows, n_features, n_classes)."""
        values = cells.to_dense() if isinstance(cells, SparseMatrix) else cells
        return self._of(values[:, :, None], self.weight, self.absent)

    def column_terms(self, values: Array, j: int) -> Array:
        """The same of some values (n,) of one feature: (n, n_classes)."""
        return self._of(values[:, None], self.weight[j], None if self.absent is None else self.absent[j])

    def _of(self, values: Array, weight: Array, absent: Array | None) -> Array:
        if absent is not None:
            return np.where(np.isnan(values), 0.0, np.where(values > self.threshold, weight, absent))
        with np.errstate(invalid="ignore"):
            terms = np.where(values == 0, 0.0, values * weight)
        if not self.is_score:
            return terms
        # A score of infinity makes its class certain: what is left for the others is nothing.
        is_certain = np.isposinf(terms)
        others = np.where(is_certain.any(axis=-1, keepdims=True), -np.inf, terms)
        return np.where(is_certain, 0.0, others)


class FeatureView(ColumnView):
    """A feature among many."""

    block: FeatureTerms

    @property
    def is_score(self) -> bool:
        """Whether contributions are differences of scores rather than of log-likelihoods."""
        return self.block.is_score

    def value(self, row: int) -> float | int | None:
        """Give the value of the feature, None where it is missing."""
        number = self._number(row)
        return None if np.isnan(number) else int(number) if number == np.floor(number) else number

    def cell(self, row: int) -> CellUse:
        """Tell what became of a cell."""
        return CellUse.MISSING if np.isnan(self._number(row)) else CellUse.READ

    def options(self, row: int, chosen: int) -> Options | None:
        """Give the other mark, where rows had it; or leave a feature out that is there."""
        number, terms = self._number(row), self.block
        if terms.is_scaled:
            return None
        if terms.absent is None:
            nothing = self.language.say("=", value=0)
            return Options(np.zeros(1), np.ones(1), lambda _: nothing, int) if number > 0 else None
        assert terms.distance is not None
        present = np.nextafter(terms.threshold, np.inf)
        is_there = number > terms.threshold
        others = [mark for mark in (0.0, present) if np.isnan(number) or (mark > terms.threshold) != is_there]
        if not np.isfinite(terms.distance[self.j]):
            return None
        return Options(np.array(others), np.full(len(others), terms.distance[self.j]), self._words, self._mark)

    def terms_at(self, row: int, cells: Array) -> Array:
        """Terms of values in the place of the one that is there: (n, n_classes)."""
        return self.block.column_terms(np.asarray(cells, dtype=np.float64), self.j)

    def _number(self, row: int) -> float:
        cells = self.cells(row)
        return float((cells.to_dense() if isinstance(cells, SparseMatrix) else cells)[0, self.j])

    def _mark(self, value: float) -> int:
        return int(value > self.block.threshold)

    def _words(self, value: float) -> str:
        threshold = self.block.threshold
        kind = "over" if value > threshold else "=" if threshold == 0 else "not over"
        return self.language.say(kind, value=f"{threshold:g}")
