"""`Scorecard`: how predictions compare with the truth, as sums over rows, so that a test set may come in pieces.

    accuracy   trace of the confusion / n
    log-loss   - mean of log P(truth)
    Brier      mean over rows of sum over classes of (P(class) - 1[class is the truth])^2    (0 to 2)
    recall     rows of a class that are predicted / rows of the class
    precision  rows of a class that are predicted / rows that are predicted to be of it
    F1         their harmonic mean, 2 * right / (rows of the class + rows predicted)
    ECE        sum over bins of |correct rows - confidence| / n, by the predicted class, in bins of equal width

The intervals of these figures tell how far the same figures of other rows would lie:

    error      Wilson's interval of a share: it is never below 0, and says something of 0 errors too
    log-loss   mean +- z standard deviation / sqrt(n)
    ECE        quantiles over rows drawn again: it is a sum of absolute values, which no formula fits

A row of weight w stands for w equal ones, so there are as many rows as the sum of their weights.
"""

from typing import NamedTuple, Self

import numpy as np

from bayeswater.decision.calibration_metrics import N_BINS, equal_width
from bayeswater.decision.intervals import Measured, mean_of, wilson
from bayeswater.decision.probabilities import ROUNDING
from bayeswater.decision.scores import Scores
from bayeswater.inference.drawing import draw_counts
from bayeswater.kernels.class_scores import first_of_largest
from bayeswater.records import record
from bayeswater.typing import Array


@record
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

    @property
    def by_class(self) -> "list[ClassFigures]":
        """Precision, recall and F1 of each class."""
        right = np.diag(self.confusion)
        return [
            ClassFigures(float(own), _ratio(hit, called), _ratio(hit, own), _ratio(2 * hit, own + called))
            for hit, own, called in zip(right, self.confusion.sum(axis=1), self.confusion.sum(axis=0), strict=True)
        ]

    @property
    def mean_figures(self) -> "ClassFigures":
        """Means over the classes that have rows; a class that is never predicted counts with a precision of 0."""
        known = [own for own in self.by_class if own.n_rows]
        parts = (np.mean([getattr(own, name) or 0.0 for own in known]) for name in ("precision", "recall", "f1"))
        return ClassFigures(self.n_rows, *map(float, parts))

    @property
    def baseline(self) -> "Baseline":
        """What one who knows only the class frequencies of these rows would reach."""
        share = self.confusion.sum(axis=1) / self.n_rows
        known = share[share > 0]
        return Baseline(
            int(share.argmax()), float(share.max()), float(-(known @ np.log(known))) + 0.0, float(1 - share @ share)
        )


class ClassFigures(NamedTuple):
    """Figures of one class; None where no row can tell them."""

    n_rows: float
    precision: float | None
    recall: float | None
    f1: float | None


class Baseline(NamedTuple):
    """What class frequencies alone reach: the most frequent class is predicted, and they are the probabilities."""

    majority: int
    accuracy: float
    log_loss: float
    brier: float


def _ratio(part: float, whole: float) -> float | None:
    return float(part / whole) if whole else None


DRAWS = 200
"""Times that rows are drawn again."""

MOST_DRAWN = 2.0**53
"""Weight beyond which a row is not drawn: its number of copies would be the same to eight digits each time."""


@record
class Measures:
    """Error, log-loss and ECE of rows whose class is known, with intervals of 95 %."""

    error: Measured
    log_loss: Measured
    ece: Measured
    n_rows: float

    @classmethod
    def of(cls, scores: Scores) -> "Measures":
        """Measure scores; without any rows nothing is known."""
        if not len(scores):
            nothing = Measured(float("nan"), float("nan"), float("nan"))
            return cls(nothing, nothing, nothing, 0.0)
        card = Scorecard.of(scores.log_proba, scores.codes, scores.weight)
        n_rows = float(scores.weight.sum())
        loss = mean_of(-scores.own, scores.weight)
        return cls(
            wilson(1.0 - card.accuracy, n_rows),
            Measured(loss.value, max(loss.low, 0.0), loss.high),
            _ece(scores, card.ece),
            n_rows,
        )


def _ece(scores: Scores, value: float) -> Measured:
    """Draw rows again, each about as often as its weight says, always with the same seed."""
    proba = np.exp(scores.log_proba)
    predicted = proba.argmax(axis=1)
    confidence = proba[np.arange(len(proba)), predicted]
    place = equal_width(confidence, N_BINS)
    gap = (predicted == scores.codes) - confidence
    rng, is_large = np.random.default_rng(0), scores.weight > MOST_DRAWN
    some = np.where(is_large, 0.0, scores.weight)
    drawn = np.array(
        [_drawn_ece(np.where(is_large, scores.weight, draw_counts(some, rng)), place, gap) for _ in range(DRAWS)]
    )
    # What draws add to the gaps of bins by chance alone lies around the draws, and not around the figure itself.
    low, high = np.quantile(drawn, (0.025, 0.975))
    shift = value - float(np.median(drawn))
    return Measured(value, min(value, max(low + shift, 0.0)), max(value, high + shift))


def _drawn_ece(times: Array, place: Array, gap: Array) -> float:
    total = times.sum()
    return float(np.abs(np.bincount(place, weights=times * gap, minlength=N_BINS)).sum() / total) if total else 0.0
