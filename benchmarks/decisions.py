"""The action of least risk for every row, beside the one matrix product that it needs."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks.data import SEED
from benchmarks.timing import medians_in_turns

N_ROWS, N_CLASSES, N_ACTIONS = 1_000_000, 10, 10
AT_MOST = 3.0
"""Times the matrix product."""


def decisions(repeats: int, share: float) -> Iterator[dict[str, Any]]:
    """Time `best_action` on probabilities and on their logarithms beside ``proba @ costs.T``."""
    from bayeswater import Loss

    rng = np.random.default_rng(SEED)
    proba = rng.dirichlet(np.ones(N_CLASSES), int(N_ROWS * share))
    log_proba = np.log(proba)
    costs = rng.uniform(0.5, 1.5, (N_ACTIONS, N_CLASSES))
    np.fill_diagonal(costs, 0.0)
    loss, across, product = Loss(costs), costs.T.copy(), np.empty((len(proba), N_ACTIONS))
    seconds = medians_in_turns(
        {
            "product": lambda: np.matmul(proba, across, out=product),
            "proba": lambda: loss.best_action(proba),
            "log_proba": lambda: loss.best_action(log_proba=log_proba),
        },
        repeats,
    )
    for form, at_most in (("proba", AT_MOST), ("log_proba", None)):
        times = seconds[form] / seconds["product"]
        yield {
            "job": f"best_action({form}), {len(proba):,} rows, {N_CLASSES} classes, {N_ACTIONS} actions",
            "best_action ms": 1e3 * seconds[form],
            "matrix product ms": 1e3 * seconds["product"],
            "times the product": times,
            "at most": at_most,
            "reached": at_most and times <= at_most,
        }
