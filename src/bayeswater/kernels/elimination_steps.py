"""Rows of one pattern by eliminating variables, one row at a time: log P(evidence) and all marginals.

A step of the elimination has a table over its variable and the neighbours which that had at its turn. What it holds is
the product of the families whose first free variable it is, sliced at the row's codes, and of the messages of earlier
steps. Summed over its variable, it is the message to the step of the first neighbour. Going back, each step is
multiplied by what the step above knows of the neighbours, and is then the joint distribution of its variables:

    collect, first steps first:      msg_i[u] = sum_x phi_i[u, x],    phi_parent *= msg_i
    distribute, last steps first:    phi_i[u, x] *= (sum of phi_parent over all but u) / msg_i[u],    0 / 0 being 0

There are no maps and no products that rows could share: where a few rows have a pattern, making them costs more than
it saves. Cells are innermost. Every message is divided by its largest entry, and the least positive one is kept; a row
of which any product might fall below `TINY` is marked and not answered.
"""

from typing import NamedTuple

import numpy as np

from bayeswater.kernels.clique_passes import TINY, Answers, Evidence
from bayeswater.kernels.clique_tree import FlatTables, Roles
from bayeswater.kernels.compiling import compiled_plainly
from bayeswater.kernels.elimination_order import Elimination
from bayeswater.typing import Array

SCOPE, PARENT, CELL, MESSAGE = range(4)
"""What the loop knows of a step: where its scope, its cells and its message begin, and its parent."""

BUCKET, MEMBERS, TABLE = range(3)
"""What it knows of a family: the step that takes it, and where its variables and its table begin."""

CARD, TURN, ANSWER, STRIDE = range(4)
"""What it knows of a variable, and the stride of the job at hand."""

FLOOR, LOW, TOP = range(3)
"""How small the products of each step can be, and are in the row at hand, and the largest entry of its message."""


class Workspace:
    """Memory that serves one pattern after the other: to get it anew takes as long as much of the work in it."""

    def __init__(self) -> None:
        self._floats = np.empty(0)

    def take(self, n_floats: int) -> Array:
        """Give so many floats, whatever is in them; what was taken before is free again."""
        if n_floats > len(self._floats):
            self._floats = np.empty(2 * n_floats)
        return self._floats[:n_floats]


class Steps(NamedTuple):
    """The tables of an elimination: each has the neighbours first, and the variable of the step last."""

    scope_start: Array  # (n_steps + 1,)
    scope: Array
    parent: Array  # (n_steps,) step of the first neighbour, -1 for none
    n_states: Array  # (n_steps,) float64: cells, which may be too many for an integer
    bucket: Array  # (n_variables,) step that takes each family; -1 for a family that is a number, -2 for one left out
    turn: Array  # (n_variables,) step of each variable, -1 for none

    @property
    def n_cells(self) -> float:
        """Cells of all steps."""
        return float(self.n_states.sum())

    def least_products(self, log_least: Array, log_likelihood: Array) -> Array:
        """Least product of each step, from logarithms of the least entries of families and of soft evidence."""
        n_steps, taken, free = len(self.parent), self.bucket >= 0, self.turn >= 0
        least = np.bincount(self.bucket[taken], log_least[taken], n_steps)
        return np.exp(least + np.bincount(self.turn[free], log_likelihood[free], n_steps))


def steps_of(elimination: Elimination, cards: Array, families: FlatTables, roles: Roles) -> Steps:
    """Lay out the tables of an elimination."""
    n_steps = len(elimination.order)
    turn = np.full(len(cards), -1, dtype=np.int64)
    turn[elimination.order] = np.arange(n_steps)
    scope_start = elimination.start + np.arange(n_steps + 1)
    scope, is_neighbour = np.empty(scope_start[-1], dtype=np.int64), np.ones(scope_start[-1], dtype=bool)
    is_neighbour[scope_start[1:] - 1] = False
    scope[~is_neighbour], scope[is_neighbour] = elimination.order, elimination.neighbour
    later = np.where(is_neighbour, turn[scope], n_steps)
    first = np.where(roles.fixed[families.variable], n_steps, turn[families.variable])
    bucket = np.minimum.reduceat(first, families.start[:-1])
    bucket[bucket == n_steps] = -1
    bucket[roles.relevant == 0] = -2
    if n_steps == 0:
        return Steps(scope_start, scope, np.zeros(0, dtype=np.int64), np.zeros(0), bucket, turn)
    parent = np.minimum.reduceat(later, scope_start[:-1])
    parent[parent == n_steps] = -1
    n_states = np.multiply.reduceat(cards[scope].astype(np.float64), scope_start[:-1])
    return Steps(scope_start, scope, parent, n_states, bucket, turn)


def eliminate_in_rows(
    steps: Steps,
    families: FlatTables,
    cards: Array,
    evidence: Evidence,
    rows: Array,
    floor: Array,
    answers: Answers,
    room: Workspace | None = None,
) -> None:
    """Answer rows that observe the same variables; `floor` (n_steps,) is the least product of families of each step."""
    n_steps, n, last = len(steps.parent), len(cards), steps.scope[steps.scope_start[1:] - 1]
    n_cells = steps.n_states.astype(np.int64)
    step, variable = np.zeros((n_steps + 1, 4), dtype=np.int64), np.zeros((n, 4), dtype=np.int64)
    step[:, SCOPE], step[:-1, PARENT] = steps.scope_start, steps.parent
    np.cumsum(n_cells, out=step[1:, CELL])
    np.cumsum(n_cells // cards[last], out=step[1:, MESSAGE])
    variable[:, CARD], variable[:, TURN], variable[:, ANSWER] = cards, steps.turn, answers.start
    account = np.stack([floor, floor, floor])
    room = room or Workspace()
    index, sums = np.empty(n_cells.max(initial=1), dtype=np.int64), np.zeros(cards.max(initial=1))
    soft = np.flatnonzero((evidence.soft >= 0) & (steps.turn >= 0))
    for some in rows[:, None] if len(soft) else (rows,):
        bucket, start, member, jump, table_start, *_ = steps.bucket, *families
        table = families.probabilities
        if len(soft):  # each is one more family, of the row at hand
            likelihood = evidence.likelihood[:, some[0]]
            bucket = np.concatenate([bucket, steps.turn[soft]])
            start = np.concatenate([start, start[-1] + 1 + np.arange(len(soft))])
            member, jump = np.concatenate([member, soft]), np.concatenate([jump, np.ones_like(soft)])
            table_start = np.concatenate([table_start, len(table) + evidence.soft[soft]])
            table = np.concatenate([table, likelihood])
        family = np.zeros((len(start), 3), dtype=np.int64)
        family[:-1, BUCKET], family[:, MEMBERS], family[:-1, TABLE] = bucket, start, table_start
        step[:, MESSAGE] += len(table) - step[0, MESSAGE]
        n_messages = int(step[-1, MESSAGE] - step[0, MESSAGE])
        n_values = len(table) + 2 * n_messages
        work = room.take(n_values + int(step[-1, CELL]))
        values, phi = work[:n_values], work[n_values:]
        values[: len(table)] = table
        with np.errstate(divide="ignore", invalid="ignore"):  # where the loop runs as plain Python
            _eliminate_rows_loop(
                step, steps.scope, family, member, jump, variable, values, phi, account, evidence.codes, some, index,
                sums, *answers[1:],
            )  # fmt: skip


@compiled_plainly
def _eliminate_rows_loop(  # type: ignore[no-untyped-def]
    step, scope, family, member, jump, variable, values, phi, account, codes, rows, index, sums,
    out, log_evidence, state,
):  # fmt: skip
    # `values` holds the tables of all families, then the messages up of all steps, and then those down. Between jobs
    # strides are zero for all variables of steps, and so are `sums`.
    n = family.shape[0] - 1
    n_steps = step.shape[0] - 1
    to_down = step[n_steps, MESSAGE] - step[0, MESSAGE]
    for r in range(rows.shape[0]):
        row = rows[r]
        log_z = 0.0
        verdict = 0
        for cell in range(phi.shape[0]):
            phi[cell] = 1.0
        # A job reads or writes one table along the cells of one step: families, then messages up, then down.
        for job in range(n + 2 * n_steps):
            is_up = job < n + n_steps
            here = job - n if is_up else n + 2 * n_steps - 1 - job
            first = 0
            last = 0
            cell = 0
            v = 0
            card = 0
            if job < n:
                i = family[job, BUCKET]
                if i < -1:
                    continue
                at = family[job, TABLE]
                for k in range(family[job, MEMBERS], family[job + 1, MEMBERS]):
                    u = member[k]
                    variable[u, STRIDE] = jump[k]
                    if variable[u, TURN] < 0:
                        at += jump[k] * np.int64(codes[u, row])
                if i < 0:
                    log_z += np.log(values[at])
            else:
                i = step[here, PARENT]
                first = step[here, MESSAGE]
                last = step[here + 1, MESSAGE]
                cell = step[here, CELL]
                k = step[here + 1, SCOPE] - 1
                v = scope[k]
                card = variable[v, CARD]
                at = first
                if is_up:
                    most = 0.0
                    least = np.inf
                    for o in range(first, last):
                        total = 0.0
                        for _ in range(card):
                            total += phi[cell]
                            cell += 1
                        values[o] = total
                        values[to_down + o] = 0.0
                        if total > most:
                            most = total
                        if total > 0 and total < least:
                            least = total
                    if account[LOW, here] < TINY:
                        verdict = 2
                    account[LOW, here] = account[FLOOR, here]  # for the next row
                    log_z += np.log(most)
                    account[TOP, here] = most
                    if i >= 0 and most > 0:
                        account[LOW, i] *= least / most
                        for o in range(first, last):
                            values[o] /= most
                elif verdict > 0 or log_z == -np.inf:
                    break
                else:
                    at += to_down
                size = 1
                while k > step[here, SCOPE]:
                    k -= 1
                    u = scope[k]
                    variable[u, STRIDE] = size
                    size *= variable[u, CARD]
            if i >= 0:
                # Cells of the step, the last variable running fastest: what is done once more, moved on by a stride.
                index[0] = at
                done = 1
                for k in range(step[i + 1, SCOPE] - 1, step[i, SCOPE] - 1, -1):
                    u = scope[k]
                    moved = variable[u, STRIDE]
                    variable[u, STRIDE] = 0
                    size = done * variable[u, CARD]
                    for j in range(done, size):
                        index[j] = index[j - done] + moved
                    done = size
                begin = step[i, CELL]
                for j in range(done):
                    if is_up:
                        phi[begin + j] *= values[index[j]]
                    else:
                        values[index[j]] += phi[begin + j]
            if not is_up:
                # The step is now the joint distribution of its variables; the last one's marginal is written down.
                total = 0.0
                for o in range(first, last):
                    ratio = 1.0
                    if i >= 0:
                        ratio = values[to_down + o] / values[o] if values[o] > 0 else 0.0
                    ratio /= account[TOP, here]
                    for s in range(card):
                        value = phi[cell] * ratio
                        phi[cell] = value
                        sums[s] += value
                        cell += 1
                for s in range(card):
                    total += sums[s]
                for s in range(card):
                    if variable[v, ANSWER] >= 0:
                        out[variable[v, ANSWER] + row * card + s] = sums[s] / total
                    sums[s] = 0.0
        log_evidence[row] = log_z
        if verdict == 0 and log_z == -np.inf:
            verdict = 1
        state[row] = verdict
