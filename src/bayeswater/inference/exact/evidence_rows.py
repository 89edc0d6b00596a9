"""Evidence of many rows as the kernels want it, and answers for rows that need no tree.

Evidence has one line for each variable; soft evidence is scaled, and equal rows are found.

Rows in which at most one variable is missing are answered by products of table entries. With every other variable
known, P(x_v | row) is proportional to the product of the families that v is in, those of its Markov blanket. The other
families do not move it, but they are P(row), and tell when a row is impossible.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from bayeswater.errors import DataError, SchemaError
from bayeswater.inference.exact.factors import Factors
from bayeswater.kernels.clique_passes import IMPOSSIBLE, Answers, Evidence
from bayeswater.typing import Array

Soft = Mapping[int, Array]
"""Likelihoods of the states of some variables: (card,) for all rows, or (n_rows, card)."""


class EvidenceRows(NamedTuple):
    """Evidence of some rows, and what scaling its likelihoods took away."""

    evidence: Evidence
    log_scale: Array  # (n_rows,) added to log P(evidence)
    log_least: Array  # (n_variables,) logarithm of the least positive likelihood of each variable


def read_rows(factors: Factors, codes: Array, soft: Soft | None = None) -> EvidenceRows:
    """Read codes (n_rows, n_variables); the card of a variable, or more, is the code of a missing cell.

    Soft evidence on an observed variable counts with the likelihood of its state.
    """
    codes = np.asarray(codes)
    if codes.ndim != 2 or codes.shape[1] != factors.n_variables:
        raise SchemaError(
            f"codes have shape {codes.shape}, but there are {factors.n_variables} variables; one column each"
        )
    if codes.dtype.kind == "i" and codes.size and codes.min() < 0:
        row, column = np.argwhere(codes < 0)[0]
        raise DataError(
            f"row {row} has code {codes[row, column]} in column {column}; missing cells have the code n_states"
        )
    lines = codes.T
    cards = factors.card_array
    kind = np.uint8 if cards.max(initial=0) < 256 else np.uint32
    if lines.size and (lines.max(axis=1) > cards).any():
        lines = np.minimum(lines, cards[:, None])
    lines = np.ascontiguousarray(lines, dtype=kind)
    n_rows = lines.shape[1]
    first = np.full(factors.n_variables, -1, dtype=np.int64)
    log_scale, log_least = np.zeros(n_rows), np.zeros(factors.n_variables)
    parts: list[Array] = []
    n_lines = 0
    for v, likelihood in (soft or {}).items():
        card = factors.cards[v]
        each = _checked_likelihood(likelihood, v, n_rows, card)
        seen = lines[v] < card
        most = each.max(axis=1)
        with np.errstate(divide="ignore"):
            log_scale += np.log(np.where(seen, each[np.arange(n_rows), np.minimum(lines[v], card - 1)], most))
        scaled = np.where(seen[:, None], 1.0, each / np.where(most > 0, most, 1.0)[:, None])
        log_least[v] = np.log(scaled[scaled > 0].min(initial=1.0))
        first[v] = n_lines
        n_lines += card
        parts.append(scaled.T)
    likelihood = np.ascontiguousarray(np.concatenate(parts)) if parts else np.zeros((0, n_rows))
    return EvidenceRows(Evidence(lines, first, likelihood), log_scale, log_least)


def _checked_likelihood(likelihood: Array, v: int, n_rows: int, card: int) -> Array:
    each = np.asarray(likelihood, dtype=np.float64)
    if each.shape not in ((card,), (n_rows, card)):
        raise SchemaError(f"soft evidence on variable {v} has shape {each.shape}; give ({card},) or ({n_rows}, {card})")
    if not (np.isfinite(each).all() and (each >= 0).all()):
        raise DataError(f"soft evidence on variable {v} has a likelihood that is negative or not finite")
    return np.broadcast_to(each, (n_rows, card))


def distinct(lines: Array, keys: Array | None = None) -> tuple[Array, Array]:
    """Find equal columns of `lines` (n_lines, n_rows): the first row of each kind, and the kind of every row.

    Rows are told apart by their `keys`, which are checked; kinds are numbered in no particular order.

    >>> first, kind = distinct(np.array([[1, 0, 1], [2, 2, 2]], dtype=np.uint8))
    >>> first[kind].tolist()
    [0, 1, 0]
    """
    _, first, kind = np.unique(keys_of(lines) if keys is None else keys, return_index=True, return_inverse=True)
    if not np.array_equal(lines[:, first[kind]], lines):
        _, first, kind = np.unique(lines, axis=1, return_index=True, return_inverse=True)
    return first, kind


def keys_of(lines: Array) -> Array:
    """A number for each column of `lines` (n_lines, n_rows): equal ones have equal keys, others nearly always not."""
    n_lines, n_rows = lines.shape
    factor: Array = np.asarray(np.random.default_rng(0).integers(1, 2**63, size=n_lines, dtype=np.uint64))
    key = np.zeros(n_rows, dtype=np.uint64)
    for line, weight in zip(lines, factor, strict=True):
        key += np.multiply(line, weight, dtype=np.uint64, casting="unsafe")
    key ^= key >> np.uint64(29)  # a sum of small multiples is told apart by its high bits, too
    return key


def sizes_of_kinds(keys: Array) -> Array:
    """How many rows there are of each kind, in no particular order.

    >>> sorted(sizes_of_kinds(np.array([7, 5, 7], dtype=np.uint64)).tolist())
    [1, 2]
    """
    in_order = np.sort(keys)
    ends = np.flatnonzero(np.append(in_order[1:] != in_order[:-1], True)) + 1
    return np.diff(ends, prepend=0)


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
