"""How far probabilities are from frequencies: calibration errors, reliability tables, the parts of the Brier score.

Rows are put into bins by probability, and in each bin the mean probability is compared with how often it came true.
Every metric takes the true labels, the probabilities (n_rows, n_classes) and weights; a row of weight w counts as w
equal rows. `labels` names the classes in the order of the columns, and may be left out when y has rows of all.
"""

from typing import Any, Self

import numpy as np

from bayeswater.data.labels import one_dimensional
from bayeswater.decision.probabilities import ROUNDING, Probabilities
from bayeswater.decision.scores import class_codes, row_weight
from bayeswater.errors import DataError, ParameterError
from bayeswater.kernels.class_scores import first_of_largest
from bayeswater.records import record
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


@record
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


@record
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


N_BINS = 15
"""The number of bins of Guo et al. (2017), which most published figures use."""


def ece(y: Any, proba: Any, *, labels: Any = None, sample_weight: Any = None, n_bins: int = N_BINS) -> float:
    """Expected calibration error of the predicted class, in bins of equal width.

    ECE = sum over bins b of W_b / W |accuracy_b - mean confidence_b|, where the confidence of a row is its largest
    probability and bin b of B holds the confidences in ((b - 1) / B, b / B].

    >>> ece(["no", "no", "yes", "no"], [[0.9, 0.1], [0.9, 0.1], [0.2, 0.8], [0.2, 0.8]])  # (.1 + .3) / 2
    0.2
    """
    truth = Truth.of(y, proba, labels, sample_weight)
    confidence, correct = truth.top_label()
    return Bins.of(equal_width(confidence, n_bins), confidence, correct, truth.weight).calibration_error


def adaptive_ece(y: Any, proba: Any, *, labels: Any = None, sample_weight: Any = None, n_bins: int = N_BINS) -> float:
    """Expected calibration error of the predicted class, in bins of equal weight.

    Equal confidences share a bin: the one in which the middle of their weight falls.
    """
    truth = Truth.of(y, proba, labels, sample_weight)
    confidence, correct = truth.top_label()
    bins = equal_weight(confidence, truth.weight, n_bins)
    return Bins.of(bins, confidence, correct, truth.weight).calibration_error


def reliability_table(
    y: Any,
    proba: Any,
    *,
    labels: Any = None,
    sample_weight: Any = None,
    n_bins: int = N_BINS,
    strategy: str = "width",
    top_label: bool = False,
) -> Any:
    """Mean probability and frequency in every bin that has rows, class by class: a pyarrow Table.

    Parameters
    ----------
    y, proba, labels, sample_weight, n_bins : as in `ece`
    strategy : {"width", "weight"}
        Bins of equal width, or of equal weight.
    top_label : bool
        One set of bins for the predicted class ("frequency" is accuracy then) in place of one for each class.

    Returns
    -------
    Table with columns class (not for the predicted class), low and high (least and largest probability in the bin),
    weight, probability (mean), frequency, gap (frequency - probability) and error (standard error of the frequency).
    """
    import pyarrow as pa

    if strategy not in ("width", "weight"):
        raise ParameterError(f"strategy is {strategy!r}; it must be 'width' or 'weight'")
    truth = Truth.of(y, proba, labels, sample_weight)
    n_classes = len(truth.labels)
    of_class = [(truth.proba[:, k], truth.codes == k) for k in range(n_classes)]
    parts = []
    for p, happened in [truth.top_label()] if top_label else of_class:
        bins = equal_width(p, n_bins) if strategy == "width" else equal_weight(p, truth.weight, n_bins)
        parts.append(Bins.of(bins, p, happened, truth.weight).columns())
    columns = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    if not top_label:
        columns = {"class": np.repeat(truth.labels, [len(part["weight"]) for part in parts]), **columns}
    return pa.table(columns)


@record
class BrierDecomposition:
    """Parts of the Brier score: score = reliability - resolution + uncertainty + within_variance - within_covariance.

    The last two are what binning hides: probabilities that differ within a bin, and whether they differ with reason.
    """

    score: float
    reliability: float
    resolution: float
    uncertainty: float
    within_variance: float
    within_covariance: float


def brier_decomposition(
    y: Any, proba: Any, *, labels: Any = None, sample_weight: Any = None, n_bins: int = N_BINS
) -> BrierDecomposition:
    """Take the Brier score, summed over the classes (0 to 2), apart in bins of equal width (Stephenson et al. 2008).

    With bin means p_b of probabilities and o_b of outcomes, and the class frequency o:
    reliability = sum W_b/W (p_b - o_b)^2, resolution = sum W_b/W (o_b - o)^2, uncertainty = o (1 - o), and within
    the bins variance = sum w_i/W (p_i - p_b)^2, covariance = 2 sum w_i/W (p_i - p_b)(o_i - o_b).
    """
    truth = Truth.of(y, proba, labels, sample_weight)
    share = truth.weight / truth.weight.sum()
    parts = np.zeros(6)
    for k in range(len(truth.labels)):
        p, happened = truth.proba[:, k], (truth.codes == k).astype(np.float64)
        bins = Bins.of(equal_width(p, n_bins), p, happened, truth.weight)
        total = share @ happened
        p_off, happened_off = p - bins.probability[bins.place], happened - bins.frequency[bins.place]
        parts += (
            share @ (p - happened) ** 2,
            bins.share @ (bins.probability - bins.frequency) ** 2,
            bins.share @ (bins.frequency - total) ** 2,
            total * (1 - total),
            share @ p_off**2,
            2 * (share @ (p_off * happened_off)),
        )
    return BrierDecomposition(*map(float, parts))
