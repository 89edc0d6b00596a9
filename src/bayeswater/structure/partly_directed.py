"""`PartlyDirected`: a graph of arcs and of edges that have no direction yet, and what its arcs say of these.

An edge has to be x -> y where y -> x would close a cycle or make a new v-structure (a -> c <- b, a and b not joined).
In the graph of an equivalence class, with any directions that are known of it, the four rules of Meek (1995) find all
such edges; those that they leave have one direction in some members and the other in others. A graph that directs all
of them and has no new v-structure is an extension (Dor and Tarsi 1992).
"""

from collections.abc import Callable, Iterator
from itertools import combinations

from bayeswater.structure.dag import reached
from bayeswater.structure.knowledge import Knowledge


class PartlyDirected:
    """Arcs, as parents and children of every node, and edges without a direction, as neighbours."""

    def __init__(self, n_nodes: int) -> None:
        self.parents: list[set[int]] = [set() for _ in range(n_nodes)]
        self.children: list[set[int]] = [set() for _ in range(n_nodes)]
        self.neighbours: list[set[int]] = [set() for _ in range(n_nodes)]

    def __len__(self) -> int:
        return len(self.parents)

    def around(self, x: int) -> set[int]:
        """All nodes that x is joined to."""
        return self.parents[x] | self.children[x] | self.neighbours[x]

    def joined(self, x: int, y: int) -> bool:
        """Whether there is an arc or an edge."""
        return y in self.parents[x] or y in self.children[x] or y in self.neighbours[x]

    def join(self, x: int, y: int) -> None:
        """Make an edge x -- y."""
        self.neighbours[x].add(y)
        self.neighbours[y].add(x)

    def part(self, x: int, y: int) -> None:
        """Take the edge x -- y away."""
        self.neighbours[x].discard(y)
        self.neighbours[y].discard(x)

    def direct(self, x: int, y: int) -> None:
        """Make an arc x -> y, perhaps of an edge."""
        self.part(x, y)
        self.children[x].add(y)
        self.parents[y].add(x)

    def edges(self) -> Iterator[tuple[int, int]]:
        """Edges without a direction, each both ways."""
        for x, own in enumerate(self.neighbours):
            for y in sorted(own):
                yield x, y

    def leads(self, x: int, y: int) -> bool:
        """Whether a way along arcs leads from x to y."""
        return y in reached([x], self.children)

    def direct_known(self, knowledge: Knowledge) -> None:
        """Direct the edges of which one direction is required, or the other forbidden."""
        for x, y in list(self.edges()):
            if knowledge.required[x, y] or not knowledge.allowed[y, x]:
                self.direct(x, y)

    def follow(self) -> None:
        """Direct what follows, round after round until nothing does; where rules contradict, the first one holds.

        A round goes by the arcs that were there when it began, so the order of the nodes does not show. An edge that
        one rule asks for both ways stays as it is.
        """
        rules = (self.leads, self._would_meet, self._would_meet_beside, self._would_meet_behind)
        while any(self._follow(rule) for rule in rules):
            pass

    def _follow(self, must_lead: Callable[[int, int], bool]) -> bool:
        must = {(x, y) for x, y in self.edges() if must_lead(x, y)}
        agreed = [(x, y) for x, y in sorted(must) if (y, x) not in must]
        for x, y in agreed:
            is_turned = self.leads(y, x)  # or arcs of this round would close a cycle
            self.direct(*((y, x) if is_turned else (x, y)))
        return bool(agreed)

    def _would_meet(self, x: int, y: int) -> bool:
        """Whether y -> x would be a new v-structure with a parent of x."""
        return any(not self.joined(z, y) for z in self.parents[x])

    def _would_meet_beside(self, x: int, y: int) -> bool:
        """Whether of x -- a -> y and x -- b -> y, a and b not joined, y -> x would make a -> x <- b."""
        beside = sorted(self.neighbours[x] & self.parents[y])
        return any(not self.joined(a, b) for a, b in combinations(beside, 2))

    def _would_meet_behind(self, x: int, y: int) -> bool:
        """Whether of z -> w -> y, x joined to both z and w, and z not joined to y, y -> x would make z -> x <- y."""
        around, into = self.around(x), self.parents[y]
        return any(z != y and not self.joined(z, y) and self.children[z] & into & around for z in around)

    def extension(self, knowledge: Knowledge) -> tuple[frozenset[int], ...]:
        """Direct what is left: node after node that can stand last is taken away, all its edges leading to it.

        Where arcs form a cycle no node can, nor where every way to direct the edges makes a new v-structure: then one
        from which no required arc leads, and as few others as can be, stands last. Its arcs are turned where that is
        allowed, and otherwise left out.
        """
        left = set(range(len(self)))
        parents: list[frozenset[int]] = [frozenset()] * len(self)
        while left:
            last = next((x for x in sorted(left, reverse=True) if self._can_stand_last(x, left)), None)
            if last is None:
                free = [x for x in sorted(left) if not knowledge.required[x, sorted(left)].any()]
                last = min(free, key=lambda x: len(self.children[x] & left))
            left.discard(last)
            parents[last] = frozenset(y for y in self.around(last) & left if knowledge.allowed[y, last])
        return tuple(parents)

    def _can_stand_last(self, x: int, left: set[int]) -> bool:
        """Whether no arc leads from x, and who has an edge with it is joined to all others around it."""
        around = self.around(x) & left
        return not self.children[x] & left and all(
            z == y or self.joined(y, z) for y in self.neighbours[x] & left for z in around
        )
