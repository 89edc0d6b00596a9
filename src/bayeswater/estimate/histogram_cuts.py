"""Bins of about equal weight, cut where a column has no values, and bins that separate the classes.

The latter (`data.reading.discretising.mdl`) are cut from a histogram. The histogram has the weight of every class in
every bucket, which is all that the search asks for: of a column of up to `MOST_BUCKETS` different values each is a
bucket, and the cuts are those of the sorted rows. Of more, no cut parts the values of a bucket.
"""

import numpy as np

from bayeswater.data.reading.discretising.cuts import closed_left
from bayeswater.data.reading.discretising.finding_cuts import FALLBACK_BINS, cuts_by_class
from bayeswater.data.reading.discretising.value_cells import ValueCells, first_of_bins
from bayeswater.statistics.key_counts import ColumnHistogram, Occupied


def quantile_cuts(occupied: Occupied, n_bins: int) -> tuple[float, ...]:
    """Choose the cuts of at most `n_bins` bins, in rising order.

    >>> import numpy as np
    >>> ages = np.array([1.0, 2.0, 3.0, 4.0])
    >>> quantile_cuts(Occupied(ages, ages, np.array([2, 2, 1, 3]), is_whole=True), 2)
    (2.5,)
    """
    starts = first_of_bins(occupied.weight, n_bins)
    return tuple(occupied.limits[starts[1:]].tolist())


def class_cuts(histogram: ColumnHistogram, fallback: int | None = FALLBACK_BINS) -> tuple[float, ...]:
    """Choose the cuts of bins that are closed on the left, in rising order.

    Where none tells the classes apart there are `fallback` bins of about equal weight; without it, none.
    """
    cuts = cuts_by_class(value_cells(histogram), fallback).cuts
    return tuple(closed_left(cuts, histogram.last).tolist())


def value_cells(histogram: ColumnHistogram) -> ValueCells:
    """Cells of the buckets of a histogram: those of the sorted rows, where each bucket is one value."""
    order = np.lexsort((histogram.code, histogram.place))
    start = np.searchsorted(histogram.place[order], np.arange(len(histogram.first) + 1))
    code = histogram.code[order].astype(np.int32)
    return ValueCells(histogram.first, histogram.last, start, code, histogram.count[order], histogram.n_classes)


def between_buckets(cuts: tuple[float, ...], histogram: ColumnHistogram) -> tuple[float, ...]:
    """Move cuts that part the values of a bucket down to its least one, and drop what then parts nothing."""
    limits = np.asarray(cuts, dtype=np.float64)
    limits = limits[limits <= histogram.last.max(initial=-np.inf)]
    limits = np.unique(np.minimum(limits, histogram.first[np.searchsorted(histogram.last, limits)]))
    return tuple(limits[limits > histogram.first.min(initial=np.inf)].tolist())
