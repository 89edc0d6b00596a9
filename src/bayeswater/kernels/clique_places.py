"""Where everything hangs on a tree of cliques: families, evidence, what is asked for, and the cliques below.

A family goes to the clique that holds its free variables at the turn of the first of them. Where some are fixed it is a
leaf, another slice of its table for each row; its map is as long as its clique is large, so that it goes to the
smallest clique that has room for it. A variable that is observed in some rows, or asked for, is a leaf of the smallest
clique that has it. A family that is all fixed is a number, and belongs to no clique.

Messages are numbered: those of the separators first, then the leaves, variable by variable, and last the numbers.
"""

from typing import NamedTuple

import numpy as np

from bayeswater.kernels.clique_tree import CliqueTree
from bayeswater.typing import Array

N_KINDS = 6
CONSTANT, FAMILY_LEAF, EVIDENCE, BOTH, CHILD, MARGINAL = range(N_KINDS)
"""What hangs on a clique, in the order of the runs of items."""


class Families(NamedTuple):
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


class Places(NamedTuple):
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


def place(tree: CliqueTree, cards: Array, families: Families, roles: Roles) -> Places:
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
    return Places(variable_leaf, hosted, leaf_of, first_job, job, leaf, bearer, part[order], lonely, n_messages)


def _smallest_hosts(tree: CliqueTree, families: Families, member_is_fixed: Array, leaves: Array, home: Array) -> Array:
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
