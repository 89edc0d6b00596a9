"""Losses of growing products: joints of rows with their classes, a factor more for every column.

Products are kept as ``mantissa * 2**(STEP * exponent)``, one pair of numbers for each class of each row and each number
of parents, so that no logarithm is taken for a factor, nor a class lost that a later column speaks for. The squared
error of a row is (1 - P(y | x))^2 of its own class; where no class is possible, P is that of the prior. The log-loss is
-log P(y | x).
"""

import numpy as np

from bayeswater.kernels.compiling import compiled
from bayeswater.typing import Array

STEP = 400
"""Bits of one step of the exponent: a product of two numbers that are not below it stays in the range of floats."""

LOG_STEP = STEP * float(np.log(2.0))
"""Its logarithm."""

LEAST = 2.0**-STEP
"""Mantissas below this are brought up by one step."""


def multiply(terms: Array, mantissa: Array, exponent: Array, *, use_loop: bool) -> None:
    """Multiply products (n_levels, n_rows, n_classes) by the terms of one column, of the deepest level that it has."""
    if use_loop:
        _multiply_loop(terms, mantissa, exponent)
        return
    level = np.minimum(np.arange(len(mantissa)), len(terms) - 1)
    factor = terms[level]
    _bring_up(factor, exponent)
    mantissa *= factor
    _bring_up(mantissa, exponent)


def _bring_up(values: Array, exponent: Array) -> None:
    """Bring small numbers up by as many steps as it takes."""
    small = (values < LEAST) & (values > 0)
    while small.any():
        values[small] *= 2.0**STEP
        exponent[small] -= 1
        small = (values < LEAST) & (values > 0)


def squared_errors(
    mantissa: Array, exponent: Array, prior: Array, codes: Array, weight: Array, *, use_loop: bool
) -> Array:
    """Weighted sum of squared errors of the rows, for every level: (n_levels,)."""
    if use_loop:
        losses = np.zeros(len(mantissa))
        _errors_loop(mantissa, exponent, prior, codes.astype(np.int64, copy=False), weight, losses)
        return losses
    highest = np.where(mantissa > 0, exponent, np.iinfo(np.int32).min).max(axis=2, keepdims=True)
    share = mantissa * 2.0 ** (STEP * np.clip(exponent - highest, -2, 0).astype(np.float64))
    share = np.where(exponent < highest - 1, 0.0, share)
    whole = share.sum(axis=2)
    row = np.arange(len(codes))
    own = np.where(whole > 0, share[:, row, codes] / np.where(whole > 0, whole, 1.0), prior[row, codes])
    losses = (1.0 - own) ** 2 @ weight
    return np.asarray(losses)


def log_losses(mantissa: Array, exponent: Array, codes: Array, weight: Array, *, use_loop: bool) -> Array:
    """Weighted sum of -log P(y | x) of the rows, for every level: (n_levels,); every class is possible."""
    if use_loop:
        losses = np.zeros(len(mantissa))
        _log_losses_loop(mantissa, exponent, codes.astype(np.int64, copy=False), weight, losses)
        return losses
    joint = log_products(mantissa, exponent)
    top = joint.max(axis=2)
    whole = top + np.log(np.exp(joint - top[:, :, None]).sum(axis=2))
    return np.asarray((whole - joint[:, np.arange(len(codes)), codes]) @ weight)


def log_products(mantissa: Array, exponent: Array) -> Array:
    """Logarithms of products."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(mantissa) + exponent * LOG_STEP)


@compiled
def _multiply_loop(terms, mantissa, exponent):  # type: ignore[no-untyped-def]
    n_levels, n_rows, n_classes = mantissa.shape
    for level in range(n_levels):
        deepest = min(level, len(terms) - 1)
        for r in range(n_rows):
            for k in range(n_classes):
                term = terms[deepest, r, k]
                while 0.0 < term < LEAST:
                    term *= 2.0**STEP
                    exponent[level, r, k] -= 1
                product = mantissa[level, r, k] * term
                while 0.0 < product < LEAST:
                    product *= 2.0**STEP
                    exponent[level, r, k] -= 1
                mantissa[level, r, k] = product


@compiled
def _errors_loop(mantissa, exponent, prior, codes, weight, losses):  # type: ignore[no-untyped-def]
    n_levels, n_rows, n_classes = mantissa.shape
    for level in range(n_levels):
        loss = 0.0
        for r in range(n_rows):
            highest = -(2**31)
            for k in range(n_classes):
                if mantissa[level, r, k] > 0 and exponent[level, r, k] > highest:
                    highest = exponent[level, r, k]
            whole, own = 0.0, 0.0
            for k in range(n_classes):
                share = mantissa[level, r, k]
                if exponent[level, r, k] == highest - 1:
                    share *= LEAST
                elif exponent[level, r, k] < highest:
                    share = 0.0
                whole += share
                if k == codes[r]:
                    own = share
            own = own / whole if whole > 0 else prior[r, codes[r]]
            loss += weight[r] * (1.0 - own) ** 2
        losses[level] = loss


@compiled
def _log_losses_loop(mantissa, exponent, codes, weight, losses):  # type: ignore[no-untyped-def]
    n_levels, n_rows, n_classes = mantissa.shape
    in_fours = n_classes - n_classes % 4
    for level in range(n_levels):
        loss = 0.0
        for r in range(n_rows):
            highest = lowest = exponent[level, r, 0]
            for k in range(1, n_classes):
                highest = max(highest, exponent[level, r, k])
                lowest = min(lowest, exponent[level, r, k])
            if highest == lowest:  # nearly always; four sums at a time need not wait for each other
                a, b, c, d = 0.0, 0.0, 0.0, 0.0
                for k in range(0, in_fours, 4):
                    a += mantissa[level, r, k]
                    b += mantissa[level, r, k + 1]
                    c += mantissa[level, r, k + 2]
                    d += mantissa[level, r, k + 3]
                for k in range(in_fours, n_classes):
                    a += mantissa[level, r, k]
                whole = (a + b) + (c + d)
            else:
                whole = 0.0
                for k in range(n_classes):
                    if exponent[level, r, k] == highest:
                        whole += mantissa[level, r, k]
                    elif exponent[level, r, k] == highest - 1:
                        whole += mantissa[level, r, k] * LEAST
            steps = exponent[level, r, codes[r]] - highest
            loss -= weight[r] * (np.log(mantissa[level, r, codes[r]] / whole) + steps * LOG_STEP)
        losses[level] = loss
