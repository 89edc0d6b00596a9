"""The passes through a tree of cliques in logarithms, in NumPy: sums for marginals, maxima for explanations.

No product is ever too small here. It answers small calls, rows that the compiled passes gave back, and in tests it is
what they are compared with. It reads only the tree, the tables of the network and the roles: none of the maps.

A table of a clique is (n_cells, n_rows), the last variable of its scope running fastest.

With maxima in place of sums, the passes give the most probable states of everything that is not observed.
"""

from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

import numpy as np

from bayeswater.inference.exact.evidence_rows import Soft, distinct, read_rows
from bayeswater.inference.exact.factors import Factors
from bayeswater.inference.exact.forecast import of_tree
from bayeswater.inference.exact.junction_tree import JunctionTree, Plan, roles_of
from bayeswater.kernels.clique_passes import Evidence
from bayeswater.kernels.clique_tables import cells_of, packed_strides
from bayeswater.kernels.compiling import worth_compiling
from bayeswater.kernels.threads import ordered_map, row_blocks
from bayeswater.records import record
from bayeswater.typing import Array


@record(eq=False)
class Collected:
    """What the first pass left: the product of every clique, the messages sent up, and the maps they came along."""

    product: list[Array]  # (n_cells, n_rows)
    message: list[Array]  # (n_own, n_rows)
    child_map: list[Array]  # of each clique, into its separator from the cells of its parent
    log_evidence: Array  # (n_rows,)


def log_marginals(plan: Plan, evidence: Evidence, rows: Array) -> tuple[dict[int, Array], Array]:
    """Marginals (n_rows, card) of the wanted variables that are in the tree, and log P(evidence)."""
    tree, cards = plan.tree, plan.factors.card_array
    collected = _collect(plan, evidence, rows, _log_sum)
    posterior: list[Array] = []
    for c, parent in enumerate(tree.parent.tolist()):
        product = collected.product[c]
        if parent >= 0:
            n_own = len(collected.message[c])
            down = _log_sum(_by_cell(posterior[parent], collected.child_map[c], n_own))
            with np.errstate(invalid="ignore"):
                ratio = np.where(np.isneginf(down), -np.inf, down - collected.message[c])
            product = product + np.repeat(ratio, len(product) // n_own, axis=0)
        posterior.append(product)
    answers = {}
    for v in np.flatnonzero(plan.roles.wanted).tolist():
        c = int(tree.host[v])
        log_share = _log_sum(_by_cell(posterior[c], cells_of(tree.scope(c), cards, {v: 1}), cards[v]))
        share = np.exp(log_share - np.maximum(log_share.max(axis=0), np.finfo(float).min))
        total = share.sum(axis=0)
        answers[v] = (share / np.where(total > 0, total, 1.0)).T
    return answers, collected.log_evidence


def best_states(plan: Plan, evidence: Evidence, rows: Array) -> tuple[Array, Array]:
    """The most probable states (n_variables, n_rows) of all variables in the tree, and the log of its probability.

    The first state wins among equals; variables that are not in the tree keep their codes.
    """
    tree, cards = plan.tree, plan.factors.card_array
    collected = _collect(plan, evidence, rows, lambda table: table.max(axis=1))
    states = evidence.codes[:, rows].astype(np.int64)
    cell: list[Array] = []
    for c, parent in enumerate(tree.parent.tolist()):
        product = collected.product[c]
        n_own = len(collected.message[c])
        choice = product.reshape(n_own, -1, len(rows)).argmax(axis=1)  # (n_own, n_rows)
        own = collected.child_map[c][cell[parent]] if parent >= 0 else np.zeros(len(rows), dtype=np.int64)
        cell.append(own * (len(product) // n_own) + choice[own, np.arange(len(rows))])
        rest = cell[c]
        for v in reversed(tree.scope(c)):
            rest, states[v] = np.divmod(rest, cards[v])
    return states, collected.log_evidence


def _collect(plan: Plan, evidence: Evidence, rows: Array, combine) -> Collected:  # type: ignore[no-untyped-def]
    factors, tree = plan.factors, plan.tree
    cards, n_cliques = factors.card_array, len(tree.parent)
    scopes = [tree.scope(c) for c in range(n_cliques)]
    product = [np.zeros((int(n), len(rows))) for n in tree.n_states]
    log_evidence = np.zeros(len(rows))
    for f in np.flatnonzero(plan.roles.relevant).tolist():
        free = [v for v in (*factors.parents[f], f) if not plan.roles.fixed[v]]
        if free:
            c = int(tree.home[min(free, key=tree.turn.__getitem__)])
            product[c] += _slices(plan, evidence, rows, f, scopes[c])
        else:
            log_evidence += _slices(plan, evidence, rows, f, [])[0]
    for v in np.flatnonzero(plan.roles.evidence).tolist():
        c = int(tree.host[v])
        product[c] += _seen(evidence, rows, v, cards[v])[cells_of(scopes[c], cards, {v: 1})]
    message: list[Array] = [np.zeros(0)] * n_cliques
    child_map: list[Array] = [np.zeros(0)] * n_cliques
    for c in range(n_cliques - 1, -1, -1):
        n_own, parent = int(tree.n_own[c]), int(tree.parent[c])
        message[c] = combine(product[c].reshape(n_own, -1, len(rows)))
        if parent < 0:
            log_evidence += message[c][0]
            continue
        separator = packed_strides(scopes[c][: tree.n_shared[c]], cards)
        child_map[c] = cells_of(scopes[parent], cards, separator)
        product[parent] += message[c][child_map[c]]
    return Collected(product, message, child_map, log_evidence)


def _slices(plan: Plan, evidence: Evidence, rows: Array, f: int, scope: list[int]) -> Array:
    # Logarithms of a family's table at the cells of a clique, for the codes of its fixed variables in each row.
    factors: Factors = plan.factors
    families = factors.families
    strides, offset = {}, np.full(1, families.table_start[f])
    for k in range(families.start[f], families.start[f + 1]):
        v = int(families.variable[k])
        if plan.roles.fixed[v]:
            offset = offset + families.stride[k] * evidence.codes[v, rows].astype(np.int64)
        else:
            strides[v] = int(families.stride[k])
    return factors.log_table[cells_of(scope, factors.card_array, strides)[:, None] + offset]


def _seen(evidence: Evidence, rows: Array, v: int, card: int) -> Array:
    codes = evidence.codes[v, rows]
    with np.errstate(divide="ignore"):
        seen = np.log((codes == np.arange(card)[:, None]) | (codes >= card), dtype=float)
        if evidence.soft[v] >= 0:
            seen += np.log(evidence.likelihood[evidence.soft[v] : evidence.soft[v] + card, rows])
    return seen  # (card, n_rows)


def _by_cell(table: Array, index: Array, size: int) -> Array:
    """Bring the cells of a table together by where they go: (size, n_cells / size, n_rows)."""
    return table[np.argsort(index, kind="stable")].reshape(size, -1, table.shape[1])


def _log_sum(table: Array) -> Array:
    """Logarithm of the sum along the middle axis; a sum of zeros is -inf."""
    top = table.max(axis=1)
    finite = np.maximum(top, np.finfo(float).min)
    with np.errstate(divide="ignore"):
        return finite + np.log(np.exp(table - finite[:, None]).sum(axis=1))


ROWS_AT_ONCE = 64

FEW_PATTERNS = 4
"""Up to so many patterns have trees of their own."""

SHARED_CELLS = 50_000
"""A tree for all patterns is not larger than this: without the observed variables those of patterns are far smaller."""


class MostProbableStates(NamedTuple):
    """The most probable states, the logarithm of P(states, evidence), and the rows whose evidence is impossible.

    In these rows the states are those given, missing ones included.
    """

    states: Array  # (n_rows, n_variables)
    log_probability: Array  # (n_rows,)
    impossible: Array  # (n_rows,) bool


def most_probable_explanation(tree: JunctionTree, codes: Array, soft: Soft | None = None) -> MostProbableStates:
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
    return MostProbableStates(states, log_probability, impossible)


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
