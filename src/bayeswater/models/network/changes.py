"""Networks made of others: another table, an edge more or less, a variable set from outside."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from bayeswater.errors import ParameterError
from bayeswater.inference.exact.elimination import query
from bayeswater.models.network.given_tables import read_conditional
from bayeswater.models.network.state_codes import state_code
from bayeswater.networks.conditionals import Conditional, NoisyOr, Table
from bayeswater.networks.cpt import require_room
from bayeswater.networks.network import Network
from bayeswater.typing import Array


def with_table(core: Network, name: str, table: Any) -> Network:
    """Give a variable another table."""
    node = core.dag.node(name)
    conditional = read_conditional(table, core.variables[node], core.parents_of(node))
    return core.with_node(node, core.parents[node], conditional)


def with_edge(core: Network, parent: str, child: str, table: Any) -> Network:
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
    elif isinstance(own, NoisyOr):
        conditional = NoisyOr({**own.causes, parent: {}}, own.leak, own.present)
    else:
        conditional = Table(np.repeat(core.tables[end][..., None, :], core.cards[start], axis=-2))
    return core.with_node(end, parents, conditional)


def without_edge(core: Network, parent: str, child: str, table: Any) -> Network:
    """Take an edge away; without a table, the child is averaged over the parent that it no longer has."""
    start, end = core.dag.node(parent), core.dag.node(child)
    if start not in core.parents[end]:
        parents = [variable.name for variable in core.parents_of(end)]
        raise ParameterError(f"there is no edge {parent} -> {child}; the parents of {child!r} are {parents}")
    rest = tuple(node for node in core.parents[end] if node != start)
    if table is None:
        table = _averaged(core, start, end, rest)
    conditional = read_conditional(table, core.variables[end], [core.variables[node] for node in rest])
    return core.with_node(end, rest, conditional)


def _averaged(core: Network, parent: int, child: int, rest: tuple[int, ...]) -> Array:
    """P(child | rest) = sum over the states of the parent of P(child | parent, rest) P(parent | rest).

    Where the rest is impossible, all states of the parent weigh the same.
    """
    joint = query(core, [parent, *rest])
    total = joint.sum(axis=0)
    share = np.where(total > 0, joint, 1.0) / np.where(total > 0, total, len(joint))
    table = np.moveaxis(core.tables[child], core.parents[child].index(parent), 0)
    return (table * share[..., None]).sum(axis=0)


def with_states(core: Network, states: Mapping[str, Any]) -> Network:
    """Set variables to states from outside: they have no parents any more."""
    for name, state in states.items():
        node = core.dag.node(name)
        table = np.zeros(core.cards[node])
        table[state_code(core.variables[node], state)] = 1.0
        core = core.with_node(node, (), Table(table))
    return core
