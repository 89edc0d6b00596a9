"""Rows with their true class put into bins by probability, and the means of every bin."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from bayeswater.data.labels import one_dimensional
from bayeswater.decision.probabilities import ROUNDING, Probabilities
from bayeswater.decision.rows import class_codes, row_weight
from bayeswater.errors import DataError, ParameterError
from bayeswater.kernels.class_scores import first_of_largest
from bayeswater.typing import Array


def equal_width(p: Array, n_bins: int) -> Array:
    """Number of the bin of each probability, the upper edge included."""
    _require_bins(n_bins)
    return np.searchsorted(np.linspace(0, 1, n_bins + 1)[1:-1], p, side="left")


def equal_weight(p: Array, weight: Array, n_bins: int) -> Array:
    """Number of the bin of each probability: equal ones together, where the middle of their weight falls."""
    _require_bins(n_bins)
    _, value_of = np.unique(p, return_inverse=True)
    mass = np.bincount(value_of, weights=weight)
    middle = (np.cumsum(mass) - mass / 2) / mass.sum()
    return np.minimum((middle * n_bins).astype(np.int64), n_bins - 1)[value_of]


def _require_bins(n_bins: int) -> None:
    if not isinstance(n_bins, int | np.integer) or isinstance(n_bins, bool) or n_bins < 1:
        raise ParameterError(f"n_bins is {n_bins!r}; give the number of bins, 1 or more")


@dataclass(frozen=True)
class Truth:
    """Codes of the true classes and probabilities; rows of weight zero are left out."""

    labels: Array
    codes: Array
    proba: Array
    weight: Array

    @classmethod
    def of(cls, y: Any, proba: Any, labels: Any, sample_weight: Any) -> Self:
        """Check what was given, and code the labels by the columns of `proba`."""
        y = one_dimensional(y)
        classes = np.unique(y) if labels is None else one_dimensional(labels)
        if len(np.unique(classes)) != len(classes):
            raise ParameterError(f"labels is {labels!r}; name each class once, in the order of the columns")
        shape = np.shape(proba)
        if labels is None and len(shape) == 2 and shape[1] != len(classes):
            raise DataError(
                f"proba has {shape[1]} columns and y has rows of {len(classes)} classes, {classes.tolist()}; "
                "name the classes of the columns with labels=[...]"
            )
        codes = class_codes(y, classes)
        checked = Probabilities.of(proba, None, len(classes)).blocks(lambda rows, block: (block.proba,))[0]
        if len(checked) != len(codes):
            raise DataError(f"proba has {len(checked)} rows and y has {len(codes)}; give one label for each row")
        weight = row_weight(sample_weight, len(codes))
        keep = weight > 0
        return cls(classes, codes[keep], checked[keep], weight[keep])

    def top_label(self) -> tuple[Array, Array]:
        """Probability of the predicted class and whether it is the true one: (n_rows,) each."""
        best = first_of_largest(self.proba, ROUNDING, use_loop=False)
        return self.proba[np.arange(len(best)), best], best == self.codes


@dataclass(frozen=True)
class Bins:
    """Weighted means of the bins that have rows, and the place of each row among them."""

    place: Array  # (n_rows,)
    low: Array
    high: Array
    weight: Array
    probability: Array
    frequency: Array
    error: Array

    @classmethod
    def of(cls, number: Array, p: Array, happened: Array, weight: Array) -> Self:
        """Add up the rows of each bin."""
        _, place = np.unique(number, return_inverse=True)
        total = np.bincount(place, weights=weight)
        probability = np.bincount(place, weights=weight * p) / total
        frequency = np.bincount(place, weights=weight * happened) / total
        low, high = np.full(len(total), np.inf), np.full(len(total), -np.inf)
        np.minimum.at(low, place, p)
        np.maximum.at(high, place, p)
        return cls(place, low, high, total, probability, frequency, np.sqrt(frequency * (1 - frequency) / total))

    @property
    def share(self) -> Array:
        """Share of the weight in each bin."""
        return self.weight / self.weight.sum()

    @property
    def calibration_error(self) -> float:
        """Mean distance of frequency and probability."""
        return float(self.share @ np.abs(self.frequency - self.probability))

    def columns(self) -> dict[str, Array]:
        """Give the bins as the columns of a table."""
        return {
            "low": self.low,
            "high": self.high,
            "weight": self.weight,
            "probability": self.probability,
            "frequency": self.frequency,
            "gap": self.frequency - self.probability,
            "error": self.error,
        }
