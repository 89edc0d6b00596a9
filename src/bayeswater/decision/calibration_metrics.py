"""How far probabilities are from frequencies: calibration errors, reliability tables, the parts of the Brier score.

Rows are put into bins by probability, and in each bin the mean probability is compared with how often it came true.
Every metric takes the true labels, the probabilities (n_rows, n_classes) and weights; a row of weight w counts as w
equal rows. `labels` names the classes in the order of the columns, and may be left out when y has rows of all.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from bayeswater.decision.bins import Bins, Truth, equal_weight, equal_width
from bayeswater.errors import ParameterError

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


@dataclass(frozen=True)
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
