"""The mean of what members say, and of what those say whose structure has not seen a row.

A member's posterior is tempered, p^(1/T), with a temperature of its own from the rows that its structure has not seen.
"""

from collections.abc import Iterable, Mapping

import numpy as np

from bayeswater.decision.calibration_maps import Temperature
from bayeswater.errors import StatisticsError
from bayeswater.models.ensemble.labelled_table import EnsembleTable
from bayeswater.statistics.statistic import remainder
from bayeswater.typing import Array

JUDGES = 3000
"""Different rows by which one or two numbers are chosen, at most: more would hardly choose otherwise."""


def log_mean(log_posteriors: Iterable[Array]) -> Array:
    """Logarithm of the mean of posteriors (n_rows, n_classes).

    >>> np.exp(log_mean([np.log([[0.25, 0.75]]), np.log([[0.75, 0.25]])]))
    array([[0.5, 0.5]])
    """
    total, n = None, 0
    for one in log_posteriors:
        total = one if total is None else np.logaddexp(total, one)
        n += 1
    assert total is not None
    return np.asarray(total - np.log(n))


def honest_log_mean(parts: Iterable[tuple[Array, Array]], n_rows: int, n_classes: int) -> tuple[Array, Array]:
    """Logarithm of the mean of the posteriors that judge each row, and their number (n_rows,).

    Each part has the rows that a member judges, by their places, and its log posterior of these. A row that none
    judges has the uniform posterior.
    """
    total, n_members = np.full((n_rows, n_classes), -np.inf), np.zeros(n_rows, dtype=np.int64)
    for rows, own in parts:
        total[rows] = np.logaddexp(total[rows], own)
        n_members[rows] += 1
    judged = n_members > 0
    total[judged] -= np.log(n_members[judged])[:, None]
    total[~judged] = -np.log(n_classes)
    return total, n_members


def can_judge(table: EnsembleTable, class_count: Array) -> Array:
    """Which rows can judge what they are taken out of: those that are not alone in their class: (n_rows,)."""
    left = remainder(class_count[table.labels].astype(np.float64), table.removed)
    return np.asarray(left > 0)


def tempered(log_posterior: Array, temperature: float) -> Array:
    """Take confidence back or add it, and normalise: (n_rows, n_classes)."""
    return Temperature(temperature).apply(log_posterior)


def best_temperature(log_posterior: Array, table: EnsembleTable, class_count: Array) -> float:
    """Temperature of least log-loss over rows that were taken out; 1 where there are none."""
    rows = can_judge(table, class_count)
    if not rows.any():
        return 1.0
    return Temperature.fit(log_posterior[rows], table.labels[rows], table.weights[rows]).temperature


def log_loss(log_posterior: Array, table: EnsembleTable, class_count: Array) -> float:
    """Mean log-loss over rows that were taken out; 0 where there are none."""
    rows = np.flatnonzero(can_judge(table, class_count))
    weight = table.weights[rows]
    return -float(weight @ log_posterior[rows, table.labels[rows]]) / float(weight.sum()) if len(rows) else 0.0


def some_rows(hashes: Array, most: int) -> Array:
    """Mark rows of at most so many different hashes: the least, so neither order nor repetition has a say.

    >>> some_rows(np.array([7, 3, 3, 9], dtype=np.uint64), 2)
    array([ True,  True,  True, False])
    """
    different = np.unique(hashes)
    if len(different) <= most:
        return np.ones(len(hashes), dtype=bool)
    return np.asarray(hashes <= different[most - 1])


def checked_temperature(arrays: Mapping[str, Array]) -> float:
    """Read a temperature; refuse what is none."""
    temperature = np.asarray(arrays["temperature"])
    if temperature.shape != (1,) or not 0 < float(temperature[0]) < np.inf:
        raise StatisticsError(f"the temperature of a member is {temperature}; it is a number over 0")
    return float(temperature[0])
