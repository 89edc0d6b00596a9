"""Messages through a tree of cliques, for many rows at once: log P(evidence) and marginals.

Rows are innermost: a cell of a message is a vector over some rows, and every step is one loop over them. Two sweeps:

    collect, children first:     phi = base[c] prod_i msg[i(c)],   msg[own(c)] += phi
    distribute, parents first:   phi again,   down[i(c)] += phi down[own(c)] / msg[own(c)],   0 / 0 being 0

for every cell c of every clique. Products are made twice and never stored: messages stay in cache, the cells of all
rows would not. A root is passed through once: what it collects it hands down at the same time. Items are taken two at
a time; where there is no second one, a cell of ones stands in for it.

Products of many factors may become too small for a float. `floor` tells how small those of a clique can be, from the
least entries of the tables. Where that is too little, messages are divided by their largest entry (`scale`) and the
least positive one is kept. A row of which any product might fall below `TINY` is marked and not answered; the same
passes in logarithms answer it. So no state is ever lost on the way, and a sum of zero means impossible evidence.
"""

from typing import NamedTuple

import numpy as np

from bayeswater.kernels.clique_tables import CliqueTables, Families
from bayeswater.kernels.compiling import compiled
from bayeswater.typing import Array

TINY = 1e-250
"""Products over this keep their digits, and so do shares of them down to 1e-50: the least normal float is 2e-308."""

DONE, IMPOSSIBLE, TOO_SMALL = 0, 1, 2
"""What became of a row."""


class Evidence(NamedTuple):
    """Codes of all variables, one line each, and likelihoods of those with soft evidence."""

    codes: Array  # (n_variables, n_rows), the card of a variable being the code of a missing cell
    soft: Array  # (n_variables,) first line of likelihood, -1 for none
    likelihood: Array  # (n_soft_states, n_rows), ones where the variable is observed


class Scaling(NamedTuple):
    """How small products can become: none of these where all of them stay over `TINY`."""

    floor: Array  # (n_cliques,) least product of a clique and of what it gets from children that keep no account
    scale: Array  # (n_cliques,) uint8: 0 no account, 1 account of the least, 2 messages are divided


class Answers(NamedTuple):
    """What the passes write: flat marginals (n_rows, card) from `start` of each variable, -1 where none are wanted."""

    start: Array  # (n_variables,)
    marginal: Array
    log_evidence: Array  # (n_rows,)
    state: Array  # (n_rows,) uint8


def pass_messages(
    tables: CliqueTables,
    families: Families,
    cards: Array,
    evidence: Evidence,
    rows: Array,
    scaling: Scaling,
    width: int,
    answers: Answers,
) -> None:
    """Answer the rows of these numbers, `width` of them at a time."""
    width = min(width, len(rows))
    msg = np.ones((tables.n_messages + 1, width))
    of_clique = np.ones((2, len(tables.parent), width))
    with np.errstate(divide="ignore", invalid="ignore"):  # where the loop runs as plain Python
        _pass_loop(
            *tables[:-2], tables.n_messages, families.table, cards, *evidence, rows, *scaling,
            msg, np.empty_like(msg), *of_clique, *np.empty((2, width)), np.empty(width, dtype=np.int64), *answers,
        )  # fmt: skip


@compiled
def _pass_loop(  # type: ignore[no-untyped-def]
    parent, own, block, base, run, item_map, maps, variable_leaf, leaf, part, gather, lonely, one,
    table, cards, codes, soft, likelihood, rows, floor, scale,
    msg, down, low, top, phi, ratio, offset, out_start, out, log_evidence, state,
):  # fmt: skip
    n_cliques = parent.shape[0]
    width = msg.shape[1]
    for begin in range(0, rows.shape[0], width):
        n_here = rows.shape[0] - begin
        if n_here > width:
            n_here = width
        # What the rows bring along: slices of tables, and evidence.
        for k in range(leaf.shape[0] - 1):
            for r in range(n_here):
                at = 0
                for j in range(leaf[k, 2], leaf[k + 1, 2]):
                    at += part[j, 1] * np.int64(codes[part[j, 0], rows[begin + r]])
                offset[r] = at
            for i in range(leaf[k, 1], leaf[k + 1, 1]):
                m = leaf[k, 0] + i - leaf[k, 1]
                cell = gather[i]
                for r in range(n_here):
                    msg[m, r] = table[cell + offset[r]]
        for v in range(cards.shape[0]):
            if soft[v] >= 0 and variable_leaf[v] >= 0:
                for s in range(cards[v]):
                    m = variable_leaf[v] + s
                    for r in range(n_here):
                        msg[m, r] *= likelihood[soft[v] + s, rows[begin + r]]
        for m in range(down.shape[0]):
            for r in range(n_here):
                down[m, r] = 0.0
        for c in range(n_cliques):
            for r in range(n_here):
                low[c, r] = floor[c]
        for r in range(n_here):
            total = 0.0
            for m in range(lonely, one):
                total += np.log(msg[m, r])
            log_evidence[rows[begin + r]] = total
            state[rows[begin + r]] = 0
        for turn in range(2 * n_cliques):
            is_collecting = turn < n_cliques
            c = n_cliques - 1 - turn if is_collecting else turn - n_cliques
            is_root = parent[c] < 0
            i0 = run[c, 0]
            i1 = run[c, 1]
            i2 = run[c, 2]
            i3 = run[c, 3]
            if not is_collecting and (is_root or i1 == i3):
                continue
            first = block[own[c]]
            for o in range(own[c], own[c + 1]):
                for r in range(n_here):
                    ratio[r] = 1.0
                    if is_collecting:
                        msg[o, r] = 0.0
                    else:
                        total = msg[o, r] * top[c, r]
                        ratio[r] = down[o, r] / total if total > 0 else 0.0
                if not is_collecting and parent[parent[c]] < 0:  # a root has handed down before it knew its sum
                    for r in range(n_here):
                        total = msg[own[parent[c]], r]
                        ratio[r] = ratio[r] / total if total > 0 else 0.0
                for cell in range(block[o], block[o + 1]):
                    b = base[cell]
                    local = cell - first
                    p = one
                    q = one
                    if i2 > i0:
                        p = maps[item_map[i0] + local]
                    if i2 > i0 + 1:
                        q = maps[item_map[i0 + 1] + local]
                    for r in range(n_here):
                        phi[r] = b * msg[p, r] * msg[q, r]
                    for i in range(i0 + 2, i2, 2):
                        p = maps[item_map[i] + local]
                        q = one
                        if i2 > i + 1:
                            q = maps[item_map[i + 1] + local]
                        for r in range(n_here):
                            phi[r] *= msg[p, r] * msg[q, r]
                    if is_collecting:
                        for r in range(n_here):
                            msg[o, r] += phi[r]
                    if is_root or not is_collecting:
                        for i in range(i1, i3, 2):
                            p = maps[item_map[i] + local]
                            q = one
                            if i3 > i + 1:
                                q = maps[item_map[i + 1] + local]
                            for r in range(n_here):
                                value = phi[r] * ratio[r]
                                down[p, r] += value
                                down[q, r] += value
            if is_collecting and is_root:
                for r in range(n_here):
                    log_evidence[rows[begin + r]] += np.log(msg[own[c], r])
            if is_collecting and scale[c]:
                for r in range(n_here):
                    least = low[c, r]
                    if least < TINY:
                        state[rows[begin + r]] = 2
                    if scale[c] > 1 and not is_root:
                        most = 0.0
                        least = np.inf
                        for o in range(own[c], own[c + 1]):
                            value = msg[o, r]
                            if value > most:
                                most = value
                            if value > 0 and value < least:
                                least = value
                        log_evidence[rows[begin + r]] += np.log(most)
                        top[c, r] = most
                        if most > 0:
                            least /= most
                            for o in range(own[c], own[c + 1]):
                                msg[o, r] /= most
                    if not is_root:
                        low[parent[c], r] *= least
        # The answers, variable by variable: each has an array of its own.
        for r in range(n_here):
            if state[rows[begin + r]] == 0 and log_evidence[rows[begin + r]] == -np.inf:
                state[rows[begin + r]] = 1
        for v in range(cards.shape[0]):
            if out_start[v] >= 0:
                card = cards[v]
                leaf_at = variable_leaf[v]
                for r in range(n_here):
                    row = rows[begin + r]
                    code = np.int64(codes[v, row])
                    at = out_start[v] + row * card
                    total = 0.0
                    if code >= card and state[row] == 0:
                        for s in range(card):
                            total += down[leaf_at + s, r]
                    for s in range(card):
                        value = 0.0
                        if total > 0:
                            value = down[leaf_at + s, r] / total
                        elif s == code and state[row] == 0:
                            value = 1.0
                        out[at + s] = value
