"""Posterior marginals of many rows of evidence, each with its own pattern of missing cells.

Equal rows are answered once. Rows with at most one missing cell are products of table entries. The others go through
trees of cliques or eliminations, by the route that is the least work (`routes`). Rows are independent of one another in
every route, so that the number of threads never shows.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from bayeswater import limits
from bayeswater.inference.exact.junction_tree import JunctionTree
from bayeswater.inference.exact.observed import answer_observed
from bayeswater.inference.exact.routes import Routes, Task, in_parts
from bayeswater.inference.exact.rows import Rows, Soft, distinct, keys_of, read_rows, sizes_of_kinds
from bayeswater.kernels.clique_passes import IMPOSSIBLE, Answers
from bayeswater.kernels.threads import ordered_map
from bayeswater.typing import Array

WORTH_SHARING = 0.9
"""Equal rows share their answer where this share of the rows is left: with more, copying costs what it saves."""


@dataclass(frozen=True)
class Posteriors:
    """Marginals of the targets, (n_rows, card) each, log P(evidence), and the rows whose evidence is impossible.

    In these rows the marginals are zeros and the logarithm is -inf.
    """

    marginals: dict[int, Array]
    log_evidence: Array  # (n_rows,)
    impossible: Array  # (n_rows,) bool


def marginals(
    tree: JunctionTree, codes: Array, targets: Sequence[int] | None = None, soft: Soft | None = None
) -> Posteriors:
    """Marginals of `targets` (all variables if None) given each row of `codes` (n_rows, n_variables).

    The card of a variable, or more, is the code of a missing cell. `soft` gives likelihoods of the states of some
    variables, (card,) or (n_rows, card). An observed target has probability one at its state.
    """
    factors = tree.factors
    rows = read_rows(factors, codes, soft)
    wanted = list(range(factors.n_variables)) if targets is None else list(dict.fromkeys(targets))
    n_rows = rows.evidence.codes.shape[1]
    limits.require_table_bytes(
        8 * n_rows * int(factors.card_array[wanted].sum()),
        f"marginals of {len(wanted)} variables in {n_rows} rows",
        "ask for fewer targets, or for the rows in parts",
    )
    kind = None
    keys = keys_of(rows.evidence.codes) if not soft else None
    if keys is not None and len(sizes_of_kinds(keys)) <= WORTH_SHARING * n_rows:
        first, kind = distinct(rows.evidence.codes, keys)
        rows = read_rows(factors, codes[np.sort(first)])
        kind = np.argsort(np.argsort(first))[kind]  # kinds in the order in which they first come
    answers = _answer(tree, rows, wanted, n_rows)
    impossible = answers.state == IMPOSSIBLE
    result = {v: answers.of_variable(v, factors.cards[v]) for v in wanted}
    log_evidence = answers.log_evidence + rows.log_scale
    if soft and np.isneginf(rows.log_scale).any():  # no state of a variable is likely at all
        impossible |= np.isneginf(rows.log_scale)
        for marginal in result.values():
            marginal[impossible] = 0.0
    if kind is not None:
        result = {v: marginal.take(kind, axis=0) for v, marginal in result.items()}
        log_evidence, impossible = log_evidence[kind], impossible[kind]
    return Posteriors(result, log_evidence, impossible)


def _answer(tree: JunctionTree, rows: Rows, wanted: Sequence[int], n_asked: int) -> Answers:
    cards = tree.factors.card_array
    n_rows = rows.evidence.codes.shape[1]
    start = np.full(len(cards), -1, dtype=np.int64)
    start[wanted] = np.concatenate([[0], np.cumsum(cards[wanted])[:-1]]) * n_rows if wanted else 0
    marginal = np.zeros(n_rows * int(cards[wanted].sum()))
    answers = Answers(start, marginal, np.empty(n_rows), np.zeros(n_rows, dtype=np.uint8))
    missing = rows.evidence.codes >= cards.astype(rows.evidence.codes.dtype)[:, None]  # (n_variables, n_rows)
    n_missing = np.add.reduce(missing.view(np.uint8), axis=0, dtype=np.uint32)
    list(ordered_map(lambda task: task(), _tasks(tree, rows, answers, missing, n_missing, n_asked)))
    if not len(rows.evidence.likelihood):  # what says nothing is certain: 1, and not the sum of everything, rounded
        answers.log_evidence[n_missing == len(cards)] = 0.0
    return answers


def _tasks(
    tree: JunctionTree, rows: Rows, answers: Answers, missing: Array, n_missing: Array, n_asked: int
) -> list[Task]:
    factors = tree.factors
    tasks: list[Task] = []
    single = np.flatnonzero(n_missing <= 1)
    which = np.where(n_missing[single] == 0, -1, missing[:, single].argmax(axis=0) if len(missing) else -1)
    for v in np.unique(which).tolist():
        for some in in_parts(single[which == v]):
            missing_one = None if v < 0 else v
            tasks.append(partial(answer_observed, factors, rows.evidence, some, missing_one, answers))
    rest = np.flatnonzero(n_missing > 1)
    if len(rest):
        tasks += Routes(tree, rows, answers, missing, rest, n_asked).tasks()
    return tasks
