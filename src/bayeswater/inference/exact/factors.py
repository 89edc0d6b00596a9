"""`Factors`: the numbers of a discrete network, and nothing else, laid out for inference.

P(x) = prod_v P(x_v | parents of v). A table has one axis for each parent, in order, and the own states last.
"""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from bayeswater.errors import ParameterError
from bayeswater.kernels.clique_tree import FlatTables
from bayeswater.kernels.runs import starts_of
from bayeswater.limits import require_table_bytes
from bayeswater.records import record
from bayeswater.typing import Array


class NetworkLike(Protocol):
    """Anything that has cards, parents and tables."""

    @property
    def cards(self) -> tuple[int, ...]:
        """States of each variable."""
        ...

    @property
    def parents(self) -> tuple[tuple[int, ...], ...]:
        """Parents of each variable, in the order of the axes of its table."""
        ...

    @property
    def tables(self) -> tuple[Array, ...]:
        """P(own | parents), (*parent cards, own card)."""
        ...


@record(eq=False)
class Factors:
    """Cards, parents and tables of a network without cycles.

    >>> coin = Factors((2, 2), ((), (0,)), (np.array([0.5, 0.5]), np.array([[0.9, 0.1], [0.2, 0.8]])))
    >>> coin.n_variables
    2
    """

    cards: tuple[int, ...]
    parents: tuple[tuple[int, ...], ...]
    tables: tuple[Array, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "tables", tuple(np.asarray(table, dtype=np.float64) for table in self.tables))

    @classmethod
    def of(cls, network: NetworkLike) -> "Factors":
        """Take the numbers of a network."""
        if isinstance(network, cls):
            return network
        return cls(tuple(network.cards), tuple(network.parents), tuple(network.tables))

    def require_known(self, targets: Sequence[int], evidence: Mapping[int, int]) -> None:
        """Refuse a question that names a target twice, or a state that there is not."""
        if len(set(targets)) < len(targets):
            raise ParameterError(f"targets are {list(targets)}: one of them comes twice; name each once")
        for v, state in evidence.items():
            if not 0 <= state < self.cards[v]:
                raise ParameterError(
                    f"evidence gives variable {v} the state {state}, but it has states 0 to {self.cards[v] - 1}"
                )

    @property
    def n_variables(self) -> int:
        """How many variables there are."""
        return len(self.cards)

    @cached_property
    def card_array(self) -> Array:
        """Cards as an int64 array."""
        return np.array(self.cards, dtype=np.int64)

    @cached_property
    def families(self) -> FlatTables:
        """Tables end to end, with the stride of each variable, and zeros and ones for every card behind them."""
        scopes = self.scopes
        strides = [_strides([self.cards[v] for v in scope]) for scope in scopes]
        kinds = sorted(set(self.cards))
        require_table_bytes(
            8 * sum((card + 1) * card for card in kinds),
            f"evidence on a variable of {max(kinds, default=0)} states",
            "put its states together in groups, or ask with query(), which takes one row of evidence at a time",
        )
        indicators = [np.eye(card + 1, card) for card in kinds]
        for indicator in indicators:
            indicator[-1] = 1.0
        arrays = [*self.tables, *indicators]
        starts = starts_of([array.size for array in arrays])
        where = dict(zip(kinds, starts[self.n_variables :].tolist(), strict=False))
        return FlatTables(
            starts_of([len(scope) for scope in scopes]),
            np.array([v for scope in scopes for v in scope], dtype=np.int64),
            np.array([stride for some in strides for stride in some], dtype=np.int64),
            starts[: self.n_variables],
            np.array([where[card] for card in self.cards], dtype=np.int64),
            np.concatenate([np.zeros(0), *(array.ravel() for array in arrays)]),
        )

    @cached_property
    def log_table(self) -> Array:
        """Logarithms of all tables end to end."""
        with np.errstate(divide="ignore"):
            return np.log(self.families.probabilities)

    @cached_property
    def log_least(self) -> Array:
        """Logarithm of the least positive entry of each table: no product of entries is smaller than their sum."""
        return np.array([np.log(table[table > 0].min(initial=np.inf)) for table in self.tables])

    @cached_property
    def least(self) -> tuple[float, ...]:
        """The same as plain numbers."""
        return tuple(self.log_least.tolist())

    @cached_property
    def scopes(self) -> tuple[tuple[int, ...], ...]:
        """Variables of each table, in the order of its axes."""
        return tuple((*parents, v) for v, parents in enumerate(self.parents))

    @cached_property
    def scope_masks(self) -> tuple[int, ...]:
        """The same as bit masks."""
        return tuple(sum(1 << v for v in scope) for scope in self.scopes)

    @cached_property
    def asked(self) -> dict[Any, Any]:
        """What is remembered of questions: see `elimination.prepare`."""
        return {}

    @cached_property
    def only_states(self) -> dict[int, int]:
        """The state of each variable that has but one."""
        return {v: 0 for v, card in enumerate(self.cards) if card == 1}

    @cached_property
    def of_one_state(self) -> int:
        """Variables with a single state, as a bit mask."""
        return sum(1 << v for v, card in enumerate(self.cards) if card == 1)

    @cached_property
    def has_zero(self) -> tuple[bool, ...]:
        """Whether a table has an entry of zero."""
        return tuple(bool((table == 0).any()) for table in self.tables)

    @cached_property
    def ancestors(self) -> tuple[int, ...]:
        """Each variable and its ancestors, as a bit mask."""
        masks: list[int] = [0] * self.n_variables
        for v in self.order:
            mask = 1 << v
            for parent in self.parents[v]:
                mask |= masks[parent]
            masks[v] = mask
        return tuple(masks)

    @cached_property
    def ancestor_matrix(self) -> Array:
        """Whether a variable (column) is another (line) or an ancestor of it, (n_variables, n_variables) bool."""
        matrix = np.eye(self.n_variables, dtype=bool)
        for v in self.order:
            for parent in self.parents[v]:
                matrix[v] |= matrix[parent]
        return matrix

    @cached_property
    def order(self) -> tuple[int, ...]:
        """Variables with parents before children."""
        waiting = [len(parents) for parents in self.parents]
        children: list[list[int]] = [[] for _ in self.cards]
        for v, parents in enumerate(self.parents):
            for parent in parents:
                children[parent].append(v)
        ready = [v for v, n in enumerate(waiting) if n == 0]
        order = []
        while ready:
            v = ready.pop()
            order.append(v)
            for child in children[v]:
                waiting[child] -= 1
                if waiting[child] == 0:
                    ready.append(child)
        return tuple(order)


def _strides(cards: Sequence[int]) -> list[int]:
    strides, stride = [], 1
    for card in reversed(cards):
        strides.append(stride)
        stride *= card
    return strides[::-1]
