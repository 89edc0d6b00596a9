"""Class probabilities as they come in, checked and read block by block: as they are, as logarithms, as log-joints.

Logarithms keep what probabilities lose below 1e-308. Log-joints log P(row, class) are normalised here; their
size tells how far rounding may have moved them, so that a tie among classes stays a tie among actions.
"""

from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import numpy as np

from bayeswater.errors import DataError, ParameterError
from bayeswater.kernels.class_scores import log_shares
from bayeswater.kernels.compiling import worth_compiling
from bayeswater.kernels.least_risk import row_totals
from bayeswater.kernels.threads import ordered_map, row_blocks
from bayeswater.records import record
from bayeswater.typing import Array

BLOCK_ROWS = 16_384
"""Rows decided at a time: their risks stay in cache until the least one is found."""

SUM_TOLERANCE = 1e-6
"""How far from one the probabilities of a row may sum to."""

SINGLE_SUM_TOLERANCE = 1e-3
"""The same for single precision, in which the sum over hundreds of classes is no better."""

ROUNDING = 8 * np.finfo(np.float64).eps
"""Share by which a probability may be off that was read from a sum of logarithms of size one."""


class ProbabilityBlock(NamedTuple):
    """Probabilities of some rows."""

    proba: Array  # (n_rows, n_classes)
    log_proba: Array | None  # the same before underflow, where it is known
    rounding: Array | float  # share of a probability that may be rounding, one for all rows or (n_rows,)
    use_loop: bool


@record
class Probabilities:
    """Probabilities of the classes: (n_rows, n_classes)."""

    values: Array
    kind: Literal["proba", "log_proba", "log_joint"]

    @classmethod
    def of(cls, proba: Any, log_proba: Any, n_classes: int) -> "Probabilities":
        """Take the one that is given of probabilities and log-probabilities."""
        if (proba is None) == (log_proba is None):
            raise ParameterError(
                "give either proba or log_proba: probabilities (n_rows, n_classes), or their logarithms"
            )
        found = (
            cls(_matrix(proba, "proba"), "proba")
            if log_proba is None
            else cls(_matrix(log_proba, "log_proba"), "log_proba")
        )
        if found.values.shape[1] != n_classes:
            raise DataError(f"{found.kind} has {found.values.shape[1]} columns, and there are {n_classes} classes")
        return found

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.values)

    def blocks(
        self,
        function: Callable[[slice, ProbabilityBlock], tuple[Array, ...]],
        *,
        block_rows: int = BLOCK_ROWS,
        check: bool = True,
    ) -> tuple[Array, ...]:
        """Apply a function to every block of rows, on our threads, and put its arrays together.

        Rows are checked to be probabilities, unless the function does it (and calls `refuse`).
        """
        use_loop = worth_compiling(self.values.size)
        first, *others = row_blocks(self.n_rows, block_rows)
        parts = function(first, self._block(first, use_loop, check))
        if not others:
            return parts
        results = tuple(np.empty((self.n_rows, *part.shape[1:]), part.dtype) for part in parts)

        def put(rows: slice, parts: tuple[Array, ...]) -> None:
            for result, part in zip(results, parts, strict=True):
                result[rows] = part

        put(first, parts)
        for _ in ordered_map(lambda rows: put(rows, function(rows, self._block(rows, use_loop, check))), others):
            pass  # an error in a block is raised here
        return results

    def _block(self, rows: slice, use_loop: bool, check: bool) -> ProbabilityBlock:
        values = np.ascontiguousarray(self.values[rows], dtype=np.float64)
        rounding: Array | float = ROUNDING
        if self.kind == "proba":
            if check:
                self._require_sums(rows, row_totals(values, use_loop=use_loop))
            return ProbabilityBlock(values, None, rounding, use_loop)
        if self.kind == "log_joint":
            rounding = ROUNDING * np.maximum(1.0, np.abs(values.max(axis=1)))
            values = log_shares(values.copy(), use_loop=use_loop)
        with np.errstate(over="ignore"):
            proba = np.exp(values)
        if check and self.kind == "log_proba":
            self._require_sums(rows, row_totals(proba, use_loop=use_loop))
        return ProbabilityBlock(proba, values, rounding, use_loop)

    @property
    def tolerance(self) -> float:
        """How far from one a row may sum to."""
        return SUM_TOLERANCE if self.values.dtype.itemsize >= 8 else SINGLE_SUM_TOLERANCE

    def _require_sums(self, rows: slice, total: Array) -> None:
        """Refuse rows that are no probabilities, by their `row_totals`."""
        off = np.abs(total - 1)
        if not off.max() <= self.tolerance:  # it is NaN if one of them is
            self.refuse(rows.start + int((~(off <= self.tolerance)).argmax()))

    def refuse(self, row: int) -> None:
        """Say why a row is no probabilities."""
        given = np.asarray(self.values[row], dtype=np.float64)
        with np.errstate(over="ignore"):
            proba = given if self.kind == "proba" else np.exp(given)
        where = f"row {row} of {self.kind}"
        if np.isnan(given).any():
            raise DataError(f"{where} contains NaN: {given.tolist()}; leave the row out, or predict it again")
        if (proba < 0).any():
            raise DataError(f"{where} has a negative probability: {given.tolist()}; give values from 0 to 1")
        raise DataError(
            f"{where} does not sum to one: {given.tolist()} make {proba.sum():.10g}, off by more than "
            f"{self.tolerance:g}; divide each row by its sum"
        )


def _matrix(values: Any, name: str) -> Array:
    try:
        matrix = np.asarray(values)
        matrix = matrix if matrix.dtype.kind == "f" else matrix.astype(np.float64)
    except (TypeError, ValueError):
        raise DataError(
            f"{name} holds values that are not numbers; give an array of shape (n_rows, n_classes)"
        ) from None
    if matrix.ndim != 2:
        raise DataError(
            f"{name} has shape {matrix.shape}; give (n_rows, n_classes), one column for each class. For one row "
            "write proba[None], for two classes np.column_stack([1 - p, p])"
        )
    if not matrix.size:
        raise DataError(f"{name} has shape {matrix.shape}: there is nothing to decide")
    return matrix
