"""Messages through a tree of cliques made for a single row, its evidence multiplied into the tables.

The steps are those of `clique_passes`, with cells innermost in place of rows: a clique takes its messages one after
the other, each in one run through its cells. Every message is divided by its largest entry.
"""

import numpy as np

from bayeswater.kernels.clique_passes import TINY, Answers, Evidence
from bayeswater.kernels.clique_tables import CliqueTables, Families, Roles
from bayeswater.kernels.compiling import compiled
from bayeswater.typing import Array


def pass_messages_of_row(
    tables: CliqueTables,
    families: Families,
    cards: Array,
    roles: Roles,
    evidence: Evidence,
    row: int,
    floor: Array,
    answers: Answers,
) -> None:
    """Answer the row that the tables were filled for; `floor` (n_cliques,) is the least product of each clique."""
    assert roles.offset is not None, "the tables hold the evidence of one row"
    alone = (tables.hosted < 0) & (roles.relevant > 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        log_start = float(np.log(families.table[families.table_start[alone] + roles.offset[alone]]).sum())
        msg = np.ones(tables.n_messages)
        for v in np.flatnonzero(roles.evidence).tolist():
            leaf, soft = tables.variable_leaf[v], evidence.soft[v]
            msg[leaf : leaf + cards[v]] = evidence.likelihood[soft : soft + cards[v], row]
        _pass_row_loop(
            *tables[:8], cards, evidence.codes, row, floor.copy(), np.ones_like(floor), log_start,
            np.empty(len(tables.base)), msg, np.zeros(tables.n_messages), *answers,
        )  # fmt: skip


@compiled
def _pass_row_loop(  # type: ignore[no-untyped-def]
    parent, own, block, base, run, item_map, maps, variable_leaf, cards, codes, row, low, top, log_start,
    phi, msg, down, out_start, out, log_evidence, state,
):  # fmt: skip
    n_cliques = parent.shape[0]
    log_z = log_start
    verdict = 0
    for back in range(n_cliques):
        c = n_cliques - 1 - back
        begin = block[own[c]]
        end = block[own[c + 1]]
        for cell in range(begin, end):
            phi[cell] = base[cell]
        for i in range(run[c, 0], run[c, 2]):
            shift = item_map[i] - begin
            for cell in range(begin, end):
                phi[cell] *= msg[maps[shift + cell]]
        if low[c] < TINY:
            verdict = 2
        most = 0.0
        least = np.inf
        for o in range(own[c], own[c + 1]):
            total = 0.0
            for cell in range(block[o], block[o + 1]):
                total += phi[cell]
            msg[o] = total
            if total > most:
                most = total
            if total > 0 and total < least:
                least = total
        log_z += np.log(most)
        top[c] = most
        if most > 0:
            for o in range(own[c], own[c + 1]):
                msg[o] /= most
            if parent[c] >= 0:
                low[parent[c]] *= least / most
    if verdict == 0 and log_z == -np.inf:
        verdict = 1
    log_evidence[row] = log_z
    state[row] = verdict
    for c in range(n_cliques):
        begin = block[own[c]]
        end = block[own[c + 1]]
        if verdict == 0 and run[c, 3] > run[c, 1]:
            for o in range(own[c], own[c + 1]):
                ratio = 1.0 / top[c]
                if parent[c] >= 0:
                    ratio = down[o] / (msg[o] * top[c]) if msg[o] > 0 else 0.0
                for cell in range(block[o], block[o + 1]):
                    phi[cell] *= ratio
            for i in range(run[c, 1], run[c, 3]):
                shift = item_map[i] - begin
                for cell in range(begin, end):
                    down[maps[shift + cell]] += phi[cell]
    for v in range(cards.shape[0]):
        if out_start[v] >= 0:
            card = cards[v]
            code = np.int64(codes[v, row])
            at = out_start[v] + row * card
            leaf = variable_leaf[v]
            total = 0.0
            if code >= card and verdict == 0:
                for s in range(card):
                    total += down[leaf + s]
            for s in range(card):
                value = 0.0
                if total > 0:
                    value = down[leaf + s] / total
                elif s == code and verdict == 0:
                    value = 1.0
                out[at + s] = value
