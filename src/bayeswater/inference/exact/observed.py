"""Rows in which at most one variable is missing: products of table entries, and never a tree.

With every other variable known, P(x_v | row) is proportional to the product of the families that v is in, those of
its Markov blanket. The other families do not move it, but they are P(row), and tell when a row is impossible.
"""

import numpy as np

from bayeswater.inference.exact.factors import Factors
from bayeswater.kernels.clique_passes import IMPOSSIBLE, Answers, Evidence
from bayeswater.typing import Array


def answer_observed(factors: Factors, evidence: Evidence, rows: Array, missing: int | None, answers: Answers) -> None:
    """Answer rows in which `missing`, or nothing, is missing; soft evidence on the others is counted elsewhere."""
    families, cards = factors.families, factors.cards
    codes = evidence.codes[:, rows].astype(np.int64)
    n_states = 1 if missing is None else cards[missing]
    log_joint = np.zeros((n_states, len(rows)))
    for f in range(factors.n_variables):
        entry = np.full(len(rows), families.table_start[f])
        step = None
        for k in range(families.start[f], families.start[f + 1]):
            v = families.variable[k]
            if v == missing:
                step = families.stride[k]
            else:
                entry += families.stride[k] * codes[v]
        if step is None:
            log_joint += factors.log_table[entry]
        else:
            for state in range(n_states):
                log_joint[state] += factors.log_table[entry + state * step]
    if missing is not None and evidence.soft[missing] >= 0:
        first = evidence.soft[missing]
        with np.errstate(divide="ignore"):
            log_joint += np.log(evidence.likelihood[first : first + n_states, rows])
    top = np.maximum(log_joint.max(axis=0), np.finfo(float).min)
    share = np.exp(log_joint - top)
    total = share.sum(axis=0)
    with np.errstate(divide="ignore"):
        answers.log_evidence[rows] = top + np.log(total)
    possible = total > 0
    answers.state[rows] = np.where(possible, 0, IMPOSSIBLE)
    write_observed(factors, evidence, rows[possible], np.arange(factors.n_variables), answers)
    if missing is not None and answers.start[missing] >= 0:
        write_marginal(answers, missing, cards[missing], rows, (share / np.where(possible, total, 1.0)).T)


def write_observed(factors: Factors, evidence: Evidence, rows: Array, variables: Array, answers: Answers) -> None:
    """Write a one at the observed states of these variables, where they are wanted; the others are zeros already."""
    wanted = variables[answers.start[variables] >= 0][:, None]
    codes = evidence.codes[wanted, rows]
    cell = answers.start[wanted] + rows * factors.card_array[wanted] + codes
    answers.marginal[cell[codes < factors.card_array[wanted]]] = 1.0


def write_marginal(answers: Answers, v: int, card: int, rows: Array, marginal: Array) -> None:
    """Write marginals (n_rows, card) of a variable."""
    answers.of_variable(v, card)[rows] = marginal
