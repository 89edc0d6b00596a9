"""`Scores`: rows with their true classes and weights, and the log-probabilities they were given, to calibrate by.

Log-probabilities are normalised on the way in. -inf is legal: the class is impossible by the classifier. A map leaves
it so; what is to be made of impossible classes that happen is the subject of `calibration_choice.Doubt`.
"""

from typing import Any, Self

import numpy as np

from bayeswater.data.weights import checked_weight
from bayeswater.errors import DataError, SchemaError
from bayeswater.kernels.class_scores import log_shares
from bayeswater.records import record
from bayeswater.typing import Array


def class_codes(labels: Array, classes: Any) -> Array:
    """Code labels by their place among the classes.

    >>> class_codes(np.array(["b", "a"]), ["a", "b", "c"])
    array([1, 0])
    """
    place = {label: code for code, label in enumerate(np.asarray(classes).tolist())}
    found, codes = np.unique(labels, return_inverse=True)
    unknown = [label for label in found.tolist() if label not in place]
    if unknown:
        raise SchemaError(f"y has the labels {unknown}, which are not among the classes {list(place)}; name them all")
    return np.array([place[label] for label in found.tolist()], dtype=np.int64)[codes]


def row_weight(sample_weight: Any, n_rows: int) -> Array:
    """Give checked weights as floats (n_rows,), 1 for each row if there are none.

    >>> row_weight([1, 2], 2)
    array([1., 2.])
    """
    weight = checked_weight(sample_weight, n_rows)
    return np.ones(n_rows) if weight is None else weight.astype(np.float64)


LEAST = -1e100
"""Finite log-probabilities below this are taken for it: their squares, sums and differences stay finite."""


@record
class Scores:
    """Log-probabilities (n_rows, n_classes), the code of each row's own class (n_rows,) and its weight (n_rows,).

    `known` (n_rows,) tells how many cells of each row are known, where a map asks for it.
    """

    log_proba: Array
    codes: Array
    weight: Array
    known: Array | None = None

    @classmethod
    def of(cls, log_proba: Any, codes: Any, weight: Any = None, known: Array | None = None) -> Self:
        """Check and normalise; no weight means that every row counts once."""
        log_proba = normalised(log_proba)
        codes = np.asarray(codes)
        n_rows, n_classes = log_proba.shape
        if codes.shape != (n_rows,):
            raise DataError(f"codes has shape {codes.shape}, expected {(n_rows,)}: one class code for each row")
        if n_rows and (codes.dtype.kind not in "iu" or codes.min() < 0 or codes.max() >= n_classes):
            raise DataError(f"class codes must be whole numbers from 0 to {n_classes - 1}, the columns of log_proba")
        return cls(log_proba, codes, row_weight(weight, n_rows), known)

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return self.log_proba.shape[1]

    @property
    def own(self) -> Array:
        """Log-probability of each row's own class: (n_rows,)."""
        return self.log_proba[np.arange(len(self)), self.codes]

    def take(self, rows: Array | slice) -> Self:
        """Take some rows, by index, by mark or as a slice."""
        known = None if self.known is None else self.known[rows]
        return type(self)(self.log_proba[rows], self.codes[rows], self.weight[rows], known)

    def undecided(self) -> Array:
        """Mark the rows that a map can learn from: their class is possible, and not the only possible one."""
        return (self.weight > 0) & np.isfinite(self.own) & (np.isfinite(self.log_proba).sum(axis=1) > 1)


def normalised(log_proba: Any) -> Array:
    """Check log-probabilities (n_rows, n_classes) and normalise each row; the input is left as it was."""
    scores = np.array(log_proba, dtype=np.float64, ndmin=2)
    if scores.ndim != 2:
        raise DataError(f"log-probabilities have {scores.ndim} dimensions; give an array (n_rows, n_classes)")
    bad = np.argwhere(np.isnan(scores) | np.isposinf(scores))
    if len(bad):
        row, column = bad[0]
        raise DataError(
            f"the log-probability in row {row}, class {column} is {scores[row, column]}; it must be a number or -inf"
        )
    top = scores.max(axis=1, initial=-np.inf)
    if np.isneginf(top).any():
        row = int(np.isneginf(top).argmax())
        raise DataError(f"row {row} has no possible class, every log-probability is -inf; give the class frequencies")
    below = np.maximum(0.5 * scores - 0.5 * top[:, None], 0.5 * LEAST)  # halves: a difference of two floats may be none
    return log_shares(np.where(np.isneginf(scores), -np.inf, 2 * below), use_loop=False)


def learnable(log_proba: Any, codes: Any, weight: Any = None) -> Scores:
    """Keep the rows that a map can learn from."""
    scores = Scores.of(log_proba, codes, weight)
    return scores.take(scores.undecided())


def log_complement(log_proba: Array) -> Array:
    """log(1 - p) of normalised log-probabilities, by adding up the other classes where p is near one."""
    largest = log_proba.argmax(axis=1)[:, None]
    others = np.array(log_proba)
    np.put_along_axis(others, largest, -np.inf, axis=1)
    top = others.max(axis=1, keepdims=True)
    alone = np.isneginf(top)
    with np.errstate(divide="ignore"):
        rest = np.where(alone, -np.inf, top + np.log(np.exp(others - np.where(alone, 0.0, top)).sum(axis=1)[:, None]))
    complement = np.log1p(-np.exp(others))
    np.put_along_axis(complement, largest, rest, axis=1)
    return complement


def span(values: Array) -> str:
    """Write one number, or the least and the largest of several.

    >>> span(np.array([1.0, 2.5])), span(np.array([2.0]))
    ('1 to 2.5', '2')
    """
    least, largest = values.min(), values.max()
    return f"{least:.4g}" if least == largest else f"{least:.4g} to {largest:.4g}"
