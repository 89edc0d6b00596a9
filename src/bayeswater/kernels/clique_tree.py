"""A tree of cliques from an order of elimination, laid out for passing messages.

The clique of a step is the eliminated variable with the neighbours it had. A clique inside that of an earlier step is
absorbed by it. What remains is put together from the last step to the first: a clique hangs on any one, already
placed, that holds its separator (the variables it shares with all that was placed before); the smallest such clique
is taken, since every message costs a multiplication in each cell of the clique that receives it. Each part of the
forest is then rooted at its largest clique, which is passed through only once.

Sets of variables and of cliques are the bits of whole numbers: what holds a separator is found by a few steps on all
cliques at once, which needs no compiled loop.

A clique lists the variables of its separator first. So the cells of one state of the separator stand together, and
the sum over them is a message cell without an index.

Families, evidence and what is asked for hang on the tree. A family goes to the clique that holds its free variables at
the turn of the first of them. Where some are fixed it is a leaf, another slice of its table for each row; its map is as
long as its clique is large, so that it goes to the smallest clique that has room for it. A variable that is observed in
some rows, or asked for, is a leaf of the smallest clique that has it. A family that is all fixed is a number, and
belongs to no clique.

Messages are numbered: those of the separators first, then the leaves, variable by variable, and last the numbers.
"""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from math import prod
from typing import NamedTuple

import numpy as np

from bayeswater.kernels.elimination_order import Elimination, bits_of
from bayeswater.typing import Array


class CliqueTree(NamedTuple):
    """A forest of cliques, parents before children."""

    parent: Array  # (n_cliques,) -1 for a root
    start: Array  # (n_cliques + 1,) where the variables of each clique begin
    variable: Array  # those of the separator first
    n_shared: Array  # (n_cliques,) variables of the separator
    n_states: Array  # (n_cliques,) float64: cells of the clique, which may be too many for an integer
    n_own: Array  # (n_cliques,) float64: cells of the separator, 1 for a root
    host: Array  # (n_variables,) smallest clique with the variable, -1 for none
    home: Array  # (n_variables,) clique with the variable and its neighbours at its turn, -1 for none
    turn: Array  # (n_variables,) step of elimination, -1 for none

    @property
    def n_cells(self) -> float:
        """Cells of all cliques."""
        return float(self.n_states.sum())

    def scope(self, clique: int) -> list[int]:
        """Variables of a clique."""
        return self.variable[self.start[clique] : self.start[clique + 1]].tolist()


def build_tree(eliminations: Iterable[Elimination], cards: Array) -> CliqueTree:
    """Build the tree of the elimination, of variables with `cards` states, whose cliques have the fewest cells."""
    size = cards.astype(np.float64).tolist()
    cliques = min((_Cliques.of(elimination, size) for elimination in eliminations), key=lambda one: sum(one.weight))
    above = cliques.hung()
    _root_at_largest(above, cliques.weight)
    return _laid_out(above, cliques, size)


class _Cliques(NamedTuple):
    """The cliques that no other holds, from that of the last step to that of the first."""

    order: list[int]  # (n_steps,) variables
    turn: Array  # (n_variables,) their steps, -1 for none
    of_step: list[int]  # (n_steps,) clique that holds the variable and its neighbours
    scopes: list[list[int]]
    weight: list[float]  # cells
    separators: list[list[int]]
    following: list[int]  # clique of the step after the last one that each holds, -1 for none

    @classmethod
    def of(cls, elimination: Elimination, size: Sequence[float]) -> "_Cliques":
        """Take the cliques from an elimination of variables with so many states each."""
        order, neighbour = elimination.order.tolist(), elimination.neighbour.tolist()
        around = [neighbour[i:j] for i, j in pairwise(elimination.start.tolist()[: len(order) + 1])]
        turn = np.full(len(size), -1, dtype=np.int64)
        turn[order] = np.arange(len(order))
        holder, last, following = _held(around, turn.tolist())
        steps = sorted(last, key=last.__getitem__, reverse=True)
        number = {i: c for c, i in enumerate(steps)}
        scopes = [[order[i], *around[i]] for i in steps]
        after = [following[last[i]] for i in steps]
        return cls(
            order,
            turn,
            [number[i] for i in holder],
            scopes,
            [prod([size[v] for v in scope]) for scope in scopes],
            [around[last[i]] for i in steps],
            [number[holder[i]] if i >= 0 else -1 for i in after],
        )

    def hung(self) -> list[int]:
        """Give the clique that each one hangs on, -1 for none: the smallest before it that has its separator."""
        above, holding = list(self.following), [0] * len(self.turn)  # cliques so far with each variable
        for c, scope in enumerate(self.scopes):
            if above[c] >= 0:
                candidates = -1
                for v in self.separators[c]:
                    candidates &= holding[v]
                above[c] = min([above[c], *bits_of(candidates)], key=self.weight.__getitem__)
            for v in scope:
                holding[v] |= 1 << c
        return above


def _held(around: Sequence[Sequence[int]], turn: Sequence[int]) -> tuple[list[int], dict[int, int], list[int]]:
    """Find the step whose clique holds that of each step, the last step that each such clique holds, and what follows.

    What follows a step is the first turn of its neighbours, -1 if it has none.
    """
    n_steps = len(around)
    following = [min([turn[v] for v in others], default=-1) for others in around]
    holder = list(range(n_steps))
    last = dict(enumerate(holder))
    for i, first in enumerate(following):
        if first >= 0 and holder[first] == first and len(around[i]) == 1 + len(around[first]):
            holder[first] = holder[i]
            last[holder[i]] = first
            del last[first]
    return holder, last, following


def _root_at_largest(above: list[int], weight: Sequence[float]) -> None:
    """Turn the edges of each part on the way from its root to its largest clique."""
    part: list[int] = []
    largest: dict[int, int] = {}
    for c, upper in enumerate(above):
        part.append(c if upper < 0 else part[upper])
        if upper < 0 or weight[c] > weight[largest[part[c]]]:
            largest[part[c]] = c
    for at in largest.values():
        below = -1
        while at >= 0:
            above[at], below, at = below, at, above[at]


def _laid_out(above: Sequence[int], cliques: _Cliques, size: Sequence[float]) -> CliqueTree:
    """Number the cliques with parents before children, depth first."""
    scopes, weight = cliques.scopes, cliques.weight
    children: list[list[int]] = [[] for _ in above]
    waiting: list[int] = []
    for c, upper in enumerate(above):
        (waiting if upper < 0 else children[upper]).append(c)
    waiting.reverse()
    number = [-1] * len(above)
    sequence: list[int] = []
    while waiting:
        c = waiting.pop()
        number[c] = len(sequence)
        sequence.append(c)
        waiting += children[c]
    parent = [number[above[c]] if above[c] >= 0 else -1 for c in sequence]
    variables: list[int] = []
    start, n_shared, n_own = [0], [], []
    host, home = np.full((2, len(size)), -1, dtype=np.int64)
    for c in sorted(sequence, key=lambda c: (weight[c], number[c]), reverse=True):
        host[scopes[c]] = number[c]  # the last to say so is the smallest, the first of equals
    for c in sequence:
        placed = set(scopes[above[c]] if above[c] >= 0 else ())
        shared = [v for v in scopes[c] if v in placed]
        variables += shared + [v for v in scopes[c] if v not in placed]
        start.append(len(variables))
        n_shared.append(len(shared))
        n_own.append(prod([size[v] for v in shared]))
    home[cliques.order] = [number[c] for c in cliques.of_step]
    return CliqueTree(
        np.array(parent, dtype=np.int64),
        np.array(start, dtype=np.int64),
        np.array(variables, dtype=np.int64),
        np.array(n_shared, dtype=np.int64),
        np.array([weight[c] for c in sequence], dtype=np.float64),
        np.array(n_own, dtype=np.float64),
        host,
        home,
        cliques.turn,
    )


N_KINDS = 6
CONSTANT, FAMILY_LEAF, EVIDENCE, BOTH, CHILD, MARGINAL = range(N_KINDS)
"""What hangs on a clique, in the order of the runs of items."""


class FlatTables(NamedTuple):
    """Conditional tables end to end: P(own | parents), the own variable last, and the stride of each variable."""

    start: Array  # (n_variables + 1,)
    variable: Array
    stride: Array
    table_start: Array  # (n_variables,)
    indicator: Array  # (n_variables,) where the zeros and ones (card + 1, card) of each variable begin in the table
    table: Array

    @property
    def probabilities(self) -> Array:
        """The tables alone: zeros and ones lie behind them, and are many where a variable has many states."""
        return self.table[: self.indicator.min(initial=len(self.table))]


class Roles(NamedTuple):
    """What a tree is made for: uint8 arrays (n_variables,)."""

    relevant: Array  # families that count
    fixed: Array  # observed variables that are taken out of the graph
    evidence: Array  # variables left in the graph that may be observed in some row, or softly
    wanted: Array  # variables left in the graph whose marginals are asked for


class CliquePlaces(NamedTuple):
    """Cliques and messages of everything, and the jobs of each clique: those of kind k of clique c from 6 c + k on."""

    variable_leaf: Array  # (n_variables,) first message cell, -1 for none
    hosted: Array  # (n_variables,) clique of each family, -1 for none
    leaf_of: Array  # (n_variables,) first message cell of each family, -1 for none
    first_job: Array  # (N_KINDS n_cliques + 1,)
    job: Array  # family, variable, or clique below
    leaf: Array  # (n_leaves + 1, 3): first message cell, first cell of gather, first part
    bearer: Array  # (n_leaves,) family, or n_variables + variable
    part: Array  # (n_parts, 2): variable and stride
    lonely: int  # message cells from here on belong to no clique
    n_messages: int


def place(tree: CliqueTree, cards: Array, families: FlatTables, roles: Roles) -> CliquePlaces:
    """Find a place for everything."""
    n, n_cliques = len(cards), len(tree.parent)
    relevant, evidence, wanted = (roles[k] > 0 for k in (0, 2, 3))
    member_is_fixed, first_member = roles.fixed[families.variable] > 0, families.start[:-1]
    any_fixed = np.logical_or.reduceat(member_is_fixed, first_member)
    width = np.multiply.reduceat(np.where(member_is_fixed, 1, cards[families.variable]), first_member)
    turn = np.minimum.reduceat(np.where(member_is_fixed, n, tree.turn[families.variable]), first_member)
    at_turn = np.empty(n + 1, dtype=np.int64)
    at_turn[tree.turn] = tree.home
    is_number = relevant & (turn == n)
    is_placed = relevant & (turn < n)
    is_leaf = is_placed & any_fixed
    has_leaf = (tree.host >= 0) & (evidence | wanted)

    hosted = np.where(is_placed, at_turn[turn], -1)
    if is_leaf.any():
        hosted[is_leaf] = _smallest_hosts(tree, families, member_is_fixed, np.flatnonzero(is_leaf), hosted[is_leaf])

    # Messages of variables and families in turns, and then the numbers.
    size = np.zeros((n, 2), dtype=np.int64)
    size[has_leaf, 0] = cards[has_leaf]
    size[is_leaf, 1] = width[is_leaf]
    end = int(tree.n_own.sum()) + np.cumsum(size)
    lonely = int(end[-1])
    begin = end.reshape(n, 2) - size
    numbers = np.flatnonzero(is_number)
    leaf_of = np.where(is_leaf, begin[:, 1], -1)
    leaf_of[numbers] = lonely + np.arange(len(numbers))

    # Parts of the leaves, that is of variables with evidence and of families, in the order of their messages.
    of_family = np.repeat(np.arange(n), np.diff(families.start))
    is_part = member_is_fixed & relevant[of_family]
    seen = np.flatnonzero(has_leaf & evidence)
    message = np.concatenate([begin[seen, 0], leaf_of[of_family[is_part]]])
    part = np.stack(
        [np.concatenate([seen, families.variable[is_part]]), np.concatenate([cards[seen], families.stride[is_part]])], 1
    )
    order = np.argsort(message, kind="stable")
    leaf_message, first_part = np.unique(message[order], return_index=True)
    bearer = np.concatenate([n + seen, of_family[is_part]])[order][first_part]
    leaf = np.zeros((len(leaf_message) + 1, 3), dtype=np.int64)
    leaf[:-1, 0], leaf[:-1, 2] = leaf_message, first_part
    leaf[-1] = lonely + len(numbers), 0, len(part)
    leaf[1:, 1] = np.cumsum(np.concatenate([width, cards])[bearer])

    # Jobs by clique and kind.
    variables, placed = np.flatnonzero(has_leaf), np.flatnonzero(is_placed)
    children = np.flatnonzero(tree.parent >= 0)
    kind_of_variable = np.where(~wanted, EVIDENCE, np.where(evidence, BOTH, MARGINAL))[variables]
    clique = np.concatenate([tree.host[variables], hosted[placed], tree.parent[children]])
    kind = np.concatenate(
        [kind_of_variable, np.where(any_fixed, FAMILY_LEAF, CONSTANT)[placed], np.full(len(children), CHILD)]
    )
    key = N_KINDS * clique + kind
    first_job = np.searchsorted(np.sort(key), np.arange(N_KINDS * n_cliques + 1))
    job = np.concatenate([variables, placed, children])[np.argsort(key, kind="stable")]
    variable_leaf = np.where(has_leaf, begin[:, 0], -1)
    n_messages = lonely + len(numbers)
    return CliquePlaces(variable_leaf, hosted, leaf_of, first_job, job, leaf, bearer, part[order], lonely, n_messages)


def _smallest_hosts(
    tree: CliqueTree, families: FlatTables, member_is_fixed: Array, leaves: Array, home: Array
) -> Array:
    """Smallest clique with all free members of each of some families; `home` where none is smaller.

    The cliques with a variable are the bits of a whole number, smaller ones first: the lowest bit tells the smallest.
    """
    by_size = np.argsort(tree.n_states, kind="stable")
    holding = [0] * len(tree.turn)
    first, scopes = tree.start.tolist(), tree.variable.tolist()
    for k, c in enumerate(by_size.tolist()):
        for v in scopes[first[c] : first[c + 1]]:
            holding[v] |= 1 << k
    start, variable, is_fixed = families.start.tolist(), families.variable.tolist(), member_is_fixed.tolist()
    smallest = []
    for f in leaves.tolist():
        candidates = -1
        for k in range(start[f], start[f + 1]):
            if not is_fixed[k]:
                candidates &= holding[variable[k]]
        smallest.append((candidates & -candidates).bit_length() - 1)
    found = by_size[smallest]
    return np.where(tree.n_states[found] < tree.n_states[home], found, home)
