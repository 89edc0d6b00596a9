"""Networks made of others: nodes, states and edges added, taken away, renamed and turned; tables follow as they must.

A table that loses a parent is averaged over it: P(child | its other parents) is what it was, and no network of that
graph is nearer to the old one. A canonical node (noisy-OR, -AND, -MAX) or a rule stays what it is as far as it can.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from bayeswater.data.variable import Variable
from bayeswater.errors import ParameterError
from bayeswater.inference.exact.elimination import query
from bayeswater.models.network.conditional_tables import (
    ConditionalTable,
    read_conditional,
    read_variables,
    state_code,
)
from bayeswater.models.network.network_rows import declared_variable
from bayeswater.networks.conditionals import Conditional, Deterministic, Table, require_room
from bayeswater.networks.network import Network
from bayeswater.networks.noisy_causes import NoisyAnd, NoisyMax, NoisyOr
from bayeswater.structure.dag import Dag
from bayeswater.typing import Array

# ---------------------------------------------------------------------- tables and edges


def network_with_table(core: Network, name: str, table: Any) -> Network:
    """Give a variable another table."""
    node = core.dag.node(name)
    conditional = read_conditional(table, core.variables[node], core.parents_of(node))
    return core.with_node(node, core.parents[node], conditional)


def network_with_edge(core: Network, parent: str, child: str, table: Any) -> Network:
    """Add an edge, whose parent becomes the last; without a table the child is as it was, whatever that parent is."""
    start, end = core.dag.node(parent), core.dag.node(child)
    if start in core.parents[end]:
        raise ParameterError(f"the edge {parent} -> {child} is there already")
    parents = (*core.parents[end], start)
    require_room(core.variables[end], [core.variables[node] for node in parents])
    own = core.conditionals[end]
    conditional: Conditional
    if table is not None:
        conditional = read_conditional(table, core.variables[end], [core.variables[node] for node in parents])
    elif isinstance(own, NoisyOr | NoisyMax):
        conditional = replace(own, causes={**own.causes, parent: {}})
    elif isinstance(own, NoisyAnd):
        always = dict.fromkeys(core.variables[start].states, 1.0)
        conditional = replace(own, conditions={**own.conditions, parent: always})
    else:
        conditional = Table(np.repeat(core.tables[end][..., None, :], core.cards[start], axis=-2))
    return core.with_node(end, parents, conditional)


def network_without_edge(core: Network, parent: str, child: str, table: Any) -> Network:
    """Take an edge away; without a table, the child is averaged over the parent that it no longer has."""
    start, end = _edge(core, parent, child)
    rest = tuple(node for node in core.parents[end] if node != start)
    if table is None:
        table = _averaged(core, end, rest)
    conditional = read_conditional(table, core.variables[end], [core.variables[node] for node in rest])
    return core.with_node(end, rest, conditional)


def _edge(core: Network, parent: str, child: str) -> tuple[int, int]:
    start, end = core.dag.node(parent), core.dag.node(child)
    if start not in core.parents[end]:
        parents = [variable.name for variable in core.parents_of(end)]
        raise ParameterError(f"there is no edge {parent} -> {child}; the parents of {child!r} are {parents}")
    return start, end


def _averaged(core: Network, child: int, rest: Sequence[int]) -> Array:
    """P(child | rest), the rest being some of its parents.

    It is the mean of P(child | all parents) by P(other parents | rest); where the rest is impossible, all states of the
    others weigh the same.
    """
    others = [parent for parent in core.parents[child] if parent not in rest]
    joint = query(core, [*others, *rest])
    axes = tuple(range(len(others)))
    total = joint.sum(axis=axes)
    n_states = joint.size // max(total.size, 1)
    share = np.where(total > 0, joint, 1.0) / np.where(total > 0, total, n_states)
    place = {parent: axis for axis, parent in enumerate(core.parents[child])}
    table = np.transpose(core.tables[child], [*(place[p] for p in (*others, *rest)), len(place)])
    return np.asarray((table * share[..., None]).sum(axis=axes))


def network_with_reversed_edge(core: Network, parent: str, child: str) -> Network:
    """Turn an edge so that the joint distribution stays: each of the two takes over the other's parents (Shachter)."""
    start, end = _edge(core, parent, child)
    shared = tuple(dict.fromkeys([*core.parents[start], *(p for p in core.parents[end] if p != start)]))
    Dag(core.names, _with_parents(core, {start: (*shared, end), end: shared}))  # a cycle is told before all work
    require_room(core.variables[start], [core.variables[node] for node in (*shared, end)])
    scopes = [(*core.parents[node], node) for node in (start, end)]
    label = {node: axis for axis, node in enumerate((*shared, start, end))}
    tables = (core.tables[start], [label[v] for v in scopes[0]], core.tables[end], [label[v] for v in scopes[1]])
    joint = np.einsum(*tables, [*range(len(label))])  # (*shared, start, end)
    of_child = joint.sum(axis=-2)
    impossible = of_child[..., None] == 0
    of_parent = np.where(impossible, joint.sum(axis=-1)[..., None, :], joint.swapaxes(-1, -2))
    of_parent = of_parent / of_parent.sum(axis=-1, keepdims=True)
    conditionals = [*core.conditionals]
    conditionals[start], conditionals[end] = Table(of_parent), Table(of_child)
    dag = Dag(core.names, _with_parents(core, {start: (*shared, end), end: shared}))
    return Network.of(core.variables, dag, conditionals)


def _with_parents(core: Network, other: Mapping[int, tuple[int, ...]]) -> tuple[tuple[int, ...], ...]:
    return tuple(other.get(node, own) for node, own in enumerate(core.parents))


def network_with_states(core: Network, states: Mapping[str, Any]) -> Network:
    """Set variables to states from outside: they have no parents any more."""
    for name, state in states.items():
        node = core.dag.node(name)
        table = np.zeros(core.cards[node])
        table[state_code(core.variables[node], state)] = 1.0
        core = core.with_node(node, (), Table(table))
    return core


# ---------------------------------------------------------------------- nodes


def network_with_node(core: Network, name: str, table: Any, parents: Sequence[str], states: Any) -> Network:
    """Add a node behind all others; without a table all its states are equally probable."""
    own = tuple(core.dag.node(parent) for parent in parents)
    dag = Dag((*core.names, name), (*core.parents, own))
    if table is None:
        if states is None:
            raise ParameterError(f"neither table nor states of {name!r} are given; give one of them")
        variable = declared_variable(name, states)
        shape = [core.cards[parent] for parent in own]
        table = np.full((*shape, variable.n_states), 1 / max(variable.n_states, 1))
    known = {} if states is None else {name: states}
    (variable,) = read_variables(Dag((name,), ((),)), {name: table}, known)
    conditional = read_conditional(table, variable, [core.variables[parent] for parent in own])
    return Network.of((*core.variables, variable), dag, (*core.conditionals, conditional))


def subnetwork(core: Network, kept: Sequence[int]) -> Network:
    """Keep some nodes and the edges among them; tables are averaged over parents that are left out."""
    place = {node: j for j, node in enumerate(kept)}
    parents, conditionals = [], []
    for node in kept:
        rest = tuple(parent for parent in core.parents[node] if parent in place)
        is_whole = len(rest) == len(core.parents[node])
        conditionals.append(core.conditionals[node] if is_whole else Table(_averaged(core, node, rest)))
        parents.append(tuple(place[parent] for parent in rest))
    dag = Dag(tuple(core.names[node] for node in kept), tuple(parents))
    return Network.of([core.variables[node] for node in kept], dag, conditionals)


def network_renamed(core: Network, names: Mapping[str, str]) -> Network:
    """Give nodes other names."""
    for name in names:
        core.dag.node(name)
    new = [names.get(name, name) for name in core.names]
    variables = [replace(variable, name=name) for variable, name in zip(core.variables, new, strict=True)]
    conditionals = [_by_parent(own, lambda name, given: (names.get(name, name), given)) for own in core.conditionals]
    return Network.of(variables, Dag(tuple(new), core.parents), conditionals)


def merged(core: Network, other: Network, prefer: str | None) -> Network:
    """Put two networks together, in which nodes of one name are one node."""
    if prefer not in (None, "self", "other"):
        raise ParameterError(f"prefer is {prefer!r}; it can be 'self' or 'other', or left out")
    names = tuple(dict.fromkeys([*core.names, *other.names]))
    mine = {variable.name: variable for variable in core.variables}
    variables = {**{variable.name: variable for variable in other.variables}, **mine}
    for variable in other.variables:
        _require_same_states(variables[variable.name], variable)
    parents, conditionals = [], []
    for name in names:
        giver = _giver(core, other, name, prefer)
        node = giver.dag.node(name)
        own = tuple(variable.name for variable in giver.parents_of(node))
        parents.append(tuple(names.index(parent) for parent in own))
        conditionals.append(_in_order(giver, node, [variables[parent] for parent in own], variables[name]))
    return Network.of([variables[name] for name in names], Dag(names, tuple(parents)), conditionals)


def _giver(core: Network, other: Network, name: str, prefer: str | None) -> Network:
    """Tell which network gives the table of a node: the one that has it, or that has parents for it."""
    if name not in core.dag.position or name not in other.dag.position:
        return core if name in core.dag.position else other
    mine, its = core.dag.node(name), other.dag.node(name)
    if prefer is not None:
        return core if prefer == "self" else other
    if bool(core.parents[mine]) != bool(other.parents[its]):
        return core if core.parents[mine] else other
    families = [{v.name for v in net.parents_of(node)} for net, node in ((core, mine), (other, its))]
    if families[0] == families[1]:
        theirs = _in_order(other, its, core.parents_of(mine), core.variables[mine])
        table = theirs.bound(core.variables[mine], core.parents_of(mine)).table(
            core.variables[mine], core.parents_of(mine)
        )
        if np.allclose(table, core.tables[mine], rtol=0, atol=1e-12):
            return core
    raise ParameterError(
        f"both networks give a table of {name!r}, and these differ (its parents are {sorted(families[0])} and "
        f"{sorted(families[1])}); say whose is taken: prefer='self' or prefer='other'"
    )


def _in_order(giver: Network, node: int, parents: Sequence[Variable], variable: Variable) -> Conditional:
    """Give a node's table with the states of all in the order that they have elsewhere."""
    wanted, found = (*parents, variable), (*giver.parents_of(node), giver.variables[node])
    if all((a.name, tuple(a.states)) == (b.name, tuple(b.states)) for a, b in zip(wanted, found, strict=True)):
        return giver.conditionals[node]
    table = ConditionalTable(giver.variables[node], giver.parents_of(node), giver.tables[node])
    return read_conditional(table, variable, parents)


def _require_same_states(one: Variable, other: Variable) -> None:
    if set(one.states) != set(other.states):
        raise ParameterError(
            f"{one.name!r} has the states {list(one.states)[:10]} in one network and {list(other.states)[:10]} in the "
            "other; rename or add states first"
        )


# ---------------------------------------------------------------------- states


def network_with_state_names(core: Network, name: str, states: Mapping[Any, Any]) -> Network:
    """Give states of a variable other labels."""
    node = core.dag.node(name)
    variable = core.variables[node]
    old = {variable.states[state_code(variable, state)]: label for state, label in states.items()}
    labels = [old.get(state, state) for state in variable.states]

    def renamed(parent: str, given: Any) -> tuple[str, Any]:
        return parent, {old.get(s, s): p for s, p in given.items()} if parent == name else given

    conditionals = [_by_parent(_by_state(own), renamed) for own in core.conditionals]
    own = conditionals[node]
    if isinstance(own, NoisyOr | NoisyAnd):
        conditionals[node] = replace(own, present=old.get(own.present, own.present))
    elif isinstance(own, NoisyMax):
        assert own.ranking is not None  # as it is bound
        conditionals[node] = replace(own, ranking=tuple(old.get(state, state) for state in own.ranking))
    return _with_domain(core, node, labels, conditionals)


def network_with_state(core: Network, name: str, state: Any) -> Network:
    """Add a state, the last one, of probability zero; given it, children are what they are without knowing it."""
    node = core.dag.node(name)
    variable = core.variables[node]
    if state in variable.code_of:
        raise ParameterError(f"{name!r} has a state {state!r} already; its states are {list(variable.states)[:10]}")
    conditionals = [*core.conditionals]

    def met(parent: str, given: Any) -> tuple[str, Any]:
        return parent, {**given, state: 1.0} if parent == name else given

    if not isinstance(conditionals[node], Deterministic):
        empty = np.zeros((*core.tables[node].shape[:-1], 1))
        conditionals[node] = Table(np.concatenate([core.tables[node], empty], axis=-1))
    for child in core.dag.children[node]:
        if isinstance(core.conditionals[child], Table | Deterministic):
            rest = [parent for parent in core.parents[child] if parent != node]
            row = _averaged(core, child, rest)
            axis = core.parents[child].index(node)
            conditionals[child] = Table(np.concatenate([core.tables[child], np.expand_dims(row, axis)], axis=axis))
        elif isinstance(core.conditionals[child], NoisyAnd):  # what is not named never meets its condition there
            conditionals[child] = _by_parent(core.conditionals[child], met)
        else:
            conditionals[child] = _by_state(core.conditionals[child])
    return _with_domain(core, node, [*variable.states, state], conditionals)


def network_without_state(core: Network, name: str, state: Any) -> Network:
    """Remove a state: the distribution given that the variable is not in that state."""
    node = core.dag.node(name)
    variable = core.variables[node]
    code = state_code(variable, state)
    conditionals = [*core.conditionals]
    rest = np.delete(core.tables[node], code, axis=-1)
    total = rest.sum(axis=-1, keepdims=True)
    if variable.n_states == 1 or (total == 0).any():
        raise ParameterError(
            f"{name!r} has no state but {state!r}{' for some states of its parents' * (variable.n_states > 1)}; give "
            "it another table first: with_cpt"
        )
    own = conditionals[node]
    if isinstance(own, Deterministic):
        conditionals[node] = Deterministic(np.asarray(own.rule) - (np.asarray(own.rule) > code))
    else:
        conditionals[node] = Table(rest / total)

    def without(parent: str, given: Any) -> tuple[str, Any]:
        return parent, {s: p for s, p in given.items() if parent != name or s != variable.states[code]}

    for child in core.dag.children[node]:
        own, axis = core.conditionals[child], core.parents[child].index(node)
        if isinstance(own, Deterministic):
            conditionals[child] = Deterministic(np.delete(np.asarray(own.rule), code, axis=axis))
        elif isinstance(own, Table):
            conditionals[child] = Table(np.delete(core.tables[child], code, axis=axis))
        else:
            conditionals[child] = _by_parent(_by_state(own), without)
    return _with_domain(core, node, [s for s in variable.states if s != variable.states[code]], conditionals)


def _with_domain(core: Network, node: int, states: Sequence[Any], conditionals: Sequence[Conditional]) -> Network:
    variables = [*core.variables]
    are_codes = list(states) == list(range(len(states))) and core.variables[node].is_coded
    variables[node] = declared_variable(core.names[node], len(states) if are_codes else states)
    return Network.of(variables, core.dag, conditionals)


def _by_parent(own: Conditional, change: Any) -> Conditional:
    """Change what a canonical node says of each parent; a table or a rule names none."""
    if isinstance(own, NoisyOr | NoisyMax):
        return replace(own, causes=dict(change(name, given) for name, given in own.causes.items()))
    if isinstance(own, NoisyAnd):
        return replace(own, conditions=dict(change(name, given) for name, given in own.conditions.items()))
    return own


def _by_state(own: Conditional) -> Conditional:
    """Write the strength of a cause of a noisy-OR, given as one number, by its state."""
    if not isinstance(own, NoisyOr):
        return own
    return _by_parent(own, lambda name, given: (name, given if isinstance(given, Mapping) else {own.present: given}))
