"""Independence read off the graph: d-separation, active trails, minimal separators, local independencies.

X and Y are d-separated by Z where no trail between them is active. A trail is active where each of its inner nodes
lets pass: a collider (-> c <-) that is in Z or has a descendant in Z, any other node that is not in Z. The same is told
by the moral graph of X, Y, Z and their ancestors: X and Y are d-separated by Z if and only if Z separates them there.
The first way shows the trail; the second finds the separators.
"""

from collections.abc import Iterable, Iterator

from bayeswater.errors import ParameterError
from bayeswater.records import record
from bayeswater.structure.dag import Dag, Nodes, UndirectedGraph, moral_graph, reached
from bayeswater.structure.notation import quoted


@record
class Trail:
    """Nodes by name, and the arrows between each and the next.

    >>> print(Trail(("smoke", "cancer", "pollution"), ("->", "<-")))
    smoke -> cancer <- pollution
    """

    nodes: tuple[str, ...]
    arrows: tuple[str, ...]

    def __str__(self) -> str:
        steps = (f" {arrow} {quoted(node)}" for arrow, node in zip(self.arrows, self.nodes[1:], strict=True))
        return quoted(self.nodes[0]) + "".join(steps)


@record
class Independence:
    """What is independent of what, given what.

    >>> print(Independence(("xray",), ("smoke", "asia"), ("either",)))
    xray ⊥ smoke, asia | either
    """

    left: tuple[str, ...]
    right: tuple[str, ...]
    given: tuple[str, ...] = ()

    def __str__(self) -> str:
        left, right, given = (", ".join(map(quoted, names)) for names in (self.left, self.right, self.given))
        return f"{left} ⊥ {right}{f' | {given}' if given else ''}"


def active_trail(dag: Dag, left: Nodes, right: Nodes, given: Nodes = frozenset()) -> Trail | None:
    """Find a trail of fewest edges between two sets that is active given a third; None where they are d-separated.

    A breadth-first search over (node, whether it was entered from a parent). The walk it finds meets no node twice: one
    that comes back to a node has turned at an open collider below it, so the node is open itself and need not be left.
    """
    _require_disjoint(dag, left, right, given)
    opened = dag.ancestral(given)  # colliders that let pass
    came_from: dict[tuple[int, bool], tuple[int, bool] | None] = {(node, False): None for node in sorted(left)}
    waiting = list(came_from)
    for state in waiting:  # grows while it is walked through
        node, from_parent = state
        if node in right:
            return _trail(dag, state, came_from)
        up = node in opened if from_parent else node not in given
        steps = [(parent, False) for parent in dag.parents[node]] if up else []
        if node not in given:
            steps += [(child, True) for child in dag.children[node]]
        for step in steps:
            if step not in came_from:
                came_from[step] = state
                waiting.append(step)
    return None


def _trail(dag: Dag, last: tuple[int, bool], came_from: dict[tuple[int, bool], tuple[int, bool] | None]) -> Trail:
    states: list[tuple[int, bool]] = []
    state: tuple[int, bool] | None = last
    while state is not None:
        states.append(state)
        state = came_from[state]
    states.reverse()
    arrows = tuple("->" if from_parent else "<-" for _, from_parent in states[1:])
    return Trail(tuple(dag.names[node] for node, _ in states), arrows)


@record
class Barrier:
    """A node at which a trail is interrupted, and why: "given", or a "collider" of which nothing is known."""

    node: str
    reason: str


def blocked_trail(
    dag: Dag, left: Nodes, right: Nodes, given: Nodes = frozenset()
) -> tuple[Trail, list[Barrier]] | None:
    """Find a trail of fewest edges between two sets that are d-separated, and where it is blocked; None if none joins.

    >>> dag = Dag.parse("smoke -> cancer <- pollution; cancer -> xray")
    >>> trail, blocks = blocked_trail(dag, dag.nodes("smoke"), dag.nodes("pollution"))
    >>> print(trail, blocks)
    smoke -> cancer <- pollution [Barrier(node='cancer', reason='collider')]
    """
    _require_disjoint(dag, left, right, given)
    opened = dag.ancestral(given)
    came_from: dict[tuple[int, bool], tuple[int, bool] | None] = {(node, False): None for node in sorted(left)}
    waiting, met = list(came_from), set(left)
    for state in waiting:  # grows while it is walked through
        node, _ = state
        if node in right:
            trail = _trail(dag, state, came_from)
            inner = zip(trail.nodes[1:-1], trail.arrows, trail.arrows[1:], strict=False)
            blocks = []
            for name, before, after in inner:
                is_collider, place = (before, after) == ("->", "<-"), dag.node(name)
                if is_collider and place not in opened:
                    blocks.append(Barrier(name, "collider"))
                elif not is_collider and place in given:
                    blocks.append(Barrier(name, "given"))
            return trail, blocks
        steps = [(parent, False) for parent in dag.parents[node]] + [(child, True) for child in dag.children[node]]
        for step in steps:
            if step[0] not in met:
                met.add(step[0])
                came_from[step] = state
                waiting.append(step)
    return None


def minimal_separators(dag: Dag, left: Nodes, right: Nodes) -> Iterator[Nodes]:
    """Give all sets that d-separate two sets and of which no node can be spared; none where an edge joins them.

    They are the minimal separators between both in the moral graph of these and their ancestors. Each next one lies
    farther from `left`: the neighbourhood of one node of the last is passed over (Shen and Liang 1997). There may be
    exponentially many of them: take as many as are needed.
    """
    _require_disjoint(dag, left, right, frozenset())
    graph = moral_graph(dag, dag.ancestral(left | right))
    if not left or not right or any(graph.neighbours[node] & right for node in left):
        return
    first = _close_to(graph, right, _around(graph, left))
    waiting, known = [first], {first}
    for separator in waiting:
        yield separator
        for node in sorted(separator):
            farther = separator | graph.neighbours[node]
            if farther & right:
                continue
            beyond = _close_to(graph, right, farther - left)
            if beyond not in known:
                known.add(beyond)
                waiting.append(beyond)


def adjustment_sets(dag: Dag, cause: int, effect: int, allowed: Nodes | None = None) -> Iterator[Nodes]:
    """Give all back-door sets of a cause and an effect of which no node can be spared (Pearl 1993).

    They hold no descendant of the cause, and d-separate both once the arcs that leave the cause are taken away. Then
    P(effect | do(cause)) is the mean of P(effect | cause, set) over P(set). Only nodes that are `allowed` are taken.
    """
    everything = frozenset(range(len(dag))) if allowed is None else allowed
    may_be_taken = everything - dag.descendants(frozenset({cause}))
    behind = Dag(dag.names, tuple(tuple(x for x in own if x != cause) for own in dag.parents))
    found = minimal_separators(behind, frozenset({cause}), frozenset({effect}))
    return (nodes for nodes in found if nodes <= may_be_taken)


def _close_to(graph: UndirectedGraph, right: Nodes, cut: Nodes) -> Nodes:
    """Keep of a set that cuts off the other side only what can be seen from `right`: no node of that can be spared."""
    return _around(graph, _component(graph, right, cut))


def minimal_separator(
    dag: Dag, left: Nodes, right: Nodes, included: Nodes = frozenset(), allowed: Nodes | None = None
) -> Nodes | None:
    """Find one set that d-separates two sets of nodes, of which no node but those `included` can be spared.

    Only nodes that are `allowed` are taken (default all). None where there is no such set. All nodes that may be
    taken among the ancestors separate, if any set does (van der Zander and Liśkiewicz 2019); then only what can be
    seen from either side is kept.
    """
    _require_disjoint(dag, left, right, included)
    among = dag.ancestral(left | right | included)
    everything = frozenset(range(len(dag))) if allowed is None else allowed | included
    may_be_taken = (among & everything) - left - right
    graph = moral_graph(dag, among)
    if _component(graph, left, may_be_taken) & right:
        return None
    seen_from_left = _seen(graph, left, may_be_taken - included, included)
    return _seen(graph, right, seen_from_left, included) | included


def _seen(graph: UndirectedGraph, start: Nodes, cut: Nodes, removed: Nodes) -> Nodes:
    """Nodes of `cut` that are met when one walks from `start` past neither them nor those that are removed."""
    return _around(graph, _component(graph, start, cut | removed)) & cut


def _component(graph: UndirectedGraph, start: Nodes, removed: Nodes) -> Nodes:
    """Nodes that can be reached from `start` when others are removed."""
    found = set(start)
    waiting = list(found)
    while waiting:
        new = graph.neighbours[waiting.pop()] - removed - found
        found |= new
        waiting.extend(new)
    return frozenset(found)


def _around(graph: UndirectedGraph, nodes: Nodes) -> Nodes:
    """Neighbours of a set outside of it."""
    return frozenset().union(*(graph.neighbours[node] for node in nodes)) - nodes


def local_independencies(dag: Dag, nodes: Iterable[int] | None = None) -> list[Independence]:
    """Every node is independent of all that are not its descendants, given its parents; nodes without any are left out.

    >>> for independence in local_independencies(Dag.parse("a -> b -> c")):
    ...     print(independence)
    c ⊥ a | b
    """
    found = []
    for node in range(len(dag)) if nodes is None else nodes:
        parents = frozenset(dag.parents[node])
        others = frozenset(range(len(dag))) - reached([node], dag.children) - parents
        if others:
            found.append(Independence((dag.names[node],), dag.named(others), dag.named(parents)))
    return found


def _require_disjoint(dag: Dag, left: Nodes, right: Nodes, given: Nodes) -> None:
    both = (left & right) | (left & given) | (right & given)
    if both:
        raise ParameterError(
            f"{dag.names[min(both)]!r} is in two of the sets that are to be separated; take it out of one"
        )
