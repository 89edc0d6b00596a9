"""The most probable states of everything that is not observed, given each row: maxima in place of sums."""

from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

import numpy as np

from bayeswater.inference.exact.forecast import of_tree
from bayeswater.inference.exact.junction_tree import JunctionTree
from bayeswater.inference.exact.log_passes import best_states
from bayeswater.inference.exact.plan import Plan, roles_of
from bayeswater.inference.exact.rows import Soft, distinct, read_rows
from bayeswater.kernels.compiling import worth_compiling
from bayeswater.kernels.threads import ordered_map, row_blocks
from bayeswater.typing import Array

ROWS_AT_ONCE = 64

FEW_PATTERNS = 4
"""Up to so many patterns have trees of their own."""

SHARED_CELLS = 50_000
"""A tree for all patterns is not larger than this: without the observed variables those of patterns are far smaller."""


class Explanations(NamedTuple):
    """The most probable states, the logarithm of P(states, evidence), and the rows whose evidence is impossible.

    In these rows the states are those given, missing ones included.
    """

    states: Array  # (n_rows, n_variables)
    log_probability: Array  # (n_rows,)
    impossible: Array  # (n_rows,) bool


def most_probable_explanation(tree: JunctionTree, codes: Array, soft: Soft | None = None) -> Explanations:
    """Explain each row of `codes` (n_rows, n_variables); among equals the first states of a clique win.

    Rows of one pattern share a tree without the variables that they observe; those of many patterns one with all.
    """
    factors = tree.factors
    rows = read_rows(factors, codes, soft)
    lines, n_rows = rows.evidence.codes, rows.evidence.codes.shape[1]
    missing = lines >= factors.card_array[:, None]
    states = lines.T.astype(np.int64)
    log_probability = np.zeros(n_rows)
    for group, plan in _groups(tree, missing, rows.evidence.soft >= 0):
        of_tree(plan.tree.n_cells, min(ROWS_AT_ONCE, len(group))).require_room()
        blocks = [group[block] for block in row_blocks(len(group), ROWS_AT_ONCE)]
        answers = ordered_map(partial(best_states, plan, rows.evidence), blocks)
        for some, (found, log_best) in zip(blocks, answers, strict=True):
            states[some] = found.T
            log_probability[some] = log_best
    log_probability += rows.log_scale
    impossible = np.isneginf(log_probability)
    states[impossible] = lines.T[impossible]
    return Explanations(states, log_probability, impossible)


def _groups(tree: JunctionTree, missing: Array, soft: Array) -> Iterator[tuple[Array, Plan]]:
    # Rows of one pattern and their plan; or all rows, where patterns are many and one tree for all of them is small.
    factors = tree.factors
    everything = np.ones(factors.n_variables, dtype=bool)
    first, kind = distinct(missing.view(np.uint8))
    use_loop = worth_compiling(len(first) * factors.n_variables**2)
    if len(first) > FEW_PATTERNS:
        always = np.asarray(~missing.any(axis=1))
        shared = tree.plan(roles_of(factors, always, ~always | soft, everything), use_loop=use_loop)
        if shared.tree.n_cells <= SHARED_CELLS:
            yield np.arange(missing.shape[1]), shared
            return
    for k, row in enumerate(first.tolist()):
        roles = roles_of(factors, np.asarray(~missing[:, row]), soft, everything)
        yield np.flatnonzero(kind == k), tree.plan(roles, use_loop=use_loop)
