"""The nested choice of parents and children of AODE: all pairs of prefixes are judged in one leave-one-out pass.

Columns stand in an order of their own, the most telling first. A model (p, c) takes the first p columns as parents and
the first c as children. With a row taken out, the products over children grow along the order, and the sums over
parents too: so all d x d models are scored at the price of one. They are judged by the squared error (1 - P(y | x))^2
of the true class.
"""

import numpy as np

from bayeswater.inference.squared_error import first_of_least, squared_error
from bayeswater.inference.super_parents import SuperParents
from bayeswater.typing import Array


def nested_losses(
    joint: SuperParents, order: Array, block: Array, codes: Array, removed: Array, weight: Array
) -> Array:
    """Sum of squared errors of every model (p, c) over some rows, each taken out: (n_columns, n_columns).

    `order` (n_columns,) are the columns, `weight` (n_rows,) says how often each row counts.
    """
    estimate = joint.estimate
    losses = np.zeros((estimate.n_columns, estimate.n_columns))
    size = max(1, 2**20 // (estimate.n_columns * estimate.n_classes))
    for first in range(0, len(block), size):
        rows = slice(first, first + size)
        losses += _losses(joint, order, block[rows], codes[rows], removed[rows], weight[rows])
    return losses


def best_of_nested(losses: Array) -> tuple[int, int]:
    """Numbers of parents and of children of least loss; of equal ones the fewest parents, then the fewest children."""
    p, c = first_of_least(losses)
    return p + 1, c + 1


def _losses(joint: SuperParents, order: Array, block: Array, codes: Array, removed: Array, weight: Array) -> Array:
    slots = joint.slots(block, removed)
    root = joint.log_joint_without(slots, codes, removed)
    of_parent = joint.weight_without(slots, codes, removed)
    naive = joint.naive.prior.without(codes, removed)[:, None] + np.cumsum(
        joint.naive.terms_without(slots, codes, removed)[:, order], axis=1
    )
    shift, prior = joint.prior.shift_without(codes, removed), joint.prior.without(codes, removed)
    total = np.full_like(naive, -np.inf)  # joints of all parents so far: (n_rows, n_children, n_classes)
    losses = np.empty((len(order), len(order)))
    for p, i in enumerate(order.tolist()):
        terms = joint.log_conditional[slots[:, i, None], slots]
        terms[np.arange(len(codes)), :, codes] = joint.own_without(i, slots, codes, removed)
        terms = terms[:, order]
        spode = root[:, i, None] + np.cumsum(terms, axis=1)
        with np.errstate(divide="ignore"):
            total = np.logaddexp(total, spode + np.log(of_parent[:, i])[:, None, None])
        alone = np.asarray(~of_parent[:, order[: p + 1]].any(axis=1))
        scores = np.where(alone[:, None, None], naive, total)
        losses[p] = weight @ squared_error(scores if shift is None else scores + shift[:, None], prior, codes)
    return losses
