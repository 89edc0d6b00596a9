"""Expected counts and draws of missing cells, row by row, by eliminating the missing variables of each row.

A step of the elimination has a table over its variable and the neighbours which that has at its turn. What it holds is
the product of the families whose first missing variable it is, at what is known of the row, and of messages of earlier
steps. Summed over its variable, it is the message to the step of the first neighbour:

    up, first steps first:    phi_i[u, x] = product of entries,   msg_i[u] = sum over x of phi_i[u, x]
    down, last steps first:   share of a cell = phi_i[u, x] (sum of the shares above that read msg_i[u]) / msg_i[u]

A share is added to every entry that its product was made of: to the counts of families, and to what a message below is
worth. So both ways need one list: for each cell of each step, where its entries are among the tables, end to end, and
the messages of the row behind them (`RowSteps.place`). It depends on the graph and on the row, and not on the tables:
it is laid out once, and used in every round of EM. To draw, each variable is drawn in turn, last steps first, given its
neighbours, which were drawn before.

The order is one for the whole graph, of which a row takes its missing variables. Every message is divided by its
largest entry. A row in which a product of positive entries falls below `TINY` is marked and not answered.
"""

from collections.abc import Sequence
from math import prod
from typing import NamedTuple

import numpy as np

from bayeswater.kernels.clique_passes import DONE, IMPOSSIBLE, TINY, TOO_SMALL
from bayeswater.kernels.compiling import compiled_plainly, worth_compiling
from bayeswater.kernels.elimination_order import MIN_FILL, eliminate_greedily
from bayeswater.kernels.parent_cells import strides_of
from bayeswater.kernels.runs import starts_of
from bayeswater.typing import Array

N_CELLS, CARD, N_FACTORS, PLACE, MESSAGE, SCOPE, IS_LAST = range(7)
"""Columns of `RowSteps.step`."""


class Families(NamedTuple):
    """Families of a network, an order of its variables, and the families that each of these is in."""

    cards: Array  # (n_variables,)
    order: Array  # (n_variables,)
    start: Array  # (n_variables + 1,) first member of each family
    member: Array
    stride: Array  # of each member in the table
    table_start: Array  # (n_variables + 1,)
    touched_start: Array  # (n_variables + 1,)
    touched: Array  # families

    @classmethod
    def of(cls, parents: Sequence[tuple[int, ...]], cards: Sequence[int]) -> "Families":
        """Lay the families of a graph end to end."""
        scopes = [(*own, v) for v, own in enumerate(parents)]
        shapes = [[cards[v] for v in scope] for scope in scopes]
        start, member = starts_of([len(scope) for scope in scopes]), np.concatenate(scopes).astype(np.int64)
        n, n_cards = len(scopes), np.array(cards, dtype=np.int64)
        touched = np.argsort(member, kind="stable")
        order = eliminate_greedily(
            start, member, np.ones(n, np.uint8), np.zeros(n, np.uint8), n_cards, MIN_FILL,
            use_loop=worth_compiling(n**2),
        ).order  # fmt: skip
        return cls(
            n_cards,
            order,
            start,
            member,
            np.concatenate([strides_of(shape) for shape in shapes]),
            starts_of([prod(shape) for shape in shapes]),
            starts_of(np.bincount(member, minlength=n)),
            np.repeat(np.arange(n), np.diff(start))[touched],
        )


class RowSteps(NamedTuple):
    """Steps of some rows, one row after the other.

    A line of `step` has the number of cells, the states of its variable, the number of factors, where places, message
    and variables begin, and whether no step reads its message. There is one line more, where they end.
    """

    first_step: Array  # (n_rows + 1,)
    step: Array  # (n_steps + 1, 7)
    place: Array  # (n_factors, n_cells) of each step, flat: entries of tables and, behind them, of the row's messages
    scope: Array  # variables of each step: the neighbours, and its own one, which runs fastest

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return len(self.first_step) - 1


def lay_out(families: Families, codes: Array, begin: int, end: int, most_places: int, *, use_loop: bool) -> RowSteps:
    """Lay out rows `begin` to `end` of `codes` (n_rows, n_variables) int32, the first ones, as far as places go.

    The card of a variable is the code of a missing cell.
    """
    n = len(families.cards)
    n_missing = int((codes[begin:end] >= families.cards).sum())
    first_step, step = np.zeros(end - begin + 1, dtype=np.int64), np.zeros((n_missing + 1, 7), dtype=np.int64)
    kind = np.int32 if families.table_start[-1] + most_places < 2**31 else np.int64
    place, scope = np.empty((2, most_places), dtype=kind)  # what is not written to takes no memory
    position, free, head, mark, stride = np.full((5, n), -1, dtype=np.int64)
    stride[:] = 0
    after, base = np.empty((2, 2 * n), dtype=np.int64)
    n_rows = (_lay_out_loop if use_loop else _lay_out_loop.loop)(
        *families, codes, begin, end, position, free, head, mark, stride, after, base, first_step, step, place, scope
    )
    n_steps = int(first_step[n_rows])
    ends = step[n_steps]
    return RowSteps(first_step[: n_rows + 1], step[: n_steps + 1], place[: ends[PLACE]], scope[: ends[SCOPE]])


def expect(rows: RowSteps, table: Array, weight: Array, *, use_loop: bool) -> tuple[Array, Array, Array]:
    """Give the counts of all entries of the tables, end to end, that rows of this weight are expected to have.

    Also the logarithm of the sum over all completions of the families that miss a cell, and what became of each row.
    """
    nothing = np.zeros(rows.n_rows + 1, dtype=np.int64)
    copies = np.zeros((0, 0, 0), dtype=np.int32)
    return _passed(rows, table, weight, nothing[:0], nothing, nothing, copies, np.zeros(0), use_loop=use_loop)


def draw(
    rows: RowSteps,
    table: Array,
    cards: Array,
    copied_start: Array,
    copied: Array,
    copies: Array,
    rng: np.random.Generator,
    *,
    use_loop: bool,
) -> Array:
    """Draw missing cells into `copies` (n_variables, n_copies, n), where row i is ``copied[copied_start[i]:...]``.

    Gives what became of each row.
    """
    n_drawn = np.diff(rows.first_step) @ np.diff(copied_start) * copies.shape[1]
    weight, uniform = np.ones(rows.n_rows), rng.random(int(n_drawn))
    return _passed(rows, table, weight, cards, copied_start, copied, copies, uniform, use_loop=use_loop)[2]


def _passed(rows: RowSteps, table: Array, weight: Array, *drawing: Array, use_loop: bool) -> tuple[Array, Array, Array]:
    step = rows.step[:-1]
    cells = starts_of(step[:, N_CELLS])[rows.first_step]
    n_values = int((step[:, MESSAGE] + step[:, N_CELLS] // step[:, CARD]).max(initial=len(table)))
    values, total = np.concatenate([table, np.empty(n_values - len(table))]), np.zeros(n_values)
    phi, top = np.empty(np.diff(cells).max(initial=0)), np.empty(np.diff(rows.first_step).max(initial=0))
    log_evidence, state = np.zeros(rows.n_rows), np.zeros(rows.n_rows, dtype=np.uint8)
    loop = _pass_loop if use_loop else _pass_loop.loop
    loop(*rows, values, total, weight, phi, top, *drawing, log_evidence, state)
    return total[: len(table)], log_evidence, state


@compiled_plainly
def _lay_out_loop(  # type: ignore[no-untyped-def]
    cards, order, start, member, member_stride, table_start, touched_start, touched, codes, begin, end,
    position, free, head, mark, stride, after, base, first_step, step, place, scope,
):  # fmt: skip
    # The factors of a step are a list: `head` has the first, `after` the next. Families have their own numbers, and
    # messages those of their steps behind them. Between factors the strides are zero for all variables.
    n = cards.shape[0]
    n_steps = 0
    n_places = 0
    n_scope = 0
    stamp = 0
    for row in range(begin, end):
        n_free = 0
        for j in range(n):
            v = order[j]
            position[v] = -1
            if codes[row, v] >= cards[v]:
                position[v] = n_free
                free[n_free] = v
                head[n_free] = -1
                n_free += 1
        for i in range(n_free):
            v = free[i]
            for k in range(touched_start[v], touched_start[v + 1]):
                f = touched[k]
                at = table_start[f]
                first = i
                for m in range(start[f], start[f + 1]):
                    u = member[m]
                    if position[u] < 0:
                        at += member_stride[m] * np.int64(codes[row, u])
                    elif position[u] < first:
                        first = position[u]
                if first == i:
                    base[f] = at
                    after[f] = head[i]
                    head[i] = f
        message = table_start[n]
        for i in range(n_free):
            v = free[i]
            here = n_steps + i
            step[here, PLACE] = n_places
            step[here, SCOPE] = n_scope
            stamp += 1
            n_cells = np.float64(cards[v])
            n_factors = 0
            parent = n_free
            end_of_scope = n_scope
            factor = head[i]
            while factor >= 0:
                n_factors += 1
                is_family = factor < n
                first = start[factor] if is_family else step[n_steps + factor - n, SCOPE]
                last = start[factor + 1] if is_family else step[n_steps + factor - n + 1, SCOPE]
                for k in range(first, last):
                    u = member[k] if is_family else np.int64(scope[k])
                    if position[u] > i and mark[u] != stamp:
                        mark[u] = stamp
                        if end_of_scope + 1 >= scope.shape[0]:
                            return row - begin
                        scope[end_of_scope] = u
                        end_of_scope += 1
                        n_cells *= cards[u]
                        if position[u] < parent:
                            parent = position[u]
                factor = after[factor]
            if n_places + n_cells * n_factors > place.shape[0] or end_of_scope >= scope.shape[0]:
                return row - begin
            scope[end_of_scope] = v
            size = 0
            factor = head[i]
            while factor >= 0:
                if factor < n:
                    for k in range(start[factor], start[factor + 1]):
                        stride[member[k]] = member_stride[k]
                else:
                    child = n_steps + factor - n
                    size = 1
                    for k in range(step[child + 1, SCOPE] - 2, step[child, SCOPE] - 1, -1):
                        u = np.int64(scope[k])
                        stride[u] = size
                        size *= cards[u]
                place[n_places] = base[factor]
                size = 1
                for k in range(end_of_scope, n_scope - 1, -1):
                    u = np.int64(scope[k])
                    done = size
                    size *= cards[u]
                    for j in range(n_places + done, n_places + size):
                        place[j] = place[j - done] + stride[u]
                    stride[u] = 0
                n_places += size
                if factor < n:
                    for k in range(start[factor], start[factor + 1]):
                        stride[member[k]] = 0
                factor = after[factor]
            step[here, N_CELLS] = size
            step[here, CARD] = cards[v]
            step[here, N_FACTORS] = n_factors
            step[here, MESSAGE] = message
            step[here, IS_LAST] = parent == n_free
            if parent < n_free:
                base[n + i] = message
                after[n + i] = head[parent]
                head[parent] = n + i
            message += size // cards[v]
            n_scope = end_of_scope + 1
            step[here + 1, PLACE] = n_places
            step[here + 1, SCOPE] = n_scope
        n_steps += n_free
        first_step[row - begin + 1] = n_steps
    return end - begin


@compiled_plainly
def _pass_loop(  # type: ignore[no-untyped-def]
    first_step, step, place, scope, values, total, weight, phi, top, cards, copied_start, copied, copies, uniform,
    log_evidence, state,
):  # fmt: skip
    n_uniform = 0
    for row in range(first_step.shape[0] - 1):
        begin = first_step[row]
        end = first_step[row + 1]
        cell = 0
        for s in range(begin, end):
            if state[row] != DONE:
                break
            n_cells = step[s, N_CELLS]
            card = step[s, CARD]
            n_factors = step[s, N_FACTORS]
            first = step[s, PLACE]
            least = np.inf
            for c in range(n_cells):
                phi[cell + c] = values[place[first + c]]
            for f in range(1, n_factors):
                for c in range(n_cells):
                    phi[cell + c] *= values[place[first + f * n_cells + c]]
            for c in range(n_cells):
                least = min(least, phi[cell + c])
            if least < TINY:
                for c in range(n_cells):
                    if phi[cell + c] < TINY:
                        entry = 1.0
                        for f in range(n_factors):
                            entry = min(entry, values[place[first + f * n_cells + c]])
                        if entry > 0:
                            state[row] = TOO_SMALL
            o = step[s, MESSAGE]
            most = 0.0
            for _ in range(n_cells // card):
                value = 0.0
                for _ in range(card):
                    value += phi[cell]
                    cell += 1
                values[o] = value
                total[o] = 0.0
                most = max(most, value)
                o += 1
            if most > 0:
                for m in range(step[s, MESSAGE], o):
                    values[m] /= most
                top[s - begin] = most
                log_evidence[row] += np.log(most)
            elif state[row] == DONE:
                state[row] = IMPOSSIBLE
        if state[row] != DONE:
            continue
        for k in range(copied_start[row], copied_start[row + 1]):
            at = copied[k]
            for copy in range(copies.shape[1]):
                c = cell
                for s in range(end - 1, begin - 1, -1):
                    card = step[s, CARD]
                    c -= step[s, N_CELLS]
                    o = 0
                    for k_scope in range(step[s, SCOPE], step[s + 1, SCOPE] - 1):
                        u = scope[k_scope]
                        o = o * cards[u] + np.int64(copies[u, copy, at])
                    o = c + o * card
                    value = 0.0
                    for x in range(card):
                        value += phi[o + x]
                    value *= uniform[n_uniform]
                    n_uniform += 1
                    x = 0
                    value -= phi[o]
                    while value >= 0 and x < card - 1:
                        x += 1
                        value -= phi[o + x]
                    while phi[o + x] <= 0:  # where rounding went past the last state that can be
                        x -= 1
                    copies[scope[step[s + 1, SCOPE] - 1], copy, at] = x
        if copies.shape[1] > 0:
            continue
        for s in range(end - 1, begin - 1, -1):
            n_cells = step[s, N_CELLS]
            card = step[s, CARD]
            first = step[s, PLACE]
            o = step[s, MESSAGE]
            if step[s, IS_LAST]:
                total[o] = weight[row]
            cell -= n_cells
            c = cell
            for m in range(o, o + n_cells // card):
                ratio = 0.0
                if values[m] > 0:
                    ratio = total[m] / (values[m] * top[s - begin])
                for _ in range(card):
                    phi[c] *= ratio
                    c += 1
            for f in range(step[s, N_FACTORS]):
                for c in range(n_cells):
                    total[place[first + f * n_cells + c]] += phi[cell + c]
