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
passes in logarithms answer it. So no state is lost where messages are collected, and a sum of zero means impossible
evidence. What is handed down is the probability of a state times what the root collected, which is over `TINY`: a
state that is less probable than 1e-57, given the evidence, may come out as zero.

Only the passes are compiled, and they have few arrays, since each takes time to compile. Where each row reads its
slices of tables is worked out in NumPy beforehand, and so are the numbers of families that are all observed; logarithms
and marks are made of the largest and least entries afterwards.
"""

from typing import NamedTuple

import numpy as np

from bayeswater.kernels.clique_tables import CliqueTables
from bayeswater.kernels.clique_tree import FlatTables
from bayeswater.kernels.compiling import compiled_plainly
from bayeswater.typing import Array

TINY = 1e-250
"""Products over this keep their digits, and so do shares of them down to 1e-50: the least normal float is 2e-308."""

DONE, IMPOSSIBLE, TOO_SMALL = 0, 1, 2
"""What became of a row."""


N_SPARE = 4
"""Cells behind those of the messages: one of ones, one of ratios, and two for products."""

OWN, OWN_END, UP, BOTH_WAYS, DOWN, END, PARENT, LINE = range(8)
"""What the loop knows of a clique: its own messages, the runs of its items, its parent, and where its divisor is."""


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
    families: FlatTables,
    cards: Array,
    evidence: Evidence,
    rows: Array,
    scaling: Scaling,
    width: int,
    answers: Answers,
) -> None:
    """Answer the rows of these numbers, which rise, `width` of them at a time."""
    width, n_cliques = max(1, min(width, len(rows))), len(tables.parent)
    offset = _offsets(tables, evidence, rows)
    n_leaves = int(np.searchsorted(tables.leaf[:-1, 0], tables.lonely))
    lonely = families.table[tables.gather[tables.leaf[n_leaves:-1, 1], None] + offset[n_leaves:]]
    table, gather = _with_likelihoods(tables, families.table, cards, evidence, rows, offset)
    asked = np.flatnonzero((answers.start >= 0) & (tables.variable_leaf >= 0))
    # Cliques whose messages are divided, and roots, have a line each; those of the others are all ones.
    line = np.zeros(n_cliques, dtype=np.int64)
    has_line = np.flatnonzero((tables.parent < 0) | (scaling.scale > 1))[::-1]
    line[has_line] = 1 + np.arange(len(has_line))
    most = np.ones((1 + len(has_line), -(-len(rows) // width), width))
    least = np.full_like(most, np.inf)
    msg, down = np.empty((tables.n_messages + N_SPARE, width)), np.empty((tables.n_messages + 1, width))
    msg[tables.n_messages] = 1.0
    with np.errstate(divide="ignore", invalid="ignore"):  # a zero is impossible evidence, told below
        _pass_loop(
            np.column_stack([tables.own[:-1], tables.own[1:], tables.run, tables.parent, line]), tables.block,
            tables.base, tables.item_map, tables.maps, tables.leaf[: n_leaves + 1], gather, table, offset, msg, down,
            most, least, rows, np.column_stack([tables.variable_leaf, cards, answers.start])[asked], answers.marginal,
        )  # fmt: skip
        most, least = (found.reshape(len(found), -1)[:, : len(rows)] for found in (most, least))
        log_evidence = np.log(np.concatenate([lonely, most[1:]])).sum(axis=0)
        state = np.where(np.isneginf(log_evidence), IMPOSSIBLE, DONE).astype(np.uint8)
        state[_too_small(tables.parent, scaling, line, least)] = TOO_SMALL
    answers.log_evidence[rows], answers.state[rows] = log_evidence, state
    unanswered = rows[state != DONE]
    if len(unanswered):
        for v in asked.tolist():
            answers.of_variable(v, int(cards[v]))[unanswered] = 0.0


def _too_small(parent: Array, scaling: Scaling, line: Array, least: Array) -> Array:
    """Rows of which some product may be below `TINY`; `least` (n_lines, n_rows) of messages after their division."""
    found = np.zeros(least.shape[1], dtype=bool)
    low: dict[int, Array] = {}  # what came from below
    for c in np.flatnonzero(scaling.scale)[::-1].tolist():
        product = low.pop(c, 1.0) * scaling.floor[c]
        found |= product < TINY
        above = int(parent[c])
        if above >= 0:
            low[above] = low.get(above, 1.0) * (least[line[c]] if scaling.scale[c] > 1 else product)
    return found


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


@compiled_plainly
def _pass_loop(  # type: ignore[no-untyped-def]
    clique, block, base, item_map, maps, leaf, gather, table, offset, msg, down, most, least, rows, asked, out
):
    # Behind the messages there are a cell of ones, one of ratios, and two for products, which take turns: a loop that
    # reads and writes the same cell would be no vector loop.
    n_cliques = clique.shape[0]
    n_rows = rows.shape[0]
    width = msg.shape[1]
    one = down.shape[0] - 1
    ratio = one + 1
    for part in range(most.shape[1]):
        begin = part * width
        n_here = width if begin + width < n_rows else n_rows - begin
        for m in range(one + 1):
            for r in range(n_here):
                down[m, r] = 0.0
        for k in range(leaf.shape[0] - 1):  # what the rows bring along: slices of tables, and evidence
            m = leaf[k, 0]
            for i in range(leaf[k, 1], leaf[k + 1, 1]):
                cell = gather[i]
                for r in range(n_here):
                    msg[m, r] = table[cell + offset[k, begin + r]]
                m += 1
        for turn in range(2 * n_cliques):
            is_collecting = turn < n_cliques
            c = n_cliques - 1 - turn if is_collecting else turn - n_cliques
            is_root = clique[c, PARENT] < 0
            line = clique[c, LINE]
            i0 = clique[c, UP]
            i1 = clique[c, BOTH_WAYS]
            i2 = clique[c, DOWN]
            i3 = clique[c, END]
            if is_collecting:
                if not is_root:
                    i3 = i1
            elif is_root or i1 == i3:
                continue
            o_begin = clique[c, OWN]
            o_end = clique[c, OWN_END]
            first = block[o_begin]
            for o in range(o_begin, o_end):
                for r in range(n_here):
                    if is_collecting:
                        msg[o, r] = 0.0
                    else:
                        total = msg[o, r] * most[line, part, r]
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
                            spare = ratio + 1 + ((i - i0) & 1)
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
            if is_collecting and line > 0:
                for r in range(n_here):
                    top = 0.0
                    low = np.inf
                    for o in range(o_begin, o_end):
                        value = msg[o, r]
                        if value > top:
                            top = value
                        if value > 0 and value < low:
                            low = value
                    most[line, part, r] = top
                    if top > 0:
                        least[line, part, r] = low / top
                        for o in range(o_begin, o_end):
                            msg[o, r] /= top
        # The answers, variable by variable: each has an array of its own.
        for k in range(asked.shape[0]):
            m = asked[k, 0]
            card = asked[k, 1]
            for r in range(n_here):
                cell = asked[k, 2] + rows[begin + r] * card
                total = 0.0
                for s in range(card):
                    total += down[m + s, r]
                for s in range(card):
                    out[cell + s] = down[m + s, r] / total
