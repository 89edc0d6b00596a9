"""The tables of a tree of cliques, cell by cell."""

import itertools

from bayeswater.kernels.clique_tables import DENSE_SHARE
from bayeswater.kernels.clique_tree import BOTH, CHILD, CONSTANT, FAMILY_LEAF, MARGINAL, N_KINDS, place


def tables_cell_by_cell(tree, factors, roles):
    """`own`, `block`, `base`, `run`, `item_map`, `maps` and `gather` of `fill_tables`, as lists."""
    families, cards = factors.families, factors.cards
    places = place(tree, factors.card_array, families, roles)

    def states_of(scope):
        return [
            dict(zip(scope, states, strict=True)) for states in itertools.product(*(range(cards[v]) for v in scope))
        ]

    def members(f):
        line = slice(families.start[f], families.start[f + 1])
        return [
            (v, step)
            for v, step in zip(families.variable[line].tolist(), families.stride[line].tolist(), strict=True)
            if not roles.fixed[v]
        ]

    def entry(f, states):  # where the table has them, at state 0 of what is fixed
        return int(families.table_start[f]) + sum(step * states[v] for v, step in members(f))

    def rank(scope, states):  # of these states among all of a scope
        return states_of(scope).index({v: states[v] for v in scope})

    own = [0, *itertools.accumulate(len(states_of(tree.scope(c)[: tree.n_shared[c]])) for c in range(len(tree.parent)))]
    found = {"own": own, "block": [], "base": [], "run": [], "item_map": [], "maps": [], "gather": []}
    n_items = 0
    for c in range(len(tree.parent)):
        scope, separator = tree.scope(c), tree.scope(c)[: tree.n_shared[c]]
        jobs = [
            places.job[places.first_job[k] : places.first_job[k + 1]].tolist()
            for k in range(N_KINDS * c, N_KINDS * c + N_KINDS)
        ]
        cells = states_of(scope)
        base = []
        for states in cells:
            value = 1.0
            for f in jobs[CONSTANT]:
                value *= families.table[entry(f, states)]
            base.append(value)
        n_over = sum(value > 0 for value in base)
        kept = [i for i in range(len(cells)) if base[i] > 0 or n_over > DENSE_SHARE * len(cells)]
        for first in states_of(separator):
            before = [i for i in kept if rank(separator, cells[i]) < rank(separator, first)]
            found["block"].append(len(found["base"]) + len(before))
        found["base"] += [base[i] for i in kept]
        run = []
        for kind in range(FAMILY_LEAF, N_KINDS):
            if kind in (FAMILY_LEAF, BOTH, MARGINAL):
                run.append(n_items)
            for what in jobs[kind]:
                found["item_map"].append(len(found["maps"]))
                n_items += 1
                for i in kept:
                    if kind == FAMILY_LEAF:
                        at = places.leaf_of[what] + rank([v for v, _ in members(what)], cells[i])
                    elif kind == CHILD:
                        at = own[what] + rank(tree.scope(what)[: tree.n_shared[what]], cells[i])
                    else:
                        at = places.variable_leaf[what] + cells[i][what]
                    found["maps"].append(int(at))
        found["run"].append([*run, n_items])
    found["block"].append(len(found["base"]))
    variables = {int(places.variable_leaf[v]): v for v in range(len(cards)) if places.variable_leaf[v] >= 0}
    families_at = {int(places.leaf_of[f]): f for f in range(len(cards)) if places.leaf_of[f] >= 0}
    for message in places.leaf[:-1, 0].tolist():
        if message in variables:
            v = variables[message]
            found["gather"] += [int(families.indicator[v]) + k for k in range(cards[v])]
        else:
            f = families_at[message]
            found["gather"] += [entry(f, states) for states in states_of([v for v, _ in members(f)])]
    return found
