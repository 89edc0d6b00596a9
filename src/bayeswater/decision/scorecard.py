"""`Scorecard`: how predictions compare with the truth, as sums over rows, so that a test set may come in pieces.

accuracy = trace of the confusion / n,    log-loss = - mean of log P(truth),
Brier = mean over rows of sum over classes of (P(class) - 1[class is the truth])^2    (0 to 2),
ECE = sum over bins of |correct rows - confidence| / n, by the predicted class, in bins of equal width.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np

from bayeswater.decision.bins import equal_width
from bayeswater.decision.calibration_metrics import N_BINS
from bayeswater.decision.probabilities import ROUNDING
from bayeswater.kernels.class_scores import first_of_largest
from bayeswater.typing import Array


@dataclass(frozen=True)
class Scorecard:
    """Sums over rows whose class is known.

    Parameters
    ----------
    confusion : rows by their true class and the predicted one (n_classes, n_classes)
    surprise : sum of - log P(truth), infinite if a truth was called impossible
    squared_error : sum over rows and classes of the squared distance of probability and outcome
    confidence, correct : sums over the rows of each bin (N_BINS,) of the probability of the predicted class, and of
        how often it was the true one
    """

    confusion: Array
    surprise: float
    squared_error: float
    confidence: Array
    correct: Array

    @classmethod
    def of(cls, log_proba: Array, codes: Array, weight: Array | None = None) -> Self:
        """Sum up rows: log-probabilities (n_rows, n_classes), codes of true classes (n_rows,), weights (n_rows,).

        >>> card = Scorecard.of(np.log([[0.9, 0.1], [0.6, 0.4]]), np.array([0, 1]))
        >>> card.accuracy, round(card.brier, 3)
        (0.5, 0.37)
        """
        n_rows, n_classes = log_proba.shape
        proba = np.exp(log_proba)
        predicted = first_of_largest(proba, ROUNDING, use_loop=False)
        rows = np.arange(n_rows)
        place = equal_width(proba[rows, predicted], N_BINS)
        outcome = np.zeros_like(proba)
        outcome[rows, codes] = 1.0
        w = np.ones(n_rows) if weight is None else weight
        cell = codes.astype(np.int64) * n_classes + predicted
        return cls(
            np.bincount(cell, weights=weight, minlength=n_classes**2).reshape(n_classes, n_classes),
            float(0.0 - log_proba[rows, codes] @ w),  # 0, and not -0, where all is certain
            float(((proba - outcome) ** 2).sum(axis=1) @ w),
            np.bincount(place, weights=w * proba[rows, predicted], minlength=N_BINS),
            np.bincount(place, weights=w * (predicted == codes), minlength=N_BINS),
        )

    def __add__(self, other: "Scorecard") -> "Scorecard":
        return Scorecard(
            self.confusion + other.confusion,
            self.surprise + other.surprise,
            self.squared_error + other.squared_error,
            self.confidence + other.confidence,
            self.correct + other.correct,
        )

    @property
    def n_rows(self) -> float:
        """Number of rows; with weights, their sum."""
        return self.confusion.sum().item()

    @property
    def accuracy(self) -> float:
        """Share of rows whose class is predicted."""
        return float(np.trace(self.confusion) / self.n_rows)

    @property
    def log_loss(self) -> float:
        """Mean of - log P(truth), never floored."""
        return self.surprise / self.n_rows

    @property
    def brier(self) -> float:
        """Brier score, summed over the classes: 0 to 2."""
        return self.squared_error / self.n_rows

    @property
    def ece(self) -> float:
        """Expected calibration error of the predicted class."""
        return float(np.abs(self.correct - self.confidence).sum() / self.n_rows)
