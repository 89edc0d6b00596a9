"""Networks on which sampling is hard or easy to check, and the exact answers by enumeration."""

import numpy as np
from tests.inference.exact.small_networks import evidence_of, full_joint, marginal, with_evidence

from bayeswater.inference.exact.factors import Factors

OR = np.array([[[1.0, 0.0], [0.0, 1.0]], [[0.0, 1.0], [0.0, 1.0]]])  # given both parents, states no, yes

ASIA = Factors(
    (2,) * 8,
    ((), (0,), (), (2,), (2,), (1, 3), (5,), (5, 4)),
    (
        np.array([0.99, 0.01]),  # 0 asia
        np.array([[0.99, 0.01], [0.95, 0.05]]),  # 1 tub
        np.array([0.5, 0.5]),  # 2 smoke
        np.array([[0.99, 0.01], [0.9, 0.1]]),  # 3 lung
        np.array([[0.7, 0.3], [0.4, 0.6]]),  # 4 bronc
        OR,  # 5 either
        np.array([[0.95, 0.05], [0.02, 0.98]]),  # 6 xray
        np.array([[[0.9, 0.1], [0.2, 0.8]], [[0.3, 0.7], [0.1, 0.9]]]),  # 7 dysp, given either and bronc
    ),
)
LUNG, XRAY, DYSP = 3, 6, 7


def copies(p=0.3):
    """0, 1 and 2 are always equal, and 3 tells something of 0: no single one of the three can move."""
    same = np.eye(2)
    return Factors(
        (2, 2, 2, 2),
        ((), (0,), (1,), (0,)),
        (np.array([1 - p, p]), same, same, np.array([[0.8, 0.2], [0.3, 0.7]])),
    )


def exact(factors, targets, evidence, soft=None):
    """P(targets | evidence) by enumeration."""
    row = [evidence.get(v, card) for v, card in enumerate(factors.cards)]
    joint = with_evidence(factors, full_joint(factors), row, soft)
    found = marginal(joint, list(targets))
    return found / found.sum()


__all__ = ["ASIA", "DYSP", "LUNG", "XRAY", "copies", "evidence_of", "exact"]
