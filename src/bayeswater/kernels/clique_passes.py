"""Messages through a tree of cliques, for many rows at once: log P(evidence) and marginals.

Rows are innermost: a cell of a message is a vector over some rows, and every step is one loop over them. Two sweeps:

    collect, children first:     phi = base[c] prod_i msg[i(c)],   msg[own(c)] += phi
    distribute, parents first:   phi again,   down[i(c)] += phi down[own(c)] / msg[own(c)],   0 / 0 being 0

for every cell c of every clique. Products are made anew where they are needed and never stored: messages stay in cache,
the cells of all rows would not. A root is passed through once: what it collects it hands down at the same time. A
product is one of three message cells, or of a cell of ones where there are fewer; what more there is, and the ratio on
the way down, is multiplied into a spare cell first. What comes down to a variable is its marginal times P(evidence) of
its part of the forest, by which it is divided in the end.

Products of many factors may become too small for a float. `floor` tells how small those of a clique can be, from the
least entries of the tables. Where that is too little, messages are divided by their largest entry (`scale`) and the
least positive one is kept. A row of which any product might fall below `TINY` is marked and not answered; the same
passes in logarithms answer it. So no state is ever lost on the way, and a sum of zero means impossible evidence.

Only the passes are compiled. Where each row reads its slices of tables is worked out in NumPy beforehand, and so are
the numbers of families that are all observed.
"""

from typing import NamedTuple

import numpy as np

from bayeswater.kernels.clique_places import Families
from bayeswater.kernels.clique_tables import CliqueTables
from bayeswater.kernels.compiling import compiled
from bayeswater.typing import Array

TINY = 1e-250
"""Products over this keep their digits, and so do shares of them down to 1e-50: the least normal float is 2e-308."""

DONE, IMPOSSIBLE, TOO_SMALL = 0, 1, 2
"""What became of a row."""


N_SPARE = 4
"""Cells behind those of the messages."""


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
    """What rows are told: flat marginals (n_rows, card) from `start` of each variable, -1 where none are wanted.

    Kernels write the marginals of the variables that they sum over. The others stay as they are: zeros.
    """

    start: Array  # (n_variables,)
    marginal: Array
    log_evidence: Array  # (n_rows,)
    state: Array  # (n_rows,) uint8

    def of_variable(self, v: int, card: int) -> Array:
        """View of the marginals (n_rows, card) of a variable."""
        n_rows = len(self.log_evidence)
        return self.marginal[self.start[v] : self.start[v] + n_rows * card].reshape(n_rows, card)


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
    """Answer the rows of these numbers, which rise, `width` of them at a time."""
    width = min(width, len(rows))
    offset = _offsets(tables, evidence, rows)
    n_leaves = int(np.searchsorted(tables.leaf[:-1, 0], tables.lonely))
    lonely = families.table[tables.gather[tables.leaf[n_leaves:-1, 1], None] + offset[n_leaves:]]
    table, gather = _with_likelihoods(tables, families.table, cards, evidence, rows, offset)
    msg, down = np.empty((tables.n_messages + N_SPARE, width)), np.empty((tables.n_messages + 1, width))
    msg[tables.n_messages] = 1.0
    of_clique = np.ones((2, len(tables.parent), width))
    log_evidence, state = np.zeros(len(rows)), np.zeros(len(rows), dtype=np.uint8)
    with np.errstate(divide="ignore", invalid="ignore"):  # a zero is impossible evidence, told below
        log_evidence += np.log(lonely).sum(axis=0)
        _pass_loop(
            *tables[:8], tables.leaf[: n_leaves + 1], tables.n_messages, table, gather, offset, cards, rows, *scaling,
            msg, down, *of_clique, *answers[:2], log_evidence, state,
        )  # fmt: skip
    state[(state == DONE) & np.isneginf(log_evidence)] = IMPOSSIBLE
    answers.log_evidence[rows], answers.state[rows] = log_evidence, state
    unanswered = rows[state != DONE]
    if len(unanswered):
        for v in np.flatnonzero((answers.start >= 0) & (tables.variable_leaf >= 0)).tolist():
            answers.of_variable(v, int(cards[v]))[unanswered] = 0.0


def _offsets(tables: CliqueTables, evidence: Evidence, rows: Array) -> Array:
    """How far each leaf (line) is moved on in its table by the codes of each row."""
    variable, stride = tables.part.T
    side_by_side = len(rows) and rows[-1] - rows[0] == len(rows) - 1  # they are in order
    codes = (
        evidence.codes[variable, rows[0] : rows[-1] + 1] if side_by_side else evidence.codes[variable[:, None], rows]
    )
    moved = codes * stride[:, None]
    return np.add.reduceat(moved, tables.leaf[:-1, 2], axis=0) if len(moved) >= len(tables.leaf) else moved


def _with_likelihoods(
    tables: CliqueTables, table: Array, cards: Array, evidence: Evidence, rows: Array, offset: Array
) -> tuple[Array, Array]:
    """Tables and where the leaves begin in them, those of variables with soft evidence replaced by likelihoods."""
    soft = np.flatnonzero((evidence.soft >= 0) & (tables.variable_leaf >= 0)).tolist()
    if not soft:
        return table, tables.gather
    gather, parts, end = tables.gather.copy(), [table], len(table)
    for v in soft:
        leaf = int(np.searchsorted(tables.leaf[:-1, 0], tables.variable_leaf[v]))
        first, cells = tables.leaf[leaf, 1], np.arange(cards[v])
        likelihood = evidence.likelihood[evidence.soft[v] + cells[:, None], rows]
        parts.append((likelihood * table[gather[first + cells, None] + offset[leaf]]).ravel())
        gather[first + cells] = end + cells * len(rows)
        offset[leaf] = np.arange(len(rows))
        end += likelihood.size
    return np.concatenate(parts), gather


@compiled
def _pass_loop(  # type: ignore[no-untyped-def]
    parent, own, block, base, run, item_map, maps, variable_leaf, leaf, one, table, gather, offset, cards, rows,
    floor, scale, msg, down, low, top, out_start, out, log_evidence, state,
):  # fmt: skip
    # Behind the messages there are a cell of ones, one of ratios, and two that take turns as the spare one: a loop that
    # reads and writes the same cell would be no vector loop.
    n_cliques = parent.shape[0]
    ratio = one + 1
    for begin in range(0, rows.shape[0], msg.shape[1]):
        n_here = rows.shape[0] - begin
        if n_here > msg.shape[1]:
            n_here = msg.shape[1]
        for k in range(leaf.shape[0] - 1):  # what the rows bring along: slices of tables, and evidence
            m = leaf[k, 0]
            for i in range(leaf[k, 1], leaf[k + 1, 1]):
                cell = gather[i]
                for r in range(n_here):
                    msg[m, r] = table[cell + offset[k, begin + r]]
                m += 1
        for m in range(down.shape[0]):
            for r in range(n_here):
                down[m, r] = 0.0
        for turn in range(2 * n_cliques):
            is_collecting = turn < n_cliques
            c = n_cliques - 1 - turn if is_collecting else turn - n_cliques
            is_root = parent[c] < 0
            i0 = run[c, 0]
            i1 = run[c, 1]
            i2 = run[c, 2]
            i3 = run[c, 3]
            if is_collecting:
                if not is_root:
                    i3 = i1
            elif is_root or i1 == i3:
                continue
            o_begin = own[c]
            o_end = own[c + 1]
            first = block[o_begin]
            for o in range(o_begin, o_end):
                for r in range(n_here):
                    if is_collecting:
                        msg[o, r] = 0.0
                    else:
                        total = msg[o, r] * top[c, r]
                        share = down[o, r] / total
                        msg[ratio, r] = share if total > 0 else 0.0
                for cell in range(block[o], block[o + 1]):
                    b = base[cell]
                    local = cell - first
                    p = one
                    q = one
                    rest = one if is_collecting else ratio
                    for i in range(i0, i2):
                        m = maps[item_map[i] + local]
                        if i == i0:
                            p = m
                        elif i == i0 + 1:
                            q = m
                        elif is_collecting and i2 == i0 + 3:
                            rest = m
                        else:
                            spare = one + 2 + (i - i0) % 2
                            for r in range(n_here):
                                msg[spare, r] = msg[rest, r] * msg[m, r]
                            rest = spare
                    if is_collecting:
                        for r in range(n_here):
                            msg[o, r] += b * msg[p, r] * msg[q, r] * msg[rest, r]
                    for i in range(i1, i3, 2):
                        x = maps[item_map[i] + local]
                        y = one
                        if i3 > i + 1:
                            y = maps[item_map[i + 1] + local]
                        for r in range(n_here):
                            value = b * msg[p, r] * msg[q, r] * msg[rest, r]
                            down[x, r] += value
                            down[y, r] += value
            divides = scale[c]
            if is_collecting and (is_root or divides):
                for r in range(n_here):
                    most = 1.0
                    least = low[c, r] * floor[c]
                    low[c, r] = 1.0
                    if divides and least < TINY:
                        state[begin + r] = 2
                    if is_root:
                        most = msg[o_begin, r]
                    elif divides > 1:
                        most = 0.0
                        least = np.inf
                        for o in range(o_begin, o_end):
                            value = msg[o, r]
                            if value > most:
                                most = value
                            if value > 0 and value < least:
                                least = value
                        if most > 0:
                            least /= most
                            for o in range(o_begin, o_end):
                                msg[o, r] /= most
                        top[c, r] = most
                    log_evidence[begin + r] += np.log(most)
                    if not is_root:
                        low[parent[c], r] *= least
        # The answers, variable by variable: each has an array of its own.
        for v in range(cards.shape[0]):
            m = variable_leaf[v]
            start = out_start[v]
            if m >= 0 and start >= 0:
                card = cards[v]
                for r in range(n_here):
                    cell = start + rows[begin + r] * card
                    total = 0.0
                    for s in range(card):
                        total += down[m + s, r]
                    for s in range(card):
                        out[cell + s] = down[m + s, r] / total
