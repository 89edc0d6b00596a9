"""Entropy, mutual information and divergence of networks, in bits, from the posteriors of families.

    H(X | evidence) = log P(evidence) - sum over the families of E[log P(state | parents)]
    KL(P || Q) = sum over the variables of E_P[log P(v | parents in P) - log Q(v | parents in Q)]

Where both give a variable the same parents, its term is the mean of the divergences of rows: nothing cancels.
"""

from collections.abc import Sequence

import numpy as np

from bayeswater.inference.exact.derivatives import Derivatives, derivatives, family_posteriors
from bayeswater.inference.exact.elimination import query
from bayeswater.inference.exact.factors import NetworkLike
from bayeswater.typing import Array


def bits(p: Array, q: Array) -> float:
    """Sum of p log2(p / q), where p is over 0; infinite where q is not.

    >>> bits(np.array([1.0, 0.0]), np.array([0.5, 0.5]))
    1.0
    """
    p, q = np.broadcast_arrays(p, q)
    there = p > 0
    with np.errstate(divide="ignore"):
        return float((p[there] * (np.log2(p[there]) - np.log2(q[there]))).sum())


def table_information(joint: Array, left: Sequence[int], right: Sequence[int]) -> float:
    """I(left; right | all other axes) of a joint distribution, each side being some of its axes."""
    without_left = joint.sum(axis=tuple(left), keepdims=True)
    without_right = joint.sum(axis=tuple(right), keepdims=True)
    given = without_left.sum(axis=tuple(right), keepdims=True)
    independent = without_left * (without_right / np.where(given > 0, given, 1.0))
    return max(0.0, bits(joint, independent))


def network_entropy(network: NetworkLike, found: Derivatives) -> float:
    """Entropy of all variables together, given what the derivatives were taken at; soft evidence is none."""
    surprise = 0.0
    for table, own in zip(network.tables, family_posteriors(network, found), strict=True):
        surprise -= float((own[own > 0] * np.log(table[own > 0])).sum())
    return max(0.0, (surprise + found.log_evidence) / float(np.log(2)))


def divergence(one: NetworkLike, other: NetworkLike) -> float:
    """KL(one || other) of networks over the same variables, in the same order and with the same states."""
    families = family_posteriors(one, derivatives(one))
    total = 0.0
    for v, (mine, its) in enumerate(zip(one.parents, other.parents, strict=True)):
        table = other.tables[v]
        if set(mine) == set(its):
            axes = [*(its.index(parent) for parent in mine), len(its)]
            rows = families[v].sum(axis=-1, keepdims=True)
            # The mean over rows of the divergence of one row.
            total += bits(families[v], rows * np.transpose(table, axes))
        else:
            total += bits(families[v], families[v].sum(axis=-1, keepdims=True))
            joint = query(one, [*its, v])
            with np.errstate(divide="ignore"):
                total -= float((joint[joint > 0] * np.log2(table[joint > 0])).sum())
    return max(0.0, total)
