"""Intervals of what is measured on rows: how far the same figures of other rows would lie.

    error      Wilson's interval of a share: it is never below 0, and says something of 0 errors too
    log-loss   mean +- z standard deviation / sqrt(n)
    ECE        quantiles over rows drawn again: it is a sum of absolute values, which no formula fits

A row of weight w stands for w equal ones, so there are as many rows as the sum of their weights.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from bayeswater.decision.bins import equal_width
from bayeswater.decision.calibration_metrics import N_BINS
from bayeswater.decision.scorecard import Scorecard
from bayeswater.decision.scores import Scores
from bayeswater.typing import Array

Z = 1.959963984540054
"""Standard deviations of a normal distribution within which 95 % of it lies."""

DRAWS = 200
"""Times that rows are drawn again."""

MOST_DRAWN = 2.0**53
"""Weight beyond which a row is not drawn: its number of copies would be the same to eight digits each time."""


class Measured(NamedTuple):
    """A figure, and the interval in which it lies with 95 %."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:.4g} ({self.low:.4g} to {self.high:.4g})"


@dataclass(frozen=True)
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
        mean_loss = card.log_loss
        variance = float(scores.weight @ (scores.own + mean_loss) ** 2) / n_rows if np.isfinite(mean_loss) else np.inf
        half = Z * float(np.sqrt(variance / n_rows))
        return cls(
            wilson(1.0 - card.accuracy, n_rows),
            Measured(mean_loss, max(mean_loss - half, 0.0), mean_loss + half),
            _ece(scores, card.ece),
            n_rows,
        )


def wilson(share: float, n_rows: float) -> Measured:
    """Give Wilson's interval of a share of rows.

    >>> print(wilson(0.0, 100.0))
    0 (0 to 0.03699)
    """
    q = Z**2 / n_rows  # no square of a weight, which may be less or more than a float64 holds
    centre = (share + q / 2) / (1 + q)
    half = float(np.sqrt(q) * np.sqrt(share * (1 - share) + q / 4)) / (1 + q)
    return Measured(share, min(share, max(centre - half, 0.0)), max(share, min(centre + half, 1.0)))


def _ece(scores: Scores, value: float) -> Measured:
    """Draw rows again, each about as often as its weight says (Poisson), always with the same seed."""
    proba = np.exp(scores.log_proba)
    predicted = proba.argmax(axis=1)
    confidence = proba[np.arange(len(proba)), predicted]
    place = equal_width(confidence, N_BINS)
    gap = (predicted == scores.codes) - confidence
    rng, is_large = np.random.default_rng(0), scores.weight > MOST_DRAWN
    some = np.where(is_large, 0.0, scores.weight)
    drawn = np.array(
        [_drawn_ece(np.where(is_large, scores.weight, rng.poisson(some)), place, gap) for _ in range(DRAWS)]
    )
    # What draws add to the gaps of bins by chance alone lies around the draws, and not around the figure itself.
    low, high = np.quantile(drawn, (0.025, 0.975))
    shift = value - float(np.median(drawn))
    return Measured(value, min(value, max(low + shift, 0.0)), max(value, high + shift))


def _drawn_ece(times: Array, place: Array, gap: Array) -> float:
    total = times.sum()
    return float(np.abs(np.bincount(place, weights=times * gap, minlength=N_BINS)).sum() / total) if total else 0.0
