"""Conditional risk, and the action of least risk, block by block.

    risk[row, i] = sum over classes j of cost[i, j] P(j | row)

One matrix product a block; costs that differ from row to row are added column by column, so that nothing of the
size rows x actions x classes is made. Risks that differ by no more than rounding are equal: the first action wins.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from bayeswater.decision.cost_table import CostTable
from bayeswater.decision.probabilities import Probabilities, ProbabilityBlock
from bayeswater.kernels.feature_sums import dense_times_weights
from bayeswater.kernels.least_risk import first_of_least, first_of_least_product
from bayeswater.kernels.threads import one_blas_thread
from bayeswater.typing import Array

SMALL_PRODUCT = 1024
"""Costs (actions times classes) up to which one loop over the rows beats a matrix product that is then searched."""

AT_ONCE_ROWS = 32_768
"""Rows of a block of which nothing but the choices is held in memory."""

FAINT = 1e-290
"""Risks below this may have lost digits to underflow; where two are so small, their logarithms decide."""


def conditional_risk(table: CostTable, posterior: Probabilities) -> Array:
    """Risk of every action: (n_rows, n_actions)."""
    (risk,) = _by_blocks(table, posterior, lambda rows, block: (risks(table, block.proba, rows),))
    return risk


def regrets(table: CostTable, posterior: Probabilities) -> Array:
    """Risk of every action beyond that of the best one: (n_rows, n_actions)."""

    def beyond_least(rows: slice, block: ProbabilityBlock) -> tuple[Array]:
        regret = _regret_risks(table, block.proba, rows)
        regret -= regret.min(axis=0)
        return (regret.T,)

    (regret,) = _by_blocks(table, posterior, beyond_least)
    return regret


def best_action(table: CostTable, posterior: Probabilities, labels: Array | None = None) -> Array:
    """Code of the action of least risk, or what `labels` has in its place: (n_rows,)."""
    if posterior.kind == "proba" and not table.row_columns and table.cost.size <= SMALL_PRODUCT:
        (chosen,) = posterior.blocks(
            lambda rows, block: (_labelled(_choose_at_once(table, posterior, block, rows), labels),),
            block_rows=AT_ONCE_ROWS,
            check=False,
        )
    else:
        (chosen,) = _by_blocks(table, posterior, lambda rows, block: (_labelled(_choose(table, block, rows), labels),))
    return chosen


def best_action_and_risk(table: CostTable, posterior: Probabilities) -> tuple[Array, Array]:
    """Code of the action of least risk (n_rows,), and the risks of all (n_rows, n_actions)."""
    code, risk = _by_blocks(
        table, posterior, lambda rows, block: (_choose(table, block, rows), risks(table, block.proba, rows))
    )
    return code, risk


def least_risk(table: CostTable, posterior: Probabilities) -> Array:
    """Risk of the best action: (n_rows,)."""
    (least,) = _by_blocks(table, posterior, lambda rows, block: (risks(table, block.proba, rows).min(axis=1),))
    return least


def risks(table: CostTable, proba: Array, rows: slice) -> Array:
    """Risks (n_rows, n_actions) of one block."""
    risk = dense_times_weights(proba, np.ascontiguousarray(table.fixed_cost.T), None)
    for j in table.row_columns:
        risk += table.column(j, rows) * proba[:, j, None]
    return risk


def _by_blocks(
    table: CostTable, posterior: Probabilities, function: Callable[[slice, ProbabilityBlock], tuple[Array, ...]]
) -> tuple[Array, ...]:
    with one_blas_thread(posterior.values.size * len(table.actions)):
        return posterior.blocks(function)


def _regret_risks(table: CostTable, proba: Array, rows: slice) -> Array:
    """Risks (n_actions, n_rows) of one block, costs being counted from the least one of their column: none below 0."""
    regret = table.regret @ proba.T
    for j in table.row_columns:
        regret += (_column_regret(table, j, rows) * proba[:, j, None]).T
    return regret


def _column_regret(table: CostTable, j: int, rows: slice | Array) -> Array:
    column = table.column(j, rows)
    column -= column.min(axis=1, keepdims=True)
    return column


def _choose_at_once(table: CostTable, posterior: Probabilities, block: ProbabilityBlock, rows: slice) -> Array:
    """Check, multiply and choose in one reading of the probabilities."""
    tie, regret = _tie(table, block), table.regret
    code, wrong = first_of_least_product(block.proba, regret, tie, posterior.tolerance, use_loop=block.use_loop)
    if wrong >= 0:
        posterior.refuse(rows.start + wrong)
    return code


def _labelled(code: Array, labels: Array | None) -> Array:
    return code.astype(np.intp, copy=False) if labels is None else labels[code]


def _tie(table: CostTable, block: ProbabilityBlock) -> Any:
    """Share by which risks may differ and still be equal: a sum of n products is off by at most n roundings."""
    return block.rounding + len(table.classes) * np.finfo(np.float64).eps


def _choose(table: CostTable, block: ProbabilityBlock, rows: slice) -> Array:
    tie = _tie(table, block)
    regret = _regret_risks(table, block.proba, rows)
    code = first_of_least(regret, tie, use_loop=block.use_loop)
    if block.log_proba is not None:
        faint = np.flatnonzero((regret <= FAINT).sum(axis=0) > 1)
        if len(faint):
            log_regret = _log_regret_risks(table, block.log_proba[faint], rows.start + faint)
            least = log_regret.min(axis=1, keepdims=True)
            rounding = np.finfo(np.float64).eps * np.abs(least, where=np.isfinite(least), out=np.zeros_like(least))
            share = np.broadcast_to(tie, len(code))[faint, None]
            code[faint] = (log_regret <= least + share + rounding).argmax(axis=1)
    return code


def _log_regret_risks(table: CostTable, log_proba: Array, rows: Array) -> Array:
    """Logarithms of `_regret_risks` (n_rows, n_actions), action by action: no underflow."""
    by_row = {j: _column_regret(table, j, rows) for j in table.row_columns}
    log_risk = np.empty((len(log_proba), len(table.actions)))
    for i in range(len(table.actions)):
        regret = np.tile(table.regret[i], (len(log_proba), 1))
        for j, column in by_row.items():
            regret[:, j] = column[:, i]
        with np.errstate(divide="ignore"):
            log_risk[:, i] = np.logaddexp.reduce(log_proba + np.log(regret), axis=1)
    return log_risk
