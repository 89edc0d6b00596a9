"""What a question to a network brings along: evidence, interventions, changed tables; and the network they make.

Nothing is kept of a browser. What is kept, and bounded, are networks that were made ready for questions: the one that
is explored, and the last ones that somebody changed.

Evidence comes to the engine as likelihoods of all variables, 0 and 1 for what is observed: so one tree serves whatever
is known, and a click costs two passes of messages.
"""

from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import cached_property
from math import isfinite
from threading import Lock
from typing import Any, Generic, TypeVar

import numpy as np

from bayeswater.inference.exact.junction_tree import JunctionTree, compile
from bayeswater.inference.exact.marginals import Posteriors, marginals
from bayeswater.models.network.bayesian_network import BayesianNetwork
from bayeswater.records import record
from bayeswater.typing import Array
from bayeswater.web.network_parts import MANY_NODES
from bayeswater.web.plain import QuestionError, place_of

Kept = TypeVar("Kept")

VARIANTS_KEPT = 8
"""Changed networks that stay ready; of a large one, whose tree takes hundreds of megabytes, only the last."""

ROW_TOLERANCE = 1e-9
"""By how much the sum of a row of a table may differ from one."""


class Recent(Generic[Kept]):
    """What was made last, by key, for any number of threads."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._kept: OrderedDict[Hashable, Kept] = OrderedDict()
        self._lock = Lock()

    def get(self, key: Hashable, make: Callable[[], Kept]) -> Kept:
        """Give what is there, or make it; what was not asked for in a long time is dropped."""
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
        made = make()
        with self._lock:
            self._kept[key] = made
            while len(self._kept) > self._most:
                self._kept.popitem(last=False)
        return made


@record(eq=False)
class Variant:
    """A network with some tables changed, `edited`, and the same with variables set from outside, `network`."""

    edited: BayesianNetwork
    network: BayesianNetwork

    @cached_property
    def tree(self) -> JunctionTree:
        """The network made ready for rows of evidence."""
        return compile(self.network.core)

    def posteriors(self, likelihoods: Mapping[int, Array], n_rows: int = 1) -> Posteriors:
        """Distributions of all variables, given likelihoods of some, (card,) or (n_rows, card)."""
        cards = self.network.core.cards
        soft = {node: likelihoods[node] if node in likelihoods else np.ones(card) for node, card in enumerate(cards)}
        return marginals(self.tree, np.tile(np.array(cards), (n_rows, 1)), None, soft)


class Variants:
    """A network, and what browsers have made of it."""

    def __init__(self, network: BayesianNetwork) -> None:
        self._own = Variant(network, network)
        self._changed: Recent[Variant] = Recent(1 if len(network.dag) >= MANY_NODES else VARIANTS_KEPT)

    def of(self, edits: tuple[tuple[int, int, tuple[float, ...]], ...], does: tuple[tuple[int, int], ...]) -> Variant:
        """Give the network with rows of tables changed, and variables set to states."""
        if not edits and not does:
            return self._own
        return self._changed.get((edits, does), lambda: self._made(edits, does))

    def _made(
        self, edits: tuple[tuple[int, int, tuple[float, ...]], ...], does: tuple[tuple[int, int], ...]
    ) -> Variant:
        network = edited = self._own.network
        for node in dict.fromkeys(node for node, _, _ in edits):
            table = edited.cpt(edited.names[node]).values
            rows = table.reshape(-1, table.shape[-1]).copy()
            for other, row, p in edits:
                if other == node:
                    if not (row < len(rows) and len(p) == rows.shape[1]):
                        raise QuestionError(f"the table of {edited.names[node]!r} has no row {row} of {len(p)} numbers")
                    rows[row] = p
            edited = edited.with_cpt(edited.names[node], rows.reshape(table.shape))
        if does:
            network = edited.do({edited.names[node]: edited.variables[node].states[code] for node, code in does})
        else:
            network = edited
        return Variant(edited, network)


@record
class Known:
    """What a question takes for known.

    Parameters
    ----------
    variant : the network, as changed
    observed, does : codes of the states that are observed, and set from outside, by node
    soft : likelihoods by node
    """

    variant: Variant
    observed: dict[int, int]
    does: dict[int, int]
    soft: dict[int, Array]

    @property
    def network(self) -> BayesianNetwork:
        """The network that is asked."""
        return self.variant.network

    @property
    def evidence(self) -> dict[str, Any]:
        """States that are observed, by name."""
        return {
            self.network.names[node]: self.network.variables[node].states[code] for node, code in self.observed.items()
        }

    @property
    def soft_evidence(self) -> dict[str, Array]:
        """Likelihoods, by name."""
        return {self.network.names[node]: likelihood for node, likelihood in self.soft.items()}

    @property
    def likelihoods(self) -> dict[int, Array]:
        """All of it as likelihoods of states."""
        cards = self.network.core.cards
        return {**self.soft, **{node: np.eye(cards[node])[code] for node, code in self.observed.items()}}


def known_of(variants: Variants, network: BayesianNetwork, asked: Mapping[str, Any]) -> Known:
    """Read what a question takes for known; what cannot be is refused."""
    n_nodes = len(network.dag)
    if not network.has_tables:
        codes = {place_of(node, n_nodes, "node"): 0 for node, _ in items_of(asked, "observed", 2)}
        return Known(variants.of((), ()), codes, {}, {})
    cards = network.core.cards

    def states(name: str) -> dict[int, int]:
        found = {}
        for node, code in items_of(asked, name, 2):
            found[node] = place_of(code, cards[place_of(node, n_nodes, "node")], "state")
        return found

    observed, does = states("observed"), states("does")
    soft = {}
    for node, likelihood in items_of(asked, "soft", 2):
        soft[node] = shares_of(likelihood, cards[place_of(node, n_nodes, "node")], "likelihood")
    edits = []
    for node, row, p in items_of(asked, "edits", 3):
        numbers = shares_of(p, cards[place_of(node, n_nodes, "node")], "row of a table")
        if abs(numbers.sum() - 1.0) > ROW_TOLERANCE:
            raise QuestionError(
                f"a row of the table of {network.names[node]!r} has the sum {numbers.sum():g}, and not 1"
            )
        edits.append((node, place_of(row, 2**31, "row"), tuple(numbers.tolist())))
    variant = variants.of(tuple(edits), tuple(does.items()))
    observed = {node: code for node, code in observed.items() if node not in does}
    soft = {node: own for node, own in soft.items() if node not in does and node not in observed}
    return Known(variant, observed, does, soft)


def node_of(network: BayesianNetwork, asked: Mapping[str, Any], name: str = "node") -> int:
    """Read a node of a question."""
    return place_of(asked.get(name), len(network.dag), name)


def items_of(asked: Mapping[str, Any], name: str, size: int) -> Sequence[Sequence[Any]]:
    """Read a list of lists of so many."""
    found = asked.get(name) or []
    if not isinstance(found, list) or any(not isinstance(own, list) or len(own) != size for own in found):
        raise QuestionError(f"{name} is no list of lists of {size}")
    return found


def shares_of(values: Any, n_numbers: int, what: str) -> Array:
    """Read so many numbers from 0 to 1."""

    def is_right(value: Any) -> bool:
        return isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value) and 0 <= value <= 1

    if not isinstance(values, list) or len(values) != n_numbers or not all(map(is_right, values)):
        raise QuestionError(f"a {what} has {n_numbers} numbers from 0 to 1")
    return np.array(values, dtype=np.float64)
